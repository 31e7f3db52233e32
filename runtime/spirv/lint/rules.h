/* SPDX-License-Identifier: MIT */
/*
 * Lists of features that give the same bits on every conforming driver, and of those that do not, with the reason.
 * The reasons about floating point come from the Vulkan specification, appendix "Vulkan Environment for SPIR-V",
 * "Precision and Operation of SPIR-V Instructions".
 */
#ifndef WEFT_SPIRV_LINT_RULES_H
#define WEFT_SPIRV_LINT_RULES_H

#include <stddef.h>
#include <stdint.h>

enum weft_lint_verdict {
    WEFT_LINT_ALLOWED = 0, /* the same bits whatever the operands */
    WEFT_LINT_CONDITIONAL, /* the same bits on the condition, stated by the reason, that a shader
                              must keep because no lint can see it */
    WEFT_LINT_CHECKED,     /* the same bits if `check` finds nothing wrong */
    WEFT_LINT_REFUSED
};

/** Further checks of the lint on an instruction that is CHECKED. */
enum weft_lint_check {
    WEFT_LINT_CHECK_NONE = 0,
    WEFT_LINT_CHECK_NO_CONTRACTION, /* the result is decorated with NoContraction */
    WEFT_LINT_CHECK_PACKED_DOT,     /* of two words of four bytes */
    WEFT_LINT_CHECK_MATRIX_TYPE,    /* cooperative matrices of integers */
    WEFT_LINT_CHECK_MATRIX_PRODUCT, /* whose sums do not saturate */
    WEFT_LINT_CHECK_IMPORT,         /* the set imported is GLSL.std.450 */
    WEFT_LINT_CHECK_EXT_INST,       /* the function is on the list */
    WEFT_LINT_CHECK_CAPABILITY,     /* it is on the list */
    WEFT_LINT_CHECK_MODE,           /* it is on the list; float modes are for 32 bits */
    WEFT_LINT_CHECK_DECORATION,     /* it is on the list, and so is the built-in variable */
    WEFT_LINT_CHECK_MEMBER_DECORATION,
    WEFT_LINT_CHECK_FLOAT_TYPE,   /* 32 bits */
    WEFT_LINT_CHECK_CONSTANT,     /* no subnormal float */
    WEFT_LINT_CHECK_SPEC_OP,      /* the operation is allowed without a check of its own */
    WEFT_LINT_CHECK_SHUFFLE,      /* no undefined component */
    WEFT_LINT_CHECK_REDUCE,       /* over the subgroup, neither a scan nor a cluster */
    WEFT_LINT_CHECK_RESULT_UNUSED /* nothing uses the result */
};

struct weft_lint_rule {
    uint32_t number;
    uint8_t verdict; /* enum weft_lint_verdict */
    uint8_t check;   /* enum weft_lint_check */
    const char *name;
    const char *reason; /* why the verdict; completes "NAME is allowed: …" or "… refused: …" */
    const char *instead; /* what to use, or null */
};

enum weft_lint_list {
    WEFT_LINT_OPCODES = 0, /* names start with Op */
    WEFT_LINT_FUNCTIONS,   /* of GLSL.std.450 */
    WEFT_LINT_CAPABILITIES,
    WEFT_LINT_EXECUTION_MODES,
    WEFT_LINT_DECORATIONS,
    WEFT_LINT_BUILT_INS,
    WEFT_LINT_LISTS /* how many there are */
};

/** A list, in the order of the numbers. */
const struct weft_lint_rule *weft_lint_rules(size_t *count, enum weft_lint_list list);

/** The rule about a number, or null for one that is not on the list, which counts as refused. */
const struct weft_lint_rule *weft_lint_find(enum weft_lint_list list, uint32_t number);

/* The list of instructions, which has a file of its own. */
extern const struct weft_lint_rule weft_lint_opcodes[];
extern const size_t weft_lint_opcode_count;

#endif
