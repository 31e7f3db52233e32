/* SPDX-License-Identifier: MIT */
/* Facts that follow from the tree alone: code that a workgroup runs together, and the scope of variables. */
#include "spirv/ir/ir.h"

/* ---- barriers ---- */

static uint32_t owner_of(const struct weft_ir_program *program, uint32_t list) {
    return program->lists[list].owner;
}

static void mark_up(struct weft_ir_program *program, uint32_t node) {
    while (node != WEFT_IR_NONE && !program->nodes[node].workgroup) {
        program->nodes[node].workgroup = true;
        node = owner_of(program, program->nodes[node].list);
    }
}

/* The node in the target's own list that a jump is in, or is. */
static uint32_t step_below(const struct weft_ir_program *program, uint32_t node, uint32_t target) {
    while (owner_of(program, program->nodes[node].list) != target) {
        node = owner_of(program, program->nodes[node].list);
    }
    return node;
}

static bool workgroup_behind(const struct weft_ir_program *program, uint32_t node) {
    for (node = program->nodes[node].next; node != WEFT_IR_NONE; node = program->nodes[node].next) {
        if (program->nodes[node].workgroup) {
            return true;
        }
    }
    return false;
}

/*
 * True if all of the workgroup has to take a jump together: it leaves a loop with a barrier in it, or leads past a
 * barrier. One that leads to the end of its list with no barrier on the way concerns each invocation alone.
 */
static bool jumps_together(const struct weft_ir_program *program, uint32_t node) {
    const struct weft_ir_node *jump = &program->nodes[node];
    const struct weft_ir_node *target = &program->nodes[jump->target];
    if (!target->workgroup) {
        return false;
    }
    if (target->kind == WEFT_IR_LOOP && !jump->to_latch) {
        return true;
    }
    const uint32_t below = step_below(program, node, jump->target);
    return program->nodes[below].workgroup || workgroup_behind(program, below);
}

void weft_ir_mark_workgroup(struct weft_ir_program *program) {
    for (uint32_t i = 0; i < program->node_count; i++) {
        if (program->nodes[i].kind == WEFT_IR_BARRIER) {
            mark_up(program, i);
        }
    }
    bool news = true;
    while (news) {
        news = false;
        for (uint32_t i = 0; i < program->node_count; i++) {
            if (program->nodes[i].kind == WEFT_IR_JUMP && !program->nodes[i].workgroup &&
                jumps_together(program, i)) {
                mark_up(program, i);
                news = true;
            }
        }
    }
}

/* ---- homes ---- */

struct access {
    uint32_t node;        /* of code */
    uint32_t instruction; /* program order */
    uint32_t slot;
    bool store;
};

struct survey {
    struct weft_ir_program *program;
    struct access *accesses; /* sorted by slot, then in program order */
    uint32_t count, capacity;
};

static bool collect(struct survey *survey, uint32_t node, uint32_t index) {
    struct weft_ir_program *program = survey->program;
    const struct weft_ir_instruction *instruction = &program->instructions[index];
    if (instruction->op != WEFT_IR_GET && instruction->op != WEFT_IR_SET) {
        return true;
    }
    const struct weft_ir_variable *variable = &program->variables[instruction->root];
    for (uint32_t i = 0; i < instruction->n; i++) {
        if (!weft_ir_room(program, &survey->accesses, survey->count, &survey->capacity,
                          sizeof *survey->accesses)) {
            return false;
        }
        /* All slots of a variable with an index stand or fall together: the first stands for them. */
        survey->accesses[survey->count++] = (struct access){
            .node = node,
            .instruction = index,
            .slot = variable->first + (variable->indexed ? 0 : instruction->place + i),
            .store = instruction->op == WEFT_IR_SET};
    }
    return true;
}

/* The node of `list` that another node is in, or is; WEFT_IR_NONE where it is elsewhere. */
static uint32_t node_in_list(const struct weft_ir_program *program, uint32_t node, uint32_t list) {
    while (program->nodes[node].list != list) {
        node = owner_of(program, program->nodes[node].list);
        if (node == WEFT_IR_NONE) {
            return WEFT_IR_NONE;
        }
    }
    return node;
}

static uint32_t common_list(const struct weft_ir_program *program, uint32_t a, uint32_t b) {
    while (a != b) {
        const bool deeper = program->lists[a].depth >= program->lists[b].depth;
        uint32_t *list = deeper ? &a : &b;
        *list = program->nodes[owner_of(program, *list)].list;
    }
    return a;
}

/*
 * True if all accesses except leading stores of the list are in one loop. A lane's value after the loop is then never
 * read: the variable counts only for lanes in the loop.
 */
static bool only_in_loop(const struct weft_ir_program *program, const struct access *accesses,
                         uint32_t count, uint32_t list, uint32_t *loop) {
    uint32_t i = 0;
    while (i < count && accesses[i].store && program->nodes[accesses[i].node].list == list) {
        i++;
    }
    if (i == 0 || i == count) {
        return false;
    }
    *loop = node_in_list(program, accesses[i].node, list);
    if (*loop == WEFT_IR_NONE || program->nodes[*loop].kind != WEFT_IR_LOOP) {
        return false;
    }
    for (; i < count; i++) {
        if (node_in_list(program, accesses[i].node, list) != *loop) {
            return false;
        }
    }
    return true;
}

/*
 * A slot counts in the innermost list that has all accesses, if the first of them is a store that every lane of that
 * list makes; else from where its variable begins to exist. accesses: those of the slot, in program order.
 */
static void find_home(struct weft_ir_program *program, struct weft_ir_slot *slot, uint32_t declared,
                      const struct access *accesses, uint32_t count) {
    uint32_t list = program->nodes[accesses[0].node].list;
    for (uint32_t i = 1; i < count; i++) {
        list = common_list(program, list, program->nodes[accesses[i].node].list);
    }
    uint32_t loop = WEFT_IR_NONE;
    slot->used = true;
    if (!accesses[0].store || program->nodes[accesses[0].node].list != list) {
        slot->home = common_list(program, declared, list);
    } else if (only_in_loop(program, accesses, count, list, &loop)) {
        slot->home = loop;
        slot->in_loop = true;
    } else {
        slot->home = list;
    }
}

/* By slot; each slot's stay in program order, since the accesses came in it. */
static bool sort_by_slot(struct survey *survey, uint32_t *begins) {
    struct weft_ir_program *program = survey->program;
    struct access *sorted = weft_alloc_zero(program->host, survey->count + 1, sizeof *sorted);
    if (!sorted) {
        weft_ir_error(program, WEFT_OUT_OF_HOST_MEMORY, "out of memory");
        return false;
    }
    for (uint32_t i = 0; i < survey->count; i++) {
        begins[survey->accesses[i].slot + 1]++;
    }
    for (uint32_t i = 0; i < program->slot_count; i++) {
        begins[i + 1] += begins[i];
    }
    for (uint32_t i = 0; i < survey->count; i++) {
        sorted[begins[survey->accesses[i].slot]++] = survey->accesses[i];
    }
    for (uint32_t i = program->slot_count; i > 0; i--) {
        begins[i] = begins[i - 1];
    }
    begins[0] = 0;
    weft_free(program->host, survey->accesses);
    survey->accesses = sorted;
    return true;
}

static void find_each_home(struct weft_ir_program *program, const struct survey *survey,
                           const uint32_t *begins) {
    for (uint32_t v = 0; v < program->variable_count; v++) {
        const struct weft_ir_variable *variable = &program->variables[v];
        for (uint32_t i = 0; i < (variable->indexed ? 1 : variable->slots); i++) {
            const uint32_t slot = variable->first + i;
            if (begins[slot + 1] > begins[slot]) {
                find_home(program, &program->slots[slot], variable->list,
                          survey->accesses + begins[slot], begins[slot + 1] - begins[slot]);
            }
        }
        for (uint32_t i = 1; variable->indexed && i < variable->slots; i++) {
            const struct weft_ir_slot *first = &program->slots[variable->first];
            struct weft_ir_slot *slot = &program->slots[variable->first + i];
            slot->home = first->home;
            slot->in_loop = first->in_loop;
            slot->used = first->used;
        }
    }
}

void weft_ir_find_homes(struct weft_ir_program *program) {
    struct survey survey = {.program = program};
    for (uint32_t n = 0; n < program->node_count; n++) {
        const struct weft_ir_node *node = &program->nodes[n];
        for (uint32_t i = 0; node->kind == WEFT_IR_CODE && i < node->count; i++) {
            if (!collect(&survey, n, node->first + i)) {
                break;
            }
        }
    }
    uint32_t *begins =
        weft_alloc_zero(program->host, (size_t)program->slot_count + 2, sizeof *begins);
    if (!begins) {
        weft_ir_error(program, WEFT_OUT_OF_HOST_MEMORY, "out of memory");
    } else if (program->status == WEFT_OK && sort_by_slot(&survey, begins)) {
        find_each_home(program, &survey, begins);
    }
    weft_free(program->host, begins);
    weft_free(program->host, survey.accesses);
}

/* ---- what lives across barriers ---- */

/*
 * A fragment is a run of nodes of one list without barriers, which runs for one subgroup after the other. What one
 * fragment leaves in a variable for another, or for its own next turn in a loop, has to be kept for each subgroup.
 */
struct fragments {
    struct weft_ir_program *program;
    uint32_t *first; /* fragment that touches a slot, or WEFT_IR_NONE */
    uint32_t fragment;
    uint32_t list;
    bool in_loop;
};

static bool is_within(const struct weft_ir_program *program, uint32_t list, uint32_t outer) {
    while (list != outer) {
        const uint32_t owner = owner_of(program, list);
        if (owner == WEFT_IR_NONE) {
            return false;
        }
        list = program->nodes[owner].list;
    }
    return true;
}

static void touch_slot(struct fragments *fragments, uint32_t index) {
    struct weft_ir_program *program = fragments->program;
    struct weft_ir_slot *slot = &program->slots[index];
    const uint32_t home = slot->in_loop ? program->nodes[slot->home].list : slot->home;
    if (fragments->first[index] == WEFT_IR_NONE) {
        fragments->first[index] = fragments->fragment;
    }
    slot->kept = slot->kept || fragments->first[index] != fragments->fragment ||
                 (fragments->in_loop && !is_within(program, home, fragments->list));
}

static void touch_code(struct fragments *fragments, const struct weft_ir_node *node) {
    const struct weft_ir_program *program = fragments->program;
    for (uint32_t i = node->first; i < node->first + node->count; i++) {
        const struct weft_ir_instruction *instruction = &program->instructions[i];
        if (instruction->op != WEFT_IR_GET && instruction->op != WEFT_IR_SET) {
            continue;
        }
        const struct weft_ir_variable *variable = &program->variables[instruction->root];
        const uint32_t from = variable->indexed ? 0 : instruction->place;
        const uint32_t count = variable->indexed ? variable->slots : instruction->n;
        for (uint32_t k = 0; k < count; k++) {
            touch_slot(fragments, variable->first + from + k);
        }
    }
}

static void touch_node(struct fragments *fragments, uint32_t index) {
    const struct weft_ir_node *node = &fragments->program->nodes[index];
    if (node->kind == WEFT_IR_CODE) {
        touch_code(fragments, node);
    }
    for (uint32_t i = 0; i < 2 && node->lists[i] != WEFT_IR_NONE; i++) {
        uint32_t inner = fragments->program->lists[node->lists[i]].first;
        for (; inner != WEFT_IR_NONE; inner = fragments->program->nodes[inner].next) {
            touch_node(fragments, inner);
        }
    }
}

static void walk_workgroup(struct fragments *fragments, uint32_t list) {
    const struct weft_ir_program *program = fragments->program;
    uint32_t index = program->lists[list].first;
    fragments->fragment++;
    for (; index != WEFT_IR_NONE; index = program->nodes[index].next) {
        const struct weft_ir_node *node = &program->nodes[index];
        if (!node->workgroup) {
            fragments->list = list;
            touch_node(fragments, index);
            continue;
        }
        const bool in_loop = fragments->in_loop;
        fragments->in_loop = in_loop || node->kind == WEFT_IR_LOOP;
        for (uint32_t i = 0; i < 2 && node->lists[i] != WEFT_IR_NONE; i++) {
            walk_workgroup(fragments, node->lists[i]);
        }
        fragments->in_loop = in_loop;
        fragments->fragment++;
    }
}

void weft_ir_find_fragments(struct weft_ir_program *program) {
    const size_t count = (size_t)program->slot_count + 1;
    struct fragments fragments = {.program = program};
    fragments.first = weft_alloc(program->host, count * sizeof *fragments.first);
    if (!fragments.first) {
        weft_ir_error(program, WEFT_OUT_OF_HOST_MEMORY, "out of memory");
        return;
    }
    for (size_t i = 0; i < count; i++) {
        fragments.first[i] = WEFT_IR_NONE;
    }
    walk_workgroup(&fragments, 0);
    weft_free(program->host, fragments.first);
}
