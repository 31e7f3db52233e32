/* SPDX-License-Identifier: MIT */
/*
 * Stores to variables whose value nobody reads: those to slots that are never read at all, and those that the same piece of code
 * overwrites first. What is left says what a slot can hold when it is read.
 */
#include "spirv/ir/ir.h"

struct reads {
    struct weft_ir_program *program;
    bool *read;        /* by slot: somewhere */
    bool *overwritten; /* by slot: further on in the piece of code, before it is read */
};

static const struct weft_ir_variable *variable_of(const struct weft_ir_program *program,
                                                  const struct weft_ir_instruction *instruction) {
    return &program->variables[instruction->root];
}

static void mark(bool *flags, const struct weft_ir_program *program,
                 const struct weft_ir_instruction *instruction, bool flag) {
    const struct weft_ir_variable *variable = variable_of(program, instruction);
    const uint32_t from = variable->indexed ? 0 : instruction->place;
    const uint32_t count = variable->indexed ? variable->slots : instruction->n;
    for (uint32_t i = 0; i < count; i++) {
        flags[variable->first + from + i] = flag;
    }
}

static bool is_dead(const struct reads *reads, const struct weft_ir_instruction *set) {
    const struct weft_ir_variable *variable = variable_of(reads->program, set);
    if (reads->program->exact && reads->program->arguments[set->arguments] != 0) {
        return false; /* its index may be outside */
    }
    for (uint32_t i = 0; i < set->n; i++) {
        const uint32_t slot = variable->first + (variable->indexed ? 0 : set->place + i);
        if (reads->read[slot] && !reads->overwritten[slot]) {
            return false;
        }
    }
    return true;
}

/* One piece of code, from its end. */
static void drop(const struct reads *reads, const struct weft_ir_node *node) {
    struct weft_ir_program *program = reads->program;
    for (uint32_t i = node->first + node->count; i > node->first; i--) {
        struct weft_ir_instruction *instruction = &program->instructions[i - 1];
        if (instruction->op == WEFT_IR_GET) {
            mark(reads->overwritten, program, instruction, false);
        } else if (instruction->op == WEFT_IR_SET && is_dead(reads, instruction)) {
            instruction->op = WEFT_IR_NOTHING;
            instruction->argument_count = 0;
        } else if (instruction->op == WEFT_IR_SET && !variable_of(program, instruction)->indexed) {
            mark(reads->overwritten, program, instruction, true);
        }
    }
    /* For the piece that is next, nothing is. */
    for (uint32_t i = node->first; i < node->first + node->count; i++) {
        if (program->instructions[i].op == WEFT_IR_SET) {
            mark(reads->overwritten, program, &program->instructions[i], false);
        }
    }
}

void weft_ir_drop_dead_stores(struct weft_ir_program *program) {
    const size_t slots = (size_t)program->slot_count + 1;
    struct reads reads = {.program = program};
    reads.read = weft_alloc_zero(program->host, slots, sizeof *reads.read);
    reads.overwritten = weft_alloc_zero(program->host, slots, sizeof *reads.overwritten);
    if (!reads.read || !reads.overwritten) {
        weft_ir_error(program, WEFT_OUT_OF_HOST_MEMORY, "out of memory");
    }
    for (uint32_t i = 0; program->status == WEFT_OK && i < program->instruction_count; i++) {
        if (program->instructions[i].op == WEFT_IR_GET) {
            mark(reads.read, program, &program->instructions[i], true);
        }
    }
    for (uint32_t i = 0; program->status == WEFT_OK && i < program->node_count; i++) {
        if (program->nodes[i].kind == WEFT_IR_CODE) {
            drop(&reads, &program->nodes[i]);
        }
    }
    weft_free(program->host, reads.overwritten);
    weft_free(program->host, reads.read);
}
