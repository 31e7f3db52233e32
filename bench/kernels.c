/* SPDX-License-Identifier: MIT */
#include "bench/kernels.h"

#include <math.h>
#include <stdio.h>

#include "graph/lowering.h"

#define HEAD                                             \
    "#version 450\n"                                     \
    "#extension GL_GOOGLE_include_directive : require\n" \
    "#include \"index.glsl\"\n"                          \
    "#include \"math.glsl\"\n"                           \
    "layout(local_size_x = WEFT_ITEMS_PER_GROUP) in;\n"

static weft_status infer_same(const weft_graph *graph, const struct weft_node *node,
                              uint32_t multiple, weft_dtype *dtype, weft_shape *shape) {
    *dtype = WEFT_F32;
    *shape = *weft_node_shape(graph, node, 0);
    weft_status status = weft_expect_f32(graph, node, 0, "x");
    if (status == WEFT_OK && weft_shape_elements(*shape) % multiple != 0) {
        status = weft_fail(&graph->host, WEFT_SHAPE_MISMATCH,
                           "%s: x must have a multiple of %u elements", node->op->name, multiple);
    }
    return status;
}

#define FIELDS      3 /* of every kernel here: x, y, count */
#define MOST_FIELDS 8

/** One dispatch from the node's input to its output; `items` invocations. args has room for the fields of all. */
static struct weft_dispatch *lower(struct weft_lowering *lowering, const struct weft_node *node,
                                   const struct weft_shader *kernel, uint64_t items,
                                   struct weft_named_arg args[MOST_FIELDS], uint32_t count) {
    const uint32_t x = weft_lower_value(lowering, node->input[0]);
    const uint32_t result = weft_lower_value(lowering, node->output);
    args[0] = (struct weft_named_arg)WEFT_ARG_STORAGE("x", x);
    args[1] = (struct weft_named_arg)WEFT_ARG_STORAGE("y", result);
    args[2] = (struct weft_named_arg)WEFT_ARG_U32("count", (uint32_t)items);
    return weft_lower_named(lowering, kernel, weft_grid_of_items(items), args, count);
}

static const struct weft_shader *text_kernel(struct weft_lowering *lowering, const char *key,
                                             const char *text) {
    return weft_lower_text_kernel(lowering, key, key, text);
}

static double elements_of(const struct weft_lowering *lowering, const struct weft_node *node) {
    return (double)weft_shape_elements(*weft_node_shape(lowering->graph, node, 0));
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

static weft_status copy_infer(const weft_graph *graph, struct weft_node *node, weft_dtype *dtype,
                              weft_shape *shape) {
    return infer_same(graph, node, 4, dtype, shape);
}

static weft_status copy_lower(struct weft_lowering *lowering, const struct weft_node *node) {
    const struct copy_node *params = (const void *)node->params.bytes;
    const double elements = elements_of(lowering, node);
    const struct weft_shader *kernel =
        params->vectors ? text_kernel(lowering, "bench/copy_vectors", COPY_TEXT("uvec4"))
                        : text_kernel(lowering, "bench/copy_words", COPY_TEXT("uint"));
    struct weft_named_arg args[MOST_FIELDS];
    struct weft_dispatch *dispatch =
        lower(lowering, node, kernel, (uint64_t)elements / (params->vectors ? 4 : 1), args, FIELDS);
    dispatch->bytes = 8.0 * elements;
    return weft_lower_status(lowering);
}

static const struct weft_op copy_op = {
    .name = "bench_copy",
    .min_inputs = 1,
    .max_inputs = 1,
    .params_size = sizeof(struct copy_node),
    .infer = copy_infer,
    .implementations = WEFT_IMPLEMENTATIONS({.name = "kernel", .lower = copy_lower}),
};

weft_status weft_bench_copy(weft_tensor *out, weft_graph *graph, weft_tensor x, bool vectors) {
    const struct copy_node node = {.vectors = vectors};
    return weft_graph_add(out, graph, &copy_op, &x, 1, &node, sizeof node);
}

/* ---- arithmetic ---- */

#define STEPS 64 /* of a loop, beside the one that adds d: four times STEP16 */

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
        "        STEP16 STEP16 STEP16 STEP16\n"                                                  \
        "        a = p * a + d;\n"                                                               \
        "        b = p * b + d;\n"                                                               \
        "    }\n"                                                                                \
        "    store(i, vec4(a));\n"                                                               \
        "    store(i + push.count, vec4(b));\n"                                                  \
        "}\n"

#define HALF_EXTENSION "#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require\n"

double weft_bench_arithmetic_flops(uint32_t loops) {
    return 2.0 * (STEPS + 1) * loops;
}

float weft_bench_arithmetic_result(float x) {
    return rintf(16.0F * x) / 16.0F + 1.0F;
}

static weft_status arithmetic_infer(const weft_graph *graph, struct weft_node *node,
                                    weft_dtype *dtype, weft_shape *shape) {
    const struct arithmetic_node *params = (const void *)node->params.bytes;
    const uint32_t loops = params->loops;
    if (loops == 0 || loops > WEFT_BENCH_ARITHMETIC_MAX_LOOPS || (loops & (loops - 1)) != 0) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                         "bench_arithmetic: loops must be a power of 2 up to %d, not %u",
                         WEFT_BENCH_ARITHMETIC_MAX_LOOPS, loops);
    }
    return infer_same(graph, node, 8, dtype, shape);
}

static weft_status arithmetic_lower(struct weft_lowering *lowering, const struct weft_node *node) {
    const struct arithmetic_node *params = (const void *)node->params.bytes;
    const double elements = elements_of(lowering, node);
    const uint64_t items = (uint64_t)elements / 8;
    const struct weft_shader *kernel =
        params->half
            ? text_kernel(lowering, "bench/arithmetic_f16",
                          ARITHMETIC_TEXT(HALF_EXTENSION, "f16vec4", "float16_t"))
            : text_kernel(lowering, "bench/arithmetic_f32", ARITHMETIC_TEXT("", "vec4", "float"));
    struct weft_named_arg args[MOST_FIELDS] = {[FIELDS] = WEFT_ARG_U32("loops", params->loops),
                                               WEFT_ARG_F32("m", -1.0F),
                                               WEFT_ARG_F32("c", 0.25F),
                                               WEFT_ARG_F32("p", 1.0F),
                                               WEFT_ARG_F32("d", 1.0F / (float)params->loops)};
    struct weft_dispatch *dispatch = lower(lowering, node, kernel, items, args, MOST_FIELDS);
    dispatch->flops = weft_bench_arithmetic_flops(params->loops) * elements;
    dispatch->bytes = 8.0 * elements;
    return weft_lower_status(lowering);
}

static void arithmetic_describe(const struct weft_node *node, char *text, size_t size) {
    const struct arithmetic_node *params = (const void *)node->params.bytes;
    snprintf(text, size, "[%s, %u loops]", params->half ? "f16" : "f32", params->loops);
}

static const struct weft_op arithmetic_op = {
    .name = "bench_arithmetic",
    .min_inputs = 1,
    .max_inputs = 1,
    .params_size = sizeof(struct arithmetic_node),
    .infer = arithmetic_infer,
    .describe = arithmetic_describe,
    .implementations = WEFT_IMPLEMENTATIONS({.name = "kernel", .lower = arithmetic_lower}),
};

weft_status weft_bench_arithmetic(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                  uint32_t loops, bool half) {
    const struct arithmetic_node node = {.loops = loops, .half = half};
    return weft_graph_add(out, graph, &arithmetic_op, &x, 1, &node, sizeof node);
}
