/* SPDX-License-Identifier: MIT */
/* Making the parts of a program, and taking it apart again. */
#include "spirv/ir/ir.h"

#include <stdarg.h>
#include <stdio.h>

#define MAX_VALUES (UINT32_C(1) << 23)

void weft_ir_error(struct weft_ir_program *program, weft_status status, const char *format, ...) {
    if (program->status != WEFT_OK) {
        return;
    }
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(program->text, sizeof program->text, format, arguments);
    va_end(arguments);
    program->status = status;
}

bool weft_ir_room(struct weft_ir_program *program, void *array_address, uint32_t count,
                  uint32_t *capacity, size_t size) {
    if (count >= MAX_VALUES) {
        weft_ir_error(program, WEFT_UNSUPPORTED, "a kernel of more than %u values", MAX_VALUES);
    } else if (!weft_grow(program->host, array_address, count, capacity, size)) {
        weft_ir_error(program, WEFT_OUT_OF_HOST_MEMORY, "out of memory");
    }
    return program->status == WEFT_OK;
}

uint32_t weft_ir_bits(uint32_t type) {
    static const uint8_t bits[WEFT_IR_TYPES] = {1, 8, 16, 32, 64, 32, 64};
    return bits[type];
}

uint64_t weft_ir_ones(uint32_t type) {
    const uint32_t bits = weft_ir_bits(type);
    return bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
}

bool weft_ir_is_float(uint32_t type) {
    return type == WEFT_IR_F32 || type == WEFT_IR_F64;
}

/* Value 0 is none, and what errors give. */
weft_ir_value weft_ir_add_values(struct weft_ir_program *program, uint32_t type, uint32_t n) {
    weft_ir_value first = program->value_count;
    for (uint32_t i = 0; i < n; i++) {
        if (!weft_ir_room(program, &program->values, program->value_count, &program->value_capacity,
                          sizeof *program->values)) {
            return 0;
        }
        program->values[program->value_count++] = (struct weft_ir_def){
            .type = (uint8_t)type, .instruction = WEFT_IR_NONE, .most = weft_ir_ones(type)};
    }
    return first;
}

uint8_t weft_ir_align_of(uint64_t number) {
    uint8_t align = 0;
    while (align < 31 && (number >> align & 1) == 0) {
        align++;
    }
    return align;
}

weft_ir_value weft_ir_constant(struct weft_ir_program *program, uint32_t type, uint64_t bits) {
    weft_ir_value value = weft_ir_add_values(program, type, 1);
    if (value != 0) {
        struct weft_ir_def *def = &program->values[value];
        def->constant = true;
        def->bits = bits;
        def->most = bits;
        def->shape =
            (struct weft_ir_shape){.kind = WEFT_IR_UNIFORM, .align = weft_ir_align_of(bits)};
    }
    return value;
}

uint32_t weft_ir_add_list(struct weft_ir_program *program, uint32_t owner) {
    if (!weft_ir_room(program, &program->lists, program->list_count, &program->list_capacity,
                      sizeof *program->lists)) {
        return 0;
    }
    uint32_t depth = 0;
    if (owner != WEFT_IR_NONE) {
        depth = program->lists[program->nodes[owner].list].depth + 1;
    }
    program->lists[program->list_count] = (struct weft_ir_list){
        .first = WEFT_IR_NONE, .last = WEFT_IR_NONE, .owner = owner, .depth = depth};
    return program->list_count++;
}

uint32_t weft_ir_add_node(struct weft_ir_program *program, uint32_t list,
                          enum weft_ir_node_kind kind) {
    if (!weft_ir_room(program, &program->nodes, program->node_count, &program->node_capacity,
                      sizeof *program->nodes)) {
        return 0;
    }
    uint32_t index = program->node_count++;
    program->nodes[index] = (struct weft_ir_node){.kind = (uint8_t)kind,
                                                  .next = WEFT_IR_NONE,
                                                  .list = list,
                                                  .lists = {WEFT_IR_NONE, WEFT_IR_NONE},
                                                  .first = program->instruction_count,
                                                  .target = WEFT_IR_NONE};
    struct weft_ir_list *in = &program->lists[list];
    if (in->last == WEFT_IR_NONE) {
        in->first = index;
    } else {
        program->nodes[in->last].next = index;
    }
    in->last = index;
    return index;
}

uint32_t weft_ir_add_variable(struct weft_ir_program *program, uint32_t list, uint32_t slots) {
    if (!weft_ir_room(program, &program->variables, program->variable_count,
                      &program->variable_capacity, sizeof *program->variables)) {
        return 0;
    }
    program->variables[program->variable_count] =
        (struct weft_ir_variable){.slots = slots, .first = program->slot_count, .list = list};
    for (uint32_t i = 0; i < slots; i++) {
        if (!weft_ir_room(program, &program->slots, program->slot_count, &program->slot_capacity,
                          sizeof *program->slots)) {
            return 0;
        }
        program->slots[program->slot_count++] =
            (struct weft_ir_slot){.type = WEFT_IR_I32, .most = UINT64_MAX};
    }
    return program->variable_count++;
}

static struct weft_ir_instruction *next_instruction(struct weft_ir_program *program,
                                                    uint32_t list) {
    static _Thread_local struct weft_ir_instruction discarded;
    if (!weft_ir_room(program, &program->instructions, program->instruction_count,
                      &program->instruction_capacity, sizeof *program->instructions)) {
        return &discarded;
    }
    uint32_t node = program->lists[list].last;
    if (node == WEFT_IR_NONE || program->nodes[node].kind != WEFT_IR_CODE) {
        node = weft_ir_add_node(program, list, WEFT_IR_CODE);
    }
    if (program->status != WEFT_OK) {
        return &discarded;
    }
    program->nodes[node].count++;
    return &program->instructions[program->instruction_count++];
}

struct weft_ir_instruction *weft_ir_append(struct weft_ir_program *program, uint32_t list,
                                           uint32_t op, uint32_t type, uint32_t n, bool results,
                                           const weft_ir_value *arguments, uint32_t count) {
    const weft_ir_value result = results ? weft_ir_add_values(program, type, n) : 0;
    const uint32_t first = program->argument_count;
    for (uint32_t i = 0; i < count; i++) {
        if (!weft_ir_room(program, &program->arguments, program->argument_count,
                          &program->argument_capacity, sizeof *program->arguments)) {
            break;
        }
        program->arguments[program->argument_count++] = arguments[i];
    }
    struct weft_ir_instruction *instruction = next_instruction(program, list);
    *instruction = (struct weft_ir_instruction){.op = (uint16_t)op,
                                                .type = (uint8_t)type,
                                                .n = (uint8_t)n,
                                                .result = result,
                                                .arguments = first,
                                                .argument_count = count};
    for (uint32_t i = 0; program->status == WEFT_OK && results && i < n; i++) {
        program->values[result + i].instruction = program->instruction_count - 1;
    }
    return instruction;
}

void weft_ir_free(struct weft_ir_program *program) {
    void *const arrays[] = {program->values, program->instructions, program->arguments,
                            program->nodes,  program->lists,        program->variables,
                            program->slots};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
        weft_free(program->host, arrays[i]);
    }
}
