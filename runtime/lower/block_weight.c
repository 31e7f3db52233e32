/* SPDX-License-Identifier: MIT */
/*
 * Matrices of blocks on the device: small whole numbers, in the panels in which a product reads them, then the scales of all runs, then their
 * offsets. Kernels make of them the numbers that the matrix has (shaders/include/blocks.glsl), so results have the bits of these in f32.
 */
#include <stdio.h>
#include <string.h>

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

/* Words of a panel: of codes, and of scales or offsets. */
static uint64_t code_words(const struct blocks *b) {
    return (uint64_t)b->k * QUARTER / (b->form->bits == 4 ? 2 : 1);
}

static uint64_t run_words(const struct blocks *b) {
    return (uint64_t)b->k / b->form->run * COLUMNS;
}

enum weft_half weft_lower_block_form(const weft_graph *graph, uint32_t value) {
    const weft_weight *weight = graph->values[value].weight;
    const struct weft_block_form *form = weight ? weft_weight_blocks(weight) : NULL;
    return form ? (enum weft_half)(WEFT_HALF_BLOCKS | (form->bits == 4 ? WEFT_BLOCKS_OF_FOUR : 0) |
                                   (form->offsets ? WEFT_BLOCKS_OFFSETS : 0) |
                                   (form->run == 16 ? WEFT_BLOCKS_SHORT : 0))
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
static void write_runs(float *target, const struct blocks *b, const float *numbers,
                       uint32_t columns) {
    const uint32_t runs = b->k / b->form->run;
    for (uint32_t c = 0; c < columns; c++) {
        for (uint32_t run = 0; run < runs; run++) {
            target[(size_t)run * COLUMNS + c] = numbers[(size_t)c * runs + run];
        }
    }
}

static weft_status write_panels(uint32_t *data, const struct blocks *b,
                                const struct weft_blocks *room) {
    const uint64_t panels = panels_of(b), codes = code_words(b), runs = run_words(b);
    for (uint64_t panel = 0; panel < panels; panel++) {
        const uint64_t first = panel * COLUMNS, left = b->n - first;
        const uint32_t columns = left < COLUMNS ? (uint32_t)left : COLUMNS;
        float *scales = (float *)data + panels * codes + panel * runs;
        WEFT_TRY(weft_weight_read_blocks(b->weight, first, columns, room));
        write_codes((uint8_t *)(data + panel * codes), b, room->codes, columns);
        write_runs(scales, b, room->scales, columns);
        if (room->offsets) {
            write_runs(scales + panels * runs, b, room->offsets, columns);
        }
    }
    return WEFT_OK;
}

static uint64_t words_of(const struct blocks *b) {
    return panels_of(b) * (code_words(b) + run_words(b) * (b->form->offsets ? 2 : 1));
}

static weft_status fill(void *user, void *data) {
    const struct blocks *b = user;
    const weft_host *host = &b->weight->host;
    const size_t codes = (size_t)COLUMNS * b->k, runs = codes / b->form->run;
    float *numbers = weft_alloc(host, 2 * runs * sizeof *numbers + codes);
    if (!numbers) {
        return weft_fail_memory(host, b->weight->name);
    }
    const struct weft_blocks room = {.codes = (int8_t *)(numbers + 2 * runs),
                                     .scales = numbers,
                                     .offsets = b->form->offsets ? numbers + runs : NULL};
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
