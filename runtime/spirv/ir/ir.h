/* SPDX-License-Identifier: MIT */
/*
 * A kernel between SPIR-V and what runs it: calls inlined, composites taken apart into scalars, control flow as a tree of
 * structured constructs, and every value that leaves the straight piece of code it is made in kept in a variable. Its
 * clients are the back end that makes native code of it (native/llvm) and the interpreter.
 */
#ifndef WEFT_SPIRV_IR_IR_H
#define WEFT_SPIRV_IR_IR_H

#include "spirv/ir/glsl.h"
#include "spirv/ir/source.h"

/** Index of a scalar value; 0: none. */
typedef uint32_t weft_ir_value;

enum weft_ir_type {
    WEFT_IR_BOOL = 0,
    WEFT_IR_I8,
    WEFT_IR_I16,
    WEFT_IR_I32,
    WEFT_IR_I64,
    WEFT_IR_F32,
    WEFT_IR_F64,
    WEFT_IR_TYPES
};

/** Shape of a value over the lanes of a subgroup. */
enum weft_ir_shape_kind {
    WEFT_IR_UNKNOWN = 0, /* nothing yet: the least element */
    WEFT_IR_UNIFORM,     /* one scalar */
    WEFT_IR_LINEAR,      /* a scalar plus what weft_ir_lane_offset says (integers, modulo 2^n) */
    WEFT_IR_VARYING
};

struct weft_ir_shape {
    uint8_t kind;
    uint8_t align;  /* the scalar is a multiple of 2^align; 31 for 0 */
    int32_t stride; /* from a lane to the next of its run (weft_ir_program::run) */
    int32_t outer;  /* from a run to the next; 0 where there is one */
};

struct weft_ir_def {
    uint8_t type; /* enum weft_ir_type */
    bool constant;
    struct weft_ir_shape shape;
    uint32_t block; /* the straight piece of code it belongs to */
    uint32_t instruction;
    uint64_t bits; /* of a constant, zero-extended */
    uint64_t most; /* an integer is not greater, unsigned */
    void *llvm;    /* while its piece of code is being emitted */
};

/** Operations: SPIR-V's numbers for what computes on scalars, and these. */
enum {
    WEFT_IR_GLSL = 0x1000, /* + number in GLSL.std.450 */
    WEFT_IR_U_MIN = WEFT_IR_GLSL + WEFT_GLSL_U_MIN,
    WEFT_IR_U_MAX = WEFT_IR_GLSL + WEFT_GLSL_U_MAX,
    WEFT_IR_LOAD = 0x2000, /* n results of consecutive places; arguments: offset in bytes or 0 */
    WEFT_IR_STORE,         /* arguments: offset or 0, n values */
    WEFT_IR_ATOMIC, /* arguments: offset or 0, value, comparator; variant: the SPIR-V opcode */
    WEFT_IR_GET,   /* n results from consecutive slots of a variable; arguments: slot offset or 0 */
    WEFT_IR_SET,   /* arguments: slot offset or 0, n values */
    WEFT_IR_INPUT, /* root: built-in, place: component */
    WEFT_IR_LENGTH, /* of a runtime array: root: binding, place: its first byte, variant: stride */
    WEFT_IR_SUBGROUP, /* arguments: value …; variant: the SPIR-V opcode; place: 0 reduce, 1 inclusive, 2 exclusive scan */
    WEFT_IR_CARRY, /* of the sum, WEFT_IR_BORROW of the difference, of two unsigned numbers: 0 or 1 */
    WEFT_IR_BORROW,
    WEFT_IR_HIGH_UNSIGNED, /* upper half of a product */
    WEFT_IR_HIGH_SIGNED,
    WEFT_IR_DOT4, /* of the bytes of two words: signed ones, and, mixed, unsigned ones of the second */
    WEFT_IR_DOT4_MIXED,
    WEFT_IR_NOTHING, /* what was there is not needed */
    /* In exact programs only: */
    WEFT_IR_INDEX, /* arguments: base, index; base + index * place, WEFT_IR_OUTSIDE for an index of `stride` or more */
    WEFT_IR_CLEAR, /* root: a variable, which holds WEFT_IR_POISON from here on */
    WEFT_IR_UNREACHABLE
};

/** Offset for an index outside its array: no access at it can be inside. */
#define WEFT_IR_OUTSIDE UINT32_MAX
/** Words that hold nothing: a NaN. */
#define WEFT_IR_POISON UINT32_C(0xFFFFFFFF)
#define WEFT_IR_TEXT   256

/** Memory that a load, store or atomic accesses. */
enum weft_ir_space { WEFT_IR_BUFFER = 0, WEFT_IR_SHARED, WEFT_IR_PUSH };

struct weft_ir_instruction {
    uint16_t op;
    uint8_t type;  /* enum weft_ir_type of results, or of what is stored */
    uint8_t n;     /* results, or values stored */
    bool fusible;  /* float arithmetic without NoContraction */
    uint8_t space; /* enum weft_ir_space */
    uint16_t variant;
    weft_ir_value result; /* the first of n, or 0 */
    uint32_t root;        /* binding's index, variable, or built-in */
    uint32_t place;       /* bytes or slots; of a variable: the first slot */
    uint32_t stride; /* of a runtime array whose length is asked for; of WEFT_IR_INDEX: the count */
    uint32_t arguments, argument_count;
};

enum weft_ir_node_kind {
    WEFT_IR_CODE = 0,
    WEFT_IR_IF,
    WEFT_IR_LOOP,  /* body, then latch, again and again until a jump leaves it */
    WEFT_IR_SCOPE, /* body once; a jump can leave it: a function or a switch */
    WEFT_IR_JUMP,
    WEFT_IR_BARRIER
};

#define WEFT_IR_NONE UINT32_MAX

struct weft_ir_node {
    uint8_t kind;
    bool to_latch; /* of a jump to a loop: go on with the latch, instead of leaving */
    bool
        workgroup; /* has a barrier in it, or a jump past one: all of the workgroup walks it together */
    bool
        divergent; /* of an if or loop: lanes of one subgroup can be in it and out of it at the same time */
    bool exit_diverges, latch_diverges; /* jumps there by a part of the lanes */
    bool leaks;                         /* a part of the lanes can jump from within to beyond it */
    uint32_t next;                      /* in its list, or WEFT_IR_NONE */
    uint32_t list;                      /* the list it is in */
    uint32_t lists[2];                  /* then, else; body, latch; body */
    weft_ir_value condition;
    uint32_t first, count; /* of instructions */
    uint32_t target;       /* of a jump: a node */
};

struct weft_ir_list {
    uint32_t first, last; /* nodes, or WEFT_IR_NONE */
    uint32_t owner;       /* node, or WEFT_IR_NONE for the root */
    uint32_t depth;
};

/** A variable: `slots` scalars for each invocation. */
struct weft_ir_variable {
    uint32_t slots;
    uint32_t first; /* its slots in weft_ir_program::slots */
    uint32_t list;  /* where it begins to exist */
    bool
        indexed; /* with an index that is not constant: all slots are 32 bits wide and share a shape */
    bool has_constants; /* written once, with constants */
};

struct weft_ir_slot {
    uint8_t type;
    struct weft_ir_shape shape;
    uint32_t home; /* list or, with in_loop, loop, in which its value counts: weft_ir_find_homes */
    bool in_loop;
    bool used;
    bool kept;            /* lives across barriers, in the scratch memory: weft_ir_find_fragments */
    uint64_t constant;    /* where the variable has_constants */
    uint64_t most;        /* what is read from it is not greater, where that is known */
    weft_ir_value latest; /* while decoding: what it holds in the piece of code latest_block */
    uint32_t latest_block;
    uint32_t offset; /* in the scratch memory, for what lives across barriers */
    void *llvm;
};

struct weft_ir_program {
    const weft_host *host;
    weft_status status; /* of the first error, of which `text` tells */
    char text[WEFT_IR_TEXT];
    uint32_t lanes; /* of a vector: invocations that run at once */
    uint32_t
        run; /* lanes that are a row of a workgroup whose rows are shorter than a vector; else lanes */
    uint32_t local_size[3];
    bool checked;
    bool
        native; /* it becomes code of a processor, with the float state of kernels: calls are instructions (spirv/known.h) */
    /* Keeps undefined behaviour visible for checkers: indices outside arrays, unwritten variables, OpUnreachable. */
    bool exact;
    struct weft_ir_binding bindings[WEFT_IR_MAX_BINDINGS];
    uint32_t binding_count;
    uint32_t push_size; /* bytes of push constants that are read */
    uint32_t shared_size;
    uint32_t
        scratch_size; /* bytes that native code works with: shared memory, and what lives across barriers */

    struct weft_ir_def *values;
    uint32_t value_count, value_capacity;
    struct weft_ir_instruction *instructions;
    uint32_t instruction_count, instruction_capacity;
    weft_ir_value *arguments;
    uint32_t argument_count, argument_capacity;
    struct weft_ir_node *nodes;
    uint32_t node_count, node_capacity;
    struct weft_ir_list *lists;
    uint32_t list_count, list_capacity;
    struct weft_ir_variable *variables;
    uint32_t variable_count, variable_capacity;
    struct weft_ir_slot *slots;
    uint32_t slot_count, slot_capacity;
};

/* ---- ir.c ---- */

/** Keeps the first error. */
void weft_ir_error(struct weft_ir_program *program, weft_status status, const char *format, ...)
    WEFT_PRINTF(3, 4);
/** Room for one more in an array; false after an error. */
bool weft_ir_room(struct weft_ir_program *program, void *array_address, uint32_t count,
                  uint32_t *capacity, size_t size);

/** Bits of a value of a type. */
uint32_t weft_ir_bits(uint32_t type);
/** As many ones. */
uint64_t weft_ir_ones(uint32_t type);
bool weft_ir_is_float(uint32_t type);
/** The exponent of the largest power of two that divides a number; 31 for those of more, and for 0. */
uint8_t weft_ir_align_of(uint64_t number);

/** n new values of a type, one after the other; the first. */
weft_ir_value weft_ir_add_values(struct weft_ir_program *program, uint32_t type, uint32_t n);
weft_ir_value weft_ir_constant(struct weft_ir_program *program, uint32_t type, uint64_t bits);

/** Appends an instruction to the newest node of code in a list; never null. Results, if n > 0 and `results`, are made. */
struct weft_ir_instruction *weft_ir_append(struct weft_ir_program *program, uint32_t list,
                                           uint32_t op, uint32_t type, uint32_t n, bool results,
                                           const weft_ir_value *arguments, uint32_t count);

uint32_t weft_ir_add_node(struct weft_ir_program *program, uint32_t list,
                          enum weft_ir_node_kind kind);
uint32_t weft_ir_add_list(struct weft_ir_program *program, uint32_t owner);
uint32_t weft_ir_add_variable(struct weft_ir_program *program, uint32_t list, uint32_t slots);

void weft_ir_free(struct weft_ir_program *program);

/* ---- decode.c and its parts ---- */

/** Fills a program from a module. */
weft_status weft_ir_decode(struct weft_ir_program *program, const struct weft_ir_source *source);

/* ---- fold.c ---- */

/** The value of an operation on constants, where it has one: *bits, zero-extended. */
bool weft_ir_fold(uint64_t *bits, uint32_t op, uint32_t type, uint32_t argument_type,
                  const uint64_t *arguments, uint32_t count);

/** Identity of an operation over a subgroup: leaves the other operand unchanged. */
uint64_t weft_ir_identity(uint32_t opcode, uint32_t type);

/* ---- range.c ---- */

/** The value that an operation gives without being made: one of its arguments or a constant; 0 where it has to be made. */
weft_ir_value weft_ir_simplify(struct weft_ir_program *program, uint32_t op, uint32_t type,
                               const weft_ir_value *arguments, uint32_t count);
/** Upper bound of an operation's result. */
uint64_t weft_ir_most(const struct weft_ir_program *program, uint32_t op, uint32_t type,
                      const weft_ir_value *arguments, uint32_t count);
/** Upper bound of a built-in variable. */
uint64_t weft_ir_most_input(const struct weft_ir_program *program,
                            const struct weft_ir_instruction *input);

/* ---- dead.c ---- */

/** Takes out what sets variables to values that are never read. */
void weft_ir_drop_dead_stores(struct weft_ir_program *program);

/* ---- structure.c ---- */

/** Marks what all of a workgroup walks together. */
void weft_ir_mark_workgroup(struct weft_ir_program *program);
/** Finds the slots that live across barriers, once there are homes. */
void weft_ir_find_fragments(struct weft_ir_program *program);
/** Finds, for each slot, the smallest construct outside of which its value does not count. */
void weft_ir_find_homes(struct weft_ir_program *program);

/* ---- unroll.c ---- */

/**
 * Whether a loop, if its length turns out to be known, is to be written out, so that the elements of an array of this
 * invocation's, which it goes through, become registers. Compilers by themselves do so with short ones, or not at all. `most` instructions are left
 * as they are.
 */
bool weft_ir_wants_unrolling(const struct weft_ir_program *program, const struct weft_ir_node *loop,
                             uint32_t most);

#endif
