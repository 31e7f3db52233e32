/* SPDX-License-Identifier: MIT */
#include "shader/pipeline_store.h"

#include <string.h>

#include "core/bytes.h"
#include "core/system/disk_cache.h"
#include "core/try.h"

/*
 * Payload of the cache's file: the number of digests (4 bytes, little-endian), the digests of the
 * pipelines in the cache, then the data that vkGetPipelineCacheData gave. The digests are there
 * because Vulkan cannot be asked what a cache holds, and drivers may keep nothing in it.
 */
#define CACHE_KIND        "pipelines"
#define DIGEST_SIZE       sizeof(weft_digest)
#define VULKAN_HEADER     32u /* VkPipelineCacheHeaderVersionOne, bytes */
#define MAX_DIGESTS       ((uint32_t)1 << 20)
#define MAX_SIZE_ATTEMPTS 8

static uint32_t get_u32(const uint8_t *bytes) {
    return (uint32_t)weft_load_bytes(bytes, 4);
}

static weft_digest driver_identity(const weft_device_info *info) {
    weft_sha256 hash;
    weft_sha256_begin(&hash);
    weft_sha256_add(&hash, weft_version(), strlen(weft_version()) + 1);
    weft_sha256_add(&hash, info->uuid, sizeof info->uuid);
    weft_sha256_add(&hash, &info->vendor_id, sizeof info->vendor_id);
    weft_sha256_add(&hash, &info->device_id, sizeof info->device_id);
    weft_sha256_add(&hash, info->driver, strlen(info->driver) + 1);
    weft_sha256_add(&hash, info->driver_version, strlen(info->driver_version) + 1);
    return weft_sha256_end(&hash);
}

/*
 * Null when the driver's part is what this driver may be given, else what is wrong with it. A driver
 * that keeps nothing may give no data at all, not even a header.
 */
static const char *vulkan_data_fault(const uint8_t *data, size_t size,
                                     const weft_device_info *info) {
    if (size == 0) {
        return NULL;
    }
    if (size < VULKAN_HEADER) {
        return "the driver's data is cut short";
    }
    if (get_u32(data) < VULKAN_HEADER || get_u32(data) > size ||
        get_u32(data + 4) != VK_PIPELINE_CACHE_HEADER_VERSION_ONE) {
        return "the driver's data has an unknown header";
    }
    if (get_u32(data + 8) != info->vendor_id || get_u32(data + 12) != info->device_id ||
        memcmp(data + 16, info->uuid, VK_UUID_SIZE) != 0) {
        return "the driver's data is from another device or driver";
    }
    return NULL;
}

weft_status weft_pipeline_manifest_read(struct weft_digest_map *manifest, size_t *driver_data,
                                        const char **fault, const uint8_t *payload, size_t size,
                                        const weft_device_info *info, const weft_host *host) {
    uint32_t count = size >= 4 ? get_u32(payload) : 0;
    if (size < 4 || count > MAX_DIGESTS || (size - 4) / DIGEST_SIZE < count) {
        *fault = "its list of pipelines is cut short";
        return WEFT_OK;
    }
    *driver_data = 4 + count * DIGEST_SIZE;
    *fault = vulkan_data_fault(payload + *driver_data, size - *driver_data, info);
    for (uint32_t i = 0; i < count && !*fault; i++) {
        weft_digest digest;
        memcpy(digest.bytes, payload + 4 + i * DIGEST_SIZE, DIGEST_SIZE);
        if (!weft_digest_map_reserve(manifest, 1, host)) {
            return weft_fail_memory(host, "pipeline cache");
        }
        weft_digest_map_put(manifest, &digest, NULL);
    }
    return WEFT_OK;
}

static weft_status create_cache(VkPipelineCache *cache, weft_device *device, const uint8_t *data,
                                size_t size) {
    const VkPipelineCacheCreateInfo info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO,
                                            .initialDataSize = size,
                                            .pInitialData = data};
    return WEFT_VK_MAKE(device, CreatePipelineCache, &info, cache);
}

/* The payload is null where the disk has none. */
static weft_status take_payload(struct weft_pipeline_store *store, weft_device *device,
                                const uint8_t *payload, size_t size) {
    size_t driver_data = 0;
    const char *fault = NULL;
    if (!payload) {
        return create_cache(&store->cache, device, NULL, 0);
    }
    WEFT_TRY(weft_pipeline_manifest_read(&store->manifest, &driver_data, &fault, payload, size,
                                         &device->info, &device->host));
    if (fault) {
        weft_log(&device->host, WEFT_LOG_WARNING, "pipeline cache: %s; it starts empty", fault);
        driver_data = size;
    }
    return create_cache(&store->cache, device, payload + driver_data, size - driver_data);
}

static weft_status read_file(uint8_t **payload, size_t *size,
                             const struct weft_pipeline_store *store, weft_device *device) {
    return weft_cache_read(payload, size, device->cache, CACHE_KIND, &store->cache_key,
                           &device->host);
}

static weft_status load_cache(struct weft_pipeline_store *store, weft_device *device) {
    uint8_t *payload = NULL;
    size_t size = 0;
    WEFT_TRY(read_file(&payload, &size, store, device));
    weft_status status = take_payload(store, device, payload, size);
    weft_free(&device->host, payload);
    return status;
}

weft_status weft_pipeline_store_create(weft_device *device) {
    struct weft_pipeline_store *store = weft_alloc_zero(&device->host, 1, sizeof *store);
    if (!store) {
        return weft_fail_memory(&device->host, "pipeline store");
    }
    store->cache_key = driver_identity(&device->info);
    weft_status status = load_cache(store, device);
    if (status != WEFT_OK) {
        weft_digest_map_free(&store->manifest, &device->host);
        weft_free(&device->host, store);
        return status;
    }
    device->pipelines = store;
    return WEFT_OK;
}

static size_t put_manifest(uint8_t *payload, const struct weft_digest_map *manifest) {
    weft_store_bytes(payload, manifest->count, 4);
    size_t at = 4;
    for (uint32_t i = 0; i < manifest->capacity; i++) {
        if (manifest->slots[i].taken) {
            memcpy(payload + at, manifest->slots[i].key.bytes, DIGEST_SIZE);
            at += DIGEST_SIZE;
        }
    }
    return at;
}

/* The payload in host memory, of a cache and the digests of what is in it. */
static weft_status make_payload(uint8_t **payload, size_t *size, weft_device *device,
                                VkPipelineCache cache, const struct weft_digest_map *manifest) {
    size_t manifest_size = 4 + manifest->count * DIGEST_SIZE;
    VkResult result = VK_INCOMPLETE;
    /*
     * More than one attempt, because a driver's own threads may add to the cache between the calls.
     */
    for (int attempt = 0; result == VK_INCOMPLETE && attempt < MAX_SIZE_ATTEMPTS; attempt++) {
        size_t data_size = 0;
        result = device->vk.GetPipelineCacheData(device->vk.handle, cache, &data_size, NULL);
        if (result != VK_SUCCESS) {
            break;
        }
        uint8_t *bytes = weft_alloc(&device->host, manifest_size + data_size);
        if (!bytes) {
            return weft_fail_memory(&device->host, "pipeline cache");
        }
        size_t at = put_manifest(bytes, manifest);
        result = device->vk.GetPipelineCacheData(device->vk.handle, cache, &data_size, bytes + at);
        if (result == VK_SUCCESS) {
            /* Mesa 26.2's lavapipe gives part of a header: what could not be given back is not kept. */
            const bool whole = !vulkan_data_fault(bytes + at, data_size, &device->info);
            *payload = bytes;
            *size = at + (whole ? data_size : 0);
            return WEFT_OK;
        }
        weft_free(&device->host, bytes);
    }
    return weft_device_check(device, result, "vkGetPipelineCacheData");
}

/* ---- what other processes have added to the file ---- */

/* Adds the digests that a map lacks: *added says how many. */
static weft_status add_missing(struct weft_digest_map *all, uint32_t *added,
                               const struct weft_digest_map *more, const weft_host *host) {
    if (!weft_digest_map_reserve(all, more->count, host)) {
        return weft_fail_memory(host, "pipeline cache");
    }
    for (uint32_t i = 0; i < more->capacity; i++) {
        if (more->slots[i].taken && !weft_digest_map_find(all, &more->slots[i].key)) {
            weft_digest_map_put(all, &more->slots[i].key, NULL);
            ++*added;
        }
    }
    return WEFT_OK;
}

/* What drivers merge into is used by nobody else, as the store's own cache may be. */
static weft_status merge_caches(VkPipelineCache *whole, weft_device *device, const uint8_t *data,
                                size_t size) {
    VkPipelineCache sources[] = {device->pipelines->cache, VK_NULL_HANDLE};
    WEFT_TRY(create_cache(&sources[1], device, data, size));
    weft_status status = create_cache(whole, device, NULL, 0);
    if (status == WEFT_OK) {
        status = weft_device_check(
            device, device->vk.MergePipelineCaches(device->vk.handle, *whole, 2, sources),
            "vkMergePipelineCaches");
    }
    device->vk.DestroyPipelineCache(device->vk.handle, sources[1], NULL);
    return status;
}

/* *whole is null, and `all` of no use, where the file has nothing that the store lacks. */
static weft_status merge_payload(VkPipelineCache *whole, struct weft_digest_map *all,
                                 weft_device *device, const uint8_t *payload, size_t size) {
    struct weft_digest_map theirs = {0};
    const char *fault = NULL;
    size_t driver_data = 0;
    uint32_t ours = 0, more = 0;
    weft_status status = weft_pipeline_manifest_read(&theirs, &driver_data, &fault, payload, size,
                                                     &device->info, &device->host);
    if (status == WEFT_OK && !fault) {
        status = add_missing(all, &ours, &device->pipelines->manifest, &device->host);
    }
    if (status == WEFT_OK && !fault) {
        status = add_missing(all, &more, &theirs, &device->host);
    }
    weft_digest_map_free(&theirs, &device->host);
    return status == WEFT_OK && more > 0
               ? merge_caches(whole, device, payload + driver_data, size - driver_data)
               : status;
}

static weft_status merge_file(VkPipelineCache *whole, struct weft_digest_map *all,
                              weft_device *device) {
    uint8_t *payload = NULL;
    size_t size = 0;
    WEFT_TRY(read_file(&payload, &size, device->pipelines, device));
    const weft_status status = payload ? merge_payload(whole, all, device, payload, size) : WEFT_OK;
    weft_free(&device->host, payload);
    return status;
}

static weft_status make_merged(uint8_t **payload, size_t *size, weft_device *device) {
    const struct weft_pipeline_store *store = device->pipelines;
    struct weft_digest_map all = {0};
    VkPipelineCache whole = VK_NULL_HANDLE;
    weft_status status = merge_file(&whole, &all, device);
    if (status == WEFT_OK) {
        status = make_payload(payload, size, device, whole ? whole : store->cache,
                              whole ? &all : &store->manifest);
    }
    device->vk.DestroyPipelineCache(device->vk.handle, whole, NULL);
    weft_digest_map_free(&all, &device->host);
    return status;
}

/* Null where nothing is new. Whatever is added from now on is new again. */
static weft_status take_new(uint8_t **payload, size_t *size, weft_device *device) {
    struct weft_pipeline_store *store = device->pipelines;
    weft_status status = WEFT_OK;
    pthread_mutex_lock(&device->locks.pipelines);
    if (store->dirty) {
        status = make_merged(payload, size, device);
        store->dirty = status != WEFT_OK;
    }
    pthread_mutex_unlock(&device->locks.pipelines);
    return status;
}

weft_status weft_pipeline_store_save(weft_device *device) {
    weft_status status = weft_device_alive(device);
    if (status != WEFT_OK || !device->pipelines || !device->cache) {
        return status;
    }
    uint8_t *payload = NULL;
    size_t size = 0;
    WEFT_TRY(take_new(&payload, &size, device));
    if (payload) {
        weft_cache_write(device->cache, CACHE_KIND, &device->pipelines->cache_key, payload, size,
                         &device->host);
    }
    weft_free(&device->host, payload);
    return WEFT_OK;
}

static void destroy_layouts(struct weft_pipeline_store *store, weft_device *device) {
    const struct weft_vk_device *vk = &device->vk;
    for (uint32_t bindings = 0; bindings <= WEFT_MAX_BINDINGS; bindings++) {
        for (uint32_t push = 0; push <= WEFT_MAX_PUSH_BYTES / 4; push++) {
            vk->DestroyPipelineLayout(vk->handle, store->layouts[bindings][push], NULL);
        }
        vk->DestroyDescriptorSetLayout(vk->handle, store->set_layouts[bindings], NULL);
    }
}

void weft_pipeline_store_destroy(weft_device *device) {
    struct weft_pipeline_store *store = device->pipelines;
    if (!store) {
        return;
    }
    for (uint32_t i = 0; i < store->pipelines.capacity; i++) {
        struct weft_pipeline *pipeline = store->pipelines.slots[i].value;
        if (pipeline) {
            device->vk.DestroyPipeline(device->vk.handle, pipeline->handle, NULL);
            weft_free(&device->host, pipeline);
        }
    }
    destroy_layouts(store, device);
    device->vk.DestroyPipelineCache(device->vk.handle, store->cache, NULL);
    weft_digest_map_free(&store->pipelines, &device->host);
    weft_digest_map_free(&store->manifest, &device->host);
    weft_free(&device->host, store);
    device->pipelines = NULL;
}

static weft_status create_set_layout(VkDescriptorSetLayout *set_layout, weft_device *device,
                                     uint32_t bindings) {
    VkDescriptorSetLayoutBinding binding[WEFT_MAX_BINDINGS];
    for (uint32_t i = 0; i < bindings; i++) {
        binding[i] =
            (VkDescriptorSetLayoutBinding){.binding = i,
                                           .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                           .descriptorCount = 1,
                                           .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT};
    }
    const VkDescriptorSetLayoutCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .bindingCount = bindings,
        .pBindings = binding};
    return WEFT_VK_MAKE(device, CreateDescriptorSetLayout, &info, set_layout);
}

static weft_status create_layout(VkPipelineLayout *layout, weft_device *device,
                                 const VkDescriptorSetLayout *set_layout, uint32_t push_size) {
    const VkPushConstantRange range = {
        .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT, .offset = 0, .size = push_size};
    const VkPipelineLayoutCreateInfo info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                             .setLayoutCount = 1,
                                             .pSetLayouts = set_layout,
                                             .pushConstantRangeCount = push_size > 0 ? 1 : 0,
                                             .pPushConstantRanges = &range};
    return WEFT_VK_MAKE(device, CreatePipelineLayout, &info, layout);
}

static weft_status get_layout(VkPipelineLayout *layout, VkDescriptorSetLayout *set_layout,
                              weft_device *device, uint32_t bindings, uint32_t push_size) {
    struct weft_pipeline_store *store = device->pipelines;
    VkDescriptorSetLayout *shared_set = &store->set_layouts[bindings];
    VkPipelineLayout *shared = &store->layouts[bindings][push_size / 4];
    if (*shared_set == VK_NULL_HANDLE) {
        WEFT_TRY(create_set_layout(shared_set, device, bindings));
    }
    if (*shared == VK_NULL_HANDLE) {
        WEFT_TRY(create_layout(shared, device, shared_set, push_size));
    }
    *layout = *shared;
    *set_layout = *shared_set;
    return WEFT_OK;
}

weft_status weft_pipeline_layout_get(VkPipelineLayout *layout, VkDescriptorSetLayout *set_layout,
                                     weft_device *device, uint32_t bindings, uint32_t push_size) {
    pthread_mutex_lock(&device->locks.pipelines);
    const weft_status status = get_layout(layout, set_layout, device, bindings, push_size);
    pthread_mutex_unlock(&device->locks.pipelines);
    return status;
}
