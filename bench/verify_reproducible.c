/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/ports.h"
#include "bench/verify.h"
#include "core/host.h"
#include "verify/conformance.h"

static const weft_bench_port *first_output(const weft_bench_ports *ports) {
    for (uint32_t i = 0; i < ports->count; i++) {
        if (ports->list[i].info.is_output) {
            return &ports->list[i];
        }
    }
    return NULL;
}

/** Runs the case once, and gives its first output in fresh memory. */
static weft_status run_once(void **output, weft_device *device, const weft_bench_case *bench_case,
                            const weft_host *host) {
    weft_plan *plan = NULL;
    weft_bench_ports ports = {0};
    weft_status status = weft_bench_compile(&plan, device, bench_case, false, host);
    if (status == WEFT_OK) {
        status = weft_bench_bind(&ports, plan, device, bench_case, host);
    }
    if (status == WEFT_OK) {
        status = weft_plan_run(plan, ports.bindings);
    }
    if (status == WEFT_OK) {
        status = weft_bench_read_port(output, first_output(&ports), host);
    }
    weft_bench_unbind(&ports, host);
    weft_plan_destroy(&plan);
    weft_device_trim(device);
    return status;
}

/** The norm of the difference over that of `expected`; NaN as soon as one of the numbers is. */
static double relative_l2(const float *found, const float *expected, size_t count) {
    double error = 0.0;
    double size = 0.0;
    for (size_t i = 0; i < count; i++) {
        const double difference = (double)found[i] - (double)expected[i];
        error += difference * difference;
        size += (double)expected[i] * (double)expected[i];
    }
    return error == 0.0 ? 0.0 : sqrt(error / size);
}

static void judge(weft_bench_verification *result, double rel_l2, double tolerance) {
    result->by = WEFT_BENCH_BY_REPRODUCIBLE;
    result->rel_l2 = rel_l2;
    result->tolerance = tolerance;
    result->reason[0] = '\0';
    if (!(rel_l2 <= tolerance)) {
        result->wrong = true;
        snprintf(result->reason, sizeof result->reason,
                 "the output is wrong: against reproducible mode, relative L2 is %.3g and %.3g is "
                 "allowed",
                 rel_l2, tolerance);
    }
}

weft_status weft_bench_verify_reproducible(weft_bench_verification *result,
                                           const weft_bench_case *bench_case,
                                           const weft_bench_outcome *outcome, weft_device *device,
                                           const weft_host *host) {
    const weft_bench_view *output = weft_bench_first_output(outcome);
    const size_t count = (size_t)output->info.bytes / sizeof(float);
    void *expected = NULL;
    const weft_status status = run_once(&expected, device, bench_case, host);
    if (status == WEFT_OK) {
        judge(result, relative_l2(output->data, expected, count),
              fmax(outcome->rounding, WEFT_TOLERANCE_EXPONENTIAL));
    } else if (status == WEFT_UNSUPPORTED || status == WEFT_OUT_OF_DEVICE_MEMORY) {
        const size_t length = strlen(result->reason);
        snprintf(result->reason + length, sizeof result->reason - length,
                 ", and the device cannot compute it in reproducible mode");
    }
    weft_free(host, expected);
    return status == WEFT_UNSUPPORTED || status == WEFT_OUT_OF_DEVICE_MEMORY ? WEFT_OK : status;
}
