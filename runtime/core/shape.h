/* SPDX-License-Identifier: MIT */
#ifndef WEFT_CORE_SHAPE_H
#define WEFT_CORE_SHAPE_H

#include "core/host.h"

/** Largest number of elements of a tensor: indices in shaders are 32-bit. */
#define WEFT_MAX_ELEMENTS (UINT64_C(1) << 31)

#define WEFT_DTYPE_COUNT 4

/** The names of the types, by number. */
extern const char *const weft_dtype_words[WEFT_DTYPE_COUNT];

/** WEFT_INVALID_ARGUMENT, naming `what`, unless rank, axes and the number of elements are in range. */
weft_status weft_shape_check(weft_shape shape, const char *what, const weft_host *host);

/** Writes "[2, 512]" to text, which holds `size` bytes, and returns it. */
const char *weft_extents_text(char *text, size_t size, const uint64_t *extents, uint32_t rank);

#endif
