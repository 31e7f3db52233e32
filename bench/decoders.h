/* SPDX-License-Identifier: MIT */
/*
 * How fast language models read a prompt and go on with it, by weft_decoder alone: no tokenizer, nothing sampled.
 *
 * Test ppN reads N tokens at once into an empty sequence; test tgN appends N tokens to an empty sequence, one after the other, and
 * gets the logits of each. Tokens are Philox numbers below the vocabulary. Each test is run once before it is timed, then in each
 * round, by the host's clock, with all that a caller waits for. These are the tests that llama-bench of llama.cpp has.
 */
#ifndef WEFT_BENCH_DECODERS_H
#define WEFT_BENCH_DECODERS_H

#include "bench/environment.h"
#include "bench/run.h"
#include "cli/session.h"

typedef struct weft_bench_decoders_settings {
    weft_cli_common common;
    const char *label;     /* of the machine, or null */
    uint32_t prompt, made; /* tokens of both tests */
    uint32_t rounds;       /* 1 to WEFT_BENCH_MAX_ROUNDS */
    const char *json_file; /* --out, or null */
} weft_bench_decoders_settings;

/** One test of one model. */
typedef struct weft_bench_speed {
    bool is_prompt;
    uint32_t tokens;
    double ms[WEFT_BENCH_MAX_ROUNDS]; /* of all tokens */
    uint32_t rounds;                  /* that were finished */
    double mean,
        deviation; /* tokens a second, and their standard deviation (n - 1): NaN of none, and of one */
} weft_bench_speed;

/** One model. */
typedef struct weft_bench_decoder {
    char model[WEFT_BENCH_TEXT_SIZE]; /* the folder's or file's own name */
    char architecture[64];
    uint64_t parameters;
    uint64_t weight_bytes; /* as they are kept on the device */
    const char *weights;   /* how most of them are: "f32", "f16", "16 bits", "int8" or "blocks" */
    weft_decoding decoding;
    weft_device_info device;
    weft_math math;
    weft_bench_speed speeds[2]; /* of the prompt, of what is made */
} weft_bench_decoder;

/** Times one, of a folder or a file; what a signal left undone has fewer rounds. Returns an exit code. */
int weft_bench_decoder_time(weft_bench_decoder *found, const weft_bench_decoders_settings *settings,
                            const char *path);

#endif
