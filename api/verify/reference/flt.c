/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "verify/reference/features.h"

/** Product modulo 1, exactly: float64 holds the product of two float32 numbers. */
static double fraction(double product) {
    return isfinite((float)product) ? remainder(product, 1.0) : NAN;
}

/** 2π t of a token and a row of the frequencies. */
static double angle_of(const weft_reference_flt_params *p, uint32_t token, uint64_t frequency,
                       double phase) {
    double turns = phase;
    for (uint32_t j = 0; j < p->l; j++) {
        const double position = p->positions ? p->positions[(uint64_t)token * p->l + j] : token;
        turns += fraction(position * p->frequencies[frequency * p->l + j]);
    }
    return 6.28318530717958647692 * remainder(turns, 1.0);
}

/** a_k cos 2π t_k, then a_k sin 2π t_k: [2r]. */
static void write_waves(double *out, const weft_reference_flt_params *p, uint32_t token,
                        uint64_t head) {
    for (uint32_t k = 0; k < p->r; k++) {
        const uint64_t frequency = p->own_frequencies ? head * p->r + k : k;
        const uint64_t own = p->own_weights ? head * p->r + k : k;
        const double size = sqrt(fabs(p->weights[own]) / p->r);
        const double amplitude = p->side == WEFT_FLT_KEY && p->weights[own] < 0.0 ? -size : size;
        const double angle =
            angle_of(p, token, frequency, p->phases ? fraction(p->phases[own]) : 0.0);
        out[k] = amplitude * cos(angle);
        out[p->r + k] = amplitude * sin(angle);
    }
}

void weft_reference_flt(weft_reference *ref, double *out, const weft_reference_flt_params *p) {
    const uint64_t columns = p->width + 2 * (uint64_t)p->r;
    const double scale = p->scale != 0.0 ? p->scale : (double)(float)pow(p->width, -0.25);
    if (!weft_reference_spend(ref, (double)p->n * (20.0 * p->r + (double)p->heads * p->width))) {
        return;
    }
    for (uint64_t at = 0; at < (uint64_t)p->n * p->heads; at++) {
        for (uint32_t c = 0; c < p->width; c++) {
            out[at * columns + c] = scale * p->x[at * p->width + c];
        }
        write_waves(out + at * columns + p->width, p, (uint32_t)(at / p->heads), at % p->heads);
    }
}
