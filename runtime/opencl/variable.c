/* SPDX-License-Identifier: MIT */
/*
 * Variables. A slot is declared where it is first set, if all that reads it is in the same list behind that; else where its home
 * begins (ir/structure.c), as 0, since a path can lead around what sets it. One that is declared so and never set again is the
 * value that it is set to, by another name, which nobody needs. Arrays hold words; only in a checked program, whose
 * indices may lead to elements that nobody has set, they begin as zeros.
 */
#include "opencl/writer.h"

static const struct weft_ir_variable *variable_of(const struct weft_cl_writer *writer,
                                                  const struct weft_ir_instruction *instruction) {
    return &writer->program->variables[instruction->root];
}

uint32_t weft_cl_slot_of(const struct weft_cl_writer *writer,
                         const struct weft_ir_instruction *instruction, uint32_t component) {
    const struct weft_ir_variable *variable = variable_of(writer, instruction);
    return variable->indexed ? variable->first : variable->first + instruction->place + component;
}

/* ---- declarations ---- */

/* A scope without an outgoing jump needs no braces; its names stay visible afterwards. */
static void find_blocks(struct weft_cl_writer *writer) {
    const struct weft_ir_program *program = writer->program;
    for (uint32_t i = 0; i < program->node_count; i++) {
        uint32_t node = program->nodes[i].kind == WEFT_IR_JUMP ? i : program->nodes[i].target;
        while (node != program->nodes[i].target) {
            node = program->lists[program->nodes[node].list].owner;
            writer->nodes[node].left = true;
        }
    }
    for (uint32_t i = 0; i < program->list_count; i++) {
        const uint32_t owner = program->lists[i].owner;
        const bool open = owner != WEFT_IR_NONE && program->nodes[owner].kind == WEFT_IR_SCOPE &&
                          !writer->nodes[owner].left;
        writer->lists[i].block = open ? writer->lists[program->nodes[owner].list].block : i;
    }
}

/* True if an instruction declares a slot that it sets. */
static bool declares(const struct weft_cl_writer *writer, uint32_t index, uint32_t slot_index) {
    const struct weft_ir_program *program = writer->program;
    const struct weft_ir_slot *slot = &program->slots[slot_index];
    const uint32_t list = program->nodes[writer->steps[index].node].list;
    return writer->slots[slot_index].first == index &&
           program->instructions[index].op == WEFT_IR_SET &&
           !variable_of(writer, &program->instructions[index])->indexed &&
           (slot->in_loop || writer->lists[slot->home].block == writer->lists[list].block);
}

static void note_access(struct weft_cl_writer *writer, uint32_t index) {
    const struct weft_ir_instruction *instruction = &writer->program->instructions[index];
    if (instruction->op != WEFT_IR_GET && instruction->op != WEFT_IR_SET) {
        return;
    }
    const struct weft_ir_variable *variable = variable_of(writer, instruction);
    for (uint32_t i = 0; i < (variable->indexed ? 1 : instruction->n); i++) {
        struct weft_cl_slot *known = &writer->slots[weft_cl_slot_of(writer, instruction, i)];
        known->first = known->first == WEFT_IR_NONE ? index : known->first;
        if (instruction->op == WEFT_IR_SET) {
            known->sets = known->sets == 0 ? 1 : 2;
        }
    }
}

weft_ir_value weft_cl_value_of(const struct weft_cl_writer *writer,
                               const struct weft_ir_instruction *instruction, uint32_t component) {
    return writer->slots[weft_cl_slot_of(writer, instruction, component)].value;
}

/* A value that is another slot's is that slot's. */
static weft_ir_value original(const struct weft_cl_writer *writer, weft_ir_value value) {
    const struct weft_ir_instruction *maker = weft_cl_maker(writer, value);
    const weft_ir_value same = maker && maker->op == WEFT_IR_GET
                                   ? weft_cl_value_of(writer, maker, value - maker->result)
                                   : 0;
    return same != 0 ? same : value;
}

static void find_values(struct weft_cl_writer *writer, uint32_t index) {
    const struct weft_ir_instruction *instruction = &writer->program->instructions[index];
    for (uint32_t i = 0; instruction->op == WEFT_IR_SET && i < instruction->n; i++) {
        const uint32_t slot = weft_cl_slot_of(writer, instruction, i);
        if (writer->slots[slot].sets == 1 && declares(writer, index, slot)) {
            writer->slots[slot].value =
                original(writer, weft_cl_argument(writer, instruction, 1 + i));
        }
    }
}

static void declare_in_list(struct weft_cl_writer *writer, uint32_t slot_index) {
    const struct weft_ir_program *program = writer->program;
    const struct weft_ir_slot *slot = &program->slots[slot_index];
    const uint32_t list = slot->in_loop ? program->nodes[slot->home].list : slot->home;
    writer->slots[slot_index].next = writer->lists[list].declared;
    writer->lists[list].declared = slot_index;
}

/* An indexed variable is declared as a whole, for its first slot. */
static void find_declaration(struct weft_cl_writer *writer,
                             const struct weft_ir_variable *variable) {
    struct weft_ir_program *program = writer->program;
    for (uint32_t i = 0; i < (variable->indexed ? 1 : variable->slots); i++) {
        const uint32_t slot = variable->first + i;
        const uint32_t first = writer->slots[slot].first;
        if (first != WEFT_IR_NONE && program->slots[slot].used && !declares(writer, first, slot)) {
            declare_in_list(writer, slot);
        }
    }
    for (uint32_t i = 0; variable->indexed && i < variable->slots; i++) {
        if (weft_ir_bits(program->slots[variable->first + i].type) > 32) {
            weft_ir_error(program, WEFT_UNSUPPORTED, "a variable of 64 bits with an index");
        }
    }
}

void weft_cl_find_declarations(struct weft_cl_writer *writer) {
    const struct weft_ir_program *program = writer->program;
    for (uint32_t i = 0; i < program->slot_count; i++) {
        writer->slots[i].first = WEFT_IR_NONE;
    }
    for (uint32_t i = 0; i < program->list_count; i++) {
        writer->lists[i].declared = WEFT_IR_NONE;
    }
    find_blocks(writer);
    for (uint32_t i = 0; i < program->instruction_count; i++) {
        note_access(writer, i);
    }
    for (uint32_t i = 0; i < program->instruction_count; i++) {
        find_values(writer, i);
    }
    for (uint32_t i = 0; i < program->variable_count; i++) {
        find_declaration(writer, &program->variables[i]);
    }
}

static uint32_t array_of(const struct weft_cl_writer *writer, uint32_t slot) {
    const struct weft_ir_program *program = writer->program;
    const struct weft_ir_instruction *access = &program->instructions[writer->slots[slot].first];
    const struct weft_ir_variable *variable = variable_of(writer, access);
    return variable->indexed ? variable->slots : 0;
}

void weft_cl_write_declarations(struct weft_cl_writer *writer, uint32_t list) {
    for (uint32_t slot = writer->lists[list].declared; slot != WEFT_IR_NONE;
         slot = writer->slots[slot].next) {
        const uint32_t elements = array_of(writer, slot);
        if (elements > 0) {
            weft_cl_add(writer, "uint t%u[%u]%s;\n", slot, elements,
                        writer->program->checked ? " = {0}" : "");
        } else {
            weft_cl_add(writer, "%s s%u = 0;\n",
                        weft_cl_type_names[writer->program->slots[slot].type], slot);
        }
    }
}

/* ---- reading and writing ---- */

static void write_element(struct weft_cl_writer *writer,
                          const struct weft_ir_instruction *instruction, uint32_t component) {
    const weft_ir_value index = weft_cl_argument(writer, instruction, 0);
    const uint32_t place = instruction->place + component;
    weft_cl_add(writer, "t%u[", variable_of(writer, instruction)->first);
    if (index == 0 || place != 0) {
        weft_cl_add(writer, index == 0 ? "%u" : "%uu + ", place);
    }
    if (index != 0) {
        weft_cl_write_value(writer, index, true);
    }
    weft_cl_add(writer, "]");
}

void weft_cl_write_get(struct weft_cl_writer *writer, const struct weft_ir_instruction *instruction,
                       uint32_t component, bool beside) {
    const uint32_t slot = weft_cl_slot_of(writer, instruction, component);
    if (writer->slots[slot].value != 0) {
        weft_cl_write_value(writer, writer->slots[slot].value, beside);
        return;
    }
    if (!variable_of(writer, instruction)->indexed) {
        weft_cl_add(writer, "s%u", slot);
        return;
    }
    weft_cl_add(writer, instruction->type == WEFT_IR_F32 ? "as_float(" : "(%s)(",
                weft_cl_type_names[instruction->type]);
    write_element(writer, instruction, component);
    weft_cl_add(writer, ")");
}

void weft_cl_write_set(struct weft_cl_writer *writer, uint32_t index) {
    const struct weft_ir_instruction *instruction = &writer->program->instructions[index];
    const bool indexed = variable_of(writer, instruction)->indexed;
    for (uint32_t i = 0; i < instruction->n; i++) {
        const weft_ir_value value = weft_cl_argument(writer, instruction, 1 + i);
        const uint32_t slot = weft_cl_slot_of(writer, instruction, i);
        if (writer->slots[slot].value != 0) {
            continue;
        }
        if (declares(writer, index, slot)) {
            weft_cl_add(writer, "%s ", weft_cl_type_names[instruction->type]);
        }
        if (indexed) {
            write_element(writer, instruction, i);
        } else {
            weft_cl_add(writer, "s%u", slot);
        }
        weft_cl_add(writer, " = ");
        (indexed ? weft_cl_write_bits : weft_cl_write_value)(writer, value, false);
        weft_cl_add(writer, ";\n");
    }
}
