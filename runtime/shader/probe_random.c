/* SPDX-License-Identifier: MIT */
#include "shader/probe_random.h"

#include "core/math/philox.h"

uint32_t weft_probe_random_word(struct weft_probe_random *random) {
    return weft_philox_u32(random->seed, 0, random->next++);
}

int weft_probe_random_between(struct weft_probe_random *random, int low, int high) {
    return low + (int)(weft_probe_random_word(random) % (uint32_t)(high - low + 1));
}

uint32_t weft_probe_random_float(struct weft_probe_random *random, int low, int high) {
    const uint32_t exponent = (uint32_t)(weft_probe_random_between(random, low, high) + 127);
    return (weft_probe_random_word(random) & UINT32_C(0x807fffff)) | exponent << 23;
}
