/* SPDX-License-Identifier: MIT */
/* Broadcasting, and what goes along axes. */
#include "verify/reference/arithmetic.h"

#include <math.h>

weft_shape weft_reference_broadcast(weft_shape a, weft_shape b) {
    const weft_shape other = a.rank >= b.rank ? b : a;
    weft_shape result = a.rank >= b.rank ? a : b;
    for (uint32_t i = 0; i < other.rank; i++) {
        uint32_t *extent = &result.dim[result.rank - other.rank + i];
        *extent = *extent == 1 ? other.dim[i] : *extent;
    }
    return result;
}

uint64_t weft_reference_place(weft_shape output, weft_shape operand, uint64_t index) {
    uint64_t place = 0;
    uint64_t stride = 1;
    for (uint32_t i = 1; i <= operand.rank; i++) {
        const uint32_t extent = operand.dim[operand.rank - i];
        const uint64_t at = index % output.dim[output.rank - i];
        index /= output.dim[output.rank - i];
        place += extent == 1 ? 0 : at * stride;
        stride *= extent;
    }
    return place;
}

weft_reference_axis weft_reference_axis_of(weft_shape shape, uint32_t axis) {
    weft_reference_axis result = {1, shape.dim[axis], 1};
    for (uint32_t i = 0; i < axis; i++) {
        result.outer *= shape.dim[i];
    }
    for (uint32_t i = axis + 1; i < shape.rank; i++) {
        result.inner *= shape.dim[i];
    }
    return result;
}

/* ---- reductions ---- */

static double start_of(weft_reduction op, bool whole) {
    switch (op) {
    case WEFT_REDUCTION_MAX:
        return whole ? (double)INT32_MIN : -(double)INFINITY;
    case WEFT_REDUCTION_MIN:
        return whole ? (double)INT32_MAX : (double)INFINITY;
    case WEFT_REDUCTION_PRODUCT:
        return 1.0;
    default:
        return 0.0;
    }
}

static double wrapped(double value, bool whole) {
    return whole ? (double)(int32_t)(uint32_t)(uint64_t)(int64_t)value : value;
}

static double combined(weft_reduction op, double a, double b) {
    switch (op) {
    case WEFT_REDUCTION_MAX:
        return isnan(a) || a > b ? a : b;
    case WEFT_REDUCTION_MIN:
        return isnan(a) || a < b ? a : b;
    case WEFT_REDUCTION_PRODUCT:
        return a * b;
    case WEFT_REDUCTION_SUM_OF_SQUARES:
        return a + b * b;
    case WEFT_REDUCTION_SUM_OF_SIZES:
        return a + fabs(b);
    default:
        return a + b;
    }
}

/* Place of an element in the result; false if it is behind its sequence's length. */
static bool place_of(uint64_t *place, weft_shape shape, uint32_t axes, const double *lengths,
                     uint64_t index) {
    uint64_t stride = 1;
    uint64_t at[WEFT_MAX_RANK] = {0};
    *place = 0;
    for (uint32_t axis = shape.rank; axis-- > 0;) {
        at[axis] = index % shape.dim[axis];
        index /= shape.dim[axis];
        if ((axes >> axis & 1) == 0) {
            *place += at[axis] * stride;
            stride *= shape.dim[axis];
        }
    }
    return !lengths || (double)at[1] < lengths[at[0]];
}

void weft_reference_reduce(weft_reference *ref, double *out, weft_reduction op, const double *x,
                           weft_shape shape, uint32_t axes, const double *lengths, bool whole) {
    const uint64_t count = weft_shape_elements(shape);
    double *terms = weft_reference_array(ref, count);
    uint64_t outputs = 0;
    for (uint64_t i = 0; terms && i < count; i++) {
        uint64_t place;
        const bool counts = place_of(&place, shape, axes, lengths, i);
        if (place == outputs) {
            out[outputs++] = start_of(op, whole);
        }
        if (counts) {
            out[place] = wrapped(combined(op, out[place], x[i]), whole);
            terms[place] += 1.0;
        }
    }
    for (uint64_t i = 0; terms && i < outputs && op == WEFT_REDUCTION_MEAN; i++) {
        out[i] /= terms[i];
    }
}

void weft_reference_arg(double *out, const double *x, weft_reference_axis axis, bool smallest) {
    for (uint64_t i = 0; i < axis.outer * axis.inner; i++) {
        const double *first = x + i / axis.inner * axis.extent * axis.inner + i % axis.inner;
        uint64_t best = 0;
        for (uint64_t k = 1; k < axis.extent && !isnan(first[best * axis.inner]); k++) {
            const double a = first[best * axis.inner];
            const double b = first[k * axis.inner];
            best = isnan(b) || (smallest ? b < a : b > a) ? k : best;
        }
        out[i] = (double)best;
    }
}

void weft_reference_cumsum(double *out, const double *x, weft_reference_axis axis, bool exclusive,
                           bool reverse, bool whole) {
    for (uint64_t i = 0; i < axis.outer * axis.inner; i++) {
        const uint64_t first = i / axis.inner * axis.extent * axis.inner + i % axis.inner;
        double sum = 0.0;
        for (uint64_t k = 0; k < axis.extent; k++) {
            const uint64_t at = first + (reverse ? axis.extent - 1 - k : k) * axis.inner;
            const double next = wrapped(sum + x[at], whole);
            out[at] = exclusive ? sum : next;
            sum = next;
        }
    }
}

void weft_reference_softmax_axis(double *out, const double *x, weft_reference_axis axis,
                                 bool logarithm) {
    for (uint64_t i = 0; i < axis.outer * axis.inner; i++) {
        const uint64_t first = i / axis.inner * axis.extent * axis.inner + i % axis.inner;
        double largest = x[first];
        double sum = 0.0;
        for (uint64_t k = 0; k < axis.extent; k++) {
            largest = fmax(largest, x[first + k * axis.inner]);
        }
        for (uint64_t k = 0; k < axis.extent; k++) {
            sum += exp(x[first + k * axis.inner] - largest);
        }
        for (uint64_t k = 0; k < axis.extent; k++) {
            const double centred = x[first + k * axis.inner] - largest;
            out[first + k * axis.inner] = logarithm ? centred - log(sum) : exp(centred) / sum;
        }
    }
}
