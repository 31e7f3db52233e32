/* SPDX-License-Identifier: MIT */
/* weft-test: opencl */
/* weft-test: posix */
/* Kernels of OpenCL devices: accesses outside of their buffers, and what the cache folder keeps of them. */
#include <weft/op.h>

#include "device/device.h"
#include "shader/pipeline_store.h"
#include "support_cache.h"
#include "support_opencl_device.h"

enum { ITEMS = 64, GROUPS = 2, COUNT = ITEMS * GROUPS, BYTES = COUNT * 4 };

#define HEAD                                                          \
    "#version 450\n"                                                  \
    "layout(local_size_x = 64) in;\n"                                 \
    "layout(std430, binding = 0) readonly buffer X { uint x[]; };\n"  \
    "layout(std430, binding = 1) writeonly buffer Y { uint y[]; };\n" \
    "layout(std430, binding = 2) readonly buffer Z { uvec4 z[]; };\n" \
    "shared uint part[64];\n"                                         \
    "void main() { uint i = gl_GlobalInvocationID.x, l = gl_LocalInvocationID.x;\n"

/* x[i] is what each invocation reads or writes: inside up to COUNT, and then far outside. */
static const char inside[] = HEAD "y[i] = x[i] * 3u + z[i / 4u][i % 4u]; }\n";
static const char reads[] = HEAD "y[i] = x[x[i]]; }\n";
static const char reads_vectors[] = HEAD "uvec4 v = z[x[i]]; y[i] = v.x + v.y + v.z + v.w; }\n";
static const char reads_shared[] =
    HEAD "part[l] = i + 1u; barrier(); y[i] = x[i] < 64u ? part[x[i]] : part[x[i] + 64u]; }\n";
static const char writes[] = HEAD "y[i] = 7u; barrier(); y[x[i] < 128u ? i : x[i]] = 9u; }\n";

/* ---- one op ---- */

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
                             weft_arg_buffer("y", weft_lower_output(lowering, node)),
                             weft_arg_buffer("z", weft_lower_input(lowering, node, 1))};
    const weft_op_kernel kernel = {.name = "test", .glsl = weft_node_user(node)};
    return weft_lower_launch(lowering, weft_launch(.kernel = kernel, .extent = {GROUPS, 1, 1},
                                                   .args = args, .arg_count = 3));
}

static weft_plan *compile(weft_device *device, const char *text) {
    static const weft_implementation implementation = {.name = "test", .lower = lower};
    weft_op *op = NULL;
    weft_graph *graph = NULL;
    weft_plan *plan = NULL;
    weft_tensor x[2] = {0}, y = {0};
    assert_ok(weft_op_create(&op,
                             weft_op_params(.name = "test", .min_inputs = 2, .max_inputs = 2,
                                            .infer = infer, .implementations = &implementation,
                                            .implementation_count = 1, .user = (void *)text),
                             NULL));
    assert_ok(weft_graph_create(&graph, NULL));
    assert_ok(weft_graph_input(&x[0], graph, "x", WEFT_I32, weft_shape_of(COUNT)));
    assert_ok(weft_graph_input(&x[1], graph, "z", WEFT_I32, weft_shape_of(COUNT)));
    assert_ok(weft_graph_add(&y, graph, op, x, 2, NULL, 0));
    assert_ok(weft_graph_output(graph, "y", y));
    assert_ok(weft_plan_compile(&plan, device, graph, NULL));
    weft_graph_destroy(&graph);
    weft_op_destroy(&op);
    return plan;
}

static void run(weft_plan *plan, uint32_t *x, uint32_t *y) {
    uint32_t z[COUNT];
    for (uint32_t i = 0; i < COUNT; i++) {
        z[i] = 1000 + i;
    }
    memset(y, 0xff, BYTES);
    assert_ok(weft_plan_execute(
        plan, (weft_host_tensor[]){{"x", x, BYTES}, {"z", z, BYTES}, {"y", y, BYTES}}, 3));
}

static weft_device *open_device(const char *cache) {
    weft_device *device = NULL;
    (void)weft_test_need_opencl();
    assert_ok(
        weft_device_open(&device, weft_device_params(.select = "opencl:", .cache_dir = cache)));
    return device;
}

/* ---- accesses outside ---- */

/* The first half of the invocations stay inside, and the others leave it by a little or by much. */
static void fill(uint32_t *x, uint32_t limit) {
    static const uint32_t beyond[] = {0,          1,          63,         1000,
                                      0x3fffffff, 0x40000000, 0x7fffffff, 0xfffffffe};
    for (uint32_t i = 0; i < COUNT; i++) {
        x[i] = i < COUNT / 2 ? (i * 7) % limit : limit + beyond[i % 8];
        x[i] = i >= COUNT / 2 && x[i] < limit ? UINT32_MAX : x[i]; /* the sum wrapped */
    }
}

/* The element that an index means: places are of 32 bits, in bytes, so that some indices far outside are inside again. */
static uint32_t place_of(uint32_t index, uint32_t size) {
    return index * size / size;
}

WEFT_TEST(reads_outside_give_zero) {
    uint32_t x[COUNT], y[COUNT];
    weft_device *device = open_device(NULL);
    weft_plan *plan = compile(device, reads);
    fill(x, COUNT);
    run(plan, x, y);
    for (uint32_t i = 0; i < COUNT; i++) {
        const uint32_t at = place_of(x[i], 4);
        assert_int_equal(y[i], at < COUNT ? x[at] : 0);
    }
    weft_plan_destroy(&plan);
    plan = compile(device, reads_vectors);
    fill(x, COUNT / 4);
    run(plan, x, y);
    for (uint32_t i = 0; i < COUNT; i++) {
        const uint32_t at = place_of(x[i], 16);
        assert_int_equal(y[i], at < COUNT / 4 ? 4000 + 16 * at + 6 : 0);
    }
    weft_plan_destroy(&plan);
    plan = compile(device, reads_shared);
    fill(x, ITEMS);
    run(plan, x, y);
    for (uint32_t i = 0; i < COUNT / 2; i++) { /* of its own workgroup; outside any value */
        assert_int_equal(y[i], x[i] + 1);
    }
    weft_plan_destroy(&plan);
    weft_device_destroy(&device);
}

/* They change no byte, of this buffer or another. */
WEFT_TEST(writes_outside_change_nothing) {
    uint32_t x[COUNT], y[COUNT];
    bool written[COUNT] = {false};
    weft_device *device = open_device(NULL);
    weft_plan *plan = compile(device, writes), *beside = compile(device, inside);
    fill(x, COUNT);
    run(plan, x, y);
    for (uint32_t i = 0; i < COUNT; i++) {
        const uint32_t at = x[i] < COUNT ? i : place_of(x[i], 4);
        if (at < COUNT) {
            written[at] = true;
        }
    }
    for (uint32_t i = 0; i < COUNT; i++) {
        assert_int_equal(y[i], written[i] ? 9 : 7);
    }
    run(beside, x, y);
    for (uint32_t i = 0; i < COUNT; i++) {
        assert_int_equal(y[i], x[i] * 3 + 1000 + i);
    }
    weft_plan_destroy(&plan);
    weft_plan_destroy(&beside);
    weft_device_destroy(&device);
}

/* ---- the cache folder ---- */

struct start {
    uint32_t created, compiled; /* pipelines */
    weft_digest entry;
};

static struct start start_with(const char *folder) {
    uint32_t x[COUNT], y[COUNT];
    weft_device *device = open_device(folder);
    weft_plan *plan = compile(device, inside);
    for (uint32_t i = 0; i < COUNT; i++) {
        x[i] = i * 2654435761u;
    }
    run(plan, x, y);
    for (uint32_t i = 0; i < COUNT; i++) {
        assert_int_equal(y[i], x[i] * 3 + 1000 + i);
    }
    const struct start start = {device->stats.pipelines_created, device->stats.pipelines_compiled,
                                device->pipelines->cache_key};
    weft_plan_destroy(&plan);
    weft_device_destroy(&device);
    return start;
}

WEFT_TEST(the_second_start_compiles_nothing) {
    const char *folder = weft_test_folder();
    const struct start first = start_with(folder), second = start_with(folder);
    assert_true(first.compiled > 0);
    assert_int_equal(second.compiled, 0);
    assert_true(second.created > 0);
}

/* With the hashes of all around made anew, so that the driver sees it. */
static void damage_object(uint8_t *object, size_t size) {
    memset(object, 0x5a, size);
}

WEFT_TEST(damaged_programs_are_compiled_anew) {
    const char *folder = weft_test_folder();
    const struct start first = start_with(folder);
    weft_test_change_objects(folder, &first.entry, damage_object);
    (void)start_with(folder); /* has the right results, and mends the entry */
    assert_int_equal(start_with(folder).compiled, 0);
}
