/* SPDX-License-Identifier: MIT */
/* A workgroup while it runs. */
#ifndef WEFT_CONFORMANCE_EVALUATOR_EXECUTE_H
#define WEFT_CONFORMANCE_EVALUATOR_EXECUTE_H

#include "verify/evaluator/program.h"

enum weft_eval_fault_kind {
    WEFT_EVAL_NO_FAULT = 0,
    WEFT_EVAL_FAULT_BUFFER,      /* an access outside of a binding */
    WEFT_EVAL_FAULT_READ_ONLY,   /* a store to a binding that is not writable */
    WEFT_EVAL_FAULT_SHARED,      /* an access outside of a shared variable */
    WEFT_EVAL_FAULT_LOCAL,       /* … of another variable, or of a vector */
    WEFT_EVAL_FAULT_BARRIER,     /* a barrier that part of the workgroup does not reach */
    WEFT_EVAL_FAULT_UNREACHABLE, /* OpUnreachable */
    WEFT_EVAL_FAULT_GROUP_LIMIT  /* too many instructions */
};

/** The first thing that went wrong. */
struct weft_eval_fault {
    enum weft_eval_fault_kind kind;
    uint32_t lane;
    uint32_t binding;
    uint64_t offset; /* bytes or words; WEFT_EVAL_OUTSIDE or more: an index was outside */
    uint64_t size;   /* bytes or words */
};

/** Which invocations an instruction runs for. */
struct weft_eval_lanes {
    uint32_t count;
    uint32_t first; /* when dense: first … first + count - 1 */
    bool dense;     /* else those in the list */
    uint16_t list[WEFT_EVAL_MAX_LANES];
};

struct weft_eval_group {
    uint32_t lane_count; /* the workgroup's invocations: the length of a row */
    uint32_t *rows;
    uint32_t *shared;
    struct weft_evaluated_range range[WEFT_EVAL_RANGES];
    struct weft_eval_lanes active;
    uint32_t next[WEFT_EVAL_MAX_LANES]; /* block of each invocation, or one of those below */
    uint32_t after_barrier[WEFT_EVAL_MAX_LANES];
    uint32_t running, waiting; /* invocations */
    uint64_t steps, step_limit;
    struct weft_eval_fault fault;
};

/** Notes a fault unless there is one. */
void weft_eval_fail(struct weft_eval_group *group, const struct weft_eval_fault *fault);

/** Runs instructions for the active invocations. */
void weft_eval_run(struct weft_eval_group *group, const struct weft_eval_instruction *instructions,
                   uint32_t count);

/** Runs a workgroup whose built-in slots are set, from block 0 to the end or to a fault. */
void weft_eval_run_group(struct weft_eval_group *group, const struct weft_eval_program *program);

typedef void weft_eval_function(struct weft_eval_group *group,
                                const struct weft_eval_instruction *instruction);

/** The operations: arithmetic.c, integer.c, memory.c. */
#define WEFT_EVAL_DECLARE(enumerator, function) weft_eval_function weft_eval_op_##function;
WEFT_EVAL_OPS(WEFT_EVAL_DECLARE)
#undef WEFT_EVAL_DECLARE

/* ---- what operations on each word are made from ---- */

/*
 * Runs `statement`, where `at` is a word of the rows from d, a, b and c on, for every active
 * invocation and each of the n slots. Rows are the same or apart, and a result never lies over an
 * operand, so the loops may be vectorized.
 */
#define WEFT_EVAL_EACH(group, instruction, statement)                        \
    do {                                                                     \
        const struct weft_eval_lanes *lanes_ = &(group)->active;             \
        size_t length_ = (group)->lane_count;                                \
        bool whole_ = lanes_->count == (group)->lane_count;                  \
        size_t rows_ = whole_ ? 1 : (instruction)->n;                        \
        size_t count_ = whole_ ? length_ * (instruction)->n : lanes_->count; \
        for (size_t row_ = 0; row_ < rows_; row_++) {                        \
            if (lanes_->dense) {                                             \
                size_t start_ = row_ * length_ + lanes_->first;              \
                for (size_t at = start_; at < start_ + count_; at++) {       \
                    statement;                                               \
                }                                                            \
            } else {                                                         \
                for (size_t item_ = 0; item_ < count_; item_++) {            \
                    size_t at = row_ * length_ + lanes_->list[item_];        \
                    statement;                                               \
                }                                                            \
            }                                                                \
        }                                                                    \
    } while (0)

/** The row of a slot. */
static inline uint32_t *weft_eval_row(const struct weft_eval_group *group, uint32_t slot) {
    return group->rows + (size_t)slot * group->lane_count;
}

#define WEFT_EVAL_UNARY(name, expression)                                                     \
    void weft_eval_op_##name(struct weft_eval_group *group,                                   \
                             const struct weft_eval_instruction *instruction) {               \
        uint32_t *restrict d = weft_eval_row(group, instruction->d);                          \
        const uint32_t *restrict operand_a = weft_eval_row(group, instruction->a);            \
        WEFT_EVAL_EACH(group, instruction, uint32_t a = operand_a[at]; d[at] = (expression)); \
    }

#define WEFT_EVAL_BINARY(name, expression)                                                         \
    void weft_eval_op_##name(struct weft_eval_group *group,                                        \
                             const struct weft_eval_instruction *instruction) {                    \
        uint32_t *restrict d = weft_eval_row(group, instruction->d);                               \
        const uint32_t *restrict operand_a = weft_eval_row(group, instruction->a);                 \
        const uint32_t *restrict operand_b = weft_eval_row(group, instruction->b);                 \
        WEFT_EVAL_EACH(group, instruction, uint32_t a = operand_a[at]; uint32_t b = operand_b[at]; \
                       d[at] = (expression));                                                      \
    }

#define WEFT_EVAL_TERNARY(name, expression)                                                        \
    void weft_eval_op_##name(struct weft_eval_group *group,                                        \
                             const struct weft_eval_instruction *instruction) {                    \
        uint32_t *restrict d = weft_eval_row(group, instruction->d);                               \
        const uint32_t *restrict operand_a = weft_eval_row(group, instruction->a);                 \
        const uint32_t *restrict operand_b = weft_eval_row(group, instruction->b);                 \
        const uint32_t *restrict operand_c = weft_eval_row(group, instruction->c);                 \
        WEFT_EVAL_EACH(group, instruction, uint32_t a = operand_a[at]; uint32_t b = operand_b[at]; \
                       uint32_t c = operand_c[at]; d[at] = (expression));                          \
    }

#endif
