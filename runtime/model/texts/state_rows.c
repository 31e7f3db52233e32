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

/* Row `i` of what is kept, and the row of the state that it is. */
static void copy_row(void *state, void *kept, const struct kept_rows *rows, uint32_t i, bool put) {
    const struct weft_state_rings *rings = rows->rings;
    const uint32_t ring = i / rows->count, place = place_of(rows, i % rows->count);
    const uint32_t width = rings->width;
    if (!rings->halves) {
        float *in_kept = (float *)kept + (uint64_t)i * width;
        float *in_state = (float *)state + ((uint64_t)ring * rings->rows + place) * width;
        memcpy(put ? in_state : in_kept, put ? in_kept : in_state, width * sizeof(float));
    }
    for (uint32_t c = 0; rings->halves && c < width; c++) {
        uint16_t *in_kept = (uint16_t *)kept + (uint64_t)i * width + c;
        uint16_t *in_state = (uint16_t *)state + half_at(rings, ring, place, c);
        *(put ? in_state : in_kept) = *(put ? in_kept : in_state);
    }
}

void weft_state_copy_rows(void *state, void *kept, const struct weft_state_part *part,
                          uint32_t tokens, bool put) {
    const struct kept_rows rows = rows_of(part, tokens);
    for (uint32_t i = 0; i < part->rings.count * rows.count; i++) {
        copy_row(state, kept, &rows, i, put);
    }
}
