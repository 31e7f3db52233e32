/* SPDX-License-Identifier: MIT */
#ifndef WEFT_CORE_TRIG_H
#define WEFT_CORE_TRIG_H

#include <stdint.h>

/**
 * cos(2πk/n) and sin(2πk/n), n ≥ 1, to about 2e-16. Uses + − × ÷ of doubles alone, so that tables made from it have
 * the same bits on every host, whatever its C library.
 */
void weft_unit_root(double *cosine, double *sine, uint64_t k, uint64_t n);

#endif
