/* SPDX-License-Identifier: MIT */
/* Examples for `weft eval`: an .npz archive, or a folder of texts. Functions return exit codes. */
#ifndef WEFT_CLI_EVAL_DATA_H
#define WEFT_CLI_EVAL_DATA_H

#include "session.h"

/** One row of the data: where its tokens are, and how many count. */
typedef struct weft_cli_sequence {
    size_t begin; /* of its tokens, or of its vectors, among those of all sequences */
    uint32_t length;
} weft_cli_sequence;

typedef struct weft_cli_data {
    const char *path; /* the caller's */
    weft_task task;   /* what it was read for */
    weft_cli_sequence *sequences;
    uint32_t sequence_count; /* at least 1 */
    uint32_t example_count;  /* half of it for pairs, else the same */
    int32_t *tokens;         /* or null, and then there are features */
    int32_t *types;          /* one for each token, or null: all 0 */
    float *features;         /* feature_size values for each token */
    uint32_t feature_size;
    float *positions; /* position_size values for each token, or null */
    uint32_t position_size;
    int32_t *labels; /* one for each example, or one for each token (masked language models) */
    float *targets;  /* target_size values for each example */
    uint32_t target_size;
    uint32_t whole_count; /* examples that the file has, of which example_count are here */
    uint32_t cut;         /* texts that were longer than the model takes */
    const uint64_t *
        numbers; /* of each example the number of its line, from 1, which a window has; null: their places in the file */
} weft_cli_data;

/** What adds sequences to data; zeroed but for its first three. */
typedef struct weft_cli_adder {
    weft_cli_data *data;
    const weft_host *host;
    bool with_types; /* tokens have types */
    uint32_t sequence_capacity;
    size_t token_count, token_capacity;
} weft_cli_adder;

/** Adds a sequence of tokens, as an example of its own; false when memory is out. `types` is read with_types only. */
bool weft_cli_data_add(weft_cli_adder *adder, const int32_t *tokens, const int32_t *types,
                       uint32_t count);

/** Checks data that was loaded for one model against another, which must have the same task. */
int weft_cli_data_check(const weft_cli_data *data, const weft_cli_session *session);

/**
 * Keeps only `examples` of the examples, evenly spread: kept example i is the file's i N / examples.
 * All of them where there are no more.
 */
void weft_cli_data_thin(weft_cli_data *data, uint32_t examples);

/** The place in the file of an example that is here. */
uint32_t weft_cli_data_place(const weft_cli_data *data, uint32_t example);

/** The number of an example for receipts, from 1: of its line, or its place in the file. */
uint64_t weft_cli_data_number(const weft_cli_data *data, uint32_t example);

/** Notes in the session's receipt, if there is one, which examples they are and what is right. The session is open. */
weft_status weft_cli_data_note(const weft_cli_data *data, const weft_cli_session *session);

/** Whether a path is a folder: what is read from one depends on the model's labels and tokenizer. */
bool weft_cli_is_folder(const char *path);

/** Frees what the data holds; a zeroed one is fine. */
void weft_cli_data_clear(weft_cli_data *data, const weft_host *host);

#endif
