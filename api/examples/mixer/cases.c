/* SPDX-License-Identifier: MIT */
/*
 * moving_average_cases [--fast] [FOLDER]: Σ_j α (1 - α)^(i - j) x_j, straight from the formula, in float64, beside what
 * the device of this machine makes of it, for odd shapes and for values of several kinds. Each plan runs twice, and once
 * more unfused, on poisoned outputs: the bits must be the same, and nothing else may have changed. What comes out is
 * written to FOLDER, a file for each case; bits.json has their hashes, which are the same on every device.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "moving_average.h"
#include "testing.h"

#define TOLERANCE 5e-6 /* relative L2 */
#define GUARD     64   /* words behind each buffer's */
#define POISON    0xff /* four of them are a NaN */

#define TRY(call)                  \
    do {                           \
        weft_status try_ = (call); \
        if (try_ != WEFT_OK) {     \
            return try_;           \
        }                          \
    } while (0)

struct row {
    uint32_t batch, n, d;
    bool reverse;
    bool computed; /* alpha is the sigmoid of another weight; otherwise it is given as one */
    values x, alpha;
    uint64_t seed; /* of the numbers: the first digits of the SHA-256 of "moving_average/<name>" */
};

static const struct row rows[] = {
    /* around the ends of chunks of 64 and of groups of 128 */
    {1, 1, 1, false, true, UNIT, UNIT, 0x2a3a31b0eb092285},
    {1, 2, 3, false, true, UNIT, UNIT, 0x3820071445a4be22},
    {2, 63, 5, false, true, UNIT, UNIT, 0x19f6436322392ec4},
    {2, 64, 5, false, true, UNIT, UNIT, 0x285a8d21bfeee7d9},
    {2, 65, 5, false, true, UNIT, UNIT, 0x5ca0a43b11700ed3},
    {3, 128, 43, false, true, UNIT, UNIT, 0x9984010296a2c916},
    {1, 521, 131, false, true, UNIT, UNIT, 0x5f3a791a5a6eb414},
    {1, 4099, 2, false, true, UNIT, UNIT, 0x665ab7165ee27584},
    {1, 1, 1, true, true, UNIT, UNIT, 0x5bb2a510bff27898},
    {2, 65, 5, true, true, UNIT, UNIT, 0x0470e1caef8c51e4},
    {1, 257, 131, true, true, UNIT, UNIT, 0x235bf61b9b4261df},
    /* slow and fast ones: sigmoids of -16 … 16 */
    {1, 1009, 31, false, true, UNIT, TENS, 0xa7a8eb6d6a7a16a2},
    {1, 200, 7, false, true, TENS, ZEROS, 0x46d99a09cd93ad74},
    {1, 200, 7, false, true, ZEROS, UNIT, 0xc226dcfaea77902f},
    {1, 200, 7, false, true, MIXED, UNIT, 0x601ed04bd9095200},
    {1, 200, 7, false, true, LARGE, UNIT, 0x2a8900d0cd8405f1},
    {1, 200, 7, false, true, SMALL, UNIT, 0x6b406719d96f0ca7},
    {1, 200, 7, false, true, SUBNORMAL, UNIT, 0x850614cef9f4c609},
    {1, 200, 7, false, false, UNIT, EQUAL, 0x6bdd0379968e7b3d},
    {1, 200, 7, true, false, UNIT, EQUAL, 0x29f3e84690d8c426},
    {1, 200, 1, false, false, IMPULSE, EQUAL, 0x038ed441da45414e},
};

static const char *const names[] = {"unit",  "tens",  "large",   "small",    "mixed",
                                    "zeros", "equal", "impulse", "subnormal"};

static void name_case(char *text, size_t size, const struct row *row) {
    snprintf(text, size, "%s%s/%s%s/n=%u,d=%u,batch=%u", row->reverse ? "reverse-" : "",
             names[row->x], row->computed ? "sigmoid-" : "", names[row->alpha], row->n, row->d,
             row->batch);
}

/* ---- the reference ---- */

static double reference(const struct row *row, const float *x, const float *alpha,
                        uint64_t element) {
    const uint64_t i = element / row->d % row->n;
    const uint64_t first = element - i * row->d; /* of the sequence and channel */
    const double given = value_of(alpha[element % row->d]);
    const double a = row->computed ? 1.0 / (1.0 + exp(-given)) : given;
    const uint64_t count = row->reverse ? row->n - i : i + 1;
    double sum = 0.0;
    for (uint64_t distance = 0; distance < count; distance++) {
        const uint64_t j = row->reverse ? i + distance : i - distance;
        sum += a * pow(1.0 - a, (double)distance) * value_of(x[first + j * row->d]);
    }
    return sum;
}

static bool is_near(const struct row *row, const float *x, const float *alpha, const float *y,
                    uint64_t count) {
    double errors = 0.0, squares = 0.0;
    for (uint64_t i = 0; i < count; i++) {
        const double expected = reference(row, x, alpha, i);
        errors += ((double)y[i] - expected) * ((double)y[i] - expected);
        squares += expected * expected;
    }
    const double error = sqrt(errors / (squares > 0.0 ? squares : 1.0));
    if (!(error <= TOLERANCE)) {
        printf("  relative L2 %.3g, allowed %.3g\n", error, TOLERANCE);
        return false;
    }
    return true;
}

/* Reproducible math stores no subnormals, and one NaN. */
static bool is_canonical(const float *y, uint64_t count) {
    for (uint64_t i = 0; i < count; i++) {
        const bool normal = y[i] == 0.0F || fabsf(y[i]) >= 0x1p-126F;
        if (isnan(y[i]) ? word_of(y[i]) != UINT32_C(0x7fc00000) : !normal) {
            printf("  y[%" PRIu64 "] is 0x%08" PRIx32 ", which is not canonical\n", i,
                   word_of(y[i]));
            return false;
        }
    }
    return true;
}

/* ---- on the device ---- */

struct numbers {
    uint64_t count;
    float *x, *y; /* with GUARD words behind them */
    float *again;
    float *alpha;
};

static weft_status build(weft_graph *graph, const struct row *row, const struct numbers *numbers) {
    weft_tensor x = {0}, alpha = {0}, y = {0};
    weft_weight *weight = NULL;
    TRY(weft_graph_input(&x, graph, "x", WEFT_F32, weft_shape_of(row->batch, row->n, row->d)));
    TRY(weft_weight_create(
        &weight, weft_weight_params(.shape = weft_shape_of(row->d), .data = numbers->alpha), NULL));
    const weft_status status = weft_graph_weight(&alpha, graph, weight);
    weft_weight_destroy(&weight); /* the graph keeps what it needs */
    TRY(status);
    if (row->computed) {
        TRY(weft_graph_activate(&alpha, graph, alpha, WEFT_ACTIVATION_SIGMOID));
    }
    TRY(graph_moving_average(&y, graph, x, alpha, moving_average_params(.reverse = row->reverse)));
    return weft_graph_output(graph, "y", y);
}

static weft_status run_on(weft_plan *plan, weft_buffer *x, weft_buffer *y, float *out,
                          const struct numbers *numbers) {
    const size_t bytes = (numbers->count + GUARD) * sizeof(float);
    weft_bindings *bindings = NULL;
    memset(out, POISON, bytes);
    TRY(weft_buffer_write(x, 0, numbers->x, bytes));
    TRY(weft_buffer_write(y, 0, out, bytes));
    TRY(weft_bindings_create(&bindings, plan));
    weft_status status = weft_bindings_set(bindings, "x", x);
    status = status ? status : weft_bindings_set(bindings, "y", y);
    status = status ? status : weft_plan_run(plan, bindings);
    weft_bindings_destroy(&bindings);
    TRY(status);
    return weft_buffer_read(y, 0, out, bytes);
}

/* Whether x and what is behind both buffers is as it was. */
static weft_status check_rest(weft_buffer *x, float *scratch, const float *out,
                              const struct numbers *numbers) {
    const size_t words = numbers->count + GUARD;
    TRY(weft_buffer_read(x, 0, scratch, words * sizeof(float)));
    const bool same = same_bits(scratch, numbers->x, words);
    const bool whole = same_bits(out + numbers->count, numbers->x + numbers->count, GUARD);
    if (!same || !whole) {
        printf("  memory that is not y's has changed\n");
        return WEFT_DRIVER_ERROR;
    }
    return WEFT_OK;
}

static weft_status run_plan(float *out, weft_device *device, const weft_graph *graph,
                            bool no_fusion, const struct numbers *numbers, float *scratch) {
    const uint64_t bytes = (numbers->count + GUARD) * sizeof(float);
    weft_plan *plan = NULL;
    weft_buffer *x = NULL, *y = NULL;
    weft_status status =
        weft_plan_compile(&plan, device, graph, &(weft_plan_params){.no_fusion = no_fusion});
    status = status ? status : weft_buffer_create(&x, device, bytes);
    status = status ? status : weft_buffer_create(&y, device, bytes);
    for (int run = 0; run < 2 && status == WEFT_OK; run++) {
        float *target = run == 0 ? out : scratch;
        status = run_on(plan, x, y, target, numbers);
        if (status == WEFT_OK && !same_bits(out, target, numbers->count + GUARD)) {
            printf("  a second run gives other bits\n");
            status = WEFT_DRIVER_ERROR;
        }
    }
    status = status ? status : check_rest(x, scratch, out, numbers);
    weft_buffer_destroy(&x);
    weft_buffer_destroy(&y);
    weft_plan_destroy(&plan);
    return status;
}

static weft_status run(weft_device *device, const struct row *row, struct numbers *numbers) {
    weft_graph *graph = NULL;
    const size_t bytes = (numbers->count + GUARD) * sizeof(float);
    float *scratch = malloc(bytes);
    weft_status status = scratch ? WEFT_OK : WEFT_OUT_OF_HOST_MEMORY;
    status = status ? status : weft_graph_create(&graph, NULL);
    status = status ? status : build(graph, row, numbers);
    status = status ? status : run_plan(numbers->y, device, graph, false, numbers, scratch);
    status = status ? status : run_plan(numbers->again, device, graph, true, numbers, scratch);
    if (status == WEFT_OK && weft_device_get_math(device) == WEFT_MATH_REPRODUCIBLE &&
        !same_bits(numbers->y, numbers->again, numbers->count + GUARD)) {
        printf("  without fusion it has other bits\n");
        status = WEFT_DRIVER_ERROR;
    }
    weft_graph_destroy(&graph);
    free(scratch);
    return status;
}

/* ---- cases ---- */

static bool write_bits(const char *folder, const char *name, const struct numbers *numbers) {
    char path[1024];
    const int length = snprintf(path, sizeof path, "%s/%s", folder, name);
    for (char *c = path + strlen(folder) + 1; *c; c++) {
        *c = *c == '/' ? '_' : *c;
    }
    FILE *file = (size_t)length < sizeof path ? fopen(path, "wb") : NULL;
    const bool written =
        file && fwrite(numbers->y, sizeof(float), numbers->count, file) == numbers->count;
    const bool closed = file && fclose(file) == 0;
    if (!written || !closed) {
        printf("  %s cannot be written\n", path);
    }
    return written && closed;
}

static bool check(weft_device *device, const struct row *row, const char *folder,
                  struct numbers *numbers) {
    char name[128];
    name_case(name, sizeof name, row);
    printf("%s\n", name);
    fill(numbers->x, numbers->count, row->x, row->seed, 0);
    memset(numbers->x + numbers->count, POISON, GUARD * sizeof(float));
    fill(numbers->alpha, row->d, row->alpha, row->seed, 1);
    const weft_status status = run(device, row, numbers);
    if (status != WEFT_OK) {
        printf("  %s\n", weft_status_name(status));
        return false;
    }
    return is_near(row, numbers->x, numbers->alpha, numbers->y, numbers->count) &&
           (weft_device_get_math(device) == WEFT_MATH_FAST ||
            is_canonical(numbers->y, numbers->count)) &&
           (!folder || write_bits(folder, name, numbers));
}

static bool check_row(weft_device *device, const struct row *row, const char *folder) {
    struct numbers numbers = {.count = (uint64_t)row->batch * row->n * row->d};
    const size_t bytes = (numbers.count + GUARD) * sizeof(float);
    numbers.x = malloc(bytes);
    numbers.y = malloc(bytes);
    numbers.again = malloc(bytes);
    numbers.alpha = malloc(row->d * sizeof(float));
    const bool passed = numbers.x && numbers.y && numbers.again && numbers.alpha &&
                        check(device, row, folder, &numbers);
    free(numbers.x);
    free(numbers.y);
    free(numbers.again);
    free(numbers.alpha);
    return passed;
}

int main(int argc, char **argv) {
    const bool fast = argc > 1 && strcmp(argv[1], "--fast") == 0;
    const char *folder = argc > 1 + fast ? argv[1 + fast] : NULL;
    struct watch watch;
    weft_device *device = NULL;
    watch_begin(&watch);
    if (watch_open(&device, &watch, fast ? WEFT_MATH_FAST : WEFT_MATH_REPRODUCIBLE) != WEFT_OK) {
        fprintf(stderr, "%s", watch.log);
        return 2;
    }
    uint32_t run = 0, passed = 0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (!fast || rows[i].x != SUBNORMAL) { /* fast math need not flush */
            run++;
            passed += check_row(device, &rows[i], folder);
        }
    }
    printf("%u of %u cases passed\n%s", passed, run, watch.log);
    return watch_close(&device, &watch) && passed == run ? 0 : 1;
}
