/* SPDX-License-Identifier: MIT */
/*
 * The pass that gives branches one behind the other conditions that look different. That nothing else is different is
 * what bits of Fourier transforms are compared for; that V3D's compiler ends is what `./dev gpus v3d71` shows.
 */
#include "shader/pipeline.h"
#include "spirv/check.h"
#include "support.h"
#include "support_spirv.h"

#define HEAD                         \
    "#version 450\n"                 \
    "layout(local_size_x = 8) in;\n" \
    "layout(set = 0, binding = 0) buffer A { float x[]; };\n"

/* As VkFFT's: what one branch loads, the next one uses. */
#define PAIR(width)                                                    \
    "    uint i = gl_LocalInvocationID.x;\n"                           \
    "    float a;\n"                                                   \
    "    if (i < " width ") { a = x[i]; if (a < 1.0) { a = 1.0; } }\n" \
    "    barrier();\n"                                                 \
    "    if (i < " width                                               \
    ") { x[i + 8] = a; if (a < 2.0) { x[0] = a; } if (a < 3.0) { x[1] = a; } }\n"

static const char pair_text[] = HEAD "void main() {\n" PAIR("5u") "}\n";

static const struct weft_spirv_needs needs = {.unequal_branches = 1};

static struct words part(struct words source) {
    return weft_test_rewrite(source, needs);
}

static void expect_unchanged(const char *text) {
    struct words source = weft_test_compile(text);
    struct words parted = part(source);
    assert_true(weft_test_count_ops(source, SpvOpSelectionMerge) > 0);
    weft_test_expect_same(parted, source);
    free(source.data);
    free(parted.data);
}

/*
 * Of the outer two the second; of the three inside, which the merge of the first does not end, the second and not the third. A third one
 * outside would look as the first.
 */
WEFT_TEST(test_every_second_of_each_level) {
    struct words source = weft_test_compile(pair_text);
    struct words parted = part(source);
    assert_int_equal(weft_test_count_ops(source, SpvOpSelectionMerge), 5);
    assert_int_equal(weft_test_count_ops(source, SpvOpLogicalOr), 0);
    uint32_t changed[5] = {0}, selections = 0, either = 0;
    WEFT_TEST_EACH(word, parted) {
        if (weft_spirv_opcode(word[0]) == SpvOpLogicalOr) {
            either = word[2];
        } else if (weft_spirv_opcode(word[0]) == SpvOpBranchConditional && selections < 5) {
            changed[selections++] = either != 0 && word[1] == either;
        }
    }
    /* the first with one inside; the second with two */
    const uint32_t expected[5] = {0, 0, 1, 1, 0};
    assert_int_equal(selections, 5);
    assert_memory_equal(changed, expected, sizeof expected);
    assert_int_equal(weft_test_count_ops(parted, SpvOpLogicalOr), 2);
    weft_test_expect_valid(parted, "a pair of branches");
    free(source.data);
    free(parted.data);
}

/* Branches on specialization constants are decided when a module is compiled, and have to stay so. */
WEFT_TEST(test_what_stays) {
    expect_unchanged(HEAD "layout(constant_id = 0) const uint WIDTH = 5;\n"
                          "void main() {\n" PAIR("WIDTH") "}\n");
    expect_unchanged(
        "#version 450\n"
        "layout(local_size_x = 1) in;\n"
        "layout(set = 0, binding = 0) buffer A { float x[]; };\n"
        "void main() { if (x[0] < 1.0) { x[1] = 2.0; } if (x[0] < 1.0) { x[2] = 2.0; } }\n");
}

/* A variable that is not in an entry point's interface must not be read there. */
WEFT_TEST(test_foreign_variable) {
    struct words source = weft_test_compile(pair_text);
    weft_test_take_interfaces(source);
    struct words parted = part(source);
    weft_test_expect_same(parted, source);
    free(source.data);
    free(parted.data);
}

/* The lint has nothing against what the pass adds. */
WEFT_TEST_ON_HOST(test_transforms, test) {
    static const uint32_t sizes[][2] = {{37, 31}, {64, 65}, {62, 0}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        weft_test_pass_on_transform(
            test, (struct weft_spirv_needs){.unequal_branches = 1, .lint = 1}, sizes[i]);
    }
}

WEFT_TEST(test_for_a_raspberry_pi) {
    struct weft_spirv_needs needed = {0};
    weft_pipeline_suit_compiler(&needed, &(weft_device_info){.vendor_id = 0x14e4});
    assert_int_equal(needed.unequal_branches, 1);
    weft_pipeline_suit_compiler(&needed, &(weft_device_info){.vendor_id = 0x1002});
    assert_int_equal(needed.unequal_branches, 0);
}

WEFT_TEST_ON_HOST(test_no_ids_left, test) {
    weft_test_pass_without_ids(test, needs, pair_text);
}

WEFT_TEST_ON_HOST(test_out_of_memory, test) {
    weft_test_pass_without_memory(test, needs, pair_text, 8);
}

WEFT_TEST_ON_HOST(test_damage, test) {
    weft_test_pass_on_damage(test, needs, pair_text);
}
