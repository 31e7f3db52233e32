/* SPDX-License-Identifier: MIT */
/* What the fuzzers of .npy and .npz do with an array that opens: it is read to the last value. */
#ifndef WEFT_FUZZ_ARRAY_H
#define WEFT_FUZZ_ARRAY_H

#include <stdlib.h>

#include "core/formats/npy.h"
#include "fuzz.h"

/** `limit`: the bytes that the data can have. */
static inline void fuzz_use_array(const weft_npy *npy, size_t limit) {
    fuzz_expect(npy->bytes <= limit && npy->rank <= WEFT_NPY_MAX_RANK);
    /* No more than four times as long as the data, where that has a byte an element. */
    int32_t *words = malloc(npy->elements * sizeof *words + 1);
    if (words != NULL) {
        (void)weft_npy_read_i32(npy, words);
        (void)weft_npy_read_f32(npy, (float *)(void *)words);
    }
    free(words);
    char text[WEFT_NPY_SHAPE_TEXT_SIZE];
    (void)weft_npy_shape_text(npy, text);
}

#endif
