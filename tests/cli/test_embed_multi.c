/* SPDX-License-Identifier: MIT */
/* weft-test: one device */
/* weft embed and rerank of models with a vector for each token: each vector by its definition, which count, and the files that they are written to. */
#include <math.h>
#include <unistd.h>

#include "cli/sentence_folder.h"
#include "core/formats/npz.h"
#include "core/hash.h"
#include "core/math/philox.h"

enum { SIZE = 5, TEXTS = 4, MOST = 64 };

#define TRANSFORMER "[" MODULE("Transformer", "encoder") ", "
#define MODULES                                                                                  \
    TRANSFORMER MODULE("Dense", "1_Dense") ", " MODULE("MultiVectorMask", "2_Mask") ", " MODULE( \
        "Normalize", "3_Normalize") "]"
#define USAGE "{'model_type': 'MultiVectorEncoder', 'prompts': {'query': 'Q', 'document': 'd,'}}"
#define BERT                                                                           \
    "{'query_expansion': {'strategy': 'fixed', 'length': 8, 'attend': true, 'token': " \
    "'#'}, 'document_length': 12}"

static const char *const texts[TEXTS] = {"a,b!", "one that is longer than twelve", "", "!"};

static void write_dense(char *folder) {
    struct weft_test_model files = {.folder = make_folder(folder, "1_Dense")};
    weft_test_model_add(&files, "linear.weight", weft_shape_of(SIZE, HIDDEN));
    write_random(&files,
                 "{'in_features': 8, 'out_features': 5, 'bias': false, 'activation_function': "
                 "'torch.nn.modules.linear.Identity'}",
                 9);
}

/* A folder of bytes, in which punctuation of documents does not count. */
static char *write_multi(const char *place) {
    char *folder = make_folder(place, "multi");
    write_encoder(make_folder(folder, "encoder"));
    write_dense(folder);
    write_text(folder, "modules.json", MODULES);
    write_text(folder, "config_sentence_transformers.json", USAGE);
    write_text(folder, "encoder/sentence_bert_config.json", BERT);
    write_text(make_folder(folder, "2_Mask"), "config.json", "{'skiplist_words': [',', '!']}");
    write_text(make_folder(folder, "3_Normalize"), "config.json",
               "{'module_input_name': 'token_embeddings'}");
    return folder;
}

static char *write_lines(const char *folder) {
    char *lines = weft_test_text("%s\n%s\n%s\n%s\n", texts[0], texts[1], texts[2], texts[3]);
    return weft_test_write(folder, "lines.txt", lines, strlen(lines));
}

static char *command_of(const char *folder, const char *more) {
    return weft_test_text("embed %s --text '%s' --text '%s' %s", folder, texts[0], texts[1], more);
}

/* ---- by their definition ---- */

/* Of a sequence of bytes, without those in `skipped`, from a float64 product on: returns how many. */
static size_t define(double out[MOST][SIZE], const char *place, const char *folder,
                     const char *bytes, const char *skipped) {
    const size_t length = strlen(bytes);
    float weight[SIZE * HIDDEN];
    char *file = weft_test_write(place, "one.txt", bytes, length);
    char *path = weft_test_path(place, "hidden.npy");
    size_t count = 0;
    weft_philox_uniform(weight, SIZE * HIDDEN, 9, 0);
    json_decref(run_json("", "run %s/encoder --file %s --out %s", folder, file, path));
    float *x = read_reals(path, length * HIDDEN);
    for (size_t i = 0; i < length; i++) {
        double square = 0;
        if (strchr(skipped, bytes[i])) {
            continue;
        }
        for (size_t k = 0; k < SIZE; k++) {
            out[count][k] = 0;
            for (size_t c = 0; c < HIDDEN; c++) {
                out[count][k] += (double)weight[k * HIDDEN + c] * (double)x[i * HIDDEN + c];
            }
            square += out[count][k] * out[count][k];
        }
        for (size_t k = 0; k < SIZE; k++) {
            out[count][k] /= sqrt(square);
        }
        count++;
    }
    free(x);
    return count;
}

/* An archive's vectors: free; offsets[count + 1]. */
static float *read_vectors(int64_t *offsets, size_t count, const char *path) {
    weft_npz *archive = NULL;
    weft_npy npy = {0};
    assert_ok(weft_npz_open(&archive, path, NULL));
    assert_ok(weft_npz_get(&npy, archive, "offsets", 1 << 20));
    assert_int_equal(npy.bytes, (count + 1) * sizeof *offsets);
    memcpy(offsets, npy.data, npy.bytes);
    weft_npy_close(&npy);
    assert_ok(weft_npz_get(&npy, archive, "vectors", 1 << 20));
    assert_int_equal(npy.rank, 2);
    assert_int_equal(npy.shape[0], offsets[count]);
    assert_int_equal(npy.shape[1], SIZE);
    float *values = malloc(npy.bytes + 1);
    assert_non_null(values);
    assert_ok(weft_npy_read_f32(&npy, values));
    weft_npy_close(&npy);
    weft_npz_close(&archive);
    return values;
}

static float *embed(int64_t offsets[TEXTS + 1], struct place *place, const char *folder,
                    const char *more) {
    char *out = weft_test_path(place->folder, "out.npz");
    json_t *report = run_json("", "embed %s --lines %s --out %s %s", folder,
                              write_lines(place->folder), out, more);
    float *values = read_vectors(offsets, TEXTS, out);
    assert_int_equal(json_integer_value(json_array_get(field(report, "output/shape"), 0)),
                     offsets[TEXTS]);
    assert_int_equal(integer_field(report, "texts"), TEXTS);
    json_decref(report);
    return values;
}

static void expect_text(const float *found, size_t found_count, double expected[MOST][SIZE],
                        size_t count) {
    assert_int_equal(found_count, count);
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < SIZE; k++) {
            assert_true(fabs((double)found[i * SIZE + k] - expected[i][k]) <= 2e-6);
        }
    }
}

/* Queries have 8 tokens, all of which count; documents at most 12, without commas and exclamation marks. */
PLACE_TEST(vectors_are_those_of_the_definition, place) {
    static const struct {
        const char *task, *skipped, *bytes[TEXTS];
    } cases[] = {
        {"--task query", "", {"Qa,b!###", "Qone tha", "Q#######", "Q!######"}},
        {"--task document", ",!", {"d,a,b!", "d,one that i", "d,", "d,!"}},
        {"--prompt x", ",!", {"xa,b!", "xone that is longer than twelve", "x", "x!"}},
    };
    char *folder = write_multi(place->folder);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t offsets[TEXTS + 1];
        float *found = embed(offsets, place, folder, cases[i].task);
        for (size_t t = 0; t < TEXTS; t++) {
            double expected[MOST][SIZE];
            const size_t count =
                define(expected, place->folder, folder, cases[i].bytes[t], cases[i].skipped);
            expect_text(&found[offsets[t] * SIZE], (size_t)(offsets[t + 1] - offsets[t]), expected,
                        count);
        }
        free(found);
    }
}

PLACE_TEST(each_text_has_the_bits_that_it_has_alone, place) {
    char *folder = write_multi(place->folder);
    int64_t offsets[TEXTS + 1];
    float *all = embed(offsets, place, folder, "--task document");
    for (size_t t = 0; t < TEXTS; t++) {
        int64_t ends[2];
        char *out = weft_test_path(place->folder, "one.npz");
        json_decref(
            run_json("", "embed %s --task document --text '%s' --out %s", folder, texts[t], out));
        float *one = read_vectors(ends, 1, out);
        assert_int_equal(ends[1], offsets[t + 1] - offsets[t]);
        assert_memory_equal(one, &all[offsets[t] * SIZE], (size_t)ends[1] * SIZE * sizeof *one);
        free(one);
    }
    free(all);
}

/* ---- what is written ---- */

/* The same values in each form, and the hash of all. */
PLACE_TEST(files_have_all_vectors, place) {
    char *folder = write_multi(place->folder);
    int64_t offsets[TEXTS + 1];
    float *values = embed(offsets, place, folder, "--task document");
    char *path = weft_test_path(place->folder, "out.jsonl");
    json_t *report = run_json("", "embed %s --task document --lines %s --out %s", folder,
                              write_lines(place->folder), path);
    json_t *without = run_json("", "embed %s --task document --lines %s --batch 1", folder,
                               write_lines(place->folder));
    char digest[WEFT_DIGEST_TEXT_SIZE];
    size_t size = 0;
    const weft_digest hash =
        weft_digest_of((uint8_t *)values, (size_t)offsets[TEXTS] * SIZE * sizeof *values);
    assert_string_equal(string_field(report, "output/sha256"), weft_digest_text(&hash, digest));
    assert_string_equal(string_field(without, "output/sha256"), digest);
    char *bytes = (char *)weft_test_read(path, &size);
    const char *line = bytes;
    for (size_t t = 0; t < TEXTS; t++) {
        const char *end = memchr(line, '\n', size - (size_t)(line - bytes));
        assert_non_null(end);
        json_t *object = json_loadb(line, (size_t)(end - line), 0, NULL);
        const json_t *vectors = json_object_get(object, "vectors");
        assert_int_equal(json_array_size(vectors), offsets[t + 1] - offsets[t]);
        for (size_t i = 0; i < json_array_size(vectors) * SIZE; i++) {
            const json_t *value = json_array_get(json_array_get(vectors, i / SIZE), i % SIZE);
            assert_true((float)json_number_value(value) == values[(size_t)offsets[t] * SIZE + i]);
        }
        json_decref(object);
        line = end + 1;
    }
    assert_int_equal(line - bytes, size);
    free(bytes);
    free(values);
    json_decref(without);
    json_decref(report);
}

PLACE_TEST(ids_stand_beside_the_vectors, place) {
    static const char table[] = "id,t\n\"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x90\xB1\",abc\n17,x\n";
    /* "é€🐱" and "17" as NumPy has texts: UTF-32 of one length. */
    static const uint32_t expected[] = {0xE9, 0x20AC, 0x1F431, '1', '7', 0};
    char *folder = write_multi(place->folder);
    char *lines = weft_test_write(place->folder, "t.csv", table, sizeof table - 1);
    char *out = weft_test_path(place->folder, "ids.npz");
    size_t size = 0;
    json_decref(
        run_json("", "embed %s --lines %s --field t --id-field id --out %s", folder, lines, out));
    char *bytes = (char *)weft_test_read(out, &size);
    bool found = false;
    bool named = false;
    for (size_t i = 0; i + sizeof expected <= size; i++) {
        found = found || memcmp(&bytes[i], expected, sizeof expected) == 0;
        named = named || memcmp(&bytes[i], "'<U3'", 5) == 0;
    }
    assert_true(found && named);
    free(bytes);
    char *part = weft_test_text("%s.part", out);
    assert_int_not_equal(access(part, F_OK), 0);
}

PLACE_TEST(a_few_texts_are_shown, place) {
    char *folder = write_multi(place->folder);
    expect_says(0, command_of(folder, "--task document"), "vectors", "answers text 1",
                "f32 [14, 5]\n", NULL);
    expect_says(0, command_of(folder, "--task query"), "8.0000", "f32 [16, 5]\n", NULL);
}

/* ---- ranks ---- */

PLACE_TEST(texts_are_ranked_by_the_largest_products, place) {
    char *folder = write_multi(place->folder);
    int64_t offsets[TEXTS + 1];
    float *values = embed(offsets, place, folder, "--task document");
    double query[MOST][SIZE];
    const size_t count = define(query, place->folder, folder, "Qone####", "");
    json_t *report =
        run_json("", "rerank %s --query one --lines %s", folder, write_lines(place->folder));
    const json_t *results = field(report, "results");
    double before = INFINITY;
    assert_int_equal(json_array_size(results), TEXTS);
    for (size_t i = 0; i < TEXTS; i++) {
        const json_t *result = json_array_get(results, i);
        const size_t t = (size_t)integer_field(result, "line") - 1;
        double score = 0;
        for (size_t q = 0; q < count; q++) {
            double largest = -INFINITY;
            for (int64_t row = offsets[t]; row < offsets[t + 1]; row++) {
                double product = 0;
                for (size_t k = 0; k < SIZE; k++) {
                    product += query[q][k] * (double)values[row * SIZE + (int64_t)k];
                }
                largest = product > largest ? product : largest;
            }
            score += largest;
        }
        assert_true(fabs(number_field(result, "score") - score) <= 1e-5);
        assert_true(number_field(result, "score") <= before);
        before = number_field(result, "score");
    }
    json_decref(report);
    free(values);
}

static void verify(const char *receipt, const char *folder, const char *task, const char *says) {
    char *command = weft_test_text("verify --receipt %s %s --task %s --text '%s' --text '%s'",
                                   receipt, folder, task, texts[0], texts[1]);
    struct outcome outcome = expect_weft(says ? 1 : 0, "%s", command);
    expect_part(&outcome, outcome.out, says ? says : "the same");
    outcome_clear(&outcome);
}

/* A receipt says which task texts had, how queries are filled up, and what is skipped. */
PLACE_TEST(a_receipt_can_be_checked, place) {
    char *folder = write_multi(place->folder);
    char *receipt = weft_test_path(place->folder, "r.json");
    json_decref(run_json("", "%s --receipt %s", command_of(folder, "--task query"), receipt));
    verify(receipt, folder, "query", NULL);
    verify(receipt, folder, "document", "setting max_length");
    write_text(folder, "2_Mask/config.json", "{'skiplist_words': [',', '?']}");
    verify(receipt, folder, "query", "setting skipped");
    write_text(folder, "2_Mask/config.json",
               "{'skiplist_words': [',', '!'], 'skiplist_tasks': 'query'}");
    verify(receipt, folder, "query", "setting multi-vector");
}

/* ---- what is refused ---- */

PLACE_TEST(what_such_a_folder_cannot_be_is_named, place) {
    static const struct {
        const char *file, *text, *says[2];
    } wrong[] = {
        {"2_Mask/config.json", "{'skiplist_words': 3}", {"skiplist_words", "array"}},
        {"2_Mask/config.json", "{'skiplist_tasks': {}}", {"skiplist_tasks", "tasks"}},
        {"2_Mask/config.json", "{'keep_only_token_ids': [1.5]}", {"keep_only_token_ids", "1.5"}},
        {"3_Normalize/config.json", "{}", {"module_input_name", "token_embeddings"}},
        {"modules.json",
         TRANSFORMER MODULE("Pooling", "2_Mask") "]",
         {"Pooling", "MultiVectorMask"}},
        {"modules.json",
         TRANSFORMER MODULE("HierarchicalTokenPooling", "2_Mask") "]",
         {"HierarchicalTokenPooling", "from_torch"}},
        {"modules.json",
         TRANSFORMER MODULE("MultiVectorMask", "2_Mask") ", " MODULE("MultiVectorMask",
                                                                     "2_Mask") "]",
         {"MultiVectorMask", "expected"}},
        {"config_sentence_transformers.json",
         "{'model_type': 'MultiVectorEncoder', 'similarity_fn_name': 'dot'}",
         {"similarity_fn_name", "meanmaxsim"}},
        {"config_sentence_transformers.json", "{}", {"MultiVectorMask", "expected"}},
        {"encoder/sentence_bert_config.json",
         "{'query_expansion': {'strategy': 'fixed', 'length': 8, 'token': '#'}}",
         {"attend", "pass over"}},
        {"encoder/sentence_bert_config.json",
         "{'query_expansion': {'strategy': 'fixed', 'length': 8, 'token': 'ab'}}",
         {"token", "ab"}},
        {"encoder/sentence_bert_config.json",
         "{'query_expansion': {'strategy': 'fixed', 'length': 8}}",
         {"mask_token", "found null"}},
        {"encoder/sentence_bert_config.json",
         "{'query_expansion': {'strategy': 'fixed', 'length': 33, 'token': '#'}}",
         {"length", "33"}},
        {"encoder/sentence_bert_config.json", "{'document_length': 0}", {"document_length", "0"}},
    };
    char *folder = write_multi(place->folder);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        size_t size = 0;
        uint8_t *before = weft_test_read(weft_test_path(folder, wrong[i].file), &size);
        write_text(folder, wrong[i].file, wrong[i].text);
        expect_refused(4, command_of(folder, ""), wrong[i].says[0], wrong[i].says[1], NULL);
        (void)weft_test_write(folder, wrong[i].file, (char *)before, size);
        free(before);
    }
    json_decref(run_json("", "%s", command_of(folder, "")));
}

PLACE_TEST(what_goes_with_one_vector_alone_is_refused, place) {
    char *folder = write_multi(place->folder);
    char *lines = write_lines(place->folder);
    expect_refused(2, command_of(folder, weft_test_text("--out %s/a.npy", place->folder)),
                   ".npz or .jsonl", NULL);
    expect_refused(2,
                   weft_test_text("embed %s --lines %s --resume --out %s/a.jsonl", folder, lines,
                                  place->folder),
                   "--resume", "one vector", NULL);
    expect_refused(2, command_of(folder, "--task other"), "--task", "query or document", NULL);
    expect_refused(2, weft_test_text("search %s --model %s --query a", lines, folder), "--model",
                   "weft rerank", NULL);
    expect_refused(4, command_of(folder, "--pooling mean"), "modules.json", NULL);
}

/* Of a model with one vector, a task chooses the prompt. */
PLACE_TEST(a_task_chooses_the_prompt, place) {
    char *folder = write_sentences(place, START "]", "{'pooling_mode_mean_tokens': true}");
    write_text(folder, "config_sentence_transformers.json",
               "{'prompts': {'query': 'Q', 'passage': 'p'}}");
    json_t *task = run_json("", "%s", command_of(folder, "--task document"));
    json_t *prompt = run_json("", "%s", command_of(folder, "--prompt p"));
    json_t *none = run_json("", "%s", command_of(folder, ""));
    assert_string_equal(string_field(task, "output/sha256"), string_field(prompt, "output/sha256"));
    assert_string_not_equal(string_field(task, "output/sha256"),
                            string_field(none, "output/sha256"));
    json_decref(task);
    json_decref(prompt);
    json_decref(none);
}
