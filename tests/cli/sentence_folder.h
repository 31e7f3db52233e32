/* SPDX-License-Identifier: MIT */
/* Folders of sentence-transformers made on the spot. Includes cli/task_models.h. */
#ifndef WEFT_TESTS_CLI_SENTENCE_FOLDER_H
#define WEFT_TESTS_CLI_SENTENCE_FOLDER_H

#include "cli/task_models.h"

enum { HIDDEN = TINY_HIDDEN };

static inline char *write_text(const char *folder, const char *name, const char *text) {
    char *json = weft_test_json(text);
    return weft_test_write(folder, name, json, strlen(json));
}

static inline char *make_folder(const char *parent, const char *name) {
    char *folder = weft_test_path(parent, name);
    assert_int_equal(mkdir(folder, 0777), 0);
    return folder;
}

/* An encoder of bytes, without a head. */
static inline void write_encoder(char *folder) {
    const struct weft_test_network network = {
        .layers = 1, .hidden_size = HIDDEN, .intermediate_size = TINY_WIDE, .vocab_size = BYTES};
    struct weft_test_model files = {.folder = folder};
    weft_test_model_add_network(&files, &network);
    weft_test_model_add_attention(&files, &network);
    write_random(&files,
                 "{'model_type': 'transformer', 'task': 'hidden', 'vocab_size': 256, "
                 "'hidden_size': 8, 'num_hidden_layers': 1, 'intermediate_size': 12, "
                 "'max_position_embeddings': 32, 'position_embedding': 'sinusoidal', "
                 "'num_attention_heads': 2, 'tokenizer_class': 'ByteTokenizer'}",
                 7);
}

#define MODULE(name, path) "{'type': 'sentence_transformers.models." name "', 'path': '" path "'}"
#define START              "[" MODULE("Transformer", "encoder") ", " MODULE("Pooling", "1_Pooling")

/* A folder with these modules and that pooling, whose encoder is in a folder of its own. */
static inline char *write_sentences(struct place *place, const char *modules, const char *pooling) {
    char *folder = make_folder(place->folder, "model");
    write_encoder(make_folder(folder, "encoder"));
    write_text(folder, "modules.json", modules);
    write_text(make_folder(folder, "1_Pooling"), "config.json", pooling);
    return folder;
}

#endif
