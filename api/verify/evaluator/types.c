/* SPDX-License-Identifier: MIT */
/* The types of a module, and the variables outside of its functions. */
#include "verify/evaluator/decode.h"

/* More words than that are no value that a shader handles as a whole: they only live in buffers. */
#define MAX_VALUE_WORDS 16384u

#define WHOLE UINT32_MAX /* a decoration of the id itself, not of a member */

static struct weft_eval_type *new_type(struct weft_eval_decoder *decoder, uint32_t id,
                                       enum weft_eval_type_kind kind) {
    if (id >= decoder->bound) {
        weft_eval_error(decoder, WEFT_COMPILE_ERROR, "type id %u is out of bounds", id);
        id = 0;
    }
    decoder->ids[id].kind = WEFT_EVAL_ID_TYPE;
    decoder->types[id] = (struct weft_eval_type){.kind = (uint32_t)kind};
    return &decoder->types[id];
}

const struct weft_eval_type *weft_eval_type(struct weft_eval_decoder *decoder, uint32_t id) {
    if (id >= decoder->bound || decoder->ids[id].kind != WEFT_EVAL_ID_TYPE) {
        weft_eval_error(decoder, WEFT_COMPILE_ERROR, "id %u is not a type", id);
        return &decoder->types[0];
    }
    return &decoder->types[id];
}

static void decode_number(struct weft_eval_decoder *decoder, const struct weft_eval_view *view,
                          enum weft_eval_type_kind kind) {
    uint32_t width = weft_eval_word(decoder, view, 2);
    if (width != 32) {
        weft_eval_error(decoder, WEFT_UNSUPPORTED, "%s of %u bits are not evaluated",
                        kind == WEFT_EVAL_INT ? "integers" : "floats", width);
    }
    new_type(decoder, weft_eval_word(decoder, view, 1), kind)->words = 1;
}

/* Vectors, matrices and arrays: count times an element. */
static void decode_sequence(struct weft_eval_decoder *decoder, const struct weft_eval_view *view,
                            enum weft_eval_type_kind kind, uint32_t count) {
    uint32_t id = weft_eval_word(decoder, view, 1);
    uint32_t element = weft_eval_word(decoder, view, 2);
    uint64_t words = (uint64_t)weft_eval_type(decoder, element)->words * count;
    struct weft_eval_type *type = new_type(decoder, id, kind);
    type->element = element;
    type->count = count;
    type->words = words <= MAX_VALUE_WORDS ? (uint32_t)words : 0;
    uint32_t stride = 0;
    if (weft_eval_decorated(decoder, id, WHOLE, WEFT_EVAL_DECORATION_ARRAY_STRIDE, &stride)) {
        type->stride = stride;
    }
}

static void add_member(struct weft_eval_decoder *decoder, uint32_t id, uint32_t index,
                       uint32_t type) {
    if (!weft_eval_room(decoder, &decoder->members, decoder->member_count,
                        &decoder->member_capacity, sizeof *decoder->members)) {
        return;
    }
    struct weft_eval_member *member = &decoder->members[decoder->member_count++];
    *member = (struct weft_eval_member){.type = type, .first_word = decoder->types[id].words};
    uint32_t literal = 0;
    if (weft_eval_decorated(decoder, id, index, WEFT_EVAL_DECORATION_OFFSET, &literal)) {
        member->offset = literal;
    }
    if (weft_eval_decorated(decoder, id, index, WEFT_EVAL_DECORATION_MATRIX_STRIDE, &literal)) {
        member->matrix_stride = literal;
    }
    if (weft_eval_decorated(decoder, id, index, WEFT_EVAL_DECORATION_ROW_MAJOR, &literal)) {
        weft_eval_error(decoder, WEFT_UNSUPPORTED, "row-major matrices are not evaluated");
    }
}

/* A structure with a member that has no values has none. */
static void decode_struct(struct weft_eval_decoder *decoder, const struct weft_eval_view *view) {
    uint32_t id = weft_eval_word(decoder, view, 1);
    struct weft_eval_type *type = new_type(decoder, id, WEFT_EVAL_STRUCT);
    type->count = view->length - 2;
    type->first_member = decoder->member_count;
    bool has_values = true;
    for (uint32_t i = 0; i < type->count && decoder->status == WEFT_OK; i++) {
        uint32_t words = weft_eval_type(decoder, view->words[2 + i])->words;
        add_member(decoder, id, i, view->words[2 + i]);
        has_values = has_values && words > 0;
        type->words += words;
    }
    if (!has_values || type->words > MAX_VALUE_WORDS) {
        type->words = 0;
    }
}

static void decode_pointer(struct weft_eval_decoder *decoder, const struct weft_eval_view *view) {
    struct weft_eval_type *type =
        new_type(decoder, weft_eval_word(decoder, view, 1), WEFT_EVAL_POINTER);
    type->storage = weft_eval_word(decoder, view, 2);
    type->element = weft_eval_word(decoder, view, 3);
}

void weft_eval_decode_type(struct weft_eval_decoder *decoder, const struct weft_eval_view *view) {
    switch (view->opcode) {
    case WEFT_OP_TYPE_VOID:
        new_type(decoder, weft_eval_word(decoder, view, 1), WEFT_EVAL_VOID);
        break;
    case WEFT_OP_TYPE_FUNCTION:
        new_type(decoder, weft_eval_word(decoder, view, 1), WEFT_EVAL_FUNCTION_TYPE);
        break;
    case WEFT_OP_TYPE_BOOL:
        new_type(decoder, weft_eval_word(decoder, view, 1), WEFT_EVAL_BOOL)->words = 1;
        break;
    case WEFT_OP_TYPE_INT:
        decode_number(decoder, view, WEFT_EVAL_INT);
        break;
    case WEFT_OP_TYPE_FLOAT:
        decode_number(decoder, view, WEFT_EVAL_FLOAT);
        break;
    case WEFT_OP_TYPE_VECTOR:
        decode_sequence(decoder, view, WEFT_EVAL_VECTOR, weft_eval_word(decoder, view, 3));
        break;
    case WEFT_OP_TYPE_MATRIX:
        decode_sequence(decoder, view, WEFT_EVAL_MATRIX, weft_eval_word(decoder, view, 3));
        break;
    case WEFT_OP_TYPE_ARRAY:
        decode_sequence(decoder, view, WEFT_EVAL_ARRAY,
                        weft_eval_constant(decoder, weft_eval_word(decoder, view, 3)));
        break;
    case WEFT_OP_TYPE_RUNTIME_ARRAY:
        decode_sequence(decoder, view, WEFT_EVAL_RUNTIME_ARRAY, 0);
        break;
    case WEFT_OP_TYPE_STRUCT:
        decode_struct(decoder, view);
        break;
    case WEFT_OP_TYPE_POINTER:
        decode_pointer(decoder, view);
        break;
    default:
        weft_eval_unsupported(decoder, view->opcode);
        break;
    }
}

/* ---- variables ---- */

static void bind_buffer(struct weft_eval_decoder *decoder, uint32_t id,
                        struct weft_eval_pointer *pointer, bool uniform) {
    uint32_t set = 0;
    uint32_t ignored = 0;
    if (!weft_eval_decorated(decoder, id, WHOLE, WEFT_EVAL_DECORATION_BINDING, &pointer->root) ||
        pointer->root >= WEFT_MAX_BINDINGS) {
        weft_eval_error(decoder, WEFT_UNSUPPORTED, "binding %u, expected less than %d",
                        pointer->root, WEFT_MAX_BINDINGS);
    }
    if (weft_eval_decorated(decoder, id, WHOLE, WEFT_EVAL_DECORATION_DESCRIPTOR_SET, &set) &&
        set != 0) {
        weft_eval_error(decoder, WEFT_UNSUPPORTED, "descriptor set %u, expected 0", set);
    }
    /* Before SPIR-V 1.3, storage buffers are uniforms with this decoration. */
    if (uniform && !weft_eval_decorated(decoder, pointer->type, WHOLE,
                                        WEFT_EVAL_DECORATION_BUFFER_BLOCK, &ignored)) {
        weft_eval_error(decoder, WEFT_UNSUPPORTED, "uniform buffers are not evaluated");
    }
    if (weft_eval_type(decoder, pointer->type)->kind != WEFT_EVAL_STRUCT) {
        weft_eval_error(decoder, WEFT_UNSUPPORTED, "arrays of bindings are not evaluated");
    }
}

static void bind_built_in(struct weft_eval_decoder *decoder, uint32_t id, uint32_t slot) {
    /* By enum weft_eval_built_in: NumWorkgroups and so on, SPIR-V 1.6 section 3.21. */
    static const uint32_t numbers[WEFT_EVAL_BUILT_IN_COUNT] = {24, 26, 27, 28, 29};
    uint32_t number = UINT32_MAX;
    (void)weft_eval_decorated(decoder, id, WHOLE, WEFT_DECORATION_BUILT_IN, &number);
    for (uint32_t i = 0; i < WEFT_EVAL_BUILT_IN_COUNT; i++) {
        if (numbers[i] == number) {
            decoder->program->built_in[i] = slot;
            return;
        }
    }
    weft_eval_error(decoder, WEFT_UNSUPPORTED, "built-in variable %u is not evaluated", number);
}

static void place_in_slots(struct weft_eval_decoder *decoder, struct weft_eval_pointer *pointer) {
    pointer->space = WEFT_EVAL_SPACE_SLOTS;
    pointer->size = weft_eval_type(decoder, pointer->type)->words;
    pointer->root = weft_eval_take(decoder, pointer->size);
    weft_eval_pin(decoder, pointer->root);
}

static void place_in_shared(struct weft_eval_decoder *decoder, struct weft_eval_pointer *pointer) {
    pointer->space = WEFT_EVAL_SPACE_SHARED;
    pointer->size = weft_eval_type(decoder, pointer->type)->words;
    pointer->root = decoder->program->shared_words;
    decoder->program->shared_words += pointer->size;
}

/* Storage of no words would make every access to it look like one to nothing. */
static void check_size(struct weft_eval_decoder *decoder, const struct weft_eval_pointer *pointer) {
    if (pointer->space != WEFT_EVAL_SPACE_BUFFER && pointer->size == 0) {
        weft_eval_error(decoder, WEFT_UNSUPPORTED, "a variable of more than %u words",
                        MAX_VALUE_WORDS);
    }
}

void weft_eval_decode_variable(struct weft_eval_decoder *decoder,
                               const struct weft_eval_view *view) {
    uint32_t id = weft_eval_word(decoder, view, 2);
    uint32_t storage = weft_eval_word(decoder, view, 3);
    struct weft_eval_pointer pointer = {
        .type = weft_eval_type(decoder, weft_eval_word(decoder, view, 1))->element};
    if (view->length > 4 && storage != WEFT_EVAL_STORAGE_PRIVATE) {
        weft_eval_error(decoder, WEFT_UNSUPPORTED,
                        "a variable of storage class %u with a first value", storage);
    }
    switch (storage) {
    case WEFT_EVAL_STORAGE_INPUT:
        place_in_slots(decoder, &pointer);
        bind_built_in(decoder, id, pointer.root);
        break;
    case WEFT_EVAL_STORAGE_PRIVATE:
        place_in_slots(decoder, &pointer);
        break;
    case WEFT_EVAL_STORAGE_WORKGROUP:
        place_in_shared(decoder, &pointer);
        break;
    case WEFT_EVAL_STORAGE_UNIFORM:
    case WEFT_EVAL_STORAGE_STORAGE_BUFFER:
        bind_buffer(decoder, id, &pointer, storage == WEFT_EVAL_STORAGE_UNIFORM);
        break;
    case WEFT_EVAL_STORAGE_PUSH_CONSTANT:
        pointer.root = WEFT_EVAL_PUSH;
        break;
    default:
        weft_eval_error(decoder, WEFT_UNSUPPORTED, "storage class %u is not evaluated", storage);
        break;
    }
    check_size(decoder, &pointer);
    weft_eval_define_pointer(decoder, id, &pointer, WEFT_EVAL_NO_OWNER);
}
