/* SPDX-License-Identifier: MIT */
/* Fma in fused math: what the passes keep, flush and replace. That the results are right is checked on every device by test_fma.c. */
#include "support.h"
#include "support_spirv.h"

static const char kernel_text[] =
    "#version 450\n"
    "layout(local_size_x = 64) in;\n"
    "layout(set = 0, binding = 0) buffer A { float x[]; };\n"
    "layout(set = 0, binding = 1) buffer B { vec4 v[]; };\n"
    "void main() {\n"
    "    uint i = gl_GlobalInvocationID.x;\n"
    "    x[i] = fma(x[i], x[i + 1], x[i + 2]) * x[i + 3] + x[i + 4];\n"
    "    v[i] = fma(v[i], v[i + 1], v[i + 2]);\n"
    "}\n";
enum { FMAS = 2, COMPONENTS = 1 + 4, OP_FMA = 4427, CAPABILITY_FMA = 6030 };

#define EMULATES(way) \
    ((struct weft_spirv_needs){.no_contraction = 1, .lint = 1, .fused = 1, way = 1})
static const struct weft_spirv_needs kept = {.no_contraction = 1, .lint = 1, .fused = 1};

static uint32_t count_fmas(struct words words) {
    uint32_t count = 0;
    WEFT_TEST_EACH(instruction, words) {
        count +=
            weft_spirv_opcode(instruction[0]) == SpvOpExtInst && instruction[4] == GLSLstd450Fma;
    }
    return count;
}

static bool has_capability(struct words words, uint32_t capability) {
    WEFT_TEST_EACH(instruction, words) {
        if (weft_spirv_opcode(instruction[0]) == SpvOpCapability && instruction[1] == capability) {
            return true;
        }
    }
    return false;
}

static uint32_t count_decorated(struct words words) {
    uint32_t count = 0;
    WEFT_TEST_EACH(instruction, words) {
        count += weft_spirv_opcode(instruction[0]) == SpvOpDecorate &&
                 instruction[2] == SpvDecorationNoContraction;
    }
    return count;
}

WEFT_TEST(test_fused_math_keeps_what_reproducible_math_splits) {
    struct words source = weft_test_compile(kernel_text);
    struct words fused = weft_test_rewrite(source, kept);
    struct words split = weft_test_make_reproducible(source);
    assert_int_equal(count_fmas(source), FMAS);
    assert_int_equal(count_fmas(fused), FMAS);
    assert_int_equal(count_fmas(split), 0);
    /* Beside them a product and a sum stay apart, each decorated as the fmas are. */
    assert_int_equal(weft_test_count_ops(fused, SpvOpFMul), 1);
    assert_int_equal(weft_test_count_ops(fused, SpvOpFAdd), 1);
    assert_int_equal(count_decorated(fused), FMAS + 2);
    assert_int_equal(weft_test_count_ops(split, SpvOpFMul), FMAS + 1);
    assert_int_equal(weft_test_count_ops(split, SpvOpFAdd), FMAS + 1);
    weft_test_expect_valid(fused, "fused");
    free(source.data);
    free(fused.data);
    free(split.data);
}

WEFT_TEST_ON_HOST(the_lint_wants_them_decorated, f) {
    struct words source = weft_test_compile(kernel_text);
    struct words fused = weft_test_rewrite(source, kept);
    const struct weft_spirv_needs reproducible = {.lint = 1}, undecorated = {.lint = 1, .fused = 1};
    struct words result;
    assert_status(weft_test_try_rewrite(&result, fused, &reproducible, &f->host), WEFT_UNSUPPORTED);
    weft_test_expect_log(f, "Fma", "fused math");
    assert_status(weft_test_try_rewrite(&result, source, &undecorated, &f->host), WEFT_UNSUPPORTED);
    weft_test_expect_log(f, "NoContraction");
    free(source.data);
    free(fused.data);
}

/* One function, called for each component. */
static void expect_calls(struct words source, struct weft_spirv_needs needs, const char *name) {
    struct words made = weft_test_rewrite(source, needs);
    assert_int_equal(count_fmas(made), 0);
    assert_int_equal(weft_test_count_ops(made, SpvOpFunctionCall), COMPONENTS);
    assert_int_equal(weft_test_count_ops(made, SpvOpFunction),
                     weft_test_count_ops(source, SpvOpFunction) + 1);
    assert_int_equal(has_capability(made, SpvCapabilityFloat64), needs.fma_by_float64 != 0);
    assert_int_equal(has_capability(made, SpvCapabilityInt64), needs.fma_by_float64 != 0);
    weft_test_expect_valid(made, name);
    free(made.data);
}

WEFT_TEST(test_emulations_are_functions) {
    struct words source = weft_test_compile(kernel_text);
    expect_calls(source, EMULATES(.fma_by_float64), "by 64-bit floats");
    expect_calls(source, EMULATES(.fma_by_integers), "by integers");
    struct weft_spirv_needs flushed = EMULATES(.fma_by_integers);
    flushed.flushes = 1;
    expect_calls(source, flushed, "by integers, flushed");
    free(source.data);
}

WEFT_TEST(test_the_extension_has_an_instruction) {
    struct words source = weft_test_compile(kernel_text);
    struct words made = weft_test_rewrite(source, EMULATES(.fma_by_extension));
    assert_int_equal(count_fmas(made), 0);
    assert_int_equal(weft_test_count_ops(made, OP_FMA), FMAS);
    assert_true(has_capability(made, CAPABILITY_FMA));
    assert_int_equal(weft_test_count_ops(made, SpvOpExtension),
                     weft_test_count_ops(source, SpvOpExtension) + 1);
    free(source.data);
    free(made.data);
}

/* Another Fma of twice the numbers says what is small. */
WEFT_TEST(test_results_are_flushed) {
    struct words source = weft_test_compile(kernel_text);
    for (uint32_t loses = 0; loses < 2; loses++) {
        struct weft_spirv_needs needs = kept;
        needs.flushes = 1;
        needs.loses_small_products = loses;
        struct words made = weft_test_rewrite(source, needs);
        assert_int_equal(count_fmas(made), 2 * FMAS);
        weft_test_expect_valid(made, "flushed");
        free(made.data);
    }
    free(source.data);
}

WEFT_TEST(test_modules_without_it_stay) {
    struct words source =
        weft_test_compile("#version 450\n"
                          "layout(local_size_x = 64) in;\n"
                          "layout(set = 0, binding = 0) buffer A { float x[]; };\n"
                          "void main() { x[0] = x[1] * x[2] + x[3]; }\n");
    struct words plain = weft_test_make_reproducible(source);
    struct words wide = weft_test_rewrite(plain, (struct weft_spirv_needs){.fma_by_float64 = 1});
    struct words integers =
        weft_test_rewrite(plain, (struct weft_spirv_needs){.fma_by_integers = 1});
    struct words extended =
        weft_test_rewrite(plain, (struct weft_spirv_needs){.fma_by_extension = 1});
    weft_test_expect_same(wide, plain);
    weft_test_expect_same(integers, plain);
    weft_test_expect_same(extended, plain);
    free(source.data);
    free(plain.data);
    free(wide.data);
    free(integers.data);
    free(extended.data);
}

WEFT_TEST_ON_HOST(passes_fail_cleanly, f) {
    static const struct weft_spirv_needs ways[] = {
        {.fma_by_float64 = 1}, {.fma_by_integers = 1}, {.fma_by_extension = 1}};
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        weft_test_pass_without_memory(f, ways[i], kernel_text, 5);
        weft_test_pass_on_damage(f, ways[i], kernel_text);
    }
    for (size_t i = 0; i < 2; i++) {
        weft_test_pass_without_ids(f, ways[i], kernel_text);
    }
}
