/* SPDX-License-Identifier: MIT */
#include "bench/verify.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/graph.h"
#include "core/philox.h"
#include "verify/conformance.h"

const char *weft_bench_verified_by_name(weft_bench_verified_by by) {
    static const char *const names[] = {"none", "float64", "hash", "reproducible"};
    return names[by];
}

/* ---- which tokens ---- */

/** Puts a token into its place, unless it is there. */
static void add_row(uint32_t *rows, uint32_t *count, uint32_t row) {
    uint32_t at = *count;
    while (at > 0 && rows[at - 1] >= row) {
        at--;
    }
    if (at < *count && rows[at] == row) {
        return;
    }
    memmove(&rows[at + 1], &rows[at], (*count - at) * sizeof *rows);
    rows[at] = row;
    ++*count;
}

uint32_t weft_bench_sample_rows(uint32_t rows[WEFT_BENCH_REFERENCE_ROWS], uint32_t n) {
    uint32_t count = 0;
    if (n <= WEFT_BENCH_REFERENCE_ROWS) {
        for (; count < n; count++) {
            rows[count] = count;
        }
        return count;
    }
    const uint32_t chosen[] = {0, n - 1, n < 64 ? 1 : 63, n < 65 ? 2 : 64, n / 2 - 1, n / 2};
    for (uint32_t i = 0; i < sizeof chosen / sizeof chosen[0]; i++) {
        add_row(rows, &count, chosen[i]);
    }
    for (uint64_t i = 0; count < WEFT_BENCH_REFERENCE_ROWS; i++) {
        add_row(rows, &count, weft_philox_u32(WEFT_BENCH_SEED, n, i) % n);
    }
    return count;
}

/* ---- float64 ---- */

/** What the sequences that were compared add up to. */
struct sums {
    double error, size;       /* squares */
    double worst;             /* the largest relative error of a token */
    uint32_t sequence, token; /* it is this one's */
    uint32_t rows;
};

static void compare(struct sums *sums, const weft_bench_reference *ref, const float *output) {
    for (uint32_t r = 0; r < ref->rows.count; r++) {
        const uint64_t token = (uint64_t)ref->sequence * ref->n + ref->rows.at[r];
        const float *found = output + token * ref->width;
        const double *expected = ref->expected + (uint64_t)r * ref->width;
        double error = 0.0;
        double size = 0.0;
        for (uint32_t c = 0; c < ref->width; c++) {
            const double difference = (double)found[c] - expected[c];
            error += difference * difference;
            size += expected[c] * expected[c];
        }
        const double relative = error > 0.0 ? sqrt(error / size) : 0.0;
        if (sums->rows == 0 || relative > sums->worst || isnan(error)) {
            sums->worst = isnan(error) ? INFINITY : relative;
            sums->sequence = ref->sequence;
            sums->token = ref->rows.at[r];
        }
        sums->error += error;
        sums->size += size;
        sums->rows++;
    }
}

/** Sequence `index` of the case: its reference, if that is not too expensive, and the comparison. */
static void check_sequence(struct sums *sums, weft_bench_reference *ref,
                           const weft_bench_case *bench_case, const float *output, uint32_t index) {
    uint32_t rows[WEFT_BENCH_REFERENCE_ROWS];
    ref->rows = (weft_bench_rows){.at = rows, .count = weft_bench_sample_rows(rows, ref->n)};
    ref->sequence = index;
    ref->expected = weft_bench_reference_array(ref, (uint64_t)ref->rows.count * ref->width);
    if (ref->expected) {
        bench_case->reference(ref, bench_case);
    }
    if (weft_bench_reference_spend(ref, 0.0)) {
        compare(sums, ref, output);
    }
    weft_bench_reference_end(ref);
    ref->rows = (weft_bench_rows){0};
    ref->expected = NULL;
}

const weft_bench_view *weft_bench_first_output(const weft_bench_outcome *outcome) {
    for (uint32_t i = 0; i < outcome->port_count; i++) {
        if (outcome->ports[i].info.is_output) {
            return &outcome->ports[i];
        }
    }
    return NULL;
}

/** How an output [B, n, channels] is taken apart; one of another rank is a sequence of rows. */
static void set_shape(weft_bench_reference *ref, const weft_shape *shape) {
    ref->width = shape->dim[shape->rank - 1];
    ref->sequences = shape->rank == 3 ? shape->dim[0] : 1;
    ref->n = (uint32_t)(weft_shape_elements(*shape) / ref->width / ref->sequences);
}

static void judge(weft_bench_verification *result, const struct sums *sums, double tolerance) {
    result->by = WEFT_BENCH_BY_FLOAT64;
    result->rows = sums->rows;
    result->tolerance = tolerance;
    result->rel_l2 = sums->error > 0.0 ? sqrt(sums->error / sums->size) : 0.0;
    result->rel_l2 = isnan(sums->error) ? (double)NAN : result->rel_l2;
    if (!(result->rel_l2 <= tolerance)) {
        result->wrong = true;
        snprintf(result->reason, sizeof result->reason,
                 "the output is wrong: against float64, relative L2 is %.3g and %.3g is allowed; "
                 "worst is token %u of sequence %u, with %.3g",
                 result->rel_l2, tolerance, sums->token, sums->sequence, sums->worst);
    }
}

/** The first sequence and the last. */
static weft_status check_float64(weft_bench_verification *result, const weft_bench_case *bench_case,
                                 const weft_bench_outcome *outcome, const weft_host *host) {
    const weft_bench_view *output = weft_bench_first_output(outcome);
    const double limit = outcome->limit > 0.0 ? outcome->limit : WEFT_BENCH_REFERENCE_LIMIT;
    weft_bench_reference ref = {.host = host ? *host : (weft_host){0},
                                .bench_case = bench_case,
                                .ports = outcome->ports,
                                .port_count = outcome->port_count,
                                .tolerance = WEFT_TOLERANCE_LINEAR,
                                .limit = limit};
    struct sums sums = {.worst = 0.0};
    set_shape(&ref, &output->info.shape);
    check_sequence(&sums, &ref, bench_case, output->data, 0);
    if (ref.sequences > 1 && weft_bench_reference_spend(&ref, 0.0)) {
        check_sequence(&sums, &ref, bench_case, output->data, ref.sequences - 1);
    }
    if (ref.status == WEFT_OK && ref.operations > ref.limit) {
        snprintf(result->reason, sizeof result->reason,
                 "a float64 reference takes more than the %.0e operations it is given", ref.limit);
    } else if (ref.status == WEFT_OK) {
        judge(result, &sums,
              outcome->f16_weights ? fmax(ref.tolerance, WEFT_TOLERANCE_HALF) : ref.tolerance);
    }
    return ref.status;
}

weft_status weft_bench_verify(weft_bench_verification *result, const weft_bench_case *bench_case,
                              const weft_bench_outcome *outcome, const weft_host *host) {
    *result = (weft_bench_verification){.rel_l2 = (double)NAN, .tolerance = (double)NAN};
    if (bench_case->reference) {
        return check_float64(result, bench_case, outcome, host);
    }
    snprintf(result->reason, sizeof result->reason, "the case has no float64 reference");
    return WEFT_OK;
}

/* ---- the hash ---- */

void weft_bench_verify_hash(weft_bench_verification *result, const weft_bench_case *bench_case,
                            const char *sha256, const weft_bench_expected *expected) {
    const char *hash = weft_bench_expected_hash(expected, bench_case->suite, bench_case->name);
    const bool by_float64 = result->by == WEFT_BENCH_BY_FLOAT64;
    if (hash && strcmp(hash, sha256) != 0) {
        result->wrong = true;
        snprintf(result->reason, sizeof result->reason,
                 "the output has other bits than bench/expected.json: SHA-256 expected %s, found "
                 "%s%s",
                 hash, sha256, by_float64 ? "; it agrees with float64" : "");
    } else if (hash && !by_float64) {
        result->by = WEFT_BENCH_BY_HASH;
        result->reason[0] = '\0';
    } else if (!hash && !by_float64) {
        const size_t length = strlen(result->reason);
        snprintf(result->reason + length, sizeof result->reason - length,
                 ", and bench/expected.json has no hash of it");
    }
}
