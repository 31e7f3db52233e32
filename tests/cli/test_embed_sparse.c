/* SPDX-License-Identifier: MIT */
/* weft-test: one device */
/* weft embed of SPLADE's folders: each value by its definition, and the files that sparse vectors are written to. */
#include <math.h>
#include <unistd.h>

#include "cli/sentence_folder.h"
#include "core/formats/npz.h"

#define SPLADE \
    "[" MODULE("MLMTransformer", "encoder") ", " MODULE("SpladePooling", "1_SpladePooling") "]"

static const struct tiny_model words = {
    .task = "masked_lm", .vocabulary = BYTES, .outputs = BYTES, .bytes = true, .seed = 2};

static const char *const texts[] = {"abc", "a longer one", "x"};
enum { TEXTS = 3 };

/* A folder around a masked language model of bytes. */
static char *write_splade(const char *place, const char *pooling) {
    char *folder = make_folder(place, "splade");
    (void)write_tiny_model(folder, "encoder", &words);
    write_text(folder, "modules.json", SPLADE);
    write_text(folder, "config_sentence_transformers.json",
               "{'model_type': 'SparseEncoder', 'similarity_fn_name': null}");
    write_text(make_folder(folder, "1_SpladePooling"), "config.json", pooling);
    return folder;
}

static char *command_of(const char *folder, const char *more) {
    return weft_test_text("embed %s --text '%s' --text '%s' --text '%s' %s", folder, texts[0],
                          texts[1], texts[2], more);
}

static char *write_lines(const char *folder) {
    char *lines = weft_test_text("%s\n%s\n%s\n", texts[0], texts[1], texts[2]);
    return weft_test_write(folder, "lines.txt", lines, strlen(lines));
}

/* The vectors [TEXTS, BYTES]: free. */
static float *vectors_of(struct place *place, const char *folder) {
    json_decref(run_json("", "%s --out %s", command_of(folder, ""), place->out));
    return read_reals(place->out, (size_t)TEXTS * BYTES);
}

/* ---- values ---- */

static void expect_values(struct place *place, const char *folder, const float *found, bool sums,
                          bool twice) {
    for (size_t t = 0; t < TEXTS; t++) {
        char *file = weft_test_write(place->folder, "one.txt", texts[t], strlen(texts[t]));
        char *out = weft_test_path(place->folder, "logits.npy");
        json_decref(run_json("", "run %s/encoder --file %s --out %s", folder, file, out));
        float *logits = read_reals(out, strlen(texts[t]) * BYTES);
        for (size_t word = 0; word < BYTES; word++) {
            double expected = 0;
            for (size_t i = 0; i < strlen(texts[t]); i++) {
                const double logit = (double)logits[i * BYTES + word];
                const double once = log1p(logit > 0 ? logit : 0);
                const double value = twice ? log1p(once) : once;
                expected = sums ? expected + value : value > expected ? value : expected;
            }
            assert_true(fabs((double)found[t * BYTES + word] - expected) <= 1e-6 * (1 + expected));
        }
        free(logits);
    }
}

PLACE_TEST(values_are_those_of_the_definition, place) {
    static const char *const configs[] = {
        "{'pooling_strategy': 'max', 'activation_function': 'relu'}",
        "{'pooling_strategy': 'max', 'activation_function': 'log1p_relu'}",
        "{'pooling_strategy': 'sum', 'activation_function': 'relu', 'embedding_dimension': 256}",
        "{'pooling_strategy': 'sum', 'activation_function': 'log1p_relu', 'chunk_size': 2}", "{}"};
    for (size_t i = 0; i < sizeof configs / sizeof *configs; i++) {
        char *folder =
            write_splade(make_folder(place->folder, weft_test_text("%zu", i)), configs[i]);
        float *found = vectors_of(place, folder);
        expect_values(place, folder, found, i == 2 || i == 3, i == 1 || i == 3);
        free(found);
    }
}

PLACE_TEST(each_sparse_vector_has_the_bits_that_it_has_alone, place) {
    char *folder = write_splade(place->folder, "{'pooling_strategy': 'sum'}");
    float *all = vectors_of(place, folder);
    for (size_t t = 0; t < TEXTS; t++) {
        json_decref(run_json("", "embed %s --text '%s' --out %s", folder, texts[t], place->out));
        float *one = read_reals(place->out, BYTES);
        assert_memory_equal(&all[t * BYTES], one, BYTES * sizeof *one);
        free(one);
    }
    free(all);
}

/* ---- what is printed ---- */

static size_t count_terms(const float *values, size_t count) {
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        found += values[i] != 0;
    }
    return found;
}

PLACE_TEST(the_largest_terms_are_printed, place) {
    char *folder = write_splade(place->folder, "{}");
    float *found = vectors_of(place, folder);
    size_t best = 0;
    double product = 0;
    for (size_t i = 0; i < BYTES; i++) {
        const bool letter = i > ' ' && i < 127;
        found[i] = letter ? found[i] : 0;
        best = found[i] > found[best] ? i : best;
    }
    free(found);
    found = vectors_of(place, folder);
    for (size_t i = 0; i < BYTES; i++) {
        product += (double)found[i] * (double)found[i];
    }
    expect_says(0, command_of(folder, "--top 256"), "the largest",
                weft_test_text("%c %.4f", (int)best, (double)found[best]),
                weft_test_text("%.4f", product), /* the first text's with itself */
                weft_test_text("f32 [3, 256], of which %zu are not 0\n",
                               count_terms(found, (size_t)TEXTS * BYTES)),
                NULL);
    free(found);
}

/* ---- files ---- */

static void expect_array(const weft_npz *archive, const char *name, const void *data, size_t size) {
    weft_npy npy = {0};
    assert_ok(weft_npz_get(&npy, archive, name, 1 << 20));
    assert_int_equal(npy.bytes, size);
    assert_memory_equal(npy.data, data, size);
    weft_npy_close(&npy);
}

/* A CSR matrix as SciPy has it, but for its format, whose type of text weft_npy does not read. */
static void expect_matrix(const char *path, const float *values) {
    weft_npz *archive = NULL;
    int32_t indices[TEXTS * BYTES];
    float data[TEXTS * BYTES];
    int64_t ends[TEXTS + 1] = {0};
    size_t count = 0;
    for (size_t i = 0; i < (size_t)TEXTS * BYTES; i++) {
        if (values[i] != 0) {
            indices[count] = (int32_t)(i % BYTES);
            data[count++] = values[i];
        }
        ends[i / BYTES + 1] = (int64_t)count;
    }
    assert_ok(weft_npz_open(&archive, path, NULL));
    assert_true(weft_npz_has(archive, "format"));
    expect_array(archive, "indices", indices, count * sizeof *indices);
    expect_array(archive, "data", data, count * sizeof *data);
    expect_array(archive, "indptr", ends, sizeof ends);
    expect_array(archive, "shape", (const int64_t[]){TEXTS, BYTES}, 2 * sizeof(int64_t));
    weft_npz_close(&archive);
}

static void expect_objects(const char *path, const float *values) {
    size_t size = 0;
    char *bytes = (char *)weft_test_read(path, &size);
    const char *line = bytes;
    for (size_t t = 0; t < TEXTS; t++) {
        const char *end = memchr(line, '\n', size - (size_t)(line - bytes));
        assert_non_null(end);
        json_t *object = json_loadb(line, (size_t)(end - line), 0, NULL);
        const json_t *places = json_object_get(object, "indices");
        const json_t *found = json_object_get(object, "values");
        assert_int_equal(json_array_size(places), count_terms(&values[t * BYTES], BYTES));
        for (size_t i = 0; i < json_array_size(places); i++) {
            const size_t at = (size_t)json_integer_value(json_array_get(places, i));
            const float value = (float)json_number_value(json_array_get(found, i));
            assert_true(at < BYTES && value == values[t * BYTES + at]);
        }
        json_decref(object);
        line = end + 1;
    }
    assert_int_equal(line - bytes, size);
    free(bytes);
}

/* At once, and as they come: the same file, and one hash. */
PLACE_TEST(sparse_vectors_are_written_with_their_places, place) {
    char *folder = write_splade(place->folder, "{}");
    char *lines = write_lines(place->folder);
    float *values = vectors_of(place, folder);
    json_t *dense = run_json("", "embed %s --lines %s", folder, lines);
    assert_int_equal(integer_field(dense, "terms"), count_terms(values, (size_t)TEXTS * BYTES));
    for (size_t i = 0; i < 2; i++) {
        char *out = weft_test_path(place->folder, i == 0 ? "out.npz" : "out.jsonl");
        json_t *report = run_json("", "%s --out %s", command_of(folder, ""), out);
        assert_string_equal(string_field(report, "output/sha256"),
                            string_field(dense, "output/sha256"));
        if (i == 0) {
            expect_matrix(out, values);
        } else {
            expect_objects(out, values);
        }
        size_t size[2] = {0};
        uint8_t *at_once = weft_test_read(out, &size[0]);
        json_decref(report);
        report = run_json("", "embed %s --lines %s --batch 1 --out %s", folder, lines, out);
        assert_string_equal(string_field(report, "output/sha256"),
                            string_field(dense, "output/sha256"));
        uint8_t *as_they_come = weft_test_read(out, &size[1]);
        assert_int_equal(size[0], size[1]);
        assert_memory_equal(at_once, as_they_come, size[0]);
        free(at_once);
        free(as_they_come);
        json_decref(report);
    }
    json_decref(dense);
    free(values);
}

PLACE_TEST(terms_behind_the_largest_are_left_out_where_the_folder_says_so, place) {
    char *folder = write_splade(place->folder, "{}");
    float *all = vectors_of(place, folder);
    write_text(folder, "config_sentence_transformers.json",
               "{'model_type': 'SparseEncoder', 'max_active_dims': 5}");
    float *found = vectors_of(place, folder);
    for (size_t t = 0; t < TEXTS; t++) {
        size_t larger = 0;
        assert_int_equal(count_terms(&found[t * BYTES], BYTES), 5);
        for (size_t i = 0; i < BYTES; i++) {
            const float value = found[t * BYTES + i];
            assert_true(value == 0 || value == all[t * BYTES + i]);
            for (size_t k = 0; k < BYTES && value != 0; k++) {
                larger += found[t * BYTES + k] == 0 && all[t * BYTES + k] > value;
            }
        }
        assert_int_equal(larger, 0);
    }
    free(all);
    free(found);
}

/* ---- ranks ---- */

PLACE_TEST(ranks_follow_the_product_of_sparse_vectors, place) {
    char *folder = write_splade(place->folder, "{}");
    float *values = vectors_of(place, folder);
    json_t *report = run_json("", "rerank %s --query '%s' --lines %s", folder, texts[1],
                              write_lines(place->folder));
    const json_t *results = field(report, "results");
    for (size_t i = 0; i < TEXTS; i++) {
        const json_t *result = json_array_get(results, i);
        const size_t t = (size_t)integer_field(result, "line") - 1;
        double product = 0;
        for (size_t k = 0; k < BYTES; k++) {
            product += (double)values[BYTES + k] * (double)values[t * BYTES + k];
        }
        assert_true(fabs(number_field(result, "score") - product) <= 1e-6 * product);
    }
    json_decref(report);
    free(values);
}

/* ---- what is refused ---- */

PLACE_TEST(what_a_sparse_folder_cannot_be_is_named, place) {
    static const struct {
        const char *file, *text, *says[2];
    } wrong[] = {
        {"1_SpladePooling/config.json",
         "{'pooling_strategy': 'mean'}",
         {"pooling_strategy", "sum"}},
        {"1_SpladePooling/config.json", "{'activation_function': 'gelu'}", {"gelu", "log1p_relu"}},
        {"1_SpladePooling/config.json", "{'pooling_strategy': 3}", {"pooling_strategy", "3"}},
        {"1_SpladePooling/config.json", "[]", {"config.json", "object"}},
        {"modules.json",
         "[" MODULE("MLMTransformer", "encoder") "]",
         {"SpladePooling", "SparseEncoder"}},
        {"modules.json",
         "[" MODULE("MLMTransformer", "encoder") ", " MODULE("Pooling", "1_SpladePooling") "]",
         {"Pooling", "SpladePooling"}},
        {"modules.json",
         "[" MODULE("MLMTransformer", "encoder") ", " MODULE(
             "SpladePooling", "1_SpladePooling") ", " MODULE("Normalize", "") "]",
         {"Normalize", "SpladePooling"}},
        {"modules.json",
         "[" MODULE("SpladePooling", "1_SpladePooling") ", " MODULE("MLMTransformer",
                                                                    "encoder") "]",
         {"SpladePooling", "expected"}},
        {"modules.json",
         "[" MODULE("MLMTransformer", "encoder") ", " MODULE("SpladePooling", "../splade") "]",
         {"a folder in this one", "../splade"}},
        {"config_sentence_transformers.json",
         "{'model_type': 'SparseEncoder', 'max_active_dims': 0}",
         {"max_active_dims", "0"}},
        {"config_sentence_transformers.json",
         "{'model_type': 'SparseEncoder', 'similarity_fn_name': 'maxsim'}",
         {"similarity_fn_name", "maxsim"}},
        {"encoder/sentence_bert_config.json",
         "{'transformer_task': 'feature-extraction'}",
         {"transformer_task", "fill-mask"}},
    };
    char *folder = write_splade(place->folder, "{}");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        size_t size = 0;
        char *path = weft_test_path(folder, wrong[i].file);
        uint8_t *before = access(path, F_OK) == 0 ? weft_test_read(path, &size) : NULL;
        write_text(folder, wrong[i].file, wrong[i].text);
        expect_refused(4, command_of(folder, ""), wrong[i].says[0], wrong[i].says[1], NULL);
        if (before) {
            (void)weft_test_write(folder, wrong[i].file, (char *)before, size);
        } else {
            assert_int_equal(unlink(path), 0);
        }
        free(before);
    }
    json_decref(run_json("", "%s", command_of(folder, "")));
}

PLACE_TEST(an_encoder_without_a_vocabulary_s_head_is_named, place) {
    char *folder = write_splade(place->folder, "{}");
    write_text(
        folder, "modules.json",
        "[" MODULE("MLMTransformer", "hidden") ", " MODULE("SpladePooling", "1_SpladePooling") "]");
    write_encoder(make_folder(folder, "hidden"));
    expect_refused(4, command_of(folder, ""), "a masked language model", "hidden", NULL);
}

PLACE_TEST(files_that_do_not_go_with_the_vectors_are_refused, place) {
    char *folder = write_splade(place->folder, "{}");
    char *dense = write_sentences(&(struct place){.folder = make_folder(place->folder, "dense")},
                                  START "]", "{'pooling_mode_mean_tokens': true}");
    expect_refused(2, weft_test_text("embed %s --text a --out %s/a.npz", dense, place->folder),
                   ".npz", "sparse", NULL);
    expect_refused(2,
                   weft_test_text("embed %s --lines %s --resume --out %s/a.npz", folder,
                                  write_lines(place->folder), place->folder),
                   "--resume", ".npz", NULL);
    expect_refused(4, weft_test_text("embed %s --text a --pooling mean", folder), "modules.json",
                   NULL);
}
