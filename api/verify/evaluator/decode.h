/* SPDX-License-Identifier: MIT */
/*
 * From a module to a program, in parts: module.c surveys the module, types.c and constants.c read
 * its declarations, function.c follows calls and control.c branches, access.c makes addresses,
 * composite.c takes values apart, and instruction.c computes. slots.c keeps the slots.
 *
 * The first error stays, after which everything is harmless. Functions are decoded anew at each
 * call, which the absence of recursion allows, so that what is known of an id is that of the call
 * at hand.
 */
#ifndef WEFT_CONFORMANCE_EVALUATOR_DECODE_H
#define WEFT_CONFORMANCE_EVALUATOR_DECODE_H

#include "spirv/module.h"
#include "verify/evaluator/program.h"

/* More numbers of the SPIR-V specification. */
enum {
    WEFT_EVAL_DECORATION_BLOCK = 2,
    WEFT_EVAL_DECORATION_BUFFER_BLOCK = 3,
    WEFT_EVAL_DECORATION_ROW_MAJOR = 4,
    WEFT_EVAL_DECORATION_ARRAY_STRIDE = 6,
    WEFT_EVAL_DECORATION_MATRIX_STRIDE = 7,
    WEFT_EVAL_DECORATION_BINDING = 33,
    WEFT_EVAL_DECORATION_DESCRIPTOR_SET = 34,
    WEFT_EVAL_DECORATION_OFFSET = 35,
    WEFT_EVAL_STORAGE_INPUT = 1,
    WEFT_EVAL_STORAGE_UNIFORM = 2,
    WEFT_EVAL_STORAGE_WORKGROUP = 4,
    WEFT_EVAL_STORAGE_PRIVATE = 6,
    WEFT_EVAL_STORAGE_FUNCTION = 7,
    WEFT_EVAL_STORAGE_PUSH_CONSTANT = 9,
    WEFT_EVAL_STORAGE_STORAGE_BUFFER = 12
};

enum weft_eval_type_kind {
    WEFT_EVAL_VOID = 0,
    WEFT_EVAL_BOOL,
    WEFT_EVAL_INT, /* either signedness: instructions know it */
    WEFT_EVAL_FLOAT,
    WEFT_EVAL_VECTOR,
    WEFT_EVAL_MATRIX, /* of column vectors */
    WEFT_EVAL_ARRAY,
    WEFT_EVAL_RUNTIME_ARRAY,
    WEFT_EVAL_STRUCT,
    WEFT_EVAL_POINTER,
    WEFT_EVAL_FUNCTION_TYPE
};

struct weft_eval_type {
    uint32_t kind;
    uint32_t words;   /* slots of a value; 0 for a runtime array and what has no values */
    uint32_t element; /* id of the type of components, columns, elements, or pointed to */
    uint32_t count;   /* of those; a structure's members */
    uint32_t stride;  /* bytes between an array's elements, 0 without a layout */
    uint32_t storage; /* a pointer's storage class */
    uint32_t first_member;
};

struct weft_eval_member {
    uint32_t type;
    uint32_t first_word;    /* in a value */
    uint32_t offset;        /* in a buffer, bytes */
    uint32_t matrix_stride; /* bytes */
};

enum weft_eval_id_kind {
    WEFT_EVAL_ID_NONE = 0,
    WEFT_EVAL_ID_TYPE,
    WEFT_EVAL_ID_VALUE,    /* of the function at hand */
    WEFT_EVAL_ID_CONSTANT, /* a value of the module */
    WEFT_EVAL_ID_VARIABLE, /* a pointer of the module */
    WEFT_EVAL_ID_LABEL,
    WEFT_EVAL_ID_FUNCTION,
    WEFT_EVAL_ID_GLSL /* the instruction set GLSL.std.450 */
};

/** What a pointer points into, and so what its offsets count. */
enum weft_eval_space {
    WEFT_EVAL_SPACE_BUFFER = 0, /* bytes of a binding */
    WEFT_EVAL_SPACE_SHARED,     /* words */
    WEFT_EVAL_SPACE_SLOTS       /* slots */
};

/** A pointer: the place it is in, a fixed offset, and an offset in a slot. */
struct weft_eval_pointer {
    uint32_t type; /* id of the type pointed to */
    uint8_t space; /* enum weft_eval_space */
    uint32_t root; /* binding, first word or first slot */
    uint32_t size; /* of the variable in words or slots; 0 for buffers */
    uint32_t offset;
    uint32_t slot;          /* WEFT_EVAL_ZERO: none */
    uint32_t matrix_stride; /* of what is pointed to */
};

#define WEFT_EVAL_NO_OWNER UINT32_MAX

struct weft_eval_id {
    uint8_t kind;    /* enum weft_eval_id_kind */
    bool is_pointer; /* of a value */
    bool shared;     /* a value that is used in other blocks than its own, or by OpPhi */
    bool active;     /* a function that is being decoded */
    uint32_t type;   /* id of the type of a value */
    uint32_t slot;   /* the first of a value */
    uint32_t owner;  /* first slot of the allocation it is in, or WEFT_EVAL_NO_OWNER */
    uint32_t mentions;
    uint32_t home;     /* the label that first mentions it */
    uint32_t at;       /* word where a label or function is */
    uint32_t function; /* whose result or parameter it is, or 0 */
    uint32_t block;    /* of a label */
    struct weft_eval_pointer pointer;
};

struct weft_eval_decoration {
    uint32_t target;
    uint32_t member; /* UINT32_MAX: the target itself */
    uint32_t decoration;
    uint32_t literal;
};

/** Slots that are free, or in use for as long as `references` is not 0. */
struct weft_eval_allocation {
    uint32_t words;
    uint32_t references; /* WEFT_EVAL_PINNED: to the end of the call */
};
#define WEFT_EVAL_PINNED UINT32_MAX

struct weft_eval_free_slots {
    uint32_t first, words;
};

/** The operand a of an instruction, once the value is known. */
struct weft_eval_patch {
    uint32_t instruction;
    uint32_t id;
};

struct weft_eval_decoder {
    const weft_host *host;
    char *text;
    weft_status status;
    const struct weft_evaluated_dispatch *dispatch;
    const uint32_t *words;
    uint32_t count; /* words */
    uint32_t bound;
    struct weft_eval_program *program;
    struct weft_eval_id *ids;
    struct weft_eval_type *types; /* by id */
    struct weft_eval_member *members;
    uint32_t member_count, member_capacity;
    struct weft_eval_decoration *decorations;
    uint32_t decoration_count, decoration_capacity;
    struct weft_eval_allocation *allocations; /* by first slot */
    uint32_t allocation_capacity;
    struct weft_eval_free_slots *free_slots;
    uint32_t free_count, free_capacity;
    uint32_t *taken; /* first slots, in order; those of a call are freed behind it */
    uint32_t taken_count, taken_capacity;
    struct weft_eval_patch *patches;
    uint32_t patch_count, patch_capacity;
    uint32_t main;  /* id */
    bool in_module; /* outside of functions: values are constants */
    struct weft_eval_instruction discarded;
};

/** An instruction of the module. */
struct weft_eval_view {
    const uint32_t *words;
    uint32_t length;
    uint32_t opcode;
};

/* ---- errors ---- */

/** Keeps the first error. */
void weft_eval_error(struct weft_eval_decoder *decoder, weft_status status, const char *format, ...)
    WEFT_PRINTF(3, 4);

/** WEFT_UNSUPPORTED, naming an instruction. */
void weft_eval_unsupported(struct weft_eval_decoder *decoder, uint32_t opcode);

/** Word `index` of an instruction; 0 and an error when it is too short. */
uint32_t weft_eval_word(struct weft_eval_decoder *decoder, const struct weft_eval_view *view,
                        uint32_t index);

/** An array's room for one more; false after an error. */
bool weft_eval_room(struct weft_eval_decoder *decoder, void *array_address, uint32_t count,
                    uint32_t *capacity, size_t size);

/** The instruction at a word. */
struct weft_eval_view weft_eval_view_at(const struct weft_eval_decoder *decoder, uint32_t at);

/* ---- the module ---- */

/** Whether there is a decoration, and its literal. */
bool weft_eval_decorated(const struct weft_eval_decoder *decoder, uint32_t target, uint32_t member,
                         uint32_t decoration, uint32_t *literal);

/** The type of an id that is one; of void after an error. */
const struct weft_eval_type *weft_eval_type(struct weft_eval_decoder *decoder, uint32_t id);

/** Reads an OpType… instruction. */
void weft_eval_decode_type(struct weft_eval_decoder *decoder, const struct weft_eval_view *view);

/** Reads an instruction that makes a constant. */
void weft_eval_decode_constant(struct weft_eval_decoder *decoder,
                               const struct weft_eval_view *view);
bool weft_eval_makes_constant(uint32_t opcode);

/** The value of a scalar constant. */
uint32_t weft_eval_constant(struct weft_eval_decoder *decoder, uint32_t id);

/** Reads an OpVariable outside of functions. */
void weft_eval_decode_variable(struct weft_eval_decoder *decoder,
                               const struct weft_eval_view *view);

/* ---- slots and values ---- */

/** Slots for a value, with one reference. */
uint32_t weft_eval_take(struct weft_eval_decoder *decoder, uint32_t words);
/** Drops a reference. Null owners and pinned slots are left alone. */
void weft_eval_release(struct weft_eval_decoder *decoder, uint32_t owner);
/** Keeps slots to the end of the call. */
void weft_eval_pin(struct weft_eval_decoder *decoder, uint32_t owner);
/** Frees what was taken since taken_count was `taken`. */
void weft_eval_free_taken(struct weft_eval_decoder *decoder, uint32_t taken);

/** Makes an id a value of a type, with slots; returns the first. Once for each id of a call. */
uint32_t weft_eval_define(struct weft_eval_decoder *decoder, uint32_t type, uint32_t id);
/** Makes an id another name for slots of a value. */
void weft_eval_alias(struct weft_eval_decoder *decoder, uint32_t type, uint32_t id, uint32_t of,
                     uint32_t offset);
/** Makes an id a pointer; the owner of its slot may be null. */
void weft_eval_define_pointer(struct weft_eval_decoder *decoder, uint32_t id,
                              const struct weft_eval_pointer *pointer, uint32_t owner);

/** The first slot of a value; an error when the id is none. */
uint32_t weft_eval_slot(struct weft_eval_decoder *decoder, uint32_t id);
/** The slots of a value. */
uint32_t weft_eval_words(struct weft_eval_decoder *decoder, uint32_t id);
/** What a pointer points to; an error when the id is none. */
const struct weft_eval_pointer *weft_eval_pointer(struct weft_eval_decoder *decoder, uint32_t id);

/* ---- operands and results of instructions on values ---- */

/** The slot of the operand in a word of the instruction. */
uint32_t weft_eval_operand(struct weft_eval_decoder *decoder, const struct weft_eval_view *view,
                           uint32_t index);
/** Slots for the instruction's result. */
uint32_t weft_eval_result(struct weft_eval_decoder *decoder, const struct weft_eval_view *view);
uint32_t weft_eval_result_words(struct weft_eval_decoder *decoder,
                                const struct weft_eval_view *view);

/* ---- functions ---- */

/** Appends an instruction on n slots; never null. */
struct weft_eval_instruction *weft_eval_emit(struct weft_eval_decoder *decoder,
                                             enum weft_eval_op op, uint32_t n, uint32_t d);

/** Appends d … = a …, n slots, unless they are the same. */
void weft_eval_move(struct weft_eval_decoder *decoder, uint32_t n, uint32_t d, uint32_t a);

#define WEFT_EVAL_NO_BLOCK UINT32_MAX /* of a label that was not decoded */

/** A call while its function is decoded. */
struct weft_eval_call {
    const struct weft_eval_view *view; /* the OpFunctionCall; null for main */
    uint32_t result;                   /* slots for what it returns */
    uint32_t result_words;
    uint32_t label; /* the block at hand */
    uint32_t first_block, first_case, first_patch, first_taken;
};

void weft_eval_begin_block(struct weft_eval_decoder *decoder);
/** Ends the newest block. */
void weft_eval_end_with_jump(struct weft_eval_decoder *decoder, uint32_t target);
/** Begins the block of an OpLabel. */
void weft_eval_decode_label(struct weft_eval_decoder *decoder, const struct weft_eval_view *view,
                            struct weft_eval_call *call);
/** Decodes what ends a block, a barrier too, and OpPhi; false when it is none of them. */
bool weft_eval_decode_end(struct weft_eval_decoder *decoder, const struct weft_eval_view *view,
                          const struct weft_eval_call *call);
/** Replaces labels by blocks, and the operands of moves that were not known, in what a call added. */
void weft_eval_resolve(struct weft_eval_decoder *decoder, const struct weft_eval_call *call);

/** Decodes the entry point. */
void weft_eval_decode_main(struct weft_eval_decoder *decoder);

/** Decodes an instruction that is not about control flow; specialization constants come here too. */
void weft_eval_decode_instruction(struct weft_eval_decoder *decoder,
                                  const struct weft_eval_view *view);

/** The same for those about composites; false when it is none of them. */
bool weft_eval_decode_composite(struct weft_eval_decoder *decoder,
                                const struct weft_eval_view *view);

/** The same for those about memory. */
bool weft_eval_decode_access(struct weft_eval_decoder *decoder, const struct weft_eval_view *view);

#endif
