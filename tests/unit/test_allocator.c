/* SPDX-License-Identifier: MIT */
/* weft-test: long device */
/* Memory from the allocator of an adopted device's owner: all of it, given back, and what happens when there is none. */
#include "device/device.h"
#include "support_adopt.h"
#include "support_frames.h"

enum { BLOCK = 16 << 20, MOST = 64 };

enum { SPOILS_NOTHING, SPOILS_MEMORY, SPOILS_OFFSET, SPOILS_MAPPING };

/* Blocks that allocations are cut from, front to back. */
struct heap {
    weft_device *real;
    VkDeviceMemory blocks[MOST];
    uint8_t *mapped[MOST]; /* null: without host access */
    VkDeviceSize used[MOST];
    uint32_t block_count;
    uint32_t calls, live, with_host;
    uint32_t fails_at; /* the call that fails; 0: none */
    VkResult error;
    int spoils; /* SPOILS_… */
};

static uint32_t type_of(const weft_device *device, uint32_t bits, bool host_access) {
    const VkMemoryPropertyFlags wanted =
        host_access ? VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT
                    : 0;
    for (uint32_t i = 0; i < device->memory_properties.memoryTypeCount; i++) {
        if ((bits & (1U << i)) != 0 &&
            (device->memory_properties.memoryTypes[i].propertyFlags & wanted) == wanted) {
            return i;
        }
    }
    fail_msg("no memory type");
    return 0;
}

static void add_block(struct heap *heap, VkDeviceSize size, uint32_t bits, bool host_access) {
    const weft_device *device = heap->real;
    const VkMemoryAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                       .allocationSize = size > BLOCK ? size : BLOCK,
                                       .memoryTypeIndex = type_of(device, bits, host_access)};
    assert_true(heap->block_count < MOST);
    const uint32_t index = heap->block_count++;
    assert_int_equal(
        device->vk.AllocateMemory(device->vk.handle, &info, NULL, &heap->blocks[index]),
        VK_SUCCESS);
    if (host_access) {
        void *mapped = NULL;
        assert_int_equal(device->vk.MapMemory(device->vk.handle, heap->blocks[index], 0,
                                              VK_WHOLE_SIZE, 0, &mapped),
                         VK_SUCCESS);
        heap->mapped[index] = mapped;
    }
}

static VkResult give(void *user, const VkMemoryRequirements *needs, bool host_access,
                     weft_vulkan_memory *memory) {
    struct heap *heap = user;
    if (++heap->calls == heap->fails_at) {
        return heap->error;
    }
    uint32_t index = 0;
    VkDeviceSize at = 0;
    for (; index < heap->block_count; index++) {
        at = (heap->used[index] + needs->alignment - 1) / needs->alignment * needs->alignment;
        if (host_access == (heap->mapped[index] != NULL) && at + needs->size <= BLOCK) {
            break;
        }
    }
    if (index == heap->block_count) {
        add_block(heap, needs->size, needs->memoryTypeBits, host_access);
        at = 0;
    }
    heap->used[index] = at + needs->size;
    heap->live++;
    heap->with_host += host_access;
    *memory = (weft_vulkan_memory){
        .memory = heap->spoils == SPOILS_MEMORY ? VK_NULL_HANDLE : heap->blocks[index],
        .offset = at + (heap->spoils == SPOILS_OFFSET ? 1 : 0),
        .mapped = host_access && heap->spoils != SPOILS_MAPPING ? heap->mapped[index] + at : NULL,
        .handle = heap};
    return VK_SUCCESS;
}

static void take_back(void *user, const weft_vulkan_memory *memory) {
    struct heap *heap = user;
    assert_ptr_equal(memory->handle, heap);
    assert_true(heap->live > 0);
    heap->live--;
    heap->with_host -= memory->mapped != NULL;
}

static void end_heap(struct heap *heap) {
    for (uint32_t i = 0; i < heap->block_count; i++) {
        heap->real->vk.FreeMemory(heap->real->vk.handle, heap->blocks[i], NULL);
    }
}

/* Another device on the VkDevice of the test's. */
static weft_status adopt(weft_device **device, const struct weft_test_graph *f,
                         const weft_vulkan_allocator *allocator, uint64_t limit) {
    const weft_device *real = f->device;
    return weft_device_adopt(
        device,
        WEFT_TEST_ADOPT(real, .host = f->host.host, .memory_limit = limit, .allocator = allocator));
}

static weft_vulkan_allocator allocator_of(struct heap *heap) {
    return (weft_vulkan_allocator){.user = heap, .allocate = give, .free = take_back};
}

/* ---- */

WEFT_TEST_ON_GRAPH(all_memory_is_the_allocators, f) {
    struct heap heap = {.real = f->device};
    const weft_vulkan_allocator allocator = allocator_of(&heap);
    struct weft_test_graph on_it = *f;
    struct weft_test_frames s, expected;
    weft_device_stats stats;
    weft_graph *graph = NULL;
    weft_test_frames_begin(&expected, f, NULL); /* by memory of Weft's own */
    assert_ok(adopt(&on_it.device, f, &allocator, 0));
    assert_ok(weft_graph_create(&graph, &f->host.host));
    on_it.graph = graph;
    weft_test_frames_begin(&s, &on_it, NULL);
    assert_memory_equal(s.lane.whole, expected.lane.whole, sizeof s.lane.whole);
    assert_ok(weft_device_get_stats(on_it.device, &stats));
    assert_true(stats.bytes_in_use > 0 && heap.live >= 5 && heap.with_host >= 1);
    weft_test_frames_end(&s);
    weft_graph_destroy(&graph);
    weft_device_trim(on_it.device);
    assert_ok(weft_device_get_stats(on_it.device, &stats));
    assert_int_equal(stats.bytes_in_use, 0);
    assert_int_equal(heap.live, heap.with_host); /* transfers keep theirs */
    weft_device_destroy(&on_it.device);
    assert_int_equal(heap.live, 0);
    end_heap(&heap);
    weft_test_frames_end(&expected);
}

/* Opens, compiles, runs; whatever fails is undone. */
static weft_status live(const struct weft_test_graph *f, const weft_vulkan_allocator *allocator) {
    weft_device *device = NULL;
    weft_plan *plan = NULL;
    float x[WEFT_FRAMES_COUNT] = {1.0F}, y[WEFT_FRAMES_COUNT];
    const weft_host_tensor tensors[] = {{"x", x, sizeof x}, {"y", y, sizeof y}};
    weft_status status = adopt(&device, f, allocator, 0);
    status = status ? status : weft_plan_compile(&plan, device, f->graph, NULL);
    status = status ? status : weft_plan_execute(plan, tensors, 2);
    weft_plan_destroy(&plan);
    weft_device_destroy(&device);
    return status;
}

/* Each allocation fails once, as for good and as what a second try mends. */
WEFT_TEST_ON_GRAPH(each_allocation_may_fail, f) {
    const struct {
        VkResult error;
        weft_status status;
    } errors[] = {{VK_ERROR_OUT_OF_DEVICE_MEMORY, WEFT_OUT_OF_DEVICE_MEMORY},
                  {VK_ERROR_OUT_OF_HOST_MEMORY, WEFT_OUT_OF_HOST_MEMORY}};
    weft_test_frames_build(f->graph, 0);
    for (size_t e = 0; e < sizeof errors / sizeof errors[0]; e++) {
        uint32_t failed = 0;
        for (uint32_t n = 1;; n++) {
            struct heap heap = {.real = f->device, .fails_at = n, .error = errors[e].error};
            const weft_vulkan_allocator allocator = allocator_of(&heap);
            const weft_status status = live(f, &allocator);
            assert_int_equal(heap.live, 0);
            assert_true(status == WEFT_OK || status == errors[e].status);
            failed += status != WEFT_OK;
            end_heap(&heap);
            if (heap.calls < n) {
                assert_true(status == WEFT_OK && n > 5);
                break;
            }
        }
        assert_true(failed >= 4);
        weft_test_expect_log(&f->host, "the program's allocator");
    }
}

WEFT_TEST_ON_GRAPH(what_it_gives_is_looked_at, f) {
    static const char *const faults[] = {[SPOILS_MEMORY] = "no VkDeviceMemory",
                                         [SPOILS_OFFSET] = "not aligned",
                                         [SPOILS_MAPPING] = "no mapping"};
    for (int spoils = SPOILS_MEMORY; spoils <= SPOILS_MAPPING; spoils++) {
        struct heap heap = {.real = f->device, .spoils = spoils};
        const weft_vulkan_allocator allocator = allocator_of(&heap);
        weft_device *device = NULL;
        WEFT_EXPECT_REFUSED(&f->host, WEFT_INVALID_ARGUMENT, adopt(&device, f, &allocator, 0),
                            faults[spoils]);
        assert_int_equal(heap.live, 0);
        end_heap(&heap);
    }
}

WEFT_TEST_ON_GRAPH(limits_and_halves, f) {
    struct heap heap = {.real = f->device};
    weft_vulkan_allocator allocator = allocator_of(&heap);
    weft_device *device = NULL;
    weft_buffer *buffer = NULL;
    assert_ok(adopt(&device, f, &allocator, 1 << 20));
    const uint32_t calls = heap.calls;
    WEFT_EXPECT_REFUSED(&f->host, WEFT_OUT_OF_DEVICE_MEMORY,
                        weft_buffer_create(&buffer, device, 2 << 20), "the limit is 1048576");
    assert_int_equal(heap.calls, calls); /* it was not asked */
    weft_device_destroy(&device);
    end_heap(&heap);
    allocator.free = NULL;
    WEFT_EXPECT_REFUSED(&f->host, WEFT_INVALID_ARGUMENT, adopt(&device, f, &allocator, 0),
                        "the allocator has no free");
}
