/* SPDX-License-Identifier: MIT */
/* Splitting a plan again, by what its dispatches were found to take. */
#include <math.h>

#include <weft/vulkan.h>

#include "core/given.h"
#include "core/try.h"
#include "plan/plan.h"

/* The workspaces of a plan: its own, then those of its bindings that have one. */
struct workspaces {
    struct weft_workspace **at;
    uint32_t count;
};

static weft_status list_workspaces(struct workspaces *workspaces, weft_plan *plan) {
    uint32_t most = 1;
    for (const weft_bindings *bindings = plan->bindings; bindings; bindings = bindings->next) {
        most++;
    }
    workspaces->at = weft_alloc_zero(&plan->device->host, most, sizeof(struct weft_workspace *));
    if (!workspaces->at) {
        return weft_fail_memory(&plan->device->host, "a plan's workspaces");
    }
    workspaces->at[workspaces->count++] = &plan->workspace;
    for (weft_bindings *bindings = plan->bindings; bindings; bindings = bindings->next) {
        if (bindings->workspace == &bindings->own) {
            workspaces->at[workspaces->count++] = &bindings->own;
        }
    }
    return WEFT_OK;
}

/* The runs that Weft has submitted use the commands and queries that go away. */
static weft_status wait_for_runs(weft_device *device, const struct workspaces *workspaces) {
    for (uint32_t i = 0; i < workspaces->count; i++) {
        const uint64_t newest = workspaces->at[i]->newest_run;
        if (newest) {
            WEFT_TRY(weft_device_wait(device, newest, UINT64_MAX, NULL));
        }
    }
    return WEFT_OK;
}

static weft_status make_queries(VkQueryPool *queries, const weft_plan *plan, uint32_t count,
                                const struct weft_steps *steps) {
    for (uint32_t i = 0; i < count; i++) {
        WEFT_TRY(weft_queries_create(&queries[i], plan, steps->count));
    }
    return WEFT_OK;
}

/* Nothing of this can fail. The queries that there were are left in `queries`. */
static void replace(weft_plan *plan, struct weft_steps *steps, VkQueryPool *queries,
                    const struct workspaces *workspaces) {
    weft_plan_take_steps(plan, steps);
    *steps = (struct weft_steps){0};
    for (uint32_t i = 0; i < workspaces->count; i++) {
        struct weft_workspace *workspace = workspaces->at[i];
        const VkQueryPool old = workspace->queries;
        workspace->queries = queries[i];
        queries[i] = old;
    }
    for (weft_bindings *bindings = plan->bindings; bindings; bindings = bindings->next) {
        bindings->commands_current = false;
    }
}

static weft_status split(weft_plan *plan, double part_ms, VkQueryPool *queries,
                         const struct workspaces *workspaces) {
    struct weft_steps steps = {0};
    weft_status status = weft_plan_split(&steps, plan, part_ms, true);
    status = status == WEFT_OK ? wait_for_runs(plan->device, workspaces) : status;
    status = status == WEFT_OK ? make_queries(queries, plan, workspaces->count, &steps) : status;
    if (status == WEFT_OK) {
        replace(plan, &steps, queries, workspaces);
    }
    weft_free(&plan->device->host, steps.at);
    return status;
}

weft_status weft_plan_split_measured(weft_plan *plan, double part_ms) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(plan, device->host), plan);
    weft_device *device = plan->device;
    if (!(part_ms >= 0.0) || !isfinite(part_ms) || !atomic_load(&plan->measured)) {
        return weft_fail(&device->host, WEFT_INVALID_ARGUMENT,
                         "weft_plan_split_measured: part_ms %g must be finite and at least 0, and "
                         "the plan's times known from weft_plan_get_timings, which they are%s",
                         part_ms, atomic_load(&plan->measured) ? "" : " not");
    }
    WEFT_TRY(weft_device_runs(device));
    struct workspaces workspaces = {0};
    WEFT_TRY(list_workspaces(&workspaces, plan));
    VkQueryPool *queries = weft_alloc_zero(&device->host, workspaces.count, sizeof(VkQueryPool));
    const weft_status status = queries ? split(plan, part_ms, queries, &workspaces)
                                       : weft_fail_memory(&device->host, "a plan's time stamps");
    for (uint32_t i = 0; queries && i < workspaces.count; i++) {
        if (queries[i]) {
            device->vk.DestroyQueryPool(device->vk.handle, queries[i], NULL);
        }
    }
    weft_free(&device->host, queries);
    weft_free(&device->host, (void *)workspaces.at);
    return status;
}
