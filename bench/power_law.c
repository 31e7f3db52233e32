/* SPDX-License-Identifier: MIT */
#include "bench/power_law.h"

#include <math.h>
#include <stddef.h>

static bool usable(const weft_growth_point *point) {
    return point->n > 0.0 && point->value > 0.0;
}

struct means {
    double x, y;
};

static struct means find_means(weft_growth *fit, const weft_growth_point *points, uint32_t count) {
    struct means means = {0};
    for (uint32_t i = 0; i < count; i++) {
        if (!usable(&points[i])) {
            continue;
        }
        fit->from = fit->count == 0 ? points[i].n : fmin(fit->from, points[i].n);
        fit->to = fmax(fit->to, points[i].n);
        means.x += log(points[i].n);
        means.y += log(points[i].value);
        fit->count++;
    }
    means.x /= fit->count;
    means.y /= fit->count;
    return means;
}

weft_growth weft_growth_fit(const weft_growth_point *points, uint32_t count) {
    weft_growth fit = {.exponent = NAN, .standard_error = NAN, .offset = NAN};
    struct means means = find_means(&fit, points, count);
    if (fit.count < 2 || !(fit.to > fit.from)) {
        return fit;
    }
    double xx = 0.0;
    double xy = 0.0;
    double yy = 0.0;
    for (uint32_t i = 0; i < count; i++) {
        if (usable(&points[i])) {
            double x = log(points[i].n) - means.x;
            double y = log(points[i].value) - means.y;
            xx += x * x;
            xy += x * y;
            yy += y * y;
        }
    }
    fit.exponent = xy / xx;
    fit.offset = means.y - fit.exponent * means.x;
    if (fit.count > 2) {
        /* Rounding can make the sum of squared residuals of a perfect fit negative. */
        double residual = fmax(yy - fit.exponent * xy, 0.0);
        fit.standard_error = sqrt(residual / (fit.count - 2) / xx);
    }
    return fit;
}

static const weft_growth_point *find(const weft_growth_point *points, uint32_t count, double n) {
    for (uint32_t i = 0; i < count; i++) {
        if (points[i].n == n) {
            return &points[i];
        }
    }
    return NULL;
}

weft_crossover weft_crossover_find(const weft_growth_point *values, uint32_t value_count,
                                   const weft_growth_point *baseline, uint32_t baseline_count) {
    weft_crossover result = {.n = NAN, .from = NAN, .to = NAN};
    double next_n = 0.0;   /* the next longer common length … */
    double next_gap = NAN; /* … and by how much `values` lie above there, as a logarithm */
    for (uint32_t i = value_count; i-- > 0;) {
        const weft_growth_point *other = find(baseline, baseline_count, values[i].n);
        if (!other) {
            continue;
        }
        double gap = log(values[i].value / other->value);
        result.from = values[i].n;
        if (result.kind == WEFT_CROSSOVER_UNKNOWN) {
            result.to = values[i].n;
            result.kind = gap > 0.0 ? WEFT_CROSSOVER_NEVER : WEFT_CROSSOVER_ALWAYS;
        } else if (result.kind == WEFT_CROSSOVER_ALWAYS && gap > 0.0) {
            result.kind = WEFT_CROSSOVER_AT;
            result.n = values[i].n * pow(next_n / values[i].n, gap / (gap - next_gap));
        }
        next_n = values[i].n;
        next_gap = gap;
    }
    return result;
}

double weft_growth_extrapolate(const weft_growth_point *points, uint32_t count, double n) {
    if (count == 0) {
        return NAN;
    }
    const weft_growth_point *last = &points[count - 1];
    double exponent = 1.0;
    if (count > 1) {
        const weft_growth_point *before = last - 1;
        exponent = fmax(log(last->value / before->value) / log(last->n / before->n), 1.0);
    }
    return last->value * pow(n / last->n, exponent);
}
