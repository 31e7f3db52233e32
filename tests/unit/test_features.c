/* SPDX-License-Identifier: MIT */
/* Weight matrices of random features: bits, structure, moments, sequences, parameters. What they estimate is in
 * test_feature_estimates.c. */
#include <math.h>

#include <weft/features.h>

#include "core/hash.h"
#include "core/math/philox.h"
#include "features/family.h"
#include "features/orthogonal.h"
#include "features/sequence.h"
#include "support.h"

struct matrix {
    uint32_t rows;
    uint32_t columns;
    float *w;
    float *weights;
};

static struct matrix make(const weft_features_params *params) {
    struct matrix m = {.rows = params->rows, .columns = params->columns};
    m.w = malloc((size_t)m.rows * m.columns * sizeof *m.w);
    m.weights = malloc(m.rows * sizeof *m.weights);
    assert_non_null(m.w);
    assert_non_null(m.weights);
    assert_ok(weft_features_fill(m.w, m.weights, params, NULL));
    return m;
}

static void drop(struct matrix *m) {
    free(m->w);
    free(m->weights);
}

static const float *row_of(const struct matrix *m, uint32_t i) {
    return m->w + (size_t)i * m->columns;
}

static double product(const float *a, const float *b, uint32_t n) {
    double sum = 0.0;
    for (uint32_t i = 0; i < n; i++) {
        sum += (double)a[i] * (double)b[i];
    }
    return sum;
}

/* ---- bits ---- */

struct golden {
    weft_features_params params;
    const char *digest; /* of W and the weights */
};

/* Kind, rows and columns, and behind them the seed and what else a kind has. */
#define GOLDEN(text, of, s, d, ...)                                                               \
    {                                                                                             \
        .params = {.kind = WEFT_FEATURES_##of, .rows = (s), .columns = (d), .seed = __VA_ARGS__}, \
        .digest = text,                                                                           \
    }

static const struct golden goldens[] = {
    GOLDEN("7c0b38869eae1a33480874d42781463fb1584b8586ce254590250be07589e4ec", BASE, 37, 13, 1),
    GOLDEN("601c7f271232519fcb67bda95bafd3958bc1c19e5f46f63863a66e63345d194b", BASE, 300, 64,
           UINT64_C(0xfedcba9876543210), .matrix = 3),
    GOLDEN("e6a8785f376d93fe9ac12cbabba0121212a7c9d58397a504964fea6b2e89dd3e", ORF, 37, 13, 1),
    GOLDEN("67294bba74c696f674d260186a7936011e5c647c63a3c1c58c4c27b1eb1637fb", ORF, 200, 64, 2,
           .norm = WEFT_FEATURES_NORM_SQRT),
    GOLDEN("50889d9d2510cf177f035af784f3addde5779639b6198c4403b0cdb6e9a489f0", ORF, 5, 1, 3),
    GOLDEN("45346990515196e24c6a055ac1eb623c6df9a3e2da15f094d2398f8022c5d9fa", SORF, 37, 13, 1),
    GOLDEN("f8aff13fe16db037862364cdf491fa103ac8813e3dc94a6260e08e367272a482", SORF, 200, 64, 2),
    GOLDEN("98f50906162fc8e68ad82993b7ce92c55e9423b535607782ca2ba4f9a7f31010", ROM, 37, 13, 1,
           .factors = 4),
    GOLDEN("952ef4671dee041a0242a3b6b1e54582174214713c9ec18ee28fd00a4ea601f1", ROM, 70, 32, 2,
           .factors = 1),
    GOLDEN("d46407d64a0ec4781ac7c071a8047d5183d17eabb0846c23f86f31533816d0a7", S_HYBRID, 38, 13, 1),
    GOLDEN("d9bb4354b8fb94edbccf739138212955399faf24f5ba7700a1bdd9cb7cb18022", S_HYBRID, 200, 64, 2,
           .factors = 2),
    GOLDEN("c0d155e6532878447ed143f70d9841f3f869e8d9ef16bd2dc03ebbff589089ca", FASTFOOD, 37, 13, 1),
    GOLDEN("bb709896d463d8f7135b33cc0d4ebf3ab514817e9ec28ae4016424af3e2dd5b5", FASTFOOD, 200, 64, 2,
           .norm = WEFT_FEATURES_NORM_SQRT),
    GOLDEN("7e436fc5a0671920bc590a91c05fed6c3bba7642674328b9c67a1e451e5ac3ae", SCRF, 37, 13, 1),
    GOLDEN("2a5c12ca5b8581a2134751b4db3c7ae9b969eb78333a785b62679ace4f3e71d7", SCRF, 200, 64, 2),
    GOLDEN("ff5f6c65097a057c7319c7a3c8e683f96f8d35ae5f4f44f938209f437df93091", P_MODEL, 37, 13, 1),
    GOLDEN("deae44781db1f8d1387200bec13f0edd4fc7f101b1a81e5ca7421580983c2dcc", P_MODEL, 200, 64, 2,
           .budget = 220),
    GOLDEN("20e0ed50e51898fd88b963d875085192d978311f8db0b7610dbf5aac9f8caddd", QMC, 37, 13, 1),
    GOLDEN("3d650cb6a9ab61c91bf9cd080c2f11988c78776f028a6aac91d9f397bb31fdcb", QMC, 200, 64, 2,
           .shift = true),
    GOLDEN("5eeec2ccf3ea866848836a1a0da3bc67dc16f09dd913cd40d3d76d1df250c1ab", QMC, 100, 20, 1,
           .sequence = WEFT_FEATURES_HALTON),
    GOLDEN("04f945fd167ca923f93f158427eb9c5f42c6829e870816bd554e9317e352bc80", QMC, 100, 20, 3,
           .sequence = WEFT_FEATURES_HALTON, .shift = true),
    GOLDEN("a721ad6a95ac0334cc88555c34366adcb49342e43e20e55a45648b554a04ae58", MM, 37, 13, 1),
    GOLDEN("bc39b2fce85880d3cf9b44e32b8a245fccfa4f0f4a669eaf0797ace2b9733b85", MM, 200, 64, 2,
           .shift = true),
    GOLDEN("bac5c67f1e9d146bb284c63fecffd398546f1c591d9f1e4483c01454985fbc54", MM, 100, 20, 1,
           .sequence = WEFT_FEATURES_NORMAL),
    GOLDEN("46982a280d66568a29184f91fc2a398780e278478721d589a5ae0b5f7003e438", SSF, 37, 14, 1),
    GOLDEN("fd0338adf7059fcb9f87efd56eeeb727b8f437226574c5a5401d44febf8458b2", SSF, 300, 64, 2),
    GOLDEN("e1cc10fc35afe696325ae65ec2457a2e5519b275cafb26067be13862a3bfb76c", SGQ, 27, 13, 1),
    GOLDEN("7b3bc55c90f6cdc3950bd1197b6b136b3b8b615e643129c5a65abb2fb06c0da1", SGQ, 3, 1, 0),
    GOLDEN("8afda7fbce0dddfaa9d4dbe1799fa2f9f883f907b14fd60e215faf68a3e828f9", SSR, 29, 13, 1),
    GOLDEN("c8cf5b70d705a1c4fe6e820021901a19ac808bbc4f256c52597e209578605865", SSR, 391, 64, 2),
    GOLDEN("8eee5d16937f88a67d4e2d1108fc9052a9e29cb5df10d8ff45407fae2358eb0a", SIMRF, 37, 13, 1),
    GOLDEN("ce94ad2b4016f09ff65277a0c48ab70b989b321737350cf5a1371e2b55788a72", SIMRF, 200, 64, 2,
           .norm = WEFT_FEATURES_NORM_SQRT),
    GOLDEN("a956b244c399036001e8c3efb5e2fd3f6df299359e7498f881f675f9780c67ab", SIMRF_DEPENDENT, 37,
           13, 1),
    GOLDEN("b8b91e26e7d4c7cd03b89810d835fa622eb1499cc09de2a8660b4cd6e55f1906", SIMRF_DEPENDENT, 200,
           64, 2, .sweeps = 5),
    GOLDEN("a3e4297d0ae98bb1a1f9c6056e684ee2347d55b7f6460531b2318a46ab09e59a", POISSON, 37, 13, 1),
    GOLDEN("6189466d440296215fa058292fd6d8c925813a6959dfff896d6795b71589b7c4", POISSON, 200, 5, 2,
           .rate = 16.0F),
    GOLDEN("be6731352781e905854c5851b00220f12f1e0e3363f68abe02921e27ca05799a", GEOMETRIC, 37, 13,
           1),
    GOLDEN("885f42f2c530d4cc900404a23bdabc1f68f0d2f085ce8cc39270a390b89936dd", GEOMETRIC, 200, 64,
           2, .rate = 0.75F),
};

WEFT_TEST(bits_are_the_same_everywhere) {
    bool seen[WEFT_FEATURES_KIND_COUNT] = {false};
    for (size_t i = 0; i < sizeof goldens / sizeof goldens[0]; i++) {
        const weft_features_params *params = &goldens[i].params;
        struct matrix m = make(params);
        weft_sha256 hash;
        weft_sha256_begin(&hash);
        weft_sha256_add(&hash, m.w, (size_t)m.rows * m.columns * sizeof *m.w);
        weft_sha256_add(&hash, m.weights, m.rows * sizeof *m.weights);
        weft_digest digest = weft_sha256_end(&hash);
        char text[WEFT_DIGEST_TEXT_SIZE];
        weft_digest_text(&digest, text);
        if (strcmp(text, goldens[i].digest) != 0) {
            print_error("golden %zu, %s\n", i, weft_features_name(params->kind));
        }
        assert_string_equal(text, goldens[i].digest);
        seen[params->kind] = true;
        drop(&m);
    }
    for (int kind = 0; kind < WEFT_FEATURES_KIND_COUNT; kind++) {
        assert_true(seen[kind]);
    }
}

/* Smallest size of a kind for d columns and about s rows. */
static uint32_t rows_for(weft_features_kind kind, uint32_t s, uint32_t d) {
    switch (kind) {
    case WEFT_FEATURES_SGQ:
        return 2 * d + 1;
    case WEFT_FEATURES_SSR:
        return 1 + 2 * (d + 1) * (s / (2 * (d + 1)) + 1);
    case WEFT_FEATURES_MM:
        return s > d ? s : d + 1;
    default:
        return s;
    }
}

WEFT_TEST(seeds_and_matrices_differ) {
    for (int k = 0; k < WEFT_FEATURES_KIND_COUNT; k++) {
        weft_features_params params = {.kind = (weft_features_kind)k, .columns = 6, .seed = 1};
        params.rows = rows_for(params.kind, 14, 6);
        params.shift = k == WEFT_FEATURES_QMC || k == WEFT_FEATURES_MM;
        struct matrix first = make(&params);
        params.matrix = 1;
        struct matrix second = make(&params);
        params.matrix = 0;
        params.seed = 2;
        struct matrix third = make(&params);
        const size_t size = (size_t)first.rows * first.columns * sizeof(float);
        const bool fixed = k == WEFT_FEATURES_SGQ;
        assert_int_equal(memcmp(first.w, second.w, size) == 0, fixed);
        assert_int_equal(memcmp(first.w, third.w, size) == 0, fixed);
        assert_int_equal(memcmp(second.w, third.w, size) == 0, fixed);
        drop(&first);
        drop(&second);
        drop(&third);
    }
}

WEFT_TEST(fewer_rows_are_the_first_of_more) {
    for (int k = 0; k < WEFT_FEATURES_KIND_COUNT; k++) {
        if (k == WEFT_FEATURES_MM || k == WEFT_FEATURES_SSF || k == WEFT_FEATURES_SGQ) {
            continue; /* documented not to be */
        }
        weft_features_params params = {.kind = (weft_features_kind)k, .columns = 6, .seed = 3};
        params.rows = rows_for(params.kind, 8, 6);
        struct matrix few = make(&params);
        params.rows = rows_for(params.kind, 40, 6);
        struct matrix many = make(&params);
        assert_true(few.rows < many.rows);
        assert_memory_equal(few.w, many.w, (size_t)few.rows * few.columns * sizeof(float));
        drop(&few);
        drop(&many);
    }
}

WEFT_TEST(weights_sum_to_one) {
    for (int k = 0; k < WEFT_FEATURES_POISSON; k++) { /* those of powers have no such sum */
        weft_features_params params = {.kind = (weft_features_kind)k, .columns = 10, .seed = 4};
        params.rows = rows_for(params.kind, 30, 10);
        struct matrix m = make(&params);
        double sum = 0.0;
        for (uint32_t i = 0; i < m.rows; i++) {
            sum += (double)m.weights[i];
        }
        assert_true(fabs(sum - 1.0) < 1e-5);
        drop(&m);
    }
}

/* ---- powers ---- */

/* p(k) of Poisson's distribution or the geometric one. */
static double probability(const weft_features_params *params, uint32_t k) {
    const double rate = (double)params->rate;
    if (params->kind == WEFT_FEATURES_POISSON) {
        return exp(k * log(rate) - rate - lgamma(k + 1.0));
    }
    return rate * pow(1.0 - rate, k);
}

/* As often as they should be: four standard deviations of every count, and weights as equation (37) has them. */
WEFT_TEST(powers_have_their_distribution) {
    const weft_features_params cases[] = {
        {.kind = WEFT_FEATURES_POISSON, .rate = 1.0F},
        {.kind = WEFT_FEATURES_POISSON, .rate = 0.125F},
        {.kind = WEFT_FEATURES_POISSON, .rate = 7.5F},
        {.kind = WEFT_FEATURES_GEOMETRIC, .rate = 0.5F},
        {.kind = WEFT_FEATURES_GEOMETRIC, .rate = 0.0625F},
        {.kind = WEFT_FEATURES_GEOMETRIC, .rate = 0.9375F},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        weft_features_params params = cases[i];
        params.rows = 20000;
        params.columns = 3;
        params.seed = 5;
        struct matrix m = make(&params);
        const uint32_t draws = m.rows * m.columns;
        uint32_t counts[1024] = {0};
        for (uint32_t k = 0; k < draws; k++) {
            assert_true(m.w[k] >= 0.0F && m.w[k] < 1024.0F && m.w[k] == floorf(m.w[k]));
            counts[(uint32_t)m.w[k]]++;
        }
        for (uint32_t k = 0; k < 1024; k++) {
            const double expected = draws * probability(&params, k);
            assert_true(fabs(counts[k] - expected) < 4.5 * sqrt(expected) + 3.0);
        }
        for (uint32_t r = 0; r < m.rows; r += 97) {
            double logarithm = -log(m.rows);
            for (uint32_t c = 0; c < m.columns; c++) {
                const double k = (double)row_of(&m, r)[c];
                logarithm -= lgamma(k + 1.0) + log(probability(&params, (uint32_t)k));
            }
            if (logarithm > -86.0) {
                assert_true(fabs((double)m.weights[r] / exp(logarithm) - 1.0) < 1e-6);
            } else if (logarithm < -88.0) {
                assert_true(m.weights[r] == 0.0F);
            }
        }
        drop(&m);
    }
}

WEFT_TEST_ON_HOST(too_large_weights_are_refused, host) {
    float w[4 * 100];
    float weights[4];
    WEFT_EXPECT_REFUSED(
        host, WEFT_INVALID_ARGUMENT,
        weft_features_fill(w, weights,
                           weft_features_params(.kind = WEFT_FEATURES_POISSON, .rows = 4,
                                                .columns = 100, .rate = 1.0F),
                           &host->host),
        "rate of poisson is 1", "weight 0 over 100 columns is e^99", "above e^87");
    assert_ok(weft_features_fill(w, weights,
                                 weft_features_params(.kind = WEFT_FEATURES_POISSON, .rows = 4,
                                                      .columns = 100, .rate = 0.5F),
                                 &host->host));
}

/* ---- geometry ---- */

WEFT_TEST(haar_rows_are_orthonormal) {
    const uint32_t sizes[] = {1, 2, 3, 17, 64};
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
        const uint32_t n = sizes[k];
        double *q = malloc((size_t)n * n * sizeof *q);
        double *gaussian = malloc((size_t)n * n * sizeof *gaussian);
        const struct weft_stream stream = weft_stream_of(9, 0, WEFT_DRAW_GAUSSIAN);
        assert_ok(weft_haar_rows(q, n, n, stream, 0, NULL));
        weft_sample_normals(gaussian, stream, 0, (uint64_t)n * n);
        for (uint32_t a = 0; a < n; a++) {
            for (uint32_t b = 0; b < n; b++) {
                double sum = 0.0;
                double r = 0.0;
                for (uint32_t j = 0; j < n; j++) {
                    sum += q[a * n + j] * q[b * n + j];
                    r += q[a * n + j] * gaussian[b * n + j];
                }
                assert_true(fabs(sum - (a == b ? 1.0 : 0.0)) < 1e-13);
                /* R is upper triangular with a positive diagonal: what makes Q Haar. */
                assert_true(a <= b || fabs(r) < 1e-12);
                assert_true(a != b || r > 0.0);
            }
        }
        free(q);
        free(gaussian);
    }
}

static void check_orthogonal_blocks(const weft_features_params *params, uint32_t block) {
    struct matrix m = make(params);
    for (uint32_t a = 0; a < m.rows; a++) {
        for (uint32_t b = a + 1; b < m.rows && b / block == a / block; b++) {
            double cosine = product(row_of(&m, a), row_of(&m, b), m.columns) /
                            sqrt(product(row_of(&m, a), row_of(&m, a), m.columns) *
                                 product(row_of(&m, b), row_of(&m, b), m.columns));
            assert_true(fabs(cosine) < 3e-7);
        }
    }
    drop(&m);
}

WEFT_TEST(blocks_are_orthogonal) {
    check_orthogonal_blocks(
        weft_features_params(.kind = WEFT_FEATURES_ORF, .rows = 50, .columns = 17, .seed = 1), 17);
    check_orthogonal_blocks(weft_features_params(.kind = WEFT_FEATURES_ORF, .rows = 64,
                                                 .columns = 32, .seed = 1,
                                                 .norm = WEFT_FEATURES_NORM_SQRT),
                            32);
    check_orthogonal_blocks(
        weft_features_params(.kind = WEFT_FEATURES_SORF, .rows = 100, .columns = 32, .seed = 1),
        32);
    for (uint32_t factors = 1; factors <= 4; factors++) {
        check_orthogonal_blocks(weft_features_params(.kind = WEFT_FEATURES_ROM, .rows = 40,
                                                     .columns = 16, .seed = 1, .factors = factors),
                                16);
    }
}

WEFT_TEST(orf_norms) {
    weft_features_params params = {
        .kind = WEFT_FEATURES_ORF, .rows = 4000, .columns = 8, .seed = 2};
    struct matrix m = make(&params);
    double mean = 0.0;
    double square = 0.0;
    for (uint32_t i = 0; i < m.rows; i++) {
        double norm = product(row_of(&m, i), row_of(&m, i), 8);
        mean += norm / m.rows;
        square += norm * norm / m.rows;
    }
    /* χ²_8: mean 8, variance 16; five standard errors. */
    assert_true(fabs(mean - 8.0) < 5.0 * sqrt(16.0 / 4000.0));
    assert_true(fabs(square - mean * mean - 16.0) < 3.0);
    drop(&m);
    params.norm = WEFT_FEATURES_NORM_SQRT;
    m = make(&params);
    for (uint32_t i = 0; i < m.rows; i++) {
        assert_true(fabs(product(row_of(&m, i), row_of(&m, i), 8) - 8.0) < 1e-5);
    }
    drop(&m);
}

WEFT_TEST(sorf_rows_have_norm_exactly_root_n) {
    const uint32_t sizes[] = {1, 2, 8, 64, 512};
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
        const uint32_t n = sizes[k];
        weft_features_params params = {
            .kind = WEFT_FEATURES_SORF, .rows = 2 * n, .columns = n, .seed = 7};
        struct matrix m = make(&params);
        for (uint32_t i = 0; i < m.rows; i++) {
            assert_true(product(row_of(&m, i), row_of(&m, i), n) == (double)n);
        }
        params.kind = WEFT_FEATURES_ROM; /* three factors by default: SORF */
        struct matrix rom = make(&params);
        assert_memory_equal(m.w, rom.w, (size_t)m.rows * n * sizeof(float));
        drop(&m);
        drop(&rom);
    }
}

WEFT_TEST(s_hybrid_pairs_are_complex_rows_of_length_root_n) {
    for (uint32_t factors = 2; factors <= 5; factors++) {
        struct matrix m = make(weft_features_params(.kind = WEFT_FEATURES_S_HYBRID, .rows = 64,
                                                    .columns = 32, .seed = 5, .factors = factors));
        for (uint32_t a = 0; a < 64; a += 2) {
            for (uint32_t b = 0; b < 64; b += 2) {
                /* The complex rows' Hermitian product, times 2: their matrix is √n times a unitary one. */
                double real = product(row_of(&m, a), row_of(&m, b), 32) +
                              product(row_of(&m, a + 1), row_of(&m, b + 1), 32);
                double imaginary = product(row_of(&m, a + 1), row_of(&m, b), 32) -
                                   product(row_of(&m, a), row_of(&m, b + 1), 32);
                assert_true(fabs(real - (a == b ? 64.0 : 0.0)) < 1e-4);
                assert_true(fabs(imaginary) < 1e-4);
            }
        }
        drop(&m);
    }
}

WEFT_TEST(fastfood_rows_have_normal_lengths) {
    weft_features_params params = {
        .kind = WEFT_FEATURES_FASTFOOD, .rows = 96, .columns = 32, .seed = 6};
    struct matrix m = make(&params);
    for (uint32_t i = 0; i < m.rows; i++) {
        double expected = weft_features_row_norm(&params, i, 32);
        assert_true(fabs(sqrt(product(row_of(&m, i), row_of(&m, i), 32)) / expected - 1.0) < 1e-6);
    }
    drop(&m);
    params.norm = WEFT_FEATURES_NORM_SQRT;
    m = make(&params);
    for (uint32_t i = 0; i < m.rows; i++) {
        assert_true(fabs(product(row_of(&m, i), row_of(&m, i), 32) / 32.0 - 1.0) < 1e-6);
    }
    drop(&m);
}

WEFT_TEST(scrf_blocks_are_signed_circulants) {
    const uint32_t d = 7;
    struct matrix m = make(
        weft_features_params(.kind = WEFT_FEATURES_SCRF, .rows = 3 * d, .columns = d, .seed = 8));
    int negative = 0;
    for (uint32_t i = 0; i < m.rows; i++) {
        const float *first = row_of(&m, i - i % d);
        const float sign = row_of(&m, i)[i % d] == first[0] ? 1.0F : -1.0F;
        negative += sign < 0.0F;
        for (uint32_t j = 0; j < d; j++) {
            assert_true(row_of(&m, i)[j] == sign * first[(j + d - i % d) % d]);
        }
    }
    assert_true(negative > 0 && negative < 20);
    drop(&m);
}

WEFT_TEST(p_model_recycles_its_budget) {
    for (uint32_t budget = 10; budget <= 15; budget++) {
        struct matrix m = make(weft_features_params(.kind = WEFT_FEATURES_P_MODEL, .rows = 10,
                                                    .columns = 6, .seed = 8, .budget = budget));
        struct matrix base = make(weft_features_params(.kind = WEFT_FEATURES_BASE, .rows = 1,
                                                       .columns = budget, .seed = 8));
        for (uint32_t i = 0; i < 10; i++) {
            for (uint32_t j = 0; j < 6; j++) {
                assert_true(row_of(&m, i)[j] == base.w[(i + j) % budget]);
            }
        }
        drop(&m);
        drop(&base);
    }
}

WEFT_TEST(simplex_rows_subtend_equal_angles) {
    const uint32_t sizes[] = {2, 3, 16, 33};
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
        const uint32_t d = sizes[k];
        struct matrix m =
            make(weft_features_params(.kind = WEFT_FEATURES_SIMRF, .rows = 2 * d + 1, .columns = d,
                                      .seed = 3, .norm = WEFT_FEATURES_NORM_SQRT));
        for (uint32_t a = 0; a < m.rows; a++) {
            for (uint32_t b = 0; b < m.rows && b / d == a / d; b++) {
                double cosine = product(row_of(&m, a), row_of(&m, b), d) / (double)d;
                double expected = a == b ? 1.0 : -1.0 / (double)(d - 1);
                if (b / d == a / d) {
                    assert_true(fabs(cosine - expected) < 1e-6);
                }
            }
        }
        drop(&m);
    }
}

/* ‖Σ ω_i‖² of the first block: what equation (27) makes small. */
static double resultant(const weft_features_params *params) {
    struct matrix m = make(params);
    double total = 0.0;
    for (uint32_t j = 0; j < m.columns; j++) {
        double sum = 0.0;
        for (uint32_t i = 0; i < m.columns; i++) {
            sum += (double)row_of(&m, i)[j];
        }
        total += sum * sum;
    }
    drop(&m);
    return total;
}

WEFT_TEST(dependent_simplex_cancels_its_rows) {
    for (uint64_t seed = 0; seed < 20; seed++) {
        weft_features_params params = {
            .kind = WEFT_FEATURES_SIMRF, .rows = 16, .columns = 16, .seed = seed};
        double independent = resultant(&params);
        params.kind = WEFT_FEATURES_SIMRF_DEPENDENT;
        double one = resultant(&params);
        params.sweeps = 20;
        double many = resultant(&params);
        assert_true(one < independent);
        assert_true(many <= one + 1e-9);
        assert_true(many < 1e-3);
        /* The norms stay. */
        struct matrix m = make(&params);
        for (uint32_t i = 0; i < 16; i++) {
            double norm = weft_features_row_norm(&params, i, 16);
            assert_true(fabs(sqrt(product(row_of(&m, i), row_of(&m, i), 16)) / norm - 1.0) < 1e-6);
        }
        drop(&m);
    }
}

WEFT_TEST(spherical_points_are_spread) {
    /* 61 ≡ 1 mod 12 gives 122 points in 12 dimensions. */
    struct matrix m = make(
        weft_features_params(.kind = WEFT_FEATURES_SSF, .rows = 122, .columns = 12, .seed = 3));
    struct matrix base = make(
        weft_features_params(.kind = WEFT_FEATURES_BASE, .rows = 122, .columns = 12, .seed = 3));
    double worst[2] = {0.0, 0.0};
    const struct matrix *both[2] = {&m, &base};
    for (int k = 0; k < 2; k++) {
        for (uint32_t a = 0; a < 122; a++) {
            for (uint32_t b = 0; b < a; b++) {
                double cosine = product(row_of(both[k], a), row_of(both[k], b), 12) /
                                sqrt(product(row_of(both[k], a), row_of(both[k], a), 12) *
                                     product(row_of(both[k], b), row_of(both[k], b), 12));
                worst[k] = fmax(worst[k], cosine);
            }
        }
    }
    assert_true(worst[0] < 0.6); /* a bound of the lattice, whatever the rotation */
    assert_true(worst[0] < worst[1]);
    /* Radii are stratified: their mean square is far closer to d than that of 122 draws, ±0.44. */
    double mean = 0.0;
    for (uint32_t i = 0; i < 122; i++) {
        mean += product(row_of(&m, i), row_of(&m, i), 12) / 122.0;
    }
    assert_true(fabs(mean - 12.0) < 0.05);
    drop(&m);
    drop(&base);
}

WEFT_TEST(moments_are_matched) {
    const weft_features_params cases[] = {
        {.rows = 200, .columns = 16},
        {.rows = 17, .columns = 16, .shift = true},
        {.rows = 100, .columns = 33, .sequence = WEFT_FEATURES_HALTON, .shift = true},
        {.rows = 65, .columns = 64, .sequence = WEFT_FEATURES_NORMAL},
        {.rows = 2, .columns = 1},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        weft_features_params params = cases[k];
        params.kind = WEFT_FEATURES_MM;
        params.seed = 10;
        struct matrix m = make(&params);
        for (uint32_t a = 0; a < m.columns; a++) {
            double mean = 0.0;
            for (uint32_t i = 0; i < m.rows; i++) {
                mean += (double)row_of(&m, i)[a] / m.rows;
            }
            assert_true(fabs(mean) < 1e-6);
            for (uint32_t b = 0; b <= a; b++) {
                double moment = 0.0;
                for (uint32_t i = 0; i < m.rows; i++) {
                    moment += (double)row_of(&m, i)[a] * (double)row_of(&m, i)[b] / m.rows;
                }
                assert_true(fabs(moment - (a == b ? 1.0 : 0.0)) < 1e-5);
            }
        }
        drop(&m);
    }
}

/* ---- structured kinds ---- */

/* y ← H x from H's entries, not by the fast transform. */
static void multiply_hadamard(double *y, const double *x, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        y[i] = 0.0;
        for (uint32_t j = 0; j < n; j++) {
            uint32_t bits = i & j;
            int parity = 0;
            for (; bits != 0; bits >>= 1) {
                parity ^= (int)(bits & 1);
            }
            y[i] += parity != 0 ? -x[j] : x[j];
        }
    }
}

struct application {
    const weft_features_structure *structure;
    const float *diagonals;
    const uint32_t *permutation;
};

static void multiply_diagonal(double *x, const struct application *a, uint32_t k) {
    for (uint32_t i = 0; i < a->structure->size; i++) {
        x[i] *= (double)a->diagonals[(size_t)k * a->structure->size + i];
    }
}

static void apply_products(double *x, const struct application *a, uint32_t count) {
    const uint32_t n = a->structure->size;
    double *y = malloc(n * sizeof *y);
    for (uint32_t k = 0; k < count; k++) {
        multiply_diagonal(x, a, k);
        multiply_hadamard(y, x, n);
        memcpy(x, y, n * sizeof *y);
    }
    free(y);
}

/* Block entries y [rows_per_block] for a padded x [size], as the header says. */
static void apply_block(double *y, const double *x, const struct application *a,
                        weft_features_kind kind) {
    const uint32_t n = a->structure->size;
    double *z = malloc(n * sizeof *z);
    double *u = malloc(n * sizeof *u);
    memcpy(z, x, n * sizeof *z);
    switch (kind) {
    case WEFT_FEATURES_S_HYBRID: {
        const uint32_t t = a->structure->diagonals - 2;
        apply_products(z, a, t);
        for (uint32_t part = 0; part < 2; part++) {
            memcpy(u, z, n * sizeof *u);
            multiply_diagonal(u, a, t + part);
            double *v = malloc(n * sizeof *v);
            multiply_hadamard(v, u, n);
            for (uint32_t r = 0; r < n; r++) {
                y[2 * r + part] = v[r];
            }
            free(v);
        }
        break;
    }
    case WEFT_FEATURES_FASTFOOD:
        apply_products(z, a, 1);
        for (uint32_t i = 0; i < n; i++) {
            u[i] = z[a->permutation[i]];
        }
        multiply_diagonal(u, a, 1);
        multiply_hadamard(y, u, n);
        multiply_diagonal(y, a, 2);
        break;
    case WEFT_FEATURES_SCRF:
        for (uint32_t i = 0; i < n; i++) {
            y[i] = 0.0;
            for (uint32_t j = 0; j < n; j++) {
                y[i] += (double)a->diagonals[n + i] * (double)a->diagonals[(i + n - j) % n] * x[j];
            }
        }
        break;
    case WEFT_FEATURES_P_MODEL:
        for (uint32_t i = 0; i < a->structure->rows_per_block; i++) {
            y[i] = 0.0;
            for (uint32_t j = 0; j < n; j++) {
                y[i] += (double)a->diagonals[(i + j) % n] * x[j];
            }
        }
        break;
    default:
        apply_products(z, a, a->structure->diagonals);
        memcpy(y, z, n * sizeof *z);
        break;
    }
    free(z);
    free(u);
}

static void check_parts(const weft_features_params *params) {
    weft_features_structure s;
    assert_ok(weft_features_get_structure(&s, params, NULL));
    assert_int_not_equal(s.transform, WEFT_FEATURES_DENSE);
    assert_true((uint64_t)s.blocks * s.rows_per_block >= params->rows);
    assert_true((uint64_t)(s.blocks - 1) * s.rows_per_block < params->rows);
    const size_t elements = (size_t)s.blocks * s.size;
    float *diagonals = malloc(elements * s.diagonals * sizeof *diagonals);
    uint32_t *permutation = s.permuted ? malloc(elements * sizeof *permutation) : NULL;
    assert_ok(weft_features_parts(diagonals, permutation, params, NULL));
    struct matrix m = make(params);
    struct matrix expanded = make(params);
    memset(expanded.w, 0, (size_t)m.rows * m.columns * sizeof(float));
    assert_ok(weft_features_expand(expanded.w, diagonals, permutation, params, NULL));
    assert_memory_equal(m.w, expanded.w, (size_t)m.rows * m.columns * sizeof(float));

    double *x = calloc(s.size, sizeof *x);
    float *narrow = malloc(m.columns * sizeof *narrow);
    double *y = malloc(s.rows_per_block * sizeof *y);
    weft_philox_uniform(narrow, m.columns, 77, 0);
    for (uint32_t j = 0; j < m.columns; j++) {
        x[j] = (double)narrow[j];
    }
    for (uint32_t block = 0; block < s.blocks; block++) {
        const struct application a = {&s, diagonals + (size_t)block * s.diagonals * s.size,
                                      permutation ? permutation + (size_t)block * s.size : NULL};
        apply_block(y, x, &a, params->kind);
        for (uint32_t i = 0; i < s.rows_per_block; i++) {
            uint32_t row = block * s.rows_per_block + i;
            if (row < m.rows) {
                double expected = product(row_of(&m, row), narrow, m.columns);
                assert_true(fabs((double)s.scale * y[i] - expected) < 2e-6 * m.columns);
            }
        }
    }
    free(x);
    free(y);
    free(narrow);
    free(diagonals);
    free(permutation);
    drop(&m);
    drop(&expanded);
}

WEFT_TEST(parts_make_the_matrix) {
    const weft_features_params cases[] = {
        {.kind = WEFT_FEATURES_SORF, .rows = 40, .columns = 16},
        {.kind = WEFT_FEATURES_SORF, .rows = 33, .columns = 11},
        {.kind = WEFT_FEATURES_SORF, .rows = 3, .columns = 1},
        {.kind = WEFT_FEATURES_ROM, .rows = 20, .columns = 8, .factors = 1},
        {.kind = WEFT_FEATURES_ROM, .rows = 20, .columns = 8, .factors = 2},
        {.kind = WEFT_FEATURES_ROM, .rows = 19, .columns = 13, .factors = 5},
        {.kind = WEFT_FEATURES_S_HYBRID, .rows = 34, .columns = 8},
        {.kind = WEFT_FEATURES_S_HYBRID, .rows = 10, .columns = 5, .factors = 2},
        {.kind = WEFT_FEATURES_FASTFOOD, .rows = 40, .columns = 16},
        {.kind = WEFT_FEATURES_FASTFOOD, .rows = 21, .columns = 9},
        {.kind = WEFT_FEATURES_SCRF, .rows = 25, .columns = 10},
        {.kind = WEFT_FEATURES_SCRF, .rows = 5, .columns = 1},
        {.kind = WEFT_FEATURES_P_MODEL, .rows = 9, .columns = 4},
        {.kind = WEFT_FEATURES_P_MODEL, .rows = 9, .columns = 4, .budget = 9},
        {.kind = WEFT_FEATURES_P_MODEL, .rows = 3, .columns = 8, .budget = 8},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        weft_features_params params = cases[k];
        params.seed = 11;
        check_parts(&params);
    }
    weft_features_structure s;
    assert_ok(weft_features_get_structure(
        &s, weft_features_params(.kind = WEFT_FEATURES_ORF, .rows = 4, .columns = 4), NULL));
    assert_int_equal(s.transform, WEFT_FEATURES_DENSE);
    assert_int_equal(s.diagonals, 0);
}

/* FastFood-L: other diagonals give another matrix, linearly in G. */
WEFT_TEST(learned_diagonals_expand) {
    const weft_features_params params = {
        .kind = WEFT_FEATURES_FASTFOOD, .rows = 8, .columns = 8, .seed = 12};
    float diagonals[3 * 8];
    uint32_t permutation[8];
    float w[64];
    float doubled[64];
    assert_ok(weft_features_parts(diagonals, permutation, &params, NULL));
    assert_ok(weft_features_expand(w, diagonals, permutation, &params, NULL));
    for (int i = 8; i < 16; i++) {
        diagonals[i] *= 2.0F;
    }
    assert_ok(weft_features_expand(doubled, diagonals, permutation, &params, NULL));
    for (int i = 0; i < 64; i++) {
        assert_true(doubled[i] == 2.0F * w[i]);
    }
}

/* ---- sequences ---- */

static struct weft_sequence begin(weft_features_sequence kind, uint32_t dimensions, bool shift) {
    struct weft_sequence sequence;
    const struct weft_stream stream = weft_stream_of(13, 0, WEFT_DRAW_SHIFT);
    assert_ok(weft_sequence_begin(&sequence, kind, dimensions, shift ? &stream : NULL, NULL));
    return sequence;
}

/* Points count … 2 count - 1, an aligned block of a power of the base, have one in each of `count` equal intervals. */
static void check_stratified(const struct weft_sequence *sequence, uint32_t dimension,
                             uint32_t count) {
    double *point = malloc(sequence->dimensions * sizeof *point);
    bool *taken = calloc(count, sizeof *taken);
    for (uint32_t i = count; i < 2 * count; i++) {
        weft_sequence_point(point, sequence, i);
        assert_true(point[dimension] > 0.0 && point[dimension] < 1.0);
        uint32_t cell = (uint32_t)(point[dimension] * count);
        assert_false(taken[cell]);
        taken[cell] = true;
    }
    free(point);
    free(taken);
}

WEFT_TEST(every_coordinate_is_stratified) {
    for (int shift = 0; shift < 2; shift++) {
        struct weft_sequence sobol = begin(WEFT_FEATURES_SOBOL, 300, shift != 0);
        for (uint32_t j = 0; j < 300; j++) {
            check_stratified(&sobol, j, 64);
        }
        check_stratified(&sobol, 0, 4096);
        check_stratified(&sobol, 299, 4096);
        weft_sequence_end(&sobol);
        struct weft_sequence halton = begin(WEFT_FEATURES_HALTON, 5, shift != 0);
        const uint32_t counts[5] = {1024, 729, 625, 343, 1331};
        for (uint32_t j = 0; j < 5; j++) {
            check_stratified(&halton, j, counts[j]);
        }
        weft_sequence_end(&halton);
    }
}

WEFT_TEST(halton_points_are_radical_inverses) {
    struct weft_sequence sequence = begin(WEFT_FEATURES_HALTON, 3, false);
    double point[3];
    weft_sequence_point(point, &sequence, 6); /* 110, 20 and 11 in bases 2, 3 and 5 */
    assert_true(point[0] == 0.375);
    assert_true(fabs(point[1] - 2.0 / 9.0) < 1e-15);
    assert_true(fabs(point[2] - 6.0 / 25.0) < 1e-15);
    weft_sequence_end(&sequence);
}

WEFT_TEST(sobol_has_property_a) {
    for (int shift = 0; shift < 2; shift++) {
        for (uint32_t d = 1; d <= 14; d++) {
            struct weft_sequence sequence = begin(WEFT_FEATURES_SOBOL, d, shift != 0);
            const uint32_t count = 1U << d;
            bool *taken = calloc(count, sizeof *taken);
            double point[14];
            for (uint32_t i = count; i < 2 * count; i++) {
                weft_sequence_point(point, &sequence, i);
                uint32_t orthant = 0;
                for (uint32_t j = 0; j < d; j++) {
                    orthant |= (point[j] >= 0.5 ? 1U : 0U) << j;
                }
                assert_false(taken[orthant]);
                taken[orthant] = true;
            }
            free(taken);
            weft_sequence_end(&sequence);
        }
    }
}

/* Rank over GF(2) of the first p bits of one dimension and q of another as functions of the index's low m bits. */
static uint32_t rank_of(const uint32_t *a, uint32_t p, const uint32_t *b, uint32_t q, uint32_t m) {
    uint32_t rows[32];
    uint32_t count = 0;
    for (uint32_t i = 0; i < p + q; i++) {
        const uint32_t *v = i < p ? a : b;
        const uint32_t bit = 31 - (i < p ? i : i - p);
        rows[count] = 0;
        for (uint32_t c = 0; c < m; c++) {
            rows[count] |= ((v[c] >> bit) & 1) << c;
        }
        count++;
    }
    uint32_t rank = 0;
    for (uint32_t c = 0; c < m; c++) {
        for (uint32_t i = rank; i < count; i++) {
            if ((rows[i] >> c) & 1) {
                uint32_t pivot = rows[i];
                rows[i] = rows[rank];
                rows[rank++] = pivot;
                for (uint32_t k = rank; k < count; k++) {
                    rows[k] ^= ((rows[k] >> c) & 1) != 0 ? pivot : 0;
                }
                break;
            }
        }
    }
    return rank;
}

/* The smallest t such that 2^m points are a (t, m, 2)-net in two dimensions: 2^t points in every box of volume 2^(t-m). */
static uint32_t net_quality(const uint32_t *a, const uint32_t *b, uint32_t m) {
    for (uint32_t t = 0; t < m; t++) {
        bool full = true;
        for (uint32_t p = 0; full && p <= m - t; p++) {
            full = rank_of(a, p, b, m - t - p, m) == m - t;
        }
        if (full) {
            return t;
        }
    }
    return m;
}

WEFT_TEST(sobol_projections_are_nets) {
    static uint32_t v[64][32];
    weft_sobol_directions(&v[0][0], 64);
    /* The first two dimensions are a (0, 2)-sequence. */
    for (uint32_t m = 1; m <= 16; m++) {
        assert_int_equal(net_quality(v[0], v[1], m), 0);
    }
    /* The mean over the 2016 pairs at 2^8 points: Joe and Kuo's table has 2.4. */
    double sum = 0.0;
    for (uint32_t a = 0; a < 64; a++) {
        for (uint32_t b = 0; b < a; b++) {
            sum += (double)net_quality(v[a], v[b], 8);
        }
    }
    assert_true(sum / 2016.0 < 2.6);
}

/* Warnock's formula for the squared L2 star discrepancy. */
static double discrepancy(const double *points, uint32_t count, uint32_t d) {
    double first = 0.0;
    double second = 0.0;
    for (uint32_t i = 0; i < count; i++) {
        double single = 1.0;
        for (uint32_t j = 0; j < d; j++) {
            single *= 0.5 * (1.0 - points[i * d + j] * points[i * d + j]);
        }
        first += single;
        for (uint32_t k = 0; k < count; k++) {
            double pair = 1.0;
            for (uint32_t j = 0; j < d; j++) {
                pair *= 1.0 - fmax(points[i * d + j], points[k * d + j]);
            }
            second += pair;
        }
    }
    return pow(3.0, -(double)d) - 2.0 / count * first + second / count / count;
}

WEFT_TEST(discrepancy_is_low) {
    enum { COUNT = 255, D = 6 };
    static double points[COUNT * D];
    double random = 0.0;
    for (uint64_t seed = 0; seed < 8; seed++) {
        const struct weft_stream stream = weft_stream_of(seed, 0, WEFT_DRAW_SHIFT);
        for (uint64_t i = 0; i < (uint64_t)COUNT * D; i++) {
            points[i] = weft_sample_unit(stream, i);
        }
        random += discrepancy(points, COUNT, D) / 8.0;
    }
    for (int kind = WEFT_FEATURES_SOBOL; kind <= WEFT_FEATURES_HALTON; kind++) {
        for (int shift = 0; shift < 2; shift++) {
            struct weft_sequence sequence = begin((weft_features_sequence)kind, D, shift != 0);
            for (uint32_t i = 0; i < COUNT; i++) {
                weft_sequence_point(points + (size_t)i * D, &sequence, i + 1);
            }
            assert_true(discrepancy(points, COUNT, D) < random / 2.0);
            weft_sequence_end(&sequence);
        }
    }
}

WEFT_TEST(many_dimensions_are_distinct) {
    uint32_t *v = malloc((size_t)WEFT_FEATURES_MAX_COLUMNS * 32 * sizeof *v);
    weft_sobol_directions(v, WEFT_FEATURES_MAX_COLUMNS);
    for (uint32_t a = 0; a < WEFT_FEATURES_MAX_COLUMNS; a++) {
        for (uint32_t i = 0; i < 32; i++) {
            /* m_i is odd: the matrix is triangular, so points are a permutation of the cells. */
            assert_int_equal(v[(size_t)a * 32 + i] << i, 0x80000000U);
        }
        for (uint32_t b = 0; b < a; b++) {
            assert_memory_not_equal(v + (size_t)a * 32, v + (size_t)b * 32, 32 * sizeof *v);
        }
    }
    free(v);
}

/* ---- parameters ---- */

struct refusal {
    weft_features_params params;
    const char *name;
    const char *value;
    const char *range;
};

/* Behind kind, rows and columns what else is set. */
#define REFUSAL(field, found, expected, of, s, ...)                                  \
    {                                                                                \
        .params = {.kind = WEFT_FEATURES_##of, .rows = (s), .columns = __VA_ARGS__}, \
        .name = field, .value = found, .range = expected,                            \
    }

static const struct refusal refusals[] = {
    REFUSAL("rows", "is 0", "1 to 1048576", BASE, 0, 4),
    REFUSAL("rows", "1048577", "1 to 1048576", BASE, 1048577, 1),
    REFUSAL("columns", "is 0", "1 to 4096", ORF, 4, 0),
    REFUSAL("columns", "4097", "1 to 4096", ORF, 4, 4097),
    REFUSAL("rows", "1048576", "1 to 524288", BASE, 1048576, 4096),
    REFUSAL("norm", "is 1", "no such parameter", BASE, 4, 4, .norm = WEFT_FEATURES_NORM_SQRT),
    REFUSAL("norm", "is 2", "0 or 1", ORF, 4, 4, .norm = (weft_features_norm)2),
    REFUSAL("factors", "is 3", "no such parameter", SORF, 4, 4, .factors = 3),
    REFUSAL("factors", "is 17", "1 to 16", ROM, 4, 4, .factors = 17),
    REFUSAL("factors", "is 1", "2 to 16", S_HYBRID, 4, 4, .factors = 1),
    REFUSAL("rows", "is 5", "even", S_HYBRID, 5, 4),
    REFUSAL("budget", "is 1", "no such parameter", FASTFOOD, 5, 4, .budget = 1),
    REFUSAL("shift", "is 1", "no such parameter", SCRF, 5, 4, .shift = true),
    REFUSAL("budget", "is 8", "9 to 12", P_MODEL, 9, 4, .budget = 8),
    REFUSAL("budget", "is 13", "9 to 12", P_MODEL, 9, 4, .budget = 13),
    REFUSAL("sequence", "is 2", "0 (Sobol') or 1 (Halton)", QMC, 9, 4,
            .sequence = WEFT_FEATURES_NORMAL),
    REFUSAL("sequence", "is 3", "2 (normal draws)", MM, 9, 4,
            .sequence = (weft_features_sequence)3),
    REFUSAL("shift", "is 1", "no shift", MM, 9, 4, .sequence = WEFT_FEATURES_NORMAL, .shift = true),
    REFUSAL("rows", "is 4", "5 to 1048576", MM, 4, 4),
    REFUSAL("columns", "is 5", "even", SSF, 4, 5),
    REFUSAL("rows", "is 8", "not 9", SGQ, 8, 4),
    REFUSAL("rows", "is 1", "1 + 10 t", SSR, 1, 4),
    REFUSAL("rows", "is 10", "1 + 10 t", SSR, 10, 4),
    REFUSAL("columns", "is 1", "2 to 4096", SIMRF, 4, 1),
    REFUSAL("columns", "is 1", "2 to 4096", SIMRF_DEPENDENT, 4, 1),
    REFUSAL("sweeps", "is 65", "1 to 64", SIMRF_DEPENDENT, 4, 4, .sweeps = 65),
    REFUSAL("sweeps", "is 1", "no such parameter", SIMRF, 4, 4, .sweeps = 1),
    REFUSAL("rate", "is 0.5", "no such parameter", BASE, 4, 4, .rate = 0.5F),
    REFUSAL("rate", "is -1", "0.000976562 to 64", POISSON, 4, 4, .rate = -1.0F),
    REFUSAL("rate", "is 65", "0.000976562 to 64", POISSON, 4, 1, .rate = 65.0F),
    REFUSAL("rate", "nan", "to 64", POISSON, 4, 4, .rate = NAN),
    REFUSAL("factors", "is 3", "no such parameter", POISSON, 4, 4, .factors = 3),
    REFUSAL("rate", "is 0.06", "0.0625 to 0.9375", GEOMETRIC, 4, 4, .rate = 0.06F),
    REFUSAL("rate", "is 1", "0.0625 to 0.9375", GEOMETRIC, 4, 4, .rate = 1.0F),
};

WEFT_TEST_ON_HOST(bad_parameters_are_named, host) {
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        const struct refusal *r = &refusals[i];
        float w[4] = {7.0F, 7.0F, 7.0F, 7.0F};
        weft_features_structure structure;
        WEFT_EXPECT_REFUSED(host, WEFT_INVALID_ARGUMENT,
                            weft_features_fill(w, w + 2, &r->params, &host->host), r->name,
                            r->value, r->range, weft_features_name(r->params.kind));
        assert_int_equal(host->allocations, 0);
        for (int k = 0; k < 4; k++) {
            assert_true(w[k] == 7.0F);
        }
        assert_int_equal(weft_features_get_structure(&structure, &r->params, &host->host),
                         WEFT_INVALID_ARGUMENT);
    }
}

WEFT_TEST_ON_HOST(null_pointers_and_kinds, host) {
    const weft_host *h = &host->host;
    float w[64];
    uint32_t permutation[8] = {0, 1, 2, 3, 4, 5, 6, 8};
    float diagonals[24] = {0};
    const weft_features_params base = {.kind = WEFT_FEATURES_BASE, .rows = 2, .columns = 2};
    const weft_features_params sgq = {.kind = WEFT_FEATURES_SGQ, .rows = 5, .columns = 2};
    const weft_features_params fastfood = {.kind = WEFT_FEATURES_FASTFOOD, .rows = 8, .columns = 8};
    const weft_features_params none = {.kind = WEFT_FEATURES_KIND_COUNT, .rows = 2, .columns = 2};
#define EXPECT_REFUSED(call, ...) \
    WEFT_EXPECT_REFUSED(host, WEFT_INVALID_ARGUMENT, call, __VA_ARGS__)
    EXPECT_REFUSED(weft_features_fill(w, NULL, NULL, h), "params is null");
    EXPECT_REFUSED(weft_features_fill(NULL, NULL, &base, h), "w is null");
    EXPECT_REFUSED(weft_features_fill(w, NULL, &sgq, h), "weights is null", "sgq");
    EXPECT_REFUSED(weft_features_fill(w, NULL, &none, h), "kind is 17", "0 to 16");
    EXPECT_REFUSED(weft_features_get_structure(NULL, &base, h), "structure is null");
    EXPECT_REFUSED(weft_features_parts(w, NULL, &base, h), "kind is base", "dense");
    EXPECT_REFUSED(weft_features_parts(NULL, permutation, &fastfood, h), "diagonals is null");
    EXPECT_REFUSED(weft_features_parts(diagonals, NULL, &fastfood, h), "permutation is null");
    EXPECT_REFUSED(weft_features_expand(NULL, diagonals, permutation, &fastfood, h), "w is null");
    EXPECT_REFUSED(weft_features_expand(w, NULL, permutation, &fastfood, h), "diagonals is null");
    EXPECT_REFUSED(weft_features_expand(w, diagonals, NULL, &fastfood, h), "permutation is null");
    EXPECT_REFUSED(weft_features_expand(w, diagonals, permutation, &fastfood, h),
                   "permutation[7] is 8", "0 to 7");
    EXPECT_REFUSED(weft_features_expand(w, diagonals, permutation, &base, h), "dense");
#undef EXPECT_REFUSED
    assert_ok(weft_features_fill(w, NULL, &base, NULL));
    assert_non_null(weft_features_name((weft_features_kind)99));
}

WEFT_TEST_ON_HOST(a_singular_covariance_is_refused, host) {
    /* Without a shift, 65 points in 64 dimensions have coordinates in common. */
    static float w[65 * 64];
    WEFT_EXPECT_REFUSED(host, WEFT_INVALID_ARGUMENT,
                        weft_features_fill(w, NULL,
                                           weft_features_params(.kind = WEFT_FEATURES_MM,
                                                                .rows = 65, .columns = 64),
                                           &host->host),
                        "rows of mm is 65", "singular");
}

WEFT_TEST_ON_HOST(running_out_of_memory_is_an_error, host) {
    for (int k = 0; k < WEFT_FEATURES_KIND_COUNT; k++) {
        weft_features_params params = {.kind = (weft_features_kind)k, .columns = 4, .seed = 1};
        params.rows = rows_for(params.kind, 10, 4);
        params.shift = k == WEFT_FEATURES_QMC || k == WEFT_FEATURES_MM;
        if (k == WEFT_FEATURES_QMC) {
            params.sequence = WEFT_FEATURES_HALTON;
        }
        float w[24 * 4];
        float weights[24];
        weft_status status = WEFT_OUT_OF_HOST_MEMORY;
        while (weft_test_next_failure(host, status)) {
            status = weft_features_fill(w, weights, &params, &host->host);
            assert_int_equal(host->live, 0);
        }
        assert_true(host->failures > 0 || k == WEFT_FEATURES_SGQ || k >= WEFT_FEATURES_POISSON);
    }
}
