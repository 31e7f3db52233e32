/* SPDX-License-Identifier: MIT */
/* Numbers as signed bytes times a scale: docs/reproducibility.md, int8. shaders/include/int8.glsl has the same for a device. */
#ifndef WEFT_CORE_INT8_H
#define WEFT_CORE_INT8_H

#include <stdbool.h>
#include <stdint.h>

#define WEFT_INT8_MOST 127

/** The most products that a sum of 32 bits holds: of a weight's bytes, and of differences between bytes. */
#define WEFT_INT8_MOST_TERMS (INT32_MAX / (255 * WEFT_INT8_MOST))

/** Scale shared by the elements of a row or column. */
struct weft_int8_scaling {
    float scale;   /* a byte's value: the 127th part of the largest magnitude, or 0 */
    float inverse; /* 0 where the scale is */
};

/** Scaling for a largest magnitude, which is finite. */
struct weft_int8_scaling weft_int8_scaling_of(float largest);

/** Byte of an element that is not larger, rounded to nearest even. */
int8_t weft_int8_of(float value, struct weft_int8_scaling scaling);

/** True if a scale is one that weft_int8_scaling_of may have made: 0, or normal and positive. */
bool weft_int8_is_scale(float scale);

#endif
