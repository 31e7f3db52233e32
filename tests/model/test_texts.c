/* SPDX-License-Identifier: MIT */
/* weft-test: one device */
/* Many texts through a model: each has the bits that it has alone, whatever stops the run, and whatever is wrong is named. */
#include <math.h>

#include <weft/texts.h>

#include "support.h"
#include "support_model.h"

#define TEST(name, f) WEFT_TEST_WITH(name, struct weft_test_device *f, NULL, NULL)

WEFT_TEST_GROUP(weft_test_device_set_up, weft_test_device_tear_down);

enum { COUNT = 9, WIDTH = 8, POSITIONS = 40 };

#define NETWORK                                                                              \
    "'vocab_size': 256, 'hidden_size': 8, 'num_hidden_layers': 1, 'intermediate_size': 12, " \
    "'num_attention_heads': 2, 'max_position_embeddings': 40, 'tokenizer_class': 'ByteTokenizer'"

#define ENCODER                                                                                    \
    "{'model_type': 'transformer', 'task': 'hidden', 'position_embedding': 'sinusoidal', " NETWORK \
    "}"

/* One is longer than the model takes, one has zeros in it, and one is no UTF-8. */
static const weft_text_input texts[COUNT] = {
    {.text = "abc", .size = 3},
    {.text = "a longer one", .size = 12},
    {.text = "x", .size = 1},
    {.text = "abcd", .size = 4},
    {.text = "\0\0b\0", .size = 4},
    {.text = "0123456789012345678901234567890123456789 and more", .size = 49},
    {.text = "\xff\xbc\x80", .size = 3},
    {.text = "thirteen byte", .size = 13},
    {.text = "abc", .size = 3}};

static weft_model *make(const char *config, const weft_host *host) {
    weft_model *model = NULL;
    assert_ok(weft_model_create_random(&model, weft_test_json(config), 3, host));
    return model;
}

static weft_model *make_vectors(const weft_host *host) {
    weft_model *model = make(ENCODER, host);
    const char *prompt = "";
    assert_ok(
        weft_model_set_vectors(&prompt, model, weft_vectors_params(.pooling = "weightedmean")));
    assert_null(prompt);
    return model;
}

/* A text's vector by a plan of its own. */
static void run_alone(float vector[WIDTH], weft_model *model, weft_device *device,
                      const weft_text_input *text) {
    weft_encoding encoding;
    weft_plan *plan = NULL;
    assert_ok(weft_model_encode(&encoding, model,
                                weft_encode_params(.text = text->text, .size = text->size)));
    assert_ok(weft_model_compile(&plan, model, device, 1, encoding.count, false, NULL));
    const weft_host_tensor tensors[] = {
        {"tokens", encoding.tokens, encoding.count * sizeof(int32_t)},
        {"output", vector, WIDTH * sizeof(float)}};
    assert_ok(weft_plan_execute(plan, tensors, 2));
    weft_plan_destroy(&plan);
    weft_encoding_free(model, &encoding);
}

static void run_each(float vectors[COUNT][WIDTH], weft_model *model, weft_device *device) {
    for (uint32_t i = 0; i < COUNT; i++) {
        run_alone(vectors[i], model, device, &texts[i]);
    }
}

/* ---- bits ---- */

TEST(each_text_has_the_bits_that_it_has_alone, f) {
    weft_model *model = make_vectors(&f->host.host);
    weft_texts *runner = NULL;
    float alone[COUNT][WIDTH], found[COUNT][WIDTH];
    run_each(alone, model, f->device);
    assert_ok(weft_texts_create(&runner, model, f->device, NULL));
    for (uint32_t batch = 0; batch < 4; batch++) {
        uint32_t cut[COUNT];
        bool has[COUNT] = {false};
        memset(found, 0, sizeof found);
        memset(cut, 99, sizeof cut);
        assert_ok(weft_texts_run(runner, weft_texts_run_params(.texts = texts, .count = COUNT,
                                                               .values = found[0], .has = has,
                                                               .cut = cut, .batch = batch)));
        assert_memory_equal(found, alone, sizeof found);
        for (uint32_t i = 0; i < COUNT; i++) {
            assert_true(has[i]);
            assert_int_equal(cut[i], i == 5 ? 9 : 0);
        }
    }
    weft_texts_info info;
    assert_ok(weft_texts_get_info(runner, &info));
    assert_int_equal(info.texts, 4 * COUNT);
    assert_int_equal(info.cut_texts, 4);
    assert_int_equal(info.tokens, 4 * (3 + 12 + 1 + 4 + 4 + POSITIONS + 3 + 13 + 3));
    weft_texts_destroy(&runner);
    weft_model_destroy(&model);
}

/* What a text begins with is read with it. */
TEST(a_prompt_stands_in_front_of_each_text, f) {
    static const weft_text_input whole = {.text = "q: abc", .size = 6};
    weft_model *model = make_vectors(&f->host.host);
    weft_texts *runner = NULL;
    float alone[WIDTH], found[WIDTH];
    run_alone(alone, model, f->device, &whole);
    assert_ok(weft_texts_create(&runner, model, f->device, weft_texts_params(.plans = 1)));
    assert_ok(weft_texts_run(runner, weft_texts_run_params(.texts = texts, .count = 1,
                                                           .prompt = "q: ", .values = found)));
    assert_memory_equal(found, alone, sizeof found);
    weft_texts_destroy(&runner);
    weft_model_destroy(&model);
}

TEST(plans_of_other_vectors_are_not_used, f) {
    static const char *const poolings[] = {"mean", "lasttoken", "max", "mean_sqrt_len", "cls"};
    weft_model *model = make_vectors(&f->host.host);
    weft_texts *runner = NULL;
    const char *prompt = NULL;
    float alone[WIDTH], found[WIDTH], before[WIDTH] = {0};
    assert_ok(weft_texts_create(&runner, model, f->device, NULL));
    for (size_t i = 0; i < 2 * sizeof poolings / sizeof *poolings; i++) {
        assert_ok(weft_model_set_vectors(
            &prompt, model,
            weft_vectors_params(.pooling = poolings[i / 2], .normalize = i % 2 == 1)));
        run_alone(alone, model, f->device, &texts[1]);
        assert_ok(weft_texts_run(
            runner, weft_texts_run_params(.texts = &texts[1], .count = 1, .values = found)));
        assert_memory_equal(found, alone, sizeof found);
        assert_memory_not_equal(found, before, sizeof found);
        memcpy(before, found, sizeof before);
    }
    weft_texts_destroy(&runner);
    weft_model_destroy(&model);
}

/* The first values, before they get length 1: plans with all of them are not used. */
TEST(vectors_may_have_their_first_values_alone, f) {
    weft_model *model = make_vectors(&f->host.host);
    weft_texts *runner = NULL;
    const char *prompt = NULL;
    weft_embed_info embed;
    weft_model_info info;
    float whole[WIDTH], found[WIDTH];
    run_alone(whole, model, f->device, &texts[1]);
    assert_ok(weft_texts_create(&runner, model, f->device, NULL));
    static const uint32_t asked[] = {WIDTH + 1, WIDTH, 5, 1};
    for (size_t at = 0; at < sizeof asked / sizeof *asked; at++) {
        double squares = 0;
        const uint32_t most = asked[at];
        const uint32_t size = most < WIDTH ? most : WIDTH;
        for (uint32_t i = 0; i < size; i++) {
            squares += (double)whole[i] * (double)whole[i];
        }
        for (int normalize = 0; normalize < 2; normalize++) {
            assert_ok(weft_model_set_vectors(
                &prompt, model,
                weft_vectors_params(.dimension = most, .normalize = normalize == 1)));
            assert_ok(weft_model_get_embedding(model, &embed));
            assert_ok(weft_model_get_info(model, &info));
            assert_int_equal(embed.dimension, most);
            assert_int_equal(info.embedding_size, size);
            assert_ok(weft_texts_run(
                runner, weft_texts_run_params(.texts = &texts[1], .count = 1, .values = found)));
            for (uint32_t i = 0; i < size; i++) {
                assert_true(fabs(found[i] - whole[i] / (normalize == 1 ? sqrt(squares) : 1)) <
                            1e-5);
            }
        }
    }
    weft_texts_destroy(&runner);
    weft_model_destroy(&model);
}

/* Names count for callers who name prompts, and not for those who have the text. */
TEST(a_prompt_that_is_a_text_is_no_name, f) {
    weft_model *model = make_vectors(&f->host.host);
    const char *prompt = NULL;
    assert_ok(weft_model_set_vectors(&prompt, model,
                                     weft_vectors_params(.prompt = "q", .prompt_is_text = true)));
    assert_string_equal(prompt, "q");
    assert_ok(weft_model_set_vectors(&prompt, model, weft_vectors_params(.prompt_is_text = true)));
    assert_null(prompt);
    weft_model_destroy(&model);
}

TEST(texts_are_cut_where_the_caller_says, f) {
    weft_model *model = make_vectors(&f->host.host);
    weft_texts *runner = NULL;
    weft_model_info info;
    uint32_t cut = 0;
    float found[WIDTH], alone[WIDTH];
    run_alone(alone, model, f->device, &(weft_text_input){.text = "abc", .size = 3});
    assert_ok(weft_model_set_max_length(model, 3));
    assert_ok(weft_texts_create(&runner, model, f->device, NULL));
    assert_ok(weft_texts_run(
        runner, weft_texts_run_params(.texts = &(weft_text_input){.text = "abcdef", .size = 6},
                                      .count = 1, .values = found, .cut = &cut)));
    assert_memory_equal(found, alone, sizeof found);
    assert_int_equal(cut, 3);
    assert_int_equal(weft_model_set_max_length(model, POSITIONS + 1), WEFT_INVALID_ARGUMENT);
    assert_ok(weft_model_set_max_length(model, 0));
    assert_ok(weft_model_get_info(model, &info));
    assert_int_equal(info.max_length, POSITIONS);
    weft_texts_destroy(&runner);
    weft_model_destroy(&model);
}

/* ---- what is delivered ---- */

struct taken {
    float vectors[COUNT][WIDTH];
    uint32_t order[COUNT];
    uint32_t count, most; /* after so many it fails */
};

static weft_status take(void *user, const weft_text_output *output) {
    struct taken *taken = user;
    if (taken->count == taken->most) {
        return WEFT_IO_ERROR;
    }
    assert_int_equal(output->rows, 1);
    assert_int_equal(output->width, WIDTH);
    assert_int_equal(output->encoding->count,
                     texts[output->index].size < POSITIONS ? texts[output->index].size : POSITIONS);
    memcpy(taken->vectors[output->index], output->values, sizeof taken->vectors[0]);
    taken->order[taken->count++] = output->index;
    return WEFT_OK;
}

/* What was taken, and nothing else, is there. */
static void expect_taken(const struct taken *taken, const bool has[COUNT],
                         float alone[COUNT][WIDTH]) {
    static const uint32_t order[COUNT] = {2, 0, 6, 8, 3, 4, 1, 7, 5}; /* by length, then place */
    uint32_t delivered = 0;
    for (uint32_t i = 0; i < COUNT; i++) {
        delivered += has[i];
        if (has[i]) {
            assert_memory_equal(taken->vectors[i], alone[i], sizeof alone[i]);
        }
    }
    assert_int_equal(delivered, taken->count);
    assert_memory_equal(taken->order, order, taken->count * sizeof *order);
}

TEST(a_callback_that_fails_ends_the_run_and_keeps_what_it_took, f) {
    weft_model *model = make_vectors(&f->host.host);
    weft_texts *runner = NULL;
    float alone[COUNT][WIDTH];
    run_each(alone, model, f->device);
    assert_ok(weft_texts_create(&runner, model, f->device, NULL));
    for (uint32_t most = 0; most <= COUNT; most++) {
        struct taken taken = {.most = most};
        bool has[COUNT] = {false};
        assert_status(
            weft_texts_run(runner, weft_texts_run_params(.texts = texts, .count = COUNT, .has = has,
                                                         .take = take, .user = &taken)),
            most < COUNT ? WEFT_IO_ERROR : WEFT_OK);
        assert_int_equal(taken.count, most);
        expect_taken(&taken, has, alone);
    }
    weft_texts_destroy(&runner);
    weft_model_destroy(&model);
}

struct looks {
    uint32_t count, at; /* at 0 never */
};

static bool interrupted(void *user) {
    struct looks *looks = user;
    looks->count++;
    return looks->at > 0 && looks->count >= looks->at;
}

TEST(whenever_it_is_stopped_what_was_computed_is_delivered, f) {
    struct looks looks = {0};
    weft_host host = f->host.host;
    host.interrupted = interrupted;
    host.interrupted_user = &looks;
    weft_model *model = make_vectors(&host);
    weft_texts *runner = NULL;
    float alone[COUNT][WIDTH];
    run_each(alone, model, f->device);
    assert_ok(weft_texts_create(&runner, model, f->device, NULL));
    uint32_t stopped = 0, some = 0;
    weft_status status = WEFT_CANCELLED;
    for (uint32_t at = 1; status == WEFT_CANCELLED; at++) {
        struct taken taken = {.most = COUNT};
        bool has[COUNT] = {false};
        looks = (struct looks){.at = at};
        status =
            weft_texts_run(runner, weft_texts_run_params(.texts = texts, .count = COUNT, .has = has,
                                                         .take = take, .user = &taken, .batch = 2));
        assert_true(status == WEFT_CANCELLED || status == WEFT_OK);
        expect_taken(&taken, has, alone);
        stopped += status == WEFT_CANCELLED;
        some += taken.count > 0 && taken.count < COUNT;
    }
    assert_true(stopped > COUNT && some >= 3);
    weft_texts_destroy(&runner);
    weft_model_destroy(&model);
}

/* ---- whatever is wrong ---- */

static void expect_refused(struct weft_test_device *f, weft_texts *runner,
                           const weft_text_input *input, const char *what) {
    weft_text_input several[3] = {texts[0], *input, texts[1]};
    bool has[3] = {false};
    WEFT_EXPECT_REFUSED(&f->host, WEFT_INVALID_ARGUMENT,
                        weft_texts_run(runner, weft_texts_run_params(.texts = several, .count = 3,
                                                                     .number = 40, .has = has)),
                        "text 41", what);
    assert_false(has[0] || has[1] || has[2]); /* all are looked at before any runs */
}

TEST(texts_that_the_model_cannot_take_are_named, f) {
    static const int32_t tokens[POSITIONS + 1] = {1};
    static const int32_t negative[] = {1, 2, -1}, large[] = {255, 256};
    static const float numbers[8] = {0};
    weft_model *model = make_vectors(&f->host.host);
    weft_texts *runner = NULL;
    assert_ok(weft_texts_create(&runner, model, f->device, NULL));
    expect_refused(f, runner, &(weft_text_input){.tokens = tokens}, "1 to 40 tokens");
    expect_refused(f, runner, &(weft_text_input){.tokens = tokens, .length = POSITIONS + 1},
                   "found 41");
    expect_refused(f, runner, &(weft_text_input){.tokens = tokens, .length = UINT32_MAX},
                   "found 4294967295");
    expect_refused(f, runner, &(weft_text_input){.tokens = negative, .length = 3}, "position 2");
    expect_refused(f, runner, &(weft_text_input){.tokens = large, .length = 2}, "found 256");
    expect_refused(f, runner, &(weft_text_input){.length = 3}, "tokens");
    expect_refused(f, runner, &(weft_text_input){.tokens = tokens, .types = tokens, .length = 3},
                   "types");
    expect_refused(f, runner,
                   &(weft_text_input){.tokens = tokens, .features = numbers, .length = 1},
                   "features");
    expect_refused(f, runner,
                   &(weft_text_input){.tokens = tokens, .positions = numbers, .length = 1},
                   "positions");
    WEFT_EXPECT_REFUSED(&f->host, WEFT_INVALID_ARGUMENT,
                        weft_texts_run(runner, weft_texts_run_params(.count = UINT32_MAX)),
                        "params.texts", "null");
    assert_ok(weft_texts_run(runner, weft_texts_run_params(.count = 0)));
    weft_texts_destroy(&runner);
    weft_texts_destroy(&runner);
    weft_model_destroy(&model);
}

/* Sequences, also with types, beside texts. */
TEST(sequences_of_tokens_run_with_texts, f) {
    static const int32_t tokens[] = {'a', 'b', 'c'};
    weft_model *model = make_vectors(&f->host.host);
    weft_texts *runner = NULL;
    float alone[WIDTH], found[2][WIDTH];
    const weft_text_input both[] = {{.tokens = tokens, .length = 3}, texts[0]};
    run_alone(alone, model, f->device, &texts[0]);
    assert_ok(weft_texts_create(&runner, model, f->device, NULL));
    assert_ok(weft_texts_run(runner,
                             weft_texts_run_params(.texts = both, .count = 2, .values = found[0])));
    assert_memory_equal(found[0], alone, sizeof alone);
    assert_memory_equal(found[1], alone, sizeof alone);
    weft_texts_destroy(&runner);
    weft_model_destroy(&model);
}

static weft_status count_rows(void *user, const weft_text_output *output) {
    assert_int_equal(output->rows, output->encoding->count);
    *(uint32_t *)user += output->rows;
    return WEFT_OK;
}

TEST(a_task_with_a_row_for_each_token_has_no_values, f) {
    weft_model *model = make(ENCODER, &f->host.host);
    weft_texts *runner = NULL;
    float values[COUNT * WIDTH];
    uint32_t rows = 0;
    assert_ok(weft_texts_create(&runner, model, f->device, NULL));
    WEFT_EXPECT_REFUSED(&f->host, WEFT_INVALID_ARGUMENT,
                        weft_texts_run(runner, weft_texts_run_params(.texts = texts, .count = COUNT,
                                                                     .values = values)),
                        "values", "each token");
    assert_ok(weft_texts_run(runner, weft_texts_run_params(.texts = texts, .count = COUNT,
                                                           .take = count_rows, .user = &rows)));
    assert_int_equal(rows, 3 + 12 + 1 + 4 + 4 + POSITIONS + 3 + 13 + 3);
    weft_texts_destroy(&runner);
    weft_model_destroy(&model);
}

TEST(without_memory_nothing_is_lost, f) {
    weft_model *model = make_vectors(&f->host.host);
    weft_texts *runner = NULL;
    float values[COUNT * WIDTH];
    assert_ok(weft_texts_create(&runner, model, f->device, NULL));
    weft_status status = WEFT_OUT_OF_HOST_MEMORY;
    const weft_texts_run_params params = {
        .texts = texts, .count = COUNT, .values = values, .prompt = "q: "};
    assert_ok(weft_texts_run(runner, &params)); /* has compiled */
    while (weft_test_next_failure(&f->host, status)) {
        status = weft_texts_run(runner, &params);
    }
    weft_texts_destroy(&runner);
    weft_model_destroy(&model);
}

/* ---- ranks ---- */

TEST(ranks_follow_the_similarity_of_vectors, f) {
    weft_model *model = make_vectors(&f->host.host);
    weft_texts *runner = NULL;
    float alone[COUNT][WIDTH];
    weft_ranked ranked[COUNT], expected[COUNT];
    run_each(alone, model, f->device);
    for (uint32_t i = 0; i < COUNT; i++) {
        expected[i] = (weft_ranked){i, weft_vector_similarity(NULL, alone[3], alone[i], WIDTH)};
    }
    weft_rank(expected, COUNT);
    assert_ok(weft_texts_create(&runner, model, f->device, NULL));
    assert_ok(weft_texts_rank(
        ranked, runner, weft_rank_params(.query = &texts[3], .texts = texts, .count = COUNT)));
    for (uint32_t i = 0; i < COUNT; i++) {
        assert_int_equal(ranked[i].index, expected[i].index);
        assert_true(ranked[i].score == expected[i].score);
    }
    assert_int_equal(ranked[0].index, 3);
    const weft_text_input pair = {.text = "a", .size = 1, .pair = "b", .pair_size = 1};
    WEFT_EXPECT_REFUSED(
        &f->host, WEFT_INVALID_ARGUMENT,
        weft_texts_rank(ranked, runner,
                        weft_rank_params(.query = &pair, .texts = texts, .count = 1)),
        "query", "a pair");
    weft_texts_destroy(&runner);
    weft_model_destroy(&model);
}

/* A model of one label: by its output as it is, shown as its sigmoid. */
TEST(a_classifier_of_one_label_is_no_vector_model, f) {
    weft_model *model =
        make("{'model_type': 'transformer', 'task': 'classify', 'id2label': {'0': 'a', '1': 'b'}, "
             "'position_embedding': 'sinusoidal', " NETWORK "}",
             &f->host.host);
    weft_texts *runner = NULL;
    weft_ranked ranked[COUNT];
    assert_ok(weft_texts_create(&runner, model, f->device, NULL));
    WEFT_EXPECT_REFUSED(
        &f->host, WEFT_UNSUPPORTED,
        weft_texts_rank(ranked, runner,
                        weft_rank_params(.query = &texts[0], .texts = texts, .count = COUNT)),
        "embeddings", "classify");
    assert_true(fabs(weft_model_pair_score(model, 1.5F) - 1 / (1 + exp(-1.5))) < 1e-15);
    assert_true(fabs(weft_model_pair_score(model, -800) - 0) < 1e-300);
    assert_true(weft_model_pair_score(model, 800) == 1);
    assert_true(weft_model_pair_score(model, 0) == 0.5);
    weft_texts_destroy(&runner);
    weft_model_destroy(&model);
}
