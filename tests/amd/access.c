/* SPDX-License-Identifier: MIT */
#include "access.h"

#include <string.h>

void amd_load_lane(uint32_t *rows, uint32_t lane, const uint8_t *bytes, uint32_t detail) {
    const uint32_t size = AMD_BYTES(detail);
    const bool is_signed = (detail & AMD_SIGNED) != 0;
    uint32_t value = 0;
    if (size >= 4) {
        for (uint32_t w = 0; w < size / 4; w++) {
            memcpy(&rows[w * AMD_LANES + lane], bytes + 4 * (size_t)w, 4);
        }
        return;
    }
    memcpy(&value, bytes, size);
    if (is_signed) {
        value = size == 1 ? (uint32_t)(int32_t)(int8_t)value : (uint32_t)(int32_t)(int16_t)value;
    }
    if ((detail & AMD_HIGH) != 0) {
        value = (rows[lane] & 0xffffu) | value << 16;
    } else if ((detail & AMD_LOW) != 0) {
        value = (rows[lane] & 0xffff0000u) | (value & 0xffffu);
    }
    rows[lane] = value;
}

void amd_store_lane(uint8_t *bytes, const uint32_t *rows, uint32_t lane, uint32_t detail) {
    const uint32_t size = AMD_BYTES(detail);
    if (size >= 4) {
        for (uint32_t w = 0; w < size / 4; w++) {
            memcpy(bytes + 4 * (size_t)w, &rows[w * AMD_LANES + lane], 4);
        }
        return;
    }
    const uint32_t value = (detail & AMD_HIGH) != 0 ? rows[lane] >> 16 : rows[lane];
    memcpy(bytes, &value, size);
}

uint32_t amd_atomic_result(uint32_t atomic, uint32_t before, uint32_t data, uint32_t compared) {
    const int32_t old = (int32_t)before, with = (int32_t)data;
    switch (atomic) {
    case AMD_ATOMIC_COMPARE:
        return before == compared ? data : before;
    case AMD_ATOMIC_ADD:
        return before + data;
    case AMD_ATOMIC_SUB:
        return before - data;
    case AMD_ATOMIC_SMIN:
        return old < with ? before : data;
    case AMD_ATOMIC_UMIN:
        return before < data ? before : data;
    case AMD_ATOMIC_SMAX:
        return old > with ? before : data;
    case AMD_ATOMIC_UMAX:
        return before > data ? before : data;
    case AMD_ATOMIC_AND:
        return before & data;
    case AMD_ATOMIC_OR:
        return before | data;
    case AMD_ATOMIC_XOR:
        return before ^ data;
    default:
        return data;
    }
}
