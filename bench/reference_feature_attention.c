/* SPDX-License-Identifier: MIT */
/* Attention whose weights are products of features: Σ_j w_ij v_j / Σ_j w_ij, each sum over j as it stands. */
#include <math.h>
#include <string.h>

#include "bench/reference.h"

weft_bench_attention weft_bench_attention_with_defaults(const weft_bench_attention *attention) {
    weft_bench_attention a = *attention;
    a.m = a.m != 0 ? a.m : a.n;
    a.heads = a.heads != 0 ? a.heads : 1;
    a.values = a.values != 0 ? a.values : a.width;
    return a;
}

/* ---- the sums ---- */

/** Of one head: numerators [rows, values], denominators [rows], and the features of all queries and of one key. */
struct sums {
    double *numerators, *denominators, *queries, *key;
};

static void add_key(const struct sums *sums, weft_bench_rows rows, uint32_t features,
                    const weft_bench_feature_attention *p, uint32_t head, uint32_t j) {
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

static void write_head(double *out, const struct sums *sums, weft_bench_rows rows,
                       const weft_bench_feature_attention *p, uint32_t head) {
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

static void attend_head(double *out, const struct sums *sums, weft_bench_rows rows,
                        const weft_bench_features *phi, const weft_bench_features *psi,
                        const weft_bench_feature_attention *p, uint32_t head) {
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

void weft_bench_reference_feature_attention(weft_bench_reference *ref, double *out,
                                            weft_bench_rows rows, const weft_bench_features *phi,
                                            const weft_bench_features *psi,
                                            const weft_bench_feature_attention *p) {
    const double each = phi->count + (double)p->values + (p->bias ? 20.0 : 0.0);
    const double cost = rows.count * (phi->cost + p->m * each) + p->m * psi->cost;
    if (!weft_bench_reference_spend(ref, p->heads * cost)) {
        return;
    }
    const struct sums sums = {
        .numerators = weft_bench_reference_array(ref, (uint64_t)rows.count * p->values),
        .denominators = weft_bench_reference_array(ref, rows.count),
        .queries = weft_bench_reference_array(ref, (uint64_t)rows.count * phi->count),
        .key = weft_bench_reference_array(ref, psi->count)};
    for (uint32_t head = 0; ref->status == WEFT_OK && head < p->heads; head++) {
        attend_head(out, &sums, rows, phi, psi, p, head);
    }
}

static weft_bench_feature_attention sums_over(const weft_bench_attention *a, double least) {
    return (weft_bench_feature_attention){.v = a->v,
                                          .m = a->m,
                                          .heads = a->heads,
                                          .values = a->values,
                                          .causal = a->causal,
                                          .least = least};
}

/* ---- elementwise maps ---- */

struct elementwise {
    weft_feature_map map;
    const double *x, *head; /* all tokens, and their elements of one head */
    uint32_t heads, width;
};

static void begin_elementwise(void *user, uint32_t head) {
    struct elementwise *own = user;
    own->head = own->x + (uint64_t)head * own->width;
}

/** Nguyen et al., 2021, section 3.2, and the further ones that weft_feature_map names. */
static double apply_map(weft_feature_map map, double x) {
    switch (map) {
    case WEFT_FEATURE_ELU1:
        return x > 0.0 ? x + 1.0 : exp(x);
    case WEFT_FEATURE_ELU1_NEGATED:
        return x < 0.0 ? 1.0 - x : exp(-x);
    case WEFT_FEATURE_TANH:
        return tanh(x);
    case WEFT_FEATURE_TANH1:
        return 2.0 / (1.0 + exp(-2.0 * x));
    case WEFT_FEATURE_RELU:
        return x > 0.0 ? x : 0.0;
    case WEFT_FEATURE_EXP:
        return exp(x);
    default:
        return NAN;
    }
}

static void write_elementwise(void *user, double *out, uint32_t token) {
    const struct elementwise *own = user;
    for (uint32_t c = 0; c < own->width; c++) {
        out[c] = apply_map(own->map, own->head[(uint64_t)token * own->heads * own->width + c]);
    }
}

static weft_bench_features elementwise(struct elementwise *own, const weft_bench_attention *a,
                                       const double *x, weft_feature_map map) {
    *own = (struct elementwise){.map = map, .x = x, .heads = a->heads, .width = a->width};
    return (weft_bench_features){.count = a->width,
                                 .cost = 10.0 * a->width,
                                 .begin = begin_elementwise,
                                 .write = write_elementwise,
                                 .user = own};
}

static double least_of(weft_feature_map map, double epsilon) {
    return epsilon > 0.0 ? epsilon : map == WEFT_FEATURE_TANH ? (double)1e-6F : 0.0;
}

void weft_bench_reference_kernel_attention(weft_bench_reference *ref, double *out,
                                           weft_bench_rows rows,
                                           const weft_bench_attention *attention,
                                           const weft_kernel *kernels, uint32_t kernel_count,
                                           double epsilon) {
    const weft_bench_attention a = weft_bench_attention_with_defaults(attention);
    static const weft_kernel usual = {.map = WEFT_FEATURE_ELU1};
    const uint32_t count = kernels ? kernel_count : 1;
    for (uint32_t l = 0; l < count; l++) {
        const weft_kernel *kernel = kernels ? &kernels[l] : &usual;
        struct elementwise q;
        struct elementwise k;
        const weft_bench_features phi = elementwise(&q, &a, a.q, kernel->map);
        const weft_bench_features psi = elementwise(&k, &a, a.k, kernel->map);
        weft_bench_feature_attention params = sums_over(&a, least_of(kernel->map, epsilon));
        params.factor = (double)kernel->weight;
        params.add = l > 0;
        weft_bench_reference_feature_attention(ref, out, rows, &phi, &psi, &params);
    }
}

void weft_bench_reference_fmm_attention(weft_bench_reference *ref, double *out,
                                        weft_bench_rows rows, const weft_bench_attention *attention,
                                        uint32_t half_width, const weft_kernel *kernels,
                                        uint32_t kernel_count, const double *beta,
                                        const double *near_weight, const double *far_weight) {
    const weft_bench_attention a = weft_bench_attention_with_defaults(attention);
    const uint64_t channels = (uint64_t)a.heads * a.values;
    double *far = weft_bench_reference_array(ref, rows.count * channels);
    weft_bench_reference_softmax_attention(ref, out, rows, &a, half_width, 0.0);
    if (beta) {
        weft_bench_reference_fast_weight(ref, far, rows, &a, beta);
    } else {
        weft_bench_reference_kernel_attention(ref, far, rows, &a, kernels, kernel_count, 0.0);
    }
    for (uint64_t i = 0; far && i < rows.count * channels; i++) {
        const uint64_t c = i % channels;
        out[i] = (near_weight ? near_weight[c] : 1.0) * out[i] +
                 (far_weight ? far_weight[c] : 1.0) * far[i];
    }
}

/* ---- factors of the weights ---- */

static double cosine_of(const void *user, uint32_t head, uint32_t i, uint32_t j) {
    (void)head;
    return cos(1.57079632679489661923 * ((double)i - (double)j) / *(const uint32_t *)user);
}

void weft_bench_reference_cosformer(weft_bench_reference *ref, double *out, weft_bench_rows rows,
                                    const weft_bench_attention *attention, uint32_t length,
                                    double epsilon) {
    const weft_bench_attention a = weft_bench_attention_with_defaults(attention);
    const uint32_t usual = a.n > a.m ? a.n : a.m;
    const uint32_t longest = length != 0 ? length : usual;
    struct elementwise q;
    struct elementwise k;
    const weft_bench_features phi = elementwise(&q, &a, a.q, WEFT_FEATURE_RELU);
    const weft_bench_features psi = elementwise(&k, &a, a.k, WEFT_FEATURE_RELU);
    weft_bench_feature_attention params = sums_over(&a, epsilon);
    params.bias = cosine_of;
    params.user = &longest;
    weft_bench_reference_feature_attention(ref, out, rows, &phi, &psi, &params);
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

void weft_bench_reference_toeplitz_attention(weft_bench_reference *ref, double *out,
                                             weft_bench_rows rows, const weft_bench_features *phi,
                                             const weft_bench_features *psi,
                                             const weft_bench_feature_attention *p,
                                             const double *bias, uint32_t reach) {
    struct relative *own = weft_bench_reference_block(ref, sizeof *own + sizeof(double) * p->heads);
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
    weft_bench_feature_attention params = *p;
    params.bias = relative_of;
    params.user = own;
    weft_bench_reference_feature_attention(ref, out, rows, phi, psi, &params);
}

/* ---- random features ---- */

void weft_bench_reference_performer(weft_bench_reference *ref, double *out, weft_bench_rows rows,
                                    const weft_bench_attention *attention, const double *w,
                                    uint32_t count, double scale) {
    const weft_bench_attention a = weft_bench_attention_with_defaults(attention);
    weft_bench_random_features features = {.x = a.q,
                                           .n = a.n,
                                           .heads = a.heads,
                                           .width = a.width,
                                           .w = w,
                                           .count = count,
                                           .stabilizer = WEFT_STABILIZER_QUERY,
                                           .scale = scale,
                                           .component = WEFT_COMPONENT_POSITIVE,
                                           .epsilon = (double)1e-6F};
    const weft_bench_features phi = weft_bench_reference_features(ref, &features);
    features.x = a.k;
    features.n = a.m;
    features.stabilizer = WEFT_STABILIZER_KEY;
    const weft_bench_features psi = weft_bench_reference_features(ref, &features);
    const weft_bench_feature_attention params = sums_over(&a, 0.0);
    weft_bench_reference_feature_attention(ref, out, rows, &phi, &psi, &params);
}

/** x/‖x‖ of every token and head, at most 1e12 x. */
static const double *of_unit_length(weft_bench_reference *ref, const double *x, uint64_t vectors,
                                    uint32_t width) {
    double *out = weft_bench_reference_array(ref, vectors * width);
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

void weft_bench_reference_rfa(weft_bench_reference *ref, double *out, weft_bench_rows rows,
                              const weft_bench_attention *attention, const double *w,
                              uint32_t count, double epsilon) {
    const weft_bench_attention a = weft_bench_attention_with_defaults(attention);
    /* Divided by their largest exponential, e^(‖x‖²/2), TrigRF's pairs are cosine and sine alone. */
    weft_bench_random_features features = {
        .x = of_unit_length(ref, a.q, (uint64_t)a.n * a.heads, a.width),
        .n = a.n,
        .heads = a.heads,
        .width = a.width,
        .w = w,
        .count = count,
        .stabilizer = WEFT_STABILIZER_QUERY,
        .scale = 1.0,
        .component = WEFT_COMPONENT_TRIGONOMETRIC};
    const weft_bench_features phi = weft_bench_reference_features(ref, &features);
    features.x = of_unit_length(ref, a.k, (uint64_t)a.m * a.heads, a.width);
    features.n = a.m;
    const weft_bench_features psi = weft_bench_reference_features(ref, &features);
    const weft_bench_feature_attention params =
        sums_over(&a, epsilon > 0.0 ? epsilon : (double)1e-6F);
    weft_bench_reference_feature_attention(ref, out, rows, &phi, &psi, &params);
}
