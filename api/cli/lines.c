/* SPDX-License-Identifier: MIT */
#include "lines.h"

#include <errno.h>
#include <string.h>

#include "core/system/system.h"
#include "core/try.h"
#include "input.h"
#include "stop.h"

#define FIRST_WINDOW   8U
#define LARGEST_WINDOW 8192U

#define FIRST_BYTES   ((size_t)64 << 10)
#define LONGEST_BYTES ((size_t)64 << 20) /* of a line */

/* In a receipt, so that a difference has a line as long as there is room for as many records. */
#define LINES_BY_THEMSELVES 128U
#define LINES_IN_A_RECORD   128U

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
    if (lines->has_table) {
        weft_table_clear(&lines->table);
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
    /* What a signal ended is not the end: the line would be half a line. */
    lines->at_end = byte == EOF && !ferror(lines->stream);
    if (ferror(lines->stream) && !weft_cli_stopped()) {
        return weft_cli_bad_file(&lines->session->host, "%s: cannot read: %s", lines->name,
                                 strerror(errno));
    }
    return WEFT_CLI_FINE;
}

/* The next line; its bytes are null at the end. */
static int take_line(weft_cli_text *line, weft_cli_lines *lines) {
    size_t looked = 0;
    *line = (weft_cli_text){.name = lines->name};
    for (;;) {
        const char *text = lines->bytes ? lines->bytes + lines->begin : NULL; /* nothing was read */
        const size_t there = lines->end - lines->begin;
        const char *end = there > looked ? memchr(text + looked, '\n', there - looked) : NULL;
        if (end || (lines->at_end && there > 0)) {
            line->bytes = text;
            line->size = end ? (size_t)(end - text) : there;
            lines->begin += line->size + (end ? 1 : 0);
            line->size -= line->size > 0 && text[line->size - 1] == '\r' ? 1 : 0;
            line->number = ++lines->count;
            return WEFT_CLI_FINE;
        }
        if (lines->at_end || ferror(lines->stream) || weft_cli_stopped()) {
            return WEFT_CLI_FINE;
        }
        looked = there;
        WEFT_CLI_TRY(read_more(lines));
    }
}

/* ---- records of tables ---- */

static bool find_format(weft_table_format *format, const weft_cli_table_options *options,
                        const char *path) {
    static const char *const names[] = {
        [WEFT_TABLE_CSV] = "csv", [WEFT_TABLE_TSV] = "tsv", [WEFT_TABLE_JSONL] = "jsonl"};
    for (size_t i = 0; options->format && i < sizeof names / sizeof *names; i++) {
        if (strcmp(options->format, names[i]) == 0) {
            *format = (weft_table_format)i;
            return true;
        }
    }
    return !options->format && weft_table_format_of(format, path);
}

int weft_cli_table_check(const weft_cli_table_options *options, const char *path,
                         const weft_cli_syntax *syntax) {
    weft_table_format format = WEFT_TABLE_CSV;
    if (!options->field && (options->id_field || options->format)) {
        return weft_cli_usage_error(syntax, "--id-field and --format need --field");
    }
    if (options->field && !path) {
        return weft_cli_usage_error(syntax, "--field needs --lines");
    }
    return !options->field || find_format(&format, options, path)
               ? WEFT_CLI_FINE
               : weft_cli_usage_error(syntax,
                                      "--format: expected csv, tsv or jsonl, found %s: it is what "
                                      "a table is whose name does not end so",
                                      options->format ? options->format : "nothing");
}

void weft_cli_lines_tabulate(weft_cli_lines *lines, const weft_cli_table_options *options) {
    if (!options->field) {
        return;
    }
    lines->has_table = true;
    lines->table = (struct weft_table){.host = lines->session->host,
                                       .path = lines->name,
                                       .field = options->field,
                                       .id_field = options->id_field,
                                       .line = 1};
    (void)find_format(&lines->table.format, options, lines->name); /* which was checked */
}

/* The bytes of the next record; null at the end. */
static int take_bytes(char **bytes, size_t *length, uint64_t *line_ends, weft_cli_lines *lines) {
    struct weft_table_search search = {0};
    size_t next = 0;
    *bytes = NULL;
    while (!weft_table_find_end(&search, lines->table.format,
                                lines->bytes ? lines->bytes + lines->begin : NULL,
                                lines->end - lines->begin, lines->at_end, length, &next)) {
        if (lines->at_end || ferror(lines->stream) || weft_cli_stopped()) {
            return WEFT_CLI_FINE;
        }
        WEFT_CLI_TRY(read_more(lines));
    }
    *bytes = lines->bytes + lines->begin;
    *line_ends = 0;
    for (size_t i = 0; i < next; i++) {
        *line_ends += (*bytes)[i] == '\n' ? 1 : 0;
    }
    lines->begin += next;
    return WEFT_CLI_FINE;
}

/* The next record that has a text; its bytes are null at the end. */
static int take_record(weft_cli_text *record, weft_cli_lines *lines) {
    struct weft_table_text text = {NULL, 0};
    struct weft_table_text id = {NULL, 0};
    *record = (weft_cli_text){.name = lines->name};
    while (!text.bytes) {
        char *bytes = NULL;
        size_t length = 0;
        uint64_t line_ends = 0;
        WEFT_CLI_TRY(take_bytes(&bytes, &length, &line_ends, lines));
        if (!bytes) {
            return WEFT_CLI_FINE;
        }
        WEFT_CLI_TRY(
            weft_cli_exit_code_of_file(weft_table_take(&lines->table, bytes, length, &text, &id)));
        lines->table.line += line_ends;
    }
    *record = (weft_cli_text){.bytes = text.bytes,
                              .size = text.size,
                              .name = lines->name,
                              .number = ++lines->count,
                              .id = id.bytes};
    return WEFT_CLI_FINE;
}

/* ---- texts ---- */

/* The parts of a text that are encoded; `joined` is fresh memory for the first, or null. */
struct parts {
    weft_encode_params params;
    char *joined;
    size_t pair; /* where the second begins in the text; 0: it does not */
};

static int fail_text(const weft_cli_text *text, const char *what, const weft_host *host) {
    return text->number == 0 ? weft_cli_bad_file(host, "%s: %s", text->name, what)
                             : weft_cli_bad_file(host, "%s: line %llu: %s", text->name,
                                                 (unsigned long long)text->number, what);
}

static int find_pair(struct parts *parts, const weft_cli_text *text, const weft_host *host) {
    const char *tab = memchr(text->bytes, '\t', text->size);
    if (!tab) {
        return fail_text(text, "expected two texts with a tab between them, found one", host);
    }
    const size_t size = (size_t)(tab - text->bytes);
    parts->pair = size + 1;
    parts->params = (weft_encode_params){
        .text = text->bytes, .size = size, .pair = tab + 1, .pair_size = text->size - size - 1};
    return WEFT_CLI_FINE;
}

static int find_parts(struct parts *parts, const weft_cli_text *text, const weft_cli_form *form,
                      const weft_host *host) {
    *parts = (struct parts){.params = {.text = text->bytes, .size = text->size}};
    if (form->pairs) {
        return find_pair(parts, text, host);
    }
    if (form->first) {
        parts->params = (weft_encode_params){.text = form->first,
                                             .size = strlen(form->first),
                                             .pair = text->bytes,
                                             .pair_size = text->size};
    } else if (form->before) {
        const size_t before = strlen(form->before);
        parts->joined = weft_alloc(host, before + text->size + 1);
        if (!parts->joined) {
            return weft_cli_exit_code(weft_fail_memory(host, text->name));
        }
        memcpy(parts->joined, form->before, before);
        memcpy(parts->joined + before, text->bytes, text->size);
        parts->params.text = parts->joined;
        parts->params.size = before + text->size;
    }
    return WEFT_CLI_FINE;
}

/* ---- sequences ---- */

/* Takes the encoding. */
static weft_status keep(weft_cli_window *window, const weft_cli_text *text, size_t pair,
                        weft_encoding *encoding, const weft_host *host) {
    char *copy = weft_alloc(host, text->size + 1);
    if (!copy || !weft_grow(host, &window->kept, window->kept_count, &window->kept_capacity,
                            sizeof *window->kept)) {
        weft_free(host, copy);
        return weft_fail_memory(host, text->name);
    }
    memcpy(copy, text->bytes, text->size);
    copy[text->size] = '\0';
    window->kept[window->kept_count++] =
        (weft_cli_kept){.text = copy, .size = text->size, .pair = pair, .encoding = *encoding};
    *encoding = (weft_encoding){0};
    return WEFT_OK;
}

static int add_encoding(weft_cli_window *window, const weft_cli_text *text, size_t pair,
                        weft_encoding *encoding, bool keeps, const weft_cli_session *session) {
    const weft_host *host = &session->host;
    window->data.cut += encoding->cut > 0 ? 1 : 0;
    WEFT_CLI_TRY(weft_cli_check_tokens(&(weft_cli_tokens){encoding->tokens, 1, encoding->count},
                                       &session->info, text->name, host));
    const weft_encoding whole = *encoding;
    if (window->notes) {
        window->notes[window->count - 1].tokens = whole.count;
        window->notes[window->count - 1].cut = whole.cut;
    }
    if (keeps) {
        WEFT_CLI_TRY(weft_cli_exit_code(keep(window, text, pair, encoding, host)));
    }
    return weft_cli_data_add(&window->adder, whole.tokens, whole.types, whole.count)
               ? WEFT_CLI_FINE
               : weft_cli_exit_code(weft_fail_memory(host, text->name));
}

static int add_text(weft_cli_window *window, const weft_cli_text *text, const weft_cli_form *form,
                    const weft_cli_session *session) {
    struct parts parts;
    weft_encoding encoding = {0};
    WEFT_CLI_TRY(find_parts(&parts, text, form, &session->host));
    int exit_code = WEFT_CLI_FINE;
    const weft_status status = weft_model_encode(&encoding, session->model, &parts.params);
    if (status == WEFT_CANCELLED) {
        window->count--; /* the window ends before it */
    } else if (status != WEFT_OK) {
        exit_code = fail_text(text, "the text could not be turned into tokens", &session->host);
    } else {
        exit_code = add_encoding(window, text, parts.pair, &encoding, form->keeps, session);
    }
    weft_encoding_free(session->model, &encoding);
    weft_free(&session->host, parts.joined);
    return exit_code;
}

/* Room for one more line, and for its example. */
static bool grow_window(weft_cli_window *window, const weft_cli_session *session) {
    const weft_host *host = &session->host;
    return weft_grow(host, &window->example, window->count, &window->capacity,
                     sizeof *window->example) &&
           weft_grow(host, &window->numbers, window->data.sequence_count, &window->number_capacity,
                     sizeof *window->numbers) &&
           (!session->recording.receipt ||
            weft_grow(host, &window->notes, window->count, &window->note_capacity,
                      sizeof *window->notes));
}

static void count_line(weft_cli_window *window, const weft_cli_text *text, bool counts) {
    if (window->count == 0) {
        window->first = text->number > 0 ? text->number : 1;
        window->are_lines = text->number > 0;
    }
    if (counts) {
        window->numbers[window->data.sequence_count] = window->first + window->count;
        window->data.numbers = window->numbers;
    }
    if (window->notes) {
        window->notes[window->count] = (weft_cli_line_note){.size = text->size};
    }
    window->example[window->count++] = counts ? window->data.sequence_count : WEFT_CLI_NO_EXAMPLE;
}

static int keep_id(weft_cli_window *window, const char *id, const weft_host *host) {
    char *copy = weft_strdup(host, id);
    if (!copy ||
        !weft_grow(host, &window->ids, window->id_count, &window->id_capacity, sizeof copy)) {
        weft_free(host, copy);
        return weft_cli_exit_code(weft_fail_memory(host, "an id"));
    }
    window->ids[window->id_count++] = copy;
    return WEFT_CLI_FINE;
}

int weft_cli_window_add(weft_cli_window *window, const weft_cli_text *text,
                        const weft_cli_form *form, const weft_cli_session *session) {
    const weft_host *host = &session->host;
    const bool counts = text->size > 0 || form->empty_counts;
    window->model = session->model;
    window->adder.data = &window->data;
    window->adder.host = host;
    window->adder.with_types = (form->pairs || form->first) && session->info.takes_types;
    if (!grow_window(window, session)) {
        return weft_cli_exit_code(weft_fail_memory(host, text->name));
    }
    WEFT_CLI_TRY(text->id ? keep_id(window, text->id, host) : WEFT_CLI_FINE);
    count_line(window, text, counts);
    WEFT_CLI_TRY(counts ? add_text(window, text, form, session) : WEFT_CLI_FINE);
    if (window->notes) {
        weft_cli_line_note *note = &window->notes[window->count - 1];
        note->digest =
            weft_cli_receipt_text_digest(text->bytes, text->size, note->tokens, note->cut);
    }
    return WEFT_CLI_FINE;
}

/* ---- in a receipt ---- */

/* Lines from place `from` of the window on, in one record. */
static weft_status note_lines(const weft_cli_window *window, uint32_t from, uint32_t count,
                              const weft_cli_session *session) {
    char name[96];
    uint64_t size = 0;
    uint64_t tokens = 0;
    uint64_t cut = 0;
    const unsigned long long first = window->first + from;
    const char *noun = window->are_lines ? "line" : "text";
    weft_digest digests[LINES_IN_A_RECORD];
    for (uint32_t i = 0; i < count; i++) {
        const weft_cli_line_note *note = &window->notes[from + i];
        digests[i] = note->digest;
        size += note->size;
        tokens += note->tokens;
        cut += note->cut;
    }
    if (count == 1) {
        snprintf(name, sizeof name, "%s %llu", noun, first);
    } else {
        snprintf(name, sizeof name, "%ss %llu to %llu", noun, first, first + count - 1);
    }
    return weft_cli_receipt_note(&session->recording, WEFT_RECORD_DATA, name, digests,
                                 count * sizeof *digests, "%llu bytes, %llu tokens, %llu cut off",
                                 (unsigned long long)size, (unsigned long long)tokens,
                                 (unsigned long long)cut);
}

weft_status weft_cli_window_note(const weft_cli_window *window, const weft_cli_session *session) {
    for (uint32_t from = 0; window->notes && from < window->count;) {
        uint32_t count = 1;
        if (window->first + from > LINES_BY_THEMSELVES) {
            count =
                window->count - from < LINES_IN_A_RECORD ? window->count - from : LINES_IN_A_RECORD;
        }
        WEFT_TRY(note_lines(window, from, count, session));
        from += count;
    }
    return WEFT_OK;
}

uint64_t weft_cli_window_tokens(const weft_cli_window *window, uint32_t count) {
    uint64_t tokens = 0;
    for (uint32_t i = 0; i < count; i++) {
        tokens += window->data.sequences[i].length;
    }
    return tokens;
}

uint32_t weft_cli_window_size(uint32_t before) {
    return before == 0 ? FIRST_WINDOW : before < LARGEST_WINDOW / 2 ? 2 * before : LARGEST_WINDOW;
}

bool weft_cli_lines_ended(const weft_cli_lines *lines) {
    return lines->at_end && lines->begin == lines->end;
}

int weft_cli_lines_next(weft_cli_window *window, weft_cli_lines *lines, uint32_t most) {
    while (window->count < most && !weft_cli_stopped()) {
        weft_cli_text line;
        WEFT_CLI_TRY(lines->has_table ? take_record(&line, lines) : take_line(&line, lines));
        if (!line.bytes) {
            break;
        }
        WEFT_CLI_TRY(weft_cli_window_add(window, &line, &lines->form, lines->session));
    }
    return WEFT_CLI_FINE;
}

void weft_cli_window_clear(weft_cli_window *window, const weft_host *host) {
    for (uint32_t i = 0; i < window->kept_count; i++) {
        weft_free(host, window->kept[i].text);
        weft_encoding_free(window->model, &window->kept[i].encoding);
    }
    for (uint32_t i = 0; i < window->id_count; i++) {
        weft_free(host, window->ids[i]);
    }
    weft_cli_data_clear(&window->data, host);
    weft_free(host, window->ids);
    weft_free(host, window->kept);
    weft_free(host, window->example);
    weft_free(host, window->numbers);
    weft_free(host, window->notes);
    *window = (weft_cli_window){0};
}
