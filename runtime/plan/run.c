/* SPDX-License-Identifier: MIT */
/* A run from its submission to its end. */
#include "core/given.h"
#include "core/try.h"
#include "plan/plan.h"

/* Nothing can stop what a device of others has, so it gets the next part when the last but one is done. */
static weft_status submit_in_turn(uint64_t *ticket, weft_plan *plan, weft_bindings *bindings) {
    weft_device *device = plan->device;
    for (uint32_t i = 0; i < plan->info.submissions; i++) {
        const uint64_t before = *ticket;
        WEFT_TRY(weft_device_submit(device, &bindings->commands[i], 1, ticket));
        weft_bindings_submitted(bindings, *ticket);
        if (before > 0) {
            WEFT_TRY(weft_device_wait(device, before, UINT64_MAX, NULL));
        }
    }
    weft_stats_submitted(plan, *ticket);
    return weft_device_wait(device, *ticket, UINT64_MAX, NULL);
}

/* A run that is cancelled has ended when this returns. */
static weft_status run_in_turn(weft_plan *plan, weft_bindings *bindings) {
    uint64_t ticket = 0;
    WEFT_TRY(weft_bindings_record(bindings));
    const weft_status status = submit_in_turn(&ticket, plan, bindings);
    if (status == WEFT_CANCELLED) {
        weft_device_settle(plan->device, ticket);
    }
    return status;
}

weft_status weft_plan_run(weft_plan *plan, weft_bindings *bindings) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(plan, device->host), plan, bindings);
    if (bindings->plan != plan) {
        return weft_fail(&plan->device->host, WEFT_INVALID_ARGUMENT,
                         "weft_plan_run: the bindings are of another plan");
    }
    const weft_device *device = plan->device;
    WEFT_TRY(weft_device_runs(device));
    WEFT_TRY(weft_interrupted(&device->host));
    if (device->host.interrupted && !device->in_process) {
        return run_in_turn(plan, bindings);
    }
    uint64_t ticket = 0;
    WEFT_TRY(weft_plan_submit(plan, bindings, &ticket));
    return weft_plan_wait(plan, ticket, UINT64_MAX, NULL);
}
