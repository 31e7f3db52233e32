/* SPDX-License-Identifier: MIT */
/*
 * From SPIR-V to a program, in parts, all on the module's index: types.c and constants.c make its types and constants,
 * module.c surveys its functions, control.c follows calls and branches, access.c makes addresses, and instruction.c computes.
 *
 * Functions are decoded anew at each call, which the absence of recursion allows, so that what is known of an id is
 * that of the call at hand. The first error stays, after which everything is harmless.
 */
#ifndef WEFT_SPIRV_IR_DECODE_H
#define WEFT_SPIRV_IR_DECODE_H

#include "spirv/index.h"
#include "spirv/ir/ir.h"

enum weft_ir_spirv_type_kind {
    WEFT_IR_TYPE_NONE = 0,
    WEFT_IR_TYPE_VOID,
    WEFT_IR_TYPE_SCALAR,
    WEFT_IR_TYPE_VECTOR,
    WEFT_IR_TYPE_MATRIX, /* of column vectors */
    WEFT_IR_TYPE_ARRAY,
    WEFT_IR_TYPE_RUNTIME_ARRAY,
    WEFT_IR_TYPE_STRUCT,
    WEFT_IR_TYPE_POINTER,
    WEFT_IR_TYPE_FUNCTION
};

struct weft_ir_spirv_type {
    uint8_t kind;
    uint8_t scalar;   /* enum weft_ir_type of a scalar */
    uint32_t slots;   /* scalars in a value; 0 of a runtime array */
    uint32_t element; /* id: of components, columns, elements, or what is pointed to */
    uint32_t count;   /* of those; a structure's members */
    uint32_t stride;  /* bytes between elements in memory, 0 where there is no layout */
    uint32_t size;    /* bytes in shared memory, where we lay things out */
    uint32_t first_member;
};

struct weft_ir_member {
    uint32_t type;
    uint32_t first_slot;
    uint32_t offset;        /* bytes, in a buffer */
    uint32_t matrix_stride; /* bytes */
    bool row_major;
};

/** Target of a pointer. Offsets are bytes, or slots in variables. */
struct weft_ir_pointer {
    uint32_t type; /* id of the type pointed to */
    uint8_t space; /* enum weft_ir_space, or WEFT_IR_IN_VARIABLE, WEFT_IR_IN_INPUT */
    bool row_major;
    uint32_t
        matrix_stride; /* of a matrix that is pointed to; of one of its columns where row_major: between components */
    uint32_t root; /* binding's index, variable, or built-in */
    uint32_t offset;
    weft_ir_value index; /* to be added to the offset; or 0 */
};
enum { WEFT_IR_IN_VARIABLE = 8, WEFT_IR_IN_INPUT };

enum weft_ir_id_kind { WEFT_IR_ID_NONE = 0, WEFT_IR_ID_VALUE, WEFT_IR_ID_POINTER };

/** Decoded state of an id; its declaration is in the module's index. */
struct weft_ir_id {
    uint8_t kind; /* enum weft_ir_id_kind */
    bool crosses; /* used in another piece of code than the one that makes it */
    bool precise; /* decorated NoContraction */
    bool written; /* of a parameter: its function stores through it */
    uint32_t type;
    uint32_t block; /* the piece of code it was made in; 0: anywhere */
    uint32_t count; /* of its scalars */
    weft_ir_value *scalars;
    uint32_t variable; /* that keeps it, or WEFT_IR_NONE */
    uint32_t phi; /* the variable that the edges to an OpPhi set, in the call numbered phi_call */
    uint32_t phi_call;
    uint32_t home;   /* in the survey: the piece of code of its function */
    uint32_t stores; /* to this variable, in the module */
    uint32_t root;   /* of a pointer: the variable or parameter it points into */
    struct weft_ir_pointer pointer;
};

/** A construct of SPIR-V's structured control flow while it is decoded. */
struct weft_ir_construct {
    struct weft_ir_construct *outer;
    uint32_t merge, latch, header; /* labels, or 0 */
    uint32_t node;                 /* WEFT_IR_NONE of a selection without jumps to its end */
    bool in_latch;
    bool reached; /* a branch led to the merge block of a selection */
};

/** A call while its function is decoded. */
struct weft_ir_frame {
    const uint32_t *function; /* its OpFunction */
    uint32_t number;          /* of the call, from 1 */
    uint32_t scope;           /* node */
    uint32_t result;          /* variable, or WEFT_IR_NONE */
    uint32_t label;           /* of the block at hand */
    struct weft_ir_construct *construct;
};

/** Memory for scalars, which stay where they are. */
struct weft_ir_chunk {
    struct weft_ir_chunk *next;
    uint32_t used, capacity;
    weft_ir_value values[];
};

struct weft_ir_decoder {
    struct weft_ir_program *program;
    const struct weft_ir_source *source;
    struct weft_spirv_module module;
    struct weft_ir_id *ids;
    struct weft_ir_spirv_type *types; /* by id */
    struct weft_ir_member *members;
    uint32_t member_count, member_capacity;
    struct weft_ir_chunk *chunks; /* of scalars */
    uint32_t main;                /* id */
    uint32_t block;               /* the piece of code at hand */
    uint32_t list;                /* of nodes, to which code is appended */
    uint32_t calls;               /* so far */
    uint32_t work;                /* instructions and scalars so far, those of each call anew */
    struct weft_ir_frame *frame;
};

/* `words` are an instruction of the module: at least as many as weft_spirv_check wants of its kind. */

/** The next instruction that is no OpLine. */
const uint32_t *weft_ir_next(const uint32_t *words);
/** The literal of an id's decoration, or `otherwise` where it has none. */
uint32_t weft_ir_literal(const struct weft_ir_decoder *decoder, uint32_t id,
                         SpvDecoration decoration, uint32_t otherwise);
/** The entry of an id; of 0 after an error. */
struct weft_ir_id *weft_ir_id(struct weft_ir_decoder *decoder, uint32_t id);
/** Counts what is decoded: small modules can ask for much by calls of calls and branches back. False after an error. */
bool weft_ir_work(struct weft_ir_decoder *decoder, uint32_t amount);
void weft_ir_unsupported(struct weft_ir_decoder *decoder, const char *what, uint32_t number);

/* ---- module.c: declarations ---- */

/** Reads what comes before the first function, and surveys the functions. */
void weft_ir_survey(struct weft_ir_decoder *decoder);
/** The type of an id that is one; of none after an error. */
const struct weft_ir_spirv_type *weft_ir_type_of(struct weft_ir_decoder *decoder, uint32_t id);
const struct weft_ir_member *weft_ir_member(struct weft_ir_decoder *decoder,
                                            const struct weft_ir_spirv_type *type, uint32_t index);
/** The scalar type that all slots of a type have, or that of slot `slot`. */
uint32_t weft_ir_slot_type(struct weft_ir_decoder *decoder, uint32_t type, uint32_t slot);

/** Reads an OpVariable outside of functions. */
void weft_ir_decode_global(struct weft_ir_decoder *decoder, const uint32_t *words);

/* ---- types.c ---- */

/** Reads an OpType…; false when it is none. */
bool weft_ir_decode_type(struct weft_ir_decoder *decoder, const uint32_t *words);

/* ---- constants.c ---- */

/** Reads OpUndef and an OpConstant…; nothing happens where it is none. */
void weft_ir_decode_constant(struct weft_ir_decoder *decoder, const uint32_t *words);
/** The value of a constant of one scalar; an error, and 0, where it is none. */
uint64_t weft_ir_constant_of(struct weft_ir_decoder *decoder, uint32_t id);

/* ---- values of ids ---- */

/** Makes an id a value of a type with these scalars, as many as the type has, which it keeps. */
void weft_ir_define(struct weft_ir_decoder *decoder, uint32_t id, uint32_t type,
                    weft_ir_value *scalars);
/** A zeroed row of scalars, at least one, that lasts as long as the decoder; null after an error. */
weft_ir_value *weft_ir_row(struct weft_ir_decoder *decoder, uint32_t count);
/** Makes the result of an instruction the value of the parts that are its operands, as OpCompositeConstruct does. */
void weft_ir_construct(struct weft_ir_decoder *decoder, const uint32_t *words);
/** Makes an id a pointer. */
void weft_ir_define_pointer(struct weft_ir_decoder *decoder, uint32_t id,
                            const struct weft_ir_pointer *pointer);
/** The scalars of a value, brought into the piece of code at hand; null after an error. */
const weft_ir_value *weft_ir_scalars(struct weft_ir_decoder *decoder, uint32_t id);
/** One of them; 0 after an error. */
weft_ir_value weft_ir_scalar(struct weft_ir_decoder *decoder, uint32_t id, uint32_t index);
struct weft_ir_pointer weft_ir_pointer(struct weft_ir_decoder *decoder, uint32_t id);

/* ---- appending, with constants folded ---- */

weft_ir_value weft_ir_compute(struct weft_ir_decoder *decoder, uint32_t op, uint32_t type,
                              const weft_ir_value *arguments, uint32_t count, bool fusible);
weft_ir_value weft_ir_u32(struct weft_ir_decoder *decoder, uint32_t value);
weft_ir_value weft_ir_binary(struct weft_ir_decoder *decoder, uint32_t op, uint32_t type,
                             weft_ir_value a, weft_ir_value b);

/* ---- access.c ---- */

/** Instructions about memory; false when it is none of them. */
bool weft_ir_decode_access(struct weft_ir_decoder *decoder, const uint32_t *words);
/** A variable of a function (or module) for each slot of a type. */
uint32_t weft_ir_new_variable(struct weft_ir_decoder *decoder, uint32_t type, uint32_t list);
/** In an exact program: base (or 0) + index * stride, or WEFT_IR_OUTSIDE where the index is not below `count`. */
weft_ir_value weft_ir_index(struct weft_ir_decoder *decoder, weft_ir_value base,
                            weft_ir_value index, uint32_t stride, uint32_t count);
/** One scalar at an index of a variable, whose scalars are alike. */
weft_ir_value weft_ir_get_indexed(struct weft_ir_decoder *decoder, uint32_t variable,
                                  weft_ir_value index, uint32_t type);
void weft_ir_set_indexed(struct weft_ir_decoder *decoder, uint32_t variable, weft_ir_value index,
                         weft_ir_value scalar);
/** Whole values to and from slots of variables. */
void weft_ir_get_variable(struct weft_ir_decoder *decoder, uint32_t variable, uint32_t type,
                          weft_ir_value *scalars);
void weft_ir_set_variable(struct weft_ir_decoder *decoder, uint32_t variable,
                          const weft_ir_value *scalars, uint32_t count);

/* ---- instruction.c ---- */

/** An instruction that is not about control flow or memory; in constants.c for specialization, too. */
void weft_ir_decode_instruction(struct weft_ir_decoder *decoder, const uint32_t *words);

/* ---- known.c ---- */

/** A call of a function that a processor has an instruction for; false, and nothing happens, where it is none. */
bool weft_ir_decode_known(struct weft_ir_decoder *decoder, const uint32_t *function,
                          const uint32_t *call);

/* ---- control.c ---- */

void weft_ir_decode_main(struct weft_ir_decoder *decoder);

#endif
