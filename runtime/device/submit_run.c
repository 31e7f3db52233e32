/* SPDX-License-Identifier: MIT */
/* Submitting a run among the caller's own submissions. */
#include "device/device.h"

/* One call of vkQueueSubmit. Of a run's submissions only the first waits, and only the last signals the caller's semaphores. */
struct run {
    VkSubmitInfo *infos;                      /* [count] */
    VkTimelineSemaphoreSubmitInfo *timelines; /* [count] */
    uint64_t *signal_values; /* [count + signals]: the timeline's of each, then the caller's */
    VkSemaphore *signals;    /* [1 + signals]: the timeline, then the caller's */
    uint64_t *wait_values;   /* [waits] */
    VkSemaphore *waits;
    VkPipelineStageFlags *stages;
};

static bool allocate(struct run *run, const weft_host *host, uint32_t count,
                     const weft_submit_params *params) {
    const size_t waits = (size_t)params->wait_count + 1, signals = (size_t)params->signal_count + 1;
    run->infos = weft_alloc_zero(host, count, sizeof *run->infos);
    run->timelines = weft_alloc_zero(host, count, sizeof *run->timelines);
    run->signal_values = weft_alloc_zero(host, count + signals, sizeof *run->signal_values);
    run->signals = weft_alloc_zero(host, signals, sizeof(VkSemaphore));
    run->wait_values = weft_alloc_zero(host, waits, sizeof *run->wait_values);
    run->waits = weft_alloc_zero(host, waits, sizeof(VkSemaphore));
    run->stages = weft_alloc_zero(host, waits, sizeof *run->stages);
    return run->infos && run->timelines && run->signal_values && run->signals && run->wait_values &&
           run->waits && run->stages;
}

static void release(struct run *run, const weft_host *host) {
    weft_free(host, run->infos);
    weft_free(host, run->timelines);
    weft_free(host, run->signal_values);
    weft_free(host, run->signals);
    weft_free(host, run->wait_values);
    weft_free(host, run->waits);
    weft_free(host, run->stages);
}

static void fill(struct run *run, const VkCommandBuffer *commands, uint32_t count,
                 const weft_submit_params *params, bool has_timeline) {
    const uint32_t own = has_timeline ? 1 : 0;
    for (uint32_t i = 0; i < params->wait_count; i++) {
        run->waits[i] = params->waits[i].semaphore;
        run->wait_values[i] = params->waits[i].value;
        run->stages[i] = WEFT_PLAN_STAGE | WEFT_IMAGE_STAGE;
    }
    for (uint32_t i = 0; i < params->signal_count; i++) {
        run->signals[1 + i] = params->signal_points[i].semaphore;
        run->signal_values[count + i] = params->signal_points[i].value;
    }
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t waits = i == 0 ? params->wait_count : 0;
        const uint32_t signals = i + 1 == count ? params->signal_count + own : own;
        run->timelines[i] = (VkTimelineSemaphoreSubmitInfo){
            .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
            .waitSemaphoreValueCount = waits,
            .pWaitSemaphoreValues = run->wait_values,
            .signalSemaphoreValueCount = signals,
            .pSignalSemaphoreValues = &run->signal_values[i],
        };
        run->infos[i] = (VkSubmitInfo){
            .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
            .pNext = has_timeline ? &run->timelines[i] : NULL,
            .waitSemaphoreCount = waits,
            .pWaitSemaphores = run->waits,
            .pWaitDstStageMask = run->stages,
            .commandBufferCount = 1,
            .pCommandBuffers = &commands[i],
            .signalSemaphoreCount = signals,
            .pSignalSemaphores = &run->signals[1 - own],
        };
    }
}

weft_status weft_device_submit_run(weft_device *device, const VkCommandBuffer *commands,
                                   uint32_t count, const weft_submit_params *params,
                                   uint64_t *value) {
    if (count == 1 && params->wait_count == 0 && params->signal_count == 0) {
        return weft_device_submit(device, commands, 1, value);
    }
    struct run run = {0};
    weft_status status = WEFT_OK;
    if (allocate(&run, &device->host, count, params)) {
        run.signals[0] = device->timeline;
        fill(&run, commands, count, params, device->has_timeline);
        status = weft_device_queue_submit(device, run.infos, run.signal_values, count, value);
    } else {
        status = weft_fail_memory(&device->host, "a submission");
    }
    release(&run, &device->host);
    return status;
}

VkSemaphore weft_device_timeline(const weft_device *device) {
    return device ? device->timeline : VK_NULL_HANDLE;
}
