/* SPDX-License-Identifier: MIT */
/*
 * A kernel while its text is written. Names: v5 is the value 5, w5 the vector whose components are the values from 5 on, s5 the
 * slot 5 of a variable, t5 the array of an indexed variable whose first slot is 5, c2 a word of push constants, p0 the words of
 * binding 0, m shared memory.
 */
#ifndef WEFT_OPENCL_WRITER_H
#define WEFT_OPENCL_WRITER_H

#include "core/text.h"
#include "spirv/check.h"
#include "spirv/ir/ir.h"

/** When an operation's row applies. */
enum weft_cl_when {
    WEFT_CL_ALWAYS = 0,
    WEFT_CL_IF_PLAIN,  /* a divisor, or the distance of a shift, that is known to be one */
    WEFT_CL_IF_WORD,   /* of 32 bits, and so is what is no float that becomes one */
    WEFT_CL_IF_HIDDEN, /* a float whose sign the text hides, see weft_cl_write_constant */
    WEFT_CL_IF_WIDE    /* of 32 bits or more */
};

/** How a result becomes one of its type. */
enum weft_cl_cast {
    WEFT_CL_AS_IT_IS = 0,
    WEFT_CL_CUT /* where it is narrower than int */,
    WEFT_CL_CAST
};

/**
 * How an operation is written: $0 is its first operand and @0 the same as a signed integer, T and S the type of the result and
 * that as a signed integer, A the type of the first operand, W the bits of that without the lowest one.
 */
struct weft_cl_operation {
    uint16_t op;
    uint8_t when;
    uint8_t cast;
    const char *text;
    const char *helper; /* a function that the text calls, or null */
};

/** Ways to write an instruction. */
enum weft_cl_plan {
    WEFT_CL_STATEMENT = 0, /* it has a line of its own */
    WEFT_CL_IN_PLACE,      /* written where its results are used */
    WEFT_CL_DROPPED        /* nobody uses them */
};

/** How a value is used. Places are twice the number of the instruction. */
struct weft_cl_use {
    uint32_t last; /* the last place it is read at */
    uint8_t count; /* 2: more than once */
    uint8_t depth; /* of what is written for it, if in place */
    bool kept;     /* outside of the piece of code that makes it: it needs a name */
};

/** Facts about instructions, slots of variables, lists and nodes. */
struct weft_cl_step {
    const struct weft_cl_operation *operation; /* null of one that does not compute */
    uint32_t node;
    uint8_t plan; /* enum weft_cl_plan */
};
struct weft_cl_slot {
    uint32_t first;      /* the first instruction that accesses it, or WEFT_IR_NONE */
    uint32_t next;       /* slot that the same list declares, or WEFT_IR_NONE */
    weft_ir_value value; /* what it is wherever it is read, or 0 */
    uint8_t sets;        /* 2: more than one */
};
struct weft_cl_list {
    uint32_t declared; /* the first slot that it declares, or WEFT_IR_NONE */
    uint32_t block;    /* the list whose block of C its names are declared in */
    bool ends;         /* nothing comes behind it */
};
struct weft_cl_node {
    bool written;    /* it has a statement */
    bool left;       /* a jump leads out of it */
    uint8_t awaited; /* see control.c */
};

struct weft_cl_writer {
    struct weft_ir_program *program;
    struct weft_text text;    /* of the kernel's body */
    struct weft_cl_use *uses; /* by value */
    struct weft_cl_step *steps;
    struct weft_cl_slot *slots;
    struct weft_cl_list *lists;
    struct weft_cl_node *nodes;
    /* Uses in the body, as bits: names of input.c, words of push constants, and bindings. */
    uint32_t inputs;
    uint64_t push;
    uint32_t bindings;
    uint64_t
        *helpers; /* by row of the table of operations: the types that its helper is needed for */
    bool checks, jumps;    /* it has such a function, or variable */
    uint32_t barriers;     /* that were written */
    size_t behind_barrier; /* where the text stood behind the last of them */
    bool hides_sign;       /* the program has barriers: see weft_cl_write_constant */
};

/** Words of push constants that have names. */
#define WEFT_CL_PUSH_NAMES 64u

extern const char *const weft_cl_type_names[WEFT_IR_TYPES];
extern const char *const weft_cl_signed_names[WEFT_IR_TYPES];

/* ---- plan.c ---- */

/** Decides what is written where. */
void weft_cl_make_plans(struct weft_cl_writer *writer);

/* ---- control.c ---- */

/** Writes all of the kernel's statements. */
void weft_cl_write_body(struct weft_cl_writer *writer);

/* ---- value.c ---- */

void weft_cl_add(struct weft_cl_writer *writer, const char *format, ...) WEFT_PRINTF(2, 3);
weft_ir_value weft_cl_argument(const struct weft_cl_writer *writer,
                               const struct weft_ir_instruction *instruction, uint32_t index);
/** The instruction that makes a value; null for a constant. */
const struct weft_ir_instruction *weft_cl_maker(const struct weft_cl_writer *writer,
                                                weft_ir_value value);
void weft_cl_write_constant(struct weft_cl_writer *writer, uint32_t type, uint64_t bits);
/** A value, with parentheses around it where it has to stand beside operators. */
void weft_cl_write_value(struct weft_cl_writer *writer, weft_ir_value value, bool beside);
/** Writes a value as the integer that memory holds. */
void weft_cl_write_bits(struct weft_cl_writer *writer, weft_ir_value value, bool beside);
void weft_cl_write_statement(struct weft_cl_writer *writer, uint32_t instruction);

/* ---- arithmetic.c ---- */

/** An error that names an instruction: SPIR-V's number, or ours of GLSL.std.450. */
void weft_cl_refuse(struct weft_ir_program *program, uint32_t op);
/** Finds how an instruction that computes is written; an error where it is not. */
const struct weft_cl_operation *weft_cl_find_operation(
    struct weft_cl_writer *writer, const struct weft_ir_instruction *instruction);
/** How often its text has an operand. */
uint32_t weft_cl_count_operand(const struct weft_cl_operation *operation, uint32_t index);
void weft_cl_write_operation(struct weft_cl_writer *writer,
                             const struct weft_ir_instruction *instruction,
                             const struct weft_cl_operation *operation, bool beside);
/** The functions that the body calls. */
void weft_cl_write_helpers(struct weft_text *text, const struct weft_cl_writer *writer);
size_t weft_cl_helper_count(void);

/* ---- memory.c ---- */

/** True if a load's or store's scalars are one vector. */
bool weft_cl_is_vector(const struct weft_cl_writer *writer,
                       const struct weft_ir_instruction *instruction);
/** True if a load is of push constants at a place that is known: it has a name already. */
bool weft_cl_is_push(const struct weft_cl_writer *writer,
                     const struct weft_ir_instruction *instruction);
/** How often the text of an access has its index. */
uint32_t weft_cl_count_index(const struct weft_cl_writer *writer,
                             const struct weft_ir_instruction *instruction);
/** Result `component` of a load that is no vector. */
void weft_cl_write_load(struct weft_cl_writer *writer,
                        const struct weft_ir_instruction *instruction, uint32_t component);
void weft_cl_write_vector_load(struct weft_cl_writer *writer,
                               const struct weft_ir_instruction *instruction);
void weft_cl_write_store(struct weft_cl_writer *writer,
                         const struct weft_ir_instruction *instruction);
void weft_cl_write_atomic(struct weft_cl_writer *writer,
                          const struct weft_ir_instruction *instruction);

/* ---- address.c: indices of bytes that are written in words ---- */

/** A product or sum that an index of bytes is. */
struct weft_cl_term {
    weft_ir_value parts[2];
    uint32_t factor; /* of part 0, where there is no part 1 */
};

/** Takes a value apart that an instruction of the same piece of code makes; false where it is no such term. */
bool weft_cl_take_apart(const struct weft_cl_writer *writer, struct weft_cl_term *term,
                        weft_ir_value value, uint32_t node);
/** True if an access writes its index in words, taken apart; else as bytes, whole. */
bool weft_cl_is_in_words(const struct weft_cl_writer *writer,
                         const struct weft_ir_instruction *instruction);
/** True if it begins at a multiple of 2^exponent bytes. */
bool weft_cl_is_aligned(const struct weft_cl_writer *writer,
                        const struct weft_ir_instruction *instruction, uint32_t exponent);
/** Where it begins, in words, and `more` words. */
void weft_cl_write_words(struct weft_cl_writer *writer,
                         const struct weft_ir_instruction *instruction, uint32_t more);
uint32_t weft_cl_node_of(const struct weft_cl_writer *writer,
                         const struct weft_ir_instruction *instruction);

/* ---- variable.c ---- */

/** The variables that a list declares, at its begin. */
void weft_cl_write_declarations(struct weft_cl_writer *writer, uint32_t list);
/** Finds which list, or which instruction, declares each slot. */
void weft_cl_find_declarations(struct weft_cl_writer *writer);
/** Of an indexed variable the first. */
uint32_t weft_cl_slot_of(const struct weft_cl_writer *writer,
                         const struct weft_ir_instruction *instruction, uint32_t component);
/** What it is wherever it is read: a value, or 0. */
weft_ir_value weft_cl_value_of(const struct weft_cl_writer *writer,
                               const struct weft_ir_instruction *instruction, uint32_t component);
void weft_cl_write_get(struct weft_cl_writer *writer, const struct weft_ir_instruction *instruction,
                       uint32_t component, bool beside);
void weft_cl_write_set(struct weft_cl_writer *writer, uint32_t instruction);

/* ---- input.c ---- */

void weft_cl_write_input(struct weft_cl_writer *writer,
                         const struct weft_ir_instruction *instruction);
void weft_cl_write_subgroup(struct weft_cl_writer *writer,
                            const struct weft_ir_instruction *instruction, bool beside);
/** The names of inputs that the body has. */
void weft_cl_write_inputs(struct weft_text *text, const struct weft_cl_writer *writer);

#endif
