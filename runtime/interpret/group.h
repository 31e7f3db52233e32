/* SPDX-License-Identifier: MIT */
/* A workgroup while it runs. */
#ifndef WEFT_INTERPRET_GROUP_H
#define WEFT_INTERPRET_GROUP_H

#include "interpret/interpret.h"
#include "spirv/check.h"

typedef void weft_interpret_function(struct weft_interpret_group *group,
                                     const struct weft_ir_instruction *instruction);

struct weft_interpret_constant {
    uint64_t bits;
    bool wide; /* of 64 bits */
};

struct weft_interpreted {
    struct weft_ir_program program;
    weft_host host; /* a copy: the caller's may be gone when the kernel is freed */
    bool strict;
    weft_interpret_function **functions;       /* of each instruction; null: nothing to do */
    uint32_t *row;                             /* of each value */
    uint32_t *slot_row;                        /* of each slot of a variable */
    struct weft_interpret_constant *constants; /* the values of the first rows */
    uint32_t constant_count;
    uint32_t row_count;
    uint32_t row_words; /* of each invocation in a row: 2 where there are integers of 64 bits */
};

/** The first rows: what gl_LocalInvocationID holds. */
#define WEFT_INTERPRET_LOCAL_ID  0u
#define WEFT_INTERPRET_FIRST_ROW 3u

/** Notes a fault unless there is one, or none counts. */
void weft_interpret_fail(struct weft_interpret_group *group,
                         const struct weft_interpret_fault *fault);

/** Function that runs an instruction, or null if there is none. */
weft_interpret_function *weft_interpret_find_arithmetic(uint32_t op);
weft_interpret_function *weft_interpret_find_integer(uint32_t op);
weft_interpret_function *weft_interpret_find_memory(uint32_t op);
/** For kernels that are not strict, in the float state of kernels; null also where that keeps subnormal numbers. */
weft_interpret_function *weft_interpret_find_flushing(uint32_t op);
/** For kernels that are not strict: of floats, and of integers of other sizes than 32 bits. */
weft_interpret_function *weft_interpret_find_fast(uint32_t op);
weft_interpret_function *weft_interpret_find_wide(uint32_t op);
weft_interpret_function weft_interpret_subgroups;

/** A value of any type in an invocation, zero-extended. */
uint64_t weft_interpret_read(const struct weft_interpret_group *group, weft_ir_value value,
                             uint32_t lane);
void weft_interpret_write(const struct weft_interpret_group *group, weft_ir_value value,
                          uint32_t lane, uint64_t bits);

/** A row of the table that says so, where the functions are. */
struct weft_interpret_rule {
    uint16_t op;
    weft_interpret_function *function;
};

static inline weft_interpret_function *weft_interpret_find(const struct weft_interpret_rule *rules,
                                                           size_t count, uint32_t op) {
    size_t i = 0;
    while (i < count && rules[i].op != op) {
        i++;
    }
    return i < count ? rules[i].function : NULL;
}

/* ---- rows ---- */

static inline uint32_t *weft_interpret_row(const struct weft_interpret_group *group, uint32_t row) {
    return group->rows + (size_t)row * group->lane_count * group->kernel->row_words;
}

static inline uint32_t *weft_interpret_value(const struct weft_interpret_group *group,
                                             weft_ir_value value) {
    return weft_interpret_row(group, group->kernel->row[value]);
}

static inline uint32_t *weft_interpret_slot(const struct weft_interpret_group *group,
                                            uint32_t slot) {
    return weft_interpret_row(group, group->kernel->slot_row[slot]);
}

/** The value of an instruction's argument; 0: none. */
static inline weft_ir_value weft_interpret_argument(const struct weft_interpret_group *group,
                                                    const struct weft_ir_instruction *instruction,
                                                    uint32_t index) {
    return group->kernel->program.arguments[instruction->arguments + index];
}

static inline uint32_t *weft_interpret_operand(const struct weft_interpret_group *group,
                                               const struct weft_ir_instruction *instruction,
                                               uint32_t index) {
    return weft_interpret_value(group, weft_interpret_argument(group, instruction, index));
}

/** The lane of the active invocation `item`. */
static inline uint32_t weft_interpret_lane(const struct weft_interpret_lanes *lanes,
                                           uint32_t item) {
    return lanes->dense ? lanes->first + item : lanes->list[item];
}

/* ---- what operations on each word are made from ---- */

/*
 * Runs `statement`, where `at` is a lane, for every active invocation. A result never lies over an operand, so the loops may
 * be vectorized.
 */
#define WEFT_INTERPRET_EACH(group, statement)                              \
    do {                                                                   \
        const struct weft_interpret_lanes *lanes_ = &(group)->active;      \
        const uint32_t count_ = lanes_->count;                             \
        if (lanes_->dense) {                                               \
            const uint32_t first_ = lanes_->first;                         \
            for (size_t at = first_; at < (size_t)first_ + count_; at++) { \
                statement;                                                 \
            }                                                              \
        } else {                                                           \
            for (uint32_t item_ = 0; item_ < count_; item_++) {            \
                const size_t at = lanes_->list[item_];                     \
                statement;                                                 \
            }                                                              \
        }                                                                  \
    } while (0)

#define WEFT_INTERPRET_UNARY(name, expression)                                              \
    static void name(struct weft_interpret_group *group,                                    \
                     const struct weft_ir_instruction *instruction) {                       \
        uint32_t *restrict d = weft_interpret_value(group, instruction->result);            \
        const uint32_t *restrict operand_a = weft_interpret_operand(group, instruction, 0); \
        WEFT_INTERPRET_EACH(group, const uint32_t a = operand_a[at]; d[at] = (expression)); \
    }

#define WEFT_INTERPRET_BINARY(name, expression)                                             \
    static void name(struct weft_interpret_group *group,                                    \
                     const struct weft_ir_instruction *instruction) {                       \
        uint32_t *restrict d = weft_interpret_value(group, instruction->result);            \
        const uint32_t *restrict operand_a = weft_interpret_operand(group, instruction, 0); \
        const uint32_t *restrict operand_b = weft_interpret_operand(group, instruction, 1); \
        WEFT_INTERPRET_EACH(group, const uint32_t a = operand_a[at];                        \
                            const uint32_t b = operand_b[at]; d[at] = (expression));        \
    }

#define WEFT_INTERPRET_TERNARY(name, expression)                                                \
    static void name(struct weft_interpret_group *group,                                        \
                     const struct weft_ir_instruction *instruction) {                           \
        uint32_t *restrict d = weft_interpret_value(group, instruction->result);                \
        const uint32_t *restrict operand_a = weft_interpret_operand(group, instruction, 0);     \
        const uint32_t *restrict operand_b = weft_interpret_operand(group, instruction, 1);     \
        const uint32_t *restrict operand_c = weft_interpret_operand(group, instruction, 2);     \
        WEFT_INTERPRET_EACH(group, const uint32_t a = operand_a[at];                            \
                            const uint32_t b = operand_b[at]; const uint32_t c = operand_c[at]; \
                            d[at] = (expression));                                              \
    }

#endif
