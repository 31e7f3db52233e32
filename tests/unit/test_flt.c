/* SPDX-License-Identifier: MIT */
/*
 * FLT's frequencies and weights: transforms against their functions, unbiasedness and variance over fixed seeds, limits
 * by hand, bits, bad parameters. Seeds are fixed, so the tests give the same answer every time.
 */
#include <math.h>

#include <weft/flt.h>

#include "core/hash.h"
#include "support.h"

#define PI 3.14159265358979323846

/* ---- the functions f, straight from their formulas ---- */

static double local_1d(double z, double v, uint32_t power) {
    const double a = fabs(z);
    switch (power) {
    case 1:
        return a <= v ? 1.0 : 0.0;
    case 2: /* a triangle */
        return a < 2.0 * v ? 2.0 * v - a : 0.0;
    default: /* 3: three parabolas */
        if (a >= 3.0 * v) {
            return 0.0;
        }
        return a <= v ? 3.0 * v * v - a * a : (3.0 * v - a) * (3.0 * v - a) / 2.0;
    }
}

static double width_of(const weft_flt_params *p, uint32_t t) {
    return p->widths ? (double)p->widths[t] : 1.0;
}

/* Re f_t(z). */
static double term_of(const weft_flt_params *p, uint32_t t, const double *z) {
    const double width = width_of(p, t);
    double square = 0.0;
    double sum = 0.0;
    double phase = 0.0;
    double cauchy = 1.0;
    double local = 1.0;
    for (uint32_t j = 0; j < p->dimensions; j++) {
        const uint32_t at = t * p->dimensions + j;
        square += z[j] * z[j];
        sum += fabs(z[j]);
        phase += p->centres ? (double)p->centres[at] * z[j] : 0.0;
        cauchy /= 1.0 + z[j] * z[j] / (width * width);
        if (p->kind == WEFT_FLT_LOCAL) {
            local *= local_1d(z[j], (double)p->radii[at], p->powers ? p->powers[at] : 1);
        }
    }
    const double volume = pow(sqrt(2.0 * PI) * width, p->dimensions);
    switch (p->kind) {
    case WEFT_FLT_GAUSSIAN_MIXTURE:
        return volume * exp(-2.0 * PI * PI * width * width * square) * cos(2.0 * PI * phase);
    case WEFT_FLT_MOLECULAR:
        return exp(-square / (2.0 * width * width)) / volume;
    case WEFT_FLT_LOCAL:
        return local;
    case WEFT_FLT_GAUSSIAN_KERNEL:
        return exp(-square / (2.0 * width * width));
    case WEFT_FLT_LAPLACE_KERNEL:
        return exp(-sum / width);
    default:
        return cauchy;
    }
}

static double function_of(const weft_flt_params *p, const double *z) {
    double sum = 0.0;
    for (uint32_t t = 0; t < (p->terms ? p->terms : 1); t++) {
        sum += (p->coefficients ? (double)p->coefficients[t] : 1.0) * term_of(p, t, z);
    }
    return sum;
}

/* ---- the examples ---- */

static const float signed_terms[3] = {1.0F, -0.5F, 0.25F};
static const float small_widths[3] = {0.5F, 0.75F, 0.3F};
static const float large_widths[3] = {1.0F, 2.0F, 0.5F};
static const float centres[9] = {0.5F, -0.25F, 0.125F, 0.0F, 0.75F, 0.5F, -0.5F, 0.25F, 0.0F};
static const float radii[9] = {1.5F, 0.75F, 2.0F, 1.0F, 1.25F, 0.5F, 2.5F, 1.0F, 1.0F};
static const uint32_t powers[9] = {2, 3, 2, 3, 2, 2, 2, 2, 3};

static weft_flt_params example(weft_flt_kind kind, uint32_t dimensions) {
    weft_flt_params p = {.kind = kind,
                         .count = 1,
                         .dimensions = dimensions,
                         .terms = 3,
                         .coefficients = signed_terms,
                         .seed = 2024};
    p.widths = kind == WEFT_FLT_GAUSSIAN_MIXTURE ? small_widths : large_widths;
    if (kind == WEFT_FLT_GAUSSIAN_MIXTURE) {
        p.centres = centres;
        p.sigma = 1.0F;
    }
    if (kind == WEFT_FLT_LOCAL) {
        p.widths = NULL;
        p.radii = radii;
        p.powers = powers;
    }
    return p;
}

static const double differences[3][3] = {{0.0, 0.0, 0.0}, {0.3, -0.1, 0.2}, {-1.0, 0.7, 0.4}};

/* ---- g is the transform of f ---- */

/* ∫ g cos(2π z ξ) dξ over -reach … reach by the trapezoidal rule. */
static double inverse_transform(const weft_flt_params *params, double z, double reach,
                                uint32_t half_points) {
    const uint32_t count = 2 * half_points + 1;
    float *frequencies = malloc(count * sizeof *frequencies);
    double *g = malloc(count * sizeof *g);
    assert_non_null(frequencies);
    assert_non_null(g);
    weft_flt_params all = *params;
    all.count = count;
    const float step = (float)(reach / half_points); /* a power of two: all points are exact */
    for (uint32_t i = 0; i < count; i++) {
        frequencies[i] = step * ((float)i - (float)half_points);
    }
    assert_ok(weft_flt_transform(g, frequencies, &all, NULL));
    double sum = 0.0;
    for (uint32_t i = 0; i < count; i++) {
        const double end = i == 0 || i == count - 1 ? 0.5 : 1.0;
        sum += end * g[i] * cos(2.0 * PI * z * (double)frequencies[i]) * (double)step;
    }
    free(frequencies);
    free(g);
    return sum;
}

WEFT_TEST(test_transforms_in_one_dimension) {
    for (weft_flt_kind kind = 0; kind < WEFT_FLT_KIND_COUNT; kind++) {
        const weft_flt_params p = example(kind, 1);
        /* Tails of 1/ξ² (LAPLACE, LOCAL with k = 2) beyond 512 are below 2 C/(512 · 4π²). */
        const bool heavy = kind == WEFT_FLT_LAPLACE_KERNEL || kind == WEFT_FLT_LOCAL;
        for (int i = 0; i < 3; i++) {
            const double z = differences[i][0];
            const double f = inverse_transform(&p, z, heavy ? 512.0 : 8.0, 1U << 15);
            const double expected = function_of(&p, &z);
            if (!(fabs(f - expected) <= (heavy ? 5e-4 : 1e-6))) {
                fail_msg("%s: f(%g) is %.9g, expected %.9g", weft_flt_name(kind), z, f, expected);
            }
        }
    }
}

/* The box: Gibbs's oscillation stays, but falls like 1/reach away from the edge. */
WEFT_TEST(test_box) {
    const float v = 1.5F;
    const weft_flt_params p = {.kind = WEFT_FLT_LOCAL, .dimensions = 1, .radii = &v};
    const double inside = inverse_transform(&p, 0.5, 512.0, 1U << 15);
    const double outside = inverse_transform(&p, 2.25, 512.0, 1U << 15);
    assert_true(fabs(inside - 1.0) < 1e-3);
    assert_true(fabs(outside) < 1e-3);
}

/* Products over the dimensions, by the terms' own one-dimensional transforms. */
WEFT_TEST(test_transforms_are_products) {
    const float at[3] = {0.3F, -0.7F, 1.1F};
    for (weft_flt_kind kind = 0; kind < WEFT_FLT_KIND_COUNT; kind++) {
        weft_flt_params p = example(kind, 3);
        p.terms = 1;
        p.coefficients = NULL;
        double g;
        assert_ok(weft_flt_transform(&g, at, &p, NULL));
        double product = 1.0;
        for (uint32_t j = 0; j < 3; j++) {
            weft_flt_params one = p;
            double part;
            one.dimensions = 1;
            one.centres = p.centres ? p.centres + j : NULL;
            one.radii = p.radii ? p.radii + j : NULL;
            one.powers = p.powers ? p.powers + j : NULL;
            assert_ok(weft_flt_transform(&part, at + j, &one, NULL));
            product *= part;
        }
        assert_true(fabs(g - product) <= 1e-14 * fabs(product));
    }
}

/* ---- limits and values by hand ---- */

WEFT_TEST(test_limits_at_zero) {
    const float zero[3] = {0.0F, 0.0F, 0.0F};
    const float tiny[3] = {1e-30F, -1e-30F, 1e-30F};
    double g;
    weft_flt_params p = {
        .kind = WEFT_FLT_LOCAL, .count = 1, .dimensions = 1, .terms = 1, .radii = radii};
    assert_ok(weft_flt_transform(&g, zero, &p, NULL));
    assert_true(g == 3.0); /* 2v */
    assert_ok(weft_flt_transform(&g, tiny, &p, NULL));
    assert_true(g == 3.0);
    p.powers = powers;
    assert_ok(weft_flt_transform(&g, zero, &p, NULL));
    assert_true(g == 9.0);
    p.dimensions = 3;
    p.powers = NULL;
    assert_ok(weft_flt_transform(&g, zero, &p, NULL));
    assert_true(g == 3.0 * 1.5 * 4.0);
    /* sin(2π v ξ) = 0 at ξ = 1/(2v): a zero of g, on both sides of which its sign differs. */
    const float root[1] = {0.5F};
    const float one = 1.0F;
    p = (weft_flt_params){.kind = WEFT_FLT_LOCAL, .count = 1, .dimensions = 1, .radii = &one};
    assert_ok(weft_flt_transform(&g, root, &p, NULL));
    assert_true(g == 0.0);
    /* g of the mixture at its centre is w; of the molecular form at 0 too; the weight is w over the density at 0. */
    float weight;
    const float w = -2.0F;
    for (weft_flt_kind kind = 0; kind <= WEFT_FLT_MOLECULAR; kind++) {
        p = (weft_flt_params){
            .kind = kind, .count = 1, .dimensions = 3, .coefficients = &w, .sigma = 0.5F};
        assert_ok(weft_flt_transform(&g, zero, &p, NULL));
        assert_true(g == -2.0);
        assert_ok(weft_flt_weights(&weight, zero, &p, NULL));
        assert_true(fabs((double)weight + 2.0 * pow(2.0 * PI, 1.5) * 0.125) < 1e-6);
    }
}

/* The series near 0 and the sine beyond it meet. */
WEFT_TEST(test_box_is_smooth) {
    const float one = 1.0F;
    weft_flt_params p = {.kind = WEFT_FLT_LOCAL, .count = 1, .dimensions = 1, .radii = &one};
    for (int e = -24; e <= 4; e++) {
        for (int m = 8; m < 16; m++) {
            const float at = ldexpf((float)m + 0.37F, e - 3);
            const double x = (double)at;
            double g;
            assert_ok(weft_flt_transform(&g, &at, &p, NULL));
            assert_true(fabs(g - sin(2.0 * PI * x) / (PI * x)) < 2e-14);
        }
    }
}

/* The paper's sin³(2πvξ)/(πξ) as a sum of boxes. */
WEFT_TEST(test_printed_power) {
    const float two_terms[2] = {0.75F, -0.25F};
    const float two_radii[2] = {0.5F, 1.5F};
    const float at = 0.37F;
    const weft_flt_params p = {.kind = WEFT_FLT_LOCAL,
                               .count = 1,
                               .dimensions = 1,
                               .terms = 2,
                               .coefficients = two_terms,
                               .radii = two_radii};
    double g;
    assert_ok(weft_flt_transform(&g, &at, &p, NULL));
    const double printed = pow(sin(PI * (double)at), 3) / (PI * (double)at);
    assert_true(fabs(g - printed) < 1e-15);
}

WEFT_TEST(test_weights_are_g_over_p) {
    enum { COUNT = 64 };
    float frequencies[3 * COUNT];
    float weights[COUNT];
    double g[COUNT];
    for (weft_flt_kind kind = 0; kind < WEFT_FLT_GAUSSIAN_KERNEL; kind++) {
        for (uint32_t l = 1; l <= 3; l++) {
            weft_flt_params p = example(kind, l);
            p.count = COUNT;
            p.sigma = 1.25F;
            assert_ok(weft_flt_fill(frequencies, weights, &p, NULL));
            assert_ok(weft_flt_transform(g, frequencies, &p, NULL));
            for (uint32_t k = 0; k < COUNT; k++) {
                double square = 0.0;
                for (uint32_t j = 0; j < l; j++) {
                    square += pow((double)frequencies[k * l + j] / 1.25, 2);
                }
                const double density = exp(-0.5 * square) / pow(sqrt(2.0 * PI) * 1.25, l);
                assert_true(fabs((double)weights[k] - g[k] / density) <=
                            1e-6 * fabs(g[k] / density) + 0x1p-126);
            }
        }
    }
}

/* ---- statistics ---- */

#define R     8
#define SETS  20000
#define SPANS 3

struct moments {
    double mean[SPANS];
    double variance[SPANS]; /* of N̂, the mean of R cosines */
    double largest;         /* weight, in size */
};

/* N̂ for three differences over SETS independent sets of R frequencies. */
static void measure(struct moments *m, weft_flt_params p) {
    double sum[SPANS] = {0};
    double squares[SPANS] = {0};
    float frequencies[3 * R];
    float weights[R];
    m->largest = 0.0;
    p.count = R;
    for (uint32_t set = 0; set < SETS; set++) {
        p.matrix = set;
        assert_ok(weft_flt_fill(frequencies, weights, &p, NULL));
        for (int i = 0; i < SPANS; i++) {
            double estimate = 0.0;
            for (uint32_t k = 0; k < R; k++) {
                double turns = 0.0;
                for (uint32_t j = 0; j < p.dimensions; j++) {
                    turns += differences[i][j] * (double)frequencies[k * p.dimensions + j];
                }
                estimate += (double)weights[k] * cos(2.0 * PI * turns) / R;
                m->largest = fmax(m->largest, fabs((double)weights[k]));
            }
            sum[i] += estimate;
            squares[i] += estimate * estimate;
        }
    }
    for (int i = 0; i < SPANS; i++) {
        m->mean[i] = sum[i] / SETS;
        m->variance[i] = squares[i] / SETS - m->mean[i] * m->mean[i];
    }
}

/* Within 4.5 standard errors of f, and a variance of at most (c² - f²)/r (11), up to its own sampling error. */
static void expect_estimate(const struct moments *m, const weft_flt_params *p, double bound) {
    for (int i = 0; i < SPANS; i++) {
        const double f = function_of(p, differences[i]);
        const double error = sqrt(fmax(m->variance[i], 0.0) / SETS) + 1e-7;
        const double most = (bound * bound - f * f) / R;
        if (!(fabs(m->mean[i] - f) <= 4.5 * error) || !(m->variance[i] <= 1.05 * most + 1e-12) ||
            !(m->largest <= bound * (1.0 + 1e-6))) {
            fail_msg("%s in %u dimensions, %d: mean %.7g of %.7g ± %.2g, variance %.4g of %.4g, "
                     "weight %.6g of %.6g",
                     weft_flt_name(p->kind), p->dimensions, i, m->mean[i], f, error, m->variance[i],
                     most, m->largest, bound);
        }
    }
}

/* c of one centred term of width s against N(0, sigma² I): at 0 for s < sigma, where the density is largest. */
static double gaussian_bound(const weft_flt_params *p) {
    double sum = 0.0;
    for (uint32_t t = 0; t < p->terms; t++) {
        const double own =
            p->kind == WEFT_FLT_MOLECULAR ? 1.0 / (2.0 * PI * width_of(p, t)) : width_of(p, t);
        assert_true(own < (double)p->sigma);
        sum += fabs((double)p->coefficients[t]);
    }
    return sum * pow(sqrt(2.0 * PI) * (double)p->sigma, p->dimensions);
}

WEFT_TEST(test_gaussian_estimates) {
    struct moments m;
    for (weft_flt_kind kind = 0; kind <= WEFT_FLT_MOLECULAR; kind++) {
        for (uint32_t l = 1; l <= 3; l++) {
            weft_flt_params p = example(kind, l);
            p.centres = NULL;
            p.sigma = kind == WEFT_FLT_MOLECULAR ? 0.5F : 1.0F;
            measure(&m, p);
            expect_estimate(&m, &p, gaussian_bound(&p));
        }
    }
}

/* Off the origin |g|/p is exp of a parabola with its top at μσ²/(σ² - s²), of height μ²/(2(σ² - s²)). */
WEFT_TEST(test_gaussian_mixture_off_the_origin) {
    struct moments m;
    for (uint32_t l = 1; l <= 3; l++) {
        const weft_flt_params p = example(WEFT_FLT_GAUSSIAN_MIXTURE, l);
        double bound = 0.0;
        for (uint32_t t = 0; t < 3; t++) {
            double square = 0.0;
            for (uint32_t j = 0; j < l; j++) {
                square += pow((double)centres[t * l + j], 2);
            }
            const double room = 1.0 - pow((double)small_widths[t], 2);
            bound += fabs((double)signed_terms[t]) * exp(square / (2.0 * room));
        }
        measure(&m, p);
        expect_estimate(&m, &p, bound * pow(sqrt(2.0 * PI), l));
    }
}

WEFT_TEST(test_kernel_estimates) {
    struct moments m;
    for (weft_flt_kind kind = WEFT_FLT_GAUSSIAN_KERNEL; kind < WEFT_FLT_KIND_COUNT; kind++) {
        for (uint32_t l = 1; l <= 3; l++) {
            weft_flt_params p = example(kind, l);
            measure(&m, p);
            expect_estimate(&m, &p, 1.75);
            /* One term: |w| is C, and Var N̂ = (C² (1 + K(2z))/2 - f²)/r. */
            const float c = -1.5F;
            p.terms = 1;
            p.coefficients = &c;
            measure(&m, p);
            expect_estimate(&m, &p, 1.5);
            for (int i = 0; i < SPANS; i++) {
                const double twice[3] = {2.0 * differences[i][0], 2.0 * differences[i][1],
                                         2.0 * differences[i][2]};
                const double f = function_of(&p, differences[i]);
                const double exact =
                    (2.25 * (1.0 + function_of(&p, twice) / -1.5) / 2.0 - f * f) / R;
                assert_true(fabs(m.variance[i] - exact) <= 0.05 * exact + 1e-9);
            }
        }
    }
}

/* Theorem 4.2: with r = 4c²/ε² log(4L²/δ) all L² estimates are within ε, but for a share δ of the draws. */
WEFT_TEST(test_uniform_convergence) {
    enum { L = 64 };
    const double epsilon = 0.2;
    const double delta = 0.1;
    const uint32_t r = (uint32_t)ceil(4.0 / (epsilon * epsilon) * log(4.0 * L * L / delta));
    const float width = 8.0F;
    weft_flt_params p = {
        .kind = WEFT_FLT_GAUSSIAN_KERNEL, .count = r, .dimensions = 1, .widths = &width, .seed = 4};
    float *frequencies = malloc(r * sizeof *frequencies);
    float *weights = malloc(r * sizeof *weights);
    assert_non_null(frequencies);
    assert_non_null(weights);
    int missed = 0;
    for (uint32_t set = 0; set < 50; set++) {
        p.matrix = set;
        assert_ok(weft_flt_fill(frequencies, weights, &p, NULL));
        double worst = 0.0;
        for (int z = 0; z < L; z++) {
            double estimate = 0.0;
            for (uint32_t k = 0; k < r; k++) {
                estimate += (double)weights[k] * cos(2.0 * PI * z * (double)frequencies[k]) / r;
            }
            worst = fmax(worst, fabs(estimate - exp(-z * z / 128.0)));
        }
        missed += worst > epsilon;
    }
    assert_true(missed <= 5);
    free(frequencies);
    free(weights);
}

/* ---- bits ---- */

static void digest_of(char text[WEFT_DIGEST_TEXT_SIZE], weft_flt_params p) {
    enum { COUNT = 257 };
    struct {
        float frequencies[3 * COUNT];
        float weights[COUNT];
    } made;
    memset(&made, 0, sizeof made);
    p.count = COUNT;
    assert_ok(weft_flt_fill(made.frequencies, made.weights, &p, NULL));
    weft_digest digest = weft_digest_of(&made, sizeof made);
    weft_digest_text(&digest, text);
}

WEFT_TEST(test_bits) {
    static const char *const expected[WEFT_FLT_KIND_COUNT] = {
        "893e21eea09ae6760fa0aec6298e63fbe7e7f891b0c428f58c45217b96e1d948",
        "f70e3fe351a4dc9a6f7989196af74a72f40e8f3559816b749b2250284c08bd47",
        "225a92a6ee0cabeaaf9f17abb11ce453aca3e2a02a8ec93b052115e3cee0bc95",
        "077920809fe038e2a5e1a3d73c419c9c860768f93d0b3f28a7fbeea45e3a4281",
        "a69edcc5f5627e0bfc866003684ed8ae7e8d5ef94ef4c7ea2f03c961d17c0e9b",
        "985fb583782850f11fa01410120656ff8aa64a3997812dc60158dc806ad30461",
    };
    for (weft_flt_kind kind = 0; kind < WEFT_FLT_KIND_COUNT; kind++) {
        char text[WEFT_DIGEST_TEXT_SIZE];
        digest_of(text, example(kind, 3));
        assert_string_equal(text, expected[kind]);
    }
}

WEFT_TEST(test_sets) {
    float few[3 * 5];
    float many[3 * 9];
    float other[3 * 5];
    float weights[9];
    for (weft_flt_kind kind = 0; kind < WEFT_FLT_KIND_COUNT; kind++) {
        weft_flt_params p = example(kind, 3);
        p.count = 5;
        assert_ok(weft_flt_fill(few, weights, &p, NULL));
        p.count = 9;
        assert_ok(weft_flt_fill(many, weights, &p, NULL));
        assert_memory_equal(few, many, sizeof few);
        p.count = 5;
        p.matrix = 1;
        assert_ok(weft_flt_fill(other, weights, &p, NULL));
        assert_memory_not_equal(few, other, sizeof few);
        p.matrix = 0;
        p.seed++;
        assert_ok(weft_flt_fill(other, weights, &p, NULL));
        assert_memory_not_equal(few, other, sizeof few);
    }
}

/* ---- bad parameters ---- */

static float bad_weights[4];
static float bad_frequencies[16];

#define EXPECT_REFUSED(params, ...)                                                        \
    do {                                                                                   \
        weft_test_host_reset(host);                                                        \
        assert_int_equal(weft_flt_fill(bad_frequencies, bad_weights, params, &host->host), \
                         WEFT_INVALID_ARGUMENT);                                           \
        weft_test_expect_log(host, __VA_ARGS__);                                           \
    } while (0)

WEFT_TEST_ON_HOST(test_bad_parameters, host) {
    const float nan[1] = {NAN};
    const float zero[1] = {0.0F};
    const float one[1] = {1.0F};
    const uint32_t powerless[1] = {0};
    const uint32_t powerful[1] = {17};
    EXPECT_REFUSED(NULL, "params is null");
    EXPECT_REFUSED(weft_flt_params(.kind = WEFT_FLT_KIND_COUNT, .count = 1, .dimensions = 1),
                   "kind is 6", "0 to 5");
    EXPECT_REFUSED(weft_flt_params(.dimensions = 1), "count is 0", "1 to 1048576");
    EXPECT_REFUSED(weft_flt_params(.count = 1), "dimensions is 0", "1 to 8");
    EXPECT_REFUSED(weft_flt_params(.count = 1, .dimensions = 9), "dimensions is 9", "1 to 8");
    EXPECT_REFUSED(weft_flt_params(.count = 1, .dimensions = 1, .terms = 4097), "terms is 4097");
    const float sigmas[] = {-1.0F, 0x1p-21F, 0x1p21F, INFINITY, NAN};
    const char *const texts[] = {"sigma is -1", "sigma is 4.76837e-07", "sigma is 2.09715e+06",
                                 "sigma is inf", "sigma is nan"};
    for (int i = 0; i < 5; i++) {
        EXPECT_REFUSED(weft_flt_params(.count = 1, .dimensions = 1, .sigma = sigmas[i]), texts[i],
                       "2^-20 to 2^20");
    }
    EXPECT_REFUSED(
        weft_flt_params(.kind = WEFT_FLT_CAUCHY_KERNEL, .count = 1, .dimensions = 1, .sigma = 1.0F),
        "sigma", "cauchy_kernel");
    EXPECT_REFUSED(weft_flt_params(.count = 1, .dimensions = 1, .coefficients = nan),
                   "coefficients[0] is nan");
    EXPECT_REFUSED(weft_flt_params(.count = 1, .dimensions = 1, .widths = zero), "widths[0] is 0",
                   "2^-20 to 2^20");
    EXPECT_REFUSED(weft_flt_params(.count = 1, .dimensions = 1, .centres = nan),
                   "centres[0] is nan");
    EXPECT_REFUSED(
        weft_flt_params(.kind = WEFT_FLT_MOLECULAR, .count = 1, .dimensions = 1, .centres = zero),
        "centres", "molecular");
    EXPECT_REFUSED(weft_flt_params(.count = 1, .dimensions = 1, .radii = one), "radii",
                   "gaussian_mixture");
    EXPECT_REFUSED(weft_flt_params(.count = 1, .dimensions = 1, .powers = powerful), "powers");
    EXPECT_REFUSED(weft_flt_params(.kind = WEFT_FLT_LOCAL, .count = 1, .dimensions = 1),
                   "radii is null");
    EXPECT_REFUSED(
        weft_flt_params(.kind = WEFT_FLT_LOCAL, .count = 1, .dimensions = 1, .radii = zero),
        "radii[0] is 0");
    EXPECT_REFUSED(weft_flt_params(.kind = WEFT_FLT_LOCAL, .count = 1, .dimensions = 1,
                                   .radii = one, .widths = one),
                   "widths", "local");
    EXPECT_REFUSED(weft_flt_params(.kind = WEFT_FLT_LOCAL, .count = 1, .dimensions = 1,
                                   .radii = one, .powers = powerless),
                   "powers[0] is 0", "1 to 16");
    EXPECT_REFUSED(weft_flt_params(.kind = WEFT_FLT_LOCAL, .count = 1, .dimensions = 1,
                                   .radii = one, .powers = powerful),
                   "powers[0] is 17", "1 to 16");
}

WEFT_TEST_ON_HOST(test_bad_frequencies, host) {
    const weft_flt_params *p = weft_flt_params(.count = 2, .dimensions = 1, .sigma = 0.125F);
    float weights[2];
    double g[2];
    const float far[2] = {0.0F, 4.0F};
    const float nan[2] = {0.0F, NAN};
    /* exp(16 / (2/64) - 16/2) */
    WEFT_EXPECT_REFUSED(host, WEFT_INVALID_ARGUMENT, weft_flt_weights(weights, far, p, &host->host),
                        "weights[1]", "sigma 0.125");
    WEFT_EXPECT_REFUSED(host, WEFT_INVALID_ARGUMENT, weft_flt_weights(weights, nan, p, &host->host),
                        "frequencies[1] is nan");
    assert_int_equal(weft_flt_transform(g, nan, p, &host->host), WEFT_INVALID_ARGUMENT);
    WEFT_EXPECT_REFUSED(host, WEFT_INVALID_ARGUMENT, weft_flt_transform(NULL, far, p, &host->host),
                        "transform is null");
    WEFT_EXPECT_REFUSED(host, WEFT_INVALID_ARGUMENT, weft_flt_fill(NULL, weights, p, &host->host),
                        "frequencies is null");
    WEFT_EXPECT_REFUSED(host, WEFT_INVALID_ARGUMENT,
                        weft_flt_fill(bad_frequencies, NULL, p, &host->host), "weights is null");
    assert_string_equal(weft_flt_name(WEFT_FLT_LOCAL), "local");
    assert_string_equal(weft_flt_name(WEFT_FLT_KIND_COUNT), "unknown weft_flt_kind");
}
