/* SPDX-License-Identifier: MIT */
#include "verify/bounded.h"

#include <math.h>

#define ROUNDING 0x1p-24             /* relative, of one operation */
#define SEVERAL  0x1p-22             /* of the few that a kernel may take for one of the formula */
#define LEAST    0x1p-126            /* the least normal number */
#define LIMIT    (0x1p128 - 0x1p103) /* from here on a number rounds to infinity */
#define MARGIN   0x1p-20             /* relative distance to LIMIT at which nothing is sure */
#define TO_LEAST (LEAST - 0x1p-151)  /* from here on a number rounds to LEAST in 24 bits */

static const weft_bounded anything = {.value = 0.0, .error = INFINITY};

static bool is_open(weft_bounded a) {
    return isinf(a.error);
}

static bool is_zero(weft_bounded a) {
    return a.value == 0.0 && a.error == 0.0;
}

/* Surely not zero, and of the sign of its value. */
static bool has_sign(weft_bounded a) {
    return fabs(a.value) > a.error;
}

weft_bounded weft_bounded_exact(double value) {
    return (weft_bounded){.value = value};
}

weft_bounded weft_bounded_parameter(float value) {
    weft_bounded parameter = {.error = 0.0};
    weft_values_read(&parameter.value, &value, 1);
    return parameter;
}

weft_bounded weft_bounded_rounded(double value) {
    if (isnan(value)) {
        return weft_bounded_exact(NAN);
    }
    if (fabs(value) >= LIMIT) {
        return weft_bounded_exact(copysign(INFINITY, value));
    }
    if (fabs(value) < TO_LEAST) {
        return weft_bounded_exact(copysign(0.0, value));
    }
    return weft_bounded_exact(fabs(value) < LEAST ? copysign(LEAST, value) : (double)(float)value);
}

weft_bounded weft_bounded_near(double value, double error) {
    if (fabs(value) - error >= LIMIT * (1.0 + MARGIN)) {
        return weft_bounded_exact(copysign(INFINITY, value));
    }
    if (!(fabs(value) + error < LIMIT * (1.0 - MARGIN))) {
        return anything;
    }
    return (weft_bounded){.value = value, .error = error + SEVERAL * fabs(value) + LEAST};
}

/* The result of one operation; exact operands give a correctly rounded result. */
static weft_bounded result(double value, double error) {
    return error == 0.0 ? weft_bounded_rounded(value) : weft_bounded_near(value, error);
}

/* ---- operations ---- */

weft_bounded weft_bounded_add(weft_bounded a, weft_bounded b) {
    if (isnan(a.value) || isnan(b.value)) {
        return weft_bounded_exact(NAN);
    }
    if (is_open(a) || is_open(b)) {
        return anything;
    }
    if (isinf(a.value) || isinf(b.value)) {
        return weft_bounded_exact(a.value + b.value);
    }
    return result(a.value + b.value, a.error + b.error);
}

weft_bounded weft_bounded_subtract(weft_bounded a, weft_bounded b) {
    b.value = -b.value;
    return weft_bounded_add(a, b);
}

/* True if a b is what special operands make of it. */
static bool special_product(weft_bounded *product, weft_bounded a, weft_bounded b) {
    if (isnan(a.value) || isnan(b.value)) {
        *product = weft_bounded_exact(NAN);
    } else if (is_open(a) || is_open(b)) {
        *product = anything;
    } else if (isinf(a.value) || isinf(b.value)) {
        weft_bounded other = isinf(a.value) ? b : a;
        bool decided = has_sign(other) || is_zero(other);
        *product = decided ? weft_bounded_exact(a.value * b.value) : anything;
    } else {
        return false;
    }
    return true;
}

static double product_error(weft_bounded a, weft_bounded b) {
    return fabs(a.value) * b.error + fabs(b.value) * a.error + a.error * b.error;
}

weft_bounded weft_bounded_multiply(weft_bounded a, weft_bounded b) {
    weft_bounded product;
    if (special_product(&product, a, b)) {
        return product;
    }
    return result(a.value * b.value, product_error(a, b));
}

/* a / b of a finite a that is not NaN and a b that is infinite. */
static weft_bounded by_infinity(weft_bounded a, weft_bounded b) {
    return a.error == 0.0 ? weft_bounded_exact(a.value / b.value) : weft_bounded_near(0.0, LEAST);
}

weft_bounded weft_bounded_divide(weft_bounded a, weft_bounded b) {
    if (isnan(a.value) || isnan(b.value)) {
        return weft_bounded_exact(NAN);
    }
    if (is_open(a) || is_open(b)) {
        return anything;
    }
    if (is_zero(b)) {
        return has_sign(a) || is_zero(a) ? weft_bounded_exact(a.value / b.value) : anything;
    }
    if (isinf(b.value)) {
        return isinf(a.value) ? weft_bounded_exact(NAN) : by_infinity(a, b);
    }
    if (!has_sign(b)) {
        return anything;
    }
    double quotient = a.value / b.value;
    if (isinf(a.value)) {
        return weft_bounded_exact(quotient);
    }
    return result(quotient, (a.error + fabs(quotient) * b.error) / (fabs(b.value) - b.error));
}

/* Operators of exact numbers that are no arithmetic of float32. */
static weft_bounded exact_binary(weft_binary op, weft_bounded a, weft_bounded b) {
    const double value = weft_reference_binary(op, a.value, b.value);
    switch (op) {
    case WEFT_BINARY_POWER:
        return a.value == 1.0 || b.value == 0.0 || value == 0.0 || !isfinite(value)
                   ? weft_bounded_exact(value)
                   : weft_bounded_near(value, fabs(value) * SEVERAL);
    case WEFT_BINARY_MODULO:
    case WEFT_BINARY_FLOOR_DIVIDE:
        return weft_bounded_rounded(value);
    default:
        return weft_bounded_exact(value);
    }
}

weft_bounded weft_bounded_binary(weft_binary op, weft_bounded a, weft_bounded b) {
    switch (op) {
    case WEFT_BINARY_ADD:
        return weft_bounded_add(a, b);
    case WEFT_BINARY_SUBTRACT:
        return weft_bounded_subtract(a, b);
    case WEFT_BINARY_MULTIPLY:
        return weft_bounded_multiply(a, b);
    case WEFT_BINARY_DIVIDE:
        return weft_bounded_divide(a, b);
    default:
        return exact_binary(op, a, b);
    }
}

/* Those that select, or round to whole numbers: exact. */
static bool is_selection(weft_unary op) {
    switch (op) {
    case WEFT_UNARY_NEG:
    case WEFT_UNARY_ABS:
    case WEFT_UNARY_SIGN:
    case WEFT_UNARY_FLOOR:
    case WEFT_UNARY_CEIL:
    case WEFT_UNARY_ROUND:
    case WEFT_UNARY_TRUNC:
    case WEFT_UNARY_THRESHOLD:
    case WEFT_UNARY_CLAMP:
    case WEFT_UNARY_IS_NAN:
    case WEFT_UNARY_IS_INF:
        return true;
    default:
        return false;
    }
}

weft_bounded weft_bounded_unary(weft_unary op, double x, double alpha, double beta) {
    const double value = weft_reference_unary(op, x, alpha, beta);
    if (is_selection(op) || isnan(value) || isinf(x)) {
        return weft_bounded_exact(value);
    }
    if (op == WEFT_UNARY_SQUARE || op == WEFT_UNARY_SQRT || op == WEFT_UNARY_RECIPROCAL) {
        return weft_bounded_rounded(value);
    }
    /* An error of the argument of an exponential is one of the result, relative to it. */
    const double tail = value != 0.0 && fabs(x) < 128.0 ? fabs(x) : 0.0;
    const double size = fabs(alpha * x) + fabs(beta);
    const double sum = op == WEFT_UNARY_HARD_SIGMOID ? size
                       : op == WEFT_UNARY_HARD_SWISH ? size * fabs(x)
                                                     : 0.0;
    return isinf(value) ? weft_bounded_exact(value)
                        : weft_bounded_near(value, (4.0 + tail) * ROUNDING * fabs(value) +
                                                       SEVERAL * (isfinite(sum) ? sum : 0.0));
}

/* ---- functions ---- */

weft_bounded weft_bounded_sqrt(weft_bounded a) {
    if (isnan(a.value) || (a.value < 0.0 && has_sign(a))) {
        return weft_bounded_exact(NAN);
    }
    if (is_open(a) || isinf(a.value) || is_zero(a)) {
        return is_open(a) ? anything : weft_bounded_exact(sqrt(a.value));
    }
    return has_sign(a) ? weft_bounded_near(sqrt(a.value), a.error / sqrt(a.value)) : anything;
}

weft_bounded weft_bounded_exp(weft_bounded a) {
    return weft_bounded_activation(WEFT_ACTIVATION_EXP, a);
}

/* The limits, where the formulas of weft_reference_activation are inf - inf and the like. */
static double at_infinity(weft_activation activation, double x) {
    if (x > 0.0) {
        return weft_reference_activation(activation, x);
    }
    return activation == WEFT_ACTIVATION_NONE ? x : activation == WEFT_ACTIVATION_TANH ? -1.0 : 0.0;
}

/* True if the function is no more than a choice, so that exact numbers give exact results. */
static bool is_choice(weft_activation activation) {
    return activation == WEFT_ACTIVATION_NONE || activation == WEFT_ACTIVATION_RELU;
}

weft_bounded weft_bounded_activation(weft_activation activation, weft_bounded a) {
    if (isnan(a.value) || is_open(a)) {
        return a;
    }
    if (isinf(a.value)) {
        return weft_bounded_exact(at_infinity(activation, a.value));
    }
    double value = weft_reference_activation(activation, a.value);
    double below = weft_reference_activation(activation, a.value - a.error);
    double above = weft_reference_activation(activation, a.value + a.error);
    if (isinf(below) && isinf(value) && isinf(above)) {
        return weft_bounded_exact(value); /* beyond float64 too */
    }
    bool is_zero_of_zero = a.value == 0.0 && value == 0.0;
    if (a.error == 0.0 && (is_choice(activation) || is_zero_of_zero)) {
        return weft_bounded_exact(value);
    }
    double change = fmax(fabs(below - value), fabs(above - value));
    /* As shaders/include/activation.glsl has it: nearer than 1e-37 or a few units. */
    return weft_bounded_near(value, change + 4.0 * ROUNDING * fabs(value) + 1e-37);
}

/* ---- sums ---- */

/* The largest power of two that a finite number other than 0 is a multiple of. */
static double quantum_of(double x) {
    int exponent;
    double significand = fabs(frexp(x, &exponent));
    while (significand != floor(significand)) {
        significand *= 2.0;
        exponent--;
    }
    return ldexp(1.0, exponent);
}

static void note_quantum(weft_bounded_sum *sum, weft_bounded term) {
    sum->is_rounded = sum->is_rounded || term.error != 0.0;
    if (term.value != 0.0) {
        double quantum = quantum_of(term.value);
        sum->quantum = sum->quantum == 0.0 ? quantum : fmin(sum->quantum, quantum);
    }
    sum->has_plus_zero = sum->has_plus_zero || term.value != 0.0 || !signbit(term.value);
}

/* True if every partial sum in every order is a number that float32 holds. */
static bool is_exact(const weft_bounded_sum *sum) {
    return !sum->is_rounded && sum->has_plus_zero && sum->size <= 0x1p24 * sum->quantum &&
           (sum->quantum == 0.0 || sum->quantum >= LEAST);
}

void weft_bounded_sum_add(weft_bounded_sum *sum, weft_bounded term) {
    sum->has_nan = sum->has_nan || isnan(term.value);
    sum->has_open = sum->has_open || is_open(term);
    sum->has_plus = sum->has_plus || (isinf(term.value) && term.value > 0.0);
    sum->has_minus = sum->has_minus || (isinf(term.value) && term.value < 0.0);
    sum->count += 1.0;
    if (isfinite(term.value) && !is_open(term)) {
        sum->value += term.value;
        sum->size += fabs(term.value);
        sum->error += term.error;
        note_quantum(sum, term);
    }
}

/* A product that float32 does not hold is rounded. */
static double rounding_of(weft_bounded product) {
    bool is_held = weft_bounded_rounded(product.value).value == product.value;
    return is_held ? 0.0 : ROUNDING * fabs(product.value) + LEAST;
}

void weft_bounded_sum_add_product(weft_bounded_sum *sum, weft_bounded a, weft_bounded b) {
    weft_bounded product;
    if (!special_product(&product, a, b)) {
        product.value = a.value * b.value;
        product.error = product_error(a, b);
        product.error += rounding_of(product);
    }
    weft_bounded_sum_add(sum, product);
}

weft_bounded weft_bounded_sum_end(const weft_bounded_sum *sum) {
    if (sum->has_nan || (sum->has_plus && sum->has_minus)) {
        return weft_bounded_exact(NAN);
    }
    double error = sum->error + sum->count * (ROUNDING * (sum->size + sum->error) + LEAST);
    double positive = (sum->size + sum->value) / 2.0 + error;
    double negative = (sum->size - sum->value) / 2.0 + error;
    bool may_be_plus = sum->has_plus || positive >= LIMIT * (1.0 - MARGIN);
    bool may_be_minus = sum->has_minus || negative >= LIMIT * (1.0 - MARGIN);
    if (sum->has_open || (may_be_plus && may_be_minus)) {
        return anything;
    }
    if (sum->has_plus || sum->has_minus) {
        return weft_bounded_exact(sum->has_plus ? INFINITY : -INFINITY);
    }
    if (is_exact(sum) && !may_be_plus && !may_be_minus) {
        return weft_bounded_exact(sum->value == 0.0 ? 0.0 : sum->value);
    }
    weft_bounded end = weft_bounded_near(sum->value, error);
    return (may_be_plus || may_be_minus) && isfinite(end.value) ? anything : end;
}
