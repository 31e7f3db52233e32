/* SPDX-License-Identifier: MIT */
/* Functions of one element, and operators of two. */
#include <math.h>

#include "verify/reference/angle.h"
#include "verify/reference/arithmetic.h"

#define LEAST 0x1p-126               /* the least normal number of float32 */
#define MOST  0x1.fffffefffffffp+127 /* beyond which numbers round to infinity */

/* ---- two elements ---- */

static double flushed(double x) {
    return fabs(x) < LEAST ? copysign(0.0, x) : x;
}

static double modulo(double a, double b) {
    if (b == 0.0 || !isfinite(a) || isnan(b)) {
        return (double)NAN;
    }
    const double rest = flushed(fmod(a, b));
    return rest != 0.0 && signbit(rest) != signbit(b) ? rest + b : copysign(rest, b);
}

static double floor_divide(double dividend, double divisor) {
    const double a = flushed(dividend), b = flushed(divisor);
    if (b == 0.0 || isnan(a) || isnan(b)) {
        return a / b;
    }
    if (isinf(a)) {
        return (double)NAN;
    }
    const double rest = fmod(a, b);
    const double size = isinf(b) ? 0.0 : nearbyint((fabs(a) - fabs(rest)) / fabs(b));
    const bool down = signbit(a) != signbit(b) && rest != 0.0;
    return copysign(down ? size + 1.0 : size, signbit(a) != signbit(b) ? -1.0 : 1.0);
}

static double power(double a, double b) {
    const double result = pow(a, b);
    return fabs(result) > MOST ? copysign((double)INFINITY, result) : flushed(result);
}

/* NaN if one of them is; -0 is below +0. */
static double smaller(double a, double b) {
    const bool first = a < b || (a == b && signbit(a) && !signbit(b));
    return isnan(a) || isnan(b) ? (double)NAN : first ? a : b;
}

static double compared(weft_binary op, double a, double b) {
    switch (op) {
    case WEFT_BINARY_EQUAL:
        return a == b;
    case WEFT_BINARY_NOT_EQUAL:
        return a != b;
    case WEFT_BINARY_LESS:
        return a < b;
    case WEFT_BINARY_LESS_EQUAL:
        return a <= b;
    case WEFT_BINARY_GREATER:
        return a > b;
    default:
        return a >= b;
    }
}

double weft_reference_binary(weft_binary op, double a, double b) {
    switch (op) {
    case WEFT_BINARY_ADD:
        return a + b;
    case WEFT_BINARY_SUBTRACT:
        return a - b;
    case WEFT_BINARY_MULTIPLY:
        return a * b;
    case WEFT_BINARY_DIVIDE:
        return a / b;
    case WEFT_BINARY_MINIMUM:
        return smaller(a, b);
    case WEFT_BINARY_MAXIMUM:
        return -smaller(-a, -b);
    case WEFT_BINARY_POWER:
        return power(a, b);
    case WEFT_BINARY_MODULO:
        return modulo(a, b);
    case WEFT_BINARY_FLOOR_DIVIDE:
        return floor_divide(a, b);
    default:
        return compared(op, a, b);
    }
}

static int32_t wrapped(int64_t value) {
    return (int32_t)(uint32_t)(uint64_t)value;
}

static int64_t floor_quotient(int64_t a, int64_t b) {
    const int64_t quotient = a / b;
    return quotient - (a % b != 0 && (a < 0) != (b < 0));
}

static int32_t power_i32(int32_t a, int32_t b) {
    if (b < 0) {
        return a == 1 ? 1 : a == -1 ? (b % 2 != 0 ? -1 : 1) : 0;
    }
    uint32_t result = 1;
    uint32_t square = (uint32_t)a;
    for (uint32_t rest = (uint32_t)b; rest != 0; rest /= 2) {
        result *= rest % 2 != 0 ? square : 1;
        square *= square;
    }
    return (int32_t)result;
}

int32_t weft_reference_binary_i32(weft_binary op, int32_t p, int32_t q) {
    const int64_t a = p;
    const int64_t b = q;
    switch (op) {
    case WEFT_BINARY_ADD:
        return wrapped(a + b);
    case WEFT_BINARY_SUBTRACT:
        return wrapped(a - b);
    case WEFT_BINARY_MULTIPLY:
        return wrapped(a * b);
    case WEFT_BINARY_DIVIDE:
        return b == 0 ? 0 : wrapped(a / b);
    case WEFT_BINARY_MINIMUM:
        return p < q ? p : q;
    case WEFT_BINARY_MAXIMUM:
        return p > q ? p : q;
    case WEFT_BINARY_POWER:
        return power_i32(p, q);
    case WEFT_BINARY_MODULO:
        return b == 0 ? 0 : wrapped(a - b * floor_quotient(a, b));
    case WEFT_BINARY_FLOOR_DIVIDE:
        return b == 0 ? 0 : wrapped(floor_quotient(a, b));
    case WEFT_BINARY_LOGICAL_AND:
        return p != 0 && q != 0;
    case WEFT_BINARY_LOGICAL_OR:
        return p != 0 || q != 0;
    case WEFT_BINARY_LOGICAL_XOR:
        return (p != 0) != (q != 0);
    case WEFT_BINARY_BITWISE_AND:
        return p & q;
    case WEFT_BINARY_BITWISE_OR:
        return p | q;
    case WEFT_BINARY_BITWISE_XOR:
        return p ^ q;
    default:
        return (int32_t)compared(op, p, q);
    }
}

/* ---- one element ---- */

static double softplus(double x) {
    return fmax(x, 0.0) + log1p(exp(-fabs(x)));
}

static double held(double x, double low, double high) {
    return x < low ? low : x > high ? high : x;
}

/* x times a factor, which is 0 at -infinity. */
static double gated(double x, double factor) {
    return isinf(x) && x < 0.0 ? 0.0 : x * factor;
}

static double with_parameters(weft_unary op, double x, double alpha, double beta) {
    switch (op) {
    case WEFT_UNARY_HARD_SIGMOID:
        return held(alpha * x + beta, 0.0, 1.0);
    case WEFT_UNARY_HARD_SWISH:
        return x * held(alpha * x + beta, 0.0, 1.0);
    case WEFT_UNARY_LEAKY_RELU:
        return x < 0.0 ? alpha * x : x;
    case WEFT_UNARY_ELU:
        return x < 0.0 ? alpha * expm1(x) : x;
    case WEFT_UNARY_SELU:
        return beta * (x < 0.0 ? alpha * expm1(x) : x);
    case WEFT_UNARY_CELU:
        return x < 0.0 ? alpha * expm1(x / alpha) : x;
    case WEFT_UNARY_SOFTSHRINK:
        return isnan(x) ? x : x > alpha ? x - beta : x < -alpha ? x + beta : 0.0;
    case WEFT_UNARY_THRESHOLD:
        return x <= alpha ? beta : x;
    case WEFT_UNARY_CLAMP:
        return held(x, alpha, beta);
    case WEFT_UNARY_IS_NAN:
        return isnan(x) != 0;
    default: /* WEFT_UNARY_IS_INF */
        return isinf(x) != 0;
    }
}

/* The functions of the C library, and what is made of them. */
static double without_parameters(weft_unary op, double x) {
    switch (op) {
    case WEFT_UNARY_SQRT:
        return sqrt(x);
    case WEFT_UNARY_RSQRT:
        return 1.0 / sqrt(x);
    case WEFT_UNARY_RECIPROCAL:
        return 1.0 / x;
    case WEFT_UNARY_LOG:
        return log(x);
    case WEFT_UNARY_LOG1P:
        return log1p(x);
    case WEFT_UNARY_EXPM1:
        return expm1(x);
    case WEFT_UNARY_SIN:
        return weft_reference_sin(x);
    case WEFT_UNARY_COS:
        return weft_reference_cos(x);
    case WEFT_UNARY_TAN:
        return tan(x);
    case WEFT_UNARY_ERF:
        return erf(x);
    case WEFT_UNARY_SOFTPLUS:
        return softplus(x);
    case WEFT_UNARY_SOFTSIGN:
        return isinf(x) ? copysign(1.0, x) : x / (1.0 + fabs(x));
    case WEFT_UNARY_LOG_SIGMOID:
        return -softplus(-x);
    case WEFT_UNARY_QUICK_GELU:
        return gated(x, 1.0 / (1.0 + exp(-1.702 * x)));
    default: /* WEFT_UNARY_MISH */
        return gated(x, tanh(softplus(x)));
    }
}

double weft_reference_unary(weft_unary op, double x, double alpha, double beta) {
    switch (op) {
    case WEFT_UNARY_NEG:
        return -x;
    case WEFT_UNARY_ABS:
        return fabs(x);
    case WEFT_UNARY_SIGN:
        return x > 0.0 ? 1.0 : x < 0.0 ? -1.0 : x;
    case WEFT_UNARY_SQUARE:
        return x * x;
    case WEFT_UNARY_FLOOR:
        return floor(x);
    case WEFT_UNARY_CEIL:
        return ceil(x);
    case WEFT_UNARY_ROUND:
        return nearbyint(x);
    case WEFT_UNARY_TRUNC:
        return trunc(x);
    default:
        return op < WEFT_UNARY_HARD_SIGMOID ? without_parameters(op, x)
                                            : with_parameters(op, x, alpha, beta);
    }
}

int32_t weft_reference_unary_i32(weft_unary op, int32_t x) {
    switch (op) {
    case WEFT_UNARY_NEG:
        return wrapped(-(int64_t)x);
    case WEFT_UNARY_ABS:
        return wrapped(x < 0 ? -(int64_t)x : x);
    case WEFT_UNARY_SIGN:
        return (x > 0) - (x < 0);
    case WEFT_UNARY_SQUARE:
        return wrapped((int64_t)x * x);
    case WEFT_UNARY_LOGICAL_NOT:
        return x == 0;
    default: /* WEFT_UNARY_BITWISE_NOT */
        return ~x;
    }
}
