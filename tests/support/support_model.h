/* SPDX-License-Identifier: MIT */
/* Small model folders that a test writes: config.json from a text, model.safetensors from named tensors; and what
 * comes of loading them. */
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
/** Frees the tensors. The folder stays, as all of weft_test_folder do. */
void weft_test_model_end(struct weft_test_model *model);

/**
 * Adds an f32 tensor, or replaces the one of that name, and gives its elements for the test to change. They begin as
 * numbers that depend on name and index alone: weights about 1/√(last axis), those of norms about 1, vectors about 0.1.
 */
float *weft_test_model_add(struct weft_test_model *model, const char *name, weft_shape shape);
/** name.weight [out, in] and name.bias [out]. */
void weft_test_model_add_linear(struct weft_test_model *model, const char *name, uint32_t in,
                                uint32_t out);
/** name.weight and name.bias [width]. */
void weft_test_model_add_norm(struct weft_test_model *model, const char *name, uint32_t width);
/** part + name in each layer: "layers.0.part" "name" and so on, such as part "mixer." and name "beta.weight". */
void weft_test_model_add_to_layers(struct weft_test_model *model, uint32_t layers, const char *part,
                                   const char *name, weft_shape shape);
/** Takes a tensor away, the others stay in order; fails the test if there is none of that name. */
void weft_test_model_remove(struct weft_test_model *model, const char *name);
void weft_test_model_remove_from_layers(struct weft_test_model *model, uint32_t layers,
                                        const char *part, const char *name);

/** Network around the mixers with pre-norm, norm layer_norm, input tokens and task hidden. */
struct weft_test_network {
    uint32_t layers, hidden_size, intermediate_size;
    uint32_t vocab_size; /* 0: without a table of tokens */
    bool toeplitz;       /* the names of the families with Toeplitz matrices, and glu */
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

/** A copy with " for ', so that tests can be read. */
char *weft_test_json(const char *text);

/** Writes both files. config goes through weft_test_json. */
void weft_test_model_write(const struct weft_test_model *model, const char *config);

/* ---- loading ---- */

/** A model folder, and the watched host that it is loaded with. */
struct weft_test_loader {
    struct weft_test_host host;
    struct weft_test_model model;
};

/** Begins with the network's tensors; those of attention too, but for families with Toeplitz matrices. */
void weft_test_loader_begin(struct weft_test_loader *loader,
                            const struct weft_test_network *network);
void weft_test_loader_end(struct weft_test_loader *loader);

/** For cmocka fixtures: *state is a struct weft_test_loader. */
int weft_test_loader_set_up(void **state, const struct weft_test_network *network);
int weft_test_loader_tear_down(void **state);

/**
 * Writes the folder with this config.json, loads it and destroys the model; the log is that of loading. *info, unless null,
 * is filled when it loads, its texts (which are the model's) null. Fails the test if memory of the host stays.
 */
weft_status weft_test_load(struct weft_test_loader *loader, const char *config,
                           weft_model_info *info);
/** Fails the test unless it loads without a word; gives what weft_test_load gives. */
weft_model_info weft_test_expect_loads(struct weft_test_loader *loader, const char *config);
/** Fails the test unless it is refused with that status, and one line of the log has both texts. */
void weft_test_expect_refused(struct weft_test_loader *loader, const char *config,
                              weft_status status, const char *name, const char *message);
/** A config.json that is refused as a bad file, in a line with the field and both parts of "expected … found". */
struct weft_test_wrong {
    const char *config, *field, *message;
};
#define weft_test_expect_wrong(loader, rows) \
    weft_test_expect_all_wrong(loader, rows, sizeof(rows) / sizeof(rows)[0])
void weft_test_expect_all_wrong(struct weft_test_loader *loader, const struct weft_test_wrong *rows,
                                size_t count);
/**
 * Lets each allocation of loading fail, one at a time: each is reported as out of memory and leaks nothing. Fails the
 * test unless there are more than 100 (every tensor has some).
 */
void weft_test_expect_no_leak(struct weft_test_loader *loader, const char *config);

#endif
