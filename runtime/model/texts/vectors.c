/* SPDX-License-Identifier: MIT */
/* How a model makes vectors, as names say: pooling, length and prompt. */
#include "model/texts/vectors.h"

#include <string.h>

#include "core/given.h"
#include "core/host.h"
#include "model/embedding/embedding.h"
#include "model/network/architecture.h"

#define SPECIAL 255U

static const struct weft_embedding *embedding_of(const weft_model *model) {
    return weft_model_parts(model).embedding;
}

struct weft_vectors_state weft_vectors_state(const weft_model *model) {
    const struct weft_embedding *embedding = embedding_of(model);
    struct weft_vectors_state state = {0};
    weft_model_info info;
    weft_embed_info embed = {0};
    if (weft_model_get_info(model, &info) == WEFT_OK) {
        state.task = info.task;
    }
    if (embedding) {
        weft_embedding_describe(embedding, &embed);
        state.pooling = embed.pooling;
        state.normalize = embedding->normalize;
        state.prompt_tokens = embedding->prompt_tokens;
        state.dimension = embedding->dimension;
        state.max_terms = embedding->max_terms;
        state.task_of_texts = embed.task;
    }
    return state;
}

bool weft_vectors_are_sparse(const weft_model *model) {
    const struct weft_embedding *embedding = embedding_of(model);
    return embedding && weft_embedding_is_sparse(embedding);
}

uint32_t weft_vectors_most_terms(const weft_model *model) {
    weft_model_info info;
    weft_embed_info embed = {0};
    if (!weft_vectors_are_sparse(model) || weft_model_get_info(model, &info) != WEFT_OK) {
        return 0;
    }
    weft_embedding_describe(embedding_of(model), &embed);
    return embed.max_terms < info.embedding_size ? embed.max_terms : 0;
}

/* ---- prompts ---- */

static const char *text_of(const weft_model *model, const char *name) {
    const struct weft_embedding *embedding = embedding_of(model);
    for (uint32_t i = 0; embedding && i < embedding->prompt_count; i++) {
        if (strcmp(embedding->prompts[i].name, name) == 0) {
            return embedding->prompts[i].text;
        }
    }
    return NULL;
}

/* The text that stands in front of all texts, or null. */
static const char *find_prompt(const weft_model *model, const char *asked, bool is_text) {
    const struct weft_embedding *embedding = embedding_of(model);
    if (asked && is_text) {
        return asked;
    }
    const char *name = asked ? asked : embedding ? embedding->default_prompt : NULL;
    const char *text = name && name[0] != '\0' ? text_of(model, name) : NULL;
    return text ? text : asked;
}

const char *weft_model_role_prompt(const weft_model *model, weft_text_role role) {
    static const char *const of_queries[] = {"query", NULL};
    static const char *const of_documents[] = {"document", "passage", "corpus", NULL};
    const char *const *name = role == WEFT_TEXT_QUERY ? of_queries : of_documents;
    while (model && *name && !text_of(model, *name)) {
        name++;
    }
    return model && *name ? *name : "";
}

/* How many tokens a prompt has, without the special one that ends a text. */
static weft_status count_tokens(uint32_t *tokens, weft_model *model, const char *prompt) {
    weft_encoding encoding;
    WEFT_TRY(weft_model_encode(&encoding, model,
                               weft_encode_params(.text = prompt, .size = strlen(prompt))));
    const bool ends = encoding.count > 0 && encoding.sequences[encoding.count - 1] == SPECIAL;
    *tokens = encoding.count - (ends ? 1 : 0);
    weft_encoding_free(model, &encoding);
    return WEFT_OK;
}

/* ---- all ---- */

/* A program that makes vectors has no embedding, and nothing that could be set. */
static bool changes(const weft_model *model, const weft_embed_params *wanted) {
    const struct weft_vectors_state now = weft_vectors_state(model);
    return now.task != WEFT_TASK_EMBED || wanted->pooling != 0 ||
           wanted->normalize != now.normalize || wanted->prompt_tokens != now.prompt_tokens ||
           wanted->dimension != now.dimension || wanted->max_terms != now.max_terms ||
           wanted->task != now.task_of_texts;
}

static weft_status set(const char **prompt, weft_model *model, const char *text,
                       weft_embed_params *wanted) {
    const struct weft_embedding *embedding = embedding_of(model);
    if (text && text[0] != '\0' && embedding && embedding->steps[0].skips_prompt) {
        WEFT_TRY(count_tokens(&wanted->prompt_tokens, model, text));
    }
    WEFT_TRY(changes(model, wanted) ? weft_model_set_embedding(model, wanted) : WEFT_OK);
    *prompt = text;
    return WEFT_OK;
}

weft_status weft_vectors_set_role(const char **prompt, weft_model *model, weft_text_role role) {
    const struct weft_vectors_state now = weft_vectors_state(model);
    weft_embed_params wanted = {.normalize = now.normalize,
                                .dimension = now.dimension,
                                .max_terms = now.max_terms,
                                .task = role == WEFT_TEXT_QUERY ? WEFT_EMBED_TASK_QUERY
                                                                : WEFT_EMBED_TASK_DOCUMENT};
    return set(prompt, model, find_prompt(model, weft_model_role_prompt(model, role), false),
               &wanted);
}

weft_status weft_vectors_restore(weft_model *model, const struct weft_vectors_state *state) {
    weft_embed_params wanted = {.normalize = state->normalize,
                                .prompt_tokens = state->prompt_tokens,
                                .dimension = state->dimension,
                                .max_terms = state->max_terms,
                                .task = state->task_of_texts};
    return changes(model, &wanted) ? weft_model_set_embedding(model, &wanted) : WEFT_OK;
}

weft_status weft_model_set_vectors(const char **prompt, weft_model *model,
                                   const weft_vectors_params *params) {
    WEFT_ENTER;
    WEFT_GIVEN(weft_model_host(model), prompt, model);
    const weft_vectors_params asked = params ? *params : (weft_vectors_params){0};
    weft_embed_params wanted = {.normalize = asked.normalize,
                                .dimension = asked.dimension,
                                .max_terms = asked.max_terms,
                                .task = asked.task};
    if (asked.pooling) {
        WEFT_TRY(weft_pooling_named(&wanted.pooling, asked.pooling, weft_model_host(model)));
    }
    return set(prompt, model, find_prompt(model, asked.prompt, asked.prompt_is_text), &wanted);
}
