/* SPDX-License-Identifier: MIT */
/* The exact multiply-add of the host, against numbers of 640 bits; and the probe's questions of fused math. */
#include "core/math/fused.h"
#include "shader/probe_cases.h"
#include "shader/probe_fma.h"
#include "support.h"
#include "support_fma.h"

#ifdef __SANITIZE_ADDRESS__
#define TRIPLES 100000
#else
#define TRIPLES 2000000
#endif

WEFT_TEST(test_millions_of_triples_are_rounded_once) {
    uint64_t unfused = 0, subnormal = 0;
    for (uint64_t i = 0; i < TRIPLES; i++) {
        uint32_t x[3];
        weft_test_fma_triple(x, i);
        const uint32_t expected = weft_test_fma(x[0], x[1], x[2]);
        const uint32_t found = weft_fused_multiply_add(x[0], x[1], x[2]);
        if (found != expected) {
            fail_msg("triple %llu, %08x %08x %08x: %08x, expected %08x", (unsigned long long)i,
                     x[0], x[1], x[2], found, expected);
        }
        unfused += weft_test_unfused(x[0], x[1], x[2]) != expected;
        subnormal += (expected & 0x7FFFFFFF) == 0x00800000;
    }
    assert_true(unfused > TRIPLES / 5); /* two roundings would be noticed */
    assert_true(subnormal > TRIPLES / 1000);
}

/* By hand. */
WEFT_TEST(test_the_border_is_where_24_bits_round_to_it) {
    static const uint32_t cases[][4] = {
        /* 2^-126 - 2^-151 is a tie, which goes to the even 2^-126; a little less is a zero of its sign. */
        {0x80000000 | (127 - 75) << 23, (127 - 76) << 23, 0x00800000, 0x00800000},
        {0x80000001 | (127 - 75) << 23, (127 - 76) << 23, 0x00800000, 0},
        {0x00000001 | (127 - 75) << 23, (127 - 76) << 23, 0x80800000, 0x80000000},
        /* 1 + 2^-24 is a tie; 2^-48 more decides. */
        {(127 - 12) << 23, (127 - 12) << 23, 0x3F800000, 0x3F800000},
        {0x00000001 | (127 - 12) << 23, (127 - 12) << 23, 0x3F800000, 0x3F800001},
        /* 2^128 - 2^127 is finite; 2^128 alone is not. */
        {(127 + 64) << 23, (127 + 64) << 23, 0xFF000000, 0x7F000000},
        {(127 + 64) << 23, (127 + 64) << 23, 0, 0x7F800000},
        /* Zeros: (-1)(0) + -0 is -0, and what cancels is +0. */
        {0xBF800000, 0, 0x80000000, 0x80000000},
        {0xBF800000, 0x3F800000, 0x3F800000, 0},
        /* An infinity times a subnormal is one times zero. */
        {0x7F800000, 1, 0x3F800000, 0x7FC00000},
        {0x3F800000, 0x3F800000, 0xFF800000, 0xFF800000},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(weft_fused_multiply_add(cases[i][0], cases[i][1], cases[i][2]),
                         cases[i][3]);
        assert_int_equal(weft_test_fma(cases[i][0], cases[i][1], cases[i][2]), cases[i][3]);
    }
}

/* ---- the probe ---- */

static uint32_t inputs[WEFT_PROBE_FMA_CASES * WEFT_PROBE_FMA_INPUTS];
static uint32_t results[WEFT_PROBE_FMA_CASES * WEFT_PROBE_FMA_RESULTS];

typedef uint32_t function(uint32_t a, uint32_t b, uint32_t c);

static uint32_t judge(function *fma) {
    char text[256] = "";
    for (size_t i = 0; i < WEFT_PROBE_FMA_CASES; i++) {
        const uint32_t *x = &inputs[i * WEFT_PROBE_FMA_INPUTS];
        uint32_t *y = &results[i * WEFT_PROBE_FMA_RESULTS];
        y[0] = fma(x[0], x[1], x[2]);
        y[1] = fma(x[0] ^ 0x80000000, x[1], x[2]);
        y[2] = fma(x[0], x[1], x[2] ^ 0x80000000);
        y[3] = fma(y[0], x[1], x[0]);
    }
    const uint32_t verdict = weft_probe_fma_judge(text, sizeof text, inputs, results);
    assert_int_equal(text[0] == '\0', verdict == WEFT_PROBE_RIGHT);
    return verdict;
}

/* As a processor without a flush mode rounds, but for what rule 7 does behind it: a result that is 2^-126 because subnormals are rounded to fewer
 * bits stays. */
static uint32_t flushed_late(uint32_t a, uint32_t b, uint32_t c) {
    const uint32_t found = weft_test_fma(a, b, c);
    const uint32_t grown = (a & 0x7F800000) == 0 ? a : a + (1u << 23); /* a · 2 */
    const uint32_t twice = weft_test_fma(grown, b, (c & 0x7F800000) == 0 ? c : c + (1u << 23));
    return (twice & 0x7FFFFFFF) == 0x00FFFFFF ? (twice & 0x80000000) | 0x00800000 : found;
}

WEFT_TEST(test_the_probe_tells_one_rounding_from_others) {
    weft_probe_fma_make(inputs);
    assert_int_equal(judge(weft_test_fma), WEFT_PROBE_RIGHT);
    assert_int_equal(judge(weft_test_unfused), WEFT_PROBE_WRONG);
    assert_int_equal(judge(flushed_late), WEFT_PROBE_KEEPS_SUBNORMALS);
}

WEFT_TEST(test_plain_questions_leave_no_choice) {
    weft_probe_fma_make(inputs);
    (void)judge(weft_test_fma);
    for (size_t i = 0; i < WEFT_PROBE_FMA_PLAIN; i++) {
        for (size_t k = 0; k < WEFT_PROBE_FMA_INPUTS; k++) {
            const uint32_t word = inputs[i * WEFT_PROBE_FMA_INPUTS + k];
            assert_true((word & 0x7F800000) != 0 || (word & 0x7FFFFFFF) == 0);
        }
        const uint32_t *x = &inputs[i * WEFT_PROBE_FMA_INPUTS];
        /* A zero is one of an exact sum: doubled numbers give it, too. */
        const bool scales = (x[0] & 0x7F800000) >= 1u << 23 && (x[0] >> 23 & 255) < 190 &&
                            (x[2] >> 23 & 255) < 190 && (x[2] & 0x7F800000) != 0;
        if ((results[i * WEFT_PROBE_FMA_RESULTS] & 0x7FFFFFFF) == 0 && scales) {
            assert_int_equal(
                weft_test_fma(x[0] + (60u << 23), x[1], x[2] + (60u << 23)) & 0x7FFFFFFF, 0);
        }
    }
}
