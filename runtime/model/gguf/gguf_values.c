/* SPDX-License-Identifier: MIT */
/* Values of a GGUF file's keys. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/bytes.h"
#include "core/try.h"
#include "model/gguf/gguf_cursor.h"
#include "model/gguf/gguf_parts.h"

static const struct {
    const char *name;
    size_t size;
} types[WEFT_GGUF_TYPE_COUNT] = {
    [WEFT_GGUF_U8] = {"u8", 1},         [WEFT_GGUF_I8] = {"i8", 1},
    [WEFT_GGUF_U16] = {"u16", 2},       [WEFT_GGUF_I16] = {"i16", 2},
    [WEFT_GGUF_U32] = {"u32", 4},       [WEFT_GGUF_I32] = {"i32", 4},
    [WEFT_GGUF_F32] = {"f32", 4},       [WEFT_GGUF_BOOL] = {"bool", 1},
    [WEFT_GGUF_STRING] = {"a text", 0}, [WEFT_GGUF_ARRAY] = {"an array", 0},
    [WEFT_GGUF_U64] = {"u64", 8},       [WEFT_GGUF_I64] = {"i64", 8},
    [WEFT_GGUF_F64] = {"f64", 8},
};

size_t weft_gguf_type_size(enum weft_gguf_type type) {
    return types[type].size;
}

const char *weft_gguf_type_name(enum weft_gguf_type type) {
    return types[type].name;
}

weft_status weft_gguf_fail(const weft_gguf *file, weft_status status, const char *key,
                           const char *expected, const char *found) {
    return weft_fail(&file->host, status, "%s: key \"%.100s\": expected %s, found %.200s",
                     file->path, key, expected, found);
}

static weft_status fail_type(const weft_gguf *file, const struct weft_gguf_value *value,
                             const char *expected) {
    return weft_gguf_fail(file, WEFT_BAD_FILE, value->key, expected,
                          weft_gguf_type_name(value->type));
}

/* ---- numbers ---- */

/* A number in both forms. A u64 of more than 2^63 - 1 is no integer that anybody means. */
struct number {
    bool is_integer, is_real, is_bool;
    int64_t integer;
    double real;
};

static int64_t signed_of(uint64_t bits, size_t size) {
    const uint64_t sign = UINT64_C(1) << (8 * size - 1);
    const uint64_t wide = (bits ^ sign) - sign; /* modulo 2^64 */
    return wide <= INT64_MAX ? (int64_t)wide : -(int64_t)(UINT64_MAX - wide) - 1;
}

static struct number number_of(enum weft_gguf_type type, uint64_t bits) {
    struct number number = {.is_integer = true, .is_real = true};
    switch (type) {
    case WEFT_GGUF_U8:
    case WEFT_GGUF_U16:
    case WEFT_GGUF_U32:
    case WEFT_GGUF_U64:
        number.integer = bits <= INT64_MAX ? (int64_t)bits : INT64_MAX;
        break;
    case WEFT_GGUF_I8:
    case WEFT_GGUF_I16:
    case WEFT_GGUF_I32:
    case WEFT_GGUF_I64:
        number.integer = signed_of(bits, weft_gguf_type_size(type));
        break;
    case WEFT_GGUF_F32: {
        float value;
        const uint32_t half = (uint32_t)bits;
        memcpy(&value, &half, sizeof value);
        return (struct number){.is_real = true, .real = value};
    }
    case WEFT_GGUF_F64: {
        double value;
        memcpy(&value, &bits, sizeof value);
        return (struct number){.is_real = true, .real = value};
    }
    case WEFT_GGUF_BOOL:
        return (struct number){.is_bool = bits <= 1, .integer = (int64_t)(bits & 1)};
    default:
        return (struct number){.is_real = false};
    }
    number.real = (double)number.integer;
    return number;
}

static weft_status read_bits(uint64_t *bits, const weft_gguf *file,
                             const struct weft_gguf_value *value) {
    uint8_t bytes[8];
    const size_t size = weft_gguf_type_size(value->type);
    WEFT_TRY(weft_kept_file_read(file->bytes, value->offset, bytes, size, value->key));
    *bits = weft_load_bytes(bytes, size);
    return WEFT_OK;
}

static weft_status read_number(struct number *number, const weft_gguf *file,
                               const struct weft_gguf_value *value) {
    uint64_t bits = 0;
    if (weft_gguf_type_size(value->type) > 0) {
        WEFT_TRY(read_bits(&bits, file, value));
    }
    *number = number_of(value->type, bits);
    return WEFT_OK;
}

weft_status weft_gguf_integer(int64_t *out, const weft_gguf *file, const char *key, int64_t minimum,
                              int64_t maximum) {
    const struct weft_gguf_value *value = weft_gguf_find(file, key);
    struct number number;
    char expected[96];
    if (!value) {
        return WEFT_OK;
    }
    snprintf(expected, sizeof expected, "an integer from %" PRId64 " to %" PRId64, minimum,
             maximum);
    WEFT_TRY(read_number(&number, file, value));
    if (!number.is_integer) {
        return fail_type(file, value, expected);
    }
    if (number.integer < minimum || number.integer > maximum) {
        char found[32];
        snprintf(found, sizeof found, "%" PRId64, number.integer);
        return weft_gguf_fail(file, WEFT_BAD_FILE, key, expected, found);
    }
    *out = number.integer;
    return WEFT_OK;
}

weft_status weft_gguf_real(double *out, const weft_gguf *file, const char *key) {
    const struct weft_gguf_value *value = weft_gguf_find(file, key);
    struct number number;
    if (!value) {
        return WEFT_OK;
    }
    WEFT_TRY(read_number(&number, file, value));
    if (!number.is_real) {
        return fail_type(file, value, "a number");
    }
    if (!isfinite(number.real)) {
        return weft_gguf_fail(file, WEFT_BAD_FILE, key, "a finite number", "another");
    }
    *out = number.real;
    return WEFT_OK;
}

weft_status weft_gguf_bool(bool *out, const weft_gguf *file, const char *key) {
    const struct weft_gguf_value *value = weft_gguf_find(file, key);
    struct number number;
    if (!value) {
        return WEFT_OK;
    }
    WEFT_TRY(read_number(&number, file, value));
    if (!number.is_bool) {
        return value->type == WEFT_GGUF_BOOL
                   ? weft_gguf_fail(file, WEFT_BAD_FILE, key, "0 or 1", "another byte")
                   : fail_type(file, value, "bool");
    }
    *out = number.integer != 0;
    return WEFT_OK;
}

weft_status weft_gguf_expect_bool(const weft_gguf *file, const char *key, bool expected) {
    bool found = expected;
    WEFT_TRY(weft_gguf_bool(&found, file, key));
    return found == expected
               ? WEFT_OK
               : weft_gguf_fail(file, WEFT_UNSUPPORTED, key, expected ? "true" : "false",
                                found ? "true" : "false");
}

/* ---- texts ---- */

weft_status weft_gguf_string(struct weft_text *out, const weft_gguf *file, const char *key,
                             uint64_t most) {
    const struct weft_gguf_value *value = weft_gguf_find(file, key);
    if (!value) {
        return WEFT_OK;
    }
    if (value->type != WEFT_GGUF_STRING) {
        return fail_type(file, value, "a text");
    }
    struct weft_gguf_cursor *cursor = weft_alloc(&file->host, sizeof *cursor);
    if (!cursor) {
        return weft_fail_memory(&file->host, key);
    }
    weft_gguf_cursor_begin(cursor, file->bytes, value->offset);
    const weft_status status = weft_gguf_cursor_text(cursor, out, most, key);
    weft_free(&file->host, cursor);
    return status;
}

weft_status weft_gguf_name(char **out, const weft_gguf *file, const char *key) {
    struct weft_text text = {.host = file->host};
    weft_text_put(&text, "", 0);
    weft_status status = weft_gguf_string(&text, file, key, WEFT_GGUF_MAX_NAME);
    if (status == WEFT_OK && text.failed) {
        status = weft_fail_memory(&file->host, key);
    }
    if (status != WEFT_OK) {
        weft_free(&file->host, text.data);
        return status;
    }
    *out = text.data;
    return WEFT_OK;
}

/* The array of a key with elements that `fits` accepts; `count`: as many, or any. */
static weft_status find_array(const struct weft_gguf_value **out, const weft_gguf *file,
                              const char *key, bool texts) {
    const struct weft_gguf_value *value = weft_gguf_find(file, key);
    const char *expected = texts ? "an array of texts" : "an array of numbers";
    if (!value) {
        return weft_gguf_fail(file, WEFT_BAD_FILE, key, expected, "no such key");
    }
    if (value->type != WEFT_GGUF_ARRAY) {
        return fail_type(file, value, expected);
    }
    const bool fits =
        texts ? value->element == WEFT_GGUF_STRING
              : weft_gguf_type_size(value->element) > 0 && value->element != WEFT_GGUF_BOOL;
    if (!fits || value->count > UINT32_MAX) {
        char found[64];
        snprintf(found, sizeof found, "an array of %" PRIu64 " times %s", value->count,
                 weft_gguf_type_name(value->element));
        return weft_gguf_fail(file, WEFT_BAD_FILE, key, expected, found);
    }
    *out = value;
    return WEFT_OK;
}

weft_status weft_gguf_walk(const weft_gguf *file, const char *key, uint64_t most,
                           weft_status (*visit)(void *user, uint32_t index, const char *text,
                                                size_t size),
                           void *user) {
    const struct weft_gguf_value *value = NULL;
    WEFT_TRY(find_array(&value, file, key, true));
    struct weft_gguf_cursor *cursor = weft_alloc(&file->host, sizeof *cursor);
    struct weft_text text = {.host = file->host};
    weft_status status = cursor ? WEFT_OK : weft_fail_memory(&file->host, key);
    if (cursor) {
        weft_gguf_cursor_begin(cursor, file->bytes, value->offset);
    }
    for (uint32_t i = 0; i < value->count && status == WEFT_OK; i++) {
        text.length = 0;
        weft_text_put(&text, "", 0);
        status = weft_gguf_cursor_text(cursor, &text, most, key);
        status = status == WEFT_OK ? visit(user, i, text.data, text.length) : status;
    }
    weft_free(&file->host, text.data);
    weft_free(&file->host, cursor);
    return status;
}

/* ---- arrays of numbers ---- */

struct list {
    float *reals;
    int32_t *integers; /* or these */
    uint64_t count;
};

static weft_status take_number(const struct list *list, uint64_t index, const weft_gguf *file,
                               const struct weft_gguf_value *value, uint64_t bits) {
    const struct number number = number_of(value->element, bits);
    if (list->reals) {
        list->reals[index] = (float)number.real;
        return isfinite(list->reals[index])
                   ? WEFT_OK
                   : weft_gguf_fail(file, WEFT_BAD_FILE, value->key, "finite numbers", "another");
    }
    if (!number.is_integer || number.integer < INT32_MIN || number.integer > INT32_MAX) {
        return weft_gguf_fail(file, WEFT_BAD_FILE, value->key, "integers that i32 can hold",
                              "another number");
    }
    list->integers[index] = (int32_t)number.integer;
    return WEFT_OK;
}

static weft_status read_list(const struct list *list, const weft_gguf *file,
                             const struct weft_gguf_value *value) {
    struct weft_gguf_cursor *cursor = weft_alloc(&file->host, sizeof *cursor);
    weft_status status = cursor ? WEFT_OK : weft_fail_memory(&file->host, value->key);
    if (cursor) {
        weft_gguf_cursor_begin(cursor, file->bytes, value->offset);
    }
    for (uint64_t i = 0; i < value->count && status == WEFT_OK; i++) {
        uint64_t bits = 0;
        status =
            weft_gguf_cursor_number(cursor, &bits, weft_gguf_type_size(value->element), value->key);
        status = status == WEFT_OK ? take_number(list, i, file, value, bits) : status;
    }
    weft_free(&file->host, cursor);
    return status;
}

/* Makes the array that `list` lacks. */
static weft_status read_array(void **out, bool reals, const weft_gguf *file, const char *key,
                              uint64_t count) {
    const struct weft_gguf_value *value = NULL;
    *out = NULL;
    if (!weft_gguf_find(file, key)) {
        return WEFT_OK;
    }
    WEFT_TRY(find_array(&value, file, key, false));
    if (value->count != count) {
        char expected[64], found[32];
        snprintf(expected, sizeof expected, "an array of %" PRIu64, count);
        snprintf(found, sizeof found, "one of %" PRIu64, value->count);
        return weft_gguf_fail(file, WEFT_BAD_FILE, key, expected, found);
    }
    void *made = weft_alloc_zero(&file->host, (size_t)count + 1, 4);
    if (!made) {
        return weft_fail_memory(&file->host, key);
    }
    const struct list list = {.reals = reals ? made : NULL, .integers = reals ? NULL : made};
    const weft_status status = read_list(&list, file, value);
    if (status != WEFT_OK) {
        weft_free(&file->host, made);
        return status;
    }
    *out = made;
    return WEFT_OK;
}

weft_status weft_gguf_reals(float **out, const weft_gguf *file, const char *key, uint64_t count) {
    void *made = NULL;
    WEFT_TRY(read_array(&made, true, file, key, count));
    *out = made;
    return WEFT_OK;
}

weft_status weft_gguf_integers(int32_t **out, const weft_gguf *file, const char *key,
                               uint64_t count) {
    void *made = NULL;
    WEFT_TRY(read_array(&made, false, file, key, count));
    *out = made;
    return WEFT_OK;
}
