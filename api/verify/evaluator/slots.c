/* SPDX-License-Identifier: MIT */
/*
 * Slots for values. A value that only its own block uses gives its slots back behind its last
 * mention, which keeps the rows of a long kernel in the host's caches; the others keep theirs until
 * the call of their function ends. Giving slots to a later value is safe: code before the place
 * where slots change hands cannot run between a value's definition and its uses, as the definition
 * dominates them and blocks come after what dominates them.
 */
#include "verify/evaluator/decode.h"

/* 256 MiB of rows at 1024 invocations. */
#define MAX_SLOTS (UINT32_C(1) << 16)

/* ---- allocation ---- */

static bool take_free(struct weft_eval_decoder *decoder, uint32_t words, uint32_t *first) {
    for (uint32_t i = decoder->free_count; i-- > 0;) {
        if (decoder->free_slots[i].words == words) {
            *first = decoder->free_slots[i].first;
            decoder->free_slots[i] = decoder->free_slots[--decoder->free_count];
            return true;
        }
    }
    return false;
}

/* Slots behind all others, with room for what is known of them. */
static bool take_fresh(struct weft_eval_decoder *decoder, uint32_t words, uint32_t *first) {
    struct weft_eval_program *program = decoder->program;
    if (words > MAX_SLOTS || program->slot_count + words > MAX_SLOTS) {
        weft_eval_error(decoder, WEFT_UNSUPPORTED, "the module needs more than %u slots",
                        MAX_SLOTS);
        return false;
    }
    *first = program->slot_count;
    while (program->slot_count + words > decoder->allocation_capacity) {
        if (!weft_eval_room(decoder, &decoder->allocations, decoder->allocation_capacity,
                            &decoder->allocation_capacity, sizeof *decoder->allocations)) {
            return false;
        }
    }
    program->slot_count += words;
    return true;
}

uint32_t weft_eval_take(struct weft_eval_decoder *decoder, uint32_t words) {
    uint32_t first = WEFT_EVAL_ZERO;
    if (words == 0 || decoder->status != WEFT_OK ||
        !weft_eval_room(decoder, &decoder->taken, decoder->taken_count, &decoder->taken_capacity,
                        sizeof *decoder->taken)) {
        return WEFT_EVAL_ZERO;
    }
    if (!take_free(decoder, words, &first) && !take_fresh(decoder, words, &first)) {
        return WEFT_EVAL_ZERO;
    }
    decoder->allocations[first] = (struct weft_eval_allocation){.words = words, .references = 1};
    decoder->taken[decoder->taken_count++] = first;
    return first;
}

static void give(struct weft_eval_decoder *decoder, uint32_t first) {
    decoder->allocations[first].references = 0;
    if (weft_eval_room(decoder, &decoder->free_slots, decoder->free_count, &decoder->free_capacity,
                       sizeof *decoder->free_slots)) {
        decoder->free_slots[decoder->free_count++] = (struct weft_eval_free_slots){
            .first = first, .words = decoder->allocations[first].words};
    }
}

void weft_eval_release(struct weft_eval_decoder *decoder, uint32_t owner) {
    if (owner == WEFT_EVAL_NO_OWNER || owner == WEFT_EVAL_ZERO || decoder->status != WEFT_OK) {
        return;
    }
    struct weft_eval_allocation *allocation = &decoder->allocations[owner];
    if (allocation->references == WEFT_EVAL_PINNED || allocation->references == 0) {
        return;
    }
    allocation->references--;
    if (allocation->references == 0) {
        give(decoder, owner);
    }
}

void weft_eval_pin(struct weft_eval_decoder *decoder, uint32_t owner) {
    if (owner != WEFT_EVAL_NO_OWNER && owner != WEFT_EVAL_ZERO && decoder->status == WEFT_OK) {
        decoder->allocations[owner].references = WEFT_EVAL_PINNED;
    }
}

void weft_eval_free_taken(struct weft_eval_decoder *decoder, uint32_t taken) {
    while (decoder->taken_count > taken) {
        uint32_t first = decoder->taken[--decoder->taken_count];
        if (decoder->allocations[first].references != 0) {
            give(decoder, first);
        }
    }
}

/* ---- values ---- */

static struct weft_eval_id *known_id(struct weft_eval_decoder *decoder, uint32_t id) {
    if (id == 0 || id >= decoder->bound) {
        weft_eval_error(decoder, WEFT_COMPILE_ERROR, "id %u is out of the module's bound %u", id,
                        decoder->bound);
        return &decoder->ids[0];
    }
    return &decoder->ids[id];
}

static struct weft_eval_id *name_value(struct weft_eval_decoder *decoder, uint32_t type,
                                       uint32_t id) {
    struct weft_eval_id *value = known_id(decoder, id);
    value->kind = decoder->in_module ? WEFT_EVAL_ID_CONSTANT : WEFT_EVAL_ID_VALUE;
    value->type = type;
    value->is_pointer = false;
    return value;
}

uint32_t weft_eval_define(struct weft_eval_decoder *decoder, uint32_t type, uint32_t id) {
    uint32_t words = weft_eval_type(decoder, type)->words;
    struct weft_eval_id *value = name_value(decoder, type, id);
    value->slot = weft_eval_take(decoder, words);
    value->owner = value->slot;
    if (decoder->status == WEFT_OK && words > 0) {
        struct weft_eval_allocation *allocation = &decoder->allocations[value->owner];
        bool pinned = decoder->in_module || value->shared;
        allocation->references = pinned ? WEFT_EVAL_PINNED : value->mentions;
    }
    return value->slot;
}

/* Lets a value's mentions count for slots that it shares with another. */
static void share(struct weft_eval_decoder *decoder, const struct weft_eval_id *value) {
    if (value->owner == WEFT_EVAL_NO_OWNER || value->owner == WEFT_EVAL_ZERO ||
        decoder->status != WEFT_OK) {
        return;
    }
    struct weft_eval_allocation *allocation = &decoder->allocations[value->owner];
    if (value->shared) {
        weft_eval_pin(decoder, value->owner);
    } else if (allocation->references != WEFT_EVAL_PINNED) {
        allocation->references += value->mentions;
    }
}

void weft_eval_alias(struct weft_eval_decoder *decoder, uint32_t type, uint32_t id, uint32_t of,
                     uint32_t offset) {
    uint32_t slot = weft_eval_slot(decoder, of);
    struct weft_eval_id *value = name_value(decoder, type, id);
    value->slot = slot + offset;
    value->owner = known_id(decoder, of)->owner;
    share(decoder, value);
}

void weft_eval_define_pointer(struct weft_eval_decoder *decoder, uint32_t id,
                              const struct weft_eval_pointer *pointer, uint32_t owner) {
    struct weft_eval_id *value = name_value(decoder, 0, id);
    value->kind = decoder->in_module ? WEFT_EVAL_ID_VARIABLE : WEFT_EVAL_ID_VALUE;
    value->is_pointer = true;
    value->pointer = *pointer;
    value->owner = owner;
    share(decoder, value);
}

static bool is_value(const struct weft_eval_id *id) {
    return (id->kind == WEFT_EVAL_ID_VALUE || id->kind == WEFT_EVAL_ID_CONSTANT) && !id->is_pointer;
}

uint32_t weft_eval_slot(struct weft_eval_decoder *decoder, uint32_t id) {
    const struct weft_eval_id *value = known_id(decoder, id);
    if (!is_value(value)) {
        weft_eval_error(decoder, WEFT_COMPILE_ERROR, "id %u is not a value here", id);
        return WEFT_EVAL_ZERO;
    }
    return value->slot;
}

uint32_t weft_eval_words(struct weft_eval_decoder *decoder, uint32_t id) {
    const struct weft_eval_id *value = known_id(decoder, id);
    return is_value(value) ? weft_eval_type(decoder, value->type)->words : 0;
}

const struct weft_eval_pointer *weft_eval_pointer(struct weft_eval_decoder *decoder, uint32_t id) {
    const struct weft_eval_id *value = known_id(decoder, id);
    bool known = value->kind == WEFT_EVAL_ID_VARIABLE ||
                 (value->kind == WEFT_EVAL_ID_VALUE && value->is_pointer);
    if (!known) {
        weft_eval_error(decoder, WEFT_COMPILE_ERROR, "id %u is not a pointer here", id);
    }
    return &value->pointer;
}

uint32_t weft_eval_operand(struct weft_eval_decoder *decoder, const struct weft_eval_view *view,
                           uint32_t index) {
    return weft_eval_slot(decoder, weft_eval_word(decoder, view, index));
}

uint32_t weft_eval_result(struct weft_eval_decoder *decoder, const struct weft_eval_view *view) {
    return weft_eval_define(decoder, weft_eval_word(decoder, view, 1),
                            weft_eval_word(decoder, view, 2));
}

uint32_t weft_eval_result_words(struct weft_eval_decoder *decoder,
                                const struct weft_eval_view *view) {
    return weft_eval_type(decoder, weft_eval_word(decoder, view, 1))->words;
}
