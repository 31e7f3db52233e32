/* SPDX-License-Identifier: MIT */
#ifndef WEFT_OPS_MATMUL_H
#define WEFT_OPS_MATMUL_H

#include "lower/lowering.h"

/** Where an operand's element (batch, row, column) is: offsets in elements from the storage's start. */
struct weft_matrix {
    uint32_t storage;
    uint32_t outer; /* batch z is (z / inner_count, z % inner_count): strides of the two parts */
    uint32_t inner;
    uint32_t row;
    uint32_t column;     /* must be 1 for the result */
    enum weft_half half; /* of a constant; of a only SCALED */
    bool
        along_k; /* b, a constant stored as f16 times a power of two, for cooperative matrices: its elements along k are contiguous */
    bool panels; /* b, a constant, as weft_lower_panel_weight stores it: the strides say nothing */
};

/** c = activation(alpha a b + bias) + residual for `batches` pairs. bias and residual: storages, or WEFT_NO_STORAGE. */
struct weft_product {
    struct weft_matrix a, b, c;
    uint32_t m, n, k;
    uint32_t batches;
    uint32_t inner_count;
    float alpha;
    uint32_t bias;
    uint32_t residual; /* addressed as c is */
    weft_activation activation;
};

/** Appends the dispatches of a product by a matrix of bytes, p->b.storage in WEFT_LAYOUT_FOURS: makes bytes of the rows of the value `a`, too. */
void weft_lower_int8_product(struct weft_lowering *lowering, const struct weft_product *p,
                             uint32_t a);

/** Appends the dispatch of a product. */
void weft_lower_product(struct weft_lowering *lowering, const struct weft_product *product);

#endif
