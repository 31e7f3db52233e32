/* SPDX-License-Identifier: MIT */
/* The smallest back end of runtime/softvk: docs/adding-a-device.md goes through it. */
#include "null/null_device.h"

#include <stdio.h>
#include <string.h>

#include "jobs/machine.h"
#include "softvk/device.h"
#include "softvk/query.h"

/* ---- what it is ---- */

#define HEAP        (UINT64_C(1) << 32)
#define INVOCATIONS 1024u

/* As little as a device of Vulkan 1.2 may have where it matters to plans, and no more than they need. */
static void describe(struct weft_soft_properties *properties, void *user) {
    VkPhysicalDeviceLimits *limits = &properties->limits;
    (void)user;
    properties->type = VK_PHYSICAL_DEVICE_TYPE_OTHER;
    (void)snprintf(properties->name, sizeof properties->name, "nothing");
    (void)snprintf(properties->version, sizeof properties->version, "%s", weft_version());
    (void)snprintf((char *)properties->uuid, sizeof properties->uuid, "null %s", weft_version());
    properties->memory = HEAP;
    properties->immediate = true;
    properties->survives_fork = true;
    properties->subgroup_size = 32;
    properties->subgroup_operations =
        VK_SUBGROUP_FEATURE_BASIC_BIT | VK_SUBGROUP_FEATURE_ARITHMETIC_BIT;
    limits->maxStorageBufferRange = UINT32_C(1) << 30;
    limits->minStorageBufferOffsetAlignment = 16;
    limits->maxComputeSharedMemorySize = 32u << 10;
    limits->maxComputeWorkGroupInvocations = INVOCATIONS;
    for (uint32_t i = 0; i < 3; i++) {
        limits->maxComputeWorkGroupSize[i] = INVOCATIONS;
    }
}

/* ---- from start to end ---- */

struct null_device {
    struct weft_soft_device *device;
    struct weft_null_counts counts;
};

static VkResult open_device(void **state, struct weft_soft_device *device, void *user) {
    (void)user;
    struct null_device *made = weft_soft_new(device, sizeof *made);
    if (!made) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    made->device = device;
    *state = made;
    return VK_SUCCESS;
}

static void close_device(void *state) {
    struct null_device *old = state;
    weft_soft_delete(old->device, old);
}

/* ---- memory ---- */

static VkResult allocate(struct weft_soft_memory *memory, void *state) {
    memory->bytes = weft_soft_new(((struct null_device *)state)->device, (size_t)memory->size);
    return memory->bytes ? VK_SUCCESS : VK_ERROR_OUT_OF_DEVICE_MEMORY;
}

static void free_memory(struct weft_soft_memory *memory, void *state) {
    weft_soft_delete(((struct null_device *)state)->device, memory->bytes);
}

static uint8_t *map(struct weft_soft_memory *memory, void *state) {
    (void)state;
    return memory->bytes;
}

static uint8_t *bytes_of(const struct weft_soft_range *range) {
    return range->memory->bytes + range->offset;
}

/* ---- kernels ---- */

/* The object is the module: there is nothing to make of it. */
static weft_status compile(struct weft_soft_object *object, const struct weft_soft_source *source,
                           void *state, const weft_host *host) {
    (void)state;
    object->bytes = weft_alloc(host, source->size);
    if (!object->bytes) {
        return weft_fail_memory(host, "a module");
    }
    memcpy(object->bytes, source->words, source->size);
    object->size = source->size;
    return WEFT_OK;
}

static weft_status load(struct weft_soft_kernel *kernel, const uint8_t *bytes, size_t size,
                        void *state, const weft_host *host) {
    (void)kernel; /* it has all bindings of the layout */
    (void)bytes;
    (void)size;
    (void)state;
    (void)host;
    return WEFT_OK;
}

static void unload(struct weft_soft_kernel *kernel, void *state) {
    (void)kernel;
    (void)state;
}

/* ---- running ---- */

static void count_dispatch(struct weft_null_counts *counts,
                           const struct weft_soft_dispatch_record *record) {
    const struct weft_soft_range *ranges = weft_soft_dispatch_ranges(record);
    counts->dispatches++;
    counts->groups += (uint64_t)record->groups[0] * record->groups[1] * record->groups[2];
    for (uint32_t i = 0; i < record->kernel->binding_count; i++) {
        counts->bound_bytes += ranges[i].size;
    }
}

static void copy(struct weft_null_counts *counts, const struct weft_soft_copy_record *record) {
    memmove(bytes_of(&record->to), bytes_of(&record->from), (size_t)record->from.size);
    counts->copies++;
    counts->copied_bytes += record->from.size;
}

static void fill(struct weft_null_counts *counts, const struct weft_soft_fill_record *record) {
    uint8_t *to = bytes_of(&record->to);
    for (uint64_t at = 0; at < record->to.size; at += sizeof record->word) {
        memcpy(to + at, &record->word, sizeof record->word);
    }
    counts->fills++;
    counts->filled_bytes += record->to.size;
}

static void run_one(struct weft_null_counts *counts, struct weft_soft_record *record,
                    const struct weft_watch *watch) {
    switch (record->command) {
    case WEFT_SOFT_DISPATCH:
        count_dispatch(counts, (const void *)(record + 1));
        break;
    case WEFT_SOFT_COPY:
        copy(counts, (const void *)(record + 1));
        break;
    case WEFT_SOFT_FILL:
        fill(counts, (const void *)(record + 1));
        break;
    case WEFT_SOFT_BARRIER:
        counts->barriers++;
        break;
    case WEFT_SOFT_RESET_QUERIES:
    case WEFT_SOFT_WRITE_TIMESTAMP:
    case WEFT_SOFT_CALL:
        weft_soft_run_other(record, watch, weft_clock_ns());
        break;
    }
}

static void run(const struct weft_soft_stream *stream, struct weft_watch *watch, void *state) {
    struct weft_null_counts *counts = &((struct null_device *)state)->counts;
    struct weft_soft_record *record = NULL;
    counts->streams++;
    while ((record = weft_soft_stream_next(stream, record))) {
        if (!weft_halted(watch) || weft_soft_runs_when_halted(record)) {
            run_one(counts, record, watch);
        }
    }
}

const struct weft_soft_backend weft_null_backend = {
    .driver = "Weft null device",
    .describe = describe,
    .open = open_device,
    .close = close_device,
    .allocate = allocate,
    .free = free_memory,
    .map = map,
    .compile = compile,
    .load = load,
    .unload = unload,
    .run = run,
};

/* ---- counts ---- */

static struct null_device *null_of(VkDevice device) {
    return weft_soft_device_of(device)->state;
}

struct weft_null_counts weft_null_counts(VkDevice device) {
    return null_of(device)->counts;
}

void weft_null_reset(VkDevice device) {
    null_of(device)->counts = (struct weft_null_counts){0};
}
