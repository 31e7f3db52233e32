/* SPDX-License-Identifier: MIT */
#include "bench/verify.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/graph.h"
#include "bench/ports.h"
#include "core/math/philox.h"
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

/* ---- inputs ---- */

/** Where a case's definition has its inputs from: one sequence at a time. */
struct source {
    const weft_bench_case *bench_case;
    const weft_bench_view *ports; /* in the order of the plan's */
    uint32_t port_count;
    uint32_t sequence, sequences;
    weft_case *c;
};

static const weft_bench_view *find_input(const struct source *source, const char *name) {
    for (uint32_t i = 0; i < source->port_count; i++) {
        const weft_port_info *info = &source->ports[i].info;
        if (!info->is_output && strcmp(info->name, name) == 0) {
            return &source->ports[i];
        }
    }
    weft_case_check(source->c, weft_fail(&source->c->ref.host, WEFT_NOT_FOUND,
                                         "%s: its reference reads input '%s', which it has not",
                                         source->bench_case->name, name));
    return NULL;
}

/** Elements first … first + count - 1 of a port. */
static const double *elements_of(weft_reference *ref, const weft_port_info *info, const void *data,
                                 uint64_t first, uint64_t count) {
    double *value = weft_reference_array(ref, count);
    for (uint64_t i = 0; value && i < count; i++) {
        value[i] = info->dtype == WEFT_I32 ? (double)((const int32_t *)data)[first + i]
                                           : (double)((const float *)data)[first + i];
    }
    return value;
}

/** This sequence's part of an input that has as many as the output in its first dimension, or all of another one. */
static const double *read_input(void *user, const char *name, weft_shape *shape) {
    const struct source *source = user;
    weft_reference *ref = &source->c->ref;
    const weft_bench_view *port = ref->status == WEFT_OK ? find_input(source, name) : NULL;
    if (!port) {
        return NULL;
    }
    const weft_port_info *info = &port->info;
    const bool batched = info->shape.rank > 1 && info->shape.dim[0] == source->sequences;
    *shape = info->shape;
    shape->dim[0] = batched ? 1 : shape->dim[0];
    const uint64_t count = weft_shape_elements(*shape);
    const uint64_t first = batched ? source->sequence * count : 0;
    if (port->data) {
        return elements_of(ref, info, port->data, first, count);
    }
    void *data = weft_reference_memory(ref, info->bytes, 1);
    if (data) {
        weft_reference_check(ref,
                             weft_bench_fill_input(data, info, (uint32_t)(port - source->ports),
                                                   source->bench_case, &ref->host));
    }
    return data ? elements_of(ref, info, data, first, count) : NULL;
}

/* ---- float64 ---- */

/** What the sequences that were compared add up to. */
struct sums {
    double error, size;       /* squares */
    double worst;             /* the largest relative error of a token */
    uint32_t sequence, token; /* it is this one's */
    uint32_t rows;
};

/** The output as [sequences, n, width]. */
struct output {
    const float *data;
    uint32_t sequences, n, width;
};

static void compare(struct sums *sums, const struct output *output, uint32_t sequence,
                    weft_rows rows, const double *values) {
    for (uint32_t r = 0; r < rows.count; r++) {
        const uint64_t token = (uint64_t)sequence * output->n + rows.at[r];
        const float *found = output->data + token * output->width;
        const double *expected = values + (uint64_t)r * output->width;
        double error = 0.0;
        double size = 0.0;
        for (uint32_t c = 0; c < output->width; c++) {
            const double difference = (double)found[c] - expected[c];
            error += difference * difference;
            size += expected[c] * expected[c];
        }
        const double relative = error > 0.0 ? sqrt(error / size) : 0.0;
        if (sums->rows == 0 || relative > sums->worst || isnan(error)) {
            sums->worst = isnan(error) ? INFINITY : relative;
            sums->sequence = sequence;
            sums->token = rows.at[r];
        }
        sums->error += error;
        sums->size += size;
        sums->rows++;
    }
}

/** Sequence `index` of the case: what is expected of it, if that is not too expensive, and the comparison. */
static void check_sequence(struct sums *sums, weft_case *c, const weft_bench_case *bench_case,
                           const weft_bench_outcome *outcome, const struct output *output,
                           uint32_t index) {
    uint32_t rows[WEFT_BENCH_REFERENCE_ROWS];
    struct source source = {.bench_case = bench_case,
                            .ports = outcome->ports,
                            .port_count = outcome->port_count,
                            .sequence = index,
                            .sequences = output->sequences,
                            .c = c};
    c->rows = (weft_rows){.at = rows, .count = weft_bench_sample_rows(rows, output->n)};
    c->tolerance = WEFT_TOLERANCE_LINEAR;
    c->read = read_input;
    c->user = &source;
    weft_reference_check(&c->ref, weft_graph_create(&c->graph, &c->ref.host));
    if (weft_reference_spend(&c->ref, 0.0)) {
        bench_case->define(c, bench_case);
    }
    if (weft_reference_spend(&c->ref, 0.0)) {
        compare(sums, output, index, c->rows, c->expected.value);
    }
    weft_graph_destroy(&c->graph);
    weft_reference_end(&c->ref);
    c->arrays = NULL;
}

const weft_bench_view *weft_bench_first_output(const weft_bench_outcome *outcome) {
    for (uint32_t i = 0; i < outcome->port_count; i++) {
        if (outcome->ports[i].info.is_output) {
            return &outcome->ports[i];
        }
    }
    return NULL;
}

/** An output [B, n, channels] taken apart; one of another rank is a sequence of rows. */
static struct output output_of(const weft_bench_view *view) {
    const weft_shape *shape = &view->info.shape;
    struct output output = {.data = view->data,
                            .sequences = shape->rank == 3 ? shape->dim[0] : 1,
                            .width = shape->dim[shape->rank - 1]};
    output.n = (uint32_t)(weft_shape_elements(*shape) / output.width / output.sequences);
    return output;
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
    const struct output output = output_of(weft_bench_first_output(outcome));
    weft_case c = {
        .ref = {.host = host ? *host : (weft_host){0},
                .limit = outcome->limit > 0.0 ? outcome->limit : WEFT_BENCH_REFERENCE_LIMIT}};
    struct sums sums = {.worst = 0.0};
    check_sequence(&sums, &c, bench_case, outcome, &output, 0);
    if (output.sequences > 1 && weft_reference_spend(&c.ref, 0.0)) {
        check_sequence(&sums, &c, bench_case, outcome, &output, output.sequences - 1);
    }
    if (c.ref.status == WEFT_OK && c.ref.operations > c.ref.limit) {
        snprintf(result->reason, sizeof result->reason,
                 "a float64 reference takes more than the %.0e operations it is given",
                 c.ref.limit);
    } else if (c.ref.status == WEFT_OK) {
        judge(result, &sums, fmax(c.tolerance, outcome->rounding));
    }
    return c.ref.status;
}

weft_status weft_bench_verify(weft_bench_verification *result, const weft_bench_case *bench_case,
                              const weft_bench_outcome *outcome, const weft_host *host) {
    *result = (weft_bench_verification){.rel_l2 = (double)NAN, .tolerance = (double)NAN};
    if (bench_case->define) {
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
