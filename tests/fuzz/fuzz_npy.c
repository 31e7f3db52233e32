/* SPDX-License-Identifier: MIT */
/* Any bytes as a .npy file: in memory, and out of a file, for which no more memory is taken than it has bytes. */
#include <string.h>

#include "fuzz.h"
#include "fuzz_array.h"

#define SLACK 1024 /* of the file's name */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    weft_npy npy;
    const weft_status status = weft_npy_open_memory(&npy, data, size, "fuzz.npy", NULL);
    if (status == WEFT_OK) {
        fuzz_use_array(&npy, size);
    }
    size_t left = 0;
    const weft_host host = fuzz_small_host(&left, size + SLACK);
    weft_npy read;
    const weft_status same = weft_npy_open(&read, fuzz_file(data, size), &host);
    fuzz_expect((status == WEFT_OK) == (same == WEFT_OK) && same != WEFT_OUT_OF_HOST_MEMORY);
    if (status == WEFT_OK) {
        fuzz_expect(read.bytes == npy.bytes && memcmp(read.data, npy.data, npy.bytes) == 0);
        weft_npy_close(&read);
        weft_npy_close(&npy);
    }
    fuzz_expect(left == size + SLACK);
    return 0;
}
