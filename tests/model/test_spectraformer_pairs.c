/* SPDX-License-Identifier: MIT */
/* weft-test: slow one device */
/*
 * Every component function with every weight matrix: it runs, or is refused; and a matrix that is drawn gives what the
 * same one in the checkpoint gives.
 */
#include <math.h>

#include <weft/features.h>
#include <weft/model.h>

#include "support_arrays.h"
#include "support_model.h"

#define LAYERS     2
#define D          8
#define COLUMNS    4 /* of a head */
#define BATCH      2
#define LENGTH     5
#define COUNT      ((size_t)BATCH * LENGTH * D)
#define SEED       UINT64_C(9007199254740991)
#define DIRECTIONS 3
#define WIDEST     24

static const struct weft_test_network network = {
    .layers = LAYERS, .hidden_size = D, .intermediate_size = 6, .vocab_size = 9};

struct component {
    const char *name;
    bool whole;   /* reads the whole sequence */
    bool changes; /* has features of either sign */
    const char *fields;
};

static const struct component components[] = {
    {"trigonometric", false, true, ""},
    {"positive", false, false, ""},
    {"hyperbolic", false, false, ""},
    {"optimal", true, false, ""},
    {"generalized", false, false, ",'generalized_a':-0.2"},
    {"generalized", false, true, ",'generalized_a':0.05,'generalized_s':-1"},
    {"asymmetric", true, false, ""},
    {"poisson", false, true, ""},
    {"geometric", false, true, ""},
    {"hybrid", false, true, ",'features_directions':3"},
};

/* The kinds of weft/features.h and two more. */
#define GMM      WEFT_FEATURES_KIND_COUNT
#define DGM      (WEFT_FEATURES_KIND_COUNT + 1)
#define MATRICES (WEFT_FEATURES_KIND_COUNT + 2)

static const char *matrix_name(uint32_t matrix) {
    return matrix == GMM   ? "gmm"
           : matrix == DGM ? "dgm"
                           : weft_features_name((weft_features_kind)matrix);
}

struct fixture {
    struct weft_test_loader loader;
    weft_device *device;
    uint32_t ran, refused, exact;
    double worst;
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
    weft_test_device_close(&f->device);
    weft_test_loader_end(&f->loader);
    free(f);
    return 0;
}

#define TEST(name, f) WEFT_TEST_WITH(name, struct fixture *f, set_up, tear_down)

/* ---- one pair ---- */

struct pair {
    const struct component *component;
    uint32_t matrix;
    bool causal;
};

static bool is_powers(uint32_t matrix) {
    return matrix == WEFT_FEATURES_POISSON || matrix == WEFT_FEATURES_GEOMETRIC;
}

/* What api/MODELS.md says: powers go together, and statistics of the whole sequence are not causal. */
static bool is_allowed(const struct pair *pair) {
    const char *name = pair->component->name;
    bool powers = strcmp(name, "poisson") == 0 || strcmp(name, "geometric") == 0;
    bool fits =
        powers || is_powers(pair->matrix) ? strcmp(name, matrix_name(pair->matrix)) == 0 : true;
    return fits && !(pair->causal && pair->component->whole);
}

static uint32_t rows_of(uint32_t matrix) {
    return matrix == WEFT_FEATURES_SGQ   ? 2 * COLUMNS + 1
           : matrix == WEFT_FEATURES_SSR ? 1 + 2 * (COLUMNS + 1) * 2
                                         : 12;
}

static weft_status load(weft_model **model, struct fixture *f, const struct pair *pair) {
    char config[1024];
    snprintf(config, sizeof config,
             "{'model_type':'spectraformer','task':'hidden','vocab_size':9,'hidden_size':%u,"
             "'num_hidden_layers':%u,'intermediate_size':6,'max_position_embeddings':20,"
             "'num_attention_heads':2,'component':'%s','weight_matrix':'%s','num_features':%u,"
             "'features_seed':%llu,'causal':%s%s%s}",
             D, LAYERS, pair->component->name, matrix_name(pair->matrix), rows_of(pair->matrix),
             (unsigned long long)SEED, pair->causal ? "true" : "false", pair->component->fields,
             pair->matrix == DGM ? ",'dgm_sizes':[3,5]" : "");
    weft_test_model_write(&f->loader.model, config);
    weft_test_host_reset(&f->loader.host);
    return weft_model_load(model, f->loader.model.folder, &f->loader.host.host);
}

static void run(float out[COUNT], struct fixture *f, const struct pair *pair) {
    static const int32_t tokens[BATCH * LENGTH] = {3, 1, 4, 1, 5, 8, 2, 6, 5, 0};
    weft_model *model = NULL;
    weft_plan *plan = NULL;
    if (load(&model, f, pair) != WEFT_OK ||
        weft_model_compile(&plan, model, f->device, BATCH, LENGTH, false, NULL) != WEFT_OK) {
        fail_msg("%s of %s: %s", pair->component->name, matrix_name(pair->matrix),
                 weft_test_log(&f->loader.host));
    }
    memset(out, 0xff, COUNT * sizeof *out);
    const weft_host_tensor tensors[] = {{"tokens", (void *)(uintptr_t)tokens, sizeof tokens},
                                        {"output", out, COUNT * sizeof *out}};
    assert_ok(weft_plan_execute(plan, tensors, 2));
    weft_plan_destroy(&plan);
    weft_model_destroy(&model);
    for (size_t i = 0; i < COUNT; i++) {
        if (!isfinite(out[i])) {
            fail_msg("%s of %s: element %zu is %g", pair->component->name,
                     matrix_name(pair->matrix), i, (double)out[i]);
        }
    }
}

/* ---- tensors ---- */

#define FEATURES "mixer.features."

static float *add(struct fixture *f, uint32_t layer, const char *name, weft_shape shape) {
    char text[128];
    snprintf(text, sizeof text, "layers.%u." FEATURES "%s", (unsigned)layer, name);
    return weft_test_model_add(&f->loader.model, text, shape);
}

static void take(struct fixture *f, const char *name) {
    weft_test_model_remove_from_layers(&f->loader.model, LAYERS, FEATURES, name);
}

static void fill(float *w, float *weights, weft_features_kind kind, uint32_t matrix, uint32_t rows,
                 uint32_t columns) {
    float unused[WIDEST];
    assert_in_range(rows, 1, WIDEST);
    assert_ok(
        weft_features_fill(w, weights ? weights : unused,
                           weft_features_params(.kind = kind, .rows = rows, .columns = columns,
                                                .matrix = matrix, .seed = SEED),
                           NULL));
}

/* What is learned of gmm and dgm. */
static void add_learned(struct fixture *f, uint32_t layer, uint32_t matrix) {
    if (matrix == GMM) {
        add(f, layer, "sigma", weft_shape_of(1, COLUMNS));
        add(f, layer, "mu", weft_shape_of(1, COLUMNS));
    } else if (matrix == DGM) {
        add(f, layer, "generator.0.weight", weft_shape_of(5, 3));
        add(f, layer, "generator.0.bias", weft_shape_of(5));
        add(f, layer, "generator.1.weight", weft_shape_of(COLUMNS, 5));
        add(f, layer, "generator.1.bias", weft_shape_of(COLUMNS));
    }
}

static void take_learned(struct fixture *f, uint32_t matrix) {
    if (matrix == GMM) {
        take(f, "sigma");
        take(f, "mu");
    } else if (matrix == DGM) {
        take(f, "generator.0.weight");
        take(f, "generator.0.bias");
        take(f, "generator.1.weight");
        take(f, "generator.1.bias");
    }
}

static bool has_weights(uint32_t matrix) {
    return matrix == WEFT_FEATURES_SGQ || matrix == WEFT_FEATURES_SSR;
}

static const char *stored_name(uint32_t matrix) {
    return matrix < WEFT_FEATURES_KIND_COUNT ? "weight" : "noise";
}

/* All that is drawn when it is not there, drawn here. */
static void add_drawn(struct fixture *f, uint32_t layer, const struct pair *pair) {
    uint32_t matrix = pair->matrix;
    uint32_t rows = rows_of(matrix);
    uint32_t columns = matrix == DGM ? 3 : COLUMNS;
    weft_features_kind kind =
        matrix < WEFT_FEATURES_KIND_COUNT ? (weft_features_kind)matrix : WEFT_FEATURES_BASE;
    float *weights = has_weights(matrix) ? add(f, layer, "weights", weft_shape_of(rows)) : NULL;
    float *w = add(f, layer, stored_name(matrix), weft_shape_of(rows, columns));
    fill(w, weights, kind, layer, rows, columns);
    if (strcmp(pair->component->name, "hybrid") == 0) {
        w = add(f, layer, "directions", weft_shape_of(DIRECTIONS, COLUMNS));
        fill(w, NULL, WEFT_FEATURES_BASE, LAYERS + layer, DIRECTIONS, COLUMNS);
    }
}

static void take_drawn(struct fixture *f, const struct pair *pair) {
    take(f, stored_name(pair->matrix));
    if (has_weights(pair->matrix)) {
        take(f, "weights");
    }
    if (strcmp(pair->component->name, "hybrid") == 0) {
        take(f, "directions");
    }
}

/* ---- comparing ---- */

static bool is_structured(const struct pair *pair) {
    switch (pair->matrix) {
    case WEFT_FEATURES_SORF:
    case WEFT_FEATURES_ROM:
    case WEFT_FEATURES_S_HYBRID:
    case WEFT_FEATURES_FASTFOOD:
    case WEFT_FEATURES_SCRF:
        return strcmp(pair->component->name, "hybrid") != 0;
    default:
        return false;
    }
}

static void compare(struct fixture *f, const struct pair *pair, const float *drawn,
                    const float *stored) {
    if (!is_structured(pair)) {
        f->exact++;
        if (memcmp(drawn, stored, COUNT * sizeof *drawn) != 0) {
            fail_msg("%s of %s: drawn and stored differ by %g", pair->component->name,
                     matrix_name(pair->matrix), weft_test_relative_error(drawn, stored, COUNT));
        }
        return;
    }
    /* A fast transform rounds otherwise; denominators of features of either sign can be small. */
    double limit = pair->component->changes ? 1e-3 : 1e-5;
    double error = weft_test_relative_error(drawn, stored, COUNT);
    f->worst = fmax(f->worst, pair->component->changes ? 0.0 : error);
    if (!(error <= limit)) {
        fail_msg("%s of %s: relative L2 %g exceeds %g", pair->component->name,
                 matrix_name(pair->matrix), error, limit);
    }
}

/* The diagonals of a layer's structured matrix, as a checkpoint with learned ones has them. */
static void add_diagonals(struct fixture *f, uint32_t layer, const struct pair *pair) {
    const weft_features_params params = {.kind = (weft_features_kind)pair->matrix,
                                         .rows = rows_of(pair->matrix),
                                         .columns = COLUMNS,
                                         .matrix = layer,
                                         .seed = SEED};
    weft_features_structure s;
    uint32_t permutation[WIDEST];
    assert_ok(weft_features_get_structure(&s, &params, NULL));
    assert_in_range((uint64_t)s.blocks * s.size, 1, WIDEST);
    float *diagonals = add(f, layer, "diagonals", weft_shape_of(s.blocks, s.diagonals, s.size));
    assert_ok(weft_features_parts(diagonals, s.permuted ? permutation : NULL, &params, NULL));
}

/* Drawn diagonals in the checkpoint give the bits of drawn ones that are not there. */
static void check_diagonals(struct fixture *f, const struct pair *pair, const float *drawn) {
    float stored[COUNT];
    for (uint32_t layer = 0; layer < LAYERS; layer++) {
        add_diagonals(f, layer, pair);
    }
    run(stored, f, pair);
    take(f, "diagonals");
    if (memcmp(drawn, stored, sizeof stored) != 0) {
        fail_msg("%s of %s: stored diagonals differ by %g", pair->component->name,
                 matrix_name(pair->matrix), weft_test_relative_error(drawn, stored, COUNT));
    }
}

static void check_allowed(struct fixture *f, const struct pair *pair) {
    float drawn[COUNT];
    float stored[COUNT];
    for (uint32_t layer = 0; layer < LAYERS; layer++) {
        add_learned(f, layer, pair->matrix);
    }
    run(drawn, f, pair);
    if (is_structured(pair)) {
        check_diagonals(f, pair, drawn);
    }
    for (uint32_t layer = 0; layer < LAYERS; layer++) {
        add_drawn(f, layer, pair);
    }
    run(stored, f, pair);
    take_drawn(f, pair);
    take_learned(f, pair->matrix);
    compare(f, pair, drawn, stored);
    f->ran++;
}

static void check_refused(struct fixture *f, const struct pair *pair) {
    weft_model *model = NULL;
    assert_int_equal(load(&model, f, pair), WEFT_BAD_FILE);
    bool whole = pair->causal && pair->component->whole && !is_powers(pair->matrix);
    weft_test_expect_log(&f->loader.host, "config.json: field",
                         whole ? "\"component\"" : "\"weight_matrix\"", "found");
    f->refused++;
}

static void check_pair(struct fixture *f, const struct pair *pair) {
    if (is_allowed(pair)) {
        check_allowed(f, pair);
    } else {
        check_refused(f, pair);
    }
}

static void report(const struct fixture *f) {
    print_message("%u pairs ran, %u of them with the same bits; %u refused; worst relative L2 of a "
                  "positive component by a fast transform %.2g\n",
                  f->ran, f->exact, f->refused, f->worst);
}

#define COMPONENTS (sizeof components / sizeof components[0])

TEST(every_pair_runs_or_is_refused, f) {
    for (size_t c = 0; c < COMPONENTS; c++) {
        for (uint32_t matrix = 0; matrix < MATRICES; matrix++) {
            check_pair(f, &(struct pair){&components[c], matrix, false});
        }
    }
    report(f);
    assert_int_equal(f->ran, 8 * (MATRICES - 2) + 2);
    assert_int_equal(f->refused, 8 * 2 + 2 * (MATRICES - 1));
    assert_int_equal(f->exact, f->ran - 7 * 5);
}

/* A matrix of each way to be made. */
TEST(causal_pairs_run_or_are_refused, f) {
    static const uint32_t matrices[] = {WEFT_FEATURES_ORF, WEFT_FEATURES_FASTFOOD,
                                        WEFT_FEATURES_SGQ, WEFT_FEATURES_POISSON,
                                        WEFT_FEATURES_GEOMETRIC};
    for (size_t c = 0; c < COMPONENTS; c++) {
        for (size_t i = 0; i < sizeof matrices / sizeof matrices[0]; i++) {
            check_pair(f, &(struct pair){&components[c], matrices[i], true});
        }
    }
    report(f);
    assert_int_equal(f->ran, 6 * 3 + 2);
    assert_int_equal(f->refused, 6 * 2 + 2 * 4 + 2 * 5);
    assert_int_equal(f->exact, f->ran - 5);
}
