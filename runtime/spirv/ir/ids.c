/* SPDX-License-Identifier: MIT */
/* Values and pointers of ids, kept in variables if another piece of code uses them. */
#include "spirv/ir/decode.h"

#include <string.h>

#define CHUNK_VALUES 16384u
#define MAX_ROW      16384u

weft_ir_value *weft_ir_row(struct weft_ir_decoder *decoder, uint32_t count) {
    count = count == 0 ? 1 : count;
    if (count > MAX_ROW) {
        weft_ir_unsupported(decoder, "a value of more scalars than", MAX_ROW);
        return NULL;
    }
    if (!weft_ir_work(decoder, count)) {
        return NULL;
    }
    struct weft_ir_chunk *chunk = decoder->chunks;
    if (!chunk || chunk->capacity - chunk->used < count) {
        const uint32_t capacity = count > CHUNK_VALUES ? count : CHUNK_VALUES;
        chunk =
            weft_alloc(decoder->program->host, sizeof *chunk + capacity * sizeof chunk->values[0]);
        if (!chunk) {
            weft_ir_error(decoder->program, WEFT_OUT_OF_HOST_MEMORY, "out of memory");
            return NULL;
        }
        *chunk = (struct weft_ir_chunk){.next = decoder->chunks, .capacity = capacity};
        decoder->chunks = chunk;
    }
    weft_ir_value *row = chunk->values + chunk->used;
    chunk->used += count;
    memset(row, 0, count * sizeof *row);
    return decoder->program->status == WEFT_OK ? row : NULL;
}

/* Constants need no keeping: they are the same everywhere. */
static bool are_constant(const struct weft_ir_decoder *decoder, const weft_ir_value *scalars,
                         uint32_t count) {
    bool constant = true;
    for (uint32_t i = 0; i < count; i++) {
        constant = constant && decoder->program->values[scalars[i]].constant;
    }
    return constant;
}

void weft_ir_define(struct weft_ir_decoder *decoder, uint32_t id, uint32_t type,
                    weft_ir_value *scalars) {
    struct weft_ir_id *entry = weft_ir_id(decoder, id);
    entry->kind = WEFT_IR_ID_VALUE;
    entry->type = type;
    entry->count = weft_ir_type_of(decoder, type)->slots;
    entry->scalars = scalars;
    entry->variable = WEFT_IR_NONE;
    if (decoder->program->status != WEFT_OK) {
        entry->kind = WEFT_IR_ID_NONE;
        return;
    }
    entry->block = are_constant(decoder, scalars, entry->count) ? 0 : decoder->block;
    if (entry->crosses && entry->block != 0 && entry->count > 0) {
        entry->variable = weft_ir_new_variable(decoder, type, decoder->list);
        weft_ir_set_variable(decoder, entry->variable, scalars, entry->count);
    }
}

void weft_ir_define_pointer(struct weft_ir_decoder *decoder, uint32_t id,
                            const struct weft_ir_pointer *pointer) {
    struct weft_ir_id *entry = weft_ir_id(decoder, id);
    struct weft_ir_program *program = decoder->program;
    entry->kind = WEFT_IR_ID_POINTER;
    entry->pointer = *pointer;
    entry->block = pointer->index == 0 ? 0 : decoder->block;
    entry->variable = WEFT_IR_NONE;
    if (entry->crosses && entry->block != 0) {
        entry->variable = weft_ir_add_variable(program, decoder->list, 1);
        weft_ir_set_variable(decoder, entry->variable, &pointer->index, 1);
    }
}

/* Brings a value that was made elsewhere into the piece of code at hand. */
static const weft_ir_value *fetch(struct weft_ir_decoder *decoder, const struct weft_ir_id *entry,
                                  uint32_t id) {
    weft_ir_value *row = weft_ir_row(decoder, entry->count);
    if (entry->variable == WEFT_IR_NONE) {
        weft_ir_error(decoder->program, WEFT_COMPILE_ERROR,
                      "%%%u is used on a path that does not define it", id);
        return NULL;
    }
    if (row) {
        weft_ir_get_variable(decoder, entry->variable, entry->type, row);
    }
    return row;
}

const weft_ir_value *weft_ir_scalars(struct weft_ir_decoder *decoder, uint32_t id) {
    const struct weft_ir_id *entry = weft_ir_id(decoder, id);
    if (decoder->program->status != WEFT_OK) {
        return NULL;
    }
    if (entry->kind != WEFT_IR_ID_VALUE) {
        weft_ir_error(decoder->program, WEFT_COMPILE_ERROR, "%%%u is not a value", id);
        return NULL;
    }
    if (entry->block == 0 || entry->block == decoder->block) {
        return entry->scalars;
    }
    return fetch(decoder, entry, id);
}

void weft_ir_construct(struct weft_ir_decoder *decoder, const uint32_t *words) {
    const uint32_t type = words[1];
    const uint32_t slots = weft_ir_type_of(decoder, type)->slots;
    weft_ir_value *row = weft_ir_row(decoder, slots);
    uint32_t filled = 0;
    for (uint32_t i = 3; row && i < weft_spirv_length(words[0]); i++) {
        const weft_ir_value *part = weft_ir_scalars(decoder, words[i]);
        const uint32_t count = part ? weft_ir_id(decoder, words[i])->count : 0;
        for (uint32_t j = 0; j < count && filled < slots; j++) {
            row[filled++] = part[j];
        }
    }
    if (row && filled != slots) {
        weft_ir_error(decoder->program, WEFT_COMPILE_ERROR, "%u of %u parts of a value", filled,
                      slots);
    } else if (row) {
        weft_ir_define(decoder, words[2], type, row);
    }
}

weft_ir_value weft_ir_scalar(struct weft_ir_decoder *decoder, uint32_t id, uint32_t index) {
    const weft_ir_value *scalars = weft_ir_scalars(decoder, id);
    if (!scalars) {
        return 0;
    }
    if (index >= weft_ir_id(decoder, id)->count) {
        weft_ir_error(decoder->program, WEFT_COMPILE_ERROR, "%%%u has no component %u", id, index);
        return 0;
    }
    return scalars[index];
}

struct weft_ir_pointer weft_ir_pointer(struct weft_ir_decoder *decoder, uint32_t id) {
    const struct weft_ir_id *entry = weft_ir_id(decoder, id);
    struct weft_ir_pointer pointer = entry->pointer;
    if (decoder->program->status != WEFT_OK) {
        return (struct weft_ir_pointer){.space = WEFT_IR_IN_VARIABLE};
    }
    if (entry->kind != WEFT_IR_ID_POINTER) {
        weft_ir_error(decoder->program, WEFT_COMPILE_ERROR, "%%%u is not a pointer", id);
        return (struct weft_ir_pointer){.space = WEFT_IR_IN_VARIABLE};
    }
    if (entry->block != 0 && entry->block != decoder->block) {
        if (entry->variable == WEFT_IR_NONE) {
            weft_ir_error(decoder->program, WEFT_COMPILE_ERROR, "%%%u is used before it is made",
                          id);
        } else {
            pointer.index = weft_ir_append(decoder->program, decoder->list, WEFT_IR_GET,
                                           WEFT_IR_I32, 1, true, (const weft_ir_value[]){0}, 1)
                                ->result;
            struct weft_ir_program *program = decoder->program;
            if (program->status == WEFT_OK) {
                program->instructions[program->instruction_count - 1].root = entry->variable;
            }
        }
    }
    return pointer;
}

/* ---- appending ---- */

weft_ir_value weft_ir_compute(struct weft_ir_decoder *decoder, uint32_t op, uint32_t type,
                              const weft_ir_value *arguments, uint32_t count, bool fusible) {
    enum { MOST = 4 };
    struct weft_ir_program *program = decoder->program;
    uint64_t bits[MOST] = {0};
    uint64_t result = 0;
    bool constant = count <= MOST;
    if (program->status != WEFT_OK) {
        return 0;
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct weft_ir_def *def = &program->values[arguments[i]];
        constant = constant && def->constant;
        bits[i < MOST ? i : 0] = def->bits;
    }
    if (constant &&
        weft_ir_fold(&result, op, type, program->values[arguments[0]].type, bits, count)) {
        return weft_ir_constant(program, type, result);
    }
    const weft_ir_value same = weft_ir_simplify(program, op, type, arguments, count);
    if (same != 0) {
        return same;
    }
    const uint64_t most = weft_ir_most(program, op, type, arguments, count);
    struct weft_ir_instruction *instruction =
        weft_ir_append(program, decoder->list, op, type, 1, true, arguments, count);
    instruction->fusible = fusible;
    if (program->status == WEFT_OK) {
        program->values[instruction->result].most = most;
    }
    return instruction->result;
}

weft_ir_value weft_ir_u32(struct weft_ir_decoder *decoder, uint32_t value) {
    return weft_ir_constant(decoder->program, WEFT_IR_I32, value);
}

weft_ir_value weft_ir_binary(struct weft_ir_decoder *decoder, uint32_t op, uint32_t type,
                             weft_ir_value a, weft_ir_value b) {
    return weft_ir_compute(decoder, op, type, (const weft_ir_value[]){a, b}, 2, false);
}
