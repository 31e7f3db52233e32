/* SPDX-License-Identifier: MIT */
#include "model/network/gated_mixer.h"

#include <math.h>
#include <stdio.h>

#include <weft/movement.h>

static const weft_tensor none = {0};

weft_tensor weft_build_unary(struct weft_builder *builder, weft_unary op, weft_tensor x) {
    weft_tensor out = none;
    return WEFT_BUILT(builder, out, weft_graph_unary(&out, builder->graph, op, x, 0, 0));
}

weft_tensor weft_build_affine(struct weft_builder *builder, weft_tensor x, float scale,
                              float offset) {
    weft_tensor out = none;
    return WEFT_BUILT(builder, out, weft_graph_affine(&out, builder->graph, x, scale, offset));
}

weft_tensor weft_build_channels(struct weft_builder *builder, weft_tensor x, uint32_t first,
                                uint32_t count) {
    weft_tensor out = none;
    return WEFT_BUILT(builder, out, weft_graph_slice(&out, builder->graph, x, 2, first, count, 1));
}

weft_tensor weft_build_short_filter(struct weft_builder *builder, weft_tensor x, const char *name,
                                    uint32_t channels, uint32_t taps, bool bias) {
    char text[WEFT_SCOPE_SIZE];
    snprintf(text, sizeof text, "%s.weight", name);
    weft_tensor filter = weft_build_weight(builder, text, weft_shape_of(channels, 1, taps));
    filter = weft_build_reshape(builder, filter, weft_shape_of(channels, taps));
    snprintf(text, sizeof text, "%s.bias", name);
    return weft_build_conv1d(builder, x, filter,
                             bias ? weft_build_weight(builder, text, weft_shape_of(channels))
                                  : none);
}

static weft_status fill_differences(float *data, const void *user, const weft_host *host) {
    const uint32_t *channels = user;
    (void)host;
    for (uint32_t i = 0; i < 2 * *channels; i++) {
        data[i] = i % 2 == 0 ? 1.0F : -1.0F;
    }
    return WEFT_OK;
}

/* A filter of two taps, whose state is a token. */
weft_tensor weft_build_step_back(struct weft_builder *builder, weft_tensor x) {
    weft_tensor taps = weft_build_constant(builder, "differences", weft_shape_of(builder->width, 2),
                                           fill_differences, &builder->width);
    return weft_build_conv1d(builder, x, taps, none);
}

weft_tensor weft_build_shifted(struct weft_builder *builder, weft_tensor x, weft_tensor back,
                               const char *name) {
    back = weft_build_binary(builder, WEFT_BINARY_MULTIPLY, back,
                             weft_build_vector(builder, name, builder->width));
    return weft_build_binary(builder, WEFT_BINARY_ADD, x, back);
}

static weft_tensor clamp(struct weft_builder *builder, weft_tensor x, float least, float most) {
    weft_tensor out = none;
    return least <= 0.0F && isinf(most)
               ? x /* a softplus is above 0 */
               : WEFT_BUILT(builder, out, weft_graph_clamp(&out, builder->graph, x, least, most));
}

weft_tensor weft_build_step_decay(struct weft_builder *builder, weft_tensor *step, weft_tensor x,
                                  uint32_t heads, float least, float most) {
    weft_tensor rate = weft_build_weight(builder, "A_log", weft_shape_of(heads));
    rate = weft_build_activate(builder, rate, WEFT_ACTIVATION_EXP);
    x = weft_build_binary(builder, WEFT_BINARY_ADD, x,
                          weft_build_weight(builder, "dt_bias", weft_shape_of(heads)));
    *step = clamp(builder, weft_build_unary(builder, WEFT_UNARY_SOFTPLUS, x), least, most);
    x = weft_build_binary(builder, WEFT_BINARY_MULTIPLY, *step,
                          weft_build_affine(builder, rate, -1.0F, 0.0F));
    return weft_build_activate(builder, x, WEFT_ACTIVATION_EXP);
}

static weft_status fill_ones(float *data, const void *user, const weft_host *host) {
    const uint32_t *count = user;
    (void)host;
    for (uint32_t i = 0; i < *count; i++) {
        data[i] = 1.0F;
    }
    return WEFT_OK;
}

/* A norm of parts with `weight`; where the mean is taken off, weights come behind it. */
static weft_norm_params part_params(struct weft_builder *builder, const struct weft_part_norm *norm,
                                    uint32_t size, weft_tensor weight) {
    weft_norm_params params = {.kind = WEFT_NORM_RMS, .gamma = weight, .epsilon = norm->epsilon};
    if (norm->centred) {
        params.kind = WEFT_NORM_LAYER;
        params.gamma =
            weft_build_constant(builder, "part_ones", weft_shape_of(size), fill_ones, &size);
        params.beta = weft_build_constant(builder, "part_zeros", weft_shape_of(size), NULL, NULL);
    }
    return params;
}

weft_tensor weft_build_part_norm(struct weft_builder *builder, weft_tensor x,
                                 const struct weft_part_norm *norm) {
    const uint32_t size = norm->channels / norm->parts;
    weft_shape shape = {.rank = 0};
    if (builder->status == WEFT_OK && norm->weight.id != 0) {
        builder->status = weft_graph_get_tensor(builder->graph, norm->weight, &shape, NULL);
    }
    const bool has_own =
        norm->centred || (norm->parts > 1 && shape.rank == 1 && shape.dim[0] == norm->channels);
    const weft_norm_params params = part_params(builder, norm, size, has_own ? none : norm->weight);
    weft_tensor out = none;
    x = weft_build_reshape(builder, x,
                           weft_shape_of(builder->batch, builder->length, norm->parts, size));
    x = WEFT_BUILT(builder, out, weft_graph_norm(&out, builder->graph, x, &params));
    x = weft_build_reshape(builder, x,
                           weft_shape_of(builder->batch, builder->length, norm->channels));
    x = has_own && norm->weight.id != 0
            ? weft_build_binary(builder, WEFT_BINARY_MULTIPLY, x, norm->weight)
            : x;
    return norm->bias.id != 0 ? weft_build_binary(builder, WEFT_BINARY_ADD, x, norm->bias) : x;
}

static weft_status fill_unit_scale(float *data, const void *user, const weft_host *host) {
    const uint32_t *size = user;
    (void)host;
    for (uint32_t i = 0; i < *size; i++) {
        data[i] = (float)(1.0 / sqrt((double)*size));
    }
    return WEFT_OK;
}

/* By means of squares instead of sums. */
weft_tensor weft_build_unit_parts(struct weft_builder *builder, weft_tensor x, uint32_t channels,
                                  uint32_t parts, float epsilon) {
    const uint32_t size = channels / parts;
    return weft_build_part_norm(
        builder, x,
        &(struct weft_part_norm){.weight =
                                     weft_build_constant(builder, "unit_scale", weft_shape_of(size),
                                                         fill_unit_scale, &size),
                                 .channels = channels,
                                 .parts = parts,
                                 .epsilon = epsilon / (float)size});
}
