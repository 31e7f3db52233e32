/* SPDX-License-Identifier: MIT */
/* Opening, converting and writing .npy files; npy_header.c reads the header. */
#include "core/formats/npy.h"

#include <inttypes.h>
#include <string.h>

#include "core/bytes.h"
#include "core/shape.h"
#include "core/system/file.h"
#include "core/system/system.h"
#include "core/try.h"

static const struct {
    const char *name;
    size_t size;
} dtypes[WEFT_NPY_DTYPE_COUNT] = {
    [WEFT_NPY_U8] = {"|u1", 1},  [WEFT_NPY_I32] = {"<i4", 4}, [WEFT_NPY_I64] = {"<i8", 8},
    [WEFT_NPY_F32] = {"<f4", 4}, [WEFT_NPY_F64] = {"<f8", 8},
};

const char *weft_npy_dtype_name(weft_npy_dtype dtype) {
    size_t index = (size_t)dtype;
    return index < WEFT_NPY_DTYPE_COUNT ? dtypes[index].name : "unknown dtype";
}

size_t weft_npy_dtype_size(weft_npy_dtype dtype) {
    size_t index = (size_t)dtype;
    return index < WEFT_NPY_DTYPE_COUNT ? dtypes[index].size : 0;
}

const char *weft_npy_shape_text(const weft_npy *npy, char *text) {
    return weft_extents_text(text, WEFT_NPY_SHAPE_TEXT_SIZE, npy->shape, npy->rank);
}

/* ---- opening ---- */

static weft_status find_dtype(weft_npy *npy, const struct weft_npy_header *header) {
    for (size_t i = 0; i < WEFT_NPY_DTYPE_COUNT; i++) {
        if (strcmp(header->descr, dtypes[i].name) == 0) {
            npy->dtype = (weft_npy_dtype)i;
            return WEFT_OK;
        }
    }
    return weft_fail(&npy->host, WEFT_BAD_FILE,
                     "%s: descr: expected |u1, <i4, <i8, <f4 or <f8, found %s", npy->name,
                     header->descr);
}

static weft_status count_elements(weft_npy *npy, const struct weft_npy_header *header) {
    npy->rank = header->rank;
    npy->elements = 1;
    for (uint32_t axis = 0; axis < header->rank; axis++) {
        uint64_t extent = header->shape[axis];
        npy->shape[axis] = extent;
        if (extent != 0 && npy->elements > UINT64_MAX / extent) {
            return weft_fail(&npy->host, WEFT_BAD_FILE,
                             "%s: shape: expected less than 2^64 elements, found more", npy->name);
        }
        npy->elements *= extent;
    }
    return WEFT_OK;
}

/* Everything but the data, of a file of `total` bytes. */
static weft_status describe(weft_npy *npy, const uint8_t *header_bytes, size_t header_size,
                            uint64_t total) {
    struct weft_npy_header header;
    WEFT_TRY(weft_npy_header_read(&header, header_bytes, header_size, npy->name, &npy->host));
    WEFT_TRY(find_dtype(npy, &header));
    WEFT_TRY(count_elements(npy, &header));
    const size_t element = dtypes[npy->dtype].size;
    const uint64_t rest = total - header_size;
    if (npy->elements > UINT64_MAX / element || npy->elements * element != rest) {
        char shape[WEFT_NPY_SHAPE_TEXT_SIZE];
        return weft_fail(&npy->host, WEFT_BAD_FILE,
                         "%s: data: expected %" PRIu64 " elements of %zu bytes for shape %s, found "
                         "%" PRIu64 " bytes",
                         npy->name, npy->elements, element, weft_npy_shape_text(npy, shape), rest);
    }
    npy->bytes = rest;
    return WEFT_OK;
}

static weft_status begin(weft_npy *npy, const char *name, const weft_host *host) {
    *npy = (weft_npy){.host = host ? *host : (weft_host){0}, .name = weft_strdup(host, name)};
    return npy->name ? WEFT_OK : weft_fail_memory(host, name);
}

/* *npy gets the result, or what there is of it is released. */
static weft_status finish(weft_npy *npy, weft_npy *result, weft_status status) {
    if (status == WEFT_OK) {
        *npy = *result;
    } else {
        weft_npy_close(result);
    }
    return status;
}

weft_status weft_npy_open_memory(weft_npy *npy, const void *data, size_t size, const char *name,
                                 const weft_host *host) {
    const uint8_t *bytes = data;
    size_t header_size = 0;
    weft_npy result;
    WEFT_TRY(begin(&result, name, host));
    weft_status status = weft_npy_header_measure(
        &header_size, bytes, size < WEFT_NPY_START ? size : WEFT_NPY_START, size, name, host);
    if (status == WEFT_OK) {
        status = describe(&result, bytes, header_size, size);
        result.data = bytes + header_size;
    }
    return finish(npy, &result, status);
}

/* ---- out of a stream ---- */

static weft_status read_header(weft_npy *npy, const struct weft_npy_stream *stream) {
    uint8_t bytes[WEFT_NPY_MAX_HEADER];
    const size_t start = stream->size < WEFT_NPY_START ? (size_t)stream->size : WEFT_NPY_START;
    size_t size = 0;
    WEFT_TRY(stream->read(stream->user, bytes, start));
    WEFT_TRY(weft_npy_header_measure(&size, bytes, start, stream->size, npy->name, &npy->host));
    if (size < start) {
        return weft_fail(&npy->host, WEFT_BAD_FILE, "%s: expected a header, found none", npy->name);
    }
    WEFT_TRY(stream->read(stream->user, bytes + start, size - start));
    return describe(npy, bytes, size, stream->size);
}

static weft_status read_data(weft_npy *npy, const struct weft_npy_stream *stream, uint64_t limit) {
    if (npy->bytes > limit || npy->bytes > SIZE_MAX - 1) {
        return weft_fail(&npy->host, WEFT_BAD_FILE,
                         "%s: expected at most %" PRIu64 " bytes of data, found %" PRIu64,
                         npy->name, limit, npy->bytes);
    }
    npy->owned = weft_alloc(&npy->host, (size_t)npy->bytes + 1); /* so that there is some memory */
    if (!npy->owned) {
        return weft_fail_memory(&npy->host, npy->name);
    }
    npy->data = npy->owned;
    return stream->read(stream->user, npy->owned, (size_t)npy->bytes);
}

weft_status weft_npy_look(weft_npy *npy, const struct weft_npy_stream *stream, const char *name,
                          const weft_host *host) {
    weft_npy result;
    WEFT_TRY(begin(&result, name, host));
    return finish(npy, &result, read_header(&result, stream));
}

weft_status weft_npy_open_stream(weft_npy *npy, const struct weft_npy_stream *stream,
                                 uint64_t limit, const char *name, const weft_host *host) {
    weft_npy result;
    WEFT_TRY(begin(&result, name, host));
    weft_status status = read_header(&result, stream);
    if (status == WEFT_OK) {
        status = read_data(&result, stream, limit);
    }
    return finish(npy, &result, status);
}

static weft_status read_file(void *user, void *out, size_t size) {
    const struct weft_npy_file *file = user;
    return weft_file_read_some(file->file, out, size, file->path, file->host);
}

weft_status weft_npy_file_open(struct weft_npy_file *file, struct weft_npy_stream *stream,
                               const char *path, const weft_host *host) {
    *file = (struct weft_npy_file){.path = path, .host = host};
    *stream = (struct weft_npy_stream){.read = read_file, .user = file};
    return weft_file_open(&file->file, &stream->size, path, host);
}

void weft_npy_file_close(const struct weft_npy_file *file) {
    (void)weft_system_close(file->file);
}

weft_status weft_npy_open(weft_npy *npy, const char *path, const weft_host *host) {
    struct weft_npy_file file;
    struct weft_npy_stream stream;
    WEFT_TRY(weft_npy_file_open(&file, &stream, path, host));
    const weft_status status = weft_npy_open_stream(npy, &stream, WEFT_NPY_MAX_BYTES, path, host);
    weft_npy_file_close(&file);
    return status;
}

void weft_npy_close(weft_npy *npy) {
    weft_free(&npy->host, npy->owned);
    weft_free(&npy->host, npy->name);
    *npy = (weft_npy){.dtype = WEFT_NPY_U8};
}

/* ---- converting ---- */

static uint64_t load_element(const weft_npy *npy, size_t index) {
    size_t size = dtypes[npy->dtype].size;
    return weft_load_bytes(npy->data + index * size, size);
}

static int64_t load_integer(const weft_npy *npy, size_t index) {
    uint64_t word = load_element(npy, index);
    /* Through memcpy: the conversion of large values to a signed type is implementation-defined. */
    if (npy->dtype == WEFT_NPY_I32) {
        uint32_t low = (uint32_t)word;
        int32_t value;
        memcpy(&value, &low, sizeof value);
        return value;
    }
    int64_t value;
    memcpy(&value, &word, sizeof value);
    return value;
}

weft_status weft_npy_read_i32(const weft_npy *npy, int32_t *out) {
    if (npy->dtype != WEFT_NPY_U8 && npy->dtype != WEFT_NPY_I32 && npy->dtype != WEFT_NPY_I64) {
        return weft_fail(&npy->host, WEFT_BAD_FILE, "%s: descr: expected |u1, <i4 or <i8, found %s",
                         npy->name, weft_npy_dtype_name(npy->dtype));
    }
    for (size_t i = 0; i < (size_t)npy->elements; i++) {
        int64_t value = load_integer(npy, i);
        if (value < INT32_MIN || value > INT32_MAX) {
            return weft_fail(&npy->host, WEFT_BAD_FILE,
                             "%s: element %zu: expected a 32-bit integer, found %" PRId64,
                             npy->name, i, value);
        }
        out[i] = (int32_t)value;
    }
    return WEFT_OK;
}

weft_status weft_npy_read_f32(const weft_npy *npy, float *out) {
    if (npy->dtype != WEFT_NPY_F32 && npy->dtype != WEFT_NPY_F64) {
        return weft_fail(&npy->host, WEFT_BAD_FILE, "%s: descr: expected <f4 or <f8, found %s",
                         npy->name, weft_npy_dtype_name(npy->dtype));
    }
    for (size_t i = 0; i < (size_t)npy->elements; i++) {
        uint64_t word = load_element(npy, i);
        if (npy->dtype == WEFT_NPY_F32) {
            uint32_t low = (uint32_t)word;
            memcpy(&out[i], &low, sizeof low);
        } else {
            double value;
            memcpy(&value, &word, sizeof value);
            out[i] = (float)value;
        }
    }
    return WEFT_OK;
}

/* ---- writing ---- */

static weft_status write_words(const char *path, const void *data, weft_npy_dtype dtype,
                               weft_shape shape, const weft_host *host) {
    if (shape.rank > WEFT_MAX_RANK) {
        return weft_fail(host, WEFT_INVALID_ARGUMENT, "%s: expected at most %d axes, found %u",
                         path, WEFT_MAX_RANK, (unsigned)shape.rank);
    }
    uint8_t header[WEFT_NPY_HEADER_CAPACITY];
    size_t header_size = weft_npy_header_write(header, weft_npy_dtype_name(dtype), shape);
    uint64_t elements = weft_shape_elements(shape);
    if (elements > (SIZE_MAX - header_size) / 4) {
        return weft_fail_memory(host, path);
    }
    size_t size = header_size + (size_t)elements * 4;
    uint8_t *file = weft_alloc(host, size);
    if (!file) {
        return weft_fail_memory(host, path);
    }
    memcpy(file, header, header_size);
    for (size_t i = 0; i < (size_t)elements; i++) {
        uint32_t word;
        memcpy(&word, (const uint8_t *)data + 4 * i, sizeof word);
        weft_store_bytes(&file[header_size + 4 * i], word, sizeof word);
    }
    weft_status status = weft_file_write(path, file, size, host);
    weft_free(host, file);
    return status;
}

weft_status weft_npy_write_f32(const char *path, const float *data, weft_shape shape,
                               const weft_host *host) {
    return write_words(path, data, WEFT_NPY_F32, shape, host);
}

weft_status weft_npy_write_i32(const char *path, const int32_t *data, weft_shape shape,
                               const weft_host *host) {
    return write_words(path, data, WEFT_NPY_I32, shape, host);
}
