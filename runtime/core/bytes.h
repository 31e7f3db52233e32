/* SPDX-License-Identifier: MIT */
/* Integers in files, which are little-endian on every processor. */
#ifndef WEFT_CORE_BYTES_H
#define WEFT_CORE_BYTES_H

#include <stddef.h>
#include <stdint.h>

/** An unsigned integer of `count` bytes, at most 8. */
static inline uint64_t weft_load_bytes(const uint8_t *bytes, size_t count) {
    uint64_t value = 0;
    for (size_t i = 0; i < count; i++) {
        value |= (uint64_t)bytes[i] << (8 * i);
    }
    return value;
}

static inline void weft_store_bytes(uint8_t *bytes, uint64_t value, size_t count) {
    for (size_t i = 0; i < count; i++) {
        bytes[i] = (uint8_t)(value >> (8 * i));
    }
}

#endif
