/* SPDX-License-Identifier: MIT */
/* Weights of models that nobody trained, see weft_model_create_random. */
#ifndef WEFT_MODEL_RANDOM_WEIGHTS_H
#define WEFT_MODEL_RANDOM_WEIGHTS_H

#include <weft/graph.h>

#include "core/host.h"

/**
 * The tensor of that name and shape, f32: Philox numbers of a stream of its own, which depends on the name alone; the same
 * on every machine. A matrix [out, in] has variance 1/in, so that maps keep the size of what they map; the rows of random
 * features have variance 1; weights of norms lie in 7/8 … 9/8, biases and other vectors in -1/16 … 1/16.
 */
weft_status weft_random_weight(weft_weight **weight, const char *name, weft_shape shape,
                               uint64_t seed, const weft_host *host);

#endif
