/* SPDX-License-Identifier: MIT */
/* Weights and tables on the device, and host objects kept with it: one of each, found by key. */
#include "graph/constant_store.h"

#include <string.h>

#include "core/try.h"
#include "device/debug_label.h"
#include "device/fork.h"
#include "graph/lowering.h"

struct kept {
    struct kept *next;
    char *key;
    void *object;
    void (*destroy)(void *object, const weft_host *host);
};

struct kept_weight {
    struct kept_weight *next;
    char *key;
    weft_weight *weight; /* a reference */
};

struct weft_weight_store {
    struct weft_constant *first;
    struct kept *kept;
    struct kept_weight *kept_weights;
};

weft_status weft_weight_store_create(weft_device *device) {
    device->weights = weft_alloc_zero(&device->host, 1, sizeof *device->weights);
    return device->weights ? WEFT_OK : weft_fail_memory(&device->host, "the weight store");
}

static void destroy_constant(weft_device *device, struct weft_constant *constant) {
    weft_vkbuffer_destroy(device, &constant->buffer, &constant->allocation);
    weft_free(&device->host, constant->key);
    weft_free(&device->host, constant);
}

static void destroy_kept(weft_device *device) {
    struct kept *kept = device->weights ? device->weights->kept : NULL;
    while (kept) {
        struct kept *next = kept->next;
        kept->destroy(kept->object, &device->host);
        weft_free(&device->host, kept->key);
        weft_free(&device->host, kept);
        kept = next;
    }
}

static void destroy_kept_weight(weft_device *device, struct kept_weight *kept) {
    weft_weight_destroy(&kept->weight);
    weft_free(&device->host, kept->key);
    weft_free(&device->host, kept);
}

static void destroy_kept_weights(weft_device *device, struct kept_weight *kept) {
    while (kept) {
        struct kept_weight *next = kept->next;
        destroy_kept_weight(device, kept);
        kept = next;
    }
}

static void destroy_constants(weft_device *device, struct weft_constant *constant) {
    while (constant) {
        struct weft_constant *next = constant->next;
        destroy_constant(device, constant);
        constant = next;
    }
}

/* Takes out of the store what nobody uses, with the lock held: nobody can find it any more. */
static struct kept_weight *unused_weights(struct weft_weight_store *store) {
    struct kept_weight *unused = NULL, **link = &store->kept_weights;
    while (*link) {
        struct kept_weight *kept = *link;
        if (atomic_load(&kept->weight->references) > 1) {
            link = &kept->next;
            continue;
        }
        *link = kept->next;
        kept->next = unused;
        unused = kept;
    }
    return unused;
}

static struct weft_constant *unused_constants(struct weft_weight_store *store) {
    struct weft_constant *unused = NULL, **link = &store->first;
    while (*link) {
        struct weft_constant *constant = *link;
        if (atomic_load(&constant->references) > 0) {
            link = &constant->next;
            continue;
        }
        *link = constant->next;
        constant->next = unused;
        unused = constant;
    }
    return unused;
}

void weft_weight_store_destroy(weft_device *device) {
    if (!device->weights) {
        return;
    }
    destroy_constants(device, device->weights->first);
    destroy_kept(device);
    destroy_kept_weights(device, device->weights->kept_weights);
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
    pthread_mutex_lock(&device->locks.constants);
    struct kept_weight *weights = unused_weights(device->weights);
    struct weft_constant *constants = unused_constants(device->weights);
    pthread_mutex_unlock(&device->locks.constants);
    destroy_kept_weights(device, weights);
    destroy_constants(device, constants);
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
    struct weft_constant *found = device->weights->first;
    while (found && (strcmp(found->key, key) != 0 || !found->ready)) {
        if (strcmp(found->key, key) == 0) {
            pthread_cond_wait(&device->locks.constant_made, &device->locks.constants);
            found = device->weights->first; /* what was found may be gone */
            continue;
        }
        found = found->next;
    }
    return found;
}

/* Finds the constant, or puts a new one in its place for the caller to make. */
static weft_status find_or_begin(struct weft_constant **out, bool *begun, weft_device *device,
                                 const char *key, uint64_t bytes) {
    pthread_mutex_lock(&device->locks.constants);
    struct weft_constant *constant = find_made(device, key);
    *begun = !constant;
    if (*begun) {
        constant = weft_alloc_zero(&device->host, 1, sizeof *constant);
        char *copy = weft_strdup(&device->host, key);
        if (!constant || !copy) {
            pthread_mutex_unlock(&device->locks.constants);
            weft_free(&device->host, constant);
            weft_free(&device->host, copy);
            return weft_fail_memory(&device->host, "a constant");
        }
        constant->key = copy;
        constant->bytes = bytes;
        constant->next = device->weights->first;
        device->weights->first = constant;
        device->locks.making++;
    }
    atomic_fetch_add(&constant->references, 1);
    pthread_mutex_unlock(&device->locks.constants);
    *out = constant;
    return WEFT_OK;
}

/* What was made is there for all; what failed is gone, and who waited tries for himself. */
static void end_making(weft_device *device, struct weft_constant *constant, bool made) {
    pthread_mutex_lock(&device->locks.constants);
    constant->ready = made;
    device->locks.making--;
    struct weft_constant **link = &device->weights->first;
    while (!made && *link != constant) {
        link = &(*link)->next;
    }
    if (!made) {
        *link = constant->next;
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
    const struct kept *kept = device->weights->kept;
    while (kept && strcmp(kept->key, key) != 0) {
        kept = kept->next;
    }
    pthread_mutex_unlock(&device->locks.constants);
    return kept ? kept->object : NULL; /* it stays as long as the device */
}

weft_status weft_device_keep(weft_device *device, const char *key, void *object,
                             void (*destroy)(void *object, const weft_host *host)) {
    struct kept *kept = weft_alloc_zero(&device->host, 1, sizeof *kept);
    char *copy = weft_strdup(&device->host, key);
    if (!kept || !copy) {
        weft_free(&device->host, kept);
        weft_free(&device->host, copy);
        const weft_status status = weft_fail_memory(&device->host, key);
        destroy(object, &device->host); /* of which the key may be a part */
        return status;
    }
    pthread_mutex_lock(&device->locks.constants);
    *kept = (struct kept){
        .next = device->weights->kept, .key = copy, .object = object, .destroy = destroy};
    device->weights->kept = kept;
    pthread_mutex_unlock(&device->locks.constants);
    return WEFT_OK;
}

weft_weight *weft_device_find_weight(weft_device *device, const char *key) {
    pthread_mutex_lock(&device->locks.constants);
    const struct kept_weight *kept = device->weights->kept_weights;
    while (kept && strcmp(kept->key, key) != 0) {
        kept = kept->next;
    }
    weft_weight *found = kept ? weft_weight_retain(kept->weight) : NULL;
    pthread_mutex_unlock(&device->locks.constants);
    return found;
}

weft_status weft_device_keep_weight(weft_device *device, const char *key, weft_weight *weight) {
    struct kept_weight *kept = weft_alloc_zero(&device->host, 1, sizeof *kept);
    char *copy = weft_strdup(&device->host, key);
    if (!kept || !copy) {
        weft_free(&device->host, kept);
        weft_free(&device->host, copy);
        weft_weight_destroy(&weight);
        return weft_fail_memory(&device->host, key);
    }
    pthread_mutex_lock(&device->locks.constants);
    *kept = (struct kept_weight){
        .next = device->weights->kept_weights, .key = copy, .weight = weft_weight_retain(weight)};
    device->weights->kept_weights = kept;
    pthread_mutex_unlock(&device->locks.constants);
    return WEFT_OK;
}
