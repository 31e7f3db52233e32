/* SPDX-License-Identifier: MIT */
#include "softvk/cache.h"

#include <string.h>

#include "core/bytes.h"

/*
 * The data: Vulkan's header; the SHA-256 of what follows it; and for each object its key, its size (8 bytes) and its bytes.
 * Numbers are little-endian. Data that is not exactly so, or another device's, counts as none.
 */
#define HEADER_SIZE ((size_t)32) /* VkPipelineCacheHeaderVersionOne */
#define DIGEST_SIZE sizeof(weft_digest)
#define START_SIZE  (HEADER_SIZE + DIGEST_SIZE)
#define ENTRY_SIZE  (DIGEST_SIZE + 8)

void weft_soft_cache_uuid(uint8_t uuid[VK_UUID_SIZE], const struct weft_soft_physical *physical) {
    weft_sha256 hash;
    weft_sha256_begin(&hash);
    weft_sha256_add(&hash, physical->properties.uuid, VK_UUID_SIZE);
    weft_sha256_add(&hash, weft_build(), strlen(weft_build()) + 1);
    const weft_digest digest = weft_sha256_end(&hash);
    memcpy(uuid, digest.bytes, VK_UUID_SIZE);
}

/* ---- entries ---- */

weft_digest weft_soft_cache_key(const struct weft_soft_device *device,
                                const struct weft_soft_source *source) {
    const weft_digest module = weft_digest_of(source->words, source->size);
    const VkSpecializationInfo *constants = source->constants;
    uint8_t uuid[VK_UUID_SIZE];
    const uint32_t numbers[] = {source->checked | (uint32_t)atomic_load(&device->careful) << 1,
                                constants ? constants->mapEntryCount : 0};
    weft_sha256 hash;
    weft_sha256_begin(&hash);
    weft_soft_cache_uuid(uuid, device->physical);
    weft_sha256_add(&hash, uuid, sizeof uuid);
    weft_sha256_add(&hash, module.bytes, sizeof module.bytes);
    weft_sha256_add(&hash, source->entry_point, strlen(source->entry_point) + 1);
    weft_sha256_add(&hash, numbers, sizeof numbers);
    for (uint32_t i = 0; i < numbers[1]; i++) {
        const VkSpecializationMapEntry *entry = &constants->pMapEntries[i];
        const uint32_t head[] = {entry->constantID, (uint32_t)entry->size};
        weft_sha256_add(&hash, head, sizeof head);
        weft_sha256_add(&hash, (const uint8_t *)constants->pData + entry->offset, entry->size);
    }
    return weft_sha256_end(&hash);
}

static struct weft_soft_cache_entry *find(const struct weft_soft_cache *cache,
                                          const weft_digest *key) {
    for (uint32_t i = 0; i < cache->count; i++) {
        if (memcmp(cache->entries[i].key.bytes, key->bytes, sizeof key->bytes) == 0) {
            return &cache->entries[i];
        }
    }
    return NULL;
}

bool weft_soft_cache_load(struct weft_soft_kernel *kernel, struct weft_soft_cache *cache,
                          const weft_digest *key, const struct weft_soft_device *device) {
    weft_host quiet =
        device->host; /* that an object is no good is no error: there will be another */
    quiet.log = NULL;
    pthread_mutex_lock(&cache->lock);
    const struct weft_soft_cache_entry *entry = find(cache, key);
    const bool loaded =
        entry && device->backend->load(kernel, entry->object.bytes, entry->object.size,
                                       device->state, &quiet) == WEFT_OK;
    pthread_mutex_unlock(&cache->lock);
    return loaded;
}

/* Takes the object's bytes, unless memory is out. */
static void put(struct weft_soft_cache *cache, const weft_digest *key,
                struct weft_soft_object *object, const weft_host *host) {
    struct weft_soft_cache_entry *entry = find(cache, key);
    if (!entry) {
        if (!weft_grow(host, &cache->entries, cache->count, &cache->room, sizeof *entry)) {
            return;
        }
        entry = &cache->entries[cache->count++];
        *entry = (struct weft_soft_cache_entry){.key = *key};
    }
    weft_free(host, entry->object.bytes);
    entry->object = *object;
    *object = (struct weft_soft_object){0};
}

void weft_soft_cache_put(struct weft_soft_cache *cache, const weft_digest *key,
                         struct weft_soft_object *object, const weft_host *host) {
    pthread_mutex_lock(&cache->lock);
    put(cache, key, object, host);
    pthread_mutex_unlock(&cache->lock);
}

static bool put_copy(struct weft_soft_cache *cache, const weft_digest *key, const uint8_t *bytes,
                     size_t size, const weft_host *host) {
    struct weft_soft_object object = {.bytes = weft_alloc(host, size), .size = size};
    if (!object.bytes) {
        return false;
    }
    memcpy(object.bytes, bytes, size);
    put(cache, key, &object, host);
    const bool taken = !object.bytes;
    weft_free(host, object.bytes);
    return taken;
}

/* ---- data ---- */

static void put_header(uint8_t header[HEADER_SIZE], const struct weft_soft_device *device) {
    memset(header, 0, HEADER_SIZE);
    weft_store_bytes(header, HEADER_SIZE, 4);
    weft_store_bytes(header + 4, VK_PIPELINE_CACHE_HEADER_VERSION_ONE, 4);
    weft_store_bytes(header + 8, device->physical->properties.vendor_id, 4);
    /* The device is 0, as in the properties. */
    weft_soft_cache_uuid(header + 16, device->physical);
}

/* True if the data is whole and this device's. */
static bool is_ours(const uint8_t *data, size_t size, const struct weft_soft_device *device) {
    uint8_t header[HEADER_SIZE];
    put_header(header, device);
    if (size < START_SIZE || memcmp(data, header, HEADER_SIZE) != 0) {
        return false;
    }
    const weft_digest digest = weft_digest_of(data + START_SIZE, size - START_SIZE);
    return memcmp(data + HEADER_SIZE, digest.bytes, DIGEST_SIZE) == 0;
}

/* Goes on where an entry is wrong only to end: the digest says that none is. False when memory is out. */
static bool read_entries(struct weft_soft_cache *cache, const uint8_t *data, size_t size,
                         const weft_host *host) {
    size_t at = START_SIZE;
    while (size - at >= ENTRY_SIZE) {
        weft_digest key;
        memcpy(key.bytes, data + at, DIGEST_SIZE);
        const uint64_t bytes = weft_load_bytes(data + at + DIGEST_SIZE, 8);
        at += ENTRY_SIZE;
        if (bytes == 0 || bytes > size - at) {
            break;
        }
        if (!put_copy(cache, &key, data + at, (size_t)bytes, host)) {
            return false;
        }
        at += (size_t)bytes;
    }
    return true;
}

/* As many whole entries as fit; how many bytes they take. */
static size_t write_entries(uint8_t *data, size_t room, const struct weft_soft_cache *cache,
                            bool *all) {
    size_t at = START_SIZE;
    *all = true;
    for (uint32_t i = 0; i < cache->count; i++) {
        const struct weft_soft_cache_entry *entry = &cache->entries[i];
        if (room - at < ENTRY_SIZE || room - at - ENTRY_SIZE < entry->object.size) {
            *all = false;
            break;
        }
        memcpy(data + at, entry->key.bytes, DIGEST_SIZE);
        weft_store_bytes(data + at + DIGEST_SIZE, entry->object.size, 8);
        memcpy(data + at + ENTRY_SIZE, entry->object.bytes, entry->object.size);
        at += ENTRY_SIZE + entry->object.size;
    }
    return at;
}

static size_t size_of(const struct weft_soft_cache *cache) {
    size_t size = START_SIZE;
    for (uint32_t i = 0; i < cache->count; i++) {
        size += ENTRY_SIZE + cache->entries[i].object.size;
    }
    return size;
}

static VkResult write_data(const struct weft_soft_cache *cache,
                           const struct weft_soft_device *device, size_t *size, uint8_t *data) {
    bool all = false;
    if (*size < START_SIZE) {
        *size = 0;
        return VK_INCOMPLETE;
    }
    *size = write_entries(data, *size, cache, &all);
    const weft_digest digest = weft_digest_of(data + START_SIZE, *size - START_SIZE);
    put_header(data, device);
    memcpy(data + HEADER_SIZE, digest.bytes, DIGEST_SIZE);
    return all ? VK_SUCCESS : VK_INCOMPLETE;
}

static VKAPI_ATTR VkResult VKAPI_CALL get_data(VkDevice handle, VkPipelineCache handle_of_cache,
                                               size_t *size, void *data) {
    struct weft_soft_device *device = weft_soft_device_of(handle);
    struct weft_soft_cache *cache = weft_soft_cache_of(handle_of_cache);
    VkResult result = VK_SUCCESS;
    atomic_fetch_add(&device->busy, 1);
    pthread_mutex_lock(&cache->lock);
    if (!data) {
        *size = size_of(cache);
    } else {
        result = write_data(cache, device, size, data);
    }
    pthread_mutex_unlock(&cache->lock);
    atomic_fetch_sub(&device->busy, 1);
    return result;
}

/* ---- caches ---- */

/* False when memory is out. */
static bool take_missing(struct weft_soft_cache *cache, struct weft_soft_cache *other,
                         const weft_host *host) {
    bool taken = true;
    pthread_mutex_lock(&other->lock);
    for (uint32_t i = 0; i < other->count && taken; i++) {
        const struct weft_soft_cache_entry *entry = &other->entries[i];
        taken = find(cache, &entry->key) ||
                put_copy(cache, &entry->key, entry->object.bytes, entry->object.size, host);
    }
    pthread_mutex_unlock(&other->lock);
    return taken;
}

/* None of the sources is the destination, which no other thread uses meanwhile. */
static VKAPI_ATTR VkResult VKAPI_CALL merge_caches(VkDevice handle, VkPipelineCache destination,
                                                   uint32_t count, const VkPipelineCache *sources) {
    const weft_host *host = &weft_soft_device_of(handle)->host;
    for (uint32_t i = 0; i < count; i++) {
        if (!take_missing(weft_soft_cache_of(destination), weft_soft_cache_of(sources[i]), host)) {
            return VK_ERROR_OUT_OF_HOST_MEMORY;
        }
    }
    return VK_SUCCESS;
}

static void free_cache(struct weft_soft_cache *cache, const weft_host *host) {
    for (uint32_t i = 0; i < cache->count; i++) {
        weft_free(host, cache->entries[i].object.bytes);
    }
    weft_free(host, cache->entries);
    pthread_mutex_destroy(&cache->lock);
    weft_free(host, cache);
}

static VKAPI_ATTR VkResult VKAPI_CALL create_cache(VkDevice handle,
                                                   const VkPipelineCacheCreateInfo *info,
                                                   const VkAllocationCallbacks *allocator,
                                                   VkPipelineCache *cache) {
    (void)allocator;
    const struct weft_soft_device *device = weft_soft_device_of(handle);
    struct weft_soft_cache *made = weft_soft_new(device, sizeof *made);
    if (!made) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    if (pthread_mutex_init(&made->lock, NULL) != 0) {
        weft_soft_delete(device, made);
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    if (is_ours(info->pInitialData, info->initialDataSize, device) &&
        !read_entries(made, info->pInitialData, info->initialDataSize, &device->host)) {
        free_cache(made, &device->host);
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    *cache = WEFT_SOFT_HANDLE(VkPipelineCache, made);
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL destroy_cache(VkDevice handle, VkPipelineCache cache,
                                                const VkAllocationCallbacks *allocator) {
    (void)allocator;
    if (cache != VK_NULL_HANDLE) {
        free_cache(weft_soft_cache_of(cache), &weft_soft_device_of(handle)->host);
    }
}

const struct weft_soft_function weft_soft_cache_functions[] = {
    WEFT_SOFT_FUNCTION(CreatePipelineCache, create_cache),
    WEFT_SOFT_FUNCTION(DestroyPipelineCache, destroy_cache),
    WEFT_SOFT_FUNCTION(GetPipelineCacheData, get_data),
    WEFT_SOFT_FUNCTION(MergePipelineCaches, merge_caches),
    {NULL, NULL},
};
