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
    enum weft_half half;
    uint32_t k, n;
};

static struct panels panels_of(const weft_weight *weight, bool transposed, enum weft_half half) {
    const uint32_t rows = weight->shape.dim[0];
    const uint32_t columns = (uint32_t)(weft_shape_elements(weight->shape) / rows);
    return (struct panels){.weight = weight,
                           .transposed = transposed,
                           .half = half,
                           .k = transposed ? columns : rows,
                           .n = transposed ? rows : columns};
}

/* Number of elements of all panels; zeros fill up the last one. */
static uint64_t padded_elements(const struct panels *p) {
    return ((uint64_t)p->n + COLUMNS - 1) / COLUMNS * COLUMNS * p->k;
}

/* The bits of the panel from column `first` on, from `step` of k on. */
static void gather(uint32_t block[STEPS][COLUMNS], const struct panels *p, const void *data,
                   uint32_t step, uint32_t first) {
    const size_t along_k = p->transposed ? 1 : p->n;
    const size_t along_n = p->transposed ? p->k : 1;
    const uint16_t *halves = data;
    const uint32_t *words = data;
    memset(block, 0, sizeof(uint32_t[STEPS][COLUMNS]));
    for (uint32_t c = 0; c < COLUMNS && first + c < p->n; c++) {
        for (uint32_t s = 0; s < STEPS && step + s < p->k; s++) {
            const size_t at = (step + s) * along_k + (first + c) * along_n;
            block[s][c] = p->half ? halves[at] : words[at];
        }
    }
}

/* Two columns to a word. */
static void write_half(uint32_t *target, const uint32_t *step) {
    for (uint32_t c = 0; c < COLUMNS / 2; c++) {
        target[c] = step[c + COLUMNS / 2] << 16 | step[c];
    }
}

static void write_panels(uint32_t *target, const struct panels *p, const void *data) {
    const size_t words = p->half ? COLUMNS / 2 : COLUMNS; /* of a step */
    uint32_t block[STEPS][COLUMNS];
    for (uint32_t first = 0; first < p->n; first += COLUMNS) {
        for (uint32_t step = 0; step < p->k; step++, target += words) {
            if (step % STEPS == 0) {
                gather(block, p, data, step, first);
            }
            if (p->half) {
                write_half(target, block[step % STEPS]);
            } else {
                memcpy(target, block[step % STEPS], sizeof block[0]);
            }
        }
    }
}

static weft_status fill(void *user, void *data) {
    const struct panels *p = user;
    if (p->half) {
        uint16_t *halves = NULL;
        WEFT_TRY(weft_half_weight_read_all(&halves, p->weight, p->half));
        write_panels(data, p, halves);
        weft_free(&p->weight->host, halves);
        return WEFT_OK;
    }
    struct weft_weight_view view;
    WEFT_TRY(weft_weight_view_open(&view, p->weight));
    write_panels(data, p, view.data);
    weft_weight_view_close(&view, p->weight);
    return WEFT_OK;
}

uint32_t weft_lower_panel_weight(struct weft_lowering *lowering, uint32_t value, bool transposed,
                                 enum weft_half half) {
    struct panels panels = panels_of(lowering->graph->values[value].weight, transposed, half);
    char key[64];
    snprintf(key, sizeof key, "weight/%llu/panels%s%s", (unsigned long long)panels.weight->uid,
             transposed ? "/transposed" : "",
             half == WEFT_HALF_SCALED ? "/f16"
             : half                   ? "/stored"
                                      : "");
    const uint32_t storage =
        weft_lower_table(lowering, key, padded_elements(&panels) * (half ? 2 : 4), fill, &panels);
    if (weft_lower_status(lowering) == WEFT_OK) {
        lowering->storages[storage].half = half;
    }
    return storage;
}
