/* SPDX-License-Identifier: MIT */
/* The texts that `weft generate` continues. */
#ifndef WEFT_CLI_GENERATE_PROMPTS_H
#define WEFT_CLI_GENERATE_PROMPTS_H

#include <weft/generate.h>

#include "cli.h"

/** Where they are: one of the three. */
typedef struct weft_cli_prompt_source {
    weft_cli_list texts; /* --text, each one */
    const char *file;    /* --file: a file is one */
    const char *lines;   /* --lines: each line is one */
} weft_cli_prompt_source;

typedef struct weft_cli_prompts {
    char *bytes;          /* of a file, or null */
    weft_prompt *prompts; /* texts; of size 0 where a line is empty */
    uint32_t count;
    bool are_lines;
} weft_cli_prompts;

/** Returns an exit code. *prompts is to be released also after an error. */
int weft_cli_read_prompts(weft_cli_prompts *prompts, const weft_cli_prompt_source *source,
                          const weft_host *host);
/** One prompt without a text. */
weft_status weft_cli_add_empty_prompt(weft_cli_prompts *prompts, const weft_host *host);
void weft_cli_prompts_clear(weft_cli_prompts *prompts, const weft_host *host);

#endif
