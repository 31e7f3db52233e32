/* SPDX-License-Identifier: MIT */
/* weft-test: one device */
/* weft generate, on a small model of bytes. */
#include "cli/harmless.h"

#define POSITIONS 150
#define FNET      WEFT_SOURCE_DIR "/tests/data/fnet/classify_d36_l2_gelu"
#define NO_BYTES  WEFT_SOURCE_DIR "/tests/data/models/transformer_rms_causal_lm_tied"

#include "cli/bytes_model.h"

/* The object of "generate FOLDER options --json". */
static json_t *generate(const struct weft_test_model *model, const char *options) {
    json_t *object = run_json("", "generate '%s' %s", model->folder, options);
    return object;
}

static json_t *tokens_of(const struct weft_test_model *model, const char *options) {
    json_t *object = generate(model, options);
    json_t *tokens = json_incref(field(object, "tokens"));
    json_decref(object);
    return tokens;
}

static void expect_same(const struct weft_test_model *model, const char *left, const char *right,
                        bool same) {
    json_t *a = tokens_of(model, left);
    json_t *b = tokens_of(model, right);
    if ((json_equal(a, b) != 0) != same) {
        fail_msg("'%s' and '%s' give %s tokens", left, right, same ? "different" : "the same");
    }
    json_decref(a);
    json_decref(b);
}

/* The text in the file is that of the tokens, byte for byte; what is shown are whole characters, and none that steers. */
TEST(the_text_is_streamed, model) {
    json_t *tokens = tokens_of(model, "--text 'What is' --tokens 90 --seed 5");
    assert_int_equal(json_array_size(tokens), 90);
    char *path = weft_test_path(model->folder, "out");
    struct outcome outcome = expect_weft(
        0, "generate '%s' --text 'What is' --tokens 90 --seed 5 --out '%s'", model->folder, path);
    expect_harmless(&outcome, outcome.out, "\n\t");
    expect_part(&outcome, outcome.out, "\\x");
    expect_part(&outcome, outcome.err, "7 + 90 tokens, recurrent");
    expect_part(&outcome, outcome.err, "ms for a token in the first quarter");
    size_t size = 0;
    uint8_t *text = weft_test_read(path, &size);
    assert_int_equal(size, 90);
    for (size_t i = 0; i < size; i++) {
        assert_int_equal(text[i], json_integer_value(json_array_get(tokens, i)));
    }
    free(text);
    outcome_clear(&outcome);
    json_decref(tokens);
}

TEST(states_and_the_whole_text_agree, f) {
    expect_same(f, "--text ab --tokens 140", "--text ab --tokens 140 --reevaluate", true);
    expect_same(f, "--text ab --tokens 120 --seed 3 --temperature 0.7 --top-k 50",
                "--text ab --tokens 120 --seed 3 --temperature 0.7 --top-k 50 --reevaluate", true);
}

TEST(seeds_and_temperatures_count, f) {
    expect_same(f, "--text ab --tokens 40 --seed 1", "--text ab --tokens 40 --seed 1", true);
    expect_same(f, "--text ab --tokens 40 --seed 1", "--text ab --tokens 40 --seed 2", false);
    expect_same(f, "--text ab --tokens 40 --seed 0", "--text ab --tokens 40 --temperature 1", true);
    expect_same(f, "--text ab --tokens 40 --seed 1",
                "--text ab --tokens 40 --seed 1 --temperature 9", false);
    /* Among one token there is nothing to draw. */
    expect_same(f, "--text ab --tokens 40 --greedy",
                "--text ab --tokens 40 --seed 9 --temperature 5 --top-k 1", true);
    expect_same(f, "--text ab --tokens 40", "--text ab --tokens 40 --greedy", true);
}

/* A prefix of what is generated goes on as the whole does. */
/* Adds eos_token_id to the model's config.json. */
static void set_last_token(const struct weft_test_model *model, json_int_t token) {
    char *path = weft_test_path(model->folder, "config.json");
    json_t *config = json_load_file(path, 0, NULL);
    assert_non_null(config);
    assert_int_equal(json_object_set_new(config, "eos_token_id", json_integer(token)), 0);
    assert_int_equal(json_dump_file(config, path, 0), 0);
    json_decref(config);
}

TEST(a_text_ends_with_its_last_token, model) {
    const char *options = "--text 'What is' --tokens 60 --seed 5";
    json_t *whole = tokens_of(model, options);
    const json_int_t last = json_integer_value(json_array_get(whole, 40));
    size_t count = 0;
    while (json_integer_value(json_array_get(whole, count)) != last) {
        count++;
    }
    set_last_token(model, last);
    json_t *object = generate(model, options);
    const json_t *tokens = field(object, "tokens");
    assert_true(json_is_true(field(object, "ended")));
    assert_int_equal(json_array_size(tokens), count + 1);
    for (size_t i = 0; i <= count; i++) {
        assert_true(json_equal(json_array_get(tokens, i), json_array_get(whole, i)));
    }
    json_decref(object);
    json_decref(whole);
}

TEST(a_longer_prompt_goes_on, model) {
    json_t *all = tokens_of(model, "--text abc --tokens 60");
    char prompt[64] = "abc";
    for (size_t i = 0; i < 40; i++) {
        prompt[3 + i] = (char)json_integer_value(json_array_get(all, i));
    }
    char *path = weft_test_write(model->folder, "prompt", prompt, 43);
    char *options = weft_test_text("--file '%s' --tokens 20", path);
    json_t *rest = tokens_of(model, options);
    for (size_t i = 0; i < 20; i++) {
        assert_int_equal(json_integer_value(json_array_get(rest, i)),
                         json_integer_value(json_array_get(all, 40 + i)));
    }
    json_decref(rest);
    json_decref(all);
}

TEST(the_report_has_its_fields, f) {
    json_t *object = generate(f, "--text 'abcde' --tokens 12 --seed 18446744073709551615");
    assert_string_equal(string_field(object, "decoding"), "recurrent");
    assert_string_equal(string_field(object, "sampling/seed"), "18446744073709551615");
    assert_int_equal(integer_field(object, "prompt_tokens"), 5);
    assert_true(number_field(object, "ms/first_quarter") > 0.0);
    assert_true(number_field(object, "ms/last_quarter") > 0.0);
    assert_int_equal(json_array_size(field(object, "ms/tokens")), 12);
    /* Two layers, of each the keys and values of the tokens, but for the last, which nothing reads. */
    assert_int_equal(integer_field(object, "state_bytes"), 2 * 2 * 16 * (5 + 12 - 1) * 4);
    assert_int_equal(integer_field(object, "plan_length"), 1);
    json_decref(object);
    object = generate(f, "--text 'abcde' --tokens 70 --reevaluate");
    assert_string_equal(string_field(object, "decoding"), "reevaluated");
    assert_int_equal(integer_field(object, "state_bytes"), 0);
    assert_int_equal(integer_field(object, "plan_length"), 128);
    json_decref(object);
    object = generate(f, "--text 'abcde'"); /* as many as there are positions for */
    assert_int_equal(json_array_size(field(object, "tokens")), POSITIONS - 5 + 1);
    json_decref(object);
}

static const json_t *text_at(const json_t *object, size_t index) {
    const json_t *text = json_array_get(field(object, "texts"), index);
    assert_non_null(text);
    return text;
}

/* Several texts are the ones that they are alone, each a line; an empty line keeps its place. */
TEST(several_texts_are_made_together, f) {
    const char *how = "--tokens 30 --seed 2 --top-p 0.9 --repetition-penalty 1.2";
    json_t *both = generate(f, weft_test_text("--text ab --text 'What is it' %s", how));
    json_t *first = generate(f, weft_test_text("--text ab %s", how));
    json_t *second = generate(f, weft_test_text("--text 'What is it' %s", how));
    assert_true(json_equal(field(text_at(both, 0), "tokens"), field(first, "tokens")));
    assert_true(json_equal(field(text_at(both, 1), "text"), field(second, "text")));
    assert_string_equal(string_field(text_at(both, 1), "ending"), "length");
    char *path = weft_test_write(f->folder, "lines", "ab\r\n\nWhat is it", 15);
    json_t *lines = generate(f, weft_test_text("--lines '%s' %s", path, how));
    assert_int_equal(json_array_size(field(lines, "texts")), 3);
    assert_true(json_equal(field(text_at(lines, 0), "tokens"), field(first, "tokens")));
    assert_int_equal(integer_field(text_at(lines, 1), "prompt_tokens"), 0);
    assert_true(json_equal(field(text_at(lines, 2), "tokens"), field(second, "tokens")));
    struct outcome shown = expect_weft(0, "generate '%s' --lines '%s' %s", f->folder, path, how);
    size_t newlines = 0;
    for (const char *at = shown.out; *at != '\0'; at++) {
        newlines += *at == '\n' ? 1 : 0;
    }
    assert_int_equal(newlines, 3);
    expect_part(&shown, shown.err, "3 texts, 12 + 60 tokens");
    outcome_clear(&shown);
    json_decref(lines);
    json_decref(second);
    json_decref(first);
    json_decref(both);
}

TEST(a_window_goes_on, f) {
    json_t *all = tokens_of(f, "--text ab --tokens 149");
    json_t *more = tokens_of(f, "--text ab --tokens 200 --window 20");
    assert_int_equal(json_array_size(more), 200);
    for (size_t i = 0; i < 149; i++) {
        assert_true(json_equal(json_array_get(all, i), json_array_get(more, i)));
    }
    json_decref(more);
    json_decref(all);
}

static void refuse(const struct weft_test_model *model, int exit_code, const char *options,
                   const char *first, const char *second) {
    char *line = weft_test_text("generate '%s' %s", model->folder, options);
    expect_refused(exit_code, line, first, second, NULL);
}

/* The tokens of a run on the processor with so many lanes, appended. */
static void run_piece(json_t *tokens, const struct weft_test_model *model, uint32_t lanes,
                      const char *options) {
    json_t *object = run_json(weft_test_text("WEFT_PROCESSOR_LANES=%u", lanes),
                              "generate '%s' --device processor %s", model->folder, options);
    assert_int_equal(json_array_extend(tokens, field(object, "tokens")), 0);
    json_decref(object);
}

/* 90 tokens in one run, and in four processes with other lanes. */
static void expect_pieces(const struct weft_test_model *model, const char *how) {
    const char *file = weft_test_path(model->folder, "state.safetensors");
    json_t *whole = json_array(), *pieces = json_array();
    run_piece(whole, model, 8, weft_test_text("--text 'What is' --tokens 90 %s", how));
    run_piece(pieces, model, 4,
              weft_test_text("--text 'What is' --tokens 1 --state-out '%s' %s", file, how));
    run_piece(pieces, model, 16,
              weft_test_text("--state-in '%s' --state-out '%s' --tokens 40 %s", file, file, how));
    run_piece(pieces, model, 8,
              weft_test_text("--state-in '%s' --state-out '%s' --tokens 30 %s", file, file, how));
    run_piece(pieces, model, 4, weft_test_text("--state-in '%s' --tokens 19 %s", file, how));
    if (!json_equal(whole, pieces)) {
        fail_msg("'%s': pieces give other tokens", how);
    }
    json_decref(whole);
    json_decref(pieces);
}

TEST(states_go_on_elsewhere, model) {
    expect_pieces(model, "--greedy");
    expect_pieces(model, "--seed 5 --temperature 0.9 --repetition-penalty 1.1");
    expect_pieces(model, "--seed 5 --math fused");
    expect_pieces(model, "--seed 5 --reevaluate");
}

/* A text that begins with what the state has read. */
TEST(a_longer_text_goes_on_from_a_state, model) {
    const char *file = weft_test_path(model->folder, "state.safetensors");
    struct outcome outcome = expect_weft(
        0, "generate '%s' --text 'What is' --tokens 1 --state-out '%s'", model->folder, file);
    outcome_clear(&outcome);
    expect_same(model, "--text 'What is it?' --tokens 40 --seed 2",
                weft_test_text("--text 'What is it?' --tokens 40 --seed 2 --state-in '%s'", file),
                true);
    expect_refused(
        2, weft_test_text("generate '%s' --text 'What if' --state-in '%s'", model->folder, file),
        "token 6: expected 115", "found 102", NULL);
    expect_refused(2,
                   weft_test_text("generate '%s' --text What --state-in '%s'", model->folder, file),
                   "more than the state's 7 tokens, found 4", NULL);
    expect_refused(
        4, weft_test_text("generate '%s' --state-in '%s' --math fused", model->folder, file), file,
        "math: expected 'fused'", "found 'reproducible'", NULL);
}

TEST(wrong_requests_are_refused, model) {
    refuse(model, 2, "", "--text, --file and --lines", "none");
    refuse(model, 2, "--text a --file b", "--text, --file and --lines", "several");
    refuse(model, 2, "--text a --greedy --seed 1", "--greedy", "--seed");
    refuse(model, 2, "--text a --seed -1", "--seed", "'-1'");
    refuse(model, 2, "--text a --seed 18446744073709551616", "--seed", "'18446744073709551616'");
    refuse(model, 2, "--text a --temperature 0", "--temperature", "'0'");
    refuse(model, 2, "--text a --temperature nan", "--temperature", "'nan'");
    refuse(model, 2, "--text a --temperature warm", "--temperature", "'warm'");
    refuse(model, 2, "--text a --top-k 0", "--top-k", "'0'");
    refuse(model, 2, "--text abc --tokens 149", "tokens:", "leave 148 tokens");
    refuse(model, 2, "--text a --top-p 0", "--top-p", "'0'");
    refuse(model, 2, "--text a --top-p 1.1", "--top-p", "'1.1'");
    refuse(model, 2, "--text a --repetition-penalty -1", "--repetition-penalty", "'-1'");
    refuse(model, 2, "--text a --window 151", "window:", "150 positions");
    refuse(model, 2, "--text a --stop ''", "stop 0", "empty");
    refuse(model, 2, "--text a --text b --out x", "--out", "single");
    refuse(model, 2, "--text ''", "the text is empty", NULL);
    refuse(model, 2, "--text a --text b --state-out x", "--state-out", "single");
    refuse(model, 2, "--text a --receipt y --state-out x", "--state-out", "--receipt");
    refuse(model, 2, "--state-in x --window 5", "--state-in", "--window");
    const char *no_state = weft_test_absent("state");
    refuse(model, 4, weft_test_text("--state-in '%s'", no_state), no_state, NULL);
    const char *absent = weft_test_absent("prompt");
    refuse(model, 4, weft_test_text("--file '%s'", absent), absent, NULL);
    char text[POSITIONS + 2] = "";
    memset(text, 'x', POSITIONS + 1);
    char *options = weft_test_text("--text '%s'", text);
    refuse(model, 2, options, "151 tokens", "150 positions");
    expect_refused(4, "generate '" FNET "' --text a", "expected a language model", "classify",
                   NULL);
    expect_refused(4, "generate '" NO_BYTES "' --text a", "ByteTokenizer", "found none", NULL);
}
