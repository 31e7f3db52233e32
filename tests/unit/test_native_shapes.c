/* SPDX-License-Identifier: MIT */
/*
 * What the processor's compiler makes out about a kernel: which branches and loops the lanes of a vector take alike, and
 * which accesses are one scalar, a whole vector, or scalars at a constant stride. Wrong answers give wrong results
 * (test_native_compile.c); answers that are too careful give slow code, which only these cases see.
 */
#include "native/kernel.h"
#include "shader/glsl.h"
#include "support.h"

#ifdef WEFT_HAVE_LLVM

#include "native/llvm/analysis.h"

struct findings {
    uint32_t ifs, loops;                                 /* whose lanes can part */
    uint32_t scalars, vectors, runs, strided, elsewhere; /* loads and stores of buffers */
};

struct shape_case {
    const char *what;
    const char *size; /* of a workgroup */
    const char *body; /* of main */
    struct findings expected;
};

#define LINE  "local_size_x = 64"
#define PAIRS "local_size_x = 2, local_size_y = 32"

#define HEAD                                                                          \
    "#version 450\n"                                                                  \
    "layout(%s) in;\n"                                                                \
    "layout(std430, binding = 0) readonly buffer X { float x[]; };\n"                 \
    "layout(std430, binding = 0) readonly buffer X4 { vec4 x4[]; };\n"                \
    "layout(std430, binding = 1) writeonly buffer Y { float y[]; };\n"                \
    "layout(push_constant) uniform Push { uint count; uint width; float m; } push;\n" \
    "void main() { uint i = gl_GlobalInvocationID.x; uint lane = gl_LocalInvocationIndex;\n"

static const struct shape_case cases[] = {
    {"one element each", LINE, "y[i] = x[i]; }", {.vectors = 2}},
    {"one element for all",
     LINE,
     "y[i] = x[push.width] + x[gl_WorkGroupID.x]; }",
     {.vectors = 1, .scalars = 2}},
    {"four elements each", LINE, "vec4 v = x4[i]; y[i] = v.x + v.w; }", {.vectors = 2}},
    {"every third element", LINE, "y[i * 3] = x[i * 3 + 1]; }", {.strided = 2}},
    {"a row each", LINE, "y[i] = x[i * push.width]; }", {.vectors = 1, .elsewhere = 1}},
    {"rows of 16 lanes",
     LINE,
     "y[lane / 16 * push.width + lane % 16] = x[lane / 16]; }",
     {.vectors = 1, .scalars = 1}},
    {"behind an early return, a counted loop",
     LINE,
     "if (i >= push.count) return; float s = 0.0;\n"
     "for (uint k = 0; k < push.width; k++) { s = s * push.m + x[k]; } y[i] = s; }",
     {.ifs = 1, .vectors = 1, .scalars = 1}},
    {"within a branch, a counted loop in a counted loop",
     LINE,
     "if (i < push.count) { float s = 0.0; for (uint k = 0; k < push.width; k++) {\n"
     "for (uint l = 0; l < k; l++) { s += x[k * push.width + l]; } } y[i] = s; } }",
     {.ifs = 1, .vectors = 1, .scalars = 1}},
    {"a loop of a length for each lane, whose counter is one for those in it",
     LINE,
     "float s = 0.0; for (uint k = 0; k < lane; k++) { s += x[k]; } y[i] = s; }",
     {.ifs = 1, .loops = 1, .vectors = 1, .scalars = 1}},
    {"a loop that lanes leave early",
     LINE,
     "float s = 0.0; for (uint k = 0; k < push.width; k++) { s += x[k]; if (s > push.m * "
     "float(lane)) "
     "break; } y[i] = s; }",
     {.ifs = 1, .loops = 1, .vectors = 1, .scalars = 1}},
    {"places by divisions that change nothing",
     LINE,
     "y[(lane + 64) % 768 + gl_WorkGroupID.x * 768] = x[(lane + 128) / 192 * 768 + (lane + 128) % "
     "192]; }",
     {.vectors = 2}},
    {"a comparison that all lanes pass",
     LINE,
     "if (lane < 64) { if (lane + 1 <= 64) { y[i] = x[i]; } } }",
     {.vectors = 2}},
    {"one variable for many places",
     LINE,
     "uint at = i; float v = x[at]; at *= push.width; v += x[at]; at = push.width; v += x[at]; at "
     "= lane; y[at] = v; }",
     {.vectors = 2, .scalars = 1, .elsewhere = 1}},
    {"rows of two lanes",
     PAIRS,
     "uint row = gl_LocalInvocationID.y, column = gl_LocalInvocationID.x;\n"
     "y[row * 96 + column] = x[row / 16 * 7 + row % 16 * 2 + column] + x[lane] + x[(row + 40) % 96 "
     "* 50 + column] + x[row]; }",
     {.vectors = 2, .runs = 2, .strided = 1}},
    {"what rows of two lanes divide",
     PAIRS,
     "y[lane % 2 + lane / 2 * 9] = x[lane / 2 * 2 + lane % 2]; }",
     {.vectors = 1, .runs = 1}},
    {"a counter that lanes go on with",
     LINE,
     "uint k = 0; if (i < push.count) { k = 1; } for (; k < push.width; k++) { y[k * 64 + lane] = "
     "x[lane]; } }",
     {.ifs = 2, .loops = 1, .vectors = 1, .elsewhere = 1}},
};

static void count_access(struct findings *found, const struct weft_ir_program *program,
                         const struct weft_ir_instruction *instruction) {
    if ((instruction->op != WEFT_IR_LOAD && instruction->op != WEFT_IR_STORE) ||
        instruction->space != WEFT_IR_BUFFER) {
        return;
    }
    const weft_ir_value index = program->arguments[instruction->arguments];
    const struct weft_ir_shape shape = program->values[index].shape;
    const int32_t size = (int32_t)(weft_ir_bits(instruction->type) / 8 * instruction->n);
    uint32_t *kind = &found->elsewhere;
    if (index == 0 || shape.kind == WEFT_IR_UNIFORM) {
        kind = &found->scalars;
    } else if (shape.kind == WEFT_IR_LINEAR && shape.stride != size) {
        kind = &found->strided;
    } else if (shape.kind == WEFT_IR_LINEAR) {
        kind = weft_ir_is_even(program, shape) ? &found->vectors : &found->runs;
    }
    *kind += 1;
}

static struct findings find(const struct weft_ir_program *program) {
    struct findings found = {0};
    for (uint32_t i = 0; i < program->node_count; i++) {
        const struct weft_ir_node *node = &program->nodes[i];
        found.ifs += node->kind == WEFT_IR_IF && node->divergent;
        found.loops += node->kind == WEFT_IR_LOOP && node->divergent;
        for (uint32_t k = 0; node->kind == WEFT_IR_CODE && k < node->count; k++) {
            count_access(&found, program, &program->instructions[node->first + k]);
        }
    }
    return found;
}

static void run_case(const struct shape_case *given, uint32_t lanes) {
    weft_device device = {.math = WEFT_MATH_REPRODUCIBLE}; /* no driver is involved */
    char text[4096];
    const int length = snprintf(text, sizeof text, HEAD "%s\n", given->size, given->body);
    assert_in_range(length, 1, sizeof text - 1);
    uint32_t *words = NULL;
    size_t size = 0;
    assert_ok(weft_glsl_compile(&words, &size, &device, given->what, text));
    const struct weft_ir_source source = {
        .words = words, .size = size, .entry_point = "main", .lanes = lanes};
    struct weft_ir_program program = {.lanes = lanes};
    assert_ok(weft_ir_decode(&program, &source));
    assert_ok(weft_ir_analyze(&program));
    const struct findings found = find(&program);
    if (memcmp(&found, &given->expected, sizeof found) != 0) {
        fail_msg("%s, %u lanes: ifs %u, loops %u, scalars %u, vectors %u, runs %u, strided %u, "
                 "elsewhere %u",
                 given->what, lanes, found.ifs, found.loops, found.scalars, found.vectors,
                 found.runs, found.strided, found.elsewhere);
    }
    weft_ir_free(&program);
    weft_free(NULL, words);
}

WEFT_TEST(lanes_part_only_where_they_must) {
    static const uint32_t widths[] = {4, 8, 16};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (uint32_t k = 0; k < 3; k++) {
            run_case(&cases[i], widths[k]);
        }
    }
}

#else

WEFT_TEST(nothing_is_made_out_without_llvm) {
    assert_false(weft_native_can_compile());
}

#endif
