/* SPDX-License-Identifier: MIT */
/* The memory pool on a made-up discrete GPU: which memory it takes, in blocks of what size. */
#include "device/device.h"
#include "device/memory_budget.h"
#include "support.h"

#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)

enum { HOST_PLAIN, LOCAL, HOST_UNCACHED, HOST_CACHED, LOCAL_VISIBLE, LOCAL_PROTECTED, TYPES };

/* What the pool asked of the driver last. */
static struct {
    uint64_t size;
    uint32_t type;
    uint32_t live;
    uint64_t capacity; /* bytes the driver still gives */
    uint64_t heaps[3]; /* … of each heap, where that is less */
    uint64_t budgets[3], usage[3];
    uint32_t calls; /* of vkAllocateMemory */
} driver;

static const uint32_t heap_of[TYPES] = {
    [HOST_PLAIN] = 1,  [LOCAL] = 0,         [HOST_UNCACHED] = 1,
    [HOST_CACHED] = 1, [LOCAL_VISIBLE] = 2, [LOCAL_PROTECTED] = 0};

static uint8_t mapping[16 << 20];

static VKAPI_ATTR VkResult VKAPI_CALL allocate(VkDevice handle, const VkMemoryAllocateInfo *info,
                                               const VkAllocationCallbacks *callbacks,
                                               VkDeviceMemory *memory) {
    (void)handle;
    (void)callbacks;
    driver.size = info->allocationSize;
    driver.type = info->memoryTypeIndex;
    driver.calls++;
    const uint32_t heap = heap_of[driver.type];
    if (driver.size > driver.capacity || driver.size > driver.heaps[heap]) {
        return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    }
    driver.capacity -= driver.size;
    driver.heaps[heap] -= driver.size;
    driver.live++;
    uint64_t *block = malloc(2 * sizeof *block);
    assert_non_null(block);
    block[0] = driver.size;
    block[1] = heap;
    *memory = (VkDeviceMemory)(uintptr_t)block;
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL release(VkDevice handle, VkDeviceMemory memory,
                                          const VkAllocationCallbacks *callbacks) {
    (void)handle;
    (void)callbacks;
    uint64_t *block = (uint64_t *)(uintptr_t)memory;
    driver.capacity += block[0];
    driver.heaps[block[1]] += block[0];
    driver.live--;
    free(block);
}

static VKAPI_ATTR VkResult VKAPI_CALL map(VkDevice handle, VkDeviceMemory memory,
                                          VkDeviceSize offset, VkDeviceSize size,
                                          VkMemoryMapFlags flags, void **data) {
    (void)handle;
    (void)memory;
    (void)flags;
    assert_int_equal(offset, 0);
    assert_true(size == VK_WHOLE_SIZE);
    *data = mapping;
    return VK_SUCCESS;
}

static int set_up(void **state) {
    weft_device *device = calloc(1, sizeof *device);
    assert_non_null(device);
    device->vk.AllocateMemory = allocate;
    device->vk.FreeMemory = release;
    device->vk.MapMemory = map;
    const VkMemoryPropertyFlags local = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
    const VkMemoryPropertyFlags visible =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    device->memory_properties = (VkPhysicalDeviceMemoryProperties){
        .memoryTypeCount = TYPES,
        .memoryTypes = {[HOST_PLAIN] = {0, 1},
                        [LOCAL] = {local, 0},
                        [HOST_UNCACHED] = {visible, 1},
                        [HOST_CACHED] = {visible | VK_MEMORY_PROPERTY_HOST_CACHED_BIT, 1},
                        [LOCAL_VISIBLE] = {local | visible, 2},
                        [LOCAL_PROTECTED] = {local | VK_MEMORY_PROPERTY_PROTECTED_BIT, 0}},
        .memoryHeapCount = 3,
        .memoryHeaps = {{8 * GIB, VK_MEMORY_HEAP_DEVICE_LOCAL_BIT},
                        {16 * GIB, 0},
                        {256 * MIB, VK_MEMORY_HEAP_DEVICE_LOCAL_BIT}},
    };
    memset(&driver, 0, sizeof driver);
    driver.capacity = UINT64_MAX;
    for (int i = 0; i < 3; i++) {
        driver.heaps[i] = device->memory_properties.memoryHeaps[i].size;
    }
    assert_ok(weft_memory_pool_create(device));
    *state = device;
    return 0;
}

static int tear_down(void **state) {
    weft_device *device = *state;
    weft_memory_pool_destroy(device);
    assert_int_equal(driver.live, 0);
    free(device);
    return 0;
}

#define TEST(name, device) WEFT_TEST_WITH(name, weft_device *device, set_up, tear_down)

static struct weft_allocation *get(weft_device *device, uint64_t size, uint32_t types,
                                   enum weft_memory_kind kind) {
    struct weft_allocation *allocation = NULL;
    const VkMemoryRequirements needs = {.size = size, .alignment = 256, .memoryTypeBits = types};
    const weft_status status = weft_memory_allocate(&allocation, device, &needs, kind);
    assert_true((status == WEFT_OK) == (allocation != NULL));
    assert_true(status == WEFT_OK || status == WEFT_OUT_OF_DEVICE_MEMORY ||
                status == WEFT_UNSUPPORTED);
    return allocation;
}

static const uint32_t all_types = (1u << TYPES) - 1;

TEST(test_types, device) {
    struct weft_allocation *local = get(device, 1000, all_types, WEFT_MEMORY_DEVICE);
    assert_int_equal(driver.type, LOCAL);
    assert_int_equal(driver.size, 64 * MIB);
    assert_null(local->mapped);
    struct weft_allocation *staging = get(device, 4 * MIB, all_types, WEFT_MEMORY_STAGING);
    assert_int_equal(driver.type, HOST_CACHED);
    assert_int_equal(driver.size, 8 * MIB);
    struct weft_allocation *more = get(device, 1000, all_types, WEFT_MEMORY_STAGING);
    assert_ptr_equal(staging->mapped, mapping);
    assert_ptr_equal(more->mapped, mapping + more->offset);
    assert_int_equal(more->offset, 4 * MIB);
    assert_int_equal(driver.live, 2);
    /* Staging is host memory: it counts for nothing. */
    assert_int_equal(device->stats.bytes_in_use, 1000);
    assert_int_equal(device->stats.peak_bytes, 1000);
    weft_memory_free(device, &local);
    weft_memory_free(device, &staging);
    weft_memory_free(device, &more);
    assert_null(more);
    assert_int_equal(device->stats.bytes_in_use, 0);
}

TEST(test_type_bits, device) {
    struct weft_allocation *allocation = get(device, 1000, 1u << LOCAL_VISIBLE, WEFT_MEMORY_DEVICE);
    assert_int_equal(driver.type, LOCAL_VISIBLE);
    assert_int_equal(driver.size, 32 * MIB); /* an eighth of a small heap */
    weft_memory_free(device, &allocation);
    allocation = get(device, 1000, 1u << HOST_PLAIN, WEFT_MEMORY_DEVICE);
    assert_int_equal(driver.type, HOST_PLAIN);
    weft_memory_free(device, &allocation);
    allocation = get(device, 1000, 1u << HOST_UNCACHED | 1u << LOCAL_VISIBLE, WEFT_MEMORY_STAGING);
    assert_int_equal(driver.type, HOST_UNCACHED);
    weft_memory_free(device, &allocation);
    assert_null(get(device, 1000, 1u << LOCAL | 1u << HOST_PLAIN, WEFT_MEMORY_STAGING));
    assert_null(get(device, 1000, 1u << LOCAL_PROTECTED, WEFT_MEMORY_DEVICE));
    assert_null(get(device, 9 * GIB, 1u << LOCAL, WEFT_MEMORY_DEVICE));
    const uint32_t calls = driver.calls;
    assert_null(get(device, 17 * GIB, all_types, WEFT_MEMORY_DEVICE));
    assert_int_equal(driver.calls, calls); /* no heap can have it: none is asked */
}

/* The block for sharing shrinks to what the limit leaves, so that little more is reserved than may
 * be used. */
TEST(test_limit, device) {
    device->memory_limit = 10 * MIB;
    struct weft_allocation *first = get(device, 4 * MIB, all_types, WEFT_MEMORY_DEVICE);
    assert_int_equal(driver.size, 10 * MIB);
    struct weft_allocation *second = get(device, 6 * MIB, all_types, WEFT_MEMORY_DEVICE);
    assert_int_equal(driver.live, 1);
    assert_null(get(device, 4, all_types, WEFT_MEMORY_DEVICE));
    weft_memory_free(device, &first);
    /* What was given back is used again. */
    struct weft_allocation *third = get(device, 4 * MIB, all_types, WEFT_MEMORY_DEVICE);
    assert_int_equal(driver.live, 1);
    weft_memory_free(device, &second);
    weft_memory_free(device, &third);
    assert_int_equal(device->stats.peak_bytes, 10 * MIB);
}

TEST(test_driver_runs_out, device) {
    driver.capacity = 100 * MIB;
    struct weft_allocation *first = get(device, MIB, all_types, WEFT_MEMORY_DEVICE);
    assert_int_equal(driver.size, 64 * MIB);
    /* No second shared block fits, one of the asked size does. */
    struct weft_allocation *second = get(device, 63 * MIB + 256, all_types, WEFT_MEMORY_DEVICE);
    assert_null(second);
    second = get(device, 30 * MIB, all_types, WEFT_MEMORY_DEVICE);
    assert_int_equal(driver.live, 1); /* there was room in the first */
    struct weft_allocation *third = get(device, 34 * MIB, all_types, WEFT_MEMORY_DEVICE);
    assert_int_equal(driver.size, 34 * MIB);
    assert_int_equal(driver.live, 2);
    weft_memory_free(device, &third);
    assert_int_equal(driver.live, 1);
    /* An empty block that was kept is given up when that makes room. */
    weft_memory_free(device, &first);
    weft_memory_free(device, &second);
    assert_int_equal(driver.live, 1);
    third = get(device, 90 * MIB, all_types, WEFT_MEMORY_DEVICE);
    assert_non_null(third);
    assert_int_equal(driver.live, 1);
    weft_memory_free(device, &third);
    assert_int_equal(driver.live, 0);
}

TEST(test_more_than_one_allocation_can_have, device) {
    void *state = NULL;
    assert_int_equal(weft_test_host_set_up(&state), 0);
    struct weft_test_host *host = state;
    struct weft_allocation *allocation = NULL;
    const VkMemoryRequirements needs = {
        .size = 300 * MIB, .alignment = 256, .memoryTypeBits = all_types};
    driver.capacity = 256 * MIB;
    device->max_allocation = 200 * MIB;
    device->host = host->host;
    WEFT_EXPECT_REFUSED(host, WEFT_OUT_OF_DEVICE_MEMORY,
                        weft_memory_allocate(&allocation, device, &needs, WEFT_MEMORY_DEVICE),
                        "314572800 bytes", "209715200 at once");
    device->host = (weft_host){0};
    assert_int_equal(weft_test_host_tear_down(&state), 0);
}

/* ---- more than one heap ---- */

/* What the first heap cannot give is taken of the next: the device's own before the host's, of which what only the device sees comes first. */
TEST(test_next_heap, device) {
    struct weft_allocation *kept[4] = {0};
    static const uint32_t expected[] = {LOCAL, LOCAL_VISIBLE, HOST_PLAIN};
    driver.heaps[0] = 250 * MIB;
    for (int i = 0; i < 3; i++) {
        kept[i] = get(device, 200 * MIB, all_types, WEFT_MEMORY_DEVICE);
        assert_non_null(kept[i]);
        assert_int_equal(driver.type, expected[i]);
    }
    /* Without that type the host's memory serves, last. */
    kept[3] = get(device, 200 * MIB, all_types & ~(1u << HOST_PLAIN), WEFT_MEMORY_DEVICE);
    assert_non_null(kept[3]);
    assert_true(driver.type == HOST_CACHED || driver.type == HOST_UNCACHED);
    assert_int_equal(device->stats.bytes_in_use, 800 * MIB);
    /* A heap with room again is the first choice again. */
    weft_memory_free(device, &kept[0]);
    kept[0] = get(device, 200 * MIB, all_types, WEFT_MEMORY_DEVICE);
    assert_int_equal(driver.type, LOCAL);
    for (int i = 0; i < 4; i++) {
        weft_memory_free(device, &kept[i]);
    }
}

/* Larger than the first heap, and not than the second. */
TEST(test_larger_than_the_first_heap, device) {
    struct weft_allocation *large = get(device, 9 * GIB, all_types, WEFT_MEMORY_DEVICE);
    assert_non_null(large);
    assert_int_equal(driver.type, HOST_PLAIN);
    assert_int_equal(driver.calls, 1);
    weft_memory_free(device, &large);
}

/* The first type is for images only, as on Lunar Lake: requirements of buffers leave it out. */
TEST(test_first_type_for_images, device) {
    struct weft_allocation *buffer =
        get(device, MIB, all_types & ~(1u << LOCAL), WEFT_MEMORY_DEVICE);
    assert_non_null(buffer);
    assert_int_equal(driver.type, LOCAL_VISIBLE);
    weft_memory_free(device, &buffer);
}

/* ---- budgets ---- */

static VKAPI_ATTR void VKAPI_CALL tell_budget(VkPhysicalDevice physical,
                                              VkPhysicalDeviceMemoryProperties2 *properties) {
    (void)physical;
    VkPhysicalDeviceMemoryBudgetPropertiesEXT *budget = properties->pNext;
    assert_int_equal(budget->sType, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT);
    memcpy(budget->heapBudget, driver.budgets, sizeof driver.budgets);
    memcpy(budget->heapUsage, driver.usage, sizeof driver.usage);
}

TEST(test_budget, device) {
    device->instance.GetPhysicalDeviceMemoryProperties2 = tell_budget;
    device->info.has_memory_budget = true;
    memcpy(driver.budgets, (uint64_t[]){500 * MIB, GIB, 100 * MIB}, sizeof driver.budgets);
    driver.usage[0] = 400 * MIB; /* other programs' */
    uint64_t budget = 0, used = 0;
    weft_memory_budget(&budget, &used, device);
    assert_int_equal(budget, 600 * MIB);
    assert_int_equal(used, 400 * MIB);
    struct weft_allocation *fits = get(device, 90 * MIB, all_types, WEFT_MEMORY_DEVICE);
    assert_int_equal(driver.type, LOCAL);
    struct weft_allocation *elsewhere = get(device, 150 * MIB, all_types, WEFT_MEMORY_DEVICE);
    assert_int_equal(driver.type, HOST_PLAIN); /* within the others' sizes, not their budgets */
    const uint32_t calls = driver.calls;
    assert_null(get(device, 150 * MIB, 1u << LOCAL | 1u << LOCAL_VISIBLE, WEFT_MEMORY_DEVICE));
    assert_int_equal(driver.calls, calls); /* the driver was not asked */
    weft_memory_free(device, &fits);
    weft_memory_free(device, &elsewhere);
    /* Drivers that leave it at 0, and those without. */
    memset(driver.budgets, 0, sizeof driver.budgets);
    fits = get(device, 150 * MIB, 1u << LOCAL, WEFT_MEMORY_DEVICE);
    assert_non_null(fits);
    weft_memory_free(device, &fits);
    device->info.has_memory_budget = false;
    weft_memory_budget(&budget, &used, device);
    assert_true(budget == 0 && used == 0);
}
