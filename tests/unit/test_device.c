/* SPDX-License-Identifier: MIT */
/* weft-test: device */
/* Finding, opening, adopting and losing devices; buffers, memory, submissions and the arithmetic
 * probe. */
#include <pthread.h>

#include "core/hash.h"
#include "core/host.h"
#include "core/math/philox.h"
#include "core/system/disk_cache.h"
#include "device/commands.h"
#include "device/loader.h"
#include "shader/probe.h"
#include "support.h"

#include <weft/vulkan.h>

#define MIB (UINT64_C(1) << 20)

/* ---- a device per test ---- */

static weft_device_params default_params(struct weft_test_device *fixture) {
    return (weft_device_params){.host = fixture->host.host, .cache_dir = ""};
}

static bool has_errors(struct weft_test_device *fixture) {
    return weft_test_log_has(&fixture->host, "error: ");
}

static void open_with(struct weft_test_device *fixture, weft_device_params params) {
    weft_test_host_reset(&fixture->host);
    assert_ok(weft_device_open(&fixture->device, &params));
    assert_false(has_errors(fixture));
}

static int set_up(void **state) {
    struct weft_test_device *fixture = calloc(1, sizeof *fixture);
    assert_non_null(fixture);
    weft_test_host_begin(&fixture->host);
    *state = fixture;
    return 0;
}

static int set_up_opened(void **state) {
    set_up(state);
    open_with(*state, default_params(*state));
    return 0;
}

static int tear_down(void **state) {
    struct weft_test_device *fixture = *state;
    const uint32_t counted = !fixture->device ? 0 : fixture->device->stats.validation_messages;
    weft_device_destroy(&fixture->device);
    assert_null(fixture->device);
    assert_int_equal(counted, 0);
    assert_int_equal(fixture->host.validation, 0);
    weft_test_host_end(&fixture->host);
    free(fixture);
    return 0;
}

#define TEST(name, f)   WEFT_TEST_WITH(name, struct weft_test_device *f, set_up, tear_down)
#define OPENED(name, f) WEFT_TEST_WITH(name, struct weft_test_device *f, set_up_opened, tear_down)

/* The call fails as it should, and a line of the log has `part`. */
#define REFUSED(status, call, part) \
    WEFT_EXPECT_REFUSED(&fixture->host, WEFT_##status, call, "error: ", part)

static uint8_t *pattern(size_t size, uint64_t seed) {
    uint8_t *bytes = malloc(size);
    assert_non_null(bytes);
    for (size_t i = 0; i < size; i += 4) {
        const uint32_t word = weft_philox_u32(seed, 0, i / 4);
        memcpy(bytes + i, &word, size - i < 4 ? size - i : 4);
    }
    return bytes;
}

/* ---- listing and choosing ---- */

TEST(test_list, fixture) {
    const weft_host host = fixture->host.host;
    uint32_t count = 0;
    assert_ok(weft_device_list(NULL, &count, NULL));
    assert_in_range(count, 1, 64);
    weft_device_info *infos = calloc(count, sizeof *infos);
    assert_non_null(infos);
    const uint32_t all = count;
    assert_ok(weft_device_list(infos, &count, &host));
    assert_int_equal(count, all);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(infos[i].index, i);
        assert_true(infos[i].name[0] != '\0' && infos[i].driver_version[0] != '\0');
        assert_int_equal(infos[i].api_version[0], 1);
        assert_int_equal(infos[i].usable, infos[i].reason[0] == '\0');
        if (infos[i].usable) {
            assert_true(infos[i].max_workgroup_invocations >= 128);
            assert_true(infos[i].max_shared_memory >= 16384);
            assert_true(infos[i].max_storage_buffer_size >= UINT64_C(1) << 27);
            assert_true(infos[i].device_memory > 0 && infos[i].subgroup_size > 0);
        }
    }
    /* Fewer places than devices: what fits is written, the number is still told. */
    weft_device_info first = {.index = 77};
    count = 1;
    assert_ok(weft_device_list(&first, &count, &host));
    assert_int_equal(count, all);
    assert_int_equal(first.index, 0);
    assert_string_equal(first.name, infos[0].name);
    free(infos);

    count = 1;
    REFUSED(INVALID_ARGUMENT, weft_device_list(NULL, &count, &host), "infos");
    REFUSED(INVALID_ARGUMENT, weft_device_list(NULL, NULL, &host), "count");
}

OPENED(test_open_default, fixture) {
    weft_device_info info;
    assert_ok(weft_device_get_info(fixture->device, &info));
    assert_true(info.usable);
    assert_int_equal(weft_device_get_math(fixture->device), WEFT_MATH_REPRODUCIBLE);
    weft_test_expect_log(&fixture->host, info.name);
    weft_device_stats stats;
    assert_ok(weft_device_get_stats(fixture->device, &stats));
    assert_int_equal(stats.bytes_in_use, 0);
    assert_int_equal(stats.peak_bytes, 0);
    /* What was chosen is as good as anything there is. */
    uint32_t count = 64;
    weft_device_info infos[64];
    assert_ok(weft_device_list(infos, &count, NULL));
    for (uint32_t i = 0; i < count; i++) {
        assert_true(!infos[i].usable || infos[i].type >= info.type);
    }
    const bool on_processor =
        info.type == WEFT_DEVICE_PROCESSOR || info.type == WEFT_DEVICE_SOFTWARE;
    assert_int_equal(fixture->device->on_processor, on_processor);
    assert_int_equal(fixture->device->submission_limit_ms, on_processor ? 0 : 500);
}

TEST(test_open_selected, fixture) {
    uint32_t count = 64;
    weft_device_info infos[64];
    assert_ok(weft_device_list(infos, &count, NULL));
    for (uint32_t i = 0; i < count && i < 64; i++) {
        char text[300];
        weft_device_params params = default_params(fixture);
        params.math = WEFT_MATH_FAST;
        params.select = text;
        (void)snprintf(text, sizeof text, "%u", i);
        open_with(fixture, params);
        assert_int_equal(fixture->device->info.index, i);
        assert_int_equal(weft_device_get_math(fixture->device), WEFT_MATH_FAST);
        weft_device_destroy(&fixture->device);
        /* A part of the name, in the other case. */
        size_t length = 0;
        for (const char *c = infos[i].name + 1; *c != '\0'; c++) {
            const bool letter = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z');
            text[length++] = letter ? (char)(*c ^ 0x20) : *c;
        }
        text[length] = '\0';
        open_with(fixture, params);
        assert_string_equal(fixture->device->info.name, infos[i].name);
        weft_device_destroy(&fixture->device);
        (void)snprintf(text, sizeof text, "%s", infos[i].driver);
        open_with(fixture, params);
        assert_string_equal(fixture->device->info.driver, infos[i].driver);
        weft_device_destroy(&fixture->device);
    }
}

TEST(test_open_nothing_matches, fixture) {
    weft_device_info info;
    uint32_t count = 1;
    assert_ok(weft_device_list(&info, &count, NULL));
    static const char *const garbage[] = {"no such device", "99", "18446744073709551616", "-1",
                                          "0x0"};
    for (size_t i = 0; i < sizeof garbage / sizeof garbage[0]; i++) {
        weft_device_params params = default_params(fixture);
        params.select = garbage[i];
        REFUSED(NOT_FOUND, weft_device_open(&fixture->device, &params), garbage[i]);
        weft_test_expect_log(&fixture->host, "error: ", info.name);
        assert_null(fixture->device);
    }
}

TEST(test_open_bad_arguments, fixture) {
    weft_device_params params = default_params(fixture);
    REFUSED(INVALID_ARGUMENT, weft_device_open(NULL, &params), "null");
    params.math = (weft_math)7;
    REFUSED(INVALID_ARGUMENT, weft_device_open(&fixture->device, &params), "math mode 7");
    assert_null(fixture->device);
    assert_int_equal(weft_device_get_info(NULL, NULL), WEFT_INVALID_ARGUMENT);
    assert_int_equal(weft_device_get_stats(NULL, NULL), WEFT_INVALID_ARGUMENT);
    assert_int_equal(weft_device_save_cache(NULL), WEFT_INVALID_ARGUMENT);
    weft_device_destroy(NULL);
}

TEST(test_no_driver, fixture) {
#ifdef _WIN32
    print_message("Wine's Vulkan looks for drivers in another environment than this process has\n");
    skip();
#endif
    static const char *const names[] = {"VK_DRIVER_FILES", "VK_ICD_FILENAMES",
                                        "VK_ADD_DRIVER_FILES", "WEFT_PROCESSOR"};
    const char *absent = weft_test_absent("driver.json");
    const char *const values[] = {absent, absent, NULL, "0"};
    char *saved[4];
    for (size_t i = 0; i < 4; i++) {
        const char *value = getenv(names[i]);
        saved[i] = !value ? NULL : strdup(value);
        weft_test_set_variable(names[i], values[i]);
    }
    const weft_host host = fixture->host.host;
    uint32_t count = 0;
    weft_status listed = weft_device_list(NULL, &count, &host);
    const bool list_errors = has_errors(fixture);
    weft_device_params params = default_params(fixture);
    weft_status opened = weft_device_open(&fixture->device, &params);
    for (size_t i = 0; i < 4; i++) {
        weft_test_set_variable(names[i], saved[i]);
        free(saved[i]);
    }
    assert_ok(listed);
    assert_int_equal(count, 0);
    assert_false(list_errors);
    assert_null(fixture->device);
    assert_status(opened, WEFT_NO_DEVICE);
    weft_test_expect_log(&fixture->host, "error: ", "driver");
}

/* ---- buffers ---- */

OPENED(test_round_trips, fixture) {
    static const uint64_t sizes[] = {4, 12, 4096, 4 * MIB - 4, 4 * MIB, 4 * MIB + 4, 9 * MIB + 20};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        const size_t size = (size_t)sizes[i];
        weft_buffer *buffer = NULL;
        assert_ok(weft_buffer_create(&buffer, fixture->device, size));
        assert_int_equal(weft_buffer_size(buffer), size);
        uint8_t *sent = pattern(size, i);
        uint8_t *received = calloc(1, size);
        assert_non_null(received);
        assert_ok(weft_buffer_write(buffer, 0, sent, size));
        assert_ok(weft_buffer_read(buffer, 0, received, size));
        assert_memory_equal(sent, received, size);
        free(sent);
        free(received);
        weft_buffer_destroy(&buffer);
        assert_null(buffer);
    }
}

/* Random writes and reads of one buffer and of a copy on the host agree. */
OPENED(test_pieces, fixture) {
    const size_t size = 9 * MIB + 28;
    uint8_t *mirror = pattern(size, 1);
    uint8_t *received = malloc(size);
    assert_non_null(received);
    weft_buffer *buffer = NULL;
    assert_ok(weft_buffer_create(&buffer, fixture->device, size));
    assert_ok(weft_buffer_write(buffer, 0, mirror, size));
    for (uint32_t i = 0; i < 24; i++) {
        const size_t limit = i % 2 == 0 ? size : 16384;
        const size_t first = weft_philox_u32(2, 0, UINT64_C(2) * i) % size / 4 * 4;
        size_t count = weft_philox_u32(2, 0, UINT64_C(2) * i + 1) % limit / 4 * 4;
        count = count > size - first ? size - first : count;
        uint8_t *piece = pattern(count + 4, 3 + i);
        assert_ok(weft_buffer_write(buffer, first, piece, count));
        memcpy(mirror + first, piece, count);
        free(piece);
        const size_t back = first / 8 * 4;
        assert_ok(weft_buffer_read(buffer, back, received, size - back));
        assert_memory_equal(mirror + back, received, size - back);
    }
    free(received);
    free(mirror);
    weft_buffer_destroy(&buffer);
}

OPENED(test_bad_ranges, fixture) {
    weft_buffer *buffer = NULL;
    uint32_t data[4] = {0};
    REFUSED(INVALID_ARGUMENT, weft_buffer_create(&buffer, fixture->device, 0), "size is 0");
    REFUSED(INVALID_ARGUMENT, weft_buffer_create(NULL, fixture->device, 16), "null");
    assert_null(buffer);
    assert_ok(weft_buffer_create(&buffer, fixture->device, 14));
    assert_int_equal(weft_buffer_size(buffer), 14);
    static const struct {
        uint64_t offset;
        uint64_t size;
        const char *part;
    } cases[] = {
        {0, 16, "16 bytes at 0 do not fit a buffer of 14"},
        {12, 4, "4 bytes at 12"},
        {16, 0, "0 bytes at 16"},
        {4, UINT64_MAX - 3, "do not fit"},
        {UINT64_MAX - 3, 4, "do not fit"},
        {11, 4, "4 bytes at 11"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        REFUSED(INVALID_ARGUMENT, weft_buffer_write(buffer, cases[i].offset, data, cases[i].size),
                cases[i].part);
        REFUSED(INVALID_ARGUMENT, weft_buffer_read(buffer, cases[i].offset, data, cases[i].size),
                cases[i].part);
    }
    REFUSED(INVALID_ARGUMENT, weft_buffer_write(buffer, 0, NULL, 4), "data is null");
    const uint64_t submissions = fixture->device->stats.submissions;
    assert_ok(weft_buffer_write(buffer, 12, NULL, 0));
    assert_int_equal(fixture->device->stats.submissions, submissions);
    weft_buffer_destroy(&buffer);
    weft_buffer_destroy(&buffer);
    weft_buffer_destroy(NULL);
    assert_int_equal(weft_buffer_write(NULL, 0, data, 4), WEFT_INVALID_ARGUMENT);
    assert_int_equal(weft_buffer_read(NULL, 0, data, 4), WEFT_INVALID_ARGUMENT);
    assert_int_equal(weft_buffer_size(NULL), 0);
}

/* ---- memory ---- */

TEST(test_memory_limit, fixture) {
    weft_device_params params = default_params(fixture);
    params.memory_limit = MIB;
    open_with(fixture, params);
    weft_device_stats stats;
    weft_buffer *half = NULL;
    weft_buffer *other = NULL;
    assert_ok(weft_buffer_create(&half, fixture->device, MIB / 2));
    REFUSED(OUT_OF_DEVICE_MEMORY, weft_buffer_create(&other, fixture->device, MIB / 2 + 4096),
            "528384 bytes asked");
    weft_test_expect_log(&fixture->host, "error: ", "the limit is 1048576");
    assert_null(other);
    assert_ok(weft_device_get_stats(fixture->device, &stats));
    assert_int_equal(stats.bytes_in_use, MIB / 2);
    assert_ok(weft_buffer_create(&other, fixture->device, MIB / 2));
    assert_ok(weft_device_get_stats(fixture->device, &stats));
    assert_int_equal(stats.bytes_in_use, MIB);
    weft_buffer_destroy(&half);
    weft_buffer_destroy(&other);
    assert_ok(weft_buffer_create(&other, fixture->device, MIB));
    weft_buffer_destroy(&other);
    assert_ok(weft_device_get_stats(fixture->device, &stats));
    assert_int_equal(stats.bytes_in_use, 0);
    assert_int_equal(stats.peak_bytes, MIB);
    weft_device_reset_peak(fixture->device);
    assert_ok(weft_buffer_create(&half, fixture->device, MIB / 2));
    weft_buffer_destroy(&half);
    assert_ok(weft_device_get_stats(fixture->device, &stats));
    assert_int_equal(stats.peak_bytes, MIB / 2);
    weft_device_reset_peak(NULL);
}

OPENED(test_absurd_sizes, fixture) {
    weft_buffer *buffer = NULL;
    static const uint64_t sizes[] = {UINT64_MAX, UINT64_MAX - 3, UINT64_C(1) << 62,
                                     UINT64_C(1) << 50};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        REFUSED(OUT_OF_DEVICE_MEMORY, weft_buffer_create(&buffer, fixture->device, sizes[i]),
                "bytes asked");
        assert_null(buffer);
    }
}

/* Stands between the pool and the driver: counts, and refuses blocks above a size. */
static PFN_vkAllocateMemory real_allocate;
static PFN_vkFreeMemory real_free;
static uint32_t live_blocks;
static uint64_t largest_block;

static VKAPI_ATTR VkResult VKAPI_CALL allocate_below(VkDevice device,
                                                     const VkMemoryAllocateInfo *info,
                                                     const VkAllocationCallbacks *callbacks,
                                                     VkDeviceMemory *memory) {
    if (info->allocationSize > largest_block) {
        return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    }
    VkResult result = real_allocate(device, info, callbacks, memory);
    live_blocks += result == VK_SUCCESS;
    return result;
}

static VKAPI_ATTR void VKAPI_CALL count_free(VkDevice device, VkDeviceMemory memory,
                                             const VkAllocationCallbacks *callbacks) {
    live_blocks--;
    real_free(device, memory, callbacks);
}

static void watch_blocks(weft_device *device, uint64_t limit) {
    real_allocate = device->vk.AllocateMemory;
    real_free = device->vk.FreeMemory;
    device->vk.AllocateMemory = allocate_below;
    device->vk.FreeMemory = count_free;
    live_blocks = 0;
    largest_block = limit;
}

OPENED(test_driver_out_of_memory, fixture) {
    weft_buffer *buffer = NULL;
    weft_buffer *second = NULL;
    watch_blocks(fixture->device, MIB);
    /* A shared block cannot be had any more, one for the buffer alone can. */
    assert_ok(weft_buffer_create(&buffer, fixture->device, MIB / 2));
    assert_int_equal(live_blocks, 1);
    REFUSED(OUT_OF_DEVICE_MEMORY, weft_buffer_create(&second, fixture->device, 2 * MIB),
            "the driver has no");
    assert_null(second);
    const uint32_t word = 0x12345678;
    uint32_t back = 0;
    assert_ok(weft_buffer_write(buffer, 0, &word, 4));
    assert_ok(weft_buffer_read(buffer, 0, &back, 4));
    assert_int_equal(back, word);
    weft_buffer_destroy(&buffer);
    assert_int_equal(live_blocks, 0);
    fixture->device->vk.FreeMemory = real_free;
}

/* Many small buffers share few blocks, a large one has its own, and what falls empty goes back but
 * for one. */
OPENED(test_blocks, fixture) {
    enum { COUNT = 300 };
    weft_device *device = fixture->device;
    watch_blocks(device, UINT64_MAX);
    weft_buffer *small[COUNT] = {0};
    weft_buffer *large = NULL;
    for (size_t i = 0; i < COUNT; i++) {
        assert_ok(weft_buffer_create(&small[i], device, 4096 + 4 * i));
    }
    assert_int_equal(live_blocks, 1);
    assert_ok(weft_buffer_create(&large, device, 65 * MIB));
    assert_int_equal(live_blocks, 2);
    weft_buffer_destroy(&large);
    assert_int_equal(live_blocks, 1);
    for (size_t i = 0; i < COUNT; i++) {
        weft_buffer_destroy(&small[i]);
    }
    assert_int_equal(live_blocks, 1);
    assert_int_equal(device->stats.bytes_in_use, 0);
    device->vk.FreeMemory = real_free;
}

static bool overlap(const weft_buffer *a, const weft_buffer *b) {
    const struct weft_allocation *x = a->allocation;
    const struct weft_allocation *y = b->allocation;
    return x->memory == y->memory && x->offset < y->offset + y->size &&
           y->offset < x->offset + x->size;
}

/* Buffers come and go at random; no two share a byte, and each keeps what was written to it. */
OPENED(test_random_buffers, fixture) {
    enum { SLOTS = 40, STEPS = 400 };
    weft_buffer *buffers[SLOTS] = {0};
    uint32_t marks[SLOTS] = {0};
    uint64_t in_use = 0;
    for (uint32_t step = 0; step < STEPS; step++) {
        const uint32_t slot = weft_philox_u32(11, 0, step) % SLOTS;
        if (buffers[slot]) {
            uint32_t ends[2];
            const uint64_t size = weft_buffer_size(buffers[slot]);
            assert_ok(weft_buffer_read(buffers[slot], 0, &ends[0], 4));
            assert_ok(weft_buffer_read(buffers[slot], size - 4, &ends[1], 4));
            assert_int_equal(ends[0], marks[slot]);
            assert_int_equal(ends[1], ~marks[slot]);
            in_use -= buffers[slot]->allocation->size;
            weft_buffer_destroy(&buffers[slot]);
            assert_int_equal(fixture->device->stats.bytes_in_use, in_use);
            continue;
        }
        const uint32_t range = step % 10 == 0 ? 8u << 20 : 64u << 10;
        const uint64_t size = 8 + (weft_philox_u32(12, 0, step) % range) / 4 * 4;
        assert_ok(weft_buffer_create(&buffers[slot], fixture->device, size));
        in_use += buffers[slot]->allocation->size;
        assert_true(buffers[slot]->allocation->size >= size);
        for (uint32_t i = 0; i < SLOTS; i++) {
            assert_true(i == slot || !buffers[i] || !overlap(buffers[i], buffers[slot]));
        }
        marks[slot] = step + 1;
        const uint32_t inverse = ~marks[slot];
        assert_ok(weft_buffer_write(buffers[slot], 0, &marks[slot], 4));
        assert_ok(weft_buffer_write(buffers[slot], size - 4, &inverse, 4));
    }
    for (uint32_t i = 0; i < SLOTS; i++) {
        weft_buffer_destroy(&buffers[i]);
    }
    assert_int_equal(fixture->device->stats.bytes_in_use, 0);
}

/* ---- submissions ---- */

OPENED(test_timeline, fixture) {
    weft_device *device = fixture->device;
    const uint64_t before = device->stats.submissions;
    uint64_t last = device->timeline_value;
    for (uint32_t i = 0; i < 5; i++) {
        uint64_t value = 0;
        assert_ok(weft_device_submit(device, NULL, 0, &value));
        assert_int_equal(value, last + 1);
        last = value;
    }
    bool done = false;
    assert_ok(weft_device_wait(device, last, UINT64_MAX, &done));
    assert_true(done);
    assert_ok(weft_device_wait(device, last + 1, 0, &done));
    assert_false(done);
    assert_ok(weft_device_wait(device, last + 1, 1000000, &done));
    assert_false(done);
    assert_int_equal(device->stats.submissions, before + 5);
}

OPENED(test_rate, fixture) {
    weft_device *device = fixture->device;
    const double first = device->flops_per_ms;
    assert_true(first > 0.0);
    weft_device_note_rate(device, 5.0 * first * 2.0, 2.0);
    assert_true(device->flops_per_ms > 1.99 * first && device->flops_per_ms < 2.01 * first);
    const double kept = device->flops_per_ms;
    weft_device_note_rate(device, 1e9, 0.0);
    weft_device_note_rate(device, 0.0, 1.0);
    weft_device_note_rate(device, -1.0, 1.0);
    weft_device_note_rate(device, 1e308, 1e-308);
    assert_true(device->flops_per_ms >= kept && device->flops_per_ms <= kept);
}

/* ---- loss ---- */

static VKAPI_ATTR VkResult VKAPI_CALL lose_submit(VkQueue queue, uint32_t count,
                                                  const VkSubmitInfo *infos, VkFence fence) {
    (void)queue;
    (void)count;
    (void)infos;
    (void)fence;
    return VK_ERROR_DEVICE_LOST;
}

static VKAPI_ATTR VkResult VKAPI_CALL lose_wait(VkDevice device, const VkSemaphoreWaitInfo *info,
                                                uint64_t timeout) {
    (void)device;
    (void)info;
    (void)timeout;
    return VK_ERROR_DEVICE_LOST;
}

static VKAPI_ATTR VkResult VKAPI_CALL lose_fences(VkDevice device, uint32_t count,
                                                  const VkFence *fences, VkBool32 all,
                                                  uint64_t timeout) {
    (void)device;
    (void)count;
    (void)fences;
    (void)all;
    (void)timeout;
    return VK_ERROR_DEVICE_LOST;
}

static void check_all_lost(struct weft_test_device *fixture, weft_buffer *buffer) {
    weft_device *device = fixture->device;
    weft_buffer *other = NULL;
    weft_device_info info;
    weft_device_stats stats;
    uint64_t value = 0;
    uint32_t word = 0;
    REFUSED(DEVICE_LOST, weft_buffer_write(buffer, 0, &word, 4), "lost");
    REFUSED(DEVICE_LOST, weft_buffer_read(buffer, 0, &word, 4), "lost");
    REFUSED(DEVICE_LOST, weft_buffer_create(&other, device, 16), "lost");
    REFUSED(DEVICE_LOST, weft_buffer_wrap(&other, device, buffer->handle, 0, 16), "lost");
    REFUSED(DEVICE_LOST, weft_device_get_info(device, &info), "lost");
    REFUSED(DEVICE_LOST, weft_device_get_stats(device, &stats), "lost");
    REFUSED(DEVICE_LOST, weft_device_save_cache(device), "lost");
    REFUSED(DEVICE_LOST, weft_device_submit(device, NULL, 0, &value), "lost");
    REFUSED(DEVICE_LOST, weft_device_wait(device, 0, 0, NULL), "lost");
    assert_null(other);
}

/* Once the driver has said so, nothing but destroying works, also when the driver would answer
 * again. */
OPENED(test_lost_at_submission, fixture) {
    weft_device *device = fixture->device;
    weft_buffer *buffer = NULL;
    uint32_t word = 1;
    assert_ok(weft_buffer_create(&buffer, device, 64));
    assert_ok(weft_buffer_write(buffer, 0, &word, 4));
    PFN_vkQueueSubmit submit = device->vk.QueueSubmit;
    device->vk.QueueSubmit = lose_submit;
    REFUSED(DEVICE_LOST, weft_buffer_write(buffer, 0, &word, 4),
            "vkQueueSubmit: VK_ERROR_DEVICE_LOST");
    device->vk.QueueSubmit = submit;
    check_all_lost(fixture, buffer);
    weft_buffer_destroy(&buffer);
    assert_null(buffer);
}

OPENED(test_lost_at_waiting, fixture) {
    weft_device *device = fixture->device;
    weft_buffer *buffer = NULL;
    uint32_t word = 1;
    assert_ok(weft_buffer_create(&buffer, device, 64));
    PFN_vkWaitSemaphores wait = device->vk.WaitSemaphores;
    PFN_vkWaitForFences wait_fences = device->vk.WaitForFences;
    device->vk.WaitSemaphores = lose_wait;
    device->vk.WaitForFences = lose_fences;
    uint64_t value = 0;
    assert_ok(weft_device_submit(device, NULL, 0, &value));
    REFUSED(DEVICE_LOST, weft_device_wait(device, value, 0, NULL),
            device->has_timeline ? "vkWaitSemaphores: VK_ERROR_DEVICE_LOST"
                                 : "vkWaitForFences: VK_ERROR_DEVICE_LOST");
    device->vk.WaitSemaphores = wait;
    device->vk.WaitForFences = wait_fences;
    check_all_lost(fixture, buffer);
    assert_int_equal(word, 1);
    weft_buffer_destroy(&buffer);
    /* This device is not really lost, so the validation layer wants its work done before it goes.
     */
    assert_int_equal(device->vk.DeviceWaitIdle(device->vk.handle), VK_SUCCESS);
}

/* ---- the probe ---- */

static VKAPI_ATTR void VKAPI_CALL dispatch_nothing(VkCommandBuffer commands, uint32_t x, uint32_t y,
                                                   uint32_t z, uint32_t w, uint32_t h, uint32_t d) {
    (void)commands;
    (void)x;
    (void)y;
    (void)z;
    (void)w;
    (void)h;
    (void)d;
}

static void set_cache_dir(weft_device *device, const char *folder) {
    weft_cache_destroy(&device->cache, &device->host);
    assert_ok(weft_cache_create(&device->cache, folder, 0, &device->host));
}

/* A device that gives wrong answers is refused with the operation's name; verdicts are kept, both
 * kinds. */
TEST(test_probe, fixture) {
    weft_device_params params = default_params(fixture);
    params.cache_dir = weft_test_folder();
    open_with(fixture, params);
    weft_device *device = fixture->device;
    PFN_vkCmdDispatchBase dispatch = device->vk.CmdDispatchBase;
    uint64_t submissions = device->stats.submissions;
    assert_ok(weft_device_probe(device));
    assert_int_equal(device->stats.submissions, submissions); /* remembered from the opening */

    set_cache_dir(device, weft_test_folder());
    device->vk.CmdDispatchBase = dispatch_nothing;
    REFUSED(UNSUPPORTED, weft_device_probe(device),
            "reproducible math: probe/barriers: word 0 is 0xffffffff, expected 0x32000000");
    device->vk.CmdDispatchBase = dispatch;
    submissions = device->stats.submissions;
    REFUSED(UNSUPPORTED, weft_device_probe(device), "probe/barriers");
    assert_int_equal(device->stats.submissions, submissions);

    set_cache_dir(device, "");
    assert_ok(weft_device_probe(device));
    /* Control flow, by two kernels, and drivers' by a third; arithmetic, and again with what it needs, which may be found in two steps.
     * What the library's own compiler needs is known before. */
    const uint64_t needs = (uint64_t)device->keeps_subnormals + device->keeps_small_products +
                           device->loses_small_products + device->folds_zeros;
    const bool known = device->info.type == WEFT_DEVICE_PROCESSOR;
    const uint64_t least = known ? 3 : 4;
    assert_in_range(device->stats.submissions - submissions, least + (needs > 0 && !known),
                    least + needs);
    assert_int_equal(device->stats.bytes_in_use, 0);
    device->math = WEFT_MATH_FAST;
    device->vk.CmdDispatchBase = dispatch_nothing;
    if (known || !device->on_processor) {
        assert_ok(weft_device_probe(device));
    } else {
        REFUSED(UNSUPPORTED, weft_device_probe(device), "fast math: probe/turns: loops made");
    }
    device->vk.CmdDispatchBase = dispatch;
}

/* ---- validation ---- */

/* A misuse and a hazard are both told and counted: silence in the other tests means something. */
TEST(test_validation_speaks, fixture) {
    weft_device_params params = default_params(fixture);
    params.validation = true;
    open_with(fixture, params);
    weft_device *device = fixture->device;
    if (device->messenger == VK_NULL_HANDLE) {
        weft_test_expect_log(&fixture->host, "validation was asked for");
        skip();
    }
    weft_buffer *buffer = NULL;
    struct weft_commands *commands = NULL;
    assert_ok(weft_buffer_create(&buffer, device, 64));
    assert_ok(weft_commands_take(&commands, device));
    assert_ok(weft_commands_begin(commands, device));
    assert_int_equal(device->stats.validation_messages, 0);
    device->vk.CmdFillBuffer(commands->handle, buffer->handle, 0, 64, 1);
    device->vk.CmdFillBuffer(commands->handle, buffer->handle, 0, 64, 2);
    assert_int_equal(device->stats.validation_messages, 1);
    weft_test_expect_log(&fixture->host, "SYNC-HAZARD-WRITE");
    VkBufferCopy beyond = {.srcOffset = 60, .size = 8};
    device->vk.CmdCopyBuffer(commands->handle, buffer->handle, buffer->handle, 1, &beyond);
    assert_true(device->stats.validation_messages > 1);
    weft_test_expect_log(&fixture->host, "VUID-vkCmdCopyBuffer");
    assert_int_equal(fixture->host.validation, device->stats.validation_messages);
    device->vk.FreeCommandBuffers(device->vk.handle, commands->pool, 1, &commands->handle);
    weft_buffer_destroy(&buffer);
    fixture->host.validation = 0;
    device->stats.validation_messages = 0;
}

/* ---- adoption ---- */

/* What a program that embeds Weft has: its own Vulkan objects. */
struct owner {
    PFN_vkGetInstanceProcAddr get;
    VkInstance instance;
    VkPhysicalDevice physical;
    VkDevice device;
    VkQueue queue;
    uint32_t family;
    VkBuffer buffer;
    VkDeviceMemory memory;
    VkDebugUtilsMessengerEXT messenger;
    uint32_t messages; /* of the validation layer */
    uint32_t locks;
    bool locked;
    bool unbalanced;
    bool timeline_extension; /* before Vulkan 1.2 */
    bool timeline;           /* the feature is enabled, of Vulkan 1.2 or of the extension */
};

#define GET(owner, name) ((PFN_##name)(owner)->get((owner)->instance, #name))

static void owner_lock(void *user) {
    struct owner *owner = user;
    owner->unbalanced = owner->unbalanced || owner->locked;
    owner->locked = true;
    owner->locks++;
}

static void owner_unlock(void *user) {
    struct owner *owner = user;
    owner->unbalanced = owner->unbalanced || !owner->locked;
    owner->locked = false;
}

static VKAPI_ATTR VkBool32 VKAPI_CALL
owner_message(VkDebugUtilsMessageSeverityFlagBitsEXT severity, VkDebugUtilsMessageTypeFlagsEXT type,
              const VkDebugUtilsMessengerCallbackDataEXT *data, void *user) {
    (void)severity;
    (void)type;
    print_message("%s\n", data->pMessage);
    ((struct owner *)user)->messages++;
    return VK_FALSE;
}

/* Whether this run is to be validated and can be. */
static bool owner_validates(const struct owner *owner) {
    const char *wanted = getenv("WEFT_VALIDATION");
    VkLayerProperties layers[64];
    uint32_t count = 64;
    GET(owner, vkEnumerateInstanceLayerProperties)(&count, layers);
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(layers[i].layerName, "VK_LAYER_KHRONOS_validation") == 0) {
            return wanted && strcmp(wanted, "1") == 0;
        }
    }
    return false;
}

static void owner_create_instance(struct owner *owner) {
    static const char *const layers[] = {"VK_LAYER_KHRONOS_validation"};
    static const char *const extensions[] = {VK_EXT_DEBUG_UTILS_EXTENSION_NAME,
                                             VK_EXT_VALIDATION_FEATURES_EXTENSION_NAME};
    static const VkValidationFeatureEnableEXT hazards =
        VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT;
    const VkValidationFeaturesEXT features = {.sType = VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT,
                                              .enabledValidationFeatureCount = 1,
                                              .pEnabledValidationFeatures = &hazards};
    VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                     .apiVersion = VK_API_VERSION_1_2};
    VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                 .pApplicationInfo = &application};
    const bool validates = owner_validates(owner);
    if (validates) {
        info.pNext = &features;
        info.enabledLayerCount = 1;
        info.ppEnabledLayerNames = layers;
        info.enabledExtensionCount = 2;
        info.ppEnabledExtensionNames = extensions;
    }
    assert_int_equal(GET(owner, vkCreateInstance)(&info, NULL, &owner->instance), VK_SUCCESS);
    if (validates) {
        const VkDebugUtilsMessengerCreateInfoEXT messenger = {
            .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
            .messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT |
                               VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
            .messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT,
            .pfnUserCallback = owner_message,
            .pUserData = owner};
        assert_int_equal(GET(owner, vkCreateDebugUtilsMessengerEXT)(owner->instance, &messenger,
                                                                    NULL, &owner->messenger),
                         VK_SUCCESS);
    }
}

static bool owner_has_timeline(struct owner *owner) {
    VkExtensionProperties list[512];
    uint32_t count = 512;
    bool found = false;
    assert_int_equal(
        GET(owner, vkEnumerateDeviceExtensionProperties)(owner->physical, NULL, &count, list),
        VK_SUCCESS);
    for (uint32_t i = 0; i < count; i++) {
        found =
            found || strcmp(list[i].extensionName, VK_KHR_TIMELINE_SEMAPHORE_EXTENSION_NAME) == 0;
    }
    return found;
}

/* `with_timeline`: the feature is enabled, where there is one. */
static void owner_create_with(struct owner *owner, bool with_timeline) {
    *owner = (struct owner){0};
    owner->get = weft_loader_open();
    assert_non_null(owner->get);
    owner_create_instance(owner);
    uint32_t count = 1;
    VkResult listed =
        GET(owner, vkEnumeratePhysicalDevices)(owner->instance, &count, &owner->physical);
    assert_true(listed == VK_SUCCESS || listed == VK_INCOMPLETE);
    VkQueueFamilyProperties families[16];
    count = 16;
    GET(owner, vkGetPhysicalDeviceQueueFamilyProperties)(owner->physical, &count, families);
    while (owner->family < count &&
           (families[owner->family].queueFlags & VK_QUEUE_COMPUTE_BIT) == 0) {
        owner->family++;
    }
    assert_true(owner->family < count);
    VkPhysicalDeviceProperties properties;
    GET(owner, vkGetPhysicalDeviceProperties)(owner->physical, &properties);
    owner->timeline_extension =
        with_timeline && properties.apiVersion < VK_API_VERSION_1_2 && owner_has_timeline(owner);
    owner->timeline =
        owner->timeline_extension || (with_timeline && properties.apiVersion >= VK_API_VERSION_1_2);
    static const char *const extensions[] = {VK_KHR_TIMELINE_SEMAPHORE_EXTENSION_NAME};
    VkPhysicalDeviceTimelineSemaphoreFeatures timeline = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES};
    VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2};
    if (owner->timeline) {
        features.pNext = &timeline;
        assert_ok(weft_vulkan_require_features(&features));
        assert_int_equal(timeline.timelineSemaphore, VK_TRUE);
    }
    const float priority = 1.0f;
    VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                     .queueFamilyIndex = owner->family,
                                     .queueCount = 1,
                                     .pQueuePriorities = &priority};
    VkDeviceCreateInfo device = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                 .pNext = &features,
                                 .queueCreateInfoCount = 1,
                                 .pQueueCreateInfos = &queue,
                                 .enabledExtensionCount = owner->timeline_extension,
                                 .ppEnabledExtensionNames = extensions};
    assert_int_equal(GET(owner, vkCreateDevice)(owner->physical, &device, NULL, &owner->device),
                     VK_SUCCESS);
    GET(owner, vkGetDeviceQueue)(owner->device, owner->family, 0, &owner->queue);
}

static void owner_create(struct owner *owner) {
    owner_create_with(owner, true);
}

WEFT_TEST(test_required_features) {
    VkPhysicalDeviceVulkan12Features features12 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES};
    VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2};
    assert_int_equal(weft_vulkan_require_features(&features), WEFT_INVALID_ARGUMENT);
    features.pNext = &features12;
    assert_ok(weft_vulkan_require_features(&features));
    assert_int_equal(features12.timelineSemaphore, VK_TRUE);
    assert_null(weft_vulkan_required_extensions()[0]);
}

static void owner_create_buffer(struct owner *owner, uint64_t size) {
    VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                               .size = size,
                               .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
                                        VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                                        VK_BUFFER_USAGE_TRANSFER_DST_BIT};
    assert_int_equal(GET(owner, vkCreateBuffer)(owner->device, &info, NULL, &owner->buffer),
                     VK_SUCCESS);
    VkMemoryRequirements needs;
    GET(owner, vkGetBufferMemoryRequirements)(owner->device, owner->buffer, &needs);
    uint32_t type = 0;
    while ((needs.memoryTypeBits & (UINT32_C(1) << type)) == 0) {
        type++;
    }
    VkMemoryAllocateInfo memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                   .allocationSize = needs.size,
                                   .memoryTypeIndex = type};
    assert_int_equal(GET(owner, vkAllocateMemory)(owner->device, &memory, NULL, &owner->memory),
                     VK_SUCCESS);
    assert_int_equal(GET(owner, vkBindBufferMemory)(owner->device, owner->buffer, owner->memory, 0),
                     VK_SUCCESS);
}

static void owner_destroy(struct owner *owner) {
    assert_int_equal(GET(owner, vkDeviceWaitIdle)(owner->device), VK_SUCCESS);
    GET(owner, vkDestroyBuffer)(owner->device, owner->buffer, NULL);
    GET(owner, vkFreeMemory)(owner->device, owner->memory, NULL);
    GET(owner, vkDestroyDevice)(owner->device, NULL);
    if (owner->messenger != VK_NULL_HANDLE) {
        GET(owner, vkDestroyDebugUtilsMessengerEXT)(owner->instance, owner->messenger, NULL);
    }
    GET(owner, vkDestroyInstance)(owner->instance, NULL);
    assert_int_equal(owner->messages, 0);
}

static weft_device_adopt_params adopt_params(struct owner *owner,
                                             const struct weft_test_device *fixture) {
    return (weft_device_adopt_params){
        .host = fixture->host.host,
        .instance = owner->instance,
        .physical_device = owner->physical,
        .device = owner->device,
        .queue = owner->queue,
        .queue_family = owner->family,
        .get_instance_proc_addr = owner->get,
        .lock_queue = owner_lock,
        .unlock_queue = owner_unlock,
        .lock_user = owner,
        .cache_dir = "",
        .timeline_semaphore = owner->timeline,
    };
}

static void use_wrapped(struct weft_test_device *fixture, struct owner *owner) {
    weft_device *device = fixture->device;
    const uint64_t alignment = device->limits.minStorageBufferOffsetAlignment;
    const uint64_t offset = 3 * alignment;
    weft_buffer *whole = NULL;
    weft_buffer *part = NULL;
    uint64_t start = 0;
    assert_ok(weft_buffer_wrap(&whole, device, owner->buffer, 0, 65536));
    assert_ok(weft_buffer_wrap(&part, device, owner->buffer, offset, 1024));
    assert_true(weft_buffer_vulkan(part, &start) == owner->buffer);
    assert_int_equal(start, offset);
    assert_int_equal(weft_buffer_size(part), 1024);
    uint8_t *sent = pattern(1024, 5);
    uint8_t received[1024];
    assert_ok(weft_buffer_write(part, 0, sent, 1024));
    assert_ok(weft_buffer_read(whole, offset, received, 1024));
    assert_memory_equal(sent, received, 1024);
    assert_int_equal(device->stats.bytes_in_use, 0);
    free(sent);
    weft_buffer_destroy(&part);
    weft_buffer_destroy(&whole);
    if (alignment > 1) {
        REFUSED(INVALID_ARGUMENT, weft_buffer_wrap(&part, device, owner->buffer, alignment / 2, 16),
                "minStorageBufferOffsetAlignment");
    }
    REFUSED(INVALID_ARGUMENT, weft_buffer_wrap(&part, device, VK_NULL_HANDLE, 0, 16),
            "VkBuffer is null");
    REFUSED(INVALID_ARGUMENT, weft_buffer_wrap(&part, device, owner->buffer, 0, 0), "size is 0");
    REFUSED(INVALID_ARGUMENT, weft_buffer_wrap(&part, device, owner->buffer, UINT64_MAX - 255, 256),
            "fit no buffer");
    assert_null(part);
}

TEST(test_adopt, fixture) {
    struct owner owner;
    owner_create(&owner);
    owner_create_buffer(&owner, 65536);
    for (uint32_t own_loader = 0; own_loader < 2; own_loader++) {
        weft_device_adopt_params params = adopt_params(&owner, fixture);
        params.get_instance_proc_addr = own_loader == 0 ? owner.get : NULL;
        owner.locks = 0;
        assert_ok(weft_device_adopt(&fixture->device, &params));
        weft_device_info info;
        assert_ok(weft_device_get_info(fixture->device, &info));
        assert_true(info.usable && info.index == 0);
        weft_buffer *buffer = NULL;
        assert_ok(weft_buffer_create(&buffer, fixture->device, 5 * MIB));
        uint8_t *sent = pattern(5 * MIB, 6);
        uint8_t *received = calloc(1, 5 * MIB);
        assert_non_null(received);
        assert_ok(weft_buffer_write(buffer, 0, sent, 5 * MIB));
        assert_ok(weft_buffer_read(buffer, 0, received, 5 * MIB));
        assert_memory_equal(sent, received, 5 * MIB);
        free(sent);
        free(received);
        weft_buffer_destroy(&buffer);
        use_wrapped(fixture, &owner);
        assert_int_equal(owner.locks, fixture->device->stats.submissions);
        assert_false(owner.locked || owner.unbalanced);
        weft_device_destroy(&fixture->device);
        assert_null(fixture->device);
    }
    owner_destroy(&owner); /* still its owner's, and alive */
}

/* A VkDevice without the feature is served by fences: the validation layer sees no use of it. */
TEST(test_adopt_without_timeline, fixture) {
    struct owner owner;
    owner_create_with(&owner, false);
    owner_create_buffer(&owner, 65536);
    const weft_device_adopt_params params = adopt_params(&owner, fixture);
    assert_false(params.timeline_semaphore);
    assert_ok(weft_device_adopt(&fixture->device, &params));
    assert_true(weft_device_timeline(fixture->device) == VK_NULL_HANDLE);
    use_wrapped(fixture, &owner);
    weft_device_destroy(&fixture->device);
    owner_destroy(&owner);
}

TEST(test_adopt_bad_params, fixture) {
    struct owner owner;
    owner_create(&owner);
    const weft_device_adopt_params good = adopt_params(&owner, fixture);
#define ADOPT_REFUSED(field, value, part)                                              \
    do {                                                                               \
        weft_device_adopt_params params = good;                                        \
        params.field = value;                                                          \
        REFUSED(INVALID_ARGUMENT, weft_device_adopt(&fixture->device, &params), part); \
    } while (0)
    ADOPT_REFUSED(instance, VK_NULL_HANDLE, "instance is null");
    ADOPT_REFUSED(physical_device, VK_NULL_HANDLE, "physical_device is null");
    ADOPT_REFUSED(device, VK_NULL_HANDLE, "device is null");
    ADOPT_REFUSED(queue, VK_NULL_HANDLE, "queue is null");
    ADOPT_REFUSED(lock_queue, NULL, "unlock_queue is set without lock_queue");
    ADOPT_REFUSED(cooperative_matrix, true, "cooperative_matrix is set without float16");
    ADOPT_REFUSED(queue_family, 999, "no queue family 999");
    ADOPT_REFUSED(queue_family, VK_QUEUE_FAMILY_IGNORED, "queue_family");
#undef ADOPT_REFUSED
    REFUSED(INVALID_ARGUMENT, weft_device_adopt(NULL, &good), "device is null");
    assert_int_equal(weft_device_adopt(&fixture->device, NULL), WEFT_INVALID_ARGUMENT);
    assert_null(fixture->device);
    assert_int_equal(owner.locks, 0);
    owner_destroy(&owner);
}

/* ---- threads ---- */

/* Opens, uses and closes a device of its own; null when all went well. */
static void *use_device(void *argument) {
    const uint32_t seed = *(const uint32_t *)argument;
    weft_device *device = NULL;
    weft_buffer *buffer = NULL;
    const weft_device_params params = {.math = WEFT_MATH_FAST, .cache_dir = ""};
    uint32_t count = 0;
    uint32_t sent[256];
    uint32_t received[256] = {0};
    for (uint32_t i = 0; i < 256; i++) {
        sent[i] = weft_philox_u32(seed, 0, i);
    }
    bool fine = weft_device_list(NULL, &count, NULL) == WEFT_OK && count > 0 &&
                weft_device_open(&device, &params) == WEFT_OK &&
                weft_buffer_create(&buffer, device, sizeof sent) == WEFT_OK;
    for (uint32_t i = 0; fine && i < 20; i++) {
        fine = weft_buffer_write(buffer, 0, sent, sizeof sent) == WEFT_OK &&
               weft_buffer_read(buffer, 0, received, sizeof received) == WEFT_OK &&
               memcmp(sent, received, sizeof sent) == 0;
    }
    weft_buffer_destroy(&buffer);
    weft_device_destroy(&device);
    return fine ? NULL : argument;
}

TEST(test_threads, f) {
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    uint32_t seeds[THREADS];
    for (uint32_t i = 0; i < THREADS; i++) {
        seeds[i] = i;
        assert_int_equal(pthread_create(&threads[i], NULL, use_device, &seeds[i]), 0);
    }
    for (uint32_t i = 0; i < THREADS; i++) {
        void *failed = NULL;
        assert_int_equal(pthread_join(threads[i], &failed), 0);
        assert_null(failed);
    }
}

/* ---- the allocator runs dry ---- */

/* Opening with one allocation more each time: it fails cleanly until it works. */
TEST(test_out_of_host_memory, fixture) {
    const weft_device_params params = default_params(fixture);
    weft_status status = WEFT_OUT_OF_HOST_MEMORY;
    fixture->host.fail_rest = true;
    while (weft_test_next_failure(&fixture->host, status)) {
        status = weft_device_open(&fixture->device, &params);
        if (status != WEFT_OK) {
            assert_null(fixture->device);
            assert_true(has_errors(fixture));
        }
        weft_device_destroy(&fixture->device);
        assert_int_equal(fixture->host.live, 0);
    }
    assert_in_range(fixture->host.failures, 8, 200);
}
