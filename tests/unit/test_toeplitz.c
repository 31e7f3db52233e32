/* SPDX-License-Identifier: MIT */
/* weft-test: slow one driver */
/* What is known of the Toeplitz operators without computing them. */
#include <math.h>

#include "core/math/philox.h"
#include "support_reference.h"
#include "support_sheet.h"

#define TEST(name, f) WEFT_TEST_WITH(name, struct weft_test_graph *f, NULL, NULL)

/* What must fail is added to the graph of the fixture, which is never compiled. */
WEFT_TEST_GROUP(weft_test_graph_set_up_cached, weft_test_graph_tear_down);

/* ---- running an operator ---- */

enum op { TOEPLITZ, TOEPLITZ_FD };

struct problem {
    enum op op;
    const char *implementation;
    bool causal;
    bool given; /* kernel and decay are inputs, and not weights */
    uint32_t batch, n, d;
    uint32_t rows, columns; /* of the kernel: coefficients or response */
    float *kernel;
    float *decay; /* [d] or null */
};

/* What decides which implementations can run it. */
struct shape {
    enum op op;
    uint32_t n, d, batch;
    bool causal;
};

/* With a coefficient for each lag, or a response over n points; decay, or null, is of coefficients alone. */
static struct problem problem_of(const struct shape *shape, const char *implementation,
                                 float *decay) {
    bool is_fd = shape->op == TOEPLITZ_FD;
    return (struct problem){.op = shape->op,
                            .implementation = implementation,
                            .causal = shape->causal,
                            .batch = shape->batch,
                            .n = shape->n,
                            .d = shape->d,
                            .rows = is_fd           ? shape->n + 1
                                    : shape->causal ? shape->n
                                                    : 2 * shape->n - 1,
                            .columns = is_fd && !shape->causal ? 2 * shape->d : shape->d,
                            .decay = is_fd ? NULL : decay};
}

/* The result of the operator on x. */
static weft_tensor begin(struct weft_test_run *r, struct weft_test_graph *f,
                         const struct problem *p, float *x) {
    const bool is_fd = p->op == TOEPLITZ_FD;
    const struct weft_test_mix mix = {
        .sheet = is_fd ? &weft_sheet_toeplitz_fd : &weft_sheet_toeplitz,
        .sizes = {p->batch, p->n, 1, p->d,
                  .reach = is_fd       ? p->rows - 1
                           : p->causal ? p->rows
                                       : (p->rows + 1) / 2},
        .params = is_fd ? (const void *)weft_toeplitz_fd_params(.causal = p->causal)
                        : (const void *)weft_toeplitz_params(.causal = p->causal),
        .x = {x, p->kernel, p->decay},
        .feeds_weights = p->given};
    return weft_test_mix_begin(r, f->device, &mix);
}

static weft_plan *compile(struct weft_test_graph *f, const struct problem *problem) {
    struct weft_test_run r;
    weft_tensor y = begin(&r, f, problem, NULL);
    return weft_test_plan_to(&r, "y", y, problem->implementation);
}

static void run(struct weft_test_graph *f, const struct problem *problem, float *x, float *y) {
    struct weft_test_run r;
    weft_tensor out = begin(&r, f, problem, x);
    weft_test_take(&r, "y", out, y);
    weft_test_execute(&r, problem->implementation);
}

static float *uniform(uint64_t count, uint64_t stream) {
    return weft_test_uniform(count, 2026, stream);
}

static float *zeros(uint64_t count) {
    float *data = calloc((size_t)count, sizeof *data);
    assert_non_null(data);
    return data;
}

/* Gives the problem a kernel, to be freed. */
static float *add_kernel(struct problem *problem, uint64_t stream) {
    float *kernel = uniform((uint64_t)problem->rows * problem->columns, stream);
    problem->kernel = kernel;
    return kernel;
}

#define IMPLEMENTATIONS 3
static const char *const implementations[IMPLEMENTATIONS] = {"direct", "fft_shared", "fft"};

/* ---- identity and shifts ---- */

/* t(lag) = 1 and nothing else: y[i] = x[i - lag]. `lag` may be negative. */
static void check_shift(struct weft_test_graph *f, struct problem problem, int32_t lag) {
    uint64_t size = (uint64_t)problem.n * problem.d;
    float *x = uniform(size * problem.batch, 1);
    float *y = zeros(size * problem.batch);
    double *expected = calloc((size_t)(size * problem.batch), sizeof *expected);
    problem.columns = problem.d;
    problem.rows = problem.causal ? problem.n : 2 * problem.n - 1;
    float *kernel = zeros((uint64_t)problem.rows * problem.columns);
    int32_t row = lag + (problem.causal ? 0 : (int32_t)problem.n - 1);
    for (uint32_t channel = 0; channel < problem.d; channel++) {
        kernel[(uint64_t)row * problem.d + channel] = 1.0F;
    }
    problem.kernel = kernel;
    for (uint32_t b = 0; b < problem.batch; b++) {
        for (int64_t i = 0; i < problem.n; i++) {
            for (uint32_t channel = 0; channel < problem.d; channel++) {
                int64_t j = i - lag;
                expected[b * size + (uint64_t)i * problem.d + channel] =
                    j < 0 || j >= problem.n
                        ? 0.0
                        : (double)x[b * size + (uint64_t)j * problem.d + channel];
            }
        }
    }
    run(f, &problem, x, y);
    bool exact = problem.implementation && strcmp(problem.implementation, "direct") == 0;
    weft_test_expect_near("y", y, expected, size * problem.batch, exact ? 0.0 : 1e-6);
    free(kernel);
    free(expected);
    free(x);
    free(y);
}

TEST(test_identity_and_shift, f) {
    for (uint32_t i = 0; i < IMPLEMENTATIONS; i++) {
        struct problem problem = {
            .implementation = implementations[i], .batch = 2, .n = 19, .d = 5};
        check_shift(f, problem, 0);
        check_shift(f, problem, 1);
        check_shift(f, problem, -1);
        check_shift(f, problem, 18);
        check_shift(f, problem, -18);
        problem.causal = true;
        check_shift(f, problem, 0);
        check_shift(f, problem, 1);
        check_shift(f, problem, 18);
    }
}

/* 80,000 rows are more than one slab of the convolution can have; the second repeats some of the first. */
TEST(test_slabs, f) {
    struct problem problem = {.implementation = "fft", .batch = 2, .n = 3, .d = 40000};
    check_shift(f, problem, 1);
    check_shift(f, problem, -2);
}

/* ---- causality ---- */

struct causal_case {
    enum op op;
    const char *implementation;
    uint32_t n;
    double leak; /* of a later change into earlier results, relative to it */
};

/* A change at position p changes nothing before p. */
static void check_causality(struct weft_test_graph *f, const struct causal_case *c) {
    const uint32_t d = 3;
    uint32_t grid = c->n + 5; /* a power of two where fft_shared is asked for */
    struct problem problem =
        problem_of(&(struct shape){c->op, c->n, d, 1, true}, c->implementation, NULL);
    problem.rows = c->op == TOEPLITZ ? c->n : grid + 1;
    float *kernel = add_kernel(&problem, 2);
    uint64_t count = (uint64_t)c->n * d;
    float *x = uniform(count, 3);
    float *before = zeros(count);
    float *after = zeros(count);
    struct weft_test_run r;
    weft_tensor y = begin(&r, f, &problem, x);
    weft_test_take(&r, "y", y, after);
    weft_plan *plan = weft_test_plan(&r, c->implementation);
    assert_ok(weft_plan_execute(plan, r.tensors, r.count));
    memcpy(before, after, count * sizeof *before);
    const uint32_t positions[] = {1, c->n / 2, c->n - 1};
    for (uint32_t i = 0; i < 3; i++) {
        uint64_t changed = (uint64_t)positions[i] * d;
        float old = x[changed];
        x[changed] = old + 16.0F;
        assert_ok(weft_plan_execute(plan, r.tensors, r.count));
        x[changed] = old;
        for (uint64_t k = 0; k < changed; k++) {
            assert_true(fabs((double)after[k] - (double)before[k]) <= c->leak * 16.0);
        }
        /* The change itself arrives: by 16 t(0), whatever that is. */
        assert_true(fabsf(after[changed] - before[changed]) > 1e-3F);
    }
    weft_plan_destroy(&plan);
    free(kernel);
    free(x);
    free(before);
    free(after);
}

TEST(test_causality, f) {
    const struct causal_case cases[] = {
        {TOEPLITZ, "direct", 7, 0.0},          {TOEPLITZ, "direct", 77, 0.0},
        {TOEPLITZ, "direct", 300, 0.0},        {TOEPLITZ, "fft", 7, 1e-6},
        {TOEPLITZ, "fft", 300, 1e-6},          {TOEPLITZ, "fft_shared", 7, 1e-6},
        {TOEPLITZ, "fft_shared", 300, 1e-6},   {TOEPLITZ, "fft_shared", 1024, 1e-6},
        {TOEPLITZ_FD, "fft", 7, 1e-6},         {TOEPLITZ_FD, "fft", 300, 1e-6},
        {TOEPLITZ_FD, "fft_shared", 11, 1e-6}, {TOEPLITZ_FD, "fft_shared", 251, 1e-6}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        check_causality(f, &cases[i]);
    }
}

/*
 * By the spectrum: the operator's answer to an impulse at 0 is its kernel, whose Fourier transform has the given real
 * part, less the share of lag N, which no sequence of N elements reaches.
 */
TEST(test_causal_spectrum, f) {
    enum { GRID = 48, D = 2 };
    const double pi = 3.14159265358979323846;
    struct problem problem = problem_of(&(struct shape){TOEPLITZ_FD, GRID, D, 1, true}, NULL, NULL);
    float *response = add_kernel(&problem, 4);
    float *x = zeros(GRID * D);
    float *kernel = zeros(GRID * D);
    for (uint32_t c = 0; c < D; c++) {
        x[c] = 1.0F;
    }
    run(f, &problem, x, kernel);
    for (uint32_t c = 0; c < D; c++) {
        double last = (double)response[c] + (double)response[GRID * D + c]; /* N even */
        for (uint32_t m = 1; m < GRID; m++) {
            last += 2.0 * (m % 2 == 0 ? 1.0 : -1.0) * (double)response[m * D + c];
        }
        last /= 2.0 * GRID; /* the even kernel at lag N */
        for (uint32_t m = 0; m <= GRID; m++) {
            double real = m % 2 == 0 ? last : -last;
            for (uint32_t k = 0; k < GRID; k++) {
                real += (double)kernel[k * D + c] * cos(pi * m * k / GRID);
            }
            assert_true(fabs(real - (double)response[m * D + c]) < 1e-5);
        }
    }
    free(response);
    free(x);
    free(kernel);
}

/* The imaginary parts at the frequencies 0 and π count as 0, whatever they are. */
TEST(test_forced_imaginary_parts, f) {
    enum { GRID = 21, D = 3 };
    struct problem problem =
        problem_of(&(struct shape){TOEPLITZ_FD, GRID, D, 1, false}, NULL, NULL);
    float *response = add_kernel(&problem, 5);
    float *x = uniform(GRID * D, 6);
    float *with = zeros(GRID * D);
    float *without = zeros(GRID * D);
    run(f, &problem, x, with);
    for (uint32_t c = 0; c < D; c++) {
        response[D + c] = NAN;
        response[GRID * 2 * D + D + c] = 1e30F;
    }
    run(f, &problem, x, without);
    assert_memory_equal(with, without, GRID * D * sizeof *with);
    free(response);
    free(x);
    free(with);
    free(without);
}

/* ---- decay ---- */

/* With a decay that leaves nothing of the other lags only t(0), which has none, is left. */
TEST(test_lag_zero_is_undecayed, f) {
    enum { N = 9, D = 2 };
    float decay[D] = {1e-38F, 1e-38F};
    struct problem problem = problem_of(&(struct shape){TOEPLITZ, N, D, 1, false}, NULL, decay);
    float *kernel = add_kernel(&problem, 7);
    float *x = uniform(N * D, 8);
    float *y = zeros(N * D);
    double expected[N * D];
    for (uint32_t i = 0; i < N * D; i++) {
        expected[i] = (double)kernel[(N - 1) * D + i % D] * (double)x[i];
    }
    for (uint32_t i = 0; i < IMPLEMENTATIONS; i++) {
        problem.implementation = implementations[i];
        run(f, &problem, x, y);
        weft_test_expect_near("y", y, expected, N * D, 1e-6);
    }
    free(kernel);
    free(x);
    free(y);
}

/* ---- kernels that are made once ---- */

static bool has_kernel(const weft_plan *plan, const char *shader) {
    weft_dispatch_info info;
    for (uint32_t i = 0; weft_plan_get_dispatch(plan, i, &info) == WEFT_OK; i++) {
        if (strcmp(info.kernel, shader) == 0) {
            return true;
        }
    }
    return false;
}

struct once_case {
    enum op op;
    const char *implementation;
    const char *shader; /* of what is made of the kernel */
    bool causal, decay;
};

/* A weight's kernel is not made in the plan, an input's is, and both give the same bits. */
static void check_once(struct weft_test_graph *f, const struct once_case *c) {
    const uint32_t n = 21;
    const uint32_t d = 4;
    float decay[] = {0.999F, 1.0F, 0.5F, 0.875F};
    struct problem problem = problem_of(&(struct shape){c->op, n, d, 2, c->causal},
                                        c->implementation, c->decay ? decay : NULL);
    problem.rows = c->op == TOEPLITZ_FD ? 32 + 1 : problem.rows;
    float *kernel = add_kernel(&problem, 9);
    uint64_t count = (uint64_t)problem.batch * n * d;
    float *x = uniform(count, 10);
    float *y[2];
    for (uint32_t given = 0; given < 2; given++) {
        y[given] = zeros(count);
        problem.given = given != 0;
        struct weft_test_run r;
        weft_tensor out = begin(&r, f, &problem, x);
        weft_test_take(&r, "y", out, y[given]);
        weft_plan *plan = weft_test_plan(&r, c->implementation);
        assert_int_equal(has_kernel(plan, c->shader), given);
        assert_ok(weft_plan_execute(plan, r.tensors, r.count));
        weft_plan_destroy(&plan);
    }
    assert_memory_equal(y[0], y[1], count * sizeof(float));
    free(y[0]);
    free(y[1]);
    free(x);
    free(kernel);
}

TEST(test_constant_kernels_are_made_once, f) {
    const struct once_case cases[] = {
        {TOEPLITZ, "fft", "toeplitz/circulant", false, false},
        {TOEPLITZ, "fft", "toeplitz/circulant", true, true},
        {TOEPLITZ, "direct", "toeplitz/decay", false, true},
        {TOEPLITZ, "direct", "toeplitz/decay", true, true},
        {TOEPLITZ, "fft_shared", "toeplitz/shared_spectrum", false, false},
        {TOEPLITZ, "fft_shared", "toeplitz/shared_spectrum", true, true},
        {TOEPLITZ_FD, "fft", "toeplitz_fd/response", false, false},
        {TOEPLITZ_FD, "fft", "toeplitz_fd/causal", true, false},
        {TOEPLITZ_FD, "fft_shared", "toeplitz_fd/shared_spectrum", false, false},
        {TOEPLITZ_FD, "fft_shared", "toeplitz_fd/causal", true, false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        check_once(f, &cases[i]);
    }
}

/* ---- in shared memory ---- */

static void check_agreement(struct weft_test_graph *f, const struct shape *c) {
    float decay[] = {0.999F, 1.0F, 0.97F, 0.5F, 0.9F};
    struct problem problem = problem_of(c, "fft_shared", decay);
    uint64_t count = (uint64_t)c->batch * c->n * c->d;
    float *kernel = add_kernel(&problem, 20);
    float *x = uniform(count, 21);
    float *y = zeros(count);
    double *expected = calloc((size_t)count, sizeof *expected);
    assert_non_null(expected);
    run(f, &problem, x, y);
    for (uint64_t i = 0; i < count; i++) {
        expected[i] = (double)y[i];
    }
    for (uint32_t i = c->op == TOEPLITZ_FD ? 2 : 0; i < IMPLEMENTATIONS; i++) {
        problem.implementation = implementations[i];
        run(f, &problem, x, y);
        weft_test_expect_near("y", y, expected, count, 1e-6);
    }
    free(kernel);
    free(x);
    free(y);
    free(expected);
}

TEST(test_implementations_agree, f) {
    const struct shape cases[] = {
        {TOEPLITZ, 1, 1, 2, false},       {TOEPLITZ, 2, 5, 1, true},
        {TOEPLITZ, 3, 5, 2, false},       {TOEPLITZ, 4, 3, 1, false},
        {TOEPLITZ, 5, 5, 3, true},        {TOEPLITZ, 97, 5, 2, false},
        {TOEPLITZ, 509, 5, 1, true},      {TOEPLITZ, 1024, 3, 2, false},
        {TOEPLITZ, 2048, 2, 1, true},     {TOEPLITZ_FD, 4, 5, 2, false},
        {TOEPLITZ_FD, 8, 3, 1, true},     {TOEPLITZ_FD, 128, 5, 2, true},
        {TOEPLITZ_FD, 1024, 3, 1, false}, {TOEPLITZ_FD, 2048, 2, 1, true}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        check_agreement(f, &cases[i]);
    }
}

/* How many channels share a workgroup shows in no bit: those of d channels one by one are those of all at once. */
TEST(test_grouping_shows_in_no_bit, f) {
    enum { N = 50, D = 21 };
    struct problem problem =
        problem_of(&(struct shape){TOEPLITZ, N, D, 1, true}, "fft_shared", NULL);
    float *kernel = add_kernel(&problem, 22);
    float *x = uniform(N * D, 23);
    float *all = zeros(N * D);
    run(f, &problem, x, all);
    for (uint32_t c = 0; c < D; c += 4) {
        float own_kernel[N];
        float own_x[N];
        float own[N];
        for (uint32_t i = 0; i < N; i++) {
            own_kernel[i] = kernel[i * D + c];
            own_x[i] = x[i * D + c];
        }
        problem.d = 1;
        problem.columns = 1;
        problem.kernel = own_kernel;
        run(f, &problem, own_x, own);
        for (uint32_t i = 0; i < N; i++) {
            assert_memory_equal(&own[i], &all[i * D + c], sizeof(float));
        }
    }
    free(kernel);
    free(x);
    free(all);
}

/* Dispatches and intermediate memory of a plan. */
static void expect_plan(struct weft_test_graph *f, const struct problem *problem,
                        uint32_t dispatches, uint64_t arena_bytes) {
    struct weft_test_run r;
    weft_tensor y = begin(&r, f, problem, NULL);
    const weft_plan_info info = weft_test_info_of(&r, y, problem->implementation);
    assert_int_equal(info.dispatches, dispatches);
    assert_int_equal(info.arena_bytes, arena_bytes);
}

/* Of weights nothing is left to do but the convolution; otherwise the spectrum, 2 or 4 n floats per channel. */
TEST(test_one_dispatch, f) {
    float decay[] = {0.999F, 1.0F, 0.97F, 0.5F};
    const struct shape cases[] = {{TOEPLITZ, 64, 4, 3, false},
                                  {TOEPLITZ, 1000, 4, 2, true},
                                  {TOEPLITZ_FD, 64, 4, 2, false},
                                  {TOEPLITZ_FD, 256, 4, 1, true}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct problem problem = problem_of(&cases[i], "fft_shared", decay);
        float *kernel = add_kernel(&problem, 24);
        expect_plan(f, &problem, 1, 0);
        problem.given = true;
        if (cases[i].op == TOEPLITZ) {
            uint64_t length = cases[i].n <= 64 ? 128 : 2048;
            expect_plan(f, &problem, 2, length * 4 * sizeof(float));
        }
        free(kernel);
    }
}

/* What reproducible mode takes, by the shader that gives it away. */
TEST(test_choice, f) {
    const struct {
        struct shape shape;
        const char *shader;
    } cases[] = {{{TOEPLITZ, 96, 1, 1, false}, "toeplitz/direct"},
                 {{TOEPLITZ, 97, 1, 1, false}, "convolution/shared"},
                 {{TOEPLITZ, 192, 1, 1, true}, "toeplitz/direct"},
                 {{TOEPLITZ, 193, 1, 1, true}, "convolution/shared"},
                 {{TOEPLITZ, 2048, 1, 1, false}, "convolution/shared"},
                 {{TOEPLITZ, 2049, 1, 1, true}, "convolution/crop"},
                 {{TOEPLITZ_FD, 2, 1, 1, false}, "convolution/crop"},
                 {{TOEPLITZ_FD, 4, 1, 1, false}, "convolution/shared"},
                 {{TOEPLITZ_FD, 31, 1, 1, false}, "convolution/crop"},
                 {{TOEPLITZ_FD, 2048, 1, 1, true}, "convolution/shared"},
                 {{TOEPLITZ_FD, 4096, 1, 1, false}, "convolution/crop"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct problem problem = problem_of(&cases[i].shape, NULL, NULL);
        float *kernel = add_kernel(&problem, 25);
        weft_plan *plan = compile(f, &problem);
        if (!has_kernel(plan, cases[i].shader)) {
            fail_msg("case %zu is not by %s", i, cases[i].shader);
        }
        weft_plan_destroy(&plan);
        free(kernel);
    }
}

static void expect_refusal(struct weft_test_graph *f, const struct shape *c, const char *shape,
                           const char *limit) {
    struct problem problem = problem_of(c, "fft_shared", NULL);
    float *kernel = add_kernel(&problem, 26);
    struct weft_test_run r;
    weft_tensor y = begin(&r, f, &problem, NULL);
    WEFT_EXPECT_NO_PLAN(f, &r, y, problem.implementation, WEFT_UNSUPPORTED, "by fft_shared", shape,
                        limit);
    free(kernel);
}

TEST(test_limits_of_shared_memory, f) {
    expect_refusal(f, &(struct shape){TOEPLITZ, 2049, 1, 1, true}, "[1, 2049, 1]", "n up to 2048");
    expect_refusal(f, &(struct shape){TOEPLITZ_FD, 48, 2, 1, true}, "[1, 48, 2]",
                   "power of two from 4 to 2048");
    expect_refusal(f, &(struct shape){TOEPLITZ_FD, 2, 2, 1, false}, "[1, 2, 2]",
                   "power of two from 4 to 2048");
    expect_refusal(f, &(struct shape){TOEPLITZ_FD, 4096, 2, 1, true}, "[1, 4096, 2]",
                   "power of two from 4 to 2048");
}

/* A NaN spoils its own channel and sequence alone. */
TEST(test_channels_are_separate, f) {
    enum { B = 2, N = 20, D = 3 };
    struct problem problem = problem_of(&(struct shape){TOEPLITZ, N, D, B, false}, NULL, NULL);
    float *kernel = add_kernel(&problem, 11);
    float *x = uniform(B * N * D, 12);
    float *clean = zeros(B * N * D);
    float *spoilt = zeros(B * N * D);
    for (uint32_t i = 0; i < IMPLEMENTATIONS; i++) {
        problem.implementation = implementations[i];
        const uint32_t at = 7 * D + 1;
        float old = x[at];
        run(f, &problem, x, clean);
        x[at] = NAN;
        run(f, &problem, x, spoilt);
        x[at] = old;
        for (uint32_t k = 0; k < B * N * D; k++) {
            uint32_t word;
            memcpy(&word, &spoilt[k], sizeof word);
            if (k < N * D && k % D == 1) {
                assert_int_equal(word, 0x7fc00000);
            } else {
                assert_memory_equal(&spoilt[k], &clean[k], sizeof word);
            }
        }
    }
    free(kernel);
    free(x);
    free(clean);
    free(spoilt);
}
