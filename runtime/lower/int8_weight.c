/* SPDX-License-Identifier: MIT */
/* Weights of bytes on the device: four in a word, in the order in which a kernel reads them; behind them scales, and in FOURS the columns' sums. */
#include <stdio.h>
#include <string.h>

#include "core/math/int8.h"
#include "core/try.h"
#include "lower/lowering.h"

#define COLUMNS WEFT_PANEL_COLUMNS

/* A matrix of k rows and n columns, as a product reads it, or a table of n rows. */
struct matrix {
    const weft_weight *weight;
    enum weft_layout layout;
    uint32_t k, n;
    size_t along_k, along_n; /* bytes from element to element of the weight */
};

static struct matrix matrix_of(const weft_weight *weight, enum weft_layout layout) {
    const uint32_t *dim = weight->shape.dim;
    const bool rows = !weight->scale_columns; /* that are columns of the product */
    return (struct matrix){.weight = weight,
                           .layout = layout,
                           .k = dim[rows ? 1 : 0],
                           .n = dim[rows ? 0 : 1],
                           .along_k = rows ? 1 : dim[1],
                           .along_n = rows ? dim[1] : 1};
}

static uint32_t words_of(uint32_t k) {
    return (k + 3) / 4;
}

/* Words in front of the scales. */
static uint64_t count_words(const struct matrix *m) {
    const uint64_t panels = ((uint64_t)m->n + COLUMNS - 1) / COLUMNS;
    switch (m->layout) {
    case WEFT_LAYOUT_PANELS:
    case WEFT_LAYOUT_PANELS_OF_TRANSPOSED:
        return panels * m->k * (COLUMNS / 4);
    case WEFT_LAYOUT_FOURS:
        return panels * words_of(m->k) * COLUMNS;
    default:
        return ((uint64_t)m->k * m->n + 3) / 4;
    }
}

/* Index of the byte of element (k, column). */
static size_t place_of(const struct matrix *m, size_t k, size_t column) {
    const size_t panel = column / COLUMNS;
    const size_t c = column % COLUMNS;
    switch (m->layout) {
    case WEFT_LAYOUT_PANELS:
    case WEFT_LAYOUT_PANELS_OF_TRANSPOSED: /* a word has columns a quarter of the panel apart */
        return (panel * m->k + k) * COLUMNS + c % (COLUMNS / 4) * 4 + c / (COLUMNS / 4);
    case WEFT_LAYOUT_FOURS:
        return ((panel * words_of(m->k) + k / 4) * COLUMNS + c) * 4 + k % 4;
    case WEFT_LAYOUT_TRANSPOSED:
        return m->along_k == 1 ? k * m->n + column : column * m->k + k;
    default:
        return k * m->along_k + column * m->along_n;
    }
}

/* In square blocks, so that both sides stay in the cache. */
static void write_bytes(int8_t *target, const int8_t *source, const struct matrix *m) {
    const size_t block = 64;
    for (size_t top = 0; top < m->k; top += block) {
        const size_t bottom = top + block < m->k ? top + block : m->k;
        for (size_t column = 0; column < m->n; column++) {
            for (size_t k = top; k < bottom; k++) {
                target[place_of(m, k, column)] = source[k * m->along_k + column * m->along_n];
            }
        }
    }
}

/* Writes the sum of each column. */
static void write_sums(int32_t *sums, const int8_t *source, const struct matrix *m) {
    memset(sums, 0, m->n * sizeof *sums);
    for (size_t k = 0; k < m->k; k++) {
        for (size_t column = 0; column < m->n; column++) {
            sums[column] += source[k * m->along_k + column * m->along_n];
        }
    }
}

static weft_status fill(void *user, void *data) {
    const struct matrix *m = user;
    const weft_host *host = &m->weight->host;
    const uint64_t elements = weft_shape_elements(m->weight->shape);
    const uint64_t words = count_words(m);
    int8_t *bytes = weft_alloc(host, (size_t)elements);
    if (!bytes) {
        return weft_fail_memory(host, m->weight->name);
    }
    weft_status status = weft_weight_read_stored(m->weight, 0, elements, bytes);
    if (status == WEFT_OK) {
        memset(data, 0, (size_t)words * 4);
        write_bytes(data, bytes, m);
        float *scales = (float *)data + words;
        for (uint32_t i = 0; i < m->n; i++) {
            scales[i] = weft_weight_scale(m->weight, i * (uint64_t)m->along_n);
        }
        if (m->layout == WEFT_LAYOUT_FOURS) {
            write_sums((int32_t *)data + words + m->n, bytes, m);
        }
    }
    weft_free(host, bytes);
    return status;
}

bool weft_lower_is_int8(const weft_graph *graph, uint32_t value, bool scale_columns) {
    const weft_weight *weight = graph->values[value].weight;
    const weft_weight *whole = weight && weight->part_of ? weight->part_of : weight;
    return weight && weft_weight_is_int8(weight) && weight->scale_columns == scale_columns &&
           weight->shape.rank == 2 && weight->shape.dim[1] == whole->shape.dim[1] &&
           weight->first % whole->shape.dim[1] == 0;
}

bool weft_lower_makes_bytes(const weft_graph *graph, uint32_t value, bool scale_columns) {
    const weft_weight *weight = graph->values[value].weight;
    return weft_lower_is_int8(graph, value, scale_columns) && weight->stored == WEFT_STORED_I8 &&
           weight->shape.dim[scale_columns ? 0 : 1] <= WEFT_INT8_MOST_TERMS;
}

uint32_t weft_lower_int8_weight(struct weft_lowering *lowering, uint32_t value,
                                enum weft_layout layout) {
    static const char *const names[] = {"", "/transposed", "/panels", "/panels", "/fours"};
    struct matrix m = matrix_of(lowering->graph->values[value].weight, layout);
    const uint32_t numbers = layout == WEFT_LAYOUT_FOURS ? 2 : 1; /* of a column */
    char key[64];
    snprintf(key, sizeof key, "weight/%llu%s/int8", (unsigned long long)m.weight->uid,
             names[layout]);
    const uint32_t storage =
        weft_lower_table(lowering, key, (count_words(&m) + (uint64_t)m.n * numbers) * 4, fill, &m);
    if (weft_lower_status(lowering) == WEFT_OK) {
        lowering->storages[storage].half = WEFT_HALF_I8;
    }
    return storage;
}
