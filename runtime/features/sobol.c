/* SPDX-License-Identifier: MIT */
/*
 * Direction numbers of Sobol's sequence: Sobol', "On the distribution of points in a cube and the approximate evaluation
 * of integrals", 1967; the recurrence as in Bratley and Fox, "Algorithm 659", 1988, equation (2).
 *
 * Nothing is tabulated. Dimension 1 is van der Corput's sequence, dimension j ≥ 2 belongs to the (j-1)-th primitive
 * polynomial over GF(2), by degree and then by value. Initial numbers m_i, odd and below 2^i, may be chosen: they are
 * words of Philox under a key of their own. Up to dimension 32 they are drawn again until Sobol's Property A holds (the
 * points of every aligned block of 2^d have one in each of the 2^d orthants of the first d dimensions); beyond, no matrix
 * has enough rows to tell.
 */
#include "features/sequence.h"

#include "core/math/philox.h"

#define WORD_BITS           32
#define PROPERTY_DIMENSIONS 32
#define INITIAL_KEY         UINT64_C(0x736f626f6c) /* "sobol" */

/* x^exponent modulo a polynomial over GF(2) of that degree; bit i stands for xⁱ. */
static uint32_t power_of_x(uint32_t exponent, uint32_t polynomial, uint32_t degree) {
    uint32_t result = 1;
    for (int bit = 31; bit >= 0; bit--) {
        /* Squaring spreads the bits; the product with x shifts them; both then reduce from the top. */
        uint64_t wide = 0;
        for (uint32_t i = 0; i < degree; i++) {
            wide |= (uint64_t)((result >> i) & 1) << (2 * i);
        }
        wide <<= (exponent >> bit) & 1;
        for (uint32_t i = 2 * degree; i-- > degree;) {
            if ((wide >> i) & 1) {
                wide ^= (uint64_t)polynomial << (i - degree);
            }
        }
        result = (uint32_t)wide;
    }
    return result;
}

/* True if x generates the field: its order is 2^degree - 1 and no proper divisor. degree ≥ 1, constant term 1. */
static bool is_primitive(uint32_t polynomial, uint32_t degree) {
    const uint32_t order = (1U << degree) - 1;
    if (power_of_x(order, polynomial, degree) != 1) {
        return false;
    }
    uint32_t left = order;
    for (uint32_t factor = 3; factor * factor <= left; factor += 2) {
        if (left % factor == 0) {
            if (power_of_x(order / factor, polynomial, degree) == 1) {
                return false;
            }
            while (left % factor == 0) {
                left /= factor;
            }
        }
    }
    return left == 1 || left == order || power_of_x(order / left, polynomial, degree) != 1;
}

static uint32_t degree_of(uint32_t polynomial) {
    uint32_t degree = 0;
    while (polynomial >> (degree + 1) != 0) {
        degree++;
    }
    return degree;
}

static uint32_t next_primitive(uint32_t polynomial) {
    do {
        polynomial += 2; /* odd: the constant term is 1 */
    } while (!is_primitive(polynomial, degree_of(polynomial)));
    return polynomial;
}

/* v[i] = m_{i+1} 2^(31-i): initial numbers from the generator, the others by the polynomial's recurrence. */
static void fill_directions(uint32_t v[WORD_BITS], uint32_t polynomial, uint32_t dimension,
                            uint32_t attempt) {
    const uint32_t degree = degree_of(polynomial);
    for (uint32_t i = 0; i < degree; i++) {
        uint32_t word = weft_philox_u32(INITIAL_KEY, dimension, (uint64_t)attempt * WORD_BITS + i);
        uint32_t m = (word >> (31 - i)) | 1;
        v[i] = m << (31 - i);
    }
    for (uint32_t i = degree; i < WORD_BITS; i++) {
        v[i] = v[i - degree] ^ (v[i - degree] >> degree);
        for (uint32_t k = 1; k < degree; k++) {
            if ((polynomial >> (degree - k)) & 1) {
                v[i] ^= v[i - k];
            }
        }
    }
}

/* Rows of leading bits, reduced: row j has its pivot in column j. */
struct leading_bits {
    uint64_t rows[PROPERTY_DIMENSIONS];
};

/* Adds dimension j; false when the leading (j+1)×(j+1) matrix would be singular. */
static bool add_leading_bits(struct leading_bits *bits, uint32_t j, const uint32_t v[WORD_BITS]) {
    uint64_t row = 0;
    for (uint32_t i = 0; i < WORD_BITS; i++) {
        row |= (uint64_t)(v[i] >> 31) << i;
    }
    for (uint32_t k = 0; k < j; k++) {
        if ((row >> k) & 1) {
            row ^= bits->rows[k];
        }
    }
    bits->rows[j] = row;
    return ((row >> j) & 1) != 0;
}

void weft_sobol_directions(uint32_t *out, uint32_t dimensions) {
    struct leading_bits bits;
    uint32_t polynomial = 1;
    for (uint32_t j = 0; j < dimensions; j++) {
        uint32_t *v = out + (size_t)j * WORD_BITS;
        if (j == 0) {
            for (uint32_t i = 0; i < WORD_BITS; i++) {
                v[i] = 1U << (31 - i);
            }
            add_leading_bits(&bits, 0, v);
            continue;
        }
        polynomial = next_primitive(polynomial);
        uint32_t attempt = 0;
        do {
            fill_directions(v, polynomial, j, attempt);
            attempt++;
        } while (j < PROPERTY_DIMENSIONS && !add_leading_bits(&bits, j, v));
    }
}
