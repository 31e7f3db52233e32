/* SPDX-License-Identifier: MIT */
/* Model folders of the family spectraformer: which fields and tensors go together, and what is refused. */
#include <weft/features.h>
#include <weft/model.h>

#include "model/network/architectures/spectraformer.h"
#include "support_model.h"

static const struct weft_test_network network = {
    .layers = 2, .hidden_size = 8, .intermediate_size = 5, .vocab_size = 9};

/* Heads of 4 channels. */
#define START                                                                       \
    "{'model_type':'spectraformer','task':'hidden','vocab_size':9,'hidden_size':8," \
    "'num_hidden_layers':2,'intermediate_size':5,'max_position_embeddings':20,"
#define SPECTRAFORMER START "'num_attention_heads':2"
#define POSITIVE      SPECTRAFORMER ",'component':'positive','num_features':12"
#define BASE          POSITIVE ",'weight_matrix':'base'"
#define HYBRID        SPECTRAFORMER ",'component':'hybrid','weight_matrix':'orf','num_features':12"
#define GMM           POSITIVE ",'weight_matrix':'gmm'"
#define DGM           POSITIVE ",'weight_matrix':'dgm'"

static int set_up(void **state) {
    return weft_test_loader_set_up(state, &network);
}

#define TEST(name, f) \
    WEFT_TEST_WITH(name, struct weft_test_loader *f, set_up, weft_test_loader_tear_down)

#define NAME_SIZE 128
#define FEATURES  "mixer.features."

static void name_in_layer(char text[NAME_SIZE], uint32_t layer, const char *name) {
    snprintf(text, NAME_SIZE, "layers.%u." FEATURES "%s", (unsigned)layer, name);
}

static void add(struct weft_test_loader *f, const char *name, weft_shape shape) {
    weft_test_model_add_to_layers(&f->model, network.layers, FEATURES, name, shape);
}

static void take(struct weft_test_loader *f, const char *name) {
    weft_test_model_remove_from_layers(&f->model, network.layers, FEATURES, name);
}

/* Gives the number of parameters. */
static uint64_t expect_loads(struct weft_test_loader *f, const char *config) {
    return weft_test_expect_loads(f, config).parameters;
}

static void expect_unasked(struct weft_test_loader *f, const char *config, const char *tensor) {
    weft_test_expect_refused(f, config, WEFT_BAD_FILE, tensor, "no part of it has");
}

/* Not there, or of another shape. */
static void expect_missing(struct weft_test_loader *f, const char *config, const char *tensor) {
    weft_status status = weft_test_load(f, config, NULL);
    assert_true(status == WEFT_NOT_FOUND || status == WEFT_BAD_FILE);
    weft_test_expect_log(&f->host, "model.safetensors", tensor, "expected");
}

/* ---- tensors ---- */

TEST(w_is_stored_or_drawn, f) {
    uint64_t drawn = expect_loads(f, BASE "}");
    add(f, "weight", weft_shape_of(12, 4));
    uint64_t stored = expect_loads(f, BASE "}");
    assert_int_equal(stored, drawn + (uint64_t)network.layers * 12 * 4);
    assert_int_equal(expect_loads(f, GMM "}"), stored);
    assert_int_equal(expect_loads(f, POSITIVE ",'weight_matrix':'sorf'}"), stored);
    add(f, "weight", weft_shape_of(12, 5));
    expect_missing(f, BASE "}", "layers.0.mixer.features.weight");
}

/* Each layer has its own or none. */
TEST(one_layer_may_have_its_w, f) {
    uint64_t drawn = expect_loads(f, BASE "}");
    weft_test_model_add(&f->model, "layers.1.mixer.features.weight", weft_shape_of(12, 4));
    assert_int_equal(expect_loads(f, BASE "}"), drawn + 12 * 4);
    weft_test_model_add(&f->model, "layers.2.mixer.features.weight", weft_shape_of(12, 4));
    expect_unasked(f, BASE "}", "layers.2.mixer.features.weight");
}

#define SGQ SPECTRAFORMER ",'component':'positive','num_features':9,'weight_matrix':'sgq'"

TEST(quadratures_in_the_checkpoint_have_their_weights, f) {
    expect_loads(f, SGQ "}");
    add(f, "weight", weft_shape_of(9, 4));
    expect_missing(f, SGQ "}", "layers.0.mixer.features.weights");
    add(f, "weights", weft_shape_of(9));
    expect_loads(f, SGQ "}");
    take(f, "weight");
    expect_unasked(f, SGQ "}", "layers.0.mixer.features.weights");
}

#define POISSON SPECTRAFORMER ",'component':'poisson','num_features':3,'weight_matrix':'poisson'"

#define FASTFOOD POSITIVE ",'weight_matrix':'fastfood'"

TEST(structured_matrices_may_have_their_diagonals, f) {
    const uint64_t drawn = expect_loads(f, FASTFOOD "}");
    add(f, "diagonals", weft_shape_of(3, 3, 4));
    assert_int_equal(expect_loads(f, FASTFOOD "}"), drawn + (uint64_t)2 * 3 * 3 * 4);
    expect_unasked(f, BASE "}", FEATURES "diagonals");
    expect_unasked(f,
                   SPECTRAFORMER ",'component':'hybrid','weight_matrix':'fastfood',"
                                 "'num_features':12,'features_directions':3}",
                   FEATURES "diagonals");
    add(f, "permutation", weft_shape_of(3, 4));
    weft_test_expect_refused(f, FASTFOOD "}", WEFT_BAD_FILE, FEATURES "permutation",
                             "expected I32 or I64, found F32");
    expect_unasked(f, POSITIVE ",'weight_matrix':'sorf'}", FEATURES "permutation");
    take(f, "permutation");
    take(f, "diagonals");
    add(f, "diagonals", weft_shape_of(3, 4));
    expect_missing(f, FASTFOOD "}", FEATURES "diagonals");
}

TEST(powers_in_the_checkpoint_are_whole_numbers, f) {
    expect_loads(f, POISSON "}");
    for (uint32_t layer = 0; layer < network.layers; layer++) {
        char text[NAME_SIZE];
        name_in_layer(text, layer, "weight");
        float *w = weft_test_model_add(&f->model, text, weft_shape_of(3, 4));
        for (uint32_t i = 0; i < 12; i++) {
            w[i] = (float)(i % 5);
        }
    }
    expect_loads(f, POISSON ",'features_rate':2}");
    static const float wrong[] = {0.5F, -1.0F, 1024.0F};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        float *w =
            weft_test_model_add(&f->model, "layers.1.mixer.features.weight", weft_shape_of(3, 4));
        memset(w, 0, 12 * sizeof *w);
        w[7] = wrong[i];
        weft_test_expect_refused(f, POISSON "}", WEFT_BAD_FILE, "element 7 of w",
                                 "not a whole number from 0 to 1023");
        weft_test_expect_log(&f->host, "layers.1.mixer.features", "weight_matrix poisson");
    }
}

TEST(directions_are_stored_or_drawn, f) {
    uint64_t drawn = expect_loads(f, HYBRID ",'features_directions':5}");
    add(f, "directions", weft_shape_of(5, 4));
    uint64_t stored = expect_loads(f, HYBRID ",'features_directions':5}");
    assert_int_equal(stored, drawn + (uint64_t)network.layers * 5 * 4);
    expect_missing(f, HYBRID ",'features_directions':4}", "layers.0.mixer.features.directions");
    expect_unasked(f, BASE "}", "layers.0.mixer.features.directions");
}

TEST(mixtures_have_their_tensors, f) {
    expect_missing(f, GMM "}", "layers.0.mixer.features.sigma");
    add(f, "sigma", weft_shape_of(1, 4));
    add(f, "mu", weft_shape_of(1, 4));
    uint64_t drawn = expect_loads(f, GMM "}");
    add(f, "noise", weft_shape_of(12, 4));
    assert_int_equal(expect_loads(f, GMM "}"), drawn + (uint64_t)network.layers * 12 * 4);
    add(f, "sigma", weft_shape_of(3, 4, 4));
    add(f, "mu", weft_shape_of(3, 4));
    expect_loads(f, GMM ",'gmm_components':3,'gmm_covariance':'full'}");
    expect_missing(f, GMM ",'gmm_components':3}", "layers.0.mixer.features.sigma");
}

TEST(generators_have_their_tensors, f) {
    expect_missing(f, DGM "}", "layers.0.mixer.features.generator.0.weight");
    add(f, "generator.0.weight", weft_shape_of(4, 4));
    add(f, "generator.0.bias", weft_shape_of(4));
    expect_loads(f, DGM "}");
    add(f, "generator.0.weight", weft_shape_of(7, 3));
    add(f, "generator.0.bias", weft_shape_of(7));
    add(f, "generator.1.weight", weft_shape_of(4, 7));
    add(f, "generator.1.bias", weft_shape_of(4));
    expect_loads(f, DGM ",'dgm_sizes':[3,7],'dgm_act':'tanh'}");
    add(f, "noise", weft_shape_of(12, 3));
    expect_loads(f, DGM ",'dgm_sizes':[3,7]}");
    expect_missing(f, DGM ",'dgm_sizes':[2,7]}", "layers.0.mixer.features.noise");
    expect_unasked(f, BASE "}", "layers.0.mixer.features.generator.0.bias");
}

/* ---- fields ---- */

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define WITH(component, matrix) \
    SPECTRAFORMER ",'num_features':12,'component':'" component "','weight_matrix':'" matrix "'"

TEST(components_and_matrices_go_together, f) {
    static const struct weft_test_wrong wrong[] = {
        {POSITIVE "}", "weight_matrix", "base, orf … nothing"},
        {POSITIVE ",'weight_matrix':'gauss'}", "weight_matrix", "gmm or dgm … gauss"},
        {SPECTRAFORMER ",'weight_matrix':'orf','num_features':4}", "component", "hybrid … nothing"},
        {WITH("poisson", "base") "}", "weight_matrix", "the component's powers, poisson … base"},
        {WITH("geometric", "poisson") "}", "weight_matrix", "powers, geometric … poisson"},
        {WITH("positive", "poisson") "}", "weight_matrix",
         "no powers, as component is positive … poisson"},
        {WITH("hybrid", "geometric") ",'features_directions':2}", "weight_matrix",
         "no powers, as component is hybrid … geometric"},
        {WITH("optimal", "orf") ",'causal':true}", "component", "as causal is true … optimal"},
        {WITH("asymmetric", "orf") ",'causal':true}", "component",
         "without statistics of the whole sequence … asymmetric"},
    };
    weft_test_expect_wrong(f, wrong);
}

TEST(fields_that_nothing_reads_are_refused, f) {
    static const struct weft_test_wrong wrong[] = {
        {BASE ",'generalized_a':0.1}", "generalized_a", "nothing, as component is not … 0.1"},
        {BASE ",'generalized_s':-1}", "generalized_s", "nothing, as component is not … -1"},
        {WITH("trigonometric", "orf") ",'feature_eps':1e-3}", "feature_eps", "either sign … 0.001"},
        {WITH("generalized", "orf") ",'generalized_s':-1,'feature_eps':1e-3}", "feature_eps",
         "either sign … 0.001"},
        {HYBRID ",'features_directions':2,'feature_eps':1}", "feature_eps", "either sign … 1"},
        {BASE ",'features_directions':2}", "features_directions", "component is not hybrid … 2"},
        {HYBRID "}", "features_directions", "as component is hybrid … nothing"},
        {BASE ",'gmm_components':2}", "gmm_components", "weight_matrix is not gmm … 2"},
        {BASE ",'gmm_covariance':'full'}", "gmm_covariance", "weight_matrix is not gmm … full"},
        {GMM ",'gmm_components':5}", "gmm_components", "a divisor of num_features … 5"},
        {BASE ",'dgm_sizes':[2]}", "dgm_sizes", "weight_matrix is not dgm … an array of 1"},
        {BASE ",'dgm_act':'tanh'}", "dgm_act", "weight_matrix is not dgm … tanh"},
    };
    weft_test_expect_wrong(f, wrong);
}

TEST(values_are_in_range, f) {
    static const struct weft_test_wrong wrong[] = {
        {BASE ",'features_seed':-1}", "features_seed", "from 0 to 9007199254740992 … -1"},
        {BASE ",'features_seed':9007199254740993}", "features_seed", "from 0 … 9007199254740993"},
        {BASE ",'features_norm':'l2'}", "features_norm", "chi or sqrt … l2"},
        {BASE ",'features_sequence':0}", "features_sequence", "a string … 0"},
        {WITH("generalized", "orf") ",'generalized_a':0.25}", "generalized_a",
         "a number from … 0.25"},
        {WITH("generalized", "orf") ",'generalized_s':0}", "generalized_s", "1 or -1 … 0"},
        {WITH("generalized", "orf") ",'generalized_s':2}", "generalized_s", "from -1 to 1 … 2"},
        {DGM ",'dgm_sizes':[]}", "dgm_sizes", "1 to 8 integers from 1 to 4096 … an array of 0"},
        {DGM ",'dgm_sizes':[1,1,1,1,1,1,1,1,1]}", "dgm_sizes", "1 to 8 … an array of 9"},
        {DGM ",'dgm_sizes':[4097]}", "dgm_sizes", "from 1 to 4096 … an array of 1"},
        {DGM ",'dgm_sizes':3}", "dgm_sizes", "1 to 8 integers … 3"},
    };
    weft_test_expect_wrong(f, wrong);
}

#define ROWS(matrix, rows) \
    SPECTRAFORMER ",'component':'positive','weight_matrix':'" matrix "','num_features':" rows

/* Each parameter of weft/features.h that a kind refuses is its field's error. */
TEST(matrices_have_their_parameters, f) {
    static const struct weft_test_wrong wrong[] = {
        {ROWS("base", "12") ",'features_norm':'sqrt'}", "features_norm",
         "no such parameter … sqrt"},
        {ROWS("sorf", "12") ",'features_factors':2}", "features_factors", "no such parameter … 2"},
        {ROWS("s_hybrid", "12") ",'features_factors':1}", "features_factors", "not 2 to 16 … 1"},
        {ROWS("s_hybrid", "11") "}", "num_features", "even … 11"},
        {ROWS("p_model", "12") ",'features_budget':11}", "features_budget", "12 to 15 … 11"},
        {ROWS("orf", "12") ",'features_budget':12}", "features_budget", "no such parameter … 12"},
        {ROWS("simrf", "12") ",'features_sweeps':2}", "features_sweeps", "no such parameter … 2"},
        {ROWS("qmc", "12") ",'features_sequence':'normal'}", "features_sequence", "not 0 … normal"},
        {ROWS("base", "12") ",'features_sequence':'halton'}", "features_sequence",
         "no such parameter … halton"},
        {ROWS("mm", "12") ",'features_sequence':'normal','features_shift':true}", "features_shift",
         "normal draws have no shift … true"},
        {ROWS("mm", "4") "}", "num_features", "more than columns … 4"},
        {ROWS("sgq", "12") "}", "num_features", "9 (2 columns + 1) … 12"},
        {ROWS("ssr", "12") "}", "num_features", "1 + 10 t … 12"},
        {ROWS("base", "12") ",'features_rate':1}", "features_rate", "no such parameter … 1"},
        {ROWS("gmm", "12") ",'features_norm':'sqrt'}", "features_norm", "no such parameter … sqrt"},
        {WITH("geometric", "geometric") ",'features_rate':1}", "features_rate", "0.9375 … 1"},
        {START "'num_attention_heads':8,'component':'positive','weight_matrix':'simrf',"
               "'num_features':12}",
         "hidden_size", "a simplex needs two rows … 8"},
        {START "'num_attention_heads':8,'component':'positive','weight_matrix':'ssf',"
               "'num_features':12}",
         "hidden_size", "even … 8"},
    };
    weft_test_expect_wrong(f, wrong);
}

TEST(parameters_that_a_matrix_has_are_read, f) {
    static const char *const right[] = {
        ROWS("orf", "12") ",'features_norm':'sqrt','features_seed':9007199254740992}",
        ROWS("rom", "12") ",'features_factors':16}",
        ROWS("p_model", "12") ",'features_budget':15}",
        ROWS("simrf_dependent", "12") ",'features_sweeps':64}",
        ROWS("qmc", "12") ",'features_sequence':'halton','features_shift':true}",
        ROWS("mm", "12") ",'features_sequence':'normal'}",
        ROWS("ssr", "21") "}",
        WITH("geometric", "geometric") ",'features_rate':0.25,'causal':true}",
        WITH("generalized", "orf") ",'generalized_a':0.24999998,'generalized_s':-1,'causal':true}",
        WITH("trigonometric", "fastfood") ",'feature_eps':0}",
    };
    for (size_t i = 0; i < COUNT(right); i++) {
        expect_loads(f, right[i]);
    }
}

/* The names of weft/features.h are the config's. */
TEST(names_are_those_of_the_headers, f) {
    const weft_field *component = NULL;
    const weft_field *matrix = NULL;
    for (size_t i = 0; i < WEFT_SPECTRAFORMER_FIELDS; i++) {
        const weft_field *field = &weft_spectraformer_fields[i];
        component = strcmp(field->name, "component") == 0 ? field : component;
        matrix = strcmp(field->name, "weight_matrix") == 0 ? field : matrix;
    }
    assert_non_null(component);
    assert_non_null(matrix);
    for (uint32_t i = 0; i < WEFT_COMPONENT_COUNT; i++) {
        assert_string_equal(component->choices[i], weft_component_name((weft_component)i));
    }
    for (uint32_t i = 0; i < WEFT_FEATURES_KIND_COUNT; i++) {
        assert_string_equal(matrix->choices[i], weft_features_name((weft_features_kind)i));
    }
    assert_string_equal(matrix->choices[WEFT_SPECTRAL_GMM], "gmm");
    assert_string_equal(component->choices[WEFT_SPECTRAL_HYBRID], "hybrid");
}

/* Weights beyond float32: e^(rate · columns) of powers that are all 0. */
TEST(draws_that_fail_name_their_matrix, f) {
    for (uint32_t layer = 0; layer < network.layers; layer++) {
        char text[NAME_SIZE];
        name_in_layer(text, layer, "weight");
        memset(weft_test_model_add(&f->model, text, weft_shape_of(3, 4)), 0, 12 * sizeof(float));
    }
    expect_loads(f, POISSON ",'features_rate':20}");
    WEFT_EXPECT_REFUSED(&f->host, WEFT_BAD_FILE,
                        weft_test_load(f, POISSON ",'features_rate':64}", NULL),
                        "rate of poisson is 64", "e^255, above e^87");
    weft_test_expect_log(&f->host, "layers.0.mixer.features", "weight_matrix poisson");
}
