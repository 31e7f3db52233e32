/* SPDX-License-Identifier: MIT */
/* Weights and tables on the device, and host objects kept with it: one of each, found by key. */
#include "graph/constant_store.h"

#include <string.h>

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

/** Those that no graph uses, or all. */
static void destroy_kept_weights(weft_device *device, bool all) {
    struct kept_weight **link = &device->weights->kept_weights;
    while (*link) {
        struct kept_weight *kept = *link;
        if (!all && atomic_load(&kept->weight->references) > 1) {
            link = &kept->next;
            continue;
        }
        *link = kept->next;
        destroy_kept_weight(device, kept);
    }
}

void weft_weight_store_destroy(weft_device *device) {
    struct weft_constant *constant = device->weights ? device->weights->first : NULL;
    while (constant) {
        struct weft_constant *next = constant->next;
        destroy_constant(device, constant);
        constant = next;
    }
    destroy_kept(device);
    if (device->weights) {
        destroy_kept_weights(device, true);
    }
    weft_free(&device->host, device->weights);
    device->weights = NULL;
}

void weft_device_trim(weft_device *device) {
    if (!device || !device->weights) {
        return;
    }
    destroy_kept_weights(device, false);
    struct weft_constant **link = &device->weights->first;
    while (*link) {
        struct weft_constant *constant = *link;
        if (constant->references > 0) {
            link = &constant->next;
            continue;
        }
        *link = constant->next;
        destroy_constant(device, constant);
    }
}

static weft_status upload(weft_device *device, struct weft_constant *constant,
                          weft_status (*fill)(void *user, void *data), void *user) {
    if (!fill) {
        return weft_device_upload(device, constant->buffer, 0, user, constant->bytes);
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
                                 const char *key, weft_status (*fill)(void *user, void *data),
                                 void *user) {
    constant->key = weft_strdup(&device->host, key);
    if (!constant->key) {
        return weft_fail_memory(&device->host, "a constant's key");
    }
    weft_status status = weft_vkbuffer_create_or_trim(&constant->buffer, &constant->allocation,
                                                      device, constant->bytes);
    return status == WEFT_OK ? upload(device, constant, fill, user) : status;
}

weft_status weft_constant_acquire(struct weft_constant **out, weft_device *device, const char *key,
                                  uint64_t bytes, weft_status (*fill)(void *user, void *data),
                                  void *user) {
    for (struct weft_constant *found = device->weights->first; found; found = found->next) {
        if (strcmp(found->key, key) == 0) {
            found->references++;
            *out = found;
            return WEFT_OK;
        }
    }
    struct weft_constant *constant = weft_alloc_zero(&device->host, 1, sizeof *constant);
    if (!constant) {
        return weft_fail_memory(&device->host, "a constant");
    }
    constant->bytes = bytes;
    weft_status status = make_constant(constant, device, key, fill, user);
    if (status != WEFT_OK) {
        destroy_constant(device, constant);
        return status;
    }
    constant->references = 1;
    constant->next = device->weights->first;
    device->weights->first = constant;
    *out = constant;
    return WEFT_OK;
}

void weft_constant_release(struct weft_constant **constant) {
    if (*constant) {
        (*constant)->references--;
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
    for (struct kept *kept = device->weights->kept; kept; kept = kept->next) {
        if (strcmp(kept->key, key) == 0) {
            return kept->object;
        }
    }
    return NULL;
}

weft_status weft_device_keep(weft_device *device, const char *key, void *object,
                             void (*destroy)(void *object, const weft_host *host)) {
    struct kept *kept = weft_alloc_zero(&device->host, 1, sizeof *kept);
    char *copy = weft_strdup(&device->host, key);
    if (!kept || !copy) {
        weft_free(&device->host, kept);
        weft_free(&device->host, copy);
        destroy(object, &device->host);
        return weft_fail_memory(&device->host, key);
    }
    *kept = (struct kept){
        .next = device->weights->kept, .key = copy, .object = object, .destroy = destroy};
    device->weights->kept = kept;
    return WEFT_OK;
}

weft_weight *weft_device_find_weight(weft_device *device, const char *key) {
    for (struct kept_weight *kept = device->weights->kept_weights; kept; kept = kept->next) {
        if (strcmp(kept->key, key) == 0) {
            return kept->weight;
        }
    }
    return NULL;
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
    *kept =
        (struct kept_weight){.next = device->weights->kept_weights, .key = copy, .weight = weight};
    device->weights->kept_weights = kept;
    return WEFT_OK;
}
