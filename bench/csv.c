/* SPDX-License-Identifier: MIT */
#include "bench/csv.h"

#include <string.h>

#include "core/cell.h"
#include "core/system/file.h"
#include "core/text.h"

#define NO_ITEM (-1)

struct column {
    const char *name;
    const char *field;
    const char *member; /* of the field, which is an object; or null */
    int item;           /* of the field, which is a list, or NO_ITEM */
};

#define PLAIN(name) \
    { name, name, NULL, NO_ITEM }
#define MEMBER(name, field, member) \
    { name, field, member, NO_ITEM }
#define ITEM(name, field, index) \
    { name, field, NULL, index }
#define COLUMN_COUNT (sizeof columns / sizeof columns[0])

static const struct column columns[] = {
    PLAIN("suite"),
    PLAIN("case"),
    PLAIN("series"),
    PLAIN("n"),
    PLAIN("runtime"),
    PLAIN("runtime_version"),
    PLAIN("device"),
    PLAIN("device_index"),
    PLAIN("driver"),
    PLAIN("math"),
    PLAIN("status"),
    PLAIN("reason"),
    PLAIN("software_device"),
    PLAIN("shape"),
    PLAIN("clock"),
    PLAIN("runs"),
    PLAIN("rounds_ms"),
    PLAIN("median_ms"),
    PLAIN("p5_ms"),
    PLAIN("p90_ms"),
    PLAIN("p95_ms"),
    PLAIN("p99_ms"),
    PLAIN("spread"),
    ITEM("interval_low_ms", "interval_ms", 0),
    ITEM("interval_high_ms", "interval_ms", 1),
    PLAIN("tight"),
    PLAIN("host_ms"),
    PLAIN("cpu_ms"),
    PLAIN("flops"),
    PLAIN("bytes"),
    PLAIN("gflop_per_s"),
    PLAIN("gb_per_s"),
    PLAIN("fraction_of_copy"),
    PLAIN("fraction_of_arithmetic"),
    PLAIN("extra_bytes"),
    PLAIN("weight_bytes"),
    PLAIN("peak_bytes"),
    PLAIN("dispatches"),
    PLAIN("barriers"),
    PLAIN("submissions"),
    MEMBER("longest_dispatch_kernel", "longest_dispatch", "kernel"),
    MEMBER("longest_dispatch_node", "longest_dispatch", "node"),
    MEMBER("longest_dispatch_ms", "longest_dispatch", "ms"),
    MEMBER("start_cold_ms", "start_ms", "cold"),
    MEMBER("start_warm_cache_ms", "start_ms", "warm_cache"),
    MEMBER("start_steady_ms", "start_ms", "steady"),
    PLAIN("cold_ms"),
    PLAIN("tokens_per_s"),
    PLAIN("output_sha256"),
    MEMBER("verified_by", "verified", "by"),
    MEMBER("verified_rel_l2", "verified", "rel_l2"),
    MEMBER("verified_tolerance", "verified", "tolerance"),
    MEMBER("verified_reason", "verified", "reason"),
};

/* ---- cells ---- */

static void add_text(struct weft_text *text, const char *bytes) {
    struct weft_text cell = {.host = text->host};
    weft_text_add_cell(&cell, bytes, strlen(bytes));
    char *found = weft_text_take(&cell);
    if (!found) {
        weft_text_fail(text);
        return;
    }
    const char *quote = strpbrk(found, ",;|\"") ? "\"" : "";
    const char *at = found;
    weft_text_add(text, "%s", quote);
    for (const char *end; (end = strchr(at, '"')); at = end + 1) {
        weft_text_add(text, "%.*s\"\"", (int)(end - at), at);
    }
    weft_text_add(text, "%s%s", at, quote);
    weft_free(&text->host, found);
}

static const json_t *cell_value(const json_t *row, const struct column *column) {
    const json_t *value = json_object_get(row, column->field);
    if (column->member) {
        return json_object_get(value, column->member);
    }
    return column->item == NO_ITEM ? value : json_array_get(value, (size_t)column->item);
}

static void add_number(struct weft_text *text, const json_t *value) {
    if (json_is_integer(value)) {
        weft_text_add(text, "%lld", (long long)json_integer_value(value));
    } else {
        weft_text_add(text, "%.12g", json_real_value(value));
    }
}

void weft_bench_csv_add_cell(struct weft_text *text, const json_t *value) {
    if (json_is_string(value)) {
        add_text(text, json_string_value(value));
    } else if (json_is_number(value)) {
        add_number(text, value);
    } else if (json_is_boolean(value)) {
        weft_text_add(text, json_is_true(value) ? "true" : "false");
    } else if (json_is_array(value)) { /* the shape, or times */
        const char *separator = json_is_integer(json_array_get(value, 0)) ? "x" : ";";
        for (size_t i = 0; i < json_array_size(value); i++) {
            weft_text_add(text, "%s", i > 0 ? separator : "");
            add_number(text, json_array_get(value, i));
        }
    }
}

/* The machine's label is the same in all rows: rows of several machines may be put into one table. */
static void add_lines(struct weft_text *text, const json_t *report) {
    const json_t *rows = json_object_get(report, "rows");
    const json_t *label = json_object_get(json_object_get(report, "environment"), "label");
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        weft_text_add(text, "%s%s", i > 0 ? "," : "", columns[i].name);
    }
    weft_text_add(text, ",label" WEFT_BENCH_CSV_END);
    for (size_t row = 0; row < json_array_size(rows); row++) {
        for (size_t i = 0; i < COLUMN_COUNT; i++) {
            weft_text_add(text, i > 0 ? "," : "");
            weft_bench_csv_add_cell(text, cell_value(json_array_get(rows, row), &columns[i]));
        }
        weft_text_add(text, ",");
        weft_bench_csv_add_cell(text, label);
        weft_text_add(text, WEFT_BENCH_CSV_END);
    }
}

weft_status weft_bench_csv_write(const char *path, const json_t *report, const weft_host *host) {
    struct weft_text text = {.host = *host};
    add_lines(&text, report);
    char *data = weft_text_take(&text);
    weft_status status = data && report ? weft_file_write(path, data, strlen(data), host)
                                        : weft_fail_memory(host, "the CSV file");
    weft_free(host, data);
    return status;
}
