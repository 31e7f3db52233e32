/* SPDX-License-Identifier: MIT */
/* Records of CSV, TSV and JSON Lines, as RFC 4180 and Python's csv read them, and what is refused by its line. */
#include "core/formats/table.h"
#include "support.h"

/* All texts of a table, with "|" behind each and its id in front; or the error. */
static weft_status read_all(char out[512], weft_table_format format, const char *id_field,
                            const char *given, size_t given_size) {
    struct weft_table table = {
        .format = format, .path = "t", .field = "text", .id_field = id_field, .line = 1};
    char *bytes = weft_test_keep(given_size + 1);
    weft_status status = WEFT_OK;
    size_t at = 0;
    out[0] = '\0';
    memcpy(bytes, given, given_size);
    while (status == WEFT_OK && at < given_size) {
        struct weft_table_search search = {0};
        struct weft_table_text text, id;
        size_t length = 0, next = 0;
        assert_true(weft_table_find_end(&search, format, bytes + at, given_size - at, true, &length,
                                        &next));
        status = weft_table_take(&table, bytes + at, length, &text, &id);
        if (status == WEFT_OK && text.bytes) {
            const size_t used = strlen(out);
            snprintf(out + used, 512 - used, "%.*s%s%.*s|", (int)id.size, id.bytes ? id.bytes : "",
                     id.bytes ? "=" : "", (int)text.size, text.bytes);
        }
        at += next;
        table.line++;
    }
    weft_table_clear(&table);
    return status;
}

#define EXPECT(format, id, given, expected)                             \
    do {                                                                \
        char out[512];                                                  \
        assert_ok(read_all(out, format, id, given, sizeof(given) - 1)); \
        assert_string_equal(out, expected);                             \
    } while (0)

#define REFUSE(format, id, given)                                                             \
    do {                                                                                      \
        char out[512];                                                                        \
        assert_int_equal(read_all(out, format, id, given, sizeof(given) - 1), WEFT_BAD_FILE); \
    } while (0)

WEFT_TEST(csv_is_that_of_the_rfc) {
    EXPECT(WEFT_TABLE_CSV, NULL, "text\na\nb", "a|b|");
    EXPECT(WEFT_TABLE_CSV, NULL, "n,text\r\n1,a\r\n2,\r\n\r\n3,b", "a||b|");
    EXPECT(WEFT_TABLE_CSV, "n", "n,text\n1,\"a, \"\"b\"\"\n\r\nc\"\n,x\n",
           "\"1\"=a, \"b\"\n\r\nc|\"\"=x|");
    EXPECT(WEFT_TABLE_CSV, "text", "text,text2\n\"\",b\n", "\"\"=|");
    EXPECT(WEFT_TABLE_CSV, NULL, "\xEF\xBB\xBFtext\na\n", "a|");
    EXPECT(WEFT_TABLE_CSV, NULL, "text\n\"\"\n\n\"a\"\n", "|a|");
    EXPECT(WEFT_TABLE_CSV, NULL, "\"te\"\"xt\",\"text\"\n1,2", "2|");
    EXPECT(WEFT_TABLE_CSV, NULL, "text", "");
    EXPECT(WEFT_TABLE_CSV, NULL, "", "");
}

WEFT_TEST(csv_that_is_none_is_refused) {
    REFUSE(WEFT_TABLE_CSV, NULL, "other\na\n");
    REFUSE(WEFT_TABLE_CSV, NULL, "text,text\na,b\n");
    REFUSE(WEFT_TABLE_CSV, "id", "text\na\n");
    REFUSE(WEFT_TABLE_CSV, NULL, "text,b\na\n");
    REFUSE(WEFT_TABLE_CSV, NULL, "text\na,b\n");
    REFUSE(WEFT_TABLE_CSV, NULL, "text\na\"b\n");
    REFUSE(WEFT_TABLE_CSV, NULL, "text\n\"a\"b\n");
    REFUSE(WEFT_TABLE_CSV, NULL, "text\n\"a\n");
}

WEFT_TEST(tsv_has_no_quotes) {
    EXPECT(WEFT_TABLE_TSV, "id", "id\ttext\n7\t\"a\" , b\n\t\n", "\"7\"=\"a\" , b|\"\"=|");
    REFUSE(WEFT_TABLE_TSV, NULL, "id\ttext\n7\ta\tb\n");
}

WEFT_TEST(json_lines_have_objects) {
    EXPECT(WEFT_TABLE_JSONL, "id",
           "{\"text\": \"a\\nb\", \"id\": 7, \"more\": [1, {}]}\n "
           "\t\r\n{\"id\":\"x\\\"\",\"text\":\"\"}",
           "7=a\nb|\"x\\\"\"=|");
    EXPECT(WEFT_TABLE_JSONL, "id", "{\"text\": \"\xC3\xA4\", \"id\": 1.5}\n", "1.5=\xC3\xA4|");
    REFUSE(WEFT_TABLE_JSONL, NULL, "{\"text\": 7}\n");
    REFUSE(WEFT_TABLE_JSONL, NULL, "{\"texts\": \"a\"}\n");
    REFUSE(WEFT_TABLE_JSONL, NULL, "{\"text\": null}\n");
    REFUSE(WEFT_TABLE_JSONL, "id", "{\"text\": \"a\"}\n");
    REFUSE(WEFT_TABLE_JSONL, "id", "{\"text\": \"a\", \"id\": [1]}\n");
    REFUSE(WEFT_TABLE_JSONL, NULL, "{\"text\": \"a\"} {\"text\": \"b\"}\n");
    REFUSE(WEFT_TABLE_JSONL, NULL, "[\"a\"]\n");
    REFUSE(WEFT_TABLE_JSONL, NULL, "{\"text\": \"a\", \"text\": \"b\"}\n");
}

WEFT_TEST(names_say_the_format) {
    weft_table_format format = WEFT_TABLE_CSV;
    assert_true(weft_table_format_of(&format, "a/b.jsonl") && format == WEFT_TABLE_JSONL);
    assert_true(weft_table_format_of(&format, "b.ndjson") && format == WEFT_TABLE_JSONL);
    assert_true(weft_table_format_of(&format, "b.tsv") && format == WEFT_TABLE_TSV);
    assert_true(weft_table_format_of(&format, "b.csv") && format == WEFT_TABLE_CSV);
    assert_false(weft_table_format_of(&format, "b.txt") || weft_table_format_of(&format, "csv"));
}
