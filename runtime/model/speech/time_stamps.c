/* SPDX-License-Identifier: MIT */
#include "model/speech/time_stamps.h"

#include <float.h>

#include "core/math/portable_math.h"

#define HIDDEN         (-FLT_MAX)
#define LEAST_EXPONENT (-700.0) /* below it an exponential is 0 */

static void hide(float *logits, uint32_t first, uint32_t end) {
    for (uint32_t i = first; i < end; i++) {
        logits[i] = HIDDEN;
    }
}

static float largest(const float *logits, uint32_t first, uint32_t end) {
    float found = HIDDEN;
    for (uint32_t i = first; i < end; i++) {
        found = logits[i] > found ? logits[i] : found;
    }
    return found;
}

/* True if one of the stamps is likelier, together, than any other token. */
static bool are_likelier(const float *logits, uint32_t first, uint32_t vocabulary) {
    const double most = (double)largest(logits, first, vocabulary);
    double sum = 0;
    for (uint32_t i = first; i < vocabulary; i++) {
        const double exponent = (double)logits[i] - most;
        sum += logits[i] > HIDDEN && exponent > LEAST_EXPONENT ? weft_portable_exp(exponent) : 0;
    }
    return sum > 0 && most + weft_portable_log(sum) > (double)largest(logits, 0, first);
}

/* The least that may follow: times do not fall, and only a pair has one twice. */
static uint32_t least_stamp(const struct weft_timed_text *text, bool is_last, bool is_pair) {
    const uint32_t first = (uint32_t)text->rules->no_time_stamps + 1;
    for (uint32_t i = text->count; i-- > 0;) {
        if (weft_is_time_stamp(text->rules, text->tokens[i])) {
            return (uint32_t)text->tokens[i] + (is_last && !is_pair ? 0 : 1);
        }
    }
    return first;
}

void weft_time_stamps_mask(float *logits, const struct weft_timed_text *text) {
    const struct weft_speech_rules *rules = text->rules;
    const uint32_t first = (uint32_t)rules->no_time_stamps + 1, count = text->count;
    const bool is_last = count > 0 && weft_is_time_stamp(rules, text->tokens[count - 1]);
    const bool is_pair = count < 2 || weft_is_time_stamp(rules, text->tokens[count - 2]);
    hide(logits, first - 1, first);
    if (is_last && is_pair) {
        hide(logits, first, text->vocabulary);
    } else if (is_last) {
        hide(logits, 0, (uint32_t)text->end);
    }
    hide(logits, first, least_stamp(text, is_last, is_pair));
    if (count == 0) {
        hide(logits, 0, first);
        if (rules->latest_first < text->vocabulary - first) {
            hide(logits, first + rules->latest_first + 1, text->vocabulary);
        }
    }
    if (are_likelier(logits, first, text->vocabulary)) {
        hide(logits, 0, first);
    }
}

void weft_time_stamps_hide(float *logits, const struct weft_timed_text *text) {
    hide(logits, (uint32_t)text->rules->no_time_stamps, text->vocabulary);
}

uint64_t weft_time_stamp_samples(const struct weft_speech_rules *rules, int32_t token) {
    return weft_is_time_stamp(rules, token)
               ? (uint64_t)(token - rules->no_time_stamps - 1) * 2 * rules->hop
               : 0;
}
