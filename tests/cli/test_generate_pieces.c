/* SPDX-License-Identifier: MIT */
/* weft-test: one device */
/* weft generate, with a model whose tokens are pieces of SentencePiece. */
#include <weft/model.h>

#include "cli/place.h"
#include "cli/tiny_model.h"

enum { PIECES = 131, MADE = 9 }; /* of tests/data/tokenizer */

#define PROMPT "the weaver holds"

/* A causal model of pieces in a folder with that tokenizer class, or without one. */
static char *write_model(struct place *place, const char *name, const char *class) {
    const struct tiny_model tiny = {
        .task = "causal_lm", .vocabulary = PIECES, .outputs = PIECES, .seed = 6};
    char *folder = write_tiny_model(place->folder, name, &tiny);
    size_t size = 0;
    uint8_t *pieces = weft_test_read(weft_test_data("tokenizer/spiece.model"), &size);
    weft_test_write(folder, "spiece.model", pieces, size);
    free(pieces);
    json_t *config = json_load_file(weft_test_path(folder, "config.json"), 0, NULL);
    assert_non_null(config);
    if (class) {
        json_object_set_new(config, "tokenizer_class", json_string(class));
    }
    char *text = json_dumps(config, 0);
    weft_test_write(folder, "config.json", text, strlen(text));
    free(text);
    json_decref(config);
    return folder;
}

/* What the tokens add to the prompt's text. */
static char *text_of(const char *folder, const json_t *made) {
    weft_model *model = NULL;
    int32_t *prompt = NULL;
    uint32_t count = 0;
    assert_ok(weft_model_load(&model, folder, NULL));
    assert_ok(weft_model_tokenize(model, PROMPT, strlen(PROMPT), &prompt, &count));
    int32_t tokens[64];
    assert_true(count + json_array_size(made) <= 64);
    memcpy(tokens, prompt, count * sizeof *tokens);
    for (size_t i = 0; i < json_array_size(made); i++) {
        tokens[count + i] = (int32_t)json_integer_value(json_array_get(made, i));
    }
    char *text = NULL;
    size_t size = 0;
    assert_ok(weft_model_detokenize(model, tokens, count, &text, &size));
    assert_string_equal(text, PROMPT);
    weft_text_free(model, &text);
    assert_ok(weft_model_detokenize(model, tokens, count + (uint32_t)json_array_size(made), &text,
                                    &size));
    assert_memory_equal(text, PROMPT, strlen(PROMPT));
    char *added = weft_test_text("%s", text + strlen(PROMPT));
    weft_text_free(model, &text);
    weft_tokens_free(model, &prompt);
    weft_model_destroy(&model);
    return added;
}

static void expect_texts(char *folder) {
    const char *line =
        weft_test_text("generate '%s' --text '" PROMPT "' --tokens %d --seed 3", folder, (int)MADE);
    json_t *report = run_json("", "%s", line);
    const json_t *tokens = field(report, "tokens");
    assert_int_equal(json_array_size(tokens), MADE);
    char *added = text_of(folder, tokens);
    assert_true(strlen(added) > 0);
    assert_string_equal(string_field(report, "text"), added);
    struct outcome shown = expect_weft(0, "%s", line);
    assert_string_equal(shown.out, added);
    outcome_clear(&shown);
    json_decref(report);
}

PLACE_TEST(pieces_become_text, place) {
    expect_texts(write_model(place, "plain", "SentencePieceTokenizer"));
    expect_texts(write_model(place, "fnet", "FNetTokenizer"));
    expect_texts(write_model(place, "unnamed", NULL));
}

/* A causal model's prompt has no special tokens, and leaves room for what follows. */
PLACE_TEST(prompts_that_fill_the_model_are_refused, place) {
    char *folder = write_model(place, "plain", "SentencePieceTokenizer");
    expect_refused(2,
                   weft_test_text("generate '%s' --text '" PROMPT " " PROMPT " " PROMPT " " PROMPT
                                  "'",
                                  folder),
                   "prompt 0: expected at most the model's 16 positions", "20 tokens", NULL);
}

/* Files that crashed the SentencePiece library, or made it print its memory: one line, and no answer. */
PLACE_TEST(hostile_models_are_refused, place) {
    /* A piece, whose text is looked at later; denormalizer_spec with rules: a trie of one unit, which leads far outside. */
    static const char rules[] = "\x0A\0\x2A\x0C\x12\x0A\4\0\0\0\0\xFE\xFF\x7Fx";
    static uint8_t piece[200008] = {1 << 3 | 2, 0xC4, 0x9A, 0x0C, 1 << 3 | 2, 0xC0, 0x9A, 0x0C};
    memset(piece + 8, 'a', sizeof piece - 8);
    static const char *const commands[] = {"generate '%s' --text 'the weaver'", "inspect '%s'"};
    char *folder = write_model(place, "hostile", "SentencePieceTokenizer");
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        char *line = weft_test_text(commands[i], folder);
        weft_test_write(folder, "spiece.model", rules, sizeof rules);
        expect_refused(4, line, "spiece.model: denormalizer_spec.precompiled_charsmap: expected a",
                       NULL);
        weft_test_write(folder, "spiece.model", piece, sizeof piece);
        expect_refused(4, line, "spiece.model: piece 0: expected at most 4096 bytes, found 200000",
                       NULL);
    }
}
