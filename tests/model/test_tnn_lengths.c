/* SPDX-License-Identifier: MIT */
/* weft-test: posix */ /* it writes over files of a model that is open, which Windows does not allow */
/* weft-test: slow one device */
/*
 * The families with Toeplitz matrices with one set of weights at a length and at four times it, and what later tokens do
 * to earlier rows of causal models.
 */
#include <math.h>

#include <weft/model.h>

#include "support_model.h"

#ifdef __SANITIZE_ADDRESS__
#define LENGTH_COUNT 2 /* sanitizers are slow: without the longest */
#else
#define LENGTH_COUNT 3
#endif

#define WIDTH      8
#define CHANNELS   16
#define SIZE       12 /* of an RPE */
#define VOCABULARY 30

static const struct weft_test_network network = {.layers = 2,
                                                 .hidden_size = WIDTH,
                                                 .intermediate_size = 10,
                                                 .vocab_size = VOCABULARY,
                                                 .toeplitz = true};

#define CONFIG(type)                                                               \
    "{'model_type':'" type "','task':'hidden','vocab_size':30,'hidden_size':8,"    \
    "'num_hidden_layers':2,'intermediate_size':10,'max_position_embeddings':1200," \
    "'expand_ratio':2,"

struct fixture {
    struct weft_test_loader loader;
    weft_device *device;
    weft_model *model;
};

static int set_up(void **state) {
    struct fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    weft_test_loader_begin(&f->loader, &network);
    assert_ok(weft_device_open(&f->device, weft_device_params(.host = f->loader.host.host)));
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    struct fixture *f = *state;
    weft_model_destroy(&f->model);
    weft_test_device_close(&f->device);
    weft_test_loader_end(&f->loader);
    free(f);
    return 0;
}

#define TEST(name, f) WEFT_TEST_WITH(name, struct fixture *f, set_up, tear_down)

/* ---- models ---- */

static const char *layer_name(char text[128], uint32_t layer, const char *part) {
    snprintf(text, 128, "layers.%u.token_mixer.%s", (unsigned)layer, part);
    return text;
}

static void add_gtu(struct fixture *f, uint32_t layer) {
    char text[128];
    weft_test_model_add_linear(&f->loader.model, layer_name(text, layer, "u_proj"), WIDTH,
                               CHANNELS);
    weft_test_model_add_linear(&f->loader.model, layer_name(text, layer, "v_proj"), WIDTH,
                               CHANNELS);
    weft_test_model_add_linear(&f->loader.model, layer_name(text, layer, "o"), CHANNELS, WIDTH);
}

static void add_rpe(struct fixture *f, uint32_t layer, uint32_t channels) {
    char text[128];
    weft_test_model_add_linear(&f->loader.model, layer_name(text, layer, "toep.rpe.pos_proj"), 1,
                               SIZE);
    weft_test_model_add_linear(&f->loader.model, layer_name(text, layer, "toep.rpe.layers.0.2"),
                               SIZE, SIZE);
    weft_test_model_add_linear(&f->loader.model, layer_name(text, layer, "toep.rpe.out.2"), SIZE,
                               channels);
}

static void load(struct fixture *f, const char *config) {
    weft_test_model_write(&f->loader.model, config);
    weft_model_destroy(&f->model);
    assert_ok(weft_model_load(&f->model, f->loader.model.folder, &f->loader.host.host));
}

static void load_rpe(struct fixture *f, const char *config, uint32_t channels) {
    for (uint32_t layer = 0; layer < network.layers; layer++) {
        add_gtu(f, layer);
        add_rpe(f, layer, channels);
    }
    load(f, config);
}

static void load_ski(struct fixture *f, const char *config) {
    char text[128];
    for (uint32_t layer = 0; layer < network.layers; layer++) {
        add_gtu(f, layer);
        weft_test_model_add(&f->loader.model, layer_name(text, layer, "toep.rpe.weight"),
                            weft_shape_of(2 * 20 + 1, CHANNELS));
        weft_test_model_add(&f->loader.model, layer_name(text, layer, "toep.taps.weight"),
                            weft_shape_of(5, CHANNELS));
    }
    load(f, config);
}

/* ---- runs ---- */

/* Tokens that depend on the position alone, other ones from `changed` on. */
static int32_t *make_tokens(uint32_t n, uint32_t changed) {
    int32_t *tokens = malloc(n * sizeof *tokens);
    assert_non_null(tokens);
    for (uint32_t i = 0; i < n; i++) {
        tokens[i] = (int32_t)((i * i + 3 * i + (i < changed ? 0 : 11)) % VOCABULARY);
    }
    return tokens;
}

static weft_plan *compile(struct fixture *f, uint32_t n) {
    weft_plan *plan = NULL;
    assert_ok(weft_model_compile(&plan, f->model, f->device, 1, n, false, NULL));
    return plan;
}

/* [n, WIDTH] in malloc's memory, all of it finite. */
static float *run(weft_plan *plan, uint32_t n, uint32_t changed) {
    size_t count = (size_t)n * WIDTH;
    int32_t *tokens = make_tokens(n, changed);
    float *out = malloc(count * sizeof *out);
    assert_non_null(out);
    memset(out, 0xff, count * sizeof *out); /* NaN */
    const weft_host_tensor tensors[] = {
        {.name = "tokens", .data = tokens, .bytes = n * sizeof *tokens},
        {.name = "output", .data = out, .bytes = count * sizeof *out}};
    assert_ok(weft_plan_execute(plan, tensors, 2));
    free(tokens);
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(out[i])) {
            fail_msg("n = %u: element %zu is %g", n, i, (double)out[i]);
        }
    }
    return out;
}

static float *run_once(struct fixture *f, uint32_t n) {
    weft_plan *plan = compile(f, n);
    float *out = run(plan, n, n);
    weft_plan_destroy(&plan);
    return out;
}

/* The largest difference of rows from … to - 1, over the largest element of all. */
static double difference(const float *a, const float *b, uint32_t from, uint32_t to) {
    double worst = 0;
    double largest = 0;
    for (size_t i = (size_t)from * WIDTH; i < (size_t)to * WIDTH; i++) {
        worst = fmax(worst, fabs((double)a[i] - (double)b[i]));
        largest = fmax(largest, fabs((double)a[i]));
    }
    return worst / largest;
}

/** Both lengths run; the longer one's mixers read further than the shorter one's, so its rows are others. */
static void check_longer(struct fixture *f) {
    static const uint32_t lengths[] = {1, 30, 300};
    for (size_t i = 0; i < LENGTH_COUNT; i++) {
        uint32_t n = lengths[i];
        float *near = run_once(f, n);
        float *far = run_once(f, 4 * n);
        assert_true(difference(near, far, 0, n) > 1e-4);
        free(near);
        free(far);
    }
}

/** Rows before `changed` stay, within rounding; the row itself does not. */
static void check_causal(struct fixture *f) {
    static const uint32_t lengths[] = {2, 37, 300};
    for (size_t i = 0; i < LENGTH_COUNT; i++) {
        uint32_t n = lengths[i];
        weft_plan *plan = compile(f, n);
        float *whole = run(plan, n, n);
        for (uint32_t changed = 1; changed < n; changed += 1 + n / 5) {
            float *other = run(plan, n, changed);
            double before = difference(whole, other, 0, changed);
            if (!(before <= 1e-5)) {
                fail_msg("n = %u: rows before %u change by %g", n, changed, before);
            }
            assert_true(difference(whole, other, changed, changed + 1) > 1e-2);
            free(other);
        }
        free(whole);
        weft_plan_destroy(&plan);
    }
}

#define RPE "'rpe_size':12,'rpe_layers':1"

TEST(tnn_runs_four_times_as_long, f) {
    load_rpe(f, CONFIG("tnn") RPE ",'decay':'fixed','gamma':0.99}", CHANNELS);
    check_longer(f);
}

TEST(tnn_with_fractions_runs_four_times_as_long, f) {
    load_rpe(f, CONFIG("tnn") RPE ",'rpe_input':'lag_exp','rpe_length':300}", CHANNELS);
    check_longer(f);
}

TEST(ski_tnn_runs_four_times_as_long, f) {
    load_ski(f, CONFIG("ski-tnn") "'ski_points':20,'ski_taps':5,'gamma':0.98}");
    check_longer(f);
}

TEST(fd_tnn_runs_four_times_as_long, f) {
    load_rpe(f, CONFIG("fd-tnn") RPE "}", 2 * CHANNELS);
    check_longer(f);
    load(f, CONFIG("fd-tnn") RPE ",'fd_grid':'length','fd_input':'cosine'}");
    check_longer(f);
}

TEST(tnn_is_causal, f) {
    load_rpe(f, CONFIG("tnn") RPE ",'causal':true,'decay':'fixed'}", CHANNELS);
    check_causal(f);
}

TEST(fd_tnn_is_causal, f) {
    load_rpe(f, CONFIG("fd-tnn") RPE ",'causal':true}", CHANNELS);
    check_causal(f);
    load(f, CONFIG("fd-tnn") RPE ",'causal':true,'fd_grid':'length','fd_input':'cosine'}");
    check_causal(f);
}
