/* SPDX-License-Identifier: MIT */
/* Opening and checking a safetensors file. Nothing of it is used before all of it is checked. */
#include "model/files/safetensors.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/bytes.h"
#include "core/formats/json.h"
#include "core/system/kept_file.h"
#include "core/try.h"
#include "model/files/ggml_rows.h"

#define LENGTH_BYTES 8u

/* Names in messages are cut here, so that the reason behind them still fits into the line. */
#define NAME "\"%.200s\""

struct weft_safetensors {
    weft_host host;
    const char *path; /* the name of … */
    weft_kept_file *bytes;
    struct weft_safetensors_view view; /* without bytes */
    weft_safetensors_tensor *tensors;  /* sorted by name */
    uint32_t count;
    char *names; /* all names, each with its zero */
    struct weft_safetensors_notes notes;
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

/* Place of one tensor's entry, for messages of its readers. */
struct entry {
    const weft_safetensors *file;
    const char *name;
    const json_t *fields;
    uint64_t data; /* where the file's data begin */
    uint64_t data_size;
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
                         "%" PRIu64 " bytes of data, found [%" PRIu64 ", %" PRIu64 "]",
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
    tensor->offset = entry->data + begin;
    tensor->bytes = end - begin;
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

/* The header while it is read: first it is counted, then the tensors are taken. */
struct header {
    weft_safetensors *file;
    weft_json_part text;
    uint64_t data, data_size;
    size_t count, name_bytes;
    char *name_end;
};

static bool is_metadata(const char *key) {
    return strcmp(key, "__metadata__") == 0;
}

static weft_status count_entry(void *user, const char *key, const weft_json_part *value) {
    struct header *header = user;
    weft_safetensors *file = header->file;
    if (is_metadata(key)) {
        return file->notes.text
                   ? weft_fail(&file->host, WEFT_BAD_FILE, "%s: duplicate __metadata__", file->path)
                   : weft_safetensors_notes_read(&file->notes, value);
    }
    header->count++;
    header->name_bytes += strlen(key) + 1;
    return value->size <= WEFT_SAFETENSORS_MAX_ENTRY
               ? WEFT_OK
               : weft_fail(&file->host, WEFT_BAD_FILE,
                           "%s: tensor " NAME ": expected at most %u bytes of type, shape and "
                           "offsets, found %zu",
                           file->path, key, WEFT_SAFETENSORS_MAX_ENTRY, value->size);
}

static weft_status take_entry(void *user, const char *key, const weft_json_part *value) {
    struct header *header = user;
    weft_safetensors *file = header->file;
    if (is_metadata(key)) {
        return WEFT_OK;
    }
    weft_safetensors_tensor *tensor = &file->tensors[file->count];
    const size_t name_size = strlen(key) + 1;
    tensor->name = memcpy(header->name_end, key, name_size);
    header->name_end += name_size;
    json_t *fields = NULL;
    WEFT_TRY(weft_json_part_parse(&fields, value));
    const struct entry entry = {file, key, fields, header->data, header->data_size};
    weft_status status = read_tensor(tensor, &entry);
    json_decref(fields);
    file->count++;
    return status;
}

static int compare_names(const void *left, const void *right) {
    const weft_safetensors_tensor *a = left;
    const weft_safetensors_tensor *b = right;
    return strcmp(a->name, b->name);
}

/* What is stored as rows of blocks becomes the matrix that these stand for, and its name loses the format's. */
static weft_status take_blocks(weft_safetensors *file) {
    for (uint32_t i = 0; i < file->count; i++) {
        weft_safetensors_tensor *tensor = &file->tensors[i];
        const char *end = strrchr(tensor->name, '.');
        const struct weft_ggml_format *format = end ? weft_ggml_format_called(end + 1) : NULL;
        if (!format || tensor->dtype != WEFT_SAFETENSORS_U8 || tensor->rank != 2) {
            continue;
        }
        if (tensor->shape[1] % format->bytes != 0) {
            return weft_fail(&file->host, WEFT_BAD_FILE,
                             "%s: tensor " NAME ": expected rows of blocks of %u bytes, as %s has "
                             "them, found rows of %" PRIu64 " bytes",
                             file->path, tensor->name, format->bytes, format->name,
                             tensor->shape[1]);
        }
        file->names[end - file->names] = '\0';
        tensor->format = format;
        tensor->dtype = WEFT_SAFETENSORS_F32;
        tensor->shape[1] = tensor->shape[1] / format->bytes * format->elements;
        tensor->elements = tensor->shape[0] * tensor->shape[1];
        tensor->bytes = tensor->elements * sizeof(float);
    }
    return WEFT_OK;
}

static weft_status sort_tensors(weft_safetensors *file) {
    if (file->count > 0) {
        qsort(file->tensors, file->count, sizeof *file->tensors, compare_names);
    }
    for (uint32_t i = 1; i < file->count; i++) {
        if (compare_names(&file->tensors[i - 1], &file->tensors[i]) == 0) {
            return weft_fail(&file->host, WEFT_BAD_FILE, "%s: duplicate tensor name " NAME,
                             file->path, file->tensors[i].name);
        }
    }
    return WEFT_OK;
}

static weft_status read_header(struct header *header) {
    weft_safetensors *file = header->file;
    WEFT_TRY(weft_json_walk(&header->text, count_entry, header));
    if (header->count == 0) {
        return WEFT_OK;
    }
    file->tensors = weft_alloc_zero(&file->host, header->count, sizeof *file->tensors);
    file->names = weft_alloc(&file->host, header->name_bytes);
    if (!file->tensors || !file->names) {
        return weft_fail_memory(&file->host, file->path);
    }
    header->name_end = file->names;
    return weft_json_walk(&header->text, take_entry, header);
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
static weft_status check_spans(const weft_safetensors *file, const span *spans,
                               uint64_t data_size) {
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
                         "%s: expected %" PRIu64
                         " bytes of data, as its tensors have, found %" PRIu64,
                         file->path, position, data_size);
    }
    return WEFT_OK;
}

static weft_status check_layout(const weft_safetensors *file, uint64_t data, uint64_t data_size) {
    if (file->count == 0) {
        return check_spans(file, NULL, data_size);
    }
    span *spans = weft_alloc_zero(&file->host, file->count, sizeof *spans);
    if (!spans) {
        return weft_fail_memory(&file->host, file->path);
    }
    for (uint32_t i = 0; i < file->count; i++) {
        const weft_safetensors_tensor *tensor = &file->tensors[i];
        const uint64_t begin = tensor->bytes == 0 ? 0 : tensor->offset - data;
        spans[i] = (span){begin, begin + tensor->bytes, tensor->name};
    }
    qsort(spans, file->count, sizeof *spans, compare_spans);
    weft_status status = check_spans(file, spans, data_size);
    weft_free(&file->host, spans);
    return status;
}

/* ---- the file ---- */

static weft_status read_header_size(size_t *header_size, const weft_safetensors *file) {
    const uint64_t size = weft_kept_file_size(file->bytes);
    if (size < LENGTH_BYTES) {
        return weft_fail(&file->host, WEFT_BAD_FILE,
                         "%s: expected 8 bytes of header length, found a file of %" PRIu64 " bytes",
                         file->path, size);
    }
    uint8_t bytes[LENGTH_BYTES];
    WEFT_TRY(weft_kept_file_read(file->bytes, 0, bytes, LENGTH_BYTES, "header length"));
    const uint64_t length = weft_load_bytes(bytes, LENGTH_BYTES);
    if (length > WEFT_SAFETENSORS_MAX_HEADER) {
        return weft_fail(&file->host, WEFT_BAD_FILE,
                         "%s: header length: expected at most %u, found %" PRIu64, file->path,
                         WEFT_SAFETENSORS_MAX_HEADER, length);
    }
    if (length > size - LENGTH_BYTES) {
        return weft_fail(&file->host, WEFT_BAD_FILE,
                         "%s: header length: expected at most %" PRIu64
                         ", the bytes that follow, found %" PRIu64,
                         file->path, size - LENGTH_BYTES, length);
    }
    *header_size = (size_t)length;
    return WEFT_OK;
}

/* Checksums of all of the file, and that its header is what was parsed meanwhile. */
static weft_status seal(weft_safetensors *file, const weft_json_part *text) {
    WEFT_TRY(weft_kept_file_seal(file->bytes));
    char piece[4096];
    for (size_t done = 0; done < text->size;) {
        const size_t left = text->size - done;
        const size_t count = left < sizeof piece ? left : sizeof piece;
        WEFT_TRY(weft_kept_file_read(file->bytes, LENGTH_BYTES + done, piece, count, "the header"));
        if (memcmp(piece, text->text + done, count) != 0) {
            return weft_fail(&file->host, WEFT_BAD_FILE, "%s: the header changed while it was read",
                             file->path);
        }
        done += count;
    }
    return WEFT_OK;
}

static weft_status parse(weft_safetensors *file, const weft_json_part *text) {
    if (text->size == 0 || text->text[0] != '{') {
        return weft_fail(&file->host, WEFT_BAD_FILE, "%s: header: expected a JSON object",
                         file->path);
    }
    const uint64_t data = LENGTH_BYTES + text->size;
    struct header header = {.file = file,
                            .text = *text,
                            .data = data,
                            .data_size = weft_kept_file_size(file->bytes) - data};
    WEFT_TRY(read_header(&header));
    WEFT_TRY(check_layout(file, data, header.data_size));
    WEFT_TRY(take_blocks(file));
    WEFT_TRY(sort_tensors(file));
    return seal(file, text);
}

static weft_status load(weft_safetensors *file) {
    size_t size = 0;
    WEFT_TRY(read_header_size(&size, file));
    char *text = weft_alloc(&file->host, size + 1);
    if (!text) {
        return weft_fail_memory(&file->host, file->path);
    }
    weft_status status = weft_kept_file_read(file->bytes, LENGTH_BYTES, text, size, "the header");
    if (status == WEFT_OK) {
        status = parse(file, &(weft_json_part){.document = text,
                                               .text = text,
                                               .size = size,
                                               .path = file->path,
                                               .host = &file->host});
    }
    weft_free(&file->host, text);
    return status;
}

/* Takes `bytes`. */
static weft_status create(weft_safetensors **file, weft_kept_file *bytes) {
    const weft_host *host = weft_kept_file_host(bytes);
    const char *path = weft_kept_file_name(bytes);
    weft_safetensors *created = weft_alloc_zero(host, 1, sizeof *created);
    if (!created) {
        weft_status status = weft_fail_memory(host, path);
        weft_kept_file_close(&bytes);
        return status;
    }
    *created = (weft_safetensors){.host = *host, .path = path, .bytes = bytes};
    weft_status status = load(created);
    if (status != WEFT_OK) {
        weft_safetensors_close(&created);
        return status;
    }
    *file = created;
    return WEFT_OK;
}

weft_status weft_safetensors_open_memory(weft_safetensors **file, const void *data, size_t size,
                                         const char *path, const weft_host *host) {
    weft_kept_file *bytes = NULL;
    WEFT_TRY(weft_kept_file_of_memory(&bytes, data, size, path, host));
    return create(file, bytes);
}

weft_status weft_safetensors_open(weft_safetensors **file, const char *path,
                                  const weft_host *host) {
    weft_kept_file *bytes = NULL;
    WEFT_TRY(weft_kept_file_open(&bytes, path, host));
    return create(file, bytes);
}

/* Takes what the view says, but its user. */
static weft_status take_view(weft_safetensors *file, const struct weft_safetensors_view *view) {
    const size_t bytes = view->count * sizeof *file->tensors;
    file->path = view->path;
    file->count = view->count;
    if (view->count == 0) {
        return WEFT_OK;
    }
    file->tensors = weft_alloc(&file->host, bytes);
    if (!file->tensors) {
        return weft_fail_memory(&file->host, view->path);
    }
    memcpy(file->tensors, view->tensors, bytes);
    return sort_tensors(file);
}

weft_status weft_safetensors_open_view(weft_safetensors **file,
                                       const struct weft_safetensors_view *view,
                                       const weft_host *host) {
    weft_safetensors *created = weft_alloc_zero(host, 1, sizeof *created);
    if (!created) {
        return weft_fail_memory(host, view->path);
    }
    created->host = host ? *host : (weft_host){0};
    const weft_status status = take_view(created, view);
    if (status != WEFT_OK) {
        weft_safetensors_close(&created);
        return status;
    }
    created->view = *view;
    *file = created;
    return WEFT_OK;
}

static weft_status read_bytes(const weft_safetensors *file, const weft_safetensors_tensor *tensor,
                              uint64_t begin, void *out, size_t size) {
    char what[256];
    snprintf(what, sizeof what, "tensor " NAME, tensor->name);
    return weft_kept_file_read(file->bytes, tensor->offset + begin, out, size, what);
}

static weft_status read_bytes_of(const struct weft_ggml_matrix *matrix, uint64_t begin, void *out,
                                 size_t size) {
    return read_bytes(matrix->file, matrix->tensor, begin, out, size);
}

static struct weft_ggml_matrix matrix_of(const weft_safetensors *file,
                                         const weft_safetensors_tensor *tensor) {
    return (struct weft_ggml_matrix){.format = tensor->format,
                                     .name = tensor->name,
                                     .columns = tensor->shape[1],
                                     .read = read_bytes_of,
                                     .file = file,
                                     .tensor = tensor,
                                     .host = &file->host};
}

const struct weft_block_form *weft_safetensors_blocks(const weft_safetensors *file,
                                                      const weft_safetensors_tensor *tensor) {
    if (file->view.blocks) {
        return file->view.blocks(file->view.user, tensor);
    }
    return tensor->format ? &tensor->format->form : NULL;
}

weft_status weft_safetensors_read_blocks(const weft_safetensors *file,
                                         const weft_safetensors_tensor *tensor, uint64_t first_row,
                                         uint64_t rows, const struct weft_blocks *out) {
    if (file->view.read_blocks) {
        return file->view.read_blocks(file->view.user, tensor, first_row, rows, out);
    }
    const struct weft_ggml_matrix matrix = matrix_of(file, tensor);
    return weft_ggml_read_rows(&matrix, first_row, rows, out);
}

bool weft_safetensors_is_view(const weft_safetensors *file) {
    return !file->bytes;
}

void weft_safetensors_close(weft_safetensors **file) {
    weft_safetensors *closed = *file;
    if (!closed) {
        return;
    }
    *file = NULL;
    weft_host host = closed->host;
    const struct weft_safetensors_view view = closed->view;
    weft_kept_file_close(&closed->bytes);
    weft_safetensors_notes_free(&closed->notes, &host);
    weft_free(&host, closed->tensors);
    weft_free(&host, closed->names);
    weft_free(&host, closed);
    if (view.release) {
        view.release(view.user);
    }
}

/* ---- its bytes ---- */

uint64_t weft_safetensors_size(const weft_safetensors *file) {
    return weft_kept_file_size(file->bytes);
}

weft_status weft_safetensors_copy(const weft_safetensors *file, void *out) {
    return weft_kept_file_read(file->bytes, 0, out, (size_t)weft_kept_file_size(file->bytes),
                               "the file");
}

weft_status weft_safetensors_read(const weft_safetensors *file,
                                  const weft_safetensors_tensor *tensor, uint64_t begin, void *out,
                                  size_t size) {
    if (!file->bytes) {
        return file->view.read(file->view.user, tensor, begin, out, size);
    }
    if (tensor->format) {
        const struct weft_ggml_matrix matrix = matrix_of(file, tensor);
        return weft_ggml_read_numbers(&matrix, begin / sizeof(float), size / sizeof(float), out);
    }
    return read_bytes(file, tensor, begin, out, size);
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

uint32_t weft_safetensors_note_count(const weft_safetensors *file) {
    return file->notes.count;
}

const weft_safetensors_note *weft_safetensors_note_at(const weft_safetensors *file,
                                                      uint32_t index) {
    return index < file->notes.count ? &file->notes.items[index] : NULL;
}

const weft_safetensors_tensor *weft_safetensors_find(const weft_safetensors *file,
                                                     const char *name) {
    if (file->count == 0) {
        return NULL;
    }
    weft_safetensors_tensor key = {.name = name};
    return bsearch(&key, file->tensors, file->count, sizeof key, compare_names);
}
