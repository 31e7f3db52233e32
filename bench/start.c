/* SPDX-License-Identifier: MIT */
#include "bench/start.h"

#include <math.h>

#include "bench/ports.h"
#include "bench/temporary.h"
#include "core/host.h"
#include "core/system/clock.h"
#include "core/try.h"

/** What is compiled again and again. */
struct subject {
    const weft_bench_case *bench_case;
    weft_graph *graph; /* null: the case compiles by itself */
    const weft_host *host;
};

static weft_status compile(weft_plan **plan, weft_device *device, const struct subject *subject) {
    const weft_bench_case *bench_case = subject->bench_case;
    return subject->graph
               ? weft_plan_compile(plan, device, subject->graph,
                                   weft_plan_params(.implementation = bench_case->implementation))
               : weft_bench_compile(plan, device, bench_case, false, subject->host);
}

static weft_status run(double *ms, weft_plan *plan, weft_bindings *bindings) {
    const double start = weft_clock_ms();
    weft_status status = weft_plan_run(plan, bindings);
    *ms = weft_clock_ms() - start;
    return status;
}

/** What the first run of a plan takes longer than the second. */
static weft_status first_run(double *more_ms, weft_plan *plan, weft_device *device,
                             const struct subject *subject) {
    double first = 0.0;
    double second = 0.0;
    weft_bench_ports ports;
    weft_status status = weft_bench_bind(&ports, plan, device, subject->bench_case, subject->host);
    if (status == WEFT_OK) {
        status = run(&first, plan, ports.bindings);
    }
    if (status == WEFT_OK) {
        status = run(&second, plan, ports.bindings);
    }
    weft_bench_unbind(&ports, subject->host);
    *more_ms = fmax(first - second, 0.0);
    return status;
}

static weft_status start(double *ms, uint32_t *compiled, weft_device *device,
                         const struct subject *subject) {
    weft_plan *plan = NULL;
    weft_plan_info info;
    double more_ms = 0.0;
    WEFT_TRY(compile(&plan, device, subject));
    weft_status status = weft_plan_get_info(plan, &info);
    if (status == WEFT_OK) {
        status = first_run(&more_ms, plan, device, subject);
    }
    if (status == WEFT_OK) {
        *ms = info.compile_ms + more_ms;
        *compiled = info.pipelines_compiled;
    }
    weft_plan_destroy(&plan);
    return status;
}

/** The cold start leaves its weights on the device, where the steady one finds them. */
static weft_status start_cold(weft_bench_start *out, const weft_device_params *params,
                              const struct subject *subject) {
    weft_device *device = NULL;
    WEFT_TRY(weft_device_open(&device, params));
    weft_status status = start(&out->cold_ms, &out->cold_compiled, device, subject);
    if (status == WEFT_OK) {
        status = start(&out->steady_ms, &out->steady_compiled, device, subject);
    }
    weft_device_destroy(&device); /* writes the caches */
    return status;
}

static weft_status start_warm(weft_bench_start *out, const weft_device_params *params,
                              const struct subject *subject) {
    weft_device *device = NULL;
    WEFT_TRY(weft_device_open(&device, params));
    weft_status status = start(&out->warm_cache_ms, &out->warm_compiled, device, subject);
    weft_device_destroy(&device);
    return status;
}

static weft_status make_graph(struct subject *subject) {
    const weft_bench_case *bench_case = subject->bench_case;
    if (bench_case->compile) {
        return WEFT_OK;
    }
    WEFT_TRY(weft_graph_create(&subject->graph, subject->host));
    return weft_bench_build(subject->graph, bench_case, subject->host);
}

weft_status weft_bench_start_times(weft_bench_start *out, const weft_bench_case *bench_case,
                                   const char *device_select, weft_math math,
                                   const weft_host *host) {
    weft_bench_temporary temporary;
    struct subject subject = {.bench_case = bench_case, .host = host};
    *out = (weft_bench_start){.cold_ms = NAN, .warm_cache_ms = NAN, .steady_ms = NAN};
    weft_status status = weft_bench_temporary_begin(&temporary, host);
    if (status == WEFT_OK) {
        status = make_graph(&subject);
    }
    weft_device_params params = {.math = math, .select = device_select, .cache_dir = temporary.own};
    if (host) {
        params.host = *host;
    }
    if (status == WEFT_OK) {
        status = start_cold(out, &params, &subject);
    }
    if (status == WEFT_OK) {
        status = start_warm(out, &params, &subject);
    }
    weft_graph_destroy(&subject.graph);
    weft_bench_temporary_end(&temporary, host);
    return status;
}
