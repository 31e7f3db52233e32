/* SPDX-License-Identifier: MIT */
/* Any bytes as a .npz file: the arrays that Weft asks for by name, in no more memory than it allows them. */
#include "core/formats/npz.h"
#include "fuzz.h"
#include "fuzz_array.h"

#define LIMIT ((size_t)1 << 20)
#define SLACK 2048 /* of the handle and of names */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const names[] = {"tokens", "labels", "positions"};
    weft_npz *npz = NULL;
    size_t left = 0;
    const weft_host host = fuzz_small_host(&left, LIMIT + SLACK);
    weft_status status = weft_npz_open(&npz, fuzz_file(data, size), &host);
    fuzz_expect((status == WEFT_OK) == (npz != NULL));
    for (size_t i = 0; npz && i < sizeof names / sizeof names[0]; i++) {
        weft_npy about, npy;
        const bool looks = weft_npz_look(&about, npz, names[i]) == WEFT_OK;
        status = weft_npz_get(&npy, npz, names[i], LIMIT);
        fuzz_expect(status != WEFT_OUT_OF_HOST_MEMORY && (looks || status != WEFT_OK));
        if (status == WEFT_OK) {
            fuzz_expect(about.bytes == npy.bytes && about.rank == npy.rank && !about.data);
            fuzz_expect(weft_npz_has(npz, names[i]));
            fuzz_use_array(&npy, LIMIT);
            weft_npy_close(&npy);
        }
        if (looks) {
            weft_npy_close(&about);
        }
    }
    weft_npz_close(&npz);
    fuzz_expect(left == LIMIT + SLACK);
    return 0;
}
