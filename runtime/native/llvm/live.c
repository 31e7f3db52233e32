/* SPDX-License-Identifier: MIT */
/* Variables that a subgroup need not keep at a barrier: they are set before any read. */
#include "native/llvm/analysis.h"

struct scan {
    const struct weft_ir_program *program;
    bool *dead;  /* by slot */
    bool *met;   /* by slot: what comes later tells no more about it */
    bool jumped; /* what comes later may be left out */
};

static void note(struct scan *scan, const struct weft_ir_instruction *instruction, bool is_dead) {
    const struct weft_ir_variable *variable = &scan->program->variables[instruction->root];
    const uint32_t from = variable->first + (variable->indexed ? 0 : instruction->place);
    const uint32_t count = variable->indexed ? variable->slots : instruction->n;
    for (uint32_t i = from; i < from + count; i++) {
        scan->dead[i] = scan->met[i] ? scan->dead[i] : is_dead;
        scan->met[i] = true;
    }
}

static void scan_code(struct scan *scan, const struct weft_ir_node *node, bool always) {
    for (uint32_t i = node->first; i < node->first + node->count; i++) {
        const struct weft_ir_instruction *instruction = &scan->program->instructions[i];
        if (instruction->op == WEFT_IR_GET) {
            note(scan, instruction, false);
        } else if (instruction->op == WEFT_IR_SET && always && !scan->jumped &&
                   !scan->program->variables[instruction->root].indexed) {
            note(scan, instruction, true);
        }
    }
}

/* `always`: whether all that come by run these nodes. */
static void scan_nodes(struct scan *scan, uint32_t node, bool always) {
    for (; node != WEFT_IR_NONE; node = scan->program->nodes[node].next) {
        const struct weft_ir_node *at = &scan->program->nodes[node];
        scan->jumped = scan->jumped || at->kind == WEFT_IR_JUMP;
        if (at->kind == WEFT_IR_CODE) {
            scan_code(scan, at, always);
        }
        for (uint32_t i = 0; i < 2 && at->lists[i] != WEFT_IR_NONE; i++) {
            scan_nodes(scan, scan->program->lists[at->lists[i]].first, false);
        }
    }
}

static bool is_in_loop(const struct weft_ir_program *program, uint32_t list) {
    uint32_t owner = program->lists[list].owner;
    while (owner != WEFT_IR_NONE && program->nodes[owner].kind != WEFT_IR_LOOP) {
        owner = program->lists[program->nodes[owner].list].owner;
    }
    return owner != WEFT_IR_NONE;
}

/* Variables not met by the end of the program are never read again. */
static void scan_rest(struct scan *scan, uint32_t list, uint32_t end) {
    const struct weft_ir_program *program = scan->program;
    scan_nodes(scan, end, true);
    for (uint32_t owner = program->lists[list].owner; owner != WEFT_IR_NONE;
         owner = program->lists[program->nodes[owner].list].owner) {
        scan_nodes(scan, program->nodes[owner].next, true);
    }
    for (uint32_t i = 0; i < program->slot_count; i++) {
        scan->dead[i] = scan->dead[i] || !scan->met[i];
    }
}

/* NOLINTNEXTLINE(readability-non-const-parameter): the scan writes it */
void weft_ir_find_dead(bool *dead, struct weft_ir_program *program, uint32_t list, uint32_t end) {
    struct scan scan = {.program = program, .dead = dead};
    if (is_in_loop(program, list)) {
        return;
    }
    scan.met = weft_alloc_zero(program->host, (size_t)program->slot_count + 1, sizeof *scan.met);
    if (!scan.met) {
        weft_ir_error(program, WEFT_OUT_OF_HOST_MEMORY, "out of memory");
        return;
    }
    scan_rest(&scan, list, end);
    weft_free(program->host, scan.met);
}
