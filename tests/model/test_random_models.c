/* SPDX-License-Identifier: MIT */
/* weft-test: one device */
/* weft_model_create_random: models of a config alone, of every family. */
#include <math.h>

#include <weft/model.h>

#include "core/math/philox.h"
#include "core/shape.h"
#include "graph/graph.h"
#include "support_model.h"

#define LENGTH 24

/* Deep, so that activations that grow from layer to layer are found. */
#define WEFT_TEST_LAYERS    12
#define WEFT_TEST_POSITIONS 24
#include "support_families.h"

#define CONFIG_COUNT (sizeof weft_test_configs / sizeof weft_test_configs[0])

static weft_status create(weft_model **model, const char *config, uint64_t seed,
                          const weft_host *host) {
    char *json = weft_test_json(config);
    weft_status status = weft_model_create_random(model, json, seed, host);
    memset(json, 'x', strlen(json)); /* the text is not needed any more */
    return status;
}

static weft_model *expect_model(const char *config, uint64_t seed, struct weft_test_host *host) {
    weft_model *model = NULL;
    if (create(&model, config, seed, &host->host) != WEFT_OK) {
        fail_msg("%s: %s", config, weft_test_log(host));
    }
    return model;
}

/* ---- runs ---- */

struct output {
    size_t count;
    float *data;
};

static void fill_input(void *data, const weft_port_info *port) {
    size_t count = (size_t)weft_shape_elements(port->shape);
    if (port->dtype == WEFT_F32) {
        weft_philox_uniform(data, count, 1, 1);
        return;
    }
    int32_t *tokens = data;
    bool types = strcmp(port->name, "token_types") == 0;
    for (size_t i = 0; i < count; i++) {
        tokens[i] = (int32_t)(weft_philox_u32(1, 2, i) % (types ? 2 : 256));
    }
}

/* Two sequences. */
static struct output run_model(weft_model *model, weft_device *device) {
    weft_model_info info;
    assert_ok(weft_model_get_info(model, &info));
    weft_plan *plan = NULL;
    const uint32_t length = info.exact_length != 0 ? info.exact_length : LENGTH;
    assert_ok(weft_model_compile(&plan, model, device, 2, length, info.takes_types, NULL));
    weft_host_tensor tensors[4] = {{.name = NULL}};
    uint32_t count = 0;
    struct output out = {.count = 0};
    weft_port_info port;
    while (weft_plan_get_port(plan, count, &port) == WEFT_OK) {
        assert_in_range(count, 0, 3);
        void *data = malloc(port.bytes);
        assert_non_null(data);
        tensors[count++] = (weft_host_tensor){.name = port.name, .data = data, .bytes = port.bytes};
        if (port.is_output) {
            memset(data, 0xff, port.bytes); /* NaN */
            out = (struct output){port.bytes / sizeof(float), data};
        } else {
            fill_input(data, &port);
        }
    }
    assert_ok(weft_plan_execute(plan, tensors, count));
    for (uint32_t i = 0; i < count; i++) {
        if (tensors[i].data != out.data) {
            free(tensors[i].data);
        }
    }
    weft_plan_destroy(&plan);
    return out;
}

static struct output run_config(struct weft_test_device *f, const char *config, uint64_t seed) {
    weft_model *model = expect_model(config, seed, &f->host);
    struct output out = run_model(model, f->device);
    weft_model_destroy(&model);
    weft_device_trim(f->device); /* its weights, of which a long list would be slow */
    return out;
}

/* Finite, of order one, and no two elements alike that would be if a row or a channel had no effect. */
static void check_output(const struct output *out, const char *config) {
    double sum = 0;
    double squares = 0;
    for (size_t i = 0; i < out->count; i++) {
        if (!isfinite(out->data[i])) {
            fail_msg("%s: element %zu is %g", config, i, (double)out->data[i]);
        }
        sum += (double)out->data[i];
        squares += (double)out->data[i] * (double)out->data[i];
    }
    double count = (double)out->count;
    double size = sqrt(squares / count);
    double deviation = sqrt(fmax(0, squares / count - (sum / count) * (sum / count)));
    if (!(size > 0.02 && size < 20 && deviation > 0.05 * size)) {
        fail_msg("%s: outputs have size %g and deviation %g", config, size, deviation);
    }
    size_t half = out->count / 2; /* the second sequence; retrieve: the second pair's half */
    assert_memory_not_equal(out->data, out->data + half, sizeof(float));
}

static bool same(const struct output *a, const struct output *b) {
    return a->count == b->count && memcmp(a->data, b->data, a->count * sizeof *a->data) == 0;
}

WEFT_TEST_ON_DEVICE(every_family_runs, f) {
    for (size_t i = 0; i < CONFIG_COUNT; i++) {
        struct output first = run_config(f, weft_test_configs[i], 7);
        struct output again = run_config(f, weft_test_configs[i], 7);
        struct output other = run_config(f, weft_test_configs[i], UINT64_C(7) << 40);
        check_output(&first, weft_test_configs[i]);
        check_output(&other, weft_test_configs[i]);
        assert_true(same(&first, &again));
        assert_false(same(&first, &other));
        free(first.data);
        free(again.data);
        free(other.data);
    }
}

/* ---- weights ---- */

/* The graph of a model, whose values have the weights. */
static weft_graph *graph_of(weft_model *model) {
    weft_graph *graph = NULL;
    weft_model_inputs inputs = {0};
    weft_tensor out;
    assert_ok(weft_graph_create(&graph, NULL));
    assert_ok(
        weft_graph_input(&inputs.tokens, graph, "tokens", WEFT_I32, weft_shape_of(1, LENGTH)));
    assert_ok(weft_model_build(&out, model, graph, &inputs));
    return graph;
}

static const weft_weight *weight_at(const weft_graph *graph, uint32_t value) {
    return graph->values[value].source == WEFT_VALUE_WEIGHT ? graph->values[value].weight : NULL;
}

static const weft_weight *find_weight(const weft_graph *graph, const char *name) {
    for (uint32_t i = 1; i < graph->value_count; i++) {
        const weft_weight *weight = weight_at(graph, i);
        if (weight && strcmp(weight->name, name) == 0) {
            return weight;
        }
    }
    fail_msg("no weight \"%s\"", name);
    return NULL;
}

/* Of all elements: their mean, and their mean square beside that. */
static void moments(const weft_weight *weight, double *mean, double *variance) {
    const float *data = weight->data;
    size_t count = (size_t)weft_shape_elements(weight->shape);
    *mean = 0;
    *variance = 0;
    for (size_t i = 0; i < count; i++) {
        *mean += (double)data[i] / (double)count;
    }
    for (size_t i = 0; i < count; i++) {
        *variance += ((double)data[i] - *mean) * ((double)data[i] - *mean) / (double)count;
    }
}

static void check_moments(const weft_graph *graph, const char *name, double expected_mean,
                          double expected_variance) {
    double mean = 0;
    double variance = 0;
    moments(find_weight(graph, name), &mean, &variance);
    double deviation = sqrt(expected_variance);
    if (fabs(mean - expected_mean) > 0.1 * deviation ||
        fabs(variance / expected_variance - 1) > 0.1) {
        fail_msg("%s: mean %g, variance %g; expected %g, %g", name, mean, variance, expected_mean,
                 expected_variance);
    }
}

#define WIDE                                                                    \
    "'vocab_size':500,'task':'hidden','hidden_size':512,'num_hidden_layers':2," \
    "'intermediate_size':600,'max_position_embeddings':64"
#define PERFORMER "{'model_type':'performer'," WIDE ",'num_attention_heads':8,'num_features':64}"
#define SKI                                                                          \
    "{'model_type':'ski-tnn'," WIDE ",'expand_ratio':1,'ski_points':8,'ski_taps':5," \
    "'gamma':0.98}"

WEFT_TEST_ON_HOST(weights_have_the_variance_of_their_shape, host) {
    weft_model *model = expect_model(PERFORMER, 3, host);
    weft_graph *graph = graph_of(model);
    check_moments(graph, "embeddings.tokens.weight", 0, 1 / 512.0);
    check_moments(graph, "layers.0.mixer.query.weight", 0, 1 / 512.0);
    check_moments(graph, "layers.1.feed_forward.out.weight", 0, 1 / 600.0);
    check_moments(graph, "layers.1.mixer.features.weight", 0, 1);
    check_moments(graph, "layers.1.mixer_norm.weight", 1, 1 / 192.0);
    check_moments(graph, "layers.0.mixer_norm.bias", 0, 1 / 768.0);
    check_moments(graph, "layers.0.feed_forward.in.bias", 0, 1 / 768.0);
    weft_graph_destroy(&graph);
    weft_model_destroy(&model);
    model = expect_model(SKI, 3, host);
    graph = graph_of(model);
    check_moments(graph, "layers.0.token_mixer.toep.rpe.weight", 0, 1 / 17.0);
    check_moments(graph, "layers.0.token_mixer.toep.taps.weight", 0, 1 / 5.0);
    weft_graph_destroy(&graph);
    weft_model_destroy(&model);
}

static void check_different(const weft_graph *graph, uint32_t first, uint32_t second) {
    const weft_weight *a = weight_at(graph, first);
    const weft_weight *b = weight_at(graph, second);
    if (a && b && a != b && a->dtype == WEFT_F32 && b->dtype == WEFT_F32) {
        /* Whatever their scales: equal streams would have equal ratios. */
        const float *x = a->data;
        const float *y = b->data;
        bool norms = a->shape.rank == 1 && b->shape.rank == 1;
        float left = norms ? x[0] : x[0] * y[1];
        float right = norms ? y[0] : x[1] * y[0];
        if (left == right) {
            fail_msg("%s and %s begin alike", a->name, b->name);
        }
    }
}

WEFT_TEST_ON_HOST(every_tensor_has_a_stream_of_its_name, host) {
    weft_model *model =
        expect_model("{'model_type':'transformer'," WEFT_TEST_ATTENTION "}", 3, host);
    weft_model *other =
        expect_model("{'model_type':'transformer','vocab_size':19,'task':'hidden','hidden_size':16,"
                     "'num_hidden_layers':1,'intermediate_size':9,'max_position_embeddings':24,"
                     "'num_attention_heads':4,'norm_position':'post'}",
                     3, host);
    weft_graph *graph = graph_of(model);
    weft_graph *smaller = graph_of(other);
    for (uint32_t i = 1; i < graph->value_count; i++) {
        for (uint32_t j = 1; j < i; j++) {
            check_different(graph, i, j);
        }
    }
    const char *const name = "layers.0.mixer.value.weight"; /* the same in both */
    assert_memory_equal(find_weight(graph, name)->data, find_weight(smaller, name)->data,
                        16 * 16 * sizeof(float));
    weft_graph_destroy(&graph);
    weft_graph_destroy(&smaller);
    weft_model_destroy(&model);
    weft_model_destroy(&other);
}

/* ---- against model folders ---- */

/* Without what is made at any rate: the row of ones of pooling, and which channel is of which head. */
static void copy_weights(struct weft_test_model *folder, weft_model *model) {
    weft_graph *graph = graph_of(model);
    for (uint32_t i = 1; i < graph->value_count; i++) {
        const weft_weight *weight = weight_at(graph, i);
        if (weight && strchr(weight->name, '.') && !strstr(weight->name, "head_channels")) {
            memcpy(weft_test_model_add(folder, weight->name, weight->shape), weight->data,
                   (size_t)weft_shape_elements(weight->shape) * sizeof(float));
        }
    }
    weft_graph_destroy(&graph);
}

static void check_against_folder(struct weft_test_device *f, const char *config) {
    struct weft_test_model folder;
    weft_test_model_begin(&folder);
    weft_model *model = expect_model(config, 11, &f->host);
    copy_weights(&folder, model);
    weft_test_model_write(&folder, config);
    weft_model *loaded = NULL;
    assert_ok(weft_model_load(&loaded, folder.folder, &f->host.host));
    weft_model_info info[2];
    assert_ok(weft_model_get_info(model, &info[0]));
    assert_ok(weft_model_get_info(loaded, &info[1]));
    assert_int_equal(info[0].parameters, info[1].parameters);
    assert_int_equal(info[0].exact_length, info[1].exact_length);
    assert_string_equal(info[0].architecture, info[1].architecture);
    assert_string_equal(info[0].mixing, info[1].mixing);
    struct output made = run_model(model, f->device);
    struct output read = run_model(loaded, f->device);
    assert_true(same(&made, &read));
    free(made.data);
    free(read.data);
    weft_model_destroy(&model);
    weft_model_destroy(&loaded);
    weft_test_model_end(&folder);
}

WEFT_TEST_ON_DEVICE(a_folder_with_these_weights_is_the_same_model, f) {
    static const char *const models[] = {
        WEFT_TEST_FNET ",'architectures':['FNetForSequenceClassification'],'weft_mixing':'linear'}",
        "{'model_type':'transformer'," WEFT_TEST_CAUSAL ",'position_embedding':'learned'}",
        "{'model_type':'fmmformer'," WEFT_TEST_CAUSAL ",'half_width':5,'fast_weight':true}",
        "{'model_type':'flt'," WEFT_TEST_ATTENTION ",'position_features':8,'num_features':32}",
        "{'model_type':'tnn'," WEFT_TEST_AROUND WEFT_TEST_RPE
        ",'causal':true,'decay':'learned','gtu_norm':true}",
    };
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
        check_against_folder(f, models[i]);
    }
}

WEFT_TEST_ON_HOST(bad_configs_fail_as_in_a_folder, host) {
    static const char *const bad[] = {
        "",
        "{",
        "[]",
        "{'model_type':'transformer','model_type':'transformer'}",
        "{}",
        "{'model_type':'gpt2'}",
        "{'model_type':'transformer'}",
        "{'model_type':'transformer'," WEFT_TEST_ATTENTION ",'unknown':1}",
        "{'model_type':'transformer'," WEFT_TEST_AROUND ",'num_attention_heads':3}",
        "{'model_type':'transformer'," WEFT_TEST_ATTENTION ",'hidden_act':'mish'}",
        "{'model_type':'transformer'," WEFT_TEST_ATTENTION ",'num_labels':3}",
        "{'model_type':'tnn'," WEFT_TEST_AROUND WEFT_TEST_RPE ",'gamma':0.5}",
        "{'model_type':'ski-tnn'," WEFT_TEST_AROUND
        ",'ski_points':8,'ski_taps':65536,'gamma':0.98}",
        WEFT_TEST_SPECTRA ",'component':'poisson','weight_matrix':'orf'}",
        WEFT_TEST_FNET "}",
        WEFT_TEST_FNET ",'architectures':['FNetForImages']}",
        WEFT_TEST_FNET ",'architectures':['FNetModel'],'weft_mixing':'attention'}",
    };
    struct weft_test_model folder;
    weft_test_model_begin(&folder);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        weft_model *model = NULL;
        weft_test_model_write(&folder, bad[i]);
        weft_test_host_reset(host);
        weft_status expected = weft_model_load(&model, folder.folder, &host->host);
        const char *line = strstr(weft_test_log(host), "config.json");
        assert_non_null(line);
        char message[512]; /* the rest of the line */
        line += strlen("config.json");
        snprintf(message, sizeof message, "%.*s", (int)strcspn(line, "\n"), line);
        weft_test_host_reset(host);
        assert_int_equal(create(&model, bad[i], 1, &host->host), expected);
        assert_null(model);
        assert_int_not_equal(expected, WEFT_OK);
        weft_test_expect_log(host, "config_json", message);
    }
    weft_test_model_end(&folder);
}

/* ---- tokenizers, arguments, memory ---- */

/* By a tokenizer of bytes. */
static void expect_encodings(weft_model *model, struct weft_test_host *host) {
    weft_encoding encoding = {0};
    assert_ok(weft_model_encode(&encoding, model,
                                weft_encode_params(.text = "abcd", .size = 4, .pair = "ef",
                                                   .pair_size = 2, .max_tokens = 5)));
    assert_int_equal(encoding.count, 5);
    assert_int_equal(encoding.cut, 1);
    static const int32_t tokens[] = {'a', 'b', 'c', 'e', 'f'};
    static const int32_t types[] = {0, 0, 0, 1, 1};
    static const uint32_t begins[] = {0, 1, 2, 0, 1};
    assert_memory_equal(encoding.tokens, tokens, sizeof tokens);
    assert_memory_equal(encoding.types, types, sizeof types);
    assert_memory_equal(encoding.begins, begins, sizeof begins);
    assert_int_equal(encoding.ends[2], 3);
    assert_int_equal(encoding.sequences[4], 1);
    weft_encoding_free(model, &encoding);
    assert_null(encoding.tokens);
    weft_encoding_free(model, &encoding);
    weft_encoding_free(model, NULL);
    weft_encoding_free(NULL, &encoding);
    WEFT_EXPECT_REFUSED(host, WEFT_INVALID_ARGUMENT,
                        weft_model_encode(&encoding, model, weft_encode_params(.text = "")),
                        "no tokens");
    WEFT_EXPECT_REFUSED(host, WEFT_INVALID_ARGUMENT,
                        weft_model_encode(&encoding, model, weft_encode_params(.pair = "a")),
                        "params.text is null");
    WEFT_EXPECT_REFUSED(host, WEFT_INVALID_ARGUMENT, weft_model_encode(&encoding, model, NULL),
                        "params is null");
}

WEFT_TEST_ON_HOST(tokenizers_without_files, host) {
    int32_t *tokens = NULL;
    uint32_t count = 0;
    weft_model *model = expect_model("{'model_type':'transformer'," WEFT_TEST_ATTENTION
                                     ",'tokenizer_class':'ByteTokenizer'}",
                                     1, host);
    assert_ok(weft_model_tokenize(model, "ab", 2, &tokens, &count));
    assert_int_equal(count, 2);
    assert_int_equal(tokens[1], 'b');
    weft_tokens_free(model, &tokens);
    WEFT_EXPECT_REFUSED(host, WEFT_INVALID_ARGUMENT,
                        weft_model_tokenize(model, "", 0, &tokens, &count),
                        "the text is empty and has no tokens");
    expect_encodings(model, host);
    weft_model_destroy(&model);
    model = expect_model(WEFT_TEST_FNET ",'architectures':['FNetModel']}", 1, host);
    weft_model_info info;
    assert_ok(weft_model_get_info(model, &info));
    assert_string_equal(info.tokenizer, "none");
    WEFT_EXPECT_REFUSED(host, WEFT_UNSUPPORTED,
                        weft_model_tokenize(model, "ab", 2, &tokens, &count),
                        "no tokenizer: the model has no folder");
    weft_model_destroy(&model);
    WEFT_EXPECT_REFUSED(
        host, WEFT_BAD_FILE,
        create(&model,
               "{'model_type':'transformer','vocab_size':99,'task':'hidden'," WEFT_TEST_SIZES
               ",'num_attention_heads':2,'tokenizer_class':'ByteTokenizer'}",
               1, &host->host),
        "config_json: field \"vocab_size\"", "ByteTokenizer");
}

WEFT_TEST_ON_HOST(null_arguments, host) {
    weft_model *model = NULL;
    assert_int_equal(weft_model_create_random(NULL, "{}", 1, &host->host), WEFT_INVALID_ARGUMENT);
    assert_int_equal(weft_model_create_random(&model, NULL, 1, &host->host), WEFT_INVALID_ARGUMENT);
    assert_null(model);
}

#define SMALL                                                                     \
    "'vocab_size':9,'hidden_size':6,'num_hidden_layers':2,'intermediate_size':5," \
    "'max_position_embeddings':8,'num_attention_heads':2}"

WEFT_TEST_ON_HOST(failing_allocations, host) {
    static const char *const models[] = {
        "{'model_type':'fmmformer','task':'causal_lm','half_width':5,'fast_weight':true," SMALL,
        "{'model_type':'fnet','architectures':['FNetForSequenceClassification'],'type_vocab_size':"
        "2," SMALL,
    };
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
        weft_status status = WEFT_OUT_OF_HOST_MEMORY;
        while (weft_test_next_failure(host, status)) {
            weft_model *model = NULL;
            status = create(&model, models[i], 1, &host->host);
            weft_model_destroy(&model);
            assert_int_equal(host->live, 0);
        }
        assert_true(host->failures >= 50);
    }
}

/* What a model held as a classifier is freed when it gives embeddings, too: the host counts its blocks. */
WEFT_TEST_ON_HOST(a_classifier_that_gives_embeddings_keeps_nothing, host) {
    weft_model *model = expect_model(
        "{'model_type':'fnet','architectures':['FNetForSequenceClassification'],'num_labels':5,"
        "'vocab_size':19,'hidden_size':8,'num_hidden_layers':1,'intermediate_size':9,"
        "'max_position_embeddings':24}",
        3, host);
    assert_string_equal(weft_model_label(model, 4), "LABEL_4");
    assert_ok(weft_model_set_embedding(model, weft_embed_params(.pooling = WEFT_EMBED_MEAN)));
    assert_null(weft_model_label(model, 0));
    weft_model_destroy(&model);
}
