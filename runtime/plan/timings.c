/* SPDX-License-Identifier: MIT */
/* What the time stamps of a run say. */
#include "core/try.h"
#include "plan/plan.h"

static weft_status read_stamps(uint64_t *stamps, const struct weft_workspace *workspace,
                               const weft_plan *plan) {
    weft_device *device = plan->device;
    const uint32_t count = 2 * plan->lowering.dispatch_count;
    return weft_device_check(
        device,
        device->vk.GetQueryPoolResults(device->vk.handle, workspace->queries, 0, count,
                                       count * sizeof *stamps, stamps, sizeof *stamps,
                                       VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT),
        "vkGetQueryPoolResults");
}

static void take_times(weft_plan *plan, const uint64_t *stamps, weft_timing *timings,
                       uint32_t count) {
    const double scale = plan->device->info.timestamp_period_ns * 1e-6;
    for (size_t i = 0; i < plan->lowering.dispatch_count; i++) {
        const double ms = (double)(int64_t)(stamps[2 * i + 1] - stamps[2 * i]) * scale;
        atomic_store(&plan->dispatch_ms[i], ms);
        if (i < count) {
            timings[i] =
                (weft_timing){.start_ms = (double)(int64_t)(stamps[2 * i] - stamps[0]) * scale,
                              .duration_ms = ms};
        }
    }
    atomic_store(&plan->measured, true);
}

static weft_status get_timings(weft_plan *plan, const struct weft_workspace *workspace,
                               weft_timing *timings, uint32_t *count) {
    const weft_host *host = &plan->device->host;
    WEFT_TRY(weft_device_alive(plan->device));
    if (!workspace->queries || !workspace->newest_run) {
        return weft_fail(host, workspace->queries ? WEFT_INVALID_ARGUMENT : WEFT_UNSUPPORTED,
                         workspace->queries ? "the plan has not run yet"
                                            : "the plan was compiled without time stamps");
    }
    uint64_t *stamps =
        weft_alloc_zero(host, 2 * (size_t)plan->lowering.dispatch_count + 1, sizeof *stamps);
    if (!stamps) {
        return weft_fail_memory(host, "time stamps");
    }
    const weft_status status = read_stamps(stamps, workspace, plan);
    if (status == WEFT_OK) {
        take_times(plan, stamps, timings, *count);
        *count = plan->lowering.dispatch_count;
    }
    weft_free(host, stamps);
    return status;
}

weft_status weft_plan_get_timings(weft_plan *plan, weft_timing *timings, uint32_t *count) {
    if (!plan || !count || (!timings && *count > 0)) {
        return WEFT_INVALID_ARGUMENT;
    }
    return get_timings(plan, &plan->workspace, timings, count);
}

weft_status weft_bindings_get_timings(weft_bindings *bindings, weft_timing *timings,
                                      uint32_t *count) {
    if (!bindings || !count || (!timings && *count > 0)) {
        return WEFT_INVALID_ARGUMENT;
    }
    return get_timings(bindings->plan, bindings->workspace, timings, count);
}
