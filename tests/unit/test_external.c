/* SPDX-License-Identifier: MIT */
/* weft-test: device */
/* Memory that two devices or two processes share: what one writes, the other's plan reads. */
#include <dirent.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <weft/external.h>

#include "core/philox.h"
#include "device/device.h"
#include "support_graph.h"

enum { COUNT = 1021, BYTES = 4 * COUNT };

static bool can_share(const weft_device *device, weft_external_type type) {
    weft_external_info info;
    assert_ok(weft_device_get_external(device, type, &info));
    return info.exports && info.imports;
}

/* Those of this process that are open. */
static uint32_t descriptors(void) {
    uint32_t count = 0;
    DIR *folder = opendir("/proc/self/fd");
    assert_non_null(folder);
    while (readdir(folder)) {
        count++;
    }
    closedir(folder);
    return count;
}

static weft_device *open_second(struct weft_test_graph *f) {
    char index[12];
    weft_device *device = NULL;
    snprintf(index, sizeof index, "%u", f->device->info.index);
    assert_ok(weft_device_open(
        &device, weft_device_params(.host = f->host.host, .select = index, .cache_dir = "")));
    return device;
}

/* y = -x, on that device, from one buffer to another. */
static void negate(weft_device *device, weft_buffer *x, weft_buffer *y) {
    struct weft_test_run r = weft_test_begin(device);
    weft_tensor tensor = weft_test_input(r.graph, "x", weft_shape_of(COUNT));
    weft_bindings *bindings = NULL;
    assert_ok(weft_graph_affine(&tensor, r.graph, tensor, -1.0F, -0.0F));
    weft_plan *plan = weft_test_plan_to(&r, "y", tensor, NULL);
    assert_ok(weft_bindings_create(&bindings, plan));
    assert_ok(weft_bindings_set(bindings, "x", x));
    assert_ok(weft_bindings_set(bindings, "y", y));
    assert_ok(weft_plan_run(plan, bindings));
    weft_bindings_destroy(&bindings);
    weft_plan_destroy(&plan);
}

/* What was written on the first device is negated by the second one, and read on the first. */
static void share(struct weft_test_graph *f, weft_external_type type) {
    float sent[COUNT], found[COUNT];
    weft_buffer *x = NULL, *y = NULL, *their_x = NULL, *their_y = NULL;
    int fd[2] = {-1, -1};
    weft_device *second = open_second(f);
    const uint32_t before = descriptors();
    weft_philox_uniform(sent, COUNT, 3, type);
    assert_ok(weft_buffer_create_exportable(&x, f->device, BYTES, type));
    assert_ok(weft_buffer_create_exportable(&y, f->device, BYTES, type));
    assert_ok(weft_buffer_export_memory(x, &fd[0]));
    assert_ok(weft_buffer_export_memory(y, &fd[1]));
    assert_ok(weft_buffer_import_memory(&their_x, second, type, fd[0], BYTES));
    assert_ok(weft_buffer_import_memory(&their_y, second, type, fd[1], BYTES));
    close(fd[0]);
    close(fd[1]);
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
    assert_int_equal(descriptors(), before);
    weft_test_device_close(&second);
}

WEFT_TEST_ON_GRAPH(two_devices_share_memory, f) {
    if (!can_share(f->device, WEFT_EXTERNAL_OPAQUE_FD)) {
        print_message("%s shares no opaque descriptors\n", f->device->info.name);
        skip();
    }
    share(f, WEFT_EXTERNAL_OPAQUE_FD);
}

/* ---- another process: this program again, with the descriptors in its environment ---- */

#define DESCRIPTORS "WEFT_TEST_DESCRIPTORS"

/* Negates what the descriptors are of. */
static void work_for_parent(weft_device *device, const char *text) {
    int fd[2] = {-1, -1};
    weft_buffer *x = NULL, *y = NULL;
    assert_int_equal(sscanf(text, "%d %d", &fd[0], &fd[1]), 2);
    assert_ok(weft_buffer_import_memory(&x, device, WEFT_EXTERNAL_OPAQUE_FD, fd[0], BYTES));
    assert_ok(weft_buffer_import_memory(&y, device, WEFT_EXTERNAL_OPAQUE_FD, fd[1], BYTES));
    negate(device, x, y);
    weft_buffer_destroy(&x);
    weft_buffer_destroy(&y);
}

/* The status that it ends with. */
static int run_child(const int fd[2]) {
    char text[32];
    int status = -1;
    snprintf(text, sizeof text, "%d %d", fd[0], fd[1]);
    const pid_t child = fork();
    if (child == 0) {
        (void)fcntl(fd[0], F_SETFD, 0); /* it keeps them */
        (void)fcntl(fd[1], F_SETFD, 0);
        (void)setenv(DESCRIPTORS, text, 1);
        execl("/proc/self/exe", "external", (char *)NULL);
        _exit(127);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

WEFT_TEST_ON_GRAPH(two_processes_share_memory, f) {
    const char *given = getenv(DESCRIPTORS);
    float sent[COUNT], found[COUNT];
    weft_buffer *x = NULL, *y = NULL;
    int fd[2] = {-1, -1};
    if (!can_share(f->device, WEFT_EXTERNAL_OPAQUE_FD)) {
        skip();
    }
    if (given) {
        work_for_parent(f->device, given);
        return;
    }
    weft_philox_uniform(sent, COUNT, 4, 0);
    assert_ok(weft_buffer_create_exportable(&x, f->device, BYTES, WEFT_EXTERNAL_OPAQUE_FD));
    assert_ok(weft_buffer_create_exportable(&y, f->device, BYTES, WEFT_EXTERNAL_OPAQUE_FD));
    assert_ok(weft_buffer_export_memory(x, &fd[0]));
    assert_ok(weft_buffer_export_memory(y, &fd[1]));
    assert_ok(weft_buffer_write(x, 0, sent, BYTES));
    assert_int_equal(run_child(fd), 0);
    assert_ok(weft_buffer_read(y, 0, found, BYTES));
    for (uint32_t i = 0; i < COUNT; i++) {
        assert_true(found[i] == -sent[i]);
    }
    close(fd[0]);
    close(fd[1]);
    weft_buffer_destroy(&x);
    weft_buffer_destroy(&y);
}

/* ---- */

/* dma-bufs of a software driver come from /dev/udmabuf. */
WEFT_TEST_ON_GRAPH(two_devices_share_a_dma_buf, f) {
    if (!can_share(f->device, WEFT_EXTERNAL_DMA_BUF) || access("/dev/udmabuf", R_OK | W_OK) != 0) {
        print_message("%s shares no dma-bufs here\n", f->device->info.name);
        skip();
    }
    share(f, WEFT_EXTERNAL_DMA_BUF);
}

WEFT_TEST_ON_GRAPH(what_cannot_be_shared, f) {
    weft_buffer *buffer = NULL, *own = NULL;
    int fd = -1;
    weft_external_info info;
    assert_status(weft_device_get_external(f->device, (weft_external_type)7, &info),
                  WEFT_INVALID_ARGUMENT);
    weft_test_expect_log(&f->host, "no type of memory");
    assert_ok(weft_buffer_create(&own, f->device, BYTES));
    WEFT_EXPECT_REFUSED(&f->host, WEFT_INVALID_ARGUMENT, weft_buffer_export_memory(own, &fd),
                        "not exportable");
    weft_buffer_destroy(&own);
    if (!can_share(f->device, WEFT_EXTERNAL_OPAQUE_FD)) {
        WEFT_EXPECT_REFUSED(
            &f->host, WEFT_UNSUPPORTED,
            weft_buffer_create_exportable(&buffer, f->device, BYTES, WEFT_EXTERNAL_OPAQUE_FD),
            "exports no opaque_fd");
        WEFT_EXPECT_REFUSED(
            &f->host, WEFT_UNSUPPORTED,
            weft_buffer_import_memory(&buffer, f->device, WEFT_EXTERNAL_OPAQUE_FD, 0, BYTES),
            "imports no opaque_fd");
        return;
    }
    const uint32_t before = descriptors();
    WEFT_EXPECT_REFUSED(
        &f->host, WEFT_INVALID_ARGUMENT,
        weft_buffer_create_exportable(&buffer, f->device, 0, WEFT_EXTERNAL_OPAQUE_FD), "size is 0");
    WEFT_EXPECT_REFUSED(
        &f->host, WEFT_INVALID_ARGUMENT,
        weft_buffer_import_memory(&buffer, f->device, WEFT_EXTERNAL_OPAQUE_FD, -1, BYTES),
        "-1 is no descriptor");
    WEFT_EXPECT_REFUSED(
        &f->host, WEFT_INVALID_ARGUMENT,
        weft_buffer_import_memory(&buffer, f->device, WEFT_EXTERNAL_OPAQUE_FD, 1000, BYTES),
        "1000 is no descriptor that is open");
    WEFT_EXPECT_REFUSED(
        &f->host, WEFT_OUT_OF_DEVICE_MEMORY,
        weft_buffer_create_exportable(&buffer, f->device, UINT64_MAX, WEFT_EXTERNAL_OPAQUE_FD),
        "the device can have");
    assert_null(buffer);
    assert_int_equal(descriptors(), before);
}
