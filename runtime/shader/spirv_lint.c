/* SPDX-License-Identifier: MIT */
#include "shader/spirv_lint.h"

#include <stdio.h>

#include "core/try.h"
#include "shader/spirv_lint_rules.h"
#include "spirv/module.h"
#include "spirv/operands.h"

#define FLOAT_WIDTH       32u
#define FLOAT_TYPE_WORDS  3u          /* OpTypeFloat without an encoding of its own */
#define GROUP_REDUCE      0u          /* group operation: over all of the subgroup */
#define UNDEFINED_ELEMENT 0xFFFFFFFFu /* component of OpVectorShuffle: any bits */
#define NUMBER_SIZE       32          /* text for what a list does not name */

/* What is known of an id. */
enum { HAS_NO_CONTRACTION = 1, IS_GLSL_SET = 2, IS_FLOAT = 4, IS_RACE = 8 };

struct lint {
    const uint32_t *words;
    size_t count;
    uint8_t *ids;    /* bound flag sets */
    size_t function; /* where the first one starts */
    bool has_races;  /* there are results that depend on which invocation comes first */
    const weft_host *host;
};

/* A word of an instruction; one that it does not have is a number that no list knows. */
static uint32_t word_of(const uint32_t *instruction, uint32_t index) {
    return index < weft_spirv_length(instruction[0]) ? instruction[index] : UINT32_MAX;
}

/* "Op… NAME", with or without the name, is refused. */
static weft_status refuse(const struct lint *lint, size_t at, const char *name, const char *reason,
                          const char *instead) {
    const struct weft_lint_rule *opcode =
        weft_lint_find(WEFT_LINT_OPCODES, weft_spirv_opcode(lint->words[at]));
    return weft_fail(lint->host, WEFT_UNSUPPORTED,
                     "SPIR-V module, word %zu: reproducible math cannot have %s%s%s: %s%s%s", at,
                     opcode ? opcode->name : "", opcode && name[0] ? " " : "", name, reason,
                     instead ? "; use " : "", instead ? instead : "");
}

/* What a list says about a number. kind: what it numbers, for one that is not on the list. */
static weft_status judge(const struct lint *lint, size_t at, enum weft_lint_list list,
                         uint32_t number, const char *kind) {
    const struct weft_lint_rule *rule = weft_lint_find(list, number);
    if (!rule) {
        char text[NUMBER_SIZE];
        snprintf(text, sizeof text, "%s %u", kind, number);
        return refuse(lint, at, text,
                      "it is not on the list of what gives the same bits everywhere", NULL);
    }
    if (rule->verdict == WEFT_LINT_REFUSED) {
        return refuse(lint, at, list == WEFT_LINT_OPCODES ? "" : rule->name, rule->reason,
                      rule->instead);
    }
    return WEFT_OK;
}

static weft_status check_no_contraction(const struct lint *lint, size_t at) {
    if ((lint->ids[lint->words[at + 2]] & HAS_NO_CONTRACTION) == 0) {
        return refuse(lint, at, "without the decoration NoContraction",
                      "a driver may fuse it with its neighbours or reorder them",
                      "weft_spirv_make_reproducible, or precise in GLSL");
    }
    return WEFT_OK;
}

static weft_status check_import(struct lint *lint, size_t at) {
    const uint32_t *instruction = lint->words + at;
    if (!weft_spirv_string_is(instruction + 2, weft_spirv_length(instruction[0]) - 2,
                              "GLSL.std.450")) {
        return refuse(lint, at, "of another set than GLSL.std.450",
                      "there is no list of what gives the same bits everywhere in it", NULL);
    }
    lint->ids[instruction[1]] |= IS_GLSL_SET;
    return WEFT_OK;
}

static weft_status check_ext_inst(const struct lint *lint, size_t at) {
    const uint32_t *instruction = lint->words + at;
    if ((lint->ids[instruction[3]] & IS_GLSL_SET) == 0) {
        return refuse(lint, at, "of another set than GLSL.std.450",
                      "there is no list of what gives the same bits everywhere in it", NULL);
    }
    return judge(lint, at, WEFT_LINT_FUNCTIONS, instruction[4], "function");
}

static weft_status check_mode(const struct lint *lint, size_t at) {
    const uint32_t *instruction = lint->words + at;
    uint32_t mode = word_of(instruction, 2);
    WEFT_TRY(judge(lint, at, WEFT_LINT_EXECUTION_MODES, mode, "execution mode"));
    bool of_floats = mode >= WEFT_EXECUTION_MODE_DENORM_FLUSH_TO_ZERO &&
                     mode <= WEFT_EXECUTION_MODE_ROUNDING_MODE_RTE;
    if (of_floats && word_of(instruction, 3) != FLOAT_WIDTH) {
        return refuse(lint, at, "for a width other than 32", "there are no other floats", NULL);
    }
    return WEFT_OK;
}

/* word: where the decoration is. */
static weft_status check_decoration(struct lint *lint, size_t at, uint32_t word) {
    const uint32_t *instruction = lint->words + at;
    uint32_t decoration = word_of(instruction, word);
    WEFT_TRY(judge(lint, at, WEFT_LINT_DECORATIONS, decoration, "decoration"));
    if (decoration == WEFT_DECORATION_BUILT_IN) {
        WEFT_TRY(judge(lint, at, WEFT_LINT_BUILT_INS, word_of(instruction, word + 1), "built-in"));
    }
    if (decoration == WEFT_DECORATION_NO_CONTRACTION &&
        weft_spirv_opcode(instruction[0]) == WEFT_OP_DECORATE) {
        lint->ids[instruction[1]] |= HAS_NO_CONTRACTION;
    }
    return WEFT_OK;
}

/* A group's own decorations come before it is applied. */
static void apply_group(struct lint *lint, size_t at) {
    const uint32_t *instruction = lint->words + at;
    uint32_t length = weft_spirv_length(instruction[0]);
    for (uint32_t i = 2; i < length; i++) {
        lint->ids[instruction[i]] |= lint->ids[instruction[1]] & HAS_NO_CONTRACTION;
    }
}

static weft_status check_float_type(struct lint *lint, size_t at) {
    const uint32_t *instruction = lint->words + at;
    uint32_t width = word_of(instruction, 2);
    if (width != FLOAT_WIDTH || weft_spirv_length(instruction[0]) != FLOAT_TYPE_WORDS) {
        char text[NUMBER_SIZE];
        snprintf(text, sizeof text, "of %u bits", width);
        return refuse(lint, at, text,
                      "not every device has other floats than those of 32 bits, and their rounding "
                      "is not probed",
                      "32-bit floats throughout");
    }
    lint->ids[instruction[1]] |= IS_FLOAT;
    return WEFT_OK;
}

static bool is_subnormal(uint32_t bits) {
    return (bits & 0x7F800000u) == 0 && (bits & 0x007FFFFFu) != 0;
}

static weft_status check_constant(const struct lint *lint, size_t at) {
    const uint32_t *instruction = lint->words + at;
    if ((lint->ids[instruction[1]] & IS_FLOAT) != 0 && is_subnormal(word_of(instruction, 3))) {
        char text[NUMBER_SIZE];
        snprintf(text, sizeof text, "of bits 0x%08x", word_of(instruction, 3));
        return refuse(lint, at, text, "as a subnormal it counts as zero on some drivers only",
                      "0, a normal number, or an integer with these bits");
    }
    return WEFT_OK;
}

/* first: where the components are. */
static weft_status check_shuffle(const struct lint *lint, size_t at, uint32_t first) {
    const uint32_t *instruction = lint->words + at;
    uint32_t length = weft_spirv_length(instruction[0]);
    for (uint32_t i = first; i < length; i++) {
        if (instruction[i] == UNDEFINED_ELEMENT) {
            return refuse(lint, at, "with an undefined component", "it stands for any bits",
                          "a component of an operand");
        }
    }
    return WEFT_OK;
}

/* The operation's operands sit one word further on than they would by themselves. */
static weft_status check_spec_op(const struct lint *lint, size_t at) {
    uint32_t opcode = word_of(lint->words + at, 3);
    const struct weft_lint_rule *rule = weft_lint_find(WEFT_LINT_OPCODES, opcode);
    if (rule && rule->check == WEFT_LINT_CHECK_SHUFFLE) {
        return check_shuffle(lint, at, 6);
    }
    if (rule && rule->verdict == WEFT_LINT_REFUSED) {
        return refuse(lint, at, rule->name, rule->reason, rule->instead);
    }
    if (!rule || rule->verdict == WEFT_LINT_CHECKED) {
        char text[NUMBER_SIZE];
        snprintf(text, sizeof text, "opcode %u", opcode);
        return refuse(lint, at, rule ? rule->name : text,
                      "only operations that need no check of their own are on the list", NULL);
    }
    return WEFT_OK;
}

static weft_status check_reduce(const struct lint *lint, size_t at) {
    if (word_of(lint->words + at, 4) != GROUP_REDUCE) {
        return refuse(lint, at, "as a scan or over a part of the subgroup",
                      "which invocations sit where in a subgroup is the driver's choice",
                      "shared memory, indexed by gl_LocalInvocationID");
    }
    return WEFT_OK;
}

static weft_status check_rule(struct lint *lint, size_t at, enum weft_lint_check check) {
    switch (check) {
    case WEFT_LINT_CHECK_NONE:
        return WEFT_OK;
    case WEFT_LINT_CHECK_NO_CONTRACTION:
        return check_no_contraction(lint, at);
    case WEFT_LINT_CHECK_IMPORT:
        return check_import(lint, at);
    case WEFT_LINT_CHECK_EXT_INST:
        return check_ext_inst(lint, at);
    case WEFT_LINT_CHECK_CAPABILITY:
        return judge(lint, at, WEFT_LINT_CAPABILITIES, word_of(lint->words + at, 1), "capability");
    case WEFT_LINT_CHECK_MODE:
        return check_mode(lint, at);
    case WEFT_LINT_CHECK_DECORATION:
        return check_decoration(lint, at, 2);
    case WEFT_LINT_CHECK_MEMBER_DECORATION:
        return check_decoration(lint, at, 3);
    case WEFT_LINT_CHECK_GROUP:
        apply_group(lint, at);
        return WEFT_OK;
    case WEFT_LINT_CHECK_FLOAT_TYPE:
        return check_float_type(lint, at);
    case WEFT_LINT_CHECK_CONSTANT:
        return check_constant(lint, at);
    case WEFT_LINT_CHECK_SPEC_OP:
        return check_spec_op(lint, at);
    case WEFT_LINT_CHECK_SHUFFLE:
        return check_shuffle(lint, at, 5);
    case WEFT_LINT_CHECK_REDUCE:
        return check_reduce(lint, at);
    case WEFT_LINT_CHECK_RESULT_UNUSED:
        lint->ids[lint->words[at + 2]] |= IS_RACE;
        lint->has_races = true;
        return WEFT_OK;
    }
    return refuse(lint, at, "", "no check is known for it", NULL);
}

static weft_status check_instructions(struct lint *lint) {
    for (size_t at = WEFT_SPIRV_HEADER_WORDS; at < lint->count;) {
        uint32_t opcode = weft_spirv_opcode(lint->words[at]);
        const struct weft_lint_rule *rule = weft_lint_find(WEFT_LINT_OPCODES, opcode);
        if (!rule || rule->verdict == WEFT_LINT_REFUSED) {
            WEFT_TRY(judge(lint, at, WEFT_LINT_OPCODES, opcode, "opcode"));
        } else if (rule->verdict == WEFT_LINT_CHECKED) {
            WEFT_TRY(check_rule(lint, at, (enum weft_lint_check)rule->check));
        }
        if (opcode == WEFT_OP_FUNCTION && lint->function == lint->count) {
            lint->function = at;
        }
        at += weft_spirv_length(lint->words[at]);
    }
    return WEFT_OK;
}

/* Refuses the atomic instruction that has a result. */
static weft_status refuse_race(const struct lint *lint, uint32_t result) {
    size_t at = WEFT_SPIRV_HEADER_WORDS;
    while (!weft_spirv_has_typed_result(weft_spirv_opcode(lint->words[at])) ||
           lint->words[at + 2] != result) {
        at += weft_spirv_length(lint->words[at]);
    }
    return refuse(lint, at, "with a result that is used",
                  "that depends on which invocation comes first",
                  "only what is in memory behind the next barrier");
}

static weft_status check_races(const struct lint *lint) {
    for (size_t at = lint->function; at < lint->count;) {
        const uint32_t *instruction = lint->words + at;
        uint32_t first = 0;
        uint32_t end = 0;
        weft_spirv_value_words(&first, &end, instruction);
        for (uint32_t i = first; i < end; i++) {
            uint32_t id = instruction[i];
            if (id < lint->words[WEFT_SPIRV_AT_BOUND] && (lint->ids[id] & IS_RACE) != 0) {
                return refuse_race(lint, id);
            }
        }
        at += weft_spirv_length(instruction[0]);
    }
    return WEFT_OK;
}

weft_status weft_spirv_lint(const uint32_t *words, size_t size, const weft_host *host) {
    struct lint lint = {.words = words, .count = size / 4, .function = size / 4, .host = host};
    lint.ids = weft_alloc_zero(host, words[WEFT_SPIRV_AT_BOUND], 1);
    if (!lint.ids) {
        return weft_fail_memory(host, "SPIR-V ids");
    }
    weft_status status = check_instructions(&lint);
    if (status == WEFT_OK && lint.has_races) {
        status = check_races(&lint);
    }
    weft_free(host, lint.ids);
    return status;
}
