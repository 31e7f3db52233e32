/* SPDX-License-Identifier: MIT */
/* weft-test: one device */
/* weft-test: posix */
/* What a forked child may do with a device of its parent's, at every moment of the device's life (weft/device.h). */
#include <semaphore.h>

#include "device/device.h"
#include "native/kernel.h"
#include "opencl/opencl.h"
#include "support_child.h"
#include "support_graph.h"

enum { N = 160, COUNT = N * N }; /* a product that takes longer than what is not shared with jobs */

/* The thread sanitizer ends a child with threads of its own whose parent had some. */
#if defined(__SANITIZE_THREAD__)
#define FORKS() skip()
#else
#define FORKS() ((void)0)
#endif

/* ---- what there is at the fork ---- */

struct life {
    weft_host host;
    const char *select, *cache; /* as the device was opened with them */
    weft_device *device;
    weft_graph *graph;
    weft_plan *plan;
    weft_bindings *bindings;
    weft_buffer *in, *out;
    float x[COUNT], expected[COUNT], y[COUNT];
    bool goes_on; /* it is the processor device */
};

static weft_status build(weft_graph **graph, const weft_host *host) {
    float w[COUNT];
    weft_tensor t = {0}, weight = {0};
    weft_weight *made = NULL;
    for (uint32_t i = 0; i < COUNT; i++) {
        w[i] = (float)(i % 7) * 0.25F - 0.5F;
    }
    weft_status status = weft_graph_create(graph, host);
    status = status ? status : weft_graph_input(&t, *graph, "x", WEFT_F32, weft_shape_of(1, N, N));
    status = status ? status
                    : weft_weight_create(
                          &made, weft_weight_params(.shape = weft_shape_of(N, N), .data = w), host);
    status = status ? status : weft_graph_weight(&weight, *graph, made);
    status = status ? status : weft_graph_linear(&t, *graph, t, weight, (weft_tensor){0});
    status = status ? status : weft_graph_softmax(&t, *graph, t);
    status = status ? status : weft_graph_output(*graph, "y", t);
    weft_weight_destroy(&made);
    return status;
}

static weft_status execute(struct life *life, weft_plan *plan) {
    memset(life->y, 0xff, sizeof life->y);
    return weft_plan_execute(
        plan, (weft_host_tensor[]){{"x", life->x, sizeof life->x}, {"y", life->y, sizeof life->y}},
        2);
}

static bool has_same_bits(const struct life *life) {
    return memcmp(life->y, life->expected, sizeof life->y) == 0;
}

static void begin(struct life *life, const weft_device_params *params) {
    weft_device_info info;
    for (uint32_t i = 0; i < COUNT; i++) {
        life->x[i] = (float)(i % 17) * 0.125F - 1.0F;
    }
    life->host = params->host;
    life->select = params->select;
    life->cache = params->cache_dir;
    if (!life->device) {
        assert_ok(weft_device_open(&life->device, params));
    }
    assert_ok(weft_device_get_info(life->device, &info));
    life->goes_on = info.type == WEFT_DEVICE_PROCESSOR && life->device->in_process;
    assert_ok(build(&life->graph, &life->host));
    assert_ok(weft_plan_compile(&life->plan, life->device, life->graph, NULL));
    assert_ok(weft_buffer_create(&life->in, life->device, sizeof life->x));
    assert_ok(weft_buffer_create(&life->out, life->device, sizeof life->y));
    assert_ok(weft_buffer_write(life->in, 0, life->x, sizeof life->x));
    assert_ok(weft_bindings_create(&life->bindings, life->plan));
    assert_ok(weft_bindings_set(life->bindings, "x", life->in));
    assert_ok(weft_bindings_set(life->bindings, "y", life->out));
    assert_ok(execute(life, life->plan));
    memcpy(life->expected, life->y, sizeof life->y);
    assert_true(life->y[0] > 0.0F && life->y[0] < 1.0F);
}

static void end(struct life *life) {
    weft_bindings_destroy(&life->bindings);
    weft_buffer_destroy(&life->in);
    weft_buffer_destroy(&life->out);
    weft_plan_destroy(&life->plan);
    weft_graph_destroy(&life->graph);
    weft_device_destroy(&life->device);
}

static void expect_parent_goes_on(struct life *life) {
    assert_ok(execute(life, life->plan));
    assert_true(has_same_bits(life));
    assert_ok(weft_plan_run(life->plan, life->bindings));
    assert_ok(weft_buffer_read(life->out, 0, life->y, sizeof life->y));
    assert_true(has_same_bits(life));
}

/* ---- between two calls ---- */

static struct weft_test_host watched;

static bool closes(void *user) {
    struct life *life = user;
    end(life);
    WEFT_CHILD_EXPECT(!life->device && !life->plan && !life->bindings && !life->in && !life->graph);
    WEFT_CHILD_EXPECT(atomic_load(&watched.live) == 0 || !life->goes_on);
    return true;
}

static weft_device_params watched_params(const char *select) {
    weft_test_host_begin(&watched);
    return (weft_device_params){.host = watched.host, .select = select, .cache_dir = ""};
}

static void finish(struct life *life) {
    expect_parent_goes_on(life);
    end(life);
    weft_test_host_end(&watched);
}

static void a_child_closes_what_it_inherits(const char *select) {
    static struct life life;
    const weft_device_params params = watched_params(select);
    begin(&life, &params);
    weft_test_in_child(closes, &life);
    finish(&life);
}

/* A new plan, of the same graph. */
static weft_status compile_and_execute(struct life *life, weft_device *device) {
    weft_plan *plan = NULL;
    weft_status status = weft_plan_compile(&plan, device, life->graph, NULL);
    status = status ? status : execute(life, plan);
    weft_plan_destroy(&plan);
    return status;
}

static bool refuses(weft_status status) {
    char process[32];
    (void)snprintf(process, sizeof process, "process %lu", (unsigned long)getppid());
    WEFT_CHILD_EXPECT(status == WEFT_DEVICE_LOST);
    WEFT_CHILD_EXPECT(weft_test_log_has(&watched, "spawn"));
    WEFT_CHILD_EXPECT(weft_test_log_has(&watched, process));
    weft_test_host_reset(&watched);
    return true;
}

static bool refuses_all(struct life *life) {
    weft_device_info info;
    weft_external_info external;
    weft_buffer *buffer = NULL;
    weft_bindings *bindings = NULL;
    WEFT_CHILD_EXPECT(refuses(execute(life, life->plan)));
    WEFT_CHILD_EXPECT(refuses(compile_and_execute(life, life->device)));
    WEFT_CHILD_EXPECT(refuses(weft_plan_run(life->plan, life->bindings)));
    WEFT_CHILD_EXPECT(refuses(weft_buffer_create(&buffer, life->device, 4)));
    WEFT_CHILD_EXPECT(refuses(weft_bindings_create(&bindings, life->plan)));
    WEFT_CHILD_EXPECT(refuses(weft_buffer_write(life->in, 0, life->x, sizeof life->x)));
    WEFT_CHILD_EXPECT(refuses(weft_buffer_read(life->out, 0, life->y, sizeof life->y)));
    WEFT_CHILD_EXPECT(refuses(weft_device_get_info(life->device, &info)));
    WEFT_CHILD_EXPECT(refuses(weft_device_save_cache(life->device)));
    WEFT_CHILD_EXPECT(
        refuses(weft_device_get_external(life->device, WEFT_EXTERNAL_OPAQUE, &external)));
    WEFT_CHILD_EXPECT(refuses(weft_device_get_external_semaphore(life->device, true, &external)));
    weft_device_trim(life->device);
    weft_device_reset_peak(life->device);
    return true;
}

static bool works(struct life *life) {
    WEFT_CHILD_EXPECT(execute(life, life->plan) == WEFT_OK && has_same_bits(life));
    WEFT_CHILD_EXPECT(compile_and_execute(life, life->device) == WEFT_OK && has_same_bits(life));
    WEFT_CHILD_EXPECT(weft_plan_run(life->plan, life->bindings) == WEFT_OK);
    WEFT_CHILD_EXPECT(weft_buffer_read(life->out, 0, life->y, sizeof life->y) == WEFT_OK);
    WEFT_CHILD_EXPECT(has_same_bits(life));
    weft_device_trim(life->device);
    weft_device_reset_peak(life->device);
    return true;
}

static bool works_in_a_fresh_device(struct life *life) {
    weft_device *device = NULL;
    WEFT_CHILD_EXPECT(
        weft_device_open(&device, weft_device_params(.host = life->host, .select = life->select,
                                                     .cache_dir = "")) == WEFT_OK);
    WEFT_CHILD_EXPECT(compile_and_execute(life, device) == WEFT_OK && has_same_bits(life));
    weft_device_destroy(&device);
    return true;
}

static bool uses_and_closes(void *user) {
    struct life *life = user;
    WEFT_CHILD_EXPECT(life->goes_on ? works(life) : refuses_all(life));
    /* Not every driver lets a child open what its parent has open: SwiftShader waits for threads that the child does not have. */
    WEFT_CHILD_EXPECT(!life->goes_on || works_in_a_fresh_device(life));
    return closes(life);
}

static void a_child_goes_on_with_the_processor_and_is_refused_other_devices(const char *select) {
    static struct life life;
    const weft_device_params params = watched_params(select);
    begin(&life, &params);
    weft_test_in_child(uses_and_closes, &life);
    weft_test_in_child(uses_and_closes, &life);
    finish(&life);
}

static bool has_a_child_of_its_own(void *user) {
    struct life *life = user;
    WEFT_CHILD_EXPECT(!life->goes_on || works(life));
    int status = 0;
    const pid_t child = fork();
    if (child == 0) {
        (void)alarm(WEFT_CHILD_PATIENCE_S);
        _exit(!life->goes_on || works(life) ? closes(life) ? 0 : 1 : 1);
    }
    WEFT_CHILD_EXPECT(child > 0 && waitpid(child, &status, 0) == child);
    WEFT_CHILD_EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    return closes(life);
}

static void a_child_of_a_child_goes_on_as_well(const char *select) {
    static struct life life;
    const weft_device_params params = watched_params(select);
    begin(&life, &params);
    weft_test_in_child(has_a_child_of_its_own, &life);
    finish(&life);
}

/* ---- a device that was adopted ---- */

struct lender {
    weft_device *owner;
    uint32_t freed;
};

static VkResult lend(void *user, const VkMemoryRequirements *requirements, bool host_access,
                     weft_vulkan_memory *memory) {
    const struct lender *lender = user;
    const weft_device *owner = lender->owner;
    uint32_t type = 0; /* software drivers have one for everything */
    while ((requirements->memoryTypeBits >> type & 1) == 0) {
        type++;
    }
    const VkMemoryAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                       .allocationSize = requirements->size,
                                       .memoryTypeIndex = type};
    *memory = (weft_vulkan_memory){0};
    VkResult result = owner->vk.AllocateMemory(owner->vk.handle, &info, NULL, &memory->memory);
    if (result == VK_SUCCESS && host_access) {
        result = owner->vk.MapMemory(owner->vk.handle, memory->memory, 0, VK_WHOLE_SIZE, 0,
                                     &memory->mapped);
    }
    return result;
}

static void take_back(void *user, const weft_vulkan_memory *memory) {
    struct lender *lender = user;
    lender->owner->vk.FreeMemory(lender->owner->vk.handle, memory->memory, NULL);
    lender->freed++;
}

struct adopted {
    struct life life;
    struct lender lender;
};

static bool refuses_what_is_adopted_and_frees_nothing(void *user) {
    struct adopted *adopted = user;
    const uint32_t freed = adopted->lender.freed;
    WEFT_CHILD_EXPECT(!adopted->life.goes_on && refuses_all(&adopted->life));
    end(&adopted->life);
    WEFT_CHILD_EXPECT(adopted->lender.freed == freed);
    return true;
}

WEFT_TEST(a_child_is_refused_an_adopted_device) {
    static struct adopted adopted;
    FORKS();
    const weft_device_params params = watched_params("0");
    assert_ok(weft_device_open(&adopted.lender.owner, &params));
    const weft_device *owner = adopted.lender.owner;
    if (strcmp(owner->info.driver, WEFT_OPENCL_DRIVER_NAME) ==
        0) { /* such one is adopted by a cl_context */
        weft_device_destroy(&adopted.lender.owner);
        weft_test_host_end(&watched);
        skip();
    }
    const weft_vulkan_allocator allocator = {
        .user = &adopted.lender, .allocate = lend, .free = take_back};
    assert_ok(weft_device_adopt(
        &adopted.life.device,
        &(weft_device_adopt_params){.host = watched.host,
                                    .instance = owner->instance.handle,
                                    .physical_device = owner->physical,
                                    .device = owner->vk.handle,
                                    .queue = owner->queue,
                                    .queue_family = owner->queue_family,
                                    .get_instance_proc_addr = owner->instance.GetInstanceProcAddr,
                                    .cache_dir = "",
                                    .allocator = &allocator,
                                    .timeline_semaphore = owner->has_timeline}));
    begin(&adopted.life, &params);
    weft_test_in_child(refuses_what_is_adopted_and_frees_nothing, &adopted);
    expect_parent_goes_on(&adopted.life);
    end(&adopted.life);
    assert_true(adopted.lender.freed > 0);
    weft_device_destroy(&adopted.lender.owner);
    weft_test_host_end(&watched);
}

/* ---- while a run is under way ---- */

static sem_t begun, may_go_on;

static void hold(void *user, weft_job work, void *job, uint32_t count) {
    const atomic_bool *holds = user;
    (void)count;
    if (atomic_load(holds)) {
        (void)sem_post(&begun);
        (void)sem_wait(&may_go_on);
    }
    work(job, 0);
}

static bool is_refused_and_closes(void *user) {
    struct life *life = user;
    WEFT_CHILD_EXPECT(refuses_all(life));
    end(life);
    return true;
}

static void a_child_that_is_forked_while_a_run_is_under_way_is_refused(const char *select) {
    static struct life life;
    static atomic_bool holds;
    const weft_job_system jobs = {.concurrency = 2, .user = &holds, .run = hold};
    weft_device_params params = watched_params(select);
    uint64_t ticket = 0;
    params.jobs = &jobs;
    begin(&life, &params);
    assert_int_equal(sem_init(&begun, 0, 0), 0);
    assert_int_equal(sem_init(&may_go_on, 0, 0), 0);
    atomic_store(&holds, life.goes_on);
    assert_ok(weft_plan_submit(life.plan, life.bindings, &ticket));
    if (life.goes_on) {
        assert_int_equal(sem_wait(&begun), 0);
    }
    weft_test_in_child(is_refused_and_closes, &life);
    atomic_store(&holds, false);
    (void)sem_post(&may_go_on);
    assert_ok(weft_plan_wait(life.plan, ticket, UINT64_MAX, NULL));
    finish(&life);
}

/* ---- while another thread holds a lock ---- */

static void *hold_lock(void *mutex) {
    assert_int_equal(pthread_mutex_lock(mutex), 0);
    (void)sem_post(&begun);
    (void)sem_wait(&may_go_on);
    assert_int_equal(pthread_mutex_unlock(mutex), 0);
    return NULL;
}

static void a_child_that_is_forked_while_a_lock_is_held_is_refused(const char *select) {
    static struct life life;
    const weft_device_params params = watched_params(select);
    begin(&life, &params);
    struct weft_device_locks *locks = &life.device->locks;
    pthread_mutex_t *const mutexes[] = {&locks->constants, &locks->pipelines, &locks->memory,
                                        &locks->commands, &locks->queue};
    assert_int_equal(sem_init(&begun, 0, 0), 0);
    assert_int_equal(sem_init(&may_go_on, 0, 0), 0);
    for (size_t i = 0; i < sizeof mutexes / sizeof mutexes[0]; i++) {
        pthread_t holder;
        assert_int_equal(pthread_create(&holder, NULL, hold_lock, mutexes[i]), 0);
        assert_int_equal(sem_wait(&begun), 0);
        weft_test_in_child(is_refused_and_closes, &life);
        (void)sem_post(&may_go_on);
        assert_int_equal(pthread_join(holder, NULL), 0);
    }
    finish(&life);
}

/* ---- at every moment of another thread's calls ---- */

/* A host whose allocator stops the thread `worker` at every STEP-th call, also those under locks. */
enum { STEP = 37 };

struct moments {
    struct life life;
    pthread_t worker;
    bool is_over, stops;
    uint32_t calls;
};

static void *allocate(void *user, void *pointer, size_t size) {
    struct moments *moments = user;
    if (moments->stops && pthread_equal(pthread_self(), moments->worker) &&
        ++moments->calls % STEP == 0) {
        (void)sem_post(&begun);
        (void)sem_wait(&may_go_on);
    }
    if (size == 0) {
        free(pointer);
        return NULL;
    }
    return realloc(pointer, size);
}

/* A device from its opening to its end, and plans on the one that all share. */
static void *live(void *user) {
    struct moments *moments = user;
    weft_device *device = NULL;
    weft_graph *graph = NULL;
    weft_plan *plan = NULL;
    static float x[COUNT], y[COUNT];
    const weft_host_tensor tensors[] = {{"x", x, sizeof x}, {"y", y, sizeof y}};
    assert_ok(build(&graph, &moments->life.host));
    for (int round = 0; round < 2; round++) {
        assert_ok(weft_device_open(
            &device,
            weft_device_params(.host = moments->life.host,
                               .cache_dir = round == 0 ? "" : moments->life.cache, .threads = 2)));
        weft_device *both[] = {moments->life.device, device};
        for (int i = 0; i < 2; i++) {
            assert_ok(weft_plan_compile(&plan, both[i], graph, NULL));
            assert_ok(weft_plan_execute(plan, tensors, 2));
            weft_plan_destroy(&plan);
            weft_device_trim(both[i]);
        }
        weft_device_destroy(&device);
    }
    weft_graph_destroy(&graph);
    moments->is_over = true;
    (void)sem_post(&begun);
    return NULL;
}

static bool is(weft_status status, weft_status one, weft_status other) {
    return status == one || status == other;
}

static bool ends_in_any_case(void *user) {
    struct moments *moments = user;
    struct life *life = &moments->life;
    weft_device *device = NULL;
    moments->stops = false;
    const weft_status inherited = execute(life, life->plan);
    WEFT_CHILD_EXPECT(is(inherited, life->goes_on ? WEFT_OK : WEFT_DEVICE_LOST, WEFT_DEVICE_LOST));
    WEFT_CHILD_EXPECT(inherited != WEFT_OK || has_same_bits(life));
    const weft_status compiled = compile_and_execute(life, life->device);
    WEFT_CHILD_EXPECT(is(compiled, inherited, WEFT_UNSUPPORTED)); /* LLVM or glslang was at work */
    if (life->goes_on) {
        weft_status fresh = weft_device_open(&device, weft_device_params(.host = life->host,
                                                                         .cache_dir = life->cache,
                                                                         .select = "processor"));
        fresh = fresh ? fresh : compile_and_execute(life, device);
        WEFT_CHILD_EXPECT(is(fresh, WEFT_OK, WEFT_UNSUPPORTED));
        WEFT_CHILD_EXPECT(fresh != WEFT_OK || has_same_bits(life));
        weft_device_destroy(&device);
    }
    end(life);
    return true;
}

static void a_child_never_hangs_whenever_it_was_forked(const char *select) {
    static struct moments moments;
    moments = (struct moments){0};
    uint32_t forks = 0;
    const weft_device_params params = {.host = {.reallocate = allocate, .allocator_user = &moments},
                                       .select = select,
                                       .cache_dir = weft_test_folder()};
    begin(&moments.life, &params);
    assert_ok(
        weft_device_save_cache(moments.life.device)); /* for the children, so that they are quick */
    assert_int_equal(sem_init(&begun, 0, 0), 0);
    assert_int_equal(sem_init(&may_go_on, 0, 0), 0);
    moments.stops = true;
    assert_int_equal(pthread_create(&moments.worker, NULL, live, &moments), 0);
    for (;;) {
        assert_int_equal(sem_wait(&begun), 0);
        if (moments.is_over) {
            break;
        }
        weft_test_in_child(ends_in_any_case, &moments);
        forks++;
        (void)sem_post(&may_go_on);
    }
    assert_int_equal(pthread_join(moments.worker, NULL), 0);
    print_message("forked at %u of %u moments\n", forks, moments.calls);
    assert_true(forks >= 10);
    expect_parent_goes_on(&moments.life);
    end(&moments.life);
}

/* ---- on a driver's device and on the processor ---- */

#define ON_BOTH(test)                                   \
    WEFT_TEST(test##_on_a_driver) {                     \
        FORKS();                                        \
        test("0");                                      \
    }                                                   \
    WEFT_TEST(test##_on_the_processor) {                \
        FORKS();                                        \
        if (!weft_native_can_compile()) {               \
            skip();                                     \
        }                                               \
        weft_test_set_variable("WEFT_PROCESSOR", NULL); \
        test("processor");                              \
    }

ON_BOTH(a_child_closes_what_it_inherits)
ON_BOTH(a_child_goes_on_with_the_processor_and_is_refused_other_devices)
ON_BOTH(a_child_of_a_child_goes_on_as_well)
ON_BOTH(a_child_that_is_forked_while_a_run_is_under_way_is_refused)
ON_BOTH(a_child_that_is_forked_while_a_lock_is_held_is_refused)
ON_BOTH(a_child_never_hangs_whenever_it_was_forked)
