/* SPDX-License-Identifier: MIT */
/* A weight as its transpose, or some of its rows, without a copy of it. */
#ifndef WEFT_MODEL_REARRANGED_WEIGHT_H
#define WEFT_MODEL_REARRANGED_WEIGHT_H

#include <weft/graph.h>

/** A matrix [r, c] as [c, r]; its rows are read from the other's columns when they are needed. */
weft_status weft_weight_transposed_of(weft_weight **out, weft_weight *weight);
/**
 * Rows first … first + count - 1 of every `group` rows of the whole, one behind the other: `shape` is that of all of them. They
 * are read when they are needed.
 */
weft_status weft_weight_rows_of(weft_weight **out, weft_weight *whole, weft_shape shape,
                                uint32_t group, uint32_t first, uint32_t count);
/** Of each of `groups` matrices [rows, columns]: the columns first, first + step … as rows, count of them. */
struct weft_turned_rows {
    uint32_t groups, rows, columns;
    uint32_t first, step, count;
};
/** These rows, matrix by matrix, as a weight of that shape; they are read when they are needed. Errors: WEFT_UNSUPPORTED for bytes. */
weft_status weft_weight_turned_rows_of(weft_weight **out, weft_weight *whole, weft_shape shape,
                                       const struct weft_turned_rows *rows);
/** The weight that one of these is made of; null for others. *transposed: it is the transpose. */
const weft_weight *weft_weight_rearranged_from(bool *transposed, const weft_weight *weight);

#endif
