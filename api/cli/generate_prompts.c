/* SPDX-License-Identifier: MIT */
#include "generate_prompts.h"

#include <string.h>

#include "core/try.h"
#include "input.h"

static weft_status add(weft_cli_prompts *prompts, uint32_t *capacity, const char *text, size_t size,
                       const weft_host *host) {
    if (!weft_grow(host, &prompts->prompts, prompts->count, capacity, sizeof *prompts->prompts)) {
        return weft_fail_memory(host, "prompts");
    }
    prompts->prompts[prompts->count++] = (weft_prompt){.text = text, .size = size};
    return WEFT_OK;
}

static weft_status read_file(weft_cli_prompts *prompts, size_t *size, const char *path,
                             const weft_host *host) {
    weft_cli_file_bytes text = {0};
    const weft_status status = weft_cli_read_bytes(&text, path, host);
    prompts->bytes = text.bytes;
    *size = text.size;
    return status == WEFT_OK && text.more
               ? weft_fail(host, WEFT_BAD_FILE, "%s: expected at most 64 MiB, found more", path)
               : status;
}

/* Lines end with a newline, or a return and a newline. */
static weft_status split(weft_cli_prompts *prompts, size_t size, const weft_host *host) {
    uint32_t capacity = 0;
    for (size_t begin = 0; begin < size;) {
        const char *line = prompts->bytes + begin;
        const char *newline = memchr(line, '\n', size - begin);
        size_t length = newline ? (size_t)(newline - line) : size - begin;
        begin += length + 1;
        length -= length > 0 && line[length - 1] == '\r' ? 1 : 0;
        WEFT_TRY(add(prompts, &capacity, line, length, host));
    }
    return WEFT_OK;
}

static weft_status take_texts(weft_cli_prompts *prompts, const weft_cli_list *texts,
                              const weft_host *host) {
    uint32_t capacity = 0;
    for (uint32_t i = 0; i < texts->count; i++) {
        weft_cli_note_file(texts->at[i]);
        WEFT_TRY(add(prompts, &capacity, texts->at[i], strlen(texts->at[i]), host));
    }
    return WEFT_OK;
}

weft_status weft_cli_add_empty_prompt(weft_cli_prompts *prompts, const weft_host *host) {
    uint32_t capacity = 0;
    return add(prompts, &capacity, NULL, 0, host);
}

int weft_cli_read_prompts(weft_cli_prompts *prompts, const weft_cli_prompt_source *source,
                          const weft_host *host) {
    if (source->texts.count > 0) {
        return weft_cli_exit_code(take_texts(prompts, &source->texts, host));
    }
    size_t size = 0;
    const char *path = source->lines ? source->lines : source->file;
    weft_status status = read_file(prompts, &size, path, host);
    prompts->are_lines = source->lines != NULL;
    if (status == WEFT_OK) {
        uint32_t capacity = 0;
        status = prompts->are_lines ? split(prompts, size, host)
                                    : add(prompts, &capacity, prompts->bytes, size, host);
    }
    return weft_cli_exit_code(status);
}

void weft_cli_prompts_clear(weft_cli_prompts *prompts, const weft_host *host) {
    weft_free(host, prompts->bytes);
    weft_free(host, prompts->prompts);
    *prompts = (weft_cli_prompts){0};
}
