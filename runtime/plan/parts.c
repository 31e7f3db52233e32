/* SPDX-License-Identifier: MIT */
/* A run in parts: what each is expected to take, and as many at a time as fit into a frame. */
#include <weft/vulkan.h>

#include "core/given.h"
#include "core/try.h"
#include "plan/plan.h"

static uint64_t groups_in(const uint32_t groups[3]) {
    return (uint64_t)groups[0] * groups[1] * groups[2];
}

static weft_part_info part_of(const weft_plan *plan, uint32_t index) {
    const struct weft_dispatch_part *step = &plan->steps.at[index];
    const struct weft_dispatch *dispatch = &plan->lowering.dispatches[step->dispatch];
    weft_part_info info = {.dispatch = step->dispatch,
                           .share = (double)groups_in(step->groups) /
                                    (double)groups_in(dispatch->groups),
                           .measured = atomic_load(&plan->measured)};
    info.ms = info.share * (info.measured ? atomic_load(&plan->dispatch_ms[step->dispatch])
                                          : weft_dispatch_ms(plan->device, dispatch));
    return info;
}

weft_status weft_plan_get_part(const weft_plan *plan, uint32_t index, weft_part_info *info) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(plan, device->host), plan, info);
    if (index >= plan->steps.count) {
        return WEFT_NOT_FOUND;
    }
    *info = part_of(plan, index);
    return WEFT_OK;
}

static void record_parts(const weft_plan *plan, VkCommandBuffer commands,
                         const weft_bindings *bindings, uint32_t first, uint32_t count) {
    if (first == 0) {
        weft_record_begin(bindings, commands);
    }
    weft_record_barrier(plan->device, commands);
    for (uint32_t i = first; i < first + count; i++) {
        weft_record_step(plan, commands, bindings, i, i == first);
    }
    if (first + count == plan->steps.count) {
        weft_record_end(bindings, commands);
    }
}

weft_status weft_plan_record_range(weft_plan *plan, VkCommandBuffer commands,
                                   weft_bindings *bindings, uint32_t first, uint32_t count) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(plan, device->host), plan, commands, bindings);
    if (bindings->plan != plan) {
        return weft_fail(&plan->device->host, WEFT_INVALID_ARGUMENT,
                         "weft_plan_record_range: the bindings are of another plan");
    }
    if (count == 0 || first >= plan->steps.count || count > plan->steps.count - first) {
        return weft_fail(&plan->device->host, WEFT_INVALID_ARGUMENT,
                         "weft_plan_record_range: %u parts from %u on, of a plan with %u", count,
                         first, plan->steps.count);
    }
    WEFT_TRY(weft_device_records(plan->device));
    WEFT_TRY(weft_bindings_prepare(bindings));
    record_parts(plan, commands, bindings, first, count);
    weft_stats_recorded(plan, count, first + count == plan->steps.count);
    return WEFT_OK;
}

uint32_t weft_parts_that_fit(const weft_plan *plan, uint32_t first, double budget_ms,
                             bool at_least_one, double *ms) {
    uint32_t count = 0;
    *ms = 0.0;
    while (first + count < plan->steps.count) {
        const double more = part_of(plan, first + count).ms;
        if (*ms + more > budget_ms && !(at_least_one && count == 0)) {
            break;
        }
        *ms += more;
        count++;
    }
    return count;
}

weft_status weft_plan_record_frame(weft_plan *plan, VkCommandBuffer commands,
                                   weft_bindings *bindings, double budget_ms,
                                   weft_frame_cursor *cursor) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(plan, device->host), plan, commands, bindings, cursor);
    if (!(budget_ms > 0.0) || cursor->next >= plan->steps.count) {
        return weft_fail(&plan->device->host, WEFT_INVALID_ARGUMENT,
                         "weft_plan_record_frame: a budget of %g ms from part %u on, of a plan "
                         "with %u",
                         budget_ms, cursor->next, plan->steps.count);
    }
    double ms = 0.0;
    const uint32_t count = weft_parts_that_fit(plan, cursor->next, budget_ms, true, &ms);
    WEFT_TRY(weft_plan_record_range(plan, commands, bindings, cursor->next, count));
    const uint32_t next = cursor->next + count;
    *cursor = (weft_frame_cursor){
        .next = next < plan->steps.count ? next : 0, .done = next == plan->steps.count, .ms = ms};
    return WEFT_OK;
}
