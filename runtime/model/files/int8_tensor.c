/* SPDX-License-Identifier: MIT */
#include "model/files/int8_tensor.h"

#include <stdio.h>
#include <string.h>

#include "core/math/int8.h"
#include "core/try.h"

#define NAME_SIZE 512
#define AT_ONCE   ((uint64_t)1 << 16)

static const weft_stored kinds[] = {WEFT_STORED_I8, WEFT_STORED_I8_ONLY};
#define KINDS (sizeof kinds / sizeof *kinds)

static weft_status fail(const struct weft_named_tensor *tensor, const char *expected,
                        const char *found) {
    return weft_fail(weft_safetensors_host(tensor->file), WEFT_BAD_FILE,
                     "%s: tensor \"%.200s\": expected %s, found %s",
                     weft_safetensors_path(tensor->file), tensor->name, expected, found);
}

/* The tensor of scales; null after an error, and where there is none of that kind. */
static const struct weft_named_tensor *find_scales(const struct weft_tensor_names *names,
                                                   const char *name, weft_stored kind) {
    char text[NAME_SIZE];
    snprintf(text, sizeof text, "%.480s%s", name, WEFT_SCALE_NAME(kind));
    return weft_tensor_names_find(names, text);
}

static weft_status find_kind(const struct weft_named_tensor **scales, weft_stored *stored,
                             const struct weft_tensor_names *names,
                             const struct weft_named_tensor *matrix) {
    *scales = NULL;
    for (size_t i = 0; i < KINDS; i++) {
        const struct weft_named_tensor *found = find_scales(names, matrix->name, kinds[i]);
        if (found && *scales) {
            return fail(matrix, "scales of one kind", "NAME.scale and NAME.scale_only");
        }
        *stored = found ? kinds[i] : *stored;
        *scales = found ? found : *scales;
    }
    return *scales ? WEFT_OK : fail(matrix, "the tensor NAME.scale or NAME.scale_only", "none");
}

static weft_status check_shape(bool *columns, const struct weft_named_tensor *scales,
                               const struct weft_named_tensor *matrix) {
    const weft_safetensors_tensor *s = scales->tensor;
    const uint64_t *shape = matrix->tensor->shape;
    const bool rows = s->rank == 2 && s->shape[0] == shape[0] && s->shape[1] == 1;
    *columns = s->rank == 2 && s->shape[0] == 1 && s->shape[1] == shape[1] && !rows;
    if (s->dtype != WEFT_SAFETENSORS_F32) {
        return fail(scales, "F32", weft_safetensors_dtype_name(s->dtype));
    }
    return rows || *columns
               ? WEFT_OK
               : fail(scales, "a scale for each row or column, [rows, 1] or [1, columns]",
                      "another shape");
}

static weft_status check_scales(const struct weft_named_tensor *scales, const float *values) {
    for (uint64_t i = 0; i < scales->tensor->elements; i++) {
        if (!weft_int8_is_scale(values[i])) {
            char found[64];
            snprintf(found, sizeof found, "%g at index %llu", (double)values[i],
                     (unsigned long long)i);
            return fail(scales, "0 or positive normal numbers", found);
        }
    }
    return WEFT_OK;
}

static weft_status check_block(const struct weft_named_tensor *matrix, const int8_t *bytes,
                               uint64_t count) {
    for (uint64_t i = 0; i < count; i++) {
        if (bytes[i] < -WEFT_INT8_MOST) {
            return fail(matrix, "elements of -127 to 127", "-128");
        }
    }
    return WEFT_OK;
}

static weft_status check_bytes(const struct weft_named_tensor *matrix, const weft_host *host) {
    int8_t *bytes = weft_alloc(host, AT_ONCE);
    weft_status status = bytes ? WEFT_OK : weft_fail_memory(host, matrix->name);
    const uint64_t count = matrix->tensor->elements;
    for (uint64_t done = 0; done < count && status == WEFT_OK; done += AT_ONCE) {
        const uint64_t size = count - done < AT_ONCE ? count - done : AT_ONCE;
        status = weft_safetensors_read(matrix->file, matrix->tensor, done, bytes, (size_t)size);
        status = status == WEFT_OK ? check_block(matrix, bytes, size) : status;
    }
    weft_free(host, bytes);
    return status;
}

weft_status weft_int8_tensor_read(weft_weight_params *params, const struct weft_named_tensor **read,
                                  const struct weft_tensor_names *names,
                                  const struct weft_named_tensor *matrix, const weft_host *host) {
    const struct weft_named_tensor *scales = NULL;
    const weft_safetensors_tensor *tensor = matrix->tensor;
    if (tensor->rank != 2 || tensor->shape[0] == 0 || tensor->shape[1] == 0) {
        return fail(matrix, "a matrix, as it is of I8", "another number of axes");
    }
    WEFT_TRY(find_kind(&scales, &params->stored, names, matrix));
    WEFT_TRY(check_shape(&params->scale_columns, scales, matrix));
    WEFT_TRY(check_bytes(matrix, host));
    const uint64_t count = scales->tensor->elements;
    float *values = weft_alloc(host, (size_t)count * sizeof *values);
    if (!values) {
        return weft_fail_memory(host, scales->name);
    }
    weft_status status = weft_safetensors_read_f32(scales->file, scales->tensor, 0, count, values);
    status = status == WEFT_OK ? check_scales(scales, values) : status;
    if (status != WEFT_OK) {
        weft_free(host, values);
        return status;
    }
    params->scales = values;
    *read = scales;
    return WEFT_OK;
}

bool weft_int8_tensor_is_scale(const struct weft_tensor_names *names, const char *name) {
    bool found = false;
    for (size_t i = 0; i < KINDS; i++) {
        const char *end = WEFT_SCALE_NAME(kinds[i]);
        const size_t length = strlen(name), size = strlen(end);
        char text[NAME_SIZE];
        if (length > size && length - size < sizeof text &&
            strcmp(name + length - size, end) == 0) {
            snprintf(text, sizeof text, "%.*s", (int)(length - size), name);
            const struct weft_named_tensor *matrix = weft_tensor_names_find(names, text);
            found = found || (matrix && matrix->tensor->dtype == WEFT_SAFETENSORS_I8);
        }
    }
    return found;
}
