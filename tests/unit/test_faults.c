/* SPDX-License-Identifier: MIT */
/* weft-test: faults */
/* weft-test: posix */
/*
 * Nothing is lost: each Vulkan call of a device's life fails once with each error that the specification lets it return, and each
 * allocation of the host's gives null once. A status and a line of the log say so, nothing leaks, and it works again after.
 */
#include "support_cycle.h"
#include "support_faults.h"
#include "support_model.h"
#include "support_system.h"

/* ---- a life with one fault ---- */

struct trial {
    struct weft_test_host host;
    struct weft_cycle cycle, whole; /* `whole`: of a life without a fault */
    char *cache_dir;
    struct weft_test_model model;
    char what[160];
    long faults, absorbed;
    uint32_t handles; /* of the system, open between lives */
};

static void describe(struct trial *t) {
    const struct weft_fault_function *f = &weft_fault_functions[weft_faults.function];
    (void)snprintf(t->what, sizeof t->what, "%s, call %ld, result %d", f->name, weft_faults.at,
                   (int)weft_faults.error);
}

static void begin_cycle(struct weft_cycle *cycle, struct trial *t) {
    const bool is_driver = weft_faults.driver == WEFT_FAULTS_SYSTEM;
    weft_cycle_begin(cycle, &t->host.host, is_driver ? "0" : "processor", t->model.folder,
                     t->cache_dir);
    cycle->of_images = is_driver;
}

static const char *step_name(uint32_t step) {
    return weft_cycle_steps[step].name;
}

/* What the status of a failed call is (weft.h), unless a step knows better. */
static weft_status expected_status(VkResult error) {
    switch ((int)error) {
    case VK_ERROR_OUT_OF_HOST_MEMORY:
        return WEFT_OUT_OF_HOST_MEMORY;
    case VK_ERROR_OUT_OF_DEVICE_MEMORY:
    case VK_ERROR_TOO_MANY_OBJECTS:
    case VK_ERROR_FRAGMENTED_POOL:
    case VK_ERROR_OUT_OF_POOL_MEMORY:
    case VK_ERROR_FRAGMENTATION:
        return WEFT_OUT_OF_DEVICE_MEMORY;
    case VK_ERROR_DEVICE_LOST:
        return WEFT_DEVICE_LOST;
    case VK_ERROR_EXTENSION_NOT_PRESENT:
    case VK_ERROR_FEATURE_NOT_PRESENT:
        return WEFT_UNSUPPORTED;
    case VK_ERROR_INCOMPATIBLE_DRIVER:
        return weft_faults.driver >= WEFT_FAULTS_LOADER ? WEFT_NO_DEVICE : WEFT_DRIVER_ERROR;
    default:
        return WEFT_DRIVER_ERROR;
    }
}

static void check_failure(struct trial *t, uint32_t step, weft_status status) {
    weft_status expected = expected_status(weft_faults.error);
    const char *name = weft_fault_functions[weft_faults.function].name;
    if (status == WEFT_NO_DEVICE && weft_faults.error == VK_ERROR_INITIALIZATION_FAILED &&
        strcmp(name, "vkEnumeratePhysicalDevices") == 0) {
        expected =
            WEFT_NO_DEVICE; /* how loaders say, when asked for the number, that there is none */
    }
    if (status != expected) {
        fail_msg("%s: %s gives %s, not %s; the log:\n%s", t->what, step_name(step),
                 weft_status_name(status), weft_status_name(expected), weft_test_log(&t->host));
    }
    if (weft_faults.error == VK_ERROR_INCOMPATIBLE_DRIVER && status == WEFT_NO_DEVICE) {
        name = "no Vulkan driver is installed"; /* says more than the call */
    }
    if (!weft_test_log_has(&t->host, name) || !weft_test_log_has(&t->host, "error: ")) {
        fail_msg("%s: %s does not name the call in the log:\n%s", t->what, step_name(step),
                 weft_test_log(&t->host));
    }
}

/* Lost once is lost until it is destroyed. */
static void check_lost(struct trial *t, uint32_t step) {
    for (uint32_t i = step; i < weft_cycle_step_count; i++) {
        if (weft_cycle_steps[i].on_host || !weft_cycle_has(&t->cycle, i)) {
            continue;
        }
        const weft_status status = weft_cycle_run(&t->cycle, i);
        if (status != WEFT_DEVICE_LOST) {
            fail_msg("%s: %s failed in %s, and then it gives %s", t->what, step_name(i),
                     step_name(step), weft_status_name(status));
        }
        return;
    }
}

static void check_empty(struct trial *t) {
    char kinds[256];
    if (weft_faults_live(kinds, sizeof kinds) != 0) {
        fail_msg("%s: Vulkan objects are left:%s", t->what, kinds);
    }
    if (atomic_load(&t->host.live) != 0) {
        fail_msg("%s: %ld blocks of the host's are left", t->what, atomic_load(&t->host.live));
    }
    if (t->handles != 0 && weft_test_open_handles() != t->handles) {
        fail_msg("%s: %u handles are open, not %u", t->what, weft_test_open_handles(), t->handles);
    }
}

static void check_results(struct trial *t) {
    for (uint32_t i = 0; i < WEFT_CYCLE_RESULTS; i++) {
        if (memcmp(t->cycle.results[i], t->whole.results[i], sizeof t->whole.results[i]) != 0) {
            fail_msg("%s: result %u has other bits", t->what, i);
        }
    }
}

static bool run_step(struct trial *t, uint32_t step) {
    weft_test_host_reset(&t->host);
    const bool before = weft_faults.injected;
    weft_status status = weft_cycle_run(&t->cycle, step);
    if (status == WEFT_OK) {
        t->absorbed += weft_faults.injected && !before;
        return true;
    }
    if (!weft_faults.injected || before) {
        fail_msg("%s: %s gives %s; the log:\n%s", t->what, step_name(step),
                 weft_status_name(status), weft_test_log(&t->host));
    }
    check_failure(t, step, status);
    if (weft_faults.lost && t->cycle.device) {
        check_lost(t, step);
        return false;
    }
    weft_test_host_reset(&t->host);
    status = weft_cycle_run(&t->cycle, step);
    if (status != WEFT_OK) {
        fail_msg("%s: %s again gives %s; the log:\n%s", t->what, step_name(step),
                 weft_status_name(status), weft_test_log(&t->host));
    }
    return true;
}

static void live(struct trial *t) {
    bool goes_on = true;
    begin_cycle(&t->cycle, t);
    for (uint32_t i = 0; goes_on && i < weft_cycle_step_count; i++) {
        goes_on = run_step(t, i);
    }
    if (goes_on) {
        check_results(t);
    }
    weft_cycle_end(&t->cycle);
    check_empty(t);
}

/* ---- all of them ---- */

static void begin(struct trial *t, enum weft_faults_driver driver) {
    *t = (struct trial){.cache_dir = weft_test_folder(), .what = "without a fault"};
    weft_test_host_begin(&t->host);
    weft_test_model_begin(&t->model);
    weft_test_model_write_bytes(&t->model, 16);
    weft_test_set_variable("WEFT_PROCESSOR", driver < WEFT_FAULTS_LOADER ? NULL : "0");
    weft_faults.driver = driver;
    weft_faults_reset();
    begin_cycle(&t->whole, t);
    for (uint32_t i = 0; i < weft_cycle_step_count; i++) {
        const weft_status status = weft_cycle_run(&t->whole, i);
        if (status != WEFT_OK) {
            fail_msg("%s gives %s:\n%s", step_name(i), weft_status_name(status),
                     weft_test_log(&t->host));
        }
    }
    weft_cycle_end(&t->whole);
    check_empty(t);
    t->handles = weft_test_open_handles();
}

static void end(struct trial *t) {
    weft_test_model_end(&t->model);
    weft_test_host_end(&t->host);
}

/* ./dev test injects each `part`-th fault of a table; WEFT_TEST_FAULTS=N each N-th of all tables. */
static long stride(long part) {
    const char *value = getenv("WEFT_TEST_FAULTS");
    return value ? strtol(value, NULL, 10) : part;
}

static void fail_call(struct trial *t, uint32_t function, long call, VkResult error) {
    weft_faults_reset();
    weft_faults.function = function;
    weft_faults.at = call;
    weft_faults.error = error;
    describe(t);
    live(t);
    t->faults += weft_faults.injected;
}

static void fail_calls(struct trial *t, enum weft_faults_driver driver, long part) {
    static const char *const names[] = {"processor", "fences", "loader", "driver"};
    begin(t, driver);
    long counts[64];
    const long step = stride(part);
    long index = 0;
    assert_true(weft_fault_function_count <= 64);
    weft_faults_reset();
    live(t); /* with warm caches: these are the calls that will fail */
    for (uint32_t f = 0; f < weft_fault_function_count; f++) {
        counts[f] = weft_faults_calls(f);
    }
    for (uint32_t f = 0; f < weft_fault_function_count; f++) {
        const struct weft_fault_function *function = &weft_fault_functions[f];
        for (long call = 1; call <= counts[f]; call++) {
            for (uint32_t e = 0; e < WEFT_FAULT_MAX_ERRORS && function->errors[e]; e++) {
                if (call == 1 || index++ % step == 0) {
                    fail_call(t, f, call, function->errors[e]);
                }
            }
        }
    }
    printf("[ FAULTS   ] %s: %ld Vulkan calls failed, %ld of these without consequence\n",
           names[driver], t->faults, t->absorbed);
    assert_true(t->faults > 30);
    end(t);
}

/* The test runs once on the processor device, and once on a driver. */
static bool on_driver(void) {
    return getenv("WEFT_TEST_DRIVER") != NULL;
}

WEFT_TEST(each_call_fails_once) {
    struct trial t;
    if (on_driver()) {
        skip();
    }
    fail_calls(&t, WEFT_FAULTS_PROCESSOR, 61);
}

/* Submissions are counted by fences. */
WEFT_TEST(each_call_without_a_timeline_fails_once) {
    struct trial t;
    if (on_driver()) {
        skip();
    }
    fail_calls(&t, WEFT_FAULTS_FENCES, 89);
}

WEFT_TEST(each_call_through_a_loader_fails_once) {
    struct trial t;
    if (on_driver()) {
        skip();
    }
    fail_calls(&t, WEFT_FAULTS_LOADER, 97);
}

/* With images, which the processor device has not. */
WEFT_TEST(each_call_of_a_driver_fails_once) {
    struct trial t;
    if (!on_driver()) {
        skip();
    }
    fail_calls(&t, WEFT_FAULTS_SYSTEM, 17);
}

/* ---- the host's allocator ---- */

/*
 * A step whose n-th allocation gives null: out of memory, or all right without it (a cache that is not kept); then the step once
 * more, without a fault.
 */
static bool starve_step(struct trial *t, uint32_t step, long at) {
    weft_test_host_reset(&t->host);
    t->host.fail_at = at;
    (void)snprintf(t->what, sizeof t->what, "%s, allocation %ld", step_name(step), at);
    weft_status status = weft_cycle_run(&t->cycle, step);
    const bool failed = atomic_load(&t->host.allocations) >= at;
    if (status == WEFT_OK) {
        t->absorbed += failed;
    } else if (!failed || status != WEFT_OUT_OF_HOST_MEMORY ||
               !weft_test_log_has(&t->host, "error: ")) {
        fail_msg("%s gives %s; the log:\n%s", t->what, weft_status_name(status),
                 weft_test_log(&t->host));
    }
    t->faults += failed;
    weft_test_host_reset(&t->host);
    if (status != WEFT_OK) {
        status = weft_cycle_run(&t->cycle, step);
    }
    if (status != WEFT_OK) {
        fail_msg("%s, and again: %s; the log:\n%s", t->what, weft_status_name(status),
                 weft_test_log(&t->host));
    }
    return failed;
}

/* A life in which that allocation of that step fails; false: it has not so many. */
static bool starve(struct trial *t, uint32_t step, long at) {
    bool failed = false;
    begin_cycle(&t->cycle, t);
    for (uint32_t i = 0; i < weft_cycle_step_count; i++) {
        if (i == step) {
            failed = starve_step(t, i, at);
        } else if (weft_cycle_run(&t->cycle, i) != WEFT_OK) {
            fail_msg("%s: %s fails; the log:\n%s", t->what, step_name(i), weft_test_log(&t->host));
        }
    }
    check_results(t);
    weft_cycle_end(&t->cycle);
    check_empty(t);
    return failed;
}

WEFT_TEST(each_allocation_fails_once) {
    struct trial t;
    begin(&t, on_driver() ? WEFT_FAULTS_SYSTEM : WEFT_FAULTS_PROCESSOR);
    const long part = stride(on_driver() ? 3 : 53);
    for (uint32_t step = 0; step < weft_cycle_step_count; step++) {
        for (long at = 1; starve(&t, step, at); at += part) {
        }
    }
    printf("[ FAULTS   ] host: %ld allocations failed, %ld of these without consequence\n",
           t.faults, t.absorbed);
    assert_true(t.faults > 30);
    end(&t);
}

/* ---- a device that is lost ---- */

static void run_until(struct trial *t, const char *last) {
    for (uint32_t i = 0; i < weft_cycle_step_count; i++) {
        /* What a lost device leaves: models and graphs. */
        if (!(strcmp(step_name(i), "load") == 0 && t->cycle.model) &&
            !(strcmp(step_name(i), "build") == 0 && t->cycle.graph)) {
            assert_ok(weft_cycle_run(&t->cycle, i));
        }
        if (strcmp(step_name(i), last) == 0) {
            return;
        }
    }
}

/* The recipe of docs/programming.md: what is made of the device goes, graphs, weights and models stay. */
WEFT_TEST(a_lost_device_is_opened_again) {
    struct trial t;
    if (on_driver()) {
        skip();
    }
    begin(&t, WEFT_FAULTS_PROCESSOR);
    weft_faults_reset();
    begin_cycle(&t.cycle, &t);
    run_until(&t, "run_and_read");
    memset(t.cycle.results[0], 0, sizeof t.cycle.results[0]);

    weft_faults.lost = true; /* from here on */
    assert_status(weft_plan_run(t.cycle.plan, t.cycle.bindings), WEFT_DEVICE_LOST);
    assert_status(weft_plan_run(t.cycle.plan, t.cycle.bindings), WEFT_DEVICE_LOST);
    weft_bindings_destroy(&t.cycle.bindings);
    weft_plan_destroy(&t.cycle.plan);
    weft_buffer_destroy(&t.cycle.of_host);
    weft_buffer_destroy(&t.cycle.wrapped);
    weft_buffer_destroy(&t.cycle.y);
    weft_buffer_destroy(&t.cycle.x);
    weft_device_destroy(&t.cycle.device);
    char kinds[256];
    if (weft_faults_live(kinds, sizeof kinds) != 0) {
        fail_msg("a lost device leaves:%s", kinds);
    }

    weft_faults_reset();
    run_until(&t, "run_and_read");
    assert_memory_equal(t.cycle.results[0], t.whole.results[0], sizeof t.whole.results[0]);
    weft_cycle_end(&t.cycle);
    check_empty(&t);
    end(&t);
}
