/* SPDX-License-Identifier: MIT */
/* Constants that a program describes: numbers in order, and one number everywhere. */
#include <string.h>

#include "core/shape.h"
#include "core/try.h"
#include "model/program/program.h"

#define WHOLE       UINT32_MAX
#define MOST_IN_F32 (INT64_C(1) << 24) /* how far float32 holds every whole number */

bool weft_program_is_constant(const char *op) {
    return strcmp(op, "arange") == 0 || strcmp(op, "full") == 0;
}

/** Only what is a word: f32 or i32. */
static weft_status read_dtype(weft_dtype *dtype, const struct weft_program_place *place,
                              weft_dtype usual) {
    const json_t *found = json_object_get(place->object, "dtype");
    uint32_t word = (uint32_t)usual;
    if (found) {
        WEFT_TRY(weft_program_word(&word, place, "dtype", found, weft_dtype_words, 2));
    }
    *dtype = (weft_dtype)word;
    return WEFT_OK;
}

static weft_status check_size(const struct weft_program_place *place, weft_shape shape) {
    WEFT_TRY(weft_shape_check(shape, place->program->path, &place->program->host));
    if (weft_shape_elements(shape) <= WEFT_PROGRAM_MAX_CONSTANT) {
        return WEFT_OK;
    }
    return weft_program_fail(place, "", WHOLE, "a constant of at most 2^24 elements",
                             place->object);
}

/** Room for one, after it was counted. */
static weft_status make(uint32_t **words, const weft_graph *graph,
                        const struct weft_program_place *place, const char *name, uint64_t count) {
    if (count > *place->constants) {
        return weft_program_fail(place, "", WHOLE, "constants of at most 2^25 elements together",
                                 place->object);
    }
    *place->constants -= count;
    *words = weft_alloc_zero(&graph->host, (size_t)count, sizeof **words);
    return *words ? WEFT_OK : weft_fail_memory(&graph->host, name);
}

static weft_status add(weft_tensor *out, weft_graph *graph, const char *name, weft_dtype dtype,
                       weft_shape shape, uint32_t *words) {
    const weft_status status = weft_graph_constant(out, graph, name, dtype, shape, words);
    weft_free(&graph->host, words);
    return status;
}

static weft_status field(int64_t *value, const struct weft_program_place *place, const char *name,
                         int64_t minimum, int64_t maximum) {
    return weft_program_integer(value, place, name, WHOLE, json_object_get(place->object, name),
                                minimum, maximum);
}

/** start + i · step for i below count, whose ends are in range. */
static weft_status read_range(int64_t range[3], const struct weft_program_place *place,
                              weft_dtype dtype) {
    const int64_t least = dtype == WEFT_F32 ? -MOST_IN_F32 : INT32_MIN;
    const int64_t most = dtype == WEFT_F32 ? MOST_IN_F32 : INT32_MAX;
    WEFT_TRY(field(&range[0], place, "start", least, most));
    WEFT_TRY(field(&range[1], place, "step", INT32_MIN, INT32_MAX));
    WEFT_TRY(field(&range[2], place, "count", 1, (int64_t)WEFT_PROGRAM_MAX_CONSTANT));
    const int64_t last = range[0] + range[1] * (range[2] - 1);
    return last >= least && last <= most
               ? WEFT_OK
               : weft_program_fail(place, "step", WHOLE, "numbers that fit the type", NULL);
}

static weft_status add_range(weft_tensor *out, weft_graph *graph,
                             const struct weft_program_place *place, const char *name) {
    static const char *const known[] = {"op",    "output", "start",   "step",
                                        "count", "dtype",  "comment", NULL};
    weft_dtype dtype = WEFT_I32;
    int64_t range[3] = {0};
    WEFT_TRY(weft_program_check_keys(place, known, NULL));
    WEFT_TRY(read_dtype(&dtype, place, WEFT_I32));
    WEFT_TRY(read_range(range, place, dtype));
    uint32_t *words = NULL;
    WEFT_TRY(make(&words, graph, place, name, (uint64_t)range[2]));
    for (int64_t i = 0; i < range[2]; i++) {
        const int32_t whole = (int32_t)(range[0] + range[1] * i);
        const float real = (float)whole;
        memcpy(&words[i], dtype == WEFT_F32 ? (const void *)&real : &whole, sizeof *words);
    }
    return add(out, graph, name, dtype, weft_shape_of((uint32_t)range[2]), words);
}

static weft_status read_value(uint32_t *word, const struct weft_program_place *place,
                              weft_dtype dtype) {
    const json_t *json = json_object_get(place->object, "value");
    if (dtype == WEFT_F32) {
        float real = 0.0F;
        WEFT_TRY(weft_program_real(&real, place, "value", WHOLE, json));
        memcpy(word, &real, sizeof real);
        return WEFT_OK;
    }
    int64_t whole = 0;
    WEFT_TRY(weft_program_integer(&whole, place, "value", WHOLE, json, INT32_MIN, INT32_MAX));
    *word = (uint32_t)whole;
    return WEFT_OK;
}

static weft_status add_full(weft_tensor *out, weft_graph *graph,
                            const struct weft_program_place *place, const char *name) {
    static const char *const known[] = {"op", "output", "shape", "value", "dtype", "comment", NULL};
    weft_dtype dtype = WEFT_F32;
    weft_shape shape;
    uint32_t word = 0;
    WEFT_TRY(weft_program_check_keys(place, known, NULL));
    WEFT_TRY(read_dtype(&dtype, place, WEFT_F32));
    WEFT_TRY(weft_program_shape(&shape, place));
    WEFT_TRY(check_size(place, shape));
    WEFT_TRY(read_value(&word, place, dtype));
    const size_t count = (size_t)weft_shape_elements(shape);
    uint32_t *words = NULL;
    WEFT_TRY(make(&words, graph, place, name, count));
    for (size_t i = 0; i < count; i++) {
        words[i] = word;
    }
    return add(out, graph, name, dtype, shape, words);
}

weft_status weft_program_add_constant(weft_tensor *out, weft_graph *graph,
                                      const struct weft_program_place *place, const char *op,
                                      const char *name) {
    return (strcmp(op, "arange") == 0 ? add_range : add_full)(out, graph, place, name);
}
