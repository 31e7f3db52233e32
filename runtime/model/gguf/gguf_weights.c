/* SPDX-License-Identifier: MIT */
#include "model/gguf/gguf_weights.h"

#include <ctype.h>
#include <float.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/bytes.h"
#include "core/math/portable_math.h"
#include "core/try.h"
#include "model/files/ggml_rows.h"

#define NAME_SIZE 160 /* of a tensor in a folder */

struct entry {
    char name[NAME_SIZE];
    const struct weft_gguf_tensor *tensor;
    uint64_t half; /* of the rows of a head that lie in turn; 0: as they are */
    bool restored; /* f32 numbers that a file has otherwise */
    enum weft_gguf_change change;
};

struct weights {
    weft_host host;
    weft_gguf *file;
    struct entry *entries;
    weft_safetensors_tensor *tensors; /* as they are given */
    uint32_t count;
};

/* ---- reading ---- */

static weft_status read_bytes(const struct weft_ggml_matrix *matrix, uint64_t begin, void *out,
                              size_t size) {
    return weft_gguf_read(matrix->file, matrix->tensor, begin, out, size);
}

static struct weft_ggml_matrix matrix_of(const struct weights *weights,
                                         const struct weft_gguf_tensor *tensor) {
    return (struct weft_ggml_matrix){.format = tensor->format,
                                     .name = tensor->name,
                                     .columns = tensor->shape[tensor->rank - 1],
                                     .read = read_bytes,
                                     .file = weights->file,
                                     .tensor = tensor,
                                     .host = &weights->host};
}

/* Numbers that lie one behind the other in the file, as little-endian bytes. */
static weft_status read_run(const struct weights *weights, const struct weft_gguf_tensor *tensor,
                            uint64_t first, uint64_t count, void *out) {
    const struct weft_ggml_format *format = tensor->format;
    if (format->take) {
        const struct weft_ggml_matrix matrix = matrix_of(weights, tensor);
        return weft_ggml_read_numbers(&matrix, first, count, out);
    }
    return count == 0 ? WEFT_OK
                      : weft_gguf_read(weights->file, tensor, first * format->bytes, out,
                                       (size_t)count * format->bytes);
}

/* Where the file has a row: the halves of a head lie in turn there, here one after the other. */
static uint64_t row_in_file(uint64_t row, uint64_t half) {
    const uint64_t head = row / (2 * half), within = row % (2 * half);
    return head * 2 * half + within % half * 2 + within / half;
}

/* What a folder has of a number: of 1 + it exactly that, or its sum with 1 would be another. */
static float restore(float value, enum weft_gguf_change change) {
    return change == WEFT_GGUF_LESS_ONE ? value - 1.0F : (float)weft_portable_log(-(double)value);
}

static weft_status restore_all(const struct weights *weights, const struct entry *entry,
                               uint8_t *bytes, size_t size) {
    for (size_t at = 0; at < size; at += sizeof(float)) {
        uint32_t bits = (uint32_t)weft_load_bytes(bytes + at, sizeof bits);
        float value;
        memcpy(&value, &bits, sizeof value);
        if (entry->change == WEFT_GGUF_RATE && !(value < 0.0F && value >= -FLT_MAX)) {
            return weft_fail(&weights->host, WEFT_BAD_FILE,
                             "%s: tensor \"%s\": expected numbers below 0, found %g",
                             weft_gguf_path(weights->file), entry->tensor->name, (double)value);
        }
        value = restore(value, entry->change);
        memcpy(&bits, &value, sizeof bits);
        weft_store_bytes(bytes + at, bits, sizeof bits);
    }
    return WEFT_OK;
}

/* Whole elements; rows that lie in turn are read one by one. */
static weft_status read(void *user, const weft_safetensors_tensor *tensor, uint64_t begin,
                        void *out, size_t size) {
    const struct weights *weights = user;
    const struct entry *entry = &weights->entries[tensor->offset];
    const size_t bytes = weft_safetensors_dtype_size(tensor->dtype);
    const uint64_t first = begin / bytes, end = first + size / bytes;
    if (entry->half == 0) {
        WEFT_TRY(read_run(weights, entry->tensor, first, end - first, out));
        return entry->restored ? restore_all(weights, entry, out, size) : WEFT_OK;
    }
    const uint64_t width = tensor->rank == 2 ? tensor->shape[1] : 1;
    uint8_t *target = out;
    for (uint64_t at = first, count = 0; at < end; at += count) {
        const uint64_t column = at % width;
        count = width - column < end - at ? width - column : end - at;
        WEFT_TRY(read_run(weights, entry->tensor,
                          row_in_file(at / width, entry->half) * width + column, count, target));
        target += count * bytes;
    }
    return WEFT_OK;
}

/* ---- as blocks ---- */

static const struct weft_block_form *form_of(void *user, const weft_safetensors_tensor *tensor) {
    const struct weights *weights = user;
    const struct entry *entry = &weights->entries[tensor->offset];
    const struct weft_ggml_format *format = entry->tensor->format;
    return format->take && tensor->rank == 2 && !entry->restored ? &format->form : NULL;
}

static weft_status read_blocks(void *user, const weft_safetensors_tensor *tensor,
                               uint64_t first_row, uint64_t rows, const struct weft_blocks *out) {
    const struct weights *weights = user;
    const struct entry *entry = &weights->entries[tensor->offset];
    const struct weft_ggml_matrix matrix = matrix_of(weights, entry->tensor);
    if (entry->half == 0) {
        return weft_ggml_read_rows(&matrix, first_row, rows, out);
    }
    for (uint64_t i = 0; i < rows; i++) {
        const struct weft_blocks at =
            weft_blocks_from(out, &matrix.format->form, i * matrix.columns);
        WEFT_TRY(weft_ggml_read_rows(&matrix, row_in_file(first_row + i, entry->half), 1, &at));
    }
    return WEFT_OK;
}

static void release(void *user) {
    struct weights *weights = user;
    const weft_host host = weights->host;
    weft_gguf_close(&weights->file);
    weft_free(&host, weights->entries);
    weft_free(&host, weights->tensors);
    weft_free(&host, weights);
}

/* ---- names ---- */

/* The end of a name behind the pattern, whose # is a number; null: it is another name. */
static const char *behind(const char *name, const char *pattern, bool whole, const char **number,
                          size_t *digits) {
    for (; *pattern != '\0'; pattern++) {
        if (*pattern != '#') {
            if (*pattern != *name++) {
                return NULL;
            }
            continue;
        }
        *number = name;
        while (isdigit((unsigned char)*name)) {
            name++;
        }
        *digits = (size_t)(name - *number);
        if (*digits == 0 || *digits > 4) {
            return NULL;
        }
    }
    const bool ends =
        whole ? *name == '\0' : strcmp(name, ".weight") == 0 || strcmp(name, ".bias") == 0;
    return ends ? name : NULL;
}

static const struct weft_gguf_name *translate(char out[NAME_SIZE],
                                              const struct weft_gguf_family *family,
                                              const char *name) {
    for (const struct weft_gguf_name *row = family->names; row->theirs; row++) {
        const bool whole = row->change == WEFT_GGUF_WHOLE || row->change == WEFT_GGUF_RATE ||
                           row->change == WEFT_GGUF_FLAT;
        const char *number = "";
        size_t digits = 0;
        const char *end = behind(name, row->theirs, whole, &number, &digits);
        if (end) {
            const char *hole = strchr(row->ours, '#');
            const size_t front = hole ? (size_t)(hole - row->ours) : strlen(row->ours);
            snprintf(out, NAME_SIZE, "%.*s%.*s%s%s", (int)front, row->ours, (int)digits, number,
                     hole ? hole + 1 : "", end);
            return row;
        }
    }
    return NULL;
}

/* ---- opening ---- */

/* The heads that a tensor's rows are of. */
static weft_status count_heads(uint64_t *heads, const weft_gguf *file,
                               const struct weft_gguf_family *family,
                               enum weft_gguf_change change) {
    const struct weft_gguf_reading reading = {.file = file, .family = family};
    int64_t found = 0; /* as many for keys, where nothing else is said */
    WEFT_TRY(weft_gguf_integer(
        &found, file, weft_gguf_own_key(&reading, "attention.head_count").text, 0, INT32_MAX));
    if (change == WEFT_GGUF_ROWS_OF_KEYS) {
        WEFT_TRY(weft_gguf_own_key_heads(&found, &reading));
    }
    *heads = (uint64_t)found;
    return WEFT_OK;
}

static weft_status set_order(struct entry *entry, const weft_gguf *file,
                             const struct weft_gguf_family *family, enum weft_gguf_change change) {
    uint64_t heads = 0;
    WEFT_TRY(count_heads(&heads, file, family, change));
    if (entry->tensor->rank > 2 || heads == 0 || entry->tensor->shape[0] % (2 * heads) != 0) {
        return weft_fail(weft_gguf_host(file), WEFT_BAD_FILE,
                         "%s: tensor \"%s\": expected an even number of rows for each of %" PRIu64
                         " heads, found %" PRIu64 " rows",
                         weft_gguf_path(file), entry->tensor->name, heads, entry->tensor->shape[0]);
    }
    entry->half = entry->tensor->shape[0] / (2 * heads);
    return WEFT_OK;
}

/* A tensor with other axes in folders. */
static weft_status set_axes(struct entry *entry, const weft_gguf *file,
                            enum weft_gguf_change change) {
    static const struct {
        uint32_t rank;
        const char *axes;
    } expected[] = {[WEFT_GGUF_FILTER] = {2, "2 axes, channels and taps"},
                    [WEFT_GGUF_EXPERTS] = {3, "3 axes, experts, rows and columns"},
                    [WEFT_GGUF_ROW] = {1, "1 axis"}};
    entry->change = change;
    return entry->tensor->rank == expected[change].rank
               ? WEFT_OK
               : weft_fail(weft_gguf_host(file), WEFT_BAD_FILE,
                           "%s: tensor \"%s\": expected %s, found %u", weft_gguf_path(file),
                           entry->tensor->name, expected[change].axes, entry->tensor->rank);
}

static weft_status set_change(struct entry *entry, const weft_gguf *file,
                              const struct weft_gguf_family *family, enum weft_gguf_change change) {
    if (change >= WEFT_GGUF_EXPERTS) {
        return weft_ends_with(entry->name, ".weight") ? set_axes(entry, file, change) : WEFT_OK;
    }
    if (change != WEFT_GGUF_LESS_ONE && change != WEFT_GGUF_RATE) {
        const bool in_turn =
            change == WEFT_GGUF_ROWS_OF_QUERIES || change == WEFT_GGUF_ROWS_OF_KEYS;
        entry->change = change;
        return in_turn ? set_order(entry, file, family, change) : WEFT_OK;
    }
    entry->change = change;
    entry->restored = change == WEFT_GGUF_RATE || weft_ends_with(entry->name, ".weight");
    return !entry->restored || entry->tensor->format->as == WEFT_SAFETENSORS_F32
               ? WEFT_OK
               : weft_fail(weft_gguf_host(file), WEFT_UNSUPPORTED,
                           "%s: tensor \"%s\": expected F32, as vectors are, found %s",
                           weft_gguf_path(file), entry->tensor->name, entry->tensor->format->name);
}

static void give(weft_safetensors_tensor *out, const struct entry *entry, uint64_t index) {
    const struct weft_gguf_tensor *tensor = entry->tensor;
    *out = (weft_safetensors_tensor){.name = entry->name,
                                     .dtype = tensor->format->as,
                                     .rank = tensor->rank,
                                     .elements = tensor->elements,
                                     .offset = index};
    memcpy(out->shape, tensor->shape, sizeof tensor->shape);
    if (entry->change == WEFT_GGUF_FILTER) {
        out->rank = 3;
        out->shape[1] = 1;
        out->shape[2] = tensor->shape[1];
    } else if (entry->change == WEFT_GGUF_EXPERTS) {
        out->rank = 2;
        out->shape[0] *= tensor->shape[1]; /* no overflow: elements of all are counted */
        out->shape[1] = tensor->shape[2];
    } else if (entry->change == WEFT_GGUF_FLAT || entry->change == WEFT_GGUF_RATE) {
        out->rank = 1;
        out->shape[0] = tensor->elements;
    } else if (entry->change == WEFT_GGUF_ROW) {
        out->rank = 2;
        out->shape[1] = tensor->shape[0];
        out->shape[0] = 1;
    }
    out->bytes = tensor->elements * weft_safetensors_dtype_size(out->dtype);
}

static weft_status add(struct weights *weights, const struct weft_gguf_family *family,
                       const struct weft_gguf_tensor *tensor) {
    struct entry *entry = &weights->entries[weights->count];
    entry->tensor = tensor;
    const struct weft_gguf_name *row = translate(entry->name, family, tensor->name);
    if (!row) {
        return weft_fail(&weights->host, WEFT_UNSUPPORTED,
                         "%s: tensor \"%s\": expected tensors that Weft knows for %s, found "
                         "another",
                         weft_gguf_path(weights->file), tensor->name, family->architecture);
    }
    if (tensor->elements > INT64_MAX / sizeof(float)) {
        return weft_fail(&weights->host, WEFT_BAD_FILE, "%s: tensor \"%s\" is too large",
                         weft_gguf_path(weights->file), tensor->name);
    }
    WEFT_TRY(set_change(entry, weights->file, family, row->change));
    give(&weights->tensors[weights->count], entry, weights->count);
    weights->count++;
    return WEFT_OK;
}

/* Of the layers behind the model's. */
static bool is_further(const struct weft_gguf_tensor *tensor, int64_t layers, int64_t all) {
    unsigned layer = 0;
    return sscanf(tensor->name, "blk.%4u.", &layer) == 1 && layer >= layers && layer < all;
}

/* Is read with the config. */
static bool is_of_config(const struct weft_gguf_tensor *tensor) {
    return strcmp(tensor->name, "rope_freqs.weight") == 0 ||
           strcmp(tensor->name, "rope_factors_short.weight") == 0 ||
           strcmp(tensor->name, "rope_factors_long.weight") == 0;
}

static weft_status add_all(struct weights *weights, const struct weft_gguf_family *family) {
    const uint32_t count = weft_gguf_tensor_count(weights->file);
    weights->entries = weft_alloc_zero(&weights->host, count + (size_t)1, sizeof(struct entry));
    weights->tensors = weft_alloc_zero(&weights->host, count + (size_t)1, sizeof *weights->tensors);
    if (!weights->entries || !weights->tensors) {
        return weft_fail_memory(&weights->host, weft_gguf_path(weights->file));
    }
    const struct weft_gguf_reading reading = {.file = weights->file, .family = family};
    int64_t layers = 0, all = 0;
    WEFT_TRY(weft_gguf_own_layers(&layers, &reading));
    WEFT_TRY(weft_gguf_own_integer(&all, &reading, "block_count"));
    for (uint32_t i = 0; i < count; i++) {
        const struct weft_gguf_tensor *tensor = weft_gguf_tensor_at(weights->file, i);
        const bool ours = !is_of_config(tensor) && !is_further(tensor, layers, all);
        WEFT_TRY(ours ? add(weights, family, tensor) : WEFT_OK);
    }
    return WEFT_OK;
}

weft_status weft_gguf_weights_open(weft_safetensors **out, weft_gguf *file,
                                   const struct weft_gguf_family *family) {
    const weft_host host = *weft_gguf_host(file);
    struct weights *weights = weft_alloc_zero(&host, 1, sizeof *weights);
    if (!weights) {
        weft_status status = weft_fail_memory(&host, weft_gguf_path(file));
        weft_gguf_close(&file);
        return status;
    }
    *weights = (struct weights){.host = host, .file = file};
    weft_status status = add_all(weights, family);
    if (status == WEFT_OK) {
        status =
            weft_safetensors_open_view(out,
                                       &(struct weft_safetensors_view){.path = weft_gguf_path(file),
                                                                       .tensors = weights->tensors,
                                                                       .count = weights->count,
                                                                       .read = read,
                                                                       .blocks = form_of,
                                                                       .read_blocks = read_blocks,
                                                                       .release = release,
                                                                       .user = weights},
                                       &host);
    }
    if (status != WEFT_OK) {
        release(weights);
    }
    return status;
}
