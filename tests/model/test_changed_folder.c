/* SPDX-License-Identifier: MIT */
/* weft-test: one device */
/* weft-test: posix */
/*
 * A model folder that changes under a loaded model, in every way and at every time: the numbers are exactly the old ones, or there is an
 * error that names file and tensor.
 */
#include <sys/stat.h>
#include <unistd.h>

#include <weft/model.h>

#include "support.h"

#define FOLDER WEFT_SOURCE_DIR "/api/examples/models/langid"
#define LENGTH 24u
#define LABELS 24u
#define WIDTH  128u

/* ---- a folder, and what becomes of it ---- */

struct place {
    char *folder, *config, *weights;
    uint8_t *bytes, *other; /* of model.safetensors; with other numbers */
    size_t size;
};

static void write_at(const char *path, const char *how, const uint8_t *bytes, size_t size) {
    FILE *file = fopen(path, how);
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static struct place make_place(void) {
    struct place place = {.folder = weft_test_folder()};
    size_t size = 0;
    uint8_t *config = weft_test_read(FOLDER "/config.json", &size);
    place.config = weft_test_write(place.folder, "config.json", config, size);
    free(config);
    place.bytes = weft_test_read(FOLDER "/model.safetensors", &place.size);
    place.other = weft_test_read(FOLDER "/model.safetensors", &place.size);
    size_t header = 0;
    memcpy(&header, place.bytes, 8); /* the tests' machines are little-endian */
    for (size_t i = 8 + header; i < place.size; i++) {
        place.other[i] ^= 1; /* of each number's lowest bits, and of the others a little */
    }
    place.weights = weft_test_write(place.folder, "model.safetensors", place.bytes, place.size);
    return place;
}

static void free_place(struct place *place) {
    free(place->bytes);
    free(place->other);
}

static void overwrite(const struct place *place) {
    write_at(place->weights, "r+b", place->other, place->size);
}

static void overwrite_one_byte(const struct place *place) {
    for (size_t i = 0; i < place->size; i += 16384) { /* one of each block that has a checksum */
        place->bytes[i + (i == 0 ? place->size / 2 % 16384 : 5000) % (place->size - i)] ^= 4;
    }
    write_at(place->weights, "r+b", place->bytes, place->size);
}

static void truncate_it(const struct place *place) {
    assert_int_equal(truncate(place->weights, (off_t)(place->size / 2)), 0);
}

static void grow(const struct place *place) {
    write_at(place->weights, "ab", place->other, 1000);
}

static void replace(const struct place *place) {
    char *beside = weft_test_path(place->folder, "beside");
    write_at(beside, "wb", place->other, place->size);
    assert_int_equal(rename(beside, place->weights), 0);
}

static void delete_it(const struct place *place) {
    assert_int_equal(remove(place->weights), 0);
}

static void make_folder(const struct place *place) {
    delete_it(place);
    assert_int_equal(mkdir(place->weights, 0700), 0);
}

static void make_unreadable(const struct place *place) {
    assert_int_equal(chmod(place->weights, 0), 0);
}

static void change_config(const struct place *place) {
    write_at(place->config, "wb", (const uint8_t *)"{}", 2);
}

static const struct {
    const char *name;
    void (*make)(const struct place *place);
    bool in_place; /* the bytes that were loaded are gone */
} changes[] = {
    {"overwritten", overwrite, true},
    {"a bit of each block", overwrite_one_byte, true},
    {"truncated", truncate_it, true},
    {"grown", grow, false},
    {"replaced", replace, false},
    {"deleted", delete_it, false},
    {"a folder", make_folder, false},
    {"unreadable", make_unreadable, false},
    {"another config", change_config, false},
};
#define CHANGES (sizeof changes / sizeof changes[0])

/* ---- running ---- */

static weft_status run(float *out, uint64_t count, weft_model *model, weft_device *device,
                       uint32_t length) {
    int32_t tokens[LENGTH];
    for (uint32_t i = 0; i < length; i++) {
        tokens[i] = (int32_t)(4 + i * 7 % 200);
    }
    weft_plan *plan = NULL;
    weft_status status = weft_model_compile(&plan, model, device, 1, length, false, NULL);
    if (status != WEFT_OK) {
        assert_null(plan);
        return status;
    }
    weft_host_tensor tensors[] = {{"tokens", tokens, length * sizeof *tokens},
                                  {"output", out, count * sizeof *out}};
    assert_ok(weft_plan_execute(plan, tensors, 2));
    weft_plan_destroy(&plan);
    return WEFT_OK;
}

static weft_model *load(const char *folder, struct weft_test_host *host) {
    weft_model *model = NULL;
    assert_ok(weft_model_load(&model, folder, &host->host));
    return model;
}

struct expected {
    float labels[LABELS], shorter[LABELS], hidden[LENGTH * WIDTH];
};

static void run_hidden(float *out, weft_model *model, weft_device *device) {
    weft_model *headless = NULL;
    assert_ok(weft_model_without_head(&headless, model));
    assert_ok(run(out, (uint64_t)LENGTH * WIDTH, headless, device, LENGTH));
    weft_model_destroy(&headless);
}

static struct expected *expect(weft_device *device, struct weft_test_host *host) {
    struct expected *expected = weft_test_keep(sizeof *expected);
    weft_model *model = load(FOLDER, host);
    assert_ok(run(expected->labels, LABELS, model, device, LENGTH));
    assert_ok(run(expected->shorter, LABELS, model, device, LENGTH / 2));
    run_hidden(expected->hidden, model, device);
    weft_model_destroy(&model);
    return expected;
}

static void expect_named(struct weft_test_host *host, weft_status status, const char *change) {
    if (status != WEFT_BAD_FILE) {
        fail_msg("%s: %s", change, weft_status_name(status));
    }
    weft_test_expect_log(host, "model.safetensors", "tensor \"", "changed since it was loaded");
}

/* ---- tests ---- */

static void change_before_the_first_run(struct weft_test_host *host, weft_device *device) {
    const struct expected *expected = expect(device, host);
    for (size_t i = 0; i < CHANGES; i++) {
        struct place place = make_place();
        weft_model *model = load(place.folder, host);
        changes[i].make(&place);
        float found[LABELS];
        weft_test_host_reset(host);
        weft_status status = run(found, LABELS, model, device, LENGTH);
        if (changes[i].in_place) {
            expect_named(host, status, changes[i].name);
        } else {
            assert_ok(status);
            assert_memory_equal(found, expected->labels, sizeof found);
        }
        weft_model_destroy(&model);
        free_place(&place);
    }
}

WEFT_TEST_ON_DEVICE(a_change_before_the_first_run_is_noticed, test) {
    change_before_the_first_run(&test->host, test->device);
}

WEFT_TEST_ON_HOST(a_change_is_noticed_where_weights_become_f16, test) {
    weft_device *device = NULL;
    assert_ok(weft_device_open(&device,
                               weft_device_params(.host = test->host, .math = WEFT_MATH_FAST,
                                                  .weights = WEFT_WEIGHTS_F16, .cache_dir = "")));
    change_before_the_first_run(test, device);
    weft_test_device_close(&device);
}

WEFT_TEST_ON_DEVICE(a_change_behind_the_first_run_changes_nothing, test) {
    const struct expected *expected = expect(test->device, &test->host);
    for (size_t i = 0; i < CHANGES; i++) {
        struct place place = make_place();
        weft_model *model = load(place.folder, &test->host);
        struct expected *found = weft_test_keep(sizeof *found);
        assert_ok(run(found->labels, LABELS, model, test->device, LENGTH));
        changes[i].make(&place);
        assert_ok(run(found->labels, LABELS, model, test->device, LENGTH));
        assert_ok(run(found->shorter, LABELS, model, test->device, LENGTH / 2));
        run_hidden(found->hidden, model, test->device);
        assert_memory_equal(found, expected, sizeof *found);
        weft_model_destroy(&model);
        free_place(&place);
    }
}

/* A change behind a run is noticed when weights that the device has dropped are needed again. */
WEFT_TEST_ON_DEVICE(weights_that_are_read_again_are_checked_again, test) {
    for (size_t i = 0; i < CHANGES; i++) {
        struct place place = make_place();
        weft_model *model = load(place.folder, &test->host);
        float found[LABELS], again[LABELS];
        assert_ok(run(found, LABELS, model, test->device, LENGTH));
        changes[i].make(&place);
        weft_device_trim(test->device);
        weft_test_host_reset(&test->host);
        weft_status status = run(again, LABELS, model, test->device, LENGTH);
        if (changes[i].in_place) {
            expect_named(&test->host, status, changes[i].name);
        } else {
            assert_ok(status);
            assert_memory_equal(again, found, sizeof found);
        }
        weft_model_destroy(&model);
        free_place(&place);
    }
}

WEFT_TEST_ON_HOST(config_and_bytes_are_those_that_were_loaded, test) {
    for (size_t i = 0; i < CHANGES; i++) {
        struct place place = make_place();
        size_t config_size = 0, size = 0;
        char *config = (char *)weft_test_read(place.config, &config_size);
        uint8_t *before = weft_test_read(place.weights, &size);
        weft_model *model = load(place.folder, test);
        changes[i].make(&place);
        assert_int_equal(strlen(weft_model_config(model)), config_size);
        assert_memory_equal(weft_model_config(model), config, config_size);
        char *bytes = NULL;
        weft_status status = weft_model_weights(model, &bytes, &size);
        if (changes[i].in_place) {
            assert_status(status, WEFT_BAD_FILE);
            weft_test_expect_log(test, "model.safetensors", "changed since it was loaded");
        } else {
            assert_ok(status);
            assert_int_equal(size, place.size);
            assert_memory_equal(bytes, before, size);
            weft_text_free(model, &bytes);
        }
        weft_model_destroy(&model);
        free(before);
        free(config);
        free_place(&place);
    }
}

WEFT_TEST_ON_DEVICE(a_model_without_its_head_lives_by_itself, test) {
    const struct expected *expected = expect(test->device, &test->host);
    weft_model *model = load(FOLDER, &test->host);
    weft_model *headless = NULL;
    assert_ok(weft_model_without_head(&headless, model));
    weft_model_destroy(&model);
    weft_model_info info;
    assert_ok(weft_model_get_info(headless, &info));
    assert_int_equal(info.task, WEFT_TASK_HIDDEN);
    assert_int_equal(info.label_count, 0);
    assert_string_equal(info.architecture, "FNetModel");
    float hidden[LENGTH * WIDTH];
    assert_ok(run(hidden, (uint64_t)LENGTH * WIDTH, headless, test->device, LENGTH));
    assert_memory_equal(hidden, expected->hidden, sizeof hidden);
    weft_model_destroy(&headless);
}

/* ---- the tokenizer's file ---- */

/* The first text of tests/data/tokenizer/expected.json, and what sentencepiece makes of it, between [CLS] and [SEP]. */
static const char text[] = "the weaver holds the warp.";
static const int32_t pieces[] = {10, 7, 34, 39, 8, 10, 7, 32, 16};
#define PIECES (sizeof pieces / sizeof pieces[0])

/* What the changes above change is the tokenizer's file. */
static struct place make_place_with_tokenizer(void) {
    struct place place = make_place();
    size_t size = 0;
    char *config = (char *)weft_test_read(place.config, &size);
    char *class_name = strstr(config, "ByteTokenizer");
    assert_non_null(class_name);
    memcpy(class_name, "FNetTokenizer", strlen("FNetTokenizer")); /* as long */
    weft_test_write(place.folder, "config.json", config, size);
    free(config);
    free_place(&place);
    place.bytes = weft_test_read(weft_test_data("tokenizer/spiece.model"), &place.size);
    place.other = weft_test_read(weft_test_data("tokenizer/spiece.model"), &place.size);
    for (size_t i = 0; i < place.size; i++) {
        place.other[i] = (uint8_t)(place.other[i] == 'e' ? 'a' : place.other[i]);
    }
    place.weights = weft_test_write(place.folder, "spiece.model", place.bytes, place.size);
    return place;
}

static void expect_pieces(weft_model *model, const char *change) {
    int32_t *tokens = NULL;
    uint32_t count = 0;
    char *back = NULL;
    size_t size = 0;
    assert_ok(weft_model_tokenize(model, text, sizeof text - 1, &tokens, &count));
    if (count != PIECES + 2 || memcmp(tokens + 1, pieces, sizeof pieces) != 0) {
        fail_msg("%s: other ids", change);
    }
    assert_ok(weft_model_detokenize(model, tokens, count, &back, &size));
    assert_string_equal(back, text);
    weft_text_free(model, &back);
    const int32_t special[] = {tokens[0], tokens[count - 1]};
    weft_tokens_free(model, &tokens);
    assert_ok(weft_model_tokenize(model, "", 0, &tokens, &count)); /* these alone */
    assert_int_equal(count, 2);
    assert_memory_equal(tokens, special, sizeof special);
    weft_tokens_free(model, &tokens);
}

/* It is read once, at the load: whatever becomes of it, before the first text or behind it, ids and texts stay. */
WEFT_TEST_ON_HOST(a_change_of_the_tokenizer_changes_nothing, test) {
    for (size_t i = 0; i < CHANGES; i++) {
        for (int used = 0; used < 2; used++) {
            struct place place = make_place_with_tokenizer();
            weft_model *model = load(place.folder, test);
            if (used) {
                expect_pieces(model, "before");
            }
            changes[i].make(&place);
            expect_pieces(model, changes[i].name);
            weft_model_destroy(&model);
            free_place(&place);
        }
    }
}
