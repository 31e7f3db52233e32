/* SPDX-License-Identifier: MIT */
/* Memory that one run of a plan at a time uses alone. */
#include "core/try.h"
#include "device/commands.h"
#include "device/debug_label.h"
#include "plan/plan.h"

static weft_status make_arena(struct weft_workspace *workspace, const weft_plan *plan) {
    if (plan->info.arena_bytes == 0) {
        return WEFT_OK;
    }
    WEFT_TRY(weft_vkbuffer_create_or_trim(&workspace->arena, &workspace->arena_allocation,
                                          plan->device, plan->info.arena_bytes));
    weft_debug_name(plan->device, VK_OBJECT_TYPE_BUFFER, (uint64_t)workspace->arena, "weft arena");
    return WEFT_OK;
}

static weft_status make_descriptors(struct weft_workspace *workspace, const weft_plan *plan) {
    const uint32_t count = plan->lowering.dispatch_count;
    workspace->sets = weft_alloc_zero(&plan->device->host, count + 1, sizeof *workspace->sets);
    if (!workspace->sets) {
        return weft_fail_memory(&plan->device->host, "descriptor sets");
    }
    WEFT_TRY(weft_descriptors_create(&workspace->descriptor_pool, workspace->sets, plan, false));
    for (uint32_t i = 0; i < count; i++) {
        if (workspace->sets[i]) {
            weft_descriptors_write(plan, workspace->arena, i, workspace->sets[i], NULL, NULL);
        }
    }
    return WEFT_OK;
}

struct queries {
    VkQueryPool pool;
    uint32_t count;
};

static void reset(const void *user, const weft_device *device, VkCommandBuffer commands) {
    const struct queries *queries = user;
    device->vk.CmdResetQueryPool(commands, queries->pool, 0, queries->count);
}

weft_status weft_queries_create(VkQueryPool *queries, const weft_plan *plan, uint32_t steps) {
    weft_device *device = plan->device;
    if (device->info.timestamp_period_ns <= 0.0) {
        return weft_fail(&device->host, WEFT_UNSUPPORTED, "%s has no time stamps",
                         device->info.name);
    }
    const VkQueryPoolCreateInfo info = {.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
                                        .queryType = VK_QUERY_TYPE_TIMESTAMP,
                                        .queryCount = 2 * steps + 1};
    WEFT_TRY(WEFT_VK_MAKE(device, CreateQueryPool, &info, queries));
    /* Those that were never reset must not be asked for. */
    const struct queries all = {*queries, info.queryCount};
    const weft_status status = weft_commands_once(device, reset, &all);
    if (status !=
        WEFT_OK) { /* where a wait failed the reset may still run, on queries that go now */
        weft_device_settle(device, device->timeline_value);
    }
    return status;
}

weft_status weft_workspace_begin(struct weft_workspace *workspace, const weft_plan *plan,
                                 bool timestamps) {
    if (plan->device->compile_only) {
        return WEFT_OK;
    }
    WEFT_TRY(make_arena(workspace, plan));
    WEFT_TRY(make_descriptors(workspace, plan));
    return timestamps ? weft_queries_create(&workspace->queries, plan, plan->steps.count) : WEFT_OK;
}

void weft_workspace_end(struct weft_workspace *workspace, const weft_plan *plan) {
    weft_device *device = plan->device;
    weft_device_settle(device, workspace->newest_run);
    if (workspace->queries) {
        device->vk.DestroyQueryPool(device->vk.handle, workspace->queries, NULL);
    }
    if (workspace->descriptor_pool) {
        device->vk.DestroyDescriptorPool(device->vk.handle, workspace->descriptor_pool, NULL);
    }
    weft_vkbuffer_destroy(device, &workspace->arena, &workspace->arena_allocation);
    weft_free(&device->host, workspace->sets);
}
