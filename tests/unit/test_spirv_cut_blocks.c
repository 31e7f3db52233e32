/* SPDX-License-Identifier: MIT */
/*
 * The pass that cuts long blocks. That no result changes is what rules.blocks compares bits of Fourier transforms for, on devices that
 * do not need it; what compilers make of it is what `./dev gpus v3d71 g610` shows.
 */
#include "shader/pipeline.h"
#include "spirv/check.h"
#include "support.h"
#include "support_spirv.h"

/* STATEMENT has 9 instructions or more. */
#define HEAD_WITH(statement)                                                                    \
    "#version 450\n"                                                                            \
    "layout(local_size_x = 8) in;\n"                                                            \
    "layout(set = 0, binding = 0) buffer A { float x[]; };\n"                                   \
    "#define STATEMENT " statement "\n"                                                         \
    "#define SIX STATEMENT STATEMENT STATEMENT STATEMENT STATEMENT STATEMENT\n"                 \
    "#define LONG SIX SIX SIX SIX SIX SIX SIX SIX SIX SIX SIX SIX SIX SIX SIX SIX SIX SIX SIX " \
    "SIX\n"
#define HEAD HEAD_WITH("a = a * x[gl_LocalInvocationID.x + 1];")
#define MAIN(prologue, body) \
    "void main() {\n    float a = x[0];\n" prologue "    " body "\n    x[0] = a;\n}\n"

static const char long_text[] = HEAD MAIN("", "LONG");

static const struct weft_spirv_needs needs = {.short_blocks = 1};

static struct words cut(struct words source) {
    struct words words = weft_test_rewrite(source, needs);
    weft_test_expect_valid(words, "a module with cuts");
    return words;
}

/* Instructions of the longest block, its label not among them. */
static uint32_t longest_block(struct words words) {
    uint32_t longest = 0, length = 0;
    bool is_inside = false;
    WEFT_TEST_EACH(word, words) {
        const uint32_t opcode = weft_spirv_opcode(word[0]);
        is_inside = opcode == SpvOpLabel || (is_inside && opcode != SpvOpFunctionEnd);
        length = opcode == SpvOpLabel ? 0 : length + is_inside;
        longest = length > longest ? length : longest;
    }
    return longest;
}

static uint32_t changes(struct words source, struct words result, uint32_t opcode) {
    return weft_test_count_ops(result, opcode) - weft_test_count_ops(source, opcode);
}

static void expect_unchanged(const char *text) {
    struct words source = weft_test_compile(text);
    struct words result = cut(source);
    weft_test_expect_same(result, source);
    free(source.data);
    free(result.data);
}

/* Expects so many cuts, each a branch over a barrier, and every number that is read hidden. */
static struct words expect_cuts(const char *text, uint32_t cuts, uint32_t numbers) {
    struct words source = weft_test_compile(text);
    struct words result = cut(source);
    assert_int_equal(changes(source, result, SpvOpSelectionMerge), cuts);
    assert_int_equal(changes(source, result, SpvOpMemoryBarrier), cuts);
    assert_int_equal(changes(source, result, SpvOpStore), cuts);
    assert_int_equal(changes(source, result, SpvOpLabel), 2 * cuts);
    assert_int_equal(changes(source, result, SpvOpBitwiseOr), numbers);
    free(source.data);
    return result;
}

WEFT_TEST(test_parts_of_a_long_block) {
    struct words source = weft_test_compile(long_text);
    const uint32_t length = longest_block(source);
    assert_true(length >= WEFT_SPIRV_LONG_BLOCK);
    struct words result = expect_cuts(long_text, length / WEFT_SPIRV_PART - 1, 120);
    /* as long as a part, but for what is up to the next store, hidden numbers and the cut itself */
    assert_true(longest_block(result) < WEFT_SPIRV_PART * 2);
    assert_int_equal(weft_test_count_ops(result, SpvOpIEqual), length / WEFT_SPIRV_PART - 1);
    free(source.data);
    free(result.data);
}

/* What decides the branch, and what it changes: a count that no dispatch has, and a variable that starts as 0. */
WEFT_TEST(test_what_is_never_taken) {
    struct words source = weft_test_compile(long_text);
    struct words result = cut(source);
    uint32_t counts = 0, loaded = 0, number = 0, zero = 0, condition = 0;
    WEFT_TEST_EACH(word, result) {
        switch (weft_spirv_opcode(word[0])) {
        case SpvOpDecorate:
            if (word[2] == SpvDecorationBuiltIn && word[3] == SpvBuiltInNumWorkgroups) {
                counts = word[1];
            }
            break;
        case SpvOpConstant:
            zero = word[3] == 0 ? word[2] : zero;
            break;
        case SpvOpLoad:
            loaded = word[3] == counts ? word[2] : loaded;
            break;
        case SpvOpCompositeExtract:
            number = word[3] == loaded ? word[2] : number;
            break;
        case SpvOpIEqual:
            assert_int_equal(word[3], number);
            assert_int_equal(word[4], zero);
            condition = word[2];
            break;
        case SpvOpBranchConditional:
            assert_int_equal(word[1], condition);
            break;
        default:
            break;
        }
    }
    assert_true(counts != 0 && number != 0 && zero != 0 && condition != 0);
    free(source.data);
    free(result.data);
}

/* Also where the module counts workgroups already, as a variable of its interface may be there once only. */
WEFT_TEST(test_workgroups_are_counted_once) {
    static const char text[] = HEAD MAIN("    a += float(gl_NumWorkGroups.y);\n", "LONG");
    struct words source = weft_test_compile(text);
    struct words result = cut(source);
    assert_true(changes(source, result, SpvOpSelectionMerge) > 0);
    assert_int_equal(changes(source, result, SpvOpDecorate), 0);
    free(source.data);
    free(result.data);
}

/* A value of && comes from the last part of the block before. */
WEFT_TEST(test_values_of_branches) {
    static const char text[] = HEAD MAIN("", "LONG a = a > 1.0 && x[1] > 2.0 ? 1.0 : 2.0;");
    struct words source = weft_test_compile(text);
    assert_true(weft_test_count_ops(source, SpvOpPhi) > 0);
    struct words result = cut(source); /* spirv-val looks at the parents */
    uint32_t phi = 0, labels = 0, parent = 0;
    WEFT_TEST_EACH(word, result) {
        parent = weft_spirv_opcode(word[0]) == SpvOpPhi ? word[4] : parent;
        phi += weft_spirv_opcode(word[0]) == SpvOpPhi;
    }
    uint32_t found = 0;
    WEFT_TEST_EACH(word, result) {
        if (weft_spirv_opcode(word[0]) == SpvOpLabel) {
            labels++;
            found = word[1] == parent ? labels : found;
        }
    }
    assert_int_equal(phi, 1);
    assert_true(found > 1); /* not the first part, with whose label the block began */
    free(source.data);
    free(result.data);
}

/* A loop's body is cut, its header is where its branches go. */
WEFT_TEST(test_loops) {
    static const char text[] = HEAD MAIN("", "for (uint i = 0; i < uint(x[2]); i++) { LONG }");
    struct words source = weft_test_compile(text);
    struct words result = cut(source);
    assert_true(changes(source, result, SpvOpSelectionMerge) > 1);
    assert_int_equal(changes(source, result, SpvOpLoopMerge), 0);
    free(source.data);
    free(result.data);
}

WEFT_TEST(test_what_stays) {
    /* short */
    expect_unchanged(HEAD MAIN("", "SIX"));
    /* numbers of nobody */
    expect_unchanged(HEAD_WITH("a = a * x[uint(a) + 1] + a;") MAIN("", "LONG"));
    /* not the entry point's */
    expect_unchanged(HEAD "float f(float a) { LONG return a; }\n"
                          "void main() { x[0] = f(x[1]); }\n");
}

WEFT_TEST_ON_HOST(test_transforms, test) {
    static const uint32_t sizes[][2] = {{2042, 0}, {64, 65}, {4096, 0}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        weft_test_pass_on_transform(test, needs, sizes[i]);
    }
}

WEFT_TEST(test_for_few_registers) {
    static const struct {
        uint32_t vendor, is_cut;
    } rows[] = {{0x14e4, 1}, {0x13b5, 1}, {0x1002, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct weft_spirv_needs needed = {0};
        weft_pipeline_suit_compiler(&needed, &(weft_device_info){.vendor_id = rows[i].vendor});
        assert_int_equal(needed.short_blocks, rows[i].is_cut);
    }
}

WEFT_TEST_ON_HOST(test_no_ids_left, test) {
    weft_test_pass_without_ids(test, needs, long_text);
}

WEFT_TEST_ON_HOST(test_out_of_memory, test) {
    weft_test_pass_without_memory(test, needs, long_text, 8);
}

WEFT_TEST_ON_HOST(test_damage, test) {
    weft_test_pass_on_damage(test, needs, long_text);
}
