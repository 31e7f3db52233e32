/* SPDX-License-Identifier: MIT */
/* Weights in several files with an index, and names that a file notes for tensors that it has once. */
#include <weft/model.h>

#include "model/files/safetensors.h"
#include "model/files/safetensors_header.h"
#include "support.h"

#define CHECKPOINT "fnet/classify_d36_l2_gelu"

enum { SHARDS = 3 };

static const char *const shard_names[SHARDS] = {"model-00001-of-00003.safetensors",
                                                "model-00002-of-00003.safetensors",
                                                "model-00003-of-00003.safetensors"};

struct fixture {
    struct weft_test_host host;
    char *folder;
    weft_safetensors *whole; /* the checkpoint as it is in one file */
};

static int set_up(void **state) {
    struct fixture *f = calloc(1, sizeof *f);
    size_t size = 0;
    weft_test_host_begin(&f->host);
    f->folder = weft_test_folder();
    uint8_t *config = weft_test_read(weft_test_data(CHECKPOINT "/config.json"), &size);
    weft_test_write(f->folder, "config.json", config, size);
    free(config);
    assert_ok(weft_safetensors_open(&f->whole, weft_test_data(CHECKPOINT "/model.safetensors"),
                                    &f->host.host));
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    struct fixture *f = *state;
    weft_safetensors_close(&f->whole);
    weft_test_host_end(&f->host);
    free(f);
    return 0;
}

#define TEST(name, f) WEFT_TEST_WITH(name, struct fixture *f, set_up, tear_down)

/* ---- writing ---- */

/* A name that a tensor has instead of its own, and what the file notes; null: none. */
struct change {
    const char *name, *instead;
    weft_safetensors_note note;
};

/* Those tensors whose number is `first` modulo `step`. */
static void write_part(struct fixture *f, const char *file, uint32_t first, uint32_t step,
                       const struct change *change) {
    struct weft_safetensors_header header = {.text = {.host = f->host.host}};
    char *data = malloc((size_t)weft_safetensors_size(f->whole));
    size_t size = 0;
    for (uint32_t i = first; i < weft_safetensors_count(f->whole); i += step) {
        const weft_safetensors_tensor *tensor = weft_safetensors_at(f->whole, i);
        const bool renamed = change && change->name && strcmp(change->name, tensor->name) == 0;
        assert_ok(weft_safetensors_header_add(&header, renamed ? change->instead : tensor->name,
                                              tensor->dtype, tensor->shape, tensor->rank));
        assert_ok(weft_safetensors_read(f->whole, tensor, 0, data + size, (size_t)tensor->bytes));
        size += (size_t)tensor->bytes;
    }
    const bool noted = change && change->note.key;
    assert_ok(weft_safetensors_header_end(&header, noted ? &change->note : NULL, noted));
    char *all = malloc(header.text.length + size);
    memcpy(all, header.text.data, header.text.length);
    memcpy(all + header.text.length, data, size);
    weft_test_write(f->folder, file, all, header.text.length + size);
    weft_free(&f->host.host, header.text.data);
    free(all);
    free(data);
}

static void write_text(struct fixture *f, const char *name, const char *text) {
    weft_test_write(f->folder, name, text, strlen(text));
}

/* The right index, but for one tensor, which is left out (null) or said to be in another file. */
static char *index_but(struct fixture *f, const char *tensor, const char *file) {
    char *text = weft_test_text("{\"metadata\": {\"total_size\": 1}, \"weight_map\": {");
    const char *comma = "";
    for (uint32_t i = 0; i < weft_safetensors_count(f->whole); i++) {
        const char *name = weft_safetensors_at(f->whole, i)->name;
        const bool other = tensor && strcmp(name, tensor) == 0;
        const char *where = other ? file : shard_names[i % SHARDS];
        if (where) {
            text = weft_test_text("%s%s\"%s\": \"%s\"", text, comma, name, where);
            comma = ", ";
        }
    }
    return weft_test_text("%s}}", text);
}

static void write_shards(struct fixture *f) {
    for (uint32_t i = 0; i < SHARDS; i++) {
        write_part(f, shard_names[i], i, SHARDS, NULL);
    }
    write_text(f, "model.safetensors.index.json", index_but(f, NULL, NULL));
}

/* ---- loading ---- */

static weft_status load(struct fixture *f) {
    weft_model *model = NULL;
    const weft_status status = weft_model_load(&model, f->folder, &f->host.host);
    assert_true((status == WEFT_OK) == (model != NULL));
    weft_model_destroy(&model);
    return status;
}

/* Every tensor of the checkpoint is in the bytes that the model gives, and they make a model, too. */
static void expect_whole(struct fixture *f, weft_model *model) {
    weft_safetensors *file = NULL;
    char *bytes = NULL;
    size_t size = 0;
    assert_ok(weft_model_weights(model, &bytes, &size));
    assert_ok(weft_safetensors_open_memory(&file, bytes, size, "copy", &f->host.host));
    assert_int_equal(weft_safetensors_count(file), weft_safetensors_count(f->whole));
    for (uint32_t i = 0; i < weft_safetensors_count(file); i++) {
        const weft_safetensors_tensor *copy = weft_safetensors_at(file, i);
        const weft_safetensors_tensor *tensor = weft_safetensors_at(f->whole, i);
        char *values[2] = {malloc((size_t)tensor->bytes), malloc((size_t)tensor->bytes)};
        assert_string_equal(copy->name, tensor->name);
        assert_int_equal(copy->bytes, tensor->bytes);
        assert_ok(weft_safetensors_read(file, copy, 0, values[0], (size_t)copy->bytes));
        assert_ok(weft_safetensors_read(f->whole, tensor, 0, values[1], (size_t)copy->bytes));
        assert_memory_equal(values[0], values[1], (size_t)copy->bytes);
        free(values[0]);
        free(values[1]);
    }
    weft_safetensors_close(&file);
    weft_model *again = NULL;
    const weft_model_memory memory = {
        .config_json = weft_model_config(model), .weights = bytes, .weights_size = size};
    assert_ok(weft_model_load_memory(&again, &memory, &f->host.host));
    weft_model_destroy(&again);
    weft_text_free(model, &bytes);
}

TEST(files_of_an_index_are_a_model, f) {
    weft_model *model = NULL;
    write_shards(f);
    assert_ok(weft_model_load(&model, f->folder, &f->host.host));
    expect_whole(f, model);
    weft_model_destroy(&model);
}

TEST(one_file_is_taken_before_an_index, f) {
    write_part(f, "model.safetensors", 0, 1, NULL);
    write_text(f, "model.safetensors.index.json", "{}");
    assert_ok(load(f));
}

TEST(each_allocation_may_fail, f) {
    write_shards(f);
    weft_status status = WEFT_OUT_OF_HOST_MEMORY;
    while (weft_test_next_failure(&f->host, status)) {
        status = load(f);
    }
    assert_true(f->host.failures > 100);
}

TEST(an_index_that_differs_from_its_files_is_refused, f) {
    write_shards(f);
    const char *first = weft_safetensors_at(f->whole, 0)->name;
    const struct {
        const char *index, *part, *other;
        weft_status status;
    } rows[] = {
        {index_but(f, first, NULL), first, "expected it in weight_map", WEFT_BAD_FILE},
        {index_but(f, first, shard_names[1]), first, shard_names[0], WEFT_BAD_FILE},
        {index_but(f, first, "model-00004-of-00003.safetensors"), first, "is not complete",
         WEFT_NOT_FOUND},
        {index_but(f, first, "../model-00001-of-00003.safetensors"), first, "the same folder",
         WEFT_BAD_FILE},
        {index_but(f, first, "/etc/a.safetensors"), first, "the same folder", WEFT_BAD_FILE},
        {index_but(f, first, "a:b.safetensors"), first, "the same folder", WEFT_BAD_FILE},
        {index_but(f, first, "pytorch_model.bin"), first, ".safetensors", WEFT_BAD_FILE},
        {index_but(f, first, ".safetensors"), first, ".safetensors", WEFT_BAD_FILE},
        {"{\"weight_map\": {\"a\": 3}}", "\"a\"", "found 3", WEFT_BAD_FILE},
        {"{\"weight_map\": {}}", "weight_map", "an object", WEFT_BAD_FILE},
        {"{\"weight_map\": []}", "weight_map", "an array", WEFT_BAD_FILE},
        {"{\"metadata\": {}}", "weight_map", "nothing", WEFT_BAD_FILE},
        {"{\"weight_map\": {\"a\": \"b\", \"a\": \"b\"}}", "index.json:1:", "a", WEFT_BAD_FILE},
        {"version https://git-lfs.github.com/spec/v1\n", "Git LFS", "git lfs pull", WEFT_BAD_FILE},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        write_text(f, "model.safetensors.index.json", rows[i].index);
        WEFT_EXPECT_REFUSED(&f->host, rows[i].status, load(f), rows[i].part, rows[i].other,
                            "index.json");
    }
}

TEST(files_that_do_not_fit_are_refused, f) {
    write_shards(f);
    write_part(f, shard_names[2], 1, SHARDS, NULL); /* again what the second has */
    WEFT_EXPECT_REFUSED(&f->host, WEFT_BAD_FILE, load(f), "is also in", shard_names[1],
                        shard_names[2]);
    write_text(f, shard_names[2], "version https://git-lfs.github.com/spec/v1\n");
    WEFT_EXPECT_REFUSED(&f->host, WEFT_BAD_FILE, load(f), shard_names[2], "git lfs pull");
    remove(weft_test_path(f->folder, shard_names[2]));
    WEFT_EXPECT_REFUSED(&f->host, WEFT_NOT_FOUND, load(f), shard_names[2], "index.json");
}

/* ---- other names ---- */

/* As safetensors.torch.save_model writes tensors that share memory. */
TEST(a_noted_name_stands_for_the_tensor_that_was_kept, f) {
    const struct change change = {
        "classifier.weight", "other.name", {"classifier.weight", "other.name"}};
    write_part(f, "model.safetensors", 0, 1, &change);
    assert_ok(load(f));
    assert_string_equal(weft_test_log(&f->host), "");
    const struct change none = {"classifier.weight", "other.name", {"format", "pt"}};
    write_part(f, "model.safetensors", 0, 1, &none);
    WEFT_EXPECT_REFUSED(&f->host, WEFT_NOT_FOUND, load(f), "classifier.weight", "found none");
}

TEST(names_noted_in_one_of_several_files_count_for_all, f) {
    const struct change change = {.note = {"some.other", "classifier.weight"}};
    write_shards(f);
    for (uint32_t i = 0; i < SHARDS; i++) {
        write_part(f, shard_names[i], i, SHARDS, &change);
    }
    weft_model *model = NULL;
    assert_ok(weft_model_load(&model, f->folder, &f->host.host));
    char *bytes = NULL;
    size_t size = 0;
    assert_ok(weft_model_weights(model, &bytes, &size));
    weft_safetensors *file = NULL;
    assert_ok(weft_safetensors_open_memory(&file, bytes, size, "copy", &f->host.host));
    assert_int_equal(weft_safetensors_note_count(file), 1);
    assert_string_equal(weft_safetensors_note_at(file, 0)->key, "some.other");
    assert_string_equal(weft_safetensors_note_at(file, 0)->value, "classifier.weight");
    weft_safetensors_close(&file);
    weft_text_free(model, &bytes);
    weft_model_destroy(&model);
}

TEST(a_name_noted_for_two_tensors_is_refused, f) {
    const struct change change = {.note = {"some.other", "classifier.weight"}};
    const struct change another = {.note = {"some.other", "classifier.bias"}};
    write_shards(f);
    write_part(f, shard_names[0], 0, SHARDS, &change);
    write_part(f, shard_names[1], 1, SHARDS, &another);
    WEFT_EXPECT_REFUSED(&f->host, WEFT_BAD_FILE, load(f), "some.other", "classifier.weight",
                        "classifier.bias");
}
