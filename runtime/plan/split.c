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

static weft_status add_step(struct weft_steps *steps, const weft_host *host,
                            const struct weft_dispatch_part *step) {
    if (!weft_grow(host, &steps->at, steps->count, &steps->room, sizeof *steps->at)) {
        return weft_fail_memory(host, "a plan's steps");
    }
    steps->at[steps->count++] = *step;
    steps->submissions += step->new_submission;
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

/* In how many pieces each axis is cut, so that there are at least `pieces` if there are as many groups: those with the most first. */
static void cut_axes(uint32_t cuts[3], const uint32_t groups[3], uint32_t pieces) {
    bool done[3] = {false};
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t axis = 3;
        for (uint32_t a = 0; a < 3; a++) {
            axis = !done[a] && (axis == 3 || groups[a] > groups[axis]) ? a : axis;
        }
        done[axis] = true;
        cuts[axis] = pieces < groups[axis] ? pieces : groups[axis];
        pieces = pieces / cuts[axis] + (pieces % cuts[axis] != 0);
    }
}

static void cut_axis(struct weft_dispatch_part *step, uint32_t axis, uint32_t groups,
                     uint32_t piece, uint32_t pieces) {
    const uint32_t begin = (uint32_t)((uint64_t)groups * piece / pieces);
    const uint32_t end = (uint32_t)((uint64_t)groups * (piece + 1) / pieces);
    step->base[axis] = begin;
    step->groups[axis] = end - begin;
}

static weft_status add_parts(struct weft_steps *steps, const weft_plan *plan, uint32_t index,
                             const struct pieces *pieces) {
    const uint32_t *groups = plan->lowering.dispatches[index].groups;
    uint32_t cuts[3];
    cut_axes(cuts, groups, pieces->count);
    const uint64_t count = (uint64_t)cuts[0] * cuts[1] * cuts[2];
    for (uint64_t part = 0; part < count; part++) {
        struct weft_dispatch_part step = {.dispatch = index};
        cut_axis(&step, 0, groups[0], (uint32_t)(part % cuts[0]), cuts[0]);
        cut_axis(&step, 1, groups[1], (uint32_t)(part / cuts[0] % cuts[1]), cuts[1]);
        cut_axis(&step, 2, groups[2], (uint32_t)(part / cuts[0] / cuts[1]), cuts[2]);
        step.new_submission = pieces->each_submitted || (part == 0 && pieces->first_submitted);
        WEFT_TRY(add_step(steps, &plan->device->host, &step));
    }
    return WEFT_OK;
}

/* Pieces that are below a limit each; a limit of 0: none. */
static uint32_t pieces_of(double ms, double limit) {
    const double count = limit > 0.0 && ms > 0.0 ? ms / limit + 1.0 : 1.0;
    return count < (double)UINT32_MAX ? (uint32_t)count : UINT32_MAX;
}

weft_status weft_plan_split(struct weft_steps *steps, const weft_plan *plan, double part_ms,
                            bool measured) {
    const weft_device *device = plan->device;
    const double limit = device->submission_limit_ms; /* 0: unlimited */
    double used = 0.0;
    for (uint32_t i = 0; i < plan->lowering.dispatch_count; i++) {
        const double ms = measured ? atomic_load(&plan->dispatch_ms[i])
                                   : weft_dispatch_ms(device, &plan->lowering.dispatches[i]);
        const uint32_t in_limit = pieces_of(ms, limit);
        const uint32_t in_parts = pieces_of(ms, part_ms);
        struct pieces pieces = {.count = in_limit > in_parts ? in_limit : in_parts,
                                .each_submitted = limit > 0.0 && ms > limit};
        if (pieces.each_submitted) {
            used = limit; /* the next dispatch starts a submission of its own */
        } else {
            pieces.first_submitted = i == 0 || (limit > 0.0 && used + ms > limit);
            used = pieces.first_submitted ? ms : used + ms;
        }
        WEFT_TRY(add_parts(steps, plan, i, &pieces));
    }
    return WEFT_OK;
}

void weft_plan_take_steps(weft_plan *plan, struct weft_steps *steps) {
    weft_free(&plan->device->host, plan->steps.at);
    plan->steps = *steps;
    plan->info.parts = steps->count;
    plan->info.submissions = steps->submissions;
}
