/* SPDX-License-Identifier: MIT */
/* The arithmetic probe's questions find out what they are there to find out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>

#include "core/hash.h"
#include "device/probe_cases.h"

/* Places of results, see the table in probe_cases.c. */
enum { SUM, DIFFERENCE, PRODUCT, PLUS, MINUS, FROM, THREE, BACK, NEGATED, COMPARED, INT, UINT };

static struct weft_probe_input inputs[WEFT_PROBE_CASES];
static struct weft_probe_result results[WEFT_PROBE_CASES];

static float value(uint32_t word) {
    float result;
    memcpy(&result, &word, sizeof result);
    return result;
}

static uint32_t word(float number) {
    uint32_t result;
    memcpy(&result, &number, sizeof result);
    return result;
}

static int set_up(void **state) {
    (void)state;
    weft_probe_make_inputs(inputs);
    for (size_t i = 0; i < WEFT_PROBE_CASES; i++) {
        weft_probe_expect(&results[i], &inputs[i]);
    }
    return 0;
}

/* The cases are part of what a cached verdict stands for, and the same on every machine. */
static void test_inputs_are_fixed(void **state) {
    (void)state;
    char text[WEFT_DIGEST_TEXT_SIZE];
    const weft_digest digest = weft_digest_of(inputs, sizeof inputs);
    assert_string_equal(weft_digest_text(&digest, text),
                        "c53d4e027d6d76a51b13ee61dcb02a95787ad2d41c86eda8096957964d2942b1");
}

static void test_right_answers_pass(void **state) {
    (void)state;
    char text[256] = "";
    assert_true(weft_probe_compare(text, sizeof text, inputs, results));
    assert_string_equal(text, "");
}

static bool is_plain(uint32_t bits) {
    const int kind = fpclassify(value(bits));
    return kind == FP_ZERO || kind == FP_NORMAL;
}

static void test_drivers_have_no_choice(void **state) {
    (void)state;
    for (size_t i = 0; i < WEFT_PROBE_CASES; i++) {
        for (size_t k = 0; k < 3; k++) {
            assert_true(is_plain(inputs[i].word[k]));
        }
        for (size_t k = SUM; k <= UINT; k++) {
            assert_true(k == COMPARED || is_plain(results[i].word[k]));
        }
        assert_true(fabsf(value(inputs[i].word[4])) < 0x1p31f);
    }
}

/* A second opinion: a product of floats is exact in double, and so is a sum of floats of similar
 * size. */
static void test_against_double(void **state) {
    (void)state;
    uint32_t sums = 0;
    for (size_t i = 0; i < WEFT_PROBE_CASES; i++) {
        const double a = (double)value(inputs[i].word[0]);
        const double b = (double)value(inputs[i].word[1]);
        const uint32_t d = inputs[i].word[3];
        assert_int_equal(results[i].word[PRODUCT], word((float)(a * b)));
        assert_int_equal(results[i].word[INT], word((float)(int32_t)d));
        const uint32_t exact = d < 1u << 24 ? d : d & 0xffffff00u;
        assert_int_equal(results[i].word[UINT], word((float)exact));
        assert_true((uint32_t)(double)(float)exact == exact);
        const double sum = a + b;
        if (sum - a == b && sum - b == a) {
            sums++;
            assert_int_equal(results[i].word[SUM], word((float)sum));
        }
    }
    assert_true(sums > WEFT_PROBE_CASES / 2);
}

/* Puts a wrong answer into one place and returns what the comparison says. */
static const char *verdict_on(size_t index, size_t operation, uint32_t wrong) {
    static char text[256];
    const uint32_t right = results[index].word[operation];
    results[index].word[operation] = wrong;
    assert_false(weft_probe_compare(text, sizeof text, inputs, results));
    results[index].word[operation] = right;
    return text;
}

/* How many cases give away a device whose answer to an operation is `wrong(a, b, c)`. */
static uint32_t count_exposing(size_t operation, const char *name,
                               float (*wrong)(float, float, float)) {
    uint32_t count = 0;
    for (size_t i = 0; i < WEFT_PROBE_CASES; i++) {
        const uint32_t *in = inputs[i].word;
        const uint32_t answer = word(wrong(value(in[0]), value(in[1]), value(in[2])));
        if (answer != results[i].word[operation]) {
            if (count++ == 0) {
                assert_non_null(strstr(verdict_on(i, operation, answer), name));
            }
        }
    }
    return count;
}

static float fused_plus(float a, float b, float c) {
    return fmaf(a, b, c);
}

static float fused_minus(float a, float b, float c) {
    return fmaf(a, b, -c);
}

static float fused_from(float a, float b, float c) {
    return fmaf(-a, b, c);
}

static float three_the_other_way(float a, float b, float c) {
    volatile float sum = b + c;
    return a + sum;
}

static float cancelled(float a, float b, float c) {
    (void)a;
    (void)c;
    return b;
}

static float toward_zero(double exact) {
    float rounded = (float)exact;
    return fabs((double)rounded) > fabs(exact) ? nextafterf(rounded, 0.0f) : rounded;
}

static float product_toward_zero(float a, float b, float c) {
    (void)c;
    return toward_zero((double)a * (double)b);
}

/* To nearest, but ties away from zero. */
static float away(double exact) {
    const float low = toward_zero(exact);
    const float high = nextafterf(low, exact < 0 ? -INFINITY : INFINITY);
    return fabs((double)high - exact) <= fabs(exact - (double)low) ? high : low;
}

static float product_ties_away(float a, float b, float c) {
    (void)c;
    const double exact = (double)a * (double)b;
    return (double)(float)exact == exact ? (float)exact : away(exact);
}

static float sum_ties_away(float a, float b, float c) {
    (void)c;
    const double exact = (double)a + (double)b;
    return (double)(float)exact == exact ? (float)exact : away(exact);
}

static void test_wrong_devices_are_found(void **state) {
    (void)state;
    assert_true(count_exposing(PLUS, "a * b + c", fused_plus) > 100);
    assert_true(count_exposing(MINUS, "a * b - c", fused_minus) > 100);
    assert_true(count_exposing(FROM, "c - a * b", fused_from) > 100);
    assert_true(count_exposing(THREE, "(a + b) + c", three_the_other_way) > 100);
    assert_true(count_exposing(BACK, "(a + b) - a", cancelled) > 100);
    assert_true(count_exposing(PRODUCT, "a * b", product_toward_zero) > 100);
    assert_true(count_exposing(PRODUCT, "a * b", product_ties_away) > 10);
    assert_true(count_exposing(SUM, "a + b", sum_ties_away) > 10);
}

static void test_message(void **state) {
    (void)state;
    size_t index = 0;
    while (inputs[index].word[0] != word(0x1p24f)) {
        index++;
    }
    assert_string_equal(verdict_on(index, SUM, word(0x1.000002p24f)),
                        "a + b with a=0x4b800000 (16777216), b=0x3f800000 (1) gives 0x4b800001 "
                        "(16777218), IEEE 754 gives 0x4b800000 (16777216)");
    /* However short the room, the text ends. */
    char small[16];
    results[index].word[SUM]++;
    assert_false(weft_probe_compare(small, sizeof small, inputs, results));
    results[index].word[SUM]--;
    assert_true(strlen(small) < sizeof small);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_inputs_are_fixed),        cmocka_unit_test(test_right_answers_pass),
        cmocka_unit_test(test_drivers_have_no_choice),  cmocka_unit_test(test_against_double),
        cmocka_unit_test(test_wrong_devices_are_found), cmocka_unit_test(test_message),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
