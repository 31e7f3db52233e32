/* SPDX-License-Identifier: MIT */
/* The fields of the spectraformer family, and which of them go together. */
#include <float.h>
#include <stdio.h>
#include <string.h>

#include "model/network/architectures/spectraformer.h"

#include "core/try.h"

#define EXPECTED_SIZE 512

/* In the order of weft_spectral_component. */
static const char *const components[] = {"trigonometric", "positive",   "hyperbolic", "optimal",
                                         "generalized",   "asymmetric", "poisson",    "geometric",
                                         "hybrid",        NULL};
/* In the order of weft_spectral_matrix: weft_features_name's, then the learned ones. */
static const char *const matrices[] = {
    "base", "orf", "sorf", "rom", "s_hybrid", "fastfood",        "scrf",    "p_model",   "qmc",
    "mm",   "ssf", "sgq",  "ssr", "simrf",    "simrf_dependent", "poisson", "geometric", "gmm",
    "dgm",  NULL};
static const char *const norms[] = {"chi", "sqrt", NULL};
static const char *const sequences[] = {"sobol", "halton", "normal", NULL};
static const char *const covariances[] = {"diagonal", "full", NULL};

_Static_assert(sizeof components / sizeof components[0] == WEFT_SPECTRAL_COMPONENT_COUNT + 1,
               "a name for each component");
_Static_assert(sizeof matrices / sizeof matrices[0] == WEFT_SPECTRAL_MATRIX_COUNT + 1,
               "a name for each matrix");

/* ---- fields of their own kind ---- */

static weft_status read_seed(void *value, const weft_json_fields *json, const char *name) {
    int64_t seed = 0;
    weft_status status =
        weft_json_optional_integer(&seed, json, name, 0, INT64_C(1) << 53); /* exact in any JSON */
    *(uint64_t *)value = (uint64_t)seed;
    return status;
}

static weft_status read_sign(void *value, const weft_json_fields *json, const char *name) {
    int64_t sign = 1;
    weft_status status = weft_json_optional_integer(&sign, json, name, -1, 1);
    if (status == WEFT_OK && sign == 0) {
        status = weft_fields_refuse(json, name, "1 or -1");
    }
    *(int32_t *)value = (int32_t)sign;
    return status;
}

static weft_status read_sizes(void *value, const weft_json_fields *json, const char *name) {
    struct weft_spectral_sizes *sizes = value;
    if (!weft_json_has(json, name)) {
        return WEFT_OK;
    }
    const json_t *found = json_object_get(json->object, name);
    size_t count = json_array_size(found); /* 0 when it is none */
    bool fits = count >= 1 && count <= WEFT_DGM_MAX_LAYERS;
    for (size_t i = 0; fits && i < count; i++) {
        json_int_t size = json_integer_value(json_array_get(found, i)); /* 0 when it is none */
        fits = size >= 1 && size <= WEFT_FEATURES_MAX_COLUMNS;
        sizes->size[i] = fits ? (uint32_t)size : 0;
    }
    sizes->count = (uint32_t)count;
    return fits
               ? WEFT_OK
               : weft_json_fail(json, WEFT_BAD_FILE, name, "1 to 8 integers from 1 to 4096", found);
}

/* weft/features.h says which of these each kind of matrix takes. */
const weft_field weft_spectraformer_fields[WEFT_SPECTRAFORMER_FIELDS] = {
    WEFT_FIELD_HEADS(struct weft_spectraformer, heads),
    {WEFT_CHOICE("component", struct weft_spectraformer, component, components), .required = true},
    {WEFT_CHOICE("weight_matrix", struct weft_spectraformer, matrix, matrices), .required = true},
    {WEFT_INTEGER("num_features", struct weft_spectraformer, rows, 1, WEFT_FEATURES_MAX_ROWS),
     .required = true},
    {WEFT_CUSTOM("features_seed", struct weft_spectraformer, seed, read_seed)},
    {WEFT_CHOICE("features_norm", struct weft_spectraformer, norm, norms)},
    {WEFT_INTEGER("features_factors", struct weft_spectraformer, factors, 0,
                  WEFT_FEATURES_MAX_FACTORS)},
    {WEFT_INTEGER("features_budget", struct weft_spectraformer, budget, 0,
                  2 * WEFT_FEATURES_MAX_ROWS)},
    {WEFT_INTEGER("features_sweeps", struct weft_spectraformer, sweeps, 0,
                  WEFT_FEATURES_MAX_SWEEPS)},
    {WEFT_CHOICE("features_sequence", struct weft_spectraformer, sequence, sequences)},
    {WEFT_BOOL("features_shift", struct weft_spectraformer, shift)},
    {WEFT_REAL("features_rate", struct weft_spectraformer, rate, 0, 64)},
    {WEFT_INTEGER("features_directions", struct weft_spectraformer, directions, 1, 65536)},
    {WEFT_INTEGER("gmm_components", struct weft_spectraformer, gmm_components, 1,
                  WEFT_FEATURES_MAX_ROWS)},
    {WEFT_CHOICE("gmm_covariance", struct weft_spectraformer, gmm_covariance, covariances)},
    {WEFT_CUSTOM("dgm_sizes", struct weft_spectraformer, dgm, read_sizes)},
    {WEFT_CUSTOM("dgm_act", struct weft_spectraformer, dgm_act, weft_field_activation)},
    /* The largest float32 below 1/4. */
    {WEFT_REAL("generalized_a", struct weft_spectraformer, a, (double)-FLT_MAX, 0x0.ffffffp-2)},
    {WEFT_CUSTOM("generalized_s", struct weft_spectraformer, s, read_sign)},
    {WEFT_REAL("feature_eps", struct weft_spectraformer, feature_eps, 0, FLT_MAX)},
    {WEFT_REAL("attention_eps", struct weft_spectraformer, attention_eps, 0, FLT_MAX)},
};

void weft_spectraformer_defaults(void *config) {
    *(struct weft_spectraformer *)config = (struct weft_spectraformer){
        .gmm_components = 1, .dgm_act = WEFT_ACTIVATION_RELU, .s = 1, .feature_eps = 1e-6F};
}

/* ---- what the fields say ---- */

weft_features_params weft_spectraformer_params(const struct weft_spectraformer *config,
                                               uint32_t matrix) {
    bool learned = config->matrix >= WEFT_FEATURES_KIND_COUNT;
    bool generated = config->matrix == WEFT_SPECTRAL_DGM;
    return (weft_features_params){.kind = learned ? WEFT_FEATURES_BASE
                                                  : (weft_features_kind)config->matrix,
                                  .rows = config->rows,
                                  .columns = generated ? config->dgm.size[0] : config->columns,
                                  .matrix = matrix,
                                  .seed = config->seed,
                                  .norm = (weft_features_norm)config->norm,
                                  .factors = config->factors,
                                  .budget = config->budget,
                                  .sequence = (weft_features_sequence)config->sequence,
                                  .sweeps = config->sweeps,
                                  .rate = config->rate,
                                  .shift = config->shift};
}

bool weft_spectraformer_weighted(const struct weft_spectraformer *config) {
    return config->matrix == WEFT_FEATURES_SGQ || config->matrix == WEFT_FEATURES_SSR ||
           config->matrix == WEFT_FEATURES_POISSON || config->matrix == WEFT_FEATURES_GEOMETRIC;
}

static bool is_discrete(uint32_t component) {
    return component == WEFT_SPECTRAL_POISSON || component == WEFT_SPECTRAL_GEOMETRIC;
}

/* Trigonometric, also as a part: no exponential that something could be added to. */
static bool has_no_eps(const struct weft_spectraformer *config) {
    return config->component == WEFT_COMPONENT_TRIGONOMETRIC ||
           config->component == WEFT_SPECTRAL_HYBRID || is_discrete(config->component) ||
           (config->component == WEFT_COMPONENT_GENERALIZED && config->s < 0);
}

/* By the component, or by negative weights of a quadrature. */
static bool changes_sign(const struct weft_spectraformer *config) {
    return has_no_eps(config) || config->matrix == WEFT_FEATURES_SGQ ||
           config->matrix == WEFT_FEATURES_SSR;
}

/* ---- what goes together ---- */

static weft_status fail(const weft_json_fields *json, const char *name, const char *format,
                        const char *argument) {
    char expected[EXPECTED_SIZE];
    snprintf(expected, sizeof expected, format, argument);
    return weft_fields_refuse(json, name, expected);
}

static weft_status check_component(const struct weft_spectraformer *config, bool causal,
                                   const weft_json_fields *json) {
    const char *component = components[config->component];
    bool powers =
        config->matrix == WEFT_FEATURES_POISSON || config->matrix == WEFT_FEATURES_GEOMETRIC;
    if (is_discrete(config->component)) {
        if (strcmp(component, matrices[config->matrix]) != 0) {
            return fail(json, "weight_matrix", "the component's powers, %s", component);
        }
    } else if (powers) {
        return fail(json, "weight_matrix", "no powers, as component is %s", component);
    }
    bool whole = config->component == WEFT_COMPONENT_OPTIMAL ||
                 config->component == WEFT_COMPONENT_ASYMMETRIC;
    if (causal && whole) {
        return fail(json, "component", "%s, as causal is true",
                    "one without statistics of the whole sequence");
    }
    return WEFT_OK;
}

/* A field that is set although nothing reads it. */
static weft_status check_unused(bool used, bool other, const char *name, const char *reason,
                                const weft_json_fields *json) {
    return used || !other ? WEFT_OK : fail(json, name, "nothing, as %s", reason);
}

static weft_status check_unused_fields(const struct weft_spectraformer *config,
                                       const weft_json_fields *json) {
    const bool generalized = config->component == WEFT_COMPONENT_GENERALIZED;
    const bool gmm = config->matrix == WEFT_SPECTRAL_GMM;
    const bool dgm = config->matrix == WEFT_SPECTRAL_DGM;
    const bool eps_given = weft_json_has(json, "feature_eps") && config->feature_eps != 0.0F;
    const struct {
        bool used, other;
        const char *name, *reason;
    } rows[] = {
        {generalized, config->a != 0.0F, "generalized_a", "component is not generalized"},
        {generalized, config->s != 1, "generalized_s", "component is not generalized"},
        {!has_no_eps(config), eps_given, "feature_eps", "component has features of either sign"},
        {config->component == WEFT_SPECTRAL_HYBRID, config->directions != 0, "features_directions",
         "component is not hybrid"},
        {gmm, config->gmm_components != 1, "gmm_components", "weight_matrix is not gmm"},
        {gmm, config->gmm_covariance != 0, "gmm_covariance", "weight_matrix is not gmm"},
        {dgm, config->dgm.count != 0, "dgm_sizes", "weight_matrix is not dgm"},
        {dgm, weft_json_has(json, "dgm_act"), "dgm_act", "weight_matrix is not dgm"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        WEFT_TRY(check_unused(rows[i].used, rows[i].other, rows[i].name, rows[i].reason, json));
    }
    return WEFT_OK;
}

static weft_status check_needed(const struct weft_spectraformer *config,
                                const weft_json_fields *json) {
    if (config->component == WEFT_SPECTRAL_HYBRID && config->directions == 0) {
        return fail(json, "features_directions", "an integer from 1 to 65536, as %s",
                    "component is hybrid");
    }
    if (config->rows % config->gmm_components != 0) {
        return fail(json, "gmm_components", "a divisor of %s", "num_features");
    }
    return WEFT_OK;
}

/* ---- what a kind of matrix takes ---- */

struct complaint {
    char text[EXPECTED_SIZE];
};

static void take_complaint(void *user, weft_log_level level, const char *message) {
    (void)level;
    snprintf(((struct complaint *)user)->text, EXPECTED_SIZE, "%s", message);
}

/* weft/features.h's parameters as fields here; columns come from two. */
static const char *field_of(const char *complaint) {
    static const struct {
        const char *parameter, *field;
    } names[] = {{"rows", "num_features"},      {"columns", "hidden_size"},
                 {"norm", "features_norm"},     {"factors", "features_factors"},
                 {"budget", "features_budget"}, {"sequence", "features_sequence"},
                 {"shift", "features_shift"},   {"sweeps", "features_sweeps"},
                 {"rate", "features_rate"}};
    static const char start[] = "features: ";
    const char *parameter = complaint + sizeof start - 1;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        size_t length = strlen(names[i].parameter);
        if (strncmp(complaint, start, sizeof start - 1) == 0 &&
            strncmp(parameter, names[i].parameter, length) == 0 && parameter[length] == ' ') {
            return names[i].field;
        }
    }
    return "weight_matrix";
}

/* weft/features.h knows what each kind takes; its message is passed on with the field's name. */
static weft_status check_matrix(const struct weft_spectraformer *config,
                                const weft_json_fields *json) {
    struct complaint complaint = {.text = ""};
    weft_host listener = json->host ? *json->host : (weft_host){0};
    listener.log = take_complaint;
    listener.log_user = &complaint;
    weft_features_params params = weft_spectraformer_params(config, 0);
    weft_features_structure structure;
    weft_status status = weft_features_get_structure(&structure, &params, &listener);
    return status == WEFT_OK
               ? WEFT_OK
               : fail(json, field_of(complaint.text), "a value without this: %s", complaint.text);
}

weft_status weft_spectraformer_check(void *config, const weft_network_config *network,
                                     const weft_json_fields *json) {
    struct weft_spectraformer *spectraformer = config;
    spectraformer->columns = network->hidden_size / spectraformer->heads;
    WEFT_TRY(check_component(spectraformer, network->causal, json));
    WEFT_TRY(check_unused_fields(spectraformer, json));
    WEFT_TRY(check_needed(spectraformer, json));
    if (spectraformer->dgm.count == 0) {
        spectraformer->dgm = (struct weft_spectral_sizes){1, {spectraformer->columns}};
    }
    WEFT_TRY(check_matrix(spectraformer, json));
    if (has_no_eps(spectraformer)) {
        spectraformer->feature_eps = 0.0F;
    }
    if (!weft_json_has(json, "attention_eps") && changes_sign(spectraformer)) {
        spectraformer->attention_eps = 1e-6F;
    }
    return WEFT_OK;
}
