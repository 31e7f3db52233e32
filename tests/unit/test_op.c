/* SPDX-License-Identifier: MIT */
/* weft-test: one driver */
/* Ops that a program registers (weft/op.h): what they give, and everything that is refused. */
#include <weft/op.h>

#include "device/device.h"
#include "shader/glsl.h"
#include "spirv/reflect.h"
#include "support.h"
#include "verify/evaluator/evaluator.h"

#define COUNT 200

#define HEAD                                             \
    "#version 450\n"                                     \
    "#extension GL_GOOGLE_include_directive : require\n" \
    "#include \"index.glsl\"\n"                          \
    "#include \"math.glsl\"\n"                           \
    "layout(local_size_x = WEFT_ITEMS_PER_GROUP) in;\n"

/* result = expression(x, factor, offset) */
#define TEXT(expression)                                                                           \
    HEAD "layout(constant_id = 0) const int OFFSET = 0;\n"                                         \
         "layout(constant_id = 1) const uint TILE_PASSES = 1;\n"                                   \
         "layout(std430, binding = 0) readonly buffer Source { float source[]; };\n"               \
         "layout(std430, binding = 1) writeonly buffer Result { float result[]; };\n"              \
         "layout(push_constant) uniform Push { uint count; uint groups_x; float factor; } push;\n" \
         "void main()\n"                                                                           \
         "{\n"                                                                                     \
         "    uint i = weft_item_index(push.groups_x);\n"                                          \
         "    for (uint pass = 0; i < push.count && pass < TILE_PASSES; pass++) {\n"               \
         "        float x = source[i];\n"                                                          \
         "        result[i] = weft_flush(" expression ");\n"                                       \
         "    }\n"                                                                                 \
         "}\n"

#define SCALE TEXT("push.factor * x + float(OFFSET)")

/* ---- an op whose kernel and arguments a test sets ---- */

enum { SOURCE, RESULT, COUNT_ARG, FACTOR, OFFSET, ARGS, MORE = ARGS, MAX_ARGS };

struct trial {
    const char *name;
    weft_op_kernel kernel;
    uint64_t items, groups;
    uint32_t extent[3];
    uint32_t subgroup;
    weft_arg more; /* beside the usual ones, or none */
    int left_out;  /* an argument of these, or -1 */
    uint32_t calls;
};

struct params {
    float factor; /* 0 means 3 */
};

static struct trial usual(const char *text) {
    return (struct trial){.name = "scale",
                          .kernel = {.name = "test/scale", .glsl = text},
                          .items = COUNT,
                          .left_out = -1};
}

static weft_status infer(const weft_graph *graph, weft_node *node, weft_dtype *dtype,
                         weft_shape *shape) {
    struct params params = *(const struct params *)weft_node_params(node);
    if (params.factor < 0.0F) {
        return weft_node_fail(graph, node, WEFT_INVALID_ARGUMENT, "factor %g is below 0",
                              (double)params.factor);
    }
    if (weft_node_has_input(node, 1) && weft_node_dtype(graph, node, 1) != WEFT_I32) {
        return weft_node_fail(graph, node, WEFT_SHAPE_MISMATCH, "the second input must be i32");
    }
    assert_int_equal(weft_node_shape(graph, node, WEFT_MAX_NODE_INPUTS + 1)->rank, 0);
    params.factor = params.factor > 0.0F ? params.factor : 3.0F;
    weft_node_set_params(node, &params);
    *dtype = WEFT_F32;
    *shape = *weft_node_shape(graph, node, 0);
    return weft_expect_f32(graph, node, 0, "x");
}

static weft_status lower(weft_lowering *lowering, const weft_node *node) {
    struct trial *trial = weft_node_user(node);
    const struct params *params = weft_node_params(node);
    weft_arg args[MAX_ARGS + 1] = {
        [SOURCE] = weft_arg_buffer("source", weft_lower_input(lowering, node, 0)),
        [RESULT] = weft_arg_buffer("result", weft_lower_output(lowering, node)),
        [COUNT_ARG] = weft_arg_uint("count", COUNT),
        [FACTOR] = weft_arg_float("factor", params->factor),
        [OFFSET] = weft_arg_int("offset", -1)};
    uint32_t count = ARGS;
    trial->calls++;
    assert_int_equal(weft_lower_input(lowering, node, 1) == WEFT_NO_STORAGE,
                     !weft_node_has_input(node, 1));
    if (trial->left_out >= 0) {
        args[trial->left_out] = args[--count];
    }
    if (trial->more.name) {
        args[count++] = trial->more;
    }
    return weft_lower_launch(
        lowering, &(weft_launch){.kernel = trial->kernel,
                                 .items = trial->items,
                                 .groups = trial->groups,
                                 .extent = {trial->extent[0], trial->extent[1], trial->extent[2]},
                                 .subgroup = trial->subgroup,
                                 .args = args,
                                 .arg_count = count,
                                 .flops = 2.0 * COUNT,
                                 .bytes = 8.0 * COUNT});
}

static const weft_implementation row = {.name = "kernel", .lower = lower};

static weft_op_params params_of(struct trial *trial) {
    return (weft_op_params){.name = trial->name,
                            .min_inputs = 1,
                            .max_inputs = 2,
                            .params_size = sizeof(struct params),
                            .infer = infer,
                            .implementations = &row,
                            .implementation_count = 1,
                            .user = trial};
}

/* The op's handle is gone before the graph is used. */
static weft_status add(weft_tensor *out, weft_graph *graph, weft_tensor x, struct trial *trial,
                       float factor) {
    const weft_op_params params = params_of(trial);
    weft_op *op = NULL;
    weft_status status = weft_op_create(&op, &params, NULL);
    if (status == WEFT_OK) {
        status = weft_graph_add(out, graph, op, &x, 1, &(struct params){factor}, sizeof(float));
    }
    weft_op_destroy(&op);
    return status;
}

static weft_status compile(weft_plan **plan, struct weft_test_device *test, struct trial *trial,
                           float factor) {
    weft_graph *graph = NULL;
    weft_tensor x = {0};
    assert_ok(weft_graph_create(&graph, &test->host.host));
    assert_ok(weft_graph_input(&x, graph, "x", WEFT_F32, weft_shape_of(COUNT)));
    assert_ok(add(&x, graph, x, trial, factor));
    assert_ok(weft_graph_output(graph, "y", x));
    const weft_status status = weft_plan_compile(plan, test->device, graph, NULL);
    weft_graph_destroy(&graph);
    return status;
}

static void fill(float x[COUNT]) {
    for (int i = 0; i < COUNT; i++) {
        x[i] = (float)(i - COUNT / 2);
    }
}

static void check(struct weft_test_device *test, struct trial *trial, float factor) {
    float x[COUNT], y[COUNT], evaluated[COUNT];
    char text[WEFT_EVALUATOR_TEXT] = "";
    weft_plan *plan = NULL;
    fill(x);
    assert_ok(compile(&plan, test, trial, factor));
    assert_ok(
        weft_plan_execute(plan, (weft_host_tensor[]){{"x", x, sizeof x}, {"y", y, sizeof y}}, 2));
    weft_dispatch_info info;
    assert_ok(weft_plan_get_dispatch(plan, 0, &info));
    assert_string_equal(info.kernel, "test/scale");
    for (int i = 0; i < COUNT; i++) {
        assert_true(y[i] == (factor > 0.0F ? factor : 3.0F) * x[i] - 1.0F);
    }
    /* What it computes is what the shader says, bit for bit. */
    weft_evaluator *evaluator = weft_evaluator_create(NULL);
    struct weft_evaluated_port ports[] = {{"x", x, sizeof x}, {"y", evaluated, sizeof evaluated}};
    assert_ok(weft_evaluate_plan(text, evaluator, plan, ports, 2));
    assert_memory_equal(evaluated, y, sizeof y);
    weft_evaluator_destroy(&evaluator);
    weft_plan_destroy(&plan);
}

/* ---- what it gives ---- */

WEFT_TEST_ON_DEVICE(text_is_run, test) {
    struct trial trial = usual(SCALE);
    check(test, &trial, 2.0F);
    check(test, &trial, 0.0F); /* infer fills in a default */
    trial.items = 0;
    trial.groups = 2;
    check(test, &trial, 2.0F);
    trial.groups = 0;
    trial.extent[0] = 2;
    trial.extent[1] = trial.extent[2] = 1;
    check(test, &trial, 2.0F);
    trial.more = weft_arg_uint("passes", 2); /* a tile constant */
    check(test, &trial, 2.0F);
    assert_true(trial.calls > 0);
}

WEFT_TEST_ON_DEVICE(words_are_run, test) {
    struct trial trial = usual(NULL);
    uint32_t *words = NULL;
    assert_ok(
        weft_glsl_compile(&words, &trial.kernel.spirv_size, test->device, "scale.glsl", SCALE));
    trial.kernel.spirv = words;
    check(test, &trial, 2.0F);

    /* Words that are none, and words without names */
    weft_plan *plan = NULL;
    trial.kernel.spirv_size -= 4;
    assert_status(compile(&plan, test, &trial, 2.0F), WEFT_COMPILE_ERROR);
    trial.kernel.spirv_size =
        sizeof *words * weft_spirv_strip(words, words, trial.kernel.spirv_size / 4 + 1);
    WEFT_EXPECT_REFUSED(&test->host, WEFT_COMPILE_ERROR, compile(&plan, test, &trial, 2.0F),
                        "test/scale", "name");
    weft_free(&test->host.host, words);
}

/* A kernel's own includes are what was given with it, each time: another text of the same name is another kernel. */
WEFT_TEST_ON_DEVICE(includes_are_what_was_given, test) {
    static const char scaled[] = "#version 450\n#extension GL_GOOGLE_include_directive : require\n"
                                 "#include \"more.glsl\"\n#include \"more/offset.glsl\"\n";
    weft_op_include includes[] = {{"more/offset.glsl", "#define OF(x) (float(OFFSET) * MORE)\n"},
                                  {"more.glsl", "#define MORE 1.0\n"}};
    struct trial trial =
        usual(weft_test_text("%s%s", scaled, strstr(TEXT("push.factor * x + OF(x)"), "#include")));
    trial.kernel.includes = includes;
    trial.kernel.include_count = 2;
    check(test, &trial, 2.0F);
    includes[1].text = "#define MORE 9.0\n";
    weft_plan *plan = NULL;
    float x[COUNT], y[COUNT];
    fill(x);
    assert_ok(compile(&plan, test, &trial, 2.0F));
    assert_ok(
        weft_plan_execute(plan, (weft_host_tensor[]){{"x", x, sizeof x}, {"y", y, sizeof y}}, 2));
    weft_plan_destroy(&plan);
    for (int i = 0; i < COUNT; i++) {
        assert_true(y[i] == 2.0F * x[i] - 9.0F);
    }
    includes[1].text = "#define MORE 1.0\n";
    check(test, &trial, 2.0F);

    includes[1].text = NULL;
    WEFT_EXPECT_REFUSED(&test->host, WEFT_INVALID_ARGUMENT, compile(&plan, test, &trial, 2.0F),
                        "test/scale", "include 1 has no name or no text");
    includes[1] = (weft_op_include){"math.glsl", ""};
    WEFT_EXPECT_REFUSED(&test->host, WEFT_INVALID_ARGUMENT, compile(&plan, test, &trial, 2.0F),
                        "test/scale", "math.glsl", "one of Weft's own");
    trial.kernel.include_count = 1;
    WEFT_EXPECT_REFUSED(&test->host, WEFT_COMPILE_ERROR, compile(&plan, test, &trial, 2.0F),
                        "test/scale:3:", "more.glsl", "files are not opened");
    trial.kernel.includes = NULL;
    WEFT_EXPECT_REFUSED(&test->host, WEFT_INVALID_ARGUMENT, compile(&plan, test, &trial, 2.0F),
                        "test/scale", "1 includes are given and includes is null");
    const uint32_t word = 0;
    trial.kernel = (weft_op_kernel){.name = "test/scale",
                                    .spirv = &word,
                                    .spirv_size = sizeof word,
                                    .includes = includes,
                                    .include_count = 1};
    WEFT_EXPECT_REFUSED(&test->host, WEFT_INVALID_ARGUMENT, compile(&plan, test, &trial, 2.0F),
                        "test/scale", "beside SPIR-V");
}

/* Names of strangers may meet: what is computed once from weights is found by the op. */
WEFT_TEST_ON_DEVICE(ops_of_one_name_do_not_meet, test) {
    struct trial trials[] = {usual(SCALE), usual(TEXT("push.factor * x + float(OFFSET) + 8.0"))};
    float data[COUNT], y[2][COUNT];
    weft_weight *weight = NULL;
    fill(data);
    assert_ok(weft_weight_create(
        &weight, weft_weight_params(.shape = weft_shape_of(COUNT), .data = data), NULL));
    for (int i = 0; i < 2; i++) {
        weft_graph *graph = NULL;
        weft_plan *plan = NULL;
        weft_tensor w = {0}, x = {0};
        float zeros[COUNT] = {0};
        assert_ok(weft_graph_create(&graph, &test->host.host));
        assert_ok(weft_graph_weight(&w, graph, weight));
        assert_ok(weft_graph_input(&x, graph, "x", WEFT_F32, weft_shape_of(COUNT)));
        assert_ok(add(&w, graph, w, &trials[i], 2.0F));
        assert_ok(weft_graph_binary(&x, graph, WEFT_BINARY_ADD, x, w));
        assert_ok(weft_graph_output(graph, "y", x));
        assert_ok(weft_plan_compile(&plan, test->device, graph, NULL));
        assert_ok(weft_plan_execute(
            plan, (weft_host_tensor[]){{"x", zeros, sizeof zeros}, {"y", y[i], sizeof y[i]}}, 2));
        weft_plan_destroy(&plan);
        weft_graph_destroy(&graph);
    }
    weft_weight_destroy(&weight);
    for (int i = 0; i < COUNT; i++) {
        assert_true(y[0][i] == 2.0F * data[i] - 1.0F && y[1][i] == y[0][i] + 8.0F);
    }
}

/* ---- several implementations ---- */

static bool never(const weft_graph *graph, const weft_node *node, const weft_device_info *device) {
    assert_true(weft_node_shape(graph, node, 0)->dim[0] == COUNT && device->name[0]);
    return false;
}

static const char *choose_second(const weft_graph *graph, const weft_node *node) {
    (void)graph;
    (void)node;
    return "second";
}

static weft_status fail_to_lower(weft_lowering *lowering, const weft_node *node) {
    weft_lower_fail(lowering,
                    weft_node_fail(weft_lower_graph(lowering), node, WEFT_UNSUPPORTED,
                                   "the first row on %p", (void *)weft_lower_device(lowering)));
    assert_ok(weft_lower_status(lowering) == WEFT_UNSUPPORTED ? WEFT_OK : WEFT_DRIVER_ERROR);
    return weft_lower_status(lowering);
}

static const char *const rows_text = "only shapes that nobody has";

/* Reproducible mode keeps to the bits that `choose` names; who names a row gets it, or why not. */
WEFT_TEST_ON_DEVICE(rows_are_chosen, test) {
    struct trial trial = usual(SCALE);
    const weft_implementation rows[] = {
        {.name = "first", .lower = fail_to_lower},
        {.name = "second", .bits = 1, .lower = lower},
        {.name = "twin", .bits = 1, .lower = lower}, /* so that both are measured */
        {.name = "slow", .bits = 1, .cost = {.software = 3, .hardware = 3}, .lower = fail_to_lower},
        {.name = "third", .bits = 1, .supports = never, .limits = rows_text, .lower = lower},
        {.name = "other", .bits = 1, .needs = {.invocations = UINT32_MAX}, .lower = lower},
        {.name = "vendor", .bits = 1, .needs = {.vendor_id = 0xffff}, .lower = lower}};
    weft_op_params params = params_of(&trial);
    params.implementations = rows;
    params.implementation_count = sizeof rows / sizeof rows[0];
    params.choose = choose_second;
    weft_op *op = NULL;
    weft_graph *graph = NULL;
    weft_plan *plan = NULL;
    weft_tensor x = {0};
    assert_ok(weft_op_create(&op, &params, NULL));
    assert_ok(weft_graph_create(&graph, &test->host.host));
    assert_ok(weft_graph_input(&x, graph, "x", WEFT_F32, weft_shape_of(COUNT)));
    assert_ok(weft_graph_add(&x, graph, op, &x, 1, &(struct params){2.0F}, sizeof(struct params)));
    assert_ok(weft_graph_output(graph, "y", x));
    weft_op_destroy(&op);
    assert_ok(weft_plan_compile(&plan, test->device, graph, NULL));
    weft_plan_destroy(&plan);
    WEFT_EXPECT_REFUSED(
        &test->host, WEFT_UNSUPPORTED,
        weft_plan_compile(&plan, test->device, graph, weft_plan_params(.implementation = "first")),
        "scale: the first row");
    WEFT_EXPECT_REFUSED(
        &test->host, WEFT_UNSUPPORTED,
        weft_plan_compile(&plan, test->device, graph, weft_plan_params(.implementation = "third")),
        "scale by third", rows_text);
    WEFT_EXPECT_REFUSED(
        &test->host, WEFT_UNSUPPORTED,
        weft_plan_compile(&plan, test->device, graph, weft_plan_params(.implementation = "other")),
        "scale by other");
    /* A vendor is where a row is expected to be fast: who names it gets it anywhere. */
    assert_ok(weft_plan_compile(&plan, test->device, graph,
                                weft_plan_params(.implementation = "vendor")));
    weft_plan_destroy(&plan);
    weft_graph_destroy(&graph);
}

/* ---- what is refused while lowering ---- */

static void expect_refused(struct weft_test_device *test, struct trial trial, weft_status status,
                           const char *text, const char *more) {
    weft_plan *plan = NULL;
    WEFT_EXPECT_REFUSED(&test->host, status, compile(&plan, test, &trial, 2.0F), text, more);
    assert_null(plan);
}

WEFT_TEST_ON_DEVICE(arguments_are_checked, test) {
    static const struct {
        int left_out;
        weft_arg more;
        const char *text;
    } rows[] = {
        {SOURCE, {0}, "buffer 'source' is not given"},
        {FACTOR, {0}, "constant 'factor' is not given"},
        {OFFSET, {0}, "constant 'offset' is not given"},
        {-1, {.name = "nothing", .kind = WEFT_ARG_UINT}, "has no 'nothing'"},
        {-1, {.name = "count", .kind = WEFT_ARG_UINT}, "6 fields are given, of which it takes 5"},
        {FACTOR,
         {.name = "factor", .kind = WEFT_ARG_UINT},
         "'factor' is a float, and given as a uint"},
        {OFFSET,
         {.name = "offset", .kind = WEFT_ARG_BOOL},
         "'offset' is a int, and given as a bool"},
        {FACTOR, {.name = "factor", .kind = WEFT_ARG_BUFFER}, "constant 'factor' is not given"},
        {SOURCE,
         {.name = "source", .kind = WEFT_ARG_BUFFER, .word = 12345},
         "'source' is no storage"},
        {-1, {.name = "count", .kind = (weft_arg_kind)9}, "argument 5 has no name or no kind"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct trial trial = usual(SCALE);
        trial.left_out = rows[i].left_out;
        trial.more = rows[i].more;
        expect_refused(test, trial, WEFT_INVALID_ARGUMENT, "scale", rows[i].text);
    }
}

WEFT_TEST_ON_DEVICE(launches_are_checked, test) {
    struct trial trial = usual(SCALE);
    trial.items = 0;
    expect_refused(test, trial, WEFT_INVALID_ARGUMENT, "test/scale", "either items, groups or");
    trial.items = trial.groups = 1;
    expect_refused(test, trial, WEFT_INVALID_ARGUMENT, "test/scale", "either items, groups or");
    trial.items = trial.groups = 0;
    trial.extent[0] = 1;
    expect_refused(test, trial, WEFT_INVALID_ARGUMENT, "test/scale", "either items, groups or");
    trial = usual(SCALE);
    trial.items = UINT64_C(1) << 33;
    expect_refused(test, trial, WEFT_UNSUPPORTED, "scale", "invocations");
    for (uint32_t subgroup = 3; subgroup <= 1024;
         subgroup += 1021) { /* no power of two; too many */
        trial = usual(SCALE);
        trial.subgroup = subgroup;
        expect_refused(test, trial, WEFT_UNSUPPORTED, "test/scale", "wants subgroups of");
    }
    trial = usual(NULL);
    expect_refused(test, trial, WEFT_INVALID_ARGUMENT, "test/scale", "as GLSL or as SPIR-V");
    trial = usual(SCALE);
    trial.kernel.name = "";
    expect_refused(test, trial, WEFT_INVALID_ARGUMENT, "scale", "needs a name");
}

/* The same rules as for the library's own kernels. */
WEFT_TEST_ON_DEVICE(kernels_are_checked, test) {
    expect_refused(test, usual(TEXT("push.factor * sin(x) + float(OFFSET)")), WEFT_UNSUPPORTED,
                   "test/scale", "");
    expect_refused(test, usual("#version 450\nvoid main() { nonsense }\n"), WEFT_COMPILE_ERROR,
                   "test/scale", "");
}

/* Products of matrices of bytes, 16 x 16 by `depth`; the sums are put where nobody looks. */
#define MATRICES(depth)                                                                       \
    "#version 450\n"                                                                          \
    "#extension GL_GOOGLE_include_directive : require\n"                                      \
    "#pragma use_vulkan_memory_model\n"                                                       \
    "#extension GL_KHR_memory_scope_semantics : require\n"                                    \
    "#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require\n"                     \
    "#extension GL_NV_cooperative_matrix : require\n"                                         \
    "#extension GL_NV_integer_cooperative_matrix : require\n"                                 \
    "layout(local_size_x = 32) in;\n"                                                         \
    "layout(constant_id = 0) const int OFFSET = 0;\n"                                         \
    "layout(std430, binding = 0) readonly buffer Source { float source[]; };\n"               \
    "layout(std430, binding = 1) writeonly buffer Result { float result[]; };\n"              \
    "layout(push_constant) uniform Push { uint count; uint groups_x; float factor; } push;\n" \
    "shared int sums[256];\n"                                                                 \
    "void main()\n"                                                                           \
    "{\n"                                                                                     \
    "    icoopmatNV<8, gl_ScopeSubgroup, 16, " depth                                          \
    "> a = icoopmatNV<8, gl_ScopeSubgroup, 16, " depth ">(int8_t(push.count));\n"             \
    "    icoopmatNV<8, gl_ScopeSubgroup, " depth                                              \
    ", 16> b = icoopmatNV<8, gl_ScopeSubgroup, " depth ", 16>(int8_t(OFFSET));\n"             \
    "    icoopmatNV<32, gl_ScopeSubgroup, 16, 16> c = icoopmatNV<32, gl_ScopeSubgroup, 16, "  \
    "16>(0);\n"                                                                               \
    "    coopMatStoreNV(coopMatMulAddNV(a, b, c), sums, 0, 16, false);\n"                     \
    "    result[gl_LocalInvocationIndex] = push.factor * source[gl_LocalInvocationIndex];\n"  \
    "}\n"

WEFT_TEST_ON_DEVICE(matrices_are_checked, test) {
    weft_device_info info;
    assert_ok(weft_device_get_info(test->device, &info));
    expect_refused(test, usual(MATRICES("16")), WEFT_COMPILE_ERROR, "test/scale",
                   "making cooperative matrices failed");
    assert_true(weft_test_log_has(&test->host, "are used as different operands"));
    if (info.integer_matrix_shapes[0].m == 0) {
        expect_refused(test, usual(MATRICES("32")), WEFT_UNSUPPORTED, "test/scale",
                       "lacks what its module declares");
    }
}

/* ---- what is refused before ---- */

WEFT_TEST_ON_HOST(ops_are_checked, host) {
    struct trial trial = usual(SCALE);
    const weft_implementation twice[] = {row, row};
    const weft_implementation no_lower = {.name = "kernel"};
    const weft_implementation too_long = {
        .name = "0123456789012345678901234567890123456789012345678901234567890123", .lower = lower};
    const weft_op_params good = params_of(&trial);
    weft_op *op = NULL;
#define EXPECT_BAD(text, ...)                                                                    \
    do {                                                                                         \
        weft_op_params bad = good;                                                               \
        __VA_ARGS__;                                                                             \
        WEFT_EXPECT_REFUSED(host, WEFT_INVALID_ARGUMENT, weft_op_create(&op, &bad, &host->host), \
                            text);                                                               \
        assert_null(op);                                                                         \
    } while (0)
    EXPECT_BAD("needs a name", bad.name = NULL);
    EXPECT_BAD("needs a name", bad.name = "");
    EXPECT_BAD("infer must not be null", bad.infer = NULL);
    EXPECT_BAD("0 to 2 inputs", bad.min_inputs = 0);
    EXPECT_BAD("3 to 2 inputs", bad.min_inputs = 3);
    EXPECT_BAD("1 to 11 inputs", bad.max_inputs = 11);
    EXPECT_BAD("129 bytes of parameters", bad.params_size = 129);
    EXPECT_BAD("0 implementations", bad.implementations = NULL);
    EXPECT_BAD("33 implementations", bad.implementation_count = 33);
    EXPECT_BAD("'kernel' is there twice", bad.implementations = twice;
               bad.implementation_count = 2);
    EXPECT_BAD("no lower function", bad.implementations = &no_lower);
    EXPECT_BAD("longer than the 63 bytes", bad.implementations = &too_long);
    assert_status(weft_op_create(NULL, &good, NULL), WEFT_INVALID_ARGUMENT);
    assert_status(weft_op_create(&op, NULL, NULL), WEFT_INVALID_ARGUMENT);
    weft_op_destroy(NULL);
    weft_op_destroy(&op);

    weft_status status = WEFT_OUT_OF_HOST_MEMORY;
    while (weft_test_next_failure(host, status)) {
        weft_op_destroy(&op);
        status = weft_op_create(&op, &good, &host->host);
    }
    weft_op_destroy(&op);
    assert_null(op);
}

WEFT_TEST_ON_HOST(nodes_are_checked, host) {
    struct trial trial = usual(SCALE);
    const weft_op_params params = params_of(&trial);
    const struct params none = {0};
    weft_op *op = NULL;
    weft_graph *graph = NULL;
    weft_tensor x[3] = {{0}}, y = {0};
    assert_ok(weft_op_create(&op, &params, &host->host));
    assert_ok(weft_graph_create(&graph, &host->host));
    assert_ok(weft_graph_input(&x[0], graph, "x", WEFT_F32, weft_shape_of(COUNT)));
    assert_ok(weft_graph_input(&x[1], graph, "i", WEFT_I32, weft_shape_of(1)));
    const size_t size = sizeof none;
    assert_status(weft_graph_add(&y, graph, NULL, x, 1, &none, size), WEFT_INVALID_ARGUMENT);
    assert_status(weft_graph_add(&y, graph, op, x, 1, NULL, size), WEFT_INVALID_ARGUMENT);
    assert_status(weft_graph_add(&y, graph, op, x, 1, &none, size + 4), WEFT_INVALID_ARGUMENT);
    assert_status(weft_graph_add(&y, graph, op, x, 3, &none, size), WEFT_INVALID_ARGUMENT);
    WEFT_EXPECT_REFUSED(host, WEFT_INVALID_ARGUMENT,
                        weft_graph_add(&y, graph, op, x, 1, &(struct params){-1.0F}, size),
                        "scale: factor -1 is below 0");
    WEFT_EXPECT_REFUSED(host, WEFT_SHAPE_MISMATCH,
                        weft_graph_add(&y, graph, op, (weft_tensor[]){x[0], x[0]}, 2, &none, size),
                        "scale: the second input must be i32");
    WEFT_EXPECT_REFUSED(host, WEFT_SHAPE_MISMATCH,
                        weft_graph_add(&y, graph, op, &x[1], 1, &none, size), "x must be f32");
    weft_status status = WEFT_OUT_OF_HOST_MEMORY;
    while (weft_test_next_failure(host, status)) {
        status = weft_graph_add(&y, graph, op, x, 2, &none, size);
    }
    weft_op_destroy(&op);
    weft_graph_destroy(&graph); /* frees the op */
}
