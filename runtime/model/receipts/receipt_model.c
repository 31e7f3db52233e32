/* SPDX-License-Identifier: MIT */
/* Records of a model in a receipt: its config, tokenizer, pooling and tensors. */
#include "model/receipts/receipt.h"

#include <stdio.h>
#include <string.h>

#include "core/bytes.h"
#include "core/given.h"
#include "core/try.h"
#include "graph/graph.h"
#include "model/embedding/embedding.h"
#include "model/files/checkpoint.h"
#include "model/network/architecture.h"

#define POOLINGS_SIZE 32 /* room for six */

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

/* Poolings in their order, one bit each: "4 1". */
static void list_poolings(char text[POOLINGS_SIZE], const struct weft_embedding_step *step) {
    size_t used = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < step->pooling_count; i++) {
        const int written = snprintf(text + used, POOLINGS_SIZE - used, " %u", step->poolings[i]);
        used += written > 0 ? (size_t)written : 0;
    }
}

static weft_status add_step(weft_receipt *receipt, uint32_t index,
                            const struct weft_embedding_step *step) {
    static const char *const names[] = {[WEFT_EMBEDDING_POOL] = "pool",
                                        [WEFT_EMBEDDING_HEAD] = "head",
                                        [WEFT_EMBEDDING_TOKENS] = "tokens",
                                        [WEFT_EMBEDDING_SPLADE] = "splade",
                                        [WEFT_EMBEDDING_NORMALIZE] = "normalize",
                                        [WEFT_EMBEDDING_DENSE] = "dense",
                                        [WEFT_EMBEDDING_LAYER_NORM] = "layer norm"};
    char name[64];
    char poolings[POOLINGS_SIZE];
    char type[POOLINGS_SIZE + 96];
    list_poolings(poolings, step);
    snprintf(name, sizeof name, "embedding %u", index);
    if (step->kind == WEFT_EMBEDDING_SPLADE) {
        snprintf(type, sizeof type, "splade, %s, %s", step->sums ? "sum" : "max",
                 step->log_twice ? "log1p_relu" : "relu");
    } else {
        snprintf(type, sizeof type, "%s, pooling%s%s, activation %d%s", names[step->kind], poolings,
                 step->skips_prompt ? " without the prompt" : "", (int)step->activation,
                 step->adds_input ? ", with its input" : "");
    }
    WEFT_TRY(weft_receipt_add(receipt, WEFT_RECORD_SETTING, name, type, NULL));
    if (step->weight) {
        WEFT_TRY(add_weight(receipt, "dense weight", step->weight));
    }
    if (step->bias) {
        WEFT_TRY(add_weight(receipt, "dense bias", step->bias));
    }
    return step->residual ? add_weight(receipt, "dense residual", step->residual) : WEFT_OK;
}

/* Tokens of a set, hashed as little-endian bytes. */
static weft_status add_tokens(weft_receipt *receipt, const char *name,
                              const struct weft_token_set *tokens) {
    char text[WEFT_DIGEST_TEXT_SIZE];
    char type[WEFT_DIGEST_TEXT_SIZE + 32];
    weft_sha256 hash;
    weft_sha256_begin(&hash);
    for (uint32_t i = 0; i < tokens->count; i++) {
        uint8_t bytes[4];
        weft_store_bytes(bytes, (uint32_t)tokens->at[i], sizeof bytes);
        weft_sha256_add(&hash, bytes, sizeof bytes);
    }
    const weft_digest digest = weft_sha256_end(&hash);
    snprintf(type, sizeof type, "%u tokens, sha256 %s", tokens->count,
             weft_digest_text(&digest, text));
    return weft_receipt_add(receipt, WEFT_RECORD_SETTING, name, type, NULL);
}

/* Which copies short queries get, and whose vectors count. */
static weft_status add_multi(weft_receipt *receipt, const struct weft_multi_vector *multi) {
    static const char *const tasks[] = {[WEFT_EMBED_TASK_NONE] = "no task",
                                        [WEFT_EMBED_TASK_QUERY] = "queries",
                                        [WEFT_EMBED_TASK_DOCUMENT] = "documents"};
    const struct weft_query_expansion *expansion = &multi->expansion;
    char type[192];
    snprintf(type, sizeof type, "%s, at most %u and %u tokens, %s%s%s", tasks[multi->task],
             multi->query_length, multi->document_length, multi->masks ? "masked" : "not masked",
             multi->skips_queries ? ", queries skip" : "",
             multi->skips_documents ? ", documents skip" : "");
    WEFT_TRY(weft_receipt_add(receipt, WEFT_RECORD_SETTING, "multi-vector", type, NULL));
    if (expansion->is_there) {
        snprintf(type, sizeof type, "%s %u of token %d%s%s",
                 expansion->is_least ? "at least" : "exactly", expansion->length,
                 (int)expansion->id, expansion->attends ? ", read" : ", not read",
                 expansion->in_front ? ", in front" : "");
        WEFT_TRY(weft_receipt_add(receipt, WEFT_RECORD_SETTING, "expansion", type, NULL));
    }
    WEFT_TRY(add_tokens(receipt, "skipped", &multi->skipped));
    return add_tokens(receipt, "kept", &multi->kept);
}

static weft_status add_embedding(weft_receipt *receipt, const struct weft_embedding *embedding) {
    for (uint32_t i = 0; i < embedding->step_count; i++) {
        WEFT_TRY(add_step(receipt, i, &embedding->steps[i]));
    }
    WEFT_TRY(weft_embedding_is_multi(embedding) ? add_multi(receipt, &embedding->multi) : WEFT_OK);
    const uint32_t first = weft_embedding_most_values(embedding);
    if (first > 0) {
        char most[32];
        snprintf(most, sizeof most, "first %u values", first);
        WEFT_TRY(weft_receipt_add(receipt, WEFT_RECORD_SETTING, "embedding", most, NULL));
    }
    weft_embed_info info;
    weft_embedding_describe(embedding, &info);
    if (info.max_terms > 0) {
        char most[32];
        snprintf(most, sizeof most, "largest %u values", info.max_terms);
        WEFT_TRY(weft_receipt_add(receipt, WEFT_RECORD_SETTING, "embedding", most, NULL));
    }
    return embedding->normalize
               ? weft_receipt_add(receipt, WEFT_RECORD_SETTING, "embedding", "normalize", NULL)
               : WEFT_OK;
}

static weft_status add_score(weft_receipt *receipt, const struct weft_logit_score *score) {
    char type[64];
    snprintf(type, sizeof type, "logit of token %u, less that of %lld", score->yes,
             (long long)score->no);
    return weft_receipt_add(receipt, WEFT_RECORD_SETTING, "score", type, NULL);
}

/* Longer texts are cut. */
static weft_status add_max_length(weft_receipt *receipt, const weft_model *model) {
    char type[16];
    weft_model_info info;
    WEFT_TRY(weft_model_get_info(model, &info));
    snprintf(type, sizeof type, "%u", info.max_length);
    return weft_receipt_add(receipt, WEFT_RECORD_SETTING, "max_length", type, NULL);
}

/* Only of a model whose states are not f32: receipts of before are of those that are. */
static weft_status add_state(weft_receipt *receipt, const weft_model *model) {
    weft_model_info info;
    WEFT_TRY(weft_model_get_info(model, &info));
    return info.state == WEFT_F32 ? WEFT_OK
                                  : weft_receipt_add(receipt, WEFT_RECORD_SETTING, "state",
                                                     weft_dtype_name(info.state), NULL);
}

/* The tensors of its file, as the last that belong to the model. */
static weft_status add_tensors(weft_receipt *receipt, const struct weft_checkpoint *checkpoint,
                               bool hashed) {
    for (uint32_t i = 0; i < weft_checkpoint_count(checkpoint); i++) {
        weft_digest digest;
        char type[WEFT_CHECKPOINT_TYPE_SIZE];
        weft_checkpoint_type(type, checkpoint, i);
        WEFT_TRY(hashed ? weft_checkpoint_digest(&digest, checkpoint, i) : WEFT_OK);
        WEFT_TRY(weft_receipt_add(receipt, WEFT_RECORD_TENSOR, weft_checkpoint_name(checkpoint, i),
                                  type, hashed ? &digest : NULL));
    }
    return WEFT_OK;
}

static weft_status check_file(const struct weft_model_parts *parts, const weft_host *host) {
    return weft_checkpoint_path(parts->checkpoint)
               ? WEFT_OK
               : weft_fail(host, WEFT_UNSUPPORTED,
                           "a receipt of a model of random weights: it has no file to name");
}

weft_status weft_receipt_add_model(weft_receipt *receipt, const weft_model *model, bool hashed) {
    const struct weft_model_parts parts = weft_model_parts(model);
    WEFT_TRY(check_file(&parts, &receipt->host));
    const weft_digest config = weft_digest_of(parts.config, strlen(parts.config));
    WEFT_TRY(weft_receipt_add(receipt, WEFT_RECORD_CONFIG, "config.json",
                              parts.headless ? "without its head" : "whole", &config));
    WEFT_TRY(weft_receipt_add(receipt, WEFT_RECORD_TOKENIZER, "tokenizer",
                              weft_tokenizer_kind_name(parts.tokenizer),
                              weft_tokenizer_digest(parts.tokenizer)));
    WEFT_TRY(add_max_length(receipt, model));
    WEFT_TRY(add_state(receipt, model));
    if (parts.embedding) {
        WEFT_TRY(add_embedding(receipt, parts.embedding));
    }
    if (parts.score.is_there) {
        WEFT_TRY(add_score(receipt, &parts.score));
    }
    return add_tensors(receipt, parts.checkpoint, hashed);
}

/* ---- those that were used ---- */

/* The first record of a model's file: before it may be tensors of other files. */
static weft_status find_tensors(uint32_t *first, const weft_receipt *receipt, uint32_t count) {
    uint32_t end = receipt->count;
    while (end > 0 && receipt->records[end - 1].kind != WEFT_RECORD_TENSOR) {
        end--;
    }
    uint32_t begin = end;
    while (begin > 0 && receipt->records[begin - 1].kind == WEFT_RECORD_TENSOR) {
        begin--;
    }
    *first = end - count;
    return count <= end - begin
               ? WEFT_OK
               : weft_fail(&receipt->host, WEFT_NOT_FOUND,
                           "the receipt has %u tensors: expected those of the model's file, %u",
                           end - begin, count);
}

static weft_status check_tensor(bool *same, const struct weft_record *record,
                                const struct weft_checkpoint *checkpoint, uint32_t index) {
    weft_digest digest;
    char type[WEFT_CHECKPOINT_TYPE_SIZE];
    weft_checkpoint_type(type, checkpoint, index);
    WEFT_TRY(weft_checkpoint_digest(&digest, checkpoint, index));
    *same = strcmp(record->name, weft_checkpoint_name(checkpoint, index)) == 0 &&
            strcmp(record->type, type) == 0 && record->has_digest &&
            memcmp(&record->digest, &digest, sizeof digest) == 0;
    return WEFT_OK;
}

weft_status weft_receipt_check_tensors(uint32_t *other, const weft_receipt *receipt,
                                       const weft_model *model) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(receipt, host), other, receipt, model);
    const struct weft_model_parts parts = weft_model_parts(model);
    uint32_t first = 0;
    *other = UINT32_MAX;
    WEFT_TRY(check_file(&parts, &receipt->host));
    const uint32_t count = weft_checkpoint_count(parts.checkpoint);
    WEFT_TRY(find_tensors(&first, receipt, count));
    for (uint32_t i = 0; i < count && *other == UINT32_MAX; i++) {
        bool same = true;
        if (weft_checkpoint_was_used(parts.checkpoint, i)) {
            WEFT_TRY(check_tensor(&same, &receipt->records[first + i], parts.checkpoint, i));
        }
        *other = same ? UINT32_MAX : first + i;
    }
    return WEFT_OK;
}
