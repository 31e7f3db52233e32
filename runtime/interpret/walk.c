/* SPDX-License-Identifier: MIT */
/*
 * Walking the tree of control flow with the set of invocations that are there. Both sides of an if run one after the other,
 * a loop runs as long as somebody is in it, and who jumps waits at the end of what the jump leads to: invocations that went
 * apart meet again where the constructs end. Any order would give the same results.
 */
#include "interpret/group.h"

typedef struct weft_interpret_mask mask;

void weft_interpret_fail(struct weft_interpret_group *group,
                         const struct weft_interpret_fault *fault) {
    if (group->fault.kind == WEFT_INTERPRET_NO_FAULT && !group->robust) {
        group->fault = *fault;
    }
}

static void fail_at(struct weft_interpret_group *group, enum weft_interpret_fault_kind kind,
                    uint32_t lane) {
    const struct weft_interpret_fault fault = {.kind = kind, .lane = lane};
    weft_interpret_fail(group, &fault);
}

/* ---- sets of invocations ---- */

static uint32_t words_of(const struct weft_interpret_group *group) {
    return (group->lane_count + 63) / 64;
}

static bool is_empty(const struct weft_interpret_group *group, const mask *set) {
    uint64_t any = 0;
    for (uint32_t i = 0; i < words_of(group); i++) {
        /* NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign): split has written it */
        any |= set->words[i];
    }
    return any == 0;
}

static void add(const struct weft_interpret_group *group, mask *set, const mask *more) {
    for (uint32_t i = 0; i < words_of(group); i++) {
        /* NOLINTNEXTLINE(clang-analyzer-core.*): jumps lead to what is there, split has written it */
        set->words[i] |= more->words[i];
    }
}

static void empty(const struct weft_interpret_group *group, mask *set) {
    for (uint32_t i = 0; i < words_of(group); i++) {
        set->words[i] = 0;
    }
}

static bool has(const mask *set, uint32_t lane) {
    return (set->words[lane / 64] >> lane % 64 & 1) != 0;
}

/* Lets instructions run for a set that is not empty. */
static void activate(struct weft_interpret_group *group, const mask *set) {
    struct weft_interpret_lanes *lanes = &group->active;
    uint64_t change = 0;
    for (uint32_t i = 0; i < words_of(group); i++) {
        change |= lanes->mask.words[i] ^ set->words[i];
    }
    if (change == 0) {
        return;
    }
    lanes->mask = *set;
    lanes->count = 0;
    for (uint32_t lane = 0; lane < group->lane_count; lane++) {
        if (has(set, lane)) {
            lanes->list[lanes->count++] = (uint16_t)lane;
        }
    }
    lanes->first = lanes->list[0];
    lanes->dense = lanes->list[lanes->count - 1] - lanes->first + 1u == lanes->count;
}

/* Those of a set for which a condition holds, and the others. */
static void split(const struct weft_interpret_group *group, mask sides[2], const mask *set,
                  weft_ir_value condition) {
    const uint32_t *row = weft_interpret_value(group, condition);
    for (uint32_t i = 0; i < words_of(group); i++) {
        const uint32_t first = 64 * i;
        const uint32_t rest = group->lane_count - first;
        uint64_t holds = 0;
        for (uint32_t lane = 0; lane < (rest < 64 ? rest : 64); lane++) {
            holds |= (uint64_t)(row[first + lane] != 0) << lane;
        }
        sides[0].words[i] = set->words[i] & holds;
        sides[1].words[i] = set->words[i] & ~holds;
    }
}

/* ---- constructs ---- */

/* A loop or scope that invocations are in. */
struct construct {
    const struct construct *outer;
    uint32_t node;
    mask *left, *latch; /* who jumped out of it, and to its latch */
};

static void walk(struct weft_interpret_group *group, uint32_t list, mask *here,
                 const struct construct *outer);

static void count_steps(struct weft_interpret_group *group, uint32_t steps) {
    group->steps += (uint64_t)steps * group->active.count;
    if (group->steps > group->step_limit && group->fault.kind == WEFT_INTERPRET_NO_FAULT) {
        group->fault =
            (struct weft_interpret_fault){.kind = WEFT_INTERPRET_FAULT_GROUP_LIMIT,
                                          .lane = weft_interpret_lane(&group->active, 0)};
    }
}

static void look_for_halt(struct weft_interpret_group *group) {
    if (group->halt && atomic_load_explicit(group->halt, memory_order_relaxed) != 0) {
        group->fault.kind = WEFT_INTERPRET_HALTED;
    }
}

static void run_code(struct weft_interpret_group *group, const struct weft_ir_node *node) {
    const struct weft_interpreted *kernel = group->kernel;
    for (uint32_t i = node->first; i < node->first + node->count; i++) {
        if (kernel->functions[i]) {
            kernel->functions[i](group, &kernel->program.instructions[i]);
        }
    }
    count_steps(group, node->count + 1);
}

static void run_if(struct weft_interpret_group *group, const struct weft_ir_node *node, mask *here,
                   const struct construct *outer) {
    mask sides[2];
    split(group, sides, here, node->condition);
    for (uint32_t i = 0; i < 2; i++) {
        walk(group, node->lists[i], &sides[i], outer);
    }
    *here = sides[0];
    add(group, here, &sides[1]);
}

static void run_loop(struct weft_interpret_group *group, uint32_t index, mask *here,
                     const struct construct *outer) {
    const struct weft_ir_node *node = &group->kernel->program.nodes[index];
    mask left = {{0}}, latch = {{0}};
    const struct construct loop = {.outer = outer, .node = index, .left = &left, .latch = &latch};
    while (!is_empty(group, here) && group->fault.kind == WEFT_INTERPRET_NO_FAULT) {
        activate(group, here);
        count_steps(group, 1);
        look_for_halt(group);
        walk(group, node->lists[0], here, &loop);
        add(group, here, &latch);
        empty(group, &latch);
        walk(group, node->lists[1], here, &loop);
    }
    *here = left;
}

static void run_scope(struct weft_interpret_group *group, uint32_t index, mask *here,
                      const struct construct *outer) {
    mask left = {{0}};
    const struct construct scope = {.outer = outer, .node = index, .left = &left};
    walk(group, group->kernel->program.nodes[index].lists[0], here, &scope);
    add(group, here, &left);
}

static void run_jump(struct weft_interpret_group *group, const struct weft_ir_node *node,
                     mask *here, const struct construct *outer) {
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): a jump is inside of what it leads to */
    while (outer->node != node->target) {
        outer = outer->outer;
    }
    add(group, node->to_latch ? outer->latch : outer->left, here);
    empty(group, here);
}

static void run_barrier(struct weft_interpret_group *group, const mask *here) {
    for (uint32_t lane = 0; lane < group->lane_count; lane++) {
        if (!has(here, lane)) {
            fail_at(group, WEFT_INTERPRET_FAULT_BARRIER, lane);
            return;
        }
    }
}

/* Runs a list for those who are `here`: who is still there when it ends. */
static void walk(struct weft_interpret_group *group, uint32_t list, mask *here,
                 const struct construct *outer) {
    const struct weft_ir_program *program = &group->kernel->program;
    for (uint32_t index = program->lists[list].first;
         index != WEFT_IR_NONE && !is_empty(group, here) &&
         group->fault.kind == WEFT_INTERPRET_NO_FAULT;
         index = program->nodes[index].next) {
        const struct weft_ir_node *node = &program->nodes[index];
        switch ((enum weft_ir_node_kind)node->kind) {
        case WEFT_IR_CODE:
            activate(group, here);
            run_code(group, node);
            break;
        case WEFT_IR_IF:
            run_if(group, node, here, outer);
            break;
        case WEFT_IR_LOOP:
            run_loop(group, index, here, outer);
            break;
        case WEFT_IR_SCOPE:
            run_scope(group, index, here, outer);
            break;
        case WEFT_IR_JUMP:
            run_jump(group, node, here, outer);
            break;
        case WEFT_IR_BARRIER:
            run_barrier(group, here);
            break;
        }
    }
}

/* ---- workgroups ---- */

static void set_constant(const struct weft_interpret_group *group, uint32_t index, uint32_t lane) {
    const struct weft_interpret_constant *constant = &group->kernel->constants[index];
    uint32_t *row = weft_interpret_row(group, WEFT_INTERPRET_FIRST_ROW + index);
    if (constant->wide) {
        ((uint64_t *)(void *)row)[lane] = constant->bits;
    } else {
        row[lane] = (uint32_t)constant->bits;
    }
}

void weft_interpret_begin(struct weft_interpret_group *group) {
    const struct weft_interpreted *kernel = group->kernel;
    const uint32_t *size = kernel->program.local_size;
    group->lane_count = size[0] * size[1] * size[2];
    group->shared = group->memory;
    group->rows =
        (uint32_t *)(void *)(group->shared + ((size_t)kernel->program.shared_size + 63) / 64 * 64);
    for (uint32_t lane = 0; lane < group->lane_count; lane++) {
        const uint32_t id[] = {lane % size[0], lane / size[0] % size[1], lane / size[0] / size[1]};
        for (uint32_t i = 0; i < WEFT_INTERPRET_FIRST_ROW; i++) {
            weft_interpret_row(group, i)[lane] = id[i];
        }
        for (uint32_t i = 0; i < kernel->constant_count; i++) {
            set_constant(group, i, lane);
        }
    }
}

void weft_interpret_group(struct weft_interpret_group *group) {
    mask all = {{0}};
    for (uint32_t lane = 0; lane < group->lane_count; lane++) {
        all.words[lane / 64] |= UINT64_C(1) << lane % 64;
    }
    for (uint32_t i = 0; i < group->kernel->program.shared_size; i++) {
        group->shared[i] = 0xFF; /* WEFT_IR_POISON */
    }
    look_for_halt(group);
    walk(group, 0, &all, NULL);
}
