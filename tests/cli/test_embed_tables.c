/* SPDX-License-Identifier: MIT */
/* weft-test: one device */
/* weft embed and rerank of tables, with ids; vectors as JSON Lines; weft search of what embed writes. */
#include <unistd.h>

#include "cli/sentence_folder.h"

#define POOLING "{'pooling_mode_mean_tokens': true}"

static const char lines[] = "abc\na, \"b\"\nz\nabc\n";
static const char csv[] = "id,text\n7,abc\n\"x \"\"y\"\"\",\"a, \"\"b\"\"\"\n,z\n9,abc";
static const char tsv[] = "text\tid\r\nabc\t7\r\na, \"b\"\tx \"y\"\r\nz\t\r\n\r\nabc\t9\r\n";
static const char jsonl[] =
    "{\"id\": 7, \"text\": \"abc\"}\n{\"text\": \"a, \\\"b\\\"\", \"id\": \"x \\\"y\\\"\"}\n\n"
    "{\"id\": \"\", \"text\": \"z\"}\n{\"id\": 9, \"text\": \"abc\"}\n";

enum { TEXTS = 4 };

static float *embed_lines(struct place *place, const char *model) {
    char *file = weft_test_write(place->folder, "lines.txt", lines, sizeof lines - 1);
    json_decref(run_json("", "embed %s --lines %s --out %s", model, file, place->out));
    return read_reals(place->out, TEXTS * HIDDEN);
}

PLACE_TEST(tables_give_what_lines_give, place) {
    static const struct {
        const char *name, *text;
        size_t size;
    } tables[] = {{"t.csv", csv, sizeof csv - 1},
                  {"t.tsv", tsv, sizeof tsv - 1},
                  {"t.jsonl", jsonl, sizeof jsonl - 1}};
    char *model = write_sentences(place, START "]", POOLING);
    float *expected = embed_lines(place, model);
    for (size_t i = 0; i < 3; i++) {
        char *file = weft_test_write(place->folder, tables[i].name, tables[i].text, tables[i].size);
        json_decref(
            run_json("", "embed %s --lines %s --field text --out %s", model, file, place->out));
        float *found = read_reals(place->out, TEXTS * HIDDEN);
        assert_memory_equal(found, expected, TEXTS * HIDDEN * sizeof *found);
        free(found);
    }
    free(expected);
}

/* A row of a file of JSON Lines: the id and the bits. */
static void expect_row(const char *line, const char *id, const float *expected) {
    json_t *row = json_loads(line, JSON_DISABLE_EOF_CHECK, NULL);
    json_t *wanted = json_loads(id, JSON_DECODE_ANY, NULL);
    assert_non_null(row);
    assert_true(json_equal(json_object_get(row, "id"), wanted));
    const json_t *vector = json_object_get(row, "vector");
    assert_int_equal(json_array_size(vector), HIDDEN);
    for (size_t i = 0; i < HIDDEN; i++) {
        const float value = (float)json_number_value(json_array_get(vector, i));
        assert_memory_equal(&value, &expected[i], sizeof value);
    }
    json_decref(row);
    json_decref(wanted);
}

PLACE_TEST(ids_stay_with_their_vectors, place) {
    static const char *const ids[TEXTS] = {"7", "\"x \\\"y\\\"\"", "\"\"", "9"};
    char *model = write_sentences(place, START "]", POOLING);
    float *expected = embed_lines(place, model);
    char *file = weft_test_write(place->folder, "t", jsonl, sizeof jsonl - 1);
    char *out = weft_test_path(place->folder, "out.jsonl");
    size_t size = 0;
    json_decref(run_json("",
                         "embed %s --lines %s --field text --id-field id --format jsonl --out %s",
                         model, file, out));
    char *text = (char *)weft_test_read(out, &size);
    const char *line = text;
    for (size_t i = 0; i < TEXTS; i++) {
        expect_row(line, ids[i], &expected[i * HIDDEN]);
        line = strchr(line, '\n') + 1;
    }
    assert_int_equal(line - text, size);
    assert_int_not_equal(access(weft_test_path(place->folder, "out.jsonl.part"), F_OK), 0);
    free(text);
    free(expected);
}

PLACE_TEST(ranks_have_ids, place) {
    char *model = write_sentences(place, START "]", POOLING);
    char *file = weft_test_write(place->folder, "t.csv", csv, sizeof csv - 1);
    json_t *report =
        run_json("", "rerank %s --query z --lines %s --field text --id-field id", model, file);
    const json_t *first = json_array_get(json_object_get(report, "results"), 0);
    assert_int_equal(json_array_size(json_object_get(report, "results")), TEXTS);
    assert_string_equal(json_string_value(json_object_get(first, "text")), "z");
    assert_string_equal(json_string_value(json_object_get(first, "id")), "");
    json_decref(report);
}

PLACE_TEST(wrong_tables_are_refused, place) {
    char *model = write_sentences(place, START "]", POOLING);
    char *file = weft_test_write(place->folder, "t.csv", csv, sizeof csv - 1);
    char *bad = weft_test_write(place->folder, "b.csv", "text\na\"b\n", 9);
    char *plain = weft_test_write(place->folder, "t.txt", csv, sizeof csv - 1);
    expect_refused(2, weft_test_text("embed %s --text a --field text", model), "--lines", NULL);
    expect_refused(2, weft_test_text("embed %s --lines %s --format csv", model, file), "--field",
                   NULL);
    expect_refused(2, weft_test_text("embed %s --lines %s --field text", model, plain), "--format",
                   NULL);
    expect_refused(2,
                   weft_test_text("embed %s --lines %s --field text --id-field id --out %s", model,
                                  file, place->out),
                   ".jsonl", NULL);
    expect_refused(4, weft_test_text("embed %s --lines %s --field nope", model, file), "\"nope\"",
                   NULL);
    expect_refused(
        4, weft_test_text("embed %s --lines %s --field text --out %s", model, bad, place->out),
        "line 2", NULL);
    assert_int_not_equal(access(place->out, F_OK), 0);
    assert_int_not_equal(access(weft_test_path(place->folder, "out.npy.part"), F_OK), 0);
}

/* ---- search ---- */

static json_int_t row_at(const json_t *results, size_t query, size_t place) {
    const json_t *list = json_array_get(results, query);
    return json_integer_value(json_object_get(json_array_get(list, place), "row"));
}

PLACE_TEST(texts_find_themselves, place) {
    char *model = write_sentences(place, START "]", POOLING);
    free(embed_lines(place, model));
    json_t *report = run_json("", "search %s --model %s --query 'a, \"b\"' --query abc --top 3",
                              place->out, model);
    const json_t *results = json_object_get(report, "results");
    assert_int_equal(json_array_size(results), 2);
    assert_int_equal(json_array_size(json_array_get(results, 0)), 3);
    assert_int_equal(row_at(results, 0, 0), 1);
    assert_int_equal(row_at(results, 1, 0), 0); /* of equal ones the first */
    assert_int_equal(row_at(results, 1, 1), 3);
    assert_int_equal(json_integer_value(json_object_get(report, "vectors")), TEXTS);
    json_t *same = run_json("", "search %s --queries %s --top 9", place->out, place->out);
    assert_int_equal(row_at(json_object_get(same, "results"), 3, 0), 0);
    assert_int_equal(json_array_size(json_array_get(json_object_get(same, "results"), 0)), TEXTS);
    json_decref(report);
    json_decref(same);
    expect_refused(2, weft_test_text("search %s", place->out), "--queries", NULL);
    expect_refused(4, weft_test_text("search %s/lines.txt --queries %s", place->folder, place->out),
                   "lines.txt", NULL);
    expect_refused(
        2, weft_test_text("search %s --queries %s --similarity hamming", place->out, place->out),
        "hamming", NULL);
}
