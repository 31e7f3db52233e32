/* SPDX-License-Identifier: MIT */
/* Attention whose weights are products of features: Σ_j w_ij v_j / Σ_j w_ij, each sum over j as it stands. */
#include <math.h>
#include <string.h>

#include "verify/reference/attention.h"

/* ---- the sums ---- */

/**
 * Sums of one head: numerators [rows, values], denominators [rows], and the features of all queries and of one key.
 */
struct sums {
    double *numerators, *denominators, *queries, *key;
};

static void add_key(const struct sums *sums, weft_rows rows, uint32_t features,
                    const weft_reference_weighing *p, uint32_t head, uint32_t j) {
    const double *v = p->v + ((uint64_t)j * p->heads + head) * p->values;
    for (uint64_t r = 0; r < rows.count; r++) {
        const uint32_t i = rows.at[r];
        if (p->causal && j > i) {
            continue;
        }
        double weight = 0.0;
        for (uint32_t f = 0; f < features; f++) {
            weight += sums->queries[r * features + f] * sums->key[f];
        }
        weight *= p->bias ? p->bias(p->user, head, i, j) : 1.0;
        sums->denominators[r] += weight;
        for (uint32_t t = 0; t < p->values; t++) {
            sums->numerators[r * p->values + t] += weight * v[t];
        }
    }
}

static void write_head(double *out, const struct sums *sums, weft_rows rows,
                       const weft_reference_weighing *p, uint32_t head) {
    const double least = p->least != 0.0 ? p->least : 0x1p-126;
    const double factor = p->factor != 0.0 ? p->factor : 1.0;
    for (uint64_t r = 0; r < rows.count; r++) {
        double sum = sums->denominators[r];
        sum = fabs(sum) < least ? copysign(least, sum) : sum;
        double *y = out + (r * p->heads + head) * p->values;
        for (uint32_t t = 0; t < p->values; t++) {
            const double own = factor * sums->numerators[r * p->values + t] / sum;
            y[t] = p->add ? y[t] + own : own;
        }
    }
}

static void attend_head(double *out, const struct sums *sums, weft_rows rows,
                        const weft_reference_features *phi, const weft_reference_features *psi,
                        const weft_reference_weighing *p, uint32_t head) {
    memset(sums->numerators, 0, sizeof(double) * rows.count * p->values);
    memset(sums->denominators, 0, sizeof(double) * rows.count);
    phi->begin(phi->user, head);
    for (uint64_t r = 0; r < rows.count; r++) {
        phi->write(phi->user, sums->queries + r * phi->count, rows.at[r]);
    }
    psi->begin(psi->user, head);
    for (uint32_t j = 0; j < p->m; j++) {
        psi->write(psi->user, sums->key, j);
        add_key(sums, rows, phi->count, p, head, j);
    }
    write_head(out, sums, rows, p, head);
}

void weft_reference_weigh(weft_reference *ref, double *out, weft_rows rows,
                          const weft_reference_features *phi, const weft_reference_features *psi,
                          const weft_reference_weighing *p) {
    const double each = phi->count + (double)p->values + (p->bias ? 20.0 : 0.0);
    const double cost = rows.count * (phi->cost + p->m * each) + p->m * psi->cost;
    if (!weft_reference_spend(ref, p->heads * cost)) {
        return;
    }
    const struct sums sums = {
        .numerators = weft_reference_array(ref, (uint64_t)rows.count * p->values),
        .denominators = weft_reference_array(ref, rows.count),
        .queries = weft_reference_array(ref, (uint64_t)rows.count * phi->count),
        .key = weft_reference_array(ref, psi->count)};
    for (uint32_t head = 0; ref->status == WEFT_OK && head < p->heads; head++) {
        attend_head(out, &sums, rows, phi, psi, p, head);
    }
}

weft_reference_weighing weft_reference_weighing_of(const weft_reference_attention *a,
                                                   double least) {
    return (weft_reference_weighing){.v = a->v,
                                     .m = a->m,
                                     .heads = a->heads,
                                     .values = a->values,
                                     .causal = a->causal,
                                     .least = least};
}

/* ---- elementwise maps ---- */

static double elu1(double x) {
    return x > 0.0 ? x + 1.0 : exp(x);
}

static double elu1_negated(double x) {
    return elu1(-x);
}

static double tanh1(double x) {
    return 2.0 / (1.0 + exp(-2.0 * x));
}

static double relu(double x) {
    return x > 0.0 ? x : 0.0;
}

/** Nguyen et al., 2021, section 3.2, and the further ones that weft_feature_map names. */
static const weft_reference_map maps_of_features[WEFT_FEATURE_COUNT] = {
    [WEFT_FEATURE_ELU1] = elu1, [WEFT_FEATURE_ELU1_NEGATED] = elu1_negated,
    [WEFT_FEATURE_TANH] = tanh, [WEFT_FEATURE_TANH1] = tanh1,
    [WEFT_FEATURE_RELU] = relu, [WEFT_FEATURE_EXP] = exp,
};

/** The sums over features that `map` makes of each element of queries and keys. */
static void weigh_mapped(weft_reference *ref, double *out, weft_rows rows,
                         const weft_reference_attention *a, weft_reference_map map,
                         const weft_reference_weighing *params) {
    const weft_reference_features phi =
        weft_reference_elementwise(ref, a->q, a->heads, a->width, map);
    const weft_reference_features psi =
        weft_reference_elementwise(ref, a->k, a->heads, a->width, map);
    weft_reference_weigh(ref, out, rows, &phi, &psi, params);
}

void weft_reference_kernel_attention(weft_reference *ref, double *out, weft_rows rows,
                                     const weft_reference_attention *a, const weft_kernel *kernels,
                                     uint32_t kernel_count, double epsilon,
                                     const weft_reference_map *maps) {
    static const weft_kernel usual = {.map = WEFT_FEATURE_ELU1};
    for (uint32_t l = 0; l < (kernels ? kernel_count : 1); l++) {
        const weft_kernel *kernel = kernels ? &kernels[l] : &usual;
        const bool changes_sign = kernel->glsl || kernel->map == WEFT_FEATURE_TANH;
        const double least = epsilon > 0.0 ? epsilon : changes_sign ? (double)1e-6F : 0.0;
        weft_reference_weighing params = weft_reference_weighing_of(a, least);
        params.factor = (double)kernel->weight;
        params.add = l > 0;
        weigh_mapped(ref, out, rows, a, kernel->glsl ? maps[l] : maps_of_features[kernel->map],
                     &params);
    }
}

/* ---- factors of the weights ---- */

static double cosine_of(const void *user, uint32_t head, uint32_t i, uint32_t j) {
    (void)head;
    return cos(1.57079632679489661923 * ((double)i - (double)j) / *(const uint32_t *)user);
}

void weft_reference_cosformer(weft_reference *ref, double *out, weft_rows rows,
                              const weft_reference_attention *a, uint32_t length, double epsilon) {
    const uint32_t usual = a->n > a->m ? a->n : a->m;
    const uint32_t longest = length != 0 ? length : usual;
    weft_reference_weighing params = weft_reference_weighing_of(a, epsilon);
    params.bias = cosine_of;
    params.user = &longest;
    weigh_mapped(ref, out, rows, a, relu, &params);
}

struct relative {
    const double *bias;
    uint64_t zero; /* the row of lag 0 */
    uint32_t heads;
    double largest[]; /* of the lags in use, of each head */
};

static double relative_of(const void *user, uint32_t head, uint32_t i, uint32_t j) {
    const struct relative *own = user;
    const uint64_t at = own->zero + i - j;
    return exp(own->bias[at * own->heads + head] - own->largest[head]);
}

void weft_reference_toeplitz_attention(weft_reference *ref, double *out, weft_rows rows,
                                       const weft_reference_features *phi,
                                       const weft_reference_features *psi,
                                       const weft_reference_weighing *p, const double *bias,
                                       uint32_t reach) {
    struct relative *own = weft_reference_memory(ref, 1, sizeof *own + sizeof(double) * p->heads);
    if (!own) {
        return;
    }
    *own = (struct relative){.bias = bias, .zero = p->causal ? 0 : reach - 1, .heads = p->heads};
    const uint64_t first = p->causal ? 0 : own->zero - (p->m - 1);
    const uint64_t last = own->zero + p->m - 1;
    for (uint32_t head = 0; head < p->heads; head++) {
        own->largest[head] = -INFINITY;
        for (uint64_t lag = first; lag <= last; lag++) {
            own->largest[head] = fmax(own->largest[head], bias[lag * p->heads + head]);
        }
    }
    weft_reference_weighing params = *p;
    params.bias = relative_of;
    params.user = own;
    weft_reference_weigh(ref, out, rows, phi, psi, &params);
}

/* ---- random features ---- */

/** Features of queries, or of keys, whose stabilizers differ. */
static weft_reference_random_features features_of(const weft_reference_attention *a, bool keys,
                                                  const double *w, uint32_t count) {
    return (weft_reference_random_features){.x = keys ? a->k : a->q,
                                            .n = keys ? a->m : a->n,
                                            .heads = a->heads,
                                            .width = a->width,
                                            .w = w,
                                            .count = count,
                                            .stabilizer =
                                                keys ? WEFT_STABILIZER_KEY : WEFT_STABILIZER_QUERY};
}

void weft_reference_performer(weft_reference *ref, double *out, weft_rows rows,
                              const weft_reference_attention *a,
                              const weft_reference_performer_params *p) {
    weft_reference_features sides[2];
    for (uint32_t side = 0; side < 2; side++) {
        weft_reference_random_features own = features_of(a, side == 1, p->w, p->count);
        own.component = WEFT_COMPONENT_POSITIVE;
        own.epsilon = p->epsilon;
        own.stabilizer = p->unstabilized ? WEFT_STABILIZER_NONE : own.stabilizer;
        sides[side] = weft_reference_feature_map(ref, &own);
    }
    const weft_reference_weighing params = weft_reference_weighing_of(a, 0.0);
    weft_reference_weigh(ref, out, rows, &sides[0], &sides[1], &params);
}

/** x/‖x‖ of every token and head, at most 1e12 x. */
static const double *of_unit_length(weft_reference *ref, const double *x, uint64_t vectors,
                                    uint32_t width) {
    double *out = weft_reference_array(ref, vectors * width);
    for (uint64_t i = 0; out && i < vectors; i++) {
        double squares = 0.0;
        for (uint32_t c = 0; c < width; c++) {
            squares += x[i * width + c] * x[i * width + c];
        }
        for (uint32_t c = 0; c < width; c++) {
            out[i * width + c] = x[i * width + c] / fmax(sqrt(squares), (double)1e-12F);
        }
    }
    return out;
}

void weft_reference_rfa(weft_reference *ref, double *out, weft_rows rows,
                        const weft_reference_attention *a, const double *w, uint32_t count,
                        double epsilon) {
    weft_reference_features sides[2];
    for (uint32_t side = 0; side < 2; side++) {
        weft_reference_random_features own = features_of(a, side == 1, w, count);
        own.x = of_unit_length(ref, own.x, (uint64_t)own.n * own.heads, own.width);
        own.scale = 1.0;
        own.component = WEFT_COMPONENT_TRIGONOMETRIC;
        /* Divided by their largest exponential, e^(‖x‖²/2), TrigRF's pairs are cosine and sine alone. */
        own.stabilizer = WEFT_STABILIZER_QUERY;
        sides[side] = weft_reference_feature_map(ref, &own);
    }
    const weft_reference_weighing params =
        weft_reference_weighing_of(a, epsilon > 0.0 ? epsilon : (double)1e-6F);
    weft_reference_weigh(ref, out, rows, &sides[0], &sides[1], &params);
}
