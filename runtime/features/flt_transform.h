/* SPDX-License-Identifier: MIT */
/* Fourier transforms g of functions of relative positions, and the densities to draw their frequencies from. */
#ifndef WEFT_FEATURES_FLT_TRANSFORM_H
#define WEFT_FEATURES_FLT_TRANSFORM_H

#include <stdbool.h>

#include <weft/flt.h>

/** True if frequencies are drawn from |g_t| itself; if not, from N(0, sigma² I). */
bool weft_flt_is_matched(weft_flt_kind kind);

/** g at frequency [dimensions]. params have been checked. */
double weft_flt_transform_at(const weft_flt_params *params, const float *frequency);

/** g/p at frequency; not finite when it leaves the range of doubles. */
double weft_flt_weight_at(const weft_flt_params *params, const float *frequency);

/** Σ |w_t|: with a matched p, the largest size that a weight can have. */
double weft_flt_total(const weft_flt_params *params);

/** Coefficient and width of a term, with their defaults. */
double weft_flt_coefficient(const weft_flt_params *params, uint32_t term);
double weft_flt_width(const weft_flt_params *params, uint32_t term);

#endif
