/* SPDX-License-Identifier: MIT */
/* Random orthogonal rows and the simplex, for the families that couple rows geometrically. */
#ifndef WEFT_FEATURES_ORTHOGONAL_H
#define WEFT_FEATURES_ORTHOGONAL_H

#include "core/host.h"
#include "features/sample.h"

/**
 * The first `count` ≤ n rows of a Haar-distributed orthogonal n×n matrix, into out [count, n]: Q of the QR factors of a
 * Gaussian matrix whose columns are rows first … of the stream, by Householder reflections, with the signs that make R's
 * diagonal positive (Mezzadri, "How to generate random matrices from the classical compact groups", 2007). As R is
 * triangular, row i is the same whatever the count.
 */
weft_status weft_haar_rows(double *out, uint32_t count, uint32_t n, struct weft_stream stream,
                           uint64_t first, const weft_host *host);

#endif
