/* SPDX-License-Identifier: MIT */
/* The logarithmic mel spectrum of Radford et al., 2022, section 2.2, as transformers' WhisperFeatureExtractor computes it. */
#ifndef WEFT_MODEL_SPECTRUM_H
#define WEFT_MODEL_SPECTRUM_H

#include <weft/graph.h>

#include "model/speech_rules.h"

/** Samples that a spectrum is made of: those of a window, with frame/2 before them that mirror the first ones, and fewer behind. */
static inline uint32_t weft_spectrum_samples(const struct weft_speech_rules *rules) {
    return rules->window - rules->hop + rules->frame;
}

/** Copies so many samples of a window, then silence, to samples[weft_spectrum_samples], with what mirrors them. */
void weft_spectrum_pad(float *samples, const struct weft_speech_rules *rules, const float *window,
                       uint64_t count);

/** A graph with the input "samples" f32 [1, 1, weft_spectrum_samples] and the output "features" f32 [1, frames, bands]. */
weft_status weft_spectrum_build(weft_graph *graph, const struct weft_speech_rules *rules,
                                const weft_host *host);

#endif
