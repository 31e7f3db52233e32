/* SPDX-License-Identifier: MIT */
/* weft-test: one device */
/* The fits of weft bench: on points with known answers, on made-up rows, and on the memory of compiled plans. */
#include <math.h>

#include "bench/growth.h"
#include "bench/suites/mixers.h"
#include "support.h"

#define LENGTH_COUNT   6
#define MEMORY_BOUND   1.05
#define NEAR(a, b, by) assert_true(fabs((a) - (b)) <= (by))

static const uint32_t lengths[LENGTH_COUNT] = {512, 1024, 2048, 4096, 8192, 16384};

/* ---- the fit ---- */

WEFT_TEST(power_is_found_exactly) {
    weft_growth_point points[LENGTH_COUNT];
    for (uint32_t i = 0; i < LENGTH_COUNT; i++) {
        points[i] = (weft_growth_point){lengths[i], 3.0 * pow(lengths[i], 1.25)};
    }
    weft_growth fit = weft_growth_fit(points, LENGTH_COUNT);
    assert_int_equal(fit.count, LENGTH_COUNT);
    NEAR(fit.exponent, 1.25, 1e-12);
    NEAR(fit.standard_error, 0.0, 1e-7);
    NEAR(fit.offset, log(3.0), 1e-11);
    NEAR(fit.from, 512.0, 0.0);
    NEAR(fit.to, 16384.0, 0.0);
}

/* Logarithms (0, 0), (1, 1), (2, 3): slope 3/2, residuals 1/6, -1/3, 1/6, squares' sum 1/6, its root over 1 · 2. */
WEFT_TEST(standard_error_is_that_of_a_slope) {
    const weft_growth_point points[] = {{exp(2.0), exp(3.0)}, {1.0, 1.0}, {exp(1.0), exp(1.0)}};
    weft_growth fit = weft_growth_fit(points, 3);
    NEAR(fit.exponent, 1.5, 1e-14);
    NEAR(fit.standard_error, sqrt(1.0 / 12.0), 1e-14);
    NEAR(fit.offset, -1.0 / 6.0, 1e-14);
    NEAR(fit.from, 1.0, 0.0);
}

WEFT_TEST(too_few_points_have_no_exponent) {
    const weft_growth_point points[] = {{512.0, 2.0}, {1024.0, 8.0}, {2048.0, 0.0}};
    weft_growth two = weft_growth_fit(points, 3); /* without the one that has no logarithm */
    assert_int_equal(two.count, 2);
    NEAR(two.exponent, 2.0, 1e-12);
    assert_true(isnan(two.standard_error));
    assert_true(isnan(weft_growth_fit(points, 1).exponent));
    assert_true(isnan(weft_growth_fit(points, 0).exponent));
    assert_int_equal(weft_growth_fit(&points[2], 1).count, 0);
    const weft_growth_point same[] = {{512.0, 2.0}, {512.0, 3.0}};
    assert_true(isnan(weft_growth_fit(same, 2).exponent));
}

WEFT_TEST(times_are_continued_as_powers) {
    const weft_growth_point square[] = {{512.0, 2.0}, {1024.0, 8.0}};
    const weft_growth_point slow[] = {{512.0, 2.0}, {1024.0, 2.0}};
    NEAR(weft_growth_extrapolate(square, 2, 2048.0), 32.0, 1e-12);
    NEAR(weft_growth_extrapolate(square, 1, 2048.0), 8.0, 1e-12); /* linear: nothing is known */
    NEAR(weft_growth_extrapolate(slow, 2, 2048.0), 4.0, 1e-12);   /* at least linear */
    assert_true(isnan(weft_growth_extrapolate(square, 0, 2048.0)));
}

/* ---- the crossover ---- */

static weft_crossover cross(const double *values, const double *baseline, uint32_t count) {
    weft_growth_point a[LENGTH_COUNT];
    weft_growth_point b[LENGTH_COUNT];
    for (uint32_t i = 0; i < count; i++) {
        a[i] = (weft_growth_point){lengths[i], values[i]};
        b[i] = (weft_growth_point){lengths[i], baseline[i]};
    }
    return weft_crossover_find(a, count, b, count);
}

WEFT_TEST(crossover_is_interpolated) {
    weft_crossover at =
        cross((const double[]){4, 8, 16}, (const double[]){2, 16, 128}, 3); /* n against n³ */
    assert_int_equal(at.kind, WEFT_CROSSOVER_AT);
    NEAR(at.n, 512.0 * sqrt(2.0), 1e-9);
    NEAR(at.from, 512.0, 0.0);
    NEAR(at.to, 2048.0, 0.0);
    at = cross((const double[]){4, 8, 16}, (const double[]){2, 8, 32}, 3);
    assert_int_equal(at.kind, WEFT_CROSSOVER_AT);
    NEAR(at.n, 1024.0, 1e-9);
}

WEFT_TEST(the_last_crossover_counts) {
    weft_crossover at = cross((const double[]){1, 4, 1}, (const double[]){2, 2, 2}, 3);
    assert_int_equal(at.kind, WEFT_CROSSOVER_AT);
    NEAR(at.n, 1024.0 * sqrt(2.0), 1e-9);
    at = cross((const double[]){1, 1, 4}, (const double[]){2, 2, 2}, 3);
    assert_int_equal(at.kind, WEFT_CROSSOVER_NEVER);
    NEAR(at.to, 2048.0, 0.0);
    assert_true(isnan(at.n));
}

WEFT_TEST(crossover_may_lie_outside) {
    weft_crossover all = cross((const double[]){1, 2, 3}, (const double[]){2, 2, 4}, 3);
    assert_int_equal(all.kind, WEFT_CROSSOVER_ALWAYS);
    NEAR(all.from, 512.0, 0.0);
    const weft_growth_point one[] = {{512.0, 1.0}};
    const weft_growth_point other[] = {{1024.0, 1.0}, {2048.0, 1.0}};
    assert_int_equal(weft_crossover_find(one, 1, other, 2).kind, WEFT_CROSSOVER_UNKNOWN);
}

WEFT_TEST(only_common_lengths_count) {
    const weft_growth_point a[] = {{512.0, 4.0}, {1024.0, 8.0}, {2048.0, 16.0}};
    const weft_growth_point b[] = {{512.0, 2.0}, {2048.0, 32.0}};
    weft_crossover at = weft_crossover_find(a, 3, b, 2);
    assert_int_equal(at.kind, WEFT_CROSSOVER_AT);
    NEAR(at.n, 1024.0, 1e-9);
}

/* ---- rows ---- */

static weft_bench_row make_row(const weft_bench_case *bench_case, double median_ms) {
    return (weft_bench_row){.bench_case = bench_case,
                            .median_ms = median_ms,
                            .cpu_ms = median_ms * median_ms,
                            .info.arena_bytes = 256U * bench_case->length};
}

/* Two forms of dense attention, the first of which fails at the last length, and a mixer of 8 ms per 512. */
WEFT_TEST(rows_become_fits) {
    static const double times[3][3] = {{2, 8, 99}, {3, 7, 32}, {8, 16, 32}};
    static const char *const series[] = {"attention", "attention/full_band", "mixer"};
    weft_bench_case cases[10];
    weft_bench_row rows[10];
    for (uint32_t i = 0; i < 9; i++) {
        cases[i] = (weft_bench_case){.suite = "mixers",
                                     .series = series[i / 3],
                                     .length = lengths[i % 3],
                                     .dense = i < 6,
                                     .linear = i >= 6};
        rows[i] = make_row(&cases[i], times[i / 3][i % 3]);
    }
    rows[2].status = WEFT_BENCH_UNSUPPORTED;
    cases[9] = (weft_bench_case){.suite = "ops"};
    rows[9] = make_row(&cases[9], 5.0);

    weft_bench_fit *fits = NULL;
    uint32_t count = 0;
    assert_ok(weft_bench_fits(&fits, &count, rows, 10, NULL));
    assert_int_equal(count, 3);
    assert_int_equal(fits[0].time.count, 2);
    NEAR(fits[0].time.exponent, 2.0, 1e-12);
    assert_true(fits[0].dense && fits[1].dense && !fits[2].dense && fits[2].linear);
    assert_string_equal(fits[2].series, "mixer");
    NEAR(fits[2].time.exponent, 1.0, 1e-12);
    NEAR(fits[2].cpu_time.exponent, 2.0, 1e-12);
    NEAR(fits[2].memory.exponent, 1.0, 1e-12);
    assert_int_equal(fits[2].crossover.kind, WEFT_CROSSOVER_AT); /* dense: 2, 7, 32 */
    NEAR(fits[2].crossover.n, 2048.0, 1e-9);
    NEAR(fits[2].speedup, 1.0, 1e-12);
    NEAR(weft_bench_expected_ms(rows, 8, &cases[8]), 32.0, 1e-9); /* from 8 and 16 */
    assert_true(isnan(weft_bench_expected_ms(rows, 9, &cases[9])));
    weft_free(NULL, fits);
}

/* A suite of two widths: each is held against its own dense attention, of one length here. */
WEFT_TEST(widths_are_held_against_their_own) {
    static const double times[] = {2, 80, 1, 20};
    weft_bench_case cases[4];
    weft_bench_row rows[4];
    for (uint32_t i = 0; i < 4; i++) {
        cases[i] = (weft_bench_case){.suite = "mixers",
                                     .series = i < 2 ? "attention" : "mixer",
                                     .length = lengths[0],
                                     .width = i % 2 == 0 ? 64 : 512,
                                     .dense = i < 2};
        rows[i] = make_row(&cases[i], times[i]);
    }
    cases[1].series = "attention,d=512";
    cases[3].series = "mixer,d=512";
    weft_bench_fit *fits = NULL;
    uint32_t count = 0;
    assert_ok(weft_bench_fits(&fits, &count, rows, 4, NULL));
    assert_int_equal(count, 4);
    NEAR(fits[2].speedup, 2.0, 1e-12);
    NEAR(fits[3].speedup, 4.0, 1e-12);
    weft_free(NULL, fits);
}

/* ---- the cases of all suites ---- */

static weft_bench_scope scope_of(weft_bench_size size, bool lengths_given) {
    weft_bench_scope scope = {.size = size, .lengths_given = lengths_given};
    if (lengths_given) { /* the longest names */
        scope.lengths[0] = 1U << 23;
        scope.lengths[1] = 1U << 24;
        scope.length_count = 2;
    } else {
        weft_bench_default_lengths(&scope);
    }
    return scope;
}

static weft_bench_list all_cases(const weft_bench_scope *scope) {
    weft_bench_list all = {.host = NULL};
    const weft_bench_suite *suite;
    for (uint32_t i = 0; (suite = weft_bench_suite_at(i)); i++) {
        const uint32_t before = all.count;
        suite->add(&all, scope);
        assert_true(all.count > before);
        for (uint32_t k = before; k < all.count; k++) {
            assert_string_equal(all.cases[k].suite, suite->name);
        }
    }
    assert_ok(all.status);
    return all;
}

/* How many cases from this one on are of its series; 1 of none. */
static uint32_t length_of_series(const weft_bench_list *all, uint32_t first) {
    const weft_bench_case *one = &all->cases[first];
    uint32_t end = first + 1;
    while (one->series && end < all->count && all->cases[end].series &&
           strcmp(one->series, all->cases[end].series) == 0 &&
           strcmp(one->suite, all->cases[end].suite) == 0) {
        end++;
    }
    return end - first;
}

static int compare_cases(const void *a, const void *b) {
    const weft_bench_case *one = a;
    const weft_bench_case *other = b;
    const int suites = strcmp(one->suite, other->suite);
    return suites != 0 ? suites : strcmp(one->name, other->name);
}

static void check_names(weft_bench_list *list) {
    qsort(list->cases, list->count, sizeof *list->cases, compare_cases);
    for (uint32_t i = 0; i < list->count; i++) {
        const weft_bench_case *one = &list->cases[i];
        assert_true(strlen(one->name) + 1 < sizeof one->name); /* not cut */
        if (i > 0 && compare_cases(one - 1, one) == 0) {
            fail_msg("suite %s has two cases named %s", one->suite, one->name);
        }
    }
}

/* In every suite and size, with lengths given and without. */
WEFT_TEST(names_fit_and_differ) {
    for (uint32_t made = 0; made < 6; made++) {
        const weft_bench_scope scope = scope_of((weft_bench_size)(made % 3), made >= 3);
        weft_bench_list all = all_cases(&scope);
        check_names(&all);
        weft_bench_list_free(&all);
    }
}

/* A fit over the length needs all else the same, and rising lengths. */
WEFT_TEST(series_have_one_width) {
    const weft_bench_scope scope = scope_of(WEFT_BENCH_FULL, false);
    weft_bench_list all = all_cases(&scope);
    for (uint32_t i = 0; i < all.count; i++) {
        const weft_bench_case *one = &all.cases[i];
        if (length_of_series(&all, i) > 1) {
            assert_int_equal(one->width, (one + 1)->width);
            assert_true(one->length < (one + 1)->length);
        }
    }
    weft_bench_list_free(&all);
}

/* ---- the memory of plans ---- */

static uint64_t extra_bytes(weft_device *device, const weft_bench_case *bench_case) {
    weft_graph *graph = NULL;
    weft_plan *plan = NULL;
    weft_plan_info info;
    assert_ok(weft_graph_create(&graph, NULL));
    assert_ok(weft_bench_build(graph, bench_case, NULL));
    assert_ok(weft_plan_compile(&plan, device, graph,
                                weft_plan_params(.implementation = bench_case->implementation)));
    assert_ok(weft_plan_get_info(plan, &info));
    weft_plan_destroy(&plan);
    weft_graph_destroy(&graph);
    return info.arena_bytes;
}

/* Of `count` cases of a series. */
static weft_growth memory_growth(weft_device *device, const weft_bench_case *series,
                                 uint32_t count) {
    weft_growth_point points[WEFT_BENCH_MAX_LENGTHS];
    uint64_t sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t bytes = extra_bytes(device, &series[i]);
        points[i] = (weft_growth_point){series[i].length, (double)bytes};
        sum += bytes;
    }
    weft_growth fit = weft_growth_fit(points, count);
    /* All lengths have extra memory or none has: a fit of some would not tell how it grows. */
    assert_true(fit.count == count || sum == 0);
    return fit;
}

/* Every suite's, at the lengths of its full size. */
WEFT_TEST_ON_DEVICE(memory_of_linear_mixers_is_linear, test) {
    const weft_bench_scope scope = scope_of(WEFT_BENCH_FULL, false);
    weft_bench_list all = all_cases(&scope);
    uint32_t seen = 0;
    for (uint32_t i = 0, count; i < all.count; i += count) {
        const weft_bench_case *series = &all.cases[i];
        count = length_of_series(&all, i);
        if (!series->linear || series->compile || !series->series) {
            continue;
        }
        weft_growth fit = memory_growth(test->device, series, count);
        seen++;
        if (fit.count > 0 && !(fit.exponent <= MEMORY_BOUND)) {
            fail_msg("%s %s: extra memory grows as n^%.3f, more than %.2f", series->suite,
                     series->series, fit.exponent, MEMORY_BOUND);
        }
    }
    assert_true(seen >= 35);
    weft_bench_list_free(&all);
}

/* The bound above could not fail if this did not see scores. */
WEFT_TEST_ON_DEVICE(memory_of_scores_is_quadratic, test) {
    weft_bench_case series[4];
    for (uint32_t i = 0; i < 4; i++) {
        series[i] = weft_bench_mixer_case(0, lengths[i]);
        series[i].implementation = "scores";
    }
    assert_string_equal(series[0].series, "attention");
    NEAR(memory_growth(test->device, series, 4).exponent, 2.0, 0.01);
}
