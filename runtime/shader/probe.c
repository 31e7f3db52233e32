/* SPDX-License-Identifier: MIT */
/* Running the reproducibility probe on a device, and remembering the verdict for its driver. */
#include "shader/probe.h"

#include <stdio.h>
#include <string.h>

#include "core/disk_cache.h"
#include "core/float_modes.h"
#include "core/hash.h"
#include "core/rules.h"
#include "core/try.h"
#include "device/commands.h"
#include "shader/embedded.h"
#include "shader/pipeline.h"
#include "shader/probe_cases.h"

#define SHADER         "probe/arithmetic"
#define CACHE_KIND     "probe"
#define LOCAL_SIZE     64u
#define REASON_SIZE    256
#define VERDICT_PASS   'P' /* first byte of a cached verdict; followed by NO_NEEDS + needs */
#define NO_NEEDS       '0'
#define VERDICT_REFUSE 'R' /* followed by the reason */

/* All that one run of the probe needs. */
struct probe {
    struct weft_probe_input inputs[WEFT_PROBE_CASES];
    struct weft_probe_result results[WEFT_PROBE_CASES];
    uint32_t verdict;         /* of weft_probe_verdict, in the end: what modules need, or WRONG */
    char reason[REASON_SIZE]; /* unless the device passed: why */
    const struct weft_pipeline *pipeline;
    VkBuffer buffers[2]; /* inputs, results */
    struct weft_allocation *allocations[2];
    VkDescriptorPool pool;
    VkDescriptorSet set;
};

static void add_text(weft_sha256 *hash, const char *text) {
    weft_sha256_add(hash, text, strlen(text) + 1);
}

/* Everything the verdict depends on: driver, hardware, shader, questions, and the version whose
 * SPIR-V passes ran. */
static weft_digest verdict_key(const weft_device *device, const struct probe *probe) {
    const weft_device_info *info = &device->info;
    /* Threads of the driver treat subnormals as whoever made its instance does. */
    const uint32_t numbers[] = {info->vendor_id, info->device_id, info->subgroup_size,
                                device->float_modes, device->owns_handles};
    weft_sha256 hash;
    weft_sha256_begin(&hash);
    add_text(&hash, weft_version());
    weft_sha256_add(&hash, info->uuid, sizeof info->uuid);
    add_text(&hash, info->name);
    add_text(&hash, info->driver);
    add_text(&hash, info->driver_version);
    weft_sha256_add(&hash, numbers, sizeof numbers);
    const struct weft_shader *shader = weft_shader_find(SHADER);
    weft_sha256_add(&hash, shader->reproducible.words, shader->reproducible.size);
    weft_sha256_add(&hash, probe->inputs, sizeof probe->inputs);
    return weft_sha256_end(&hash);
}

static weft_status read_verdict(bool *found, struct probe *probe, const weft_device *device,
                                const weft_digest *key) {
    uint8_t *data = NULL;
    size_t size = 0;
    *found = false;
    weft_status status =
        weft_cache_read(&data, &size, device->cache, CACHE_KIND, key, &device->host);
    if (status != WEFT_OK || !data) {
        return status;
    }
    if (size == 2 && data[0] == VERDICT_PASS && data[1] >= NO_NEEDS &&
        data[1] < NO_NEEDS + WEFT_PROBE_WRONG) {
        probe->verdict = (uint32_t)data[1] - NO_NEEDS;
        *found = true;
    } else if (size > 1 && size <= REASON_SIZE && data[0] == VERDICT_REFUSE) {
        memcpy(probe->reason, data + 1, size - 1);
        probe->reason[size - 1] = '\0';
        probe->verdict = WEFT_PROBE_WRONG;
        *found = true;
    }
    weft_free(&device->host, data);
    return WEFT_OK;
}

static void write_verdict(const struct probe *probe, const weft_device *device,
                          const weft_digest *key) {
    char verdict[REASON_SIZE + 1] = {VERDICT_PASS, (char)(NO_NEEDS + (int)probe->verdict)};
    size_t length = 1;
    if (probe->verdict == WEFT_PROBE_WRONG) {
        verdict[0] = VERDICT_REFUSE;
        length = strlen(probe->reason);
        memcpy(verdict + 1, probe->reason, length);
    }
    weft_cache_write(device->cache, CACHE_KIND, key, verdict, 1 + length, &device->host);
}

/* Host-visible memory: it does not count against the caller's limit, and needs no copies. */
static weft_status create_buffers(struct probe *probe, weft_device *device) {
    static const size_t sizes[] = {sizeof probe->inputs, sizeof probe->results};
    for (size_t i = 0; i < 2; i++) {
        WEFT_TRY(weft_vkbuffer_create(&probe->buffers[i], &probe->allocations[i], device, sizes[i],
                                      WEFT_MEMORY_STAGING));
    }
    memcpy(probe->allocations[0]->mapped, probe->inputs, sizeof probe->inputs);
    /* No right result is all ones everywhere, so a dispatch that writes nothing is found out. */
    memset(probe->allocations[1]->mapped, 0xff, sizeof probe->results);
    return WEFT_OK;
}

static weft_status create_set(struct probe *probe, weft_device *device) {
    VkDescriptorPoolSize size = {.type = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, .descriptorCount = 2};
    VkDescriptorPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
        .maxSets = 1,
        .poolSizeCount = 1,
        .pPoolSizes = &size,
    };
    WEFT_TRY(WEFT_VK_MAKE(device, CreateDescriptorPool, &pool, &probe->pool));
    VkDescriptorSetAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
        .descriptorPool = probe->pool,
        .descriptorSetCount = 1,
        .pSetLayouts = &probe->pipeline->set_layout,
    };
    WEFT_TRY(WEFT_VK(device, AllocateDescriptorSets, &info, &probe->set));
    VkDescriptorBufferInfo buffers[2];
    VkWriteDescriptorSet writes[2];
    for (uint32_t i = 0; i < 2; i++) {
        buffers[i] = (VkDescriptorBufferInfo){.buffer = probe->buffers[i], .range = VK_WHOLE_SIZE};
        writes[i] = (VkWriteDescriptorSet){
            .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
            .dstSet = probe->set,
            .dstBinding = i,
            .descriptorCount = 1,
            .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
            .pBufferInfo = &buffers[i],
        };
    }
    device->vk.UpdateDescriptorSets(device->vk.handle, 2, writes, 0, NULL);
    return WEFT_OK;
}

static void record(const void *user, const weft_device *device, VkCommandBuffer commands) {
    const struct probe *probe = user;
    const uint32_t count = WEFT_PROBE_CASES;
    const struct weft_pipeline *pipeline = probe->pipeline;
    device->vk.CmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline->handle);
    device->vk.CmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline->layout, 0,
                                     1, &probe->set, 0, NULL);
    device->vk.CmdPushConstants(commands, pipeline->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0,
                                sizeof count, &count);
    device->vk.CmdDispatchBase(commands, 0, 0, 0, (count + LOCAL_SIZE - 1) / LOCAL_SIZE, 1, 1);
    VkMemoryBarrier written = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_HOST_READ_BIT,
    };
    device->vk.CmdPipelineBarrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                                  VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &written, 0, NULL, 0, NULL);
}

static weft_status run_and_judge(struct probe *probe, weft_device *device) {
    const struct weft_pipeline_desc desc = {
        .name = SHADER, .binding_count = 2, .push_size = sizeof(uint32_t)};
    WEFT_TRY(weft_pipeline_get(&probe->pipeline, device, &desc));
    WEFT_TRY(create_buffers(probe, device));
    WEFT_TRY(create_set(probe, device));
    WEFT_TRY(weft_commands_once(device, record, probe));
    memcpy(probe->results, probe->allocations[1]->mapped, sizeof probe->results);
    probe->verdict =
        weft_probe_judge(probe->reason, sizeof probe->reason, probe->inputs, probe->results);
    return WEFT_OK;
}

static weft_status ask_device(struct probe *probe, weft_device *device) {
    weft_status status = run_and_judge(probe, device);
    if (probe->pool != VK_NULL_HANDLE) {
        device->vk.DestroyDescriptorPool(device->vk.handle, probe->pool, NULL);
        probe->pool = VK_NULL_HANDLE;
    }
    for (size_t i = 0; i < 2; i++) {
        weft_vkbuffer_destroy(device, &probe->buffers[i], &probe->allocations[i]);
    }
    return status;
}

static void set_needs(weft_device *device, uint32_t needs) {
    device->keeps_subnormals = (needs & WEFT_PROBE_KEEPS_SUBNORMALS) != 0;
    device->loses_small_products =
        (needs & WEFT_PROBE_LOSES_SMALL_PRODUCTS) != 0 || !weft_rule_holds("light-flush");
    device->folds_zeros = (needs & WEFT_PROBE_FOLDS_ZEROS) != 0;
}

/* A device that keeps subnormals or folds zeros is asked again, with modules that see to these
 * themselves, until it is right or nothing new turns up. */
static weft_status find_out(struct probe *probe, weft_device *device) {
    uint32_t needs = WEFT_PROBE_RIGHT;
    set_needs(device, needs);
    weft_status status = ask_device(probe, device);
    while (status == WEFT_OK && (probe->verdict & WEFT_PROBE_WRONG) == 0 &&
           weft_probe_needs(needs, probe->verdict) != needs) {
        weft_log(&device->host, WEFT_LOG_DEBUG, "%s needs modules of its own: %s",
                 device->info.name, probe->reason);
        needs = weft_probe_needs(needs, probe->verdict);
        set_needs(device, needs);
        status = ask_device(probe, device);
    }
    probe->verdict = probe->verdict == WEFT_PROBE_RIGHT ? needs : WEFT_PROBE_WRONG;
    return status;
}

/* Modules of its own cost a device time, so whoever wonders can see them. */
static void log_needs(const weft_device *device) {
    if (device->keeps_subnormals) {
        weft_log(&device->host, WEFT_LOG_INFO,
                 "%s keeps subnormals%s: its shaders flush them by instructions", device->info.name,
                 device->loses_small_products ? " and loses products that round to none" : "");
    }
    if (device->folds_zeros) {
        weft_log(&device->host, WEFT_LOG_INFO,
                 "%s folds x * 0 and x + 0: its shaders hide zero constants", device->info.name);
    }
}

static weft_status judge(struct probe *probe, weft_device *device) {
    bool known = false;
    weft_probe_make_inputs(probe->inputs);
    const weft_digest key = verdict_key(device, probe);
    weft_status status = read_verdict(&known, probe, device, &key);
    if (status == WEFT_OK && !known) {
        status = find_out(probe, device);
        if (status == WEFT_OK) {
            write_verdict(probe, device, &key);
        }
    }
    set_needs(device, probe->verdict);
    if (status == WEFT_OK && probe->verdict == WEFT_PROBE_WRONG) {
        status = weft_fail(&device->host, WEFT_UNSUPPORTED,
                           "%s cannot be used with reproducible math: %s", device->info.name,
                           probe->reason);
    }
    if (status == WEFT_OK) {
        log_needs(device);
    }
    return status;
}

weft_status weft_device_probe(weft_device *device) {
    if (device->math != WEFT_MATH_REPRODUCIBLE) {
        return WEFT_OK;
    }
    if (device->compile_only) { /* what hardware without the mode for it would be found to need */
        set_needs(device, device->on_processor || (device->float_modes & WEFT_FLOAT_FLUSH) != 0
                              ? WEFT_PROBE_RIGHT
                              : WEFT_PROBE_KEEPS_SUBNORMALS);
        return WEFT_OK;
    }
    struct probe *probe = weft_alloc_zero(&device->host, 1, sizeof *probe);
    if (!probe) {
        return weft_fail_memory(&device->host, "arithmetic probe");
    }
    weft_status status = judge(probe, device);
    weft_free(&device->host, probe);
    return status;
}
