/* SPDX-License-Identifier: MIT */
#include "eval/lines.h"

#include <errno.h>
#include <string.h>

#include "core/system.h"
#include "input.h"
#include "stop.h"

#define FIRST_BYTES   ((size_t)64 << 10)
#define LONGEST_BYTES ((size_t)64 << 20) /* of a line */

int weft_cli_lines_open(weft_cli_lines *lines, const char *path, const weft_cli_session *session) {
    const bool standard = strcmp(path, "-") == 0;
    *lines = (weft_cli_lines){.name = standard ? "standard input" : path, .session = session};
    lines->stream = standard ? stdin : weft_system_stream(path);
    if (!lines->stream) {
        return weft_cli_bad_file(&session->host, "%s: cannot open: %s", path, strerror(errno));
    }
    return WEFT_CLI_FINE;
}

void weft_cli_lines_close(weft_cli_lines *lines) {
    if (lines->stream && lines->stream != stdin) {
        fclose(lines->stream);
    }
    if (lines->session) {
        weft_free(&lines->session->host, lines->bytes);
    }
    *lines = (weft_cli_lines){0};
}

/* ---- bytes ---- */

/* Room for more behind what is there: at the front, or in more memory. */
static int make_room(weft_cli_lines *lines) {
    const weft_host *host = &lines->session->host;
    const size_t used = lines->end - lines->begin;
    if (lines->begin > 0) {
        memmove(lines->bytes, lines->bytes + lines->begin, used);
        lines->begin = 0;
        lines->end = used;
    }
    if (used < lines->capacity) {
        return WEFT_CLI_FINE;
    }
    if (used >= LONGEST_BYTES) {
        return weft_cli_bad_file(host, "%s: line %llu: expected at most %zu bytes", lines->name,
                                 (unsigned long long)lines->count + 1, LONGEST_BYTES);
    }
    const size_t capacity = lines->capacity == 0 ? FIRST_BYTES : 2 * lines->capacity;
    char *bytes = weft_realloc(host, lines->bytes, capacity);
    if (!bytes) {
        return weft_cli_exit_code(weft_fail_memory(host, lines->name));
    }
    lines->bytes = bytes;
    lines->capacity = capacity;
    return WEFT_CLI_FINE;
}

/* As far as a line's end: what comes behind it may be long in coming. A signal ends the wait. */
static int read_more(weft_cli_lines *lines) {
    int byte = 0;
    WEFT_CLI_TRY(make_room(lines));
    while (byte != '\n' && lines->end < lines->capacity && (byte = getc(lines->stream)) != EOF) {
        lines->bytes[lines->end++] = (char)byte;
    }
    lines->at_end = byte == EOF;
    if (ferror(lines->stream) && !weft_cli_stopped()) {
        return weft_cli_bad_file(&lines->session->host, "%s: cannot read: %s", lines->name,
                                 strerror(errno));
    }
    return WEFT_CLI_FINE;
}

struct line {
    const char *text; /* null at the end */
    size_t size;
};

static int take_line(struct line *line, weft_cli_lines *lines) {
    size_t looked = 0;
    *line = (struct line){0};
    for (;;) {
        const char *text = lines->bytes + lines->begin;
        const size_t there = lines->end - lines->begin;
        const char *end = there > looked ? memchr(text + looked, '\n', there - looked) : NULL;
        if (end || (lines->at_end && there > 0)) {
            line->text = text;
            line->size = end ? (size_t)(end - text) : there;
            lines->begin += line->size + (end ? 1 : 0);
            line->size -= line->size > 0 && text[line->size - 1] == '\r' ? 1 : 0;
            lines->count++;
            return WEFT_CLI_FINE;
        }
        if (lines->at_end || weft_cli_stopped()) {
            return WEFT_CLI_FINE;
        }
        looked = there;
        WEFT_CLI_TRY(read_more(lines));
    }
}

/* ---- sequences ---- */

struct reader {
    weft_cli_window *window;
    weft_cli_lines *lines;
    weft_cli_adder adder;
    uint32_t capacity; /* of window->example */
};

static int add_text(struct reader *reader, const struct line *line) {
    const weft_cli_session *session = reader->lines->session;
    const char *name = reader->lines->name;
    int32_t *tokens = NULL;
    uint32_t count = 0;
    if (weft_model_tokenize(session->model, line->text, line->size, &tokens, &count) != WEFT_OK) {
        return weft_cli_bad_file(&session->host,
                                 "%s: line %llu: the text could not be turned into tokens", name,
                                 (unsigned long long)reader->lines->count);
    }
    const bool bytes = strcmp(session->info.tokenizer, "bytes") == 0;
    reader->window->data.cut += bytes && line->size > count ? 1 : 0;
    int exit_code = weft_cli_check_tokens(&(weft_cli_tokens){tokens, 1, count}, &session->info,
                                          name, &session->host);
    if (exit_code == WEFT_CLI_FINE && !weft_cli_data_add(&reader->adder, tokens, count)) {
        exit_code = weft_cli_exit_code(weft_fail_memory(&session->host, name));
    }
    weft_tokens_free(session->model, &tokens);
    return exit_code;
}

static int add_line(struct reader *reader, const struct line *line) {
    weft_cli_window *window = reader->window;
    const weft_host *host = &reader->lines->session->host;
    if (!weft_grow(host, &window->example, window->count, &reader->capacity,
                   sizeof *window->example)) {
        return weft_cli_exit_code(weft_fail_memory(host, reader->lines->name));
    }
    window->example[window->count++] =
        line->size > 0 ? window->data.sequence_count : WEFT_CLI_NO_EXAMPLE;
    return line->size > 0 ? add_text(reader, line) : WEFT_CLI_FINE;
}

int weft_cli_lines_next(weft_cli_window *window, weft_cli_lines *lines, uint32_t most) {
    struct reader reader = {.window = window,
                            .lines = lines,
                            .adder = {.data = &window->data, .host = &lines->session->host}};
    while (window->count < most) {
        struct line line;
        WEFT_CLI_TRY(take_line(&line, lines));
        if (!line.text) {
            break;
        }
        WEFT_CLI_TRY(add_line(&reader, &line));
    }
    return WEFT_CLI_FINE;
}

void weft_cli_window_clear(weft_cli_window *window, const weft_host *host) {
    weft_cli_data_clear(&window->data, host);
    weft_free(host, window->example);
    *window = (weft_cli_window){0};
}
