/* SPDX-License-Identifier: MIT */
/*
 * What has a statement of its own. A value that is used once is written where it is used, unless what it reads has been
 * overwritten by then; a variable that keeps what was read stands for that. A product that must not be contracted has a
 * statement, which even a driver that ignores the pragma does not look across. All this is found from the end to the begin.
 */
#include "core/rules.h"
#include "opencl/writer.h"

/* Deepest expression written in place: more would make lines that compilers refuse. */
#define MOST_DEPTH 12u

struct planner {
    struct weft_cl_writer *writer;
    uint32_t node;
    uint32_t *next_set;      /* by slot: the place of what overwrites it next */
    uint32_t next_stores[2]; /* the same of buffers and shared memory */
};

/* Operands are read at an instruction's place, and what it writes is written right behind. */
static uint32_t place_of(uint32_t instruction) {
    return 2 * instruction;
}

static bool computes(uint32_t op) {
    return op < WEFT_IR_LOAD || (op >= WEFT_IR_CARRY && op <= WEFT_IR_DOT4_MIXED);
}

static bool acts(uint32_t op) {
    return op == WEFT_IR_STORE || op == WEFT_IR_SET || op == WEFT_IR_ATOMIC;
}

/* ---- uses ---- */

static void use(const struct planner *planner, weft_ir_value value, uint32_t place,
                uint32_t times) {
    const struct weft_ir_def *def = &planner->writer->program->values[value];
    if (value == 0 || def->constant || times == 0) {
        return;
    }
    struct weft_cl_use *made = &planner->writer->uses[value];
    made->count = made->count + times > 1 ? 2 : 1;
    made->last = place > made->last ? place : made->last;
    made->kept = made->kept || planner->writer->steps[def->instruction].node != planner->node;
}

static void use_words(const struct planner *planner, weft_ir_value value, uint32_t place,
                      uint32_t times) {
    struct weft_cl_term term;
    if (!weft_cl_take_apart(planner->writer, &term, value, planner->node)) {
        use(planner, value, place, times);
    } else if (term.parts[1] == 0) {
        use(planner, term.parts[0], place, times);
    } else {
        use_words(planner, term.parts[0], place, times);
        use_words(planner, term.parts[1], place, times);
    }
}

/* Who reads a slot that is a value reads that, there and, where the result is kept, elsewhere. */
static void use_known(const struct planner *planner, const struct weft_ir_instruction *get,
                      uint32_t place) {
    for (uint32_t i = 0; i < get->n; i++) {
        const weft_ir_value value = weft_cl_value_of(planner->writer, get, i);
        const struct weft_cl_use *result = &planner->writer->uses[get->result + i];
        use(planner, value, result->last > place ? result->last : place, result->count);
        planner->writer->uses[value].kept = planner->writer->uses[value].kept || result->kept;
    }
}

/* How often an instruction's text has an argument. */
static uint32_t count_of(const struct weft_cl_writer *writer,
                         const struct weft_ir_instruction *instruction, uint32_t argument) {
    const struct weft_cl_operation *operation =
        writer->steps[instruction - writer->program->instructions].operation;
    switch (instruction->op) {
    case WEFT_IR_LOAD:
    case WEFT_IR_STORE:
    case WEFT_IR_ATOMIC:
        return argument == 0 ? weft_cl_count_index(writer, instruction) : 1;
    case WEFT_IR_GET:
        return instruction->n;
    case WEFT_IR_SET:
        return argument == 0                                              ? instruction->n
               : weft_cl_value_of(writer, instruction, argument - 1) != 0 ? 0
                                                                          : 1;
    default:
        return operation ? weft_cl_count_operand(operation, argument) : 1;
    }
}

static void use_arguments(const struct planner *planner,
                          const struct weft_ir_instruction *instruction, uint32_t place) {
    const struct weft_cl_writer *writer = planner->writer;
    const uint32_t op = instruction->op;
    const bool access = op == WEFT_IR_LOAD || op == WEFT_IR_STORE || op == WEFT_IR_ATOMIC;
    for (uint32_t i = 0; i < instruction->argument_count; i++) {
        const weft_ir_value value = weft_cl_argument(writer, instruction, i);
        const uint32_t times = count_of(writer, instruction, i);
        if (i == 0 && access && weft_cl_is_in_words(writer, instruction)) {
            use_words(planner, value, place, times);
        } else {
            use(planner, value, place, times);
        }
    }
}

/* ---- what is written in place ---- */

static bool stays_until_used(const struct planner *planner,
                             const struct weft_ir_instruction *instruction) {
    const struct weft_cl_use *uses = planner->writer->uses + instruction->result;
    if (instruction->op == WEFT_IR_LOAD) {
        return instruction->space == WEFT_IR_PUSH ||
               planner->next_stores[instruction->space] > uses[0].last;
    }
    const struct weft_ir_variable *variable =
        &planner->writer->program->variables[instruction->root];
    const uint32_t first = variable->first + (variable->indexed ? 0 : instruction->place);
    bool stays = true;
    for (uint32_t i = 0; i < instruction->n; i++) {
        stays = stays && planner->next_set[first + (variable->indexed ? 0 : i)] > uses[i].last;
    }
    return stays;
}

static bool is_in_place(const struct planner *planner,
                        const struct weft_ir_instruction *instruction) {
    const struct weft_ir_program *program = planner->writer->program;
    const struct weft_cl_use *uses = planner->writer->uses + instruction->result;
    bool kept = false;
    for (uint32_t i = 0; i < instruction->n; i++) {
        kept = kept || uses[i].kept;
    }
    if (instruction->op == WEFT_IR_INPUT || weft_cl_is_push(planner->writer, instruction) ||
        (instruction->op == WEFT_IR_GET && instruction->n == 1 &&
         weft_cl_value_of(planner->writer, instruction, 0) != 0)) {
        return true;
    }
    if (instruction->op == WEFT_IR_GET && !program->variables[instruction->root].indexed) {
        return !kept && stays_until_used(planner, instruction);
    }
    if (kept || instruction->n != 1 || uses[0].count > 1 || instruction->op == WEFT_IR_ATOMIC) {
        return false;
    }
    if (instruction->op == WEFT_IR_GET || instruction->op == WEFT_IR_LOAD) {
        return stays_until_used(planner, instruction);
    }
    return instruction->op != SpvOpFMul || instruction->fusible ||
           !weft_rule_holds("opencl-contraction");
}

/* More than one statement reads operands behind what the first has written. */
static void note_writes(struct planner *planner, const struct weft_ir_instruction *instruction,
                        uint32_t place) {
    const bool many = instruction->n > 1 && !weft_cl_is_vector(planner->writer, instruction);
    const uint32_t written = many ? place : place + 1;
    if (instruction->op == WEFT_IR_STORE || instruction->op == WEFT_IR_ATOMIC) {
        planner->next_stores[instruction->space] = written;
    } else if (instruction->op == WEFT_IR_SET) {
        const struct weft_ir_variable *variable =
            &planner->writer->program->variables[instruction->root];
        for (uint32_t i = 0; i < (variable->indexed ? 1 : instruction->n); i++) {
            const uint32_t slot = variable->first + (variable->indexed ? 0 : instruction->place);
            planner->next_set[slot + i] = written;
        }
    }
}

static void plan(struct planner *planner, uint32_t index) {
    struct weft_cl_writer *writer = planner->writer;
    const struct weft_ir_instruction *instruction = &writer->program->instructions[index];
    bool needed = acts(instruction->op);
    for (uint32_t i = 0; instruction->result != 0 && i < instruction->n; i++) {
        needed = needed || writer->uses[instruction->result + i].count > 0;
    }
    bool known = instruction->op == WEFT_IR_SET;
    for (uint32_t i = 0; known && i < instruction->n; i++) {
        known = weft_cl_value_of(writer, instruction, i) != 0;
    }
    if (!needed || known) {
        writer->steps[index].plan = WEFT_CL_DROPPED;
        return;
    }
    uint32_t place = place_of(index);
    if (instruction->result != 0 && is_in_place(planner, instruction)) {
        writer->steps[index].plan = WEFT_CL_IN_PLACE;
        place = writer->uses[instruction->result].last;
    } else {
        writer->nodes[planner->node].written = true;
    }
    note_writes(planner, instruction, place_of(index));
    if (instruction->op == WEFT_IR_GET) {
        use_known(planner, instruction, place_of(index));
    }
    use_arguments(planner, instruction, place);
}

/* An if has its condition in place where the code that makes it comes right before. */
static void plan_condition(const struct planner *planner, uint32_t node) {
    const struct weft_ir_program *program = planner->writer->program;
    const struct weft_ir_def *def = &program->values[program->nodes[node].condition];
    if (def->constant) {
        return;
    }
    const uint32_t maker = planner->writer->steps[def->instruction].node;
    struct planner there = *planner;
    there.node = program->nodes[maker].next == node ? maker : WEFT_IR_NONE;
    use(&there, program->nodes[node].condition,
        place_of(program->nodes[maker].first + program->nodes[maker].count), 1);
}

static void plan_nodes(struct planner *planner) {
    const struct weft_ir_program *program = planner->writer->program;
    for (uint32_t n = program->node_count; n > 0; n--) {
        const struct weft_ir_node *node = &program->nodes[n - 1];
        planner->node = n - 1;
        planner->next_stores[0] = planner->next_stores[1] = UINT32_MAX;
        if (node->kind == WEFT_IR_IF) {
            plan_condition(planner, n - 1);
        }
        for (uint32_t i = node->first + node->count; node->kind == WEFT_IR_CODE && i > node->first;
             i--) {
            plan(planner, i - 1);
        }
    }
}

/* ---- before and after ---- */

static void find_operations(struct weft_cl_writer *writer) {
    const struct weft_ir_program *program = writer->program;
    for (uint32_t n = 0; n < program->node_count; n++) {
        const struct weft_ir_node *node = &program->nodes[n];
        for (uint32_t i = node->first; node->kind == WEFT_IR_CODE && i < node->first + node->count;
             i++) {
            writer->steps[i].node = n;
            if (computes(program->instructions[i].op)) {
                writer->steps[i].operation =
                    weft_cl_find_operation(writer, &program->instructions[i]);
            }
        }
    }
}

static void limit_depth(struct weft_cl_writer *writer, uint32_t index) {
    const struct weft_ir_program *program = writer->program;
    const struct weft_ir_instruction *instruction = &program->instructions[index];
    uint8_t depth = 0;
    if (instruction->result == 0 || writer->steps[index].plan == WEFT_CL_STATEMENT) {
        return;
    }
    if (instruction->op == WEFT_IR_GET) {
        depth = writer->uses[weft_cl_value_of(writer, instruction, 0)].depth;
    }
    for (uint32_t i = 0; i < instruction->argument_count; i++) {
        const uint8_t below = writer->uses[weft_cl_argument(writer, instruction, i)].depth;
        depth = below >= depth ? (uint8_t)(below + 1) : depth;
    }
    if (depth > MOST_DEPTH && writer->steps[index].plan == WEFT_CL_IN_PLACE) {
        writer->steps[index].plan = WEFT_CL_STATEMENT;
        writer->nodes[writer->steps[index].node].written = true;
        depth = 0;
    }
    writer->uses[instruction->result].depth = depth > MOST_DEPTH ? MOST_DEPTH : depth;
}

void weft_cl_make_plans(struct weft_cl_writer *writer) {
    struct weft_ir_program *program = writer->program;
    struct planner planner = {.writer = writer};
    find_operations(writer);
    weft_cl_find_declarations(writer);
    const size_t count = (size_t)program->slot_count + 1;
    planner.next_set = weft_alloc(program->host, count * sizeof *planner.next_set);
    if (!planner.next_set) {
        weft_ir_error(program, WEFT_OUT_OF_HOST_MEMORY, "out of memory");
    }
    for (size_t i = 0; planner.next_set && i < count; i++) {
        planner.next_set[i] = UINT32_MAX;
    }
    if (program->status == WEFT_OK) {
        plan_nodes(&planner);
        for (uint32_t i = 0; i < program->instruction_count; i++) {
            limit_depth(writer, i);
        }
    }
    weft_free(program->host, planner.next_set);
}
