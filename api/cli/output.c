/* SPDX-License-Identifier: MIT */
/* Text, JSON, tables, numbers with units, and the progress bar. */
#include "cli.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "console.h"
#include "core/cell.h"
#include "core/formats/json.h"
#include "core/system/clock.h"
#include "core/text.h"

/* The library's allocator, which is the C library's as long as no other is named. */
static const weft_host c_library = {0};

static bool quiet; /* on stdout */
static bool printed_json;

void weft_cli_be_quiet(bool be_quiet) {
    quiet = be_quiet;
}

static bool is_quiet(FILE *stream) {
    return quiet && stream == stdout;
}

/* ---- text ---- */

static bool write_harmless(FILE *stream, const char *text, size_t size, const char *kept) {
    char chunk[1024];
    size_t used = 0;
    bool written = true;
    size = is_quiet(stream) ? 0 : size;
    while (size > 0) {
        size_t length = 0;
        const size_t taken =
            weft_harmless_character(chunk + used, &length, text, size, WEFT_HARMLESS_TEXT, kept);
        used += length;
        text += taken;
        size -= taken;
        if (size == 0 || sizeof chunk - used < WEFT_HARMLESS_SIZE) {
            written = written && fwrite(chunk, 1, used, stream) == used;
            used = 0;
        }
    }
    return written;
}

bool weft_cli_print_text(FILE *stream, const char *text, size_t size) {
    return write_harmless(stream, text, size, "\n\t");
}

void weft_cli_print_lines(FILE *stream, const char *text) {
    write_harmless(stream, text, strlen(text), "\n");
}

void weft_cli_print_cell(const char *bytes, size_t size) {
    struct weft_text text = {.host = c_library};
    weft_text_add_cell(&text, bytes, size);
    char *cell = weft_text_take(&text);
    weft_cli_print(stdout, "%s", cell ? cell : "(out of memory)");
    weft_free(&c_library, cell);
}

static size_t newlines_at_end(const char *format, size_t begin) {
    size_t end = strlen(format);
    size_t count = 0;
    while (end > begin && format[end - 1] == '\n') {
        end--;
        count++;
    }
    return count;
}

/* What the format has at its ends it prints there, so that between them every newline is a value's. */
static void print_line(FILE *stream, const char *format, const char *line, size_t size) {
    if (is_quiet(stream)) {
        return;
    }
    const size_t begin = strspn(format, "\n");
    const size_t end = newlines_at_end(format, begin);
    fwrite(format, 1, begin, stream);
    if (size > begin + end) {
        write_harmless(stream, line + begin, size - begin - end, "");
    }
    fwrite(format + strlen(format) - end, 1, end, stream);
}

void weft_cli_print_list(FILE *stream, const char *format, va_list arguments) {
    char line[1024];
    va_list again;
    va_copy(again, arguments);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): every caller has begun it */
    const int length = vsnprintf(line, sizeof line, format, arguments);
    const size_t size = length < 0 ? 0 : (size_t)length;
    char *longer = size < sizeof line ? NULL : malloc(size + 1);
    if (longer) {
        vsnprintf(longer, size + 1, format, again);
    }
    va_end(again);
    const char *all = longer ? longer : line; /* its start, where memory is out */
    print_line(stream, format, all, length < 0 ? 0 : strlen(all));
    free(longer);
}

void weft_cli_print(FILE *stream, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    weft_cli_print_list(stream, format, arguments);
    va_end(arguments);
}

/* ---- JSON ---- */

static int out_of_memory(const char *what) {
    weft_cli_print(stderr, "weft: error: out of memory for %s\n", what);
    return WEFT_CLI_FAILED;
}

static int print_json(json_t *object, size_t layout) {
    char *text = weft_json_text(object, layout | JSON_REAL_PRECISION(12), &c_library);
    json_decref(object);
    if (!text) {
        return out_of_memory("the JSON report");
    }
    if (!quiet) {
        printed_json = true;
        fputs(text, stdout); /* its errors are seen when main closes the stream */
        fputc('\n', stdout);
    }
    weft_free(&c_library, text);
    return WEFT_CLI_FINE;
}

int weft_cli_print_json(json_t *object) {
    return print_json(object, JSON_INDENT(2));
}

int weft_cli_print_json_line(json_t *object) {
    return print_json(object, JSON_COMPACT);
}

bool weft_cli_has_printed_json(void) {
    return printed_json;
}

json_t *weft_cli_json_real(double value) {
    return isfinite(value) ? json_real(value) : json_null();
}

/* What jansson is given is dropped also when it cannot take it, or the list or object is null. */

json_t *weft_cli_json_append(json_t *list, json_t *item) {
    if (json_array_append_new(list, item) != 0) {
        json_decref(list);
        return NULL;
    }
    return list;
}

json_t *weft_cli_json_field(json_t *object, const char *name, json_t *value) {
    json_t *key = weft_cli_json_text(name); /* which may be a driver's */
    if (json_object_set_new(object, json_string_value(key), value) != 0) {
        json_decref(object);
        object = NULL;
    }
    json_decref(key);
    return object;
}

json_t *weft_cli_json_merge(json_t *object, json_t *more) {
    if (!more || json_object_update(object, more) != 0) {
        json_decref(object);
        object = NULL;
    }
    json_decref(more);
    return object;
}

json_t *weft_cli_json_text(const char *text) {
    return weft_json_string_of(text, strlen(text), &c_library);
}

/* ---- the progress bar ---- */

#define BAR_WIDTH       30
#define FIRST_DRAW_MS   500.0
#define BETWEEN_DRAW_MS 100.0

void weft_cli_progress_begin(weft_cli_progress *progress, const char *label, uint64_t total) {
    *progress = (weft_cli_progress){.label = label,
                                    .total = total,
                                    .begin_ms = weft_clock_ms(),
                                    .terminal = weft_cli_is_terminal(stderr)};
}

void weft_cli_progress_set(weft_cli_progress *progress, uint64_t done) {
    if (!progress->terminal || progress->total == 0) {
        return;
    }
    double now = weft_clock_ms();
    double due =
        progress->drawn ? progress->drawn_ms + BETWEEN_DRAW_MS : progress->begin_ms + FIRST_DRAW_MS;
    if (now < due) {
        return;
    }
    double part = (double)done / (double)progress->total;
    part = part > 1.0 ? 1.0 : part;
    int filled = (int)(part * BAR_WIDTH);
    fprintf(stderr, "\r%s [", progress->label);
    for (int index = 0; index < BAR_WIDTH; index++) {
        fputc(index < filled ? '#' : '.', stderr);
    }
    fprintf(stderr, "] %3d%%", (int)(part * 100.0));
    if (part > 0.0) {
        fprintf(stderr, "  %.0f s left  ",
                (now - progress->begin_ms) / 1000.0 * (1.0 - part) / part);
    }
    fflush(stderr);
    progress->drawn = true;
    progress->drawn_ms = now;
}

void weft_cli_progress_end(weft_cli_progress *progress) {
    if (progress->drawn) {
        fputs("\r\033[K", stderr);
        fflush(stderr);
    }
    progress->drawn = false;
    progress->total = 0;
}

/* ---- tables ---- */

struct weft_cli_table {
    weft_host host;
    const char *const *columns;
    uint32_t column_count;
    char **cells;
    uint32_t count;
    uint32_t capacity;
    bool failed;
};

/* Code points of a UTF-8 text: what a terminal shows, but for wide and combining characters. */
static size_t width_of(const char *text) {
    size_t width = 0;
    for (; *text != '\0'; text++) {
        width += ((unsigned char)*text & 0xc0u) != 0x80u;
    }
    return width;
}

static bool aligned_right(const weft_cli_table *table, uint32_t column) {
    return table->columns[column][0] == '>';
}

static const char *heading(const weft_cli_table *table, uint32_t column) {
    return table->columns[column] + (aligned_right(table, column) ? 1 : 0);
}

weft_cli_table *weft_cli_table_begin(const char *const *columns) {
    weft_cli_table *table = calloc(1, sizeof *table);
    if (!table) {
        return NULL;
    }
    table->columns = columns;
    while (columns[table->column_count]) {
        table->column_count++;
    }
    return table;
}

/* A text in one line of a table. */
static char *harmless_cell(const weft_host *host, const char *text) {
    struct weft_text cell = {.host = *host};
    weft_text_add_harmless(&cell, text, strlen(text), WEFT_HARMLESS_TEXT, "");
    return weft_text_take(&cell);
}

void weft_cli_table_cell(weft_cli_table *table, const char *format, ...) {
    if (!table || table->failed) {
        return;
    }
    struct weft_text text = {.host = table->host};
    va_list arguments;
    va_start(arguments, format);
    weft_text_add_list(&text, format, arguments);
    va_end(arguments);
    char *found = weft_text_take(&text);
    char *cell = found ? harmless_cell(&table->host, found) : NULL;
    weft_free(&table->host, found);
    if (!cell || !weft_grow(&table->host, &table->cells, table->count, &table->capacity,
                            sizeof *table->cells)) {
        weft_free(&table->host, cell);
        table->failed = true;
        return;
    }
    table->cells[table->count++] = cell;
}

static void print_padded(const char *text, size_t width, bool right, bool last) {
    int padding = (int)(width - width_of(text));
    if (right) {
        weft_cli_print(stdout, "%*s%s", padding, "", text);
    } else {
        /* Nothing behind the last column, so that lines have no trailing spaces. */
        weft_cli_print(stdout, "%s%*s", text, last ? 0 : padding, "");
    }
    weft_cli_print(stdout, last ? "\n" : "  ");
}

static size_t column_width(const weft_cli_table *table, uint32_t column) {
    size_t width = width_of(heading(table, column));
    for (uint32_t index = column; index < table->count; index += table->column_count) {
        size_t cell = width_of(table->cells[index]);
        width = cell > width ? cell : width;
    }
    return width;
}

static bool print_table(const weft_cli_table *table) {
    size_t *widths = calloc(table->column_count, sizeof *widths);
    if (!widths) {
        return false;
    }
    for (uint32_t column = 0; column < table->column_count; column++) {
        widths[column] = column_width(table, column);
    }
    for (uint32_t column = 0; column < table->column_count; column++) {
        print_padded(heading(table, column), widths[column], aligned_right(table, column),
                     column + 1 == table->column_count);
    }
    for (uint32_t index = 0; index < table->count; index++) {
        uint32_t column = index % table->column_count;
        print_padded(table->cells[index], widths[column], aligned_right(table, column),
                     column + 1 == table->column_count);
    }
    free(widths);
    return true;
}

int weft_cli_table_print(weft_cli_table **table_address) {
    weft_cli_table *table = *table_address;
    *table_address = NULL;
    bool fine = table && !table->failed && print_table(table);
    if (table) {
        for (uint32_t index = 0; index < table->count; index++) {
            weft_free(&table->host, table->cells[index]);
        }
        weft_free(&table->host, table->cells);
        free(table);
    }
    return fine ? WEFT_CLI_FINE : out_of_memory("a table");
}

/* ---- numbers ---- */

const char *weft_cli_grouped(uint64_t number, char text[WEFT_CLI_GROUPED_SIZE]) {
    char digits[WEFT_CLI_GROUPED_SIZE];
    size_t count = (size_t)snprintf(digits, sizeof digits, "%llu", (unsigned long long)number);
    size_t at = 0;
    for (size_t index = 0; index < count; index++) {
        if (index > 0 && (count - index) % 3 == 0) {
            text[at++] = ',';
        }
        text[at++] = digits[index];
    }
    text[at] = '\0';
    return text;
}

const char *weft_cli_bytes(uint64_t bytes, char text[WEFT_CLI_BYTES_SIZE]) {
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    double value = (double)bytes;
    size_t unit = 0;
    while (value >= 1024.0 && unit + 1 < sizeof units / sizeof units[0]) {
        value /= 1024.0;
        unit++;
    }
    snprintf(text, WEFT_CLI_BYTES_SIZE, unit == 0 ? "%.0f %s" : "%.1f %s", value, units[unit]);
    return text;
}
