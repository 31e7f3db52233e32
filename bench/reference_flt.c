/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "bench/reference.h"

/** 2π t of a token and frequency: float64 holds a product of two float32 numbers, so that its fraction is exact. */
static double angle_of(const weft_bench_flt *p, uint32_t token, uint32_t k) {
    double turns = 0.0;
    for (uint32_t j = 0; j < p->l; j++) {
        const double position = p->positions ? p->positions[(uint64_t)token * p->l + j] : token;
        turns += remainder(position * p->frequencies[(uint64_t)k * p->l + j], 1.0);
    }
    return 6.28318530717958647692 * remainder(turns, 1.0);
}

/** a_k cos 2π t_k, then a_k sin 2π t_k: [2r]. */
static void write_waves(double *out, const weft_bench_flt *p, uint32_t token) {
    for (uint32_t k = 0; k < p->r; k++) {
        const double size = sqrt(fabs(p->weights[k]) / p->r);
        const double amplitude = p->side == WEFT_FLT_KEY && p->weights[k] < 0.0 ? -size : size;
        const double angle = angle_of(p, token, k);
        out[k] = amplitude * cos(angle);
        out[p->r + k] = amplitude * sin(angle);
    }
}

const double *weft_bench_reference_flt(weft_bench_reference *ref, const weft_bench_flt *p) {
    const uint64_t columns = p->width + 2 * (uint64_t)p->r;
    const double scale = p->scale != 0.0 ? p->scale : (double)(float)pow(p->width, -0.25);
    if (!weft_bench_reference_spend(ref,
                                    (double)p->n * (20.0 * p->r + (double)p->heads * p->width))) {
        return NULL;
    }
    double *out = weft_bench_reference_array(ref, (uint64_t)p->n * p->heads * columns);
    for (uint32_t i = 0; out && i < p->n; i++) {
        for (uint32_t head = 0; head < p->heads; head++) {
            const uint64_t at = (uint64_t)i * p->heads + head;
            for (uint32_t c = 0; c < p->width; c++) {
                out[at * columns + c] = scale * p->x[at * p->width + c];
            }
            write_waves(out + at * columns + p->width, p, i);
        }
    }
    return out;
}
