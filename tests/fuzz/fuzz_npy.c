/* SPDX-License-Identifier: MIT */
/*
 * libFuzzer entry: any bytes as a .npy file. What opens is read to the last value.
 * Build: clang -fsanitize=fuzzer,address,undefined with runtime/core and runtime/core/npy*.c.
 */
#include <stdlib.h>

#include "core/npy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    weft_npy npy;
    if (weft_npy_open_memory(&npy, data, size, "fuzz.npy", NULL) != WEFT_OK) {
        return 0;
    }
    if (npy.bytes > size || npy.rank > WEFT_NPY_MAX_RANK) {
        abort();
    }
    /* The data is within the input, so this is no more than four times as long. */
    int32_t *words = malloc(npy.elements * sizeof *words + 1);
    if (words != NULL) {
        (void)weft_npy_read_i32(&npy, words);
        (void)weft_npy_read_f32(&npy, (float *)(void *)words);
    }
    free(words);
    char text[WEFT_NPY_SHAPE_TEXT_SIZE];
    (void)weft_npy_shape_text(&npy, text);
    weft_npy_close(&npy);
    return 0;
}
