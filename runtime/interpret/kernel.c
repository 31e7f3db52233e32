/* SPDX-License-Identifier: MIT */
/*
 * From a module to a kernel that can be run: which function runs each instruction, and which row each value has. Values of a
 * piece of code that nobody else uses take turns in the same rows, which keeps those of a long kernel in the host's caches.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interpret/group.h"
#include "spirv/lint/rules.h"

/* 256 MiB of rows at 1024 invocations. */
#define MAX_ROWS (UINT32_C(1) << 16)

/* ---- what runs ---- */

static const char *opcode_name(uint32_t opcode) {
    const struct weft_lint_rule *rule = weft_lint_find(WEFT_LINT_OPCODES, opcode);
    return rule ? rule->name : "an instruction";
}

static void unsupported(struct weft_ir_program *program, uint32_t opcode) {
    weft_ir_error(program, WEFT_UNSUPPORTED, "%s (opcode %u) is not evaluated", opcode_name(opcode),
                  opcode);
}

static bool is_word(uint32_t type) {
    return type == WEFT_IR_BOOL || type == WEFT_IR_I32 || type == WEFT_IR_F32;
}

static void check_types(struct weft_interpreted *kernel) {
    struct weft_ir_program *program = &kernel->program;
    kernel->row_words = 1;
    for (weft_ir_value i = 1; i < program->value_count; i++) {
        const uint32_t type = program->values[i].type;
        if (type == WEFT_IR_F64 || (kernel->strict && !is_word(type))) {
            weft_ir_error(program, WEFT_UNSUPPORTED, "%s of %u bits are not evaluated",
                          weft_ir_is_float(type) ? "floats" : "integers", weft_ir_bits(type));
        }
        kernel->row_words = type == WEFT_IR_I64 ? 2 : kernel->row_words;
    }
}

static bool is_input(const struct weft_interpreted *kernel, uint32_t built_in) {
    switch (built_in) {
    case SpvBuiltInNumWorkgroups:
    case SpvBuiltInWorkgroupId:
    case SpvBuiltInLocalInvocationId:
    case SpvBuiltInGlobalInvocationId:
    case SpvBuiltInLocalInvocationIndex:
        return true;
    case SpvBuiltInSubgroupSize:
    case SpvBuiltInNumSubgroups:
    case SpvBuiltInSubgroupId:
    case SpvBuiltInSubgroupLocalInvocationId:
        return !kernel->strict;
    default:
        return false;
    }
}

static bool is_of_words(const struct weft_ir_program *program,
                        const struct weft_ir_instruction *instruction) {
    bool words = is_word(instruction->type);
    for (uint32_t i = 0; i < instruction->argument_count; i++) {
        const weft_ir_value argument = program->arguments[instruction->arguments + i];
        words = words && is_word(program->values[argument].type);
    }
    return words;
}

static weft_interpret_function *find_function(const struct weft_interpreted *kernel,
                                              const struct weft_ir_instruction *instruction) {
    const uint32_t op = instruction->op;
    const bool words = is_of_words(&kernel->program, instruction);
    const bool atomic = op == WEFT_IR_ATOMIC;
    weft_interpret_function *function = NULL;
    if (op == WEFT_IR_SUBGROUP) {
        const bool known = instruction->variant <= SpvOpGroupNonUniformBroadcastFirst ||
                           instruction->variant >= SpvOpGroupNonUniformIAdd;
        return known && words && !kernel->strict ? weft_interpret_subgroups : NULL;
    }
    function = words || !atomic ? weft_interpret_find_memory(op) : NULL;
    if (words && !function && !kernel->strict) {
        function = weft_interpret_find_flushing(op);
    }
    if (words && !function) {
        function = weft_interpret_find_integer(op);
        function = function ? function : weft_interpret_find_arithmetic(op);
    }
    if (!kernel->strict && !function) {
        function = words ? weft_interpret_find_fast(op) : weft_interpret_find_wide(op);
    }
    return function;
}

static void choose_function(struct weft_interpreted *kernel, uint32_t index) {
    struct weft_ir_program *program = &kernel->program;
    const struct weft_ir_instruction *instruction = &program->instructions[index];
    const uint32_t op = instruction->op;
    kernel->functions[index] = find_function(kernel, instruction);
    if (op == WEFT_IR_INPUT && (!is_input(kernel, instruction->root) || instruction->place > 2)) {
        weft_ir_error(program, WEFT_UNSUPPORTED, "built-in variable %u is not evaluated",
                      instruction->root);
    } else if (kernel->functions[index] || op == WEFT_IR_NOTHING) {
        return;
    } else if (op >= WEFT_IR_GLSL && op < WEFT_IR_LOAD) {
        weft_ir_error(program, WEFT_UNSUPPORTED, "instruction %u of GLSL.std.450 is not evaluated",
                      op - WEFT_IR_GLSL);
    } else {
        unsupported(program,
                    op == WEFT_IR_SUBGROUP || op == WEFT_IR_ATOMIC ? instruction->variant : op);
    }
}

/* ---- rows ---- */

struct places {
    struct weft_interpreted *kernel;
    uint32_t *node; /* of each value: the code that makes it, or WEFT_IR_NONE */
    uint32_t *
        last; /* of each value: the last instruction that uses it, or WEFT_IR_NONE for one that stays */
    uint32_t *free; /* rows that may be taken again */
    uint32_t free_count;
    uint32_t first; /* of those that are for values */
    uint32_t next;  /* that nobody has taken */
    uint32_t most;  /* that were taken at once */
};

static weft_ir_value *arguments_of(const struct weft_ir_program *program,
                                   const struct weft_ir_instruction *instruction) {
    return program->arguments + instruction->arguments;
}

static void note_makers(const struct places *places) {
    const struct weft_ir_program *program = &places->kernel->program;
    for (uint32_t i = 0; i < program->value_count; i++) {
        places->node[i] = WEFT_IR_NONE;
        places->kernel->row[i] = WEFT_IR_NONE;
    }
    for (uint32_t n = 0; n < program->node_count; n++) {
        const struct weft_ir_node *node = &program->nodes[n];
        for (uint32_t i = node->first; node->kind == WEFT_IR_CODE && i < node->first + node->count;
             i++) {
            const struct weft_ir_instruction *instruction = &program->instructions[i];
            for (uint32_t k = 0; instruction->result != 0 && k < instruction->n; k++) {
                places->node[instruction->result + k] = n;
                places->last[instruction->result + k] = i;
            }
        }
    }
}

/* Keeps values that another piece of code uses. The condition of the next if belongs to this code, to its end. */
static void note_uses(const struct places *places) {
    const struct weft_ir_program *program = &places->kernel->program;
    for (uint32_t n = 0; n < program->node_count; n++) {
        const struct weft_ir_node *node = &program->nodes[n];
        for (uint32_t i = node->first; node->kind == WEFT_IR_CODE && i < node->first + node->count;
             i++) {
            const struct weft_ir_instruction *instruction = &program->instructions[i];
            const weft_ir_value *arguments = arguments_of(program, instruction);
            for (uint32_t k = 0; k < instruction->argument_count; k++) {
                uint32_t *last = &places->last[arguments[k]];
                *last = places->node[arguments[k]] == n && *last != WEFT_IR_NONE ? i : WEFT_IR_NONE;
            }
        }
    }
    for (uint32_t n = 0; n < program->node_count; n++) {
        const struct weft_ir_node *node = &program->nodes[n];
        const uint32_t next = node->next;
        if (node->kind == WEFT_IR_IF && program->lists[node->list].first == n) {
            places->last[node->condition] = WEFT_IR_NONE;
        }
        if (next != WEFT_IR_NONE && program->nodes[next].kind == WEFT_IR_IF) {
            const weft_ir_value condition = program->nodes[next].condition;
            uint32_t *last = &places->last[condition];
            *last = places->node[condition] == n && *last != WEFT_IR_NONE
                        ? node->first + node->count
                        : WEFT_IR_NONE;
        }
    }
}

/* ---- constants: one row for all of the same bits ---- */

struct constant {
    struct weft_interpret_constant is;
    weft_ir_value value;
};

static int by_bits(const void *left, const void *right) {
    const struct constant *a = left, *b = right;
    return a->is.wide != b->is.wide ? (int)a->is.wide - (int)b->is.wide
                                    : (a->is.bits > b->is.bits) - (a->is.bits < b->is.bits);
}

static void place_constants(const struct places *places, struct constant *sorted) {
    struct weft_interpreted *kernel = places->kernel;
    const struct weft_ir_program *program = &kernel->program;
    size_t count = 0;
    for (weft_ir_value i = 1; i < program->value_count; i++) {
        if (program->values[i].constant && places->last[i] == WEFT_IR_NONE) {
            const struct weft_ir_def *def = &program->values[i];
            sorted[count++] = (struct constant){
                .is = {.bits = def->bits, .wide = def->type == WEFT_IR_I64}, .value = i};
        }
    }
    qsort(sorted, count, sizeof *sorted, by_bits);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || by_bits(&sorted[i], &sorted[i - 1]) != 0) {
            kernel->constants[kernel->constant_count++] = sorted[i].is;
        }
        kernel->row[sorted[i].value] = WEFT_INTERPRET_FIRST_ROW + kernel->constant_count - 1;
    }
}

/* ---- variables: the slots that somebody reads or writes ---- */

static uint32_t place_slots(const struct weft_interpreted *kernel, uint32_t row) {
    const struct weft_ir_program *program = &kernel->program;
    for (uint32_t i = 0; i < program->slot_count; i++) {
        kernel->slot_row[i] = WEFT_IR_NONE;
    }
    for (uint32_t i = 0; i < program->instruction_count; i++) {
        const struct weft_ir_instruction *instruction = &program->instructions[i];
        if (instruction->op != WEFT_IR_GET && instruction->op != WEFT_IR_SET) {
            continue;
        }
        const struct weft_ir_variable *variable = &program->variables[instruction->root];
        const bool indexed = *arguments_of(program, instruction) != 0;
        const uint32_t first = variable->first + (indexed ? 0 : instruction->place);
        for (uint32_t k = 0; k < (indexed ? variable->slots : instruction->n); k++) {
            uint32_t *place = &kernel->slot_row[first + k];
            *place = *place == WEFT_IR_NONE ? row++ : *place;
        }
    }
    return row;
}

/* ---- reads of variables ---- */

/* True if the slots of a variable keep what a read of them finds until the last instruction that uses it, which may not be the one that writes them. */
static bool is_kept(const struct places *places, uint32_t read) {
    const struct weft_ir_program *program = &places->kernel->program;
    const struct weft_ir_instruction *instruction = &program->instructions[read];
    uint32_t last = read;
    for (uint32_t k = 0; k < instruction->n; k++) {
        const uint32_t use = places->last[instruction->result + k];
        if (use == WEFT_IR_NONE) {
            return false;
        }
        last = use > last ? use : last;
    }
    for (uint32_t i = read + 1; i <= last && i < program->instruction_count; i++) {
        const struct weft_ir_instruction *next = &program->instructions[i];
        if ((next->op == WEFT_IR_SET || next->op == WEFT_IR_CLEAR) &&
            next->root == instruction->root) {
            return false;
        }
    }
    return true;
}

/* A value read from a variable and used before the variable changes needs no rows of its own: it uses the variable's. */
static void place_reads(const struct places *places) {
    struct weft_interpreted *kernel = places->kernel;
    const struct weft_ir_program *program = &kernel->program;
    for (uint32_t i = 0; i < program->instruction_count; i++) {
        const struct weft_ir_instruction *instruction = &program->instructions[i];
        if (instruction->op != WEFT_IR_GET || *arguments_of(program, instruction) != 0 ||
            !is_kept(places, i)) {
            continue;
        }
        const uint32_t slot = program->variables[instruction->root].first + instruction->place;
        for (uint32_t k = 0; k < instruction->n; k++) {
            kernel->row[instruction->result + k] = kernel->slot_row[slot + k];
        }
        kernel->functions[i] = NULL;
    }
}

/* ---- values ---- */

static void place_results(struct places *places, uint32_t index, bool staying) {
    const struct weft_ir_instruction *instruction = &places->kernel->program.instructions[index];
    for (uint32_t k = 0; instruction->result != 0 && k < instruction->n; k++) {
        const weft_ir_value value = instruction->result + k;
        if ((places->last[value] == WEFT_IR_NONE) == staying &&
            places->kernel->row[value] == WEFT_IR_NONE) {
            places->kernel->row[value] =
                places->free_count > 0 ? places->free[--places->free_count] : places->next++;
        }
    }
}

/* Gives back the rows of what an instruction is the last to use, once each. */
static void give_back(struct places *places, uint32_t index, weft_ir_value value) {
    if (places->last[value] == index) {
        if (places->kernel->row[value] >= places->first) {
            places->free[places->free_count++] = places->kernel->row[value];
        }
        places->last[value] = WEFT_IR_NONE;
    }
}

static void place_code(struct places *places, const struct weft_ir_node *node) {
    const struct weft_ir_program *program = &places->kernel->program;
    const uint32_t first = places->next;
    places->free_count = 0;
    for (uint32_t i = node->first; i < node->first + node->count; i++) {
        const struct weft_ir_instruction *instruction = &program->instructions[i];
        const weft_ir_value *arguments = arguments_of(program, instruction);
        place_results(places, i, false);
        for (uint32_t k = 0; k < instruction->argument_count; k++) {
            give_back(places, i, arguments[k]);
        }
        for (uint32_t k = 0; instruction->result != 0 && k < instruction->n; k++) {
            give_back(places, i, instruction->result + k);
        }
    }
    places->most = places->next > places->most ? places->next : places->most;
    places->next = first;
}

static void place_values(struct places *places) {
    const struct weft_ir_program *program = &places->kernel->program;
    for (uint32_t i = 0; i < program->instruction_count; i++) {
        place_results(places, i, true);
    }
    places->most = places->next;
    for (uint32_t n = 0; n < program->node_count; n++) {
        if (program->nodes[n].kind == WEFT_IR_CODE) {
            place_code(places, &program->nodes[n]);
        }
    }
}

static void place(struct places *places, struct constant *sorted) {
    struct weft_interpreted *kernel = places->kernel;
    note_makers(places);
    note_uses(places);
    place_constants(places, sorted);
    places->next = place_slots(kernel, WEFT_INTERPRET_FIRST_ROW + kernel->constant_count);
    places->first = places->next;
    place_reads(places);
    place_values(places);
    kernel->row_count = places->most;
    if (kernel->row_count > MAX_ROWS) {
        weft_ir_error(&kernel->program, WEFT_UNSUPPORTED, "the module needs more than %u rows",
                      MAX_ROWS);
    }
}

static void place_all(struct weft_interpreted *kernel) {
    const weft_host *host = &kernel->host;
    const size_t count = (size_t)kernel->program.value_count + 1;
    struct constant *sorted = weft_alloc(host, count * sizeof *sorted);
    struct places places = {.kernel = kernel,
                            .node = weft_alloc_zero(host, count, sizeof *places.node),
                            .last = weft_alloc_zero(host, count, sizeof *places.last),
                            .free = weft_alloc_zero(host, count, sizeof *places.free)};
    if (sorted && places.node && places.last && places.free) {
        place(&places, sorted);
    } else {
        weft_ir_error(&kernel->program, WEFT_OUT_OF_HOST_MEMORY, "out of memory for a module");
    }
    weft_free(host, places.free);
    weft_free(host, places.last);
    weft_free(host, places.node);
    weft_free(host, sorted);
}

/* ---- all of it ---- */

static void *array(struct weft_interpreted *kernel, size_t count, size_t size) {
    void *made = weft_alloc_zero(&kernel->host, count + 1, size);
    if (!made) {
        weft_ir_error(&kernel->program, WEFT_OUT_OF_HOST_MEMORY, "out of memory for a module");
    }
    return made;
}

static void make(struct weft_interpreted *kernel, const struct weft_ir_source *source) {
    struct weft_ir_program *program = &kernel->program;
    if (weft_ir_decode(program, source) == WEFT_OK) {
        weft_ir_drop_dead_stores(program);
        check_types(kernel);
    }
    kernel->functions = array(kernel, program->instruction_count, sizeof *kernel->functions);
    kernel->row = array(kernel, program->value_count, sizeof *kernel->row);
    kernel->slot_row = array(kernel, program->slot_count, sizeof *kernel->slot_row);
    kernel->constants = array(kernel, program->value_count, sizeof *kernel->constants);
    for (uint32_t i = 0; program->status == WEFT_OK && i < program->instruction_count; i++) {
        choose_function(kernel, i);
    }
    if (program->status == WEFT_OK) {
        place_all(kernel);
    }
}

weft_status weft_interpret(struct weft_interpreted **kernel, const struct weft_ir_source *source,
                           bool strict, char text[WEFT_IR_TEXT], const weft_host *host) {
    *kernel = weft_alloc_zero(host, 1, sizeof **kernel);
    if (!*kernel) {
        snprintf(text, WEFT_IR_TEXT, "out of memory for a module");
        return WEFT_OUT_OF_HOST_MEMORY;
    }
    (*kernel)->host = host ? *host : (weft_host){0};
    (*kernel)->strict = strict;
    (*kernel)->program =
        (struct weft_ir_program){.host = &(*kernel)->host, .lanes = source->lanes, .exact = strict};
    make(*kernel, source);
    const weft_status status = (*kernel)->program.status;
    if (status != WEFT_OK) {
        memcpy(text, (*kernel)->program.text, WEFT_IR_TEXT);
        weft_interpreted_free(kernel);
    }
    return status;
}

void weft_interpreted_free(struct weft_interpreted **kernel) {
    if (!*kernel) {
        return;
    }
    const weft_host own = (*kernel)->host, *host = &own;
    weft_ir_free(&(*kernel)->program);
    weft_free(host, (*kernel)->functions);
    weft_free(host, (*kernel)->row);
    weft_free(host, (*kernel)->slot_row);
    weft_free(host, (*kernel)->constants);
    weft_free(host, *kernel);
    *kernel = NULL;
}

const struct weft_ir_program *weft_interpreted_program(const struct weft_interpreted *kernel) {
    return &kernel->program;
}

size_t weft_interpreted_memory(const struct weft_interpreted *kernel) {
    const struct weft_ir_program *program = &kernel->program;
    const size_t lanes =
        (size_t)program->local_size[0] * program->local_size[1] * program->local_size[2];
    return ((size_t)program->shared_size + 63) / 64 * 64 +
           sizeof(uint32_t) * kernel->row_words * kernel->row_count * lanes;
}
