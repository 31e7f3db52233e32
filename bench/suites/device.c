/* SPDX-License-Identifier: MIT */
/*
 * What a device can do at most: copying, arithmetic, and how long it takes to get work started. Sizes of the first two
 * are found on the device, so that a run is long enough to be measured, whatever its speed.
 */
#include <math.h>
#include <stdio.h>

#include "bench/graph.h"
#include "bench/kernels.h"
#include "bench/ports.h"
#include "bench/suites/suites.h"
#include "core/host.h"
#include "core/system/clock.h"
#include "core/try.h"

#define ROW            64U /* elements of the last axis */
#define TOKENS         64U /* at most, of a sequence */
#define LONG_ENOUGH_MS 5.0
#define MAX_FACTOR     64.0

/* sizes: elements, and what the case has besides: loops of arithmetic, dispatches of a chain. */
enum { ELEMENTS, LOOPS };

/** How far a case may grow, and what it makes of an element, exactly. */
struct kind {
    uint32_t elements, loops;
    float (*result)(float x);
};

static float same(float x) {
    return x;
}

static float one_more(float x) {
    return x + 1.0F;
}

/* Copies exceed the caches of large devices; arithmetic keeps all their units busy. */
static const struct kind copy = {1U << 26, 1, same};
static const struct kind arithmetic = {1U << 22, WEFT_BENCH_ARITHMETIC_MAX_LOOPS,
                                       weft_bench_arithmetic_result};
static const struct kind chain = {0, 0, one_more}; /* grows not at all */

/* ---- graphs ---- */

static weft_status input(weft_tensor *out, weft_graph *graph, const weft_bench_case *bench_case) {
    const uint32_t rows = bench_case->sizes[ELEMENTS] / ROW;
    const uint32_t tokens = rows < TOKENS ? rows : TOKENS;
    return weft_bench_input(out, graph, "x", weft_shape_of(rows / tokens, tokens, ROW));
}

static weft_status build_copy(weft_graph *graph, const weft_bench_case *bench_case, bool vectors) {
    weft_tensor x = {0};
    WEFT_TRY(input(&x, graph, bench_case));
    WEFT_TRY(weft_bench_copy(&x, graph, x, vectors));
    return weft_graph_output(graph, "y", x);
}

static weft_status build_copy_words(weft_graph *graph, const weft_bench_case *bench_case) {
    return build_copy(graph, bench_case, false);
}

static weft_status build_copy_vectors(weft_graph *graph, const weft_bench_case *bench_case) {
    return build_copy(graph, bench_case, true);
}

static weft_status build_arithmetic(weft_graph *graph, const weft_bench_case *bench_case,
                                    bool half) {
    weft_tensor x = {0};
    WEFT_TRY(input(&x, graph, bench_case));
    WEFT_TRY(weft_bench_arithmetic(&x, graph, x, bench_case->sizes[LOOPS], half));
    return weft_graph_output(graph, "y", x);
}

static weft_status build_f32(weft_graph *graph, const weft_bench_case *bench_case) {
    return build_arithmetic(graph, bench_case, false);
}

static weft_status build_f16(weft_graph *graph, const weft_bench_case *bench_case) {
    return build_arithmetic(graph, bench_case, true);
}

static weft_status build_matrix(weft_graph *graph, const weft_bench_case *bench_case,
                                weft_bench_factors factors) {
    weft_tensor x = {0};
    WEFT_TRY(input(&x, graph, bench_case));
    WEFT_TRY(weft_bench_matrix(&x, graph, x, bench_case->sizes[LOOPS], factors));
    return weft_graph_output(graph, "y", x);
}

static weft_status build_matrix_f16(weft_graph *graph, const weft_bench_case *bench_case) {
    return build_matrix(graph, bench_case, WEFT_BENCH_MATRIX_F16);
}

static weft_status build_matrix_int8(weft_graph *graph, const weft_bench_case *bench_case) {
    return build_matrix(graph, bench_case, WEFT_BENCH_MATRIX_INT8);
}

static weft_status build_matrix_bf16(weft_graph *graph, const weft_bench_case *bench_case) {
    return build_matrix(graph, bench_case, WEFT_BENCH_MATRIX_BF16);
}

/** A chain of sums, each of which waits for the one before: x + 1 in as many equal steps, without rounding. */
static weft_status build_chain(weft_graph *graph, const weft_bench_case *bench_case) {
    const uint32_t steps = bench_case->sizes[LOOPS];
    weft_tensor x = {0};
    WEFT_TRY(input(&x, graph, bench_case));
    for (uint32_t i = 0; i < steps; i++) {
        WEFT_TRY(weft_graph_affine(&x, graph, x, 1.0F, 1.0F / (float)steps));
    }
    return weft_graph_output(graph, "y", x);
}

/* ---- sizes ---- */

static weft_status check_elements(const float *y, const float *x, size_t count,
                                  const weft_bench_case *bench_case, const weft_host *host) {
    const struct kind *kind = bench_case->data;
    for (size_t i = 0; i < count; i++) {
        const float expected = kind->result(x[i]);
        if (y[i] != expected) {
            return weft_fail(host, WEFT_DRIVER_ERROR, "%s: element %zu is %.9g, expected %.9g",
                             bench_case->name, i, (double)y[i], (double)expected);
        }
    }
    return WEFT_OK;
}

/** Every element of the output is as it ought to be: nothing was left out. */
static weft_status check(const weft_bench_ports *ports, const weft_bench_case *bench_case,
                         const weft_host *host) {
    void *x = NULL;
    void *y = NULL;
    weft_status status = weft_bench_read_port(&x, &ports->list[0], host);
    if (status == WEFT_OK) {
        status = weft_bench_read_port(&y, &ports->list[1], host);
    }
    if (status == WEFT_OK) {
        status = check_elements(y, x, (size_t)ports->list[1].info.bytes / sizeof(float), bench_case,
                                host);
    }
    weft_free(host, x);
    weft_free(host, y);
    return status;
}

/** Checks a run that warms up, then gives the shorter of two. */
static weft_status time_bound(double *ms, weft_plan *plan, const weft_bench_ports *ports,
                              const weft_bench_case *bench_case, const weft_host *host) {
    WEFT_TRY(weft_plan_run(plan, ports->bindings));
    WEFT_TRY(check(ports, bench_case, host));
    *ms = INFINITY;
    for (uint32_t i = 0; i < 2; i++) {
        const double start = weft_clock_ms();
        WEFT_TRY(weft_plan_run(plan, ports->bindings));
        *ms = fmin(*ms, weft_clock_ms() - start);
    }
    return WEFT_OK;
}

static weft_status probe(double *ms, weft_plan *plan, weft_device *device,
                         const weft_bench_case *bench_case, const weft_host *host) {
    weft_bench_ports ports;
    weft_status status = weft_bench_bind(&ports, plan, device, bench_case, host);
    if (status == WEFT_OK) {
        status = time_bound(ms, plan, &ports, bench_case, host);
    }
    weft_bench_unbind(&ports, host);
    return status;
}

/** What fits a binding and leaves most of the memory free. */
static uint32_t most_elements(const struct kind *kind, const weft_device_info *info) {
    uint64_t bytes = info->device_memory / 8;
    bytes = bytes < info->max_storage_buffer_size ? bytes : info->max_storage_buffer_size;
    uint32_t elements = kind->elements;
    while (elements > ROW && elements * sizeof(float) > bytes) {
        elements /= 2;
    }
    return elements;
}

/**
 * Doubles elements, and loops with them, so that the shape alone tells the work, until that has grown by the factor;
 * false when nothing can grow.
 */
static bool grow(uint32_t *sizes, double factor, const struct kind *most) {
    double grown = 1.0;
    while (grown < factor && grown < MAX_FACTOR && sizes[ELEMENTS] < most->elements) {
        sizes[ELEMENTS] *= 2;
        grown *= 2.0;
        if (sizes[LOOPS] < most->loops) {
            sizes[LOOPS] *= 2;
            grown *= 2.0;
        }
    }
    return grown > 1.0;
}

/** The plan of a size that takes long enough, or of the largest. */
static weft_status compile_grown(weft_plan **plan, weft_device *device,
                                 const weft_bench_case *bench_case, bool timestamps,
                                 const weft_host *host) {
    weft_bench_case grown = *bench_case;
    struct kind most = *(const struct kind *)bench_case->data;
    weft_device_info info;
    WEFT_TRY(weft_device_get_info(device, &info));
    most.elements = most_elements(&most, &info);
    grown.compile = NULL;
    for (;;) {
        double ms = 0.0;
        WEFT_TRY(weft_bench_compile(plan, device, &grown, timestamps, host));
        WEFT_TRY(probe(&ms, *plan, device, &grown, host));
        if (ms >= LONG_ENOUGH_MS || !grow(grown.sizes, LONG_ENOUGH_MS / ms, &most)) {
            return WEFT_OK;
        }
        weft_plan_destroy(plan);
    }
}

/** Exact, of some rows; probe() has checked all. */
static void define(weft_case *c, const weft_bench_case *bench_case) {
    const struct kind *kind = bench_case->data;
    weft_shape shape;
    double *out;
    const double *x = c->read(c->user, "x", &shape);
    c->tolerance = 0.0;
    c->expected = weft_case_made(c, c->ref.status, (weft_tensor){0}, shape, true, &out);
    if (out) {
        weft_reference_take(out, c->rows, x, ROW);
    }
    for (uint64_t i = 0; out && i < (uint64_t)c->rows.count * ROW; i++) {
        out[i] = (double)kind->result((float)out[i]);
    }
}

/* ---- the table ---- */

static const struct device_case {
    const char *name;
    weft_bench_size size; /* the smallest that has it */
    uint32_t sizes[2];
    const struct kind *kind;
    weft_status (*build)(weft_graph *graph, const weft_bench_case *bench_case);
} cases[] = {
    {"copy/words", WEFT_BENCH_SHORT, {1U << 20, 1}, &copy, build_copy_words},
    {"copy/vectors", WEFT_BENCH_SHORT, {1U << 20, 1}, &copy, build_copy_vectors},
    {"arithmetic/f32", WEFT_BENCH_SMALLEST, {1U << 16, 8}, &arithmetic, build_f32},
    {"arithmetic/f16", WEFT_BENCH_SHORT, {1U << 16, 8}, &arithmetic, build_f16},
    {"matrix/f16", WEFT_BENCH_SHORT, {1U << 16, 8}, &arithmetic, build_matrix_f16},
    {"matrix/int8", WEFT_BENCH_SHORT, {1U << 16, 8}, &arithmetic, build_matrix_int8},
    {"matrix/bf16", WEFT_BENCH_SHORT, {1U << 16, 8}, &arithmetic, build_matrix_bf16},
    {"dispatch/16", WEFT_BENCH_SHORT, {ROW, 16}, &chain, build_chain},
    {"dispatch/256", WEFT_BENCH_SHORT, {ROW, 256}, &chain, build_chain},
    {"submission", WEFT_BENCH_SMALLEST, {ROW, 1}, &chain, build_chain},
};

void weft_bench_add_device(weft_bench_list *list, const weft_bench_scope *scope) {
    for (uint32_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct device_case *own = &cases[i];
        weft_bench_case row = {.suite = "device",
                               .sizes = {own->sizes[0], own->sizes[1]},
                               .sized = own->kind != &chain,
                               .data = own->kind,
                               .build = own->build,
                               .compile = compile_grown,
                               .host_clock = own->kind == &chain && own->sizes[LOOPS] > 1,
                               .define = define};
        snprintf(row.name, sizeof row.name, "%s", own->name);
        if (scope->size <= own->size) {
            weft_bench_list_add(list, &row);
        }
    }
}
