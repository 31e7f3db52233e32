/* SPDX-License-Identifier: MIT */
/* weft-test: one device */
/* weft eval and weft inspect. */
#include <math.h>
#include <sys/stat.h>

#include "cli/archive.h"
#include "cli/command.h"
#include "cli/place.h"
#include "core/hash.h"

#define CLASSIFY WEFT_SOURCE_DIR "/tests/data/fnet/classify_d36_l2_gelu"
#define LANGID   WEFT_SOURCE_DIR "/api/examples/models/langid"

enum { EXAMPLES = 3, LENGTH = 7, LABELS = 5 }; /* of the golden case n7_b3 */

/* What PyTorch predicted for the golden case. */
static void golden_labels(int32_t labels[EXAMPLES]) {
    weft_npy npy = {0};
    float logits[EXAMPLES * LABELS];
    assert_ok(weft_npy_open(&npy, CLASSIFY "/cases/n7_b3/expected.npy", NULL));
    assert_int_equal(npy.elements, EXAMPLES * LABELS);
    assert_ok(weft_npy_read_f32(&npy, logits));
    weft_npy_close(&npy);
    for (int i = 0; i < EXAMPLES; i++) {
        labels[i] = 0;
        for (int j = 1; j < LABELS; j++) {
            labels[i] = logits[i * LABELS + j] > logits[i * LABELS + labels[i]] ? j : labels[i];
        }
    }
}

/* ---- eval ---- */

PLACE_TEST(accuracy_is_counted, place) {
    int32_t labels[EXAMPLES];
    golden_labels(labels);
    labels[1] = (labels[1] + 1) % LABELS;
    char *labels_path =
        write_integers(place->folder, "labels.npy", labels, weft_shape_of(EXAMPLES));
    const struct member members[] = {
        {"tokens", CLASSIFY "/cases/n7_b3/tokens.npy"}, {"labels", labels_path}, {NULL, NULL}};
    char *data = write_archive(place->folder, "data.npz", members);
    char *line = weft_test_text("eval %s %s", CLASSIFY, data);
    json_t *report = run_json("", line);
    assert_int_equal(integer_field(report, "examples"), EXAMPLES);
    assert_int_equal(integer_field(report, "correct"), EXAMPLES - 1);
    assert_true(fabs(number_field(report, "accuracy") - 2.0 / 3.0) < 1e-9);
    assert_true(number_field(report, "tokens_per_s") > 0.0);
    assert_true(json_is_null(field(report, "expected")));
    long long examples = 0;
    long long correct = 0;
    json_t *rows = field(report, "labels");
    assert_int_equal(json_array_size(rows), LABELS);
    for (size_t i = 0; i < LABELS; i++) {
        examples += integer_field(json_array_get(rows, i), "examples");
        correct += integer_field(json_array_get(rows, i), "correct");
    }
    assert_int_equal(examples, EXAMPLES);
    assert_int_equal(correct, EXAMPLES - 1);
    expect_says(0, line, "accuracy 66.6667 %: 2 of 3 examples",
                string_field(report, "logits_sha256"), NULL);
    json_decref(report);
}

PLACE_TEST(other_programs_labels_are_compared, place) {
    int32_t labels[EXAMPLES];
    golden_labels(labels);
    char *labels_path =
        write_integers(place->folder, "labels.npy", labels, weft_shape_of(EXAMPLES));
    labels[2] = (labels[2] + 1) % LABELS;
    char *other_path = write_integers(place->folder, "other.npy", labels, weft_shape_of(EXAMPLES));
    const struct member data_members[] = {
        {"tokens", CLASSIFY "/cases/n7_b3/tokens.npy"}, {"labels", labels_path}, {NULL, NULL}};
    const struct member same_members[] = {{"logits", CLASSIFY "/cases/n7_b3/expected.npy"},
                                          {NULL, NULL}};
    const struct member other_members[] = {
        {"logits", CLASSIFY "/cases/n7_b3/expected.npy"}, {"labels", other_path}, {NULL, NULL}};
    char *data = write_archive(place->folder, "data.npz", data_members);
    char *same = write_archive(place->folder, "same.npz", same_members);
    char *other = write_archive(place->folder, "other.npz", other_members);
    json_t *report = run_json("", "eval %s %s --expect %s", CLASSIFY, data, same);
    assert_int_equal(integer_field(report, "expected/different_labels"), 0);
    assert_true(number_field(report, "expected/max_logit_difference") < 1e-5);
    json_decref(report);
    struct outcome outcome = expect_weft(1, "eval %s %s --json --expect %s", CLASSIFY, data, other);
    expect_part(&outcome, outcome.err, "1 predicted labels differ");
    expect_part(&outcome, outcome.err, "example 2");
    report = json_of(&outcome);
    assert_int_equal(integer_field(report, "expected/different_labels"), 1);
    json_decref(report);
    outcome_clear(&outcome);
}

PLACE_TEST(bits_are_compared, place) {
    const int32_t labels[EXAMPLES] = {0};
    char *labels_path =
        write_integers(place->folder, "labels.npy", labels, weft_shape_of(EXAMPLES));
    const struct member members[] = {
        {"tokens", CLASSIFY "/cases/n7_b3/tokens.npy"}, {"labels", labels_path}, {NULL, NULL}};
    char *data = write_archive(place->folder, "data.npz", members);
    char *line = weft_test_text("eval %s %s", CLASSIFY, data);
    json_t *report = run_json("", line);
    char *found = weft_test_text("%s  logits of data.npz\n", string_field(report, "logits_sha256"));
    char *right = weft_test_write(place->folder, "right.sha256", found, strlen(found));
    found[0] = found[0] == '0' ? '1' : '0';
    char *wrong = weft_test_write(place->folder, "wrong.sha256", found, strlen(found));
    char *cut = weft_test_write(place->folder, "cut.sha256", found, 63);
    expect_says(0, weft_test_text("%s --bits %s", line, right), "as expected", NULL);
    expect_says(1, weft_test_text("%s --bits %s", line, wrong), "the outputs' bits have SHA-256",
                NULL);
    char *cut_line = weft_test_text("%s --bits %s", line, cut);
    expect_refused(4, cut_line, cut, "expected a SHA-256 digest of 64 hexadecimal digits", NULL);
    expect_says(2, weft_test_text("%s --bits %s --math fast", line, right),
                "--bits needs --math reproducible", NULL);
    json_decref(report);
}

PLACE_TEST(bad_labels_and_lengths_are_named, place) {
    const int32_t bad[EXAMPLES] = {0, LABELS, 0};
    const int32_t good[EXAMPLES] = {0};
    char *bad_path = write_integers(place->folder, "bad.npy", bad, weft_shape_of(EXAMPLES));
    char *good_path = write_integers(place->folder, "good.npy", good, weft_shape_of(EXAMPLES));
    char *short_path =
        write_integers(place->folder, "short.npy", good, weft_shape_of(EXAMPLES - 1));
    const struct member cases[][4] = {
        {{"tokens", CLASSIFY "/cases/n7_b3/tokens.npy"}, {"labels", bad_path}, {NULL, NULL}},
        {{"tokens", CLASSIFY "/cases/n7_b3/tokens.npy"}, {"labels", short_path}, {NULL, NULL}},
        {{"tokens", CLASSIFY "/cases/n7_b3/tokens.npy"},
         {"labels", good_path},
         {"lengths", good_path},
         {NULL, NULL}},
    };
    static const char *const said[] = {
        "member labels, example 1: expected 0 to 4, the labels of the model",
        "member labels: expected int32 or int64 [3], found <i4 [2]",
        "member lengths, sequence 0: expected 1 to 7, found 0"};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *data = write_archive(place->folder, "data.npz", cases[i]);
        char *line = weft_test_text("eval %s %s", CLASSIFY, data);
        expect_refused(4, line, data, said[i], NULL);
    }
}

/* The SHA-256 of `count` float32 values of a .npy file, from place `first`. */
static void digest_of_values(const char *path, size_t first, size_t count, char *text) {
    weft_npy npy = {0};
    assert_ok(weft_npy_open(&npy, path, NULL));
    assert_true((first + count) * sizeof(float) <= npy.bytes);
    weft_digest digest = weft_digest_of(npy.data + first * sizeof(float), count * sizeof(float));
    weft_digest_text(&digest, text);
    weft_npy_close(&npy);
}

/*
 * Batches, their filling up, and rows of different lengths do not change a bit: each example's
 * logits are what run gives for it alone.
 */
PLACE_TEST(examples_are_independent, place) {
    const int32_t lengths[EXAMPLES] = {LENGTH, 4, LENGTH};
    const int32_t labels[EXAMPLES] = {0};
    char *labels_path =
        write_integers(place->folder, "labels.npy", labels, weft_shape_of(EXAMPLES));
    char *lengths_path =
        write_integers(place->folder, "lengths.npy", lengths, weft_shape_of(EXAMPLES));
    const struct member members[] = {{"tokens", CLASSIFY "/cases/n7_b3/tokens.npy"},
                                     {"labels", labels_path},
                                     {"lengths", lengths_path},
                                     {NULL, NULL}};
    char *data = write_archive(place->folder, "data.npz", members);
    char *out = weft_test_path(place->folder, "logits.npy");
    json_t *report = run_json("", "eval %s %s --batch 2 --out %s", CLASSIFY, data, out);
    assert_int_equal(integer_field(report, "plans"), 2);
    json_decref(report);
    weft_npy npy = {0};
    assert_ok(weft_npy_open(&npy, CLASSIFY "/cases/n7_b3/tokens.npy", NULL));
    int32_t tokens[EXAMPLES * LENGTH];
    assert_int_equal(npy.elements, EXAMPLES * LENGTH);
    assert_ok(weft_npy_read_i32(&npy, tokens));
    weft_npy_close(&npy);
    for (size_t i = 0; i < EXAMPLES; i++) {
        char *row = write_integers(place->folder, "row.npy", &tokens[i * LENGTH],
                                   weft_shape_of((uint32_t)lengths[i]));
        json_t *alone = run_json("", "run %s --tokens %s", CLASSIFY, row);
        char digest[WEFT_DIGEST_TEXT_SIZE];
        digest_of_values(out, i * LABELS, LABELS, digest);
        assert_string_equal(string_field(alone, "output/sha256"), digest);
        json_decref(alone);
    }
}

/* The first 40 bytes of a sample text, as LABEL/NAME.txt. */
static void add_text(const struct place *place, const char *label, const char *name) {
    char *sample = weft_test_text("%s/samples/%s.txt", LANGID, label);
    char *folder = weft_test_path(place->folder, label);
    size_t size = 0;
    uint8_t *text = weft_test_read(sample, &size);
    assert_true(size > 40);
    mkdir(folder, 0777); /* may be there */
    weft_test_write(folder, name, text, 40);
    free(text);
}

PLACE_TEST(folder_of_texts_is_read, place) {
    add_text(place, "fr", "a.txt");
    add_text(place, "fr", "b.txt");
    add_text(place, "fr", "notes.md");
    add_text(place, "zh", "a.txt");
    weft_test_write(place->folder, "README", "x", 1);
    json_t *report = run_json("", "eval %s %s", LANGID, place->folder);
    assert_int_equal(integer_field(report, "examples"), 3);
    assert_int_equal(integer_field(report, "plans"), 1);
    json_t *rows = field(report, "labels");
    for (size_t i = 0; i < json_array_size(rows); i++) {
        json_t *row = json_array_get(rows, i);
        const char *label = string_field(row, "label");
        long long expected = strcmp(label, "fr") == 0 ? 2 : strcmp(label, "zh") == 0 ? 1 : 0;
        assert_int_equal(integer_field(row, "examples"), expected);
    }
    json_decref(report);
}

/* ---- inspect ---- */

/* Every layer has dispatches, and all of them are counted once. Gives the most that a layer has. */
static long long expect_layers(json_t *report) {
    long long most = integer_field(report, "most_dispatches_in_layer");
    long long sum = integer_field(report, "dispatches_outside_layers");
    json_t *per_layer = field(report, "dispatches_per_layer");
    assert_int_equal(json_array_size(per_layer), integer_field(report, "model/layers"));
    for (size_t i = 0; i < json_array_size(per_layer); i++) {
        long long count = json_integer_value(json_array_get(per_layer, i));
        assert_in_range(count, 1, most);
        sum += count;
    }
    assert_int_equal(sum, integer_field(report, "dispatches"));
    return most;
}

WEFT_TEST(layers_of_other_families_are_found) {
    static const char *const models[] = {"langid1024-tnn", "langid1024-fmmformer"};
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
        json_t *report = run_json(
            "", "inspect " WEFT_SOURCE_DIR "/api/examples/models/%s --length 64", models[i]);
        expect_layers(report);
        json_decref(report);
    }
}

WEFT_TEST(inspection_adds_up) {
    json_t *report = run_json("", "inspect " LANGID " --length 100 --batch 2");
    long long dispatches = integer_field(report, "dispatches");
    long long most = expect_layers(report);
    assert_true(most <= 8); /* what is promised for FNet */
    json_t *list = field(report, "dispatch_list");
    assert_int_equal(json_array_size(list), dispatches);
    for (size_t i = 0; i < json_array_size(list); i++) {
        assert_true(strlen(string_field(json_array_get(list, i), "kernel")) > 0);
    }
    assert_int_equal(integer_field(report, "submissions"), 1);
    assert_in_range(number_field(report, "arena_ratio") * 1000.0, 1000, 1100);
    assert_true(integer_field(report, "weight_bytes") >=
                4 * integer_field(report, "model/parameters"));
    json_decref(report);
    expect_says(0, weft_test_text("inspect %s", CLASSIFY), "FNetForSequenceClassification",
                "lower bound", "submission", NULL);
}

WEFT_TEST(passes_are_shown) {
    static const struct {
        const char *name;
        const char *part;
    } passes[] = {{"graph", "fourier"},
                  {"fuse", "layer.1."},
                  {"choose", "["},
                  {"place", "arena"},
                  {"order", "barrier"}};
    for (size_t i = 0; i < sizeof passes / sizeof passes[0]; i++) {
        struct outcome text = expect_weft(0, "inspect %s --pass %s", CLASSIFY, passes[i].name);
        expect_part(&text, text.out, passes[i].part);
        json_t *report = run_json("", "inspect %s --pass %s", CLASSIFY, passes[i].name);
        assert_string_equal(string_field(report, "pass"), passes[i].name);
        assert_string_equal(string_field(report, "text"), text.out);
        json_decref(report);
        outcome_clear(&text);
    }
}
