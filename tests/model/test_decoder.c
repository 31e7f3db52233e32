/* SPDX-License-Identifier: MIT */
/* weft-test: long device */
/*
 * Decoders of every family's causal language models: logits token by token have the bits of the whole sequence's. The
 * models are goldens of tests/data/models, where possible with more positions than these have.
 */
#include <math.h>

#include <weft/model.h>

#include "core/math/philox.h"
#include "support.h"
#include "support_decoder.h"

#define TEST(name, f) WEFT_TEST_WITH(name, struct weft_test_device *f, NULL, NULL)

WEFT_TEST_GROUP(weft_test_device_set_up, weft_test_device_tear_down);

#define BATCH 2U
/* ---- models ---- */

static int32_t *make_tokens(const weft_model_info *info, uint32_t n) {
    int32_t *tokens = calloc((size_t)BATCH * n, sizeof *tokens);
    assert_non_null(tokens);
    for (uint32_t i = 0; i < BATCH * n; i++) {
        tokens[i] = (int32_t)(weft_philox_u32(5, 0, i) % info->vocabulary);
    }
    return tokens;
}

/* Logits [BATCH, n, vocabulary] of the first `used` tokens, the others being 0. */
static float *run_whole(struct weft_test_device *f, weft_model *model, const int32_t *tokens,
                        uint32_t stride, uint32_t used, uint32_t n) {
    weft_model_info info;
    weft_plan *plan = NULL;
    assert_ok(weft_model_get_info(model, &info));
    int32_t *input = calloc((size_t)BATCH * n, sizeof *input);
    float *logits = calloc((size_t)BATCH * n * info.vocabulary, sizeof *logits);
    assert_true(input && logits);
    for (uint32_t b = 0; b < BATCH; b++) {
        memcpy(input + (size_t)b * n, tokens + (size_t)b * stride, used * sizeof *input);
    }
    assert_ok(weft_model_compile(&plan, model, f->device, BATCH, n, false, NULL));
    const weft_host_tensor tensors[] = {
        {"tokens", input, (uint64_t)BATCH * n * sizeof *input},
        {"output", logits, (uint64_t)BATCH * n * info.vocabulary * sizeof *logits}};
    assert_ok(weft_plan_execute(plan, tensors, 2));
    weft_plan_destroy(&plan);
    free(input);
    return logits;
}

/* ---- decoding ---- */

static void take_tokens(int32_t *taken, const int32_t *tokens, uint32_t n, uint32_t position) {
    for (uint32_t b = 0; b < BATCH; b++) {
        taken[b] = tokens[(size_t)b * n + position];
    }
}

static void expect_logits(const struct weft_test_decoded *variant, const float *logits,
                          const float *whole, uint32_t n, uint32_t vocabulary, uint32_t position) {
    for (uint32_t b = 0; b < BATCH; b++) {
        const float *expected = whole + ((size_t)b * n + position) * vocabulary;
        if (memcmp(logits + (size_t)b * vocabulary, expected, vocabulary * sizeof *logits) != 0) {
            fail_msg("%s: sequence %u, position %u of %u: other bits", variant->golden, b, position,
                     n);
        }
    }
}

/* Rounding errors apart. */
static void expect_near(const struct weft_test_decoded *variant, const float *logits,
                        const float *whole, size_t count) {
    double difference = 0;
    double size = 0;
    for (size_t i = 0; i < count; i++) {
        const double off = (double)logits[i] - (double)whole[i];
        difference += off * off;
        size += (double)whole[i] * (double)whole[i];
    }
    if (!(difference <= 1e-10 * size)) {
        fail_msg("%s: steps are off by %g of whole sequences", variant->golden,
                 sqrt(difference / size));
    }
}

/* The logits [BATCH, n, vocabulary] that decoding has to give: of the whole sequences, or where transforms make these, of steps. */
static float *expected_of(struct weft_test_device *f, const struct weft_test_decoded *variant,
                          weft_model *model, const int32_t *tokens, uint32_t n) {
    weft_model_info info;
    weft_decoder *decoder = NULL;
    float *whole = run_whole(f, model, tokens, n, n, n);
    if (!variant->by_transforms) {
        return whole;
    }
    assert_ok(weft_model_get_info(model, &info));
    const size_t row = info.vocabulary;
    float *logits = calloc((size_t)BATCH * row, sizeof *logits);
    float *all = calloc((size_t)BATCH * n * row, sizeof *all);
    assert_true(logits && all);
    assert_ok(weft_decoder_create(&decoder, model, f->device, weft_decoder_params(.batch = BATCH)));
    for (uint32_t p = 0; p < n; p++) {
        int32_t taken[BATCH];
        take_tokens(taken, tokens, n, p);
        assert_ok(weft_decoder_step(decoder, taken, logits));
        for (size_t b = 0; b < BATCH; b++) {
            memcpy(all + (b * n + p) * row, logits + b * row, row * sizeof *all);
        }
    }
    expect_near(variant, all, whole, (size_t)BATCH * n * row);
    weft_decoder_destroy(&decoder);
    free(logits);
    free(whole);
    return all;
}

/* Every step of a recurrent decoder against the whole sequence, twice. */
static void check_recurrent(struct weft_test_device *f, const struct weft_test_decoded *variant,
                            weft_model *model) {
    weft_model_info info;
    weft_decoder *decoder = NULL;
    weft_decoder_info now;
    assert_ok(weft_model_get_info(model, &info));
    const uint32_t n = weft_test_decoded_reach(&info);
    int32_t *tokens = make_tokens(&info, n);
    float *whole = expected_of(f, variant, model, tokens, n);
    float *logits = calloc((size_t)BATCH * info.vocabulary, sizeof *logits);
    assert_ok(weft_decoder_create(&decoder, model, f->device, weft_decoder_params(.batch = BATCH)));
    for (uint32_t round = 0; round < 2; round++) {
        const uint32_t steps = round == 0 ? n : n / 2;
        for (uint32_t p = 0; p < steps; p++) {
            int32_t taken[BATCH];
            take_tokens(taken, tokens, n, p);
            const bool shown = round == 0 || p % 3 == 1;
            assert_ok(weft_decoder_step(decoder, taken, shown ? logits : NULL));
            if (shown) {
                expect_logits(variant, logits, whole, n, info.vocabulary, p);
            }
        }
        assert_ok(weft_decoder_get_info(decoder, &now));
        assert_int_equal(now.decoding, WEFT_DECODING_RECURRENT);
        assert_int_equal(now.length, steps);
        assert_int_equal(now.plan_length, 1);
        assert_true(now.state_bytes > 0);
        weft_decoder_reset(decoder);
    }
    weft_decoder_destroy(&decoder);
    free(logits);
    free(whole);
    free(tokens);
}

/* Steps that evaluate again against the plan that they say they run, and prefixes of the longest. */
static void check_reevaluated(struct weft_test_device *f, const struct weft_test_decoded *variant,
                              weft_model *model) {
    static const uint32_t shown[] = {1, 2, 31, 32, 33, 64, 65, 66, 127, 128, 129, 150};
    weft_model_info info;
    weft_decoder *decoder = NULL;
    weft_decoder_info now;
    assert_ok(weft_model_get_info(model, &info));
    const uint32_t n = weft_test_decoded_reach(&info);
    int32_t *tokens = make_tokens(&info, n);
    float *logits = calloc((size_t)BATCH * info.vocabulary, sizeof *logits);
    assert_ok(weft_decoder_create(&decoder, model, f->device,
                                  weft_decoder_params(.batch = BATCH, .reevaluate = true)));
    uint32_t next = 0;
    for (uint32_t p = 0; p < n; p++) {
        int32_t taken[BATCH];
        take_tokens(taken, tokens, n, p);
        const bool is_shown = next < sizeof shown / sizeof shown[0] && shown[next] == p + 1;
        assert_ok(weft_decoder_step(decoder, taken, is_shown ? logits : NULL));
        if (is_shown) {
            next++;
            assert_ok(weft_decoder_get_info(decoder, &now));
            assert_int_equal(now.decoding, WEFT_DECODING_REEVALUATED);
            assert_in_range(now.plan_length, p + 1, info.max_length);
            assert_true(now.plan_length == info.max_length || now.plan_length % 64 == 0);
            float *whole = run_whole(f, model, tokens, n, p + 1, now.plan_length);
            expect_logits(variant, logits, whole, now.plan_length, info.vocabulary, p);
            free(whole);
        }
    }
    weft_decoder_destroy(&decoder);
    free(logits);
    free(tokens);
}

TEST(test_decoding, f) {
    for (size_t i = 0; i < weft_test_decoded_count; i++) {
        weft_model *model = NULL;
        weft_test_load_decoded(&model, f, &weft_test_decoded_models[i]);
        if (weft_test_decoded_models[i].decoding == WEFT_DECODING_RECURRENT) {
            check_recurrent(f, &weft_test_decoded_models[i], model);
        }
        check_reevaluated(f, &weft_test_decoded_models[i], model);
        weft_model_destroy(&model);
    }
}

/* ---- prompts ---- */

/* The first `count` tokens of each sequence of n. */
static int32_t *make_prompt(const int32_t *tokens, uint32_t n, uint32_t count) {
    int32_t *prompt = calloc((size_t)BATCH * count, sizeof *prompt);
    assert_non_null(prompt);
    for (uint32_t b = 0; b < BATCH; b++) {
        memcpy(prompt + (size_t)b * count, tokens + (size_t)b * n, count * sizeof *prompt);
    }
    return prompt;
}

/* Prompts of many lengths, and steps behind them, in one decoder: the logits of its steps alone, `expected`. */
static void check_prompt(const struct weft_test_decoded *variant, weft_decoder *decoder,
                         const int32_t *tokens, uint32_t n, uint32_t count, const float *expected) {
    weft_decoder_info now;
    assert_ok(weft_decoder_get_info(decoder, &now));
    int32_t *prompt = make_prompt(tokens, n, count);
    float *logits = calloc((size_t)BATCH * now.vocabulary, sizeof *logits);
    weft_decoder_reset(decoder);
    assert_ok(weft_decoder_prompt(decoder, prompt, count, count % 2 == 1 ? logits : NULL));
    if (count % 2 == 1) {
        expect_logits(variant, logits, expected, n, now.vocabulary, count - 1);
    }
    for (uint32_t p = count; p < n && p < count + 70; p++) {
        int32_t taken[BATCH];
        take_tokens(taken, tokens, n, p);
        assert_ok(weft_decoder_step(decoder, taken, logits));
        expect_logits(variant, logits, expected, n, now.vocabulary, p);
    }
    assert_ok(weft_decoder_get_info(decoder, &now));
    assert_int_equal(now.length, n < count + 70 ? n : count + 70);
    free(logits);
    free(prompt);
}

static void check_prompts(struct weft_test_device *f, const struct weft_test_decoded *variant,
                          weft_model *model) {
    weft_model_info info;
    weft_decoder *decoder = NULL;
    assert_ok(weft_model_get_info(model, &info));
    const uint32_t n = weft_test_decoded_reach(&info);
    const uint32_t counts[] = {1, 2, 7, 63, 64, 65, n - 1, n}; /* those above n are left out */
    int32_t *tokens = make_tokens(&info, n);
    float *whole = expected_of(f, variant, model, tokens, n);
    assert_ok(weft_decoder_create(&decoder, model, f->device, weft_decoder_params(.batch = BATCH)));
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        if (counts[i] > n) {
            continue;
        }
        check_prompt(variant, decoder, tokens, n, counts[i], whole);
    }
    weft_decoder_destroy(&decoder);
    free(whole);
    free(tokens);
}

TEST(test_prompts, f) {
    for (size_t i = 0; i < weft_test_decoded_count; i++) {
        weft_model *model = NULL;
        weft_test_load_decoded(&model, f, &weft_test_decoded_models[i]);
        if (weft_test_decoded_models[i].decoding == WEFT_DECODING_RECURRENT) {
            check_prompts(f, &weft_test_decoded_models[i], model);
        }
        weft_model_destroy(&model);
    }
}

/* Row `position` of sequence b of what is expected. */
static void expect_row(const struct weft_test_decoded *variant, const float *logits,
                       const float *expected, uint32_t n, uint32_t vocabulary, uint32_t b,
                       uint32_t position) {
    const float *row = expected + ((size_t)b * n + position) * vocabulary;
    if (memcmp(logits + (size_t)b * vocabulary, row, vocabulary * sizeof *logits) != 0) {
        fail_msg("%s: sequence %u, position %u, beside another length: other bits", variant->golden,
                 b, position);
    }
}

/* Sequences that begin with prompts of different lengths, and go on at positions of their own until the longer one ends. */
static void check_lengths(const struct weft_test_decoded *variant, weft_decoder *decoder,
                          const int32_t *tokens, uint32_t n, const int32_t given[BATCH],
                          const float *expected) {
    weft_decoder_info now;
    const uint32_t count = (uint32_t)(given[0] > given[1] ? given[0] : given[1]);
    const uint32_t longer = given[0] > given[1] ? 0 : 1;
    uint32_t length[BATCH] = {(uint32_t)given[0], (uint32_t)given[1]};
    int32_t *prompt = make_prompt(tokens, n, count);
    assert_ok(weft_decoder_get_info(decoder, &now));
    float *logits = calloc((size_t)BATCH * now.vocabulary, sizeof *logits);
    weft_decoder_reset(decoder);
    assert_ok(weft_decoder_prompt_lengths(decoder, prompt, count, given, logits));
    for (uint32_t step = 0; step < 20; step++) {
        const bool ends = step > 12;
        int32_t taken[BATCH];
        for (uint32_t b = 0; b < BATCH; b++) {
            if (!ends || b != longer) {
                expect_row(variant, logits, expected, n, now.vocabulary, b, length[b] - 1);
            }
            taken[b] = ends && b == longer ? WEFT_NO_TOKEN : tokens[(size_t)b * n + length[b]++];
        }
        assert_ok(weft_decoder_step(decoder, taken, logits));
    }
    assert_ok(weft_decoder_get_info(decoder, &now));
    assert_int_equal(now.length,
                     length[longer] > length[1 - longer] ? length[longer] : length[1 - longer]);
    const int32_t anew[BATCH] = {0, 0};
    assert_int_equal(weft_decoder_step(decoder, anew, logits), WEFT_INVALID_ARGUMENT);
    free(logits);
    free(prompt);
}

TEST(test_prompts_of_different_lengths, f) {
    static const int32_t lengths[][BATCH] = {{1, 2}, {7, 1}, {3, 66}, {65, 64}, {127, 70}};
    for (size_t i = 0; i < weft_test_decoded_count; i++) {
        weft_model *model = NULL;
        weft_model_info info;
        weft_decoder *decoder = NULL;
        weft_test_load_decoded(&model, f, &weft_test_decoded_models[i]);
        assert_ok(weft_model_get_info(model, &info));
        const uint32_t n = weft_test_decoded_reach(&info);
        int32_t *tokens = make_tokens(&info, n);
        float *whole = weft_test_decoded_models[i].decoding == WEFT_DECODING_RECURRENT
                           ? expected_of(f, &weft_test_decoded_models[i], model, tokens, n)
                           : NULL;
        assert_ok(
            weft_decoder_create(&decoder, model, f->device, weft_decoder_params(.batch = BATCH)));
        for (size_t k = 0; whole && k < sizeof lengths / sizeof lengths[0]; k++) {
            if ((uint32_t)lengths[k][0] + 20 <= n && (uint32_t)lengths[k][1] + 20 <= n) {
                check_lengths(&weft_test_decoded_models[i], decoder, tokens, n, lengths[k], whole);
            }
        }
        weft_decoder_destroy(&decoder);
        free(whole);
        free(tokens);
        weft_model_destroy(&model);
    }
}

/* Evaluated again, too, each sequence has a length of its own. */
TEST(test_lengths_evaluated_again, f) {
    static const int32_t lengths[BATCH] = {9, 40};
    weft_model *model = NULL;
    weft_model_info info;
    weft_decoder *decoder = NULL;
    weft_test_load_decoded(&model, f, &weft_test_decoded_models[0]);
    assert_ok(weft_model_get_info(model, &info));
    const uint32_t n = info.max_length;
    int32_t *tokens = make_tokens(&info, n);
    float *whole = run_whole(f, model, tokens, n, n, n);
    assert_ok(weft_decoder_create(&decoder, model, f->device,
                                  weft_decoder_params(.batch = BATCH, .reevaluate = true)));
    check_lengths(&weft_test_decoded_models[0], decoder, tokens, n, lengths, whole);
    weft_decoder_destroy(&decoder);
    free(whole);
    free(tokens);
    weft_model_destroy(&model);
}

/* Evaluated again, too, a prompt is many steps. */
TEST(test_prompts_evaluated_again, f) {
    weft_model *model = NULL;
    weft_model_info info;
    weft_test_load_decoded(&model, f, &weft_test_decoded_models[0]);
    assert_ok(weft_model_get_info(model, &info));
    const uint32_t n = 40;
    int32_t *tokens = make_tokens(&info, n);
    float *logits[2];
    for (int k = 0; k < 2; k++) {
        weft_decoder *decoder = NULL;
        logits[k] = calloc((size_t)BATCH * info.vocabulary, sizeof(float));
        assert_ok(weft_decoder_create(&decoder, model, f->device,
                                      weft_decoder_params(.batch = BATCH, .reevaluate = true)));
        if (k == 0) {
            assert_ok(weft_decoder_prompt(decoder, tokens, n, logits[k]));
        }
        for (uint32_t p = 0; k == 1 && p < n; p++) {
            int32_t taken[BATCH];
            take_tokens(taken, tokens, n, p);
            assert_ok(weft_decoder_step(decoder, taken, p + 1 == n ? logits[k] : NULL));
        }
        weft_decoder_destroy(&decoder);
    }
    assert_memory_equal(logits[0], logits[1], BATCH * info.vocabulary * sizeof(float));
    free(logits[0]);
    free(logits[1]);
    free(tokens);
    weft_model_destroy(&model);
}

/* A smaller state for fewer tokens: the same logits. */
TEST(test_shorter_sequences, f) {
    char refused[32];
    snprintf(refused, sizeof refused, "max_length %u", WEFT_TEST_LONGER + 1);
    for (size_t i = 0; i < weft_test_decoded_count; i++) {
        weft_model *model = NULL;
        weft_model_info info;
        weft_decoder *decoder[2] = {NULL, NULL};
        weft_decoder_info now[2];
        const uint32_t lengths[2] = {0, 20};
        float *logits[2];
        weft_test_load_decoded(&model, f, &weft_test_decoded_models[i]);
        assert_ok(weft_model_get_info(model, &info));
        for (int k = 0; k < 2; k++) {
            logits[k] = calloc(info.vocabulary, sizeof(float));
            assert_ok(weft_decoder_create(&decoder[k], model, f->device,
                                          weft_decoder_params(.max_length = lengths[k])));
        }
        for (uint32_t p = 0; p < 20; p++) {
            const int32_t token = (int32_t)(p % info.vocabulary);
            for (int k = 0; k < 2; k++) {
                assert_ok(weft_decoder_step(decoder[k], &token, logits[k]));
            }
            assert_memory_equal(logits[0], logits[1], info.vocabulary * sizeof(float));
        }
        const int32_t last = 0;
        assert_int_equal(weft_decoder_step(decoder[1], &last, NULL), WEFT_INVALID_ARGUMENT);
        for (int k = 0; k < 2; k++) {
            assert_ok(weft_decoder_get_info(decoder[k], &now[k]));
            weft_decoder_destroy(&decoder[k]);
            free(logits[k]);
        }
        assert_true(now[1].state_bytes <= now[0].state_bytes);
        assert_int_equal(now[1].max_length, 20);
        if (info.max_length <= WEFT_TEST_LONGER) {
            WEFT_EXPECT_REFUSED(
                &f->host, WEFT_INVALID_ARGUMENT,
                weft_decoder_create(&decoder[0], model, f->device,
                                    weft_decoder_params(.max_length = WEFT_TEST_LONGER + 1)),
                refused);
        }
        weft_model_destroy(&model);
    }
}

/* Which kind of decoding a model gets by itself. */
TEST(test_kinds, f) {
    for (size_t i = 0; i < weft_test_decoded_count; i++) {
        weft_model *model = NULL;
        weft_decoder *decoder = NULL;
        weft_decoder_info info;
        weft_test_load_decoded(&model, f, &weft_test_decoded_models[i]);
        assert_ok(weft_decoder_create(&decoder, model, f->device, NULL));
        assert_ok(weft_decoder_get_info(decoder, &info));
        if (info.decoding != weft_test_decoded_models[i].decoding) {
            fail_msg("%s: %s", weft_test_decoded_models[i].golden,
                     weft_decoding_name(info.decoding));
        }
        assert_int_equal(info.batch, 1);
        assert_int_equal(info.length, 0);
        weft_decoder_destroy(&decoder);
        weft_model_destroy(&model);
    }
}

/* ---- refusals ---- */

TEST(test_refused_models, f) {
    static const struct {
        const char *folder;
        const char *task;
    } refused[] = {{"models/transformer_masked_lm", "masked_lm"},
                   {"models/transformer_post_classify", "classify"},
                   {"fnet/mlm_d32_l2_gelu_new", "masked_lm"}};
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        weft_model *model = NULL;
        weft_decoder *decoder = NULL;
        char *folder = weft_test_data(refused[i].folder);
        assert_ok(weft_model_load(&model, folder, &f->host.host));
        WEFT_EXPECT_REFUSED(&f->host, WEFT_UNSUPPORTED,
                            weft_decoder_create(&decoder, model, f->device, NULL),
                            "causal language models", refused[i].task);
        weft_model_destroy(&model);
    }
}

TEST(test_refused_prompts, f) {
    weft_model *model = NULL;
    weft_decoder *decoder = NULL;
    weft_decoder_info now;
    weft_test_load_decoded(&model, f, &weft_test_decoded_models[0]);
    assert_ok(
        weft_decoder_create(&decoder, model, f->device, weft_decoder_params(.max_length = 5)));
    const int32_t tokens[6] = {1, 2, 256, 4, 5, 6};
    WEFT_EXPECT_REFUSED(&f->host, WEFT_INVALID_ARGUMENT,
                        weft_decoder_prompt(decoder, NULL, 1, NULL), "null");
    WEFT_EXPECT_REFUSED(&f->host, WEFT_INVALID_ARGUMENT,
                        weft_decoder_prompt(decoder, tokens, 0, NULL), "0 tokens", "1 to 5");
    WEFT_EXPECT_REFUSED(&f->host, WEFT_INVALID_ARGUMENT,
                        weft_decoder_prompt(decoder, tokens, 6, NULL), "6 tokens", "1 to 5");
    WEFT_EXPECT_REFUSED(&f->host, WEFT_INVALID_ARGUMENT,
                        weft_decoder_prompt(decoder, tokens, 3, NULL), "token 256", "0 to 255");
    assert_ok(weft_decoder_prompt(decoder, tokens, 2, NULL));
    WEFT_EXPECT_REFUSED(&f->host, WEFT_INVALID_ARGUMENT,
                        weft_decoder_prompt(decoder, tokens, 2, NULL), "they have 2 tokens");
    assert_ok(weft_decoder_get_info(decoder, &now));
    assert_int_equal(now.length, 2);
    weft_decoder_destroy(&decoder);
    weft_model_destroy(&model);
}

TEST(test_refused_steps, f) {
    weft_model *model = NULL;
    weft_model_info info;
    const struct weft_test_decoded short_one = {"transformer_rms_causal_lm_tied",
                                                .decoding = WEFT_DECODING_RECURRENT};
    weft_test_load_decoded(&model, f, &short_one);
    assert_ok(weft_model_get_info(model, &info));
    for (int reevaluate = 0; reevaluate < 2; reevaluate++) {
        weft_decoder *decoder = NULL;
        weft_decoder_info now;
        assert_ok(weft_decoder_create(&decoder, model, f->device,
                                      weft_decoder_params(.reevaluate = reevaluate != 0)));
        const int32_t bad[] = {-1, (int32_t)info.vocabulary};
        for (size_t i = 0; i < 2; i++) {
            WEFT_EXPECT_REFUSED(&f->host, WEFT_INVALID_ARGUMENT,
                                weft_decoder_step(decoder, &bad[i], NULL), "token", "outside 0 to");
        }
        const int32_t good = 3;
        for (uint32_t p = 0; p < info.max_length; p++) {
            assert_ok(weft_decoder_step(decoder, &good, NULL));
        }
        WEFT_EXPECT_REFUSED(&f->host, WEFT_INVALID_ARGUMENT,
                            weft_decoder_step(decoder, &good, NULL), "32 positions");
        assert_ok(weft_decoder_get_info(decoder, &now));
        assert_int_equal(now.length, info.max_length);
        weft_decoder_destroy(&decoder);
    }
    weft_model_destroy(&model);
}
