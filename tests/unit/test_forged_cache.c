/* SPDX-License-Identifier: MIT */
/* weft-test: posix */
/*
 * Native code that somebody has changed in the processor device's entry of the cache folder, with all of its hashes made anew: it is
 * run from a folder of one's own alone. From any other it is not even opened.
 */
#include <sys/stat.h>
#include <unistd.h>

#include <weft/op.h>

#include "core/bytes.h"
#include "device/device.h"
#include "shader/pipeline_store.h"
#include "support_cache.h"

enum { GROUPS = 8, COUNT = 64 * GROUPS, BYTES = COUNT * 4 };

#define SOMEBODY 65534u
#define RIGHT    0x5A17C0DEu /* the constant of the kernel, in its code or beside it */
#define FORGED   0x3C0FFEE5u

static const weft_op_kernel kernel = {
    .name = "keyed",
    .glsl = "#version 450\n"
            "layout(local_size_x = 64) in;\n"
            "layout(std430, binding = 0) readonly buffer X { uint x[]; };\n"
            "layout(std430, binding = 1) writeonly buffer Y { uint y[]; };\n"
            "void main() { uint i = gl_GlobalInvocationID.x; y[i] = x[i] ^ 0x5A17C0DEu; }\n"};

/* ---- running it ---- */

static weft_status infer(const weft_graph *graph, weft_node *node, weft_dtype *dtype,
                         weft_shape *shape) {
    (void)graph;
    (void)node;
    *dtype = WEFT_I32;
    *shape = weft_shape_of(COUNT);
    return WEFT_OK;
}

static weft_status lower(weft_lowering *lowering, const weft_node *node) {
    const weft_arg args[] = {weft_arg_buffer("x", weft_lower_input(lowering, node, 0)),
                             weft_arg_buffer("y", weft_lower_output(lowering, node))};
    return weft_lower_launch(lowering, weft_launch(.kernel = kernel, .extent = {GROUPS, 1, 1},
                                                   .args = args, .arg_count = 2));
}

static weft_plan *compile(weft_device *device) {
    static const weft_implementation implementation = {.name = "keyed", .lower = lower};
    weft_op *op = NULL;
    weft_graph *graph = NULL;
    weft_plan *plan = NULL;
    weft_tensor x = {0}, y = {0};
    assert_ok(weft_op_create(&op,
                             weft_op_params(.name = "keyed", .min_inputs = 1, .infer = infer,
                                            .implementations = &implementation,
                                            .implementation_count = 1),
                             NULL));
    assert_ok(weft_graph_create(&graph, NULL));
    assert_ok(weft_graph_input(&x, graph, "x", WEFT_I32, weft_shape_of(COUNT)));
    assert_ok(weft_graph_add(&y, graph, op, &x, 1, NULL, 0));
    assert_ok(weft_graph_output(graph, "y", y));
    assert_ok(weft_plan_compile(&plan, device, graph, NULL));
    weft_graph_destroy(&graph);
    weft_op_destroy(&op);
    return plan;
}

struct start {
    uint32_t compiled; /* pipelines */
    weft_digest entry; /* the key of their entry in the cache */
};

/* Opens a device with that cache, and expects x ^ constant of the kernel. */
static struct start run(const weft_host *host, const char *folder, uint32_t constant) {
    weft_device *device = NULL;
    uint32_t x[COUNT], y[COUNT] = {0};
    assert_ok(weft_device_open(
        &device, weft_device_params(.host = *host, .select = "processor", .cache_dir = folder)));
    weft_plan *plan = compile(device);
    for (uint32_t i = 0; i < COUNT; i++) {
        x[i] = i * 2654435761u;
    }
    const weft_host_tensor tensors[] = {{.name = "x", .data = x, .bytes = BYTES},
                                        {.name = "y", .data = y, .bytes = BYTES}};
    assert_ok(weft_plan_execute(plan, tensors, 2));
    for (uint32_t i = 0; i < COUNT; i++) {
        assert_int_equal(y[i], x[i] ^ constant);
    }
    const struct start start = {device->stats.pipelines_compiled, device->pipelines->cache_key};
    weft_plan_destroy(&plan);
    weft_device_destroy(&device);
    return start;
}

/* ---- forging ---- */

/* Of an object (cpu/object.c): all but the hash itself. */
static void forge_object(uint8_t *object, size_t size) {
    enum { HASH_AT = 32, INTERFACE_AT = 64 };
    weft_sha256 hash;
    for (size_t i = INTERFACE_AT; i + 4 <= size; i++) {
        if (weft_load_bytes(object + i, 4) == RIGHT) {
            weft_store_bytes(object + i, FORGED, 4);
        }
    }
    weft_sha256_begin(&hash);
    weft_sha256_add(&hash, object, HASH_AT);
    weft_sha256_add(&hash, object + INTERFACE_AT, size - INTERFACE_AT);
    const weft_digest digest = weft_sha256_end(&hash);
    memcpy(object + HASH_AT, digest.bytes, sizeof digest.bytes);
}

/* ---- whose folder it is ---- */

struct folder {
    char *path, *entry;
    uint32_t compiled; /* pipelines, with an empty cache */
};

static struct folder forged_folder(struct weft_test_place *test) {
    char hex[WEFT_DIGEST_TEXT_SIZE];
    struct folder folder = {.path = weft_test_path(test->folder, "cache")};
    const struct start start = run(&test->host.host, folder.path, RIGHT);
    folder.compiled = start.compiled;
    folder.entry =
        weft_test_text("%s/pipelines-%s", folder.path, weft_digest_text(&start.entry, hex));
    assert_true(start.compiled > 0);
    weft_test_change_objects(folder.path, &start.entry, forge_object);
    return folder;
}

/* So that what follows can fail: what was forged is run where the folder is one's own. */
static void expect_used(struct weft_test_place *test, const struct folder *folder) {
    weft_test_host_reset(&test->host);
    assert_int_equal(run(&test->host.host, folder->path, FORGED).compiled, 0);
    assert_int_equal(weft_test_log_count(&test->host, "warning"), 0);
}

/* A miss with one warning, and nothing changes there. */
static void expect_missed(struct weft_test_place *test, const struct folder *folder,
                          const char *path, const char *found) {
    struct stat before, after;
    const size_t entries = weft_test_entries(folder->path);
    assert_int_equal(stat(folder->entry, &before), 0);
    weft_test_host_reset(&test->host);
    assert_int_equal(run(&test->host.host, path, RIGHT).compiled, folder->compiled);
    assert_int_equal(weft_test_log_count(&test->host, "warning"), 1);
    assert_int_equal(weft_test_log_count(&test->host, "error"), 0);
    weft_test_expect_log(&test->host, "warning: ", path, found);
    assert_int_equal(weft_test_entries(folder->path), entries);
    assert_int_equal(stat(folder->entry, &after), 0);
    assert_int_equal(after.st_ino, before.st_ino);
    assert_int_equal(after.st_size, before.st_size);
    assert_int_equal(after.st_atim.tv_sec, before.st_atim.tv_sec);
    assert_int_equal(after.st_atim.tv_nsec, before.st_atim.tv_nsec);
}

WEFT_TEST_IN_PLACE(in_a_folder_that_all_may_write_to, test) {
    static const mode_t modes[] = {01777, 0777, 0770};
    const struct folder folder = forged_folder(test);
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        expect_used(test, &folder);
        assert_int_equal(chmod(folder.path, modes[i]), 0);
        expect_missed(test, &folder, folder.path,
                      weft_test_text("mode is %04o", (unsigned)modes[i]));
        assert_int_equal(chmod(folder.path, 0700), 0);
    }
    expect_used(test, &folder);
}

WEFT_TEST_IN_PLACE(behind_a_link, test) {
    const struct folder folder = forged_folder(test);
    char *link = weft_test_path(test->folder, "link");
    assert_int_equal(symlink("cache", link), 0);
    expect_missed(test, &folder, link, "symbolic link");
    expect_used(test, &folder);
}

WEFT_TEST_IN_PLACE(in_a_folder_of_another_user, test) {
    if (geteuid() != 0) {
        print_message("skipped: only root can give files to another user\n");
        skip();
    }
    const struct folder folder = forged_folder(test);
    expect_used(test, &folder);
    assert_int_equal(chown(folder.path, SOMEBODY, (gid_t)-1), 0);
    expect_missed(test, &folder, folder.path, "belongs to user 65534; expected 0");
    /* All of it is his. */
    assert_int_equal(chown(folder.entry, SOMEBODY, (gid_t)-1), 0);
    expect_missed(test, &folder, folder.path, "belongs to user 65534; expected 0");
    assert_int_equal(chown(folder.path, 0, (gid_t)-1), 0);
    assert_int_equal(chown(folder.entry, 0, (gid_t)-1), 0);
    expect_used(test, &folder);
}

/* An entry of somebody in one's own folder: it is made anew, and its maker's is gone. */
WEFT_TEST_IN_PLACE(an_entry_that_another_user_made, test) {
    if (geteuid() != 0) {
        print_message("skipped: only root can give files to another user\n");
        skip();
    }
    const struct folder folder = forged_folder(test);
    expect_used(test, &folder);
    assert_int_equal(chown(folder.entry, SOMEBODY, (gid_t)-1), 0);
    weft_test_host_reset(&test->host);
    assert_true(run(&test->host.host, folder.path, RIGHT).compiled > 0);
    assert_int_equal(weft_test_log_count(&test->host, "warning"), 1);
    weft_test_expect_log(&test->host, "warning: ", folder.entry, "belongs to user 65534");
    assert_int_equal(run(&test->host.host, folder.path, RIGHT).compiled, 0);
}
