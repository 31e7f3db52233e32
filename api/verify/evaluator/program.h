/* SPDX-License-Identifier: MIT */
/*
 * What the evaluator runs: a module with its functions inlined and its specialization applied, as
 * blocks of instructions over slots. A slot is a 32-bit word of every invocation of a workgroup,
 * kept as a row: word `slot * lanes + lane`. Vectors, arrays and structures are consecutive slots
 * without padding; a bool is 0 or 1.
 */
#ifndef WEFT_CONFORMANCE_EVALUATOR_PROGRAM_H
#define WEFT_CONFORMANCE_EVALUATOR_PROGRAM_H

#include "core/host.h"
#include "verify/evaluator/evaluator.h"

/*
 * ROW(enumerator, function). Unless said otherwise: slots d … d + n - 1 become a function of a …,
 * b … and c ….
 */
/* clang-format off */
#define WEFT_EVAL_OPS(ROW) \
    ROW(MOVE, move)                 /* d = a */ \
    ROW(FILL, fill)                 /* d = the word a */ \
    ROW(F_NEGATE, f_negate) \
    ROW(F_ABS, f_abs) \
    ROW(F_ADD, f_add) \
    ROW(F_SUB, f_sub) \
    ROW(F_MUL, f_mul) \
    ROW(F_EQUAL, f_equal) \
    ROW(F_NOT_EQUAL, f_not_equal)   /* true for NaN */ \
    ROW(F_LESS, f_less) \
    ROW(F_LESS_EQUAL, f_less_equal) \
    ROW(F_TO_S, f_to_s) \
    ROW(F_TO_U, f_to_u) \
    ROW(S_TO_F, s_to_f) \
    ROW(U_TO_F, u_to_f) \
    ROW(S_NEGATE, s_negate) \
    ROW(I_ADD, i_add) \
    ROW(I_SUB, i_sub) \
    ROW(I_MUL, i_mul) \
    ROW(U_DIV, u_div) \
    ROW(S_DIV, s_div) \
    ROW(U_MOD, u_mod) \
    ROW(S_REM, s_rem) \
    ROW(S_MOD, s_mod) \
    ROW(I_CARRY, i_carry) \
    ROW(I_BORROW, i_borrow) \
    ROW(U_MUL_HIGH, u_mul_high) \
    ROW(S_MUL_HIGH, s_mul_high) \
    ROW(I_EQUAL, i_equal) \
    ROW(I_NOT_EQUAL, i_not_equal) \
    ROW(U_LESS, u_less) \
    ROW(U_LESS_EQUAL, u_less_equal) \
    ROW(S_LESS, s_less) \
    ROW(S_LESS_EQUAL, s_less_equal) \
    ROW(U_MIN, u_min) \
    ROW(S_MIN, s_min) \
    ROW(U_MAX, u_max) \
    ROW(S_MAX, s_max) \
    ROW(S_ABS, s_abs) \
    ROW(S_SIGN, s_sign) \
    ROW(FIND_LSB, find_lsb) \
    ROW(FIND_U_MSB, find_u_msb) \
    ROW(FIND_S_MSB, find_s_msb) \
    ROW(SHIFT_RIGHT, shift_right) \
    ROW(SHIFT_RIGHT_S, shift_right_s) \
    ROW(SHIFT_LEFT, shift_left) \
    ROW(AND, bitwise_and) \
    ROW(OR, bitwise_or) \
    ROW(XOR, bitwise_xor) \
    ROW(NOT, bitwise_not) \
    ROW(LOGICAL_NOT, logical_not) \
    ROW(BIT_REVERSE, bit_reverse) \
    ROW(BIT_COUNT, bit_count) \
    ROW(BIT_FIELD_S, bit_field_s)   /* bits b … b + c - 1 of a, with their sign */ \
    ROW(BIT_FIELD_U, bit_field_u) \
    ROW(BIT_FIELD_INSERT, bit_field_insert) /* a with bits c … c + e - 1 from b */ \
    ROW(SELECT, select)             /* a is the condition */ \
    ROW(INDEX, index_element)       /* d = a + b * c (c a number), or OUTSIDE from b = e on */ \
    ROW(GATHER, gather)             /* d = slots a of c …, of which there are e */ \
    ROW(SCATTER, scatter)           /* the other way round */ \
    ROW(LOAD_SHARED, load_shared)   /* d = words c + a …; the variable ends at word e */ \
    ROW(STORE_SHARED, store_shared) \
    ROW(LOAD_BUFFER, load_buffer)   /* d = bytes b + a … of binding c */ \
    ROW(STORE_BUFFER, store_buffer) \
    ROW(ATOMIC_SHARED, atomic_shared) /* like LOAD_SHARED; n is an enum weft_eval_atomic, */ \
    ROW(ATOMIC_BUFFER, atomic_buffer) /* f its operand, and f + 1 the value to compare with */ \
    ROW(ARRAY_LENGTH, array_length) /* d = (bytes of binding c - b) / e */
/* clang-format on */

#define WEFT_EVAL_ENUMERATOR(enumerator, function) WEFT_EVAL_##enumerator,
enum weft_eval_op { WEFT_EVAL_OPS(WEFT_EVAL_ENUMERATOR) WEFT_EVAL_OP_COUNT };
#undef WEFT_EVAL_ENUMERATOR

enum weft_eval_atomic {
    WEFT_EVAL_ATOMIC_LOAD = 0,
    WEFT_EVAL_ATOMIC_EXCHANGE,
    WEFT_EVAL_ATOMIC_COMPARE_EXCHANGE,
    WEFT_EVAL_ATOMIC_ADD,
    WEFT_EVAL_ATOMIC_S_MIN,
    WEFT_EVAL_ATOMIC_U_MIN,
    WEFT_EVAL_ATOMIC_S_MAX,
    WEFT_EVAL_ATOMIC_U_MAX,
    WEFT_EVAL_ATOMIC_AND,
    WEFT_EVAL_ATOMIC_OR,
    WEFT_EVAL_ATOMIC_XOR
};

struct weft_eval_instruction {
    uint32_t op;
    uint32_t n;
    uint32_t d, a, b, c, e, f;
};

/** Slot 0 is zero in every invocation: the offset of an address that has none. */
#define WEFT_EVAL_ZERO 0u

/** What an offset becomes when an index is outside of its array: no access at it can be inside. */
#define WEFT_EVAL_OUTSIDE UINT32_MAX

/** How a block ends. */
enum weft_eval_end {
    WEFT_EVAL_JUMP = 0,    /* to target[0] */
    WEFT_EVAL_BRANCH,      /* on slot: true to target[0], false to target[1] */
    WEFT_EVAL_SWITCH,      /* on slot: the first case that matches, else to target[0] */
    WEFT_EVAL_BARRIER,     /* all invocations wait, then go on to target[0] */
    WEFT_EVAL_RETURN,      /* from main */
    WEFT_EVAL_UNREACHABLE, /* must not be reached */
    WEFT_EVAL_OPEN         /* while decoding: goes on into the next block */
};

struct weft_eval_block {
    uint32_t first, count; /* instructions */
    uint32_t end;          /* enum weft_eval_end */
    uint32_t slot;
    uint32_t target[2]; /* blocks; in the order of the module, so that a join has a high number */
    uint32_t first_case, case_count;
};

struct weft_eval_case {
    uint32_t value;
    uint32_t target;
};

/** Where a built-in variable lives; 0 when the module does not use it. */
enum weft_eval_built_in {
    WEFT_EVAL_GROUP_COUNT = 0,
    WEFT_EVAL_GROUP_ID,
    WEFT_EVAL_LOCAL_ID,
    WEFT_EVAL_GLOBAL_ID,
    WEFT_EVAL_LOCAL_INDEX,
    WEFT_EVAL_BUILT_IN_COUNT
};

struct weft_eval_program {
    struct weft_eval_instruction *instructions;
    uint32_t instruction_count, instruction_capacity;
    struct weft_eval_block *blocks;
    uint32_t block_count, block_capacity;
    struct weft_eval_case *cases;
    uint32_t case_count, case_capacity;
    uint32_t slot_count;
    uint32_t *constants; /* the values of the first constant_count slots */
    uint32_t constant_count, constant_capacity;
    uint32_t shared_words;
    uint32_t local_size[3];
    uint32_t lanes; /* their product */
    uint32_t built_in[WEFT_EVAL_BUILT_IN_COUNT];
};

/** Push constants are bound like a buffer, behind the bindings. */
#define WEFT_EVAL_PUSH   ((uint32_t)WEFT_MAX_BINDINGS)
#define WEFT_EVAL_RANGES (WEFT_MAX_BINDINGS + 1)

#define WEFT_EVAL_MAX_LANES 1024u

/** Decodes a module. Free the program also after an error, whose sentence is in `text`. */
weft_status weft_eval_decode(struct weft_eval_program *program,
                             const struct weft_evaluated_dispatch *dispatch, const weft_host *host,
                             char text[WEFT_EVALUATOR_TEXT]);
void weft_eval_program_free(struct weft_eval_program *program, const weft_host *host);

#endif
