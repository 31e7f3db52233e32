/* SPDX-License-Identifier: MIT */
/* The arithmetic probe's questions find out what they are there to find out. */
#include <math.h>

#include "core/hash.h"
#include "shader/probe_cases.h"
#include "support.h"

/* Places of results, see the table in probe_cases.c. */
enum { SUM, DIFFERENCE, PRODUCT, PLUS, MINUS, FROM, THREE, BACK, NEGATED, COMPARED, INT, UINT };
enum {
    TWICE_MINUS = 14,
    FOUR_TIMES_PLUS,
    ONCE_PLUS,
    MINUS_ONCE,
    TIMES_ZERO,
    TIMES_MINUS_ZERO,
    PLUS_ZERO,
    PLUS_MINUS_ZERO,
    ZERO_MINUS,
    MINUS_ZERO,
    REAL,
    IMAGINARY
};

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

WEFT_TEST_GROUP(set_up, NULL);

/* The cases are part of what a cached verdict stands for, and the same on every machine. */
WEFT_TEST(test_inputs_are_fixed) {
    char text[WEFT_DIGEST_TEXT_SIZE];
    const weft_digest digest = weft_digest_of(inputs, sizeof inputs);
    assert_string_equal(weft_digest_text(&digest, text),
                        "28857ed4fbb3101d3d9ee2b467c118088dbe3dd62710b10eded8116a707b1e74");
}

WEFT_TEST(test_right_answers_pass) {
    char text[256] = "";
    assert_int_equal(weft_probe_judge(text, sizeof text, inputs, results), WEFT_PROBE_RIGHT);
    assert_string_equal(text, "");
}

static bool is_plain(uint32_t bits) {
    const int kind = fpclassify(value(bits));
    return kind == FP_ZERO || kind == FP_NORMAL;
}

WEFT_TEST(test_drivers_have_no_choice) {
    for (size_t i = 0; i < WEFT_PROBE_PLAIN; i++) {
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
WEFT_TEST(test_against_double) {
    uint32_t sums = 0;
    for (size_t i = 0; i < WEFT_PROBE_PLAIN; i++) {
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
    assert_true(sums > WEFT_PROBE_PLAIN / 2);
}

/* Puts a wrong answer into one place and returns what the comparison says. */
static const char *verdict_on(size_t index, size_t operation, uint32_t wrong) {
    static char text[256];
    const uint32_t right = results[index].word[operation];
    results[index].word[operation] = wrong;
    assert_int_not_equal(weft_probe_judge(text, sizeof text, inputs, results), WEFT_PROBE_RIGHT);
    results[index].word[operation] = right;
    return text;
}

/* How many cases of [first, last) give away a device whose answer to an operation is `wrong(a, b, c)`. */
static uint32_t count_exposing_in(size_t first, size_t last, size_t operation, const char *name,
                                  float (*wrong)(float, float, float)) {
    uint32_t count = 0;
    for (size_t i = first; i < last; i++) {
        const uint32_t *in = inputs[i].word;
        const uint32_t answer = word(wrong(value(in[0]), value(in[1]), value(in[2])));
        const uint32_t right = results[i].word[operation];
        if (answer != right && !(isnan(value(answer)) && isnan(value(right)))) {
            if (count++ == 0) {
                assert_non_null(strstr(verdict_on(i, operation, answer), name));
            }
        }
    }
    return count;
}

static uint32_t count_exposing(size_t operation, const char *name,
                               float (*wrong)(float, float, float)) {
    return count_exposing_in(0, WEFT_PROBE_PLAIN, operation, name, wrong);
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

static float fused_once_plus(float a, float b, float c) {
    return fmaf(b, c, a);
}

static float fused_minus_once(float a, float b, float c) {
    return fmaf(-c, a, b);
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

WEFT_TEST(test_wrong_devices_are_found) {
    assert_true(count_exposing(PLUS, "a * b + c", fused_plus) > 100);
    assert_true(count_exposing(MINUS, "a * b - c", fused_minus) > 100);
    assert_true(count_exposing(FROM, "c - a * b", fused_from) > 100);
    assert_true(count_exposing(ONCE_PLUS, "b * c + a", fused_once_plus) > 100);
    assert_true(count_exposing(MINUS_ONCE, "b - c * a", fused_minus_once) > 100);
    assert_true(count_exposing(THREE, "(a + b) + c", three_the_other_way) > 100);
    assert_true(count_exposing(BACK, "(a + b) - a", cancelled) > 100);
    assert_true(count_exposing(PRODUCT, "a * b", product_toward_zero) > 100);
    assert_true(count_exposing(PRODUCT, "a * b", product_ties_away) > 10);
    assert_true(count_exposing(SUM, "a + b", sum_ties_away) > 10);
}

#define SUBNORMALS (WEFT_PROBE_PLAIN + WEFT_PROBE_SPECIAL) /* where they start */

/* The verdict on a device whose sums and products of the cases from `first` on are others. */
static uint32_t verdict_on_arithmetic(size_t first, float (*add)(float, float),
                                      float (*multiply)(float, float)) {
    static struct weft_probe_result others[WEFT_PROBE_CASES];
    char text[256];
    memcpy(others, results, sizeof others);
    for (size_t i = first; i < WEFT_PROBE_CASES; i++) {
        const float a = value(inputs[i].word[0]);
        const float b = value(inputs[i].word[1]);
        others[i].word[SUM] = word(add(a, b));
        others[i].word[PRODUCT] = word(multiply(a, b));
    }
    return weft_probe_judge(text, sizeof text, inputs, others);
}

static float flush(float x) {
    return fpclassify(x) == FP_SUBNORMAL ? copysignf(0.0f, x) : x;
}

static float sum(float a, float b) {
    return flush(flush(a) + flush(b));
}

/* A second opinion on which products are small: 2^24 times as large, where 24 bits remain. */
static float product(float a, float b) {
    volatile float larger = flush(a) * 0x1p24f;
    larger *= flush(b);
    volatile float plain = flush(a) * flush(b);
    return fabsf(larger) < 0x1p-102f ? copysignf(0.0f, larger) : plain;
}

/* Flushed where the exact product is too small, and where the float32 is. */
static float product_flushed_before_rounding(float a, float b) {
    const double exact = (double)flush(a) * (double)flush(b);
    return fabs(exact) < 0x1p-126 ? copysignf(0.0f, (float)exact) : (float)exact;
}

static float product_flushed_as_float(float a, float b) {
    volatile float plain = flush(a) * flush(b);
    return flush(plain);
}

static float ieee_sum(float a, float b) {
    return a + b;
}

static float ieee_product(float a, float b) {
    return a * b;
}

static float sum_of_subnormals(float a, float b) {
    return flush(a + b);
}

static float product_of_subnormals(float a, float b) {
    return a == flush(a) && b == flush(b) ? product(a, b) : flush(a * b);
}

static float product_to_plus_zero(float a, float b) {
    volatile float plain = flush(a) * flush(b);
    return plain != 0.0f && product(a, b) == 0.0f ? 0.0f : product(a, b);
}

WEFT_TEST(test_subnormals) {
    assert_int_equal(verdict_on_arithmetic(0, sum, product), WEFT_PROBE_RIGHT);
    assert_int_equal(verdict_on_arithmetic(0, ieee_sum, product), WEFT_PROBE_KEEPS_SUBNORMALS);
    assert_int_equal(verdict_on_arithmetic(0, sum, ieee_product), WEFT_PROBE_KEEPS_SUBNORMALS);
    assert_int_equal(verdict_on_arithmetic(0, sum_of_subnormals, product),
                     WEFT_PROBE_KEEPS_SUBNORMALS);
    assert_int_equal(verdict_on_arithmetic(0, sum, product_of_subnormals),
                     WEFT_PROBE_KEEPS_SUBNORMALS);
    assert_int_equal(verdict_on_arithmetic(0, sum, product_to_plus_zero),
                     WEFT_PROBE_KEEPS_SUBNORMALS);
    assert_int_equal(verdict_on_arithmetic(0, sum, product_flushed_before_rounding),
                     WEFT_PROBE_KEEPS_SMALL_PRODUCTS);
    assert_int_equal(verdict_on_arithmetic(0, sum, product_flushed_as_float),
                     WEFT_PROBE_KEEPS_SMALL_PRODUCTS);
    assert_int_equal(verdict_on_arithmetic(0, ieee_sum, product_flushed_as_float),
                     WEFT_PROBE_KEEPS_SUBNORMALS);
}

/* Products that a float32 has room for only as 2^-126: [kind][sign], where kinds are those that are
 * below the middle, in it and above. */
WEFT_TEST(test_least_products) {
    uint32_t seen[3][2] = {{0}};
    for (size_t i = SUBNORMALS; i < WEFT_PROBE_CASES; i++) {
        const float a = flush(value(inputs[i].word[0]));
        const float b = flush(value(inputs[i].word[1]));
        const double exact = fabs((double)a * (double)b);
        if (exact >= 0x1p-126 || (float)exact != 0x1p-126f) {
            continue;
        }
        const size_t kind = exact < 0x1.ffffffp-127 ? 0 : exact == 0x1.ffffffp-127 ? 1 : 2;
        const uint32_t sign = signbit(a) != signbit(b);
        seen[kind][sign]++;
        assert_int_equal(results[i].word[PRODUCT], sign << 31 | (kind == 0 ? 0 : 0x00800000));
    }
    for (size_t kind = 0; kind < 3; kind++) {
        assert_true(seen[kind][0] > 10 && seen[kind][1] > 10);
    }
}

static struct weft_probe_result answers[WEFT_PROBE_CASES];

/* From a case on, answers to an operation become `wrong(a, b)`. */
static void answer(size_t first, size_t operation, float (*wrong)(float, float)) {
    for (size_t i = first; i < WEFT_PROBE_CASES; i++) {
        answers[i].word[operation] =
            word(wrong(value(inputs[i].word[0]), value(inputs[i].word[1])));
    }
}

static uint32_t verdict_on_answers(void) {
    char text[256];
    const uint32_t verdict = weft_probe_judge(text, sizeof text, inputs, answers);
    memcpy(answers, results, sizeof answers);
    return verdict;
}

static float zero(float a, float b) {
    (void)a;
    (void)b;
    return 0.0f;
}

static float first(float a, float b) {
    (void)b;
    return a;
}

static float minus_first(float a, float b) {
    (void)b;
    return -a;
}

static float second(float a, float b) {
    (void)a;
    return b;
}

WEFT_TEST(test_zeros) {
    static const struct {
        size_t operation;
        float (*folded)(float, float);
    } folds[] = {
        {TIMES_ZERO, zero},
        {TIMES_MINUS_ZERO, zero},
        {PLUS_ZERO, first},
        {PLUS_MINUS_ZERO, first},
        {ZERO_MINUS, minus_first},
        {MINUS_ZERO, first},
        {REAL, first},
        {IMAGINARY, second},
    };
    memcpy(answers, results, sizeof answers);
    assert_int_equal(verdict_on_answers(), WEFT_PROBE_RIGHT);
    for (size_t i = 0; i < sizeof folds / sizeof folds[0]; i++) {
        answer(0, folds[i].operation, folds[i].folded);
        assert_int_equal(verdict_on_answers(), WEFT_PROBE_FOLDS_ZEROS);
        /* Nothing else tells a zero from what was kept of a subnormal. */
        answer(SUBNORMALS, folds[i].operation, folds[i].folded);
        answer(SUBNORMALS, SUM, ieee_sum);
        assert_int_equal(verdict_on_answers(), WEFT_PROBE_KEEPS_SUBNORMALS);
    }
    answer(WEFT_PROBE_PLAIN, TIMES_ZERO, zero);
    answer(SUBNORMALS, SUM, ieee_sum);
    assert_int_equal(verdict_on_answers(), WEFT_PROBE_FOLDS_ZEROS | WEFT_PROBE_KEEPS_SUBNORMALS);
    answer(0, TIMES_ZERO, zero);
    answer(0, SUM, first);
    assert_int_equal(verdict_on_answers(), WEFT_PROBE_WRONG);
}

/* Subnormals that are wrong again, although modules flush them, are products that were lost. */
WEFT_TEST(test_needs) {
    const uint32_t keeps = WEFT_PROBE_KEEPS_SUBNORMALS;
    const uint32_t folds = WEFT_PROBE_FOLDS_ZEROS;
    assert_int_equal(weft_probe_needs(WEFT_PROBE_RIGHT, WEFT_PROBE_RIGHT), WEFT_PROBE_RIGHT);
    assert_int_equal(weft_probe_needs(WEFT_PROBE_RIGHT, keeps), keeps);
    assert_int_equal(weft_probe_needs(keeps, folds), keeps | folds);
    assert_int_equal(weft_probe_needs(folds, keeps), keeps | folds);
    const uint32_t most = keeps | WEFT_PROBE_LOSES_SMALL_PRODUCTS;
    assert_int_equal(weft_probe_needs(keeps, keeps), most);
    assert_int_equal(weft_probe_needs(most, keeps), most);
    const uint32_t small = WEFT_PROBE_KEEPS_SMALL_PRODUCTS;
    const uint32_t loses = WEFT_PROBE_LOSES_SMALL_PRODUCTS;
    assert_int_equal(weft_probe_needs(WEFT_PROBE_RIGHT, small), small);
    assert_int_equal(weft_probe_needs(small, small), small | loses);
    assert_int_equal(weft_probe_needs(small, keeps), small | keeps);
    assert_int_equal(weft_probe_needs(keeps, small), keeps | small | loses);
}

/* What a device that folds zeros says is told with its operands. */
WEFT_TEST(test_zero_message) {
    size_t index = 0;
    while (inputs[index].word[0] != 0x80000000u) {
        index++;
    }
    assert_string_equal(verdict_on(index, PLUS_ZERO, 0x80000000u),
                        "a + 0 with a=0x80000000 (-0) gives 0x80000000 (-0), IEEE 754 gives "
                        "0x00000000 (0)");
}

/* In double, where nothing of these overflows: not every system's fmaf is right there. */
static float twice_minus_fused(float a, float b, float c) {
    (void)c;
    return (float)(2.0 * (double)a - (double)b);
}

static float four_times_plus_fused(float a, float b, float c) {
    (void)b;
    return (float)(4.0 * (double)a + (double)c);
}

static float three_in_double(float a, float b, float c) {
    return (float)((double)a + (double)b + (double)c);
}

static float back_in_double(float a, float b, float c) {
    (void)c;
    return (float)((double)a + (double)b - (double)a);
}

/* Numbers without NaN, where the answers differ by an overflow on the way. */
static uint32_t count_overflows(size_t operation, const char *name,
                                float (*wrong)(float, float, float)) {
    return count_exposing_in(WEFT_PROBE_PLAIN, SUBNORMALS, operation, name, wrong);
}

WEFT_TEST(test_overflow) {
    assert_true(count_overflows(PLUS, "a * b + c", fused_plus) > 30);
    assert_true(count_overflows(THREE, "(a + b) + c", three_in_double) > 30);
    assert_true(count_overflows(BACK, "(a + b) - a", back_in_double) > 30);
    assert_true(count_overflows(TWICE_MINUS, "2 * a - b", twice_minus_fused) > 30);
    assert_true(count_overflows(FOUR_TIMES_PLUS, "4 * a + c", four_times_plus_fused) > 30);
}

static float product_without_nan(float a, float b) {
    return a == 0.0f || b == 0.0f ? 0.0f : product(a, b);
}

static float sum_without_nan(float a, float b) {
    return a == -b ? 0.0f : sum(a, b);
}

WEFT_TEST(test_infinities_and_nan) {
    assert_int_equal(verdict_on_arithmetic(WEFT_PROBE_PLAIN, sum, product_without_nan),
                     WEFT_PROBE_WRONG);
    assert_int_equal(verdict_on_arithmetic(WEFT_PROBE_PLAIN, sum_without_nan, product),
                     WEFT_PROBE_WRONG);
    uint32_t nan = 0, infinite = 0, subnormal_products = 0, subnormal_sums = 0;
    for (size_t i = WEFT_PROBE_PLAIN; i < SUBNORMALS; i++) {
        nan += isnan(value(results[i].word[SUM])) ? 1 : 0;
        infinite += isinf(value(results[i].word[PRODUCT])) ? 1 : 0;
    }
    for (size_t i = SUBNORMALS; i < WEFT_PROBE_CASES; i++) {
        const float a = value(inputs[i].word[0]);
        const float b = value(inputs[i].word[1]);
        subnormal_products += fpclassify(flush(a) * flush(b)) == FP_SUBNORMAL;
        subnormal_sums += fpclassify(flush(a) + flush(b)) == FP_SUBNORMAL;
    }
    assert_true(nan > 30 && infinite > 30);
    assert_true(subnormal_products > 100 && subnormal_sums > 100);
}

WEFT_TEST(test_message) {
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
    assert_int_equal(weft_probe_judge(small, sizeof small, inputs, results), WEFT_PROBE_WRONG);
    results[index].word[SUM]--;
    assert_true(strlen(small) < sizeof small);
}
