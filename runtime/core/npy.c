/* SPDX-License-Identifier: MIT */
/* Opening, converting and writing .npy files; npy_header.c reads the header. */
#include "core/npy.h"

#include <inttypes.h>
#include <string.h>

#include "core/bytes.h"
#include "core/shape.h"
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

static weft_status read_contents(weft_npy *npy, const uint8_t *bytes, size_t size) {
    struct weft_npy_header header;
    WEFT_TRY(weft_npy_header_read(&header, bytes, size, npy->name, &npy->host));
    WEFT_TRY(find_dtype(npy, &header));
    WEFT_TRY(count_elements(npy, &header));
    size_t element = dtypes[npy->dtype].size;
    size_t rest = size - header.size;
    if (npy->elements > UINT64_MAX / element || npy->elements * element != rest) {
        char shape[WEFT_NPY_SHAPE_TEXT_SIZE];
        return weft_fail(&npy->host, WEFT_BAD_FILE,
                         "%s: data: expected %" PRIu64 " elements of %zu bytes for shape %s, found "
                         "%zu bytes",
                         npy->name, npy->elements, element, weft_npy_shape_text(npy, shape), rest);
    }
    npy->data = bytes + header.size;
    npy->bytes = rest;
    return WEFT_OK;
}

weft_status weft_npy_open_memory(weft_npy *npy, const void *data, size_t size, const char *name,
                                 const weft_host *host) {
    weft_npy result = {.host = host ? *host : (weft_host){0}};
    result.name = weft_strdup(host, name);
    if (!result.name) {
        return weft_fail_memory(host, name);
    }
    weft_status status = read_contents(&result, data, size);
    if (status != WEFT_OK) {
        weft_npy_close(&result);
        return status;
    }
    *npy = result;
    return WEFT_OK;
}

weft_status weft_npy_open(weft_npy *npy, const char *path, const weft_host *host) {
    weft_mapping mapping = {0};
    WEFT_TRY(weft_file_map(&mapping, path, host));
    weft_status status = weft_npy_open_memory(npy, mapping.data, mapping.size, path, host);
    if (status == WEFT_OK) {
        npy->mapping = mapping;
    } else {
        weft_file_unmap(&mapping);
    }
    return status;
}

weft_status weft_npy_take(weft_npy *npy, uint8_t *data, size_t size, const char *name,
                          const weft_host *host) {
    weft_status status = weft_npy_open_memory(npy, data, size, name, host);
    if (status == WEFT_OK) {
        npy->owned = data;
    } else {
        weft_free(host, data);
    }
    return status;
}

void weft_npy_close(weft_npy *npy) {
    weft_file_unmap(&npy->mapping);
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
