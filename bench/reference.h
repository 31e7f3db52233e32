/* SPDX-License-Identifier: MIT */
/*
 * What the outputs of a case of `weft bench` ought to be: the mixers' formulas in float64, at some of the tokens.
 *
 * The functions follow the definitions of weft/mixers.h, token by token, and share nothing with the shaders. They take
 * parameters and not cases, so any suite can put its reference together from them. Arrays are dense and row-major,
 * activations [n, channels] of one sequence: head h has the channels h · width …. Results are written, not added, for
 * the tokens that a weft_bench_rows names alone: row r of `out` is token rows.at[r].
 */
#ifndef WEFT_BENCH_REFERENCE_H
#define WEFT_BENCH_REFERENCE_H

#include <weft/mixers.h>

#include "bench/case.h"
#include "core/host.h"

/** An input or output of a plan, as far as a reference needs it. */
typedef struct weft_bench_view {
    weft_port_info info;
    const void *data; /* its elements; an input may have null: what weft_bench_fill_input writes */
} weft_bench_view;

/** Tokens of a sequence, in ascending order. */
typedef struct weft_bench_rows {
    const uint32_t *at;
    uint32_t count;
} weft_bench_rows;

/**
 * Where a case's reference gets its numbers from, and puts its results: one sequence at a time. The first failure stays in
 * `status`; after it, and when the operations are spent, the functions below do nothing.
 */
typedef struct weft_bench_reference weft_bench_reference;

struct weft_bench_reference {
    weft_host host;
    weft_status status;
    const weft_bench_case *bench_case;
    const weft_bench_view *ports; /* in the order of the plan's */
    uint32_t port_count;
    double
        tolerance; /* relative L2, of conformance.h: WEFT_TOLERANCE_LINEAR unless the case says otherwise */
    double operations; /* multiplications and additions asked for so far, in pairs */
    double limit;      /* of these */

    /* Of this sequence: */
    uint32_t sequence, sequences;
    uint32_t n, width;    /* tokens and channels of the output */
    weft_bench_rows rows; /* the tokens to be checked */
    double *expected;     /* [rows.count, width] */
    struct weft_bench_block *blocks;
};

/** Frees the arrays of this sequence. */
void weft_bench_reference_end(weft_bench_reference *ref);

/** Whether nothing has failed and this many more operations are within the limit: to be asked before they are done. */
bool weft_bench_reference_spend(weft_bench_reference *ref, double operations);

/** Zeroed memory that lives as long as the reference of this sequence; null after noting the failure. */
double *weft_bench_reference_array(weft_bench_reference *ref, uint64_t count);

void *weft_bench_reference_block(weft_bench_reference *ref, size_t size); /* the same, in bytes */

/** This sequence's part of an input that has as many as the output in its first dimension, or all of another one. */
const double *weft_bench_reference_input(weft_bench_reference *ref, const char *name);

/** The elements of weft_bench_weight with this stream. */
const double *weft_bench_reference_weight(weft_bench_reference *ref, uint64_t count,
                                          uint64_t stream);

/** Given elements as float64. */
const double *weft_bench_reference_weight_of(weft_bench_reference *ref, const float *data,
                                             uint64_t count);

/** All tokens 0 … n - 1, for references of several layers. */
weft_bench_rows weft_bench_reference_all(weft_bench_reference *ref, uint32_t n);

/* ---- ops ---- */

/** x [n, k] times w [channels, k] transposed, plus bias [channels], or null. */
void weft_bench_reference_linear(weft_bench_reference *ref, double *out, weft_bench_rows rows,
                                 const double *x, uint32_t k, const double *w, uint32_t channels,
                                 const double *bias);

void weft_bench_reference_activation(weft_bench_reference *ref, double *out, weft_bench_rows rows,
                                     const double *x, uint32_t channels,
                                     weft_activation activation);

/** gamma and beta are [channels]. */
void weft_bench_reference_layer_norm(weft_bench_reference *ref, double *out, weft_bench_rows rows,
                                     const double *x, uint32_t channels, const double *gamma,
                                     const double *beta, double epsilon);

void weft_bench_reference_softmax(weft_bench_reference *ref, double *out, weft_bench_rows rows,
                                  const double *x, uint32_t channels);

/* ---- Fourier and Toeplitz ---- */

/** Re(F_seq(F_hidden(x))) of x [n, d]. */
void weft_bench_reference_fourier(weft_bench_reference *ref, double *out, weft_bench_rows rows,
                                  const double *x, uint32_t n, uint32_t d);

/** The discrete Fourier transform of n complex numbers, of real and imaginary part in turn. */
typedef struct weft_bench_transform weft_bench_transform;

/** One that `count` runs are asked of; null after a failure, or if that takes too many operations. */
weft_bench_transform *weft_bench_reference_transform(weft_bench_reference *ref, uint32_t n,
                                                     uint32_t count);

/**
 * out_k = Σ_j x_j e^(-2πi jk/n): from the transforms of even and odd places while their number is even, then by the
 * definition. out is not x.
 */
void weft_bench_transform_run(const weft_bench_transform *transform, double *out, const double *x);

typedef struct weft_bench_toeplitz {
    uint32_t n, d;
    bool causal;
    const double *coefficients; /* [2 reach - 1, d], causal [reach, d] */
    uint32_t reach;             /* at least n; 0: n */
    const double *decay;        /* [d], or null */
} weft_bench_toeplitz;
void weft_bench_reference_toeplitz(weft_bench_reference *ref, double *out, weft_bench_rows rows,
                                   const double *x, const weft_bench_toeplitz *params);

/** An RPE as TNN's public code has it: layers of one width, but for the last. */
typedef struct weft_bench_rpe {
    uint32_t width, layers, channels;
    /** W_0 [width, 1] and b_0, then weight and bias of each layer: [width, width], of the last [channels, width]. */
    const double *const *weights;
    weft_activation activation; /* with SimpleRMSNorm in front of it */
} weft_bench_rpe;

/** What it makes of `count` numbers, [count, channels]; null after a failure. */
const double *weft_bench_reference_rpe(weft_bench_reference *ref, const double *inputs,
                                       uint32_t count, const weft_bench_rpe *rpe);

/** response [grid + 1, 2d], causal [grid + 1, d]. */
void weft_bench_reference_toeplitz_fd(weft_bench_reference *ref, double *out, weft_bench_rows rows,
                                      const double *x, uint32_t n, uint32_t d,
                                      const double *response, uint32_t grid, bool causal);

typedef struct weft_bench_ski {
    uint32_t n, d;
    const double *rpe; /* [2 steps + 1, d] */
    uint32_t steps;
    const double *taps; /* [tap_count, d], or null */
    uint32_t tap_count;
    uint32_t points; /* 0: steps */
    float gamma;
    weft_interpolation interpolation;
} weft_bench_ski;
void weft_bench_reference_ski(weft_bench_reference *ref, double *out, weft_bench_rows rows,
                              const double *x, const weft_bench_ski *params);

/* ---- attention ---- */

typedef struct weft_bench_attention {
    const double *q, *k, *v; /* [n, heads · width], [m, heads · width], [m, heads · values] */
    uint32_t n;
    uint32_t m;      /* 0: n */
    uint32_t heads;  /* 0: 1 */
    uint32_t width;  /* of a head */
    uint32_t values; /* 0: width */
    bool causal;
} weft_bench_attention;

/** The same with the numbers that a 0 stands for. */
weft_bench_attention weft_bench_attention_with_defaults(const weft_bench_attention *attention);

/** The keys j of query i with |i - j| ≤ half_width, UINT32_MAX for all of them; scale 0: 1/√width. */
void weft_bench_reference_softmax_attention(weft_bench_reference *ref, double *out,
                                            weft_bench_rows rows,
                                            const weft_bench_attention *attention,
                                            uint32_t half_width, double scale);

void weft_bench_reference_kernel_attention(weft_bench_reference *ref, double *out,
                                           weft_bench_rows rows,
                                           const weft_bench_attention *attention,
                                           const weft_kernel *kernels, uint32_t kernel_count,
                                           double epsilon);

/** FMMformer's: near_weight and far_weight are [heads · width] or null; the far field is a fast weight where beta is given. */
void weft_bench_reference_fmm_attention(weft_bench_reference *ref, double *out,
                                        weft_bench_rows rows, const weft_bench_attention *attention,
                                        uint32_t half_width, const weft_kernel *kernels,
                                        uint32_t kernel_count, const double *beta,
                                        const double *near_weight, const double *far_weight);

/** beta [n, heads], in 0 … 1. */
void weft_bench_reference_fast_weight(weft_bench_reference *ref, double *out, weft_bench_rows rows,
                                      const weft_bench_attention *attention, const double *beta);

/** length: M, 0 for n. */
void weft_bench_reference_cosformer(weft_bench_reference *ref, double *out, weft_bench_rows rows,
                                    const weft_bench_attention *attention, uint32_t length,
                                    double epsilon);

/* ---- features, and attention with them ---- */

/** A feature map of queries or keys: `begin` readies a head, `write` writes a token's `count` features of that head. */
typedef struct weft_bench_features {
    uint32_t count;
    double cost; /* operations of one `write` */
    void (*begin)(void *user, uint32_t head);
    void (*write)(void *user, double *out, uint32_t token);
    void *user;
} weft_bench_features;

typedef struct weft_bench_feature_attention {
    const double *v; /* [m, heads · values] */
    uint32_t m, heads, values;
    bool causal;
    double least;  /* a denominator closer to 0 becomes this, with its own sign; 0: 2^-126 */
    double factor; /* on the result; 0: 1 */
    bool add;      /* to what `out` holds */
    /** A factor of the weight of query i and key j, or null. */
    double (*bias)(const void *user, uint32_t head, uint32_t i, uint32_t j);
    const void *user;
} weft_bench_feature_attention;

/** Σ_j bias_ij φ_i·ψ_j v_j / Σ_j bias_ij φ_i·ψ_j: by the sum of its definition. */
void weft_bench_reference_feature_attention(weft_bench_reference *ref, double *out,
                                            weft_bench_rows rows, const weft_bench_features *phi,
                                            const weft_bench_features *psi,
                                            const weft_bench_feature_attention *params);

/** The parameters of weft_random_features_params, and of the two ops beside it. */
typedef struct weft_bench_random_features {
    enum { WEFT_BENCH_RANDOM = 0, WEFT_BENCH_DISCRETE, WEFT_BENCH_HYBRID } family;
    const double *x; /* [n, heads · width] */
    uint32_t n, heads, width;
    const double *w; /* [count, width] */
    uint32_t count;
    weft_stabilizer stabilizer;
    double scale;               /* 0: width^(-1/4) */
    const double *coefficients; /* [count], or null */

    /* WEFT_BENCH_RANDOM: */
    weft_component component;
    double epsilon;
    const double *other; /* [m, heads · width] */
    uint32_t m;
    double a;
    int32_t s;

    /* WEFT_BENCH_HYBRID: */
    const double *directions; /* [direction_count, width] */
    uint32_t direction_count;
    bool keys;
} weft_bench_random_features;

/** The map of these parameters, which are copied; its memory lives as long as the reference. */
weft_bench_features weft_bench_reference_features(weft_bench_reference *ref,
                                                  const weft_bench_random_features *params);

typedef struct weft_bench_flt {
    weft_flt_side side;
    const double *x; /* [n, heads · width] */
    uint32_t n, heads, width;
    uint32_t r, l;             /* frequencies, and dimensions of a position */
    const double *frequencies; /* [r, l], the same for all heads */
    const double *weights;     /* [r] */
    const double *positions;   /* [n, l]; null: the token's number */
    double scale;              /* 0: width^(-1/4) */
} weft_bench_flt;

/** All tokens of weft_graph_flt_features, [n, heads · (width + 2r)]; null after a failure. */
const double *weft_bench_reference_flt(weft_bench_reference *ref, const weft_bench_flt *params);

/** The rows of a weight matrix that weft_features_fill draws, [rows, columns]; null after a failure. */
const double *weft_bench_reference_matrix(weft_bench_reference *ref,
                                          const weft_features_params *params);

/** PosRF as FAVOR+ has it, with its stabilizers and epsilon 1e-6, and attention with it. scale 0: width^(-1/4). */
void weft_bench_reference_performer(weft_bench_reference *ref, double *out, weft_bench_rows rows,
                                    const weft_bench_attention *attention, const double *w,
                                    uint32_t count, double scale);

/** RFA-Gaussian. epsilon 0: 1e-6. */
void weft_bench_reference_rfa(weft_bench_reference *ref, double *out, weft_bench_rows rows,
                              const weft_bench_attention *attention, const double *w,
                              uint32_t count, double epsilon);

/** Attention over features with relative positions: bias as weft_graph_toeplitz_attention, [2 reach - 1, heads] or [reach, heads]. */
void weft_bench_reference_toeplitz_attention(weft_bench_reference *ref, double *out,
                                             weft_bench_rows rows, const weft_bench_features *phi,
                                             const weft_bench_features *psi,
                                             const weft_bench_feature_attention *params,
                                             const double *bias, uint32_t reach);

/* ---- whole encoders ---- */

typedef enum weft_bench_fnet_mixing {
    WEFT_BENCH_FNET_FOURIER = 0,
    WEFT_BENCH_FNET_LINEAR,    /* a learned [n, n] and [d, d] */
    WEFT_BENCH_FNET_ATTENTION, /* softmax */
    WEFT_BENCH_FNET_NONE,
    WEFT_BENCH_FNET_PERFORMER /* in the layout of model_type "performer": see weft_bench_fnet */
} weft_bench_fnet_mixing;

/**
 * An FNet of weft_model_create_random without a head and without token types, or one of its siblings. The Performer is a
 * network with post-norm, learned positions and a norm behind its embeddings, and with neither types nor a projection.
 */
typedef struct weft_bench_fnet {
    uint32_t n; /* as many positions as it has, too */
    uint32_t d, wide, layers, heads;
    uint32_t vocabulary, types;
    weft_bench_fnet_mixing mixing;
    uint32_t attention_layers; /* of the last ones, whatever `mixing` is */
    uint32_t features;         /* PERFORMER: of a head */
    weft_activation activation;
    double epsilon; /* of the norms */
    uint64_t seed;  /* of the weights */
} weft_bench_fnet;

/** out [rows.count, d] of tokens [n]. */
void weft_bench_reference_fnet(weft_bench_reference *ref, double *out, weft_bench_rows rows,
                               const double *tokens, const weft_bench_fnet *params);

#endif
