/* SPDX-License-Identifier: MIT */
/* weft-test: slow */
/*
 * What the weight matrices estimate: the softmax kernel exp(xᵀy) by random features, over many seeds. Seeds are fixed, so
 * the tests give the same answer every time; their limits are those of the statistics.
 */
#include <math.h>

#include <weft/features.h>

#include "core/math/philox.h"
#include "support.h"

enum component { TRIG = 0, POSITIVE = 1, OPTIMAL = 2, COMPONENTS = 3 };

#define D     8
#define SEEDS 10000
#define ROWS  24         /* at most */
#define ROOM  (ROWS * D) /* for one matrix */

struct pair {
    double x[D];
    double y[D];
};

static double dot(const double *a, const double *b) {
    double sum = 0.0;
    for (int j = 0; j < D; j++) {
        sum += a[j] * b[j];
    }
    return sum;
}

/* The parameters A and D of OPRF (Likhosherstov et al., 2022; Spectraformer's equations (34) and (35)) for one pair. */
static double optimal_a(const struct pair *pair) {
    const double z = dot(pair->x, pair->x) + dot(pair->y, pair->y) + 2.0 * dot(pair->x, pair->y);
    const double d = D;
    const double rho =
        (sqrt((2.0 * z + d) * (2.0 * z + d) + 8.0 * d * z) - 2.0 * z - d) / (4.0 * z);
    return (1.0 - 1.0 / rho) / 8.0;
}

/* φ(x)ᵀφ(y), the features taken apart: query √|weight| f(ω, x), key sign(weight) √|weight| f(ω, y). */
static double estimate(const float *w, const float *weights, uint32_t rows, const struct pair *pair,
                       enum component component) {
    const double a = component == OPTIMAL ? optimal_a(pair) : 0.0;
    const double b = sqrt(1.0 - 4.0 * a);
    const double scale = pow(1.0 - 4.0 * a, D / 4.0);
    const double half_x = 0.5 * dot(pair->x, pair->x);
    const double half_y = 0.5 * dot(pair->y, pair->y);
    double sum = 0.0;
    for (uint32_t i = 0; i < rows; i++) {
        double omega[D];
        for (int j = 0; j < D; j++) {
            omega[j] = (double)w[i * D + (uint32_t)j];
        }
        const double px = dot(omega, pair->x);
        const double py = dot(omega, pair->y);
        const double size = sqrt(fabs((double)weights[i]));
        const double sign = weights[i] < 0.0F ? -1.0 : 1.0;
        if (component == TRIG) {
            const double query = size * exp(half_x);
            const double key = sign * size * exp(half_y);
            sum += query * cos(px) * key * cos(py) + query * sin(px) * key * sin(py);
        } else {
            const double shared = a * dot(omega, omega);
            sum += size * scale * exp(shared + b * px - half_x) * sign * size * scale *
                   exp(shared + b * py - half_y);
        }
    }
    return sum;
}

/* Over the seeds: relative errors of the estimate, one by one. */
struct errors {
    double of[COMPONENTS][SEEDS];
};

static double mean(const double *values) {
    double sum = 0.0;
    for (int i = 0; i < SEEDS; i++) {
        sum += values[i];
    }
    return sum / SEEDS;
}

static double mean_square(const double *values) {
    double sum = 0.0;
    for (int i = 0; i < SEEDS; i++) {
        sum += values[i] * values[i];
    }
    return sum / SEEDS;
}

static double standard_error(const double *values) {
    const double m = mean(values);
    return sqrt((mean_square(values) - m * m) / SEEDS);
}

static uint32_t rows_of(weft_features_kind kind) {
    switch (kind) {
    case WEFT_FEATURES_SGQ:
        return 2 * D + 1;
    case WEFT_FEATURES_SSR:
        return 1 + 2 * (D + 1);
    case WEFT_FEATURES_MM:
        return 2 * D;
    default:
        return D;
    }
}

static void run(struct errors *errors, weft_features_params params, const struct pair *pair) {
    const double exact = exp(dot(pair->x, pair->y));
    params.rows = params.rows != 0 ? params.rows : rows_of(params.kind);
    params.columns = D;
    assert_true(params.rows <= ROWS);
    for (int seed = 0; seed < SEEDS; seed++) {
        float w[ROOM];
        float weights[ROWS];
        params.seed = (uint64_t)seed;
        assert_ok(weft_features_fill(w, weights, &params, NULL));
        for (int c = 0; c < COMPONENTS; c++) {
            errors->of[c][seed] =
                estimate(w, weights, params.rows, pair, (enum component)c) / exact - 1.0;
        }
    }
}

/* Two vectors with elements in (-scale, scale). */
static struct pair pair_of(uint64_t stream, float scale) {
    float values[2 * D];
    struct pair pair;
    weft_philox_uniform(values, sizeof values / sizeof values[0], 3, stream);
    for (int j = 0; j < D; j++) {
        pair.x[j] = (double)(scale * values[j]);
        pair.y[j] = (double)(scale * values[D + j]);
    }
    return pair;
}

static struct errors base;
static struct errors other;
static struct errors third;

WEFT_TEST(unbiased_kinds_have_the_kernel_as_mean) {
    const weft_features_params cases[] = {
        {.kind = WEFT_FEATURES_BASE},
        {.kind = WEFT_FEATURES_ORF},
        {.kind = WEFT_FEATURES_ORF, .rows = 11},
        {.kind = WEFT_FEATURES_FASTFOOD},
        {.kind = WEFT_FEATURES_SCRF},
        {.kind = WEFT_FEATURES_P_MODEL},
        {.kind = WEFT_FEATURES_P_MODEL, .budget = D},
        {.kind = WEFT_FEATURES_QMC, .shift = true},
        {.kind = WEFT_FEATURES_QMC, .shift = true, .sequence = WEFT_FEATURES_HALTON},
        {.kind = WEFT_FEATURES_SSF},
        {.kind = WEFT_FEATURES_SSF, .rows = 21},
        {.kind = WEFT_FEATURES_SSR},
        {.kind = WEFT_FEATURES_SIMRF},
        {.kind = WEFT_FEATURES_SIMRF_DEPENDENT},
        {.kind = WEFT_FEATURES_SIMRF_DEPENDENT, .sweeps = 4},
    };
    const struct pair pair = pair_of(0, 0.35F);
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        run(&other, cases[k], &pair);
        for (int c = 0; c < COMPONENTS; c++) {
            const double error = standard_error(other.of[c]);
            assert_true(error < 0.004); /* sharp enough to see a bias of 1.5 % */
            if (fabs(mean(other.of[c])) >= 4.0 * error) {
                print_error("%s, case %zu, component %d: bias %g, standard error %g\n",
                            weft_features_name(cases[k].kind), k, c, mean(other.of[c]), error);
            }
            assert_true(fabs(mean(other.of[c])) < 4.0 * error);
        }
    }
}

/* What has a bias has a small one, and the test above would have seen it. */
WEFT_TEST(biased_kinds_are_close) {
    const weft_features_params cases[] = {
        {.kind = WEFT_FEATURES_SORF},
        {.kind = WEFT_FEATURES_S_HYBRID},
        {.kind = WEFT_FEATURES_MM, .shift = true},
        {.kind = WEFT_FEATURES_ORF, .norm = WEFT_FEATURES_NORM_SQRT},
    };
    const struct pair pair = pair_of(0, 0.35F);
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        run(&other, cases[k], &pair);
        const double bias = fabs(mean(other.of[TRIG]));
        assert_true(bias < 0.02);
        assert_true(bias > 4.0 * standard_error(other.of[TRIG]));
    }
}

/* Whether b's squared error is below a's, seed by seed with the same draws, beyond three standard errors. */
static void expect_less(const struct errors *a, const struct errors *b, enum component component) {
    static double difference[SEEDS];
    for (int i = 0; i < SEEDS; i++) {
        const double of_a = a->of[component][i];
        const double of_b = b->of[component][i];
        difference[i] = of_a * of_a - of_b * of_b;
    }
    assert_true(mean(difference) > 3.0 * standard_error(difference));
}

/* Yu et al., 2016, theorem 1 and Reid et al., 2023, theorem 3.3: Base ≥ ORF ≥ SimRF for positive features. */
WEFT_TEST(geometry_lowers_the_variance) {
    const struct pair pair = pair_of(0, 0.35F);
    run(&base, (weft_features_params){.kind = WEFT_FEATURES_BASE}, &pair);
    run(&other, (weft_features_params){.kind = WEFT_FEATURES_ORF}, &pair);
    expect_less(&base, &other, TRIG);
    expect_less(&base, &other, POSITIVE);
    expect_less(&base, &other, OPTIMAL);
    assert_true(mean_square(other.of[TRIG]) < 0.3 * mean_square(base.of[TRIG]));
    run(&third, (weft_features_params){.kind = WEFT_FEATURES_SIMRF}, &pair);
    expect_less(&other, &third, POSITIVE);
    expect_less(&other, &third, OPTIMAL);
    assert_true(mean_square(third.of[POSITIVE]) < 0.5 * mean_square(other.of[POSITIVE]));
    run(&base, (weft_features_params){.kind = WEFT_FEATURES_SIMRF_DEPENDENT}, &pair);
    expect_less(&third, &base, POSITIVE);
}

WEFT_TEST(other_kinds_lower_the_variance) {
    const struct pair pair = pair_of(0, 0.35F);
    /* At equal numbers of features. */
    run(&base, (weft_features_params){.kind = WEFT_FEATURES_BASE, .rows = 16}, &pair);
    run(&other, (weft_features_params){.kind = WEFT_FEATURES_QMC, .rows = 16, .shift = true},
        &pair);
    run(&third, (weft_features_params){.kind = WEFT_FEATURES_MM, .rows = 16, .shift = true}, &pair);
    for (int c = 0; c < COMPONENTS; c++) {
        expect_less(&base, &other, (enum component)c);
        expect_less(&other, &third, (enum component)c);
    }
    run(&base, (weft_features_params){.kind = WEFT_FEATURES_BASE, .rows = 19}, &pair);
    run(&other, (weft_features_params){.kind = WEFT_FEATURES_SSR}, &pair);
    for (int c = 0; c < COMPONENTS; c++) {
        assert_true(mean_square(other.of[c]) < 0.1 * mean_square(base.of[c]));
    }
}

/* Choromanski et al., 2021, lemma 2, and Likhosherstov et al., 2022: TrigRF ≫ PosRF ≥ OPRF. */
WEFT_TEST(component_functions_are_in_order) {
    /* A small value of the kernel: y ≈ -x, exp(xᵀy) = 0.016. */
    struct pair opposite = pair_of(2, 1.0F);
    for (int j = 0; j < D; j++) {
        opposite.y[j] = 0.2 * opposite.y[j] - opposite.x[j];
    }
    assert_true(exp(dot(opposite.x, opposite.y)) < 0.02);
    run(&base, (weft_features_params){.kind = WEFT_FEATURES_BASE}, &opposite);
    assert_true(mean_square(base.of[TRIG]) > 1e6 * mean_square(base.of[POSITIVE]));
    assert_true(mean_square(base.of[OPTIMAL]) < mean_square(base.of[POSITIVE]));
    /* A large ‖x + y‖. */
    const struct pair far = pair_of(1, 0.6F);
    const weft_features_kind kinds[] = {WEFT_FEATURES_BASE, WEFT_FEATURES_ORF, WEFT_FEATURES_SIMRF};
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        run(&base, (weft_features_params){.kind = kinds[k]}, &far);
        assert_true(mean_square(base.of[OPTIMAL]) < 0.5 * mean_square(base.of[POSITIVE]));
    }
}

/* ---- quadrature ---- */

/* E of ω_a ω_b ω_c … under N(0, I): Isserlis's theorem for the degrees here. */
static double normal_moment(const uint32_t *exponents, uint32_t d) {
    double moment = 1.0;
    for (uint32_t j = 0; j < d; j++) {
        for (uint32_t k = exponents[j]; k > 1; k -= 2) {
            moment *= (double)(k - 1);
        }
        moment = exponents[j] % 2 != 0 ? 0.0 : moment;
    }
    return moment;
}

static double quadrature(const float *w, const float *weights, uint32_t rows, uint32_t d,
                         const uint32_t *exponents) {
    double sum = 0.0;
    for (uint32_t i = 0; i < rows; i++) {
        double value = (double)weights[i];
        for (uint32_t j = 0; j < d; j++) {
            for (uint32_t k = 0; k < exponents[j]; k++) {
                value *= (double)w[(size_t)i * d + j];
            }
        }
        sum += value;
    }
    return sum;
}

static void check_exactness(const weft_features_params *params) {
    const uint32_t d = params->columns;
    float *w = malloc((size_t)params->rows * d * sizeof *w);
    float *weights = malloc(params->rows * sizeof *weights);
    assert_ok(weft_features_fill(w, weights, params, NULL));
    /* Every monomial of degree ≤ 3: the product of ω_a, ω_b and ω_c, where d stands for 1. */
    for (uint32_t a = 0; a <= d; a++) {
        for (uint32_t b = a; b <= d; b++) {
            for (uint32_t c = b; c <= d; c++) {
                uint32_t exponents[20] = {0};
                exponents[a]++;
                exponents[b]++;
                exponents[c]++;
                const double found = quadrature(w, weights, params->rows, d, exponents);
                assert_true(fabs(found - normal_moment(exponents, d)) < 2e-5);
            }
        }
    }
    free(w);
    free(weights);
}

WEFT_TEST(quadrature_is_exact_to_degree_three) {
    for (uint32_t d = 1; d <= 19; d += d < 5 ? 1 : 7) {
        check_exactness(
            weft_features_params(.kind = WEFT_FEATURES_SGQ, .rows = 2 * d + 1, .columns = d));
        for (uint64_t seed = 0; seed < 5; seed++) {
            check_exactness(weft_features_params(.kind = WEFT_FEATURES_SSR, .rows = 2 * d + 3,
                                                 .columns = d, .seed = seed));
            check_exactness(weft_features_params(.kind = WEFT_FEATURES_SSR, .rows = 6 * d + 7,
                                                 .columns = d, .seed = seed));
        }
    }
}

WEFT_TEST(sparse_grid_weights) {
    float w[17 * 8];
    float weights[17];
    assert_ok(weft_features_fill(
        w, weights, weft_features_params(.kind = WEFT_FEATURES_SGQ, .rows = 17, .columns = 8),
        NULL));
    assert_true(weights[0] == (float)(1.0 - 8.0 / 3.0)); /* negative: its sign goes to the keys */
    assert_true(weights[1] == 1.0F / 6.0F && weights[16] == 1.0F / 6.0F);
    assert_true(w[8] == (float)sqrt(3.0) && w[16 * 8 + 7] == -(float)sqrt(3.0));
    /* In one dimension it is Gauss and Hermite's rule of three points: exact to degree 5. */
    assert_ok(weft_features_fill(
        w, weights, weft_features_params(.kind = WEFT_FEATURES_SGQ, .rows = 3, .columns = 1),
        NULL));
    const uint32_t four = 4;
    assert_true(fabs(quadrature(w, weights, 3, 1, &four) - 3.0) < 1e-5);
}

/* The kernel's error is of fourth order: halving x and y divides it by 16. */
WEFT_TEST(sparse_grid_converges) {
    float w[17 * D];
    float weights[17];
    assert_ok(weft_features_fill(
        w, weights, weft_features_params(.kind = WEFT_FEATURES_SGQ, .rows = 17, .columns = D),
        NULL));
    double last = 0.0;
    for (int step = 0; step < 3; step++) {
        const struct pair pair = pair_of(4, ldexpf(0.25F, -step));
        const double error = fabs(estimate(w, weights, 17, &pair, TRIG) - exp(dot(pair.x, pair.y)));
        assert_true(step == 0 || (last / error > 15.0 && last / error < 18.0));
        last = error;
    }
}
