/* SPDX-License-Identifier: MIT */
/* Numbers and rows of a matrix that is stored in blocks (model/files/ggml_format.h), of a file of any format. */
#ifndef WEFT_MODEL_GGML_ROWS_H
#define WEFT_MODEL_GGML_ROWS_H

#include "model/files/ggml_format.h"

/** A matrix of a format that has blocks: whole blocks a row. */
struct weft_ggml_matrix {
    const struct weft_ggml_format *format;
    const char *name; /* for messages */
    uint64_t columns;
    /** So many of its bytes from `begin` on. */
    weft_status (*read)(const struct weft_ggml_matrix *matrix, uint64_t begin, void *out,
                        size_t size);
    const void *file, *tensor; /* for `read` */
    const weft_host *host;
};

/** So many elements from `first` on, as little-endian f32. Errors: the reader's; WEFT_OUT_OF_HOST_MEMORY. */
weft_status weft_ggml_read_numbers(const struct weft_ggml_matrix *matrix, uint64_t first,
                                   uint64_t count, void *out);
/** Whole rows. Errors likewise. */
weft_status weft_ggml_read_rows(const struct weft_ggml_matrix *matrix, uint64_t first_row,
                                uint64_t rows, const struct weft_blocks *out);

#endif
