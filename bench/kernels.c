/* SPDX-License-Identifier: MIT */
#include "bench/kernels.h"

#include <math.h>
#include <stdio.h>

#include <weft/op.h>

#include "core/try.h"

#define HEAD                                             \
    "#version 450\n"                                     \
    "#extension GL_GOOGLE_include_directive : require\n" \
    "#include \"index.glsl\"\n"                          \
    "#include \"math.glsl\"\n"                           \
    "layout(local_size_x = WEFT_ITEMS_PER_GROUP) in;\n"

static weft_status infer_same(const weft_graph *graph, const weft_node *node, uint32_t multiple,
                              weft_dtype *dtype, weft_shape *shape) {
    *dtype = WEFT_F32;
    *shape = *weft_node_shape(graph, node, 0);
    WEFT_TRY(weft_expect_f32(graph, node, 0, "x"));
    if (weft_shape_elements(*shape) % multiple != 0) {
        return weft_node_fail(graph, node, WEFT_SHAPE_MISMATCH,
                              "x must have a multiple of %u elements", multiple);
    }
    return WEFT_OK;
}

#define FIELDS      3 /* of every kernel here: x, y, count */
#define MOST_FIELDS 8

/** One dispatch from the node's input to its output; `items` invocations. args has room for the fields of all. */
static weft_status lower(weft_lowering *lowering, const weft_node *node, weft_launch *launch,
                         weft_arg args[MOST_FIELDS]) {
    args[0] = weft_arg_buffer("x", weft_lower_input(lowering, node, 0));
    args[1] = weft_arg_buffer("y", weft_lower_output(lowering, node));
    args[2] = weft_arg_uint("count", (uint32_t)launch->items);
    launch->args = args;
    return weft_lower_launch(lowering, launch);
}

static uint64_t elements_of(const weft_lowering *lowering, const weft_node *node) {
    return weft_shape_elements(*weft_node_shape(weft_lower_graph(lowering), node, 0));
}

/** Adds a node of an op that is registered for it; the graph keeps it from then on. */
static weft_status add(weft_tensor *out, weft_graph *graph, weft_tensor x,
                       const weft_op_params *op_params, const void *params) {
    weft_op *op = NULL;
    WEFT_TRY(weft_op_create(&op, op_params, NULL));
    const weft_status status =
        weft_graph_add(out, graph, op, &x, 1, params, op_params->params_size);
    weft_op_destroy(&op);
    return status;
}

/* ---- copy ---- */

struct copy_node {
    uint32_t vectors;
};

#define COPY_TEXT(type)                                                              \
    HEAD "layout(std430, binding = 0) readonly buffer X { " type " x[]; };\n"        \
         "layout(std430, binding = 1) writeonly buffer Y { " type " y[]; };\n"       \
         "layout(push_constant) uniform Push { uint count; uint groups_x; } push;\n" \
         "void main()\n"                                                             \
         "{\n"                                                                       \
         "    uint i = weft_item_index(push.groups_x);\n"                            \
         "    if (i < push.count) {\n"                                               \
         "        y[i] = x[i];\n"                                                    \
         "    }\n"                                                                   \
         "}\n"

static weft_status copy_infer(const weft_graph *graph, weft_node *node, weft_dtype *dtype,
                              weft_shape *shape) {
    return infer_same(graph, node, 4, dtype, shape);
}

static weft_status copy_lower(weft_lowering *lowering, const weft_node *node) {
    const struct copy_node *params = weft_node_params(node);
    const uint64_t elements = elements_of(lowering, node);
    weft_arg args[MOST_FIELDS];
    weft_launch launch = {.items = elements / (params->vectors ? 4 : 1),
                          .arg_count = FIELDS,
                          .bytes = 8.0 * (double)elements};
    launch.kernel = params->vectors ? (weft_op_kernel){.name = "bench/copy_vectors",
                                                       .glsl = COPY_TEXT("uvec4"),
                                                       .unchecked = true}
                                    : (weft_op_kernel){.name = "bench/copy_words",
                                                       .glsl = COPY_TEXT("uint"),
                                                       .unchecked = true};
    return lower(lowering, node, &launch, args);
}

weft_status weft_bench_copy(weft_tensor *out, weft_graph *graph, weft_tensor x, bool vectors) {
    const weft_implementation row = {.name = "kernel", .lower = copy_lower};
    const struct copy_node node = {.vectors = vectors};
    return add(out, graph, x,
               weft_op_params(.name = "bench_copy", .min_inputs = 1, .params_size = sizeof node,
                              .infer = copy_infer, .implementations = &row,
                              .implementation_count = 1),
               &node);
}

/* ---- arithmetic ---- */

/* Of a loop, beside the one that adds d: STEP16. Where products are flushed by instructions, four times as many do not fit a GPU's cache of
 * code. */
#define STEPS 16

struct arithmetic_node {
    uint32_t loops;
    uint32_t half;
};

/* Adding and subtracting 1.5 * 2^19, whose last place is 1/16, rounds to multiples of that. */
#define ARITHMETIC_TEXT(extension, type, scalar)                                                 \
    HEAD extension                                                                               \
        "#define ROUND 786432.0\n"                                                               \
        "#define STEP a = m * a + c; b = m * b + c;\n"                                           \
        "#define STEP4 STEP STEP STEP STEP\n"                                                    \
        "#define STEP16 STEP4 STEP4 STEP4 STEP4\n"                                               \
        "layout(std430, binding = 0) readonly buffer X { vec4 x[]; };\n"                         \
        "layout(std430, binding = 1) writeonly buffer Y { vec4 y[]; };\n"                        \
        "layout(push_constant) uniform Push {\n"                                                 \
        "    uint count; uint groups_x; uint loops; float m; float c; float p; float d;\n"       \
        "} push;\n"                                                                              \
        "vec4 rounded(vec4 v)\n"                                                                 \
        "{\n"                                                                                    \
        "    precise vec4 shifted = v + ROUND;\n"                                                \
        "    precise vec4 result = shifted - ROUND;\n"                                           \
        "    return result;\n"                                                                   \
        "}\n"                                                                                    \
        "void store(uint i, vec4 v)\n"                                                           \
        "{\n"                                                                                    \
        "    y[i] = vec4(weft_flush(v.x), weft_flush(v.y), weft_flush(v.z), weft_flush(v.w));\n" \
        "}\n"                                                                                    \
        "void main()\n"                                                                          \
        "{\n"                                                                                    \
        "    uint i = weft_item_index(push.groups_x);\n"                                         \
        "    if (i >= push.count) {\n"                                                           \
        "        return;\n"                                                                      \
        "    }\n"                                                                                \
        "    " type " a = " type "(rounded(x[i]));\n"                                            \
        "    " type " b = " type "(rounded(x[i + push.count]));\n"                               \
        "    " scalar " m = " scalar "(push.m);\n"                                               \
        "    " scalar " c = " scalar "(push.c);\n"                                               \
        "    " scalar " p = " scalar "(push.p);\n"                                               \
        "    " scalar " d = " scalar "(push.d);\n"                                               \
        "    for (uint loop = 0; loop < push.loops; loop++) {\n"                                 \
        "        STEP16\n"                                                                       \
        "        a = p * a + d;\n"                                                               \
        "        b = p * b + d;\n"                                                               \
        "    }\n"                                                                                \
        "    store(i, vec4(a));\n"                                                               \
        "    store(i + push.count, vec4(b));\n"                                                  \
        "}\n"

#define HALF_EXTENSION "#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require\n"

/** Multiplications and additions for each element. */
static double arithmetic_flops(uint32_t loops) {
    return 2.0 * (STEPS + 1) * loops;
}

float weft_bench_arithmetic_result(float x) {
    return rintf(16.0F * x) / 16.0F + 1.0F;
}

static weft_status arithmetic_infer(const weft_graph *graph, weft_node *node, weft_dtype *dtype,
                                    weft_shape *shape) {
    const struct arithmetic_node *params = weft_node_params(node);
    const uint32_t loops = params->loops;
    if (loops == 0 || loops > WEFT_BENCH_ARITHMETIC_MAX_LOOPS || (loops & (loops - 1)) != 0) {
        return weft_node_fail(graph, node, WEFT_INVALID_ARGUMENT,
                              "loops must be a power of 2 up to %d, not %u",
                              WEFT_BENCH_ARITHMETIC_MAX_LOOPS, loops);
    }
    return infer_same(graph, node, 8, dtype, shape);
}

static weft_status arithmetic_lower(weft_lowering *lowering, const weft_node *node) {
    const struct arithmetic_node *params = weft_node_params(node);
    const double elements = (double)elements_of(lowering, node);
    weft_arg args[MOST_FIELDS] = {[FIELDS] = weft_arg_uint("loops", params->loops),
                                  weft_arg_float("m", -1.0F),
                                  weft_arg_float("c", 0.25F),
                                  weft_arg_float("p", 1.0F),
                                  weft_arg_float("d", 1.0F / (float)params->loops)};
    weft_launch launch = {.items = elements_of(lowering, node) / 8,
                          .arg_count = MOST_FIELDS,
                          .flops = arithmetic_flops(params->loops) * elements,
                          .bytes = 8.0 * elements};
    launch.kernel =
        params->half
            ? (weft_op_kernel){.name = "bench/arithmetic_f16",
                               .glsl = ARITHMETIC_TEXT(HALF_EXTENSION, "f16vec4", "float16_t"),
                               .unchecked = true}
            : (weft_op_kernel){.name = "bench/arithmetic_f32",
                               .glsl = ARITHMETIC_TEXT("", "vec4", "float"),
                               .unchecked = true};
    return lower(lowering, node, &launch, args);
}

static void arithmetic_describe(const weft_node *node, char *text, size_t size) {
    const struct arithmetic_node *params = weft_node_params(node);
    snprintf(text, size, "[%s, %u loops]", params->half ? "f16" : "f32", params->loops);
}

weft_status weft_bench_arithmetic(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                  uint32_t loops, bool half) {
    const weft_implementation row = {.name = "kernel", .lower = arithmetic_lower};
    const struct arithmetic_node node = {.loops = loops, .half = half};
    return add(out, graph, x,
               weft_op_params(.name = "bench_arithmetic", .min_inputs = 1,
                              .params_size = sizeof node, .infer = arithmetic_infer,
                              .describe = arithmetic_describe, .implementations = &row,
                              .implementation_count = 1),
               &node);
}
