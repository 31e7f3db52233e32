/* SPDX-License-Identifier: MIT */
/*
 * Texts that causal language models make, several at once, by weft_decoder and weft_sample of model.h and conditions
 * that end a text. A prompt gets the text that it gets alone, whatever other prompts run with it. What is said of the text that
 * continues a prompt is true of the text that a text_to_text model makes of it.
 *
 *   weft_generator_create → until `done`: weft_generator_step, weft_generator_get_text of each → weft_generator_destroy
 */
#ifndef WEFT_GENERATE_H
#define WEFT_GENERATE_H

#include <weft/model.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Start of a text: a text for the model's tokenizer, or tokens. */
typedef struct weft_prompt {
    const char *text; /**< UTF-8, not zero-terminated; null: tokens */
    size_t
        size; /**< bytes of the text; 0: the tokenizer's special tokens alone, an error if it has none */
    const int32_t *tokens; /**< used where text is null */
    uint32_t count;        /**< of the tokens, at least 1 */
} weft_prompt;

typedef struct weft_generator_params {
    const weft_prompt *prompts; /**< read during the call only, as are the lists below */
    uint32_t prompt_count;      /**< at least 1 */
    /** Most tokens to make for each prompt; 0: 200, or fewer if the model has fewer positions. */
    uint32_t tokens;
    /**
     * 0: a prompt and its tokens must fit into the model's positions. Otherwise 1 … max_length: a text that fills all
     * positions continues as if its last `window` tokens were its beginning. A prompt longer than max_length is cut
     * to its last `window` tokens.
     */
    uint32_t window;
    weft_sampling sampling;
    const uint64_t *seeds; /**< one for each prompt, in place of sampling.seed; or null */
    /** weft_penalize over the prompt and all tokens made; 0 means 1: none. */
    double repetition_penalty;
    const char *const
        *stops; /**< zero-terminated UTF-8, none empty: a text ends before the first of them */
    uint32_t stop_count;
    const int32_t *end_tokens; /**< tokens that end a text; null: the model's eos_tokens */
    uint32_t end_token_count;
    bool reevaluate;              /**< as weft_decoder_params */
    const weft_plan_params *plan; /**< or null; its texts must outlive the generator */
    /**
     * File of weft_generator_save or weft_decoder_save, or null: the model reads nothing again that it has read there. The one prompt is the whole
     * text, whose tokens must begin with the state's, and have at least one more; or it is all zeros, and the text that was saved goes on, with the
     * random numbers that it would have drawn. Stops are looked for in what is made now. No window.
     */
    const char *state;
} weft_generator_params;

#ifndef __cplusplus
#define weft_generator_params(...) (&(weft_generator_params){__VA_ARGS__})
#endif

/** Texts that grow. One thread at a time. Model and device must outlive it. */
typedef struct weft_generator weft_generator;

/**
 * Reads the prompts, and makes a decoder for them. Nothing is run yet.
 * Errors: those of weft_decoder_create; WEFT_INVALID_ARGUMENT naming the parameter (prompt and its number, tokens,
 * window, temperature, top_p, repetition_penalty, stop), when a prompt and its tokens do not fit and there is no window,
 * too; WEFT_UNSUPPORTED for a text or a stop where the model has no tokenizer; those of weft_decoder_load for a state, and
 * WEFT_INVALID_ARGUMENT for a prompt that does not go on with its tokens.
 */
WEFT_API weft_status weft_generator_create(weft_generator **generator, weft_model *model,
                                           weft_device *device,
                                           const weft_generator_params *params);
WEFT_API void weft_generator_destroy(weft_generator **generator);

/**
 * Appends a token to each text. The first call reads all prompts, in one run, and appends none. *done is true when
 * all texts have ended; further calls do nothing.
 * Errors: those of weft_decoder_step and weft_sample. The texts made so far remain readable; further calls fail, too.
 */
WEFT_API weft_status weft_generator_step(weft_generator *generator, bool *done);

/** Ends the text of a prompt at its current length. WEFT_NOT_FOUND for a number that no prompt has. */
WEFT_API weft_status weft_generator_end(weft_generator *generator, uint32_t prompt);

/** Why a text has ended. */
typedef enum weft_ending {
    WEFT_ENDING_NONE = 0,  /**< it has not */
    WEFT_ENDING_LENGTH,    /**< it has reached its number of tokens */
    WEFT_ENDING_END_TOKEN, /**< the model has ended it */
    WEFT_ENDING_STOP,      /**< one of the stops */
    WEFT_ENDING_CALLER     /**< weft_generator_end */
} weft_ending;

/** "none", "length", "end_token", "stop" or "caller"; never null. */
WEFT_API const char *weft_ending_name(weft_ending ending);

/** Continuation of a prompt so far. The arrays live until the generator's next call. */
typedef struct weft_generated {
    const int32_t *tokens; /**< includes the end token that ended the text, as the last */
    uint32_t count;
    /**
     * Text that the tokens add to the prompt, not zero-terminated; empty without a tokenizer. It grows only at its
     * end, by whole characters (bytes that are not UTF-8 are kept), so new text can be shown at once. Text that may
     * begin a stop is held back until it cannot. Stop and end token are left out.
     */
    const char *text;
    size_t text_size;
    uint32_t
        prompt_count; /**< tokens of the prompt: of a text_to_text model those that the encoder read */
    weft_ending ending;
} weft_generated;

/**
 * Writes the state of a prompt's text into a file, by weft_decoder_save, with the tokens that the decoder has not read yet: the last that was
 * made. A generator with this state goes on with the bits of this one.
 * Errors: WEFT_NOT_FOUND for a number that no prompt has; WEFT_INVALID_ARGUMENT before the first step; WEFT_UNSUPPORTED for a text whose oldest
 * tokens a window has let go; those of weft_decoder_save, as for a text that ended while others went on.
 */
WEFT_API weft_status weft_generator_save(weft_generator *generator, uint32_t prompt,
                                         const char *path);

/** WEFT_NOT_FOUND past the last prompt. */
WEFT_API weft_status weft_generator_get_text(const weft_generator *generator, uint32_t prompt,
                                             weft_generated *generated);

/** Returns the state of the generator's decoder, whose batch is the number of prompts. */
WEFT_API weft_status weft_generator_get_decoder_info(const weft_generator *generator,
                                                     weft_decoder_info *info);

#ifdef __cplusplus
}
#endif

#endif
