/* SPDX-License-Identifier: MIT */
/* weft-test: one device */
/* What the outputs of a classifier mean by its problem_type. Logits are the command's; what is made of them is worked out here. */
#include <math.h>

#include "cli/archive.h"
#include "cli/command.h"
#include "core/shape.h"
#include "support_model.h"

enum { HIDDEN = 8, WIDE = 12, POSITIONS = 16, VOCABULARY = 11, LENGTH = 5 };

/* An FNet with so many labels; extra: more fields of its config.json, each with a comma in front. */
static char *write_classifier(uint32_t labels, const char *extra) {
    struct weft_test_model model;
    weft_test_model_begin(&model);
    weft_test_model_add(&model, "fnet.embeddings.word_embeddings.weight",
                        weft_shape_of(VOCABULARY, HIDDEN));
    weft_test_model_add(&model, "fnet.embeddings.position_embeddings.weight",
                        weft_shape_of(POSITIONS, HIDDEN));
    weft_test_model_add(&model, "fnet.embeddings.token_type_embeddings.weight",
                        weft_shape_of(2, HIDDEN));
    weft_test_model_add_norm(&model, "fnet.embeddings.LayerNorm", HIDDEN);
    weft_test_model_add_linear(&model, "fnet.embeddings.projection", HIDDEN, HIDDEN);
    weft_test_model_add_norm(&model, "fnet.encoder.layer.0.fourier.output.LayerNorm", HIDDEN);
    weft_test_model_add_linear(&model, "fnet.encoder.layer.0.intermediate.dense", HIDDEN, WIDE);
    weft_test_model_add_linear(&model, "fnet.encoder.layer.0.output.dense", WIDE, HIDDEN);
    weft_test_model_add_norm(&model, "fnet.encoder.layer.0.output.LayerNorm", HIDDEN);
    weft_test_model_add_linear(&model, "fnet.pooler.dense", HIDDEN, HIDDEN);
    weft_test_model_add_linear(&model, "classifier", HIDDEN, labels);
    weft_test_model_write(
        &model, weft_test_text(
                    "{'model_type': 'fnet', 'architectures': ['FNetForSequenceClassification'], "
                    "'vocab_size': 11, 'hidden_size': 8, 'num_hidden_layers': 1, "
                    "'intermediate_size': 12, 'max_position_embeddings': 16, 'type_vocab_size': 2, "
                    "'num_labels': %u%s}",
                    labels, extra));
    char *folder = weft_test_text("%s", model.folder);
    weft_test_model_end(&model);
    return folder;
}

static json_t *run(const char *folder) {
    const int32_t tokens[LENGTH] = {1, 7, 3, 10, 0};
    char *path = write_integers(folder, "tokens.npy", tokens, weft_shape_of(LENGTH));
    return run_json("", "run %s --tokens %s --top 9", folder, path);
}

static const json_t *result_of(const json_t *report, const char *name) {
    return field(json_array_get(field(report, "results"), 0), name);
}

static void expect_close(double found, double expected) {
    if (!(fabs(found - expected) <= 1e-9)) {
        fail_msg("found %.17g, expected %.17g", found, expected);
    }
}

static void expect_sigmoids(const char *folder, uint32_t labels) {
    json_t *report = run(folder);
    const json_t *top = result_of(report, "top");
    assert_string_equal(string_field(report, "model/task"), "classify");
    assert_true(json_is_true(field(report, "model/multi_label")));
    assert_int_equal(json_array_size(top), labels);
    double before = INFINITY;
    for (size_t i = 0; i < labels; i++) {
        const double logit = number_field(json_array_get(top, i), "logit");
        expect_close(number_field(json_array_get(top, i), "probability"),
                     1.0 / (1.0 + exp(-logit)));
        assert_true(logit <= before);
        before = logit;
    }
    json_decref(report);
}

static void expect_softmax(const char *folder, uint32_t labels) {
    json_t *report = run(folder);
    const json_t *top = result_of(report, "top");
    double sum = 0.0;
    assert_true(json_is_false(field(report, "model/multi_label")));
    for (size_t i = 0; i < labels; i++) {
        sum += exp(number_field(json_array_get(top, i), "logit"));
    }
    for (size_t i = 0; i < labels; i++) {
        const json_t *entry = json_array_get(top, i);
        expect_close(number_field(entry, "probability"), exp(number_field(entry, "logit")) / sum);
    }
    json_decref(report);
}

WEFT_TEST(one_label_of_several_is_right) {
    expect_softmax(write_classifier(3, ""), 3);
    expect_softmax(write_classifier(3, ", 'problem_type': null"), 3);
    expect_softmax(write_classifier(3, ", 'problem_type': 'single_label_classification'"), 3);
}

WEFT_TEST(several_labels_may_be_right) {
    expect_sigmoids(write_classifier(3, ", 'problem_type': 'multi_label_classification'"), 3);
    expect_sigmoids(write_classifier(1, ""), 1); /* the softmax of one is 1, whatever it says */
}

WEFT_TEST(a_regression_gives_values) {
    const char *folder = write_classifier(1, ", 'problem_type': 'regression'");
    json_t *report = run(folder);
    json_t *classified = run(write_classifier(1, ""));
    assert_string_equal(string_field(report, "model/task"), "regress");
    assert_string_equal(string_field(report, "output/sha256"),
                        string_field(classified, "output/sha256"));
    const double value = json_number_value(json_array_get(result_of(report, "values"), 0));
    const json_t *entry = json_array_get(result_of(classified, "top"), 0);
    assert_true(value == number_field(entry, "logit"));
    json_decref(report);
    json_decref(classified);
}

WEFT_TEST(other_problem_types_are_refused) {
    expect_refused(
        4, weft_test_text("inspect %s", write_classifier(3, ", 'problem_type': 'ranking'")),
        "config.json", "problem_type", "multi_label_classification", "\"ranking\"", NULL);
    expect_refused(4, weft_test_text("inspect %s", write_classifier(3, ", 'problem_type': 3")),
                   "problem_type", "expected a string, found 3", NULL);
}

WEFT_TEST(models_of_several_labels_are_not_measured_by_one) {
    const char *folder = write_classifier(3, ", 'problem_type': 'multi_label_classification'");
    const int32_t tokens[2 * LENGTH] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    const int32_t labels[2] = {0, 1};
    const struct member members[] = {
        {"tokens", write_integers(folder, "tokens.npy", tokens, weft_shape_of(2, LENGTH))},
        {"labels", write_integers(folder, "labels.npy", labels, weft_shape_of(2))},
        {NULL, NULL}};
    expect_refused(4,
                   weft_test_text("eval %s %s", folder, write_archive(folder, "data.npz", members)),
                   folder, "multi_label", "weft run", NULL);
}
