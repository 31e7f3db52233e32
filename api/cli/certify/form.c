/* SPDX-License-Identifier: MIT */
#include "certify/form.h"

#include <string.h>

#include "core/hash.h"

enum kind { END = 0, TEXT, WHOLE, REAL, FLAG, HASH, LIST, OBJECT };

enum presence {
    MUST = 0,
    OR_NULL,
    MAY,
    MAY_OR_NULL
}; /* be there; or be null; or be left out; either */

struct field {
    const char *name;
    enum kind kind;
    enum presence presence;
};

static const struct field program[] = {{"version", TEXT, MUST},    {"build", TEXT, MUST},
                                       {"known_bits", HASH, MUST}, {"cases", WHOLE, MUST},
                                       {"listed", WHOLE, MUST},    {0}};
static const struct field made[] = {{"started", TEXT, MUST},
                                    {"seconds_allowed", REAL, MUST},
                                    {"seconds_taken", REAL, MUST},
                                    {"seed", WHOLE, MUST},
                                    {0}};
static const struct field system_fields[] = {
    {"cpu", TEXT, OR_NULL},
    {"cores", WHOLE, MUST},
    {"system", TEXT, OR_NULL},
    {"label", TEXT, MAY_OR_NULL}, /* this and the next ones are not in older records */
    {"memory", WHOLE, MAY_OR_NULL},
    {"governor", TEXT, MAY_OR_NULL},
    {"energy_preference", TEXT, MAY_OR_NULL},
    {"power_plan", TEXT, MAY_OR_NULL},
    {0}};
static const struct field device[] = {{"name", TEXT, MUST},
                                      {"type", TEXT, MUST},
                                      {"driver", TEXT, MUST},
                                      {"driver_version", TEXT, MUST},
                                      {"vulkan", TEXT, MUST},
                                      {"fma", TEXT, MUST},
                                      {"software_device", FLAG, MUST},
                                      {0}};
static const struct field state[] = {
    {"when", TEXT, MUST},           {"load_1min", REAL, OR_NULL},
    {"others_busy", REAL, OR_NULL}, {"governor", TEXT, OR_NULL},
    {"lowest_mhz", REAL, OR_NULL},  {"mean_mhz", REAL, OR_NULL},
    {"highest_mhz", REAL, OR_NULL}, {"temperature_c", REAL, OR_NULL},
    {"gpu_mhz", REAL, OR_NULL},     {"gpu_temperature_c", REAL, OR_NULL},
    {"gpu_watt", REAL, OR_NULL},    {0}};
static const struct field bits[] = {{"math", TEXT, MUST},
                                    {"status", TEXT, MUST},
                                    {"reason", TEXT, OR_NULL},
                                    {"cases", WHOLE, MUST},
                                    {"listed", WHOLE, MUST},
                                    {"tried", WHOLE, MUST},
                                    {"listed_tried", WHOLE, MUST},
                                    {"ran", WHOLE, MUST},
                                    {"listed_ran", WHOLE, MUST},
                                    {"passed", WHOLE, MUST},
                                    {"failed", WHOLE, MUST},
                                    {"skipped", WHOLE, MUST},
                                    {"skips", OBJECT, MUST},
                                    {"listed_skips", LIST, MUST},
                                    {"failures", LIST, MUST},
                                    {"ops", LIST, MUST},
                                    {0}};
static const struct field op[] = {
    {"op", TEXT, MUST}, {"cases", WHOLE, MUST}, {"ran", WHOLE, MUST}, {"root", HASH, MUST}, {0}};
static const struct field listed_skip[] = {{"case", TEXT, MUST}, {"reason", TEXT, MUST}, {0}};
static const struct field model[] = {{"model", TEXT, MUST},           {"math", TEXT, MUST},
                                     {"status", TEXT, MUST},          {"reason", TEXT, OR_NULL},
                                     {"examples", WHOLE, MUST},       {"expected", HASH, OR_NULL},
                                     {"found", HASH, OR_NULL},        {"agrees", FLAG, OR_NULL},
                                     {"tokens_per_s", REAL, OR_NULL}, {0}};
static const struct field bench[] = {
    {"replication", REAL, MUST}, {"modes", LIST, MUST}, {"rows", LIST, MUST}, {0}};
static const struct field mode[] = {{"math", TEXT, MUST},
                                    {"status", TEXT, MUST},
                                    {"reason", TEXT, OR_NULL},
                                    {"f32_gflop_per_s", REAL, OR_NULL},
                                    {"copy_gb_per_s", REAL, OR_NULL},
                                    {0}};
static const struct field row[] = {{"suite", TEXT, MUST},        {"case", TEXT, MUST},
                                   {"math", TEXT, MUST},         {"status", TEXT, MUST},
                                   {"reason", TEXT, OR_NULL},    {"medians_ms", LIST, MUST},
                                   {"p50_ms", REAL, MAY},        {"p90_ms", REAL, MAY},
                                   {"p99_ms", REAL, MAY},        {"runs", WHOLE, MAY},
                                   {"clock", TEXT, MAY},         {"gflop_per_s", REAL, MAY},
                                   {"output_sha256", HASH, MAY}, {"verified_by", TEXT, MAY},
                                   {"replicated", FLAG, MAY},    {0}};
static const struct field sustained[] = {{"case", TEXT, MUST},
                                         {"math", TEXT, MUST},
                                         {"status", TEXT, MUST},
                                         {"reason", TEXT, OR_NULL},
                                         {"seconds", REAL, MUST},
                                         {"runs", WHOLE, MUST},
                                         {"gflop_per_s", REAL, OR_NULL},
                                         {"slowest_ms", REAL, OR_NULL},
                                         {"runs_per_s", LIST, MUST},
                                         {"last_over_first", REAL, OR_NULL},
                                         {0}};
static const struct field summary[] = {{"mixing_rate_tokens_per_s", REAL, OR_NULL},
                                       {"reason", TEXT, OR_NULL},
                                       {"bits_agree", FLAG, MUST},
                                       {"every_kernel", FLAG, MUST},
                                       {"cases_tried", WHOLE, MUST},
                                       {"cases_ran", WHOLE, MUST},
                                       {"cases_skipped", WHOLE, MUST},
                                       {"cases", WHOLE, MUST},
                                       {"models_agreeing", WHOLE, MUST},
                                       {"models", WHOLE, MUST},
                                       {0}};
static const struct field record_fields[] = {{"certificate", WHOLE, MUST},
                                             {"program", OBJECT, MUST},
                                             {"made", OBJECT, MUST},
                                             {"system", OBJECT, MUST},
                                             {"device", OBJECT, MUST},
                                             {"states", LIST, MUST},
                                             {"bits", LIST, MUST},
                                             {"models", LIST, MUST},
                                             {"bench", OBJECT, MUST},
                                             {"sustained", OBJECT, MUST},
                                             {"summary", OBJECT, MUST},
                                             {"chain", OBJECT, MUST},
                                             {0}};

/* ---- checking ---- */

static bool is_of_kind(const json_t *value, enum kind kind) {
    switch (kind) {
    case TEXT:
        return json_is_string(value);
    case WHOLE:
        return json_is_integer(value) && json_integer_value(value) >= 0;
    case REAL:
        return json_is_number(value) && json_number_value(value) >= 0.0;
    case FLAG:
        return json_is_boolean(value);
    case HASH:
        return json_is_string(value) &&
               weft_is_digest_text(json_string_value(value), json_string_length(value));
    case LIST:
        return json_is_array(value);
    default:
        return json_is_object(value);
    }
}

static const char *kind_name(enum kind kind) {
    static const char *const names[] = {[TEXT] = "a text",
                                        [WHOLE] = "a whole number of at least 0",
                                        [REAL] = "a number of at least 0",
                                        [FLAG] = "true or false",
                                        [HASH] = "64 hexadecimal digits",
                                        [LIST] = "a list",
                                        [OBJECT] = "an object"};
    return names[kind];
}

static const struct field *find_field(const struct field *fields, const char *name) {
    for (; fields->kind != END; fields++) {
        if (strcmp(fields->name, name) == 0) {
            return fields;
        }
    }
    return NULL;
}

/* `open`: it may have fields that nobody looks at. */
static void check_fields(weft_certify_findings *findings, const char *path, const json_t *object,
                         const struct field *fields, bool open) {
    char at[WEFT_CERTIFY_TEXT_SIZE];
    for (const struct field *field = fields; field->kind != END; field++) {
        const json_t *value = json_object_get(object, field->name);
        const bool may_be_null = field->presence == OR_NULL || field->presence == MAY_OR_NULL;
        const bool may_lack = field->presence == MAY || field->presence == MAY_OR_NULL;
        if ((!value && may_lack) || (json_is_null(value) && may_be_null) ||
            is_of_kind(value, field->kind)) {
            continue;
        }
        weft_certify_refuse_value(findings, weft_certify_text(at, "%.160s%.60s", path, field->name),
                                  value, "%s%s", kind_name(field->kind),
                                  may_be_null ? " or null" : "");
    }
    const char *name = NULL;
    json_t *value = NULL;
    json_object_foreach((json_t *)(uintptr_t)object, name, value) {
        if (!open && !find_field(fields, name)) {
            weft_certify_refuse_value(findings, weft_certify_text(at, "%.160s%.60s", path, name),
                                      value, "no such field");
        }
    }
}

static void check_list(weft_certify_findings *findings, const char *path, const json_t *list,
                       const struct field *fields) {
    for (size_t i = 0; i < json_array_size(list); i++) {
        char at[WEFT_CERTIFY_TEXT_SIZE];
        weft_certify_text(at, "%.160s[%zu].", path, i);
        check_fields(findings, at, json_array_get(list, i), fields, false);
    }
}

void weft_certify_check_form(weft_certify_findings *findings, const json_t *record) {
    const json_t *modes = json_object_get(record, "bits");
    const json_t *speed = json_object_get(record, "bench");
    check_fields(findings, "", record, record_fields, false);
    if (json_integer_value(json_object_get(record, "certificate")) != WEFT_CERTIFY_FORM) {
        weft_certify_refuse_value(findings, "certificate", json_object_get(record, "certificate"),
                                  "%d, the form of this version", WEFT_CERTIFY_FORM);
    }
    check_fields(findings, "program.", json_object_get(record, "program"), program, false);
    check_fields(findings, "made.", json_object_get(record, "made"), made, false);
    check_fields(findings, "system.", json_object_get(record, "system"), system_fields, false);
    check_fields(findings, "device.", json_object_get(record, "device"), device, true);
    check_list(findings, "states", json_object_get(record, "states"), state);
    if (json_array_size(json_object_get(record, "states")) == 0) {
        weft_certify_refuse_value(findings, "states", json_object_get(record, "states"),
                                  "at least the state before");
    }
    check_list(findings, "bits", modes, bits);
    for (size_t i = 0; i < json_array_size(modes); i++) {
        char at[WEFT_CERTIFY_TEXT_SIZE];
        weft_certify_text(at, "bits[%zu].ops", i);
        check_list(findings, at, json_object_get(json_array_get(modes, i), "ops"), op);
        weft_certify_text(at, "bits[%zu].listed_skips", i);
        check_list(findings, at, json_object_get(json_array_get(modes, i), "listed_skips"),
                   listed_skip);
    }
    check_list(findings, "models", json_object_get(record, "models"), model);
    check_fields(findings, "bench.", speed, bench, false);
    check_list(findings, "bench.modes", json_object_get(speed, "modes"), mode);
    check_list(findings, "bench.rows", json_object_get(speed, "rows"), row);
    check_fields(findings, "sustained.", json_object_get(record, "sustained"), sustained, false);
    check_fields(findings, "summary.", json_object_get(record, "summary"), summary, false);
}
