/* SPDX-License-Identifier: MIT */
#include "model/network/mamba_layout.h"

static const weft_field fields[] = {
    {WEFT_INTEGER("vocab_size", weft_network_config, vocab_size, 1, 1 << 24), .required = true},
    {WEFT_INTEGER("hidden_size", weft_network_config, hidden_size, 1, 65536), .required = true},
    {WEFT_INTEGER("num_hidden_layers", weft_network_config, layers, 1, WEFT_MAX_LAYERS),
     .required = true},
    {WEFT_REAL("layer_norm_epsilon", weft_network_config, norm_eps, 0, 1)},
    {WEFT_BOOL("tie_word_embeddings", weft_network_config, tie_word_embeddings)},
};
const weft_field_table weft_mamba_fields = {fields, sizeof fields / sizeof fields[0]};

const struct weft_tensor_name weft_mamba_names[] = {
    {WEFT_NAMED("embeddings.tokens", "embeddings")},
    {WEFT_NAMED("embeddings.tokens", "embedding")}, /* in the first files */
    {WEFT_NAMED("layers.#.mixer", "layers.#.mixer")},
    {WEFT_NAMED("layers.#.mixer_norm", "layers.#.norm")},
    {WEFT_NAMED("norm", "norm_f")},
    {.ours = NULL}};
