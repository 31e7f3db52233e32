/* SPDX-License-Identifier: MIT */
/*
 * A plain-C evaluation of SPIR-V compute modules on host memory: what a dispatch must write, bit for
 * bit, when it uses nothing but the instructions of reproducible mode (docs/reproducibility.md, rule 2).
 * With it one can say whether a wrong result is the driver's fault or the shader's, and it checks every
 * access, barrier and loop on the way.
 *
 * The modules are run by the library's interpreter (interpret/interpret.h, which says what arithmetic is),
 * at its strictest.
 *
 * Undefined memory (shared and local variables, fresh arenas) holds WEFT_EVALUATOR_POISON, a NaN.
 * Invocations of a workgroup run in lockstep as far as their control flow agrees; workgroups run one
 * after another. Data races are not detected. Nothing here logs; one thread per evaluator.
 */
#ifndef WEFT_CONFORMANCE_EVALUATOR_H
#define WEFT_CONFORMANCE_EVALUATOR_H

#include <weft/graph.h>

#include "core/kernel_limits.h"
#include "interpret/interpret.h"

#define WEFT_EVALUATOR_POISON WEFT_IR_POISON
#define WEFT_EVALUATOR_TEXT   320

/** Instructions times invocations that one workgroup may take before it counts as endless. */
#define WEFT_EVALUATOR_GROUP_LIMIT (UINT64_C(1) << 32)

struct weft_evaluated_dispatch {
    const char *label;              /* for messages, or null */
    const uint32_t *words;          /* of a module as the driver gets it: valid by spirv-val */
    size_t size;                    /* bytes */
    const uint32_t *specialization; /* constant_id i has value [i] */
    uint32_t specialization_count;
    const uint8_t *push;
    uint32_t push_size; /* bytes */
    uint32_t groups[3];
    struct weft_interpreted_range
        range[WEFT_MAX_BINDINGS]; /* set 0, by binding; size 0: not bound */
    uint64_t group_limit;         /* 0: WEFT_EVALUATOR_GROUP_LIMIT */
};

/** Keeps modules that were decoded, the newest few. */
typedef struct weft_evaluator weft_evaluator;

/** host may be null. Null when memory is out. */
weft_evaluator *weft_evaluator_create(const weft_host *host);
void weft_evaluator_destroy(weft_evaluator **evaluator);

/** The instructions that this evaluator ran so far, times their invocations. */
uint64_t weft_evaluator_steps(const weft_evaluator *evaluator);

/**
 * From here on, lets evaluations stop, with WEFT_OK and their outputs incomplete, at the end of the
 * workgroup that completes `steps` more steps. 0: never.
 */
void weft_evaluator_set_limit(weft_evaluator *evaluator, uint64_t steps);
/** True if that has happened. */
bool weft_evaluator_was_stopped(const weft_evaluator *evaluator);

/**
 * Runs the entry point "main" for every workgroup, on the memory of the ranges.
 * Errors, each with a sentence in `text`:
 *   WEFT_UNSUPPORTED       an instruction, type or built-in outside of what is evaluated, by name
 *   WEFT_COMPILE_ERROR     a module that is not well formed
 *   WEFT_INVALID_ARGUMENT  what a shader must not do: an access outside of a binding or a variable
 *                          (binding, offset and invocation are named), a store to a binding that is
 *                          not writable, a barrier that part of a workgroup does not reach, a
 *                          workgroup over its limit of instructions, a branch to OpUnreachable
 *   WEFT_OUT_OF_HOST_MEMORY
 * After an error the ranges hold what had been written by then.
 */
weft_status weft_evaluate_dispatch(char text[WEFT_EVALUATOR_TEXT], weft_evaluator *evaluator,
                                   const struct weft_evaluated_dispatch *dispatch);

/** A port's bytes for weft_evaluate_plan. Inputs are only read. */
struct weft_evaluated_port {
    const char *name;
    void *data;
    uint64_t size; /* bytes */
};

/**
 * Evaluates every dispatch of a plan, compiled in reproducible mode, in order: reads the constants
 * back from the plan's device, uses host memory for the arena, and reads and writes the ports'
 * bytes. Every port of the plan must be given. Errors as above, and those of reading back.
 */
weft_status weft_evaluate_plan(char text[WEFT_EVALUATOR_TEXT], weft_evaluator *evaluator,
                               const weft_plan *plan, const struct weft_evaluated_port *ports,
                               uint32_t count);

#endif
