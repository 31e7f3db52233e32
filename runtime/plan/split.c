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

double weft_dispatch_ms(const weft_device *device, const struct weft_dispatch *dispatch) {
    return work_of(dispatch) / device->flops_per_ms;
}

/* Pieces of a dispatch, and whether each is a submission of its own; otherwise whether the first begins one. */
struct pieces {
    uint32_t count;
    bool each_submitted, first_submitted;
};

/** Cuts a dispatch along its axis with the most groups. */
static weft_status add_parts(weft_plan *plan, uint32_t index, const struct pieces *pieces) {
    uint32_t parts = pieces->count;
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
        step.new_submission = pieces->each_submitted || (part == 0 && pieces->first_submitted);
        WEFT_TRY(add_step(plan, &step));
    }
    return WEFT_OK;
}

/* Pieces that are below a limit of work each; 0: none. */
static uint32_t pieces_of(double work, double limit) {
    const double count = limit > 0.0 ? work / limit + 1.0 : 1.0;
    return count < (double)UINT32_MAX ? (uint32_t)count : UINT32_MAX;
}

weft_status weft_plan_split(weft_plan *plan, double part_ms) {
    const weft_device *device = plan->device;
    double limit = device->submission_limit_ms * device->flops_per_ms; /* 0: unlimited */
    double part_limit = part_ms * device->flops_per_ms;                /* likewise */
    double used = 0.0;
    for (uint32_t i = 0; i < plan->lowering.dispatch_count; i++) {
        const struct weft_dispatch *dispatch = &plan->lowering.dispatches[i];
        double work = work_of(dispatch);
        const uint32_t in_limit = pieces_of(work, limit);
        const uint32_t in_parts = pieces_of(work, part_limit);
        struct pieces pieces = {.count = in_limit > in_parts ? in_limit : in_parts,
                                .each_submitted = limit > 0.0 && work > limit};
        if (pieces.each_submitted) {
            used = limit; /* the next dispatch starts a submission of its own */
        } else {
            pieces.first_submitted = i == 0 || (limit > 0.0 && used + work > limit);
            used = pieces.first_submitted ? work : used + work;
        }
        WEFT_TRY(add_parts(plan, i, &pieces));
    }
    plan->info.parts = plan->step_count;
    for (uint32_t i = 0; i < plan->step_count; i++) {
        plan->info.submissions += plan->steps[i].new_submission;
    }
    return WEFT_OK;
}
