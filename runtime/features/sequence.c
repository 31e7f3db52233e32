/* SPDX-License-Identifier: MIT */
#include "features/sequence.h"

#include "core/host.h"

static uint32_t next_prime(uint32_t above) {
    for (uint32_t n = above + 1;; n++) {
        bool prime = n > 1;
        for (uint32_t factor = 2; prime && factor * factor <= n; factor++) {
            prime = n % factor != 0;
        }
        if (prime) {
            return n;
        }
    }
}

static weft_status begin_sobol(struct weft_sequence *sequence, const struct weft_stream *shift) {
    const uint32_t dimensions = sequence->dimensions;
    sequence->directions = weft_alloc_zero(&sequence->host, dimensions, 33 * sizeof(uint32_t));
    if (!sequence->directions) {
        return weft_fail_memory(&sequence->host, "a Sobol' sequence");
    }
    sequence->shift = sequence->directions + (size_t)dimensions * 32;
    weft_sobol_directions(sequence->directions, dimensions);
    for (uint32_t j = 0; shift && j < dimensions; j++) {
        sequence->shift[j] = weft_sample_word(*shift, j);
    }
    return WEFT_OK;
}

/* How many digits of a base are used: as many as give a denominator of at most 2^48. */
static uint32_t halton_digits(uint32_t base) {
    uint32_t digits = 0;
    for (uint64_t power = base; power <= UINT64_C(1) << 48; power *= base) {
        digits++;
    }
    return digits;
}

static weft_status begin_halton(struct weft_sequence *sequence, const struct weft_stream *shift) {
    const uint32_t dimensions = sequence->dimensions;
    sequence->bases = weft_alloc_zero(&sequence->host, dimensions, sizeof(uint32_t));
    sequence->digits =
        weft_alloc_zero(&sequence->host, dimensions, WEFT_HALTON_DIGITS * sizeof *sequence->digits);
    if (!sequence->bases || !sequence->digits) {
        weft_sequence_end(sequence);
        return weft_fail_memory(&sequence->host, "a Halton sequence");
    }
    uint32_t prime = 1;
    for (uint32_t j = 0; j < dimensions; j++) {
        prime = next_prime(prime);
        sequence->bases[j] = prime;
        uint16_t *digits = sequence->digits + (size_t)j * WEFT_HALTON_DIGITS;
        uint32_t count = shift ? halton_digits(prime) : 0;
        for (uint32_t k = 0; k < count; k++) {
            uint64_t word = weft_sample_word(*shift, (uint64_t)j * WEFT_HALTON_DIGITS + k);
            digits[k] = (uint16_t)((word * prime) >> 32);
        }
    }
    return WEFT_OK;
}

weft_status weft_sequence_begin(struct weft_sequence *sequence, weft_features_sequence kind,
                                uint32_t dimensions, const struct weft_stream *shift,
                                const weft_host *host) {
    *sequence =
        (struct weft_sequence){.kind = kind, .dimensions = dimensions, .shifted = shift != NULL};
    if (host) {
        sequence->host = *host;
    }
    return kind == WEFT_FEATURES_HALTON ? begin_halton(sequence, shift)
                                        : begin_sobol(sequence, shift);
}

void weft_sequence_end(struct weft_sequence *sequence) {
    weft_free(&sequence->host, sequence->directions);
    weft_free(&sequence->host, sequence->bases);
    weft_free(&sequence->host, sequence->digits);
    sequence->directions = NULL;
    sequence->bases = NULL;
    sequence->digits = NULL;
}

static double sobol_coordinate(const struct weft_sequence *sequence, uint32_t j, uint32_t index) {
    uint32_t word = sequence->shift[j];
    for (uint32_t i = 0; i < 32 && index >> i != 0; i++) {
        if ((index >> i) & 1) {
            word ^= sequence->directions[(size_t)j * 32 + i];
        }
    }
    /* A shift can give 0, so its cells are taken at their middles; without one, a point ≥ 1 never does. */
    return ((double)word + (sequence->shifted ? 0.5 : 0.0)) * 0x1p-32;
}

/* The radical inverse of the index, digit by digit plus the shift's; exact integers below 2^49. */
static double halton_coordinate(const struct weft_sequence *sequence, uint32_t j, uint32_t index) {
    const uint32_t base = sequence->bases[j];
    const uint16_t *digits = sequence->digits + (size_t)j * WEFT_HALTON_DIGITS;
    const uint32_t count = halton_digits(base);
    uint64_t numerator = 0;
    uint64_t denominator = 1;
    for (uint32_t k = 0; k < count; k++) {
        numerator = numerator * base + (index % base + digits[k]) % base;
        denominator *= base;
        index /= base;
    }
    return ((double)numerator + (sequence->shifted ? 0.5 : 0.0)) / (double)denominator;
}

void weft_sequence_point(double *out, const struct weft_sequence *sequence, uint32_t index) {
    for (uint32_t j = 0; j < sequence->dimensions; j++) {
        out[j] = sequence->kind == WEFT_FEATURES_HALTON ? halton_coordinate(sequence, j, index)
                                                        : sobol_coordinate(sequence, j, index);
    }
}
