/* SPDX-License-Identifier: MIT */
/* Variables, pointers and what goes through them. */
#include "spirv/ir/decode.h"

/* ---- variables ---- */

uint32_t weft_ir_new_variable(struct weft_ir_decoder *decoder, uint32_t type, uint32_t list) {
    struct weft_ir_program *program = decoder->program;
    enum { MOST = 16384 };
    const uint32_t slots = weft_ir_type_of(decoder, type)->slots;
    if (slots > MOST) {
        weft_ir_unsupported(decoder, "a variable of more scalars than", MOST);
        return 0;
    }
    const uint32_t variable = weft_ir_add_variable(program, list, slots);
    for (uint32_t i = 0; program->status == WEFT_OK && i < slots; i++) {
        program->slots[program->variables[variable].first + i].type =
            (uint8_t)weft_ir_slot_type(decoder, type, i);
    }
    return variable;
}

static uint32_t least(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}

/* Slots that one instruction moves: vectors of up to four stay together, which is what contiguous access needs. */
#define MOST_TOGETHER 4u

/*
 * Finds the value that the current piece of code last set a slot to, or read from it. Most variables of a module are
 * read where they are set, and many are set again and again, each time to a value of another shape.
 */
static bool latest(const struct weft_ir_decoder *decoder, const struct weft_ir_slot *slots,
                   uint32_t type, uint32_t n, weft_ir_value *scalars) {
    const struct weft_ir_program *program = decoder->program;
    for (uint32_t i = 0; i < n; i++) {
        if (slots[i].latest_block != decoder->block ||
            program->values[slots[i].latest].type != type) {
            return false;
        }
        scalars[i] = slots[i].latest;
    }
    return true;
}

static void note_latest(const struct weft_ir_decoder *decoder, struct weft_ir_slot *slots,
                        const weft_ir_value *scalars, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        slots[i].latest = scalars ? scalars[i] : 0;
        slots[i].latest_block = scalars ? decoder->block : 0;
    }
}

static struct weft_ir_slot *slots_of(const struct weft_ir_decoder *decoder, uint32_t variable) {
    const struct weft_ir_program *program = decoder->program;
    return program->slots + program->variables[variable].first;
}

static void get(struct weft_ir_decoder *decoder, uint32_t variable, uint32_t place,
                weft_ir_value index, uint32_t type, uint32_t n, weft_ir_value *scalars) {
    struct weft_ir_program *program = decoder->program;
    if (program->status == WEFT_OK && index == 0 &&
        latest(decoder, slots_of(decoder, variable) + place, type, n, scalars)) {
        return;
    }
    struct weft_ir_instruction *instruction = weft_ir_append(
        program, decoder->list, WEFT_IR_GET, type, n, true, (const weft_ir_value[]){index}, 1);
    instruction->root = variable;
    instruction->place = place;
    for (uint32_t i = 0; i < n; i++) {
        scalars[i] = program->status == WEFT_OK ? instruction->result + i : 0;
    }
    if (program->status == WEFT_OK && index == 0) {
        for (uint32_t i = 0; i < n; i++) {
            const uint64_t most = slots_of(decoder, variable)[place + i].most;
            struct weft_ir_def *def = &program->values[scalars[i]];
            def->most = most < def->most ? most : def->most;
        }
        note_latest(decoder, slots_of(decoder, variable) + place, scalars, n);
    }
}

static void set(struct weft_ir_decoder *decoder, uint32_t variable, uint32_t place,
                weft_ir_value index, uint32_t type, const weft_ir_value *scalars, uint32_t n) {
    weft_ir_value arguments[1 + MOST_TOGETHER] = {index};
    for (uint32_t i = 0; i < n; i++) {
        arguments[1 + i] = scalars[i];
    }
    struct weft_ir_instruction *instruction = weft_ir_append(
        decoder->program, decoder->list, WEFT_IR_SET, type, n, false, arguments, 1 + n);
    instruction->root = variable;
    instruction->place = place;
    if (decoder->program->status != WEFT_OK) {
        return;
    }
    struct weft_ir_slot *slots = slots_of(decoder, variable);
    if (index == 0) {
        note_latest(decoder, slots + place, scalars, n);
    } else {
        note_latest(decoder, slots, NULL, decoder->program->variables[variable].slots);
    }
}

/* The value of a slot that is written once, with a constant; false for others. */
static bool known(struct weft_ir_decoder *decoder, uint32_t variable, uint32_t slot, uint32_t type,
                  weft_ir_value *scalar) {
    struct weft_ir_program *program = decoder->program;
    if (program->status != WEFT_OK || !program->variables[variable].has_constants) {
        return false;
    }
    *scalar = weft_ir_constant(program, type,
                               program->slots[program->variables[variable].first + slot].constant);
    return true;
}

void weft_ir_get_variable(struct weft_ir_decoder *decoder, uint32_t variable, uint32_t type,
                          weft_ir_value *scalars) {
    const uint32_t slots = weft_ir_type_of(decoder, type)->slots;
    for (uint32_t i = 0; i < slots; i++) {
        get(decoder, variable, i, 0, weft_ir_slot_type(decoder, type, i), 1, scalars + i);
    }
}

void weft_ir_set_variable(struct weft_ir_decoder *decoder, uint32_t variable,
                          const weft_ir_value *scalars, uint32_t count) {
    for (uint32_t i = 0; i < count && decoder->program->status == WEFT_OK; i++) {
        set(decoder, variable, i, 0, decoder->program->values[scalars[i]].type, scalars + i, 1);
    }
}

weft_ir_value weft_ir_get_indexed(struct weft_ir_decoder *decoder, uint32_t variable,
                                  weft_ir_value index, uint32_t type) {
    weft_ir_value scalar = 0;
    decoder->program->variables[variable].indexed = true;
    get(decoder, variable, 0, index, type, 1, &scalar);
    return scalar;
}

void weft_ir_set_indexed(struct weft_ir_decoder *decoder, uint32_t variable, weft_ir_value index,
                         weft_ir_value scalar) {
    decoder->program->variables[variable].indexed = true;
    set(decoder, variable, 0, index, decoder->program->values[scalar].type, &scalar, 1);
}

/* ---- variables of the module ---- */

static void add_binding(struct weft_ir_decoder *decoder, struct weft_ir_id *id,
                        const struct weft_ir_binding *binding) {
    struct weft_ir_program *program = decoder->program;
    uint32_t index = 0;
    while (index < program->binding_count &&
           (program->bindings[index].set != binding->set ||
            program->bindings[index].binding != binding->binding)) {
        index++;
    }
    if (index == WEFT_IR_MAX_BINDINGS) {
        weft_ir_unsupported(decoder, "a module with more storage buffers than", index);
        return;
    }
    if (index == program->binding_count) {
        program->bindings[program->binding_count++] = *binding;
    }
    id->pointer.space = WEFT_IR_BUFFER;
    id->pointer.root = index;
}

static void add_shared(struct weft_ir_decoder *decoder, struct weft_ir_id *id, uint32_t type) {
    enum { ALIGNMENT = 64 };
    struct weft_ir_program *program = decoder->program;
    const uint32_t size = weft_ir_type_of(decoder, type)->size;
    const uint32_t begin = (program->shared_size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (size > WEFT_IR_SHARED_MEMORY || begin > WEFT_IR_SHARED_MEMORY - size) {
        weft_ir_unsupported(decoder, "more bytes of shared memory than", WEFT_IR_SHARED_MEMORY);
        return;
    }
    program->shared_size = begin + size;
    id->pointer.space = WEFT_IR_SHARED;
    id->pointer.offset = begin;
}

/* In exact programs, what nobody has written can be told from what somebody has. */
static void clear(struct weft_ir_decoder *decoder, uint32_t variable) {
    if (decoder->program->exact) {
        weft_ir_append(decoder->program, decoder->list, WEFT_IR_CLEAR, WEFT_IR_I32, 0, false, NULL,
                       0)
            ->root = variable;
    }
}

static void add_private(struct weft_ir_decoder *decoder, struct weft_ir_id *id, uint32_t type,
                        uint32_t initializer) {
    id->pointer.space = WEFT_IR_IN_VARIABLE;
    id->pointer.root = weft_ir_new_variable(decoder, type, 0);
    clear(decoder, id->pointer.root);
    const weft_ir_value *scalars = initializer == 0 ? NULL : weft_ir_scalars(decoder, initializer);
    if (scalars) {
        weft_ir_set_variable(decoder, id->pointer.root, scalars,
                             weft_ir_type_of(decoder, type)->slots);
    }
}

/* The bytes of push constants up to the end of a block of scalars and vectors. */
static uint32_t push_size(struct weft_ir_decoder *decoder, uint32_t type_id) {
    const struct weft_ir_spirv_type *type = weft_ir_type_of(decoder, type_id);
    uint32_t size = 0;
    for (uint32_t i = 0; type->kind == WEFT_IR_TYPE_STRUCT && i < type->count; i++) {
        const struct weft_ir_member *member = weft_ir_member(decoder, type, i);
        const uint32_t end = member->offset + weft_ir_type_of(decoder, member->type)->size;
        size = end > size ? end : size;
    }
    return size;
}

void weft_ir_decode_global(struct weft_ir_decoder *decoder, const uint32_t *words) {
    const uint32_t type = weft_ir_type_of(decoder, words[1])->element;
    struct weft_ir_id *id = weft_ir_id(decoder, words[2]);
    id->kind = WEFT_IR_ID_POINTER;
    id->block = 0;
    id->root = words[2];
    id->pointer = (struct weft_ir_pointer){.type = type};
    switch (words[3]) {
    case SpvStorageClassInput:
        id->pointer.space = WEFT_IR_IN_INPUT;
        id->pointer.root = weft_ir_literal(decoder, words[2], SpvDecorationBuiltIn, WEFT_IR_NONE);
        break;
    case SpvStorageClassUniform:
    case SpvStorageClassStorageBuffer:
        add_binding(decoder, id,
                    &(const struct weft_ir_binding){
                        .set = weft_ir_literal(decoder, words[2], SpvDecorationDescriptorSet, 0),
                        .binding = weft_ir_literal(decoder, words[2], SpvDecorationBinding, 0)});
        break;
    case SpvStorageClassPushConstant:
        id->pointer.space = WEFT_IR_PUSH;
        decoder->program->push_size = push_size(decoder, type);
        break;
    case SpvStorageClassWorkgroup:
        add_shared(decoder, id, type);
        break;
    case SpvStorageClassPrivate:
        add_private(decoder, id, type, weft_spirv_length(words[0]) > 4 ? words[4] : 0);
        break;
    default:
        weft_ir_unsupported(decoder, "a variable of storage class", words[3]);
        break;
    }
}

/* OpVariable of a function. */
static void decode_local(struct weft_ir_decoder *decoder, const uint32_t *words) {
    const uint32_t type = weft_ir_type_of(decoder, words[1])->element;
    struct weft_ir_pointer pointer = {.type = type, .space = WEFT_IR_IN_VARIABLE};
    const uint32_t list = decoder->program->nodes[decoder->frame->scope].lists[0];
    pointer.root = weft_ir_new_variable(decoder, type, list);
    weft_ir_define_pointer(decoder, words[2], &pointer);
    clear(decoder, pointer.root);
    if (weft_spirv_length(words[0]) > 4) {
        const weft_ir_value *scalars = weft_ir_scalars(decoder, words[4]);
        if (scalars) {
            weft_ir_set_variable(decoder, pointer.root, scalars,
                                 weft_ir_type_of(decoder, type)->slots);
        }
    }
}

/* ---- pointers ---- */

/* The nearest of `count` elements: where a variable ends is not known any more when it is accessed. */
static weft_ir_value clamp_index(struct weft_ir_decoder *decoder, weft_ir_value index,
                                 uint32_t count) {
    return weft_ir_binary(decoder, WEFT_IR_U_MIN, WEFT_IR_I32, index,
                          weft_ir_u32(decoder, count - 1));
}

static weft_ir_value as_word(struct weft_ir_decoder *decoder, weft_ir_value index) {
    const uint32_t type = decoder->program->values[index].type;
    const bool wide = weft_ir_bits(type) > 32;
    return type == WEFT_IR_I32 ? index
                               : weft_ir_compute(decoder, wide ? SpvOpUConvert : SpvOpSConvert,
                                                 WEFT_IR_I32, &index, 1, false);
}

weft_ir_value weft_ir_index(struct weft_ir_decoder *decoder, weft_ir_value base,
                            weft_ir_value index, uint32_t stride, uint32_t count) {
    const weft_ir_value arguments[] = {base == 0 ? weft_ir_u32(decoder, 0) : base,
                                       as_word(decoder, index)};
    struct weft_ir_instruction *instruction = weft_ir_append(
        decoder->program, decoder->list, WEFT_IR_INDEX, WEFT_IR_I32, 1, true, arguments, 2);
    instruction->place = stride;
    instruction->stride = count;
    return instruction->result;
}

static bool is_within(const struct weft_ir_def *index, uint32_t offset, uint32_t stride,
                      uint32_t count) {
    return index->constant && index->bits < (count == 0 ? UINT32_MAX : count) &&
           offset + index->bits * stride < WEFT_IR_OUTSIDE;
}

static void add_exact_index(struct weft_ir_decoder *decoder, struct weft_ir_pointer *pointer,
                            weft_ir_value index, uint32_t stride, uint32_t count) {
    pointer->index =
        weft_ir_index(decoder, pointer->index, index, stride, count == 0 ? UINT32_MAX : count);
    if (pointer->space == WEFT_IR_IN_VARIABLE && decoder->program->status == WEFT_OK) {
        decoder->program->variables[pointer->root].indexed = true;
    }
}

static void add_index(struct weft_ir_decoder *decoder, struct weft_ir_pointer *pointer,
                      uint32_t index_id, uint32_t stride, uint32_t count) {
    weft_ir_value index = weft_ir_scalar(decoder, index_id, 0);
    if (decoder->program->status != WEFT_OK) {
        return;
    }
    const struct weft_ir_def *def = &decoder->program->values[index];
    if (decoder->program->exact && !is_within(def, pointer->offset, stride, count)) {
        add_exact_index(decoder, pointer, index, stride, count);
        return;
    }
    if (def->constant) {
        if (count != 0 && def->bits >= count) {
            weft_ir_error(decoder->program, WEFT_COMPILE_ERROR, "index %u of %u",
                          (uint32_t)def->bits, count);
        }
        pointer->offset += (uint32_t)def->bits * stride;
        return;
    }
    index = as_word(decoder, index);
    if (decoder->program->checked && pointer->space == WEFT_IR_IN_VARIABLE && count != 0) {
        index = clamp_index(decoder, index, count);
    }
    index = weft_ir_binary(decoder, SpvOpIMul, WEFT_IR_I32, index, weft_ir_u32(decoder, stride));
    pointer->index = pointer->index == 0
                         ? index
                         : weft_ir_binary(decoder, SpvOpIAdd, WEFT_IR_I32, pointer->index, index);
    if (pointer->space == WEFT_IR_IN_VARIABLE && decoder->program->status == WEFT_OK) {
        decoder->program->variables[pointer->root].indexed = true;
    }
}

/* Bytes, or slots of a variable, from one element to the next. */
static uint32_t element_step(struct weft_ir_decoder *decoder, const struct weft_ir_pointer *pointer,
                             const struct weft_ir_spirv_type *type) {
    const struct weft_ir_spirv_type *element = weft_ir_type_of(decoder, type->element);
    if (pointer->space == WEFT_IR_IN_VARIABLE || pointer->space == WEFT_IR_IN_INPUT) {
        return element->slots;
    }
    if (type->kind == WEFT_IR_TYPE_MATRIX) {
        return pointer->row_major            ? element->size / element->count
               : pointer->matrix_stride != 0 ? pointer->matrix_stride
                                             : element->size;
    }
    if (type->kind == WEFT_IR_TYPE_VECTOR && pointer->row_major) {
        return pointer->matrix_stride;
    }
    return pointer->space == WEFT_IR_SHARED || type->stride == 0 ? element->size : type->stride;
}

static void enter_member(struct weft_ir_decoder *decoder, struct weft_ir_pointer *pointer,
                         const struct weft_ir_spirv_type *type, uint32_t index) {
    const struct weft_ir_member *member = weft_ir_member(decoder, type, index);
    if (pointer->space == WEFT_IR_IN_VARIABLE || pointer->space == WEFT_IR_IN_INPUT) {
        pointer->offset += member->first_slot;
    } else if (pointer->space == WEFT_IR_SHARED) {
        for (uint32_t i = 0; i < index; i++) {
            pointer->offset +=
                weft_ir_type_of(decoder, weft_ir_member(decoder, type, i)->type)->size;
        }
    } else {
        pointer->offset += member->offset;
        pointer->matrix_stride = member->matrix_stride;
        pointer->row_major = member->row_major;
    }
    pointer->type = member->type;
}

static void decode_access_chain(struct weft_ir_decoder *decoder, const uint32_t *words) {
    struct weft_ir_pointer pointer = weft_ir_pointer(decoder, words[3]);
    for (uint32_t i = 4; i < weft_spirv_length(words[0]) && decoder->program->status == WEFT_OK;
         i++) {
        const struct weft_ir_spirv_type *type = weft_ir_type_of(decoder, pointer.type);
        if (type->kind == WEFT_IR_TYPE_STRUCT) {
            enter_member(decoder, &pointer, type, (uint32_t)weft_ir_constant_of(decoder, words[i]));
        } else if (type->kind >= WEFT_IR_TYPE_VECTOR && type->kind <= WEFT_IR_TYPE_RUNTIME_ARRAY) {
            add_index(decoder, &pointer, words[i], element_step(decoder, &pointer, type),
                      type->count);
            pointer.type = type->element;
        } else {
            weft_ir_error(decoder->program, WEFT_COMPILE_ERROR, "an index into a scalar");
        }
    }
    weft_ir_define_pointer(decoder, words[2], &pointer);
}

/* ---- loads and stores ---- */

/* A part of a value whose scalars lie one after the other. */
struct part {
    struct weft_ir_pointer pointer;
    uint32_t first, n; /* of the value's slots */
    uint32_t type;     /* of each scalar */
};

typedef void (*part_function)(struct weft_ir_decoder *decoder, const struct part *part,
                              void *scalars);

static void visit(struct weft_ir_decoder *decoder, const struct weft_ir_pointer *pointer,
                  uint32_t first, part_function function, void *scalars);

static void visit_elements(struct weft_ir_decoder *decoder, const struct weft_ir_pointer *pointer,
                           const struct weft_ir_spirv_type *type, uint32_t first,
                           part_function function, void *scalars) {
    const uint32_t step = element_step(decoder, pointer, type);
    const uint32_t slots = weft_ir_type_of(decoder, type->element)->slots;
    for (uint32_t i = 0; i < type->count; i++) {
        struct weft_ir_pointer element = *pointer;
        element.type = type->element;
        element.offset += i * step;
        visit(decoder, &element, first + i * slots, function, scalars);
    }
}

/* Calls a function for each part of what is pointed to. */
static void visit(struct weft_ir_decoder *decoder, const struct weft_ir_pointer *pointer,
                  uint32_t first, part_function function, void *scalars) {
    const struct weft_ir_spirv_type *type = weft_ir_type_of(decoder, pointer->type);
    if (decoder->program->status != WEFT_OK) {
        return;
    }
    if (type->kind == WEFT_IR_TYPE_SCALAR ||
        (type->kind == WEFT_IR_TYPE_VECTOR && !pointer->row_major)) {
        const struct part part = {.pointer = *pointer,
                                  .first = first,
                                  .n = least(type->slots, MOST_TOGETHER),
                                  .type = weft_ir_slot_type(decoder, pointer->type, 0)};
        function(decoder, &part, scalars);
    } else if (type->kind == WEFT_IR_TYPE_STRUCT) {
        for (uint32_t i = 0; i < type->count; i++) {
            struct weft_ir_pointer member = *pointer;
            enter_member(decoder, &member, type, i);
            visit(decoder, &member, first + weft_ir_member(decoder, type, i)->first_slot, function,
                  scalars);
        }
    } else if (type->kind >= WEFT_IR_TYPE_VECTOR && type->kind <= WEFT_IR_TYPE_ARRAY) {
        visit_elements(decoder, pointer, type, first, function, scalars);
    } else {
        weft_ir_error(decoder->program, WEFT_COMPILE_ERROR, "a load or store of no value");
    }
}

/* Booleans have no size in memory: shared memory holds them as integers. */
static uint32_t memory_type(uint32_t type) {
    return type == WEFT_IR_BOOL ? WEFT_IR_I32 : type;
}

static void load_input(struct weft_ir_decoder *decoder, const struct part *part,
                       weft_ir_value *scalars) {
    for (uint32_t i = 0; i < part->n; i++) {
        struct weft_ir_instruction *instruction = weft_ir_append(
            decoder->program, decoder->list, WEFT_IR_INPUT, part->type, 1, true, NULL, 0);
        instruction->root = part->pointer.root;
        instruction->place = part->pointer.offset + i;
        scalars[i] = instruction->result;
        if (decoder->program->status == WEFT_OK) {
            decoder->program->values[instruction->result].most =
                weft_ir_most_input(decoder->program, instruction);
        }
    }
    if (part->pointer.index != 0) {
        weft_ir_error(decoder->program, WEFT_UNSUPPORTED, "a built-in with an index");
    }
}

static void load_part(struct weft_ir_decoder *decoder, const struct part *part, void *row) {
    weft_ir_value *scalars = (weft_ir_value *)row + part->first;
    const struct weft_ir_pointer *pointer = &part->pointer;
    if (pointer->space == WEFT_IR_IN_INPUT) {
        load_input(decoder, part, scalars);
        return;
    }
    if (pointer->space == WEFT_IR_IN_VARIABLE) {
        bool all = pointer->index == 0;
        for (uint32_t i = 0; all && i < part->n; i++) {
            all = known(decoder, pointer->root, pointer->offset + i, part->type, scalars + i);
        }
        if (!all) {
            get(decoder, pointer->root, pointer->offset, pointer->index, part->type, part->n,
                scalars);
        }
        return;
    }
    struct weft_ir_instruction *instruction =
        weft_ir_append(decoder->program, decoder->list, WEFT_IR_LOAD, memory_type(part->type),
                       part->n, true, (const weft_ir_value[]){pointer->index}, 1);
    instruction->space = pointer->space;
    instruction->root = pointer->root;
    instruction->place = pointer->offset;
    const weft_ir_value first = instruction->result;
    for (uint32_t i = 0; i < part->n && decoder->program->status == WEFT_OK; i++) {
        scalars[i] = part->type != WEFT_IR_BOOL
                         ? first + i
                         : weft_ir_binary(decoder, SpvOpINotEqual, WEFT_IR_BOOL, first + i,
                                          weft_ir_u32(decoder, 0));
    }
}

static void load_whole(struct weft_ir_decoder *decoder, const struct weft_ir_pointer *pointer,
                       weft_ir_value *scalars) {
    visit(decoder, pointer, 0, load_part, scalars);
}

static void store_part(struct weft_ir_decoder *decoder, const struct part *part, void *row) {
    const weft_ir_value *scalars = (const weft_ir_value *)row + part->first;
    const struct weft_ir_pointer *pointer = &part->pointer;
    if (pointer->space == WEFT_IR_IN_VARIABLE) {
        set(decoder, pointer->root, pointer->offset, pointer->index, part->type, scalars, part->n);
        return;
    }
    weft_ir_value arguments[1 + MOST_TOGETHER] = {pointer->index};
    for (uint32_t i = 0; i < part->n; i++) {
        arguments[1 + i] = scalars[i];
        if (part->type == WEFT_IR_BOOL) {
            const weft_ir_value choice[] = {scalars[i], weft_ir_u32(decoder, 1),
                                            weft_ir_u32(decoder, 0)};
            arguments[1 + i] = weft_ir_compute(decoder, SpvOpSelect, WEFT_IR_I32, choice, 3, false);
        }
    }
    if (pointer->space != WEFT_IR_BUFFER && pointer->space != WEFT_IR_SHARED) {
        weft_ir_error(decoder->program, WEFT_COMPILE_ERROR, "a store to what is only read");
        return;
    }
    struct weft_ir_instruction *instruction =
        weft_ir_append(decoder->program, decoder->list, WEFT_IR_STORE, memory_type(part->type),
                       part->n, false, arguments, 1 + part->n);
    instruction->space = pointer->space;
    instruction->root = pointer->root;
    instruction->place = pointer->offset;
}

/*
 * Notes the only store to a variable: its value bounds all defined reads, and they are constants if it is one. Does
 * not hold for a store in a function to a variable outside: each call is another store.
 */
static void note_only_store(struct weft_ir_decoder *decoder, const struct weft_ir_id *root,
                            const struct weft_ir_pointer *pointer, const weft_ir_value *scalars) {
    struct weft_ir_program *program = decoder->program;
    if (program->status != WEFT_OK || program->exact || root->stores != 1 ||
        pointer->space != WEFT_IR_IN_VARIABLE || pointer->offset != 0 || pointer->index != 0) {
        return;
    }
    struct weft_ir_variable *variable = &program->variables[pointer->root];
    if (variable->list == 0 || variable->slots != weft_ir_type_of(decoder, pointer->type)->slots) {
        return;
    }
    variable->has_constants = true;
    for (uint32_t i = 0; i < variable->slots; i++) {
        const struct weft_ir_def *stored = &program->values[scalars[i]];
        program->slots[variable->first + i].constant = stored->bits;
        program->slots[variable->first + i].most = stored->most;
        variable->has_constants = variable->has_constants && stored->constant;
    }
}

static void store_whole(struct weft_ir_decoder *decoder, const struct weft_ir_pointer *pointer,
                        const weft_ir_value *scalars) {
    /* The functions of parts take what they read or write as one type. */
    visit(decoder, pointer, 0, store_part, (void *)(uintptr_t)scalars);
}

static void decode_load(struct weft_ir_decoder *decoder, const uint32_t *words) {
    const uint32_t type = words[1];
    const struct weft_ir_pointer pointer = weft_ir_pointer(decoder, words[3]);
    weft_ir_value *row = weft_ir_row(decoder, weft_ir_type_of(decoder, type)->slots);
    if (row &&
        weft_ir_type_of(decoder, pointer.type)->slots != weft_ir_type_of(decoder, type)->slots) {
        weft_ir_error(decoder->program, WEFT_COMPILE_ERROR, "a load of another type");
    } else if (row) {
        load_whole(decoder, &pointer, row);
        weft_ir_define(decoder, words[2], type, row);
    }
}

static void decode_store(struct weft_ir_decoder *decoder, const uint32_t *words) {
    const weft_ir_value *scalars = weft_ir_scalars(decoder, words[2]);
    const struct weft_ir_pointer pointer = weft_ir_pointer(decoder, words[1]);
    if (!scalars || decoder->program->status != WEFT_OK) {
        return;
    }
    if (weft_ir_type_of(decoder, pointer.type)->slots != weft_ir_id(decoder, words[2])->count) {
        weft_ir_error(decoder->program, WEFT_COMPILE_ERROR, "a store of another type");
        return;
    }
    note_only_store(decoder, weft_ir_id(decoder, weft_ir_id(decoder, words[1])->root), &pointer,
                    scalars);
    store_whole(decoder, &pointer, scalars);
}

static void decode_copy_memory(struct weft_ir_decoder *decoder, const uint32_t *words) {
    const struct weft_ir_pointer target = weft_ir_pointer(decoder, words[1]);
    const struct weft_ir_pointer source = weft_ir_pointer(decoder, words[2]);
    weft_ir_value *row = weft_ir_row(decoder, weft_ir_type_of(decoder, source.type)->slots);
    if (row) {
        load_whole(decoder, &source, row);
        store_whole(decoder, &target, row);
    }
}

static void decode_array_length(struct weft_ir_decoder *decoder, const uint32_t *words) {
    const uint32_t type = words[1];
    const struct weft_ir_pointer pointer = weft_ir_pointer(decoder, words[3]);
    const struct weft_ir_member *member =
        weft_ir_member(decoder, weft_ir_type_of(decoder, pointer.type), words[4]);
    const struct weft_ir_spirv_type *array = weft_ir_type_of(decoder, member->type);
    weft_ir_value *row = weft_ir_row(decoder, 1);
    if (!row || array->stride == 0 || pointer.space != WEFT_IR_BUFFER) {
        weft_ir_error(decoder->program, WEFT_COMPILE_ERROR, "the length of no runtime array");
        return;
    }
    struct weft_ir_instruction *instruction = weft_ir_append(
        decoder->program, decoder->list, WEFT_IR_LENGTH, WEFT_IR_I32, 1, true, NULL, 0);
    instruction->root = pointer.root;
    instruction->place = pointer.offset + member->offset;
    instruction->stride = array->stride;
    row[0] = instruction->result;
    weft_ir_define(decoder, words[2], type, row);
}

/* The exchanged or combined value is the word after scope and semantics; a comparison has another one after that. */
static void decode_atomic(struct weft_ir_decoder *decoder, const uint32_t *words) {
    const uint32_t opcode = weft_spirv_opcode(words[0]);
    const bool is_store = opcode == SpvOpAtomicStore;
    const uint32_t first = is_store ? 1 : 3;
    const struct weft_ir_pointer pointer = weft_ir_pointer(decoder, words[first]);
    const uint32_t type = is_store ? pointer.type : words[1];
    weft_ir_value arguments[3] = {pointer.index};
    uint32_t count = 1;
    const uint32_t value_at = opcode == SpvOpAtomicCompareExchange ? first + 4 : first + 3;
    for (uint32_t i = value_at; i < weft_spirv_length(words[0]) && count < 3; i++) {
        arguments[count++] = weft_ir_scalar(decoder, words[i], 0);
    }
    if (pointer.space != WEFT_IR_BUFFER && pointer.space != WEFT_IR_SHARED) {
        weft_ir_error(decoder->program, WEFT_COMPILE_ERROR, "an atomic operation on a variable");
        return;
    }
    struct weft_ir_instruction *instruction =
        weft_ir_append(decoder->program, decoder->list, WEFT_IR_ATOMIC,
                       weft_ir_slot_type(decoder, type, 0), 1, !is_store, arguments, count);
    instruction->space = pointer.space;
    instruction->root = pointer.root;
    instruction->place = pointer.offset;
    instruction->variant = (uint16_t)opcode;
    weft_ir_value *row = weft_ir_row(decoder, 1);
    if (row && !is_store) {
        row[0] = instruction->result;
        weft_ir_define(decoder, words[2], type, row);
    }
}

bool weft_ir_decode_access(struct weft_ir_decoder *decoder, const uint32_t *words) {
    const uint32_t opcode = weft_spirv_opcode(words[0]);
    switch (opcode) {
    case SpvOpVariable:
        decode_local(decoder, words);
        return true;
    case SpvOpAccessChain:
    case SpvOpInBoundsAccessChain:
        decode_access_chain(decoder, words);
        return true;
    case SpvOpLoad:
        decode_load(decoder, words);
        return true;
    case SpvOpStore:
        decode_store(decoder, words);
        return true;
    case SpvOpCopyMemory:
        decode_copy_memory(decoder, words);
        return true;
    case SpvOpArrayLength:
        decode_array_length(decoder, words);
        return true;
    default:
        if (opcode >= SpvOpAtomicLoad && opcode <= SpvOpAtomicXor) {
            decode_atomic(decoder, words);
            return true;
        }
        return false;
    }
}
