/* SPDX-License-Identifier: MIT */
/* Rotary positions as config.json of a published layout describes them. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/host.h"
#include "core/math/portable_math.h"
#include "core/try.h"
#include "model/network/layout.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define TURN         6.283185307179586

/* What the readers of scales are given. */
struct scaled {
    weft_rotary *rotary;
    weft_network_config *config;
    const weft_json_fields *rope; /* the object with the scale's fields */
    const weft_json_fields *json; /* the whole config */
    uint32_t width;               /* channels that turn */
    double base;
};

/* ---- scales by one factor ---- */

#define FACTOR \
    { WEFT_REAL("factor", weft_rotary, scale_factor, 1, 1e6), .required = true }
static const weft_field linear_fields[] = {FACTOR};
static const weft_field_table linear_table = {linear_fields, COUNT(linear_fields)};
static const weft_field llama3_fields[] = {
    FACTOR,
    {WEFT_INTEGER("original_max_position_embeddings", weft_rotary, scale_length, 1, INT32_MAX),
     .required = true},
    {WEFT_REAL("low_freq_factor", weft_rotary, scale_low, 1e-6, 1e6), .required = true},
    {WEFT_REAL("high_freq_factor", weft_rotary, scale_high, 1e-6, 1e6), .required = true},
};
static const weft_field_table llama3_table = {llama3_fields, COUNT(llama3_fields)};

/* Dynamic scales, too, begin behind the longest sequence that a model has here. */
static weft_status read_default(const struct scaled *scaled) {
    (void)scaled;
    return WEFT_OK;
}

static weft_status read_linear(const struct scaled *scaled) {
    return weft_fields_read(scaled->rotary, &linear_table, scaled->rope);
}

static weft_status read_llama3(const struct scaled *scaled) {
    WEFT_TRY(weft_fields_read(scaled->rotary, &llama3_table, scaled->rope));
    return scaled->rotary->scale_high > scaled->rotary->scale_low
               ? WEFT_OK
               : weft_fields_refuse(scaled->rope, "high_freq_factor", "more than low_freq_factor");
}

/* ---- scales with a factor for each pair ---- */

static weft_status make_factors(const struct scaled *scaled) {
    weft_rotary *rotary = scaled->rotary;
    weft_free(scaled->json->host, rotary->factors); /* an older field had some, too */
    rotary->factor_count = scaled->width / 2;
    rotary->factors =
        weft_alloc_zero(scaled->json->host, rotary->factor_count, sizeof *rotary->factors);
    return rotary->factors ? WEFT_OK : weft_fail_memory(scaled->json->host, "rotary positions");
}

/* The context before the scale, and how many times as long the new one is. */
static weft_status read_growth(int64_t *before, double *factor, const struct scaled *scaled) {
    static const char name[] = "original_max_position_embeddings";
    *before = scaled->config->max_positions;
    WEFT_TRY(weft_json_optional_integer(before, scaled->rope, name, 2, INT32_MAX));
    WEFT_TRY(weft_json_optional_integer(before, scaled->json, name, 2, INT32_MAX));
    *factor = (double)scaled->config->max_positions / (double)*before;
    return weft_json_optional_real(factor, scaled->rope, "factor", 1e-6, 1e6);
}

/* YaRN: Peng et al., "YaRN: Efficient context window extension of large language models", 2023, section 3.4. */
static double magnitude(double factor, double share) {
    return factor <= 1.0 ? 1.0 : 0.1 * share * weft_portable_log(factor) + 1.0;
}

static weft_status read_yarn_amplitude(const struct scaled *scaled, double factor) {
    double one = 0.0, all = 0.0;
    WEFT_TRY(weft_json_optional_real(&one, scaled->rope, "mscale", 0, 1e6));
    WEFT_TRY(weft_json_optional_real(&all, scaled->rope, "mscale_all_dim", 0, 1e6));
    double amplitude = one > 0.0 && all > 0.0 ? magnitude(factor, one) / magnitude(factor, all)
                                              : magnitude(factor, 1.0);
    WEFT_TRY(weft_json_optional_real(&amplitude, scaled->rope, "attention_factor", 1e-6, 1e6));
    scaled->rotary->amplitude = (float)amplitude;
    return WEFT_OK;
}

/* The pair that turns so many times in the context before. */
static double pair_of_turns(const struct scaled *scaled, int64_t before, double turns) {
    return scaled->width * weft_portable_log((double)before / (turns * TURN)) /
           (2.0 * weft_portable_log(scaled->base));
}

static weft_status read_yarn(const struct scaled *scaled) {
    int64_t before = 0;
    double factor = 0.0, fast = 32.0, slow = 1.0;
    bool whole = true;
    WEFT_TRY(read_growth(&before, &factor, scaled));
    WEFT_TRY(weft_json_optional_real(&fast, scaled->rope, "beta_fast", 0, 1e9));
    WEFT_TRY(weft_json_optional_real(&slow, scaled->rope, "beta_slow", 0, 1e9));
    WEFT_TRY(weft_json_optional_bool(&whole, scaled->rope, "truncate"));
    WEFT_TRY(read_yarn_amplitude(scaled, factor));
    WEFT_TRY(make_factors(scaled));
    double first = pair_of_turns(scaled, before, fast > 0.0 ? fast : 32.0);
    double last = pair_of_turns(scaled, before, slow > 0.0 ? slow : 1.0);
    first = fmax(whole ? floor(first) : first, 0.0);
    last = fmin(whole ? ceil(last) : last, scaled->width - 1.0);
    last = last == first ? last + 0.001 : last;
    for (uint32_t j = 0; j < scaled->rotary->factor_count; j++) {
        const double share = fmin(fmax((j - first) / (last - first), 0.0), 1.0);
        scaled->rotary->factors[j] = (float)(1.0 / (share / factor + 1.0 - share));
    }
    return WEFT_OK;
}

static weft_status copy_factors(const struct scaled *scaled, const char *name) {
    const json_t *list = json_object_get(scaled->rope->object, name);
    char expected[64];
    snprintf(expected, sizeof expected, "%u numbers above 0, one for each pair", scaled->width / 2);
    if (!json_is_array(list) || json_array_size(list) != scaled->width / 2) {
        return weft_fields_refuse(scaled->rope, name, expected);
    }
    WEFT_TRY(make_factors(scaled));
    for (uint32_t j = 0; j < scaled->rotary->factor_count; j++) {
        const json_t *entry = json_array_get(list, j);
        const double factor = json_is_number(entry) ? json_number_value(entry) : 0.0;
        if (!(factor >= 1e-3 && factor <= 1e6)) {
            return weft_json_fail(scaled->rope, WEFT_BAD_FILE, name, expected, entry);
        }
        scaled->rotary->factors[j] = (float)factor;
    }
    return WEFT_OK;
}

/*
 * LongRoPE: Ding et al., 2024. transformers turns all tokens by long_factor once one of them lies behind the context before, so
 * that a token's result depends on later ones. Weft takes sequences up to there, by short_factor.
 */
static weft_status read_longrope(const struct scaled *scaled) {
    int64_t before = 0;
    double factor = 0.0;
    WEFT_TRY(read_growth(&before, &factor, scaled));
    double amplitude =
        factor <= 1.0 ? 1.0
                      : sqrt(1.0 + weft_portable_log(factor) / weft_portable_log((double)before));
    WEFT_TRY(weft_json_optional_real(&amplitude, scaled->rope, "attention_factor", 1e-6, 1e6));
    scaled->rotary->amplitude = (float)amplitude;
    if (scaled->config->max_positions > before) {
        weft_log(
            scaled->json->host, WEFT_LOG_WARNING,
            "%s: longrope has other angles beyond original_max_position_embeddings: Weft takes "
            "sequences of up to %lld tokens, not max_position_embeddings %u",
            scaled->json->path, (long long)before, scaled->config->max_positions);
        scaled->config->max_positions = (uint32_t)before;
    }
    return copy_factors(scaled, "short_factor");
}

/* ---- the whole ---- */

/* How positions are scaled for a longer context, by type. */
static const struct {
    const char *type;
    weft_status (*read)(const struct scaled *scaled);
} scales[] = {{"default", read_default},
              {"linear", read_linear},
              {"llama3", read_llama3},
              {"dynamic", read_default},
              {"yarn", read_yarn},
              {"longrope", read_longrope},
              {"su", read_longrope /* in the first files of Phi 3 */}};

/* "type" is the older name of "rope_type". */
static weft_status read_scale(const struct scaled *scaled) {
    const char *name = weft_json_has(scaled->rope, "rope_type") ? "rope_type" : "type";
    const char *type = "default";
    WEFT_TRY(weft_json_optional_string(&type, scaled->rope, name));
    for (size_t i = 0; i < COUNT(scales); i++) {
        if (strcmp(type, scales[i].type) == 0) {
            return scales[i].read(scaled);
        }
    }
    return weft_json_fail(
        scaled->rope, WEFT_UNSUPPORTED, name,
        "\"default\", \"linear\", \"llama3\", \"dynamic\", \"yarn\" or \"longrope\"",
        json_object_get(scaled->rope->object, name));
}

/* Where the share of the channels that turn is. */
struct share_field {
    const weft_json_fields *json;
    const char *name;
};

static weft_status read_width(uint32_t *width, double share, const weft_network_config *config,
                              const struct share_field *where, bool partial) {
    if (share < 1.0 && !partial) {
        return weft_fields_refuse(where->json, where->name, "1");
    }
    *width = (uint32_t)(weft_network_head_size(config) * share);
    if (*width == 0 || *width % 2 != 0) {
        return weft_fields_refuse(where->json, share < 1.0 ? where->name : "head_dim",
                                  "an even number of channels, as they turn in pairs");
    }
    return WEFT_OK;
}

/* The objects that may have the fields: newer files have rope_parameters, perhaps one for each kind of layers. */
static weft_status find_object(weft_json_fields *rope, const char *name,
                               const struct weft_rotary_fields *fields,
                               const weft_json_fields *json) {
    *rope = *json;
    rope->object = json_object_get(json->object, name);
    if (rope->object && !json_is_null(rope->object) && !json_is_object(rope->object)) {
        return weft_fields_refuse(json, name, "an object");
    }
    const json_t *own = fields->kind ? json_object_get(rope->object, fields->kind) : NULL;
    if (own && !json_is_null(own) && !json_is_object(own)) {
        return weft_fields_refuse(json, name, "an object for each kind of layer");
    }
    rope->object = json_is_object(own) ? own : rope->object;
    return WEFT_OK;
}

weft_status weft_layout_read_rotary(weft_rotary *rotary, weft_network_config *config,
                                    const struct weft_rotary_fields *fields,
                                    const weft_json_fields *json) {
    const char *const objects[] = {fields->unscaled ? NULL : "rope_scaling", "rope_parameters"};
    double base = fields->usual_base, share = fields->usual_share;
    struct share_field where = {json, fields->share};
    weft_json_fields rope[COUNT(objects)];
    WEFT_TRY(weft_json_optional_real(&base, json, fields->base, 1, 1e30));
    WEFT_TRY(weft_json_optional_real(&share, json, fields->share, 0, 1));
    for (size_t i = 0; i < COUNT(objects); i++) {
        rope[i].object = NULL;
        if (objects[i]) {
            WEFT_TRY(find_object(&rope[i], objects[i], fields, json));
        }
        if (json_is_object(rope[i].object)) {
            WEFT_TRY(weft_json_optional_real(&base, &rope[i], "rope_theta", 1, 1e30));
            WEFT_TRY(weft_json_optional_real(&share, &rope[i], "partial_rotary_factor", 0, 1));
            where = weft_json_has(&rope[i], "partial_rotary_factor")
                        ? (struct share_field){&rope[i], "partial_rotary_factor"}
                        : where;
        }
    }
    struct scaled scaled = {.rotary = rotary, .config = config, .json = json, .base = base};
    WEFT_TRY(read_width(&scaled.width, share, config, &where, fields->partial));
    rotary->base = (float)base;
    rotary->width = share < 1.0 ? scaled.width : 0;
    for (size_t i = 0; i < COUNT(objects); i++) {
        scaled.rope = &rope[i];
        if (json_is_object(rope[i].object)) {
            WEFT_TRY(read_scale(&scaled));
        }
    }
    return WEFT_OK;
}
