/* SPDX-License-Identifier: MIT */
#include "mixers/scan_steps.h"

#include <math.h>

#include "core/try.h"
#include "lower/cut.h"
#include "mixers/step.h"
#include "ops/copy.h"
#include "ops/mask.h"
#include "ops/row.h"

weft_status weft_scan_infer(weft_dtype *dtype, weft_shape *shape, const weft_graph *graph,
                            const struct weft_node *node, const struct weft_scan_sizes *sizes,
                            double elements) {
    if (elements > (double)INT32_MAX) {
        return weft_fail(&graph->host, WEFT_UNSUPPORTED,
                         "%s: results and states of a sequence would have %.0f elements, more "
                         "than %d",
                         node->op->name, elements, INT32_MAX);
    }
    *dtype = WEFT_F32;
    *shape = sizes->with_last ? weft_shape_of(sizes->batch, sizes->n * sizes->width + sizes->state)
                              : weft_shape_of(sizes->batch, sizes->n, sizes->width);
    return WEFT_OK;
}

weft_status weft_scan_check_step(const weft_graph *graph, const char *op, weft_tensor state) {
    return state.id == 0 ? WEFT_OK
                         : weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                                     "%s: state must be absent: a step has its own, of zeros in "
                                     "front of token 0",
                                     op);
}

uint32_t weft_scan_slots(uint32_t rows, uint32_t least) {
    uint32_t slots = least;
    while (slots * WEFT_SCAN_STRANDS < rows) {
        slots *= 2;
    }
    return slots;
}

uint32_t weft_scan_stride(const struct weft_scan_sizes *sizes) {
    return sizes->n * sizes->width + (sizes->with_last ? sizes->state : 0);
}

struct weft_grid weft_scan_grid(const struct weft_variant *variant, uint32_t sequences,
                                uint32_t columns, uint32_t usual) {
    const uint32_t own = variant->tiles[0] != 0 ? variant->tiles[0] : usual;
    return weft_grid_of_groups((uint64_t)sequences * ((columns - 1) / own + 1));
}

struct weft_scan_counted weft_scan_lower_lengths(struct weft_lowering *lowering,
                                                 const struct weft_node *node, uint32_t input,
                                                 uint32_t otherwise) {
    const uint32_t lengths = weft_lower_lengths(lowering, node, input);
    return lengths != WEFT_NO_STORAGE ? (struct weft_scan_counted){lengths, WEFT_SCAN_LENGTHS}
                                      : (struct weft_scan_counted){otherwise, WEFT_SCAN_ALL};
}

struct weft_scan_counted weft_scan_lower_positions(struct weft_lowering *lowering,
                                                   const struct weft_node *node) {
    return (struct weft_scan_counted){weft_lower_value(lowering, node->input[WEFT_STEP_POSITION]),
                                      WEFT_SCAN_POSITIONS};
}

/* ---- dispatches ---- */

static bool is_countable(struct weft_lowering *lowering, const struct weft_scan *scan) {
    const struct weft_scan_sizes *s = &scan->sizes;
    const double results = s->batch * ((double)s->n * s->width + s->state);
    return weft_lower_countable(lowering, fmax(results, scan->largest), "elements");
}

/* Tokens of a dispatch: a long sequence is several, between which a state is kept. */
static uint32_t tokens_at_once(const struct weft_lowering *lowering, const struct weft_scan *scan) {
    return weft_cut_sequence(lowering, scan->operations, scan->turns);
}

static weft_status lower_pieces(struct weft_lowering *lowering, const struct weft_scan *scan,
                                enum weft_scan_start starts, enum weft_scan_end ends) {
    const uint32_t n = scan->sizes.n;
    const uint32_t at_once = tokens_at_once(lowering, scan);
    for (uint32_t first = 0; first < n; first += at_once) {
        const bool is_last = n - first <= at_once;
        const struct weft_scan_piece piece = {.first = first,
                                              .count = is_last ? n - first : at_once,
                                              .starts = first > 0 ? WEFT_SCAN_FROM_STATE : starts,
                                              .ends = is_last ? ends : WEFT_SCAN_IN_STATE};
        scan->lower_piece(lowering, &piece, scan->steps);
    }
    return weft_lower_status(lowering);
}

weft_status weft_scan_lower(struct weft_lowering *lowering, struct weft_scan *scan,
                            uint32_t state) {
    const struct weft_scan_sizes *s = &scan->sizes;
    const uint64_t states = (uint64_t)s->batch * s->state;
    if (!is_countable(lowering, scan)) {
        return weft_lower_status(lowering);
    }
    if (state != 0 || s->n > tokens_at_once(lowering, scan)) {
        *scan->state = weft_lower_scratch(lowering, states * sizeof(float));
    }
    if (state != 0) {
        weft_lower_copy(lowering, *scan->state, weft_lower_value(lowering, state), states);
    }
    return lower_pieces(lowering, scan, state != 0 ? WEFT_SCAN_FROM_STATE : WEFT_SCAN_FROM_ZEROS,
                        s->with_last ? WEFT_SCAN_BEHIND_RESULT : WEFT_SCAN_NOWHERE);
}

weft_status weft_scan_lower_step(struct weft_lowering *lowering, struct weft_scan *scan,
                                 uint32_t state) {
    *scan->state = weft_lower_value(lowering, state);
    return is_countable(lowering, scan)
               ? lower_pieces(lowering, scan,
                              scan->sizes.n == 1 ? WEFT_SCAN_FROM_STATE_BEHIND_FIRST
                                                 : WEFT_SCAN_FROM_ZEROS,
                              WEFT_SCAN_IN_STATE)
               : weft_lower_status(lowering);
}
