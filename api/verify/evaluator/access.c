/* SPDX-License-Identifier: MIT */
/*
 * Addresses, loads and stores. A pointer has a fixed part, known while decoding, and at most one
 * slot with the rest. Constant indices go into the fixed part; the others are checked against their
 * array's length where it is fixed, and the whole address at each access.
 */
#include "verify/evaluator/decode.h"

/* ---- access chains ---- */

/* A chain while it is followed. */
struct chain {
    struct weft_eval_pointer pointer;
    uint32_t owner; /* of the pointer's slot */
    bool fresh;     /* the slot was taken by this chain */
};

static bool is_in_buffer(const struct weft_eval_pointer *pointer) {
    return pointer->space == WEFT_EVAL_SPACE_BUFFER;
}

/* Adds a fixed distance; a distance that is out of reach shows at the access. */
static void add_fixed(struct chain *chain, uint64_t distance) {
    uint64_t offset = chain->pointer.offset + distance;
    chain->pointer.offset = offset < WEFT_EVAL_OUTSIDE ? (uint32_t)offset : WEFT_EVAL_OUTSIDE;
}

/* Adds index * stride, or WEFT_EVAL_OUTSIDE when the index is not below `count`. */
static void add_indexed(struct weft_eval_decoder *decoder, struct chain *chain, uint32_t index,
                        uint32_t stride, uint32_t count) {
    uint32_t sum = weft_eval_take(decoder, 1);
    struct weft_eval_instruction *instruction = weft_eval_emit(decoder, WEFT_EVAL_INDEX, 1, sum);
    instruction->a = chain->pointer.slot;
    instruction->b = weft_eval_slot(decoder, index);
    instruction->c = stride;
    instruction->e = count;
    if (chain->fresh) {
        weft_eval_release(decoder, chain->owner);
    }
    chain->pointer.slot = sum;
    chain->owner = sum;
    chain->fresh = true;
}

static void step_into_member(struct weft_eval_decoder *decoder, struct chain *chain,
                             const struct weft_eval_type *type, uint32_t index) {
    uint32_t number = weft_eval_constant(decoder, index);
    if (number >= type->count) {
        weft_eval_error(decoder, WEFT_COMPILE_ERROR, "member %u of a structure of %u", number,
                        type->count);
        return;
    }
    const struct weft_eval_member *member = &decoder->members[type->first_member + number];
    add_fixed(chain, is_in_buffer(&chain->pointer) ? member->offset : member->first_word);
    chain->pointer.type = member->type;
    chain->pointer.matrix_stride = member->matrix_stride;
}

/* Bytes or words between the elements of a vector, matrix or array. */
static uint32_t stride_of(struct weft_eval_decoder *decoder,
                          const struct weft_eval_pointer *pointer,
                          const struct weft_eval_type *type) {
    if (!is_in_buffer(pointer)) {
        return weft_eval_type(decoder, type->element)->words;
    }
    switch ((enum weft_eval_type_kind)type->kind) {
    case WEFT_EVAL_VECTOR:
        return 4;
    case WEFT_EVAL_MATRIX:
        return pointer->matrix_stride;
    default:
        return type->stride;
    }
}

static void step_into_element(struct weft_eval_decoder *decoder, struct chain *chain,
                              const struct weft_eval_type *type, uint32_t index) {
    uint32_t stride = stride_of(decoder, &chain->pointer, type);
    uint32_t count = type->kind == WEFT_EVAL_RUNTIME_ARRAY ? UINT32_MAX : type->count;
    if (stride == 0) {
        weft_eval_error(decoder, WEFT_COMPILE_ERROR, "an array or a matrix without a stride");
    }
    bool fixed = index < decoder->bound && decoder->ids[index].kind == WEFT_EVAL_ID_CONSTANT &&
                 weft_eval_constant(decoder, index) < count;
    if (fixed) {
        add_fixed(chain, (uint64_t)weft_eval_constant(decoder, index) * stride);
    } else {
        add_indexed(decoder, chain, index, stride, count);
    }
    chain->pointer.type = type->element;
}

static void decode_chain(struct weft_eval_decoder *decoder, const struct weft_eval_view *view) {
    uint32_t base = weft_eval_word(decoder, view, 3);
    struct chain chain = {.pointer = *weft_eval_pointer(decoder, base)};
    chain.owner = base < decoder->bound ? decoder->ids[base].owner : WEFT_EVAL_NO_OWNER;
    for (uint32_t i = 4; i < view->length && decoder->status == WEFT_OK; i++) {
        const struct weft_eval_type *type = weft_eval_type(decoder, chain.pointer.type);
        switch ((enum weft_eval_type_kind)type->kind) {
        case WEFT_EVAL_STRUCT:
            step_into_member(decoder, &chain, type, view->words[i]);
            break;
        case WEFT_EVAL_VECTOR:
        case WEFT_EVAL_MATRIX:
        case WEFT_EVAL_ARRAY:
        case WEFT_EVAL_RUNTIME_ARRAY:
            step_into_element(decoder, &chain, type, view->words[i]);
            break;
        default:
            weft_eval_error(decoder, WEFT_COMPILE_ERROR, "an index into a value without elements");
            break;
        }
    }
    weft_eval_define_pointer(decoder, weft_eval_word(decoder, view, 2), &chain.pointer,
                             chain.owner);
    if (chain.fresh) {
        weft_eval_release(decoder, chain.owner);
    }
}

/* ---- loads and stores ---- */

/* How n words at a place are accessed in each space. */
static void transfer_words(struct weft_eval_decoder *decoder,
                           const struct weft_eval_pointer *pointer, uint32_t n, uint32_t slot,
                           bool store) {
    static const enum weft_eval_op ops[3][2] = {
        [WEFT_EVAL_SPACE_BUFFER] = {WEFT_EVAL_LOAD_BUFFER, WEFT_EVAL_STORE_BUFFER},
        [WEFT_EVAL_SPACE_SHARED] = {WEFT_EVAL_LOAD_SHARED, WEFT_EVAL_STORE_SHARED},
        [WEFT_EVAL_SPACE_SLOTS] = {WEFT_EVAL_GATHER, WEFT_EVAL_SCATTER}};
    bool fixed = pointer->space == WEFT_EVAL_SPACE_SLOTS && pointer->slot == WEFT_EVAL_ZERO &&
                 (uint64_t)pointer->offset + n <= pointer->size;
    if (fixed) {
        uint32_t place = pointer->root + pointer->offset;
        weft_eval_move(decoder, n, store ? place : slot, store ? slot : place);
        return;
    }
    struct weft_eval_instruction *instruction =
        weft_eval_emit(decoder, ops[pointer->space][store], n, slot);
    instruction->a = pointer->slot;
    instruction->b = pointer->offset;
    instruction->c = pointer->root;
    instruction->e =
        pointer->space == WEFT_EVAL_SPACE_SHARED ? pointer->root + pointer->size : pointer->size;
}

static void transfer(struct weft_eval_decoder *decoder, const struct weft_eval_pointer *pointer,
                     uint32_t slot, bool store);

/* In a buffer, where elements and members need not be next to each other. */
static void transfer_parts(struct weft_eval_decoder *decoder,
                           const struct weft_eval_pointer *pointer,
                           const struct weft_eval_type *type, uint32_t slot, bool store) {
    for (uint32_t i = 0; i < type->count && decoder->status == WEFT_OK; i++) {
        struct chain part = {.pointer = *pointer};
        if (type->kind == WEFT_EVAL_STRUCT) {
            const struct weft_eval_member *member = &decoder->members[type->first_member + i];
            add_fixed(&part, member->offset);
            part.pointer.type = member->type;
            part.pointer.matrix_stride = member->matrix_stride;
        } else {
            add_fixed(&part, (uint64_t)i * stride_of(decoder, pointer, type));
            part.pointer.type = type->element;
        }
        transfer(decoder, &part.pointer, slot, store);
        slot += weft_eval_type(decoder, part.pointer.type)->words;
    }
}

static void transfer(struct weft_eval_decoder *decoder, const struct weft_eval_pointer *pointer,
                     uint32_t slot, bool store) {
    const struct weft_eval_type *type = weft_eval_type(decoder, pointer->type);
    if (type->words == 0) {
        weft_eval_error(decoder, WEFT_UNSUPPORTED, "a value that is too large to be loaded whole");
        return;
    }
    bool in_parts =
        is_in_buffer(pointer) && (type->kind == WEFT_EVAL_STRUCT || type->kind == WEFT_EVAL_ARRAY ||
                                  type->kind == WEFT_EVAL_MATRIX);
    if (in_parts) {
        transfer_parts(decoder, pointer, type, slot, store);
    } else {
        transfer_words(decoder, pointer, type->words, slot, store);
    }
}

static void decode_load(struct weft_eval_decoder *decoder, const struct weft_eval_view *view) {
    const struct weft_eval_pointer *pointer =
        weft_eval_pointer(decoder, weft_eval_word(decoder, view, 3));
    uint32_t slot = weft_eval_define(decoder, weft_eval_word(decoder, view, 1),
                                     weft_eval_word(decoder, view, 2));
    transfer(decoder, pointer, slot, false);
}

static void decode_store(struct weft_eval_decoder *decoder, const struct weft_eval_view *view) {
    const struct weft_eval_pointer *pointer =
        weft_eval_pointer(decoder, weft_eval_word(decoder, view, 1));
    transfer(decoder, pointer, weft_eval_slot(decoder, weft_eval_word(decoder, view, 2)), true);
}

static void decode_copy(struct weft_eval_decoder *decoder, const struct weft_eval_view *view) {
    const struct weft_eval_pointer *target =
        weft_eval_pointer(decoder, weft_eval_word(decoder, view, 1));
    const struct weft_eval_pointer *source =
        weft_eval_pointer(decoder, weft_eval_word(decoder, view, 2));
    uint32_t buffer = weft_eval_take(decoder, weft_eval_type(decoder, source->type)->words);
    transfer(decoder, source, buffer, false);
    transfer(decoder, target, buffer, true);
    weft_eval_release(decoder, buffer);
}

static void decode_array_length(struct weft_eval_decoder *decoder,
                                const struct weft_eval_view *view) {
    const struct weft_eval_pointer *pointer =
        weft_eval_pointer(decoder, weft_eval_word(decoder, view, 3));
    const struct weft_eval_type *type = weft_eval_type(decoder, pointer->type);
    uint32_t number = weft_eval_word(decoder, view, 4);
    if (decoder->status == WEFT_OK &&
        (type->kind != WEFT_EVAL_STRUCT || number >= type->count || !is_in_buffer(pointer))) {
        weft_eval_error(decoder, WEFT_COMPILE_ERROR, "OpArrayLength of what has no such member");
    }
    if (decoder->status != WEFT_OK) {
        return;
    }
    const struct weft_eval_member *member = &decoder->members[type->first_member + number];
    uint32_t stride = weft_eval_type(decoder, member->type)->stride;
    uint32_t slot = weft_eval_define(decoder, weft_eval_word(decoder, view, 1),
                                     weft_eval_word(decoder, view, 2));
    struct weft_eval_instruction *length = weft_eval_emit(decoder, WEFT_EVAL_ARRAY_LENGTH, 1, slot);
    length->b = pointer->offset + member->offset;
    length->c = pointer->root;
    length->e = stride > 0 ? stride : 1;
}

/* ---- atomics ---- */

struct atomic {
    uint16_t opcode;
    uint8_t operation; /* enum weft_eval_atomic */
    uint8_t value;     /* the word with the operand, or 0 */
};

static const struct atomic *find_atomic(uint32_t opcode) {
    static const struct atomic atomics[] = {
        {WEFT_OP_ATOMIC_LOAD, WEFT_EVAL_ATOMIC_LOAD, 0},
        {WEFT_OP_ATOMIC_STORE, WEFT_EVAL_ATOMIC_EXCHANGE, 4},
        {WEFT_OP_ATOMIC_EXCHANGE, WEFT_EVAL_ATOMIC_EXCHANGE, 6},
        {WEFT_OP_ATOMIC_COMPARE_EXCHANGE, WEFT_EVAL_ATOMIC_COMPARE_EXCHANGE, 7},
        {WEFT_OP_ATOMIC_I_INCREMENT, WEFT_EVAL_ATOMIC_ADD, 0},
        {WEFT_OP_ATOMIC_I_DECREMENT, WEFT_EVAL_ATOMIC_ADD, 0},
        {WEFT_OP_ATOMIC_I_ADD, WEFT_EVAL_ATOMIC_ADD, 6},
        {WEFT_OP_ATOMIC_I_SUB, WEFT_EVAL_ATOMIC_ADD, 6},
        {WEFT_OP_ATOMIC_S_MIN, WEFT_EVAL_ATOMIC_S_MIN, 6},
        {WEFT_OP_ATOMIC_U_MIN, WEFT_EVAL_ATOMIC_U_MIN, 6},
        {WEFT_OP_ATOMIC_S_MAX, WEFT_EVAL_ATOMIC_S_MAX, 6},
        {WEFT_OP_ATOMIC_U_MAX, WEFT_EVAL_ATOMIC_U_MAX, 6},
        {WEFT_OP_ATOMIC_AND, WEFT_EVAL_ATOMIC_AND, 6},
        {WEFT_OP_ATOMIC_OR, WEFT_EVAL_ATOMIC_OR, 6},
        {WEFT_OP_ATOMIC_XOR, WEFT_EVAL_ATOMIC_XOR, 6},
    };
    for (size_t i = 0; i < sizeof atomics / sizeof atomics[0]; i++) {
        if (atomics[i].opcode == opcode) {
            return &atomics[i];
        }
    }
    return NULL;
}

/* The operand, then what to compare with, in two slots. */
static void prepare_operands(struct weft_eval_decoder *decoder, const struct weft_eval_view *view,
                             const struct atomic *atomic, uint32_t operands) {
    if (view->opcode == WEFT_OP_ATOMIC_I_SUB) {
        weft_eval_emit(decoder, WEFT_EVAL_S_NEGATE, 1, operands)->a =
            weft_eval_slot(decoder, weft_eval_word(decoder, view, atomic->value));
    } else if (atomic->value != 0) {
        weft_eval_move(decoder, 1, operands,
                       weft_eval_slot(decoder, weft_eval_word(decoder, view, atomic->value)));
    } else {
        weft_eval_emit(decoder, WEFT_EVAL_FILL, 1, operands)->a =
            view->opcode == WEFT_OP_ATOMIC_I_DECREMENT ? UINT32_MAX : 1;
    }
    if (view->opcode == WEFT_OP_ATOMIC_COMPARE_EXCHANGE) {
        weft_eval_move(decoder, 1, operands + 1,
                       weft_eval_slot(decoder, weft_eval_word(decoder, view, 8)));
    }
}

static void decode_atomic(struct weft_eval_decoder *decoder, const struct weft_eval_view *view,
                          const struct atomic *atomic) {
    bool has_result = view->opcode != WEFT_OP_ATOMIC_STORE;
    const struct weft_eval_pointer *pointer =
        weft_eval_pointer(decoder, weft_eval_word(decoder, view, has_result ? 3 : 1));
    if (pointer->space == WEFT_EVAL_SPACE_SLOTS) {
        weft_eval_error(decoder, WEFT_COMPILE_ERROR, "an atomic instruction on a local variable");
    }
    uint32_t old = weft_eval_take(decoder, 1);
    uint32_t operands = weft_eval_take(decoder, 2);
    prepare_operands(decoder, view, atomic, operands);
    bool shared = pointer->space == WEFT_EVAL_SPACE_SHARED;
    struct weft_eval_instruction *instruction =
        weft_eval_emit(decoder, shared ? WEFT_EVAL_ATOMIC_SHARED : WEFT_EVAL_ATOMIC_BUFFER,
                       atomic->operation, old);
    instruction->a = pointer->slot;
    instruction->b = pointer->offset;
    instruction->c = pointer->root;
    instruction->e = pointer->root + pointer->size;
    instruction->f = operands;
    if (has_result) {
        uint32_t slot = weft_eval_define(decoder, weft_eval_word(decoder, view, 1),
                                         weft_eval_word(decoder, view, 2));
        weft_eval_move(decoder, 1, slot, old);
    }
    weft_eval_release(decoder, old);
    weft_eval_release(decoder, operands);
}

bool weft_eval_decode_access(struct weft_eval_decoder *decoder, const struct weft_eval_view *view) {
    const struct atomic *atomic = find_atomic(view->opcode);
    switch (view->opcode) {
    case WEFT_OP_ACCESS_CHAIN:
    case WEFT_OP_IN_BOUNDS_ACCESS_CHAIN:
        decode_chain(decoder, view);
        return true;
    case WEFT_OP_LOAD:
        decode_load(decoder, view);
        return true;
    case WEFT_OP_STORE:
        decode_store(decoder, view);
        return true;
    case WEFT_OP_COPY_MEMORY:
        decode_copy(decoder, view);
        return true;
    case WEFT_OP_ARRAY_LENGTH:
        decode_array_length(decoder, view);
        return true;
    default:
        if (atomic) {
            decode_atomic(decoder, view, atomic);
        }
        return atomic != NULL;
    }
}
