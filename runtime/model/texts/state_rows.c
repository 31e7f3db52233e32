/* SPDX-License-Identifier: MIT */
#include "model/texts/state_rows.h"

#include <string.h>

#define HALF_TILE \
    16 /* rows: WEFT_HALF_TILE of shaders/include/half_ring.glsl, whose layout this is */

/* Element of a ring of f16 that channel `c` of a row is; the first half of the rings is of keys. */
static uint64_t half_at(const struct weft_state_rings *rings, uint32_t ring, uint32_t row,
                        uint32_t c) {
    const uint64_t pairs = (rings->width + 1) / 2;
    const uint64_t first = (uint64_t)ring * rings->rows * pairs;
    const bool is_key = ring < rings->count / 2;
    const uint64_t key = (row / HALF_TILE * pairs + c / 2) * HALF_TILE + row % HALF_TILE;
    return is_key ? 2 * (first + key) + c % 2 : 2 * (first + row * pairs + c % pairs) + c / pairs;
}

/* The rows that are kept of one ring, in their order. */
struct kept_rows {
    const struct weft_state_rings *rings;
    uint32_t count, tokens;
};

static struct kept_rows rows_of(const struct weft_state_part *part, uint32_t tokens) {
    const struct weft_state_rings *rings = &part->rings;
    return (struct kept_rows){rings, tokens < rings->rows ? tokens : rings->rows, tokens};
}

static uint32_t place_of(const struct kept_rows *rows, uint32_t i) {
    return (rows->tokens - rows->count + i) % rows->rings->rows;
}

void weft_state_take_rows(void *kept, const void *state, const struct weft_state_part *part,
                          uint32_t tokens) {
    const struct kept_rows rows = rows_of(part, tokens);
    const uint32_t width = part->rings.width;
    for (uint32_t i = 0; i < part->rings.count * rows.count; i++) {
        const uint32_t ring = i / rows.count, place = place_of(&rows, i % rows.count);
        const uint64_t to = (uint64_t)i * width;
        const uint64_t from = ((uint64_t)ring * part->rings.rows + place) * width;
        if (!part->rings.halves) {
            memcpy((float *)kept + to, (const float *)state + from, width * sizeof(float));
        }
        for (uint32_t c = 0; part->rings.halves && c < width; c++) {
            ((uint16_t *)kept)[to + c] =
                ((const uint16_t *)state)[half_at(&part->rings, ring, place, c)];
        }
    }
}

void weft_state_put_rows(void *state, const void *kept, const struct weft_state_part *part,
                         uint32_t tokens) {
    const struct kept_rows rows = rows_of(part, tokens);
    const uint32_t width = part->rings.width;
    for (uint32_t i = 0; i < part->rings.count * rows.count; i++) {
        const uint32_t ring = i / rows.count, place = place_of(&rows, i % rows.count);
        const uint64_t from = (uint64_t)i * width;
        const uint64_t to = ((uint64_t)ring * part->rings.rows + place) * width;
        if (!part->rings.halves) {
            memcpy((float *)state + to, (const float *)kept + from, width * sizeof(float));
        }
        for (uint32_t c = 0; part->rings.halves && c < width; c++) {
            ((uint16_t *)state)[half_at(&part->rings, ring, place, c)] =
                ((const uint16_t *)kept)[from + c];
        }
    }
}
