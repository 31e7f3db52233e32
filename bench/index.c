/* SPDX-License-Identifier: MIT */
#include "bench/index.h"

#include <stdio.h>
#include <string.h>

#include "bench/fields.h"
#include "bench/file.h"
#include "bench/machines.h"
#include "certify/consistent.h"
#include "cli.h"
#include "core/formats/json.h"
#include "core/system/file.h"
#include "core/system/folder.h"
#include "core/text.h"
#include "core/try.h"
#include "eval/names.h"

#define MOST_DEVICES 64 /* of a file */

typedef struct reader {
    const weft_host *host;
    const char *folder; /* that is listed now */
    const char *name;   /* below the one that was asked for; null at the top */
    const char *href;   /* of the file that is read now, or null */
    size_t machine;     /* that it is of */
    json_t *machines, *columns, *entries;
    json_t *places; /* of columns and entries, by what they are known by */
    json_t *rows;   /* by their key, while files are read */
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

/* The place in `list` of what is known by `key`, which is taken; of `item`, taken too and added, where there is none. */
static size_t place_of(reader *self, json_t *list, json_t *key, json_t *item) {
    const char *name = json_string_value(key);
    const json_t *known = json_object_get(self->places, name);
    const size_t place = known ? (size_t)json_integer_value(known) : json_array_size(list);
    if (known) {
        json_decref(item);
    } else {
        json_object_set_new(self->places, name, json_integer((json_int_t)place));
        json_array_append_new(list, item);
    }
    json_decref(key);
    return place;
}

/* The place of the entry of that file, device and mode; a new one where there is none. */
static size_t find_entry(reader *self, const char *file, const char *device, const char *driver,
                         const char *math) {
    const json_int_t machine = (json_int_t)self->machine;
    const json_int_t column = (json_int_t)place_of(
        self, self->columns, json_sprintf("column\n%u\n%s\n%s", (unsigned)machine, device, driver),
        json_pack("{s:I, s:s, s:s}", "machine", machine, "device", device, "driver", driver));
    return place_of(
        self, self->entries, json_sprintf("entry\n%u\n%s\n%s", (unsigned)column, math, file),
        json_pack("{s:s, s:s?, s:s, s:s, s:s, s:I, s:n, s:n, s:n, s:b, s:i, s:i, s:n, s:n, s:n, "
                  "s:n, s:n}",
                  "file", file, "href", self->href, "device", device, "driver", driver, "math",
                  math, "column", column, "type", "weft", "started", "certificate", 0, "rows", 0,
                  "errors", 0, "ran", "skipped", "cases", "failed", "mixing_rate_tokens_per_s"));
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
                          json_pack("{s:I, s:o, s:o, s:b, s:b}", "entry", (json_int_t)entry,
                                    "median_ms", weft_cli_json_real(median_ms), "sha256",
                                    fast ? json_null() : copy_of(row, "output_sha256"), "refused",
                                    0, "newest", 1));
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

/* The sizes of suite device differ from device to device. */
static bool is_compared(const json_t *row) {
    return is(row, "runtime", "weft") && !is(row, "suite", "device");
}

static void add_report(reader *self, const json_t *report, const char *file) {
    const json_t *rows = json_object_get(report, "rows");
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        if (is_compared(row)) {
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

/* What a report or a record has timed: keys of an object. */
static json_t *timed_of(const json_t *object, bool is_record) {
    const json_t *owner = is_record ? json_object_get(object, "bench") : object;
    const json_t *rows = json_object_get(owner, "rows");
    json_t *timed = json_object();
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        const json_t *device = is_record ? json_object_get(object, "device") : row;
        if (!is(row, "status", "ok") || (!is_record && !is_compared(row))) {
            continue;
        }
        json_t *key = json_sprintf(
            "%s\n%s\n%s\n%s\n%s", weft_bench_text(row, "suite"), weft_bench_text(row, "case"),
            weft_bench_text(row, "math"), weft_bench_text(device, is_record ? "name" : "device"),
            weft_bench_text(device, is_record ? "driver_version" : "driver"));
        json_object_set_new(timed, json_string_value(key), json_true());
        json_decref(key);
    }
    return timed;
}

/* Reads a report or a record; `place`: where the machine that it is of is looked for. */
static weft_status add_file(reader *self, const char *path, const weft_bench_place *place) {
    json_t *object = NULL;
    WEFT_TRY(weft_json_read(&object, path, self->host));
    const bool is_record = json_object_get(object, "certificate") != NULL;
    weft_status status = is_record ? weft_certify_consistent(object, path, self->host)
                                   : weft_bench_file_check(object, path, self->host);
    if (status == WEFT_OK) {
        json_t *timed = timed_of(object, is_record);
        const json_t *facts = json_object_get(object, is_record ? "system" : "environment");
        const size_t before = json_array_size(self->columns);
        self->machine = weft_bench_machine_find(self->machines, facts, place, timed);
        json_decref(timed);
        (is_record ? add_record : add_report)(self, object, place->file);
        if (json_array_size(self->columns) - before > MOST_DEVICES) {
            status = weft_fail(self->host, WEFT_BAD_FILE,
                               "%s: expected rows of at most %d devices, found %zu", path,
                               MOST_DEVICES, json_array_size(self->columns) - before);
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
    json_t *folder = weft_cli_json_text(self->name);
    weft_status status = WEFT_OUT_OF_HOST_MEMORY;
    if (href && shown && folder) {
        const weft_bench_place place = {.folder = json_string_value(folder),
                                        .file = json_string_value(shown),
                                        .name = json_string_value(folder)};
        self->href = href;
        status = add_file(self, path, &place);
        self->href = NULL;
    } else {
        weft_fail_memory(host, path);
    }
    json_decref(folder);
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

/* Refuses the cells whose hash is not that of most, or of as many, the first. */
static void judge_row(json_t *row) {
    const json_t *cells = json_object_get(row, "cells");
    json_t *counts = json_object(); /* of each hash, in the order of the cells */
    const char *most = "";
    const char *hash = NULL;
    json_t *count_of = NULL;
    for (size_t i = 0; i < json_array_size(cells); i++) {
        const char *found = weft_bench_text(json_array_get(cells, i), "sha256");
        if (found[0] != '\0' && !json_object_get(counts, found)) {
            json_object_set_new(counts, found, json_integer(0));
        }
        count(counts, found);
    }
    json_int_t count_of_most = 0;
    json_object_foreach(counts, hash, count_of) {
        if (json_integer_value(count_of) > count_of_most) {
            most = hash;
            count_of_most = json_integer_value(count_of);
        }
    }
    json_object_set_new(row, "sha256", most[0] != '\0' ? json_string(most) : json_null());
    for (size_t i = 0; i < json_array_size(cells); i++) {
        json_t *cell = json_array_get(cells, i);
        const char *found = weft_bench_text(cell, "sha256");
        const bool differs = found[0] != '\0' && strcmp(found, most) != 0;
        json_object_set_new(cell, "refused", json_boolean(differs));
        json_object_del(cell, "sha256");
    }
    json_decref(counts);
}

static const json_t *entry_of(const reader *self, const json_t *cell) {
    return json_array_get(self->entries, (size_t)weft_bench_number(cell, "entry"));
}

/* Of several times that one column has, the newest counts; of equally old ones the later file's. */
static void mark_newest(const reader *self, json_t *row) {
    json_t *cells = json_object_get(row, "cells");
    const size_t count = json_array_size(cells);
    json_t *found = json_object(); /* by the column */
    for (size_t i = 0; i < count; i++) {
        json_t *cell = json_array_get(cells, i);
        char key[24];
        snprintf(key, sizeof key, "%.0f", weft_bench_number(entry_of(self, cell), "column"));
        json_t *other = json_object_get(found, key);
        const bool newer = strcmp(weft_bench_text(entry_of(self, cell), "started"),
                                  weft_bench_text(entry_of(self, other), "started")) >= 0;
        if (other) {
            json_object_set_new(newer ? other : cell, "newest", json_false());
        }
        if (newer || !other) {
            json_object_set(found, key, cell);
        }
    }
    json_decref(found);
}

static json_t *shared_rows(const reader *self) {
    json_t *list = json_array();
    const char *key = NULL;
    json_t *row = NULL;
    json_object_foreach(self->rows, key, row) {
        if (json_array_size(json_object_get(row, "cells")) > 1) {
            judge_row(row);
            mark_newest(self, row);
            json_array_append(list, row);
        }
    }
    return list;
}

/* Drops what was read. */
static weft_status finish(json_t **index, reader *self, weft_status status) {
    *index = NULL;
    if (status == WEFT_OK) {
        weft_bench_machines_name(self->machines);
        *index = json_pack("{s:O, s:O, s:O, s:o}", "machines", self->machines, "columns",
                           self->columns, "entries", self->entries, "cases", shared_rows(self));
        status = *index ? WEFT_OK : weft_fail_memory(self->host, "the index");
    }
    json_decref(self->machines);
    json_decref(self->columns);
    json_decref(self->entries);
    json_decref(self->places);
    json_decref(self->rows);
    return status;
}

static reader begin(const weft_host *host) {
    return (reader){.host = host,
                    .machines = json_array(),
                    .columns = json_array(),
                    .entries = json_array(),
                    .places = json_object(),
                    .rows = json_object()};
}

weft_status weft_bench_index_read(json_t **index, const char *folder, const weft_host *host) {
    reader self = begin(host);
    self.folder = folder;
    return finish(index, &self, read_folder(&self));
}

weft_status weft_bench_index_read_files(json_t **index, const char *const *paths, uint32_t count,
                                        const weft_host *host) {
    reader self = begin(host);
    weft_status status = WEFT_OK;
    for (uint32_t i = 0; i < count && status == WEFT_OK; i++) {
        char folder[16];
        json_t *file = weft_cli_json_text(paths[i]);
        int length; /* all that is left, as it is a file's */
        json_t *name = weft_cli_json_text(weft_cli_last_part(paths[i], &length));
        snprintf(folder, sizeof folder, "%u", i); /* each is a machine of its own */
        const weft_bench_place place = {
            .folder = folder, .file = json_string_value(file), .name = json_string_value(name)};
        status =
            file && name ? add_file(&self, paths[i], &place) : weft_fail_memory(host, paths[i]);
        json_decref(name);
        json_decref(file);
    }
    return finish(index, &self, status);
}
