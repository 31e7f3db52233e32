/* SPDX-License-Identifier: MIT */
#include "model/files/mxfp4_weight.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/text.h"
#include "core/try.h"
#include "model/files/ggml_rows.h"

#define NUMBERS       32u /* of a block */
#define BYTES         16u
#define MOST_EXPONENT 252  /* 6 · 2^(252 - 127) is finite in f32 */
#define AT_ONCE       256u /* blocks */

struct source {
    weft_host host;
    struct weft_checkpoint *checkpoint;
    const struct weft_named_tensor *blocks, *scales;
    struct weft_mxfp4_rows rows;
    struct weft_ggml_matrix matrix; /* the rows as a GGUF file has them */
};

/* ---- reading ---- */

/* GGUF's block: the exponent, and bytes with the numbers i and i + 16 for those with 2i and 2i + 1. */
static void rearrange(uint8_t *out, uint8_t exponent, const uint8_t *block) {
    const uint32_t half = BYTES / 2;
    out[0] = exponent;
    for (uint32_t i = 0; i < half; i++) {
        const uint8_t low = block[i], high = block[i + half];
        out[1 + 2 * i] = (uint8_t)((low & 15) | (high & 15) << 4);
        out[2 + 2 * i] = (uint8_t)(low >> 4 | (high & 0xF0));
    }
}

/* So many blocks of the rows from one on: those of a row lie one behind the other. */
static weft_status read_some(const struct source *source, uint64_t block, uint64_t count,
                             uint8_t *out) {
    const struct weft_mxfp4_rows *rows = &source->rows;
    const uint64_t in_row = source->matrix.columns / NUMBERS, row = block / in_row;
    const uint64_t whole =
        row / rows->count * rows->rows + rows->first + row % rows->count * rows->step;
    const uint64_t from = whole * in_row + block % in_row;
    uint8_t bytes[AT_ONCE * BYTES], exponents[AT_ONCE];
    WEFT_TRY(weft_safetensors_read(source->blocks->file, source->blocks->tensor, from * BYTES,
                                   bytes, (size_t)count * BYTES));
    WEFT_TRY(weft_safetensors_read(source->scales->file, source->scales->tensor, from, exponents,
                                   (size_t)count));
    for (uint64_t i = 0; i < count; i++) {
        rearrange(out + i * (BYTES + 1), exponents[i], bytes + i * BYTES);
    }
    return WEFT_OK;
}

/* For weft_ggml_matrix, which asks for whole blocks. */
static weft_status read_matrix(const struct weft_ggml_matrix *matrix, uint64_t begin, void *out,
                               size_t size) {
    const struct source *source = matrix->file;
    const uint64_t in_row = matrix->columns / NUMBERS;
    uint64_t block = begin / (BYTES + 1), left = size / (BYTES + 1);
    uint8_t *at = out;
    weft_checkpoint_use(source->checkpoint, source->blocks);
    weft_checkpoint_use(source->checkpoint, source->scales);
    while (left > 0) {
        uint64_t some = in_row - block % in_row;
        some = some < left ? some : left;
        some = some < AT_ONCE ? some : AT_ONCE;
        WEFT_TRY(read_some(source, block, some, at));
        block += some;
        left -= some;
        at += some * (BYTES + 1);
    }
    return WEFT_OK;
}

static weft_status read_numbers(void *user, uint64_t first, uint64_t count, void *out) {
    const struct source *source = user;
    WEFT_TRY(weft_ggml_read_numbers(&source->matrix, first, count, out));
    weft_safetensors_convert(out, WEFT_SAFETENSORS_F32, out, (size_t)count);
    return WEFT_OK;
}

static weft_status read_blocks(void *user, uint64_t first_row, uint64_t rows,
                               const struct weft_blocks *out) {
    const struct source *source = user;
    return weft_ggml_read_rows(&source->matrix, first_row, rows, out);
}

static void release(void *user) {
    struct source *source = user;
    const weft_host host = source->host;
    weft_checkpoint_close(&source->checkpoint);
    weft_free(&host, source);
}

/* ---- checks ---- */

static weft_status expect(const struct weft_named_tensor *tensor, weft_shape shape,
                          const weft_host *host) {
    if (tensor->tensor->dtype != WEFT_SAFETENSORS_U8) {
        return weft_fail(host, WEFT_BAD_FILE, "%s: tensor \"%.200s\": dtype: expected U8, found %s",
                         weft_safetensors_path(tensor->file), tensor->tensor->name,
                         weft_safetensors_dtype_name(tensor->tensor->dtype));
    }
    return weft_safetensors_expect_shape(tensor->file, tensor->tensor, shape);
}

static weft_status check_exponents(const struct weft_named_tensor *scales, const weft_host *host) {
    uint8_t some[4096];
    const uint64_t count = scales->tensor->elements;
    for (uint64_t first = 0; first < count; first += sizeof some) {
        const uint64_t left = count - first;
        const size_t size = left < sizeof some ? (size_t)left : sizeof some;
        WEFT_TRY(weft_safetensors_read(scales->file, scales->tensor, first, some, size));
        for (size_t i = 0; i < size; i++) {
            if (some[i] > MOST_EXPONENT) {
                return weft_fail(host, WEFT_BAD_FILE,
                                 "%s: tensor \"%.200s\": expected exponents of at most %d, found "
                                 "%u at index %" PRIu64,
                                 weft_safetensors_path(scales->file), scales->tensor->name,
                                 MOST_EXPONENT, some[i], first + i);
            }
        }
    }
    return WEFT_OK;
}

#define ENDING    "_blocks"
#define OTHER     "_scales"
#define NAME_SIZE 256

/* The name of the other tensor, of as many letters; false: it has none. */
static bool other_name(char text[NAME_SIZE], const char *name, const char *ending,
                       const char *other) {
    const size_t length = strlen(name);
    if (!weft_ends_with(name, ending) || length >= NAME_SIZE) {
        return false;
    }
    snprintf(text, NAME_SIZE, "%.*s%s", (int)(length - strlen(ending)), name, other);
    return true;
}

static weft_status find(struct source *source, const char *blocks, weft_shape shape) {
    const struct weft_mxfp4_rows *rows = &source->rows;
    const weft_shape of_scales = weft_shape_of(rows->groups, rows->rows, shape.dim[1] / NUMBERS);
    const weft_shape of_blocks =
        weft_shape_of(rows->groups, rows->rows, shape.dim[1] / NUMBERS, BYTES);
    const char *path = weft_checkpoint_path(source->checkpoint);
    char scales[NAME_SIZE] = "";
    source->blocks = weft_checkpoint_find(source->checkpoint, blocks);
    if (!source->blocks) {
        return weft_safetensors_missing(path, blocks, of_blocks, &source->host);
    }
    if (other_name(scales, blocks, ENDING, OTHER)) {
        source->scales = weft_checkpoint_find(source->checkpoint, scales);
    }
    if (!source->scales) {
        return weft_safetensors_missing(path, scales, of_scales, &source->host);
    }
    WEFT_TRY(expect(source->blocks, of_blocks, &source->host));
    WEFT_TRY(expect(source->scales, of_scales, &source->host));
    return check_exponents(source->scales, &source->host);
}

/* ---- making ---- */

static weft_status create(weft_weight **weight, struct source *source, const char *blocks,
                          weft_shape shape) {
    if (shape.dim[1] % NUMBERS != 0) {
        return weft_fail(&source->host, WEFT_UNSUPPORTED,
                         "%s: tensor \"%.200s\": expected rows of whole blocks of %u, found rows "
                         "of %u",
                         weft_checkpoint_path(source->checkpoint), blocks, NUMBERS, shape.dim[1]);
    }
    WEFT_TRY(find(source, blocks, shape));
    source->matrix = (struct weft_ggml_matrix){.format = weft_ggml_format_called("mxfp4"),
                                               .name = source->blocks->tensor->name,
                                               .columns = shape.dim[1],
                                               .read = read_matrix,
                                               .file = source,
                                               .host = &source->host};
    WEFT_TRY(weft_weight_create_read(weight,
                                     weft_weight_params(.name = source->blocks->tensor->name,
                                                        .dtype = WEFT_F32, .shape = shape,
                                                        .release = release, .release_user = source),
                                     read_numbers, &source->host));
    (*weight)->blocks = &source->matrix.format->form;
    (*weight)->read_blocks = read_blocks;
    return WEFT_OK;
}

weft_status weft_mxfp4_weight(weft_weight **weight, struct weft_checkpoint *checkpoint,
                              const char *blocks, weft_shape shape,
                              const struct weft_mxfp4_rows *rows) {
    const weft_host *host = weft_checkpoint_host(checkpoint);
    struct source *source = weft_alloc_zero(host, 1, sizeof *source);
    if (!source) {
        return weft_fail_memory(host, blocks);
    }
    *source = (struct source){.host = *host, .checkpoint = checkpoint, .rows = *rows};
    weft_checkpoint_share(checkpoint);
    const weft_status status = create(weight, source, blocks, shape);
    if (status != WEFT_OK) {
        release(source);
    }
    return status;
}

bool weft_mxfp4_is_scale(const struct weft_checkpoint *checkpoint, const char *name) {
    char text[NAME_SIZE];
    return other_name(text, name, OTHER, ENDING) && weft_checkpoint_has(checkpoint, text);
}
