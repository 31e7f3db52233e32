/* SPDX-License-Identifier: MIT */
/* weft-test: one device */
/* Checks of receipts that cost less than the run: values that are opened, a referee, proofs, statements. */
#include "cli/receipt_document.h"
#include "cli/task_models.h"

static const char texts[] = "a few words of this\nmore words than that\nund einige auf deutsch\n"
                            "and the last of them\n";

struct made {
    char *arguments; /* of the command, which verify takes, too */
    char *receipt, *values;
};

/* Two runs of two texts each, with lengths. */
static struct made make(const struct place *place, const char *checkpoints) {
    const char *model = WEFT_SOURCE_DIR "/api/examples/models/langid1024-transformer";
    char *lines = weft_test_write(place->folder, "lines.txt", texts, strlen(texts));
    const struct made made = {
        .arguments = weft_test_text("%s --lines '%s' --batch 2 --pooling mean", model, lines),
        .receipt = weft_test_path(place->folder, "receipt.json"),
        .values = weft_test_path(place->folder, "values")};
    struct outcome outcome = expect_weft(0, "embed %s --receipt '%s' --checkpoints %s",
                                         made.arguments, made.receipt, checkpoints);
    outcome_clear(&outcome);
    return made;
}

static void give(const struct made *made, const char *what) {
    struct outcome outcome = expect_weft(0, "verify --receipt '%s' %s --open '%s' --give '%s'",
                                         made->receipt, made->arguments, what, made->values);
    outcome_clear(&outcome);
}

static json_t *open_json(const struct made *made, int exit_code, const char *what) {
    struct outcome outcome =
        expect_weft(exit_code, "verify --receipt '%s' %s --open '%s' --values '%s' --json",
                    made->receipt, made->arguments, what, made->values);
    json_t *report = json_of(&outcome);
    outcome_clear(&outcome);
    return report;
}

/* The record of that kind with this place among its like, in all runs. */
static uint32_t place_of(const json_t *receipt, const char *kind, uint32_t nth) {
    size_t i;
    json_t *record;
    json_array_foreach(json_object_get(receipt, "records"), i, record) {
        if (strcmp(string_field(record, "kind"), kind) == 0 && nth-- == 0) {
            return (uint32_t)i;
        }
    }
    fail_msg("too few records of kind %s", kind);
    return 0;
}

PLACE_TEST(a_layer_opens_to_the_same_bits, place) {
    const struct made made = make(place, "layers");
    give(&made, "LAYER:1");
    json_t *report = open_json(&made, 0, "LAYER:1");
    assert_true(json_is_true(field(report, "same")));
    assert_int_equal(json_array_size(field(report, "opened")), 1);
    json_decref(report);
}

PLACE_TEST(a_draw_is_the_same_for_both, place) {
    const struct made made = make(place, "nodes");
    give(&made, "RANDOM:5:5810");
    json_t *report = open_json(&made, 0, "RANDOM:5:5810");
    const json_t *opened = field(report, "opened");
    assert_int_equal(json_array_size(opened), 5);
    for (size_t i = 0; i < 5; i++) {
        assert_true(json_is_true(json_object_get(json_array_get(opened, i), "same")));
        for (size_t k = 0; k < i; k++) {
            assert_int_not_equal(integer_field(json_array_get(opened, i), "record"),
                                 integer_field(json_array_get(opened, k), "record"));
        }
    }
    json_decref(report);
    expect_refused(4,
                   weft_test_text("verify --receipt '%s' %s --open RANDOM:99999:1 --values '%s'",
                                  made.receipt, made.arguments, made.values),
                   "--open RANDOM: expected 1 to", NULL);
    expect_refused(4,
                   weft_test_text("verify --receipt '%s' %s --open RANDOM:3 --values '%s'",
                                  made.receipt, made.arguments, made.values),
                   "RANDOM:K:SEED", NULL);
}

/* A maker that claims another value, with a chain and a root that hold. */
static void lie(const struct made *made, const char *path, const char *kind, uint32_t nth) {
    json_t *receipt = read_receipt(made->receipt);
    set_text(json_array_get(json_object_get(receipt, "records"), place_of(receipt, kind, nth)),
             "sha256", ZEROS);
    write_receipt(receipt, path);
}

PLACE_TEST(a_wrong_value_is_shown, place) {
    const struct made made = make(place, "layers");
    json_t *receipt = read_receipt(made.receipt);
    const char *what = weft_test_text("record:%u", place_of(receipt, "value", 2));
    json_decref(receipt);
    give(&made, what);
    lie(&made, made.receipt, "value", 2);
    json_t *report = open_json(&made, 1, what);
    const json_t *opened = json_array_get(field(report, "opened"), 0);
    assert_true(json_is_true(json_object_get(opened, "computed")));
    assert_true(json_is_false(json_object_get(opened, "same")));
    assert_string_equal(string_field(opened, "sha256"), ZEROS);
    json_decref(report);
}

PLACE_TEST(another_tensor_is_told_before_anything_is_computed, place) {
    const struct made made = make(place, "layers");
    json_t *receipt = read_receipt(made.receipt);
    const uint32_t before = place_of(receipt, "value", 0);
    json_decref(receipt);
    give(&made, "LAYER:1");
    char *path = weft_test_path(made.values, weft_test_text("record-%u.npy", before));
    size_t size = 0;
    uint8_t *bytes = weft_test_read(path, &size);
    bytes[200] ^= 1;
    weft_test_write(made.values, weft_test_text("record-%u.npy", before), bytes, size);
    json_t *report = open_json(&made, 1, "LAYER:1");
    const json_t *opened = json_array_get(field(report, "opened"), 0);
    assert_true(json_is_false(json_object_get(opened, "computed")));
    assert_int_equal(integer_field(opened, "other_tensor"), before);
    json_decref(report);
    weft_test_write(made.values, weft_test_text("record-%u.npy", before), bytes, size - 8);
    expect_refused(4,
                   weft_test_text("verify --receipt '%s' %s --open LAYER:1 --values '%s'",
                                  made.receipt, made.arguments, made.values),
                   "record-", NULL);
    free(bytes);
}

PLACE_TEST(other_inputs_are_told_before_anything_is_opened, place) {
    const struct made made = make(place, "layers");
    give(&made, "LAYER:1");
    lie(&made, made.receipt, "input", 0);
    json_t *report = open_json(&made, 1, "LAYER:1");
    json_t *receipt = read_receipt(made.receipt);
    assert_int_equal(integer_field(report, "differs"), place_of(receipt, "input", 0));
    assert_true(
        json_is_false(json_object_get(json_array_get(field(report, "opened"), 0), "computed")));
    json_decref(receipt);
    json_decref(report);
}

/* What is opened is of the second of two layers: of tensors its own are compared, and no others read. */
PLACE_TEST(tensors_of_what_is_opened_are_compared, place) {
    static const struct {
        const char *name;
        bool used;
    } tensors[] = {{"embeddings.tokens.weight", false},
                   {"head.weight", false},
                   {"layers.0.mixer.key.weight", true},
                   {"layers.0.feed_forward.out.bias", true},
                   {"layers.1.mixer.key.weight", false}};
    const struct made made = make(place, "layers");
    give(&made, "LAYER:1");
    json_t *honest = read_receipt(made.receipt);
    for (size_t i = 0; i < sizeof tensors / sizeof *tensors; i++) {
        json_t *forged = json_deep_copy(honest);
        json_t *record = record_of(forged, "tensor", tensors[i].name);
        uint32_t place_there = 0;
        while (json_array_get(json_object_get(forged, "records"), place_there) != record) {
            place_there++;
        }
        set_text(record, "sha256", ZEROS);
        write_receipt(forged, made.receipt);
        json_t *report = open_json(&made, tensors[i].used ? 1 : 0, "LAYER:1");
        const json_t *differs = field(report, "differs");
        assert_int_equal(json_is_integer(differs) ? (uint32_t)json_integer_value(differs)
                                                  : UINT32_MAX,
                         tensors[i].used ? place_there : UINT32_MAX);
        json_decref(report);
    }
    json_decref(honest);
}

/* Bytes with their scales, which are read when the model is loaded. */
PLACE_TEST(scales_of_bytes_are_compared, place) {
    struct made made = make(place, "layers");
    char *folder = weft_test_path(place->folder, "int8");
    struct outcome outcome = expect_weft(
        0, "quantize " WEFT_SOURCE_DIR "/api/examples/models/langid1024-transformer '%s'", folder);
    outcome_clear(&outcome);
    made.arguments = weft_test_text("'%s' --lines '%s/lines.txt' --batch 2 --pooling mean", folder,
                                    place->folder);
    outcome = expect_weft(0, "embed %s --receipt '%s'", made.arguments, made.receipt);
    outcome_clear(&outcome);
    give(&made, "LAYER:1");
    json_t *forged = read_receipt(made.receipt);
    set_text(record_of(forged, "tensor", "layers.0.mixer.key.weight.scale"), "sha256", ZEROS);
    write_receipt(forged, made.receipt);
    json_t *report = open_json(&made, 1, "LAYER:1");
    assert_true(json_is_integer(field(report, "differs")));
    json_decref(report);
}

/* ---- the referee ---- */

static void expect_judgement(const struct made *made, const char *other, const char *verdict,
                             uint32_t first) {
    struct outcome outcome =
        expect_weft(1, "verify --receipt '%s' --referee '%s' %s --values '%s' --json",
                    made->receipt, other, made->arguments, made->values);
    json_t *report = json_of(&outcome);
    assert_string_equal(string_field(report, "verdict"), verdict);
    assert_int_equal(integer_field(report, "first"), first);
    assert_in_range(integer_field(report, "asked"), 1, 8);
    json_decref(report);
    outcome_clear(&outcome);
}

PLACE_TEST(the_referee_says_who_is_wrong, place) {
    static const struct {
        const char *kind;
        uint32_t nth;
    } lies[] = {{"value", 1}, {"output", 0}, {"value", 4}, {"tensor", 2}, {"input", 0}};
    const struct made made = make(place, "layers");
    char *other = weft_test_path(place->folder, "other.json");
    char *honest = weft_test_path(place->folder, "honest.json");
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        json_t *receipt = read_receipt(made.receipt);
        const uint32_t first = place_of(receipt, lies[i].kind, lies[i].nth);
        write_receipt(json_incref(receipt), honest);
        json_decref(receipt);
        if (lies[i].kind[0] == 'v' || lies[i].kind[0] == 'o') {
            give(&made, weft_test_text("record:%u", first));
        }
        lie(&made, other, lies[i].kind, lies[i].nth);
        expect_judgement(&made, other, "the first is right", first);
        const struct made swapped = {
            .arguments = made.arguments, .receipt = other, .values = made.values};
        expect_judgement(&swapped, honest, "the second is right", first);
    }
    struct outcome outcome = expect_weft(0, "verify --receipt '%s' --referee '%s' %s", made.receipt,
                                         honest, made.arguments);
    expect_part(&outcome, outcome.out, "are the same receipt");
    outcome_clear(&outcome);
}

/* ---- proofs and statements ---- */

PLACE_TEST(a_proof_needs_no_model, place) {
    const struct made made = make(place, "layers");
    json_t *receipt = read_receipt(made.receipt);
    const uint32_t record = place_of(receipt, "output", 0);
    const char *root = string_field(receipt, "root");
    struct outcome outcome =
        expect_weft(0, "verify --receipt '%s' --prove %u", made.receipt, record);
    char *path = weft_test_write(place->folder, "proof.json", outcome.out, strlen(outcome.out));
    outcome_clear(&outcome);
    outcome = expect_weft(0, "verify --proof '%s' --root %s", path, root);
    expect_part(&outcome, outcome.out, "output 'output', f32");
    outcome_clear(&outcome);
    expect_refused(4, weft_test_text("verify --proof '%s' --root %s", path, ZEROS), "to the root",
                   NULL);
    expect_refused(2, weft_test_text("verify --proof '%s'", path), "--root", NULL);
    expect_refused(4, weft_test_text("verify --receipt '%s' --prove 99999", made.receipt),
                   "the number of a record", NULL);
    json_decref(receipt);
}

PLACE_TEST(statements_are_about_the_file, place) {
    const struct made made = make(place, "none");
    char *statement = weft_test_path(place->folder, "statement.json");
    char *envelope = weft_test_path(place->folder, "envelope.json");
    struct outcome outcome =
        expect_weft(0, "verify --receipt '%s' --statement '%s' --envelope '%s'", made.receipt,
                    statement, envelope);
    outcome_clear(&outcome);
    size_t size = 0;
    uint8_t *bytes = weft_test_read(made.receipt, &size);
    const weft_digest digest = weft_digest_of(bytes, size);
    char text[WEFT_DIGEST_TEXT_SIZE];
    json_t *document = json_load_file(statement, 0, NULL);
    const json_t *subject = json_array_get(json_object_get(document, "subject"), 0);
    assert_string_equal(string_field(subject, "name"), "receipt.json");
    assert_string_equal(string_field(subject, "digest/sha256"), weft_digest_text(&digest, text));
    json_decref(document);
    document = json_load_file(envelope, 0, NULL);
    assert_string_equal(string_field(document, "payloadType"), "application/vnd.in-toto+json");
    json_decref(document);
    free(bytes);
}
