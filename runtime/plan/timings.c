/* SPDX-License-Identifier: MIT */
/* Times of a run by its time stamps. */
#include "core/given.h"
#include "core/try.h"
#include "plan/plan.h"

VkResult weft_stamps_read(uint64_t *stamps, const struct weft_workspace *workspace,
                          const weft_plan *plan) {
    const struct weft_vk_device *vk = &plan->device->vk;
    const uint32_t count = 2 * plan->steps.count;
    return vk->GetQueryPoolResults(vk->handle, workspace->queries, 0, count, count * sizeof *stamps,
                                   stamps, sizeof *stamps, VK_QUERY_RESULT_64_BIT);
}

/* Ticks between two stamps of a counter that begins anew at 2^bits, and above which a driver may leave anything. */
static uint64_t ticks_between(const weft_plan *plan, uint64_t begin, uint64_t end) {
    return (end - begin) & UINT64_MAX >> (64 - plan->device->timestamp_bits);
}

static double to_ms(const weft_plan *plan, uint64_t ticks) {
    return (double)ticks * plan->device->info.timestamp_period_ns * 1e-6;
}

double weft_stamps_ms(const weft_plan *plan, uint64_t begin, uint64_t end) {
    const uint64_t ticks = ticks_between(plan, begin, end);
    return ticks <= INT64_MAX ? to_ms(plan, ticks) : 0.0; /* a whole counter never gets round */
}

double weft_stamps_since_ms(const weft_plan *plan, uint64_t begin, uint64_t stamp) {
    const uint64_t after = ticks_between(plan, begin, stamp);
    const uint64_t before = ticks_between(plan, stamp, begin);
    return after <= before ? to_ms(plan, after) : -to_ms(plan, before);
}

/* The time of a dispatch is the sum over its parts: there may be frames between them. */
static void take_times(weft_plan *plan, const uint64_t *stamps, weft_timing *timings,
                       uint32_t count) {
    for (uint32_t i = 0; i < plan->steps.count;) {
        const uint32_t dispatch = plan->steps.at[i].dispatch;
        const double start_ms = weft_stamps_since_ms(plan, stamps[0], stamps[2 * (size_t)i]);
        weft_timing timing = {.start_ms = start_ms};
        for (; i < plan->steps.count && plan->steps.at[i].dispatch == dispatch; i++) {
            const uint64_t *stamp = &stamps[2 * (size_t)i];
            timing.duration_ms += weft_stamps_ms(plan, stamp[0], stamp[1]);
        }
        atomic_store(&plan->dispatch_ms[dispatch], timing.duration_ms);
        if (dispatch < count) {
            timings[dispatch] = timing;
        }
    }
    atomic_store(&plan->measured, true);
}

static weft_status get_times(weft_plan *plan, const struct weft_workspace *workspace,
                             uint64_t *stamps, weft_timing *timings, uint32_t *count) {
    weft_device *device = plan->device;
    if (workspace->newest_run) {
        WEFT_TRY(weft_device_wait(device, workspace->newest_run, UINT64_MAX, NULL));
    }
    const VkResult result = weft_stamps_read(stamps, workspace, plan);
    if (result == VK_NOT_READY) {
        return weft_fail(&device->host, WEFT_INVALID_ARGUMENT,
                         "the plan has not run yet, or its newest run has not finished");
    }
    WEFT_TRY(weft_device_check(device, result, "vkGetQueryPoolResults"));
    take_times(plan, stamps, timings, *count);
    *count = plan->lowering.dispatch_count;
    return WEFT_OK;
}

static weft_status get_timings(weft_plan *plan, const struct weft_workspace *workspace,
                               weft_timing *timings, uint32_t *count) {
    const weft_host *host = &plan->device->host;
    WEFT_TRY(weft_device_runs(plan->device));
    if (!workspace->queries) {
        return weft_fail(host, WEFT_UNSUPPORTED, "the plan was compiled without time stamps");
    }
    uint64_t *stamps = weft_alloc_zero(host, 2 * (size_t)plan->steps.count + 1, sizeof *stamps);
    if (!stamps) {
        return weft_fail_memory(host, "time stamps");
    }
    const weft_status status = get_times(plan, workspace, stamps, timings, count);
    weft_free(host, stamps);
    return status;
}

weft_status weft_plan_get_timings(weft_plan *plan, weft_timing *timings, uint32_t *count) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(plan, device->host), plan, count);
    WEFT_GIVEN_LIST(&plan->device->host, timings, *count);
    return get_timings(plan, &plan->workspace, timings, count);
}

weft_status weft_bindings_get_timings(weft_bindings *bindings, weft_timing *timings,
                                      uint32_t *count) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(bindings, plan->device->host), bindings, count);
    WEFT_GIVEN_LIST(&bindings->plan->device->host, timings, *count);
    return get_timings(bindings->plan, bindings->workspace, timings, count);
}
