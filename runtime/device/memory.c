/* SPDX-License-Identifier: MIT */
/* The memory pool: few large allocations from the driver, which allows only some thousands, shared
 * by many buffers. */
#include <inttypes.h>

#include "core/system/write_signals.h"
#include "core/try.h"
#include "device/device.h"
#include "device/memory_budget.h"
#include "device/ranges.h"

#define DEVICE_BLOCK_SIZE  (UINT64_C(64) << 20)
#define STAGING_BLOCK_SIZE (UINT64_C(8) << 20)
#define SMALL_HEAP_SIZE    (UINT64_C(1) << 30)

struct weft_memory_block {
    struct weft_memory_block *next;
    enum weft_memory_kind kind;
    uint32_t type; /* memory type index */
    VkDeviceMemory memory;
    uint64_t size;
    bool shared; /* of the standard size: worth keeping when empty */
    uint8_t *mapped;
    struct weft_ranges ranges;
};

struct weft_memory_pool {
    struct weft_memory_block *blocks;
    uint64_t reserved; /* bytes of WEFT_MEMORY_DEVICE blocks */
};

weft_status weft_memory_pool_create(weft_device *device) {
    device->memory = weft_alloc_zero(&device->host, 1, sizeof *device->memory);
    return !device->memory ? weft_fail_memory(&device->host, "memory pool") : WEFT_OK;
}

static void destroy_block(weft_device *device, struct weft_memory_block *block) {
    if (block->kind == WEFT_MEMORY_DEVICE) {
        device->memory->reserved -= block->size;
    }
    /* Freeing memory unmaps it. */
    device->vk.FreeMemory(device->vk.handle, block->memory, NULL);
    weft_ranges_destroy(&block->ranges, &device->host);
    weft_free(&device->host, block);
}

void weft_memory_pool_destroy(weft_device *device) {
    if (!device->memory) {
        return;
    }
    while (device->memory->blocks) {
        struct weft_memory_block *block = device->memory->blocks;
        device->memory->blocks = block->next;
        destroy_block(device, block);
    }
    weft_free(&device->host, device->memory);
    device->memory = NULL;
}

static uint64_t heap_size(const weft_device *device, uint32_t type) {
    const VkPhysicalDeviceMemoryProperties *memory = &device->memory_properties;
    return memory->memoryHeaps[memory->memoryTypes[type].heapIndex].size;
}

/* How well a memory type suits a kind; 0: not at all. */
static uint32_t score(VkMemoryPropertyFlags flags, enum weft_memory_kind kind) {
    const VkMemoryPropertyFlags special =
        VK_MEMORY_PROPERTY_LAZILY_ALLOCATED_BIT | VK_MEMORY_PROPERTY_PROTECTED_BIT |
        VK_MEMORY_PROPERTY_DEVICE_COHERENT_BIT_AMD | VK_MEMORY_PROPERTY_RDMA_CAPABLE_BIT_NV;
    const VkMemoryPropertyFlags visible =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    if ((flags & special) != 0) {
        return 0;
    }
    const bool local = (flags & VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT) != 0;
    if (kind == WEFT_MEMORY_DEVICE) { /* the host's own memory last */
        return local ? 3 : (flags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) == 0 ? 2 : 1;
    }
    if ((flags & visible) != visible) {
        return 0;
    }
    /* Reading back from memory that is not cached is tens of times slower; the GPU's own is scarce.
     */
    const bool cached = (flags & VK_MEMORY_PROPERTY_HOST_CACHED_BIT) != 0;
    return 1 + (cached ? 2u : 0u) + (local ? 0u : 1u);
}

/* Memory types that serve a request, the best first: of several as good that of the largest heap, then the driver's own order. */
struct choice {
    uint32_t types[VK_MAX_MEMORY_TYPES];
    uint32_t points[VK_MAX_MEMORY_TYPES];
    uint32_t count;
};

static bool goes_before(const struct choice *choice, uint32_t at, const weft_device *device,
                        uint32_t points, uint32_t type) {
    return points > choice->points[at] ||
           (points == choice->points[at] &&
            heap_size(device, type) > heap_size(device, choice->types[at]));
}

static struct choice choose_types(const weft_device *device, uint32_t bits,
                                  enum weft_memory_kind kind) {
    struct choice choice = {.count = 0};
    for (uint32_t i = 0; i < device->memory_properties.memoryTypeCount; i++) {
        const uint32_t points = score(device->memory_properties.memoryTypes[i].propertyFlags, kind);
        if ((bits & (UINT32_C(1) << i)) == 0 || points == 0) {
            continue;
        }
        uint32_t at = choice.count++;
        for (; at > 0 && goes_before(&choice, at - 1, device, points, i); at--) {
            choice.types[at] = choice.types[at - 1];
            choice.points[at] = choice.points[at - 1];
        }
        choice.types[at] = i;
        choice.points[at] = points;
    }
    return choice;
}

/* The size of a block that is meant to be shared. */
static uint64_t shared_block_size(const weft_device *device, uint32_t type,
                                  enum weft_memory_kind kind) {
    uint64_t size = kind == WEFT_MEMORY_STAGING ? STAGING_BLOCK_SIZE : DEVICE_BLOCK_SIZE;
    uint64_t heap = heap_size(device, type);
    if (heap < SMALL_HEAP_SIZE && heap / 8 < size) {
        size = heap / 8;
    }
    /* The rest of the limit also bounds the reserve, as far as the requests themselves allow. */
    if (kind == WEFT_MEMORY_DEVICE && device->memory_limit != 0) {
        uint64_t reserved = device->memory->reserved;
        uint64_t left = device->memory_limit > reserved ? device->memory_limit - reserved : 0;
        size = left < size ? left : size;
    }
    return size;
}

/* *call is the function that the result is of. */
static VkResult allocate_and_map(struct weft_memory_block *block, const weft_device *device,
                                 const char **call) {
    *call = "VK_EXT_memory_budget";
    if (!weft_memory_is_in_budget(device, block->type, block->size)) {
        return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    }
    *call = "vkAllocateMemory";
    VkMemoryAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .allocationSize = block->size,
        .memoryTypeIndex = block->type,
    };
    struct weft_write_signals signals;
    weft_write_signals_hold(&signals); /* a driver on the processor may have it of a file */
    VkResult result = device->vk.AllocateMemory(device->vk.handle, &info, NULL, &block->memory);
    weft_write_signals_release(&signals);
    if (result != VK_SUCCESS || block->kind != WEFT_MEMORY_STAGING) {
        return result;
    }
    void *mapped = NULL;
    *call = "vkMapMemory";
    result = device->vk.MapMemory(device->vk.handle, block->memory, 0, VK_WHOLE_SIZE, 0, &mapped);
    if (result != VK_SUCCESS) {
        device->vk.FreeMemory(device->vk.handle, block->memory, NULL);
        return result;
    }
    block->mapped = mapped;
    return result;
}

/* Result of the driver, and the function that returned it. */
struct answer {
    VkResult result;
    const char *call;
};

/* A new block, first in the pool, unless the driver's answer is an error. */
static weft_status add_block(weft_device *device, uint64_t size, bool shared, uint32_t type,
                             enum weft_memory_kind kind, struct answer *answer) {
    struct weft_memory_block *block = weft_alloc_zero(&device->host, 1, sizeof *block);
    if (!block) {
        return weft_fail_memory(&device->host, "memory block");
    }
    *block = (struct weft_memory_block){
        .kind = kind, .type = type, .size = size, .shared = shared, .next = device->memory->blocks};
    weft_status status = weft_ranges_create(&block->ranges, size, &device->host);
    if (status != WEFT_OK) {
        weft_free(&device->host, block);
        return status;
    }
    answer->result = allocate_and_map(block, device, &answer->call);
    if (answer->result != VK_SUCCESS) {
        weft_ranges_destroy(&block->ranges, &device->host);
        weft_free(&device->host, block);
        return WEFT_OK;
    }
    device->memory->blocks = block;
    if (kind == WEFT_MEMORY_DEVICE) {
        device->memory->reserved += size;
    }
    return WEFT_OK;
}

/* Gives every empty block back to the driver. */
static void release_empty(weft_device *device) {
    struct weft_memory_block **link = &device->memory->blocks;
    while (*link) {
        struct weft_memory_block *block = *link;
        if (block->ranges.taken != 0) {
            link = &block->next;
            continue;
        }
        *link = block->next;
        destroy_block(device, block);
    }
}

/* True if another block of the same type and kind is empty. */
static bool has_empty_twin(const struct weft_memory_pool *pool,
                           const struct weft_memory_block *block) {
    for (const struct weft_memory_block *b = pool->blocks; b; b = b->next) {
        if (b != block && b->type == block->type && b->kind == block->kind &&
            b->ranges.taken == 0) {
            return true;
        }
    }
    return false;
}

/* One shared block of a type and kind is kept when it falls empty, so that making and freeing one
 * buffer is cheap. */
static void release_unless_kept(weft_device *device, struct weft_memory_block *block) {
    if (block->ranges.taken != 0 || (block->shared && !has_empty_twin(device->memory, block))) {
        return;
    }
    struct weft_memory_block **link = &device->memory->blocks;
    while (*link != block) {
        link = &(*link)->next;
    }
    *link = block->next;
    destroy_block(device, block);
}

static bool is_full(const struct answer *answer) {
    return answer->result == VK_ERROR_OUT_OF_DEVICE_MEMORY;
}

/* A block of the type with room for `size` more bytes: a shared one where they fit, else one of their own. */
static weft_status add_room(weft_device *device, uint64_t size, uint32_t type,
                            enum weft_memory_kind kind, struct answer *answer) {
    *answer = (struct answer){.result = VK_ERROR_OUT_OF_DEVICE_MEMORY, .call = "vkAllocateMemory"};
    if (size > heap_size(device, type)) {
        return WEFT_OK;
    }
    const uint64_t shared_size = shared_block_size(device, type, kind);
    if (size < shared_size) {
        WEFT_TRY(add_block(device, shared_size, true, type, kind, answer));
    }
    if (is_full(answer)) {
        WEFT_TRY(add_block(device, size, false, type, kind, answer));
    }
    if (is_full(answer)) {
        release_empty(device);
        WEFT_TRY(add_block(device, size, false, type, kind, answer));
    }
    return WEFT_OK;
}

/* No type has had room; the answer is the driver's about the best of them. */
static weft_status fail_full(weft_device *device, uint64_t size, const struct answer *answer) {
    if (answer->result != VK_ERROR_OUT_OF_DEVICE_MEMORY &&
        answer->result != VK_ERROR_TOO_MANY_OBJECTS) {
        return weft_device_check(device, answer->result, answer->call);
    }
    if (size > device->max_allocation && device->max_allocation != 0) {
        return weft_fail(&device->host, WEFT_OUT_OF_DEVICE_MEMORY,
                         "%s: %" PRIu64 " bytes asked, the driver promises no more than %" PRIu64
                         " at once",
                         answer->call, size, device->max_allocation);
    }
    return weft_fail(&device->host, WEFT_OUT_OF_DEVICE_MEMORY,
                     "%s: the driver has no %" PRIu64 " bytes more; %" PRIu64 " are in use",
                     answer->call, size, (uint64_t)device->stats.bytes_in_use);
}

/* Takes a range from any block of the type and kind; *block is null when none has room. */
static weft_status take(struct weft_memory_block **block, struct weft_range **range,
                        weft_device *device, const VkMemoryRequirements *requirements,
                        uint32_t type, enum weft_memory_kind kind) {
    for (struct weft_memory_block *b = device->memory->blocks; b; b = b->next) {
        if (b->type != type || b->kind != kind) {
            continue;
        }
        weft_status status = weft_ranges_take(range, &b->ranges, requirements->size,
                                              requirements->alignment, &device->host);
        if (status != WEFT_OK || *range) {
            *block = b;
            return status;
        }
    }
    *block = NULL;
    return WEFT_OK;
}

/* Refuses what the limit cannot hold. */
static weft_status check_limit(const weft_device *device, uint64_t size,
                               enum weft_memory_kind kind) {
    const uint64_t in_use = device->stats.bytes_in_use;
    const uint64_t limit = device->memory_limit;
    if (kind == WEFT_MEMORY_DEVICE && limit != 0 && (in_use > limit || size > limit - in_use)) {
        return weft_fail(&device->host, WEFT_OUT_OF_DEVICE_MEMORY,
                         "%" PRIu64 " bytes asked, %" PRIu64 " in use, the limit is %" PRIu64, size,
                         in_use, limit);
    }
    return WEFT_OK;
}

/* Refuses what the limit or the heaps can never hold, before the driver sees it. */
static weft_status check_size(const weft_device *device, uint64_t size, const struct choice *choice,
                              enum weft_memory_kind kind) {
    uint64_t largest = 0;
    WEFT_TRY(check_limit(device, size, kind));
    for (uint32_t i = 0; i < choice->count; i++) {
        const uint64_t heap = heap_size(device, choice->types[i]);
        largest = heap > largest ? heap : largest;
    }
    if (size > largest) {
        return weft_fail(&device->host, WEFT_OUT_OF_DEVICE_MEMORY,
                         "%" PRIu64 " bytes asked, the memory heap has %" PRIu64, size, largest);
    }
    return WEFT_OK;
}

/* From the first type that has room: what a heap cannot give is taken of the next one. */
static weft_status find_range(struct weft_allocation *made, weft_device *device,
                              const VkMemoryRequirements *requirements,
                              enum weft_memory_kind kind) {
    const struct choice choice = choose_types(device, requirements->memoryTypeBits, kind);
    struct answer best = {.result = VK_SUCCESS};
    if (choice.count == 0) {
        return weft_fail(&device->host, WEFT_UNSUPPORTED, "the device has no %s memory",
                         kind == WEFT_MEMORY_STAGING ? "host-visible coherent" : "suitable");
    }
    WEFT_TRY(check_size(device, requirements->size, &choice, kind));
    for (uint32_t i = 0; i < choice.count; i++) {
        struct answer answer;
        WEFT_TRY(take(&made->block, &made->range, device, requirements, choice.types[i], kind));
        if (made->block) {
            return WEFT_OK;
        }
        WEFT_TRY(add_room(device, requirements->size, choice.types[i], kind, &answer));
        if (answer.result == VK_SUCCESS) {
            made->block = device->memory->blocks; /* the new one, large enough */
            return weft_ranges_take(&made->range, &made->block->ranges, requirements->size,
                                    requirements->alignment, &device->host);
        }
        best = i == 0 ? answer : best;
        if (!is_full(&answer)) {
            return fail_full(device, requirements->size, &answer);
        }
    }
    return fail_full(device, requirements->size, &best);
}

/* Describes a found range to its owner. */
static void describe_range(struct weft_allocation *made) {
    made->memory = made->block->memory;
    made->offset = made->range->offset;
    made->size = made->range->size;
    made->mapped = !made->block->mapped ? NULL : made->block->mapped + made->offset;
}

/* ---- from the allocator of an adopted device's owner ---- */

/* Fault of the memory that the allocator gave; null: none is visible. */
static const char *fault_of(const weft_vulkan_memory *given,
                            const VkMemoryRequirements *requirements, enum weft_memory_kind kind) {
    return given->memory == VK_NULL_HANDLE                ? "no VkDeviceMemory"
           : given->offset % requirements->alignment != 0 ? "an offset that is not aligned"
           : kind == WEFT_MEMORY_STAGING && given->mapped == NULL
               ? "no mapping where host access was asked for"
               : NULL;
}

static weft_status ask_allocator(struct weft_allocation *made, weft_device *device,
                                 const VkMemoryRequirements *requirements,
                                 enum weft_memory_kind kind) {
    const weft_vulkan_allocator *allocator = &device->allocator;
    WEFT_TRY(check_limit(device, requirements->size, kind));
    const VkResult result = allocator->allocate(allocator->user, requirements,
                                                kind == WEFT_MEMORY_STAGING, &made->given);
    if (result == VK_ERROR_OUT_OF_DEVICE_MEMORY || result == VK_ERROR_TOO_MANY_OBJECTS) {
        return weft_fail(&device->host, WEFT_OUT_OF_DEVICE_MEMORY,
                         "the program's allocator has no %" PRIu64 " bytes more; %" PRIu64
                         " are in use",
                         (uint64_t)requirements->size, (uint64_t)device->stats.bytes_in_use);
    }
    WEFT_TRY(weft_device_check(device, result, "the program's allocator"));
    const char *fault = fault_of(&made->given, requirements, kind);
    if (fault) {
        allocator->free(allocator->user, &made->given);
        return weft_fail(&device->host, WEFT_INVALID_ARGUMENT, "the program's allocator gave %s",
                         fault);
    }
    made->memory = made->given.memory;
    made->offset = made->given.offset;
    made->size = requirements->size;
    made->mapped = kind == WEFT_MEMORY_STAGING ? made->given.mapped : NULL;
    return WEFT_OK;
}

/* ---- both ---- */

static weft_status obtain(struct weft_allocation *made, weft_device *device,
                          const VkMemoryRequirements *requirements, enum weft_memory_kind kind) {
    if (device->allocator.allocate) {
        return ask_allocator(made, device, requirements, kind);
    }
    WEFT_TRY(find_range(made, device, requirements, kind));
    describe_range(made);
    return WEFT_OK;
}

static void count_bytes(weft_device *device, const struct weft_allocation *made) {
    if (made->kind == WEFT_MEMORY_DEVICE) {
        device->stats.bytes_in_use += made->size;
        if (device->stats.bytes_in_use > device->stats.peak_bytes) {
            device->stats.peak_bytes = atomic_load(&device->stats.bytes_in_use);
        }
    }
}

weft_status weft_memory_allocate(struct weft_allocation **allocation, weft_device *device,
                                 const VkMemoryRequirements *requirements,
                                 enum weft_memory_kind kind) {
    struct weft_allocation *made = weft_alloc_zero(&device->host, 1, sizeof *made);
    if (!made) {
        return weft_fail_memory(&device->host, "memory allocation");
    }
    pthread_mutex_lock(&device->locks.memory);
    made->kind = kind;
    const weft_status status = obtain(made, device, requirements, kind);
    if (status == WEFT_OK) {
        count_bytes(device, made);
    }
    pthread_mutex_unlock(&device->locks.memory);
    if (status != WEFT_OK) {
        weft_free(&device->host, made);
        return status;
    }
    *allocation = made;
    return WEFT_OK;
}

void weft_memory_free(weft_device *device, struct weft_allocation **allocation) {
    struct weft_allocation *old = *allocation;
    if (!old) {
        return;
    }
    *allocation = NULL;
    if (device->torn) { /* and so may be the pool */
        weft_free(&device->host, old);
        return;
    }
    pthread_mutex_lock(&device->locks.memory);
    if (old->kind == WEFT_MEMORY_DEVICE) {
        device->stats.bytes_in_use -= old->size;
    }
    if (old->block) {
        weft_ranges_give(&old->block->ranges, old->range, &device->host);
        release_unless_kept(device, old->block);
    } else {
        device->allocator.free(device->allocator.user, &old->given);
    }
    pthread_mutex_unlock(&device->locks.memory);
    weft_free(&device->host, old);
}
