/* SPDX-License-Identifier: MIT */
/* weft-test: one device */
/* weft run and weft devices: results, reports, caches, and files that are whole or not there. */
#include <math.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/place.h"
#include "cli/tiny_model.h"
#include "core/formats/npy.h"
#include "core/hash.h"

#define MODELS    WEFT_SOURCE_DIR "/tests/data/fnet"
#define CLASSIFY  MODELS "/classify_d36_l2_gelu"
#define TOKENS    CLASSIFY "/cases/n9_b1/tokens.npy"
#define LONG      MODELS "/base_d64_l2_gelu_new" /* long enough for generated FFT kernels */
#define LANGID    WEFT_SOURCE_DIR "/api/examples/models/langid"
#define TOLERANCE 1e-5 /* relative L2, against PyTorch */

/* ---- arrays ---- */

struct array {
    weft_npy npy; /* closed: for its shape only */
    float *values;
    size_t count;
};

static struct array read_array(const char *path) {
    struct array array = {0};
    weft_npy npy = {0};
    assert_ok(weft_npy_open(&npy, path, NULL));
    assert_int_equal(npy.dtype, WEFT_NPY_F32);
    array.count = (size_t)npy.elements;
    array.values = malloc(array.count * sizeof *array.values);
    assert_non_null(array.values);
    assert_ok(weft_npy_read_f32(&npy, array.values));
    array.npy.rank = npy.rank;
    memcpy(array.npy.shape, npy.shape, sizeof npy.shape);
    weft_npy_close(&npy);
    return array;
}

static void expect_near(const char *got_path, const char *expected_path) {
    struct array got = read_array(got_path);
    struct array expected = read_array(expected_path);
    assert_int_equal(got.npy.rank, expected.npy.rank);
    assert_memory_equal(got.npy.shape, expected.npy.shape, sizeof got.npy.shape);
    double difference = 0.0;
    double norm = 0.0;
    for (size_t i = 0; i < got.count; i++) {
        double error = (double)got.values[i] - (double)expected.values[i];
        difference += error * error;
        norm += (double)expected.values[i] * (double)expected.values[i];
    }
    if (!(sqrt(difference) <= TOLERANCE * sqrt(norm))) {
        fail_msg("%s: relative L2 %g", expected_path, sqrt(difference / norm));
    }
    free(got.values);
    free(expected.values);
}

static void expect_digest(const char *path, const char *expected) {
    struct array array = read_array(path);
    weft_digest digest = weft_digest_of(array.values, array.count * sizeof *array.values);
    char text[WEFT_DIGEST_TEXT_SIZE];
    assert_string_equal(weft_digest_text(&digest, text), expected);
    free(array.values);
}

/* ---- results ---- */

PLACE_TEST(golden_outputs_are_matched, place) {
    static const struct {
        const char *model;
        const char *name;
        bool types;
    } cases[] = {
        {CLASSIFY, "n7_b3", false},
        {MODELS "/nsp_d26_l2_gelu_new_eps", "n8_b1_types", true},
        {MODELS "/mlm_d32_l2_gelu_new", "n12_b3", false},
        {LONG, "n100_b1", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *data = weft_test_text("%s/cases/%s", cases[i].model, cases[i].name);
        char *types = cases[i].types ? weft_test_text("--token-types %s/token_types.npy", data)
                                     : weft_test_text(" ");
        char *expected = weft_test_path(data, "expected.npy");
        struct outcome outcome = expect_weft(0, "run %s --tokens %s/tokens.npy %s --out %s",
                                             cases[i].model, data, types, place->out);
        assert_string_equal(outcome.err, "");
        expect_near(place->out, expected);
        assert_int_equal(weft_test_entries(place->folder), 1);
        outcome_clear(&outcome);
    }
}

PLACE_TEST(report_says_what_was_done, place) {
    json_t *report = run_json("", "run %s --tokens %s --top 2 --repeat 3 --out %s", CLASSIFY,
                              TOKENS, place->out);
    expect_digest(place->out, string_field(report, "output/sha256"));
    assert_int_equal(json_array_size(field(report, "output/shape")), 2);
    assert_string_equal(string_field(report, "model/architecture"),
                        "FNetForSequenceClassification");
    assert_string_equal(string_field(report, "model/task"), "classify");
    assert_string_equal(string_field(report, "math"), "reproducible");
    assert_true(strlen(string_field(report, "device/name")) > 0);
    assert_int_equal(integer_field(report, "batch"), 1);
    assert_int_equal(integer_field(report, "length"), 9);
    assert_int_equal(integer_field(report, "repeats"), 3);
    assert_int_equal(integer_field(report, "submissions"), 1);
    assert_true(integer_field(report, "dispatches") > 0);
    assert_true(integer_field(report, "shaders_compiled") >= 0);
    assert_true(integer_field(report, "arena_bytes") >= integer_field(report, "arena_lower_bound"));
    assert_true(number_field(report, "run_ms") > 0.0);
    assert_true(number_field(report, "compile_ms") > 0.0);
    assert_int_equal(integer_field(report, "validation_messages"), 0);
    json_decref(report);
}

/* Labels and probabilities against the output itself. */
PLACE_TEST(best_labels_are_those_of_the_output, place) {
    json_t *report =
        run_json("", "run %s --tokens %s --top 99 --out %s", CLASSIFY, TOKENS, place->out);
    struct array logits = read_array(place->out);
    json_t *top = field(json_array_get(field(report, "results"), 0), "top");
    assert_int_equal(json_array_size(top), logits.count); /* 99 are not there */
    double total = 0.0;
    double before = 2.0;
    for (size_t i = 0; i < logits.count; i++) {
        json_t *entry = json_array_get(top, i);
        size_t index = (size_t)integer_field(entry, "index");
        assert_in_range(index, 0, logits.count - 1);
        double probability = number_field(entry, "probability");
        double sum = 0.0;
        for (size_t j = 0; j < logits.count; j++) {
            sum += exp((double)logits.values[j] - (double)logits.values[index]);
        }
        assert_true(fabs(probability * sum - 1.0) < 1e-9);
        assert_true(probability <= before);
        assert_true(strlen(string_field(entry, "label")) > 0);
        before = probability;
        total += probability;
    }
    assert_true(fabs(total - 1.0) < 1e-9);
    free(logits.values);
    json_decref(report);
}

WEFT_TEST(text_is_read_from_a_file_and_from_standard_input) {
    json_t *file = run_json("", "run " LANGID " --file " LANGID "/samples/fr.txt");
    json_t *input = run_json("", "run " LANGID " --file - <" LANGID "/samples/fr.txt");
    assert_string_equal(string_field(file, "output/sha256"), string_field(input, "output/sha256"));
    json_t *best = json_array_get(field(json_array_get(field(file, "results"), 0), "top"), 0);
    assert_string_equal(string_field(best, "label"), "fr");
    json_decref(file);
    json_decref(input);
}

/* --text is the text itself, as in weft generate; who names a file there is told so. */
WEFT_TEST(text_is_given_on_the_command_line) {
    json_t *file = run_json("", "run " LANGID " --file " LANGID "/samples/fr.txt");
    json_t *text =
        run_json("", "run " LANGID " --text=\"$(cat " LANGID "/samples/fr.txt; echo x)\"");
    json_t *trimmed = run_json("", "run " LANGID " --text 'Le chat'");
    assert_int_equal(integer_field(trimmed, "length"), strlen("Le chat"));
    assert_int_equal(integer_field(text, "length"), integer_field(file, "length") + 1);
    json_decref(file);
    json_decref(text);
    json_decref(trimmed);
    struct outcome name = expect_weft(0, "run " LANGID " --text " LANGID "/samples/fr.txt --json");
    expect_part(&name, name.err, "note: --text is the text itself");
    expect_part(&name, name.err, "--file");
    json_t *report = json_of(&name);
    assert_int_equal(integer_field(report, "length"), strlen(LANGID "/samples/fr.txt"));
    json_decref(report);
    outcome_clear(&name);
    expect_refused(2, "run " LANGID " --text ''", "--text: the text is empty", NULL);
}

WEFT_TEST(text_for_people_has_label_and_time) {
    expect_says(0, weft_test_text("run %s --file %s/samples/de.txt", LANGID, LANGID), "probability",
                "de ", " ms for 1 x ", NULL);
}

PLACE_TEST(long_text_is_cut_with_a_note, place) {
    char text[5000];
    for (size_t i = 0; i < sizeof text; i++) {
        text[i] = "Le chat dort. "[i % 14];
    }
    char *whole = weft_test_write(place->folder, "whole.txt", text, sizeof text);
    char *start = weft_test_write(place->folder, "start.txt", text, 512);
    struct outcome outcome = expect_weft(0, "run %s --file %s --json", LANGID, whole);
    expect_part(&outcome, outcome.err, whole);
    expect_part(&outcome, outcome.err, "left out");
    json_t *report = json_of(&outcome);
    assert_int_equal(integer_field(report, "length"), 512);
    struct outcome cut = expect_weft(0, "run %s --file %s --json", LANGID, start);
    assert_string_equal(cut.err, "");
    json_t *expected = json_of(&cut);
    assert_string_equal(string_field(report, "output/sha256"),
                        string_field(expected, "output/sha256"));
    json_decref(expected);
    json_decref(report);
    outcome_clear(&cut);
    outcome_clear(&outcome);
}

/* ---- a masked language model with a tokenizer, made here ---- */

enum { HIDDEN = 8, PIECES = 131, POSITIONS = 32, WIDE = 12 };

#define EMBEDDINGS "fnet.embeddings."
#define LAYER      "fnet.encoder.layer.0."
#define PREDICTION "cls.predictions."

static void write_masked_model(char *folder) {
    struct weft_test_model model = {.folder = folder};
    weft_test_model_add(&model, EMBEDDINGS "word_embeddings.weight", weft_shape_of(PIECES, HIDDEN));
    weft_test_model_add(&model, EMBEDDINGS "position_embeddings.weight",
                        weft_shape_of(POSITIONS, HIDDEN));
    weft_test_model_add(&model, EMBEDDINGS "token_type_embeddings.weight",
                        weft_shape_of(4, HIDDEN));
    weft_test_model_add_norm(&model, EMBEDDINGS "LayerNorm", HIDDEN);
    weft_test_model_add_linear(&model, EMBEDDINGS "projection", HIDDEN, HIDDEN);
    weft_test_model_add_norm(&model, LAYER "fourier.output.LayerNorm", HIDDEN);
    weft_test_model_add_linear(&model, LAYER "intermediate.dense", HIDDEN, WIDE);
    weft_test_model_add_linear(&model, LAYER "output.dense", WIDE, HIDDEN);
    weft_test_model_add_norm(&model, LAYER "output.LayerNorm", HIDDEN);
    weft_test_model_add_linear(&model, PREDICTION "transform.dense", HIDDEN, HIDDEN);
    weft_test_model_add_norm(&model, PREDICTION "transform.LayerNorm", HIDDEN);
    weft_test_model_add(&model, PREDICTION "bias", weft_shape_of(PIECES));
    write_random(&model,
                 "{'model_type': 'fnet', 'architectures': ['FNetForMaskedLM'], 'vocab_size': 131, "
                 "'hidden_size': 8, 'num_hidden_layers': 1, 'intermediate_size': 12, "
                 "'max_position_embeddings': 32, 'type_vocab_size': 4, 'hidden_act': 'gelu_new', "
                 "'tokenizer_class': 'FNetTokenizer'}",
                 7);
    size_t size = 0;
    uint8_t *pieces = weft_test_read(weft_test_data("tokenizer/spiece.model"), &size);
    weft_test_write(folder, "spiece.model", pieces, size);
    free(pieces);
}

PLACE_TEST(masks_are_filled_in, place) {
    write_masked_model(place->folder);
    char *masked = weft_test_write(place->folder, "masked.txt", "a [MASK] b [MASK]", 17);
    char *plain = weft_test_write(place->folder, "plain.txt", "a b", 3);
    char *line =
        weft_test_text("run %s --file %s --top 4 --out %s", place->folder, masked, place->out);
    char *asked = weft_test_text("%s --json", line);
    struct outcome outcome = run_weft("", asked);
    assert_int_equal(outcome.exit_code, 0);
    json_t *report = json_of(&outcome);
    json_t *results = field(report, "results");
    assert_int_equal(json_array_size(results), 2);
    struct array logits = read_array(place->out);
    for (size_t i = 0; i < 2; i++) {
        json_t *row = json_array_get(results, i);
        size_t position = (size_t)integer_field(row, "position");
        json_t *best = json_array_get(field(row, "top"), 0);
        size_t token = (size_t)integer_field(best, "token");
        assert_in_range(token, 0, PIECES - 1);
        for (size_t other = 0; other < PIECES; other++) {
            assert_true(logits.values[position * PIECES + token] >=
                        logits.values[position * PIECES + other]);
        }
    }
    free(logits.values);
    json_decref(report);
    expect_says(0, weft_test_text("run %s --file %s", place->folder, plain), "no [MASK]", NULL);
    outcome_clear(&outcome);
}

/* ---- files ---- */

PLACE_TEST(output_that_cannot_be_written_leaves_nothing, place) {
    char *line =
        weft_test_text("run %s --tokens %s --out %s/none/out.npy", CLASSIFY, TOKENS, place->folder);
    expect_refused(4, line, "none/out.npy", NULL);
    line = weft_test_text("run %s --tokens %s --trace %s/none/trace.json", CLASSIFY, TOKENS,
                          place->folder);
    struct outcome outcome = run_weft("", line);
    assert_true(outcome.exit_code == 4 || outcome.exit_code == 3); /* 3: has no time stamps */
    assert_string_equal(outcome.out, "");
    outcome_clear(&outcome);
    assert_int_equal(weft_test_entries(place->folder), 0);
}

PLACE_TEST(refused_token_types_leave_the_old_output, place) {
    weft_test_write(place->folder, "out.npy", "old", 3);
    int32_t types[9] = {0, 0, 0, 1000};
    char *path = weft_test_path(place->folder, "types.npy");
    assert_ok(weft_npy_write_i32(path, types, weft_shape_of(1, 9), NULL));
    char *line = weft_test_text("run %s --tokens %s --token-types %s --out %s", CLASSIFY, TOKENS,
                                path, place->out);
    expect_refused(4, line, path, "position 3", "1000", NULL);
    size_t size = 0;
    uint8_t *old = weft_test_read(place->out, &size);
    assert_int_equal(size, 3);
    assert_memory_equal(old, "old", 3);
    free(old);
}

static void expect_trace(const char *path, long long dispatches) {
    size_t size = 0;
    uint8_t *text = weft_test_read(path, &size);
    json_t *trace = json_loadb((const char *)text, size, 0, NULL);
    assert_non_null(trace);
    json_t *events = field(trace, "traceEvents");
    long long complete = 0;
    double before = 0.0;
    for (size_t i = 0; i < json_array_size(events); i++) {
        json_t *event = json_array_get(events, i);
        if (strcmp(string_field(event, "ph"), "X") != 0) {
            continue;
        }
        complete++;
        assert_true(number_field(event, "dur") >= 0.0);
        assert_true(number_field(event, "ts") >= before);
        assert_true(strlen(string_field(event, "args/kernel")) > 0);
        before = number_field(event, "ts");
    }
    assert_int_equal(complete, dispatches);
    json_decref(trace);
    free(text);
}

PLACE_TEST(trace_has_every_dispatch, place) {
    json_t *devices = run_json("", "devices");
    json_t *device =
        json_array_get(field(devices, "devices"), (size_t)integer_field(devices, "default"));
    char *path = weft_test_path(place->folder, "trace.json");
    char *line = weft_test_text("run %s --tokens %s --trace %s", CLASSIFY, TOKENS, path);
    if (number_field(device, "timestamp_period_ns") > 0.0) {
        json_t *report = run_json("", line);
        expect_trace(path, integer_field(report, "dispatches"));
        json_decref(report);
    } else {
        expect_refused(3, line, "time stamps", NULL);
    }
    json_decref(devices);
}

/* ---- caches and devices ---- */

PLACE_TEST(second_start_compiles_nothing, place) {
    char *cache = weft_test_text("XDG_CACHE_HOME=%s", place->folder);
    static const char line[] = "run " LONG " --tokens " LONG "/cases/n100_b1/tokens.npy";
    json_t *cold = run_json(cache, line);
    assert_true(integer_field(cold, "shaders_compiled") > 0);
    assert_true(integer_field(cold, "pipelines_compiled") > 0);
    char *kept = weft_test_path(place->folder, "weft");
    assert_int_equal(access(kept, F_OK), 0);
    json_t *warm = run_json(cache, line);
    assert_int_equal(integer_field(warm, "shaders_compiled"), 0);
    if (json_is_true(field(warm, "device/pipeline_feedback"))) {
        assert_int_equal(integer_field(warm, "pipelines_compiled"), 0);
    }
    assert_string_equal(string_field(cold, "output/sha256"), string_field(warm, "output/sha256"));
    json_decref(cold);
    json_decref(warm);
}

PLACE_TEST(no_cache_keeps_nothing, place) {
    char *cache = weft_test_text("XDG_CACHE_HOME=%s", place->folder);
    json_t *report =
        run_json(cache, "run " LONG " --no-cache --tokens " LONG "/cases/n100_b1/tokens.npy");
    assert_true(integer_field(report, "shaders_compiled") > 0);
    /* Drivers may keep caches of their own beside it. */
    char *kept = weft_test_path(place->folder, "weft");
    assert_int_equal(access(kept, F_OK), -1);
    json_decref(report);
}

/* The list says more of a device, such as its place on the bus. */
static void expect_listed(const json_t *listed, json_t *device) {
    const char *name = NULL;
    json_t *value = NULL;
    assert_true(json_object_size(device) > 10);
    json_object_foreach(device, name, value) {
        if (!json_equal(json_object_get(listed, name), value)) {
            fail_msg("device/%s differs from that of the list", name);
        }
    }
}

WEFT_TEST(default_device_is_the_one_that_runs) {
    json_t *devices = run_json("", "devices");
    long long taken = integer_field(devices, "default");
    json_t *report = run_json("", "run " CLASSIFY " --tokens " TOKENS);
    assert_int_equal(integer_field(report, "device/index"), taken);
    json_t *device = json_array_get(field(devices, "devices"), (size_t)taken);
    expect_listed(device, field(report, "device"));
    json_t *chosen = run_json("", "run %s --tokens %s --device %lld", CLASSIFY, TOKENS, taken);
    expect_listed(device, field(chosen, "device"));
    expect_says(0, "devices", string_field(device, "name"), "the default", NULL);
    json_decref(chosen);
    json_decref(report);
    json_decref(devices);
}

WEFT_TEST(unknown_device_is_refused) {
    expect_refused(3, "run " CLASSIFY " --tokens " TOKENS " --device warp-drive", "warp-drive",
                   NULL);
    expect_refused(3, "run " CLASSIFY " --tokens " TOKENS " --device 999", "999", NULL);
}
