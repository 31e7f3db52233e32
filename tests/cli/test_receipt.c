/* SPDX-License-Identifier: MIT */
/* weft-test: slow one driver */
/* Receipts: made on each device they verify on every other, and whatever differs is found and named. */
#include "cli/receipt_document.h"
#include "cli/task_models.h"

#define TRAINED WEFT_SOURCE_DIR "/api/examples/models/langid1024-transformer"

static const int32_t ids[] = {3, 1, 4, 1, 5, 9, 2, 6, 5};

struct run {
    char *model, *tokens, *receipt;
};

static struct run make_run(const struct place *place, const char *options) {
    struct run run = {.model = write_tiny_model(place->folder, "model", &causal),
                      .tokens = weft_test_path(place->folder, "tokens.npy"),
                      .receipt = weft_test_path(place->folder, "receipt.json")};
    assert_ok(weft_npy_write_i32(run.tokens, ids, weft_shape_of(1, LENGTH), NULL));
    struct outcome outcome = expect_weft(0, "run '%s' --tokens '%s' --receipt '%s' %s", run.model,
                                         run.tokens, run.receipt, options);
    outcome_clear(&outcome);
    return run;
}

static json_t *verify_json(const struct run *run, int exit_code, const char *options) {
    struct outcome outcome =
        expect_weft(exit_code, "verify --receipt '%s' '%s' --tokens '%s' --json %s", run->receipt,
                    run->model, run->tokens, options);
    json_t *report = json_of(&outcome);
    outcome_clear(&outcome);
    return report;
}

/* The usable devices, as --device takes them, and how many. OpenCL's have to be asked for. */
static size_t list_devices(const char *devices[16]) {
    size_t count = 0;
    json_t *report = run_json("", "devices");
    const json_t *list = field(report, "devices");
    for (size_t i = 0; i < json_array_size(list) && count < 15; i++) {
        const json_t *device = json_array_get(list, i);
        if (json_is_true(json_object_get(device, "usable"))) {
            devices[count++] = weft_test_text("%lld", integer_field(device, "index"));
        }
    }
    json_decref(report);
    const char *driver = getenv("WEFT_TEST_DRIVER");
    if (driver != NULL && strncmp(driver, "opencl-", 7) == 0) {
        devices[count++] = "opencl:";
    }
    assert_true(count > 0);
    return count;
}

/* ---- the same ---- */

static void expect_all_devices(const char *receipt, const char *command, const char *arguments) {
    const char *devices[16];
    const size_t count = list_devices(devices);
    char *chain = NULL;
    for (size_t made = 0; made < count; made++) {
        struct outcome outcome = expect_weft(0, "%s %s --receipt '%s' --device %s", command,
                                             arguments, receipt, devices[made]);
        outcome_clear(&outcome);
        for (size_t again = 0; again < count; again++) {
            json_t *report = run_json("", "verify --receipt '%s' %s --device %s", receipt,
                                      arguments, devices[again]);
            assert_true(json_is_true(field(report, "same")));
            chain = chain != NULL ? chain : weft_test_text("%s", string_field(report, "chain"));
            assert_string_equal(string_field(report, "chain"), chain);
            json_decref(report);
        }
    }
}

PLACE_TEST(every_device_verifies_every_other, place) {
    const struct run run = make_run(place, "--repeat 2");
    expect_all_devices(run.receipt, "run",
                       weft_test_text("'%s' --tokens '%s'", run.model, run.tokens));
    expect_all_devices(
        run.receipt, "run",
        weft_test_text("'%s' --tokens '%s' --math reproducible", run.model, run.tokens));
}

/* Texts of several lengths, in batches: what lies behind the lengths counts for nothing. */
PLACE_TEST(commands_with_many_texts_have_receipts, place) {
    static const char texts[] =
        "a few words of this\nmore words than that\nund einige auf deutsch\n";
    char *lines = weft_test_write(place->folder, "lines.txt", texts, strlen(texts));
    char *receipt = weft_test_path(place->folder, "receipt.json");
    expect_all_devices(receipt, "run", weft_test_text("%s --lines '%s'", TRAINED, lines));
    expect_all_devices(receipt, "embed",
                       weft_test_text("%s --lines '%s' --pooling mean", TRAINED, lines));
    json_t *document = read_receipt(receipt);
    assert_non_null(
        strstr(string_field(record_of(document, "input", "tokens"), "type"), " before lengths"));
    json_decref(document);
}

/* Vectors of as many channels as there are tokens are no rows of tokens. */
PLACE_TEST(vectors_of_texts_count_whole, place) {
    static const char texts[] = "12345678\n1234567\n"; /* TINY_HIDDEN, and one less */
    char *model = write_tiny_model(place->folder, "model", &causal);
    char *lines = weft_test_write(place->folder, "lines.txt", texts, strlen(texts));
    char *receipt = weft_test_path(place->folder, "receipt.json");
    struct outcome outcome = expect_weft(0, "embed '%s' --lines '%s' --pooling mean --receipt '%s'",
                                         model, lines, receipt);
    json_t *document = read_receipt(receipt);
    assert_string_equal(string_field(record_of(document, "input", "tokens"), "type"),
                        "i32 [2, 8] before lengths");
    assert_string_equal(string_field(record_of(document, "output", NULL), "type"), "f32 [2, 8]");
    json_decref(document);
    outcome_clear(&outcome);
}

PLACE_TEST(every_node_can_be_a_checkpoint, place) {
    const struct run run = make_run(place, "--checkpoints nodes");
    json_t *all = verify_json(&run, 0, "");
    const struct run few =
        make_run(&(struct place){.folder = weft_test_folder()}, "--checkpoints none");
    json_t *none = verify_json(&few, 0, "");
    assert_true(integer_field(all, "values") > 10);
    assert_int_equal(integer_field(none, "values"), 1); /* the output */
    json_decref(all);
    json_decref(none);
}

/* ---- what differs ---- */

static json_t *expect_difference(const struct run *run, const char *kind, const char *name) {
    json_t *report = verify_json(run, 1, "");
    assert_true(json_is_false(field(report, "same")));
    assert_string_equal(string_field(report, "here/kind"), kind);
    assert_string_equal(string_field(report, "here/name"), name);
    return report;
}

/* The last tensor of a safetensors file. */
static char *last_tensor(const uint8_t *bytes) {
    uint64_t size = 0;
    memcpy(&size, bytes, sizeof size);
    json_t *header = json_loadb((const char *)bytes + 8, (size_t)size, 0, NULL);
    const char *name;
    json_t *tensor;
    char *last = NULL;
    json_int_t end = 0;
    json_object_foreach(header, name, tensor) {
        const json_t *offsets = json_object_get(tensor, "data_offsets");
        if (json_integer_value(json_array_get(offsets, 1)) > end) {
            end = json_integer_value(json_array_get(offsets, 1));
            last = weft_test_text("%s", name);
        }
    }
    json_decref(header);
    assert_non_null(last);
    return last;
}

PLACE_TEST(a_flipped_weight_is_named, place) {
    const struct run run = make_run(place, "");
    char *path = weft_test_path(run.model, "model.safetensors");
    size_t size = 0;
    uint8_t *bytes = weft_test_read(path, &size);
    char *name = last_tensor(bytes);
    bytes[size - 4] ^= 1; /* the lowest bit of its last element */
    weft_test_write(run.model, "model.safetensors", bytes, size);
    json_t *report = expect_difference(&run, "tensor", name);
    assert_int_equal(integer_field(report, "further_tensors"), 0);
    assert_string_not_equal(string_field(report, "here/sha256"),
                            string_field(report, "receipt/sha256"));
    json_decref(report);
    free(bytes);
}

PLACE_TEST(a_flipped_input_is_named, place) {
    const struct run run = make_run(place, "");
    int32_t other[LENGTH];
    memcpy(other, ids, sizeof other);
    other[LENGTH - 1] ^= 1;
    assert_ok(weft_npy_write_i32(run.tokens, other, weft_shape_of(1, LENGTH), NULL));
    json_decref(expect_difference(&run, "input", "tokens"));
}

PLACE_TEST(a_changed_config_is_named, place) {
    const struct run run = make_run(place, "");
    size_t size = 0;
    char *path = weft_test_path(run.model, "config.json");
    uint8_t *config = weft_test_read(path, &size);
    char *longer = weft_test_text("%s ", (const char *)config);
    weft_test_write(run.model, "config.json", longer, strlen(longer));
    json_decref(expect_difference(&run, "config", "config.json"));
    free(config);
}

static void expect_setting(const struct place *place, const char *name, const char *value,
                           const char *advice) {
    const struct run run = make_run(place, "");
    json_t *receipt = read_receipt(run.receipt);
    set_text(record_of(receipt, "setting", name), "type", value);
    write_receipt(receipt, run.receipt);
    struct outcome outcome = expect_weft(1, "verify --receipt '%s' '%s' --tokens '%s'", run.receipt,
                                         run.model, run.tokens);
    expect_part(&outcome, outcome.out,
                weft_test_text("not the same: differs first in the setting %s", name));
    expect_part(&outcome, outcome.out, weft_test_text("receipt: setting %s, %s", name, value));
    expect_part(&outcome, outcome.out, advice);
    outcome_clear(&outcome);
}

PLACE_TEST(another_version_of_the_bits_is_named, place) {
    expect_setting(place, "bits", "2", "the versions of Weft give other bits");
}

PLACE_TEST(another_mode_is_named, place) {
    expect_setting(place, "math", "other", "give verify the same --math");
}

PLACE_TEST(other_weights_are_named, place) {
    expect_setting(place, "weights", "f16", "give verify the same --weights");
}

/* A value that the maker claims and no device computes. */
static struct run make_wrong_value(const struct place *place, const char *options) {
    const struct run run = make_run(place, options);
    json_t *receipt = read_receipt(run.receipt);
    set_text(record_of(receipt, "value", NULL), "sha256", ZEROS);
    set_text(record_of(receipt, "output", NULL), "sha256", ZEROS);
    write_receipt(receipt, run.receipt);
    return run;
}

PLACE_TEST(the_first_wrong_value_is_found_and_shown, place) {
    const struct run run = make_wrong_value(place, "");
    json_t *report = verify_json(&run, 1, "");
    assert_string_equal(string_field(report, "here/kind"), "value");
    assert_int_equal(integer_field(report, "here/run"), 0);
    const json_t *values = json_array_get(field(report, "first_values"), 0);
    assert_int_equal(json_array_size(values), 4);
    assert_non_null(strstr(json_string_value(json_array_get(values, 0)), "(0x"));
    struct outcome text = expect_weft(1, "verify --receipt '%s' '%s' --tokens '%s'", run.receipt,
                                      run.model, run.tokens);
    expect_part(&text, text.out, "the last record that is the same is the input 'tokens' of run 0");
    expect_part(&text, text.out, "its first values here: ");
    outcome_clear(&text);
    json_decref(report);
}

PLACE_TEST(two_devices_that_agree_say_so, place) {
    const struct run run = make_wrong_value(place, "");
    const char *devices[16];
    const size_t count = list_devices(devices);
    struct outcome text =
        expect_weft(1, "verify --receipt '%s' '%s' --tokens '%s' --device %s --against %s",
                    run.receipt, run.model, run.tokens, devices[0], devices[count - 1]);
    expect_part(&text, text.out,
                "agree in every node: the receipt's maker computed something else");
    outcome_clear(&text);
}

/* ---- what is refused ---- */

/* A stranger's file: what is done to a good one, and what the refusal says. */
struct broken {
    const char *record; /* the kind of the first record that is changed, or null: the document */
    const char *field;
    const char *value; /* as JSON; null: the field is taken out */
    const char *says[2];
};

static const struct broken table[] = {
    {NULL, "format", NULL, {"field \"format\"", "found nothing"}},
    {NULL, "format", "\"receipt\"", {"field \"format\"", "expected \"weft-receipt\""}},
    {NULL, "format", "7", {"field \"format\"", "found 7"}},
    {NULL, "version", NULL, {"field \"version\"", "found nothing"}},
    {NULL, "version", "4", {"field \"version\"", "expected 2 or 3, which are all that this"}},
    {NULL, "version", "2", {"field \"root\"", "expected none in version 2"}},
    {NULL, "root", NULL, {"field \"root\"", "found nothing"}},
    {NULL, "root", "\"" ZEROS "\"", {"field \"root\"", "what follows from the records"}},
    {NULL,
     "version",
     "1",
     {"field \"version\"", "which line was which row; make the receipt again"}},
    {NULL, "version", "0", {"field \"version\"", "found 0"}},
    {NULL, "version", "1.5", {"field \"version\"", "found 1.5"}},
    {NULL, "weft", "[]", {"field \"weft\"", "found an array of 0"}},
    {NULL, "command", "\"run\"", {"field \"command\"", "no such field in a receipt"}},
    {NULL, "note", "1", {"field \"note\"", "no such field in a receipt"}},
    {"output", "note", "1", {"field \"note\"", "no such field in a receipt"}},
    {NULL, "device", "null", {"field \"device\"", "expected an object"}},
    {NULL, "device", "{\"name\": \"a\", \"driver\": 1}", {"device", "field \"driver\""}},
    {NULL, "device", "{\"serial\": 1}", {"device", "field \"serial\""}},
    {NULL, "records", NULL, {"field \"records\"", "found nothing"}},
    {NULL, "records", "[]", {"field \"records\"", "found an array of 0"}},
    {NULL, "records", "[1]", {"field \"records\"", "expected an array of objects, found 1"}},
    {"setting", "kind", "\"other\"", {"record 0", "field \"kind\""}},
    {"setting",
     "kind",
     "\"value\"",
     {"record 0", "a run before its inputs, values, outputs and rows"}},
    {"setting", "sha256", "\"" ZEROS "\"", {"record 0", "none in a record of a setting"}},
    {"setting", "name", "\"bit\"", {"field \"chain\"", "what follows from this record"}},
    {"setting", "chain", "\"" ZEROS "\"", {"record 0", "field \"chain\""}},
    {"config", "kind", "\"run\"", {"field \"name\"", "runs that are counted from 0"}},
    {"tensor", "sha256", NULL, {"field \"sha256\"", "found nothing"}},
    {"tensor", "sha256", "\"abc\"", {"field \"sha256\"", "64 lower-case hexadecimal digits"}},
    {"tensor", "type", "\"F32 [1]\"", {"field \"chain\"", "those before it"}},
    {"run", "name", "\"1\"", {"field \"name\"", "runs that are counted from 0"}},
    {"input", "kind", "\"tensor\"", {"field \"kind\"", "a record of a run, behind the first run"}},
    {"output", "name", "3", {"field \"name\"", "found 3"}},
    {"output", "chain", NULL, {"field \"chain\"", "found nothing"}},
};

static void expect_broken(const struct run *run, const char *path, const char *part,
                          const char *other) {
    expect_refused(
        4,
        weft_test_text("verify --receipt '%s' '%s' --tokens '%s'", path, run->model, run->tokens),
        part, other, NULL);
}

PLACE_TEST(broken_receipts_are_refused, place) {
    const struct run run = make_run(place, "");
    char *path = weft_test_path(place->folder, "broken.json");
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const struct broken *broken = &table[i];
        json_t *receipt = read_receipt(run.receipt);
        json_t *object =
            broken->record != NULL ? record_of(receipt, broken->record, NULL) : receipt;
        if (broken->value != NULL) {
            json_t *value = json_loads(broken->value, JSON_DECODE_ANY, NULL);
            assert_non_null(value);
            json_object_set_new(object, broken->field, value);
        } else {
            json_object_del(object, broken->field);
        }
        assert_int_equal(json_dump_file(receipt, path, 0), 0);
        json_decref(receipt);
        expect_broken(&run, path, broken->says[0], broken->says[1]);
    }
}

PLACE_TEST(files_that_are_no_receipts_are_refused, place) {
    const struct run run = make_run(place, "");
    size_t size = 0;
    uint8_t *text = weft_test_read(run.receipt, &size);
    char *path = weft_test_write(place->folder, "cut.json", text, size / 2);
    expect_broken(&run, path, "the receipt:", "");
    path = weft_test_write(place->folder, "empty.json", "", 0);
    expect_broken(&run, path, "the receipt", "");
    path = weft_test_write(place->folder, "list.json", "[]", 2);
    expect_broken(&run, path, "the receipt", "");
    path = weft_test_path(place->folder, "none.json");
    expect_broken(&run, path, "none.json", "");
    expect_broken(&run, run.model, "model", ""); /* a folder */
    free(text);
}

/* A chain that holds, and a run whose checkpoints no Weft has. */
PLACE_TEST(unknown_checkpoints_are_refused, place) {
    const struct run run = make_run(place, "");
    json_t *receipt = read_receipt(run.receipt);
    set_text(record_of(receipt, "run", NULL), "type", "blocks");
    write_receipt(receipt, run.receipt);
    expect_broken(&run, run.receipt, "expected the checkpoints none, layers or nodes",
                  "found blocks");
}

PLACE_TEST(wrong_usage_of_receipts_is_refused, place) {
    const struct run run = make_run(place, "");
    const char *start = weft_test_text("run '%s' --tokens '%s'", run.model, run.tokens);
    expect_refused(2, weft_test_text("%s --receipt a --math fast", start),
                   "--receipt needs --math reproducible", NULL);
    expect_refused(2, weft_test_text("%s --receipt a --checkpoints some", start),
                   "expected none, layers or nodes, found 'some'", NULL);
    expect_refused(2, weft_test_text("verify --receipt '%s'", run.receipt), "expected MODEL", NULL);
    expect_refused(2, "verify --receipt", "--receipt needs a value", NULL);
    expect_refused(2, "eval --compare A B DATA --receipt c", "without --compare", NULL);
}
