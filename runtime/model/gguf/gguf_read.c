/* SPDX-License-Identifier: MIT */
/* Opening and checking a GGUF file. Nothing of it is used before all of it is checked. */
#include "model/gguf/gguf.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/bytes.h"
#include "core/try.h"
#include "model/gguf/gguf_cursor.h"
#include "model/gguf/gguf_parts.h"

#define MAGIC        UINT64_C(0x46554747) /* "GGUF" */
#define LEAST_VALUE  13u                  /* bytes of a key: its length, its type, a number */
#define LEAST_TENSOR 32u /* of a tensor's length, number of axes, an axis, format and offset */

#define NAME "\"%.100s\""

struct reader {
    weft_gguf *file;
    struct weft_gguf_cursor cursor;
    uint64_t value_count, tensor_count;
    struct weft_text key; /* in hand */
    uint64_t data;        /* where tensors' offsets count from */
    uint64_t alignment;
};

/* ---- the header ---- */

static weft_status read_version(struct reader *reader) {
    const weft_gguf *file = reader->file;
    uint64_t magic = 0, version = 0;
    WEFT_TRY(weft_gguf_cursor_number(&reader->cursor, &magic, 4, "\"GGUF\""));
    if (magic != MAGIC) {
        return weft_fail(&file->host, WEFT_BAD_FILE,
                         "%s: expected a GGUF file, which begins with \"GGUF\", found another",
                         file->path);
    }
    WEFT_TRY(weft_gguf_cursor_number(&reader->cursor, &version, 4, "the version"));
    if (version != 0 && (version & 0xffffu) == 0) {
        return weft_fail(&file->host, WEFT_UNSUPPORTED,
                         "%s: expected little-endian numbers, found big-endian ones", file->path);
    }
    return version == 2 || version == 3
               ? WEFT_OK
               : weft_fail(&file->host, WEFT_UNSUPPORTED,
                           "%s: version: expected 2 or 3, found %" PRIu64, file->path, version);
}

/* A count of things that take at least so many bytes each. */
static weft_status read_count(struct reader *reader, uint64_t *count, uint64_t least,
                              const char *what) {
    const weft_gguf *file = reader->file;
    WEFT_TRY(weft_gguf_cursor_number(&reader->cursor, count, 8, what));
    const uint64_t most = weft_gguf_cursor_left(&reader->cursor) / least;
    return *count <= most && *count <= UINT32_MAX
               ? WEFT_OK
               : weft_fail(&file->host, WEFT_BAD_FILE,
                           "%s: %s: expected at most %" PRIu64 ", as many as the file has room "
                           "for, found %" PRIu64,
                           file->path, what, most, *count);
}

/* ---- values ---- */

static weft_status read_type(struct reader *reader, enum weft_gguf_type *type, const char *key) {
    uint64_t number = 0;
    WEFT_TRY(weft_gguf_cursor_number(&reader->cursor, &number, 4, key));
    if (number >= WEFT_GGUF_TYPE_COUNT) {
        char found[32];
        snprintf(found, sizeof found, "%" PRIu64, number);
        return weft_gguf_fail(reader->file, WEFT_BAD_FILE, key, "a type from 0 to 12", found);
    }
    *type = (enum weft_gguf_type)number;
    return WEFT_OK;
}

static weft_status pass_elements(struct reader *reader, enum weft_gguf_type type, uint64_t count,
                                 const char *key, uint32_t depth);

/* Type and number of an array's elements, and passes them. */
static weft_status pass_array(struct reader *reader, struct weft_gguf_value *value, const char *key,
                              uint32_t depth) {
    if (depth == WEFT_GGUF_MAX_DEPTH) {
        return weft_gguf_fail(reader->file, WEFT_BAD_FILE, key, "at most 4 arrays in one another",
                              "more");
    }
    WEFT_TRY(read_type(reader, &value->element, key));
    WEFT_TRY(weft_gguf_cursor_number(&reader->cursor, &value->count, 8, key));
    const uint64_t size = weft_gguf_type_size(value->element);
    const uint64_t least = value->element == WEFT_GGUF_STRING  ? 8
                           : value->element == WEFT_GGUF_ARRAY ? 12
                                                               : size;
    if (value->count > weft_gguf_cursor_left(&reader->cursor) / least) {
        char found[32];
        snprintf(found, sizeof found, "%" PRIu64, value->count);
        return weft_gguf_fail(reader->file, WEFT_BAD_FILE, key,
                              "no more elements than the file has room for", found);
    }
    value->offset = reader->cursor.at;
    return pass_elements(reader, value->element, value->count, key, depth + 1);
}

static weft_status pass_elements(struct reader *reader, enum weft_gguf_type type, uint64_t count,
                                 const char *key, uint32_t depth) {
    if (weft_gguf_type_size(type) > 0) {
        return weft_gguf_cursor_skip(&reader->cursor, count * weft_gguf_type_size(type), key);
    }
    for (uint64_t i = 0; i < count; i++) {
        struct weft_gguf_value inner = {.count = 0};
        WEFT_TRY(type == WEFT_GGUF_STRING
                     ? weft_gguf_cursor_text(&reader->cursor, NULL, UINT64_MAX, key)
                     : pass_array(reader, &inner, key, depth));
    }
    return WEFT_OK;
}

static weft_status read_key(struct reader *reader) {
    reader->key.length = 0;
    WEFT_TRY(weft_gguf_cursor_text(&reader->cursor, &reader->key, WEFT_GGUF_MAX_KEY, "a key"));
    return reader->key.length > 0
               ? WEFT_OK
               : weft_fail(&reader->file->host, WEFT_BAD_FILE,
                           "%s: a key: expected 1 to 256 bytes, found none", reader->file->path);
}

static weft_status read_value(struct reader *reader) {
    weft_gguf *file = reader->file;
    WEFT_TRY(read_key(reader));
    if (!weft_grow(&file->host, &file->values, file->value_count, &file->value_capacity,
                   sizeof *file->values)) {
        return weft_fail_memory(&file->host, file->path);
    }
    struct weft_gguf_value *value = &file->values[file->value_count];
    *value = (struct weft_gguf_value){.key = weft_strdup(&file->host, reader->key.data)};
    if (!value->key) {
        return weft_fail_memory(&file->host, file->path);
    }
    file->value_count++;
    WEFT_TRY(read_type(reader, &value->type, value->key));
    if (value->type == WEFT_GGUF_ARRAY) {
        return pass_array(reader, value, value->key, 0);
    }
    value->element = value->type;
    value->count = 1;
    value->offset = reader->cursor.at;
    return pass_elements(reader, value->type, 1, value->key, 0);
}

static int compare_keys(const void *left, const void *right) {
    const struct weft_gguf_value *a = left;
    const struct weft_gguf_value *b = right;
    return strcmp(a->key, b->key);
}

static weft_status read_values(struct reader *reader) {
    weft_gguf *file = reader->file;
    for (uint64_t i = 0; i < reader->value_count; i++) {
        WEFT_TRY(read_value(reader));
    }
    if (file->value_count > 0) {
        qsort(file->values, file->value_count, sizeof *file->values, compare_keys);
    }
    for (uint32_t i = 1; i < file->value_count; i++) {
        if (compare_keys(&file->values[i - 1], &file->values[i]) == 0) {
            return weft_gguf_fail(file, WEFT_BAD_FILE, file->values[i].key, "one value", "two");
        }
    }
    return WEFT_OK;
}

/* ---- tensors ---- */

static weft_status fail_tensor(const weft_gguf *file, weft_status status, const char *name,
                               const char *expected, uint64_t found) {
    return weft_fail(&file->host, status, "%s: tensor " NAME ": expected %s, found %" PRIu64,
                     file->path, name, expected, found);
}

static weft_status read_name(struct reader *reader, struct weft_gguf_tensor *tensor) {
    reader->key.length = 0;
    WEFT_TRY(weft_gguf_cursor_text(&reader->cursor, &reader->key, WEFT_GGUF_MAX_NAME,
                                   "a tensor's name"));
    if (reader->key.length == 0) {
        return weft_fail(&reader->file->host, WEFT_BAD_FILE,
                         "%s: a tensor's name: expected 1 to 64 bytes, found none",
                         reader->file->path);
    }
    memcpy(tensor->name, reader->key.data, reader->key.length + 1);
    return WEFT_OK;
}

/* The file has the innermost axis first. */
static weft_status read_shape(struct reader *reader, struct weft_gguf_tensor *tensor) {
    uint64_t rank = 0;
    WEFT_TRY(weft_gguf_cursor_number(&reader->cursor, &rank, 4, tensor->name));
    if (rank == 0 || rank > WEFT_GGUF_MAX_RANK) {
        return fail_tensor(reader->file, WEFT_BAD_FILE, tensor->name, "1 to 4 axes", rank);
    }
    tensor->rank = (uint32_t)rank;
    tensor->elements = 1;
    for (uint32_t i = 0; i < tensor->rank; i++) {
        uint64_t *extent = &tensor->shape[tensor->rank - 1 - i];
        WEFT_TRY(weft_gguf_cursor_number(&reader->cursor, extent, 8, tensor->name));
        if (*extent == 0 || *extent > INT64_MAX / tensor->elements) {
            return fail_tensor(reader->file, WEFT_BAD_FILE, tensor->name,
                               "axes of at least 1, and less than 2^63 elements", *extent);
        }
        tensor->elements *= *extent;
    }
    return WEFT_OK;
}

static weft_status read_format(struct reader *reader, struct weft_gguf_tensor *tensor) {
    const weft_gguf *file = reader->file;
    uint64_t number = 0;
    WEFT_TRY(weft_gguf_cursor_number(&reader->cursor, &number, 4, tensor->name));
    tensor->format = weft_ggml_format_of(number);
    if (!tensor->format) {
        return fail_tensor(file, WEFT_BAD_FILE, tensor->name, "the number of a format", number);
    }
    if (tensor->format->elements == 0) {
        return weft_fail(&file->host, WEFT_UNSUPPORTED,
                         "%s: tensor " NAME ": expected %s, found %s", file->path, tensor->name,
                         weft_ggml_format_list, tensor->format->name);
    }
    const uint64_t row = tensor->shape[tensor->rank - 1];
    if (row % tensor->format->elements != 0) {
        return weft_fail(&file->host, WEFT_BAD_FILE,
                         "%s: tensor " NAME ": expected rows of whole blocks of %u (%s), found "
                         "rows of %" PRIu64,
                         file->path, tensor->name, tensor->format->elements, tensor->format->name,
                         row);
    }
    const uint64_t blocks = tensor->elements / tensor->format->elements;
    if (blocks > weft_gguf_size(file) / tensor->format->bytes) {
        return fail_tensor(file, WEFT_BAD_FILE, tensor->name,
                           "no more elements than the file has room for", tensor->elements);
    }
    tensor->bytes = blocks * tensor->format->bytes;
    return WEFT_OK;
}

static weft_status read_tensor(struct reader *reader) {
    weft_gguf *file = reader->file;
    if (!weft_grow(&file->host, &file->tensors, file->tensor_count, &file->tensor_capacity,
                   sizeof *file->tensors)) {
        return weft_fail_memory(&file->host, file->path);
    }
    struct weft_gguf_tensor *tensor = &file->tensors[file->tensor_count++];
    *tensor = (struct weft_gguf_tensor){.rank = 0};
    WEFT_TRY(read_name(reader, tensor));
    WEFT_TRY(read_shape(reader, tensor));
    WEFT_TRY(read_format(reader, tensor));
    return weft_gguf_cursor_number(&reader->cursor, &tensor->offset, 8, tensor->name);
}

static int compare_names(const void *left, const void *right) {
    const struct weft_gguf_tensor *a = left;
    const struct weft_gguf_tensor *b = right;
    return strcmp(a->name, b->name);
}

static weft_status read_tensors(struct reader *reader) {
    weft_gguf *file = reader->file;
    for (uint64_t i = 0; i < reader->tensor_count; i++) {
        WEFT_TRY(read_tensor(reader));
    }
    if (file->tensor_count > 0) {
        qsort(file->tensors, file->tensor_count, sizeof *file->tensors, compare_names);
    }
    for (uint32_t i = 1; i < file->tensor_count; i++) {
        if (compare_names(&file->tensors[i - 1], &file->tensors[i]) == 0) {
            return weft_fail(&file->host, WEFT_BAD_FILE, "%s: duplicate tensor name " NAME,
                             file->path, file->tensors[i].name);
        }
    }
    return WEFT_OK;
}

/* ---- the data ---- */

/* Where the data begin, which the file's alignment says. */
static weft_status find_data(struct reader *reader) {
    const weft_gguf *file = reader->file;
    int64_t alignment = WEFT_GGUF_ALIGNMENT;
    WEFT_TRY(weft_gguf_integer(&alignment, file, "general.alignment", 1, WEFT_GGUF_MOST_ALIGNMENT));
    if ((alignment & (alignment - 1)) != 0) {
        return weft_gguf_fail(file, WEFT_BAD_FILE, "general.alignment", "a power of two",
                              "another number");
    }
    reader->alignment = (uint64_t)alignment;
    reader->data = (reader->cursor.at + reader->alignment - 1) / reader->alignment;
    reader->data *= reader->alignment;
    return WEFT_OK;
}

/* Turns an offset into a place in the file. */
static weft_status place_tensor(const struct reader *reader, struct weft_gguf_tensor *tensor) {
    const weft_gguf *file = reader->file;
    const uint64_t size = weft_gguf_size(file);
    if (tensor->offset % reader->alignment != 0) {
        return fail_tensor(file, WEFT_BAD_FILE, tensor->name, "an offset by general.alignment",
                           tensor->offset);
    }
    if (reader->data > size || tensor->offset > size - reader->data ||
        tensor->bytes > size - reader->data - tensor->offset) {
        return weft_fail(&file->host, WEFT_BAD_FILE,
                         "%s: tensor " NAME ": expected %" PRIu64 " bytes at %" PRIu64
                         " of the data, found a file of %" PRIu64 " bytes whose data begin at "
                         "%" PRIu64,
                         file->path, tensor->name, tensor->bytes, tensor->offset, size,
                         reader->data);
    }
    tensor->offset += reader->data;
    return WEFT_OK;
}

static int compare_places(const void *left, const void *right) {
    const struct weft_gguf_tensor *a = *(const struct weft_gguf_tensor *const *)left;
    const struct weft_gguf_tensor *b = *(const struct weft_gguf_tensor *const *)right;
    return (a->offset > b->offset) - (a->offset < b->offset);
}

/* No byte is of two tensors; there may be bytes of none. */
static weft_status check_places(const weft_gguf *file) {
    const struct weft_gguf_tensor **order =
        weft_alloc_zero(&file->host, file->tensor_count, sizeof *order);
    weft_status status = order ? WEFT_OK : weft_fail_memory(&file->host, file->path);
    for (uint32_t i = 0; order && i < file->tensor_count; i++) {
        order[i] = &file->tensors[i];
    }
    if (order) {
        qsort(order, file->tensor_count, sizeof *order, compare_places);
    }
    for (uint32_t i = 1; i < file->tensor_count && status == WEFT_OK; i++) {
        if (order[i]->offset - order[i - 1]->offset < order[i - 1]->bytes) {
            status = weft_fail(&file->host, WEFT_BAD_FILE,
                               "%s: tensor " NAME ": its data overlap those of tensor " NAME,
                               file->path, order[i]->name, order[i - 1]->name);
        }
    }
    weft_free(&file->host, order);
    return status;
}

static weft_status place_tensors(struct reader *reader) {
    weft_gguf *file = reader->file;
    WEFT_TRY(find_data(reader));
    for (uint32_t i = 0; i < file->tensor_count; i++) {
        WEFT_TRY(place_tensor(reader, &file->tensors[i]));
    }
    return file->tensor_count > 1 ? check_places(file) : WEFT_OK;
}

/* ---- the file ---- */

static weft_status refuse_parts(const weft_gguf *file) {
    int64_t parts = 0;
    WEFT_TRY(weft_gguf_integer(&parts, file, "split.count", 0, UINT16_MAX));
    return parts <= 1 ? WEFT_OK
                      : weft_gguf_fail(file, WEFT_UNSUPPORTED, "split.count",
                                       "a whole file: join its parts, for example by "
                                       "llama-gguf-split --merge",
                                       "a part of one");
}

static weft_status read_all(struct reader *reader) {
    WEFT_TRY(read_version(reader));
    WEFT_TRY(read_count(reader, &reader->tensor_count, LEAST_TENSOR, "the number of tensors"));
    WEFT_TRY(read_count(reader, &reader->value_count, LEAST_VALUE, "the number of keys"));
    WEFT_TRY(read_values(reader));
    reader->file->values_end = reader->cursor.at;
    WEFT_TRY(refuse_parts(reader->file));
    WEFT_TRY(read_tensors(reader));
    return place_tensors(reader);
}

static weft_status load(weft_gguf *file) {
    WEFT_TRY(weft_kept_file_seal(file->bytes));
    struct reader *reader = weft_alloc_zero(&file->host, 1, sizeof *reader);
    if (!reader) {
        return weft_fail_memory(&file->host, file->path);
    }
    reader->file = file;
    reader->key.host = file->host;
    weft_gguf_cursor_begin(&reader->cursor, file->bytes, 0);
    const weft_status status = read_all(reader);
    weft_free(&file->host, reader->key.data);
    weft_free(&file->host, reader);
    return status;
}

/* Takes `bytes`. */
static weft_status create(weft_gguf **file, weft_kept_file *bytes) {
    const weft_host *host = weft_kept_file_host(bytes);
    weft_gguf *created = weft_alloc_zero(host, 1, sizeof *created);
    if (!created) {
        weft_status status = weft_fail_memory(host, weft_kept_file_name(bytes));
        weft_kept_file_close(&bytes);
        return status;
    }
    *created = (weft_gguf){.host = *host, .path = weft_kept_file_name(bytes), .bytes = bytes};
    weft_status status = load(created);
    if (status != WEFT_OK) {
        weft_gguf_close(&created);
        return status;
    }
    *file = created;
    return WEFT_OK;
}

weft_status weft_gguf_open(weft_gguf **file, const char *path, const weft_host *host) {
    weft_kept_file *bytes = NULL;
    WEFT_TRY(weft_kept_file_open(&bytes, path, host));
    return create(file, bytes);
}

weft_status weft_gguf_open_memory(weft_gguf **file, const void *data, size_t size, const char *path,
                                  const weft_host *host) {
    weft_kept_file *bytes = NULL;
    WEFT_TRY(weft_kept_file_of_memory(&bytes, data, size, path, host));
    return create(file, bytes);
}

void weft_gguf_close(weft_gguf **file) {
    weft_gguf *closed = *file;
    if (!closed) {
        return;
    }
    *file = NULL;
    weft_host host = closed->host;
    weft_kept_file_close(&closed->bytes);
    for (uint32_t i = 0; i < closed->value_count; i++) {
        weft_free(&host, closed->values[i].key);
    }
    weft_free(&host, closed->values);
    weft_free(&host, closed->tensors);
    weft_free(&host, closed);
}

uint64_t weft_gguf_size(const weft_gguf *file) {
    return weft_kept_file_size(file->bytes);
}

weft_status weft_gguf_read(const weft_gguf *file, const struct weft_gguf_tensor *tensor,
                           uint64_t begin, void *out, size_t size) {
    char what[WEFT_GGUF_MAX_NAME + 16];
    snprintf(what, sizeof what, "tensor \"%s\"", tensor->name);
    return weft_kept_file_read(file->bytes, tensor->offset + begin, out, size, what);
}

uint64_t weft_gguf_values_end(const weft_gguf *file) {
    return file->values_end;
}

weft_status weft_gguf_read_front(const weft_gguf *file, uint64_t at, void *out, size_t size) {
    return weft_kept_file_read(file->bytes, at, out, size, "keys");
}

/* ---- looking things up ---- */

const char *weft_gguf_path(const weft_gguf *file) {
    return file->path;
}

const weft_host *weft_gguf_host(const weft_gguf *file) {
    return &file->host;
}

uint32_t weft_gguf_value_count(const weft_gguf *file) {
    return file->value_count;
}

const struct weft_gguf_value *weft_gguf_value_at(const weft_gguf *file, uint32_t index) {
    return index < file->value_count ? &file->values[index] : NULL;
}

const struct weft_gguf_value *weft_gguf_find(const weft_gguf *file, const char *key) {
    const struct weft_gguf_value wanted = {.key = (char *)(uintptr_t)key};
    return file->value_count == 0
               ? NULL
               : bsearch(&wanted, file->values, file->value_count, sizeof wanted, compare_keys);
}

uint32_t weft_gguf_tensor_count(const weft_gguf *file) {
    return file->tensor_count;
}

const struct weft_gguf_tensor *weft_gguf_tensor_at(const weft_gguf *file, uint32_t index) {
    return index < file->tensor_count ? &file->tensors[index] : NULL;
}

const struct weft_gguf_tensor *weft_gguf_find_tensor(const weft_gguf *file, const char *name) {
    struct weft_gguf_tensor wanted = {.rank = 0};
    if (file->tensor_count == 0 || strlen(name) > WEFT_GGUF_MAX_NAME) {
        return NULL;
    }
    memcpy(wanted.name, name, strlen(name) + 1);
    return bsearch(&wanted, file->tensors, file->tensor_count, sizeof wanted, compare_names);
}
