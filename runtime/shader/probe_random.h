/* SPDX-License-Identifier: MIT */
/* Numbers by chance for the probe's inputs, the same on every machine. */
#ifndef WEFT_SHADER_PROBE_RANDOM_H
#define WEFT_SHADER_PROBE_RANDOM_H

#include <stdint.h>

struct weft_probe_random {
    uint64_t seed, next;
};

uint32_t weft_probe_random_word(struct weft_probe_random *random);

/** A whole number in [low, high]. */
int weft_probe_random_between(struct weft_probe_random *random, int low, int high);

/** The bits of a float of any significand and sign, with an exponent in [low, high]. */
uint32_t weft_probe_random_float(struct weft_probe_random *random, int low, int high);

#endif
