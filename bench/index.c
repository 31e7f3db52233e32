/* SPDX-License-Identifier: MIT */
#include "bench/index.h"

#include <stdio.h>
#include <string.h>

#include "bench/fields.h"
#include "bench/file.h"
#include "certify/consistent.h"
#include "cli.h"
#include "core/formats/json.h"
#include "core/system/file.h"
#include "core/system/folder.h"
#include "core/text.h"
#include "core/try.h"

typedef struct reader {
    const weft_host *host;
    const char *folder; /* that is listed now */
    const char *name;   /* below the one that was asked for; null at the top */
    const char *href;   /* of the file that is read now */
    json_t *entries;
    json_t *rows; /* by their key, while files are read */
    weft_status status;
} reader;

/* ---- names ---- */

/*
 * A file below the page, as a URL: relative, so that no name is taken for a scheme or another machine, and by its bytes, so that
 * none ends it. In host memory, or null.
 */
static char *href_of(const char *file, const weft_host *host) {
    static const char plain[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
    struct weft_text text = {.host = host ? *host : (weft_host){0}};
    weft_text_add(&text, "./");
    for (const char *at = file; *at != '\0'; at++) {
        weft_text_add(&text, strchr(plain, *at) ? "%c" : "%%%02X", (unsigned char)*at);
    }
    return weft_text_take(&text);
}

/* ---- entries ---- */

static json_t *copy_of(const json_t *object, const char *name) {
    json_t *value = json_object_get(object, name);
    return value ? json_incref(value) : json_null();
}

static bool is(const json_t *object, const char *name, const char *text) {
    return strcmp(weft_bench_text(object, name), text) == 0;
}

/* The place of the entry of that file, device and mode; a new one where there is none. */
static size_t find_entry(reader *self, const char *file, const char *device, const char *driver,
                         const char *math) {
    for (size_t i = 0; i < json_array_size(self->entries); i++) {
        const json_t *entry = json_array_get(self->entries, i);
        if (is(entry, "file", file) && is(entry, "device", device) && is(entry, "driver", driver) &&
            is(entry, "math", math)) {
            return i;
        }
    }
    json_array_append_new(
        self->entries,
        json_pack(
            "{s:s, s:s, s:s, s:s, s:s, s:o, s:n, s:n, s:n, s:b, s:i, s:i, s:n, s:n, s:n, s:n, s:n}",
            "file", file, "href", self->href, "device", device, "driver", driver, "math", math,
            "folder", weft_cli_json_text(self->name), "type", "weft", "started", "certificate", 0,
            "rows", 0, "errors", 0, "ran", "skipped", "cases", "failed",
            "mixing_rate_tokens_per_s"));
    return json_array_size(self->entries) - 1;
}

static void count(json_t *entry, const char *name) {
    json_t *value = json_object_get(entry, name);
    json_integer_set(value, json_integer_value(value) + 1);
}

/* Adds a row's time to those of its case. */
static void add_cell(reader *self, const json_t *row, size_t entry, const char *math,
                     double median_ms) {
    const bool fast = strcmp(math, weft_math_name(WEFT_MATH_FAST)) == 0;
    json_t *key = json_sprintf("%s\n%s\n%s", weft_bench_text(row, "suite"),
                               weft_bench_text(row, "case"), math);
    json_t *line = json_object_get(self->rows, json_string_value(key));
    if (!line) {
        line = json_pack("{s:s, s:s, s:s, s:n, s:[]}", "suite", weft_bench_text(row, "suite"),
                         "case", weft_bench_text(row, "case"), "math", math, "sha256", "cells");
        json_object_set_new(self->rows, json_string_value(key), line);
    }
    json_array_append_new(json_object_get(line, "cells"),
                          json_pack("{s:I, s:o, s:o, s:b}", "entry", (json_int_t)entry, "median_ms",
                                    weft_cli_json_real(median_ms), "sha256",
                                    fast ? json_null() : copy_of(row, "output_sha256"), "refused",
                                    0));
    json_decref(key);
}

static void add_row(reader *self, const json_t *row, size_t place, const char *time) {
    json_t *entry = json_array_get(self->entries, place);
    if (is(row, "status", "ok")) {
        count(entry, "rows");
        add_cell(self, row, place, weft_bench_text(row, "math"), weft_bench_number(row, time));
    } else if (is(row, "status", "error")) {
        count(entry, "errors");
    }
}

/* ---- reports of weft bench ---- */

static void name_devices(reader *self, const json_t *report, const char *file) {
    const json_t *environment = json_object_get(report, "environment");
    const json_t *devices = json_object_get(environment, "devices");
    for (size_t i = 0; i < json_array_size(self->entries); i++) {
        json_t *entry = json_array_get(self->entries, i);
        if (!is(entry, "file", file)) {
            continue;
        }
        json_object_set_new(entry, "weft", copy_of(environment, "weft"));
        json_object_set_new(entry, "started", copy_of(environment, "started"));
        for (size_t k = 0; k < json_array_size(devices); k++) {
            const json_t *device = json_array_get(devices, k);
            if (is(device, "name", weft_bench_text(entry, "device"))) {
                json_object_set_new(entry, "type", copy_of(device, "type"));
            }
        }
    }
}

static void add_report(reader *self, const json_t *report, const char *file) {
    const json_t *rows = json_object_get(report, "rows");
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        if (is(row, "runtime", "weft") && !is(row, "suite", "device")) { /* whose sizes differ */
            add_row(self, row,
                    find_entry(self, file, weft_bench_text(row, "device"),
                               weft_bench_text(row, "driver"), weft_bench_text(row, "math")),
                    "median_ms");
        }
    }
    name_devices(self, report, file);
}

/* ---- records of weft certify ---- */

static void set_bits(json_t *entry, const json_t *record) {
    const json_t *bits = json_object_get(record, "bits");
    for (size_t i = 0; i < json_array_size(bits); i++) {
        const json_t *mode = json_array_get(bits, i);
        if (is(mode, "math", weft_bench_text(entry, "math"))) {
            json_object_set_new(entry, "ran", json_integer(weft_certify_ran(mode)));
            json_object_set_new(entry, "skipped", copy_of(mode, "skipped"));
            json_object_set_new(entry, "cases", copy_of(mode, "cases"));
            json_object_set_new(entry, "failed", copy_of(mode, "failed"));
        }
    }
    if (is(entry, "math", weft_math_name(WEFT_MATH_REPRODUCIBLE))) {
        json_object_set_new(
            entry, "mixing_rate_tokens_per_s",
            copy_of(json_object_get(record, "summary"), "mixing_rate_tokens_per_s"));
    }
}

static void add_record(reader *self, const json_t *record, const char *file) {
    const json_t *device = json_object_get(record, "device");
    const json_t *bench = json_object_get(record, "bench");
    const json_t *modes = json_object_get(bench, "modes");
    const json_t *rows = json_object_get(bench, "rows");
    for (size_t i = 0; i < json_array_size(modes); i++) {
        const char *math = weft_bench_text(json_array_get(modes, i), "math");
        const size_t place = find_entry(self, file, weft_bench_text(device, "name"),
                                        weft_bench_text(device, "driver_version"), math);
        json_t *entry = json_array_get(self->entries, place);
        json_object_set_new(entry, "certificate", json_true());
        json_object_set_new(entry, "type", copy_of(device, "type"));
        json_object_set_new(entry, "weft", copy_of(json_object_get(record, "program"), "version"));
        json_object_set_new(entry, "started", copy_of(json_object_get(record, "made"), "started"));
        set_bits(entry, record);
        for (size_t k = 0; k < json_array_size(rows); k++) {
            const json_t *row = json_array_get(rows, k);
            if (is(row, "math", math)) {
                add_row(self, row, place, "p50_ms");
            }
        }
    }
}

/* ---- files ---- */

static weft_status add_file(reader *self, const char *path, const char *file) {
    json_t *object = NULL;
    WEFT_TRY(weft_json_read(&object, path, self->host));
    weft_status status = WEFT_OK;
    if (json_object_get(object, "certificate")) {
        status = weft_certify_consistent(object, path, self->host);
        if (status == WEFT_OK) {
            add_record(self, object, file);
        }
    } else {
        status = weft_bench_file_check(object, path, self->host);
        if (status == WEFT_OK) {
            add_report(self, object, file);
        }
    }
    json_decref(object);
    return status;
}

/* Names need be no UTF-8: what is shown of one is, and what leads to it has its bytes. */
static weft_status add_named(reader *self, const char *path, const char *name) {
    const weft_host *host = self->host;
    char *file = weft_format(host, "%s/%s", self->name, name);
    char *href = file ? href_of(file, host) : NULL;
    json_t *shown = file ? weft_cli_json_text(file) : NULL;
    reader inner = *self;
    inner.href = href;
    const weft_status status = href && shown ? add_file(&inner, path, json_string_value(shown))
                                             : weft_fail_memory(host, path);
    json_decref(shown);
    weft_free(host, href);
    weft_free(host, file);
    return status;
}

static weft_status read_folder(reader *self);

/* A file of results, or at the top a folder of such; anything else is passed over. */
static weft_status read_entry(reader *self, const char *name) {
    char *path = weft_path_join(self->folder, name, self->host);
    weft_status status = path ? WEFT_OK : weft_fail_memory(self->host, self->folder);
    if (path && self->name && weft_ends_with(name, ".json")) {
        status = add_named(self, path, name);
    } else if (path && !self->name && !strchr(name, '.')) {
        reader inner = *self;
        inner.folder = path;
        inner.name = name;
        status = read_folder(&inner);
    }
    weft_free(self->host, path);
    return status;
}

static weft_status read_folder(reader *self) {
    struct weft_names found = {0};
    weft_status status = weft_folder_list(&found, self->folder, self->host);
    for (uint32_t i = 0; i < found.count && status == WEFT_OK; i++) {
        status = read_entry(self, found.at[i]);
    }
    weft_names_free(&found, self->host);
    return status;
}

/* ---- rows beside each other ---- */

static size_t count_hash(const json_t *cells, const char *hash) {
    size_t same = 0;
    for (size_t i = 0; i < json_array_size(cells); i++) {
        same += is(json_array_get(cells, i), "sha256", hash);
    }
    return same;
}

/* Refuses the cells whose hash is not that of most, or of as many, the first. */
static void judge_row(json_t *row) {
    const json_t *cells = json_object_get(row, "cells");
    const char *most = "";
    size_t count_of_most = 0;
    for (size_t i = 0; i < json_array_size(cells); i++) {
        const char *hash = weft_bench_text(json_array_get(cells, i), "sha256");
        const size_t same = count_hash(cells, hash);
        if (hash[0] != '\0' && same > count_of_most) {
            most = hash;
            count_of_most = same;
        }
    }
    json_object_set_new(row, "sha256", most[0] != '\0' ? json_string(most) : json_null());
    for (size_t i = 0; i < json_array_size(cells); i++) {
        json_t *cell = json_array_get(cells, i);
        const char *hash = weft_bench_text(cell, "sha256");
        json_object_set_new(
            cell, "refused",
            json_boolean(hash[0] != '\0' && strcmp(hash, weft_bench_text(row, "sha256")) != 0));
        json_object_del(cell, "sha256");
    }
}

static json_t *shared_rows(json_t *rows) {
    json_t *list = json_array();
    const char *key = NULL;
    json_t *row = NULL;
    json_object_foreach(rows, key, row) {
        if (json_array_size(json_object_get(row, "cells")) > 1) {
            judge_row(row);
            json_array_append(list, row);
        }
    }
    return list;
}

weft_status weft_bench_index_read(json_t **index, const char *folder, const weft_host *host) {
    reader self = {.host = host, .folder = folder, .entries = json_array(), .rows = json_object()};
    weft_status status = read_folder(&self);
    *index = NULL;
    if (status == WEFT_OK) {
        *index = json_pack("{s:O, s:o}", "entries", self.entries, "cases", shared_rows(self.rows));
        status = *index ? WEFT_OK : weft_fail_memory(host, "the index");
    }
    json_decref(self.entries);
    json_decref(self.rows);
    return status;
}

/* ---- as Markdown ---- */

/* Of somebody else's text Markdown makes neither a link, nor a tag, nor a cell. */
static void print_plain(const char *text) {
    struct weft_text plain = {0};
    for (; *text != '\0'; text++) {
        weft_text_add(&plain, strchr("\\`*[]<>|&!", *text) ? "\\%c" : "%c", *text);
    }
    weft_text_add(&plain, "%s", "");
    char *found = weft_text_take(&plain);
    weft_cli_print(stdout, "%s", found ? found : "(out of memory)");
    weft_free(&plain.host, found);
}

static void print_entry(const json_t *entry) {
    static const char *const texts[] = {"device", "driver", "type", "math", "weft"};
    const json_t *rate = json_object_get(entry, "mixing_rate_tokens_per_s");
    char date[11];
    snprintf(date, sizeof date, "%s", weft_bench_text(entry, "started"));
    weft_cli_print(stdout, "| ");
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        print_plain(weft_bench_text(entry, texts[i]));
        weft_cli_print(stdout, " | ");
    }
    print_plain(date);
    weft_cli_print(stdout, " | %.0f | ", weft_bench_number(entry, "rows"));
    const double skipped = weft_bench_number(entry, "skipped");
    if (json_is_integer(json_object_get(entry, "ran"))) {
        weft_cli_print(stdout, "%.0f of %.0f, %.0f wrong", weft_bench_number(entry, "ran"),
                       weft_bench_number(entry, "cases"), weft_bench_number(entry, "failed"));
        if (skipped > 0.0) {
            weft_cli_print(stdout, ", %.0f skipped", skipped);
        }
        weft_cli_print(stdout, " | ");
    } else {
        weft_cli_print(stdout, "– | ");
    }
    if (json_is_number(rate)) {
        weft_cli_print(stdout, "%.4g | ", 1e-6 * json_number_value(rate));
    } else {
        weft_cli_print(stdout, "– | ");
    }
    weft_cli_print(stdout, "[");
    print_plain(weft_bench_text(entry, "file"));
    weft_cli_print(stdout, "](%s) |\n", weft_bench_text(entry, "href") + strlen("./"));
}

int weft_bench_index_print(const json_t *index) {
    const json_t *entries = json_object_get(index, "entries");
    const json_t *rows = json_object_get(index, "cases");
    size_t refused = 0;
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *cells = json_object_get(json_array_get(rows, i), "cells");
        for (size_t k = 0; k < json_array_size(cells); k++) {
            refused += json_is_true(json_object_get(json_array_get(cells, k), "refused"));
        }
    }
    weft_cli_print_lines(
        stdout, "# Results\n\n"
                "Written by `weft bench --index bench/results > bench/results/README.md`; "
                "`--html FILE` also makes a page with\n"
                "the rows of all devices beside each other. Times of one case are "
                "compared only where its bits are the same.\n\n"
                "| device | driver | type | math | Weft | date | rows | bits | million "
                "tokens/s ([mixing rate](../../docs/certify.md#the-mixing-rate)) | file |\n"
                "|---|---|---|---|---|---|---:|---|---:|---|\n");
    for (size_t i = 0; i < json_array_size(entries); i++) {
        print_entry(json_array_get(entries, i));
    }
    weft_cli_print(stdout,
                   "\n%zu cases were timed by more than one of these; %zu times are not "
                   "compared, as their bits are others.\n",
                   json_array_size(rows), refused);
    return WEFT_CLI_FINE;
}
