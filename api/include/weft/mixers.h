/* SPDX-License-Identifier: MIT */
/*
 * Token mixers as graph ops, all of them. Each takes and gives activations f32 [B, n, d]; head h of a mixer with heads is
 * the channels h·d/heads to (h+1)·d/heads - 1. Errors are those of the ops of graph.h, and what each function adds.
 * The formulas, with the papers' equations, are in docs/mixers.md of the repository.
 */
#ifndef WEFT_MIXERS_H
#define WEFT_MIXERS_H

#include <weft/mixers/attention.h>
#include <weft/mixers/blocks.h>
#include <weft/mixers/fourier.h>
#include <weft/mixers/kernels.h>
#include <weft/mixers/positions.h>
#include <weft/mixers/random_features.h>
#include <weft/mixers/toeplitz.h>

#endif
