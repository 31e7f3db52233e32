/* SPDX-License-Identifier: MIT */
/* weft-test: one device */
/* weft embed and rerank: folders of sentence-transformers, each vector by its definition, with the bits that it has alone. */
#include <math.h>

#include "cli/sentence_folder.h"

#define TRAINED WEFT_SOURCE_DIR "/api/examples/models/langid1024-transformer"

enum { DENSE = 5 };

static void write_dense(char *folder) {
    struct weft_test_model files = {.folder = make_folder(folder, "2_Dense")};
    weft_test_model_add(&files, "linear.weight", weft_shape_of(DENSE, HIDDEN));
    weft_test_model_add(&files, "linear.bias", weft_shape_of(DENSE));
    write_random(&files,
                 "{'in_features': 8, 'out_features': 5, 'bias': true, 'activation_function': "
                 "'torch.nn.modules.activation.Tanh'}",
                 9);
}

/* ---- vectors ---- */

/* The last hidden state of a text, [length, HIDDEN]: free. */
static float *hidden_of(struct place *place, const char *text) {
    char *out = weft_test_path(place->folder, "hidden.npy");
    char *file = weft_test_write(place->folder, "one.txt", text, strlen(text));
    json_decref(run_json("", "run %s/model/encoder --file %s --out %s", place->folder, file, out));
    return read_reals(out, strlen(text) * HIDDEN);
}

static void expect_near(const float *found, const double *expected, size_t count) {
    for (size_t i = 0; i < count; i++) {
        assert_true(fabs((double)found[i] - expected[i]) <= 2e-6 * (1 + fabs(expected[i])));
    }
}

/* The tokens from `first` on, pooled: mean, largest, sum over the root, weighted mean, first and last token. */
static void pool_as_defined(double pooled[6][HIDDEN], const float *x, size_t count, size_t first) {
    for (size_t c = 0; c < HIDDEN; c++) {
        double sum = 0;
        double weighted = 0;
        double largest = -INFINITY;
        const double n = (double)(count - first);
        for (size_t i = first; i < count; i++) {
            const double value = (double)x[i * HIDDEN + c];
            sum += value;
            weighted += value * (double)(i - first + 1);
            largest = value > largest ? value : largest;
        }
        pooled[0][c] = sum / n;
        pooled[1][c] = largest;
        pooled[2][c] = sum / sqrt(n);
        pooled[3][c] = weighted / (n * (n + 1) / 2);
        pooled[4][c] = (double)x[c];
        pooled[5][c] = (double)x[(count - 1) * HIDDEN + c];
    }
}

static const struct {
    const char *flag, *word;
} poolings[] = {{"pooling_mode_mean_tokens", "mean"},
                {"pooling_mode_max_tokens", "max"},
                {"pooling_mode_mean_sqrt_len_tokens", "mean_sqrt_len_tokens"},
                {"pooling_mode_weightedmean_tokens", "weightedmean"},
                {"pooling_mode_cls_token", "cls"},
                {"pooling_mode_lasttoken", "lasttoken"}};

static void expect_pooling(struct place *place, const char *config, size_t pooling) {
    static const char *const words[] = {"abc", "a longer one"};
    char *folder = write_sentences(place, START "]", config);
    json_decref(run_json("", "embed %s --text '%s' --text '%s' --out %s", folder, words[0],
                         words[1], place->out));
    float *found = read_reals(place->out, 2 * HIDDEN);
    for (size_t i = 0; i < 2; i++) {
        double pooled[6][HIDDEN];
        float *x = hidden_of(place, words[i]);
        pool_as_defined(pooled, x, strlen(words[i]), 0);
        expect_near(&found[i * HIDDEN], pooled[pooling], HIDDEN);
        free(x);
    }
    free(found);
}

PLACE_TEST(every_pooling_is_what_its_name_says, place) {
    for (size_t i = 0; i < sizeof poolings / sizeof *poolings; i++) {
        struct place inner = {.folder = make_folder(place->folder, poolings[i].word),
                              .out = place->out};
        expect_pooling(&inner, weft_test_text("{'%s': true}", poolings[i].flag), i);
        inner.folder = make_folder(place->folder, poolings[i].flag);
        expect_pooling(&inner, weft_test_text("{'pooling_mode': '%s'}", poolings[i].word), i);
    }
}

/* The names of Python and those of folders, of an encoder without a modules.json. */
PLACE_TEST(every_pooling_can_be_asked_for_by_each_of_its_names, place) {
    static const struct {
        const char *name;
        size_t pooling;
    } names[] = {{"mean", 0},          {"max", 1},       {"mean_sqrt_len", 2},
                 {"weighted_mean", 3}, {"cls", 4},       {"last", 5},
                 {"weightedmean", 3},  {"lasttoken", 5}, {"mean_sqrt_len_tokens", 2}};
    double pooled[6][HIDDEN];
    write_encoder(make_folder(make_folder(place->folder, "model"), "encoder"));
    float *x = hidden_of(place, "abc");
    pool_as_defined(pooled, x, strlen("abc"), 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        json_decref(run_json("", "embed %s/model/encoder --text abc --pooling %s --out %s",
                             place->folder, names[i].name, place->out));
        float *found = read_reals(place->out, HIDDEN);
        expect_near(found, pooled[names[i].pooling], HIDDEN);
        free(found);
    }
    free(x);
}

PLACE_TEST(maps_and_lengths_follow_in_their_order, place) {
    char *folder = write_sentences(
        place, START ", " MODULE("Dense", "2_Dense") ", " MODULE("Normalize", "3_Normalize") "]",
        "{'pooling_mode_mean_tokens': true, 'pooling_mode_mean_sqrt_len_tokens': false}");
    write_dense(folder);
    json_t *report = run_json("", "embed %s --text abc --out %s", folder, place->out);
    assert_int_equal(integer_field(report, "model/embedding_size"), DENSE);
    float *found = read_reals(place->out, DENSE);
    float *x = hidden_of(place, "abc");
    double pooled[6][HIDDEN];
    double expected[DENSE];
    double square = 0;
    float weight[DENSE * HIDDEN];
    float bias[DENSE];
    weft_philox_uniform(weight, DENSE * HIDDEN, 9, 0);
    weft_philox_uniform(bias, DENSE, 9, 1);
    pool_as_defined(pooled, x, 3, 0);
    for (size_t i = 0; i < DENSE; i++) {
        expected[i] = (double)bias[i];
        for (size_t c = 0; c < HIDDEN; c++) {
            expected[i] += (double)weight[i * HIDDEN + c] * pooled[0][c];
        }
        expected[i] = tanh(expected[i]);
        square += expected[i] * expected[i];
    }
    for (size_t i = 0; i < DENSE; i++) {
        expected[i] /= sqrt(square);
    }
    expect_near(found, expected, DENSE);
    free(found);
    free(x);
    json_decref(report);
}

/* ---- prompts ---- */

static char *write_prompts(struct place *place, const char *pooling) {
    char *folder = write_sentences(place, START "]", pooling);
    write_text(folder, "config_sentence_transformers.json",
               "{'prompts': {'query': 'q: ', 'passage': 'p: '}, 'default_prompt_name': 'query', "
               "'similarity_fn_name': 'dot'}");
    return folder;
}

static char *digest_of(const char *format, ...) {
    va_list list;
    va_start(list, format);
    char arguments[2048];
    vsnprintf(arguments, sizeof arguments, format, list);
    va_end(list);
    json_t *report = run_json("", "%s", arguments);
    char *digest = weft_test_text("%s", string_field(report, "output/sha256"));
    json_decref(report);
    return digest;
}

PLACE_TEST(prompts_stand_in_front_of_texts, place) {
    char *model = write_prompts(place, "{'pooling_mode_mean_tokens': true}");
    char *bare = digest_of("embed %s --text 'q: abc' --prompt ''", model);
    assert_string_equal(digest_of("embed %s --text abc", model), bare);
    assert_string_equal(digest_of("embed %s --text abc --prompt query", model), bare);
    assert_string_equal(digest_of("embed %s --text abc --prompt 'q: '", model), bare);
    assert_string_not_equal(digest_of("embed %s --text abc --prompt passage", model), bare);
}

PLACE_TEST(pooling_leaves_out_a_prompt_where_the_folder_says_so, place) {
    char *model =
        write_prompts(place, "{'pooling_mode_mean_tokens': true, 'include_prompt': false}");
    json_decref(
        run_json("", "embed %s --text abc --text 'a longer one' --out %s", model, place->out));
    float *found = read_reals(place->out, 2 * HIDDEN);
    static const char *const whole[] = {"q: abc", "q: a longer one"};
    for (size_t i = 0; i < 2; i++) {
        double pooled[6][HIDDEN];
        float *x = hidden_of(place, whole[i]);
        pool_as_defined(pooled, x, strlen(whole[i]), strlen("q: "));
        expect_near(&found[i * HIDDEN], pooled[0], HIDDEN);
        free(x);
    }
    free(found);
}

PLACE_TEST(a_prompt_that_is_left_out_takes_no_length_away, place) {
    char *model =
        write_prompts(place, "{'pooling_mode_mean_tokens': true, 'include_prompt': false}");
    json_decref(run_json("", "embed %s --text abc --normalize --out %s", model, place->out));
    float *found = read_reals(place->out, HIDDEN);
    double square = 0;
    for (size_t c = 0; c < HIDDEN; c++) {
        square += (double)found[c] * (double)found[c];
    }
    assert_true(fabs(square - 1) < 1e-6);
    free(found);
}

/* ---- files and bits ---- */

PLACE_TEST(each_vector_has_the_bits_that_it_has_alone, place) {
    char *lines =
        weft_test_write(place->folder, "lines.txt", "abc\na longer one\r\nabcdefgh\nx\n", 29);
    static const char *const alone[] = {"abc", "a longer one", "abcdefgh", "x"};
    static const char *const names[] = {"mean", "cls", "last", "max"};
    for (size_t p = 0; p < 4; p++) {
        json_t *report =
            run_json("", "embed " TRAINED " --pooling %s --normalize --lines %s --out %s", names[p],
                     lines, place->out);
        const size_t width = (size_t)integer_field(report, "model/embedding_size");
        assert_int_equal(integer_field(report, "texts"), 4);
        float *all = read_reals(place->out, 4 * width);
        assert_string_equal(string_field(report, "output/sha256"),
                            digest_of("embed " TRAINED
                                      " --pooling %s --normalize --lines - --batch 1 <%s",
                                      names[p], lines));
        for (size_t i = 0; i < 4; i++) {
            json_decref(run_json("",
                                 "embed " TRAINED " --pooling %s --normalize --text '%s' --out %s",
                                 names[p], alone[i], place->out));
            float *one = read_reals(place->out, width);
            assert_memory_equal(&all[i * width], one, width * sizeof *one);
            free(one);
        }
        free(all);
        json_decref(report);
    }
}

PLACE_TEST(what_is_printed_ends_with_the_hash, place) {
    char *model = write_sentences(place, START "]", "{'pooling_mode_mean_tokens': true}");
    char *digest = digest_of("embed %s --text abc --text ' white space\t'", model);
    expect_says(0, weft_test_text("embed %s --text abc --text ' white space\t'", model),
                "like text 1", "1.0000", "2 texts of 16 tokens", "f32 [2, 8]",
                weft_test_text("sha256 %s\n", digest), NULL);
}

/* ---- what is refused ---- */

PLACE_TEST(modules_and_poolings_that_weft_does_not_have_are_named, place) {
    char *model = write_sentences(place, START ", " MODULE("WeightedLayerPooling", "x") "]",
                                  "{'pooling_mode_mean_tokens': true}");
    expect_refused(4, weft_test_text("embed %s --text a", model), "modules.json",
                   "sentence_transformers.models.WeightedLayerPooling", "Normalize", NULL);
    write_text(model, "modules.json", START ", {'type': 'custom_st.Transformer', 'path': ''}]");
    expect_refused(4, weft_test_text("embed %s --text a", model), "custom_st.Transformer", NULL);
    write_text(model, "modules.json", "[" MODULE("Transformer", "../model/encoder") "]");
    expect_refused(4, weft_test_text("embed %s --text a", model), "a folder in this one", NULL);
    write_text(model, "modules.json", "[" MODULE("Transformer", "encoder") "]");
    expect_refused(4, weft_test_text("embed %s --text a", model), "a Transformer and a Pooling",
                   NULL);
    write_text(model, "modules.json", START "]");
    char *pooling = weft_test_path(model, "1_Pooling");
    write_text(pooling, "config.json", "{'pooling_mode_attention': true}");
    expect_refused(4, weft_test_text("embed %s --text a", model), "pooling_mode_attention", NULL);
    write_text(pooling, "config.json", "{'pooling_mode': []}");
    expect_refused(4, weft_test_text("embed %s --text a", model), "expected a pooling", NULL);
}

/* Each would read its files again: 65 of them, or as many as a file can name. */
PLACE_TEST(more_modules_than_a_model_has_are_refused, place) {
    enum { MANY = 63 };
    const char *more = ", " MODULE("Normalize", "2_Normalize");
    char modules[sizeof START + MANY * 100] = START;
    for (int i = 0; i < MANY; i++) {
        strncat(modules, more, sizeof modules - strlen(modules) - 1);
    }
    strncat(modules, "]", sizeof modules - strlen(modules) - 1);
    char *model = write_sentences(place, modules, "{'pooling_mode_mean_tokens': true}");
    expect_refused(4, weft_test_text("embed %s --text a", model), "modules.json",
                   "at most 64 modules, found 65", NULL);
}

PLACE_TEST(wrong_usage_says_what_is_expected, place) {
    char *model = write_sentences(place, START "]", "{'pooling_mode_mean_tokens': true}");
    expect_refused(2, "embed " TRAINED " --text a", "modules.json", "expected --pooling", NULL);
    expect_refused(2, "embed " TRAINED " --text a --pooling median",
                   "mean_sqrt_len, weighted_mean, last", NULL);
    expect_refused(2, "embed " TRAINED " --pooling mean", "found none", NULL);
    expect_refused(2, "embed " TRAINED " --text a --file b", "found several", NULL);
    expect_refused(4, weft_test_text("embed %s --text a --pooling cls", model), "modules.json",
                   NULL);
    expect_refused(4,
                   weft_test_text("run %s --lines %s", model,
                                  weft_test_write(place->folder, "l.txt", "a\n", 2)),
                   "see weft embed", NULL);
    expect_refused(2, weft_test_text("rerank %s --query a", model), "--query and --lines", NULL);
}

/* ---- ranks ---- */

PLACE_TEST(ranks_follow_the_likeness_of_vectors, place) {
    char *lines = weft_test_write(place->folder, "lines.txt", "the cat\nle chat\nthe cats\n", 25);
    json_t *report = run_json(
        "", "rerank " TRAINED " --pooling mean --query 'the cat' --lines %s --top 2", lines);
    json_t *results = field(report, "results");
    assert_int_equal(json_array_size(results), 2);
    assert_int_equal(integer_field(json_array_get(results, 0), "line"), 1);
    assert_true(fabs(number_field(json_array_get(results, 0), "score") - 1.0) < 1e-6);
    assert_string_equal(string_field(json_array_get(results, 1), "text"), "the cats");
    json_decref(report);
}
