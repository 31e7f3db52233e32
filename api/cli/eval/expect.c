/* SPDX-License-Identifier: MIT */
#include "eval/expect.h"

#include <math.h>
#include <stdio.h>

#include "members.h"

/* ---- reading ---- */

/* What the member with the outputs is called: logits, or of values one of two other names. */
static const char *outputs_member(const weft_cli_archive *archive, weft_cli_measure measure) {
    static const char *const others[] = {"outputs", "targets"};
    for (size_t index = 0; index < 2; index++) {
        if (measure == WEFT_CLI_MEASURE_VALUES && weft_npz_has(archive->npz, others[index])) {
            return others[index];
        }
    }
    return "logits";
}

static int read_outputs(weft_cli_expected *expected, const char *member, weft_cli_archive *archive,
                        const weft_cli_data *data, const weft_cli_session *session) {
    const weft_cli_member wanted = {.name = member,
                                    .values = WEFT_CLI_REALS,
                                    .axes = "NC",
                                    .shape = {data->example_count, session->info.label_count}};
    uint32_t shape[WEFT_CLI_MEMBER_RANK];
    return weft_cli_member_reals(&expected->outputs, shape, archive, &wanted);
}

/* The member `labels`, or the largest logits' indices where it is missing. */
static int read_labels(weft_cli_expected *expected, weft_cli_archive *archive,
                       const weft_cli_data *data, const weft_cli_session *session) {
    uint32_t count = data->example_count;
    uint32_t labels = session->info.label_count;
    const weft_cli_member wanted = {
        .name = "labels", .values = WEFT_CLI_INTEGERS, .axes = "N", .shape = {count}};
    uint32_t shape[WEFT_CLI_MEMBER_RANK];
    if (weft_npz_has(archive->npz, "labels")) {
        return weft_cli_member_integers(&expected->labels, shape, archive, &wanted);
    }
    expected->labels = weft_alloc_zero(archive->host, count, sizeof *expected->labels);
    if (!expected->labels) {
        return weft_cli_exit_code(weft_fail_memory(archive->host, archive->path));
    }
    for (uint32_t index = 0; index < count; index++) {
        expected->labels[index] =
            (int32_t)weft_cli_argmax(&expected->outputs[(size_t)index * labels], labels);
    }
    return WEFT_CLI_FINE;
}

int weft_cli_expected_load(weft_cli_expected *expected, const char *path, const weft_cli_data *data,
                           const weft_cli_session *session) {
    weft_cli_archive archive;
    weft_cli_measure measure = weft_cli_measure_of(session->info.task);
    *expected = (weft_cli_expected){.path = path};
    WEFT_CLI_TRY(weft_cli_archive_open(&archive, path, &session->host));
    int exit_code = WEFT_CLI_FINE;
    if (measure == WEFT_CLI_MEASURE_TOKENS) {
        bool other = weft_npz_has(archive.npz, "bits_per_token");
        exit_code = weft_cli_member_real(&expected->bits, &archive,
                                         other ? "bits_per_token" : "bits_per_byte");
    } else {
        exit_code =
            read_outputs(expected, outputs_member(&archive, measure), &archive, data, session);
    }
    if (exit_code == WEFT_CLI_FINE && measure == WEFT_CLI_MEASURE_LABELS) {
        exit_code = read_labels(expected, &archive, data, session);
    }
    weft_cli_archive_close(&archive);
    return exit_code;
}

void weft_cli_expected_clear(weft_cli_expected *expected, const weft_host *host) {
    weft_free(host, expected->outputs);
    weft_free(host, expected->labels);
    *expected = (weft_cli_expected){0};
}

/* ---- comparing ---- */

static void compare_outputs(weft_cli_comparison *comparison, const weft_cli_score *score,
                            const weft_cli_expected *expected) {
    double squares = 0.0;
    double size = 0.0;
    uint64_t count = (uint64_t)score->data->example_count * score->width;
    for (uint64_t index = 0; index < count; index++) {
        double theirs = (double)expected->outputs[index];
        double difference = fabs((double)score->outputs[index] - theirs);
        /* A NaN on either side must not pass for small. */
        if (!(difference <= comparison->largest)) {
            comparison->largest = isnan(difference) ? (double)INFINITY : difference;
        }
        squares += difference * difference;
        size += theirs * theirs;
    }
    comparison->relative = squares == 0.0 ? 0.0 : sqrt(squares / size);
}

static void compare_labels(weft_cli_comparison *comparison, const weft_cli_score *score,
                           const weft_cli_expected *expected) {
    for (uint32_t index = 0; index < score->data->example_count; index++) {
        const float *ours = &score->outputs[(size_t)index * score->width];
        if ((int32_t)weft_cli_argmax(ours, score->width) != expected->labels[index]) {
            comparison->first = comparison->different == 0 ? index : comparison->first;
            comparison->different++;
        }
    }
}

weft_cli_comparison weft_cli_compare(const weft_cli_score *score,
                                     const weft_cli_expected *expected) {
    weft_cli_comparison comparison = {0};
    if (score->measure == WEFT_CLI_MEASURE_TOKENS) {
        comparison.bits = weft_cli_bits_per_token(score) - expected->bits;
        return comparison;
    }
    compare_outputs(&comparison, score, expected);
    if (score->measure == WEFT_CLI_MEASURE_LABELS) {
        compare_labels(&comparison, score, expected);
    }
    return comparison;
}

/* A NaN is never within. */
static bool within(double difference) {
    return fabs(difference) <= WEFT_CLI_EXPECT_TOLERANCE;
}

bool weft_cli_comparison_holds(const weft_cli_comparison *comparison,
                               const weft_cli_expected *expected, const weft_cli_score *score) {
    switch (score->measure) {
    case WEFT_CLI_MEASURE_TOKENS:
        if (!within(comparison->bits)) {
            weft_cli_print(
                stderr,
                "weft: error: %.6f bits per token, but %s has %.6f: expected a difference of at "
                "most %g\n",
                weft_cli_bits_per_token(score), expected->path, expected->bits,
                WEFT_CLI_EXPECT_TOLERANCE);
        }
        return within(comparison->bits);
    case WEFT_CLI_MEASURE_VALUES:
        if (!within(comparison->relative)) {
            weft_cli_print(
                stderr,
                "weft: error: the outputs differ from those of %s by %.3g, relative: expected at "
                "most %g\n",
                expected->path, comparison->relative, WEFT_CLI_EXPECT_TOLERANCE);
        }
        return within(comparison->relative);
    case WEFT_CLI_MEASURE_LABELS:
        break;
    }
    if (comparison->different > 0) {
        weft_cli_print(stderr,
                       "weft: error: %u predicted labels differ from %s, the first at example %u\n",
                       comparison->different, expected->path, comparison->first);
    }
    return comparison->different == 0;
}

/* ---- reporting ---- */

json_t *weft_cli_comparison_json(const weft_cli_comparison *comparison,
                                 const weft_cli_expected *expected, const weft_cli_score *score) {
    if (!expected->path) {
        return json_null();
    }
    json_t *file = weft_cli_json_text(expected->path);
    switch (score->measure) {
    case WEFT_CLI_MEASURE_TOKENS:
        return json_pack("{s:o, s:o, s:o}", "file", file, "bits_per_token",
                         weft_cli_json_real(expected->bits), "bits_difference",
                         weft_cli_json_real(comparison->bits));
    case WEFT_CLI_MEASURE_VALUES:
        return json_pack("{s:o, s:o, s:o}", "file", file, "relative_difference",
                         weft_cli_json_real(comparison->relative), "max_difference",
                         weft_cli_json_real(comparison->largest));
    case WEFT_CLI_MEASURE_LABELS:
        break;
    }
    return json_pack("{s:o, s:I, s:o}", "file", file, "different_labels",
                     (json_int_t)comparison->different, "max_logit_difference",
                     weft_cli_json_real(comparison->largest));
}

void weft_cli_comparison_print(const weft_cli_comparison *comparison,
                               const weft_cli_expected *expected, const weft_cli_score *score) {
    switch (score->measure) {
    case WEFT_CLI_MEASURE_TOKENS:
        weft_cli_print(stdout, "%s: %.6f bits, difference %.3g\n", expected->path, expected->bits,
                       comparison->bits);
        break;
    case WEFT_CLI_MEASURE_VALUES:
        weft_cli_print(stdout, "%s: relative difference %.3g, largest difference %.3g\n",
                       expected->path, comparison->relative, comparison->largest);
        break;
    case WEFT_CLI_MEASURE_LABELS:
        weft_cli_print(stdout, "%s: %u labels differ, largest logit difference %.3g\n",
                       expected->path, comparison->different, comparison->largest);
        break;
    }
}
