/* SPDX-License-Identifier: MIT */
/* Tokenizers: bytes, SentencePiece against tests/data/tokenizer, and which one a folder gets. */
#include "core/formats/json.h"
#include "support.h"
#include "tokenizer/tokenizer.h"
#include "tokenizer/unicode/text_class.h"

#define PIECES 131 /* of the model in tests/data/tokenizer */

/* ---- characters ---- */

WEFT_TEST(utf8_is_decoded_and_checked) {
    static const struct {
        const char *text;
        size_t size;
        size_t length;
        uint32_t character;
    } cases[] = {
        {"a", 1, 1, 'a'},
        {"\0", 1, 1, 0},
        {"\xc3\xa9x", 3, 2, 0xE9},
        {"\xe2\x96\x81", 3, 3, 0x2581},
        {"\xf0\x9f\xa7\xb6", 4, 4, 0x1F9F6},
        {"\xf4\x8f\xbf\xbf", 4, 4, 0x10FFFF},
        {"\xc3", 1, 1, 0xFFFD},             /* cut */
        {"\xe2\x96", 2, 1, 0xFFFD},         /* cut */
        {"\xc3(", 2, 1, 0xFFFD},            /* no continuation */
        {"\x80", 1, 1, 0xFFFD},             /* a continuation */
        {"\xc0\x80", 2, 1, 0xFFFD},         /* too long for its value */
        {"\xe0\x80\x80", 3, 1, 0xFFFD},     /* too long for its value */
        {"\xed\xa0\x80", 3, 1, 0xFFFD},     /* a surrogate */
        {"\xf4\x90\x80\x80", 4, 1, 0xFFFD}, /* above U+10FFFF */
        {"\xff", 1, 1, 0xFFFD},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint32_t character = 1;
        assert_int_equal(weft_utf8_decode(cases[i].text, cases[i].size, &character),
                         cases[i].length);
        assert_int_equal(character, cases[i].character);
    }
    assert_int_equal(weft_utf8_last("x\xf0\x9f\xa7\xb6", 5), 4);
    assert_int_equal(weft_utf8_last("\xc3\xa9", 2), 2);
    assert_int_equal(weft_utf8_last("\xc3\xa9z", 3), 1);
    assert_int_equal(weft_utf8_last("a\xa9", 2), 1);
    assert_int_equal(weft_utf8_last("\x80\x80\x80\x80\x80", 5), 1);
}

WEFT_TEST(classes_are_those_of_python) {
    unsigned spaces = 0;
    unsigned digits = 0;
    for (uint32_t c = 0; c <= 0x10FFFF; c++) {
        spaces += weft_is_white_space(c);
        digits += weft_is_digit(c);
    }
    /* sum(chr(c).isspace() for c in range(0x110000)), and isdigit, of Python 3.11 */
    assert_int_equal(spaces, 29);
    assert_int_equal(digits, 788);
    static const uint32_t white[] = {' ', '\t', '\r', 0x1C, 0x85, 0xA0, 0x2003, 0x2029, 0x3000};
    for (size_t i = 0; i < sizeof white / sizeof white[0]; i++) {
        assert_true(weft_is_white_space(white[i]));
    }
    assert_false(weft_is_white_space(0x200B));
    assert_false(weft_is_white_space(0x2581));
    assert_false(weft_is_white_space(0xFEFF));
    static const uint32_t numbers[] = {'0', '9', 0xB2, 0x661, 0xFF11, 0x2460, 0x1D7FF, 0x1FBF9};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        assert_true(weft_is_digit(numbers[i]));
    }
    assert_false(weft_is_digit(0xBD)); /* one half is numeric, but no digit */
    assert_false(weft_is_digit('a'));
    assert_false(weft_is_digit(0x4E00));
}

/* ---- bytes ---- */

WEFT_TEST_ON_HOST(bytes_are_their_values, test) {
    weft_tokenizer *tokenizer = NULL;
    assert_ok(weft_tokenizer_create_bytes(&tokenizer, 256, "config.json", &test->host));
    assert_string_equal(weft_tokenizer_kind_name(tokenizer), "bytes");
    int32_t *ids = NULL;
    uint32_t count = 0;
    static const char text[] = {'h', (char)0xc3, (char)0xa9, 0, (char)0xff, '\n'};
    static const int32_t expected[] = {'h', 0xc3, 0xa9, 0, 0xff, '\n'};
    for (int special = 0; special < 2; special++) {
        assert_ok(weft_tokenizer_encode_ids(tokenizer, text, sizeof text, special == 1, 512, &ids,
                                            &count));
        assert_int_equal(count, 6);
        assert_memory_equal(ids, expected, sizeof expected);
        weft_free(&test->host, ids);
    }
    assert_ok(weft_tokenizer_encode_ids(tokenizer, text, sizeof text, true, 2, &ids, &count));
    assert_int_equal(count, 2);
    assert_memory_equal(ids, expected, 2 * sizeof *ids);
    weft_free(&test->host, ids);
    assert_ok(weft_tokenizer_encode_ids(tokenizer, text, 0, true, 512, &ids, &count));
    assert_int_equal(count, 0);
    assert_null(ids);
    assert_ok(weft_tokenizer_encode_ids(tokenizer, text, 3, true, 0, &ids, &count));
    assert_int_equal(count, 0);
    assert_null(ids);
    weft_test_host_reset(test);
    test->fail_at = 1;
    assert_int_equal(weft_tokenizer_encode_ids(tokenizer, text, 3, true, 9, &ids, &count),
                     WEFT_OUT_OF_HOST_MEMORY);
    weft_tokenizer_destroy(&tokenizer);
    assert_null(tokenizer);
    weft_tokenizer_destroy(&tokenizer);

    WEFT_EXPECT_REFUSED(test, WEFT_BAD_FILE,
                        weft_tokenizer_create_bytes(&tokenizer, 255, "config.json", &test->host),
                        "config.json", "\"vocab_size\"", "256", "found 255");
    weft_test_host_reset(test);
    test->fail_at = 1;
    assert_int_equal(weft_tokenizer_create_bytes(&tokenizer, 256, "config.json", &test->host),
                     WEFT_OUT_OF_HOST_MEMORY);
    assert_null(tokenizer);
}

/* ---- folders ---- */

static void expect_none(struct weft_test_host *test, const char *folder,
                        const weft_tokenizer_settings *config, const char *reason) {
    weft_tokenizer *tokenizer = NULL;
    weft_test_host_reset(test);
    assert_ok(weft_tokenizer_load(&tokenizer, folder, config, &test->host));
    assert_string_equal(weft_test_log(test), "");
    assert_string_equal(weft_tokenizer_kind_name(tokenizer), "none");
    int32_t *ids = NULL;
    uint32_t count = 0;
    WEFT_EXPECT_REFUSED(test, WEFT_UNSUPPORTED,
                        weft_tokenizer_encode_ids(tokenizer, "a", 1, true, 9, &ids, &count),
                        "no tokenizer", folder, reason);
    assert_null(ids);
    weft_tokenizer_destroy(&tokenizer);
}

WEFT_TEST_ON_HOST(folders_without_a_tokenizer_say_so_when_asked, test) {
    char *folder = weft_test_folder();
    weft_tokenizer_settings config = {.vocabulary = 300};
    char unknown[] = "BertTokenizer";
    expect_none(test, folder, &config, "spiece.model");
    config.kind = WEFT_TOKENIZER_SENTENCEPIECE;
    expect_none(test, folder, &config, "spiece.model");
    config.kind = WEFT_TOKENIZER_UNKNOWN;
    config.class_name = unknown;
    expect_none(test, folder, &config, "BertTokenizer");
    config.kind = WEFT_TOKENIZER_BYTES;
    weft_tokenizer *tokenizer = NULL;
    assert_ok(weft_tokenizer_load(&tokenizer, folder, &config, &test->host));
    assert_string_equal(weft_tokenizer_kind_name(tokenizer), "bytes");
    weft_tokenizer_destroy(&tokenizer);
    config.vocabulary = 100;
    WEFT_EXPECT_REFUSED(test, WEFT_BAD_FILE,
                        weft_tokenizer_load(&tokenizer, folder, &config, &test->host), folder,
                        "found 100");

    config.kind = WEFT_TOKENIZER_UNSPECIFIED;
    static const char other[] =
        "{\"pre_tokenizer\":{\"type\":\"UnicodeScripts\"},"
        "\"model\":{\"type\":\"WordLevel\",\"vocab\":{\"a\":0},\"unk_token\":\"a\"}}";
    weft_test_write(folder, "tokenizer.json", other, sizeof other - 1);
    expect_none(test, folder, &config, "UnicodeScripts");
    weft_test_write(folder, "tokenizer.json", other, 30);
    WEFT_EXPECT_REFUSED(test, WEFT_BAD_FILE,
                        weft_tokenizer_load(&tokenizer, folder, &config, &test->host), folder,
                        "tokenizer.json");
}

/* ---- BERT's normalizer ---- */

enum { BERT_TOKENS = 3 };

static void expect_bert(struct weft_test_host *test, const char *lowercase, const char *fields,
                        const int32_t expected[BERT_TOKENS]) {
    char *folder = weft_test_folder();
    const weft_tokenizer_settings config = {.kind = WEFT_TOKENIZER_UNSPECIFIED, .vocabulary = 7};
    const char *text = "Hello Caf\xc3\xa9";
    char *json = weft_test_text(
        "{\"normalizer\":{\"type\":\"BertNormalizer\",\"clean_text\":true,"
        "\"handle_chinese_chars\":true,\"strip_accents\":null,\"lowercase\":%s},"
        "\"pre_tokenizer\":{\"type\":\"BertPreTokenizer\"},\"model\":{\"type\":\"WordPiece\","
        "\"unk_token\":\"[UNK]\",\"continuing_subword_prefix\":\"##\","
        "\"max_input_chars_per_word\":100,\"vocab\":{\"[UNK]\":0,\"hello\":1,\"Hello\":2,"
        "\"caf\":3,\"Caf\":4,\"##\xc3\xa9\":5,\"##e\":6}}}",
        lowercase);
    weft_tokenizer *tokenizer = NULL;
    int32_t *ids = NULL;
    uint32_t count = 0;
    weft_test_write(folder, "tokenizer.json", json, strlen(json));
    weft_test_write(folder, "tokenizer_config.json", fields, strlen(fields));
    assert_ok(weft_tokenizer_load(&tokenizer, folder, &config, &test->host));
    assert_ok(weft_tokenizer_encode_ids(tokenizer, text, strlen(text), false, 9, &ids, &count));
    assert_int_equal(count, BERT_TOKENS);
    assert_memory_equal(ids, expected, BERT_TOKENS * sizeof *ids);
    weft_free(&test->host, ids);
    weft_tokenizer_destroy(&tokenizer);
}

/* The tokens of transformers 5.24's AutoTokenizer on these folders. */
WEFT_TEST_ON_HOST(tokenizer_config_decides_what_bert_lowers, test) {
    static const int32_t lower[] = {1, 3, 6}, whole[] = {2, 4, 5}, stripped[] = {2, 4, 6};
    const char *const json[] = {"true", "false"};
    for (size_t i = 0; i < 2; i++) {
        const int32_t *own = i == 0 ? lower : whole; /* what tokenizer.json says */
        expect_bert(test, json[i], "{}", own);
        expect_bert(test, json[i], "{\"do_lower_case\":true}", lower);
        expect_bert(test, json[i], "{\"do_lower_case\":false}", whole);
        expect_bert(test, json[i], "{\"tokenizer_class\":\"BertTokenizer\"}", lower);
        expect_bert(test, json[i],
                    "{\"tokenizer_class\":\"BertTokenizerFast\",\"do_lower_case\":false}", whole);
        expect_bert(test, json[i],
                    "{\"tokenizer_class\":\"MPNetTokenizer\",\"do_lower_case\":false,"
                    "\"strip_accents\":true}",
                    stripped);
        expect_bert(test, json[i],
                    "{\"tokenizer_class\":\"PreTrainedTokenizerFast\",\"do_lower_case\":false}",
                    own);
    }
}

/* ---- SentencePiece ---- */

struct golden {
    json_t *root;
    json_t *cases;
    weft_tokenizer *tokenizer;
};

static void golden_begin(struct golden *golden, struct weft_test_host *test) {
    char *expected = weft_test_data("tokenizer/expected.json");
    char *model = weft_test_data("tokenizer/spiece.model");
    golden->root = json_load_file(expected, 0, NULL);
    assert_non_null(golden->root);
    golden->cases = json_object_get(golden->root, "cases");
    assert_true(json_array_size(golden->cases) > 20);
    assert_int_equal(json_integer_value(json_object_get(golden->root, "pieces")), PIECES);
    golden->tokenizer = NULL;
    if (weft_tokenizer_open_sentencepiece(&golden->tokenizer, model, PIECES, &test->host) !=
        WEFT_OK) {
        fail_msg("%s", weft_test_log(test));
    }
}

static void golden_end(struct golden *golden) {
    json_decref(golden->root);
    weft_tokenizer_destroy(&golden->tokenizer);
}

WEFT_TEST_ON_HOST(texts_get_the_ids_of_the_reference, test) {
    struct golden golden;
    golden_begin(&golden, test);
    assert_string_equal(weft_tokenizer_kind_name(golden.tokenizer), "sentencepiece");
    size_t index;
    json_t *entry;
    json_array_foreach(golden.cases, index, entry) {
        const json_t *text = json_object_get(entry, "text");
        const json_t *expected = json_object_get(entry, "ids");
        /* Exactly as long as the text: a read past it would be seen. */
        size_t size = json_string_length(text);
        char *exact = malloc(size > 0 ? size : 1);
        assert_non_null(exact);
        memcpy(exact, json_string_value(text), size);
        for (uint32_t special = 0; special < 2; special++) {
            int32_t *ids = NULL;
            uint32_t count = 0;
            assert_ok(weft_tokenizer_encode_ids(golden.tokenizer, exact, size, special == 1, 1000,
                                                &ids, &count));
            assert_int_equal(count, json_array_size(expected) + 2 * special);
            for (uint32_t i = 0; i < json_array_size(expected); i++) {
                if (ids[i + special] != json_integer_value(json_array_get(expected, i))) {
                    fail_msg("text %zu, \"%s\": id %u is %d, not %d", index,
                             json_string_value(text), (unsigned)i, (int)ids[i + special],
                             (int)json_integer_value(json_array_get(expected, i)));
                }
            }
            if (special == 1) {
                assert_int_equal(ids[0], 4);         /* [CLS] */
                assert_int_equal(ids[count - 1], 5); /* [SEP] */
            }
            weft_free(&test->host, ids);
        }
        free(exact);
    }
    assert_string_equal(weft_test_log(test), "");
    golden_end(&golden);
}

static char *decode(const weft_tokenizer *tokenizer, const int32_t *ids, uint32_t count) {
    char *text = NULL;
    size_t size = 0;
    assert_ok(weft_tokenizer_decode(tokenizer, ids, count, &text, &size));
    assert_int_equal(strlen(text), size);
    return text;
}

/* What comes back is the text as it was prepared; special tokens and those that are none have no text. */
WEFT_TEST_ON_HOST(ids_become_texts_again, test) {
    static const int32_t around[] = {4, 10, 7, 34, 39, 8, 10, 7, 32, 16, 5, -1, PIECES, INT32_MAX};
    struct golden golden;
    golden_begin(&golden, test);
    char *text = decode(golden.tokenizer, around, sizeof around / sizeof around[0]);
    assert_string_equal(text, "the weaver holds the warp.");
    weft_free(&test->host, text);
    text = decode(golden.tokenizer, around, 0);
    assert_string_equal(text, "");
    weft_free(&test->host, text);
    golden_end(&golden);
}

/* The library's own pieces: white space is its business, and the names of special pieces are text. */
WEFT_TEST_ON_HOST(plain_pieces_have_no_special_tokens, test) {
    weft_tokenizer *tokenizer = NULL;
    int32_t *ids = NULL;
    uint32_t count = 0;
    assert_ok(weft_tokenizer_open_pieces(&tokenizer, weft_test_data("tokenizer/spiece.model"),
                                         PIECES, &test->host));
    assert_string_equal(weft_tokenizer_kind_name(tokenizer), "sentencepiece");
    assert_ok(weft_tokenizer_encode_ids(tokenizer, "the weaver holds the warp.", 26, true, 1000,
                                        &ids, &count));
    static const int32_t expected[] = {10, 7, 34, 39, 8, 10, 7, 32, 16};
    assert_int_equal(count, sizeof expected / sizeof expected[0]);
    assert_memory_equal(ids, expected, sizeof expected);
    char *text = decode(tokenizer, ids, count);
    assert_string_equal(text, "the weaver holds the warp.");
    weft_free(&test->host, text);
    weft_free(&test->host, ids);
    assert_ok(weft_tokenizer_encode_ids(tokenizer, "the weaver holds", 16, true, 3, &ids, &count));
    assert_int_equal(count, 3);
    assert_memory_equal(ids, expected, 3 * sizeof *ids);
    weft_free(&test->host, ids);
    weft_tokenizer_destroy(&tokenizer);
}

/* The first ids of the whole, with [SEP] behind them where special tokens are asked for. */
WEFT_TEST_ON_HOST(cuts_keep_the_special_tokens, test) {
    struct golden golden;
    golden_begin(&golden, test);
    size_t index;
    json_t *entry;
    json_array_foreach(golden.cases, index, entry) {
        const char *text = json_string_value(json_object_get(entry, "text"));
        const json_t *expected = json_object_get(entry, "ids");
        for (uint32_t maximum = 0; maximum <= json_array_size(expected) + 3; maximum++) {
            for (uint32_t special = 0; special < 2; special++) {
                int32_t *ids = NULL;
                uint32_t count = 0;
                weft_status status = weft_tokenizer_encode_ids(golden.tokenizer, text, strlen(text),
                                                               special == 1, maximum, &ids, &count);
                if (special == 1 && maximum < 2) {
                    assert_status(status, WEFT_INVALID_ARGUMENT);
                    weft_test_expect_log(test, "at least 2");
                    continue;
                }
                assert_ok(status);
                uint32_t whole = (uint32_t)json_array_size(expected) + 2 * special;
                assert_int_equal(count, whole < maximum ? whole : maximum);
                assert_true((count == 0) == (!ids));
                for (uint32_t i = special; i + special < count; i++) {
                    assert_int_equal(ids[i],
                                     json_integer_value(json_array_get(expected, i - special)));
                }
                if (special == 1) {
                    assert_int_equal(ids[0], 4);
                    assert_int_equal(ids[count - 1], 5);
                }
                weft_free(&test->host, ids);
            }
        }
    }
    golden_end(&golden);
}

WEFT_TEST_ON_HOST(text_that_is_not_utf8_is_encoded_all_the_same, test) {
    struct golden golden;
    golden_begin(&golden, test);
    for (unsigned round = 0; round < 256; round++) {
        char text[64];
        memcpy(text, "the weaver \0 holds 1,000, [MASK] threads", 41);
        text[round % 41] = (char)round;
        text[(round * 7 + 3) % 41] = (char)(0xff - round);
        int32_t *ids = NULL;
        uint32_t count = 0;
        assert_ok(weft_tokenizer_encode_ids(golden.tokenizer, text, 41, true, 100, &ids, &count));
        assert_true(count > 2);
        for (uint32_t i = 0; i < count; i++) {
            assert_in_range(ids[i], 0, PIECES - 1);
        }
        weft_free(&test->host, ids);
    }
    golden_end(&golden);
}

WEFT_TEST_ON_HOST(long_texts_are_encoded_or_refused, test) {
    struct golden golden;
    golden_begin(&golden, test);
    size_t size = WEFT_TOKENIZER_MAX_TEXT + 1;
    char *text = malloc(size);
    assert_non_null(text);
    memset(text, 'a', size);
    int32_t *ids = NULL;
    uint32_t count = 0;
    WEFT_EXPECT_REFUSED(
        test, WEFT_INVALID_ARGUMENT,
        weft_tokenizer_encode_ids(golden.tokenizer, text, size, true, 9, &ids, &count),
        "at most 67108864 bytes", "found 67108865");
    for (size_t i = 0; i < 100000; i += 4) {
        memcpy(text + i, "the ", 4);
    }
    assert_ok(
        weft_tokenizer_encode_ids(golden.tokenizer, text, 100000, false, UINT32_MAX, &ids, &count));
    assert_int_equal(count, 50000); /* "▁th", "e" */
    for (uint32_t i = 2; i < count; i++) {
        assert_int_equal(ids[i], ids[i - 2]);
    }
    weft_free(&test->host, ids);
    free(text);
    golden_end(&golden);
}

WEFT_TEST_ON_HOST(wrong_models_are_refused, test) {
    char *folder = weft_test_folder();
    char *model = weft_test_data("tokenizer/spiece.model");
    weft_tokenizer *tokenizer = NULL;
    WEFT_EXPECT_REFUSED(
        test, WEFT_BAD_FILE,
        weft_tokenizer_open_sentencepiece(&tokenizer, model, PIECES - 1, &test->host), model,
        "at most 130 pieces", "found 131");
    assert_int_equal(weft_tokenizer_open_sentencepiece(&tokenizer, weft_test_absent("spiece.model"),
                                                       9, &test->host),
                     WEFT_NOT_FOUND);

    size_t size = 0;
    uint8_t *bytes = weft_test_read(model, &size);
    struct {
        const char *name;
        size_t size;
    } cuts[] = {{"empty.model", 0}, {"one.model", 1}, {"half.model", size / 2}};
    for (size_t i = 0; i < sizeof cuts / sizeof cuts[0]; i++) {
        char *path = weft_test_write(folder, cuts[i].name, bytes, cuts[i].size);
        WEFT_EXPECT_REFUSED(
            test, WEFT_BAD_FILE,
            weft_tokenizer_open_sentencepiece(&tokenizer, path, PIECES, &test->host), path,
            "SentencePiece");
    }
    /* A model without [SEP]: the piece gets another name of the same length. */
    size_t at = 0;
    while (memcmp(bytes + at, "[SEP]", 5) != 0) {
        at++;
    }
    memcpy(bytes + at, "[sep]", 5);
    char *other = weft_test_write(folder, "other.model", bytes, size);
    WEFT_EXPECT_REFUSED(test, WEFT_BAD_FILE,
                        weft_tokenizer_open_sentencepiece(&tokenizer, other, PIECES, &test->host),
                        other, "expected a piece [SEP]");
    assert_null(tokenizer);
    free(bytes);
}

WEFT_TEST_ON_HOST(settings_of_the_folder_are_checked, test) {
    char *folder = weft_test_folder();
    char *model = weft_test_data("tokenizer/spiece.model");
    size_t size = 0;
    uint8_t *bytes = weft_test_read(model, &size);
    weft_test_write(folder, "spiece.model", bytes, size);
    weft_tokenizer_settings config = {.vocabulary = PIECES};
    static const struct {
        const char *text;
        weft_status status;
        const char *field;
    } cases[] = {
        {NULL, WEFT_OK, NULL},
        {"{}", WEFT_OK, NULL},
        {"{\"do_lower_case\":false,\"keep_accents\":true,\"remove_space\":true,\"padding_side\":"
         "\"right\"}",
         WEFT_OK, NULL},
        {"{\"do_lower_case\":true}", WEFT_UNSUPPORTED, "\"do_lower_case\": expected false"},
        {"{\"keep_accents\":false}", WEFT_UNSUPPORTED, "\"keep_accents\": expected true"},
        {"{\"remove_space\":false}", WEFT_UNSUPPORTED, "\"remove_space\": expected true"},
        {"{\"keep_accents\":1}", WEFT_BAD_FILE, "\"keep_accents\""},
        {"{", WEFT_BAD_FILE, "tokenizer_config.json:1:"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (cases[i].text) {
            weft_test_write(folder, "tokenizer_config.json", cases[i].text, strlen(cases[i].text));
        }
        weft_tokenizer *tokenizer = NULL;
        weft_test_host_reset(test);
        assert_int_equal(weft_tokenizer_load(&tokenizer, folder, &config, &test->host),
                         cases[i].status);
        if (cases[i].status == WEFT_OK) {
            assert_string_equal(weft_test_log(test), "");
            assert_string_equal(weft_tokenizer_kind_name(tokenizer), "sentencepiece");
        } else {
            weft_test_expect_log(test, folder, cases[i].field);
        }
        weft_tokenizer_destroy(&tokenizer);
    }
    free(bytes);
}

WEFT_TEST_ON_HOST(every_failing_allocation_is_survived, test) {
    char *folder = weft_test_data("tokenizer");
    weft_tokenizer_settings config = {.vocabulary = PIECES};
    static const char text[] = "x10, 2,000,000, [MASK] the weaver holds the warp";
    weft_status status = WEFT_OUT_OF_HOST_MEMORY;
    while (weft_test_next_failure(test, status)) {
        weft_tokenizer *tokenizer = NULL;
        int32_t *ids = NULL;
        uint32_t count = 0;
        status = weft_tokenizer_load(&tokenizer, folder, &config, &test->host);
        if (status == WEFT_OK) {
            status = weft_tokenizer_encode_ids(tokenizer, text, sizeof text - 1, true, 512, &ids,
                                               &count);
        }
        if (status != WEFT_OK) {
            weft_test_expect_log(test, "out of memory");
            assert_null(ids);
        }
        weft_free(&test->host, ids);
        weft_tokenizer_destroy(&tokenizer);
        assert_int_equal(test->live, 0);
    }
    assert_true(test->failures >= 9);
}
