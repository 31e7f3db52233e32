/* SPDX-License-Identifier: MIT */
/* Weights in panels: the order in which a product reads its constant right-hand side. */
#include <stdio.h>
#include <string.h>

#include "core/try.h"
#include "lower/half_weight.h"
#include "lower/lowering.h"

#define COLUMNS WEFT_PANEL_COLUMNS
#define STEPS   16u /* are gathered at once, so that lines are used whole where b is transposed */

struct panels {
    const weft_weight *weight;
    bool transposed;
    bool half;
    float scale; /* of f16 */
    uint32_t k, n;
};

static struct panels panels_of(const weft_weight *weight, bool transposed, bool half) {
    const uint32_t *dim = weight->shape.dim;
    return (struct panels){.weight = weight,
                           .transposed = transposed,
                           .half = half,
                           .scale = half ? weft_half_weight_scale(weight) : 1.0F,
                           .k = dim[transposed ? 1 : 0],
                           .n = dim[transposed ? 0 : 1]};
}

/* Of all panels; zeros fill up the last one. */
static uint64_t padded_elements(const struct panels *p) {
    return ((uint64_t)p->n + COLUMNS - 1) / COLUMNS * COLUMNS * p->k;
}

/* The panel from column `first` on, from `step` of k on. */
static void gather(float block[STEPS][COLUMNS], const struct panels *p, const float *data,
                   uint32_t step, uint32_t first) {
    const size_t along_k = p->transposed ? 1 : p->n;
    const size_t along_n = p->transposed ? p->k : 1;
    memset(block, 0, sizeof(float[STEPS][COLUMNS]));
    for (uint32_t c = 0; c < COLUMNS && first + c < p->n; c++) {
        for (uint32_t s = 0; s < STEPS && step + s < p->k; s++) {
            block[s][c] = data[(step + s) * along_k + (first + c) * along_n];
        }
    }
}

/* Two columns to a word. */
static void write_half(uint32_t *target, const float *step, float scale) {
    for (uint32_t c = 0; c < COLUMNS / 2; c++) {
        const uint32_t low = weft_half_weight_element(step[c], scale);
        const uint32_t high = weft_half_weight_element(step[c + COLUMNS / 2], scale);
        target[c] = high << 16 | low;
    }
}

static weft_status fill(void *user, void *data) {
    const struct panels *p = user;
    const size_t words = p->half ? COLUMNS / 2 : COLUMNS; /* of a step */
    uint32_t *target = data;
    float block[STEPS][COLUMNS];
    struct weft_weight_view view;
    WEFT_TRY(weft_weight_view_open(&view, p->weight));
    for (uint32_t first = 0; first < p->n; first += COLUMNS) {
        for (uint32_t step = 0; step < p->k; step++, target += words) {
            if (step % STEPS == 0) {
                gather(block, p, view.data, step, first);
            }
            if (p->half) {
                write_half(target, block[step % STEPS], p->scale);
            } else {
                memcpy(target, block[step % STEPS], sizeof block[0]);
            }
        }
    }
    weft_weight_view_close(&view, p->weight);
    return WEFT_OK;
}

uint32_t weft_lower_panel_weight(struct weft_lowering *lowering, uint32_t value, bool transposed,
                                 bool half) {
    struct panels panels = panels_of(lowering->graph->values[value].weight, transposed, half);
    char key[64];
    snprintf(key, sizeof key, "weight/%llu/panels%s%s", (unsigned long long)panels.weight->uid,
             transposed ? "/transposed" : "", half ? "/f16" : "");
    const uint32_t storage =
        weft_lower_table(lowering, key, padded_elements(&panels) * (half ? 2 : 4), fill, &panels);
    if (weft_lower_status(lowering) == WEFT_OK) {
        lowering->storages[storage].half = half;
    }
    return storage;
}
