/* SPDX-License-Identifier: MIT */
/* What outputs are worth: accuracy, bits, errors, and the hash of all outputs' bits. */
#ifndef WEFT_CLI_EVAL_SCORE_H
#define WEFT_CLI_EVAL_SCORE_H

#include "eval/data.h"
#include "logits.h"

/** What is counted, by task. */
typedef enum weft_cli_measure {
    WEFT_CLI_MEASURE_LABELS, /* accuracy: classify, next_sentence, retrieve */
    WEFT_CLI_MEASURE_TOKENS, /* bits per token: causal_lm, masked_lm */
    WEFT_CLI_MEASURE_VALUES  /* mean errors: regress */
} weft_cli_measure;

weft_cli_measure weft_cli_measure_of(weft_task task);

typedef struct weft_cli_label_count {
    uint32_t examples;
    uint32_t correct;
} weft_cli_label_count;

typedef struct weft_cli_score {
    weft_cli_measure measure;
    uint64_t scored;              /* labels, tokens or values */
    uint64_t correct;             /* of labels and tokens: those whose logit is the largest */
    weft_cli_label_count *counts; /* of each label; null for tokens and values */
    double bits;                  /* of all scored tokens; as the next, summed in float64 */
    double squared;               /* differences of all values */
    double absolute;
    /* Labels and values: all outputs [examples, width], as the data has them. Null for tokens. */
    float *outputs;
    uint32_t width;
    bool many;         /* an example has several vectors, or none: `take` gets them */
    bool only_outputs; /* the data has no answers: nothing is scored */
    /* Where an example has several rows of outputs: takes them, as no output is kept. Otherwise null. */
    weft_status (*take)(void *user, uint32_t example, const float *output, uint32_t rows,
                        uint32_t width);
    void *user;
    bool *has; /* of each example: whether it has been taken: all, unless the command was stopped */
    uint32_t taken;  /* how many; what is counted is of these */
    uint32_t done;   /* once it has ended: examples before the first that was not taken */
    bool not_finite; /* an output was not, see weft_cli_score_take */
    char digest[WEFT_DIGEST_TEXT_SIZE]; /* SHA-256 of all outputs' bits, see weft_cli_score_end */

    const weft_cli_data *data;
    const weft_cli_session *session;
    weft_sha256 hash; /* of tokens */
} weft_cli_score;

/** Data and session must outlive the score. Release with weft_cli_score_clear, also on failure. */
weft_status weft_cli_score_begin(weft_cli_score *score, const weft_cli_data *data,
                                 const weft_cli_session *session);

/**
 * Takes an example's output: `length` rows of `width` logits for language models, any number of vectors, else one row.
 * WEFT_BAD_FILE, naming the example, for a value that is not finite: its label would be a guess.
 */
weft_status weft_cli_score_take(weft_cli_score *score, uint32_t example, const float *output,
                                uint32_t rows, uint32_t width);

/**
 * After the last example, or the last before the command was stopped. The digest is that of the first `done` outputs; of a
 * language model, whose outputs are not kept, that of those that were taken, in that order.
 */
void weft_cli_score_end(weft_cli_score *score);

/** Notes in the session's receipt, if there is one, all outputs in order, and how many were right. After weft_cli_score_end. */
weft_status weft_cli_score_note(const weft_cli_score *score);

void weft_cli_score_clear(weft_cli_score *score);

/** Means; 0 where nothing was scored. */
double weft_cli_accuracy(const weft_cli_score *score);
double weft_cli_bits_per_token(const weft_cli_score *score);
double weft_cli_mean_squared(const weft_cli_score *score);
double weft_cli_mean_absolute(const weft_cli_score *score);

#endif
