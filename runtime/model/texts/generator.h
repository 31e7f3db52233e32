/* SPDX-License-Identifier: MIT */
/* A generator: generator_prompts.c reads what is asked for, generator.c does it. */
#ifndef WEFT_MODEL_GENERATOR_H
#define WEFT_MODEL_GENERATOR_H

#include <weft/generate.h>

#include "core/host.h"
#include "model/texts/generated_text.h"
#include "model/texts/state_file.h"

struct weft_sequence {
    int32_t *tokens; /* those of the prompt, then those that are made */
    uint32_t count, capacity;
    uint32_t prompt_count; /* those that are there before any is made */
    uint32_t source;       /* the first of them, which an encoder reads; 0: there is no encoder */
    uint32_t first;        /* of the tokens that the decoder has */
    uint32_t most;         /* that are made */
    uint64_t drawn;        /* random numbers that were used when its state was saved */
    uint64_t seed;
    weft_ending ending;
    struct weft_generated_text text;
};

struct weft_generator {
    weft_host host;
    weft_model *model;
    weft_model_info info;
    weft_decoder *decoder;
    struct weft_state_file
        state; /* that the first text goes on from, until the decoder has it; or zeros */
    struct weft_sequence *sequences;
    uint32_t count;
    uint32_t window;
    weft_sampling sampling;
    double repetition_penalty;
    struct weft_stops stops;
    int32_t *end_tokens;
    uint32_t end_token_count;
    bool has_text;
    bool begun;
    bool has_logits;    /* no token has been chosen by them */
    weft_status failed; /* or WEFT_OK */
    int32_t *fed;       /* [count, tokens of the longest prompt, or of the decoder's sequences] */
    int32_t *lengths;   /* [count], tokens of each sequence in the decoder */
    float *logits;      /* [count, vocabulary] */
};

/** Opens the file of params->state for a decoder on this device. */
weft_status weft_generator_open_state(weft_generator *generator, const weft_device *device,
                                      const weft_generator_params *params);

/**
 * Checks the parameters and copies what they list, prompts as tokens, into a generator that has model, host and info. What
 * has been copied is the generator's also after an error.
 */
weft_status weft_generator_read(weft_generator *generator, const weft_generator_params *params);

#endif
