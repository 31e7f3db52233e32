/* SPDX-License-Identifier: MIT */
/* The ops of weft/arithmetic.h and the operators of weft_graph_binary, in float64 and in whole numbers. */
#ifndef WEFT_VERIFY_REFERENCE_ARITHMETIC_H
#define WEFT_VERIFY_REFERENCE_ARITHMETIC_H

#include <weft/arithmetic.h>

#include "verify/reference/reference.h"

/** Operator on f32; comparisons give 0 and 1. Powers beyond float32 are infinite, or 0. */
double weft_reference_binary(weft_binary op, double a, double b);
int32_t weft_reference_binary_i32(weft_binary op, int32_t a, int32_t b);

/** Function of f32; tests give 0 and 1. */
double weft_reference_unary(weft_unary op, double x, double alpha, double beta);
int32_t weft_reference_unary_i32(weft_unary op, int32_t x);

/** The shape of operands together; what NumPy refuses is no shape that anybody asks for. */
weft_shape weft_reference_broadcast(weft_shape a, weft_shape b);

/** Place in an operand for element `index` of the output. */
uint64_t weft_reference_place(weft_shape output, weft_shape operand, uint64_t index);

/** x [outer, extent, inner] around an axis. */
typedef struct weft_reference_axis {
    uint64_t outer, extent, inner;
} weft_reference_axis;
weft_reference_axis weft_reference_axis_of(weft_shape shape, uint32_t axis);

/**
 * out: the elements of x's shape without the axes whose bits are in `axes`. lengths [B], or null: of axis 1. whole: in
 * i32, where sums wrap around.
 */
void weft_reference_reduce(weft_reference *ref, double *out, weft_reduction op, const double *x,
                           weft_shape shape, uint32_t axes, const double *lengths, bool whole);

void weft_reference_arg(double *out, const double *x, weft_reference_axis axis, bool smallest);

void weft_reference_cumsum(double *out, const double *x, weft_reference_axis axis, bool exclusive,
                           bool reverse, bool whole);

/** Softmax, or its logarithm. */
void weft_reference_softmax_axis(double *out, const double *x, weft_reference_axis axis,
                                 bool logarithm);

#endif
