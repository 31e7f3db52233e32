/* SPDX-License-Identifier: MIT */
/* preprocessor_config.json: what transformers' image processors do to an image. */
#include <weft/model.h>

#include <float.h>
#include <math.h>
#include <string.h>

#include "core/formats/known_fields.h"
#include "core/given.h"
#include "core/system/file.h"
#include "core/try.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define MOST_PIXELS  16384 /* of an edge, as of a model's images */
#define CHANNELS     3U    /* that the types' own means are of */
#define MOST_VALUE   1e38  /* of a pixel: what becomes of a byte stays within float32 on the way */

#define HALF \
    { 0.5, 0.5, 0.5 }
#define CLIP_MEAN \
    { 0.48145466, 0.4578275, 0.40821073 }
#define CLIP_STD \
    { 0.26862954, 0.26130258, 0.27577711 }

/* A type without the end of its name, and what it does unless the file says otherwise. */
static const struct image_type {
    const char *name;
    bool square; /* a size of one number is that of both edges */
    weft_image_rules rules;
} types[] = {
#define USUAL .resizes = true, .rescales = true, .normalizes = true, .channels = CHANNELS
#define CROPS                                                                          \
    .converts_rgb = true, .shortest_edge = 224, .resampling = WEFT_RESAMPLING_BICUBIC, \
    .crops = true, .crop_height = 224, .crop_width = 224, .mean = CLIP_MEAN, .std = CLIP_STD
    {"CLIP", false, {USUAL, CROPS}},
    {"Bit", false, {USUAL, CROPS}},
    {"ViT",
     true,
     {USUAL, .height = 224, .width = 224, .resampling = WEFT_RESAMPLING_BILINEAR, .mean = HALF,
      .std = HALF}},
    {"Siglip",
     false,
     {USUAL, .converts_rgb = true, .height = 224, .width = 224,
      .resampling = WEFT_RESAMPLING_BICUBIC, .mean = HALF, .std = HALF}},
};

static const weft_known_field rows[] = {
    {.name = "image_processor_type"},
    {.name = "feature_extractor_type"}, /* its name in older files */
    {.name = "processor_class"},
    {.name = "do_convert_rgb"},
    {.name = "do_resize"},
    {.name = "size"},
    {.name = "resample"},
    {.name = "do_center_crop"},
    {.name = "crop_size"},
    {.name = "do_rescale"},
    {.name = "rescale_factor"},
    {.name = "do_normalize"},
    {.name = "image_mean"},
    {.name = "image_std"},
    /* Of calls, of programs. */
    {.name = "default_to_square"},
    {.name = "device"},
    {.name = "disable_grouping"},
    {.name = "return_tensors"},
    {.name = "image_seq_length"},
    {.name = "_*"},
    {"data_format", WEFT_KNOWN_REFUSED, "[\"channels_first\"]", NULL},
    {"input_data_format", WEFT_KNOWN_REFUSED, NULL, NULL},
    {"do_pad", WEFT_KNOWN_REFUSED, "[false]", NULL},
    {"pad_size", WEFT_KNOWN_READ, NULL, NULL}, /* of do_pad */
    {"use_square_size", WEFT_KNOWN_REFUSED, "[false]", NULL},
};
static const weft_known_table known = WEFT_KNOWN_TABLE(rows);

/* ---- the type ---- */

/* True if a text is the name with one of the endings that its classes have. */
static bool is_type(const char *text, const char *name) {
    static const char *const ends[] = {"ImageProcessor", "ImageProcessorFast", "ImageProcessorPil",
                                       "FeatureExtractor"};
    const size_t front = strlen(name);
    for (size_t i = 0; i < COUNT(ends); i++) {
        if (strncmp(text, name, front) == 0 && strcmp(text + front, ends[i]) == 0) {
            return true;
        }
    }
    return false;
}

static weft_status read_type(const struct image_type **type, const weft_json_fields *json) {
    const char *field = weft_json_has(json, "image_processor_type") ? "image_processor_type"
                                                                    : "feature_extractor_type";
    const char *text = "";
    WEFT_TRY(weft_json_string(&text, json, field));
    for (size_t i = 0; i < COUNT(types); i++) {
        if (is_type(text, types[i].name)) {
            *type = &types[i];
            return WEFT_OK;
        }
    }
    return weft_json_fail(json, WEFT_UNSUPPORTED, field,
                          "CLIPImageProcessor, BitImageProcessor, ViTImageProcessor or "
                          "SiglipImageProcessor: give the model arrays that another program has "
                          "prepared",
                          json_object_get(json->object, field));
}

/* ---- sizes ---- */

static weft_status read_edge(uint32_t *edge, const weft_json_fields *json, const char *name) {
    int64_t value = 0;
    WEFT_TRY(weft_json_integer(&value, json, name, 1, MOST_PIXELS));
    *edge = (uint32_t)value;
    return WEFT_OK;
}

/* True if an object has these names alone; the second may be null. */
static bool has_only(const json_t *object, const char *one, const char *other) {
    return json_object_get(object, one) && (!other || json_object_get(object, other)) &&
           json_object_size(object) == (other ? 2U : 1U);
}

static weft_status read_object(weft_image_rules *rules, const json_t *size,
                               const weft_json_fields *json) {
    const weft_json_fields inner = {.object = size, .path = json->path, .host = json->host};
    rules->height = rules->width = rules->shortest_edge = 0;
    if (has_only(size, "shortest_edge", NULL)) {
        return read_edge(&rules->shortest_edge, &inner, "shortest_edge");
    }
    if (has_only(size, "height", "width")) {
        WEFT_TRY(read_edge(&rules->height, &inner, "height"));
        return read_edge(&rules->width, &inner, "width");
    }
    return weft_json_fail(json, WEFT_UNSUPPORTED, "size",
                          "a number, height and width, or shortest_edge", size);
}

static weft_status read_size(weft_image_rules *rules, const struct image_type *type,
                             const weft_json_fields *json) {
    const json_t *size = json_object_get(json->object, "size");
    if (!weft_json_has(json, "size")) {
        return WEFT_OK;
    }
    if (json_is_object(size)) {
        return read_object(rules, size, json);
    }
    uint32_t edge = 0;
    WEFT_TRY(read_edge(&edge, json, "size"));
    rules->height = rules->width = type->square ? edge : 0;
    rules->shortest_edge = type->square ? 0 : edge;
    return WEFT_OK;
}

static weft_status read_crop(weft_image_rules *rules, const weft_json_fields *json) {
    const json_t *size = json_object_get(json->object, "crop_size");
    const weft_json_fields inner = {.object = size, .path = json->path, .host = json->host};
    if (!weft_json_has(json, "crop_size")) {
        return rules->crops && rules->crop_height == 0
                   ? weft_json_fail(json, WEFT_BAD_FILE, "crop_size", "a size to crop to", size)
                   : WEFT_OK;
    }
    if (!json_is_object(size)) {
        WEFT_TRY(read_edge(&rules->crop_height, json, "crop_size"));
        rules->crop_width = rules->crop_height;
        return WEFT_OK;
    }
    if (!has_only(size, "height", "width")) {
        return weft_json_fail(json, WEFT_UNSUPPORTED, "crop_size", "a number, or height and width",
                              size);
    }
    WEFT_TRY(read_edge(&rules->crop_height, &inner, "height"));
    return read_edge(&rules->crop_width, &inner, "width");
}

/* ---- numbers ---- */

/* One for each channel, none below `least`. */
static weft_status read_channels(double *values, uint32_t *count, const weft_json_fields *json,
                                 const char *name, double least) {
    static const char expected[] = "a list of 1 to 4 finite numbers, those of image_std positive";
    const json_t *list = json_object_get(json->object, name);
    if (!weft_json_has(json, name)) {
        *count = CHANNELS;
        return WEFT_OK;
    }
    *count = (uint32_t)json_array_size(list);
    if (!json_is_array(list) || json_array_size(list) < 1 || json_array_size(list) > 4) {
        return weft_json_fail(json, WEFT_BAD_FILE, name, expected, list);
    }
    for (uint32_t i = 0; i < *count; i++) {
        const json_t *entry = json_array_get(list, i);
        values[i] = json_number_value(entry);
        if (!json_is_number(entry) || !(values[i] >= least && values[i] <= FLT_MAX)) {
            return weft_json_fail(json, WEFT_BAD_FILE, name, expected, entry);
        }
    }
    return WEFT_OK;
}

/* The brightest and the darkest byte, of all channels: the steps are linear. */
static weft_status check_values(const weft_image_rules *rules, const weft_json_fields *json) {
    static const double bytes[] = {0, 255};
    for (uint32_t i = 0; i < 2 * rules->channels; i++) {
        const double byte = bytes[i % 2], mean = rules->mean[i / 2], std = rules->std[i / 2];
        const double value = rules->rescales ? byte * rules->rescale_factor : byte;
        if (!(fabs(value) <= MOST_VALUE)) {
            return weft_json_fail(json, WEFT_BAD_FILE, "rescale_factor",
                                  "a number by which a byte stays below 1e38",
                                  json_object_get(json->object, "rescale_factor"));
        }
        if (rules->normalizes &&
            !(fabs(value - mean) <= MOST_VALUE && fabs(value - mean) / std <= MOST_VALUE)) {
            const char *field = fabs(value - mean) <= MOST_VALUE ? "image_std" : "image_mean";
            return weft_json_fail(json, WEFT_BAD_FILE, field,
                                  "numbers by which pixels stay below 1e38",
                                  json_object_get(json->object, field));
        }
    }
    return WEFT_OK;
}

static weft_status read_numbers(weft_image_rules *rules, const weft_json_fields *json) {
    int64_t resampling = rules->resampling;
    uint32_t deviations = 0;
    WEFT_TRY(weft_json_optional_integer(&resampling, json, "resample", WEFT_RESAMPLING_NEAREST,
                                        WEFT_RESAMPLING_HAMMING));
    rules->resampling = (uint32_t)resampling;
    rules->rescale_factor = 1.0 / 255.0;
    WEFT_TRY(
        weft_json_optional_real(&rules->rescale_factor, json, "rescale_factor", -FLT_MAX, FLT_MAX));
    WEFT_TRY(read_channels(rules->mean, &rules->channels, json, "image_mean", -FLT_MAX));
    WEFT_TRY(read_channels(rules->std, &deviations, json, "image_std", FLT_MIN));
    return deviations == rules->channels
               ? check_values(rules, json)
               : weft_json_fail(json, WEFT_BAD_FILE, "image_std", "as many numbers as image_mean",
                                json_object_get(json->object, "image_std"));
}

static weft_status read_steps(weft_image_rules *rules, const weft_json_fields *json) {
    WEFT_TRY(weft_json_optional_bool(&rules->converts_rgb, json, "do_convert_rgb"));
    WEFT_TRY(weft_json_optional_bool(&rules->resizes, json, "do_resize"));
    WEFT_TRY(weft_json_optional_bool(&rules->crops, json, "do_center_crop"));
    WEFT_TRY(weft_json_optional_bool(&rules->rescales, json, "do_rescale"));
    return weft_json_optional_bool(&rules->normalizes, json, "do_normalize");
}

/* ---- the file ---- */

static weft_status read_fields(weft_image_rules *rules, const weft_json_fields *json) {
    const struct image_type *type = NULL;
    WEFT_TRY(weft_known_check(&known, json));
    WEFT_TRY(read_type(&type, json));
    *rules = type->rules;
    WEFT_TRY(read_steps(rules, json));
    WEFT_TRY(read_size(rules, type, json));
    WEFT_TRY(read_crop(rules, json));
    return read_numbers(rules, json);
}

weft_status weft_image_rules_read(weft_image_rules *rules, const char *folder,
                                  const weft_host *host) {
    WEFT_ENTER;
    WEFT_GIVEN_AS(host, "rules, folder", rules, folder);
    weft_image_rules found;
    json_t *document = NULL;
    char *path = weft_path_join(folder, "preprocessor_config.json", host);
    weft_status status =
        path ? weft_json_read(&document, path, host) : weft_fail_memory(host, "a path");
    if (status == WEFT_OK) {
        status = read_fields(&found,
                             &(weft_json_fields){.object = document, .path = path, .host = host});
    }
    json_decref(document);
    weft_free(host, path);
    if (status == WEFT_OK) {
        *rules = found;
    }
    return status;
}
