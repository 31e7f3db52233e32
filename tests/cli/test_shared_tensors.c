/* SPDX-License-Identifier: MIT */
/* weft-test: one device */
/*
 * Tensors that share memory in PyTorch have two names, of which a file may have either or both; and wrappers put a word in
 * front of all. A tensor that would change the result is never left out without a word: the expected results are those of
 * models that tie nothing.
 */
#include "cli/command.h"
#include "core/formats/npy.h"
#include "core/shape.h"
#include "support_model.h"

enum { VOCABULARY = 11, HIDDEN = 8, WIDE = 12, POSITIONS = 16 };

/* Of one form: how tied outputs are called, and what else a file has. */
struct form {
    const char *words, *decoder, *bias,
        *decoder_bias;  /* decoder_bias: null where a bias has one name */
    const char *config; /* without its last brace */
    void (*add)(struct weft_test_model *model);
};

static void add_fnet(struct weft_test_model *model) {
    const weft_shape square = weft_shape_of(HIDDEN, HIDDEN);
    weft_test_model_add(model, "fnet.embeddings.position_embeddings.weight",
                        weft_shape_of(POSITIONS, HIDDEN));
    weft_test_model_add(model, "fnet.embeddings.token_type_embeddings.weight",
                        weft_shape_of(2, HIDDEN));
    weft_test_model_add_norm(model, "fnet.embeddings.LayerNorm", HIDDEN);
    weft_test_model_add_linear(model, "fnet.embeddings.projection", HIDDEN, HIDDEN);
    weft_test_model_add_norm(model, "fnet.encoder.layer.0.fourier.output.LayerNorm", HIDDEN);
    weft_test_model_add_linear(model, "fnet.encoder.layer.0.intermediate.dense", HIDDEN, WIDE);
    weft_test_model_add_linear(model, "fnet.encoder.layer.0.output.dense", WIDE, HIDDEN);
    weft_test_model_add_norm(model, "fnet.encoder.layer.0.output.LayerNorm", HIDDEN);
    weft_test_model_add_linear(model, "cls.predictions.transform.dense", HIDDEN, HIDDEN);
    weft_test_model_add_norm(model, "cls.predictions.transform.LayerNorm", HIDDEN);
    weft_test_model_add(model, "fnet.pooler.dense.weight", square); /* of other heads */
    weft_test_model_add(model, "cls.seq_relationship.bias", weft_shape_of(2));
}

static void add_transformer(struct weft_test_model *model) {
    const struct weft_test_network network = {
        .layers = 1, .hidden_size = HIDDEN, .intermediate_size = WIDE, .vocab_size = VOCABULARY};
    weft_test_model_add_network(model, &network);
    weft_test_model_add_attention(model, &network);
}

static const struct form forms[] = {
    {"fnet.embeddings.word_embeddings.weight", "cls.predictions.decoder.weight",
     "cls.predictions.bias", "cls.predictions.decoder.bias",
     "{'model_type': 'fnet', 'architectures': ['FNetForMaskedLM'], 'vocab_size': 11, "
     "'hidden_size': 8, "
     "'num_hidden_layers': 1, 'intermediate_size': 12, 'max_position_embeddings': 16, "
     "'type_vocab_size': 2",
     add_fnet},
    {"embeddings.tokens.weight", "head.weight", "head.bias", NULL,
     "{'model_type': 'transformer', 'task': 'causal_lm', 'vocab_size': 11, 'hidden_size': 8, "
     "'num_hidden_layers': 1, 'intermediate_size': 12, 'max_position_embeddings': 16, "
     "'num_attention_heads': 2",
     add_transformer},
};
enum { FORMS = sizeof forms / sizeof forms[0] };

/* ---- files ---- */

struct file {
    const struct form *form;
    bool words, decoder; /* which of the two names are there */
    bool other;          /* the decoder has values of its own */
    bool tied;
    bool decoder_bias; /* the bias under its other name */
    const char *prefix, *more;
};

static char *write_file(const struct file *file) {
    const struct form *form = file->form;
    const weft_shape table = weft_shape_of(VOCABULARY, HIDDEN);
    struct weft_test_model model;
    weft_test_model_begin(&model);
    form->add(&model);
    float *words = weft_test_model_add(&model, form->words, table);
    float *decoder = weft_test_model_add(&model, form->decoder, table);
    for (size_t i = 0; i < (size_t)VOCABULARY * HIDDEN; i++) {
        decoder[i] = file->other ? 2.0F * words[i] + 0.25F : words[i];
    }
    float *bias = weft_test_model_add(&model, form->bias, weft_shape_of(VOCABULARY));
    if (file->decoder_bias) {
        float *other = weft_test_model_add(&model, form->decoder_bias, weft_shape_of(VOCABULARY));
        memcpy(other, bias, VOCABULARY * sizeof *bias);
        weft_test_model_remove(&model, form->bias);
    }
    if (!file->words) {
        weft_test_model_remove(&model, form->words);
    }
    if (!file->decoder) {
        weft_test_model_remove(&model, form->decoder);
    }
    if (file->more) {
        weft_test_model_add(&model, file->more, weft_shape_of(3));
    }
    for (uint32_t i = 0; file->prefix && i < model.count; i++) {
        char *name = malloc(256);
        snprintf(name, 256, "%s%s", file->prefix, model.tensors[i].name);
        free(model.tensors[i].name);
        model.tensors[i].name = name;
    }
    weft_test_model_write(&model, weft_test_text("%s, 'tie_word_embeddings': %s}", form->config,
                                                 file->tied ? "true" : "false"));
    char *folder = weft_test_text("%s", model.folder);
    weft_test_model_end(&model);
    return folder;
}

/* The hash of the output; *warned: whether anything was said. */
static char *run(const struct file *file, bool *warned) {
    char *folder = write_file(file);
    const int32_t tokens[] = {1, 7, 3, 10, 0};
    char *path = weft_test_path(folder, "tokens.npy");
    assert_ok(weft_npy_write_i32(path, tokens, weft_shape_of(5), NULL));
    struct outcome outcome = expect_weft(0, "run %s --tokens %s --json", folder, path);
    json_t *report = json_of(&outcome);
    char *hash = weft_test_text("%s", string_field(report, "output/sha256"));
    *warned = outcome.err[0] != '\0';
    json_decref(report);
    outcome_clear(&outcome);
    return hash;
}

static void expect_same(const struct file *file, const struct file *other, bool warns) {
    bool warned = false, silent = false;
    assert_string_equal(run(file, &warned), run(other, &silent));
    assert_int_equal(warned, warns);
    assert_false(silent);
}

/* ---- tests ---- */

WEFT_TEST(either_name_of_a_tied_matrix_does) {
    for (size_t i = 0; i < FORMS; i++) {
        const struct form *form = &forms[i];
        const struct file untied = {.form = form, .words = true, .decoder = true};
        const struct file rows[] = {
            {.form = form, .words = true, .tied = true},
            {.form = form, .decoder = true, .tied = true},
            {.form = form, .words = true, .decoder = true, .tied = true},
        };
        for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
            expect_same(&rows[row], &untied, false);
        }
    }
}

WEFT_TEST(either_name_of_a_bias_does) {
    const struct file untied = {.form = &forms[0], .words = true, .decoder = true};
    const struct file tied = {.form = &forms[0], .words = true, .tied = true, .decoder_bias = true};
    const struct file both = {
        .form = &forms[0], .words = true, .decoder = true, .decoder_bias = true};
    expect_same(&tied, &untied, false);
    expect_same(&both, &untied, false);
}

WEFT_TEST(a_matrix_of_its_own_is_taken_with_a_warning) {
    for (size_t i = 0; i < FORMS; i++) {
        const struct file untied = {
            .form = &forms[i], .words = true, .decoder = true, .other = true};
        struct file tied = untied;
        tied.tied = true;
        expect_same(&tied, &untied, true);
    }
}

WEFT_TEST(without_ties_no_name_stands_for_another) {
    for (size_t i = 0; i < FORMS; i++) {
        const struct file file = {.form = &forms[i], .decoder = true};
        expect_refused(4, weft_test_text("inspect %s", write_file(&file)), forms[i].words,
                       "model.safetensors", NULL);
    }
}

WEFT_TEST(the_words_of_wrappers_are_no_part_of_names) {
    static const char *const prefixes[] = {"module.", "_orig_mod.", "_orig_mod.module.", "model."};
    for (size_t i = 0; i < FORMS; i++) {
        const struct file plain = {.form = &forms[i], .words = true, .tied = true};
        for (size_t k = 0; k < sizeof prefixes / sizeof prefixes[0]; k++) {
            struct file file = plain;
            file.prefix = prefixes[k];
            expect_same(&file, &plain, false);
        }
    }
    const struct file wrong = {.form = &forms[0], .words = true, .tied = true, .prefix = "base."};
    expect_refused(4, weft_test_text("inspect %s", write_file(&wrong)), "embeddings", NULL);
}

WEFT_TEST(tensors_of_nothing_are_named) {
    static const char *const parts[] = {"fnet.encoder.layer.1.output.LayerNorm.bias",
                                        "cls.predictions.transform.scale", "fnet.embeddings.scale"};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        const struct file file = {.form = &forms[0], .words = true, .tied = true, .more = parts[i]};
        expect_refused(4, weft_test_text("inspect %s", write_file(&file)), parts[i],
                       "no part of it has", NULL);
    }
    const struct file file = {.form = &forms[0], .words = true, .tied = true, .more = "foo.bar"};
    struct outcome outcome = expect_weft(0, "inspect %s", write_file(&file));
    expect_part(&outcome, outcome.err, "warning: ");
    expect_part(&outcome, outcome.err, "foo.bar");
    outcome_clear(&outcome);
}
