/* SPDX-License-Identifier: MIT */
#include "model/gguf/gguf_weights.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/bytes.h"
#include "core/try.h"

#define NAME_SIZE    160 /* of a tensor in a folder */
#define MOST_AT_ONCE ((size_t)1 << 18)

struct entry {
    char name[NAME_SIZE];
    const struct weft_gguf_tensor *tensor;
    uint64_t half; /* of the rows of a head that lie in turn; 0: as they are */
    bool less_one; /* f32 */
};

struct weights {
    weft_host host;
    weft_gguf *file;
    struct entry *entries;
    weft_safetensors_tensor *tensors; /* as they are given */
    uint32_t count;
};

/* ---- reading ---- */

/* A run of numbers within a tensor, and where they go as little-endian bytes. */
struct run {
    const weft_gguf *file;
    const struct weft_gguf_tensor *tensor;
    uint64_t first, count;
    uint8_t *out;
};

/* Writes the part of a block that is in the run. */
static void put_block(const struct run *run, uint64_t block, const float *values) {
    const uint64_t begin = block * run->tensor->format->elements;
    const uint64_t end = begin + run->tensor->format->elements;
    const uint64_t from = begin > run->first ? begin : run->first;
    const uint64_t last = run->first + run->count;
    for (uint64_t i = from; i < end && i < last; i++) {
        uint32_t bits;
        memcpy(&bits, &values[i - begin], sizeof bits);
        weft_store_bytes(run->out + (i - run->first) * sizeof bits, bits, sizeof bits);
    }
}

static weft_status decode(const struct run *run, uint8_t *blocks, uint64_t at_once) {
    const struct weft_gguf_format *format = run->tensor->format;
    const uint64_t end = (run->first + run->count - 1) / format->elements + 1;
    for (uint64_t block = run->first / format->elements; block < end;) {
        const uint64_t count = end - block < at_once ? end - block : at_once;
        WEFT_TRY(weft_gguf_read(run->file, run->tensor, block * format->bytes, blocks,
                                (size_t)count * format->bytes));
        for (uint64_t i = 0; i < count; i++, block++) {
            float values[WEFT_GGUF_MOST_ELEMENTS];
            weft_gguf_decode(format, values, blocks + i * format->bytes);
            put_block(run, block, values);
        }
    }
    return WEFT_OK;
}

static weft_status read_run(const struct run *run) {
    const struct weft_gguf_format *format = run->tensor->format;
    if (run->count == 0) {
        return WEFT_OK;
    }
    if (!format->take) {
        return weft_gguf_read(run->file, run->tensor, run->first * format->bytes, run->out,
                              (size_t)run->count * format->bytes);
    }
    const uint64_t needed = run->count / format->elements + 2;
    const uint64_t most = MOST_AT_ONCE / format->bytes;
    const uint64_t at_once = needed < most ? needed : most;
    const weft_host *host = weft_gguf_host(run->file);
    uint8_t *blocks = weft_alloc(host, (size_t)at_once * format->bytes);
    if (!blocks) {
        return weft_fail_memory(host, run->tensor->name);
    }
    const weft_status status = decode(run, blocks, at_once);
    weft_free(host, blocks);
    return status;
}

/* Where the file has a row: the halves of a head lie in turn there, here one after the other. */
static uint64_t row_in_file(uint64_t row, uint64_t half) {
    const uint64_t head = row / (2 * half), within = row % (2 * half);
    return head * 2 * half + within % half * 2 + within / half;
}

/* What a folder has of numbers of which a file has 1 + them: exactly these, or their sum with 1 would be another. */
static void take_one(uint8_t *bytes, size_t size) {
    for (size_t at = 0; at < size; at += sizeof(float)) {
        uint32_t bits = (uint32_t)weft_load_bytes(bytes + at, sizeof bits);
        float value;
        memcpy(&value, &bits, sizeof value);
        value -= 1.0F;
        memcpy(&bits, &value, sizeof bits);
        weft_store_bytes(bytes + at, bits, sizeof bits);
    }
}

/* Whole elements; rows that lie in turn are read one by one. */
static weft_status read(void *user, const weft_safetensors_tensor *tensor, uint64_t begin,
                        void *out, size_t size) {
    const struct weights *weights = user;
    const struct entry *entry = &weights->entries[tensor->offset];
    const size_t bytes = weft_safetensors_dtype_size(tensor->dtype);
    struct run run = {.file = weights->file,
                      .tensor = entry->tensor,
                      .first = begin / bytes,
                      .count = size / bytes,
                      .out = out};
    if (entry->half == 0) {
        WEFT_TRY(read_run(&run));
        if (entry->less_one) {
            take_one(out, size);
        }
        return WEFT_OK;
    }
    const uint64_t width = tensor->rank == 2 ? tensor->shape[1] : 1;
    for (uint64_t at = begin / bytes, end = at + size / bytes; at < end; at += run.count) {
        const uint64_t column = at % width;
        run.first = row_in_file(at / width, entry->half) * width + column;
        run.count = width - column < end - at ? width - column : end - at;
        WEFT_TRY(read_run(&run));
        run.out += run.count * bytes;
    }
    return WEFT_OK;
}

/* ---- as blocks ---- */

static const struct weft_block_form *form_of(void *user, const weft_safetensors_tensor *tensor) {
    const struct weights *weights = user;
    const struct entry *entry = &weights->entries[tensor->offset];
    const struct weft_gguf_format *format = entry->tensor->format;
    return format->take && tensor->rank == 2 && !entry->less_one ? &format->form : NULL;
}

/* Rows that lie one behind the other in the file, and room for the bytes of all of them. */
static weft_status take_rows(const struct weights *weights, const struct weft_gguf_tensor *tensor,
                             uint64_t row, uint64_t rows, uint8_t *bytes,
                             const struct weft_blocks *out) {
    const struct weft_gguf_format *format = tensor->format;
    const uint64_t blocks = tensor->shape[1] / format->elements;
    const uint32_t runs = format->elements / format->form.run;
    WEFT_TRY(weft_gguf_read(weights->file, tensor, row * blocks * format->bytes, bytes,
                            (size_t)(rows * blocks) * format->bytes));
    for (uint64_t i = 0; i < rows * blocks; i++) {
        const struct weft_blocks at = {out->codes + i * format->elements, out->scales + i * runs,
                                       out->offsets ? out->offsets + i * runs : NULL};
        format->take(&at, bytes + i * format->bytes);
    }
    return WEFT_OK;
}

static weft_status read_blocks(void *user, const weft_safetensors_tensor *tensor,
                               uint64_t first_row, uint64_t rows, const struct weft_blocks *out) {
    const struct weights *weights = user;
    const struct entry *entry = &weights->entries[tensor->offset];
    const struct weft_gguf_format *format = entry->tensor->format;
    const uint64_t columns = tensor->shape[1], runs = columns / format->form.run;
    const uint64_t row_bytes = columns / format->elements * format->bytes;
    const uint64_t fit = MOST_AT_ONCE / row_bytes;
    const uint64_t at_once = entry->half > 0 || fit == 0 ? 1 : fit < rows ? fit : rows;
    uint8_t *bytes = weft_alloc(&weights->host, (size_t)(at_once * row_bytes));
    weft_status status = bytes ? WEFT_OK : weft_fail_memory(&weights->host, tensor->name);
    for (uint64_t i = 0; status == WEFT_OK && i < rows; i += at_once) {
        const uint64_t row = first_row + i, left = rows - i;
        const struct weft_blocks at = {out->codes + i * columns, out->scales + i * runs,
                                       out->offsets ? out->offsets + i * runs : NULL};
        status =
            take_rows(weights, entry->tensor, entry->half > 0 ? row_in_file(row, entry->half) : row,
                      left < at_once ? left : at_once, bytes, &at);
    }
    weft_free(&weights->host, bytes);
    return status;
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
static const char *behind(const char *name, const char *pattern, const char **number,
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
    return strcmp(name, ".weight") == 0 || strcmp(name, ".bias") == 0 ? name : NULL;
}

static const struct weft_gguf_name *translate(char out[NAME_SIZE],
                                              const struct weft_gguf_family *family,
                                              const char *name) {
    for (const struct weft_gguf_name *row = family->names; row->theirs; row++) {
        const char *number = "";
        size_t digits = 0;
        const char *end = behind(name, row->theirs, &number, &digits);
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
        WEFT_TRY(weft_gguf_integer(&found, file,
                                   weft_gguf_own_key(&reading, "attention.head_count_kv").text, 0,
                                   INT32_MAX));
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

static weft_status set_change(struct entry *entry, const weft_gguf *file,
                              const struct weft_gguf_family *family, enum weft_gguf_change change) {
    if (change != WEFT_GGUF_LESS_ONE) {
        return change == WEFT_GGUF_SAME ? WEFT_OK : set_order(entry, file, family, change);
    }
    entry->less_one = true;
    return entry->tensor->format->as == WEFT_SAFETENSORS_F32
               ? WEFT_OK
               : weft_fail(weft_gguf_host(file), WEFT_UNSUPPORTED,
                           "%s: tensor \"%s\": expected F32, as a norm's weights are, found %s",
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
    for (uint32_t i = 0; i < count; i++) {
        const struct weft_gguf_tensor *tensor = weft_gguf_tensor_at(weights->file, i);
        WEFT_TRY(is_of_config(tensor) ? WEFT_OK : add(weights, family, tensor));
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
