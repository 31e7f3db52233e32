/* SPDX-License-Identifier: MIT */
/* Opening and checking a safetensors file. Nothing of it is used before all of it is checked. */
#include "model/safetensors.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/bytes.h"
#include "core/file.h"
#include "core/json.h"
#include "core/try.h"

#define LENGTH_BYTES 8u

/* Names in messages are cut here, so that the reason behind them still fits into the line. */
#define NAME "\"%.200s\""

struct weft_safetensors {
    weft_host host;
    char *path;
    weft_mapping mapping;             /* empty when the bytes are borrowed */
    weft_safetensors_tensor *tensors; /* sorted by name */
    uint32_t count;
    char *names; /* all names, each with its zero */
};

static const struct {
    const char *name;
    size_t size;
} dtypes[WEFT_SAFETENSORS_DTYPE_COUNT] = {
    [WEFT_SAFETENSORS_BOOL] = {"BOOL", 1},       [WEFT_SAFETENSORS_U8] = {"U8", 1},
    [WEFT_SAFETENSORS_I8] = {"I8", 1},           [WEFT_SAFETENSORS_F8_E5M2] = {"F8_E5M2", 1},
    [WEFT_SAFETENSORS_F8_E4M3] = {"F8_E4M3", 1}, [WEFT_SAFETENSORS_F8_E8M0] = {"F8_E8M0", 1},
    [WEFT_SAFETENSORS_I16] = {"I16", 2},         [WEFT_SAFETENSORS_U16] = {"U16", 2},
    [WEFT_SAFETENSORS_F16] = {"F16", 2},         [WEFT_SAFETENSORS_BF16] = {"BF16", 2},
    [WEFT_SAFETENSORS_I32] = {"I32", 4},         [WEFT_SAFETENSORS_U32] = {"U32", 4},
    [WEFT_SAFETENSORS_F32] = {"F32", 4},         [WEFT_SAFETENSORS_F64] = {"F64", 8},
    [WEFT_SAFETENSORS_I64] = {"I64", 8},         [WEFT_SAFETENSORS_U64] = {"U64", 8},
    [WEFT_SAFETENSORS_C64] = {"C64", 8},
};

/* In the specification, but with elements that share bytes. */
static const char *const packed_dtypes[] = {"F4", "F6_E2M3", "F6_E3M2"};

const char *weft_safetensors_dtype_name(weft_safetensors_dtype dtype) {
    size_t index = (size_t)dtype;
    return index < WEFT_SAFETENSORS_DTYPE_COUNT ? dtypes[index].name : "unknown dtype";
}

size_t weft_safetensors_dtype_size(weft_safetensors_dtype dtype) {
    size_t index = (size_t)dtype;
    return index < WEFT_SAFETENSORS_DTYPE_COUNT ? dtypes[index].size : 0;
}

/* ---- the header ---- */

/* What the readers of one tensor's entry need to say where they are. */
struct entry {
    const weft_safetensors *file;
    const char *name;
    const json_t *fields;
    const uint8_t *data;
    size_t data_size;
};

static weft_status fail_field(const struct entry *entry, weft_status status, const char *field,
                              const char *expected, const json_t *found) {
    char text[WEFT_JSON_TEXT_SIZE];
    return weft_fail(&entry->file->host, status, "%s: tensor " NAME ": %s: expected %s, found %s",
                     entry->file->path, entry->name, field, expected,
                     weft_json_describe(found, text));
}

static weft_status read_dtype(weft_safetensors_tensor *tensor, const struct entry *entry) {
    const json_t *field = json_object_get(entry->fields, "dtype");
    const char *name = json_string_value(field);
    for (size_t i = 0; name && i < WEFT_SAFETENSORS_DTYPE_COUNT; i++) {
        if (strcmp(name, dtypes[i].name) == 0) {
            tensor->dtype = (weft_safetensors_dtype)i;
            return WEFT_OK;
        }
    }
    for (size_t i = 0; name && i < sizeof packed_dtypes / sizeof packed_dtypes[0]; i++) {
        if (strcmp(name, packed_dtypes[i]) == 0) {
            return fail_field(entry, WEFT_UNSUPPORTED, "dtype", "elements of whole bytes", field);
        }
    }
    return fail_field(entry, WEFT_BAD_FILE, "dtype",
                      "one of BOOL, U8, I8, F8_E5M2, F8_E4M3, F8_E8M0, I16, U16, F16, BF16, I32, "
                      "U32, F32, F64, I64, U64, C64",
                      field);
}

static weft_status read_shape(weft_safetensors_tensor *tensor, const struct entry *entry) {
    const json_t *field = json_object_get(entry->fields, "shape");
    if (!json_is_array(field) || json_array_size(field) > WEFT_SAFETENSORS_MAX_RANK) {
        return fail_field(entry, WEFT_BAD_FILE, "shape", "an array of at most 8 integers", field);
    }
    tensor->rank = (uint32_t)json_array_size(field);
    tensor->elements = 1;
    for (uint32_t axis = 0; axis < tensor->rank; axis++) {
        const json_t *extent = json_array_get(field, axis);
        if (!json_is_integer(extent) || json_integer_value(extent) < 0) {
            return fail_field(entry, WEFT_BAD_FILE, "shape", "non-negative integers", extent);
        }
        tensor->shape[axis] = (uint64_t)json_integer_value(extent);
        if (tensor->shape[axis] != 0 && tensor->elements > UINT64_MAX / tensor->shape[axis]) {
            return weft_fail(&entry->file->host, WEFT_BAD_FILE,
                             "%s: tensor " NAME ": shape: expected less than 2^64 elements, found "
                             "more",
                             entry->file->path, entry->name);
        }
        tensor->elements *= tensor->shape[axis];
    }
    return WEFT_OK;
}

static weft_status read_offsets(uint64_t offsets[2], const struct entry *entry) {
    const json_t *field = json_object_get(entry->fields, "data_offsets");
    if (!json_is_array(field) || json_array_size(field) != 2) {
        return fail_field(entry, WEFT_BAD_FILE, "data_offsets", "an array of 2 integers", field);
    }
    for (size_t i = 0; i < 2; i++) {
        const json_t *offset = json_array_get(field, i);
        if (!json_is_integer(offset) || json_integer_value(offset) < 0) {
            return fail_field(entry, WEFT_BAD_FILE, "data_offsets", "non-negative integers",
                              offset);
        }
        offsets[i] = (uint64_t)json_integer_value(offset);
    }
    return WEFT_OK;
}

static weft_status read_place(weft_safetensors_tensor *tensor, const struct entry *entry) {
    uint64_t offsets[2] = {0};
    WEFT_TRY(read_offsets(offsets, entry));
    const weft_host *host = &entry->file->host;
    const char *path = entry->file->path;
    uint64_t begin = offsets[0];
    uint64_t end = offsets[1];
    if (begin > end || end > entry->data_size) {
        return weft_fail(host, WEFT_BAD_FILE,
                         "%s: tensor " NAME ": data_offsets: expected a range within the file's "
                         "%zu bytes of data, found [%" PRIu64 ", %" PRIu64 "]",
                         path, entry->name, entry->data_size, begin, end);
    }
    uint64_t size = dtypes[tensor->dtype].size;
    if (tensor->elements > UINT64_MAX / size || tensor->elements * size != end - begin) {
        return weft_fail(host, WEFT_BAD_FILE,
                         "%s: tensor " NAME ": data_offsets: expected %" PRIu64 " elements of "
                         "%" PRIu64 " bytes (%s), found %" PRIu64 " bytes [%" PRIu64 ", %" PRIu64
                         "]",
                         path, entry->name, tensor->elements, size,
                         weft_safetensors_dtype_name(tensor->dtype), end - begin, begin, end);
    }
    if (begin % size != 0) {
        return weft_fail(host, WEFT_BAD_FILE,
                         "%s: tensor " NAME ": data_offsets: expected a multiple of %" PRIu64
                         " (%s), found the misaligned offset %" PRIu64,
                         path, entry->name, size, weft_safetensors_dtype_name(tensor->dtype),
                         begin);
    }
    tensor->data = end == begin ? NULL : entry->data + begin;
    tensor->bytes = (size_t)(end - begin);
    return WEFT_OK;
}

static weft_status read_tensor(weft_safetensors_tensor *tensor, const struct entry *entry) {
    if (!json_is_object(entry->fields)) {
        return fail_field(entry, WEFT_BAD_FILE, "entry", "an object", entry->fields);
    }
    WEFT_TRY(read_dtype(tensor, entry));
    WEFT_TRY(read_shape(tensor, entry));
    return read_place(tensor, entry);
}

static weft_status check_metadata(const weft_safetensors *file, json_t *metadata) {
    char found[WEFT_JSON_TEXT_SIZE];
    if (!json_is_object(metadata)) {
        return weft_fail(&file->host, WEFT_BAD_FILE,
                         "%s: __metadata__: expected an object of strings, found %s", file->path,
                         weft_json_describe(metadata, found));
    }
    const char *key;
    json_t *value;
    json_object_foreach(metadata, key, value) {
        if (!json_is_string(value)) {
            return weft_fail(&file->host, WEFT_BAD_FILE,
                             "%s: __metadata__: " NAME ": expected a string, found %s", file->path,
                             key, weft_json_describe(value, found));
        }
    }
    return WEFT_OK;
}

static bool is_metadata(const char *key) {
    return strcmp(key, "__metadata__") == 0;
}

/* Room for all tensors, and their names in one block. */
static weft_status allocate_tensors(weft_safetensors *file, json_t *header) {
    size_t count = 0;
    size_t name_bytes = 0;
    const char *key;
    json_t *value;
    json_object_foreach(header, key, value) {
        if (!is_metadata(key)) {
            count++;
            name_bytes += strlen(key) + 1;
        }
    }
    if (count == 0) {
        return WEFT_OK;
    }
    if (count > UINT32_MAX) {
        return weft_fail(&file->host, WEFT_BAD_FILE, "%s: too many tensors", file->path);
    }
    file->tensors = weft_alloc_zero(&file->host, count, sizeof *file->tensors);
    file->names = weft_alloc(&file->host, name_bytes);
    if (!file->tensors || !file->names) {
        return weft_fail_memory(&file->host, file->path);
    }
    return WEFT_OK;
}

static weft_status read_header(weft_safetensors *file, json_t *header, const uint8_t *data,
                               size_t data_size) {
    WEFT_TRY(allocate_tensors(file, header));
    char *name_end = file->names;
    const char *key;
    json_t *value;
    json_object_foreach(header, key, value) {
        if (is_metadata(key)) {
            WEFT_TRY(check_metadata(file, value));
            continue;
        }
        weft_safetensors_tensor *tensor = &file->tensors[file->count];
        size_t name_size = strlen(key) + 1;
        tensor->name = memcpy(name_end, key, name_size);
        name_end += name_size;
        struct entry entry = {file, key, value, data, data_size};
        WEFT_TRY(read_tensor(tensor, &entry));
        file->count++;
    }
    return WEFT_OK;
}

/* ---- the layout of the data ---- */

typedef struct span {
    uint64_t begin;
    uint64_t end;
    const char *name;
} span;

static int compare_spans(const void *left, const void *right) {
    const span *a = left;
    const span *b = right;
    if (a->begin != b->begin) {
        return a->begin < b->begin ? -1 : 1;
    }
    return (a->end > b->end) - (a->end < b->end);
}

/* Sorted spans must follow each other without overlap or gap, and end where the file ends. */
static weft_status check_spans(const weft_safetensors *file, const span *spans, size_t data_size) {
    uint64_t position = 0;
    for (uint32_t i = 0; i < file->count; i++) {
        if (spans[i].begin < position) {
            return weft_fail(&file->host, WEFT_BAD_FILE,
                             "%s: tensor " NAME ": data_offsets [%" PRIu64 ", %" PRIu64
                             "] overlap those of tensor " NAME ", [%" PRIu64 ", %" PRIu64 "]",
                             file->path, spans[i].name, spans[i].begin, spans[i].end,
                             spans[i - 1].name, spans[i - 1].begin, spans[i - 1].end);
        }
        if (spans[i].begin > position) {
            return weft_fail(&file->host, WEFT_BAD_FILE,
                             "%s: tensor " NAME ": data_offsets: expected to begin at %" PRIu64
                             ", where the data before it ends, found %" PRIu64,
                             file->path, spans[i].name, position, spans[i].begin);
        }
        position = spans[i].end;
    }
    if (position != data_size) {
        return weft_fail(&file->host, WEFT_BAD_FILE,
                         "%s: expected %" PRIu64 " bytes of data, as its tensors have, found %zu",
                         file->path, position, data_size);
    }
    return WEFT_OK;
}

static weft_status check_layout(const weft_safetensors *file, const uint8_t *data,
                                size_t data_size) {
    if (file->count == 0) {
        return check_spans(file, NULL, data_size);
    }
    span *spans = weft_alloc_zero(&file->host, file->count, sizeof *spans);
    if (!spans) {
        return weft_fail_memory(&file->host, file->path);
    }
    for (uint32_t i = 0; i < file->count; i++) {
        const weft_safetensors_tensor *tensor = &file->tensors[i];
        uint64_t begin = !tensor->data ? 0 : (uint64_t)(tensor->data - data);
        spans[i] = (span){begin, begin + tensor->bytes, tensor->name};
    }
    qsort(spans, file->count, sizeof *spans, compare_spans);
    weft_status status = check_spans(file, spans, data_size);
    weft_free(&file->host, spans);
    return status;
}

/* ---- the file ---- */

static weft_status read_header_size(size_t *header_size, const weft_safetensors *file,
                                    const uint8_t *bytes, size_t size) {
    if (size < LENGTH_BYTES) {
        return weft_fail(&file->host, WEFT_BAD_FILE,
                         "%s: expected 8 bytes of header length, found a file of %zu bytes",
                         file->path, size);
    }
    const uint64_t length = weft_load_bytes(bytes, LENGTH_BYTES);
    if (length > WEFT_SAFETENSORS_MAX_HEADER) {
        return weft_fail(&file->host, WEFT_BAD_FILE,
                         "%s: header length: expected at most %u, found %" PRIu64, file->path,
                         WEFT_SAFETENSORS_MAX_HEADER, length);
    }
    if (length > size - LENGTH_BYTES) {
        return weft_fail(&file->host, WEFT_BAD_FILE,
                         "%s: header length: expected at most %zu, the bytes that follow, found "
                         "%" PRIu64,
                         file->path, size - LENGTH_BYTES, length);
    }
    if (length == 0 || bytes[LENGTH_BYTES] != '{') {
        return weft_fail(&file->host, WEFT_BAD_FILE, "%s: header: expected a JSON object",
                         file->path);
    }
    *header_size = (size_t)length;
    return WEFT_OK;
}

static int compare_names(const void *left, const void *right) {
    const weft_safetensors_tensor *a = left;
    const weft_safetensors_tensor *b = right;
    return strcmp(a->name, b->name);
}

static weft_status parse(weft_safetensors *file, const uint8_t *bytes, size_t size) {
    size_t header_size = 0;
    WEFT_TRY(read_header_size(&header_size, file, bytes, size));
    json_t *header = NULL;
    WEFT_TRY(weft_json_parse(&header, bytes + LENGTH_BYTES, header_size, file->path, &file->host));
    const uint8_t *data = bytes + LENGTH_BYTES + header_size;
    size_t data_size = size - LENGTH_BYTES - header_size;
    weft_status status = read_header(file, header, data, data_size);
    json_decref(header);
    WEFT_TRY(status);
    WEFT_TRY(check_layout(file, data, data_size));
    if (file->count > 0) {
        qsort(file->tensors, file->count, sizeof *file->tensors, compare_names);
    }
    return WEFT_OK;
}

static weft_status create(weft_safetensors **file, const char *path, const weft_host *host) {
    weft_safetensors *created = weft_alloc_zero(host, 1, sizeof *created);
    if (!created) {
        return weft_fail_memory(host, path);
    }
    created->host = host ? *host : (weft_host){0};
    created->path = weft_strdup(host, path);
    if (!created->path) {
        weft_safetensors_close(&created);
        return weft_fail_memory(host, path);
    }
    *file = created;
    return WEFT_OK;
}

weft_status weft_safetensors_open_memory(weft_safetensors **file, const void *data, size_t size,
                                         const char *path, const weft_host *host) {
    weft_safetensors *created = NULL;
    WEFT_TRY(create(&created, path, host));
    weft_status status = parse(created, data, size);
    if (status != WEFT_OK) {
        weft_safetensors_close(&created);
        return status;
    }
    *file = created;
    return WEFT_OK;
}

weft_status weft_safetensors_open(weft_safetensors **file, const char *path,
                                  const weft_host *host) {
    weft_mapping mapping = {0};
    WEFT_TRY(weft_file_map(&mapping, path, host));
    weft_status status = weft_safetensors_open_memory(file, mapping.data, mapping.size, path, host);
    if (status == WEFT_OK) {
        (*file)->mapping = mapping;
    } else {
        weft_file_unmap(&mapping);
    }
    return status;
}

void weft_safetensors_close(weft_safetensors **file) {
    weft_safetensors *closed = *file;
    if (!closed) {
        return;
    }
    *file = NULL;
    weft_host host = closed->host;
    weft_file_unmap(&closed->mapping);
    weft_free(&host, closed->tensors);
    weft_free(&host, closed->names);
    weft_free(&host, closed->path);
    weft_free(&host, closed);
}

/* ---- looking things up ---- */

const char *weft_safetensors_path(const weft_safetensors *file) {
    return file->path;
}

const weft_host *weft_safetensors_host(const weft_safetensors *file) {
    return &file->host;
}

uint32_t weft_safetensors_count(const weft_safetensors *file) {
    return file->count;
}

const weft_safetensors_tensor *weft_safetensors_at(const weft_safetensors *file, uint32_t index) {
    return index < file->count ? &file->tensors[index] : NULL;
}

const weft_safetensors_tensor *weft_safetensors_find(const weft_safetensors *file,
                                                     const char *name) {
    if (file->count == 0) {
        return NULL;
    }
    weft_safetensors_tensor key = {.name = name};
    return bsearch(&key, file->tensors, file->count, sizeof key, compare_names);
}
