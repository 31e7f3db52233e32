/* SPDX-License-Identifier: MIT */
/* What `weft generate` says about the texts that it has made. */
#ifndef WEFT_CLI_GENERATE_REPORT_H
#define WEFT_CLI_GENERATE_REPORT_H

#include <weft/generate.h>

#include "session.h"

/** What was made of one prompt, copies. */
typedef struct weft_cli_made {
    int32_t *tokens;
    char *text;
    size_t text_size;
    uint32_t count;
    uint32_t prompt_length; /* tokens; 0: the line is empty */
    weft_ending ending;
} weft_cli_made;

typedef struct weft_cli_generation {
    weft_cli_made *made; /* [capacity], of which `count` are there */
    uint32_t count, capacity;
    bool is_single; /* one text, which was shown as it is */
    double *
        times; /* of each step behind the prompts, in ms: it makes a token of each text that has not ended */
    uint32_t steps, times_capacity;
    double prompt_ms; /* of what all prompts have, at once */
    const weft_generator_params *params;
    weft_decoder_info info; /* behind the last */
} weft_cli_generation;

/** One JSON object on stdout. Returns an exit code, as the next. */
int weft_cli_generation_json(const weft_cli_generation *result, const weft_cli_session *session);

/** A line on stderr. */
int weft_cli_generation_text(const weft_cli_generation *result, const weft_cli_session *session);

void weft_cli_generation_clear(weft_cli_generation *result, const weft_host *host);

#endif
