/* SPDX-License-Identifier: MIT */
/*
 * Running the intermediate form of a kernel (spirv/ir/ir.h) in plain C. A value is a row of words, one for each invocation
 * of a workgroup, and an instruction is a loop over those invocations that run: all of a workgroup, as far as its control
 * flow agrees. What the tree of control flow lets a part of them do is a mask (walk.c).
 *
 * Arithmetic of reproducible kernels: float32, round to nearest even, nothing contracted. Subnormal operands of an
 * arithmetic instruction, a comparison or a conversion count as the zero of their sign. A result is rounded to 24 bits as if
 * there were no least exponent, and is the zero of its sign when it is then below 2^-126: what x86 does in its mode for that,
 * and all drivers at hand with it. Loads, stores, selects, bit casts and composites move bits untouched. A NaN's payload is
 * whatever the host makes of it. What the SPIR-V specification leaves undefined has a fixed value (arithmetic.c, integer.c),
 * which no shader may depend on. Undefined memory holds WEFT_IR_POISON.
 */
#ifndef WEFT_INTERPRET_INTERPRET_H
#define WEFT_INTERPRET_INTERPRET_H

#include <stdatomic.h>

#include "spirv/ir/ir.h"

/** A kernel that can be run. Constant once it is made, so that threads can share it. */
struct weft_interpreted;

/**
 * Makes a kernel of a module, which keeps a copy of the host. Free it with weft_interpreted_free. A strict one is refused when it has anything that does not
 * have the same bits everywhere, or that no kernel of Weft's needs (integers of other sizes than 32 bits); the others may have
 * what the processor's compiler takes, but no float64.
 * Errors, each with a sentence in `text`: WEFT_UNSUPPORTED naming what is not interpreted; WEFT_COMPILE_ERROR for a module
 * that does not hold together; WEFT_OUT_OF_HOST_MEMORY.
 */
weft_status weft_interpret(struct weft_interpreted **kernel, const struct weft_ir_source *source,
                           bool strict, char text[WEFT_IR_TEXT], const weft_host *host);
void weft_interpreted_free(struct weft_interpreted **kernel);

/** Its local size, bindings and push constants. */
const struct weft_ir_program *weft_interpreted_program(const struct weft_interpreted *kernel);
/** Bytes of memory that a workgroup of it works with. */
size_t weft_interpreted_memory(const struct weft_interpreted *kernel);

/** The bytes of a binding. */
struct weft_interpreted_range {
    uint8_t *data;
    uint64_t size;
    bool writable; /* false: a store is an error */
};

/** Push constants are bound like a buffer, behind the bindings. */
#define WEFT_INTERPRET_PUSH   WEFT_IR_MAX_BINDINGS
#define WEFT_INTERPRET_RANGES (WEFT_IR_MAX_BINDINGS + 1)

enum weft_interpret_fault_kind {
    WEFT_INTERPRET_NO_FAULT = 0,
    WEFT_INTERPRET_FAULT_BUFFER,      /* an access outside of a binding */
    WEFT_INTERPRET_FAULT_READ_ONLY,   /* a store to a binding that is not writable */
    WEFT_INTERPRET_FAULT_SHARED,      /* an access outside of a shared variable */
    WEFT_INTERPRET_FAULT_LOCAL,       /* … of another variable, or of a vector */
    WEFT_INTERPRET_FAULT_BARRIER,     /* a barrier that part of the workgroup does not reach */
    WEFT_INTERPRET_FAULT_UNREACHABLE, /* OpUnreachable */
    WEFT_INTERPRET_FAULT_GROUP_LIMIT, /* too many instructions */
    WEFT_INTERPRET_HALTED
};

/** The first thing that went wrong. */
struct weft_interpret_fault {
    enum weft_interpret_fault_kind kind;
    uint32_t lane;   /* invocation */
    uint32_t root;   /* index of the binding */
    uint64_t offset; /* bytes or slots; WEFT_IR_OUTSIDE or more: an index was outside */
    uint64_t size;   /* bytes or slots */
};

#define WEFT_INTERPRET_MAX_WORDS (WEFT_IR_MAX_INVOCATIONS / 64)

/** A set of invocations. */
struct weft_interpret_mask {
    uint64_t words[WEFT_INTERPRET_MAX_WORDS];
};

/** Which invocations an instruction runs for. */
struct weft_interpret_lanes {
    struct weft_interpret_mask mask;
    uint32_t count;
    uint32_t first; /* when dense: first … first + count - 1 */
    bool dense;     /* else those in the list */
    uint16_t list[WEFT_IR_MAX_INVOCATIONS];
};

/** A workgroup. */
struct weft_interpret_group {
    const struct weft_interpreted *kernel;
    void *memory; /* weft_interpreted_memory bytes, aligned as malloc aligns */
    struct weft_interpreted_range range[WEFT_INTERPRET_RANGES]; /* in the program's order */
    uint32_t groups[3];                                         /* of the dispatch */
    uint32_t id[3];
    uint64_t steps, step_limit; /* instructions times invocations */
    /* Forbidden accesses are no faults: accesses out of bounds read 0 and write nothing. */
    bool robust;
    const atomic_uint_least32_t
        *halt; /* the workgroup ends, WEFT_INTERPRET_HALTED, where it is not 0; or null */
    struct weft_interpret_fault fault;
    /* The rest is the interpreter's. */
    uint32_t lane_count; /* the workgroup's invocations: the length of a row */
    uint32_t *rows;
    uint8_t *shared;
    struct weft_interpret_lanes active;
};

/** Prepares the memory for workgroups, once `kernel` and `memory` are there. */
void weft_interpret_begin(struct weft_interpret_group *group);
/** Runs the workgroup `id`, to its end or to a fault. `steps` counts on. */
void weft_interpret_group(struct weft_interpret_group *group);

#endif
