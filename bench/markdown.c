/* SPDX-License-Identifier: MIT */
#include "bench/markdown.h"

#include <string.h>

#include "cli.h"

void weft_bench_add_markdown(struct weft_text *text, const char *plain) {
    for (const char *at = plain; *at != '\0'; at++) {
        const bool is_www = *at == '.' && at > plain && (at[-1] == 'w' || at[-1] == 'W');
        weft_text_add(text, is_www || strchr("\\`*[]<>|&!:@~_", *at) ? "\\%c" : "%c", *at);
    }
    weft_text_add(text, "%s", "");
}

void weft_bench_print_markdown(const char *plain) {
    struct weft_text text = {0};
    weft_bench_add_markdown(&text, plain);
    char *found = weft_text_take(&text);
    weft_cli_print(stdout, "%s", found ? found : "(out of memory)");
    weft_free(&text.host, found);
}
