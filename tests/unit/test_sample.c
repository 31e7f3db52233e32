/* SPDX-License-Identifier: MIT */
/* Choosing tokens: the largest, among the largest, by their probabilities, and the same everywhere. */
#include <float.h>
#include <math.h>

#include "support.h"
#include <weft/model.h>

static uint32_t sample(const float *logits, uint32_t count, weft_sampling sampling,
                       uint64_t index) {
    uint32_t token = UINT32_MAX;
    assert_ok(weft_sample(&token, logits, count, &sampling, index, NULL));
    assert_in_range(token, 0, count - 1);
    return token;
}

WEFT_TEST_ON_HOST(the_largest_is_taken, test) {
    const float logits[] = {-3.0F, 7.0F, 7.0F, NAN, 1.0F};
    const float fine[] = {-3.0F, 7.0F, 7.0F, 6.5F};
    uint32_t token = 9;
    assert_int_equal(sample(fine, 4, (weft_sampling){.temperature = 0.0}, 3), 1);
    assert_int_equal(sample(fine, 1, (weft_sampling){.temperature = 1.0}, 3), 0);
    WEFT_EXPECT_REFUSED(
        test, WEFT_INVALID_ARGUMENT,
        weft_sample(&token, logits, 5, &(weft_sampling){.temperature = 0.0}, 0, &test->host),
        "logit of token 3", "nan");
    const double wrong[] = {NAN, INFINITY, -1.0};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        WEFT_EXPECT_REFUSED(
            test, WEFT_INVALID_ARGUMENT,
            weft_sample(&token, fine, 4, &(weft_sampling){.temperature = wrong[i]}, 0, &test->host),
            "temperature: expected a finite number of at least 0");
    }
    const double outside[] = {NAN, -0.5, 1.01};
    for (size_t i = 0; i < sizeof outside / sizeof outside[0]; i++) {
        WEFT_EXPECT_REFUSED(
            test, WEFT_INVALID_ARGUMENT,
            weft_sample(&token, fine, 4, &(weft_sampling){.top_p = outside[i]}, 0, &test->host),
            "top_p: expected a number from 0 to 1");
    }
    assert_int_equal(token, 9);
}

enum { DRAWS = 20000, TOKENS = 4 };

/* How often each token is drawn against the softmax, within five standard deviations. */
static void check_frequencies(const float *logits, weft_sampling sampling, const double *expected) {
    uint32_t counts[TOKENS] = {0};
    for (uint64_t i = 0; i < DRAWS; i++) {
        counts[sample(logits, TOKENS, sampling, i)]++;
    }
    for (uint32_t t = 0; t < TOKENS; t++) {
        const double p = expected[t];
        const double deviation = sqrt(DRAWS * p * (1.0 - p));
        assert_true(fabs(counts[t] - DRAWS * p) <= 5.0 * deviation);
    }
}

WEFT_TEST(tokens_come_by_their_probabilities) {
    const float logits[] = {0.0F, 1.0F, -1.0F, 1.0F};
    const double e = 2.718281828459045;
    const double all = 1.0 + 2.0 * e + 1.0 / e;
    const double whole[] = {1.0 / all, e / all, 1.0 / e / all, e / all};
    check_frequencies(logits, (weft_sampling){.temperature = 1.0, .seed = 4}, whole);
    /* Half the temperature: twice the logits. */
    const double cold = 1.0 + 2.0 * e * e + 1.0 / (e * e);
    const double colder[] = {1.0 / cold, e * e / cold, 1.0 / (e * e) / cold, e * e / cold};
    check_frequencies(logits, (weft_sampling){.temperature = 0.5, .seed = 4}, colder);
    /* Among two, and among one of two equals: the first. */
    const double two[] = {0.0, 0.5, 0.0, 0.5};
    check_frequencies(logits, (weft_sampling){.temperature = 1.0, .top_k = 2, .seed = 4}, two);
    const double one[] = {0.0, 1.0, 0.0, 0.0};
    check_frequencies(logits, (weft_sampling){.temperature = 1.0, .top_k = 1, .seed = 4}, one);
    const double three[] = {1.0 / (1.0 + 2.0 * e), e / (1.0 + 2.0 * e), 0.0, e / (1.0 + 2.0 * e)};
    check_frequencies(logits, (weft_sampling){.temperature = 1.0, .top_k = 3, .seed = 4}, three);
}

/* Among the fewest that reach a share: probabilities 0.1, 0.3, 0.2, 0.3 and 0.1, of equals the first. */
WEFT_TEST(the_likeliest_reach_a_share) {
    static const struct {
        double top_p;
        uint32_t top_k;
        uint32_t among; /* a bit for each token */
    } cases[] = {{0.05, 0, 2},  {0.29, 0, 2},  {0.31, 0, 10}, {0.59, 0, 10}, {0.61, 0, 14},
                 {0.81, 0, 15}, {0.95, 0, 31}, {1.0, 0, 31},  {0.0, 0, 31},  {0.74, 3, 10},
                 {0.76, 3, 14}, {0.4, 1, 2},   {0.99, 2, 10}, {0.62, 99, 14}};
    float logits[5];
    const double shares[5] = {0.1, 0.3, 0.2, 0.3, 0.1};
    for (int i = 0; i < 5; i++) {
        logits[i] = (float)log(shares[i]);
    }
    logits[3] = logits[1];
    logits[4] = logits[0];
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        uint32_t drawn = 0;
        const weft_sampling sampling = {
            .temperature = 1.0, .top_k = cases[c].top_k, .top_p = cases[c].top_p, .seed = c};
        for (uint64_t i = 0; i < 400; i++) {
            drawn |= 1U << sample(logits, 5, sampling, i);
        }
        if (drawn != cases[c].among) {
            fail_msg("top_p %g, top_k %u: tokens %x, expected %x", cases[c].top_p, cases[c].top_k,
                     drawn, cases[c].among);
        }
    }
}

WEFT_TEST_ON_HOST(repeated_tokens_are_less_likely, test) {
    const float before[] = {3.0F, -2.0F, 0.0F, 1.5F, -3e38F};
    const int32_t tokens[] = {0, 1, 0, 4, -1, 5, 2, 0};
    const float after[] = {3.0F / 1.5F, -2.0F * 1.5F, 0.0F, 1.5F, -FLT_MAX};
    float logits[5];
    memcpy(logits, before, sizeof logits);
    assert_ok(weft_penalize(logits, 5, tokens, 8, 1.0, NULL));
    assert_memory_equal(logits, before, sizeof logits);
    assert_ok(weft_penalize(logits, 5, tokens, 8, 1.5, NULL));
    assert_memory_equal(logits, after, sizeof logits);
    const double wrong[] = {0.0, -1.0, NAN, INFINITY};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        WEFT_EXPECT_REFUSED(test, WEFT_INVALID_ARGUMENT,
                            weft_penalize(logits, 5, tokens, 8, wrong[i], &test->host),
                            "repetition_penalty: expected a finite number above 0");
    }
}

/* Logits so far apart that the exponential ends before 0 does. */
WEFT_TEST(hopeless_tokens_are_never_drawn) {
    const float logits[] = {-3e38F, 3e38F, 0.0F, -3e38F};
    const double expected[] = {0.0, 1.0, 0.0, 0.0};
    check_frequencies(logits, (weft_sampling){.temperature = 1e-3, .seed = 1}, expected);
    check_frequencies(logits, (weft_sampling){.temperature = 1e3, .seed = 1}, expected);
}

/* Any machine draws these, which a second writing of Philox and of the draw has given, too. */
WEFT_TEST(draws_are_the_same_everywhere) {
    float logits[64];
    uint32_t drawn[8];
    for (uint32_t i = 0; i < 64; i++) {
        logits[i] = (float)(i * i % 23) * 0.125F;
    }
    for (uint64_t i = 0; i < 8; i++) {
        drawn[i] = sample(logits, 64, (weft_sampling){.temperature = 0.8, .seed = 2026}, i);
    }
    const uint32_t expected[8] = {29, 44, 63, 29, 43, 61, 50, 42};
    assert_memory_equal(drawn, expected, sizeof drawn);
    bool differs = false;
    for (uint64_t i = 0; i < 8; i++) {
        differs = differs || sample(logits, 64, (weft_sampling){.temperature = 0.8, .seed = 2027},
                                    i) != drawn[i];
    }
    assert_true(differs);
}
