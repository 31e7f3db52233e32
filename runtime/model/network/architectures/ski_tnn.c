/* SPDX-License-Identifier: MIT */
/*
 * SKI-TNN: Moreno et al., "SKI to go faster: Accelerating Toeplitz neural networks via asymmetric kernels", 2023,
 * algorithm 1: a sparse and a low-rank Toeplitz matrix, the latter by structured kernel interpolation.
 */
#include "model/network/architecture.h"
#include "model/network/network.h"
#include "model/network/toeplitz_family.h"

struct ski_tnn {
    struct weft_gtu_config gtu;
    uint32_t points, taps;
    uint32_t grid;          /* points, where the file has 0 */
    uint32_t interpolation; /* weft_interpolation */
    float gamma;
};

static const char *const interpolation_names[] = {"linear", "cubic", NULL};

static const weft_field fields[] = {
    WEFT_FIELDS_GTU(struct ski_tnn),
    {WEFT_INTEGER("ski_points", struct ski_tnn, points, 1, 1024), .required = true},
    {WEFT_INTEGER("ski_taps", struct ski_tnn, taps, 0, 65535)},
    {WEFT_INTEGER("ski_grid", struct ski_tnn, grid, 1, 65536)},
    {WEFT_CHOICE("interpolation", struct ski_tnn, interpolation, interpolation_names)},
    {WEFT_REAL("gamma", struct ski_tnn, gamma, 0, 1), .required = true},
};

static void set_defaults(void *config) {
    struct ski_tnn *ski_tnn = config;
    weft_gtu_defaults(&ski_tnn->gtu);
}

static weft_status check(void *config, const weft_network_config *network,
                         const weft_json_fields *json) {
    struct ski_tnn *ski_tnn = config;
    if (network->causal) {
        return weft_json_has(json, "causal")
                   ? weft_fields_refuse(json, "causal", "false, as ski-tnn is bidirectional")
                   : weft_fields_refuse(json, "task",
                                        "a task that is not causal, as ski-tnn is bidirectional");
    }
    if (!(ski_tnn->gamma > 0)) {
        return weft_fields_refuse(json, "gamma", "a number above 0 and at most 1");
    }
    if (ski_tnn->grid == 0) {
        ski_tnn->grid = ski_tnn->points;
    }
    return weft_gtu_check(&ski_tnn->gtu, network, json);
}

static void make_operator(struct weft_gtu_operator *made, struct weft_builder *builder,
                          const void *config) {
    const struct ski_tnn *ski_tnn = config;
    uint32_t e = weft_gtu_channels(builder, &ski_tnn->gtu);
    uint32_t n = builder->length;
    made->params = (weft_gtu_params){.mixer = WEFT_GTU_SKI, .ski = &made->ski};
    made->ski =
        (weft_ski_toeplitz_params){.points = ski_tnn->points < n ? ski_tnn->points : n,
                                   .gamma = ski_tnn->gamma,
                                   .interpolation = (weft_interpolation)ski_tnn->interpolation};
    made->ski.rpe =
        weft_build_weight(builder, "rpe.weight", weft_shape_of(2 * ski_tnn->grid + 1, e));
    if (ski_tnn->taps != 0) {
        made->ski.taps = weft_build_weight(builder, "taps.weight", weft_shape_of(ski_tnn->taps, e));
    }
}

static weft_tensor mix(struct weft_builder *builder, weft_tensor x, const void *config) {
    return weft_build_gtu(builder, x, make_operator, config);
}

const struct weft_model_family weft_family_ski_tnn = {
    .model_type = "ski-tnn",
    .fields = {fields, sizeof fields / sizeof fields[0]},
    .config_size = sizeof(struct ski_tnn),
    WEFT_TOEPLITZ_PARTS,
    .set_defaults = set_defaults,
    .check = check,
    .exact_length = weft_gtu_exact_length,
    .mix = mix,
};
