/* SPDX-License-Identifier: MIT */
#include "verify/bytes.h"

#include <float.h>
#include <math.h>

struct weft_ref_scaling weft_ref_scaling_of(const float *x, uint32_t count, size_t step) {
    float largest = 0.0F;
    for (uint32_t i = 0; i < count; i++) {
        if (!isfinite(x[i * step])) {
            return (struct weft_ref_scaling){.scale = NAN};
        }
        largest = fmaxf(largest, fabsf(x[i * step]));
    }
    return largest < 0x1p-119F
               ? (struct weft_ref_scaling){0}
               : (struct weft_ref_scaling){.scale = largest / 127.0F, .inverse = 127.0F / largest};
}

struct weft_ref_steps weft_ref_steps_of(const float *x, uint32_t count) {
    float high = 0.0F, low = 0.0F;
    for (uint32_t i = 0; i < count; i++) {
        if (!isfinite(x[i])) {
            return (struct weft_ref_steps){.scale = NAN};
        }
        high = fmaxf(high, fabsf(x[i]) < FLT_MIN ? 0.0F : x[i]);
        low = fminf(low, fabsf(x[i]) < FLT_MIN ? 0.0F : x[i]);
    }
    const float half = high * 0.5F - low * 0.5F;
    if (half < 0x1p-119F) {
        return (struct weft_ref_steps){0};
    }
    const float inverse = 127.5F / half;
    const float zero = -low * inverse;
    return (struct weft_ref_steps){half / 127.5F, inverse, nearbyint((double)zero)};
}

double weft_ref_step_of(float x, struct weft_ref_steps steps) {
    const float scaled = (fabsf(x) < FLT_MIN ? 0.0F : x) * steps.inverse;
    const double step = nearbyint((double)scaled) + steps.zero;
    return isnan(steps.scale) ? 0.0 : fmin(fmax(step, 0.0), 255.0) - steps.zero;
}

double weft_ref_byte_of(float x, struct weft_ref_scaling scaling) {
    const float scaled = x * scaling.inverse;
    return isfinite(scaling.scale) && fabsf(x) >= FLT_MIN ? nearbyint((double)scaled) : 0.0;
}
