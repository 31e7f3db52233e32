/* SPDX-License-Identifier: MIT */
/*
 * Pipelines, and where a device keeps them. What is in a store is for pipeline.c, pipeline_store.c and tests alone.
 */
#ifndef WEFT_SHADER_PIPELINE_STORE_H
#define WEFT_SHADER_PIPELINE_STORE_H

#include "core/digest_map.h"
#include "core/kernel_limits.h"
#include "device/device.h"

/** Valid until the device is destroyed. */
struct weft_pipeline {
    VkPipeline handle;
    VkPipelineLayout layout;
    VkDescriptorSetLayout set_layout;
    uint32_t binding_count;
    uint32_t push_size;
};

/* All of it is under device->locks.pipelines, but for `cache`, which the driver locks by itself. */
struct weft_pipeline_store {
    uint32_t promised; /* pipelines that threads are making; both maps have room for them */
    struct weft_digest_map pipelines; /* digest of a description to struct weft_pipeline */
    VkDescriptorSetLayout set_layouts[WEFT_MAX_BINDINGS + 1]; /* by bindings */
    VkPipelineLayout layouts[WEFT_MAX_BINDINGS + 1]
                            [WEFT_MAX_PUSH_BYTES / 4 + 1]; /* and push words */
    VkPipelineCache cache;
    weft_digest cache_key;           /* names the cache's file: the driver's and Weft's identity */
    struct weft_digest_map manifest; /* digests of the pipelines that `cache` holds; no values */
    bool dirty;                      /* something is in `cache` that is not in the file */
};

/** Reads the pipeline cache from disk; a damaged or foreign file is a miss and is logged as a warning. */
weft_status weft_pipeline_store_create(weft_device *device);
/** Writes the cache to disk where something was added; without a store there is nothing to write. */
weft_status weft_pipeline_store_save(weft_device *device);
void weft_pipeline_store_destroy(weft_device *device);

/**
 * The layout for `bindings` storage buffers and `push_size` bytes of push constants; both are kept
 * and shared.
 */
weft_status weft_pipeline_layout_get(VkPipelineLayout *layout, VkDescriptorSetLayout *set_layout,
                                     weft_device *device, uint32_t bindings, uint32_t push_size);

/**
 * Reads the payload of the cache's file: adds the digests that it lists to an empty manifest and says
 * where the driver's data starts, which is `size` where the driver kept none. *fault, null before,
 * says what makes the payload unusable on this device. Errors: WEFT_OUT_OF_HOST_MEMORY.
 */
weft_status weft_pipeline_manifest_read(struct weft_digest_map *manifest, size_t *driver_data,
                                        const char **fault, const uint8_t *payload, size_t size,
                                        const weft_device_info *info, const weft_host *host);

#endif
