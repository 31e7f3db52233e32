/* SPDX-License-Identifier: MIT */
/*
 * Decoders of text_to_text models: Raffel et al., "Exploring the limits of transfer learning with a unified text-to-text transformer",
 * 2020; and of what was said: Radford et al., "Robust speech recognition via large-scale weak supervision", 2022. The keys and values of
 * what the encoder has read are made once; those of the tokens made so far are a cache.
 */
#ifndef WEFT_MODEL_NETWORK_DECODER_H
#define WEFT_MODEL_NETWORK_DECODER_H

#include "model/network/network.h"

/** Keys and values together, of all layers of the decoder: 2 for each. 0: the network has no decoder. */
uint32_t weft_network_memory_count(const struct weft_network *network);
/** Channels of each: of all heads. */
uint32_t weft_network_memory_width(const struct weft_network *network);
int32_t weft_network_start_token(const struct weft_network *network);
/** True if scores have a bias by distance: weft_cross_inputs.kinds. */
bool weft_network_has_distances(const struct weft_network *network);
/** Rows of the decoder's table of positions, which weft_cross_inputs.position numbers; 0: it has none. */
uint32_t weft_network_decoder_positions(const struct weft_network *network);
/** Kind of a distance, for weft_cross_inputs.kinds. */
int32_t weft_network_distance_kind(const struct weft_network *network, uint32_t distance);

/** Builds the encoder, and memory[weft_network_memory_count], f32 [B, n, width] each: a layer's keys, then its values. */
weft_status weft_network_build_memory(weft_tensor *memory, struct weft_network *network,
                                      weft_graph *graph, const weft_model_inputs *inputs);

/** Inputs of the decoder for a token of each sequence, its number being p in all of them. */
struct weft_cross_inputs {
    weft_tensor tokens; /* i32 [B, 1] */
    weft_tensor
        kinds; /* i32 [m + 1], of distances: of the token to itself, then to those of the cache; or none */
    weft_tensor position; /* i32 [B, 1]: p; or none */
    weft_tensor filled;   /* i32 [B]: p + 1, the token and those of the cache that count */
    weft_tensor cache;    /* f32 [m, weft_network_memory_count, B, width], of tokens 0 … p - 1 */
    const weft_tensor *memory;
    weft_tensor
        lengths; /* i32 [B], of the texts that were read, or none: all are as long as the memory */
};

/** *out: the logits f32 [B, 1, vocabulary]; *rows: the cache's row p, f32 [weft_network_memory_count, B, width]. */
weft_status weft_network_build_cross_step(weft_tensor *out, weft_tensor *rows,
                                          struct weft_network *network, weft_graph *graph,
                                          const struct weft_cross_inputs *inputs);

/** For those who ask for weights: the encoder of one sequence, and the decoder for a token of it, whose logits are *out. */
weft_status weft_network_build_both(weft_tensor *out, struct weft_network *network,
                                    weft_graph *graph, const weft_model_inputs *inputs);

#endif
