/* SPDX-License-Identifier: MIT */
/* Pipeline caches: objects by what they were compiled from. */
#ifndef WEFT_SOFTVK_CACHE_H
#define WEFT_SOFTVK_CACHE_H

#include <pthread.h>

#include "core/hash.h"
#include "softvk/device.h"

struct weft_soft_cache_entry {
    weft_digest key;
    struct weft_soft_object object;
};

struct weft_soft_cache {
    pthread_mutex_t lock;
    struct weft_soft_cache_entry *entries;
    uint32_t count, room;
};

WEFT_SOFT_OBJECT(VkPipelineCache, cache)

/**
 * Whose objects a cache has: the device's, compiled by this build of Weft; between two builds the compiler gets better, too. It is in the header
 * of data, so that nobody believes that another build's objects are there, and in each key.
 */
void weft_soft_cache_uuid(uint8_t uuid[VK_UUID_SIZE], const struct weft_soft_physical *physical);

/** All that decides what the device compiles. */
weft_digest weft_soft_cache_key(const struct weft_soft_device *device,
                                const struct weft_soft_source *source);

/** True if the cache had the object and it could be loaded. Thread safe, as are the others. */
bool weft_soft_cache_load(struct weft_soft_kernel *kernel, struct weft_soft_cache *cache,
                          const weft_digest *key, const struct weft_soft_device *device);

/** Adds an object, or replaces it; what the cache takes is no longer in *object. Where memory is out, nothing is kept. */
void weft_soft_cache_put(struct weft_soft_cache *cache, const weft_digest *key,
                         struct weft_soft_object *object, const weft_host *host);

#endif
