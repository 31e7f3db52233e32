/* SPDX-License-Identifier: MIT */
/*
 * Matrices of blocks on the device: small whole numbers, in the panels in which a product reads them, then the scales of all runs, then their
 * offsets; with units, these are whole numbers, and units behind them. Kernels make of them the numbers that the matrix has (shaders/include/blocks.glsl), so results have the bits of these in f32.
 */
#include <stdio.h>
#include <string.h>

#include "core/math/half.h"
#include "core/try.h"
#include "lower/lowering.h"

#define COLUMNS WEFT_PANEL_COLUMNS
#define QUARTER (COLUMNS / 4)

struct blocks {
    const weft_weight *weight;
    const struct weft_block_form *form;
    uint32_t k, n; /* a row of the matrix is a column of the product */
};

static struct blocks blocks_of(const weft_weight *weight) {
    return (struct blocks){.weight = weight,
                           .form = weft_weight_blocks(weight),
                           .k = weight->shape.dim[1],
                           .n = weight->shape.dim[0]};
}

static uint64_t panels_of(const struct blocks *b) {
    return ((uint64_t)b->n + COLUMNS - 1) / COLUMNS;
}

/* Words of a panel: of codes, of scales or of offsets, and of their units. */
static uint64_t code_words(const struct blocks *b) {
    return (uint64_t)b->k * QUARTER / (b->form->bits == 4 ? 2 : 1);
}

static uint64_t run_words(const struct blocks *b) {
    return (uint64_t)b->k / b->form->run *
           (b->form->scales == WEFT_SCALES_UNITS ? QUARTER
            : b->form->scales == WEFT_SCALES_F16 ? COLUMNS / 2
                                                 : COLUMNS);
}

static uint64_t unit_words(const struct blocks *b) {
    return b->form->scales == WEFT_SCALES_UNITS
               ? (uint64_t)b->k / WEFT_UNIT_ELEMENTS * (COLUMNS / 2)
               : 0;
}

enum weft_half weft_lower_block_form(const weft_graph *graph, uint32_t value) {
    const weft_weight *weight = graph->values[value].weight;
    const struct weft_block_form *form = weight ? weft_weight_blocks(weight) : NULL;
    return form ? (enum weft_half)(WEFT_HALF_BLOCKS | (form->bits == 4 ? WEFT_BLOCKS_OF_FOUR : 0) |
                                   (form->offsets ? WEFT_BLOCKS_OFFSETS : 0) |
                                   (form->run == 16 ? WEFT_BLOCKS_SHORT : 0) |
                                   (form->scales == WEFT_SCALES_F16     ? WEFT_BLOCKS_F16
                                    : form->scales == WEFT_SCALES_UNITS ? WEFT_BLOCKS_UNITS
                                                                        : 0))
                : WEFT_HALF_NOT;
}

/* ---- filling ---- */

/* A word has four columns of a step, a quarter of the panel apart; of 4 bits, those of two steps, the second in the upper halves of its bytes. */
static void write_codes(uint8_t *target, const struct blocks *b, const int8_t *codes,
                        uint32_t columns) {
    for (uint32_t c = 0; c < columns; c++) {
        uint8_t *column = target + c % QUARTER * 4 + c / QUARTER;
        const int8_t *row = codes + (size_t)c * b->k;
        const int raised = b->form->offsets ? 0 : 8; /* so that no code is below zero */
        for (uint32_t k = 0; b->form->bits == 8 && k < b->k; k++) {
            column[(size_t)k * COLUMNS] = (uint8_t)row[k];
        }
        for (uint32_t k = 0; b->form->bits == 4 && k < b->k; k += 2) {
            column[(size_t)(k / 2) * COLUMNS] =
                (uint8_t)((row[k] + raised) | (row[k + 1] + raised) << 4);
        }
    }
}

/* A run's numbers of all columns side by side. */
static void write_floats(uint32_t *target, const float *numbers, uint32_t runs, uint32_t columns) {
    for (uint32_t c = 0; c < columns; c++) {
        for (uint32_t run = 0; run < runs; run++) {
            memcpy(&target[(size_t)run * COLUMNS + c], &numbers[(size_t)c * runs + run],
                   sizeof *target);
        }
    }
}

/* As f16, which they are: a word has a column and the one half a panel behind. */
static void write_halves(uint32_t *target, const float *numbers, uint32_t runs, uint32_t columns) {
    for (uint32_t c = 0; c < columns; c++) {
        const uint32_t place = c / QUARTER % 2 * QUARTER + c % QUARTER;
        for (uint32_t run = 0; run < runs; run++) {
            const uint32_t half = weft_half_of_float(numbers[(size_t)c * runs + run]);
            target[(size_t)run * (COLUMNS / 2) + place] |= half << (c < COLUMNS / 2 ? 0 : 16);
        }
    }
}

/* As bytes: a word has four columns, a quarter of the panel apart. */
static void write_steps(uint32_t *target, const int8_t *steps, uint32_t runs, uint32_t columns) {
    for (uint32_t c = 0; c < columns; c++) {
        for (uint32_t run = 0; run < runs; run++) {
            const uint32_t step = (uint8_t)steps[(size_t)c * runs + run];
            target[(size_t)run * QUARTER + c % QUARTER] |= step << (c / QUARTER * 8);
        }
    }
}

/* Scales [0] or offsets [1] of a panel, of which all are behind `target`. */
static void write_runs(uint32_t *target, const struct blocks *b, const struct weft_blocks *room,
                       int kind, uint64_t panel, uint32_t columns) {
    const uint32_t runs = b->k / b->form->run;
    const float *numbers = kind == 0 ? room->scales : room->offsets;
    uint32_t *own = target + panel * run_words(b);
    if (b->form->scales == WEFT_SCALES_F32) {
        write_floats(own, numbers, runs, columns);
    } else if (b->form->scales == WEFT_SCALES_F16) {
        write_halves(own, numbers, runs, columns);
    } else {
        write_steps(own, room->steps[kind], runs, columns);
        write_halves(target + panels_of(b) * run_words(b) + panel * unit_words(b),
                     room->units[kind], b->k / WEFT_UNIT_ELEMENTS, columns);
    }
}

static weft_status write_panels(uint32_t *data, const struct blocks *b,
                                const struct weft_blocks *room) {
    const uint64_t panels = panels_of(b), codes = code_words(b);
    uint32_t *scales = data + panels * codes;
    uint32_t *offsets = scales + panels * (run_words(b) + unit_words(b));
    for (uint64_t panel = 0; panel < panels; panel++) {
        const uint64_t first = panel * COLUMNS, left = b->n - first;
        const uint32_t columns = left < COLUMNS ? (uint32_t)left : COLUMNS;
        WEFT_TRY(weft_weight_read_blocks(b->weight, first, columns, room));
        write_codes((uint8_t *)(data + panel * codes), b, room->codes, columns);
        write_runs(scales, b, room, 0, panel, columns);
        if (room->offsets) {
            write_runs(offsets, b, room, 1, panel, columns);
        }
    }
    return WEFT_OK;
}

static uint64_t words_of(const struct blocks *b) {
    return panels_of(b) *
           (code_words(b) + (run_words(b) + unit_words(b)) * (b->form->offsets ? 2 : 1));
}

static weft_status fill(void *user, void *data) {
    const struct blocks *b = user;
    const weft_host *host = &b->weight->host;
    const bool units = b->form->scales == WEFT_SCALES_UNITS;
    const size_t codes = (size_t)COLUMNS * b->k, runs = codes / b->form->run;
    const size_t each = codes / WEFT_UNIT_ELEMENTS;
    float *numbers = weft_alloc(host, 2 * (runs + each) * sizeof *numbers + codes + 2 * runs);
    if (!numbers) {
        return weft_fail_memory(host, b->weight->name);
    }
    float *first_unit = numbers + 2 * runs;
    int8_t *bytes = (int8_t *)(first_unit + 2 * each), *steps = bytes + codes;
    struct weft_blocks room = {
        .codes = bytes, .scales = numbers, .offsets = b->form->offsets ? numbers + runs : NULL};
    for (size_t i = 0; units && i < 2; i++) {
        room.steps[i] = steps + i * runs;
        room.units[i] = first_unit + i * each;
    }
    memset(data, 0, (size_t)words_of(b) * 4);
    const weft_status status = write_panels(data, b, &room);
    weft_free(host, numbers);
    return status;
}

uint32_t weft_lower_block_weight(struct weft_lowering *lowering, uint32_t value) {
    struct blocks blocks = blocks_of(lowering->graph->values[value].weight);
    char key[64];
    snprintf(key, sizeof key, "weight/%llu/blocks", (unsigned long long)blocks.weight->uid);
    const uint32_t storage = weft_lower_table(lowering, key, words_of(&blocks) * 4, fill, &blocks);
    if (weft_lower_status(lowering) == WEFT_OK) {
        lowering->storages[storage].half = weft_lower_block_form(lowering->graph, value);
    }
    return storage;
}
