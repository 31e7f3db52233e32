/* SPDX-License-Identifier: MIT */
#ifndef WEFT_OPS_MATMUL_H
#define WEFT_OPS_MATMUL_H

#include "lower/lowering.h"

/** Place of an operand's element (batch, row, column): offsets in elements from the storage's start. */
struct weft_matrix {
    uint32_t storage;
    uint32_t outer; /* batch z is (z / inner_count, z % inner_count): strides of the two parts */
    uint32_t inner;
    uint32_t row;
    uint32_t column;     /* must be 1 for the result */
    enum weft_half half; /* of a constant; of a only SCALED */
    bool
        along_k; /* b, a constant stored as f16 times a power of two, for cooperative matrices: its elements along k are contiguous */
    /* b, as weft_lower_panel_weight stores a constant: `outer` and `inner` count steps of panels, and the others nothing */
    bool panels;
};

/** c = activation(alpha a b + bias) + residual for `batches` pairs. bias and residual: storages, or WEFT_NO_STORAGE. The bias has a number
 * for each column of c, or for each row. */
struct weft_product {
    struct weft_matrix a, b, c;
    uint32_t m, n, k;
    uint32_t batches;
    uint32_t inner_count;
    float alpha;
    uint32_t bias;
    bool bias_of_rows;
    uint32_t residual; /* addressed as c is */
    weft_activation activation;
};

/** Appends the dispatches of a product by a matrix of bytes, p->b.storage in WEFT_LAYOUT_FOURS: makes bytes of the rows of the value `a`, too. */
void weft_lower_int8_product(struct weft_lowering *lowering, const struct weft_product *p,
                             uint32_t a);

/** The two halves of that: the rows of a storage as bytes (a word for each four elements of a row, and for each row its scale, the byte that stands
 * for 0, and the sum of its bytes) in another of so many bytes, and the product of these. */
uint64_t weft_row_bytes_size(const struct weft_product *p);
void weft_lower_row_bytes(struct weft_lowering *lowering, const struct weft_product *p, uint32_t x,
                          uint32_t result);
void weft_lower_product_of_bytes(struct weft_lowering *lowering, const struct weft_product *p,
                                 uint32_t bytes);

/** Appends the dispatch that copies b of each batch to panels of so many columns, a multiple of 16, for processors; steps from the lengths
 * (or WEFT_NO_STORAGE) on are zeros there. The storage, or WEFT_NO_STORAGE where they are too many. */
uint32_t weft_lower_panels(struct weft_lowering *lowering, const struct weft_product *product,
                           uint32_t panel, uint32_t lengths);

/** Appends the dispatch of a product; on the processor perhaps one that makes panels before. */
void weft_lower_product(struct weft_lowering *lowering, const struct weft_product *product);

#endif
