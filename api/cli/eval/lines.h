/* SPDX-License-Identifier: MIT */
/* A text on each line of a file, a window of lines at a time: however many there are, few are in memory. */
#ifndef WEFT_CLI_EVAL_LINES_H
#define WEFT_CLI_EVAL_LINES_H

#include <stdio.h>

#include "eval/data.h"

typedef struct weft_cli_lines {
    const char *name; /* the file's, for messages */
    const weft_cli_session *session;
    FILE *stream;
    char *bytes; /* read and not yet taken */
    size_t begin, end, capacity;
    uint64_t count; /* lines taken so far */
    bool at_end;
} weft_cli_lines;

#define WEFT_CLI_NO_EXAMPLE UINT32_MAX

/** Some lines that follow each other. */
typedef struct weft_cli_window {
    weft_cli_data data;
    uint32_t *
        example; /* of each line: its place in the data, or WEFT_CLI_NO_EXAMPLE for a line without a text */
    uint32_t count;
} weft_cli_window;

/** Opens a file, or standard input for "-". Returns an exit code. The session is loaded and outlives the reader. */
int weft_cli_lines_open(weft_cli_lines *lines, const char *path, const weft_cli_session *session);

/**
 * Reads at most `most` lines into a zeroed window, as sequences of tokens. Lines end with \n or \r\n, the last one also without. At the end
 * there are none; a command that is stopped has come to the end. Returns an exit code.
 */
int weft_cli_lines_next(weft_cli_window *window, weft_cli_lines *lines, uint32_t most);

void weft_cli_window_clear(weft_cli_window *window, const weft_host *host);

/** A zeroed one is fine. */
void weft_cli_lines_close(weft_cli_lines *lines);

#endif
