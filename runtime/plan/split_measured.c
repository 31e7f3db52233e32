/* SPDX-License-Identifier: MIT */
/* Splitting a plan again, by what its dispatches were found to take. */
#include <math.h>

#include <weft/vulkan.h>

#include "core/try.h"
#include "plan/plan.h"

/* The workspaces of a plan: its own at 0, then those of its bindings that have one. Null behind the last. */
static struct weft_workspace *workspace_at(weft_plan *plan, uint32_t index) {
    weft_bindings *bindings = plan->bindings;
    for (uint32_t i = 0; index > 0 && bindings; bindings = bindings->next) {
        i += bindings->workspace == &bindings->own;
        if (i == index) {
            return &bindings->own;
        }
    }
    return index == 0 ? &plan->workspace : NULL;
}

static uint32_t count_workspaces(weft_plan *plan) {
    uint32_t count = 1;
    while (workspace_at(plan, count)) {
        count++;
    }
    return count;
}

/* The runs that Weft has submitted use the commands and queries that go away. */
static weft_status wait_for_runs(weft_plan *plan) {
    weft_device *device = plan->device;
    for (uint32_t i = 0; workspace_at(plan, i); i++) {
        const uint64_t newest = workspace_at(plan, i)->newest_run;
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
                    uint32_t count) {
    weft_plan_take_steps(plan, steps);
    *steps = (struct weft_steps){0};
    for (uint32_t i = 0; i < count; i++) {
        struct weft_workspace *workspace = workspace_at(plan, i);
        const VkQueryPool old = workspace->queries;
        workspace->queries = queries[i];
        queries[i] = old;
    }
    for (weft_bindings *bindings = plan->bindings; bindings; bindings = bindings->next) {
        bindings->commands_current = false;
    }
}

static weft_status split(weft_plan *plan, double part_ms, VkQueryPool *queries, uint32_t count) {
    struct weft_steps steps = {0};
    weft_status status = weft_plan_split(&steps, plan, part_ms, true);
    status = status == WEFT_OK ? wait_for_runs(plan) : status;
    status = status == WEFT_OK ? make_queries(queries, plan, count, &steps) : status;
    if (status == WEFT_OK) {
        replace(plan, &steps, queries, count);
    }
    weft_free(&plan->device->host, steps.at);
    return status;
}

weft_status weft_plan_split_measured(weft_plan *plan, double part_ms) {
    WEFT_ENTER;
    if (!plan) {
        return WEFT_INVALID_ARGUMENT;
    }
    weft_device *device = plan->device;
    if (!(part_ms >= 0.0) || !isfinite(part_ms) || !atomic_load(&plan->measured)) {
        return weft_fail(&device->host, WEFT_INVALID_ARGUMENT,
                         "weft_plan_split_measured: part_ms %g must be finite and at least 0, and "
                         "the plan's times known from weft_plan_get_timings, which they are%s",
                         part_ms, atomic_load(&plan->measured) ? "" : " not");
    }
    WEFT_TRY(weft_device_runs(device));
    const uint32_t count = count_workspaces(plan);
    VkQueryPool *queries = weft_alloc_zero(&device->host, count, sizeof(VkQueryPool));
    if (!queries) {
        return weft_fail_memory(&device->host, "a plan's time stamps");
    }
    const weft_status status = split(plan, part_ms, queries, count);
    for (uint32_t i = 0; i < count; i++) {
        if (queries[i]) {
            device->vk.DestroyQueryPool(device->vk.handle, queries[i], NULL);
        }
    }
    weft_free(&device->host, queries);
    return status;
}
