/* SPDX-License-Identifier: MIT */
#include "model/texts/sequences.h"

#include <string.h>

#include "core/try.h"
#include "model/embedding/embedding.h"
#include "model/network/architecture.h"

static const weft_host *host_of(const struct weft_text_sequences *self) {
    return weft_model_host(self->model);
}

/* What messages call a text. */
static uint32_t number_of(const struct weft_text_sequences *self, uint32_t text) {
    return self->params->number + text;
}

/* ---- texts ---- */

/* The prompt and the text, in fresh memory; null when memory is out. */
static char *join(const char *prompt, const weft_text_input *input, const weft_host *host) {
    const size_t before = strlen(prompt);
    char *joined =
        input->size < SIZE_MAX - before - 1 ? weft_alloc(host, before + input->size + 1) : NULL;
    if (joined) {
        memcpy(joined, prompt, before);
        memcpy(joined + before, input->text, input->size);
    }
    return joined;
}

static weft_status encode(struct weft_text_sequences *self, uint32_t text) {
    const weft_text_input *input = &self->params->texts[text];
    const char *prompt = input->pair ? NULL : self->params->prompt;
    weft_encode_params params = {.text = input->text,
                                 .size = input->size,
                                 .pair = input->pair,
                                 .pair_size = input->pair_size};
    char *joined = NULL;
    WEFT_TRY(weft_interrupted(host_of(self)));
    if (prompt && prompt[0] != '\0') {
        joined = join(prompt, input, host_of(self));
        if (!joined) {
            return weft_fail_memory(host_of(self), "a text with its prompt");
        }
        params.text = joined;
        params.size = strlen(prompt) + input->size;
    }
    weft_encoding *encoding = &self->encodings[text];
    const weft_status status = weft_model_encode(encoding, self->model, &params);
    weft_free(host_of(self), joined);
    if (status != WEFT_OK && status != WEFT_CANCELLED) {
        return weft_fail(host_of(self), status, "text %u: it could not be turned into tokens",
                         number_of(self, text));
    }
    WEFT_TRY(status);
    self->cut += encoding->cut > 0 ? 1 : 0;
    if (self->params->cut) {
        self->params->cut[text] = encoding->cut;
    }
    return WEFT_OK;
}

/* ---- sequences ---- */

/* As it is without copies. */
static struct weft_text_row own_row(const struct weft_text_sequences *self, uint32_t text) {
    const weft_text_input *input = &self->params->texts[text];
    const weft_encoding *encoding = &self->encodings[text];
    const bool two = input->pair && self->info.takes_types; /* a single text has no types */
    return input->text ? (struct weft_text_row){.tokens = encoding->tokens,
                                                .types = two ? encoding->types : NULL,
                                                .length = encoding->count}
                       : (struct weft_text_row){.tokens = input->tokens,
                                                .types = input->types,
                                                .features = input->features,
                                                .positions = input->positions,
                                                .length = input->length};
}

struct weft_text_row weft_text_row_of(const struct weft_text_sequences *self, uint32_t text) {
    struct weft_text_row row = own_row(self, text);
    const struct weft_expanded_text *expanded = self->multi ? &self->expanded[text] : NULL;
    row.own = row.read = row.length;
    if (expanded && expanded->tokens) {
        row.tokens = expanded->tokens;
        row.length = expanded->length;
        row.read = self->multi->expansion.attends ? row.length : row.own;
    }
    return row;
}

/* Short queries get their copies. */
static weft_status expand(struct weft_text_sequences *self, uint32_t text,
                          const struct weft_text_row *row) {
    const uint32_t length = weft_multi_vector_length(self->multi, row->length);
    if (length == row->length) {
        return WEFT_OK;
    }
    if (row->types) {
        return weft_fail(host_of(self), WEFT_INVALID_ARGUMENT,
                         "text %u, types: expected null, as the model fills up short queries, "
                         "found an array",
                         number_of(self, text));
    }
    int32_t *tokens = weft_alloc_zero(host_of(self), length, sizeof *tokens);
    if (!tokens) {
        return weft_fail_memory(host_of(self), "the tokens of a query");
    }
    weft_multi_vector_expand(tokens, length, self->multi, row->tokens, row->length);
    self->expanded[text] = (struct weft_expanded_text){tokens, length};
    return WEFT_OK;
}

static weft_status check_tokens(const struct weft_text_sequences *self, uint32_t text,
                                const struct weft_text_row *row) {
    for (uint32_t i = 0; i < row->length; i++) {
        if (row->tokens[i] < 0 || (uint32_t)row->tokens[i] >= self->info.vocabulary) {
            return weft_fail(host_of(self), WEFT_INVALID_ARGUMENT,
                             "text %u, position %u: expected a token from 0 to %u, found %d",
                             number_of(self, text), i, self->info.vocabulary - 1,
                             (int)row->tokens[i]);
        }
    }
    return WEFT_OK;
}

/* What the model reads is there, and nothing else. */
static weft_status check_inputs(const struct weft_text_sequences *self, uint32_t text,
                                const struct weft_text_row *row) {
    const weft_model_info *info = &self->info;
    const struct {
        const char *name;
        bool wanted, given, optional;
    } inputs[] = {{"tokens", info->input_size == 0, row->tokens != NULL, false},
                  {"features", info->input_size > 0, row->features != NULL, false},
                  {"positions", info->position_size > 0, row->positions != NULL, false},
                  {"types", info->takes_types, row->types != NULL, true}};
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
        const bool missing = inputs[i].wanted && !inputs[i].given && !inputs[i].optional;
        if (missing || (inputs[i].given && !inputs[i].wanted)) {
            return weft_fail(
                host_of(self), WEFT_INVALID_ARGUMENT, "text %u, %s: expected %s, found %s",
                number_of(self, text), inputs[i].name,
                missing ? "an array, as the model reads them" : "null, as the model reads none",
                missing ? "null" : "an array");
        }
    }
    return row->tokens ? check_tokens(self, text, row) : WEFT_OK;
}

static weft_status check(const struct weft_text_sequences *self, uint32_t text,
                         const struct weft_text_row *row) {
    const uint32_t exact = self->info.exact_length;
    const uint32_t most = exact > 0 ? exact : self->info.max_length;
    if (row->length < (exact > 0 ? exact : 1) || row->length > most) {
        return weft_fail(host_of(self), WEFT_INVALID_ARGUMENT,
                         "text %u: expected %s %u tokens, as the model takes them, found %u",
                         number_of(self, text), exact > 0 ? "exactly" : "1 to", most, row->length);
    }
    return check_inputs(self, text, row);
}

/* ---- all ---- */

static weft_status add_item(struct weft_text_sequences *self, uint32_t text,
                            const struct weft_text_row *row) {
    struct weft_batch_item *item = &self->items[text / self->per_item];
    if (text % self->per_item == 0) {
        *item = (struct weft_batch_item){.length = row->length,
                                         .index = text / self->per_item,
                                         .uneven = row->read != row->length,
                                         .has_types = row->types != NULL};
        return WEFT_OK;
    }
    if (row->length != item->length && !self->info.takes_lengths) {
        return weft_fail(host_of(self), WEFT_INVALID_ARGUMENT,
                         "text %u: expected %u tokens, as the first text of its pair has, found %u",
                         number_of(self, text), item->length, row->length);
    }
    item->uneven = row->length != item->length;
    item->length = row->length > item->length ? row->length : item->length;
    item->has_types = item->has_types || row->types;
    return WEFT_OK;
}

static weft_status read_text(struct weft_text_sequences *self, uint32_t text) {
    if (self->params->texts[text].text) {
        WEFT_TRY(encode(self, text));
    } else if (self->params->cut) {
        self->params->cut[text] = 0;
    }
    struct weft_text_row row = weft_text_row_of(self, text);
    WEFT_TRY(check(self, text, &row));
    if (self->multi) {
        WEFT_TRY(expand(self, text, &row));
        row = weft_text_row_of(self, text);
    }
    return add_item(self, text, &row);
}

weft_status weft_text_sequences_read(struct weft_text_sequences *self) {
    const weft_host *host = host_of(self);
    const uint32_t count = self->params->count;
    WEFT_TRY(weft_model_get_info(self->model, &self->info));
    if (self->info.image_size > 0) {
        return weft_fail(host, WEFT_UNSUPPORTED,
                         "expected a model that reads texts, tokens or vectors, found one of "
                         "images: weft_model_compile makes its plans");
    }
    self->per_item = self->info.task == WEFT_TASK_RETRIEVE ? 2 : 1;
    if (count % self->per_item != 0) {
        return weft_fail(host, WEFT_INVALID_ARGUMENT,
                         "count: expected an even number, as the model takes pairs, found %u",
                         count);
    }
    self->item_count = count / self->per_item;
    self->multi = self->info.multi_vector ? &weft_model_parts(self->model).embedding->multi : NULL;
    self->encodings = weft_alloc_zero(host, count, sizeof *self->encodings);
    self->expanded = weft_alloc_zero(host, count, sizeof *self->expanded);
    self->items = weft_alloc_zero(host, self->item_count, sizeof *self->items);
    if (!self->encodings || !self->expanded || !self->items) {
        return weft_fail_memory(host, "the tokens of texts");
    }
    for (uint32_t text = 0; text < count; text++) {
        WEFT_TRY(read_text(self, text));
    }
    weft_batch_sort(self->items, self->item_count);
    return WEFT_OK;
}

void weft_text_sequences_clear(struct weft_text_sequences *self) {
    for (uint32_t text = 0; self->encodings && text < self->params->count; text++) {
        weft_encoding_free(self->model, &self->encodings[text]);
    }
    for (uint32_t text = 0; self->expanded && text < self->params->count; text++) {
        weft_free(host_of(self), self->expanded[text].tokens);
    }
    weft_free(host_of(self), self->encodings);
    weft_free(host_of(self), self->expanded);
    weft_free(host_of(self), self->items);
}
