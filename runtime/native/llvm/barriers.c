/* SPDX-License-Identifier: MIT */
/*
 * Barriers that part nothing: what lives across one goes through memory, for each subgroup, and kernels for any device have one
 * between any two steps.
 */
#include "native/llvm/analysis.h"

/* Accesses of a piece of the program to memory that other invocations see, by enum weft_ir_space. */
struct accesses {
    bool reads[WEFT_IR_PUSH], writes[WEFT_IR_PUSH];
};

static const struct accesses everything = {.reads = {true, true}, .writes = {true, true}};

static void add(struct accesses *to, const struct accesses *from) {
    for (uint32_t i = 0; i < WEFT_IR_PUSH; i++) {
        to->reads[i] = to->reads[i] || from->reads[i];
        to->writes[i] = to->writes[i] || from->writes[i];
    }
}

static bool conflict(const struct accesses *a, const struct accesses *b) {
    for (uint32_t i = 0; i < WEFT_IR_PUSH; i++) {
        if ((a->writes[i] && (b->writes[i] || b->reads[i])) || (a->reads[i] && b->writes[i])) {
            return true;
        }
    }
    return false;
}

static void add_code(struct accesses *accesses, const struct weft_ir_program *program,
                     const struct weft_ir_node *node) {
    for (uint32_t i = node->first; i < node->first + node->count; i++) {
        const struct weft_ir_instruction *instruction = &program->instructions[i];
        const uint32_t space = instruction->space;
        const bool is_atomic = instruction->op == WEFT_IR_ATOMIC;
        if (space < WEFT_IR_PUSH) {
            accesses->reads[space] |= is_atomic || instruction->op == WEFT_IR_LOAD;
            accesses->writes[space] |= is_atomic || instruction->op == WEFT_IR_STORE;
        }
    }
}

/* Constructs with barriers of their own may do anything before and behind them. */
static void add_node(struct accesses *accesses, const struct weft_ir_program *program,
                     const struct weft_ir_node *node) {
    if (node->kind == WEFT_IR_CODE) {
        add_code(accesses, program, node);
    } else if (node->kind == WEFT_IR_BARRIER) {
        add(accesses, &everything);
    }
    for (uint32_t i = 0; i < 2 && node->lists[i] != WEFT_IR_NONE; i++) {
        uint32_t inner = program->lists[node->lists[i]].first;
        for (; inner != WEFT_IR_NONE; inner = program->nodes[inner].next) {
            add_node(accesses, program, &program->nodes[inner]);
        }
    }
}

/* From a node up to the next barrier of its list, or the end, where the program ends, too. */
static struct accesses accesses_from(const struct weft_ir_program *program, uint32_t node) {
    struct accesses accesses = {0};
    while (node != WEFT_IR_NONE && program->nodes[node].kind != WEFT_IR_BARRIER) {
        add_node(&accesses, program, &program->nodes[node]);
        node = program->nodes[node].next;
    }
    return accesses;
}

/* Drops barriers in a list that is the whole program. */
static void drop_in(struct weft_ir_program *program, uint32_t list) {
    uint32_t at = program->lists[list].first;
    struct accesses before = accesses_from(program, at);
    for (; at != WEFT_IR_NONE; at = program->nodes[at].next) {
        struct weft_ir_node *node = &program->nodes[at];
        if (node->kind != WEFT_IR_BARRIER) {
            continue;
        }
        const struct accesses behind = accesses_from(program, node->next);
        if (conflict(&before, &behind)) {
            before = behind;
        } else {
            node->kind = WEFT_IR_CODE; /* of no instructions */
            add(&before, &behind);
        }
    }
}

void weft_ir_drop_barriers(struct weft_ir_program *program) {
    uint32_t list = 0;
    for (;;) {
        const uint32_t only = program->lists[list].first;
        const bool is_scope = only != WEFT_IR_NONE && only == program->lists[list].last &&
                              program->nodes[only].kind == WEFT_IR_SCOPE;
        if (!is_scope) {
            break;
        }
        list = program->nodes[only].lists[0];
    }
    drop_in(program, list);
}
