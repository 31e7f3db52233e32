/* SPDX-License-Identifier: MIT */
/* TNN: Qin et al., "Toeplitz neural network for sequence modeling", 2023; tensors as its public code names them. */
#include "core/try.h"
#include "graph/graph.h"
#include "model/network/architecture.h"
#include "model/network/network.h"
#include "model/network/toeplitz_family.h"

enum decay { DECAY_NONE, DECAY_FIXED, DECAY_LEARNED };

struct tnn {
    struct weft_gtu_config gtu;
    struct weft_rpe_config rpe;
    uint32_t input;  /* weft_rpe_lag */
    uint32_t length; /* divisor of lags; 0: n - 1 */
    uint32_t decay;  /* enum decay */
    float gamma;
};

static const char *const input_names[] = {"lag", "lag_fraction", "lag_exp", NULL};
static const char *const decay_names[] = {"none", "fixed", "learned", NULL};

static const weft_field fields[] = {
    WEFT_FIELDS_GTU(struct tnn),
    WEFT_FIELDS_RPE(struct tnn),
    {WEFT_CHOICE("rpe_input", struct tnn, input, input_names)},
    {WEFT_INTEGER("rpe_length", struct tnn, length, 0, 16777216)},
    {WEFT_CHOICE("decay", struct tnn, decay, decay_names)},
    {WEFT_REAL("gamma", struct tnn, gamma, 0, 1)},
};

static void set_defaults(void *config) {
    struct tnn *tnn = config;
    weft_gtu_defaults(&tnn->gtu);
    weft_rpe_defaults(&tnn->rpe);
    tnn->gamma = 0.999F;
}

/* A field without effect is refused: whoever wrote the file meant something else. */
static weft_status check(void *config, const weft_network_config *network,
                         const weft_json_fields *json) {
    const struct tnn *tnn = config;
    WEFT_TRY(weft_gtu_check(&tnn->gtu, network, json));
    if (tnn->input == WEFT_RPE_LAG && tnn->length != 0) {
        return weft_fields_refuse(json, "rpe_length", "nothing, as rpe_input is lag");
    }
    if (tnn->decay == DECAY_NONE && weft_json_has(json, "gamma")) {
        return weft_fields_refuse(json, "gamma", "nothing, as decay is none");
    }
    if (tnn->decay == DECAY_FIXED && !(tnn->gamma > 0)) {
        return weft_fields_refuse(json, "gamma", "a number above 0, as decay is fixed");
    }
    return WEFT_OK;
}

/* ---- decay ---- */

struct fixed_decay {
    uint32_t channels;
    float gamma;
};

static weft_status fill_fixed(float *data, const void *user, const weft_host *host) {
    const struct fixed_decay *fixed = user;
    (void)host;
    for (uint32_t i = 0; i < fixed->channels; i++) {
        data[i] = fixed->gamma;
    }
    return WEFT_OK;
}

/* A stored decay is checked here, where the tensor's name is known. */
static void check_stored(struct weft_builder *builder, weft_tensor gamma, uint32_t channels) {
    if (builder->status != WEFT_OK) {
        return;
    }
    weft_weight *weight = builder->graph->values[gamma.id].weight;
    const void *elements = NULL;
    builder->status = weft_weight_data(&elements, weight);
    const float *data = elements;
    for (uint32_t i = 0; data && i < channels; i++) {
        if (!(data[i] > 0 && data[i] <= 1)) {
            builder->status =
                weft_fail(builder->host, WEFT_BAD_FILE,
                          "tensor \"%s\": expected decays above 0 and at most 1, found %g at "
                          "index %u",
                          weight->name, (double)data[i], i);
            return;
        }
    }
}

/* The constant has the name of a stored decay, so a checkpoint that stores one takes precedence. */
static weft_tensor fixed_decay(struct weft_builder *builder, const struct tnn *tnn, uint32_t e) {
    struct fixed_decay fixed = {e, tnn->gamma};
    if (!weft_build_has(builder, "gamma")) {
        return weft_build_constant(builder, "gamma", weft_shape_of(e), fill_fixed, &fixed);
    }
    weft_tensor gamma = weft_build_vector(builder, "gamma", e);
    check_stored(builder, gamma, e);
    return gamma;
}

static weft_tensor learned_decay(struct weft_builder *builder, const struct tnn *tnn, uint32_t e) {
    weft_tensor theta = weft_build_vector(builder, "gamma", e);
    weft_tensor gamma = {0};
    return WEFT_BUILT(builder, gamma,
                      weft_graph_toeplitz_decay(&gamma, builder->graph, theta, tnn->gamma));
}

static weft_tensor decay(struct weft_builder *builder, const struct tnn *tnn, uint32_t e) {
    switch ((enum decay)tnn->decay) {
    case DECAY_FIXED:
        return fixed_decay(builder, tnn, e);
    case DECAY_LEARNED:
        return learned_decay(builder, tnn, e);
    case DECAY_NONE:
        break;
    }
    return (weft_tensor){0};
}

/* ---- the mixer ---- */

/* A single token has only lag 0, for which any divisor will do. */
static uint32_t divisor(const struct weft_builder *builder, const struct tnn *tnn) {
    if (tnn->length != 0) {
        return tnn->length;
    }
    const uint32_t length = weft_kernel_length(builder);
    return length > 1 ? length - 1 : 1;
}

static weft_tensor coefficients(struct weft_builder *builder, const struct tnn *tnn, uint32_t e) {
    struct weft_rpe rpe;
    weft_build_rpe(&rpe, builder, &tnn->rpe, e);
    weft_tensor out = {0};
    return WEFT_BUILT(
        builder, out,
        weft_graph_toeplitz_rpe(&out, builder->graph, weft_build_reach(builder), &rpe.params,
                                weft_toeplitz_rpe_params(.causal = builder->network->config.causal,
                                                         .input = (weft_rpe_lag)tnn->input,
                                                         .divisor = divisor(builder, tnn))));
}

static void make_operator(struct weft_gtu_operator *made, struct weft_builder *builder,
                          const void *config) {
    const struct tnn *tnn = config;
    uint32_t e = weft_gtu_channels(builder, &tnn->gtu);
    made->params = (weft_gtu_params){.mixer = WEFT_GTU_TOEPLITZ, .toeplitz = &made->toeplitz};
    made->params.kernel = coefficients(builder, tnn, e);
    made->toeplitz.causal = builder->network->config.causal;
    made->toeplitz.decay = decay(builder, tnn, e);
}

static weft_tensor mix(struct weft_builder *builder, weft_tensor x, const void *config) {
    return weft_build_gtu(builder, x, make_operator, config);
}

const struct weft_model_family weft_family_tnn = {
    .model_type = "tnn",
    .fields = {fields, sizeof fields / sizeof fields[0]},
    .config_size = sizeof(struct tnn),
    WEFT_TOEPLITZ_PARTS,
    .set_defaults = set_defaults,
    .check = check,
    .exact_length = weft_gtu_exact_length,
    .recurrent = weft_gtu_is_recurrent,
    .mix = mix,
};
