/* SPDX-License-Identifier: MIT */
/* weft-test: device */
/* What two devices or two processes share: what one writes, the other's plan reads, when a semaphore says so. */
#include <inttypes.h>

#include <weft/external.h>
#include <weft/vulkan.h>

#include "core/math/philox.h"
#include "device/device.h"
#include "support_graph.h"
#include "support_system.h"

enum { COUNT = 1021, BYTES = 4 * COUNT };

static bool can_share(const weft_device *device, weft_external_type type) {
    weft_external_info info;
    assert_ok(weft_device_get_external(device, type, &info));
    return info.exports && info.imports;
}

static bool can_signal(const weft_device *device, bool timeline) {
    weft_external_info info;
    assert_ok(weft_device_get_external_semaphore(device, timeline, &info));
    return info.exports && info.imports;
}

static void skip_without(bool able, const weft_device *device, const char *what) {
    if (!able) {
        print_message("%s shares no %s here\n", device->info.name, what);
        skip();
    }
}

static weft_device *open_second(struct weft_test_graph *f) {
    char index[12];
    weft_device *device = NULL;
    snprintf(index, sizeof index, "%u", f->device->info.index);
    assert_ok(weft_device_open(
        &device, weft_device_params(.host = f->host.host, .select = index, .cache_dir = "")));
    return device;
}

/* ---- y = -x, by so many ops, on a device ---- */

struct negation {
    weft_plan *plan;
    weft_bindings *bindings;
};

static void prepare(struct negation *n, weft_device *device, uint32_t ops, weft_buffer *x,
                    weft_buffer *y) {
    struct weft_test_run r = weft_test_begin(device);
    const uint32_t count = (uint32_t)(weft_buffer_size(x) / sizeof(float));
    weft_tensor tensor = weft_test_input(r.graph, "x", weft_shape_of(count));
    assert_int_equal(ops % 2, 1);
    for (uint32_t i = 0; i < ops; i++) {
        assert_ok(weft_graph_affine(&tensor, r.graph, tensor, -1.0F, -0.0F));
    }
    n->plan = weft_test_plan_to(&r, "y", tensor, NULL);
    assert_ok(weft_bindings_create(&n->bindings, n->plan));
    assert_ok(weft_bindings_set(n->bindings, "x", x));
    assert_ok(weft_bindings_set(n->bindings, "y", y));
}

static void finish(struct negation *n) {
    weft_bindings_destroy(&n->bindings);
    weft_plan_destroy(&n->plan);
}

static void negate(weft_device *device, weft_buffer *x, weft_buffer *y) {
    struct negation n;
    prepare(&n, device, 1, x, y);
    assert_ok(weft_plan_run(n.plan, n.bindings));
    finish(&n);
}

/* ---- memory of two devices ---- */

static weft_buffer *make_exportable(weft_device *device, weft_external_type type, uint64_t size) {
    weft_buffer *buffer = NULL;
    assert_ok(weft_buffer_create_exportable(&buffer, device, size, type));
    assert_int_equal(weft_buffer_size(buffer), size);
    return buffer;
}

static weft_buffer *share_with(weft_device *device, weft_buffer *buffer, weft_external_type type) {
    weft_external_handle handle = -1;
    weft_buffer *theirs = NULL;
    assert_ok(weft_buffer_export_memory(buffer, &handle));
    assert_ok(weft_buffer_import_memory(&theirs, device, type, handle, weft_buffer_size(buffer)));
    weft_test_close_handle(handle);
    return theirs;
}

/* What was written on the first device is negated by the second one, and read on the first. */
static void share(struct weft_test_graph *f, weft_external_type type) {
    float sent[COUNT], found[COUNT];
    weft_device *second = open_second(f);
    weft_buffer *x = make_exportable(f->device, type, BYTES);
    weft_buffer *y = make_exportable(f->device, type, BYTES);
    weft_buffer *their_x = share_with(second, x, type);
    weft_buffer *their_y = share_with(second, y, type);
    weft_philox_uniform(sent, COUNT, 3, type);
    assert_ok(weft_buffer_write(x, 0, sent, BYTES));
    negate(second, their_x, their_y);
    assert_ok(weft_buffer_read(y, 0, found, BYTES));
    for (uint32_t i = 0; i < COUNT; i++) {
        assert_true(found[i] == -sent[i]);
    }
    weft_buffer_destroy(&x); /* the memory stays with who imported it */
    weft_buffer_destroy(&y);
    negate(second, their_y, their_x);
    assert_ok(weft_buffer_read(their_x, 0, found, BYTES));
    assert_memory_equal(found, sent, BYTES);
    weft_buffer_destroy(&their_x);
    weft_buffer_destroy(&their_y);
    weft_test_device_close(&second);
}

WEFT_TEST_ON_GRAPH(two_devices_share_memory, f) {
    skip_without(can_share(f->device, WEFT_EXTERNAL_OPAQUE), f->device, "opaque memory");
    share(f, WEFT_EXTERNAL_OPAQUE);
}

/* dma-bufs of a software driver come from /dev/udmabuf. */
WEFT_TEST_ON_GRAPH(two_devices_share_a_dma_buf, f) {
    skip_without(can_share(f->device, WEFT_EXTERNAL_DMA_BUF) &&
                     weft_test_can_write_file("/dev/udmabuf"),
                 f->device, "dma-bufs");
    share(f, WEFT_EXTERNAL_DMA_BUF);
}

WEFT_TEST_ON_GRAPH(handles_are_closed, f) {
    skip_without(can_share(f->device, WEFT_EXTERNAL_OPAQUE), f->device, "opaque memory");
    uint32_t before = 0;
    for (uint32_t round = 0; round < 3; round++) { /* a driver may keep something of the first */
        weft_buffer *buffer = make_exportable(f->device, WEFT_EXTERNAL_OPAQUE, BYTES);
        weft_buffer *other = share_with(f->device, buffer, WEFT_EXTERNAL_OPAQUE);
        weft_buffer_destroy(&buffer);
        weft_buffer_destroy(&other);
        before = round == 0 ? weft_test_open_handles() : before;
    }
    assert_int_equal(weft_test_open_handles(), before);
}

/* ---- another process: this program again, with the handles in its environment ---- */

#define HANDLES "WEFT_TEST_HANDLES"

/* Negates what the handles are of. */
static void work_for_parent(weft_device *device, const char *text) {
    weft_external_handle handles[2] = {-1, -1};
    weft_buffer *x = NULL, *y = NULL;
    assert_int_equal(sscanf(text, "%" SCNdPTR " %" SCNdPTR, &handles[0], &handles[1]), 2);
    assert_ok(weft_buffer_import_memory(&x, device, WEFT_EXTERNAL_OPAQUE, handles[0], BYTES));
    assert_ok(weft_buffer_import_memory(&y, device, WEFT_EXTERNAL_OPAQUE, handles[1], BYTES));
    negate(device, x, y);
    weft_buffer_destroy(&x);
    weft_buffer_destroy(&y);
}

static void expect_child(const weft_external_handle handles[2]) {
    char text[64];
    snprintf(text, sizeof text, "%" PRIdPTR " %" PRIdPTR, handles[0], handles[1]);
    weft_test_set_variable(HANDLES, text);
    assert_int_equal(weft_test_run_again(handles, 2), 0);
    weft_test_set_variable(HANDLES, NULL);
}

WEFT_TEST_ON_GRAPH(two_processes_share_memory, f) {
    const char *given = getenv(HANDLES);
    float sent[COUNT], found[COUNT];
    weft_external_handle handles[2] = {-1, -1};
    skip_without(can_share(f->device, WEFT_EXTERNAL_OPAQUE), f->device, "opaque memory");
    if (given) {
        work_for_parent(f->device, given);
        return;
    }
    weft_buffer *x = make_exportable(f->device, WEFT_EXTERNAL_OPAQUE, BYTES);
    weft_buffer *y = make_exportable(f->device, WEFT_EXTERNAL_OPAQUE, BYTES);
    weft_philox_uniform(sent, COUNT, 4, 0);
    assert_ok(weft_buffer_export_memory(x, &handles[0]));
    assert_ok(weft_buffer_export_memory(y, &handles[1]));
    assert_ok(weft_buffer_write(x, 0, sent, BYTES));
    expect_child(handles);
    assert_ok(weft_buffer_read(y, 0, found, BYTES));
    for (uint32_t i = 0; i < COUNT; i++) {
        assert_true(found[i] == -sent[i]);
    }
    weft_test_close_handle(handles[0]);
    weft_test_close_handle(handles[1]);
    weft_buffer_destroy(&x);
    weft_buffer_destroy(&y);
}

/* ---- semaphores ---- */

enum { LARGE = 1 << 20, OPS = 31 }; /* what takes the first device long enough to be overtaken */

static weft_semaphore *signal_with(weft_device *device, weft_semaphore *semaphore, bool timeline) {
    weft_external_handle handle = -1;
    weft_semaphore *theirs = NULL;
    assert_ok(weft_semaphore_export_handle(semaphore, &handle));
    assert_ok(weft_semaphore_import_handle(&theirs, device, timeline, handle));
    weft_test_close_handle(handle);
    return theirs;
}

static uint64_t submit(const struct negation *n, const weft_semaphore_point *wait,
                       const weft_semaphore_point *signal) {
    uint64_t ticket = 0;
    assert_ok(weft_plan_submit_with(n->plan, n->bindings,
                                    weft_submit_params(.waits = wait, .wait_count = wait ? 1 : 0,
                                                       .signal_points = signal,
                                                       .signal_count = signal ? 1 : 0),
                                    &ticket));
    return ticket;
}

/* x -> y on the first device; y -> z on the second, which does not begin before. `value` grows by one. */
static void chain(const struct negation *first, const struct negation *second,
                  weft_semaphore *semaphore, weft_semaphore *theirs, uint64_t value) {
    const weft_semaphore_point signal = {weft_semaphore_vulkan(semaphore), value};
    const weft_semaphore_point wait = {weft_semaphore_vulkan(theirs), value};
    const uint64_t ticket = submit(first, NULL, &signal);
    const uint64_t last = submit(second, &wait, NULL);
    assert_ok(weft_plan_wait(second->plan, last, UINT64_MAX, NULL));
    assert_ok(weft_plan_wait(first->plan, ticket, UINT64_MAX, NULL));
}

static void order_by_semaphore(struct weft_test_graph *f, bool timeline) {
    float *sent = weft_alloc_zero(NULL, LARGE, sizeof *sent);
    float *found = weft_alloc_zero(NULL, LARGE, sizeof *found);
    weft_device *device = open_second(f);
    weft_buffer *y = make_exportable(f->device, WEFT_EXTERNAL_OPAQUE, LARGE * sizeof *sent);
    weft_buffer *their_y = share_with(device, y, WEFT_EXTERNAL_OPAQUE), *x = NULL, *z = NULL;
    weft_semaphore *semaphore = NULL;
    struct negation first, second;
    assert_ok(weft_buffer_create(&x, f->device, LARGE * sizeof *sent));
    assert_ok(weft_buffer_create(&z, device, LARGE * sizeof *sent));
    assert_ok(weft_semaphore_create_exportable(&semaphore, f->device, timeline));
    weft_semaphore *theirs = signal_with(device, semaphore, timeline);
    prepare(&first, f->device, OPS, x, y);
    prepare(&second, device, 1, their_y, z);
    for (uint32_t round = 1; round < 4; round++) {
        weft_philox_uniform(sent, LARGE, 5, round);
        assert_ok(weft_buffer_write(x, 0, sent, LARGE * sizeof *sent));
        chain(&first, &second, semaphore, theirs, round);
        assert_ok(weft_buffer_read(z, 0, found, LARGE * sizeof *found));
        assert_memory_equal(found, sent, LARGE * sizeof *sent);
    }
    finish(&first);
    finish(&second);
    weft_semaphore_destroy(&semaphore);
    weft_semaphore_destroy(&theirs);
    weft_buffer_destroy(&x);
    weft_buffer_destroy(&y);
    weft_buffer_destroy(&their_y);
    weft_buffer_destroy(&z);
    weft_test_device_close(&device);
    weft_free(NULL, sent);
    weft_free(NULL, found);
}

WEFT_TEST_ON_GRAPH(two_devices_share_a_binary_semaphore, f) {
    skip_without(can_signal(f->device, false) && can_share(f->device, WEFT_EXTERNAL_OPAQUE),
                 f->device, "binary semaphores");
    order_by_semaphore(f, false);
}

WEFT_TEST_ON_GRAPH(two_devices_share_a_timeline, f) {
    skip_without(can_signal(f->device, true) && can_share(f->device, WEFT_EXTERNAL_OPAQUE),
                 f->device, "timeline semaphores");
    order_by_semaphore(f, true);
}

/* ---- what is refused ---- */

WEFT_TEST_ON_GRAPH(what_cannot_be_shared, f) {
    weft_buffer *own = NULL;
    weft_external_handle handle = -1;
    weft_external_info info;
    assert_status(weft_device_get_external(f->device, (weft_external_type)7, &info),
                  WEFT_INVALID_ARGUMENT);
    weft_test_expect_log(&f->host, "no type of memory");
    assert_ok(weft_buffer_create(&own, f->device, BYTES));
    WEFT_EXPECT_REFUSED(&f->host, WEFT_INVALID_ARGUMENT, weft_buffer_export_memory(own, &handle),
                        "not exportable");
    weft_buffer_destroy(&own);
    assert_status(weft_semaphore_export_handle(NULL, &handle), WEFT_INVALID_ARGUMENT);
}

WEFT_TEST_ON_GRAPH(memory_that_cannot_be_shared, f) {
    weft_device *device = f->device;
    weft_buffer *made = NULL;
    if (!can_share(device, WEFT_EXTERNAL_OPAQUE)) {
        WEFT_EXPECT_REFUSED(
            &f->host, WEFT_UNSUPPORTED,
            weft_buffer_create_exportable(&made, device, BYTES, WEFT_EXTERNAL_OPAQUE),
            "exports no memory of type opaque");
        WEFT_EXPECT_REFUSED(
            &f->host, WEFT_UNSUPPORTED,
            weft_buffer_import_memory(&made, device, WEFT_EXTERNAL_OPAQUE, 0, BYTES),
            "imports no memory of type opaque");
        return;
    }
    WEFT_EXPECT_REFUSED(&f->host, WEFT_INVALID_ARGUMENT,
                        weft_buffer_create_exportable(&made, device, 0, WEFT_EXTERNAL_OPAQUE),
                        "size is 0");
    WEFT_EXPECT_REFUSED(&f->host, WEFT_INVALID_ARGUMENT,
                        weft_buffer_import_memory(&made, device, WEFT_EXTERNAL_OPAQUE, -1, BYTES),
                        "-1 is no ");
    WEFT_EXPECT_REFUSED(
        &f->host, WEFT_INVALID_ARGUMENT,
        weft_buffer_import_memory(&made, device, WEFT_EXTERNAL_OPAQUE, 100000, BYTES),
        "100000 is no ", " that is open");
    WEFT_EXPECT_REFUSED(
        &f->host, WEFT_OUT_OF_DEVICE_MEMORY,
        weft_buffer_create_exportable(&made, device, UINT64_MAX, WEFT_EXTERNAL_OPAQUE),
        "the device can have");
    assert_null(made);
}

/* What was imported belongs to whom it came from. */
WEFT_TEST_ON_GRAPH(what_was_imported_is_not_exported, f) {
    weft_external_handle handle = -1;
    skip_without(can_share(f->device, WEFT_EXTERNAL_OPAQUE), f->device, "opaque memory");
    weft_buffer *buffer = make_exportable(f->device, WEFT_EXTERNAL_OPAQUE, BYTES);
    weft_buffer *theirs = share_with(f->device, buffer, WEFT_EXTERNAL_OPAQUE);
    WEFT_EXPECT_REFUSED(&f->host, WEFT_INVALID_ARGUMENT, weft_buffer_export_memory(theirs, &handle),
                        "not exportable");
    weft_buffer_destroy(&theirs);
    weft_buffer_destroy(&buffer);
}

static void expect_no_semaphores(struct weft_test_graph *f, bool timeline) {
    weft_semaphore *made = NULL;
    const char *kind = timeline ? "no timeline semaphores" : "no binary semaphores";
    WEFT_EXPECT_REFUSED(&f->host, WEFT_UNSUPPORTED,
                        weft_semaphore_create_exportable(&made, f->device, timeline), "exports ",
                        kind);
    WEFT_EXPECT_REFUSED(&f->host, WEFT_UNSUPPORTED,
                        weft_semaphore_import_handle(&made, f->device, timeline, 0), "imports ",
                        kind);
    assert_null(made);
}

WEFT_TEST_ON_GRAPH(semaphores_that_cannot_be_shared, f) {
    weft_semaphore *made = NULL;
    weft_external_handle handle = -1;
    if (!can_signal(f->device, true)) {
        expect_no_semaphores(f, true);
    }
    if (!can_signal(f->device, false)) {
        expect_no_semaphores(f, false);
        return;
    }
    WEFT_EXPECT_REFUSED(&f->host, WEFT_INVALID_ARGUMENT,
                        weft_semaphore_import_handle(&made, f->device, false, -1), "-1 is no ");
    assert_null(made);
    assert_ok(weft_semaphore_create_exportable(&made, f->device, false));
    weft_semaphore *theirs = signal_with(f->device, made, false);
    WEFT_EXPECT_REFUSED(&f->host, WEFT_INVALID_ARGUMENT,
                        weft_semaphore_export_handle(theirs, &handle), "not exportable");
    weft_semaphore_destroy(&theirs);
    weft_semaphore_destroy(&made);
}
