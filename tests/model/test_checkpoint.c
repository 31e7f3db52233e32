/* SPDX-License-Identifier: MIT */
/* Loading model folders that are damaged, incomplete or do not fit: a clear error, and nothing left behind. */
#include <weft/model.h>

#include "model/files/checkpoint.h"
#include "support.h"

#define CHECKPOINT "fnet/classify_d36_l2_gelu"

struct fixture {
    struct weft_test_host host;
    char *folder;
    uint8_t *config, *tensors; /* of the good checkpoint */
    size_t config_size, tensors_size;
};

static int set_up(void **state) {
    struct fixture *f = calloc(1, sizeof *f);
    weft_test_host_begin(&f->host);
    f->folder = weft_test_folder();
    char *config = weft_test_data(CHECKPOINT "/config.json");
    char *tensors = weft_test_data(CHECKPOINT "/model.safetensors");
    f->config = weft_test_read(config, &f->config_size);
    f->tensors = weft_test_read(tensors, &f->tensors_size);
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    struct fixture *f = *state;
    free(f->config);
    free(f->tensors);
    weft_test_host_end(&f->host);
    free(f);
    return 0;
}

#define TEST(name, f) WEFT_TEST_WITH(name, struct fixture *f, set_up, tear_down)

/** Writes the folder as it is in the fixture and loads it; the model, if any, is destroyed. */
static weft_status load(struct fixture *f) {
    weft_model *model = NULL;
    weft_test_write(f->folder, "config.json", f->config, f->config_size);
    weft_test_write(f->folder, "model.safetensors", f->tensors, f->tensors_size);
    weft_test_host_reset(&f->host);
    weft_status status = weft_model_load(&model, f->folder, &f->host.host);
    assert_true((status == WEFT_OK) == (model != NULL));
    weft_model_destroy(&model);
    return status;
}

/** Replaces the first `from` in a file's bytes by `to`, which is as long. */
static void replace(uint8_t *data, size_t size, const char *from, const char *to) {
    size_t length = strlen(from);
    assert_int_equal(length, strlen(to));
    for (size_t i = 0; i + length <= size; i++) {
        if (memcmp(data + i, from, length) == 0) {
            memcpy(data + i, to, length);
            return;
        }
    }
    fail_msg("'%s' is not in the file", from);
}

/** Where tensor data begins: behind the header's length and the header. */
static size_t data_start(const struct fixture *f) {
    uint64_t header = 0;
    memcpy(&header, f->tensors, sizeof header);
    return (size_t)header + sizeof header;
}

TEST(test_good, f) {
    assert_ok(load(f));
}

TEST(test_missing_files, f) {
    weft_model *model = NULL;
    WEFT_EXPECT_REFUSED(&f->host, WEFT_NOT_FOUND, weft_model_load(&model, f->folder, &f->host.host),
                        "config.json");
    weft_test_write(f->folder, "config.json", f->config, f->config_size);
    WEFT_EXPECT_REFUSED(&f->host, WEFT_NOT_FOUND, weft_model_load(&model, f->folder, &f->host.host),
                        "model.safetensors");
    assert_null(model);
}

TEST(test_missing_tensor, f) {
    replace(f->tensors, f->tensors_size, "classifier.weight", "classifier.weighs");
    assert_int_not_equal(load(f), WEFT_OK);
    weft_test_expect_log(&f->host, "model.safetensors", "classifier.weight");
}

TEST(test_wrong_shape, f) {
    replace(f->config, f->config_size, "\"hidden_size\": 36", "\"hidden_size\": 35");
    WEFT_EXPECT_REFUSED(&f->host, WEFT_BAD_FILE, load(f), "model.safetensors", "35", "36");
}

TEST(test_nan_weight, f) {
    const uint32_t nan = 0x7fc00000;
    size_t start = data_start(f);
    memcpy(f->tensors + start + 4 * (size_t)10, &nan, sizeof nan);
    WEFT_EXPECT_REFUSED(&f->host, WEFT_BAD_FILE, load(f), "model.safetensors", "tensor",
                        "NaN at index");
}

TEST(test_other_model_type, f) {
    replace(f->config, f->config_size, "\"model_type\": \"fnet\"", "\"model_type\": \"bart\"");
    WEFT_EXPECT_REFUSED(&f->host, WEFT_UNSUPPORTED, load(f), "config.json", "model_type", "bart");
}

TEST(test_absurd_config, f) {
    replace(f->config, f->config_size, "\"hidden_size\": 36", "\"hidden_size\": -6");
    WEFT_EXPECT_REFUSED(&f->host, WEFT_BAD_FILE, load(f), "config.json", "hidden_size", "-6");
}

/** Files cut short anywhere: never a crash, always an error. */
TEST(test_cut_files, f) {
    size_t whole = f->tensors_size;
    for (size_t size = 0; size < whole; size += 1 + whole / 97) {
        f->tensors_size = size;
        assert_int_not_equal(load(f), WEFT_OK);
    }
    f->tensors_size = whole;
    whole = f->config_size;
    for (size_t size = 0; size + 2 < whole; size += 1 + whole / 61) {
        f->config_size = size;
        assert_int_not_equal(load(f), WEFT_OK);
    }
}

TEST(test_mutated_files, f) {
    uint8_t *good = f->tensors;
    size_t good_size = f->tensors_size;
    for (uint64_t round = 0; round < 200; round++) {
        f->tensors = weft_test_mutate(good, good_size, 5, round, &f->tensors_size);
        uint8_t nothing = 0;
        uint8_t *mutated = f->tensors;
        f->tensors = mutated ? mutated : &nothing;
        (void)load(f); /* it may still be a valid file: the sanitizers and leak counter judge */
        free(mutated);
    }
    f->tensors = good;
    f->tensors_size = good_size;
}

/* ---- in memory ---- */

static void count_release(void *count) {
    ++*(int *)count;
}

/** What the fixture holds, without files. */
static weft_status load_memory(weft_model **model, const struct fixture *f, int *releases) {
    char *config = weft_test_text("%.*s", (int)f->config_size, (const char *)f->config);
    weft_status status = weft_model_load_memory(
        model,
        weft_model_memory(.config_json = config, .weights = f->tensors,
                          .weights_size = f->tensors_size, .release = count_release,
                          .release_user = releases),
        &f->host.host);
    return status;
}

TEST(test_memory, f) {
    weft_model *model = NULL;
    weft_graph *graph = NULL;
    weft_model_inputs inputs = {0};
    weft_tensor out = {0};
    int releases = 0;
    assert_ok(load_memory(&model, f, &releases));
    weft_model_info info;
    assert_ok(weft_model_get_info(model, &info));
    assert_string_equal(info.architecture, "FNetForSequenceClassification");
    assert_string_equal(info.tokenizer, "none");
    assert_ok(weft_graph_create(&graph, &f->host.host));
    assert_ok(weft_graph_input(&inputs.tokens, graph, "tokens", WEFT_I32, weft_shape_of(1, 5)));
    assert_ok(weft_model_build(&out, model, graph, &inputs));
    weft_model_destroy(&model);
    assert_int_equal(releases, 0); /* the graph still reads them */
    weft_graph_destroy(&graph);
    assert_int_equal(releases, 1);
}

TEST(test_bad_memory, f) {
    weft_model *model = NULL;
    int releases = 0;
    WEFT_EXPECT_REFUSED(&f->host, WEFT_INVALID_ARGUMENT,
                        weft_model_load_memory(&model, NULL, &f->host.host), "null");
    WEFT_EXPECT_REFUSED(
        &f->host, WEFT_INVALID_ARGUMENT,
        weft_model_load_memory(&model,
                               weft_model_memory(.config_json = "{}", .release = count_release,
                                                 .release_user = &releases),
                               &f->host.host),
        "null");
    assert_int_equal(releases, 0);
    const size_t whole = f->tensors_size;
    f->tensors_size = whole - 1;
    WEFT_EXPECT_REFUSED(&f->host, WEFT_BAD_FILE, load_memory(&model, f, &releases), "weights");
    assert_int_equal(releases, 1);
    f->tensors_size = whole;
    replace(f->config, f->config_size, "\"fnet\"", "\"fmet\"");
    WEFT_EXPECT_REFUSED(&f->host, WEFT_UNSUPPORTED, load_memory(&model, f, &releases),
                        "config_json", "model_type", "fmet");
    assert_int_equal(releases, 2);
    assert_null(model);
}

TEST(test_out_of_memory_in_memory, f) {
    weft_model *model = NULL;
    weft_status status = WEFT_OUT_OF_HOST_MEMORY;
    int releases = 0, calls = 0;
    while (weft_test_next_failure(&f->host, status)) {
        status = load_memory(&model, f, &releases);
        calls++;
    }
    assert_int_equal(releases, calls - 1);
    weft_model_destroy(&model);
    assert_int_equal(releases, calls);
}

TEST(test_out_of_memory, f) {
    weft_model *model = NULL;
    assert_ok(load(f));
    weft_status status = WEFT_OUT_OF_HOST_MEMORY;
    while (weft_test_next_failure(&f->host, status)) {
        status = weft_model_load(&model, f->folder, &f->host.host);
    }
    weft_model_destroy(&model);
}

/* ---- ends that the host wants ---- */

static bool end(void *user) {
    return ++*(uint32_t *)user == 2;
}

/* As a receipt hashes all tensors of a model. */
TEST(hashing_ends_where_the_host_wants_it, f) {
    uint32_t asked = 0;
    struct weft_checkpoint *checkpoint = NULL;
    weft_digest digest;
    weft_host host = f->host.host;
    host.interrupted = end;
    host.interrupted_user = &asked;
    assert_ok(
        weft_checkpoint_open(&checkpoint, weft_test_data(CHECKPOINT "/model.safetensors"), &host));
    asked = 0;
    assert_ok(weft_checkpoint_digest(&digest, checkpoint, 0));
    WEFT_EXPECT_REFUSED(&f->host, WEFT_CANCELLED, weft_checkpoint_digest(&digest, checkpoint, 1),
                        "cancelled");
    assert_ok(weft_checkpoint_digest(&digest, checkpoint, 1));
    weft_checkpoint_close(&checkpoint);
}
