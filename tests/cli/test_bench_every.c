/* SPDX-License-Identifier: MIT */
/* weft-test: slow one device */
/* weft bench runs whatever there is to run: every mixer, pair of spectra, family of models and step. */
#include <math.h>

#include "cli/bench_rows.h"

WEFT_TEST(every_mixer_runs) {
    json_t *report =
        run_json("", "bench --suite mixers --seconds 0.2 --filter /n=64,d=64 --lengths 64");
    size_t count = json_array_size(field(report, "rows"));
    assert_true(count >= 20);
    for (size_t i = 0; i < count; i++) {
        check_measured(row_of(report, i));
    }
    assert_int_equal(json_array_size(field(report, "fits")), count);
    for (size_t i = 0; i < count;
         i++) { /* one length: a crossover needs no more, an exponent does */
        const json_t *fit = json_array_get(field(report, "fits"), i);
        assert_true(json_is_null(field(fit, "time/exponent")));
        if (!json_is_null(field(fit, "crossover"))) {
            const char *kind = string_field(fit, "crossover/kind");
            assert_true(strcmp(kind, "below") == 0 || strcmp(kind, "never") == 0);
            assert_true(number_field(fit, "speedup") > 0.0);
        }
    }
    json_decref(report);
}

/* Every mixer with parameters of its own, such as each pair of spectra, runs at a small size. */
WEFT_TEST(every_pair_runs) {
    json_t *report = run_json("", "bench --suite spectra --size short --seconds 1 --lengths 64");
    const size_t count = json_array_size(field(report, "rows"));
    assert_true(count >= 20);
    for (size_t i = 0; i < count; i++) {
        check_measured(row_of(report, i));
    }
    json_decref(report);
}

/* Whole models of every family run, and count their tokens. */
WEFT_TEST(every_family_of_models_runs) {
    json_t *report = run_json("", "bench --suite models --size short --filter lra --seconds 0.01");
    const size_t count = json_array_size(field(report, "rows"));
    assert_true(count >= 10); /* families */
    for (size_t i = 0; i < count; i++) {
        const json_t *row = row_of(report, i);
        check_measured(row);
        const double tokens = number_field(row, "tokens_per_s") * number_field(row, "median_ms");
        assert_true(fabs(tokens / (1e3 * 512) - 1) < 1e-6);
    }
    json_decref(report);
}

/* Token n alone is timed: the shapes do not grow, but for the state of dense attention. */
WEFT_TEST(every_step_runs) {
    json_t *report = run_json("", "bench --suite decode --seconds 0.2 --lengths 64,128");
    size_t count = json_array_size(field(report, "rows"));
    assert_int_equal(count, 2 * 9);
    for (size_t i = 0; i < count; i++) {
        const json_t *row = row_of(report, i);
        check_measured(row);
        assert_int_equal(json_integer_value(json_array_get(field(row, "shape"), 1)), 1);
    }
    assert_int_equal(json_array_size(field(report, "fits")), 9);
    json_decref(report);
}
