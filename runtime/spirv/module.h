/* SPDX-License-Identifier: MIT */
/*
 * Reading SPIR-V modules: the numbers that Weft looks at (SPIR-V specification 1.6, section 3, and
 * GLSL.std.450) and a check that a word stream holds together before anything walks it.
 */
#ifndef WEFT_SPIRV_MODULE_H
#define WEFT_SPIRV_MODULE_H

#include "core/host.h"
#include "spirv/ops.h"

#define WEFT_SPIRV_MAGIC        0x07230203u
#define WEFT_SPIRV_HEADER_WORDS 5u
#define WEFT_SPIRV_MAX_BOUND    0x3FFFFFu /* universal limit, section 2.17 */

/* Words of the header. */
enum {
    WEFT_SPIRV_AT_MAGIC = 0,
    WEFT_SPIRV_AT_VERSION = 1,
    WEFT_SPIRV_AT_BOUND = 3,
    WEFT_SPIRV_AT_SCHEMA = 4
};

#define WEFT_SPIRV_ENUMERATOR(enumerator, number, name) WEFT_OP_##enumerator = (number),
enum weft_spirv_op { WEFT_SPIRV_OPS(WEFT_SPIRV_ENUMERATOR) };
#undef WEFT_SPIRV_ENUMERATOR

enum {
    WEFT_STORAGE_CLASS_INPUT = 1,
    WEFT_STORAGE_CLASS_UNIFORM = 2,
    WEFT_STORAGE_CLASS_WORKGROUP = 4,
    WEFT_STORAGE_CLASS_PRIVATE = 6,
    WEFT_STORAGE_CLASS_FUNCTION = 7,
    WEFT_STORAGE_CLASS_PUSH_CONSTANT = 9,
    WEFT_STORAGE_CLASS_STORAGE_BUFFER = 12,
    WEFT_CAPABILITY_DENORM_FLUSH_TO_ZERO = 4465,
    WEFT_CAPABILITY_SIGNED_ZERO_INF_NAN_PRESERVE = 4466,
    WEFT_CAPABILITY_ROUNDING_MODE_RTE = 4467,
    WEFT_EXECUTION_MODE_DENORM_FLUSH_TO_ZERO = 4460,
    WEFT_EXECUTION_MODE_SIGNED_ZERO_INF_NAN_PRESERVE = 4461,
    WEFT_EXECUTION_MODE_ROUNDING_MODE_RTE = 4462,
    WEFT_DECORATION_SPEC_ID = 1,
    WEFT_DECORATION_ROW_MAJOR = 4,
    WEFT_DECORATION_ARRAY_STRIDE = 6,
    WEFT_DECORATION_MATRIX_STRIDE = 7,
    WEFT_DECORATION_NON_WRITABLE = 24,
    WEFT_DECORATION_NON_READABLE = 25,
    WEFT_DECORATION_BINDING = 33,
    WEFT_DECORATION_DESCRIPTOR_SET = 34,
    WEFT_DECORATION_OFFSET = 35,
    WEFT_DECORATION_BUILT_IN = 11,
    WEFT_DECORATION_NO_CONTRACTION = 42,
    WEFT_BUILT_IN_NUM_WORKGROUPS = 24,
    WEFT_BUILT_IN_WORKGROUP_SIZE = 25,
    WEFT_BUILT_IN_WORKGROUP_ID = 26,
    WEFT_BUILT_IN_LOCAL_INVOCATION_ID = 27,
    WEFT_BUILT_IN_GLOBAL_INVOCATION_ID = 28,
    WEFT_BUILT_IN_LOCAL_INVOCATION_INDEX = 29,
    WEFT_BUILT_IN_SUBGROUP_SIZE = 36,
    WEFT_BUILT_IN_NUM_SUBGROUPS = 38,
    WEFT_BUILT_IN_SUBGROUP_ID = 40,
    WEFT_BUILT_IN_SUBGROUP_LANE = 41,
    WEFT_EXECUTION_MODEL_GL_COMPUTE = 5,
    WEFT_EXECUTION_MODE_LOCAL_SIZE = 17,
    WEFT_EXECUTION_MODE_LOCAL_SIZE_ID = 38,
    WEFT_GLSL_STD_450_F_ABS = 4,
    WEFT_GLSL_STD_450_FMA = 50
};

static inline uint32_t weft_spirv_opcode(uint32_t first_word) {
    return first_word & 0xFFFFu;
}

static inline uint32_t weft_spirv_length(uint32_t first_word) {
    return first_word >> 16;
}

/**
 * The largest bound of ids that a module of so many words may have: readers have a table of them, which what is written in one word of the
 * header must not blow up. Compilers number ids one after the other, about one for five words; gaps are what optimisers dropped.
 */
static inline uint32_t weft_spirv_most_ids(size_t words) {
    const uint64_t most = UINT64_C(0x10000) + 8 * (uint64_t)words;
    return most < WEFT_SPIRV_MAX_BOUND ? (uint32_t)most : WEFT_SPIRV_MAX_BOUND;
}

/** Whether an instruction has a result type (its word 1) and a result (word 2). */
bool weft_spirv_has_typed_result(uint32_t opcode);

/** The first word of an instruction. */
static inline uint32_t weft_spirv_first_word(enum weft_spirv_op opcode, uint32_t length) {
    return length << 16 | (uint32_t)opcode;
}

/** Whether the literal string at `words`, of which `count` may be read, ends and equals `text`. */
bool weft_spirv_string_is(const uint32_t *words, size_t count, const char *text);

/**
 * Checks what can be checked without types: header, word counts, every id below the bound, defined
 * once and, where used, defined; the sections up to the execution modes in their order; functions
 * closed, one memory model, entry points that are functions. A module that passes can be walked without further bounds checks; whether its
 * instructions make sense is spirv-val's business.
 * Errors: WEFT_COMPILE_ERROR, naming the word and what is wrong there; WEFT_OUT_OF_HOST_MEMORY.
 */
weft_status weft_spirv_check(const uint32_t *words, size_t size, const weft_host *host);

/** Where the interface of a checked module's OpEntryPoint starts, behind the name; its length where there is none. */
uint32_t weft_spirv_interface_start(const uint32_t *entry_point);

/** Whether that interface has a variable. */
bool weft_spirv_interface_has(const uint32_t *entry_point, uint32_t variable);

/**
 * Whether a checked module has an entry point of the execution model GLCompute that is called
 * "main".
 */
bool weft_spirv_has_compute_main(const uint32_t *words, size_t size);

/** Local size (x, y, z) the module's entry point declares through LocalSize or WorkgroupSize; 0s when it cannot tell. */
void weft_spirv_local_size(uint32_t local_size[3], const uint32_t *words, size_t size);

/**
 * weft_spirv_local_size with specialization constants: constant_id i has value specialization[i];
 * those from `count` on have their defaults.
 */
void weft_spirv_specialized_local_size(uint32_t local_size[3], const uint32_t *words, size_t size,
                                       const uint32_t *specialization, uint32_t count);

#endif
