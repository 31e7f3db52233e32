/* SPDX-License-Identifier: MIT */
/* Elementwise feature maps: those of the library, and the caller's as GLSL text. */
#ifndef WEFT_MIXERS_FEATURE_MAP_H
#define WEFT_MIXERS_FEATURE_MAP_H

#include <weft/mixers.h>

#include "lower/lowering.h"

/** The names of the library's maps, by number. */
extern const char *const weft_feature_map_words[WEFT_FEATURE_COUNT];

/** Checks that a text can be the body of a weft_kernel.glsl: not empty and not longer than 64 KiB; logs why not. */
weft_status weft_feature_text_check(const char *glsl, const weft_host *host);

/**
 * Makes the text a constant of the graph: an i32 tensor of its bytes, padded with zeros. The graph then owns it as it
 * owns weights, and plans compiled from copies of the graph share it. It is never uploaded.
 */
weft_status weft_feature_text_add(weft_tensor *out, weft_graph *graph, const char *glsl);

/**
 * Appends result = φ(x), `count` elements. map WEFT_FEATURE_COUNT: the text in the graph's value `text`, compiled once
 * per device and text.
 */
void weft_lower_feature_map(struct weft_lowering *lowering, uint32_t result, uint32_t x,
                            uint64_t count, weft_feature_map map, uint32_t text);

#endif
