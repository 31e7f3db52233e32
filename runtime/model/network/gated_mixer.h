/* SPDX-License-Identifier: MIT */
/* What mixers with gated states have alike in published models: short filters, gates, norms of heads. */
#ifndef WEFT_MODEL_GATED_MIXER_H
#define WEFT_MODEL_GATED_MIXER_H

#include <weft/arithmetic.h>

#include "model/network/family.h"

/** Elementwise functions without parameters, and an affine one. */
weft_tensor weft_build_unary(struct weft_builder *builder, weft_unary op, weft_tensor x);
weft_tensor weft_build_affine(struct weft_builder *builder, weft_tensor x, float scale,
                              float offset);

/** `count` channels of x [B, n, d] from `first` on. */
weft_tensor weft_build_channels(struct weft_builder *builder, weft_tensor x, uint32_t first,
                                uint32_t count);

/** weft_build_conv1d by name.weight, [channels, 1, taps] in the file, and with `bias` name.bias. */
weft_tensor weft_build_short_filter(struct weft_builder *builder, weft_tensor x, const char *name,
                                    uint32_t channels, uint32_t taps, bool bias);

/** The token before each, minus the token, [B, n, d]; before the first are zeros. */
weft_tensor weft_build_step_back(struct weft_builder *builder, weft_tensor x);
/** x + back · name, a weight for each channel: RWKV's token shift of what weft_build_step_back gives. */
weft_tensor weft_build_shifted(struct weft_builder *builder, weft_tensor x, weft_tensor back,
                               const char *name);

/**
 * The decay of each head and token, exp(-exp(A) softplus(x + bias)) for x [B, n, heads] with the weights A_log and dt_bias; *step
 * is the softplus, clamped to `least` … `most`: Gu and Dao, "Mamba: Linear-time sequence modeling with selective state spaces",
 * 2023, section 3.2.
 */
weft_tensor weft_build_step_decay(struct weft_builder *builder, weft_tensor *step, weft_tensor x,
                                  uint32_t heads, float least, float most);

/** A norm of so many equal parts of x's channels, with `weight` [channels], [channels / parts] for all parts, or none. */
struct weft_part_norm {
    weft_tensor weight;
    weft_tensor bias; /* [channels], or none */
    bool centred;     /* x without its mean, as in group norms; a weight is then [channels] */
    uint32_t channels, parts;
    float epsilon;
};
/** x / √(mean x² + epsilon) · weight + bias of each part, [B, n, channels]. */
weft_tensor weft_build_part_norm(struct weft_builder *builder, weft_tensor x,
                                 const struct weft_part_norm *norm);
/** x / √(Σ x² + epsilon) of each part. */
weft_tensor weft_build_unit_parts(struct weft_builder *builder, weft_tensor x, uint32_t channels,
                                  uint32_t parts, float epsilon);

/** The op of that name, or its step with a state when the builder is decoding. */
weft_tensor weft_build_gated_state(struct weft_builder *builder, weft_tensor q, weft_tensor k,
                                   weft_tensor v, const weft_gated_state_params *params);
weft_tensor weft_build_selective_scan(struct weft_builder *builder, weft_tensor x,
                                      weft_tensor delta, weft_tensor a, weft_tensor b,
                                      weft_tensor c, const weft_selective_scan_params *params);

#endif
