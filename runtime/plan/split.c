/* SPDX-License-Identifier: MIT */
/*
 * Splitting a run into submissions that stay under the device's time limit, so that no watchdog fires. A dispatch that
 * is too long by itself is split along its groups; vkCmdDispatchBase keeps the group indices, so no bit changes.
 */
#include "plan/plan.h"

#include "core/try.h"

/* A dispatch that counts no operations still moves memory; one operation per byte is a generous estimate of that. */
static double work_of(const struct weft_dispatch *dispatch) {
    return dispatch->flops > dispatch->bytes ? dispatch->flops : dispatch->bytes;
}

static weft_status add_step(weft_plan *plan, const struct weft_dispatch_part *step) {
    if (!weft_grow(&plan->device->host, &plan->steps, plan->step_count, &plan->step_capacity,
                   sizeof *plan->steps)) {
        return weft_fail_memory(&plan->device->host, "a plan's steps");
    }
    plan->steps[plan->step_count++] = *step;
    return WEFT_OK;
}

/** Cuts a dispatch into `parts` along its axis with the most groups. */
static weft_status add_parts(weft_plan *plan, uint32_t index, uint32_t parts) {
    const uint32_t *groups = plan->lowering.dispatches[index].groups;
    uint32_t axis = 0;
    for (uint32_t i = 1; i < 3; i++) {
        axis = groups[i] > groups[axis] ? i : axis;
    }
    parts = parts < groups[axis] ? parts : groups[axis];
    for (uint32_t part = 0; part < parts; part++) {
        struct weft_dispatch_part step = {.dispatch = index,
                                          .groups = {groups[0], groups[1], groups[2]}};
        uint32_t begin = (uint32_t)((uint64_t)groups[axis] * part / parts);
        uint32_t end = (uint32_t)((uint64_t)groups[axis] * (part + 1) / parts);
        step.base[axis] = begin;
        step.groups[axis] = end - begin;
        step.new_submission = true;
        WEFT_TRY(add_step(plan, &step));
    }
    return WEFT_OK;
}

weft_status weft_plan_split(weft_plan *plan) {
    const weft_device *device = plan->device;
    double limit = device->submission_limit_ms * device->flops_per_ms; /* 0: unlimited */
    double used = 0.0;
    for (uint32_t i = 0; i < plan->lowering.dispatch_count; i++) {
        const struct weft_dispatch *dispatch = &plan->lowering.dispatches[i];
        double work = work_of(dispatch);
        bool split = limit > 0.0 && work > limit;
        if (split) {
            WEFT_TRY(add_parts(plan, i, (uint32_t)(work / limit) + 1));
            used = limit; /* the next dispatch starts a submission of its own */
        } else {
            bool next = i == 0 || (limit > 0.0 && used + work > limit);
            used = next ? work : used + work;
            const uint32_t *groups = dispatch->groups;
            struct weft_dispatch_part step = {
                .dispatch = i, .groups = {groups[0], groups[1], groups[2]}, .new_submission = next};
            WEFT_TRY(add_step(plan, &step));
        }
    }
    for (uint32_t i = 0; i < plan->step_count; i++) {
        plan->info.submissions += plan->steps[i].new_submission;
    }
    return WEFT_OK;
}
