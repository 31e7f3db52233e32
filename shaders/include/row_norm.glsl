// SPDX-License-Identifier: MIT
//
// Kernels that make rows (row.glsl): out = norm(value + residual), where the including
// file says what an element's value is:
//
//   float weft_row_value(uint row, uint column);
//
// and declares push constants `uint rows, columns, groups_x; float epsilon;` (with the instance
// name `push`), the buffers `residual_data`, `gamma`, `beta` and `result` (float arrays). With WEFT_ROW_NO_RESIDUAL
// there is no residual, no buffer of that name and no constant with the number 0.
// Where WEFT_ROW_MAY_BE_LEFT, a constant of kernels with a workgroup for each row, is not 0, rows of which
// `bool weft_row_is_left(uint row)` says so are not made.
// Rows that are too long to be kept in registers wait in `result`; an invocation reads back only what it wrote itself.

#ifndef WEFT_INCLUDE_ROW_NORM_GLSL
#define WEFT_INCLUDE_ROW_NORM_GLSL

#include "row.glsl"
#include "index.glsl"
#include "math.glsl"

#ifndef WEFT_ROW_NO_RESIDUAL
layout(constant_id = 0) const uint HAS_RESIDUAL = 0;
#endif
layout(constant_id = 1) const uint HAS_NORM = 0;
layout(constant_id = 2) const uint KEPT = 0; // 0 without HAS_NORM

#include "row_keep.glsl"

#ifdef WEFT_ROW_GROUP
#define AT(row, c) (weft_row_at + c)
#else
#define AT(row, c) row * push.columns + c
#endif

float make(uint row, uint c, float given)
{
    uint at = AT(row, c);
    float value = weft_row_value(row, c);
#ifndef WEFT_ROW_NO_RESIDUAL
    if (HAS_RESIDUAL != 0) {
        value = value + residual_data[at];
    }
#endif
    WEFT_KEEP(result, at, weft_flush(value));
    return value;
}

WEFT_ROW_SUM(sum_of, make)
WEFT_ROW_EACH(make_row, make)

float centred(uint row, uint c, float mean)
{
    return WEFT_KEPT(result, AT(row, c)) - mean;
}

WEFT_ROW_SQUARES(squares_of, centred)

float mean_here; // of the row at hand

void normalize(uint row, uint c, float scale)
{
    uint at = AT(row, c);
    float normalized = (WEFT_KEPT(result, at) - mean_here) * scale;
    result[at] = weft_flush(fma(normalized, gamma[c], beta[c]));
}

WEFT_ROW_EACH(normalize_row, normalize)

void main()
{
    weft_rows rows = weft_rows_of(weft_group_index(push.groups_x), push.rows, push.columns);
    if (weft_is_idle(rows)) {
        return;
    }
#ifdef WEFT_ROW_MAY_BE_LEFT
    if (WEFT_ROW_MAY_BE_LEFT != 0 && weft_row_is_left(rows.first)) {
        return;
    }
#endif
    WEFT_GO_TO(rows)
    if (HAS_NORM == 0) {
        WEFT_EACH_ROW(rows, r, make_row(rows.first + r, push.columns, 0.0))
        return;
    }
    float count = float(push.columns);
    WEFT_EACH_ROW(rows, r,
                  weft_keep_part(r, floatBitsToUint(sum_of(rows.first + r, push.columns, 0.0))))
    weft_meet();
    weft_give(1, weft_div(weft_sum_of_own_row(rows), count));
    WEFT_EACH_ROW(rows, r,
                  weft_keep_part(r, floatBitsToUint(squares_of(rows.first + r, push.columns, weft_given(1, r)))))
    weft_meet();
    float variance = weft_div(weft_sum_of_own_row(rows), count);
    weft_give(0, weft_rsqrt(variance + push.epsilon));
    WEFT_EACH_ROW(rows, r,
                  mean_here = weft_given(1, r);
                  normalize_row(rows.first + r, push.columns, weft_given(0, r)))
}

#endif
