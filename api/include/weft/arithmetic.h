/* SPDX-License-Identifier: MIT */
/*
 * Arithmetic of any shape: functions of single elements, choices, reductions, cumulative sums, softmax over any axis.
 * Binary operators and conversions are in graph.h. Truth values are i32, 0 or 1.
 *
 * Errors are those of the ops of graph.h. In reproducible mode a subnormal number counts as the zero of its sign, and a
 * NaN in a result is 0x7fc00000.
 */
#ifndef WEFT_ARITHMETIC_H
#define WEFT_ARITHMETIC_H

#include <weft/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- functions of one element ---- */

/**
 * Functions of f32, unless they say otherwise. Those of weft_activation are not repeated here. At an infinity softsign, quick GELU and
 * Mish have their limits (1 and -1; 0 at -infinity), where the formulas as they are written have none.
 */
typedef enum weft_unary {
    WEFT_UNARY_NEG = 0, /**< also of i32 */
    WEFT_UNARY_ABS,     /**< also of i32; of -2^31 itself */
    WEFT_UNARY_SIGN,    /**< also of i32; -1, 0 or 1; returns a zero or a NaN unchanged */
    WEFT_UNARY_SQUARE,  /**< also of i32 */
    WEFT_UNARY_SQRT,
    WEFT_UNARY_RSQRT,
    WEFT_UNARY_RECIPROCAL,
    WEFT_UNARY_LOG,
    WEFT_UNARY_LOG1P, /**< log(1 + x) */
    WEFT_UNARY_EXPM1, /**< exp(x) - 1 */
    WEFT_UNARY_SIN,
    WEFT_UNARY_COS,
    WEFT_UNARY_TAN,
    WEFT_UNARY_ERF,
    WEFT_UNARY_FLOOR,
    WEFT_UNARY_CEIL,
    WEFT_UNARY_ROUND, /**< to nearest, halves to even */
    WEFT_UNARY_TRUNC,
    WEFT_UNARY_SOFTPLUS, /**< log(1 + exp(x)) */
    WEFT_UNARY_SOFTSIGN, /**< x / (1 + |x|) */
    WEFT_UNARY_LOG_SIGMOID,
    WEFT_UNARY_QUICK_GELU,   /**< x · sigmoid(1.702 x) */
    WEFT_UNARY_MISH,         /**< x · tanh(softplus(x)) */
    WEFT_UNARY_HARD_SIGMOID, /**< alpha x + beta between 0 and 1 */
    WEFT_UNARY_HARD_SWISH,   /**< x · (alpha x + beta, between 0 and 1) */
    WEFT_UNARY_LEAKY_RELU,   /**< x, or alpha x for x < 0 */
    WEFT_UNARY_ELU,          /**< x, or alpha (exp(x) - 1) for x < 0 */
    WEFT_UNARY_SELU,         /**< beta x, or beta alpha (exp(x) - 1) for x < 0 */
    WEFT_UNARY_CELU,         /**< x, or alpha (exp(x / alpha) - 1) for x < 0 */
    WEFT_UNARY_SOFTSHRINK,   /**< x - beta for x > alpha, x + beta for x < -alpha, else 0 */
    WEFT_UNARY_THRESHOLD,    /**< x for x > alpha, else beta */
    WEFT_UNARY_CLAMP,  /**< alpha where x is below it, beta where it is above; alpha ≤ beta */
    WEFT_UNARY_IS_NAN, /**< gives i32 */
    WEFT_UNARY_IS_INF, /**< gives i32 */
    WEFT_UNARY_LOGICAL_NOT, /**< of i32 alone */
    WEFT_UNARY_BITWISE_NOT, /**< of i32 alone */
    WEFT_UNARY_COUNT
} weft_unary;

/** A constant name such as "neg"; never null. */
WEFT_API const char *weft_unary_name(weft_unary unary);

/**
 * The function of every element of x. alpha and beta have the meaning given at weft_unary, and are 0 for functions
 * without them. Neither may be a NaN; only CLAMP and THRESHOLD take infinities. CELU: alpha is not 0. The result has
 * x's shape, and x's type unless weft_unary says otherwise.
 */
WEFT_API weft_status weft_graph_unary(weft_tensor *out, weft_graph *graph, weft_unary op,
                                      weft_tensor x, float alpha, float beta);

/** Clamps x, f32, to low … high, with low ≤ high; an infinity means no bound. A NaN gives a NaN. */
WEFT_API weft_status weft_graph_clamp(weft_tensor *out, weft_graph *graph, weft_tensor x, float low,
                                      float high);

/**
 * a where condition, i32, is not 0, else b, with NumPy's broadcasting of all three (weft_graph_binary). a and b are both
 * f32 or both i32, and are copied bit by bit.
 */
WEFT_API weft_status weft_graph_where(weft_tensor *out, weft_graph *graph, weft_tensor condition,
                                      weft_tensor a, weft_tensor b);

/* ---- reductions ---- */

/** Reductions of f32 or i32. MAX and MIN are NaN if an element is; i32 wraps around. */
typedef enum weft_reduction {
    WEFT_REDUCTION_SUM = 0,
    WEFT_REDUCTION_MEAN, /**< of f32 alone */
    WEFT_REDUCTION_MAX,
    WEFT_REDUCTION_MIN,
    WEFT_REDUCTION_PRODUCT,
    WEFT_REDUCTION_SUM_OF_SQUARES,
    WEFT_REDUCTION_SUM_OF_SIZES, /**< Σ |x| */
    WEFT_REDUCTION_COUNT
} weft_reduction;

/** A constant name such as "sum"; never null. */
WEFT_API const char *weft_reduction_name(weft_reduction reduction);

typedef struct weft_reduce_params {
    uint32_t axes[WEFT_MAX_RANK]; /**< different ones, from 0, in any order */
    uint32_t axis_count;          /**< 0: all axes */
    bool keep_axes;               /**< keep reduced axes, with length 1 */
    /** i32 [B] for x [B, n, ...], each 1 … n, or none: only the first lengths[b] of axis 1 count. Axis 1 is then reduced,
     * and axis 0 is not. See weft_graph_mask. */
    weft_tensor lengths;
} weft_reduce_params;

#ifndef __cplusplus
#define weft_reduce_params(...) (&(weft_reduce_params){__VA_ARGS__})
#endif

/** The reduction of x over axes. With params null over all axes, which gives a scalar. */
WEFT_API weft_status weft_graph_reduce(weft_tensor *out, weft_graph *graph, weft_reduction op,
                                       weft_tensor x, const weft_reduce_params *params);

/** Index of the largest element along an axis, i32: the first of equal ones, and the first NaN if there is one. */
WEFT_API weft_status weft_graph_argmax(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                       uint32_t axis, bool keep_axis);

/** Index of the smallest element along an axis, as weft_graph_argmax. */
WEFT_API weft_status weft_graph_argmin(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                       uint32_t axis, bool keep_axis);

/**
 * Where the first `count` elements along an axis are once they are sorted, i32: x's shape with `count` at that axis. The largest come first,
 * or with `smallest` the smallest; equal ones keep their order, and a NaN is larger than all numbers. weft_graph_take_along then
 * gives the elements. x is f32 or i32, and count from 1 to its elements there. Takes as many comparisons for each element as the axis has.
 */
WEFT_API weft_status weft_graph_top_k(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                      uint32_t axis, uint32_t count, bool smallest);

/**
 * Cumulative sums of x, f32 or i32, along an axis. `exclusive` leaves out the element itself, so the first sum is 0.
 * `reverse` begins at the last element.
 */
WEFT_API weft_status weft_graph_cumsum(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                       uint32_t axis, bool exclusive, bool reverse);

/** weft_graph_softmax over any axis. */
WEFT_API weft_status weft_graph_softmax_axis(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                             uint32_t axis);

/** The logarithm of weft_graph_softmax_axis, without forming the softmax. */
WEFT_API weft_status weft_graph_log_softmax(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                            uint32_t axis);

#ifdef __cplusplus
}
#endif

#endif
