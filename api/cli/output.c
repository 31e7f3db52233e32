/* SPDX-License-Identifier: MIT */
/* JSON, tables, numbers with units, and the progress bar. */
#include "cli.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "console.h"
#include "core/clock.h"

/* ---- JSON ---- */

static int out_of_memory(const char *what) {
    fprintf(stderr, "weft: error: out of memory for %s\n", what);
    return WEFT_CLI_FAILED;
}

/* A chunk of the dump to stdout; its errors are seen when main closes the stream. */
static int write_chunk(const char *chunk, size_t size, void *user) {
    fwrite(chunk, 1, size, user);
    return 0;
}

int weft_cli_print_json(json_t *object) {
    if (!object || json_dump_callback(object, write_chunk, stdout,
                                      JSON_INDENT(2) | JSON_REAL_PRECISION(12)) != 0) {
        json_decref(object);
        return out_of_memory("the JSON report");
    }
    json_decref(object);
    putchar('\n');
    return WEFT_CLI_FINE;
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
    if (json_object_set_new(object, name, value) != 0) {
        json_decref(object);
        return NULL;
    }
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
    json_t *string = json_string(text);
    size_t length = strlen(text);
    char *copy = !string ? malloc(length + 1) : NULL;
    if (!copy) {
        return string;
    }
    for (size_t index = 0; index <= length; index++) {
        copy[index] = (unsigned char)text[index] < 0x80 ? text[index] : '?';
    }
    string = json_string(copy);
    free(copy);
    return string;
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

void weft_cli_table_cell(weft_cli_table *table, const char *format, ...) {
    if (!table || table->failed) {
        return;
    }
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    char *cell = length < 0 ? NULL : malloc((size_t)length + 1);
    if (!cell || !weft_grow(&table->host, &table->cells, table->count, &table->capacity,
                            sizeof *table->cells)) {
        free(cell);
        table->failed = true;
        return;
    }
    va_start(arguments, format);
    vsnprintf(cell, (size_t)length + 1, format, arguments);
    va_end(arguments);
    table->cells[table->count++] = cell;
}

static void print_padded(const char *text, size_t width, bool right, bool last) {
    int padding = (int)(width - width_of(text));
    if (right) {
        printf("%*s%s", padding, "", text);
    } else {
        /* Nothing behind the last column, so that lines have no trailing spaces. */
        printf("%s%*s", text, last ? 0 : padding, "");
    }
    fputs(last ? "\n" : "  ", stdout);
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
            free(table->cells[index]);
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
