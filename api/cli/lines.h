/* SPDX-License-Identifier: MIT */
/* A text on each line of a file, or in each record of a table, a window of them at a time: however many there are, few are in memory. */
#ifndef WEFT_CLI_LINES_H
#define WEFT_CLI_LINES_H

#include <stdio.h>

#include "core/formats/table.h"
#include "eval/data.h"

/** How a line becomes a sequence. Zeroed: it is a text, and an empty line is none. */
typedef struct weft_cli_form {
    bool empty_counts;  /* an empty line is the empty text */
    bool pairs;         /* a line has two texts, with a tab between them */
    bool keeps;         /* texts are kept, with the places of their tokens */
    const char *before; /* what stands in front of each text, or null */
    const char *first;  /* the first text of pairs, of which each line is the second; or null */
} weft_cli_form;

/** What the options say of a table: nulls where they say nothing. */
typedef struct weft_cli_table_options {
    const char *field, *id_field, *format;
} weft_cli_table_options;

/** Rows for a weft_cli_table_options, and the one of ids. */
#define WEFT_CLI_TABLE_OPTIONS(options)                                                           \
    {"field", WEFT_CLI_TEXT, &(options)->field, "NAME",                                           \
     "with --lines: the file is a table, and its field of this name has the texts: CSV with the " \
     "fields' names in its first record, TSV likewise, or JSON Lines, an object on each line"},   \
    {                                                                                             \
        "format", WEFT_CLI_TEXT, &(options)->format, "csv|tsv|jsonl",                             \
            "with --field: what the table is (default: what its name ends with)"                  \
    }
#define WEFT_CLI_ID_OPTION(options)                                                  \
    {                                                                                \
        "id-field", WEFT_CLI_TEXT, &(options)->id_field, "NAME",                     \
            "with --field: the field that says whose text it is, a text or a number" \
    }

/** Usage errors of these options, where `path` is that of --lines, or null. */
int weft_cli_table_check(const weft_cli_table_options *options, const char *path,
                         const weft_cli_syntax *syntax);

typedef struct weft_cli_lines {
    const char *name; /* the file's, for messages */
    const weft_cli_session *session;
    weft_cli_form form; /* to be set before the first line is read */
    FILE *stream;
    char *bytes; /* read and not yet taken */
    size_t begin, end, capacity;
    uint64_t count; /* lines, or a table's texts, taken so far */
    bool at_end;
    bool has_table;
    struct weft_table table;
} weft_cli_lines;

#define WEFT_CLI_NO_EXAMPLE UINT32_MAX

/** A text that is kept, and its tokens. */
typedef struct weft_cli_kept {
    char *text; /* in fresh memory */
    size_t size;
    size_t pair; /* where the second text of a pair begins; 0: there is none */
    weft_encoding encoding;
} weft_cli_kept;

/** What a receipt says of a line. */
typedef struct weft_cli_line_note {
    weft_digest digest; /* weft_cli_receipt_text_digest */
    size_t size;
    uint32_t tokens, cut;
} weft_cli_line_note;

/** Some lines that follow each other. */
typedef struct weft_cli_window {
    weft_cli_data data;
    uint32_t *
        example; /* of each line: its place in the data, or WEFT_CLI_NO_EXAMPLE for a line without a text */
    uint32_t count;
    weft_cli_kept *kept;       /* of each example, where the form says so */
    uint64_t *numbers;         /* of each example that of its line, from 1 */
    uint64_t first;            /* that of the first line */
    bool are_lines;            /* of a file; else texts themselves */
    weft_cli_line_note *notes; /* of each line, where a receipt is made */
    weft_cli_adder adder;
    char **ids; /* of each line, as JSON in fresh memory, where a table has them; or null */
    uint32_t capacity, kept_count, kept_capacity, number_capacity, note_capacity, id_count,
        id_capacity;
    weft_model *model; /* what encoded them */
} weft_cli_window;

/** A text to be added to a window. */
typedef struct weft_cli_text {
    const char *bytes;
    size_t size;
    const char *name; /* for messages: of its file, and … */
    uint64_t number;  /* … its line in it, of a table its number, from 1; 0: it is all of it */
    const char *id;   /* as JSON, or null */
} weft_cli_text;

/** Adds a text to a window, which is zeroed at first. Returns an exit code. */
int weft_cli_window_add(weft_cli_window *window, const weft_cli_text *text,
                        const weft_cli_form *form, const weft_cli_session *session);

/** Opens a file, or standard input for "-". Returns an exit code. The session is loaded and outlives the reader. */
int weft_cli_lines_open(weft_cli_lines *lines, const char *path, const weft_cli_session *session);

/** Makes texts those of a table's field, before the first is read. Options without a field change nothing. */
void weft_cli_lines_tabulate(weft_cli_lines *lines, const weft_cli_table_options *options);

/**
 * Reads at most `most` lines into a zeroed window, as sequences of tokens. Lines end with \n or \r\n, the last one also without. At the end
 * there are none; a command that is stopped takes no more, though there may be some. Returns an exit code.
 */
int weft_cli_lines_next(weft_cli_window *window, weft_cli_lines *lines, uint32_t most);

/** How many tokens the first `count` texts of a window have. */
uint64_t weft_cli_window_tokens(const weft_cli_window *window, uint32_t count);

/**
 * How many lines to read behind a window of `before`, 0 at first. Each has twice as many, up to 8,192, which fill the batches of
 * most lengths: its texts run in the order of their lengths, and a command that is stopped in it keeps those before the first
 * that was not run.
 */
uint32_t weft_cli_window_size(uint32_t before);

/** Whether all lines have been read and taken. */
bool weft_cli_lines_ended(const weft_cli_lines *lines);

/**
 * Notes the lines in the session's receipt, if there is one, before they run: each of the first 128 lines of a file has a record, of later ones up
 * to 128 share one.
 */
weft_status weft_cli_window_note(const weft_cli_window *window, const weft_cli_session *session);

void weft_cli_window_clear(weft_cli_window *window, const weft_host *host);

/** A zeroed one is fine. */
void weft_cli_lines_close(weft_cli_lines *lines);

#endif
