/* SPDX-License-Identifier: MIT */
/* Any bytes as a .npz file: the arrays that Weft asks for by name. */
#include "core/npz.h"
#include "fuzz.h"
#include "fuzz_array.h"

#define LIMIT ((size_t)1 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const names[] = {"tokens", "labels", "positions"};
    weft_npz *npz = NULL;
    weft_status status = weft_npz_open(&npz, fuzz_file(data, size), NULL);
    fuzz_expect((status == WEFT_OK) == (npz != NULL));
    for (size_t i = 0; npz && i < sizeof names / sizeof names[0]; i++) {
        weft_npy npy;
        if (weft_npz_get(&npy, npz, names[i], LIMIT) == WEFT_OK) {
            fuzz_expect(weft_npz_has(npz, names[i]));
            fuzz_use_array(&npy, LIMIT);
            weft_npy_close(&npy);
        }
    }
    weft_npz_close(&npz);
    return 0;
}
