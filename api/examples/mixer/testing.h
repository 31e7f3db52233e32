/* SPDX-License-Identifier: MIT */
/* What the two test programs share: numbers, and a host that is watched. */
#ifndef TESTING_H
#define TESTING_H

#include <weft/device.h>

/* ---- numbers ---- */

typedef enum values {
    UNIT,      /* in [-1, 1) */
    TENS,      /* in [-16, 16) */
    LARGE,     /* about 2^40 */
    SMALL,     /* about 2^-40 */
    MIXED,     /* 2^-12 … 2^12 */
    ZEROS,     /* two thirds are 0 or -0 */
    EQUAL,     /* all 0.5 */
    IMPULSE,   /* 1, then 0 */
    SUBNORMAL, /* a third are subnormal */
} values;

/** The same on every machine, by Philox4x32-10: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011. */
void fill(float *data, size_t count, values kind, uint64_t seed, uint64_t stream);

/** A float as reproducible math reads it: subnormals are zero. */
double value_of(float number);

uint32_t word_of(float number);

/** Whether two arrays are the same, zeros' signs and what is in NaN included. */
bool same_bits(const float *a, const float *b, size_t count);

/* ---- a watched host ---- */

struct watch {
    weft_host host;
    long blocks;    /* not freed yet */
    char log[2048]; /* the newest lines that are errors or warnings */
};

/** `watch` must stay where it is. */
void watch_begin(struct watch *watch);

/** Opens the device; what is given as WEFT_VALIDATION in the environment is watched, too. */
weft_status watch_open(weft_device **device, struct watch *watch, weft_math math);

/** Closes it; whether validation had nothing to say and all memory is free. */
bool watch_close(weft_device **device, struct watch *watch);

#endif
