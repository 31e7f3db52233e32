/* SPDX-License-Identifier: MIT */
/* Features of queries and keys in float64. */
#ifndef WEFT_VERIFY_REFERENCE_FEATURES_H
#define WEFT_VERIFY_REFERENCE_FEATURES_H

#include "verify/reference/reference.h"

#include <weft/flt.h>
#include <weft/mixers.h>

/** A feature map of queries or keys: `begin` readies a head, `write` writes a token's `count` features of that head. */
typedef struct weft_reference_features {
    uint32_t count;
    double cost; /* operations of one `write` */
    void (*begin)(void *user, uint32_t head);
    void (*write)(void *user, double *out, uint32_t token);
    void *user;
} weft_reference_features;

/** out [rows.count, heads · count]. */
void weft_reference_write_features(weft_reference *ref, double *out, weft_rows rows, uint32_t heads,
                                   const weft_reference_features *map);

/** x itself, [n, heads · width], or `map` of each element. */
weft_reference_features weft_reference_elementwise(weft_reference *ref, const double *x,
                                                   uint32_t heads, uint32_t width,
                                                   double (*map)(double x));

/** Ψ x of channels [n, channels], with Ψ = (Σ other² / Σ x²)^(1/4), and 1 where one of them is nothing; null after a failure. */
double *weft_reference_balance(weft_reference *ref, const double *x, uint32_t n,
                               const double *other, uint32_t m, uint64_t channels);

/** The parameters of weft_random_features_params, and of the two ops beside it. */
typedef struct weft_reference_random_features {
    enum { WEFT_REFERENCE_RANDOM = 0, WEFT_REFERENCE_DISCRETE, WEFT_REFERENCE_HYBRID } family;
    const double *x; /* [n, heads · width] */
    uint32_t n, heads, width;
    const double *w; /* [count, width] */
    uint32_t count;
    weft_stabilizer stabilizer;
    double scale;               /* 0: width^(-1/4) */
    const double *coefficients; /* [count], or null */

    /* WEFT_REFERENCE_RANDOM: */
    weft_component component;
    double epsilon;
    const double *other; /* [m, heads · width] */
    uint32_t m;
    double a;
    int32_t s;

    /* WEFT_REFERENCE_HYBRID: */
    const double *directions; /* [direction_count, width] */
    uint32_t direction_count;
    bool keys;
} weft_reference_random_features;

/** The map of these parameters, which are copied; its memory lives as long as the reference. */
weft_reference_features weft_reference_feature_map(weft_reference *ref,
                                                   const weft_reference_random_features *params);

/** weft_graph_flt_features: Choromanski et al., 2024, (6). */
typedef struct weft_reference_flt_params {
    weft_flt_side side;
    const double *x; /* [n, heads · width] */
    uint32_t n, heads, width;
    uint32_t r, l;             /* frequencies, and dimensions of a position */
    const double *frequencies; /* [r, l], or [heads, r, l] */
    const double *weights;     /* [r], or [heads, r] */
    const double *phases;      /* as weights, or null */
    const double *positions;   /* [n, l]; null: the token's number */
    bool own_frequencies, own_weights;
    double scale; /* 0: width^(-1/4) */
} weft_reference_flt_params;

/** All tokens, [n, heads · (width + 2r)]. */
void weft_reference_flt(weft_reference *ref, double *out, const weft_reference_flt_params *params);

#endif
