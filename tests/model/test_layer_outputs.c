/* SPDX-License-Identifier: MIT */
/* weft-test: one device */
/*
 * Hidden states and attention maps as outputs of plans, of every family: the model's output keeps its bits, and the others have the
 * same on every device. api/python/tests compares their values with transformers'.
 */
#include <math.h>

#include <weft/model.h>

#include "core/hash.h"
#include "core/math/philox.h"
#include "core/shape.h"
#include "support_model.h"

enum { BATCH = 2, LENGTH = 24, MOST_PORTS = 16 };

#define SIZES \
    "'hidden_size':16,'num_hidden_layers':2,'intermediate_size':24,'max_position_embeddings':64"
#define TOKENS "'vocab_size':256," SIZES ",'num_attention_heads':2"
#define HIDDEN "'task':'hidden'," TOKENS

static const struct model {
    const char *config;
    bool maps[2]; /* of its layers */
} models[] = {
    {"{'model_type':'bert','architectures':['BertForSequenceClassification']," TOKENS "}", {1, 1}},
    {"{'model_type':'mpnet','architectures':['MPNetForTokenClassification']," TOKENS "}", {1, 1}},
    {"{'model_type':'modernbert','architectures':['ModernBertForMaskedLM'],'local_attention':8,"
     "'global_attn_every_n_layers':2," TOKENS "}",
     {1, 1}},
    {"{'model_type':'qwen3','architectures':['Qwen3ForCausalLM'],'num_key_value_heads':1,"
     "'head_dim':4,'use_sliding_window':true,'sliding_window':9,'max_window_layers':1," TOKENS "}",
     {1, 1}},
    {"{'model_type':'transformer','task':'retrieve','num_labels':3," TOKENS "}", {1, 1}},
    {"{'model_type':'fmmformer'," HIDDEN ",'half_width':3,'kernels':['elu1']}", {1, 1}},
    {"{'model_type':'fmmformer','task':'causal_lm'," TOKENS ",'half_width':0,'fast_weight':true}",
     {1, 1}},
    {"{'model_type':'fnet','architectures':['FNetForMaskedLM'],'type_vocab_size':2,"
     "'weft_attention_layers':1," TOKENS "}",
     {0, 1}},
    {"{'model_type':'fnet','architectures':['FNetForSequenceClassification'],"
     "'type_vocab_size':2,'weft_mixing':'none'," TOKENS "}",
     {0, 0}},
    {"{'model_type':'performer'," HIDDEN ",'num_features':8}", {0, 0}},
    {"{'model_type':'fmmformer'," HIDDEN ",'kernels':['elu1']}", {0, 0}},
    {"{'model_type':'tnn','task':'causal_lm','vocab_size':256,'rpe_size':8," SIZES "}", {0, 0}},
};

#define MODEL_COUNT (sizeof models / sizeof models[0])

/* ---- running ---- */

struct run {
    weft_port_info ports[MOST_PORTS];
    weft_host_tensor tensors[MOST_PORTS];
    weft_plan *plan; /* for the ports' names */
    uint32_t count;
};

static void fill_input(void *data, const weft_port_info *port) {
    const size_t count = (size_t)weft_shape_elements(port->shape);
    if (port->dtype == WEFT_F32) {
        weft_philox_uniform(data, count, 1, 1);
        return;
    }
    int32_t *numbers = data;
    for (size_t i = 0; i < count; i++) {
        numbers[i] = strcmp(port->name, "lengths") == 0 ? LENGTH - 8 * (int32_t)i
                                                        : (int32_t)(weft_philox_u32(1, 2, i) % 256);
    }
}

static struct run run_plan(weft_plan *plan) {
    struct run run = {.plan = plan};
    while (weft_plan_get_port(plan, run.count, &run.ports[run.count]) == WEFT_OK) {
        const weft_port_info *port = &run.ports[run.count];
        void *data = malloc(port->bytes);
        assert_non_null(data);
        memset(data, 0xff, port->bytes);
        if (!port->is_output) {
            fill_input(data, port);
        }
        run.tensors[run.count++] =
            (weft_host_tensor){.name = port->name, .data = data, .bytes = port->bytes};
        assert_in_range(run.count, 1, MOST_PORTS - 1);
    }
    assert_ok(weft_plan_execute(plan, run.tensors, run.count));
    return run;
}

static void end_run(struct run *run) {
    for (uint32_t i = 0; i < run->count; i++) {
        free(run->tensors[i].data);
    }
    weft_plan_destroy(&run->plan);
}

/* The port's number; the number of ports where there is none. */
static uint32_t find(const struct run *run, const char *name) {
    uint32_t i = 0;
    while (i < run->count && strcmp(run->ports[i].name, name) != 0) {
        i++;
    }
    return i;
}

static uint32_t expect(const struct run *run, const char *name) {
    const uint32_t at = find(run, name);
    if (at == run->count) {
        fail_msg("no port %s", name);
    }
    return at;
}

static void expect_same(const struct run *one, const char *name, const struct run *other,
                        const char *other_name, const char *config) {
    const weft_host_tensor *a = &one->tensors[expect(one, name)];
    const weft_host_tensor *b = &other->tensors[expect(other, other_name)];
    if (a->bytes != b->bytes || memcmp(a->data, b->data, a->bytes) != 0) {
        fail_msg("%s: %s is not %s", config, name, other_name);
    }
}

/* ---- what is expected ---- */

/* Rows sum to 1, and have no weight behind the diagonal of a causal model or behind a length. */
static void check_map(const struct run *run, uint32_t at, const weft_model_info *info) {
    const weft_shape shape = run->ports[at].shape;
    const float *row = run->tensors[at].data;
    assert_int_equal(shape.rank, 4);
    for (uint32_t i = 0; i < shape.dim[0] * shape.dim[1] * LENGTH; i++, row += LENGTH) {
        const uint32_t sequence = i / (shape.dim[1] * LENGTH);
        const uint32_t end = info->takes_lengths ? LENGTH - 8 * sequence : LENGTH;
        double sum = 0;
        for (uint32_t j = 0; j < LENGTH; j++) {
            const bool hidden = (info->causal && j > i % LENGTH) || j >= end;
            sum += (double)row[j];
            if (i % LENGTH < end && hidden && row[j] != 0.0F) {
                fail_msg("row %u has weight %g at %u", i, (double)row[j], j);
            }
        }
        if (!(fabs(sum - 1.0) < 1e-5)) {
            fail_msg("row %u has sum %g", i, sum);
        }
    }
}

static weft_plan *compile(struct weft_test_device *f, weft_model *model,
                          const weft_model_info *info, bool hidden_states, bool attentions) {
    weft_plan *plan = NULL;
    const weft_model_shape shape = {.batch = BATCH,
                                    .length = LENGTH,
                                    .with_lengths = info->takes_lengths,
                                    .with_hidden_states = hidden_states,
                                    .with_attentions = attentions};
    assert_ok(weft_model_compile_shape(&plan, model, f->device, &shape, NULL));
    return plan;
}

/* Adds what the layers give to the hash. */
static void check_model(struct weft_test_device *f, const struct model *row, weft_sha256 *hash) {
    const char *config = row->config;
    weft_model *model = NULL;
    weft_model *headless = NULL;
    weft_model_info info;
    assert_ok(weft_model_create_random(&model, weft_test_json(config), 5, &f->host.host));
    assert_ok(weft_model_without_head(&headless, model));
    assert_ok(weft_model_get_info(model, &info));
    const bool maps = row->maps[0] || row->maps[1];
    struct run plain = run_plan(compile(f, model, &info, false, false));
    struct run last = run_plan(compile(f, headless, &info, false, false));
    struct run all = run_plan(compile(f, model, &info, true, maps));
    expect_same(&all, "output", &plain, "output", config);
    expect_same(&all, weft_test_text("hidden_states.%u", info.layers), &last, "output", config);
    for (uint32_t i = 0; i <= info.layers; i++) {
        const uint32_t state = expect(&all, weft_test_text("hidden_states.%u", i));
        weft_sha256_add(hash, all.tensors[state].data, all.tensors[state].bytes);
        const uint32_t map = find(&all, weft_test_text("attentions.%u", i));
        assert_int_equal(map < all.count, i < info.layers && row->maps[i]);
        if (map < all.count) {
            check_map(&all, map, &info);
            weft_sha256_add(hash, all.tensors[map].data, all.tensors[map].bytes);
        }
    }
    end_run(&plain);
    end_run(&last);
    end_run(&all);
    weft_model_destroy(&headless);
    weft_model_destroy(&model);
    weft_device_trim(f->device);
}

WEFT_TEST_ON_DEVICE(layers_have_outputs, f) {
    weft_sha256 hash;
    char text[WEFT_DIGEST_TEXT_SIZE];
    weft_sha256_begin(&hash);
    for (size_t i = 0; i < MODEL_COUNT; i++) {
        check_model(f, &models[i], &hash);
    }
    const weft_digest digest = weft_sha256_end(&hash);
    assert_string_equal(weft_digest_text(&digest, text),
                        "998e5fb179309071ae542b1bedd2faebfcef5d51efdc140da7b91aa8a1f13329");
}

/* ---- what there is not ---- */

static void expect_refused(struct weft_test_device *f, const char *config, const char *message) {
    weft_model *model = NULL;
    weft_plan *plan = NULL;
    const weft_model_shape shape = {.batch = 1, .length = LENGTH, .with_attentions = true};
    assert_ok(weft_model_create_random(&model, weft_test_json(config), 5, &f->host.host));
    WEFT_EXPECT_REFUSED(&f->host, WEFT_UNSUPPORTED,
                        weft_model_compile_shape(&plan, model, f->device, &shape, NULL), message);
    assert_null(plan);
    weft_model_destroy(&model);
}

WEFT_TEST_ON_DEVICE(models_without_softmax_have_no_maps, f) {
    expect_refused(f, "{'model_type':'performer'," HIDDEN ",'num_features':8}",
                   "attentions: expected a model with softmax attention, found mixing performer");
    expect_refused(f, "{'model_type':'fmmformer'," HIDDEN ",'kernels':['elu1']}",
                   "found mixing fmmformer, which has no attention maps");
}
