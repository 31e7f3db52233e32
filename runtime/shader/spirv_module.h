/* SPDX-License-Identifier: MIT */
/*
 * Reading SPIR-V modules: the numbers that Weft looks at (SPIR-V specification 1.6, section 3, and
 * GLSL.std.450) and a check that a word stream holds together before anything walks it.
 */
#ifndef WEFT_SHADER_SPIRV_MODULE_H
#define WEFT_SHADER_SPIRV_MODULE_H

#include "core/host.h"

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

enum weft_spirv_op {
    WEFT_OP_NOP = 0,
    WEFT_OP_SOURCE_CONTINUED = 2,
    WEFT_OP_SOURCE = 3,
    WEFT_OP_SOURCE_EXTENSION = 4,
    WEFT_OP_NAME = 5,
    WEFT_OP_MEMBER_NAME = 6,
    WEFT_OP_STRING = 7,
    WEFT_OP_EXTENSION = 10,
    WEFT_OP_EXT_INST_IMPORT = 11,
    WEFT_OP_EXT_INST = 12,
    WEFT_OP_MEMORY_MODEL = 14,
    WEFT_OP_ENTRY_POINT = 15,
    WEFT_OP_EXECUTION_MODE = 16,
    WEFT_OP_CAPABILITY = 17,
    WEFT_OP_CONSTANT = 43,
    WEFT_OP_CONSTANT_COMPOSITE = 44,
    WEFT_OP_SPEC_CONSTANT = 50,
    WEFT_OP_SPEC_CONSTANT_COMPOSITE = 51,
    WEFT_OP_FUNCTION = 54,
    WEFT_OP_FUNCTION_END = 56,
    WEFT_OP_FUNCTION_CALL = 57,
    WEFT_OP_DECORATE = 71,
    WEFT_OP_DECORATION_GROUP = 73,
    WEFT_OP_GROUP_DECORATE = 74,
    WEFT_OP_F_NEGATE = 127,
    WEFT_OP_F_ADD = 129,
    WEFT_OP_F_SUB = 131,
    WEFT_OP_F_MUL = 133,
    WEFT_OP_F_DIV = 136,
    WEFT_OP_F_REM = 140,
    WEFT_OP_F_MOD = 141,
    WEFT_OP_VECTOR_TIMES_SCALAR = 142,
    WEFT_OP_MATRIX_TIMES_SCALAR = 143,
    WEFT_OP_VECTOR_TIMES_MATRIX = 144,
    WEFT_OP_MATRIX_TIMES_VECTOR = 145,
    WEFT_OP_MATRIX_TIMES_MATRIX = 146,
    WEFT_OP_OUTER_PRODUCT = 147,
    WEFT_OP_DOT = 148,
    WEFT_OP_MODULE_PROCESSED = 330,
    WEFT_OP_EXECUTION_MODE_ID = 331
};

enum {
    WEFT_DECORATION_SPEC_ID = 1,
    WEFT_DECORATION_BUILT_IN = 11,
    WEFT_DECORATION_NO_CONTRACTION = 42,
    WEFT_BUILT_IN_WORKGROUP_SIZE = 25,
    WEFT_EXECUTION_MODEL_GL_COMPUTE = 5,
    WEFT_EXECUTION_MODE_LOCAL_SIZE = 17,
    WEFT_EXECUTION_MODE_LOCAL_SIZE_ID = 38,
    WEFT_GLSL_STD_450_FMA = 50
};

static inline uint32_t weft_spirv_opcode(uint32_t first_word) {
    return first_word & 0xFFFFu;
}

static inline uint32_t weft_spirv_length(uint32_t first_word) {
    return first_word >> 16;
}

/** The first word of an instruction. */
static inline uint32_t weft_spirv_first_word(enum weft_spirv_op opcode, uint32_t length) {
    return length << 16 | (uint32_t)opcode;
}

/** Whether the literal string at `words`, of which `count` may be read, ends and equals `text`. */
bool weft_spirv_string_is(const uint32_t *words, size_t count, const char *text);

/**
 * Checks what can be checked without types: header, word counts, every id below the bound, defined
 * once and, where used, defined; functions closed, one memory model, entry points that are
 * functions. A module that passes can be walked without further bounds checks; whether its
 * instructions make sense is spirv-val's business.
 * Errors: WEFT_COMPILE_ERROR, naming the word and what is wrong there; WEFT_OUT_OF_HOST_MEMORY.
 */
weft_status weft_spirv_check(const uint32_t *words, size_t size, const weft_host *host);

/**
 * Whether a checked module has an entry point of the execution model GLCompute that is called
 * "main".
 */
bool weft_spirv_has_compute_main(const uint32_t *words, size_t size);

/**
 * weft_spirv_local_size with specialization constants: constant_id i has value specialization[i];
 * those from `count` on have their defaults.
 */
void weft_spirv_specialized_local_size(uint32_t local_size[3], const uint32_t *words, size_t size,
                                       const uint32_t *specialization, uint32_t count);

#endif
