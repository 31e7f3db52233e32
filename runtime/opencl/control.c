/* SPDX-License-Identifier: MIT */
/*
 * Control flow. A jump is nothing where what it leads to comes next anyway: what follows an if of which one side jumps moves
 * into the other side, so that most of them are. Else it is a `break` or `continue` where C has one for it. What is left, a
 * jump over more than one construct, or out of half of an if, sets the variable `jump` to a number of its target, and what is
 * passed on the way runs where that is 0.
 */
#include "core/rules.h"
#include "opencl/writer.h"

/* Compilers refuse text that is nested more deeply than 256, which expressions have a share in. */
#define MOST_NESTED 200u

/* Bits of weft_cl_writer::awaited: such a jump to the node's end, or latch, has been written. */
enum { TO_END = 1, TO_LATCH = 2 };

/* Code being written. `last`: its end is also the end of the enclosing code. */
struct frame {
    const struct frame *outer;
    enum { SIDE, SCOPE, BODY, LATCH } kind;
    uint32_t node;
    bool last;
};

/* Nodes of a list from one on, and then others. */
struct chain {
    uint32_t node;
    const struct chain *then;
};

struct walk {
    struct weft_cl_writer *writer;
    const struct weft_ir_program *program;
    uint32_t nested;
};

static bool write_list(struct walk *walk, uint32_t list, const struct chain *then,
                       const struct frame *frame);

static uint32_t first_of(const struct walk *walk, uint32_t list) {
    return walk->program->lists[list].first;
}

static bool is_blank(const struct walk *walk, uint32_t node) {
    return walk->program->nodes[node].kind == WEFT_IR_CODE && !walk->writer->nodes[node].written;
}

static uint32_t take(const struct walk *walk, struct chain *chain) {
    while (chain->node == WEFT_IR_NONE && chain->then) {
        *chain = *chain->then;
    }
    const uint32_t node = chain->node;
    if (node != WEFT_IR_NONE) {
        chain->node = walk->program->nodes[node].next;
    }
    return node;
}

static bool is_over(const struct walk *walk, struct chain chain) {
    uint32_t node = take(walk, &chain);
    while (node != WEFT_IR_NONE && is_blank(walk, node)) {
        node = take(walk, &chain);
    }
    return node == WEFT_IR_NONE;
}

/* ---- where jumps lead ---- */

/* True if what a frame's end leads to is the end, or latch, of a node. */
static bool falls_to(const struct frame *frame, uint32_t target, bool to_latch) {
    for (; frame; frame = frame->outer) {
        if (frame->kind == BODY || frame->kind == LATCH) {
            return frame->kind == BODY && to_latch && frame->node == target;
        }
        if (frame->kind == SCOPE && frame->node == target) {
            return true;
        }
        if (!frame->last) {
            return false;
        }
    }
    return false;
}

static const struct frame *loop_of(const struct frame *frame) {
    while (frame && frame->kind != BODY && frame->kind != LATCH) {
        frame = frame->outer;
    }
    return frame;
}

/* How C says it; null where it has nothing for it, "" where nothing has to be said. */
static const char *statement_of(const struct walk *walk, const struct weft_ir_node *jump,
                                const struct frame *frame) {
    const struct frame *loop = loop_of(frame);
    if (falls_to(frame, jump->target, jump->to_latch)) {
        return "";
    }
    if (!loop) {
        return NULL;
    }
    const bool own = loop->node == jump->target;
    const struct chain latch = {.node = first_of(walk, walk->program->nodes[loop->node].lists[1])};
    if (own && jump->to_latch) {
        return loop->kind == BODY && is_over(walk, latch) ? "continue;\n" : NULL;
    }
    const bool behind = loop->last && falls_to(loop->outer, jump->target, jump->to_latch);
    return own || behind ? "break;\n" : NULL;
}

/* True if a jump leads out of the loop it is in. */
static bool leaves_loop(const struct frame *frame, const struct weft_ir_node *jump) {
    for (; frame && frame->kind != BODY && frame->kind != LATCH; frame = frame->outer) {
        if (frame->kind == SCOPE && frame->node == jump->target) {
            return false;
        }
    }
    return frame && !(jump->to_latch && frame->node == jump->target);
}

static uint32_t number_of(uint32_t node, bool to_latch) {
    return 2 * node + (to_latch ? 2 : 1);
}

/* True if `jump` may be set behind it, as of all that follows. */
static bool write_jump(struct walk *walk, const struct weft_ir_node *jump,
                       const struct frame *frame) {
    struct weft_cl_writer *writer = walk->writer;
    const char *statement = statement_of(walk, jump, frame);
    if (statement) {
        weft_cl_add(writer, "%s", statement);
        return false;
    }
    writer->jumps = true;
    writer->nodes[jump->target].awaited |= jump->to_latch ? TO_LATCH : TO_END;
    weft_cl_add(writer, "jump = %uu;\n", number_of(jump->target, jump->to_latch));
    if (leaves_loop(frame, jump)) {
        weft_cl_add(writer, "break;\n");
    }
    return true;
}

/* Where jumps lead to: those that have come there go on. */
static bool settle(const struct walk *walk, uint32_t node, uint8_t which, bool pending,
                   const struct frame *outer) {
    uint8_t *awaited = &walk->writer->nodes[node].awaited;
    if ((*awaited & which) == 0) {
        return pending;
    }
    const uint32_t number = number_of(node, which == TO_LATCH);
    weft_cl_add(walk->writer, "if (jump == %uu) {\njump = 0u;\n}\n", number);
    *awaited &= (uint8_t)~which;
    bool others = *awaited != 0;
    for (; outer; outer = outer->outer) {
        others = others || (outer->kind != SIDE && walk->writer->nodes[outer->node].awaited != 0);
    }
    return pending && others;
}

/* ---- constructs ---- */

/* True if nothing is written for a list. */
static bool is_silent(const struct walk *walk, uint32_t list, const struct frame *frame) {
    uint32_t node = first_of(walk, list);
    while (node != WEFT_IR_NONE && is_blank(walk, node)) {
        node = walk->program->nodes[node].next;
    }
    if (node != WEFT_IR_NONE && walk->program->nodes[node].kind == WEFT_IR_JUMP) {
        const char *statement = statement_of(walk, &walk->program->nodes[node], frame);
        return statement && statement[0] == '\0';
    }
    return node == WEFT_IR_NONE;
}

/* The sides of an if, behind one of which comes what is `then`. */
static bool write_sides(struct walk *walk, const struct weft_ir_node *node,
                        const struct chain *then[2], const struct frame *frame) {
    struct weft_cl_writer *writer = walk->writer;
    const bool silent[2] = {!then[0] && is_silent(walk, node->lists[0], frame),
                            !then[1] && is_silent(walk, node->lists[1], frame)};
    if (silent[0] && silent[1]) {
        return false;
    }
    weft_cl_add(writer, silent[0] ? "if (!" : "if (");
    weft_cl_write_value(writer, node->condition, silent[0]);
    weft_cl_add(writer, ") {\n");
    bool pending = false;
    for (uint32_t i = silent[0] ? 1 : 0; i < (silent[1] ? 1 : 2); i++) {
        weft_cl_add(writer, i == 1 && !silent[0] ? "} else {\n" : "");
        pending = write_list(walk, node->lists[i], then[i], frame) || pending;
    }
    weft_cl_add(writer, "}\n");
    return pending;
}

/* True if a list ends with a jump that C has a statement for. */
static bool ends_by_statement(const struct walk *walk, uint32_t list, const struct frame *frame) {
    const uint32_t last = walk->program->lists[list].last;
    return last != WEFT_IR_NONE && walk->program->nodes[last].kind == WEFT_IR_JUMP &&
           statement_of(walk, &walk->program->nodes[last], frame);
}

/* Takes all of the chain where that belongs into a side. */
static bool write_if(struct walk *walk, uint32_t index, struct chain *chain,
                     const struct frame *outer) {
    const struct weft_ir_node *node = &walk->program->nodes[index];
    const struct chain rest = *chain;
    const struct chain *then[2] = {NULL, NULL};
    const bool ends[2] = {walk->writer->lists[node->lists[0]].ends,
                          walk->writer->lists[node->lists[1]].ends};
    struct frame frame = {.outer = outer, .kind = SIDE, .node = index};
    const bool one = ends[0] != ends[1] && !is_over(walk, rest);
    if (one && !ends_by_statement(walk, node->lists[ends[0] ? 0 : 1], &frame)) {
        then[ends[0] ? 1 : 0] = &rest;
    }
    if ((ends[0] && ends[1]) || then[0] || then[1]) {
        *chain = (struct chain){.node = WEFT_IR_NONE};
    }
    frame.last = is_over(walk, *chain);
    return write_sides(walk, node, then, &frame);
}

/* Instructions of a loop at most that the compiler is asked to write out. */
#define UNROLLED 2048u

static bool write_loop(struct walk *walk, uint32_t index, bool last, const struct frame *outer) {
    struct weft_cl_writer *writer = walk->writer;
    const struct weft_ir_node *node = &walk->program->nodes[index];
    struct frame frame = {.outer = outer, .kind = BODY, .node = index, .last = last};
    const bool unrolls = weft_ir_wants_unrolling(walk->program, node, UNROLLED);
    weft_cl_add(writer, unrolls ? "#pragma unroll\nfor (;;) {\n" : "for (;;) {\n");
    bool pending = write_list(walk, node->lists[0], NULL, &frame);
    pending = settle(walk, index, TO_LATCH, pending, &frame);
    weft_cl_add(writer, pending ? "if (jump != 0u) {\nbreak;\n}\n" : "");
    frame.kind = LATCH;
    const bool later = write_list(walk, node->lists[1], NULL, &frame);
    weft_cl_add(writer, later ? "if (jump != 0u) {\nbreak;\n}\n" : "");
    weft_cl_add(writer, "}\n");
    return settle(walk, index, TO_END, pending || later, outer);
}

static bool write_scope(struct walk *walk, uint32_t index, bool last, const struct frame *outer) {
    const struct frame frame = {.outer = outer, .kind = SCOPE, .node = index, .last = last};
    const bool pending = write_list(walk, walk->program->nodes[index].lists[0], NULL, &frame);
    return settle(walk, index, TO_END, pending, outer);
}

static bool write_node(struct walk *walk, uint32_t index, struct chain *chain,
                       const struct frame *frame) {
    const struct weft_ir_node *node = &walk->program->nodes[index];
    switch ((enum weft_ir_node_kind)node->kind) {
    case WEFT_IR_CODE:
        for (uint32_t i = node->first; i < node->first + node->count; i++) {
            weft_cl_write_statement(walk->writer, i);
        }
        return false;
    case WEFT_IR_IF:
        return write_if(walk, index, chain, frame);
    case WEFT_IR_LOOP:
        return write_loop(walk, index, is_over(walk, *chain), frame);
    case WEFT_IR_SCOPE:
        return write_scope(walk, index, is_over(walk, *chain), frame);
    case WEFT_IR_JUMP:
        *chain = (struct chain){.node = WEFT_IR_NONE};
        return write_jump(walk, node, frame);
    case WEFT_IR_BARRIER:
        weft_cl_add(walk->writer, "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);\n");
        walk->writer->barriers++;
        walk->writer->behind_barrier = walk->writer->text.length;
        return false;
    }
    return false;
}

static bool is_in_loop(const struct frame *frame) {
    bool found = false;
    for (; frame; frame = frame->outer) {
        found = found || frame->kind == BODY || frame->kind == LATCH;
    }
    return found;
}

/*
 * What an if guards ends with a barrier if it has one, so that what comes behind is reached from one place: PoCL before its pull request 2269
 * gives each edge to that a copy of it, and then goes for all of a workgroup where its first invocation went. Within loops an invocation may
 * leave before.
 */
static void end_side(const struct walk *walk, uint32_t barriers, const struct frame *frame) {
    struct weft_cl_writer *writer = walk->writer;
    if (weft_rule_holds("barrier-ends") && writer->barriers > barriers &&
        writer->behind_barrier != writer->text.length && frame && frame->kind == SIDE &&
        !is_in_loop(frame)) {
        weft_cl_add(writer, "barrier(CLK_LOCAL_MEM_FENCE);\n");
        writer->behind_barrier = writer->text.length;
    }
}

static bool write_list(struct walk *walk, uint32_t list, const struct chain *then,
                       const struct frame *frame) {
    const uint32_t barriers = walk->writer->barriers;
    struct chain chain = {.node = first_of(walk, list), .then = then};
    bool pending = false;
    uint32_t guards = 0;
    weft_cl_write_declarations(walk->writer, list);
    if (++walk->nested > MOST_NESTED) {
        weft_ir_error(walk->writer->program, WEFT_UNSUPPORTED,
                      "control flow that is nested more deeply than %u", MOST_NESTED);
    }
    for (uint32_t node = take(walk, &chain);
         node != WEFT_IR_NONE && walk->program->status == WEFT_OK; node = take(walk, &chain)) {
        const bool jumped = write_node(walk, node, &chain, frame);
        pending = pending || jumped;
        if (jumped && !is_over(walk, chain)) {
            weft_cl_add(walk->writer, "if (jump == 0u) {\n");
            guards++;
            walk->nested++;
        }
    }
    walk->nested -= guards + 1;
    for (; guards > 0; guards--) {
        weft_cl_add(walk->writer, "}\n");
    }
    end_side(walk, barriers, frame);
    return pending;
}

/* Lists are numbered from the outside to the inside. */
static void find_ends(struct weft_cl_writer *writer) {
    const struct weft_ir_program *program = writer->program;
    for (uint32_t i = program->list_count; i > 0; i--) {
        uint32_t index = program->lists[i - 1].first;
        for (; index != WEFT_IR_NONE; index = program->nodes[index].next) {
            const struct weft_ir_node *node = &program->nodes[index];
            const bool both = node->kind == WEFT_IR_IF && writer->lists[node->lists[0]].ends &&
                              writer->lists[node->lists[1]].ends;
            writer->lists[i - 1].ends =
                writer->lists[i - 1].ends || both || node->kind == WEFT_IR_JUMP;
        }
    }
}

void weft_cl_write_body(struct weft_cl_writer *writer) {
    struct walk walk = {.writer = writer, .program = writer->program};
    find_ends(writer);
    write_list(&walk, 0, NULL, NULL);
}
