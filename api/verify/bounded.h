/* SPDX-License-Identifier: MIT */
/*
 * Numbers with a bound for what float32 may make of them: the reference where the range of float32
 * matters. It follows an op's formula in float64, and says of each result whether float32 arithmetic
 * of any order comes near it, must be infinite or NaN, or may be anything because a number on the
 * way may overflow, or underflow and then be divided by.
 *
 * The arithmetic is that of reproducible math: a result below 2^-126 is the zero of its sign.
 * Running error analysis: Higham, Accuracy and Stability of Numerical Algorithms, section 3.3.
 */
#ifndef WEFT_CONFORMANCE_BOUNDED_H
#define WEFT_CONFORMANCE_BOUNDED_H

#include "verify/conformance.h"
#include "verify/reference/arithmetic.h"
#include "verify/reference/ops.h"

/**
 * `value` is what the formula gives; float32 arithmetic is at most `error` away. 0: it gives the
 * very bits, those of a zero's sign included. Infinity: anything is right, and `value` says nothing.
 * An infinite or NaN value has error 0.
 */
typedef struct weft_bounded {
    double value;
    double error;
} weft_bounded;

/** An element of an input; one float64 that float32 holds, or infinite, or NaN. */
weft_bounded weft_bounded_exact(double value);
/** A parameter of an op: a subnormal one is a zero too. */
weft_bounded weft_bounded_parameter(float value);
/**
 * The result of one correctly rounded operation on exact numbers, as float32 has it. Whether it is
 * too small for a normal number is decided after rounding it to 24 bits whatever its exponent, as
 * processors that flush do.
 */
weft_bounded weft_bounded_rounded(double value);
/** A number that float32 arithmetic comes as near to as `error`, plus a few roundings. */
weft_bounded weft_bounded_near(double value, double error);

weft_bounded weft_bounded_add(weft_bounded a, weft_bounded b);
weft_bounded weft_bounded_subtract(weft_bounded a, weft_bounded b);
weft_bounded weft_bounded_multiply(weft_bounded a, weft_bounded b);
weft_bounded weft_bounded_divide(weft_bounded a, weft_bounded b);
/** Result of an operator; for those after DIVIDE, a and b are exact. */
weft_bounded weft_bounded_binary(weft_binary op, weft_bounded a, weft_bounded b);
/** Result for an exact number. */
weft_bounded weft_bounded_unary(weft_unary op, double x, double alpha, double beta);
weft_bounded weft_bounded_sqrt(weft_bounded a);
weft_bounded weft_bounded_exp(weft_bounded a);
weft_bounded weft_bounded_activation(weft_activation activation, weft_bounded a);

/** A sum of any number of terms in any order. Zeroed it is empty. */
typedef struct weft_bounded_sum {
    double value;
    double size;  /* Σ |term| */
    double error; /* Σ of the terms' errors */
    double count;
    double quantum;  /* the power of two that the terms are multiples of; 0: all are 0 */
    bool is_rounded; /* a term has an error */
    bool has_nan, has_open, has_plus, has_minus; /* NaN, anything, +infinity, -infinity */
    bool has_plus_zero; /* a term that is not -0: only of such sums is the sign of a 0 sure */
} weft_bounded_sum;

void weft_bounded_sum_add(weft_bounded_sum *sum, weft_bounded term);
/** Adds a b: only the sum has to stay in range, since it overflows when the product does. */
void weft_bounded_sum_add_product(weft_bounded_sum *sum, weft_bounded a, weft_bounded b);
weft_bounded weft_bounded_sum_end(const weft_bounded_sum *sum);

/* ---- ops on arrays, as the references in conformance.h ---- */

void weft_bounded_matmul(weft_bounded *out, const weft_bounded *a, const weft_bounded *b,
                         weft_reference_product product);
/** out may be x. */
void weft_bounded_layer_norm(weft_bounded *out, const weft_bounded *x, const weft_bounded *gamma,
                             const weft_bounded *beta, uint32_t rows, uint32_t columns,
                             double epsilon);
/** out may be x. */
void weft_bounded_softmax(weft_bounded *out, const weft_bounded *x, uint32_t rows,
                          uint32_t columns);
/** Any algorithm's: infinities may become NaN, and sums of complex parts stay in range or may not. */
void weft_bounded_fourier(weft_bounded *out, const weft_bounded *x, uint32_t n, uint32_t d);
/** Linear attention of one sequence, as weft_graph_linear_attention has it. */
typedef struct weft_bounded_attention {
    uint32_t n, keys, heads;
    uint32_t features, values; /* of a head */
    bool causal;
    float epsilon; /* 0: the least normal number */
} weft_bounded_attention;

/**
 * phi [n, heads, features], psi [keys, heads, features], v [keys, heads, values], out [n, heads,
 * values]. Follows both (φ·ψ) v and φ (ψ v), which are one formula but for NaN, infinities and
 * overflows, and expects something where they agree: a kernel may take either, or some of each.
 */
void weft_bounded_linear_attention(weft_case *c, weft_bounded *out, const weft_bounded *phi,
                                   const weft_bounded *psi, const weft_bounded *v,
                                   const weft_bounded_attention *attention);

/** Softmax attention of one sequence, dense or within a band. */
typedef struct weft_bounded_band {
    uint32_t n, m, d, heads;
    bool banded, causal;
    uint32_t half_width;
} weft_bounded_band;

/** Expects attention of q [n, d] over k and v [m, d] of the newest output. */
void weft_bounded_expect_attention(weft_case *c, const weft_array arrays[3],
                                   const weft_bounded_band *band);

/** out[i] = a[i] + b[i % period]. out may be a. */
void weft_bounded_add_arrays(weft_bounded *out, const weft_bounded *a, const weft_bounded *b,
                             uint64_t count, uint64_t period);

/** Memory for `count` of them, zeroed, until the case is made; null after noting the failure. */
weft_bounded *weft_bounded_scratch(weft_case *c, uint64_t count);
/** The elements of an input or a constant, as scratch. */
weft_bounded *weft_bounded_of(weft_case *c, const double *value, uint64_t count);
/** Expects the case's newest output to be `result`, which it does not keep. */
void weft_bounded_expect(weft_case *c, const weft_bounded *result);

#endif
