/* SPDX-License-Identifier: MIT */
/* An index with ratios as comma-separated values. */
#include <string.h>

#include "bench/csv.h"
#include "bench/fields.h"
#include "bench/side.h"
#include "core/system/file.h"
#include "core/text.h"

static void add_line(struct weft_text *text, const json_t *const *cells, size_t count) {
    for (size_t i = 0; i < count; i++) {
        weft_text_add(text, "%s", i > 0 ? "," : "");
        weft_bench_csv_add_cell(text, cells[i]);
    }
    weft_text_add(text, WEFT_BENCH_CSV_END);
}

static void add_lines(struct weft_text *text, const json_t *index) {
    const json_t *cases = json_object_get(index, "cases");
    for (size_t i = 0; i < json_array_size(cases); i++) {
        const json_t *line = json_array_get(cases, i);
        const json_t *cells = json_object_get(line, "cells");
        for (size_t k = 0; k < json_array_size(cells); k++) {
            const json_t *cell = json_array_get(cells, k);
            const json_t *entry = weft_bench_item(index, "entries", cell, "entry");
            const json_t *column = weft_bench_item(index, "columns", entry, "column");
            const json_t *values[] = {
                json_object_get(line, "suite"),
                json_object_get(line, "case"),
                json_object_get(line, "math"),
                json_object_get(weft_bench_item(index, "machines", column, "machine"), "name"),
                json_object_get(column, "device"),
                json_object_get(column, "driver"),
                json_object_get(entry, "file"),
                json_object_get(cell, "median_ms"),
                json_object_get(cell, "refused"),
                json_object_get(cell, "newest"),
                json_object_get(cell, "ratio")};
            add_line(text, values, sizeof values / sizeof *values);
        }
    }
}

weft_status weft_bench_side_csv_write(const char *path, const json_t *index,
                                      const weft_host *host) {
    struct weft_text text = {.host = *host};
    weft_text_add(&text, "suite,case,math,machine,device,driver,file,median_ms,other_bits,newest,"
                         "ratio" WEFT_BENCH_CSV_END);
    add_lines(&text, index);
    char *data = weft_text_take(&text);
    const weft_status status = data ? weft_file_write(path, data, strlen(data), host)
                                    : weft_fail_memory(host, "the CSV file");
    weft_free(host, data);
    return status;
}
