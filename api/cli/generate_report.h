/* SPDX-License-Identifier: MIT */
/* What `weft generate` says about a text that it has made. */
#ifndef WEFT_CLI_GENERATE_REPORT_H
#define WEFT_CLI_GENERATE_REPORT_H

#include "session.h"

typedef struct weft_cli_generation {
    uint32_t *tokens; /* [capacity], of which `count` are made */
    double *
        times; /* of each, in ms: the step of the one before it, but for the first, and choosing it */
    uint32_t capacity;
    uint32_t count; /* at least 1 in a report */
    bool ended;     /* the last one is the token that ends a text */
    uint32_t prompt_length;
    char *text; /* of prompt and tokens, as the tokenizer has it: weft_model_detokenize */
    size_t text_size;
    size_t prompt_size; /* bytes of it that are the prompt's */
    size_t shown;       /* bytes of it that are whole characters, and shown without --json */
    double prompt_ms;   /* of all its tokens, at once */
    weft_sampling sampling;
    weft_decoder_info info; /* behind the last */
} weft_cli_generation;

/** Where in the text begins what the tokens add. */
size_t weft_cli_generation_begin(const weft_cli_generation *result);

/** One JSON object on stdout. Returns an exit code, as the next. */
int weft_cli_generation_json(const weft_cli_generation *result, const weft_cli_session *session);

/** A line on stderr. */
int weft_cli_generation_text(const weft_cli_generation *result, const weft_cli_session *session);

#endif
