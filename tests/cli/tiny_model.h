/* SPDX-License-Identifier: MIT */
/* Model folders made on the spot, with random weights. Includes cli/command.h. */
#ifndef WEFT_TESTS_CLI_TINY_MODEL_H
#define WEFT_TESTS_CLI_TINY_MODEL_H

#include <sys/stat.h>

#include "cli/command.h"
#include "core/philox.h"

/** A tensor of a checkpoint. */
struct tensor {
    const char *name;
    uint32_t rows; /* 0: rank 1 */
    uint32_t columns;
    uint32_t depth; /* above 0: rank 3, [depth, rows, columns] */
};

/** Writes FOLDER/model.safetensors with values from -1 to 1. */
static inline void write_tensors(const char *folder, const struct tensor *tensors, size_t number,
                                 uint64_t seed) {
    char *header = weft_test_text("{");
    size_t count = 0;
    for (size_t i = 0; i < number; i++) {
        const struct tensor *tensor = &tensors[i];
        uint32_t lines =
            (tensor->rows > 0 ? tensor->rows : 1) * (tensor->depth > 0 ? tensor->depth : 1);
        size_t end = count + (size_t)lines * tensor->columns;
        char *depth =
            tensor->depth > 0 ? weft_test_text("%u, ", tensor->depth) : weft_test_text(" ");
        char *rows =
            tensor->rows > 0 ? weft_test_text("%s%u, ", depth, tensor->rows) : weft_test_text(" ");
        char *longer = weft_test_text("%s%s\"%s\": {\"dtype\": \"F32\", \"shape\": [%s%u], "
                                      "\"data_offsets\": [%zu, %zu]}",
                                      header, i > 0 ? ", " : "", tensor->name, rows,
                                      tensor->columns, count * sizeof(float), end * sizeof(float));
        header = longer;
        count = end;
    }
    char *whole = weft_test_text("%s}", header);
    while (strlen(whole) % 8 != 0) { /* the data begins at a multiple of 8 */
        char *longer = weft_test_text("%s ", whole);
        whole = longer;
    }
    size_t length = strlen(whole);
    size_t size = 8 + length + count * sizeof(float);
    uint8_t *file = calloc(1, size);
    float *values = malloc(count * sizeof *values);
    assert_non_null(file);
    assert_non_null(values);
    for (size_t i = 0; i < 8; i++) {
        file[i] = (uint8_t)((uint64_t)length >> (8 * i));
    }
    memcpy(file + 8, whole, length);
    weft_philox_uniform(values, count, seed, 0);
    memcpy(file + 8 + length, values, count * sizeof *values);
    weft_test_write(folder, "model.safetensors", file, size);
    free(values);
    free(file);
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

/** Writes the model into a new folder of that name; returns its path. */
static inline char *write_tiny_model(const char *place, const char *name,
                                     const struct tiny_model *model) {
    const uint32_t d = TINY_HIDDEN;
    const uint32_t w = TINY_WIDE;
    char *folder = weft_test_path(place, name);
    assert_int_equal(mkdir(folder, 0777), 0);
    char *input =
        model->vocabulary > 0
            ? weft_test_text("\"vocab_size\": %u", model->vocabulary)
            : weft_test_text("\"input\": \"features\", \"input_size\": %u", model->input_size);
    bool labels = model->outputs != model->vocabulary;
    char *outputs =
        labels ? weft_test_text(", \"num_labels\": %u", model->outputs) : weft_test_text(" ");
    char *mixer = model->positions > 0
                      ? weft_test_text("\"model_type\": \"flt\", \"positions\": \"input\", "
                                       "\"position_size\": %u, \"position_features\": 3, "
                                       "\"kernel\": \"elu1\"",
                                       model->positions)
                      : weft_test_text("\"model_type\": \"transformer\"");
    char *config = weft_test_text(
        "{%s, \"task\": \"%s\", %s%s, \"hidden_size\": %u, "
        "\"num_hidden_layers\": 1, \"intermediate_size\": %u, \"max_position_embeddings\": %u, "
        "\"position_embedding\": \"sinusoidal\", \"num_attention_heads\": 2%s}",
        mixer, model->task, input, outputs, d, w, (unsigned)TINY_LENGTH,
        model->bytes ? ", \"tokenizer_class\": \"ByteTokenizer\"" : "");
    weft_test_write(folder, "config.json", config, strlen(config));
    struct tensor tensors[40] = {
        {"layers.0.mixer_norm.weight", 0, d, 0},
        {"layers.0.mixer_norm.bias", 0, d, 0},
        {"layers.0.feed_forward_norm.weight", 0, d, 0},
        {"layers.0.feed_forward_norm.bias", 0, d, 0},
        {"norm.weight", 0, d, 0},
        {"norm.bias", 0, d, 0},
        {"layers.0.mixer.query.weight", d, d, 0},
        {"layers.0.mixer.query.bias", 0, d, 0},
        {"layers.0.mixer.key.weight", d, d, 0},
        {"layers.0.mixer.key.bias", 0, d, 0},
        {"layers.0.mixer.value.weight", d, d, 0},
        {"layers.0.mixer.value.bias", 0, d, 0},
        {"layers.0.mixer.output.weight", d, d, 0},
        {"layers.0.mixer.output.bias", 0, d, 0},
        {"layers.0.feed_forward.in.weight", w, d, 0},
        {"layers.0.feed_forward.in.bias", 0, w, 0},
        {"layers.0.feed_forward.out.weight", d, w, 0},
        {"layers.0.feed_forward.out.bias", 0, d, 0},
        {"head.weight", model->outputs, model->pairs ? w : d, 0},
        {"head.bias", 0, model->outputs, 0},
    };
    size_t count = 20;
    if (model->vocabulary > 0) {
        tensors[count++] = (struct tensor){"embeddings.tokens.weight", model->vocabulary, d, 0};
    } else {
        tensors[count++] = (struct tensor){"embeddings.input.weight", d, model->input_size, 0};
        tensors[count++] = (struct tensor){"embeddings.input.bias", 0, d, 0};
    }
    if (model->pairs) {
        tensors[count++] = (struct tensor){"pair.first.weight", w, d, 0};
        tensors[count++] = (struct tensor){"pair.first.bias", 0, w, 0};
        tensors[count++] = (struct tensor){"pair.second.weight", w, d, 0};
        tensors[count++] = (struct tensor){"pair.product.weight", w, d, 0};
        tensors[count++] = (struct tensor){"pair.difference.weight", w, d, 0};
    }
    if (model->positions > 0) {
        tensors[count++] =
            (struct tensor){"layers.0.mixer.positions.frequencies", 3, model->positions, 2};
        tensors[count++] = (struct tensor){"layers.0.mixer.positions.weights", 2, 3, 0};
    }
    write_tensors(folder, tensors, count, model->seed);
    return folder;
}

#endif
