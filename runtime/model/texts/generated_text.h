/* SPDX-License-Identifier: MIT */
/* The text of tokens as they are made: whole characters, up to a stop. */
#ifndef WEFT_MODEL_GENERATED_TEXT_H
#define WEFT_MODEL_GENERATED_TEXT_H

#include <weft/model.h>

#include "core/host.h"

/** Texts before which a text ends, copies. */
struct weft_stops {
    char **texts;
    uint32_t count;
};

struct weft_generated_text {
    char *text;   /* of all tokens, as the tokenizer has it; null before the first */
    size_t begin; /* where what is made begins */
    size_t end;   /* where ends what is certain */
};

/** Errors: WEFT_INVALID_ARGUMENT for a stop that is null or empty. */
weft_status weft_stops_copy(struct weft_stops *stops, const char *const *texts, uint32_t count,
                            const weft_host *host);
void weft_stops_clear(struct weft_stops *stops, const weft_host *host);

struct weft_text_tokens {
    const int32_t *tokens;
    uint32_t count;
    bool is_prompt; /* none of them is made */
    bool is_whole;  /* nothing follows */
};

/** Takes the text of all tokens so far. *stopped: it has a stop, and ends before it. */
weft_status weft_generated_text_take(struct weft_generated_text *text, bool *stopped,
                                     weft_model *model, const struct weft_text_tokens *tokens,
                                     const struct weft_stops *stops);
void weft_generated_text_clear(struct weft_generated_text *text, weft_model *model);

#endif
