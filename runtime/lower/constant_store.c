/* SPDX-License-Identifier: MIT */
/* Weights and tables on the device, and host objects kept with it: one of each, found by key. */
#include "lower/constant_store.h"

#include <string.h>

#include "core/digest_map.h"
#include "core/try.h"
#include "device/debug_label.h"
#include "device/fork.h"
#include "lower/lowering.h"

struct kept {
    struct kept *next; /* of the same key, older */
    void *object;
    void (*destroy)(void *object, const weft_host *host);
};

/* By the digest of their keys. */
struct weft_weight_store {
    struct weft_digest_map constants; /* struct weft_constant */
    struct weft_digest_map kept;      /* struct kept */
    struct weft_digest_map weights;   /* weft_weight; references */
};

static void *find(const struct weft_digest_map *map, const char *key) {
    const weft_digest digest = weft_digest_of(key, strlen(key));
    const struct weft_digest_slot *slot = weft_digest_map_find(map, &digest);
    return slot ? slot->value : NULL;
}

weft_status weft_weight_store_create(weft_device *device) {
    device->weights = weft_alloc_zero(&device->host, 1, sizeof *device->weights);
    return device->weights ? WEFT_OK : weft_fail_memory(&device->host, "the weight store");
}

static void destroy_constant(weft_device *device, struct weft_constant *constant) {
    weft_vkbuffer_destroy(device, &constant->buffer, &constant->allocation);
    weft_free(&device->host, constant->key);
    weft_free(&device->host, constant);
}

static void destroy_kept(weft_device *device, struct weft_digest_map *map) {
    for (uint32_t i = 0; i < map->capacity; i++) {
        struct kept *kept = map->slots[i].taken ? map->slots[i].value : NULL;
        while (kept) {
            struct kept *next = kept->next;
            kept->destroy(kept->object, &device->host);
            weft_free(&device->host, kept);
            kept = next;
        }
    }
    weft_digest_map_free(map, &device->host);
}

static void destroy_weights(weft_device *device, struct weft_digest_map *map) {
    for (uint32_t i = 0; i < map->capacity; i++) {
        weft_weight *weight = map->slots[i].taken ? map->slots[i].value : NULL;
        weft_weight_destroy(&weight);
    }
    weft_digest_map_free(map, &device->host);
}

static void destroy_constants(weft_device *device, struct weft_digest_map *map) {
    for (uint32_t i = 0; i < map->capacity; i++) {
        if (map->slots[i].taken) {
            destroy_constant(device, map->slots[i].value);
        }
    }
    weft_digest_map_free(map, &device->host);
}

static bool is_used_weight(const void *weight) {
    return atomic_load(&((const weft_weight *)weight)->references) > 1;
}

static bool is_used_constant(const void *constant) {
    return atomic_load(&((const struct weft_constant *)constant)->references) > 0;
}

/*
 * Removes unreferenced constants while holding the lock, so no lookup can return them. Referenced ones go to a new map, so that no slot
 * moves on the way. Without memory for a new map, all stay.
 */
static struct weft_digest_map take_unused(struct weft_digest_map *map,
                                          bool (*is_used)(const void *value),
                                          const weft_host *host) {
    struct weft_digest_map used = {0};
    struct weft_digest_map unused = {0};
    if (!weft_digest_map_reserve(&used, map->count, host)) {
        return unused;
    }
    for (uint32_t i = 0; i < map->capacity; i++) {
        struct weft_digest_slot *slot = &map->slots[i];
        if (slot->taken && is_used(slot->value)) {
            weft_digest_map_put(&used, &slot->key, slot->value);
            slot->taken = false;
        }
    }
    unused = *map;
    *map = used;
    return unused;
}

void weft_weight_store_destroy(weft_device *device) {
    if (!device->weights) {
        return;
    }
    destroy_constants(device, &device->weights->constants);
    destroy_kept(device, &device->weights->kept);
    destroy_weights(device, &device->weights->weights);
    weft_free(&device->host, device->weights);
    device->weights = NULL;
}

void weft_device_trim(weft_device *device) {
    WEFT_ENTER;
    if (!device || !device->weights) {
        return;
    }
    weft_device_inherit(device);
    if (device->torn) {
        return;
    }
    struct weft_weight_store *store = device->weights;
    pthread_mutex_lock(&device->locks.constants);
    struct weft_digest_map weights = take_unused(&store->weights, is_used_weight, &device->host);
    struct weft_digest_map constants =
        take_unused(&store->constants, is_used_constant, &device->host);
    pthread_mutex_unlock(&device->locks.constants);
    destroy_weights(device, &weights);
    destroy_constants(device, &constants);
}

static weft_status read_weight(void *user, uint64_t begin, void *out, size_t size) {
    const weft_weight *weight = user;
    const uint64_t element = weft_dtype_size(weight->dtype);
    return weft_weight_read(weight, begin / element, size / element, out);
}

static weft_status upload(weft_device *device, struct weft_constant *constant,
                          weft_status (*fill)(void *user, void *data), void *user) {
    if (!fill) {
        return weft_device_upload_from(device, constant->buffer, 0, constant->bytes, read_weight,
                                       user);
    }
    void *data = weft_alloc(&device->host, (size_t)constant->bytes);
    if (!data) {
        return weft_fail_memory(&device->host, constant->key);
    }
    weft_status status = fill(user, data);
    if (status == WEFT_OK) {
        status = weft_device_upload(device, constant->buffer, 0, data, constant->bytes);
    }
    weft_free(&device->host, data);
    return status;
}

static weft_status make_constant(struct weft_constant *constant, weft_device *device,
                                 weft_status (*fill)(void *user, void *data), void *user) {
    if (device->compile_only) {
        return WEFT_OK; /* it has no memory for them */
    }
    weft_status status = weft_vkbuffer_create_or_trim(&constant->buffer, &constant->allocation,
                                                      device, constant->bytes);
    if (status != WEFT_OK) {
        return status;
    }
    weft_debug_name(device, VK_OBJECT_TYPE_BUFFER, (uint64_t)constant->buffer, constant->key);
    return upload(device, constant, fill, user);
}

/* With the lock held: the constant of that key, after waiting for the thread that makes it; null when there is none. */
static struct weft_constant *find_made(weft_device *device, const char *key) {
    struct weft_constant *found = find(&device->weights->constants, key);
    while (found && !found->ready) {
        pthread_cond_wait(&device->locks.constant_made, &device->locks.constants);
        found = find(&device->weights->constants, key); /* what was found may be gone */
    }
    return found;
}

/* With the lock held: a constant that is not made yet. Null: memory is out. */
static struct weft_constant *begin(weft_device *device, const char *key, uint64_t bytes) {
    struct weft_constant *constant = weft_alloc_zero(&device->host, 1, sizeof *constant);
    char *copy = weft_strdup(&device->host, key);
    if (!constant || !copy ||
        !weft_digest_map_reserve(&device->weights->constants, 1, &device->host)) {
        weft_free(&device->host, constant);
        weft_free(&device->host, copy);
        return NULL;
    }
    const weft_digest digest = weft_digest_of(key, strlen(key));
    constant->key = copy;
    constant->bytes = bytes;
    weft_digest_map_put(&device->weights->constants, &digest, constant);
    device->locks.making++;
    return constant;
}

/* Finds the constant, or puts a new one in its place for the caller to make. */
static weft_status find_or_begin(struct weft_constant **out, bool *begun, weft_device *device,
                                 const char *key, uint64_t bytes) {
    pthread_mutex_lock(&device->locks.constants);
    struct weft_constant *constant = find_made(device, key);
    *begun = !constant;
    constant = constant ? constant : begin(device, key, bytes);
    if (constant) {
        atomic_fetch_add(&constant->references, 1);
    }
    pthread_mutex_unlock(&device->locks.constants);
    *out = constant;
    return constant ? WEFT_OK : weft_fail_memory(&device->host, "a constant");
}

/* Publishes a finished constant; removes a failed one, and each waiting thread then tries itself. */
static void end_making(weft_device *device, struct weft_constant *constant, bool made) {
    pthread_mutex_lock(&device->locks.constants);
    constant->ready = made;
    device->locks.making--;
    if (!made) {
        const weft_digest digest = weft_digest_of(constant->key, strlen(constant->key));
        weft_digest_map_remove(&device->weights->constants, &digest);
    }
    pthread_cond_broadcast(&device->locks.constant_made);
    pthread_mutex_unlock(&device->locks.constants);
}

weft_status weft_constant_acquire(struct weft_constant **out, weft_device *device, const char *key,
                                  uint64_t bytes, weft_status (*fill)(void *user, void *data),
                                  void *user) {
    struct weft_constant *constant = NULL;
    bool begun = false;
    WEFT_TRY(find_or_begin(&constant, &begun, device, key, bytes));
    if (begun) {
        const weft_status status = make_constant(constant, device, fill, user);
        end_making(device, constant, status == WEFT_OK);
        if (status != WEFT_OK) {
            destroy_constant(device, constant);
            return status;
        }
    }
    *out = constant;
    return WEFT_OK;
}

void weft_constant_release(struct weft_constant **constant) {
    if (*constant) {
        atomic_fetch_sub(&(*constant)->references, 1);
        *constant = NULL;
    }
}

weft_status weft_vkbuffer_create_or_trim(VkBuffer *buffer, struct weft_allocation **allocation,
                                         weft_device *device, uint64_t size) {
    if (device->memory_limit > 0 && device->stats.bytes_in_use + size > device->memory_limit) {
        weft_device_trim(device);
    }
    return weft_vkbuffer_create(buffer, allocation, device, size, WEFT_MEMORY_DEVICE);
}

void *weft_device_find_kept(weft_device *device, const char *key) {
    pthread_mutex_lock(&device->locks.constants);
    const struct kept *kept = find(&device->weights->kept, key);
    pthread_mutex_unlock(&device->locks.constants);
    return kept ? kept->object : NULL; /* it stays as long as the device */
}

weft_status weft_device_keep(weft_device *device, const char *key, void *object,
                             void (*destroy)(void *object, const weft_host *host)) {
    struct weft_digest_map *map = &device->weights->kept;
    const weft_digest digest = weft_digest_of(key, strlen(key));
    struct kept *kept = weft_alloc_zero(&device->host, 1, sizeof *kept);
    pthread_mutex_lock(&device->locks.constants);
    const bool room = kept && weft_digest_map_reserve(map, 1, &device->host);
    if (room) {
        *kept = (struct kept){.next = find(map, key), .object = object, .destroy = destroy};
        weft_digest_map_put(map, &digest, kept);
    }
    pthread_mutex_unlock(&device->locks.constants);
    if (!room) {
        weft_free(&device->host, kept);
        const weft_status status = weft_fail_memory(&device->host, key);
        destroy(object, &device->host); /* of which the key may be a part */
        return status;
    }
    return WEFT_OK;
}

weft_weight *weft_device_find_weight(weft_device *device, const char *key) {
    pthread_mutex_lock(&device->locks.constants);
    weft_weight *found = find(&device->weights->weights, key);
    found = found ? weft_weight_retain(found) : NULL;
    pthread_mutex_unlock(&device->locks.constants);
    return found;
}

weft_status weft_device_keep_weight(weft_device *device, const char *key, weft_weight *weight) {
    struct weft_digest_map *map = &device->weights->weights;
    const weft_digest digest = weft_digest_of(key, strlen(key));
    pthread_mutex_lock(&device->locks.constants);
    const bool room = weft_digest_map_reserve(map, 1, &device->host);
    if (room && !weft_digest_map_find(map, &digest)) { /* else another thread was faster */
        weft_digest_map_put(map, &digest, weft_weight_retain(weight));
    }
    pthread_mutex_unlock(&device->locks.constants);
    if (!room) {
        weft_weight_destroy(&weight);
        return weft_fail_memory(&device->host, key);
    }
    return WEFT_OK;
}
