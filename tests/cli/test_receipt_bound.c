/* SPDX-License-Identifier: MIT */
/* weft-test: one device */
/* What a receipt binds beside the runs: lines and their order, prompts, similarity, labels, settings, and what was handed over. */
#include <weft/receipt.h>

#include "cli/receipt_document.h"
#include "cli/sentence_folder.h"

static const struct tiny_model classifier = {
    .task = "classify", .vocabulary = BYTES, .outputs = OUTPUTS, .bytes = true, .seed = 6};

static char *write_lines(const struct place *place, const char *name, const char *text) {
    return weft_test_write(place->folder, name, text, strlen(text));
}

static char *make_receipt(const struct place *place, const char *command, const char *arguments) {
    char *path = weft_test_path(place->folder, weft_test_text("%s.json", command));
    struct outcome outcome =
        expect_weft(0, "%s %s --receipt '%s' > /dev/null", command, arguments, path);
    outcome_clear(&outcome);
    return path;
}

/* The receipt verifies with these arguments; or with `differs`, that is the first record that does not. */
static void verify(const char *receipt, const char *arguments, const char *differs) {
    struct outcome outcome =
        expect_weft(differs ? 1 : 0, "verify --receipt '%s' %s", receipt, arguments);
    expect_part(&outcome, outcome.out,
                differs ? weft_test_text("differs first in the %s\n", differs) : "the same bits");
    outcome_clear(&outcome);
}

/* ---- chains that hold ---- */

static weft_receipt *read_by_library(const char *path) {
    weft_receipt *receipt = NULL;
    size_t size = 0;
    uint8_t *text = weft_test_read(path, &size);
    assert_ok(weft_receipt_read(&receipt, (const char *)text, size, NULL));
    free(text);
    return receipt;
}

/* A forger's document is read, and differs from the good one: *record is the first record of the good one that does. Consumes it. */
static weft_receipt *compare_forged(weft_record_info *record, const char *good, json_t *document) {
    char *path = weft_test_text("%s.forged", good);
    write_receipt(document, path);
    weft_receipt *forged = read_by_library(path);
    weft_receipt *receipt = read_by_library(good);
    uint32_t first = 0;
    assert_ok(weft_receipt_compare(&first, receipt, forged));
    assert_int_not_equal(first, UINT32_MAX);
    *record = (weft_record_info){.name = "nothing"};
    weft_receipt_get_record(receipt, first, record);
    weft_receipt_destroy(&forged);
    return receipt;
}

/* Somebody gives a record of a good receipt another text or hash, and makes the chain anew: what verify makes again differs there. */
static void expect_forgery(const char *receipt, const char *kind, const char *name,
                           const char *field, const char *value) {
    weft_record_info record;
    json_t *document = read_receipt(receipt);
    json_t *forged = record_of(document, kind, name);
    char *expected = weft_test_text("%s", string_field(forged, "name"));
    set_text(forged, field, value);
    weft_receipt *good = compare_forged(&record, receipt, document);
    assert_string_equal(weft_record_kind_name(record.kind), kind);
    assert_string_equal(record.name, expected);
    weft_receipt_destroy(&good);
}

/* ---- lines ---- */

PLACE_TEST(lines_are_bound_with_their_order_and_blank_ones, place) {
    char *model = write_tiny_model(place->folder, "model", &classifier);
    char *a = write_lines(place, "a.txt", "one\ntwo words\nand three more\n");
    char *same = weft_test_text("'%s' --lines '%s'", model, a);
    char *receipt = make_receipt(place, "run", same);
    static const struct {
        const char *text, *differs;
    } others[] = {
        {"one\ntwo words\nand three more", NULL}, /* the last line needs no end */
        {"and three more\ntwo words\none\n", "data 'line 1'"},
        {"one\n\ntwo words\nand three more\n", "data 'line 2'"},
        {"one\ntwo words\nand three more\n\n", "data 'line 4'"},
        {"one\ntwo words\n", "data 'line 3'"}, /* which the receipt has */
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        char *b = write_lines(place, "b.txt", others[i].text);
        verify(receipt, weft_test_text("'%s' --lines '%s'", model, b), others[i].differs);
    }
    expect_forgery(receipt, "answer", NULL, "sha256", ZEROS);
    expect_forgery(receipt, "answer", NULL, "type", "2 of 3 lines, each u64 line, f32 [4]");
    expect_forgery(receipt, "rows", NULL, "sha256", ZEROS);
    expect_forgery(receipt, "data", "line 2", "type", "9 bytes, 8 tokens, 1 cut off");
}

/* The model reads 16 bytes: what is behind them decides nothing but is what somebody gave. */
PLACE_TEST(what_was_cut_is_bound, place) {
    char *model = write_tiny_model(place->folder, "model", &classifier);
    char *a = write_lines(place, "a.txt", "sixteen bytes and more\n");
    char *b = write_lines(place, "b.txt", "sixteen bytes and less\n");
    char *c = write_lines(place, "c.txt", "sixteen bytes an\n");
    char *receipt = make_receipt(place, "run", weft_test_text("'%s' --lines '%s'", model, a));
    verify(receipt, weft_test_text("'%s' --lines '%s'", model, b), "data 'line 1'");
    verify(receipt, weft_test_text("'%s' --lines '%s'", model, c), "data 'line 1'");
    json_t *document = read_receipt(receipt);
    assert_string_equal(string_field(record_of(document, "data", "line 1"), "type"),
                        "22 bytes, 16 tokens, 6 cut off");
    json_decref(document);
    char *text = weft_test_text("'%s' --text 'sixteen bytes and more'", model);
    receipt = make_receipt(place, "run", text);
    verify(receipt, text, NULL);
    verify(receipt, weft_test_text("'%s' --text 'sixteen bytes and less'", model), "data 'text 1'");
    verify(receipt, weft_test_text("'%s' --file '%s'", model, c), "data 'text 1'");
}

/* A receipt of nothing but empty lines has no run. */
PLACE_TEST(empty_lines_have_a_receipt, place) {
    char *model = write_tiny_model(place->folder, "model", &classifier);
    char *a = write_lines(place, "a.txt", "\n\n");
    char *b = write_lines(place, "b.txt", "\n\n\n");
    char *receipt = make_receipt(place, "run", weft_test_text("'%s' --lines '%s'", model, a));
    verify(receipt, weft_test_text("'%s' --lines '%s'", model, a), NULL);
    verify(receipt, weft_test_text("'%s' --lines '%s'", model, b), "data 'line 3'");
}

/* Behind the first 128 lines several share a record. */
PLACE_TEST(many_lines_share_records, place) {
    char *model = write_tiny_model(place->folder, "model", &classifier);
    char text[2 * 300 + 1] = "";
    for (size_t i = 0; i < 300; i++) {
        memcpy(&text[2 * i], "a\n", 2);
    }
    char *a = write_lines(place, "a.txt", text);
    char *receipt = make_receipt(place, "run", weft_test_text("'%s' --lines '%s'", model, a));
    verify(receipt, weft_test_text("'%s' --lines '%s'", model, a), NULL);
    text[2 * 250] = 'b';
    char *b = write_lines(place, "b.txt", text);
    verify(receipt, weft_test_text("'%s' --lines '%s'", model, b), "data 'lines 129 to 256'");
}

PLACE_TEST(the_first_text_of_pairs_is_bound, place) {
    char *model = write_tiny_model(place->folder, "model", &classifier);
    char *receipt =
        make_receipt(place, "run", weft_test_text("'%s' --text abc --pair defg", model));
    verify(receipt, weft_test_text("'%s' --text abc --pair defg", model), NULL);
    verify(receipt, weft_test_text("'%s' --text abd --pair defg", model), "data 'first text'");
    verify(receipt, weft_test_text("'%s' --text abc --pair defh", model), "data 'text 1'");
}

/* ---- vectors ---- */

static const char pooling[] =
    "{'word_embedding_dimension': 8, 'pooling_mode_mean_tokens': true, 'include_prompt': false}";

PLACE_TEST(embeds_prompts_pooling_and_vectors_are_bound, place) {
    char *model = write_tiny_model(place->folder, "model", &causal);
    char *a = write_lines(place, "a.txt", "one\n\ntwo\n");
    char *start = weft_test_text("'%s' --lines '%s'", model, a);
    char *same = weft_test_text("%s --pooling mean --prompt 'q: '", start);
    char *receipt = make_receipt(place, "embed", same);
    verify(receipt, same, NULL);
    verify(receipt, weft_test_text("%s --pooling mean --prompt 'r: '", start), "data 'prompt'");
    verify(receipt, weft_test_text("%s --pooling cls --prompt 'q: '", start),
           "setting embedding 0");
    verify(receipt, weft_test_text("%s --normalize", same), "setting embedding");
    char *b = write_lines(place, "b.txt", "one\ntwo\n\n");
    verify(receipt, weft_test_text("'%s' --lines '%s' --pooling mean --prompt 'q: '", model, b),
           "data 'line 2'");
    expect_forgery(receipt, "answer", "vectors", "sha256", ZEROS);
    expect_forgery(receipt, "answer", "vectors", "type", "f32 [2, 8]");
}

/* A prompt that pooling leaves out, and one that does not, of the same texts. */
PLACE_TEST(a_prompt_that_is_left_out_is_bound, place) {
    char *folder = write_sentences(place, START "]", pooling);
    char *receipt =
        make_receipt(place, "embed", weft_test_text("'%s' --text abc --prompt 'q:'", folder));
    verify(receipt, weft_test_text("'%s' --text abc --prompt 'q:'", folder), NULL);
    json_t *document = read_receipt(receipt);
    assert_string_equal(string_field(record_of(document, "data", "prompt"), "type"),
                        "2 bytes, 2 tokens of it left out of pooling");
    json_decref(document);
    verify(receipt, weft_test_text("'%s' --text q:abc --prompt ''", folder), "data 'prompt'");
    verify(receipt, weft_test_text("'%s' --text :abc --prompt 'q'", folder), "data 'prompt'");
}

PLACE_TEST(reranks_similarity_query_and_order_are_bound, place) {
    char *folder = write_sentences(place, START "]", pooling);
    char *settings = "config_sentence_transformers.json";
    write_text(folder, settings, "{'similarity_fn_name': 'dot'}");
    char *a = write_lines(place, "a.txt", "one\ntwo words\nthree\n");
    char *same = weft_test_text("'%s' --query 'which one' --lines '%s'", folder, a);
    char *receipt = make_receipt(place, "rerank", same);
    verify(receipt, same, NULL);
    verify(receipt, weft_test_text("'%s' --query 'which two' --lines '%s'", folder, a),
           "data 'query'");
    char *b = write_lines(place, "b.txt", "two words\none\nthree\n");
    verify(receipt, weft_test_text("'%s' --query 'which one' --lines '%s'", folder, b),
           "data 'line 1'");
    expect_forgery(receipt, "answer", "ranking", "sha256", ZEROS);
    write_text(folder, settings, "{'similarity_fn_name': 'euclidean'}");
    verify(receipt, same, "setting similarity");
    write_text(folder, settings,
               "{'similarity_fn_name': 'dot', 'prompts': {'query': 'q: ', 'document': 'd: '}}");
    verify(receipt, same, "data 'query's prompt'");
}

/* ---- weft eval ---- */

static char *write_data(const struct place *place, const char *name, const int32_t labels[3]) {
    static const int32_t tokens[3 * 4] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    const struct member members[] = {
        {"tokens", write_integers(place->folder, "tokens.npy", tokens, weft_shape_of(3, 4))},
        {"labels", write_integers(place->folder, "labels.npy", labels, weft_shape_of(3))},
        {NULL, NULL}};
    return write_archive(place->folder, name, members);
}

PLACE_TEST(evals_labels_examples_and_counts_are_bound, place) {
    char *model = write_tiny_model(place->folder, "model", &classifier);
    char *data = write_data(place, "a.npz", (const int32_t[]){0, 1, 2});
    char *other = write_data(place, "b.npz", (const int32_t[]){0, 1, 3});
    char *same = weft_test_text("'%s' '%s'", model, data);
    char *receipt = make_receipt(place, "eval", same);
    verify(receipt, same, NULL);
    verify(receipt, weft_test_text("'%s' '%s'", model, other), "data 'labels'");
    verify(receipt, weft_test_text("'%s' '%s' --examples 2", model, data), "setting examples");
    expect_forgery(receipt, "answer", "counts", "type", "3 of 3 right");
    expect_forgery(receipt, "answer", "counts", "sha256", ZEROS);
    expect_forgery(receipt, "answer", "outputs", "sha256", ZEROS);
}

/* ---- weft generate ---- */

PLACE_TEST(generations_settings_and_texts_are_bound, place) {
    char *model = write_tiny_model(place->folder, "model", &causal);
    char *start = weft_test_text("'%s' --text abc --tokens 5", model);
    char *same = weft_test_text("%s --seed 3 --stop xyz", start);
    char *receipt = make_receipt(place, "generate", same);
    verify(receipt, same, NULL);
    verify(receipt, weft_test_text("%s --seed 4 --stop xyz", start), "setting sampling");
    verify(receipt, weft_test_text("%s --seed 3 --stop xyz --temperature 0.5", start),
           "setting sampling");
    verify(receipt, weft_test_text("%s --seed 3 --stop xyy", start), "data 'stop 1'");
    verify(receipt, weft_test_text("'%s' --text abc --tokens 4 --seed 3 --stop xyz", model),
           "setting tokens");
    verify(receipt, weft_test_text("'%s' --text abd --tokens 5 --seed 3 --stop xyz", model),
           "data 'text 1'");
    expect_forgery(receipt, "answer", "text 1", "sha256", ZEROS);
}

/* ---- programs ---- */

/* The product of x [batch, 2] and w, of a symbol that no input has. */
PLACE_TEST(a_programs_symbols_are_bound, place) {
    static const char config[] =
        "{'model_type':'program','format':1,"
        "'symbols':{'batch':{'max':8,'example':2},'count':{'example':3}},"
        "'inputs':[{'name':'x','dtype':'f32','shape':['batch',2]}],"
        "'nodes':[{'op':'matmul','inputs':['x','w'],'output':'y','alpha':1},"
        "{'op':'arange','output':'r','start':0,'step':1,'count':'count'}],"
        "'outputs':[{'name':'y','value':'y'},{'name':'r','value':'r'}]}";
    struct weft_test_model model;
    weft_test_model_begin(&model);
    weft_test_model_add(&model, "w", weft_shape_of(2, 2));
    weft_test_model_write(&model, config);
    char *x = write_reals(place->folder, "x.npy", (const float[]){1, 2, 3, 4}, weft_shape_of(2, 2));
    char *start = weft_test_text("'%s' --input '%s' --symbol count", model.folder, x);
    char *receipt = make_receipt(place, "run", weft_test_text("%s=4", start));
    verify(receipt, weft_test_text("%s=4", start), NULL);
    verify(receipt, weft_test_text("%s=5", start), "setting symbol count");
    weft_test_model_end(&model);
}

/* ---- records ---- */

/* Every record that is dropped, or is there twice, but for runs, which are counted. */
PLACE_TEST(records_that_are_dropped_or_repeated_are_noticed, place) {
    char *model = write_tiny_model(place->folder, "model", &classifier);
    char *a = write_lines(place, "a.txt", "one\ntwo words\n");
    char *receipt = make_receipt(place, "run", weft_test_text("'%s' --lines '%s'", model, a));
    json_t *good = read_receipt(receipt);
    const size_t count = json_array_size(json_object_get(good, "records"));
    assert_true(count > 20);
    for (size_t i = 0; i < 2 * count; i++) {
        weft_record_info record;
        json_t *document = json_deep_copy(good);
        json_t *records = json_object_get(document, "records");
        json_t *copy = json_deep_copy(json_array_get(records, i / 2));
        if (strcmp(string_field(copy, "kind"), "run") == 0) {
            json_decref(copy);
            json_decref(document);
        } else {
            assert_int_equal(i % 2 ? json_array_insert(records, i / 2, copy)
                                   : json_array_remove(records, i / 2),
                             0);
            json_decref(copy);
            weft_receipt *read = compare_forged(&record, receipt, document);
            weft_receipt_destroy(&read);
        }
    }
    json_decref(good);
}

PLACE_TEST(the_command_is_bound, place) {
    char *model = write_tiny_model(place->folder, "model", &classifier);
    char *a = write_lines(place, "a.txt", "one\n");
    char *same = weft_test_text("'%s' --lines '%s'", model, a);
    char *receipt = make_receipt(place, "run", same);
    json_t *document = read_receipt(receipt);
    set_text(record_of(document, "setting", "command"), "type", "bench");
    write_receipt(document, receipt);
    expect_refused(4, weft_test_text("verify --receipt '%s' %s", receipt, same),
                   "expected the setting command, run, embed, rerank, eval or generate",
                   "found bench", NULL);
    document = read_receipt(receipt);
    set_text(record_of(document, "setting", "command"), "name", "commands");
    write_receipt(document, receipt);
    expect_refused(4, weft_test_text("verify --receipt '%s' %s", receipt, same),
                   "found another record", NULL);
}
