/* SPDX-License-Identifier: MIT */
/* weft-test: long device */
/*
 * Buffers of an adopted device that several queue families use. No software driver has two families, so what the library
 * sees is a driver with three, and the real one gets buffers for its only family.
 */
#include "core/host.h"
#include "device/commands.h"
#include "support_frames.h"

/* What the library asked for. One test at a time. */
static struct {
    weft_device *real;
    uint32_t stamps_of_last;  /* timestampValidBits of family 2 */
    uint32_t buffers, shared; /* that were made; of them, with all families in order */
    uint32_t expected[4], expected_count;
} seen;

static VKAPI_ATTR void VKAPI_CALL get_families(VkPhysicalDevice handle, uint32_t *count,
                                               VkQueueFamilyProperties *families) {
    if (families) {
        uint32_t one = 1;
        seen.real->instance.GetPhysicalDeviceQueueFamilyProperties(handle, &one, families);
        families[1] = families[0];
        families[1].queueFlags = VK_QUEUE_TRANSFER_BIT;
        families[1].timestampValidBits = 0;
        families[2] = families[0];
        families[2].queueFlags = VK_QUEUE_COMPUTE_BIT;
        families[2].timestampValidBits = seen.stamps_of_last;
    }
    *count = 3;
}

static VKAPI_ATTR VkResult VKAPI_CALL create_buffer(VkDevice device, const VkBufferCreateInfo *info,
                                                    const VkAllocationCallbacks *allocator,
                                                    VkBuffer *buffer) {
    VkBufferCreateInfo real = *info;
    seen.buffers++;
    seen.shared += info->sharingMode == VK_SHARING_MODE_CONCURRENT &&
                   info->queueFamilyIndexCount == seen.expected_count &&
                   memcmp(info->pQueueFamilyIndices, seen.expected,
                          seen.expected_count * sizeof seen.expected[0]) == 0;
    real.sharingMode = VK_SHARING_MODE_EXCLUSIVE;
    real.queueFamilyIndexCount = 0;
    real.pQueueFamilyIndices = NULL;
    return seen.real->vk.CreateBuffer(device, &real, allocator, buffer);
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_device_proc(VkDevice device, const char *name) {
    return strcmp(name, "vkCreateBuffer") == 0
               ? (PFN_vkVoidFunction)create_buffer
               : seen.real->instance.GetDeviceProcAddr(device, name);
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_instance_proc(VkInstance instance,
                                                                  const char *name) {
    if (strcmp(name, "vkGetPhysicalDeviceQueueFamilyProperties") == 0) {
        return (PFN_vkVoidFunction)get_families;
    }
    return strcmp(name, "vkGetDeviceProcAddr") == 0
               ? (PFN_vkVoidFunction)get_device_proc
               : seen.real->instance.GetInstanceProcAddr(instance, name);
}

static weft_status adopt(weft_device **device, struct weft_test_graph *f, const uint32_t *families,
                         uint32_t count) {
    const weft_device *real = f->device;
    memset(&seen, 0, sizeof seen);
    seen.real = f->device;
    seen.stamps_of_last = 64;
    seen.expected_count = 3;
    memcpy(seen.expected, (uint32_t[]){0, 2, 1}, 3 * sizeof seen.expected[0]);
    return weft_device_adopt(
        device,
        weft_device_adopt_params(.host = f->host.host, .instance = real->instance.handle,
                                 .physical_device = real->physical, .device = real->vk.handle,
                                 .queue = real->queue, .queue_family = real->queue_family,
                                 .get_instance_proc_addr = get_instance_proc, .cache_dir = "",
                                 .shared_families = families, .shared_family_count = count));
}

/* Compiles and runs on the adopted device. */
static void run(struct weft_test_graph *f, weft_device *device) {
    struct weft_test_graph on_it = *f;
    struct weft_test_frames s;
    struct weft_test_lane other;
    on_it.device = device;
    weft_test_frames_begin_layers(&s, &on_it, NULL, 0);
    weft_test_lane_begin(&other, &s, weft_bindings_create_concurrent, 0);
    weft_test_lane_expect(&other, "an arena that is shared");
    assert_memory_equal(other.whole, s.lane.whole, sizeof other.whole);
    weft_test_lane_end(&other);
    weft_test_frames_end(&s);
}

/* Every buffer, of arenas, weights, staging and the caller's, is for all families, each once and Weft's own first. */
WEFT_TEST_ON_GRAPH(test_buffers_are_shared, f) {
    weft_device *device = NULL;
    assert_int_equal(f->device->queue_family, 0);
    assert_ok(adopt(&device, f, (uint32_t[]){2, 0, 1, 2}, 4));
    run(f, device);
    assert_true(seen.buffers >= 6);
    assert_int_equal(seen.shared, seen.buffers);
    weft_device_destroy(&device);
}

WEFT_TEST_ON_GRAPH(test_one_family_shares_nothing, f) {
    weft_device *device = NULL;
    assert_ok(adopt(&device, f, (uint32_t[]){0, 0}, 2));
    run(f, device);
    assert_true(seen.buffers >= 6);
    assert_int_equal(seen.shared, 0);
    assert_int_equal(device->family_count, 1);
    weft_device_destroy(&device);
}

/* Where a family that computes has no time stamps, plans have none. */
WEFT_TEST_ON_GRAPH(test_time_stamps_of_all_families, f) {
    weft_device *device = NULL;
    weft_plan *plan = NULL;
    if (f->device->info.timestamp_period_ns <= 0.0) {
        return;
    }
    assert_ok(adopt(&device, f, (uint32_t[]){1, 2}, 2));
    assert_true(device->info.timestamp_period_ns > 0.0);
    weft_device_destroy(&device);
    memset(&seen, 0, sizeof seen);
    weft_device_adopt_params params = {.host = f->host.host,
                                       .instance = f->device->instance.handle,
                                       .physical_device = f->device->physical,
                                       .device = f->device->vk.handle,
                                       .queue = f->device->queue,
                                       .get_instance_proc_addr = get_instance_proc,
                                       .cache_dir = "",
                                       .shared_families = (uint32_t[]){2},
                                       .shared_family_count = 1};
    seen.real = f->device;
    assert_ok(weft_device_adopt(&device, &params));
    weft_test_frames_build(f->graph, 0);
    WEFT_EXPECT_REFUSED(
        &f->host, WEFT_UNSUPPORTED,
        weft_plan_compile(&plan, device, f->graph, weft_plan_params(.timestamps = true)),
        "no time stamps");
    weft_device_destroy(&device);
}

WEFT_TEST_ON_GRAPH(test_families_that_are_refused, f) {
    weft_device *device = NULL;
    const uint32_t many[WEFT_MAX_SHARED_FAMILIES + 1] = {0};
    WEFT_EXPECT_REFUSED(&f->host, WEFT_INVALID_ARGUMENT, adopt(&device, f, (uint32_t[]){1, 3}, 2),
                        "shared family 3");
    WEFT_EXPECT_REFUSED(&f->host, WEFT_INVALID_ARGUMENT,
                        adopt(&device, f, many, WEFT_MAX_SHARED_FAMILIES + 1), "9 shared families");
    WEFT_EXPECT_REFUSED(&f->host, WEFT_INVALID_ARGUMENT, adopt(&device, f, NULL, 1),
                        "shared_families is null");
    assert_null(device);
}
