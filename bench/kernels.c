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
#define MOST_FIELDS 10

/** One dispatch from the node's input to its output; `items` invocations, or groups. args has room for the fields of all. */
static weft_status lower(weft_lowering *lowering, const weft_node *node, weft_launch *launch,
                         weft_arg args[MOST_FIELDS]) {
    args[0] = weft_arg_buffer("x", weft_lower_input(lowering, node, 0));
    args[1] = weft_arg_buffer("y", weft_lower_output(lowering, node));
    args[2] = weft_arg_uint("count", (uint32_t)(launch->items + launch->groups));
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
#define ROUNDED(type)                                          \
    type " rounded(" type " v)\n"                              \
         "{\n"                                                 \
         "    precise " type " shifted = v + 786432.0;\n"      \
         "    precise " type " result = shifted - 786432.0;\n" \
         "    return result;\n"                                \
         "}\n"

#define ARITHMETIC_TEXT(extension, type, scalar)                                               \
    HEAD extension                                                                             \
        "#define STEP a = m * a + c; b = m * b + c;\n"                                         \
        "#define STEP4 STEP STEP STEP STEP\n"                                                  \
        "#define STEP16 STEP4 STEP4 STEP4 STEP4\n"                                             \
        "layout(std430, binding = 0) readonly buffer X { vec4 x[]; };\n"                       \
        "layout(std430, binding = 1) writeonly buffer Y { vec4 y[]; };\n"                      \
        "layout(push_constant) uniform Push {\n"                                               \
        "    uint count; uint groups_x; uint loops; float m; float c; float p; float d;\n"     \
        "} push;\n" ROUNDED("vec4") "void store(uint i, vec4 v)\n"                             \
                                    "{\n"                                                      \
                                    "    y[i] = vec4(weft_flush(v.x), weft_flush(v.y), "       \
                                    "weft_flush(v.z), weft_flush(v.w));\n"                     \
                                    "}\n"                                                      \
                                    "void main()\n"                                            \
                                    "{\n"                                                      \
                                    "    uint i = weft_item_index(push.groups_x);\n"           \
                                    "    if (i >= push.count) {\n"                             \
                                    "        return;\n"                                        \
                                    "    }\n"                                                  \
                                    "    " type " a = " type "(rounded(x[i]));\n"              \
                                    "    " type " b = " type "(rounded(x[i + push.count]));\n" \
                                    "    " scalar " m = " scalar "(push.m);\n"                 \
                                    "    " scalar " c = " scalar "(push.c);\n"                 \
                                    "    " scalar " p = " scalar "(push.p);\n"                 \
                                    "    " scalar " d = " scalar "(push.d);\n"                 \
                                    "    for (uint loop = 0; loop < push.loops; loop++) {\n"   \
                                    "        STEP16\n"                                         \
                                    "        a = p * a + d;\n"                                 \
                                    "        b = p * b + d;\n"                                 \
                                    "    }\n"                                                  \
                                    "    store(i, vec4(a));\n"                                 \
                                    "    store(i + push.count, vec4(b));\n"                    \
                                    "}\n"

#define HALF_EXTENSION "#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require\n"

float weft_bench_arithmetic_result(float x) {
    return rintf(16.0F * x) / 16.0F + 1.0F;
}

static weft_status check_loops(const weft_graph *graph, const weft_node *node, uint32_t loops) {
    if (loops == 0 || loops > WEFT_BENCH_ARITHMETIC_MAX_LOOPS || (loops & (loops - 1)) != 0) {
        return weft_node_fail(graph, node, WEFT_INVALID_ARGUMENT,
                              "loops must be a power of 2 up to %d, not %u",
                              WEFT_BENCH_ARITHMETIC_MAX_LOOPS, loops);
    }
    return WEFT_OK;
}

static weft_status arithmetic_infer(const weft_graph *graph, weft_node *node, weft_dtype *dtype,
                                    weft_shape *shape) {
    const struct arithmetic_node *params = weft_node_params(node);
    WEFT_TRY(check_loops(graph, node, params->loops));
    return infer_same(graph, node, 8, dtype, shape);
}

static weft_status refuse(weft_lowering *lowering, const weft_node *node, const char *reason) {
    return weft_lower_fail(
        lowering, weft_node_fail(weft_lower_graph(lowering), node, WEFT_UNSUPPORTED, "%s", reason));
}

/** Fast math alone computes in f16. */
static const char *why_no_half(const weft_device *device, const weft_device_info *info) {
    return weft_device_get_math(device) != WEFT_MATH_FAST ? "only fast math computes in f16"
           : !info->has_f16_arithmetic                    ? "the device has no f16 arithmetic"
                                                          : NULL;
}

static weft_status arithmetic_lower(weft_lowering *lowering, const weft_node *node) {
    const struct arithmetic_node *params = weft_node_params(node);
    const double elements = (double)elements_of(lowering, node);
    weft_device_info info;
    WEFT_TRY(weft_device_get_info(weft_lower_device(lowering), &info));
    const char *missing = params->half ? why_no_half(weft_lower_device(lowering), &info) : NULL;
    if (missing) {
        return refuse(lowering, node, missing);
    }
    weft_arg args[MOST_FIELDS] = {[FIELDS] = weft_arg_uint("loops", params->loops),
                                  weft_arg_float("m", -1.0F),
                                  weft_arg_float("c", 0.25F),
                                  weft_arg_float("p", 1.0F),
                                  weft_arg_float("d", 1.0F / (float)params->loops)};
    weft_launch launch = {.items = elements_of(lowering, node) / 8,
                          .arg_count = FIELDS + 5,
                          .flops = 2.0 * (STEPS + 1) * params->loops * elements,
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

/* ---- products of matrices ---- */

#define INVOCATIONS 128 /* of a workgroup */
#define PARTS       4   /* matrices of sums of each subgroup, which do not wait for one another */
#define PRODUCTS    16  /* of a loop, for each of them */

struct matrix_node {
    uint32_t loops, factors;
};

/*
 * The factors come from memory, so that no driver can know that all are alike, nor that they cancel. PER_WORD of them are in a word.
 */
#define MATRIX_TEXT(extensions, matrix, bits, total, per_word)                                 \
    "#version 450\n"                                                                           \
    "#extension GL_GOOGLE_include_directive : require\n"                                       \
    "#pragma use_vulkan_memory_model\n"                                                        \
    "#extension GL_KHR_memory_scope_semantics : require\n"                                     \
    "#extension GL_KHR_shader_subgroup_basic : require\n"                                      \
    "#extension GL_NV_cooperative_matrix : require\n" extensions "#include \"index.glsl\"\n"   \
    "#include \"math.glsl\"\n"                                                                 \
    "layout(constant_id = 0) const uint ROWS = 16;\n"                                          \
    "layout(constant_id = 1) const uint COLUMNS = 16;\n"                                       \
    "layout(constant_id = 2) const uint DEPTH = 16;\n"                                         \
    "layout(constant_id = 3) const uint SUBGROUP = 32;\n"                                      \
    "layout(local_size_x = 128) in;\n"                                                         \
    "layout(std430, binding = 0) readonly buffer X { float x[]; };\n"                          \
    "layout(std430, binding = 1) writeonly buffer Y { float y[]; };\n"                         \
    "layout(push_constant) uniform Push {\n"                                                   \
    "    uint count; uint groups_x; uint loops; uint one; uint minus_one;\n"                   \
    "} push;\n"                                                                                \
    "const uint PER_WORD = " per_word ";\n"                                                    \
    "const uint WORDS = DEPTH * (ROWS + COLUMNS) / PER_WORD;\n"                                \
    "const uint PATCH = ROWS * COLUMNS;\n"                                                     \
    "const uint PATCHES = 128 / SUBGROUP * PATCH;\n"                                           \
    "shared uint ones[WORDS];\n"                                                               \
    "shared uint minus_ones[WORDS];\n"                                                         \
    "shared " total " patches[PATCHES];\n"                                                     \
    "#define SUM " matrix "<32, gl_ScopeSubgroup, ROWS, COLUMNS>\n"                            \
    "#define STEP(b) s0 = coopMatMulAddNV(a, b, s0); s1 = coopMatMulAddNV(a, b, s1); \\\n"     \
    "                s2 = coopMatMulAddNV(a, b, s2); s3 = coopMatMulAddNV(a, b, s3);\n"        \
    "#define STEP4 STEP(up) STEP(down) STEP(up) STEP(down)\n"                                  \
    "#define STEP16 STEP4 STEP4 STEP4 STEP4\n"                                                 \
    "void meet()\n"                                                                            \
    "{\n"                                                                                      \
    "    controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, gl_StorageSemanticsShared,\n"    \
    "                   gl_SemanticsAcquireRelease | gl_SemanticsMakeAvailable |\n"            \
    "                   gl_SemanticsMakeVisible);\n"                                           \
    "}\n" ROUNDED(                                                                             \
        "float") "void store(SUM sums, uint part)\n"                                           \
                 "{\n"                                                                         \
                 "    coopMatStoreNV(sums, patches, gl_SubgroupID * PATCH, COLUMNS, false);\n" \
                 "    meet();\n"                                                               \
                 "    uint first = (weft_group_index(push.groups_x) * 4 + part) * PATCHES;\n"  \
                 "    for (uint i = gl_LocalInvocationIndex; i < PATCHES; i += 128) {\n"       \
                 "        float whole = patches[i] == " total "(DEPTH) ? 1.0 : 0.0;\n"         \
                 "        y[first + i] = weft_flush(rounded(x[first + i]) + whole);\n"         \
                 "    }\n"                                                                     \
                 "    meet();\n"                                                               \
                 "}\n"                                                                         \
                 "void main()\n"                                                               \
                 "{\n"                                                                         \
                 "    if (weft_group_index(push.groups_x) >= push.count) {\n"                  \
                 "        return;\n"                                                           \
                 "    }\n"                                                                     \
                 "    for (uint i = gl_LocalInvocationIndex; i < WORDS; i += 128) {\n"         \
                 "        ones[i] = push.one;\n"                                               \
                 "        minus_ones[i] = push.minus_one;\n"                                   \
                 "    }\n"                                                                     \
                 "    meet();\n"                                                               \
                 "    " matrix "<" bits ", gl_ScopeSubgroup, ROWS, DEPTH> a;\n"                \
                 "    " matrix "<" bits ", gl_ScopeSubgroup, DEPTH, COLUMNS> up, down;\n"      \
                 "    coopMatLoadNV(a, ones, 0, DEPTH / PER_WORD, false);\n"                   \
                 "    coopMatLoadNV(up, ones, ROWS * DEPTH / PER_WORD, COLUMNS / PER_WORD, "   \
                 "false);\n"                                                                   \
                 "    coopMatLoadNV(down, minus_ones, 0, COLUMNS / PER_WORD, false);\n"        \
                 "    SUM s0 = SUM(" total "(0)), s1 = s0, s2 = s0, s3 = s0;\n"                \
                 "    for (uint loop = 0; loop < push.loops; loop++) {\n"                      \
                 "        STEP16\n"                                                            \
                 "    }\n"                                                                     \
                 "    STEP(up)\n"                                                              \
                 "    store(s0, 0);\n"                                                         \
                 "    store(s1, 1);\n"                                                         \
                 "    store(s2, 2);\n"                                                         \
                 "    store(s3, 3);\n"                                                         \
                 "}\n"

static const char f16_text[] = MATRIX_TEXT(HALF_EXTENSION, "fcoopmatNV", "16", "float", "2");
static const char int8_text[] =
    MATRIX_TEXT("#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require\n"
                "#extension GL_NV_integer_cooperative_matrix : require\n",
                "icoopmatNV", "8", "int", "4");

static weft_status matrix_infer(const weft_graph *graph, weft_node *node, weft_dtype *dtype,
                                weft_shape *shape) {
    const struct matrix_node *params = weft_node_params(node);
    WEFT_TRY(check_loops(graph, node, params->loops));
    return infer_same(graph, node, 1, dtype, shape);
}

/** As GPUs have them: of sixteen rows for subgroups of 32, and of fewer for as many invocations as there are columns. */
static uint32_t subgroup_for(const weft_matrix_shape *shape) {
    return shape->m >= 16 ? 32 : shape->n;
}

/** Of the device's that a workgroup has room for, the one with the most products; zeros: there is none. */
static weft_matrix_shape largest_shape(const weft_matrix_shape list[WEFT_MAX_MATRIX_SHAPES]) {
    weft_matrix_shape largest = {0};
    for (uint32_t i = 0; i < WEFT_MAX_MATRIX_SHAPES && list[i].m != 0; i++) {
        const weft_matrix_shape *shape = &list[i];
        if (subgroup_for(shape) <= INVOCATIONS && (uint64_t)shape->m * shape->n * shape->k >
                                                      (uint64_t)largest.m * largest.n * largest.k) {
            largest = *shape;
        }
    }
    return largest;
}

/** `shape`: of what the device has for these factors. */
static const char *why_no_matrices(const weft_device *device, const weft_matrix_shape *shape,
                                   weft_bench_factors factors) {
    switch (factors) {
    case WEFT_BENCH_MATRIX_BF16:
        return "Weft has no kernel for matrices of bf16: it widens bf16 weights";
    case WEFT_BENCH_MATRIX_INT8:
        return shape->m == 0 ? "the device has no matrices of int8 (VK_KHR_cooperative_matrix)"
                             : NULL;
    default:
        return weft_device_get_math(device) != WEFT_MATH_FAST ? "only fast math computes in f16"
               : shape->m == 0 ? "the device has no matrices of f16 (VK_KHR_cooperative_matrix)"
                               : NULL;
    }
}

static weft_status lower_matrices(weft_lowering *lowering, const weft_node *node,
                                  const weft_matrix_shape *shape, bool bytes) {
    const struct matrix_node *params = weft_node_params(node);
    const uint32_t subgroup = subgroup_for(shape);
    const uint64_t elements = elements_of(lowering, node);
    const uint32_t group = PARTS * (INVOCATIONS / subgroup) * shape->m * shape->n;
    if (elements % group != 0) {
        return weft_lower_fail(lowering,
                               weft_node_fail(weft_lower_graph(lowering), node, WEFT_SHAPE_MISMATCH,
                                              "x must have a multiple of %u elements", group));
    }
    weft_arg args[MOST_FIELDS] = {[FIELDS] = weft_arg_uint("loops", params->loops),
                                  weft_arg_uint("one", bytes ? 0x01010101U : 0x3C003C00U),
                                  weft_arg_uint("minus_one", bytes ? 0xFFFFFFFFU : 0xBC00BC00U),
                                  weft_arg_uint("rows", shape->m),
                                  weft_arg_uint("columns", shape->n),
                                  weft_arg_uint("depth", shape->k),
                                  weft_arg_uint("subgroup", subgroup)};
    weft_launch launch = {.kernel = {.name = bytes ? "bench/matrix_int8" : "bench/matrix_f16",
                                     .glsl = bytes ? int8_text : f16_text,
                                     .unchecked = true},
                          .groups = elements / group,
                          .arg_count = FIELDS + 7,
                          .flops = 2.0 * shape->k * ((double)PRODUCTS * params->loops + 1.0) *
                                   (double)elements,
                          .bytes = 8.0 * (double)elements,
                          .subgroup = subgroup};
    return lower(lowering, node, &launch, args);
}

static weft_status matrix_lower(weft_lowering *lowering, const weft_node *node) {
    const struct matrix_node *params = weft_node_params(node);
    const bool bytes = params->factors == WEFT_BENCH_MATRIX_INT8;
    const weft_device *device = weft_lower_device(lowering);
    weft_device_info info;
    WEFT_TRY(weft_device_get_info(device, &info));
    const weft_matrix_shape shape =
        largest_shape(bytes ? info.integer_matrix_shapes : info.matrix_shapes);
    const char *missing = why_no_matrices(device, &shape, (weft_bench_factors)params->factors);
    return missing ? refuse(lowering, node, missing)
                   : lower_matrices(lowering, node, &shape, bytes);
}

static void matrix_describe(const weft_node *node, char *text, size_t size) {
    static const char *const names[] = {"f16", "int8", "bf16"};
    const struct matrix_node *params = weft_node_params(node);
    snprintf(text, size, "[%s, %u loops]", names[params->factors], params->loops);
}

weft_status weft_bench_matrix(weft_tensor *out, weft_graph *graph, weft_tensor x, uint32_t loops,
                              weft_bench_factors factors) {
    const weft_implementation row = {.name = "kernel", .lower = matrix_lower};
    const struct matrix_node node = {.loops = loops, .factors = factors};
    return add(out, graph, x,
               weft_op_params(.name = "bench_matrix", .min_inputs = 1, .params_size = sizeof node,
                              .infer = matrix_infer, .describe = matrix_describe,
                              .implementations = &row, .implementation_count = 1),
               &node);
}
