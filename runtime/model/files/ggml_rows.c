/* SPDX-License-Identifier: MIT */
#include "model/files/ggml_rows.h"

#include <string.h>

#include "core/bytes.h"
#include "core/try.h"

#define MOST_AT_ONCE ((uint64_t)1 << 18) /* bytes */

/* Blocks one behind the other, and what each is taken as. */
struct run {
    const struct weft_ggml_matrix *matrix;
    uint64_t block, count;
    void (*take)(void *user, uint64_t block, const uint8_t *bytes);
    void *user;
};

static weft_status take_run(const struct run *run) {
    const struct weft_ggml_matrix *matrix = run->matrix;
    const size_t size = matrix->format->bytes;
    const uint64_t most = MOST_AT_ONCE / size;
    const uint64_t at_once = run->count < most ? run->count : most;
    uint8_t *bytes = weft_alloc(matrix->host, (size_t)at_once * size);
    weft_status status = bytes ? WEFT_OK : weft_fail_memory(matrix->host, matrix->name);
    for (uint64_t done = 0; status == WEFT_OK && done < run->count; done += at_once) {
        const uint64_t left = run->count - done, count = left < at_once ? left : at_once;
        status = matrix->read(matrix, (run->block + done) * size, bytes, (size_t)count * size);
        for (uint64_t i = 0; status == WEFT_OK && i < count; i++) {
            run->take(run->user, run->block + done + i, bytes + i * size);
        }
    }
    weft_free(matrix->host, bytes);
    return status;
}

/* ---- numbers ---- */

struct numbers {
    const struct weft_ggml_format *format;
    uint64_t first, end; /* elements */
    uint8_t *out;
};

/* Writes the part of a block that is asked for. */
static void put_numbers(void *user, uint64_t block, const uint8_t *bytes) {
    const struct numbers *numbers = user;
    const struct weft_ggml_format *format = numbers->format;
    const uint64_t begin = block * format->elements, end = begin + format->elements;
    float values[WEFT_GGML_MOST_ELEMENTS];
    weft_ggml_decode(format, values, bytes);
    for (uint64_t i = begin > numbers->first ? begin : numbers->first; i < end && i < numbers->end;
         i++) {
        uint32_t bits;
        memcpy(&bits, &values[i - begin], sizeof bits);
        weft_store_bytes(numbers->out + (i - numbers->first) * sizeof bits, bits, sizeof bits);
    }
}

weft_status weft_ggml_read_numbers(const struct weft_ggml_matrix *matrix, uint64_t first,
                                   uint64_t count, void *out) {
    if (count == 0) {
        return WEFT_OK;
    }
    const uint32_t elements = matrix->format->elements;
    struct numbers numbers = {matrix->format, first, first + count, out};
    const uint64_t block = first / elements;
    return take_run(&(struct run){.matrix = matrix,
                                  .block = block,
                                  .count = (first + count - 1) / elements + 1 - block,
                                  .take = put_numbers,
                                  .user = &numbers});
}

/* ---- rows ---- */

struct rows {
    const struct weft_ggml_format *format;
    uint64_t block; /* the first */
    const struct weft_blocks *out;
};

static void take_block(void *user, uint64_t block, const uint8_t *bytes) {
    const struct rows *rows = user;
    const struct weft_ggml_format *format = rows->format;
    const struct weft_blocks at =
        weft_blocks_from(rows->out, &format->form, (block - rows->block) * format->elements);
    weft_ggml_take(format, &at, bytes);
}

weft_status weft_ggml_read_rows(const struct weft_ggml_matrix *matrix, uint64_t first_row,
                                uint64_t rows, const struct weft_blocks *out) {
    const uint64_t blocks = matrix->columns / matrix->format->elements;
    struct rows taken = {matrix->format, first_row * blocks, out};
    return rows == 0 ? WEFT_OK
                     : take_run(&(struct run){.matrix = matrix,
                                              .block = taken.block,
                                              .count = rows * blocks,
                                              .take = take_block,
                                              .user = &taken});
}
