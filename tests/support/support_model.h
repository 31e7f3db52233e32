/* SPDX-License-Identifier: MIT */
/* Small model folders that a test writes: config.json from a text, model.safetensors from named tensors. */
#ifndef WEFT_TESTS_SUPPORT_MODEL_H
#define WEFT_TESTS_SUPPORT_MODEL_H

#include <weft/model.h>

#include "support.h"

struct weft_test_tensor {
    char *name;
    weft_shape shape;
    float *data;
};

struct weft_test_model {
    char *folder;
    struct weft_test_tensor *tensors;
    uint32_t count;
};

/** A new, empty folder without tensors. */
void weft_test_model_begin(struct weft_test_model *model);
/** Removes the folder with all that is in it. */
void weft_test_model_end(struct weft_test_model *model);

/**
 * Adds an f32 tensor, or replaces the one of that name, and gives its elements for the test to change. They begin as
 * numbers that depend on name and index alone: weights about 1/√(last axis), those of norms about 1, vectors about 0.1.
 */
float *weft_test_model_add(struct weft_test_model *model, const char *name, weft_shape shape);
/** name.weight [out, in] and name.bias [out]. */
void weft_test_model_add_linear(struct weft_test_model *model, const char *name, uint32_t in,
                                uint32_t out);
/** Takes a tensor away, the others stay in order; fails the test if there is none of that name. */
void weft_test_model_remove(struct weft_test_model *model, const char *name);
void weft_test_model_remove_all(struct weft_test_model *model);

/** What stands around the mixers with pre-norm, norm layer_norm, input tokens and task hidden. */
struct weft_test_network {
    uint32_t layers, hidden_size, intermediate_size, vocab_size;
    bool toeplitz; /* the names of the families with Toeplitz matrices, and glu */
};
void weft_test_model_add_network(struct weft_test_model *model,
                                 const struct weft_test_network *network);
/** mixer.query, key, value and output of every layer. */
void weft_test_model_add_attention(struct weft_test_model *model,
                                   const struct weft_test_network *network);

/**
 * Writes a causal language model of bytes: a transformer of two layers, 16 channels and 2 heads, with a learned table of so
 * many positions.
 */
void weft_test_model_write_bytes(struct weft_test_model *model, uint32_t positions);

/** Writes both files. config is JSON with ' for ", so that tests can be read. */
void weft_test_model_write(const struct weft_test_model *model, const char *config);

#endif
