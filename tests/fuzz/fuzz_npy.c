/* SPDX-License-Identifier: MIT */
/* Any bytes as a .npy file. */
#include "fuzz.h"
#include "fuzz_array.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    weft_npy npy;
    if (weft_npy_open_memory(&npy, data, size, "fuzz.npy", NULL) == WEFT_OK) {
        fuzz_use_array(&npy, size);
        weft_npy_close(&npy);
    }
    return 0;
}
