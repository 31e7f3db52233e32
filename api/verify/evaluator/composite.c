/* SPDX-License-Identifier: MIT */
/* Instructions on vectors, arrays and structures, and those that give the same bits another name. */
#include "verify/evaluator/decode.h"

static void decode_construct(struct weft_eval_decoder *decoder, const struct weft_eval_view *view) {
    uint32_t d = weft_eval_result(decoder, view);
    uint32_t end = d + weft_eval_result_words(decoder, view);
    for (uint32_t i = 3; i < view->length; i++) {
        uint32_t words = weft_eval_words(decoder, view->words[i]);
        if (words > end - d) {
            weft_eval_error(decoder, WEFT_COMPILE_ERROR, "a composite of too many parts");
            return;
        }
        weft_eval_move(decoder, words, d, weft_eval_slot(decoder, view->words[i]));
        d += words;
    }
}

/* The first word of a part of a composite, and the part's type. */
static uint32_t find_part(struct weft_eval_decoder *decoder, const struct weft_eval_view *view,
                          uint32_t *type_id, uint32_t first) {
    uint32_t offset = 0;
    for (uint32_t i = first; i < view->length && decoder->status == WEFT_OK; i++) {
        const struct weft_eval_type *type = weft_eval_type(decoder, *type_id);
        uint32_t index = view->words[i];
        if (index >= type->count) {
            weft_eval_error(decoder, WEFT_COMPILE_ERROR, "part %u of a composite of %u", index,
                            type->count);
        } else if (type->kind == WEFT_EVAL_STRUCT) {
            const struct weft_eval_member *member = &decoder->members[type->first_member + index];
            offset += member->first_word;
            *type_id = member->type;
        } else {
            offset += index * weft_eval_type(decoder, type->element)->words;
            *type_id = type->element;
        }
    }
    return offset;
}

static uint32_t type_of(struct weft_eval_decoder *decoder, uint32_t id) {
    return id < decoder->bound ? decoder->ids[id].type : 0;
}

static void decode_extract(struct weft_eval_decoder *decoder, const struct weft_eval_view *view) {
    uint32_t composite = weft_eval_word(decoder, view, 3);
    uint32_t type = type_of(decoder, composite);
    uint32_t offset = find_part(decoder, view, &type, 4);
    weft_eval_alias(decoder, weft_eval_word(decoder, view, 1), weft_eval_word(decoder, view, 2),
                    composite, offset);
}

static void decode_insert(struct weft_eval_decoder *decoder, const struct weft_eval_view *view) {
    uint32_t type = weft_eval_word(decoder, view, 1);
    uint32_t part = weft_eval_operand(decoder, view, 3);
    uint32_t composite = weft_eval_operand(decoder, view, 4);
    uint32_t offset = find_part(decoder, view, &type, 5);
    uint32_t d = weft_eval_result(decoder, view);
    weft_eval_move(decoder, weft_eval_result_words(decoder, view), d, composite);
    weft_eval_move(decoder, weft_eval_type(decoder, type)->words, d + offset, part);
}

static void decode_shuffle(struct weft_eval_decoder *decoder, const struct weft_eval_view *view) {
    uint32_t first = weft_eval_operand(decoder, view, 3);
    uint32_t second = weft_eval_operand(decoder, view, 4);
    uint32_t first_words = weft_eval_words(decoder, weft_eval_word(decoder, view, 3));
    uint32_t second_words = weft_eval_words(decoder, weft_eval_word(decoder, view, 4));
    uint32_t d = weft_eval_result(decoder, view);
    for (uint32_t i = 0; i < weft_eval_result_words(decoder, view); i++) {
        uint32_t which = weft_eval_word(decoder, view, 5 + i);
        if (which < first_words) {
            weft_eval_move(decoder, 1, d + i, first + which);
        } else if (which - first_words < second_words) {
            weft_eval_move(decoder, 1, d + i, second + which - first_words);
        } else {
            weft_eval_emit(decoder, WEFT_EVAL_FILL, 1, d + i)->a = WEFT_EVALUATOR_POISON;
        }
    }
}

/* d = component `index` of the vector in n slots, or the other way round. */
static void emit_dynamic(struct weft_eval_decoder *decoder, enum weft_eval_op op, uint32_t d,
                         uint32_t vector, uint32_t n, uint32_t index) {
    uint32_t offset = weft_eval_take(decoder, 1);
    struct weft_eval_instruction *address = weft_eval_emit(decoder, WEFT_EVAL_INDEX, 1, offset);
    address->b = index;
    address->c = 1;
    address->e = n;
    struct weft_eval_instruction *access = weft_eval_emit(decoder, op, 1, d);
    access->a = offset;
    access->c = vector;
    access->e = n;
    weft_eval_release(decoder, offset);
}

static void decode_extract_dynamic(struct weft_eval_decoder *decoder,
                                   const struct weft_eval_view *view) {
    uint32_t n = weft_eval_words(decoder, weft_eval_word(decoder, view, 3));
    uint32_t vector = weft_eval_operand(decoder, view, 3);
    uint32_t index = weft_eval_operand(decoder, view, 4);
    emit_dynamic(decoder, WEFT_EVAL_GATHER, weft_eval_result(decoder, view), vector, n, index);
}

static void decode_insert_dynamic(struct weft_eval_decoder *decoder,
                                  const struct weft_eval_view *view) {
    uint32_t n = weft_eval_result_words(decoder, view);
    uint32_t vector = weft_eval_operand(decoder, view, 3);
    uint32_t component = weft_eval_operand(decoder, view, 4);
    uint32_t index = weft_eval_operand(decoder, view, 5);
    uint32_t d = weft_eval_result(decoder, view);
    weft_eval_move(decoder, n, d, vector);
    emit_dynamic(decoder, WEFT_EVAL_SCATTER, component, d, n, index);
}

/* ---- other names for the same bits ---- */

static void decode_same_bits(struct weft_eval_decoder *decoder, const struct weft_eval_view *view) {
    uint32_t of = weft_eval_word(decoder, view, 3);
    if (of < decoder->bound && decoder->ids[of].is_pointer) {
        weft_eval_define_pointer(decoder, weft_eval_word(decoder, view, 2),
                                 weft_eval_pointer(decoder, of), decoder->ids[of].owner);
        return;
    }
    if (weft_eval_words(decoder, of) != weft_eval_result_words(decoder, view)) {
        weft_eval_unsupported(decoder, view->opcode);
    }
    weft_eval_alias(decoder, weft_eval_word(decoder, view, 1), weft_eval_word(decoder, view, 2), of,
                    0);
}

bool weft_eval_decode_composite(struct weft_eval_decoder *decoder,
                                const struct weft_eval_view *view) {
    switch (view->opcode) {
    case WEFT_OP_COMPOSITE_CONSTRUCT:
        decode_construct(decoder, view);
        return true;
    case WEFT_OP_COMPOSITE_EXTRACT:
        decode_extract(decoder, view);
        return true;
    case WEFT_OP_COMPOSITE_INSERT:
        decode_insert(decoder, view);
        return true;
    case WEFT_OP_VECTOR_SHUFFLE:
        decode_shuffle(decoder, view);
        return true;
    case WEFT_OP_VECTOR_EXTRACT_DYNAMIC:
        decode_extract_dynamic(decoder, view);
        return true;
    case WEFT_OP_VECTOR_INSERT_DYNAMIC:
        decode_insert_dynamic(decoder, view);
        return true;
    case WEFT_OP_BITCAST:
    case WEFT_OP_COPY_OBJECT:
    case WEFT_OP_COPY_LOGICAL:
        decode_same_bits(decoder, view);
        return true;
    default:
        return false;
    }
}
