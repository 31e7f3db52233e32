/* SPDX-License-Identifier: MIT */
/* Random features by their formulas: those of exponentials, of powers, and the hybrid of two. */
#include <math.h>

#include "verify/reference/features.h"

/** A map of one side, and what `begin` finds out about a head. */
struct map {
    weft_reference_random_features p;
    double *norms;     /* [count]: ‖w_f‖² */
    double *exponents; /* room for a token's */
    uint32_t features; /* of a head */
    const double *x;   /* the head's first channel of token 0 */
    double a, b, log_d;
    double largest; /* WEFT_STABILIZER_KEY: the largest exponent of the sequence */
};

static const double *token_of(const struct map *map, uint32_t token) {
    return map->x + (uint64_t)token * map->p.heads * map->p.width;
}

static double dot(const double *a, const double *b, uint32_t count) {
    double sum = 0.0;
    for (uint32_t c = 0; c < count; c++) {
        sum += a[c] * b[c];
    }
    return sum;
}

/** scale · w_f·x of token. */
static double projection(const struct map *map, const double *x, uint32_t f) {
    return map->p.scale * dot(map->p.w + (uint64_t)f * map->p.width, x, map->p.width);
}

static double coefficient_of(const struct map *map, uint32_t f) {
    return map->p.coefficients ? map->p.coefficients[f] : 1.0 / sqrt(map->p.count);
}

static bool is_waves(const weft_reference_random_features *p) {
    return p->component == WEFT_COMPONENT_TRIGONOMETRIC ||
           (p->component == WEFT_COMPONENT_GENERALIZED && p->s < 0);
}

/* ---- exponentials ---- */

/** Mean of ‖scale (x_i + y_j)‖² over all pairs of a head: mean ‖x‖² + mean ‖y‖² + 2 mean x · mean y. */
static double mean_of_pairs(const struct map *map, uint32_t head) {
    const weft_reference_random_features *p = &map->p;
    const uint64_t channels = (uint64_t)p->heads * p->width;
    double z = 0.0;
    for (uint64_t c = (uint64_t)head * p->width; c < (head + UINT64_C(1)) * p->width; c++) {
        double sums[2] = {0.0, 0.0};
        double squares[2] = {0.0, 0.0};
        for (uint32_t i = 0; i < p->n; i++) {
            sums[0] += p->x[i * channels + c];
            squares[0] += p->x[i * channels + c] * p->x[i * channels + c];
        }
        for (uint32_t j = 0; j < p->m; j++) {
            sums[1] += p->other[j * channels + c];
            squares[1] += p->other[j * channels + c] * p->other[j * channels + c];
        }
        z += squares[0] / p->n + squares[1] / p->m + 2.0 * sums[0] / p->n * sums[1] / p->m;
    }
    return p->scale * p->scale * z;
}

/** A of OPRF: Likhosherstov et al., 2022. */
static double optimal_a(const struct map *map, uint32_t head) {
    const double z = mean_of_pairs(map, head);
    const double d = map->p.width;
    const double root = sqrt((2.0 * z + d) * (2.0 * z + d) + 8.0 * d * z);
    return z < 1e-12 ? 0.0 : (1.0 - 4.0 * z / (root - 2.0 * z - d)) / 8.0;
}

/** The logarithms of a token's exponentials [count or 2 count]; of waves, of their sizes [count] and then the angles. */
static void fill_exponents(struct map *map, uint32_t token) {
    const weft_reference_random_features *p = &map->p;
    const double *x = token_of(map, token);
    const double square = p->scale * p->scale * dot(x, x, p->width);
    const bool waves = is_waves(p);
    for (uint32_t f = 0; f < p->count; f++) {
        const double wx = projection(map, x, f);
        const double rest = map->log_d + map->a * map->norms[f] + (waves ? 0.5 : -0.5) * square;
        map->exponents[f] = waves ? rest : rest + map->b * wx;
        if (waves) {
            map->exponents[p->count + f] = map->b * wx;
        } else if (p->component == WEFT_COMPONENT_HYPERBOLIC) {
            map->exponents[p->count + f] = rest - wx;
        }
    }
}

static double largest_exponent(const struct map *map) {
    const uint32_t count = is_waves(&map->p) ? map->p.count : map->features;
    double largest = -INFINITY;
    for (uint32_t f = 0; f < count; f++) {
        largest = fmax(largest, map->exponents[f]);
    }
    return largest;
}

static void begin_exponentials(void *user, uint32_t head) {
    struct map *map = user;
    const weft_reference_random_features *p = &map->p;
    map->x = p->x + (uint64_t)head * p->width;
    map->a = p->component == WEFT_COMPONENT_GENERALIZED ? p->a : 0.0;
    if (p->component == WEFT_COMPONENT_OPTIMAL || p->component == WEFT_COMPONENT_ASYMMETRIC) {
        map->a = optimal_a(map, head);
    }
    map->b = sqrt(1.0 - 4.0 * map->a);
    map->log_d = 0.25 * p->width * log(1.0 - 4.0 * map->a);
    map->largest = -INFINITY;
    for (uint32_t i = 0; p->stabilizer == WEFT_STABILIZER_KEY && i < p->n; i++) {
        fill_exponents(map, i);
        map->largest = fmax(map->largest, largest_exponent(map));
    }
}

static void write_exponentials(void *user, double *out, uint32_t token) {
    struct map *map = user;
    const weft_reference_random_features *p = &map->p;
    fill_exponents(map, token);
    double largest = p->stabilizer == WEFT_STABILIZER_KEY ? map->largest : 0.0;
    largest = p->stabilizer == WEFT_STABILIZER_QUERY ? largest_exponent(map) : largest;
    for (uint32_t f = 0; f < map->features; f++) {
        const uint32_t own = f % p->count;
        const double size = exp(map->exponents[is_waves(p) ? own : f] - largest);
        double factor = coefficient_of(map, own);
        factor *= p->component == WEFT_COMPONENT_HYPERBOLIC ? sqrt(0.5) : 1.0;
        if (is_waves(p)) {
            const double angle = map->exponents[p->count + own];
            out[f] = factor * size * (f < p->count ? cos(angle) : sin(angle));
        } else {
            out[f] = factor * (size + p->epsilon);
        }
    }
}

/* ---- powers: DIRF ---- */

static void fill_powers(const struct map *map, double *out, uint32_t token) {
    const weft_reference_random_features *p = &map->p;
    const double *x = token_of(map, token);
    for (uint32_t f = 0; f < p->count; f++) {
        out[f] = coefficient_of(map, f);
        for (uint32_t c = 0; c < p->width; c++) {
            out[f] *= pow(p->scale * x[c], p->w[(uint64_t)f * p->width + c]);
        }
    }
}

static double largest_size(const double *x, uint32_t count) {
    double largest = 0.0;
    for (uint32_t f = 0; f < count; f++) {
        largest = fmax(largest, fabs(x[f]));
    }
    return largest;
}

static void begin_powers(void *user, uint32_t head) {
    struct map *map = user;
    map->x = map->p.x + (uint64_t)head * map->p.width;
    map->largest = 0.0;
    for (uint32_t i = 0; map->p.stabilizer == WEFT_STABILIZER_KEY && i < map->p.n; i++) {
        fill_powers(map, map->exponents, i);
        map->largest = fmax(map->largest, largest_size(map->exponents, map->p.count));
    }
}

/** Stabilizers divide by the power of two next below the largest feature. */
static void write_powers(void *user, double *out, uint32_t token) {
    const struct map *map = user;
    fill_powers(map, out, token);
    double largest = map->p.stabilizer == WEFT_STABILIZER_KEY ? map->largest : 0.0;
    largest =
        map->p.stabilizer == WEFT_STABILIZER_QUERY ? largest_size(out, map->p.count) : largest;
    int exponent = 1;
    if (largest > 0.0) {
        frexp(largest, &exponent); /* [1/2, 1) · 2^exponent */
    }
    for (uint32_t f = 0; f < map->p.count; f++) {
        out[f] = ldexp(out[f], 1 - exponent);
    }
}

/* ---- the hybrid of PosRF and TrigRF ---- */

/** The largest of PosRF's exponents and TrigRF's ‖x‖²/2. */
static double largest_of_both(const struct map *map, uint32_t token) {
    const double *x = token_of(map, token);
    const double half = 0.5 * map->p.scale * map->p.scale * dot(x, x, map->p.width);
    double largest = half;
    for (uint32_t f = 0; f < map->p.count; f++) {
        largest = fmax(largest, projection(map, x, f) - half);
    }
    return largest;
}

static void begin_hybrid(void *user, uint32_t head) {
    struct map *map = user;
    map->x = map->p.x + (uint64_t)head * map->p.width;
    map->largest = -INFINITY;
    for (uint32_t i = 0; map->p.stabilizer == WEFT_STABILIZER_KEY && i < map->p.n; i++) {
        map->largest = fmax(map->largest, largest_of_both(map, i));
    }
}

/** [PosRF, cos, sin]/√2, and for each direction its side times [∓PosRF, cos, sin]/√(2r). */
static void write_hybrid(void *user, double *out, uint32_t token) {
    const struct map *map = user;
    const weft_reference_random_features *p = &map->p;
    const double *x = token_of(map, token);
    const double half = 0.5 * p->scale * p->scale * dot(x, x, p->width);
    double largest = p->stabilizer == WEFT_STABILIZER_KEY ? map->largest : 0.0;
    largest = p->stabilizer == WEFT_STABILIZER_QUERY ? largest_of_both(map, token) : largest;
    for (uint32_t k = 0; k <= p->direction_count; k++) {
        double share = sqrt(0.5);
        if (k > 0) {
            const double *direction = p->directions + (uint64_t)(k - 1) * p->width;
            const double side = p->scale * dot(direction, x, p->width) < 0.0 ? -1.0 : 1.0;
            share = side / sqrt(2.0 * p->direction_count);
        }
        double *block = out + 3 * (uint64_t)p->count * k;
        for (uint32_t f = 0; f < p->count; f++) {
            const double angle = projection(map, x, f);
            const double factor = share * coefficient_of(map, f);
            const double wave = factor * exp(half - largest);
            block[f] = (k > 0 && p->keys ? -factor : factor) * exp(angle - half - largest);
            block[p->count + f] = wave * cos(angle);
            block[2 * (uint64_t)p->count + f] = wave * sin(angle);
        }
    }
}

/* ---- SADERF's change of variables ---- */

static double *channel_squares(weft_reference *ref, const double *x, uint64_t tokens,
                               uint64_t channels) {
    double *out = weft_reference_array(ref, channels);
    for (uint64_t i = 0; out && i < tokens * channels; i++) {
        out[i % channels] += x[i] * x[i];
    }
    return out;
}

double *weft_reference_balance(weft_reference *ref, const double *x, uint32_t n,
                               const double *other, uint32_t m, uint64_t channels) {
    const double *a = channel_squares(ref, x, n, channels);
    const double *b = channel_squares(ref, other, m, channels);
    double *out = weft_reference_array(ref, n * channels);
    for (uint64_t i = 0; out && i < n * channels; i++) {
        const uint64_t c = i % channels;
        const bool has_both = a[c] >= 0x1p-126 && b[c] >= 0x1p-126;
        out[i] = x[i] * (has_both ? pow(b[c] / a[c], 0.25) : 1.0);
    }
    return out;
}

static void balance(weft_reference *ref, weft_reference_random_features *p) {
    const uint64_t channels = (uint64_t)p->heads * p->width;
    const double *x = p->x;
    p->x = weft_reference_balance(ref, x, p->n, p->other, p->m, channels);
    p->other = weft_reference_balance(ref, p->other, p->m, x, p->n, channels);
}

/* ---- elements, as they are or each by itself ---- */

struct elements {
    const double *x, *head; /* all tokens, and the head's first channel of token 0 */
    uint32_t heads, width;
    double (*map)(double x);
};

static void begin_elements(void *user, uint32_t head) {
    struct elements *own = user;
    own->head = own->x + (uint64_t)head * own->width;
}

static void write_elements(void *user, double *out, uint32_t token) {
    const struct elements *own = user;
    for (uint32_t c = 0; c < own->width; c++) {
        const double x = own->head[(uint64_t)token * own->heads * own->width + c];
        out[c] = own->map ? own->map(x) : x;
    }
}

weft_reference_features weft_reference_elementwise(weft_reference *ref, const double *x,
                                                   uint32_t heads, uint32_t width,
                                                   double (*map)(double x)) {
    struct elements *own = weft_reference_memory(ref, 1, sizeof *own);
    if (own) {
        *own = (struct elements){.x = x, .heads = heads, .width = width, .map = map};
    }
    return (weft_reference_features){.count = width,
                                     .cost = 10.0 * width,
                                     .begin = begin_elements,
                                     .write = write_elements,
                                     .user = own};
}

/* ---- the maps ---- */

static uint32_t features_of(const weft_reference_random_features *p) {
    if (p->family == WEFT_REFERENCE_HYBRID) {
        return 3 * p->count * (1 + p->direction_count);
    }
    const bool pairs = p->family == WEFT_REFERENCE_RANDOM &&
                       (is_waves(p) || p->component == WEFT_COMPONENT_HYPERBOLIC);
    return pairs ? 2 * p->count : p->count;
}

/** Cost of one token's features; powers and functions count as 20. */
static double cost_of(const weft_reference_random_features *p) {
    if (p->family == WEFT_REFERENCE_HYBRID) {
        return (1.0 + p->direction_count) * p->count * (p->width + 60.0);
    }
    const double each = p->family == WEFT_REFERENCE_DISCRETE ? 20.0 * p->width : p->width + 40.0;
    return (p->stabilizer == WEFT_STABILIZER_KEY ? 2.0 : 1.0) * p->count * each;
}

static void ready(weft_reference *ref, struct map *map) {
    weft_reference_random_features *p = &map->p;
    map->norms = weft_reference_array(ref, p->count);
    map->exponents = weft_reference_array(ref, map->features);
    for (uint32_t f = 0; ref->status == WEFT_OK && f < p->count; f++) {
        const double *w = p->w + (uint64_t)f * p->width;
        map->norms[f] = dot(w, w, p->width);
    }
    if (p->family == WEFT_REFERENCE_RANDOM && p->component == WEFT_COMPONENT_ASYMMETRIC) {
        balance(ref, p);
    }
}

weft_reference_features weft_reference_feature_map(weft_reference *ref,
                                                   const weft_reference_random_features *params) {
    void (*const begin[])(void *, uint32_t) = {begin_exponentials, begin_powers, begin_hybrid};
    void (*const write[])(void *, double *, uint32_t) = {write_exponentials, write_powers,
                                                         write_hybrid};
    struct map *map = weft_reference_memory(ref, 1, sizeof *map);
    if (!weft_reference_spend(ref, 10.0 * params->n * params->heads * params->width) || !map) {
        return (weft_reference_features){.count = 0};
    }
    *map = (struct map){.p = *params, .features = features_of(params)};
    map->p.scale = params->scale != 0.0 ? params->scale : (double)(float)pow(params->width, -0.25);
    ready(ref, map);
    return (weft_reference_features){.count = map->features,
                                     .cost = cost_of(params),
                                     .begin = begin[params->family],
                                     .write = write[params->family],
                                     .user = map};
}

void weft_reference_write_features(weft_reference *ref, double *out, weft_rows rows, uint32_t heads,
                                   const weft_reference_features *map) {
    if (!weft_reference_spend(ref, map->cost * rows.count * heads)) {
        return;
    }
    for (uint32_t head = 0; head < heads; head++) {
        map->begin(map->user, head);
        for (uint64_t r = 0; r < rows.count; r++) {
            map->write(map->user, out + (r * heads + head) * map->count, rows.at[r]);
        }
    }
}
