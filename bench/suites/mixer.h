/* SPDX-License-Identifier: MIT */
/* A mixer by parameters, for all suites that time mixers, and what its random weights are drawn from. */
#ifndef WEFT_BENCH_MIXER_H
#define WEFT_BENCH_MIXER_H

#include <weft/features.h>
#include <weft/flt.h>

#include "verify/sheet.h"

#define WEFT_BENCH_WIDTH      64U
#define WEFT_BENCH_MIN_LENGTH 64U /* SKI has that many inducing points, bands are narrower */

/* Parameters that all cases share: */
enum {
    WEFT_BENCH_BAND = 30,            /* half-width: FMMformer's */
    WEFT_BENCH_RANDOM_FEATURES = 64, /* rows of w where a mixer names no number */
    WEFT_BENCH_FLT_FREQUENCIES = 32, /* r */
    WEFT_BENCH_SKI_POINTS = 64,      /* r: that of the long-range arena's SKI models */
    WEFT_BENCH_SKI_GRID = 64,        /* g */
    WEFT_BENCH_SKI_TAPS = 33,        /* m */
    WEFT_BENCH_RPE_WIDTH = 32,       /* d_r, and the number of layers: TNN's */
    WEFT_BENCH_RPE_LAYERS = 4,
    WEFT_BENCH_DIRECTIONS = 4 /* of hybrid features */
};

#define WEFT_BENCH_SKI_GAMMA 0.99F
#define WEFT_BENCH_TNN_DECAY 0.99F /* of all channels, of coefficients by an RPE */
#define WEFT_BENCH_FEATURES_EPSILON \
    1e-6F /* added to exponentials, but for pairs of cosine and sine */
#define WEFT_BENCH_GENERALIZED_A (-0.1F)

/* Streams of weights of uniform values: */
enum {
    WEFT_BENCH_STREAM_KERNEL = 1, /* coefficients, response, RPE table */
    WEFT_BENCH_STREAM_TAPS = 2,
    WEFT_BENCH_STREAM_BIAS = 3, /* of the log-linear Performer, [2n - 1, heads] or [n, heads] */
    WEFT_BENCH_STREAM_RPE = 16  /* W_0, b_0, and then weight and bias of each layer in turn */
};

typedef enum weft_bench_growth {
    WEFT_BENCH_GROWTH_OTHER = 0,
    WEFT_BENCH_GROWTH_LINEAR,
    WEFT_BENCH_GROWTH_DENSE /* what the others of its suite are held against */
} weft_bench_growth;

/** Which op makes the features. */
typedef enum weft_bench_family {
    WEFT_BENCH_FAMILY_RANDOM = 0, /* weft_graph_random_features */
    WEFT_BENCH_FAMILY_DISCRETE,
    WEFT_BENCH_FAMILY_HYBRID
} weft_bench_family;

/** Functions of relative positions. */
typedef enum weft_bench_positions {
    WEFT_BENCH_POSITIONS_NONE = 0,
    WEFT_BENCH_POSITIONS_KERNEL,   /* a Gaussian of 16 tokens */
    WEFT_BENCH_POSITIONS_MIXTURE,  /* Gaussian mixture of two terms */
    WEFT_BENCH_POSITIONS_LOCAL,    /* 1 up to 16 tokens, then 0 */
    WEFT_BENCH_POSITIONS_LOCAL_2D, /* 1 up to 4 columns and 4 rows, then 0; tokens in a square */
    WEFT_BENCH_POSITIONS_MOLECULAR /* three dimensions; tokens in a cube */
} weft_bench_positions;

typedef struct weft_bench_mixer {
    const char *name;
    const weft_sheet *sheet; /* null: of random features */
    const void *params;      /* of the sheet; null: all 0 */
    uint32_t with;           /* bits of the optional operands that it has */
    bool exponential;        /* for WEFT_TOLERANCE_EXPONENTIAL */
    bool rpe; /* coefficients or response by an MLP of learned weights, evaluated once */
    const char *implementation; /* forced, or null */
    weft_bench_growth growth;

    /* Random features, and linear attention with them: */
    bool causal;
    bool rfa; /* weft_graph_rfa_attention */
    weft_bench_family family;
    weft_component component; /* of RANDOM */
    weft_features_kind matrix;
    uint32_t rows;   /* of the matrix; 0: WEFT_BENCH_RANDOM_FEATURES */
    bool fast;       /* RANDOM: W is applied by its fast transform, not as a dense matrix */
    bool log_linear; /* weft_graph_toeplitz_attention with a bias of relative positions */
    weft_bench_positions positions; /* weft_graph_flt_features first */
} weft_bench_mixer;

/* Mixers of several suites: */
#define WEFT_BENCH_ATTENTION .sheet = &weft_sheet_attention, .exponential = true
#define WEFT_BENCH_BANDED(width, ...)                           \
    .sheet = &weft_sheet_banded_attention, .exponential = true, \
    .params = weft_banded_attention_params(.half_width = (width), __VA_ARGS__)
#define WEFT_BENCH_FULL_BAND UINT32_MAX
#define WEFT_BENCH_KERNELS(count, ...)                                                             \
    .sheet = &weft_sheet_kernel_attention,                                                         \
    .params = weft_kernel_attention_params(.kernels = weft_bench_kernels, .kernel_count = (count), \
                                           __VA_ARGS__)
#define WEFT_BENCH_FMM(count, ...)                                                              \
    .sheet = &weft_sheet_fmm_attention, .exponential = true,                                    \
    .params =                                                                                   \
        weft_fmm_attention_params(.half_width = WEFT_BENCH_BAND, .kernels = weft_bench_kernels, \
                                  .kernel_count = (count), __VA_ARGS__)
#define WEFT_BENCH_TOEPLITZ(...) \
    .sheet = &weft_sheet_toeplitz, .params = weft_toeplitz_params(.causal = __VA_ARGS__)
#define WEFT_BENCH_TOEPLITZ_FD(...) \
    .sheet = &weft_sheet_toeplitz_fd, .params = weft_toeplitz_fd_params(.causal = __VA_ARGS__)
#define WEFT_BENCH_SKI(of)                                              \
    .sheet = &weft_sheet_ski_toeplitz, .with = 1 << 2 /* taps */,       \
    .params = weft_ski_toeplitz_params(.points = WEFT_BENCH_SKI_POINTS, \
                                       .gamma = WEFT_BENCH_SKI_GAMMA, .interpolation = (of))

/**
 * elu(x) + 1, elu(-x) + 1 and tanh(x) + 1: a far field of rank r has the first r. FMMformer's third is tanh(x), which is as
 * much work, but whose denominators of random inputs come arbitrarily close to 0.
 */
extern const weft_kernel weft_bench_kernels[3];

/* ---- what the weights of a graph are made of ---- */

/** The weight matrix of random features of heads of `width` channels: w of weft_features_fill. */
weft_features_params weft_bench_mixer_features(const weft_bench_mixer *mixer, uint32_t width);

/** The directions of hybrid features, likewise. */
weft_features_params weft_bench_mixer_directions(uint32_t width);

/** True if the rows of the matrix have different weights, so that their roots are the features' coefficients. */
bool weft_bench_mixer_is_weighted(const weft_bench_mixer *mixer);

/** How many numbers a position has; 0 without positions. */
uint32_t weft_bench_mixer_dimensions(const weft_bench_mixer *mixer);

/** Frequencies and weights of positions, of weft_flt_fill. */
weft_flt_params weft_bench_mixer_flt(const weft_bench_mixer *mixer);

/** Positions [n, dimensions] of more than one dimension: token i is at the i-th place of a square or cube. */
void weft_bench_mixer_positions(float *positions, const weft_bench_mixer *mixer, uint32_t n);

#endif
