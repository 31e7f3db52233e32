/* SPDX-License-Identifier: MIT */
/* What a receipt says of a model: its config, tokenizer, pooling and tensors. */
#include "model/receipt.h"

#include <stdio.h>
#include <string.h>

#include "core/try.h"
#include "graph/graph.h"
#include "model/architecture.h"
#include "model/checkpoint.h"
#include "model/embedding.h"

static weft_status add_weight(weft_receipt *receipt, const char *name, const weft_weight *weight) {
    char shape[WEFT_SHAPE_TEXT_SIZE];
    char type[WEFT_SHAPE_TEXT_SIZE + 32];
    snprintf(type, sizeof type, "%s %s", weft_dtype_name(weight->dtype),
             weft_shape_text(weight->shape, shape));
    struct weft_weight_view view;
    WEFT_TRY(weft_weight_view_open(&view, weight));
    weft_tree_hash hash;
    weft_tree_hash_begin(&hash);
    weft_tree_hash_add(
        &hash, view.data,
        (size_t)(weft_shape_elements(weight->shape) * weft_dtype_size(weight->dtype)));
    weft_weight_view_close(&view, weight);
    const weft_digest digest = weft_tree_hash_end(&hash);
    return weft_receipt_add(receipt, WEFT_RECORD_TENSOR, name, type, &digest);
}

static weft_status add_step(weft_receipt *receipt, uint32_t index,
                            const struct weft_embedding_step *step) {
    static const char *const names[] = {[WEFT_EMBEDDING_POOL] = "pool",
                                        [WEFT_EMBEDDING_NORMALIZE] = "normalize",
                                        [WEFT_EMBEDDING_DENSE] = "dense"};
    char name[64];
    char type[64];
    snprintf(name, sizeof name, "embedding %u", index);
    snprintf(type, sizeof type, "%s, pooling %u%s, activation %d", names[step->kind], step->pooling,
             step->skips_prompt ? " without the prompt" : "", (int)step->activation);
    WEFT_TRY(weft_receipt_add(receipt, WEFT_RECORD_SETTING, name, type, NULL));
    if (step->weight) {
        WEFT_TRY(add_weight(receipt, "dense weight", step->weight));
    }
    return step->bias ? add_weight(receipt, "dense bias", step->bias) : WEFT_OK;
}

static weft_status add_embedding(weft_receipt *receipt, const struct weft_embedding *embedding) {
    for (uint32_t i = 0; i < embedding->step_count; i++) {
        WEFT_TRY(add_step(receipt, i, &embedding->steps[i]));
    }
    if (embedding->normalize) {
        WEFT_TRY(weft_receipt_add(receipt, WEFT_RECORD_SETTING, "embedding", "normalize", NULL));
    }
    return embedding->trims ? weft_receipt_add(receipt, WEFT_RECORD_SETTING, "texts",
                                               "without the white space around them", NULL)
                            : WEFT_OK;
}

/* Longer texts are cut. */
static weft_status add_max_length(weft_receipt *receipt, const weft_model *model) {
    char type[16];
    weft_model_info info;
    WEFT_TRY(weft_model_get_info(model, &info));
    snprintf(type, sizeof type, "%u", info.max_length);
    return weft_receipt_add(receipt, WEFT_RECORD_SETTING, "max_length", type, NULL);
}

weft_status weft_receipt_add_model(weft_receipt *receipt, const weft_model *model) {
    const struct weft_model_parts parts = weft_model_parts(model);
    if (!weft_checkpoint_path(parts.checkpoint)) {
        return weft_fail(&receipt->host, WEFT_UNSUPPORTED,
                         "a receipt of a model of random weights: it has no file to name");
    }
    const weft_digest config = weft_digest_of(parts.config, strlen(parts.config));
    WEFT_TRY(weft_receipt_add(receipt, WEFT_RECORD_CONFIG, "config.json",
                              parts.headless ? "without its head" : "whole", &config));
    WEFT_TRY(weft_receipt_add(receipt, WEFT_RECORD_TOKENIZER, "tokenizer",
                              weft_tokenizer_kind_name(parts.tokenizer),
                              weft_tokenizer_digest(parts.tokenizer)));
    WEFT_TRY(add_max_length(receipt, model));
    if (parts.embedding) {
        WEFT_TRY(add_embedding(receipt, parts.embedding));
    }
    for (uint32_t i = 0; i < weft_checkpoint_count(parts.checkpoint); i++) {
        weft_digest digest;
        char type[WEFT_CHECKPOINT_TYPE_SIZE];
        WEFT_TRY(weft_checkpoint_digest(&digest, type, parts.checkpoint, i));
        WEFT_TRY(weft_receipt_add(receipt, WEFT_RECORD_TENSOR,
                                  weft_checkpoint_name(parts.checkpoint, i), type, &digest));
    }
    return WEFT_OK;
}
