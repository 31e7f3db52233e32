/* SPDX-License-Identifier: MIT */
#include "bench/file.h"

#include <stdio.h>
#include <string.h>

#include "bench/label.h"
#include "bench/report.h"
#include "core/formats/json.h"
#include "core/system/file.h"
#include "core/text.h"
#include "core/try.h"

enum kind {
    TEXT,
    LABEL,
    INTEGER,
    NUMBER,
    POSITIVE,
    FLAG,
    STATUS,
    MATH,
    SIZES,
    INTERVAL,
    OBJECT,
    LIST
};

static const char *const kind_names[] = {
    [TEXT] = "a string",
    [LABEL] = WEFT_BENCH_LABEL_RULE,
    [INTEGER] = "an integer of at least 0",
    [NUMBER] = "a number of at least 0",
    [POSITIVE] = "a number above 0",
    [FLAG] = "true or false",
    [STATUS] = "\"ok\", \"unsupported\", \"skipped\" or \"error\"",
    [MATH] = "\"reproducible\", \"fused\" or \"fast\"",
    [SIZES] = "a list of integers above 0",
    [INTERVAL] = "two numbers of at least 0 in ascending order",
    [OBJECT] = "an object",
    [LIST] = "a list"};

/** Where null may stand instead: nowhere, in rows of peers, or in any row; and what older reports lack. */
enum null { NEVER, PEERS, ALWAYS, NEWER };

struct rule {
    const char *name;
    enum kind kind;
    enum null null;
};

static const struct rule report_rules[] = {
    {"environment", OBJECT, NEVER}, {"rows", LIST, NEVER}, {"fits", LIST, NEVER}, {0}};

static const struct rule environment_rules[] = {{"weft", TEXT, NEVER},
                                                {"started", TEXT, NEVER},
                                                {"cpu", TEXT, ALWAYS},
                                                {"cores", INTEGER, NEVER},
                                                {"system", TEXT, ALWAYS},
                                                {"label", LABEL, NEWER},
                                                {"memory", INTEGER, NEWER},
                                                {"governor", TEXT, NEWER},
                                                {"energy_preference", TEXT, NEWER},
                                                {"power_plan", TEXT, NEWER},
                                                {"size", TEXT, NEVER},
                                                {"seconds", POSITIVE, NEVER},
                                                {"interrupted", FLAG, NEVER},
                                                {"debug_slow_down", INTEGER, ALWAYS},
                                                {"devices", LIST, NEVER},
                                                {0}};

static const struct rule device_rules[] = {{"index", INTEGER, NEVER},
                                           {"name", TEXT, NEVER},
                                           {"type", TEXT, NEVER},
                                           {"driver", TEXT, NEVER},
                                           {"driver_version", TEXT, NEVER},
                                           {"ceilings", OBJECT, NEVER},
                                           {0}};

static const struct rule row_rules[] = {
    {"suite", TEXT, NEVER},           {"case", TEXT, NEVER},
    {"series", TEXT, ALWAYS},         {"n", INTEGER, ALWAYS},
    {"runtime", TEXT, NEVER},         {"runtime_version", TEXT, NEVER},
    {"device", TEXT, NEVER},          {"device_index", INTEGER, PEERS},
    {"driver", TEXT, NEVER},          {"math", MATH, PEERS},
    {"status", STATUS, NEVER},        {"reason", TEXT, NEVER},
    {"software_device", FLAG, NEVER}, {0}};

static const struct rule measured_rules[] = {{"shape", SIZES, NEVER},
                                             {"clock", TEXT, NEVER},
                                             {"runs", INTEGER, NEVER},
                                             {"median_ms", POSITIVE, NEVER},
                                             {"p5_ms", NUMBER, PEERS},
                                             {"p95_ms", NUMBER, PEERS},
                                             {"spread", NUMBER, NEVER},
                                             {"interval_ms", INTERVAL, NEVER},
                                             {"tight", FLAG, NEVER},
                                             {"host_ms", NUMBER, PEERS},
                                             {"cpu_ms", NUMBER, ALWAYS},
                                             {"flops", NUMBER, PEERS},
                                             {"bytes", NUMBER, PEERS},
                                             {"gflop_per_s", NUMBER, PEERS},
                                             {"gb_per_s", NUMBER, PEERS},
                                             {"fraction_of_copy", NUMBER, ALWAYS},
                                             {"fraction_of_arithmetic", NUMBER, ALWAYS},
                                             {"extra_bytes", INTEGER, PEERS},
                                             {"weight_bytes", INTEGER, PEERS},
                                             {"peak_bytes", INTEGER, PEERS},
                                             {"dispatches", INTEGER, PEERS},
                                             {"barriers", INTEGER, PEERS},
                                             {"submissions", INTEGER, PEERS},
                                             {"longest_dispatch", OBJECT, ALWAYS},
                                             {"start_ms", OBJECT, ALWAYS},
                                             {"cold_ms", NUMBER, PEERS},
                                             {"tokens_per_s", NUMBER, ALWAYS},
                                             {"output_sha256", TEXT, PEERS},
                                             {"verified", OBJECT, NEVER},
                                             {0}};

/* ---- one value ---- */

static bool is_one_of(const json_t *value, const char *const *names) {
    const char *text = json_string_value(value);
    for (; text && *names; names++) {
        if (strcmp(text, *names) == 0) {
            return true;
        }
    }
    return false;
}

static bool are_sizes(const json_t *value) {
    bool fine = json_is_array(value);
    for (size_t i = 0; i < json_array_size(value); i++) {
        fine = fine && json_integer_value(json_array_get(value, i)) > 0;
    }
    return fine;
}

static bool is_interval(const json_t *value) {
    double low = json_number_value(json_array_get(value, 0));
    double high = json_number_value(json_array_get(value, 1));
    return json_array_size(value) == 2 && low >= 0.0 && high > 0.0 && high >= low;
}

static bool is_of_kind(const json_t *value, enum kind kind) {
    static const char *const states[] = {"ok", "unsupported", "skipped", "error", NULL};
    static const char *const modes[] = {"reproducible", "fused", "fast", NULL};
    switch (kind) {
    case TEXT:
        return json_is_string(value);
    case LABEL:
        return json_is_string(value) && weft_bench_label_fits(json_string_value(value));
    case INTEGER:
        return json_is_integer(value) && json_integer_value(value) >= 0;
    case NUMBER:
        return json_is_number(value) && json_number_value(value) >= 0.0;
    case POSITIVE:
        return json_number_value(value) > 0.0; /* 0 of what is no number */
    case FLAG:
        return json_is_boolean(value);
    case STATUS:
        return is_one_of(value, states);
    case MATH:
        return is_one_of(value, modes);
    case SIZES:
        return are_sizes(value);
    case INTERVAL:
        return is_interval(value);
    case OBJECT:
        return json_is_object(value);
    case LIST:
        return json_is_array(value);
    }
    return false;
}

/* ---- objects ---- */

#define PLACE_SIZE 48

/** An object of the file. */
struct part {
    weft_json_fields fields;
    const char *place; /* in the file, such as "rows[3]."; empty for the whole */
    bool peer;         /* a peer's row */
};

static weft_status check_fields(const struct part *part, const struct rule *rules) {
    for (const struct rule *rule = rules; rule->name; rule++) {
        const json_t *value = json_object_get(part->fields.object, rule->name);
        bool may_be_null =
            rule->null == ALWAYS || rule->null == NEWER || (rule->null == PEERS && part->peer);
        if ((may_be_null && json_is_null(value)) || (rule->null == NEWER && !value) ||
            is_of_kind(value, rule->kind)) {
            continue;
        }
        char name[PLACE_SIZE + 32];
        char expected[96];
        snprintf(name, sizeof name, "%s%s", part->place, rule->name);
        snprintf(expected, sizeof expected, "%s%s", kind_names[rule->kind],
                 may_be_null ? " or null" : "");
        return weft_json_fail(&part->fields, WEFT_BAD_FILE, name, expected, value);
    }
    return WEFT_OK;
}

/** Holds item `index` of list `name` to be an object with these fields. */
static weft_status check_item(struct part *part, const char *name, size_t index, const json_t *item,
                              char place[PLACE_SIZE], const struct rule *rules) {
    snprintf(place, PLACE_SIZE, "%s[%zu]", name, index);
    if (!json_is_object(item)) {
        return weft_json_fail(&part->fields, WEFT_BAD_FILE, place, "an object", item);
    }
    snprintf(place, PLACE_SIZE, "%s[%zu].", name, index);
    part->fields.object = item;
    part->place = place;
    const char *runtime = json_string_value(json_object_get(item, "runtime"));
    part->peer = runtime && strcmp(runtime, "weft") != 0;
    return check_fields(part, rules);
}

static weft_status check_rows(const weft_json_fields *fields, const json_t *rows) {
    char place[PLACE_SIZE];
    for (size_t i = 0; i < json_array_size(rows); i++) {
        struct part part = {.fields = *fields};
        const json_t *row = json_array_get(rows, i);
        WEFT_TRY(check_item(&part, "rows", i, row, place, row_rules));
        if (strcmp(json_string_value(json_object_get(row, "status")), "ok") == 0) {
            WEFT_TRY(check_fields(&part, measured_rules));
        }
    }
    return WEFT_OK;
}

static weft_status check_environment(const weft_json_fields *fields, const json_t *environment) {
    struct part part = {.fields = *fields, .place = "environment."};
    part.fields.object = environment;
    WEFT_TRY(check_fields(&part, environment_rules));
    const json_t *devices = json_object_get(environment, "devices");
    char place[PLACE_SIZE];
    for (size_t i = 0; i < json_array_size(devices); i++) {
        struct part device = {.fields = *fields};
        WEFT_TRY(check_item(&device, "environment.devices", i, json_array_get(devices, i), place,
                            device_rules));
    }
    return WEFT_OK;
}

/* ---- the file ---- */

static weft_status check_version(const weft_json_fields *fields) {
    const json_t *version = json_object_get(fields->object, "schema");
    if (json_is_integer(version) && json_integer_value(version) == WEFT_BENCH_SCHEMA) {
        return WEFT_OK;
    }
    return weft_json_fail(fields, WEFT_BAD_FILE, "schema",
                          "2, as this version of weft bench writes (files of other versions "
                          "have other fields: measure again)",
                          version);
}

weft_status weft_bench_file_check(const json_t *report, const char *name, const weft_host *host) {
    struct part part = {.fields = {.object = report, .path = name, .host = host}, .place = ""};
    WEFT_TRY(check_version(&part.fields));
    WEFT_TRY(check_fields(&part, report_rules));
    WEFT_TRY(check_environment(&part.fields, json_object_get(report, "environment")));
    return check_rows(&part.fields, json_object_get(report, "rows"));
}

weft_status weft_bench_file_read(json_t **report, const char *path, const weft_host *host) {
    json_t *object = NULL;
    WEFT_TRY(weft_json_read(&object, path, host));
    weft_status status = weft_bench_file_check(object, path, host);
    if (status != WEFT_OK) {
        json_decref(object);
        return status;
    }
    *report = object;
    return WEFT_OK;
}

/* ---- writing ---- */

#define COMPACT (JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(12))
/* Objects are spread over lines down to here, lists of objects one level further. */
#define DEEPEST 1

static void put_value(struct weft_text *text, const json_t *value) {
    char *compact = weft_json_text(value, COMPACT, &text->host);
    if (compact) {
        weft_text_put(text, compact, strlen(compact));
    } else {
        weft_text_fail(text);
    }
    weft_free(&text->host, compact);
}

static void put_name(struct weft_text *text, const char *name) {
    json_t *key = json_string(name);
    put_value(text, key);
    json_decref(key);
    weft_text_add(text, ":");
}

static bool is_spread(const json_t *value, unsigned depth) {
    return json_is_object(value) ? depth <= DEEPEST
                                 : json_is_object(json_array_get(value, 0)) && depth <= DEEPEST + 1;
}

/* One of `count` parts, on a line of its own. */
static void begin_line(struct weft_text *text, size_t index, unsigned depth) {
    weft_text_add(text, "%s\n%*s", index > 0 ? "," : "", (int)depth + 1, "");
}

/* A row of a list is one line, and a file of a thousand rows has a thousand lines. */
static void put_lines(struct weft_text *text, const json_t *value, unsigned depth) {
    const bool is_object = json_is_object(value);
    const char *name = NULL;
    json_t *part = NULL;
    size_t index = 0;
    if (!is_spread(value, depth)) {
        put_value(text, value);
        return;
    }
    weft_text_add(text, is_object ? "{" : "[");
    json_object_foreach((json_t *)(uintptr_t)value, name, part) {
        begin_line(text, index++, depth);
        put_name(text, name);
        put_lines(text, part, depth + 1);
    }
    json_array_foreach(value, index, part) {
        begin_line(text, index, depth);
        put_lines(text, part, depth + 1);
    }
    weft_text_add(text, "\n%*s%s", (int)depth, "", is_object ? "}" : "]");
}

weft_status weft_bench_file_write(const char *path, const json_t *report, const weft_host *host) {
    struct weft_text text = {.host = host ? *host : (weft_host){0}};
    put_lines(&text, report, 0);
    weft_text_add(&text, "\n");
    const size_t size = text.length;
    char *taken = weft_text_take(&text);
    const weft_status status = report && taken ? weft_file_write(path, taken, size, host)
                                               : weft_fail_memory(host, "the report");
    weft_free(host, taken);
    return status;
}
