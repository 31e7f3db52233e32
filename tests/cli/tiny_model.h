/* SPDX-License-Identifier: MIT */
/* Model folders made on the spot, with random weights. Includes cli/command.h. */
#ifndef WEFT_TESTS_CLI_TINY_MODEL_H
#define WEFT_TESTS_CLI_TINY_MODEL_H

#include <sys/stat.h>

#include "cli/command.h"
#include "core/math/philox.h"
#include "core/shape.h"
#include "support_model.h"

/** Writes the model with values from -1 to 1 in place of its own, and frees it. */
static inline void write_random(struct weft_test_model *model, const char *config, uint64_t seed) {
    for (uint32_t i = 0; i < model->count; i++) {
        const struct weft_test_tensor *tensor = &model->tensors[i];
        weft_philox_uniform(tensor->data, weft_shape_elements(tensor->shape), seed, i);
    }
    weft_test_model_write(model, config);
    weft_test_model_end(model);
}

/** A transformer of one layer; or FLT's, where it has positions. */
struct tiny_model {
    const char *task;
    uint32_t vocabulary; /* 0: features */
    uint32_t input_size; /* of features */
    uint32_t outputs;    /* labels or values; of language models the vocabulary */
    uint32_t positions;  /* coordinates of an input; 0: it has none */
    bool bytes;          /* a token is a byte; vocabulary is 256 */
    bool pairs;
    uint64_t seed;
};

enum { TINY_HIDDEN = 8, TINY_WIDE = 12, TINY_LENGTH = 16 };

static inline char *tiny_config(const struct tiny_model *model) {
    const char *input =
        model->vocabulary > 0
            ? weft_test_text("'vocab_size': %u", model->vocabulary)
            : weft_test_text("'input': 'features', 'input_size': %u", model->input_size);
    const char *mixer = model->positions > 0
                            ? weft_test_text("'model_type': 'flt', 'positions': 'input', "
                                             "'position_size': %u, 'position_features': 3, "
                                             "'kernel': 'elu1'",
                                             model->positions)
                            : "'model_type': 'transformer'";
    const char *labels = model->outputs != model->vocabulary
                             ? weft_test_text(", 'num_labels': %u", model->outputs)
                             : "";
    return weft_test_text("{%s, 'task': '%s', %s%s, 'hidden_size': %u, 'num_hidden_layers': 1, "
                          "'intermediate_size': %u, 'max_position_embeddings': %u, "
                          "'position_embedding': 'sinusoidal', 'num_attention_heads': 2%s}",
                          mixer, model->task, input, labels, (unsigned)TINY_HIDDEN,
                          (unsigned)TINY_WIDE, (unsigned)TINY_LENGTH,
                          model->bytes ? ", 'tokenizer_class': 'ByteTokenizer'" : "");
}

/** Writes the model into a new folder of that name; returns its path. */
static inline char *write_tiny_model(const char *place, const char *name,
                                     const struct tiny_model *model) {
    const uint32_t d = TINY_HIDDEN;
    const uint32_t w = TINY_WIDE;
    const struct weft_test_network network = {
        .layers = 1, .hidden_size = d, .intermediate_size = w, .vocab_size = model->vocabulary};
    char *folder = weft_test_path(place, name);
    struct weft_test_model files = {.folder = folder};
    assert_int_equal(mkdir(folder, 0777), 0);
    weft_test_model_add_network(&files, &network);
    weft_test_model_add_attention(&files, &network);
    weft_test_model_add_linear(&files, "head", model->pairs ? w : d, model->outputs);
    if (model->vocabulary == 0) {
        weft_test_model_add_linear(&files, "embeddings.input", model->input_size, d);
    }
    if (model->pairs) {
        weft_test_model_add_linear(&files, "pair.first", d, w);
        weft_test_model_add(&files, "pair.second.weight", weft_shape_of(w, d));
        weft_test_model_add(&files, "pair.product.weight", weft_shape_of(w, d));
        weft_test_model_add(&files, "pair.difference.weight", weft_shape_of(w, d));
    }
    if (model->positions > 0) {
        weft_test_model_add(&files, "layers.0.mixer.positions.frequencies",
                            weft_shape_of(2, 3, model->positions));
        weft_test_model_add(&files, "layers.0.mixer.positions.weights", weft_shape_of(2, 3));
    }
    write_random(&files, tiny_config(model), model->seed);
    return folder;
}

#endif
