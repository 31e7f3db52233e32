/* SPDX-License-Identifier: MIT */
/*
 * What test_native_object.c loads, as the C compiler of this build makes it: a kernel with constants, constants that hold
 * addresses, a branch over many cases, a call within the object and calls of memcpy and memset. Not linked to anything.
 */
#include <string.h>

#include "native/kernel.h"

static const uint32_t table[8] = {2, 3, 5, 7, 11, 13, 17, 19};
static const uint32_t *const rows[2] = {table, table + 4};

__attribute__((noinline)) static uint32_t pick(uint32_t index) {
    switch (index) {
    case 0:
        return 100;
    case 1:
        return index + table[3];
    case 2:
        return 1000 * index;
    case 3:
        return 77;
    case 4:
        return index * index * index;
    default:
        return rows[index & 1][index & 3];
    }
}

/* Binding 0 gets the push constants' bytes, a zero for the rest of it, and a number for each workgroup behind that. */
void kernel(const struct weft_native_call *call, uint32_t x, uint32_t y, uint32_t z,
            uint32_t count) __asm__(WEFT_NATIVE_ENTRY);
void kernel(const struct weft_native_call *call, uint32_t x, uint32_t y, uint32_t z,
            uint32_t count) {
    uint32_t *out = call->ranges[0].data;
    const size_t size = (size_t)call->ranges[1].size;
    memset(out, 0, call->ranges[0].size);
    memcpy(out, call->push, size);
    for (uint32_t i = 0; i < count; i++) {
        out[size / 4 + x + i] = pick(x + i) + y + z;
    }
}
