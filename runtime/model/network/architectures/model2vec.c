/* SPDX-License-Identifier: MIT */
/*
 * A static embedding: the row of each token, and nothing else. Its config.json is what static/static_model.c makes of a folder of model2vec or
 * sentence-transformers. Pooling is the mean (model/embedding).
 */
#include "core/try.h"
#include "model/network/architecture.h"

#define MOST 16777216.0 /* 2^24 */

const char *const weft_bag_rule_names[] = {"none", "sentence-transformers", "model2vec", NULL};

static const weft_field fields[] = {
    {WEFT_INTEGER("vocab_size", weft_network_config, vocab_size, 2, MOST), .required = true},
    {WEFT_INTEGER("hidden_size", weft_network_config, hidden_size, 1, 65536), .required = true},
    {WEFT_INTEGER("max_position_embeddings", weft_network_config, max_positions, 1, MOST),
     .required = true},
    {WEFT_CHOICE("weft_rules", weft_network_config, embedding.bag, weft_bag_rule_names),
     .required = true},
};
static const weft_field_table table = {fields, sizeof fields / sizeof *fields};

static weft_status read(void *state, weft_network_config *config, const weft_json_fields *json) {
    (void)state;
    *config = (weft_network_config){.norm_position = WEFT_NORM_AFTER, .eos_token = -1};
    return weft_fields_read(config, &table, json);
}

static const struct weft_tensor_name names[] = {{WEFT_NAMED("embeddings.tokens", "embedding")},
                                                {.ours = NULL}};

static const struct weft_head heads[] = {{.name = "Model", .task = WEFT_TASK_HIDDEN},
                                         {.name = NULL}};

static const char *const unused[] = {NULL};

static const struct weft_layout layout = {.stem = "Static",
                                          .encoder = "StaticModel",
                                          .prefix = "static.",
                                          .read = read,
                                          .names = names,
                                          .heads = heads,
                                          .unused = unused};

const struct weft_model_family weft_family_model2vec = {
    .model_type = "model2vec", .takes_lengths = weft_family_always, .layout = &layout};
