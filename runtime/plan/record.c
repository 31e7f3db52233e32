/* SPDX-License-Identifier: MIT */
/* Recording a plan into command buffers, the caller's or its own, and running it. */
#include "plan/plan.h"

#include <weft/vulkan.h>

#include "core/given.h"
#include "core/try.h"
#include "device/debug_label.h"

void weft_record_barrier(const weft_device *device, VkCommandBuffer commands) {
    VkMemoryBarrier memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                              .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT,
                              .dstAccessMask =
                                  VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT};
    device->vk.CmdPipelineBarrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                                  VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0, 1, &memory, 0, NULL, 0,
                                  NULL);
}

/* Makes results in the host's own memory visible to it when the run is complete. */
static void host_barrier(const weft_device *device, VkCommandBuffer commands) {
    VkMemoryBarrier memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                              .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT,
                              .dstAccessMask = VK_ACCESS_HOST_READ_BIT};
    device->vk.CmdPipelineBarrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                                  VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &memory, 0, NULL, 0, NULL);
}

static void stamp(const weft_bindings *bindings, VkCommandBuffer commands, uint32_t query) {
    if (bindings->workspace->queries) {
        bindings->plan->device->vk.CmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT,
                                                     bindings->workspace->queries, query);
    }
}

void weft_record_step(const weft_plan *plan, VkCommandBuffer commands,
                      const weft_bindings *bindings, uint32_t index, bool ordered) {
    const struct weft_vk_device *vk = &plan->device->vk;
    const struct weft_dispatch_part *step = &plan->steps.at[index];
    const struct weft_dispatch *dispatch = &plan->lowering.dispatches[step->dispatch];
    const struct weft_pipeline *pipeline = dispatch->built;
    VkDescriptorSet set = bindings->workspace->sets[step->dispatch];
    set = set ? set : bindings->sets[step->dispatch];
    bool first_part = step->base[0] == 0 && step->base[1] == 0 && step->base[2] == 0;
    /* Parts of a dispatch write apart. To a layer that takes all that is bound for written they would be hazards, and have an order. */
    const bool barrier = first_part ? dispatch->barrier : plan->device->instance.accesses;
    if (barrier && !ordered) {
        weft_record_barrier(plan->device, commands);
    }
    weft_debug_label_begin(plan->device, commands, dispatch->label);
    vk->CmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline->handle);
    vk->CmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline->layout, 0, 1,
                              &set, 0, NULL);
    if (dispatch->push_size > 0) {
        vk->CmdPushConstants(commands, pipeline->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0,
                             dispatch->push_size, dispatch->push);
    }
    stamp(bindings, commands, 2 * index);
    if (first_part) { /* old validation layers look for hazards at this one only */
        vk->CmdDispatch(commands, step->groups[0], step->groups[1], step->groups[2]);
    } else {
        vk->CmdDispatchBase(commands, step->base[0], step->base[1], step->base[2], step->groups[0],
                            step->groups[1], step->groups[2]);
    }
    stamp(bindings, commands, 2 * index + 1);
    weft_debug_label_end(plan->device, commands);
}

/*
 * Records the steps of the submission that begins with step *next, which is that of the following one then. The barrier in front makes
 * earlier work of the queue that used the arena (a run, a recording) finish first; between submissions it takes the place of the barrier of
 * their first dispatch.
 */
static void record_submission(weft_plan *plan, VkCommandBuffer commands,
                              const weft_bindings *bindings, uint32_t *next) {
    const uint32_t first = *next;
    weft_record_barrier(plan->device, commands);
    do {
        weft_record_step(plan, commands, bindings, *next, *next == first);
        ++*next;
    } while (*next < plan->steps.count && !plan->steps.at[*next].new_submission);
}

void weft_record_begin(const weft_bindings *bindings, VkCommandBuffer commands) {
    const weft_plan *plan = bindings->plan;
    if (bindings->workspace->queries) {
        plan->device->vk.CmdResetQueryPool(commands, bindings->workspace->queries, 0,
                                           2 * plan->steps.count);
    }
    weft_images_record(bindings, commands, false);
}

void weft_record_end(const weft_bindings *bindings, VkCommandBuffer commands) {
    weft_images_record(bindings, commands, true);
}

weft_status weft_plan_record(weft_plan *plan, VkCommandBuffer commands, weft_bindings *bindings) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(plan, device->host), plan, commands, bindings);
    if (bindings->plan != plan) {
        return weft_fail(&plan->device->host, WEFT_INVALID_ARGUMENT,
                         "weft_plan_record: the bindings are of another plan");
    }
    WEFT_TRY(weft_device_records(plan->device));
    WEFT_TRY(weft_bindings_prepare(bindings));
    weft_record_begin(bindings, commands);
    for (uint32_t step = 0; step < plan->steps.count;) {
        record_submission(plan, commands, bindings, &step);
    }
    weft_record_end(bindings, commands);
    weft_stats_recorded(plan, plan->steps.count, true);
    return WEFT_OK;
}

static weft_status record_own(weft_bindings *bindings, uint32_t submission, uint32_t *step) {
    weft_plan *plan = bindings->plan;
    weft_device *device = plan->device;
    VkCommandBuffer *commands = &bindings->commands[submission];
    if (!bindings->command_pool) {
        WEFT_TRY(weft_command_pool_create(&bindings->command_pool, device));
    }
    if (!*commands) {
        VkCommandBufferAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                            .commandPool = bindings->command_pool,
                                            .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                            .commandBufferCount = 1};
        WEFT_TRY(weft_device_check(
            device, device->vk.AllocateCommandBuffers(device->vk.handle, &info, commands),
            "vkAllocateCommandBuffers"));
    }
    /* Simultaneous use: a run may be submitted again before the last one has finished; the barrier orders them. */
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                      .flags = VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT};
    WEFT_TRY(weft_device_check(device, device->vk.BeginCommandBuffer(*commands, &begin),
                               "vkBeginCommandBuffer"));
    if (submission == 0) {
        weft_record_begin(bindings, *commands);
    }
    record_submission(plan, *commands, bindings, step);
    if (submission + 1 == plan->info.submissions) {
        weft_record_end(bindings, *commands);
        if (bindings->has_host) {
            host_barrier(device, *commands);
        }
    }
    return weft_device_check(device, device->vk.EndCommandBuffer(*commands), "vkEndCommandBuffer");
}

/* As many command buffers as there are submissions: another number once the plan has been split again. */
static weft_status resize_commands(weft_bindings *bindings) {
    const weft_plan *plan = bindings->plan;
    const weft_host *host = &plan->device->host;
    const uint32_t count = plan->steps.submissions;
    if (bindings->command_count == count) {
        return WEFT_OK;
    }
    VkCommandBuffer *commands = weft_alloc_zero(host, count, sizeof *commands);
    if (!commands) {
        return weft_fail_memory(host, "bindings");
    }
    if (bindings->command_pool) { /* and with it the command buffers */
        plan->device->vk.DestroyCommandPool(plan->device->vk.handle, bindings->command_pool, NULL);
        bindings->command_pool = VK_NULL_HANDLE;
    }
    weft_free(host, bindings->commands);
    bindings->commands = commands;
    bindings->command_count = count;
    return WEFT_OK;
}

weft_status weft_bindings_record(weft_bindings *bindings) {
    weft_status status = weft_bindings_prepare(bindings);
    if (status != WEFT_OK || bindings->commands_current) {
        return status;
    }
    if (bindings->newest_run) { /* command buffers in flight must not be recorded again */
        WEFT_TRY(weft_device_wait(bindings->plan->device, bindings->newest_run, UINT64_MAX, NULL));
    }
    WEFT_TRY(resize_commands(bindings));
    uint32_t step = 0;
    for (uint32_t i = 0; i < bindings->command_count && status == WEFT_OK; i++) {
        status = record_own(bindings, i, &step);
    }
    bindings->commands_current = status == WEFT_OK;
    return status;
}

static weft_status check_points(const weft_host *host, const weft_semaphore_point *points,
                                uint32_t count, const char *what) {
    for (uint32_t i = 0; i < count; i++) {
        if (!points || points[i].semaphore == VK_NULL_HANDLE) {
            return weft_fail(host, WEFT_INVALID_ARGUMENT,
                             "weft_plan_submit_with: %s %u of %u is null", what, i, count);
        }
    }
    return WEFT_OK;
}

static weft_status submit(weft_plan *plan, weft_bindings *bindings,
                          const weft_submit_params *params, uint64_t *ticket,
                          const char *function) {
    if (bindings->plan != plan) {
        return weft_fail(&plan->device->host, WEFT_INVALID_ARGUMENT,
                         "%s: the bindings are of another plan", function);
    }
    const weft_host *host = &plan->device->host;
    WEFT_TRY(check_points(host, params->waits, params->wait_count, "wait"));
    WEFT_TRY(check_points(host, params->signal_points, params->signal_count, "signal"));
    WEFT_TRY(weft_device_runs(plan->device));
    WEFT_TRY(weft_bindings_record(bindings));
    WEFT_TRY(weft_device_submit_run(plan->device, bindings->commands, plan->info.submissions,
                                    params, ticket));
    weft_bindings_submitted(bindings, *ticket);
    weft_stats_submitted(plan, *ticket);
    return WEFT_OK;
}

void weft_bindings_submitted(weft_bindings *bindings, uint64_t ticket) {
    bindings->workspace->newest_run = ticket;
    bindings->newest_run = ticket;
}

weft_status weft_plan_submit(weft_plan *plan, weft_bindings *bindings, uint64_t *ticket) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(plan, device->host), plan, bindings, ticket);
    return submit(plan, bindings, &(weft_submit_params){0}, ticket, "weft_plan_submit");
}

weft_status weft_plan_submit_with(weft_plan *plan, weft_bindings *bindings,
                                  const weft_submit_params *params, uint64_t *ticket) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(plan, device->host), plan, bindings, params, ticket);
    return submit(plan, bindings, params, ticket, "weft_plan_submit_with");
}

weft_status weft_plan_wait(weft_plan *plan, uint64_t ticket, uint64_t timeout_ns, bool *done) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(plan, device->host), plan);
    WEFT_TRY(weft_device_runs(plan->device));
    if (ticket > atomic_load(&plan->device->timeline_value)) {
        return weft_fail(&plan->device->host, WEFT_INVALID_ARGUMENT,
                         "weft_plan_wait: no submission has ticket %llu, the newest is %llu",
                         (unsigned long long)ticket,
                         (unsigned long long)atomic_load(&plan->device->timeline_value));
    }
    const uint64_t submissions = plan->info.submissions;
    return weft_device_wait_or_cancel(plan->device,
                                      ticket > submissions ? ticket - submissions + 1 : 1, ticket,
                                      timeout_ns, done);
}
