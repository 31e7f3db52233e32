/* SPDX-License-Identifier: MIT */
#include "spirv/lint/checks.h"

#include <stdio.h>

#include "core/try.h"

#define FLOAT_WIDTH       32u
#define FLOAT_TYPE_WORDS  3u          /* OpTypeFloat without an encoding of its own */
#define UNDEFINED_ELEMENT 0xFFFFFFFFu /* component of OpVectorShuffle: any bits */
#define NUMBER_SIZE       32          /* text for what a list does not name */

weft_status weft_lint_refuse(const struct weft_lint_place *at, const char *name, const char *reason,
                             const char *instead) {
    const struct weft_lint_rule *opcode =
        weft_lint_find(WEFT_LINT_OPCODES, weft_spirv_opcode(at->words[0]));
    return weft_fail(at->module->host, WEFT_UNSUPPORTED,
                     "SPIR-V module, word %zu: reproducible math cannot have %s%s%s: %s%s%s",
                     (size_t)(at->words - at->module->words), opcode ? opcode->name : "",
                     opcode && name[0] ? " " : "", name, reason, instead ? "; use " : "",
                     instead ? instead : "");
}

weft_status weft_lint_judge(const struct weft_lint_place *at, enum weft_lint_list list,
                            uint32_t number, const char *kind) {
    const struct weft_lint_rule *rule = weft_lint_find(list, number);
    if (!rule) {
        char text[NUMBER_SIZE];
        snprintf(text, sizeof text, "%s %u", kind, number);
        return weft_lint_refuse(
            at, text, "it is not on the list of what gives the same bits everywhere", NULL);
    }
    if (rule->verdict == WEFT_LINT_REFUSED) {
        return weft_lint_refuse(at, list == WEFT_LINT_OPCODES ? "" : rule->name, rule->reason,
                                rule->instead);
    }
    return WEFT_OK;
}

static weft_status check_no_contraction(const struct weft_lint_place *at) {
    if (!weft_spirv_has_decoration(NULL, at->module, at->words[2], SpvDecorationNoContraction)) {
        return weft_lint_refuse(at, "without the decoration NoContraction",
                                "a driver may fuse it with its neighbours or reorder them",
                                "the pass no-contraction, or precise in GLSL");
    }
    return WEFT_OK;
}

static weft_status check_packed_dot(const struct weft_lint_place *at) {
    if (!weft_spirv_is_packed_dot(at->module, at->words)) {
        return weft_lint_refuse(at, "of other operands than two words of four bytes",
                                "few devices have it, and no pass replaces it",
                                "weft_dot4 or weft_dot4_mixed of dot4.glsl");
    }
    return WEFT_OK;
}

static weft_status check_matrix_type(const struct weft_lint_place *at) {
    if (!weft_spirv_made_by(at->module, weft_spirv_word(at->words, 2), SpvOpTypeInt)) {
        return weft_lint_refuse(at, "of floats",
                                "order and precision of the sums are the driver's choice",
                                "a sum of products in a written order, or a matrix of integers");
    }
    return WEFT_OK;
}

static weft_status check_matrix_product(const struct weft_lint_place *at) {
    const uint32_t operands = weft_spirv_word(at->words, 6);
    if (operands != UINT32_MAX && (operands & WEFT_SPIRV_COOPERATIVE_SATURATES) != 0) {
        return weft_lint_refuse(at, "with saturation",
                                "a sum that stops at a limit depends on its order",
                                "the same instruction without it");
    }
    return WEFT_OK;
}

static weft_status check_set(const struct weft_lint_place *at, uint32_t set) {
    if (!weft_spirv_is_glsl(at->module, set)) {
        return weft_lint_refuse(at, "of another set than GLSL.std.450",
                                "there is no list of what gives the same bits everywhere in it",
                                NULL);
    }
    return WEFT_OK;
}

static weft_status check_ext_inst(const struct weft_lint_place *at) {
    WEFT_TRY(check_set(at, at->words[3]));
    return weft_lint_judge(at, WEFT_LINT_FUNCTIONS, at->words[4], "function");
}

static weft_status check_mode(const struct weft_lint_place *at) {
    uint32_t mode = weft_spirv_word(at->words, 2);
    WEFT_TRY(weft_lint_judge(at, WEFT_LINT_EXECUTION_MODES, mode, "execution mode"));
    bool of_floats =
        mode >= SpvExecutionModeDenormFlushToZero && mode <= SpvExecutionModeRoundingModeRTE;
    if (of_floats && weft_spirv_word(at->words, 3) != FLOAT_WIDTH) {
        return weft_lint_refuse(at, "for a width other than 32", "there are no other floats", NULL);
    }
    return WEFT_OK;
}

/*
 * Modules with cooperative matrices are for whole subgroups of a size that the pipeline asks for, and have to know which of them does which part.
 * In sums of integers that does not show.
 */
static bool is_part_of_matrices(const struct weft_spirv_module *module, uint32_t built_in) {
    return built_in == SpvBuiltInSubgroupId &&
           weft_spirv_declares(module->words, module->count, WEFT_SPIRV_COOPERATIVE_CAPABILITY);
}

/* word: where the decoration is. */
static weft_status check_decoration(const struct weft_lint_place *at, uint32_t word) {
    uint32_t decoration = weft_spirv_word(at->words, word);
    WEFT_TRY(weft_lint_judge(at, WEFT_LINT_DECORATIONS, decoration, "decoration"));
    const uint32_t built_in = weft_spirv_word(at->words, word + 1);
    return decoration != SpvDecorationBuiltIn || is_part_of_matrices(at->module, built_in)
               ? WEFT_OK
               : weft_lint_judge(at, WEFT_LINT_BUILT_INS, built_in, "built-in");
}

static weft_status check_float_type(const struct weft_lint_place *at) {
    uint32_t width = weft_spirv_word(at->words, 2);
    if (width != FLOAT_WIDTH || weft_spirv_length(at->words[0]) != FLOAT_TYPE_WORDS) {
        char text[NUMBER_SIZE];
        snprintf(text, sizeof text, "of %u bits", width);
        return weft_lint_refuse(
            at, text,
            "not every device has other floats than those of 32 bits, and their rounding "
            "is not probed",
            "32-bit floats throughout");
    }
    return WEFT_OK;
}

static bool is_subnormal(uint32_t bits) {
    return (bits & 0x7F800000u) == 0 && (bits & 0x007FFFFFu) != 0;
}

static weft_status check_constant(const struct weft_lint_place *at) {
    if (weft_spirv_made_by(at->module, at->words[1], SpvOpTypeFloat) &&
        is_subnormal(at->words[3])) {
        char text[NUMBER_SIZE];
        snprintf(text, sizeof text, "of bits 0x%08x", at->words[3]);
        return weft_lint_refuse(at, text, "as a subnormal it counts as zero on some drivers only",
                                "0, a normal number, or an integer with these bits");
    }
    return WEFT_OK;
}

/* first: where the components are. */
static weft_status check_shuffle(const struct weft_lint_place *at, uint32_t first) {
    uint32_t length = weft_spirv_length(at->words[0]);
    for (uint32_t i = first; i < length; i++) {
        if (at->words[i] == UNDEFINED_ELEMENT) {
            return weft_lint_refuse(at, "with an undefined component", "it stands for any bits",
                                    "a component of an operand");
        }
    }
    return WEFT_OK;
}

/* The operation's operands sit one word further on than they would by themselves. */
static weft_status check_spec_op(const struct weft_lint_place *at) {
    uint32_t opcode = weft_spirv_word(at->words, 3);
    const struct weft_lint_rule *rule = weft_lint_find(WEFT_LINT_OPCODES, opcode);
    if (rule && rule->check == WEFT_LINT_CHECK_SHUFFLE) {
        return check_shuffle(at, 6);
    }
    if (rule && rule->verdict == WEFT_LINT_REFUSED) {
        return weft_lint_refuse(at, rule->name, rule->reason, rule->instead);
    }
    if (!rule || rule->verdict == WEFT_LINT_CHECKED) {
        char text[NUMBER_SIZE];
        snprintf(text, sizeof text, "opcode %u", opcode);
        return weft_lint_refuse(at, rule ? rule->name : text,
                                "only operations that need no check of their own are on the list",
                                NULL);
    }
    return WEFT_OK;
}

static weft_status check_reduce(const struct weft_lint_place *at) {
    if (weft_spirv_word(at->words, 4) != SpvGroupOperationReduce) {
        return weft_lint_refuse(at, "as a scan or over a part of the subgroup",
                                "which invocations sit where in a subgroup is the driver's choice",
                                "shared memory, indexed by gl_LocalInvocationID");
    }
    return WEFT_OK;
}

weft_status weft_lint_check(const struct weft_lint_place *at, enum weft_lint_check check) {
    switch (check) {
    case WEFT_LINT_CHECK_NO_CONTRACTION:
        return check_no_contraction(at);
    case WEFT_LINT_CHECK_PACKED_DOT:
        return check_packed_dot(at);
    case WEFT_LINT_CHECK_MATRIX_TYPE:
        return check_matrix_type(at);
    case WEFT_LINT_CHECK_MATRIX_PRODUCT:
        return check_matrix_product(at);
    case WEFT_LINT_CHECK_IMPORT:
        return check_set(at, at->words[1]);
    case WEFT_LINT_CHECK_EXT_INST:
        return check_ext_inst(at);
    case WEFT_LINT_CHECK_CAPABILITY:
        return weft_lint_judge(at, WEFT_LINT_CAPABILITIES, weft_spirv_word(at->words, 1),
                               "capability");
    case WEFT_LINT_CHECK_MODE:
        return check_mode(at);
    case WEFT_LINT_CHECK_DECORATION:
        return check_decoration(at, 2);
    case WEFT_LINT_CHECK_MEMBER_DECORATION:
        return check_decoration(at, 3);
    case WEFT_LINT_CHECK_FLOAT_TYPE:
        return check_float_type(at);
    case WEFT_LINT_CHECK_CONSTANT:
        return check_constant(at);
    case WEFT_LINT_CHECK_SPEC_OP:
        return check_spec_op(at);
    case WEFT_LINT_CHECK_SHUFFLE:
        return check_shuffle(at, 5);
    case WEFT_LINT_CHECK_REDUCE:
        return check_reduce(at);
    case WEFT_LINT_CHECK_NONE:
    case WEFT_LINT_CHECK_RESULT_UNUSED: /* see check_races */
        return WEFT_OK;
    }
    return weft_lint_refuse(at, "", "no check is known for it", NULL);
}
