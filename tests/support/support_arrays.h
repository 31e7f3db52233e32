/* SPDX-License-Identifier: MIT */
/* Arrays that another program made, and how far results are from them. */
#ifndef WEFT_TESTS_SUPPORT_ARRAYS_H
#define WEFT_TESTS_SUPPORT_ARRAYS_H

#include "core/formats/npy.h"
#include "support.h"

/** Opens folder/name.npy, for weft_npy_close; false if there is no such file. */
bool weft_test_npy_open(weft_npy *npy, const char *folder, const char *name,
                        struct weft_test_host *host);
/** All elements in malloc's memory, of f32 or of i32. */
float *weft_test_npy_f32(const weft_npy *npy);
int32_t *weft_test_npy_i32(const weft_npy *npy);

/** |found - expected| / |expected|, both L2 norms, summed in double; not a number where both are 0. */
double weft_test_relative_error(const float *found, const float *expected, uint64_t count);
/** Compares with an array, in all its elements. */
double weft_test_npy_error(const float *found, const weft_npy *expected);

#endif
