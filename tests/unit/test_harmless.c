/* SPDX-License-Identifier: MIT */
/* Text of somebody else, as it is shown. The characters are Unicode's by number, the forms those of core/harmless.h. */
#include <jansson.h>

#include "core/formats/json.h"
#include "core/text.h"
#include "support.h"

static const weft_host c_library = {0};

static char *shown(const char *bytes, size_t size, enum weft_harmless_form form, const char *kept) {
    struct weft_text text = {.host = c_library};
    weft_text_add_harmless(&text, bytes, size, form, kept);
    char *all = weft_text_take(&text);
    assert_non_null(all);
    char *copy = weft_test_text("%s", all);
    weft_free(&c_library, all);
    return copy;
}

struct row {
    const char *bytes, *expected;
};

static void expect_rows(const struct row *rows, size_t count) {
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(shown(rows[i].bytes, strlen(rows[i].bytes), WEFT_HARMLESS_TEXT, ""),
                            rows[i].expected);
    }
}

WEFT_TEST(what_steers_is_escaped) {
    static const struct row rows[] = {
        {"\x1b]0;title\x07", "\\x1b]0;title\\x07"}, /* a window's title */
        {"\x1b[2J\x1b[31m", "\\x1b[2J\\x1b[31m"},
        {"a\nb\rc\td\be", "a\\nb\\rc\\td\\x08e"},
        {"\x7f", "\\x7f"},
        {"\xc2\x9b"
         "31m",
         "\\u009b31m"}, /* C1: CSI in one character */
        {"\xc2\x85", "\\u0085"},
        {"\xe2\x80\xae"
         "exe.txt",
         "\\u202eexe.txt"}, /* right-to-left override */
        {"\xe2\x81\xa6\xe2\x81\xa9", "\\u2066\\u2069"},
        {"\xe2\x80\x8e\xe2\x80\x8f\xd8\x9c", "\\u200e\\u200f\\u061c"},
        {"\xe2\x80\xa8\xe2\x80\xa9", "\\u2028\\u2029"},
        {"a\xe2\x80\x8b"
         "b\xef\xbb\xbf",
         "a\\u200bb\\ufeff"},
        {"\xf3\xa0\x81\x81\xf3\xa0\x81\xbf", "\\U000e0041\\U000e007f"}, /* tags */
    };
    expect_rows(rows, sizeof rows / sizeof rows[0]);
}

WEFT_TEST(text_in_any_language_stays) {
    static const char *const texts[] = {
        "plain ~ text \\ with {} \"quotes\"",
        ("Gr\xc3\xbc\xc3\x9f"               /* or the next letter would be a digit */
         "e \xc2\xa0 \xc2\xad"),            /* U+00A0 is behind the last of C1 */
        "\xe4\xbd\xa0\xe5\xa5\xbd",         /* Chinese */
        "\xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d", /* Hebrew */
        "\xd9\x85\xdb\x8c\xe2\x80\x8c\xd8\xae\xd9\x88\xd8\xa7\xd9\x87\xd9\x85",          /* ZWNJ */
        "\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x94\xac \xf0\x9f\x87\xa9\xf0\x9f\x87\xaa", /* ZWJ */
        "\xf4\x8f\xbf\xbd\xed\x9f\xbf\xee\x80\x80",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        assert_string_equal(shown(texts[i], strlen(texts[i]), WEFT_HARMLESS_TEXT, ""), texts[i]);
    }
}

WEFT_TEST(bytes_that_are_no_utf8_are_shown_one_by_one) {
    static const struct row rows[] = {
        {"\x9b"
         "31m",
         "\\x9b31m"},                                 /* C1 as Latin-1 has it */
        {"\xc0\x9b", "\\xc0\\x9b"},                   /* too long a form of ESC */
        {"\xe0\x80\x9b", "\\xe0\\x80\\x9b"},          /* the same in three */
        {"\xed\xa0\x80", "\\xed\\xa0\\x80"},          /* a surrogate */
        {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"}, /* beyond U+10FFFF */
        {"\xf5\xff\xfe", "\\xf5\\xff\\xfe"},
        {"a\xe2\x82", "a\\xe2\\x82"}, /* cut */
        {"\xe2\x82"
         "A\xc3",
         "\\xe2\\x82A\\xc3"},
    };
    expect_rows(rows, sizeof rows / sizeof rows[0]);
}

WEFT_TEST(what_a_format_needs_is_kept) {
    assert_string_equal(shown("a\nb\tc\x1b", 6, WEFT_HARMLESS_TEXT, "\n\t"), "a\nb\tc\\x1b");
    assert_string_equal(shown("a\nb\tc", 5, WEFT_HARMLESS_TEXT, "\n"), "a\nb\\tc");
    assert_string_equal(shown("a\0b", 3, WEFT_HARMLESS_TEXT, "\n"), "a\\x00b");
    assert_string_equal(shown("\x1b\xe2\x80\xae\xff", 5, WEFT_HARMLESS_UTF8, ""),
                        "\x1b\xe2\x80\xae\\xff");
}

/* Every character there is, and every pair of bytes: what comes out is UTF-8 without anything that steers, but "\n". */
WEFT_TEST(nothing_else_comes_out) {
    char text[WEFT_HARMLESS_SIZE];
    for (unsigned first = 0; first < 256; first++) {
        for (unsigned second = 0; second < 256; second++) {
            const char bytes[] = {(char)first, (char)second};
            size_t length = 0;
            const size_t taken =
                weft_harmless_character(text, &length, bytes, 2, WEFT_HARMLESS_TEXT, "\n");
            assert_in_range(taken, 1, 2);
            assert_in_range(length, 1, WEFT_HARMLESS_SIZE - 1);
            assert_int_equal(strlen(text), length);
            for (const char *at = text; *at != '\0'; at++) {
                const unsigned byte = (unsigned char)*at;
                assert_true(byte == '\n' || (byte >= 0x20 && byte != 0x7f));
                /* C1 is c2 80 … c2 9f, and no byte of 80 … bf stands alone */
                assert_false(byte == 0xc2 && (unsigned char)at[1] < 0xa0);
                assert_false(byte >= 0x80 && byte < 0xc0 && at == text);
            }
        }
    }
}

/* JSON means the same characters, whatever they are, and has none that steers. */
WEFT_TEST(json_is_lossless_and_harmless) {
    static const char string[] =
        "\x1b]0;x\x07\n\t\x7f\xc2\x9b\xe2\x80\xae\xe2\x80\xa8\xf3\xa0\x81\x81 \xc3\xa4\"\\";
    json_t *object = json_pack("{s:s%}", "text", string, sizeof string - 1);
    char *text = weft_json_text(object, JSON_COMPACT, &c_library);
    assert_string_equal(text, "{\"text\":\"\\u001B]0;x\\u0007\\n\\t\\u007F\\u009B\\u202E\\u2028"
                              "\\uDB40\\uDC41 \xc3\xa4\\\"\\\\\"}");
    json_t *back = json_loads(text, 0, NULL);
    assert_true(json_equal(object, back));
    json_decref(back);
    json_decref(object);
    weft_free(&c_library, text);
}

WEFT_TEST(json_takes_any_bytes) {
    json_t *string = weft_json_string_of("a\0\xff\xc3\xa4\x1b", 6, &c_library);
    assert_int_equal(json_string_length(string), 9);
    assert_memory_equal(json_string_value(string), "a\0\\xff\xc3\xa4\x1b", 9);
    json_decref(string);
}

/* ---- one line in a buffer ---- */

WEFT_TEST(a_line_is_cut_between_characters) {
    static const struct {
        const char *bytes, *expected;
        size_t room;
        bool is_cut;
    } rows[] = {
        {"abcdef", "abcdef", 7, false},
        {"abcdefg", "abc…", 7, false},
        {"ab\x1b"
         "cd",
         "ab…", 7, false}, /* the escape is whole or not there */
        {"ab\x1b", "ab\\x1b", 7, false},
        {"\xc3\xa4\xc3\xa4\xc3\xa4", "\xc3\xa4\xc3\xa4\xc3\xa4", 7, false},
        {"\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4", "\xc3\xa4…", 7, false},
        {"ab\xe2\x82", "ab…", 16, true}, /* cut before it came here */
        {"ab\xe2\x82", "ab\\xe2\\x82", 16, false},
        {"ab", "ab…", 16, true},
        {"", "", 4, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[16];
        weft_harmless(text, rows[i].room, rows[i].bytes, strlen(rows[i].bytes), rows[i].is_cut);
        assert_string_equal(text, rows[i].expected);
    }
}
