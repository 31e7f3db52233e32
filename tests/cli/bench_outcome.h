/* SPDX-License-Identifier: MIT */
/* What a case of weft bench computes on a device, for tests of what it is held against. */
#ifndef WEFT_TESTS_BENCH_OUTCOME_H
#define WEFT_TESTS_BENCH_OUTCOME_H

#include "bench/graph.h"
#include "bench/ports.h"
#include "bench/verify.h"
#include "support.h"

#define BENCH_PORTS 8

/** A plan that ran once; the data of its ports is in malloc's memory, that of inputs is not in the ports. */
struct bench_run {
    weft_plan *plan;
    weft_bench_view ports[BENCH_PORTS];
    float *data[BENCH_PORTS];
    uint32_t count;
    uint32_t output; /* the place of the only one */
    bool f16_weights;
};

static void bench_add_port(struct bench_run *run, const weft_port_info *info,
                           const weft_bench_case *bench_case) {
    const uint32_t index = run->count++;
    run->ports[index] = (weft_bench_view){.info = *info};
    run->data[index] = malloc((size_t)info->bytes);
    assert_non_null(run->data[index]);
    if (info->is_output) {
        run->output = index;
        run->ports[index].data = run->data[index];
    } else {
        assert_ok(weft_bench_fill_input(run->data[index], info, index, bench_case, NULL));
    }
}

/** Free it with bench_run_end. */
static struct bench_run bench_run_of(const weft_bench_case *bench_case, weft_device *device) {
    struct bench_run run = {.count = 0};
    weft_port_info port;
    weft_plan_info info;
    weft_host_tensor tensors[BENCH_PORTS];
    assert_ok(weft_bench_compile(&run.plan, device, bench_case, false, NULL));
    assert_ok(weft_plan_get_info(run.plan, &info));
    run.f16_weights = info.f16_weight_bytes > 0;
    while (weft_plan_get_port(run.plan, run.count, &port) == WEFT_OK) {
        assert_true(run.count < BENCH_PORTS);
        bench_add_port(&run, &port, bench_case);
    }
    for (uint32_t i = 0; i < run.count; i++) {
        const weft_port_info *own = &run.ports[i].info;
        tensors[i] = (weft_host_tensor){own->name, run.data[i], own->bytes};
    }
    assert_ok(weft_plan_execute(run.plan, tensors, run.count));
    return run;
}

static void bench_run_end(struct bench_run *run) {
    for (uint32_t i = 0; i < run->count; i++) {
        free(run->data[i]);
    }
    weft_plan_destroy(&run->plan);
}

static weft_bench_verification bench_verify_within(const struct bench_run *run,
                                                   const weft_bench_case *bench_case,
                                                   double limit) {
    const weft_bench_outcome outcome = {.ports = run->ports,
                                        .port_count = run->count,
                                        .rounding = run->f16_weights ? WEFT_TOLERANCE_HALF : 0.0,
                                        .limit = limit};
    weft_bench_verification result;
    assert_ok(weft_bench_verify(&result, bench_case, &outcome, NULL));
    return result;
}

/** The output is right, and seen to be wrong once it is changed in each of several ways. */
static void bench_check(const weft_bench_case *bench_case, weft_device *device) {
    struct bench_run run = bench_run_of(bench_case, device);
    weft_bench_verification result = bench_verify_within(&run, bench_case, 0.0);
    if (result.by != WEFT_BENCH_BY_FLOAT64 || result.wrong) {
        fail_msg("%s: %s", bench_case->name, result.reason);
    }
    assert_string_equal(result.reason, "");
    assert_true(result.rel_l2 <= result.tolerance);

    const weft_port_info *info = &run.ports[run.output].info;
    const size_t size = (size_t)info->bytes;
    const size_t count = size / sizeof(float);
    const uint32_t width = info->shape.dim[info->shape.rank - 1];
    float *output = run.data[run.output];
    float *last = output + count - width;
    float *right = malloc(size);
    assert_non_null(right);
    memcpy(right, output, size);
    enum { PERTURBED, ZEROED, SWAPPED, MISSING, CHANGES };
    for (int change = 0; change < CHANGES; change++) {
        memcpy(output, right, size);
        for (uint32_t c = 0; c < width; c++) {
            const float others[CHANGES] = {1.001F * last[c], 0.0F, right[c], (float)NAN};
            last[c] = others[change];
            if (change == SWAPPED) {
                output[c] = right[count - width + c];
            }
        }
        result = bench_verify_within(&run, bench_case, 0.0);
        if (!result.wrong) {
            fail_msg("%s: change %d is not noticed: relative L2 %g", bench_case->name, change,
                     result.rel_l2);
        }
        assert_non_null(strstr(result.reason, "the output is wrong: against float64"));
    }
    free(right);
    bench_run_end(&run);
}

#endif
