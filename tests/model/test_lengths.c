/* SPDX-License-Identifier: MIT */
/* weft-test: long device */
/*
 * Models of a batch whose sequences have different lengths: each has the bits that it has alone, in a plan for its own
 * length, whatever the tokens behind it are.
 */
#include <math.h>

#include <weft/model.h>

#include "core/math/philox.h"
#include "core/shape.h"
#include "support_model.h"

WEFT_TEST_GROUP(weft_test_device_set_up, weft_test_device_tear_down);

#define TEST(name, f) WEFT_TEST_WITH(name, struct weft_test_device *f, NULL, NULL)

#define BATCH  4U
#define LENGTH 43U /* a prime */
#define VOCAB  50
#define SIZES                                                        \
    "'hidden_size':16,'num_hidden_layers':2,'intermediate_size':24," \
    "'max_position_embeddings':64,'num_attention_heads':2"
#define TOKENS   "'vocab_size':50," SIZES
#define CLASSIFY "'task':'classify','num_labels':3," TOKENS
#define SPECTRA  "{'model_type':'spectraformer'," CLASSIFY ",'num_features':24"

/* Every family that takes lengths, every pooling, every kind of task and input. */
static const char *const configs[] = {
    "{'model_type':'transformer'," CLASSIFY ",'pooling':'mean','position_embedding':'learned'}",
    "{'model_type':'transformer'," CLASSIFY ",'pooling':'first','norm_position':'post'}",
    "{'model_type':'transformer'," CLASSIFY ",'pooling':'last'}",
    "{'model_type':'transformer','task':'causal_lm'," TOKENS "}",
    "{'model_type':'transformer','task':'masked_lm'," TOKENS "}",
    "{'model_type':'transformer','task':'retrieve','num_labels':3," TOKENS "}",
    "{'model_type':'transformer','task':'regress','num_labels':2,'input':'features',"
    "'input_size':5,'position_embedding':'sinusoidal'," SIZES "}",
    "{'model_type':'performer'," CLASSIFY ",'num_features':24}",
    "{'model_type':'performer','task':'classify','num_labels':3,'causal':true,"
    "'pooling':'last'," TOKENS ",'num_features':24}",
    "{'model_type':'cosformer'," CLASSIFY ",'cosformer_length':64}",
    "{'model_type':'fmmformer'," CLASSIFY ",'half_width':5,'kernels':['elu1','tanh']}",
    "{'model_type':'fmmformer','task':'hidden'," TOKENS ",'half_width':60}",
    "{'model_type':'fmmformer','task':'causal_lm'," TOKENS ",'half_width':5,'fast_weight':true}",
    "{'model_type':'fmmformer','task':'causal_lm'," TOKENS
    ",'fast_weight':['elu1','elu1_negated'],'kernels':['elu1']}",
    "{'model_type':'flt'," CLASSIFY ",'position_features':8,'num_features':24}",
    "{'model_type':'flt','task':'hidden'," TOKENS ",'position_features':8,'kernel':'elu1',"
    "'positions':'input','position_size':3}",
    "{'model_type':'flt'," CLASSIFY ",'position_features':8,'position_phases':true,"
    "'kernel':'relu','num_features':24,'attention_eps':0.01}",
    SPECTRA ",'component':'hyperbolic','weight_matrix':'orf'}",
    SPECTRA ",'component':'optimal','weight_matrix':'sorf'}",
    SPECTRA ",'component':'asymmetric','weight_matrix':'orf'}",
    SPECTRA ",'component':'asymmetric','weight_matrix':'sorf'}",
    SPECTRA ",'component':'hybrid','weight_matrix':'orf','features_directions':4}",
    SPECTRA ",'component':'poisson','weight_matrix':'poisson'}",
    "{'model_type':'bert','architectures':['BertForMaskedLM']," TOKENS "}",
    "{'model_type':'bert','architectures':['BertForSequenceClassification']," TOKENS "}",
    "{'model_type':'distilbert','architectures':['DistilBertForTokenClassification'],"
    "'vocab_size':50,'dim':16,'n_layers':2,'n_heads':2,'hidden_dim':24,"
    "'max_position_embeddings':64}",
    "{'model_type':'roberta','architectures':['RobertaForSequenceClassification']," TOKENS "}",
    "{'model_type':'electra','architectures':['ElectraForPreTraining'],'embedding_size':8," TOKENS
    "}",
    "{'model_type':'mpnet','architectures':['MPNetForMaskedLM']," TOKENS "}",
    "{'model_type':'modernbert','architectures':['ModernBertForMaskedLM'],'local_attention':12,"
    "'global_attn_every_n_layers':2," TOKENS "}",
    "{'model_type':'modernbert','architectures':['ModernBertForSequenceClassification'],"
    "'classifier_pooling':'mean','local_attention':80," TOKENS "}",
    "{'model_type':'llama','architectures':['LlamaForSequenceClassification'],"
    "'num_key_value_heads':1," TOKENS "}",
    "{'model_type':'qwen3','architectures':['Qwen3ForCausalLM'],'head_dim':4,"
    "'use_sliding_window':true,'sliding_window':9,'max_window_layers':1," TOKENS "}",
};

/* ---- running ---- */

/* A batch on its way: tokens or vectors, positions, and lengths or null. Tokens have types by their parity. */
struct inputs {
    uint32_t batch, n;
    const int32_t *tokens;
    const float *features, *positions;
    const int32_t *lengths;
};

static uint64_t bytes_of(uint64_t elements) {
    return elements * sizeof(float);
}

static int32_t *types_of(const int32_t *tokens, uint64_t count) {
    int32_t *types = malloc(count * sizeof *types);
    assert_non_null(types);
    for (uint64_t i = 0; i < count; i++) {
        types[i] = tokens[i] % 2;
    }
    return types;
}

static weft_plan *compile(struct weft_test_device *f, weft_model *model, const struct inputs *in,
                          bool types) {
    weft_plan *plan = NULL;
    const weft_model_shape shape = {.batch = in->batch,
                                    .length = in->n,
                                    .with_types = types,
                                    .with_lengths = in->lengths != NULL};
    assert_ok(weft_model_compile_shape(&plan, model, f->device, &shape, NULL));
    return plan;
}

/* The output; *count receives its elements. */
static float *run(struct weft_test_device *f, weft_model *model, const struct inputs *in,
                  uint64_t *count) {
    weft_model_info info;
    weft_port_info port;
    assert_ok(weft_model_get_info(model, &info));
    weft_plan *plan = compile(f, model, in, info.takes_types);
    const uint64_t tokens = (uint64_t)in->batch * in->n;
    weft_host_tensor tensors[5];
    int32_t *types = info.takes_types ? types_of(in->tokens, tokens) : NULL;
    uint32_t ports = 0;
    tensors[ports++] = info.input_size
                           ? (weft_host_tensor){"features", (void *)in->features,
                                                bytes_of(tokens * info.input_size)}
                           : (weft_host_tensor){"tokens", (void *)in->tokens, bytes_of(tokens)};
    if (info.position_size) {
        tensors[ports++] = (weft_host_tensor){"positions", (void *)in->positions,
                                              bytes_of(tokens * info.position_size)};
    }
    if (types) {
        tensors[ports++] = (weft_host_tensor){"token_types", types, bytes_of(tokens)};
    }
    if (in->lengths) {
        tensors[ports++] = (weft_host_tensor){"lengths", (void *)in->lengths, bytes_of(in->batch)};
    }
    assert_ok(weft_plan_get_port(plan, ports, &port));
    assert_string_equal(port.name, "output");
    float *out = malloc(port.bytes);
    assert_non_null(out);
    memset(out, 0xff, port.bytes);
    tensors[ports++] = (weft_host_tensor){"output", out, port.bytes};
    assert_ok(weft_plan_execute(plan, tensors, ports));
    weft_plan_destroy(&plan);
    free(types);
    *count = weft_shape_elements(port.shape);
    return out;
}

/* ---- one model ---- */

struct batch {
    int32_t tokens[BATCH * LENGTH];
    float features[BATCH * LENGTH * 5];
    float positions[BATCH * LENGTH * 3];
    int32_t lengths[BATCH];
};

/* Pairs have one length each: alone, both run in one plan. */
static void fill(struct batch *batch, bool pairs) {
    const int32_t lengths[2][BATCH] = {{1, 29, LENGTH, 17}, {1, 1, 29, 29}};
    memcpy(batch->lengths, lengths[pairs], sizeof batch->lengths);
    weft_philox_uniform(batch->features, BATCH * LENGTH * 5, 1, 0);
    weft_philox_uniform(batch->positions, BATCH * LENGTH * 3, 1, 1);
    for (uint32_t i = 0; i < BATCH * LENGTH; i++) {
        const bool behind = i % LENGTH >= (uint32_t)batch->lengths[i / LENGTH];
        batch->tokens[i] = (int32_t)(weft_philox_u32(1, 2, i) % VOCAB);
        for (uint32_t c = 0; c < 5 && behind; c++) {
            batch->features[i * 5 + c] = NAN;
            batch->positions[i * 3 + c % 3] = NAN;
        }
    }
}

static void check_sequences(struct weft_test_device *f, weft_model *model, const char *config) {
    struct batch batch;
    weft_model_info info;
    assert_ok(weft_model_get_info(model, &info));
    assert_true(info.takes_lengths);
    const uint32_t step =
        info.task == WEFT_TASK_RETRIEVE ? 2 : 1; /* sequences that belong together */
    fill(&batch, step == 2);
    uint64_t count = 0;
    float *together = run(f, model,
                          &(struct inputs){BATCH, LENGTH, batch.tokens, batch.features,
                                           batch.positions, batch.lengths},
                          &count);
    const uint64_t stride = count / (BATCH / step);
    for (uint32_t b = 0; b < BATCH; b += step) {
        int32_t tokens[2 * LENGTH];
        const uint32_t n = (uint32_t)batch.lengths[b];
        for (uint32_t i = 0; i < step * n; i++) {
            tokens[i] = batch.tokens[(b + i / n) * LENGTH + i % n];
        }
        const struct inputs one = {step,
                                   n,
                                   tokens,
                                   batch.features + (size_t)b * LENGTH * 5,
                                   batch.positions + (size_t)b * LENGTH * 3,
                                   NULL};
        uint64_t own = 0;
        float *alone = run(f, model, &one, &own);
        assert_true(own <= stride);
        for (uint64_t i = 0; i < own; i++) {
            const float found = together[b / step * stride + i];
            if (!isfinite(alone[i]) || memcmp(&alone[i], &found, sizeof found) != 0) {
                fail_msg("%s: element %u of sequence %u, of %u tokens, is %a and alone %a", config,
                         (uint32_t)i, b, n, (double)found, (double)alone[i]);
            }
        }
        free(alone);
    }
    free(together);
}

static weft_model *create(struct weft_test_device *f, const char *config) {
    weft_model *model = NULL;
    char *json = weft_test_json(config);
    if (weft_model_create_random(&model, json, 3, &f->host.host) != WEFT_OK) {
        fail_msg("%s: %s", config, weft_test_log(&f->host));
    }
    return model;
}

TEST(test_sequences_alone, f) {
    for (size_t i = 0; i < sizeof configs / sizeof configs[0]; i++) {
        weft_model *model = create(f, configs[i]);
        check_sequences(f, model, configs[i]);
        weft_model_destroy(&model);
    }
}

/* ---- refusals ---- */

TEST(test_models_without_lengths, f) {
    static const char *const without[] = {
        "{'model_type':'fnet','architectures':['FNetModel'],'type_vocab_size':2," TOKENS "}",
        "{'model_type':'cosformer'," CLASSIFY "}",
        "{'model_type':'flt'," CLASSIFY ",'position_features':8,'num_features':24,"
        "'positions':'grid','position_grid':[4,5]}",
        "{'model_type':'tnn','task':'hidden','vocab_size':50,'hidden_size':16,"
        "'num_hidden_layers':1,'intermediate_size':24,'max_position_embeddings':64,'rpe_size':8,"
        "'rpe_layers':2,'expand_ratio':2}",
    };
    for (size_t i = 0; i < sizeof without / sizeof without[0]; i++) {
        weft_model *model = create(f, without[i]);
        weft_model_info info;
        weft_plan *plan = NULL;
        assert_ok(weft_model_get_info(model, &info));
        assert_false(info.takes_lengths);
        WEFT_EXPECT_REFUSED(&f->host, WEFT_INVALID_ARGUMENT,
                            weft_model_compile_lengths(&plan, model, f->device, 2, 20, NULL),
                            "lengths", "sequence's length");
        weft_model_destroy(&model);
    }
}

TEST(test_lengths_outside_the_sequence, f) {
    weft_model *model = create(f, configs[0]);
    weft_plan *plan = NULL;
    int32_t tokens[2 * 5] = {0};
    float out[2 * 3];
    int32_t lengths[2] = {5, 5};
    weft_host_tensor tensors[] = {{"tokens", tokens, sizeof tokens},
                                  {"lengths", lengths, sizeof lengths},
                                  {"output", out, sizeof out}};
    assert_ok(weft_model_compile_lengths(&plan, model, f->device, 2, 5, NULL));
    assert_ok(weft_plan_execute(plan, tensors, 3));
    lengths[1] = 6;
    WEFT_EXPECT_REFUSED(&f->host, WEFT_INVALID_ARGUMENT, weft_plan_execute(plan, tensors, 3),
                        "'lengths': sequence 1 is 6", "outside 1 to 5");
    lengths[1] = 0;
    WEFT_EXPECT_REFUSED(&f->host, WEFT_INVALID_ARGUMENT, weft_plan_execute(plan, tensors, 3),
                        "'lengths': sequence 1 is 0", "outside 1 to 5");
    weft_plan_destroy(&plan);
    weft_model_destroy(&model);
}
