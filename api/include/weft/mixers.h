/* SPDX-License-Identifier: MIT */
/*
 * All token mixers, as graph ops. Each maps activations f32 [B, n, d] to activations. Head h of a mixer with heads is
 * the channels h·d/heads to (h+1)·d/heads - 1. Errors are those of the ops of graph.h, and those that each function
 * adds. docs/mixers.md in the repository has the formulas, with the papers' equations.
 */
#ifndef WEFT_MIXERS_H
#define WEFT_MIXERS_H

#include <weft/mixers/attention.h>
#include <weft/mixers/blocks.h>
#include <weft/mixers/conv.h>
#include <weft/mixers/fourier.h>
#include <weft/mixers/kernels.h>
#include <weft/mixers/positions.h>
#include <weft/mixers/random_features.h>
#include <weft/mixers/recurrent.h>
#include <weft/mixers/toeplitz.h>

#endif
