/* SPDX-License-Identifier: MIT */
#include "mixers/vkfft/host_dft.h"

#include <string.h>

/* π/2 cut into pieces of at most 31 bits: an integer below 2^22 times a piece is exact in float64.
 */
static const double half_pi_piece[4] = {0x1.921fb544p+0, 0x42d18469p-64, 0x898cc517p-96,
                                        0x01b839a2p-128};

static const double half_pi = 0x1.921fb54442d18p+0;
static const double two_over_pi = 0x1.45f306dc9c883p-1;

/* Taylor series, last term first; on |x| ≤ π/4 what is cut off is below 1e-19. */
static double sin_kernel(double x) {
    double square = x * x;
    double sum = 1.0;
    for (int k = 16; k >= 2; k -= 2) {
        sum = 1.0 - square / (double)(k * (k + 1)) * sum;
    }
    return x * sum;
}

static double cos_kernel(double x) {
    double square = x * x;
    double sum = 1.0;
    for (int k = 17; k >= 1; k -= 2) {
        sum = 1.0 - square / (double)(k * (k + 1)) * sum;
    }
    return sum;
}

/* x − quarter × π/2, in [−π/4, π/4] but for rounding. */
static double reduce(double x, int64_t *quarter) {
    double turns = x * two_over_pi;
    *quarter = (int64_t)(turns < 0 ? turns - 0.5 : turns + 0.5);
    double count = (double)*quarter;
    for (int i = 0; i < 4; i++) {
        x -= count * half_pi_piece[i];
    }
    return x;
}

static double cos_in_quarter(double x, int64_t quarter) {
    switch (quarter & 3) {
    case 0:
        return cos_kernel(x);
    case 1:
        return -sin_kernel(x);
    case 2:
        return -cos_kernel(x);
    default:
        return sin_kernel(x);
    }
}

double weft_fft_cos(double x) {
    int64_t quarter;
    double rest = reduce(x, &quarter);
    return cos_in_quarter(rest, quarter);
}

double weft_fft_sin(double x) {
    int64_t quarter;
    double rest = reduce(x, &quarter);
    return cos_in_quarter(rest, quarter - 1);
}

void weft_fft_root_of_unity(double root[2], uint64_t numerator, uint64_t denominator) {
    /* Adding the remainder to itself, modulo the denominator, doubles the angle without overflow.
     */
    uint64_t rest = numerator % denominator;
    int64_t quarter = 0;
    for (int i = 0; i < 2; i++) {
        quarter *= 2;
        if (rest >= denominator - rest) {
            rest -= denominator - rest;
            quarter++;
        } else {
            rest += rest;
        }
    }
    bool upper_half = rest > denominator - rest;
    double fraction = (double)(upper_half ? denominator - rest : rest) / (double)denominator;
    double x = fraction * half_pi;
    if (upper_half) {
        x = -x;
        quarter++;
    }
    root[0] = cos_in_quarter(x, quarter);
    root[1] = cos_in_quarter(x, quarter - 1);
}

struct dft {
    const double *roots; /* exp(−2πi j / n) */
    uint64_t n;
    double *scratch; /* as many complex numbers as the largest prime factor */
};

static uint64_t smallest_factor(uint64_t n) {
    for (uint64_t p = 2; p * p <= n; p++) {
        if (n % p == 0) {
            return p;
        }
    }
    return n;
}

/* One decimation-in-time step: `radix` transforms of length m, one behind the other in output,
   become one. */
static void combine(const struct dft *dft, double *output, uint64_t radix, uint64_t m) {
    uint64_t length = radix * m;
    uint64_t step = dft->n / length;
    for (uint64_t k = 0; k < m; k++) {
        for (uint64_t q = 0; q < radix; q++) {
            uint64_t index = k + q * m;
            double re = 0.0;
            double im = 0.0;
            for (uint64_t r = 0; r < radix; r++) {
                const double *value = output + 2 * (r * m + k);
                const double *root = dft->roots + 2 * (r * index % length * step);
                re += value[0] * root[0] - value[1] * root[1];
                im += value[0] * root[1] + value[1] * root[0];
            }
            dft->scratch[2 * q] = re;
            dft->scratch[2 * q + 1] = im;
        }
        for (uint64_t q = 0; q < radix; q++) {
            output[2 * (k + q * m)] = dft->scratch[2 * q];
            output[2 * (k + q * m) + 1] = dft->scratch[2 * q + 1];
        }
    }
}

/* The depth is the number of prime factors, at most 31. */
static void transform(const struct dft *dft, double *output, const double *input, uint64_t n,
                      uint64_t stride) {
    if (n <= 1) {
        output[0] = input[0];
        output[1] = input[1];
        return;
    }
    uint64_t radix = smallest_factor(n);
    uint64_t m = n / radix;
    for (uint64_t r = 0; r < radix; r++) {
        transform(dft, output + 2 * r * m, input + 2 * r * stride, m, stride * radix);
    }
    combine(dft, output, radix, m);
}

static uint64_t largest_factor(uint64_t n) {
    uint64_t factor = 1;
    while (n > 1) {
        factor = smallest_factor(n);
        n /= factor;
    }
    return factor;
}

weft_status weft_fft_host_dft(double *output, const double *input, uint64_t n,
                              const weft_host *host) {
    if (n == 0 || n > (UINT64_C(1) << 31)) {
        return WEFT_INVALID_ARGUMENT;
    }
    double *roots = weft_alloc_zero(host, (size_t)n, 2 * sizeof *roots);
    double *scratch = weft_alloc_zero(host, (size_t)largest_factor(n), 2 * sizeof *scratch);
    if (!roots || !scratch) {
        weft_free(host, roots);
        weft_free(host, scratch);
        return WEFT_OUT_OF_HOST_MEMORY;
    }
    for (uint64_t j = 0; j < n; j++) {
        weft_fft_root_of_unity(roots + 2 * j, j, n);
        roots[2 * j + 1] = -roots[2 * j + 1];
    }
    const struct dft dft = {.roots = roots, .n = n, .scratch = scratch};
    transform(&dft, output, input, n, 1);
    weft_free(host, roots);
    weft_free(host, scratch);
    return WEFT_OK;
}
