/* SPDX-License-Identifier: MIT */
/* weft-test: one device */
/* Several texts at once: each is what it is alone, up to a stop, and past the last position where a window is stated. */
#include <math.h>

#include <weft/generate.h>

#include "support.h"
#include "support_model.h"

#define TEST(name, f) WEFT_TEST_WITH(name, struct weft_test_device *f, NULL, NULL)

WEFT_TEST_GROUP(weft_test_device_set_up, weft_test_device_tear_down);

enum { POSITIONS = 60, PROMPTS = 4, ROOM = 256 };

static const char *const texts[PROMPTS] = {"a", "What is this", "And that?",
                                           "A prompt that is longer than others"};

static weft_model *load(struct weft_test_device *f) {
    struct weft_test_model made;
    weft_model *model = NULL;
    weft_test_model_begin(&made);
    weft_test_model_write_bytes(&made, POSITIONS);
    assert_ok(weft_model_load(&model, made.folder, &f->host.host));
    weft_test_model_end(&made);
    return model;
}

struct result {
    int32_t tokens[ROOM];
    uint32_t count;
    char text[2 * ROOM];
    size_t size;
    weft_ending ending;
};

static void keep(struct result *result, const weft_generated *generated) {
    assert_true(generated->count <= ROOM && generated->text_size < sizeof result->text);
    memcpy(result->tokens, generated->tokens, generated->count * sizeof *result->tokens);
    memcpy(result->text, generated->text, generated->text_size);
    result->count = generated->count;
    result->size = generated->text_size;
    result->ending = generated->ending;
}

/* Runs to the end, in as many steps. Texts grow only at their end. */
static size_t run(struct result *results, weft_generator *generator, uint32_t count) {
    bool done = false;
    size_t steps = 0;
    memset(results, 0, count * sizeof *results);
    while (!done) {
        assert_ok(weft_generator_step(generator, &done));
        for (uint32_t i = 0; i < count; i++) {
            weft_generated now;
            assert_ok(weft_generator_get_text(generator, i, &now));
            assert_true(now.text_size >= results[i].size && now.count >= results[i].count);
            assert_memory_equal(now.text, results[i].text, results[i].size);
            keep(&results[i], &now);
        }
        assert_true(++steps < 1000);
    }
    assert_ok(weft_generator_step(generator, &done));
    assert_true(done);
    return steps;
}

static size_t generate(struct result *results, weft_model *model, struct weft_test_device *f,
                       const weft_generator_params *params) {
    weft_generator *generator = NULL;
    assert_ok(weft_generator_create(&generator, model, f->device, params));
    const size_t steps = run(results, generator, params->prompt_count);
    weft_generator_destroy(&generator);
    return steps;
}

static void expect_alone(weft_model *model, struct weft_test_device *f,
                         const weft_generator_params *params) {
    static const uint64_t seeds[PROMPTS] = {5, 6, 7, 5};
    static struct result together[PROMPTS];
    static struct result alone;
    weft_prompt prompts[PROMPTS];
    for (uint32_t i = 0; i < PROMPTS; i++) {
        prompts[i] = (weft_prompt){.text = texts[i], .size = strlen(texts[i])};
    }
    weft_generator_params all = *params;
    all.prompts = prompts;
    all.prompt_count = PROMPTS;
    all.seeds = seeds;
    const size_t steps = generate(together, model, f, &all);
    uint32_t most = 0;
    for (uint32_t i = 0; i < PROMPTS; i++) {
        most = together[i].count > most ? together[i].count : most;
    }
    assert_int_equal(steps, most + 1); /* all prompts in one, then a token of each */
    for (uint32_t i = 0; i < PROMPTS; i++) {
        weft_generator_params one = *params;
        one.prompts = &prompts[i];
        one.prompt_count = 1;
        one.sampling.seed = seeds[i];
        generate(&alone, model, f, &one);
        assert_true(alone.count > 0);
        assert_int_equal(alone.count, together[i].count);
        assert_memory_equal(alone.tokens, together[i].tokens, alone.count * sizeof(int32_t));
        assert_int_equal(alone.size, together[i].size);
        assert_memory_equal(alone.text, together[i].text, alone.size);
        assert_int_equal(alone.ending, together[i].ending);
    }
}

TEST(texts_are_what_they_are_alone, f) {
    weft_model *model = load(f);
    expect_alone(model, f, weft_generator_params(.tokens = 20));
    expect_alone(model, f, weft_generator_params(.sampling.temperature = 1.0)); /* all positions */
    expect_alone(model, f,
                 weft_generator_params(.tokens = 20, .reevaluate = true,
                                       .sampling = {.temperature = 0.8, .top_p = 0.9}));
    expect_alone(model, f,
                 weft_generator_params(.tokens = 25, .repetition_penalty = 1.4,
                                       .sampling = {.temperature = 1.0, .top_k = 40}));
    expect_alone(model, f,
                 weft_generator_params(.tokens = 130, .window = 11, .sampling.temperature = 1.0));
    expect_alone(model, f, weft_generator_params(.tokens = 70, .window = POSITIONS));
    weft_model_destroy(&model);
}

/* ---- windows ---- */

static struct result greedy(weft_model *model, struct weft_test_device *f, const int32_t *tokens,
                            uint32_t count, uint32_t wanted, uint32_t window) {
    struct result result;
    const weft_prompt prompt = {.tokens = tokens, .count = count};
    generate(&result, model, f,
             weft_generator_params(.prompts = &prompt, .prompt_count = 1, .tokens = wanted,
                                   .window = window));
    assert_int_equal(result.count, wanted);
    return result;
}

/* Past the last position a text goes on as one that its last tokens begin. */
TEST(windows_begin_anew, f) {
    enum { WINDOW = 7, BEGINNING = 10, BEFORE = POSITIONS - BEGINNING + 1 };
    weft_model *model = load(f);
    int32_t tokens[2 * POSITIONS];
    for (int32_t i = 0; i < 2 * POSITIONS; i++) {
        tokens[i] = i * 37 % 256;
    }
    const struct result before = greedy(model, f, tokens, BEGINNING, BEFORE, 0);
    const struct result all = greedy(model, f, tokens, BEGINNING, BEFORE + 20, WINDOW);
    const struct result behind = greedy(model, f, before.tokens + BEFORE - WINDOW, WINDOW, 20, 0);
    assert_memory_equal(all.tokens, before.tokens, BEFORE * sizeof(int32_t));
    assert_memory_equal(all.tokens + BEFORE, behind.tokens, 20 * sizeof(int32_t));
    /* Of a prompt that is too long the last tokens are read. */
    const struct result cut = greedy(model, f, tokens, 2 * POSITIONS, 20, WINDOW);
    const struct result last = greedy(model, f, tokens + 2 * POSITIONS - WINDOW, WINDOW, 20, 0);
    assert_memory_equal(cut.tokens, last.tokens, 20 * sizeof(int32_t));
    weft_model_destroy(&model);
}

/* ---- ends ---- */

static const weft_prompt beginning = {.text = "What is", .size = 7};

static struct result end_with(weft_model *model, struct weft_test_device *f, const char *stop,
                              const int32_t *end_token) {
    struct result result;
    generate(&result, model, f,
             weft_generator_params(.prompts = &beginning, .prompt_count = 1, .tokens = 50,
                                   .sampling = {.temperature = 1.0, .seed = 5}, .stops = &stop,
                                   .stop_count = stop ? 1 : 0, .end_tokens = end_token,
                                   .end_token_count = end_token ? 1 : 0));
    return result;
}

static bool has_zero(const struct result *result, size_t begin, size_t size) {
    return memchr(result->text + begin, '\0', size) != NULL;
}

TEST(texts_end_before_stops, f) {
    enum { LENGTH = 3 };
    weft_model *model = load(f);
    const struct result whole = end_with(model, f, NULL, NULL);
    assert_int_equal(whole.ending, WEFT_ENDING_LENGTH);
    assert_int_equal(whole.size, 50); /* bytes of anything */
    uint32_t checked = 0;
    for (uint32_t at = 0; at + LENGTH <= 50; at += 5) {
        if (has_zero(&whole, at, LENGTH)) {
            continue;
        }
        char stop[LENGTH + 1] = "";
        memcpy(stop, whole.text + at, LENGTH);
        const struct result ended = end_with(model, f, stop, NULL);
        assert_int_equal(ended.ending, WEFT_ENDING_STOP);
        assert_true(ended.size <= at && ended.count <= at + LENGTH);
        assert_memory_equal(ended.text, whole.text, ended.size);
        assert_memory_equal(whole.text + ended.size, stop, LENGTH);
        checked++;
    }
    assert_true(checked > 3);
    /* A stop that has only begun at the end is text. */
    char begun[3] = {whole.text[49], 'x', '\0'};
    const struct result same = end_with(model, f, begun, NULL);
    assert_int_equal(same.size, 50);
    weft_model_destroy(&model);
}

TEST(texts_end_with_tokens_and_callers, f) {
    weft_model *model = load(f);
    const struct result whole = end_with(model, f, NULL, NULL);
    const int32_t token = whole.tokens[30];
    uint32_t first = 0;
    while (whole.tokens[first] != token) {
        first++;
    }
    const struct result ended = end_with(model, f, NULL, &token);
    assert_int_equal(ended.ending, WEFT_ENDING_END_TOKEN);
    assert_int_equal(ended.count, first + 1);
    assert_int_equal(ended.size, first);
    weft_generator *generator = NULL;
    weft_generated now;
    bool done = false;
    assert_ok(weft_generator_create(
        &generator, model, f->device,
        weft_generator_params(.prompts = &beginning, .prompt_count = 1, .tokens = 50)));
    for (int i = 0; i < 4; i++) { /* the prompt, and three tokens */
        assert_ok(weft_generator_step(generator, &done));
    }
    assert_false(done);
    assert_ok(weft_generator_end(generator, 0));
    assert_ok(weft_generator_step(generator, &done));
    assert_true(done);
    assert_ok(weft_generator_get_text(generator, 0, &now));
    assert_int_equal(now.ending, WEFT_ENDING_CALLER);
    assert_int_equal(now.count, 3);
    assert_int_equal(now.prompt_count, 7);
    assert_int_equal(weft_generator_end(generator, 1), WEFT_NOT_FOUND);
    assert_int_equal(weft_generator_get_text(generator, 1, &now), WEFT_NOT_FOUND);
    assert_string_equal(weft_ending_name(now.ending), "caller");
    weft_generator_destroy(&generator);
    weft_model_destroy(&model);
}

/* ---- refusals ---- */

static void refuse(weft_model *model, struct weft_test_device *f,
                   const weft_generator_params *params, const char *first, const char *second) {
    weft_generator *generator = NULL;
    weft_generator_params all = *params;
    if (all.prompt_count == 0) {
        all.prompts = &beginning;
        all.prompt_count = 1;
    }
    WEFT_EXPECT_REFUSED(&f->host, WEFT_INVALID_ARGUMENT,
                        weft_generator_create(&generator, model, f->device, &all), first, second);
    assert_null(generator);
}

TEST(wrong_parameters_are_named, f) {
    weft_model *model = load(f);
    static const char *const empty[] = {"x", ""};
    const int32_t tokens[2 * POSITIONS] = {0};
    const weft_prompt prompts[] = {
        beginning, {.text = "", .size = 0}, {.tokens = tokens, .count = POSITIONS + 1}};
    const int32_t outside = 256;
    const weft_prompt strange = {.tokens = &outside, .count = 1};
    refuse(model, f, weft_generator_params(.tokens = 55), "tokens:", "leave 54 tokens");
    refuse(model, f, weft_generator_params(.window = POSITIONS + 1), "window:", "61");
    refuse(model, f, weft_generator_params(.sampling.temperature = NAN), "temperature:", "nan");
    refuse(model, f, weft_generator_params(.sampling.temperature = -1.0), "temperature:", "-1");
    refuse(model, f, weft_generator_params(.sampling.top_p = 1.5), "top_p:", "1.5");
    refuse(model, f, weft_generator_params(.repetition_penalty = -2.0),
           "repetition_penalty:", "-2");
    refuse(model, f, weft_generator_params(.stops = empty, .stop_count = 2), "stop 1:", "empty");
    refuse(model, f, weft_generator_params(.prompts = prompts, .prompt_count = 2),
           "prompt 1:", "empty");
    refuse(model, f, weft_generator_params(.prompts = prompts + 2, .prompt_count = 1),
           "prompt 0:", "61 tokens");
    refuse(model, f, weft_generator_params(.prompts = &strange, .prompt_count = 1),
           "prompt 0: token 256", "0 to 255");
    weft_model_destroy(&model);
}

TEST(other_models_are_refused, f) {
    weft_model *model = NULL;
    weft_generator *generator = NULL;
    assert_ok(
        weft_model_load(&model, weft_test_data("models/transformer_masked_lm"), &f->host.host));
    WEFT_EXPECT_REFUSED(
        &f->host, WEFT_UNSUPPORTED,
        weft_generator_create(&generator, model, f->device,
                              weft_generator_params(.prompts = &beginning, .prompt_count = 1)),
        "causal language models", "masked_lm");
    weft_model_destroy(&model);
}
