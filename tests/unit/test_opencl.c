/* SPDX-License-Identifier: MIT */
/* weft-test: opencl */
/* weft-test: posix */
/* Devices of OpenCL drivers: which one a name means, memory, runs and their end, forked children, and two devices at once. */
#include <pthread.h>

#include <weft/vulkan.h>

#include "device/device.h"
#include "support_child.h"
#include "support_graph.h"
#include "support_opencl_device.h"

enum { N = 48, COUNT = N * N, BYTES = COUNT * 4 };

/* ---- a small network ---- */

/* y = softmax(x w) */
static weft_plan *compile(weft_device *device, const weft_plan_params *params) {
    weft_graph *graph = NULL;
    weft_plan *plan = NULL;
    weft_tensor y = {0};
    float *w = weft_test_uniform(COUNT, 3, 0);
    assert_ok(weft_graph_create(&graph, NULL));
    const weft_tensor x = weft_test_input(graph, "x", weft_shape_of(N, N));
    const weft_tensor weight = weft_test_constant(graph, weft_shape_of(N, N), w);
    assert_ok(weft_graph_linear(&y, graph, x, weight, (weft_tensor){0}));
    assert_ok(weft_graph_softmax(&y, graph, y));
    assert_ok(weft_graph_output(graph, "y", y));
    assert_ok(weft_plan_compile(&plan, device, graph, params));
    weft_graph_destroy(&graph);
    free(w);
    return plan;
}

static weft_status execute(weft_plan *plan, float *x, float *y) {
    memset(y, 0xff, BYTES);
    return weft_plan_execute(plan, (weft_host_tensor[]){{"x", x, BYTES}, {"y", y, BYTES}}, 2);
}

/* The processor device, which runs what the tests of drivers hide. */
static weft_device *open_processor(const weft_host *host) {
    weft_device *device = NULL;
    weft_test_set_variable("WEFT_PROCESSOR", "1");
    assert_ok(weft_device_open(
        &device, weft_device_params(.host = *host, .select = "processor", .threads = 1)));
    weft_test_set_variable("WEFT_PROCESSOR", "0");
    return device;
}

/* What the processor device makes of inputs of that stream, in malloc's memory. */
static float *expected_of(const weft_host *host, float *x) {
    float *y = malloc(BYTES);
    assert_non_null(y);
    weft_device *device = open_processor(host);
    weft_plan *plan = compile(device, NULL);
    assert_ok(execute(plan, x, y));
    weft_plan_destroy(&plan);
    weft_device_destroy(&device);
    return y;
}

/* ---- a process whose parent has not opened OpenCL: before all others ---- */

static bool opens_it(void *user) {
    weft_device_info info;
    weft_device *device = NULL;
    weft_buffer *buffer = NULL;
    uint32_t word = 7;
    (void)user;
    if (!weft_test_find_opencl(&info)) {
        _exit(WEFT_CHILD_SKIPS);
    }
    WEFT_CHILD_EXPECT(weft_device_open(&device, weft_device_params(.select = "opencl:",
                                                                   .math = WEFT_MATH_FAST)) ==
                      WEFT_OK);
    WEFT_CHILD_EXPECT(weft_buffer_create(&buffer, device, sizeof word) == WEFT_OK);
    WEFT_CHILD_EXPECT(weft_buffer_write(buffer, 0, &word, sizeof word) == WEFT_OK);
    word = 0;
    WEFT_CHILD_EXPECT(weft_buffer_read(buffer, 0, &word, sizeof word) == WEFT_OK && word == 7);
    weft_buffer_destroy(&buffer);
    weft_device_destroy(&device);
    return true;
}

WEFT_TEST(a_child_of_a_process_without_opencl_opens_it) {
    weft_test_in_child(opens_it, NULL);
}

/* ---- which device a name means ---- */

struct choice {
    struct weft_test_host host;
    weft_device_info info;
};

static int set_up_choice(void **state) {
    struct choice *choice = calloc(1, sizeof *choice);
    assert_non_null(choice);
    weft_test_host_begin(&choice->host);
    *state = choice;
    return 0;
}

static int tear_down_choice(void **state) {
    struct choice *choice = *state;
    weft_test_set_variable("WEFT_OPENCL", "1");
    weft_test_set_variable("WEFT_PROCESSOR", "0");
    weft_test_host_end(&choice->host);
    free(choice);
    return 0;
}

#define TEST_CHOICE(name) WEFT_TEST_WITH(name, struct choice *c, set_up_choice, tear_down_choice)

/* Without the probe: what is opened is to be seen, not used. */
static weft_status open_as(weft_device **device, struct choice *c, const char *select) {
    return weft_device_open(device, weft_device_params(.host = c->host.host, .select = select,
                                                       .math = WEFT_MATH_FAST, .cache_dir = ""));
}

static void expect_opened(struct choice *c, const char *select) {
    weft_device *device = NULL;
    weft_device_info info;
    print_message("\"%s\"\n", select);
    assert_ok(open_as(&device, c, select));
    assert_ok(weft_device_get_info(device, &info));
    assert_string_equal(info.driver, WEFT_OPENCL_DRIVER_NAME);
    assert_string_equal(info.name, c->info.name);
    weft_device_destroy(&device);
}

TEST_CHOICE(names_mean_it) {
    c->info = weft_test_need_opencl();
    const size_t platform = strcspn(c->info.driver_version, ",");
    expect_opened(c, "opencl:");
    expect_opened(c, "OpenCL:");
    expect_opened(c, "opencl");
    expect_opened(c, c->info.name);
    expect_opened(c, weft_test_text("opencl:%s", c->info.name));
    expect_opened(c, weft_test_text("opencl:%.*s", (int)platform, c->info.driver_version));
    expect_opened(c, weft_test_text("%u", c->info.index));
    weft_device *device = NULL;
    WEFT_EXPECT_REFUSED(&c->host, WEFT_NOT_FOUND, open_as(&device, c, "opencl:nobody's"),
                        "opencl:nobody's", c->info.name);
    assert_null(device);
}

/* An OpenCL device of the processor's is never taken by itself. */
TEST_CHOICE(it_is_taken_by_name_only) {
    weft_device *device = NULL;
    weft_device_info info;
    c->info = weft_test_need_opencl();
    if (c->info.type != WEFT_DEVICE_SOFTWARE) {
        skip();
    }
    assert_false(c->info.by_name_only); /* WEFT_OPENCL=1 */
    weft_test_set_variable("WEFT_OPENCL", NULL);
    assert_true(weft_test_find_opencl(&c->info));
    assert_true(c->info.by_name_only);
    WEFT_EXPECT_REFUSED(&c->host, WEFT_NO_DEVICE, open_as(&device, c, NULL), "by name",
                        c->info.name);
    expect_opened(c, "opencl:");
    for (int wanted = 0; wanted < 2; wanted++) {
        weft_test_set_variable("WEFT_OPENCL", wanted ? "1" : NULL);
        weft_test_set_variable("WEFT_PROCESSOR", "1");
        assert_ok(open_as(&device, c, NULL));
        assert_ok(weft_device_get_info(device, &info));
        assert_string_not_equal(info.driver, WEFT_OPENCL_DRIVER_NAME);
        weft_device_destroy(&device);
    }
}

TEST_CHOICE(it_can_be_turned_off) {
    weft_device *device = NULL;
    c->info = weft_test_need_opencl();
    weft_test_set_variable("WEFT_OPENCL", "0");
    assert_false(weft_test_find_opencl(&c->info));
    WEFT_EXPECT_REFUSED(&c->host, WEFT_NOT_FOUND, open_as(&device, c, "opencl:"), "WEFT_OPENCL=0");
}

/* ---- one device ---- */

struct fixture {
    struct weft_test_host host;
    weft_device *device;
    float *x, *y, *expected;
    atomic_uint asked;  /* times */
    atomic_uint yes_at; /* from this time on the answer is yes; 0: never */
};

static bool answer(void *user) {
    struct fixture *f = user;
    const unsigned time = atomic_fetch_add(&f->asked, 1) + 1, yes_at = atomic_load(&f->yes_at);
    return yes_at > 0 && time >= yes_at;
}

static int set_up(void **state) {
    struct fixture *f = calloc(1, sizeof *f);
    weft_device_info info;
    assert_non_null(f);
    *state = f;
    if (!weft_test_find_opencl(&info)) {
        return 0;
    }
    weft_test_host_begin(&f->host);
    weft_host host = f->host.host;
    host.interrupted = answer;
    host.interrupted_user = f;
    const weft_device_params params = {.host = host, .select = "opencl:"};
    if (weft_device_open(&f->device, &params) != WEFT_OK) {
        fail_msg("no device: %s", weft_test_log(&f->host));
    }
    f->x = weft_test_uniform(COUNT, 7, 0);
    f->y = malloc(BYTES);
    f->expected = expected_of(&f->host.host, f->x);
    assert_non_null(f->y);
    return 0;
}

static int tear_down(void **state) {
    struct fixture *f = *state;
    if (f->device) {
        weft_device_destroy(&f->device);
        weft_test_host_end(&f->host);
    }
    free(f->x);
    free(f->y);
    free(f->expected);
    free(f);
    return 0;
}

#define TEST(name) WEFT_TEST_WITH(name, struct fixture *f, set_up, tear_down)

/* At the beginning of each: without a device it is skipped. */
static void need_device(const struct fixture *f) {
    if (!f->device) {
        (void)weft_test_need_opencl();
    }
}

/* ---- memory ---- */

static void expect_bytes(const struct fixture *f, size_t size) {
    uint8_t *sent = malloc(size), *received = malloc(size);
    weft_buffer *buffer = NULL;
    assert_true(sent && received);
    for (size_t i = 0; i < size; i++) {
        sent[i] = (uint8_t)(i * 7 + i / 251);
    }
    assert_ok(weft_buffer_create(&buffer, f->device, size));
    assert_ok(weft_buffer_write(buffer, 0, sent, size));
    const size_t at = size / 3, part = size / 2; /* odd places, too */
    memset(sent + at, 0xa5, part);
    assert_ok(weft_buffer_write(buffer, at, sent + at, part));
    memset(received, 0, size);
    assert_ok(weft_buffer_read(buffer, 0, received, size));
    assert_memory_equal(received, sent, size);
    memset(received, 0, size);
    assert_ok(weft_buffer_read(buffer, at, received, size - at));
    assert_memory_equal(received, sent + at, size - at);
    weft_buffer_destroy(&buffer);
    free(sent);
    free(received);
}

TEST(bytes_come_back) {
    static const size_t sizes[] = {1, 2, 3, 4, 5, 63, 4096, 65539, 9000001};
    need_device(f);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        expect_bytes(f, sizes[i]);
    }
}

/* Fills and copies in the device's memory and the host's, in each direction, as the driver of Vulkan's functions records them. */
enum { PLACES = 4, WORDS = 1024 }; /* two buffers of the device's, and two of the host's */

struct places {
    VkBuffer buffers[PLACES];
    struct weft_allocation *allocations[PLACES];
    VkCommandPool pool;
    VkCommandBuffer commands;
};

static void begin_places(struct places *p, struct fixture *f) {
    const struct weft_vk_device *vk = &f->device->vk;
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    *p = (struct places){0};
    for (int i = 0; i < PLACES; i++) {
        assert_ok(weft_vkbuffer_create(&p->buffers[i], &p->allocations[i], f->device, WORDS * 4,
                                       i < 2 ? WEFT_MEMORY_DEVICE : WEFT_MEMORY_STAGING));
    }
    assert_ok(weft_command_pool_create(&p->pool, f->device));
    const VkCommandBufferAllocateInfo allocate = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = p->pool,
        .commandBufferCount = 1};
    assert_int_equal(vk->AllocateCommandBuffers(vk->handle, &allocate, &p->commands), VK_SUCCESS);
    assert_int_equal(vk->BeginCommandBuffer(p->commands, &begin), VK_SUCCESS);
}

static void end_places(struct places *p, struct fixture *f) {
    f->device->vk.DestroyCommandPool(f->device->vk.handle, p->pool, NULL);
    for (int i = 0; i < PLACES; i++) {
        weft_vkbuffer_destroy(f->device, &p->buffers[i], &p->allocations[i]);
    }
}

/* Around each place once: 0 (device) > 2 (host) > 3 (host) > 1 (device), a word further on each time. */
TEST(fills_and_copies_reach_both_kinds_of_memory) {
    static const int path[] = {0, 2, 3, 1};
    struct places p;
    uint64_t ticket = 0;
    uint32_t words[WORDS];
    weft_buffer *last = NULL;
    need_device(f);
    begin_places(&p, f);
    const struct weft_vk_device *vk = &f->device->vk;
    for (int i = 0; i < PLACES; i++) {
        vk->CmdFillBuffer(p.commands, p.buffers[i], 0, WORDS * 4, 0x01010101u * (uint32_t)(i + 1));
    }
    vk->CmdFillBuffer(p.commands, p.buffers[0], 400, 40, 0xdeadbeefu);
    for (int i = 0; i + 1 < PLACES; i++) {
        const VkBufferCopy copy = {.srcOffset = 400 + 4 * (VkDeviceSize)i,
                                   .dstOffset = 404 + 4 * (VkDeviceSize)i,
                                   .size = 40};
        vk->CmdCopyBuffer(p.commands, p.buffers[path[i]], p.buffers[path[i + 1]], 1, &copy);
    }
    assert_int_equal(vk->EndCommandBuffer(p.commands), VK_SUCCESS);
    assert_ok(weft_device_submit(f->device, &p.commands, 1, &ticket));
    assert_ok(weft_device_wait(f->device, ticket, UINT64_MAX, NULL));
    assert_ok(weft_buffer_wrap(&last, f->device, p.buffers[1], 0, WORDS * 4));
    assert_ok(weft_buffer_read(last, 0, words, sizeof words));
    for (uint32_t i = 0; i < WORDS; i++) {
        assert_int_equal(words[i], i >= 103 && i < 113 ? 0xdeadbeefu : 0x02020202u);
    }
    weft_buffer_destroy(&last);
    end_places(&p, f);
}

/* What a plan is bound to may lie in the host's memory, also where both are in one allocation. */
TEST(plans_work_on_memory_of_the_host) {
    VkBuffer handles[2];
    struct weft_allocation *allocations[2];
    weft_buffer *buffers[2];
    weft_bindings *bindings = NULL;
    need_device(f);
    weft_plan *plan = compile(f->device, NULL);
    assert_ok(weft_bindings_create(&bindings, plan));
    for (int i = 0; i < 2; i++) {
        assert_ok(weft_vkbuffer_create(&handles[i], &allocations[i], f->device, BYTES,
                                       WEFT_MEMORY_STAGING));
        assert_ok(weft_buffer_wrap(&buffers[i], f->device, handles[i], 0, BYTES));
        assert_ok(weft_bindings_set(bindings, i == 0 ? "x" : "y", buffers[i]));
    }
    memcpy(allocations[0]->mapped, f->x, BYTES);
    memset(allocations[1]->mapped, 0xff, BYTES);
    assert_ok(weft_plan_run(plan, bindings));
    assert_memory_equal(allocations[1]->mapped, f->expected, BYTES);
    assert_memory_equal(allocations[0]->mapped, f->x, BYTES);
    weft_bindings_destroy(&bindings);
    for (int i = 0; i < 2; i++) {
        weft_buffer_destroy(&buffers[i]);
        weft_vkbuffer_destroy(f->device, &handles[i], &allocations[i]);
    }
    weft_plan_destroy(&plan);
}

TEST(memory_is_limited) {
    weft_device *device = NULL;
    weft_buffer *buffer = NULL;
    need_device(f);
    assert_ok(weft_device_open(
        &device, weft_device_params(.host = f->host.host, .select = "opencl:",
                                    .math = WEFT_MATH_FAST, .memory_limit = UINT64_C(1) << 20)));
    WEFT_EXPECT_REFUSED(&f->host, WEFT_OUT_OF_DEVICE_MEMORY,
                        weft_buffer_create(&buffer, device, UINT64_C(2) << 20), "1048576");
    assert_ok(weft_buffer_create(&buffer, device, UINT64_C(1) << 19));
    weft_buffer_destroy(&buffer);
    WEFT_EXPECT_REFUSED(&f->host, WEFT_OUT_OF_DEVICE_MEMORY,
                        weft_buffer_create(&buffer, device, UINT64_MAX - 3), "heap");
    weft_device_destroy(&device);
}

/* ---- runs ---- */

TEST(runs_have_the_bits_of_the_processor) {
    need_device(f);
    weft_plan *plan = compile(f->device, NULL);
    for (int i = 0; i < 3; i++) {
        assert_ok(execute(plan, f->x, f->y));
        assert_memory_equal(f->y, f->expected, BYTES);
    }
    weft_plan_destroy(&plan);
}

TEST(time_stamps_are_in_order) {
    weft_timing timings[8];
    weft_plan_info info;
    need_device(f);
    weft_plan *plan = compile(f->device, weft_plan_params(.timestamps = true, .no_fusion = true));
    assert_ok(weft_plan_get_info(plan, &info));
    assert_in_range(info.dispatches, 2, 8);
    for (int run = 0; run < 2; run++) {
        uint32_t count = 8;
        assert_ok(execute(plan, f->x, f->y));
        assert_ok(weft_plan_get_timings(plan, timings, &count));
        assert_int_equal(count, info.dispatches);
        assert_true(timings[0].start_ms == 0.0);
        double total = 0.0;
        for (uint32_t i = 0; i < count; i++) {
            assert_true(timings[i].duration_ms >= 0.0);
            assert_true(i == 0 || timings[i].start_ms >= timings[i - 1].start_ms);
            total += timings[i].duration_ms;
        }
        /* Rusticl reaches all markers of a flush at once. */
        assert_true(total > 0.0 || strncmp(f->device->info.driver_version, "rusticl", 7) == 0);
    }
    weft_plan_destroy(&plan);
}

/* A call that ends before its time leaves the plan good. */
TEST(interrupted_runs_leave_the_plan_good) {
    need_device(f);
    weft_plan *plan = compile(f->device, NULL);
    assert_ok(execute(plan, f->x, f->y));
    for (unsigned time = 1; time <= 3; time++) {
        weft_test_host_reset(&f->host);
        atomic_store(&f->asked, 0);
        atomic_store(&f->yes_at, time);
        const weft_status status = execute(plan, f->x, f->y);
        atomic_store(&f->yes_at, 0);
        assert_int_equal(status, atomic_load(&f->asked) >= time ? WEFT_CANCELLED : WEFT_OK);
        assert_true(time > 1 || status == WEFT_CANCELLED);
        assert_ok(execute(plan, f->x, f->y));
        assert_memory_equal(f->y, f->expected, BYTES);
    }
    weft_plan_destroy(&plan);
}

static void *cancel(void *device) {
    weft_device_cancel(device);
    return NULL;
}

TEST(a_device_is_given_up_while_it_runs) {
    pthread_t thread;
    weft_buffer *buffer = NULL;
    need_device(f);
    weft_plan *plan = compile(f->device, NULL);
    assert_ok(execute(plan, f->x, f->y));
    assert_int_equal(pthread_create(&thread, NULL, cancel, f->device), 0);
    weft_status status = WEFT_OK;
    while (status == WEFT_OK) {
        status = execute(plan, f->x, f->y);
    }
    assert_status(status, WEFT_DEVICE_LOST);
    assert_int_equal(pthread_join(thread, NULL), 0);
    WEFT_EXPECT_REFUSED(&f->host, WEFT_DEVICE_LOST, execute(plan, f->x, f->y),
                        "weft_device_cancel");
    assert_status(weft_buffer_create(&buffer, f->device, 4), WEFT_DEVICE_LOST);
    weft_plan_destroy(&plan);
}

/* ---- forked children ---- */

struct inherited {
    struct fixture *f;
    weft_plan *plan;
    weft_buffer *buffer;
};

static bool is_refused(weft_status status, struct fixture *f) {
    WEFT_CHILD_EXPECT(status == WEFT_DEVICE_LOST);
    WEFT_CHILD_EXPECT(weft_test_log_has(&f->host, "spawn"));
    weft_test_host_reset(&f->host);
    return true;
}

static bool is_refused_all(void *user) {
    struct inherited *i = user;
    struct fixture *f = i->f;
    weft_buffer *buffer = NULL;
    weft_device *device = NULL;
    weft_device_info info;
    weft_test_host_reset(&f->host);
    WEFT_CHILD_EXPECT(is_refused(execute(i->plan, f->x, f->y), f));
    WEFT_CHILD_EXPECT(is_refused(weft_buffer_read(i->buffer, 0, f->y, 4), f));
    WEFT_CHILD_EXPECT(is_refused(weft_buffer_write(i->buffer, 0, f->x, 4), f));
    WEFT_CHILD_EXPECT(is_refused(weft_buffer_create(&buffer, f->device, 4), f));
    WEFT_CHILD_EXPECT(!weft_test_find_opencl(&info));
    WEFT_CHILD_EXPECT(
        weft_device_open(&device, weft_device_params(.host = f->host.host, .select = "opencl:")) ==
        WEFT_NOT_FOUND);
    WEFT_CHILD_EXPECT(weft_test_log_has(&f->host, "forked after OpenCL had been opened"));
    weft_buffer_destroy(&i->buffer);
    weft_plan_destroy(&i->plan);
    weft_device_destroy(&f->device);
    return true;
}

TEST(a_child_is_refused_and_the_parent_goes_on) {
    need_device(f);
    struct inherited i = {.f = f, .plan = compile(f->device, NULL)};
    assert_ok(weft_buffer_create(&i.buffer, f->device, 4));
    weft_test_in_child(is_refused_all, &i);
    assert_ok(execute(i.plan, f->x, f->y));
    assert_memory_equal(f->y, f->expected, BYTES);
    weft_buffer_destroy(&i.buffer);
    weft_plan_destroy(&i.plan);
}

/* ---- two devices at once ---- */

struct other {
    const struct fixture *f;
    bool is_right;
};

static void *live(void *user) {
    struct other *other = user;
    float *y = malloc(BYTES);
    weft_device *device = NULL;
    assert_non_null(y);
    assert_ok(weft_device_open(&device, weft_device_params(.select = "opencl:")));
    weft_plan *plan = compile(device, NULL);
    other->is_right = true;
    for (int i = 0; i < 20; i++) {
        assert_ok(execute(plan, other->f->x, y));
        other->is_right = other->is_right && memcmp(y, other->f->expected, BYTES) == 0;
    }
    weft_plan_destroy(&plan);
    weft_device_destroy(&device);
    free(y);
    return NULL;
}

/* Not in Oclgrind: contexts whose kernels run at once lose workgroups there, and a device that is opened meanwhile is refused. */
TEST(two_devices_run_at_once) {
    struct other others[2] = {{.f = f}, {.f = f}};
    pthread_t threads[2];
    need_device(f);
    weft_device_info info;
    assert_ok(weft_device_get_info(f->device, &info));
    if (strstr(info.name, "Oclgrind")) {
        skip();
    }
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, live, &others[i]), 0);
    }
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_true(others[i].is_right);
    }
}
