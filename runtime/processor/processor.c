/* SPDX-License-Identifier: MIT */
#include "processor/processor.h"

#include <stdio.h>
#include <string.h>

#include "core/hash.h"
#include "jobs/machine.h"
#include "native/memory.h"
#include "native/target.h"
#include "processor/settings.h"
#include "processor/state.h"

/* ---- what it is ---- */

/* Objects of other processors and vector widths, and of other versions of the compiler, are another device's. */
static void make_uuid(uint8_t uuid[VK_UUID_SIZE], uint32_t lanes) {
    const uint8_t number = (uint8_t)lanes;
    weft_sha256 hash;
    weft_sha256_begin(&hash);
    weft_sha256_add(&hash, weft_version(), strlen(weft_version()) + 1);
    weft_sha256_add(&hash, weft_native_target(), strlen(weft_native_target()) + 1);
    weft_sha256_add(&hash, weft_native_compiler(), strlen(weft_native_compiler()) + 1);
    weft_sha256_add(&hash, &number, 1);
    const weft_digest digest = weft_sha256_end(&hash);
    memcpy(uuid, digest.bytes, VK_UUID_SIZE);
}

static void limit(VkPhysicalDeviceLimits *limits) {
    limits->maxStorageBufferRange = WEFT_NATIVE_MAX_RANGE;
    limits->minStorageBufferOffsetAlignment = WEFT_NATIVE_RANGE_ALIGNMENT;
    limits->maxComputeSharedMemorySize = WEFT_NATIVE_SHARED_MEMORY;
    limits->maxComputeWorkGroupInvocations = WEFT_NATIVE_MAX_INVOCATIONS;
    for (uint32_t i = 0; i < 3; i++) {
        limits->maxComputeWorkGroupSize[i] = WEFT_NATIVE_MAX_INVOCATIONS;
    }
}

static void describe(struct weft_soft_properties *properties, void *user) {
    struct weft_processor_settings settings;
    (void)user;
    weft_processor_settings_read(&settings);
    weft_processor_name(properties->name, sizeof properties->name);
    properties->type = VK_PHYSICAL_DEVICE_TYPE_CPU;
    properties->native = weft_native_can_compile();
    properties->interprets = !properties->native;
    properties->accelerates_dots =
        properties->native && weft_native_machine()->dot > WEFT_NATIVE_DOT_PAIRS;
    if (properties->interprets) {
        (void)snprintf(properties->version, sizeof properties->version, "%s, interpreted: slow",
                       weft_version());
    } else {
        (void)snprintf(properties->version, sizeof properties->version,
                       "%s, %u-bit vectors, LLVM %u", weft_version(), 32 * settings.lanes,
                       weft_native_compiler_version());
    }
    make_uuid(properties->uuid, settings.lanes);
    limit(&properties->limits);
    properties->memory = weft_machine_memory();
    properties->host_memory = true;
    properties->survives_fork = true;
    properties->threads = settings.threads;
    /* As elsewhere, what was chosen and is not there has no other take its place. */
    properties->fault = settings.fault || !weft_native_compiler_is_chosen()
                            ? settings.fault
                            : weft_native_compiler_fault();
    properties->subgroup_size = settings.lanes;
    properties->subgroup_operations = VK_SUBGROUP_FEATURE_BASIC_BIT | VK_SUBGROUP_FEATURE_VOTE_BIT |
                                      VK_SUBGROUP_FEATURE_ARITHMETIC_BIT |
                                      VK_SUBGROUP_FEATURE_BALLOT_BIT;
}

/* ---- from start to end ---- */

static VkResult open_device(void **state, struct weft_soft_device *device, void *user) {
    (void)user;
    struct weft_processor *made = weft_soft_new(device, sizeof *made);
    if (!made || !weft_scratch_create(&made->scratch, device->jobs.concurrency)) {
        weft_soft_delete(device, made);
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    made->device = device;
    *state = made;
    return VK_SUCCESS;
}

static void close_device(void *state) {
    struct weft_processor *old = state;
    weft_scratch_destroy(&old->scratch, &old->device->host);
    weft_soft_delete(old->device, old);
}

/* ---- memory, which is the host's ---- */

static VkResult allocate(struct weft_soft_memory *memory, void *state) {
    (void)state;
    memory->bytes = weft_native_bytes_allocate((size_t)memory->size);
    return memory->bytes ? VK_SUCCESS : VK_ERROR_OUT_OF_DEVICE_MEMORY;
}

static void free_memory(struct weft_soft_memory *memory, void *state) {
    (void)state;
    weft_native_bytes_free(memory->bytes);
}

static uint8_t *map(struct weft_soft_memory *memory, void *state) {
    (void)state;
    return memory->bytes;
}

const struct weft_soft_backend weft_processor_backend = {
    .driver = WEFT_PROCESSOR_DRIVER_NAME,
    .describe = describe,
    .open = open_device,
    .close = close_device,
    .allocate = allocate,
    .free = free_memory,
    .map = map,
    .compile = weft_processor_compile,
    .load = weft_processor_load,
    .unload = weft_processor_unload,
    .run = weft_processor_run,
};
