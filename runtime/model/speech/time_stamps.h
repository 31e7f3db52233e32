/* SPDX-License-Identifier: MIT */
/*
 * Time stamps among the tokens of a text: Radford et al., 2022, section 2.3, by the rules of transformers' WhisperTimeStampLogitsProcessor. They
 * have the numbers behind the token that says that there are none, and are so many times two frames from the window's beginning.
 */
#ifndef WEFT_MODEL_TIME_STAMPS_H
#define WEFT_MODEL_TIME_STAMPS_H

#include "model/speech_rules.h"

/** The tokens of a window's text so far. */
struct weft_timed_text {
    const struct weft_speech_rules *rules;
    const int32_t *tokens;
    uint32_t count;
    uint32_t vocabulary;
    int32_t end; /* the token that ends a text: those below it are words */
};

static inline bool weft_is_time_stamp(const struct weft_speech_rules *rules, int32_t token) {
    return token > rules->no_time_stamps;
}

/** Hides, by the least float, logits[vocabulary] of tokens that may not follow. */
void weft_time_stamps_mask(float *logits, const struct weft_timed_text *text);

/** Hides all of them, and the token that says that there are none. */
void weft_time_stamps_hide(float *logits, const struct weft_timed_text *text);

/** Samples from a window's beginning to a time stamp. */
uint64_t weft_time_stamp_samples(const struct weft_speech_rules *rules, int32_t token);

#endif
