/* SPDX-License-Identifier: MIT */
/* Numbers as bytes, as docs/reproducibility.md, int8, says. */
#ifndef WEFT_VERIFY_BYTES_H
#define WEFT_VERIFY_BYTES_H

#include <stddef.h>
#include <stdint.h>

struct weft_ref_scaling {
    float scale, inverse;
};

/* Steps of a row of the other factor: its bytes count from its lowest number, or 0, to its highest, or 0. */
struct weft_ref_steps {
    float scale, inverse;
    double zero; /* the step that stands for 0, from 0 to 255 */
};

/** Scaling of `count` numbers that are `step` apart, a row or a column of a weight, and the byte of one of them. */
struct weft_ref_scaling weft_ref_scaling_of(const float *x, uint32_t count, size_t step);
double weft_ref_byte_of(float x, struct weft_ref_scaling scaling);

/** The same of a row of the other factor: how many steps an element is away from 0. */
struct weft_ref_steps weft_ref_steps_of(const float *x, uint32_t count);
double weft_ref_step_of(float x, struct weft_ref_steps steps);

#endif
