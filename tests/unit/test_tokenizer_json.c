/* SPDX-License-Identifier: MIT */
/* tokenizer.json: against the package tokenizers by tests/data/tokenizer/json, what is refused, and regular expressions. */
#include "core/formats/json.h"
#include "support.h"
#include "tokenizer/json/json_tokenizer.h"
#include "tokenizer/json/normalizer.h"
#include "tokenizer/regex/regex.h"
#include "tokenizer/tokenizer.h"
#include "tokenizer/unicode/unicode.h"

/* ---- the package ---- */

static char *bytes_of_hex(const json_t *hex, size_t *size) {
    const char *text = json_string_value(hex);
    *size = strlen(text) / 2;
    char *bytes = malloc(*size + 1); /* exactly as long as the text, but never none */
    assert_non_null(bytes);
    for (size_t i = 0; i < *size; i++) {
        unsigned byte = 0;
        assert_int_equal(sscanf(text + 2 * i, "%2x", &byte), 1);
        bytes[i] = (char)byte;
    }
    return bytes;
}

static void expect_numbers(const char *name, const json_t *entry, const char *field,
                           const struct weft_encoded *found) {
    const json_t *expected = json_object_get(entry, field);
    const size_t each = strcmp(field, "offsets") == 0 ? 2 : 1;
    assert_int_equal(json_array_size(expected), found->count * each);
    for (size_t i = 0; i < found->count * each; i++) {
        const int64_t place = i % 2 == 0 ? found->begins[i / each] : found->ends[i / each];
        const int64_t token =
            strcmp(field, "ids") == 0 ? found->tokens[i / each] : found->types[i / each];
        const int64_t number = each == 2 ? place : token;
        if (number != json_integer_value(json_array_get(expected, i))) {
            fail_msg("%s, text %s: %s %zu is %lld, not %lld", name,
                     json_string_value(json_object_get(entry, "text")), field, i, (long long)number,
                     (long long)json_integer_value(json_array_get(expected, i)));
        }
    }
}

static void expect_case(const weft_tokenizer *tokenizer, const weft_host *host, const char *name,
                        const json_t *entry) {
    const json_t *pair = json_object_get(entry, "pair");
    struct weft_encode_request request = {.with_offsets = true, .maximum = UINT32_MAX};
    request.text = bytes_of_hex(json_object_get(entry, "text"), &request.size);
    request.pair = json_is_null(pair) ? NULL : bytes_of_hex(pair, &request.pair_size);
    request.no_special = !json_is_true(json_object_get(entry, "special"));
    struct weft_encoded found = {0};
    assert_ok(weft_tokenizer_encode(tokenizer, &request, &found));
    expect_numbers(name, entry, "ids", &found);
    expect_numbers(name, entry, "types", &found);
    expect_numbers(name, entry, "offsets", &found);
    size_t expected_size = 0;
    char *expected = bytes_of_hex(json_object_get(entry, "decoded"), &expected_size);
    char *text = NULL;
    size_t size = 0;
    assert_ok(weft_tokenizer_decode(tokenizer, found.tokens, found.count, &text, &size));
    if (size != expected_size || memcmp(text, expected, size) != 0) {
        fail_msg("%s: decoded \"%s\", not \"%.*s\"", name, text, (int)expected_size, expected);
    }
    weft_free(host, text);
    weft_encoded_clear(&found, host);
    free(expected);
    free((char *)request.text);
    free((char *)request.pair);
}

static weft_tokenizer *open_file(struct weft_test_host *test, const char *name) {
    char *path = weft_test_data(weft_test_text("tokenizer/json/%s.json", name));
    weft_tokenizer *tokenizer = NULL;
    if (weft_tokenizer_open_json(&tokenizer, path, &test->host) != WEFT_OK) {
        fail_msg("%s", weft_test_log(test));
    }
    return tokenizer;
}

WEFT_TEST_ON_HOST(texts_become_what_they_become_by_the_package, test) {
    json_t *all = json_load_file(weft_test_data("tokenizer/json/expected.json"), 0, NULL);
    const char *name;
    json_t *cases;
    assert_non_null(all);
    assert_int_equal(json_object_size(all), 7);
    json_object_foreach(all, name, cases) {
        weft_tokenizer *tokenizer = open_file(test, name);
        assert_string_equal(weft_tokenizer_kind_name(tokenizer), "tokenizer.json");
        size_t index;
        json_t *entry;
        assert_int_equal(json_array_size(cases), 26);
        json_array_foreach(cases, index, entry) {
            expect_case(tokenizer, &test->host, name, entry);
        }
        weft_tokenizer_destroy(&tokenizer);
    }
    json_decref(all);
}

/* ---- truncation ---- */

static void expect_kept(const weft_tokenizer *tokenizer, const weft_host *host, uint32_t maximum,
                        uint32_t first, uint32_t second) {
    const struct weft_encode_request request = {.text = "the the the the the the",
                                                .size = 23,
                                                .pair = "the the the",
                                                .pair_size = 11,
                                                .maximum = maximum};
    struct weft_encoded found = {0};
    uint32_t counts[256] = {0};
    assert_ok(weft_tokenizer_encode(tokenizer, &request, &found));
    for (uint32_t i = 0; i < found.count; i++) {
        counts[found.sequences[i]]++;
    }
    assert_int_equal(counts[0], first);
    assert_int_equal(counts[1], second);
    assert_int_equal(counts[255], 3);
    assert_int_equal(found.cut, 9 - first - second);
    weft_encoded_clear(&found, host);
}

WEFT_TEST_ON_HOST(the_longer_text_is_cut_first, test) {
    weft_tokenizer *tokenizer = open_file(test, "word_piece");
    expect_kept(tokenizer, &test->host, 100, 6, 3);
    expect_kept(tokenizer, &test->host, 12, 6, 3);
    expect_kept(tokenizer, &test->host, 11, 5, 3);
    expect_kept(tokenizer, &test->host, 9, 3, 3);
    expect_kept(tokenizer, &test->host, 8, 3, 2);
    expect_kept(tokenizer, &test->host, 4, 1, 0);
    expect_kept(tokenizer, &test->host, 3, 0, 0);
    const struct weft_encode_request request = {.text = "the", .size = 3, .pair = "", .maximum = 2};
    struct weft_encoded found = {0};
    WEFT_EXPECT_REFUSED(test, WEFT_INVALID_ARGUMENT,
                        weft_tokenizer_encode(tokenizer, &request, &found), "at least 3 tokens",
                        "found 2");
    weft_tokenizer_destroy(&tokenizer);
}

/* ---- what is refused ---- */

static weft_status create(struct weft_test_host *test, const char *text) {
    struct weft_json_tokenizer *tokenizer = NULL;
    const weft_status status =
        weft_json_tokenizer_create(&tokenizer, text, strlen(text), "t.json", &test->host);
    assert_true((status == WEFT_OK) == (tokenizer != NULL));
    weft_json_tokenizer_destroy(tokenizer);
    return status;
}

#define LEVEL "{\"type\":\"WordLevel\",\"vocab\":{\"a\":0,\"b\":1},\"unk_token\":\"a\"}"

WEFT_TEST_ON_HOST(what_is_wrong_or_unknown_is_named, test) {
    static const struct {
        weft_status status;
        const char *field;
        const char *value;
        const char *said;
    } cases[] = {
        {WEFT_OK, "model", LEVEL, NULL},
        {WEFT_UNSUPPORTED, "model", "{\"type\":\"Words\",\"vocab\":{\"a\":0}}", "\"Words\""},
        {WEFT_BAD_FILE, "model", "{\"type\":\"WordLevel\"}", "\"vocab\""},
        {WEFT_BAD_FILE, "model", "{\"type\":\"WordLevel\",\"vocab\":{}}", "found none"},
        {WEFT_BAD_FILE, "model", "{\"type\":\"WordLevel\",\"vocab\":{\"a\":0,\"b\":0}}",
         "number 0, found two"},
        {WEFT_BAD_FILE, "model", "{\"type\":\"WordLevel\",\"vocab\":{\"a\":0,\"a\":1}}",
         "a text of its own"},
        {WEFT_BAD_FILE, "model", "{\"type\":\"WordLevel\",\"vocab\":{\"a\":70000000}}",
         "found 70000000"},
        {WEFT_BAD_FILE, "model", "{\"type\":\"WordLevel\",\"vocab\":{\"a\":-1}}", "numbers"},
        {WEFT_UNSUPPORTED, "model",
         "{\"type\":\"BPE\",\"vocab\":{\"a\":0},\"merges\":[],\"dropout\":0.1}", "\"dropout\""},
        {WEFT_UNSUPPORTED, "model",
         "{\"type\":\"BPE\",\"vocab\":{\"a\":0},\"merges\":[],\"strange\":1}", "\"strange\""},
        {WEFT_BAD_FILE, "model", "{\"type\":\"BPE\",\"vocab\":{\"a\":0},\"merges\":[\"a b\"]}",
         "entry 0"},
        {WEFT_BAD_FILE, "model", "{\"type\":\"BPE\",\"vocab\":{\"a\":0},\"merges\":[\"a a a\"]}",
         "another value"},
        {WEFT_BAD_FILE, "model", "{\"type\":\"Unigram\",\"vocab\":[[\"a\",0]],\"unk_id\":1}",
         "\"unk_id\""},
        {WEFT_BAD_FILE, "model", "{\"type\":\"Unigram\",\"vocab\":[[\"a\"]]}", "entry 0"},
        {WEFT_UNSUPPORTED, "normalizer", "{\"type\":\"Odd\"}", "normalizer"},
        {WEFT_UNSUPPORTED, "normalizer", "{\"type\":\"NFC\",\"form\":2}", "\"form\""},
        {WEFT_BAD_FILE, "normalizer", "{\"type\":\"Precompiled\",\"precompiled_charsmap\":\"*\"}",
         "base64"},
        {WEFT_BAD_FILE, "normalizer",
         "{\"type\":\"Precompiled\",\"precompiled_charsmap\":\"AAAA\"}", "sound trie"},
        {WEFT_UNSUPPORTED, "pre_tokenizer", "{\"type\":\"UnicodeScripts\"}", "\"UnicodeScripts\""},
        {WEFT_UNSUPPORTED, "pre_tokenizer",
         "{\"type\":\"Split\",\"pattern\":{\"Regex\":\"(a)\\\\1\"},\"behavior\":\"Removed\"}",
         "regular expression"},
        {WEFT_UNSUPPORTED, "pre_tokenizer",
         "{\"type\":\"Split\",\"pattern\":{\"String\":\"a\"},\"behavior\":\"Kept\"}",
         "\"behavior\""},
        {WEFT_BAD_FILE, "pre_tokenizer", "{\"type\":\"Sequence\"}", "\"pretokenizers\""},
        {WEFT_UNSUPPORTED, "decoder", "{\"type\":\"CTC\"}", "\"CTC\""},
        {WEFT_BAD_FILE, "post_processor", "{\"type\":\"BertProcessing\",\"cls\":[\"a\",0]}",
         "\"sep\""},
        {WEFT_BAD_FILE, "post_processor",
         "{\"type\":\"TemplateProcessing\",\"single\":[{\"SpecialToken\":{\"id\":\"x\","
         "\"type_id\":0}}],\"pair\":[],\"special_tokens\":{}}",
         "\"special_tokens\""},
        {WEFT_BAD_FILE, "post_processor",
         "{\"type\":\"TemplateProcessing\",\"single\":[{\"Sequence\":{\"id\":\"B\","
         "\"type_id\":0}}],\"pair\":[],\"special_tokens\":{}}",
         "\"single\""},
        {WEFT_BAD_FILE, "added_tokens", "[{\"id\":9000000,\"content\":\"x\"}]", "\"id\""},
        {WEFT_UNSUPPORTED, "truncation", "{\"strategy\":\"Middle\"}", "\"strategy\""},
        {WEFT_UNSUPPORTED, "extra", "1", "\"extra\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const bool is_model = strcmp(cases[i].field, "model") == 0;
        const char *text = is_model ? weft_test_text("{\"model\":%s}", cases[i].value)
                                    : weft_test_text("{\"%s\":%s,\"model\":" LEVEL "}",
                                                     cases[i].field, cases[i].value);
        weft_test_host_reset(test);
        assert_status(create(test, text), cases[i].status);
        if (cases[i].said) {
            weft_test_expect_log(test, "t.json", cases[i].said);
        }
    }
    assert_status(create(test, "[]"), WEFT_BAD_FILE);
    assert_status(create(test, "{\"model\":" LEVEL ",\"model\":" LEVEL "}"), WEFT_BAD_FILE);
    weft_test_expect_log(test, "t.json", "found two");
    assert_status(create(test, "{}"), WEFT_BAD_FILE);
}

WEFT_TEST_ON_HOST(text_without_a_token_is_an_error_of_its_own, test) {
    static const char text[] = "{\"model\":{\"type\":\"WordLevel\",\"vocab\":{\"a\":0}}}";
    struct weft_json_tokenizer *tokenizer = NULL;
    assert_ok(weft_json_tokenizer_create(&tokenizer, text, strlen(text), "t.json", &test->host));
    struct weft_token_list list = {.host = test->host};
    assert_ok(weft_json_tokenizer_encode(tokenizer, &list, "a", 1));
    WEFT_EXPECT_REFUSED(test, WEFT_INVALID_ARGUMENT,
                        weft_json_tokenizer_encode(tokenizer, &list, "b", 1), "unknown token");
    weft_free(&test->host, list.tokens);
    weft_json_tokenizer_destroy(tokenizer);
}

static bool survive(struct weft_test_host *test, const char *path, int fail_at) {
    static const char text[] = "<s>the weaver\xFF holds,  12345 na\xC3\xAFve \xE7\xB9\x94 don't";
    weft_tokenizer *tokenizer = NULL;
    weft_test_host_reset(test);
    test->fail_at = fail_at;
    weft_status status = weft_tokenizer_open_json(&tokenizer, path, &test->host);
    if (status == WEFT_OK) {
        const struct weft_encode_request request = {
            .text = text, .size = sizeof text - 1, .with_offsets = true, .maximum = 512};
        struct weft_encoded found = {0};
        status = weft_tokenizer_encode(tokenizer, &request, &found);
        char *back = NULL;
        size_t size = 0;
        if (status == WEFT_OK) {
            status = weft_tokenizer_decode(tokenizer, found.tokens, found.count, &back, &size);
        }
        weft_free(&test->host, back);
        weft_encoded_clear(&found, &test->host);
    }
    weft_tokenizer_destroy(&tokenizer);
    assert_int_equal(test->live, 0);
    assert_true(status == WEFT_OK || status == WEFT_OUT_OF_HOST_MEMORY);
    return status == WEFT_OK;
}

WEFT_TEST_ON_HOST(every_failing_allocation_is_survived, test) {
    static const char *const names[] = {"word_piece", "byte_level", "unigram", "byte_fallback",
                                        "suffixes"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char *path = weft_test_data(weft_test_text("tokenizer/json/%s.json", names[i]));
        int fail_at = 1;
        while (!survive(test, path, fail_at)) {
            fail_at++;
        }
        assert_true(fail_at > 20);
    }
}

/* ---- a token that becomes special ---- */

static void expect_ids(const weft_tokenizer *tokenizer, const char *text, const int32_t *expected,
                       uint32_t count) {
    int32_t *ids = NULL;
    uint32_t found = 0;
    assert_ok(
        weft_tokenizer_encode_ids(tokenizer, text, strlen(text), false, UINT32_MAX, &ids, &found));
    assert_int_equal(found, count);
    assert_memory_equal(ids, expected, count * sizeof *ids);
    weft_free(weft_tokenizer_host(tokenizer), ids);
}

#define EXPECT_IDS(tokenizer, text, ...)                        \
    expect_ids(tokenizer, text, (const int32_t[]){__VA_ARGS__}, \
               (uint32_t)(sizeof((const int32_t[]){__VA_ARGS__}) / sizeof(int32_t)))

/* As the package tokenizers (0.23) cuts these behind add_special_tokens of what it has. */
WEFT_TEST_ON_HOST(a_text_becomes_a_special_token, test) {
    static const char json[] =
        "{\"normalizer\": {\"type\": \"Lowercase\"}, \"pre_tokenizer\": {\"type\": "
        "\"BertPreTokenizer\"}, \"added_tokens\": [{\"id\": 8, \"content\": \"[Q] \", "
        "\"special\": false}, {\"id\": 9, \"content\": \"Cat\", \"rstrip\": true}], "
        "\"model\": {\"type\": \"WordLevel\", \"unk_token\": \"u\", \"vocab\": {\"u\": 0, \"[\": "
        "1, "
        "\"]\": 2, \"unused\": 3, \"[unused]\": 4, \"the\": 5, \"q\": 6, \"sat\": 7}}}";
    weft_tokenizer *tokenizer = NULL;
    assert_ok(weft_tokenizer_create_json(&tokenizer, json, sizeof json - 1, "t", &test->host));
    assert_int_equal(weft_tokenizer_find(tokenizer, "[unused]"), 4);
    assert_int_equal(weft_tokenizer_find(tokenizer, "[Q] "), 8);
    assert_int_equal(weft_tokenizer_find(tokenizer, "[Q]"), -1);
    assert_int_equal(weft_tokenizer_find(tokenizer, ""), -1);
    EXPECT_IDS(tokenizer, "[unused]the", 1, 3, 2, 5);
    EXPECT_IDS(tokenizer, "[q] the Cat  sat", 8, 5, 9, 7);
    assert_ok(weft_tokenizer_make_special(tokenizer, "[unused]"));
    assert_ok(weft_tokenizer_make_special(tokenizer, "[Q] "));
    assert_ok(weft_tokenizer_make_special(tokenizer, "nowhere"));
    assert_ok(weft_tokenizer_make_special(tokenizer, ""));
    EXPECT_IDS(tokenizer, "[unused]the", 4, 5);
    EXPECT_IDS(tokenizer, "[Q] the [UNUSED]", 8, 5, 1, 3, 2);
    EXPECT_IDS(tokenizer, "[q] the Cat  sat", 1, 6, 2, 5, 9, 7); /* no longer in another form */
    const int32_t ids[] = {4, 5, 8};
    char *text = NULL;
    size_t size = 0;
    assert_ok(weft_tokenizer_decode(tokenizer, ids, 3, &text, &size)); /* specials have no text */
    assert_string_equal(text, "the");
    weft_free(&test->host, text);
    weft_tokenizer_destroy(&tokenizer);
}

/* ---- characters ---- */

/* Of the package tokenizers, which goes by the Unicode of 2015 for some of them. */
WEFT_TEST(classes_are_those_of_the_package) {
    static const uint32_t punctuation[] = {'$', '_', '~', 0xA1, 0x2014, 0x3001, 0x166D, 0xFF0C};
    static const uint32_t others[] = {'a', '0', ' ', 0xA2, 0x2E43, 0x2E52, 0x61D, 0x4E00};
    for (size_t i = 0; i < 8; i++) {
        assert_true(weft_is_punctuation(punctuation[i]));
        assert_false(weft_is_punctuation(others[i]));
    }
    assert_true(weft_is_space(0x3000) && weft_is_space(0x85) && weft_is_space('\v'));
    assert_false(weft_is_space(0x200B) || weft_is_space(0x1C) || weft_is_space(0xFEFF));
    assert_true(weft_is_word(0xE9) && weft_is_word(0x2160) && weft_is_word(0x24B6));
    assert_false(weft_is_word(0xB2) || weft_is_word(0x200D) || weft_is_word(0x2460));
    uint32_t parts[WEFT_MAX_DECOMPOSITION];
    assert_int_equal(weft_decompose(parts, 0x1E69, false), 3);
    assert_int_equal(parts[2], 0x307);
    assert_int_equal(weft_decompose(parts, 0xFB01, true), 2);
    assert_int_equal(weft_decompose(parts, 0xFB01, false), 1);
    assert_int_equal(weft_decompose(parts, 0x32FF, true), 1); /* of 2019 */
    assert_int_equal(weft_compose('e', 0x301), 0xE9);
    assert_int_equal(weft_compose(0x1100, 0x1161), 0xAC00);
    assert_int_equal(weft_compose(0x915, 0x93C), 0); /* U+0958, which no normal form has */
    assert_int_equal(weft_fold(0x17F), 's');
    assert_int_equal(weft_lower(0x130), 'i');
    for (unsigned byte = 0; byte < 256; byte++) {
        assert_int_equal(weft_byte_of_char(weft_char_of_byte((uint8_t)byte)), byte);
    }
    assert_int_equal(weft_byte_of_char(0x144), -1);
    assert_int_equal(weft_char_of_byte(' '), 0x120);
    assert_int_equal(weft_char_of_byte(0xAD), 0x143);
}

/* ---- regular expressions ---- */

static void expect_matches(struct weft_test_host *test, const char *pattern, const char *text,
                           const char *expected) {
    struct weft_regex *regex = NULL;
    if (weft_regex_create(&regex, pattern, strlen(pattern), false, "t", &test->host) != WEFT_OK) {
        fail_msg("%s: %s", pattern, weft_test_log(test));
    }
    struct weft_chars chars = {.host = test->host};
    struct weft_text found = {.host = test->host};
    struct weft_regex_work work = {.host = test->host};
    weft_chars_decode(&chars, text, strlen(text));
    struct weft_budget budget;
    weft_budget_begin(&budget, WEFT_TEXT_STEPS(chars.count), NULL, &test->host);
    weft_regex_begin(&work, &budget);
    struct weft_regex_matches matches = {0};
    while (weft_regex_find_next(regex, &work, chars.at, chars.count, &matches)) {
        weft_text_put(&found, "|", found.data ? 1 : 0);
        weft_chars_put(&found, chars.at + matches.begin, matches.end - matches.begin);
        weft_text_put(&found, "", 0);
    }
    assert_ok(work.status);
    weft_text_put(&found, "", 0);
    if (strcmp(found.data, expected) != 0) {
        fail_msg("%s on \"%s\": found \"%s\", not \"%s\"", pattern, text, found.data, expected);
    }
    weft_free(&test->host, chars.at);
    weft_free(&test->host, found.data);
    weft_free(&test->host, work.stack);
    weft_regex_destroy(regex, &test->host);
}

/* What Oniguruma finds, by hand. */
WEFT_TEST_ON_HOST(patterns_match_as_in_oniguruma, test) {
    static const char *const cases[][3] = {
        {"a|b|cd", "abcd", "a|b|cd"},
        {"a*", "aab", "aa|"},
        {"a+?", "aaa", "a|a|a"},
        {"a{2,3}", "aaaaa", "aaa|aa"},
        {"a{,2}b", "aaab", "aab"},
        {"a{x", "a{x", "a{x"},
        {"a{2}?a", "aaaa", "aaa"},
        {"(ab)+c", "ababcabc", "ababc|abc"},
        {"(?:ab){2}", "ababab", "abab"},
        {"(?:a|ab)(?:c|bcd)(d*)", "abcd", "abcd"},
        {"a++a", "aaa", ""},
        {"(?>a+)b", "aab", "aab"},
        {"(?:ab)++a", "ababa", "ababa"},
        {"a(?=b)", "abac", "a"},
        {"a(?!b)", "abac", "a"},
        {"(?<=b)a", "aba", "a"},
        {"(?<!b)a", "aba", "a"},
        {"\\s+(?!\\S)|\\s+", "a   b  ", "  | |  "},
        {"(?i:'S|x)", "'sX\xC5\xBFx", "'s|X|x"},
        {"(?i)ab|C", "AbcB", "Ab|c"},
        {"(?i:a)b", "AbAB", "Ab"},
        {"[a-c]+", "abcd", "abc"},
        {"[^a-c]+", "abcde", "de"},
        {"[]a]+", "a]b", "a]"},
        {"[a-]+", "a-b", "a-"},
        {"[\\w&&[^\\d]]+", "ab12", "ab"},
        {"[a-z&&[^b]]+", "abc", "a|c"},
        {"[[:digit:]x]+", "1x2a", "1x2"},
        {"\\p{L}+",
         "a\xC3\xA9\xE7\xB9\x94"
         "1",
         "a\xC3\xA9\xE7\xB9\x94"},
        {"\\P{L}+", "a12b", "12"},
        {"\\p{^L}+", "a12b", "12"},
        {"\\p{Lu}\\p{Ll}", "aBcD", "Bc"},
        {"[^\\s\\p{L}\\p{N}]+", "a!? 1", "!?"},
        {"^a|a$", "aa\na", "a|a|a"},
        {"\\Aa|a\\z", "aaa", "a|a"},
        {"\\bab\\b", "ab abc ab", "ab|ab"},
        {"\\Bb", "ab b", "b"},
        {".+", "ab\ncd", "ab|cd"},
        {"(?m:.+)", "ab\ncd", "ab\ncd"},
        {"\\x41\\x{1F9F5}\\u00e9", "A\xF0\x9F\xA7\xB5\xC3\xA9", "A\xF0\x9F\xA7\xB5\xC3\xA9"},
        {"\\.\\[\\\\", ".[\\", ".[\\"},
        {"\\n|\\t", "a\n\tb", "\n|\t"},
        {"\\w+", "a\xC2\xB2 \xC2\xBD", "a\xC2\xB2|\xC2\xBD"}, /* numbers of Latin-1 */
        {"\\p{Word}+", "a\xC2\xB2 \xC2\xBD", "a"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        expect_matches(test, cases[i][0], cases[i][1], cases[i][2]);
    }
}

WEFT_TEST_ON_HOST(patterns_that_weft_does_not_have_are_refused, test) {
    static const char *const patterns[] = {
        "(",          ")",     "a)",       "[a",     "[b-a]",
        "*a",         "a**",   "(a)\\1",   "\\k<a>", "(?<a>b)",
        "(?P<a>b)",   "(?#x)", "\\p{Odd}", "\\p",    "\\X",
        "\\q",        "(a*)*", "(?<=a*)b", "a{3,2}", "a{1001}",
        "(?<=a|bc)d", "\\",    "[\\",      "(?",     "[[:strange:]]",
        "a{2}+",
    };
    for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++) {
        struct weft_regex *regex = NULL;
        weft_test_host_reset(test);
        const weft_status status = weft_regex_create(&regex, patterns[i], strlen(patterns[i]),
                                                     false, "t.json: split", &test->host);
        if (status != WEFT_UNSUPPORTED) {
            fail_msg("%s: %s", patterns[i], weft_status_name(status));
        }
        assert_null(regex);
        weft_test_expect_log(test, "t.json: split", "regular expression");
    }
}

/* Exponential for a matcher that does not count its steps. */
WEFT_TEST_ON_HOST(matching_is_bounded, test) {
    static const char *const patterns[] = {"(a|a)*b", "(a+a+)+b", "(?:(?:a|aa)+)+b"};
    for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++) {
        struct weft_regex *regex = NULL;
        assert_ok(
            weft_regex_create(&regex, patterns[i], strlen(patterns[i]), false, "t", &test->host));
        struct weft_char text[300];
        for (uint32_t j = 0; j < 300; j++) {
            text[j] = (struct weft_char){'a', j, j + 1};
        }
        struct weft_regex_work work = {.host = test->host};
        uint32_t begin = 0;
        uint32_t end = 0;
        struct weft_budget budget;
        weft_budget_begin(&budget, WEFT_TEXT_STEPS(300), NULL, &test->host);
        weft_regex_begin(&work, &budget);
        assert_false(weft_regex_find(regex, &work, text, 300, 0, &begin, &end));
        assert_status(work.status, WEFT_INVALID_ARGUMENT);
        weft_free(&test->host, work.stack);
        weft_regex_destroy(regex, &test->host);
    }
}
