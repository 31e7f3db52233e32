/* SPDX-License-Identifier: MIT */
#include "ops/reduce_pass.h"

#include "kernels/reduce/columns.h"
#include "kernels/reduce/columns_fours.h"
#include "kernels/reduce/columns_lanes.h"
#include "kernels/reduce/largest.h"
#include "kernels/reduce/largest_lanes.h"
#include "kernels/reduce/sums.h"
#include "kernels/reduce/sums_lanes.h"
#include "ops/columns.h"

enum {
    LEAST_ROW = 64,    /* columns: shorter rows are worth no workgroup */
    LEAST_COLUMNS = 8, /* fewer are worth no pass of their own */
    MOST_AT_ONCE =
        WEFT_REDUCE_COLUMNS_AT_ONCE, /* elements that an invocation goes through in order */
    BLOCK = WEFT_REDUCE_COLUMNS_BLOCK
};

WEFT_VARIANTS(row_sums, "reduce/sums", WEFT_GROUP_ROW(reduce_sums, weft_grid_of_first_groups, 1.0F),
              WEFT_LANES_ROWS(reduce_sums_lanes, weft_lanes_grid, 1))

WEFT_VARIANTS(row_largest, "reduce/largest",
              WEFT_GROUP_ROW(reduce_largest, weft_grid_of_first_groups, 1.0F),
              WEFT_LANES_ROWS(reduce_largest_lanes, weft_lanes_grid, 1))

WEFT_VARIANTS(reduce_columns, "reduce/columns", WEFT_COLUMNS_ROWS(reduce_columns),
              WEFT_COLUMNS_FOURS_ROW(reduce_columns, weft_columns_suit_fours))

static bool is_by_rows(const struct weft_reduce_pass *pass) {
    return pass->axis.inner == 1 && pass->axis.extent >= LEAST_ROW && !pass->integer &&
           pass->kind != WEFT_REDUCTION_PRODUCT && !pass->counts && !pass->by_lengths;
}

static void note_costs(struct weft_dispatch *dispatch, const struct weft_reduce_pass *pass) {
    const double count = (double)pass->axis.outer * pass->axis.extent * (double)pass->axis.inner;
    dispatch->flops = count;
    dispatch->bytes = 4.0 * count;
}

static void lower_rows(struct weft_lowering *lowering, const struct weft_reduce_pass *pass) {
    const uint32_t rows = (uint32_t)pass->axis.outer;
    const bool sums = pass->kind == WEFT_REDUCTION_SUM;
    const weft_term sign = pass->kind == WEFT_REDUCTION_MIN ? WEFT_TERM_NEGATIVE : WEFT_TERM_ITSELF;
    struct weft_dispatch *dispatch =
        sums ? WEFT_LOWER_VARIANTS(
                   lowering, &weft_row_sums_variants, 1, reduce_sums,
                   .bind = {.x = pass->x, .result = pass->result},
                   .push = {.rows = rows, .columns = pass->axis.extent, .divisor = pass->divisor},
                   .constant = {.term = (uint32_t)pass->term, .divides = pass->divides})
             : WEFT_LOWER_VARIANTS(
                   lowering, &weft_row_largest_variants, 1, reduce_largest,
                   .bind = {.x = pass->x, .result = pass->result},
                   .push = {.rows = rows, .columns = pass->axis.extent, .divisor = 1.0F},
                   .constant = {.term = (uint32_t)sign, .divides = false});
    note_costs(dispatch, pass);
    dispatch->turns = weft_row_turns(1, pass->axis.extent);
}

/* By invocations: [outer, extent, inner] to [outer, blocks, inner]. */
static void lower_columns(struct weft_lowering *lowering, const struct weft_reduce_pass *pass,
                          uint32_t block) {
    const uint32_t blocks = weft_blocks_of(pass->axis.extent, block);
    const uint64_t count = pass->axis.outer * blocks * pass->axis.inner;
    struct weft_dispatch *dispatch = WEFT_LOWER_VARIANTS(
        lowering, &weft_reduce_columns_variants, 1, reduce_columns,
        .bind = {.x = pass->x, .lengths = pass->lengths, .result = pass->result},
        .push = {.count = (uint32_t)count,
                 .extent = pass->axis.extent,
                 .inner = (uint32_t)pass->axis.inner,
                 .block = block,
                 .blocks = blocks,
                 .tokens = pass->tokens,
                 .step = pass->step,
                 .per_sequence = pass->by_lengths ? (uint32_t)(count / pass->batch) : 1,
                 .divisor = pass->divisor,
                 .passes = pass->passes},
        .constant = {.kind = (uint32_t)pass->kind,
                     .integer = pass->integer,
                     .term = (uint32_t)pass->term,
                     .has_lengths = pass->counts,
                     .divides = pass->divides,
                     .by_lengths = pass->by_lengths});
    note_costs(dispatch, pass);
}

void weft_lower_block_sums(struct weft_lowering *lowering, uint32_t result, uint32_t x,
                           struct weft_axis axis, uint32_t block, bool integer) {
    const struct weft_reduce_pass pass = {.kind = WEFT_REDUCTION_SUM,
                                          .integer = integer,
                                          .axis = axis,
                                          .x = x,
                                          .result = result,
                                          .lengths = WEFT_NO_STORAGE,
                                          .divisor = 1.0F};
    lower_columns(lowering, &pass, block);
}

/* How many columns stand for a row of whole numbers, whose order does not matter: as many as share what is read of it. 1: none. */
static uint32_t columns_of_row(const struct weft_reduce_pass *pass) {
    enum { MOST = 32 };
    uint32_t columns = 1;
    if (pass->integer && !pass->counts && pass->axis.inner == 1 && pass->axis.extent >= LEAST_ROW) {
        while (columns < MOST && pass->axis.extent % (2 * columns) == 0) {
            columns *= 2;
        }
    }
    return columns;
}

/* Each row [extent] as [extent / columns, columns], whose results are then what is left of the row. */
static void lower_row_as_columns(struct weft_lowering *lowering, struct weft_reduce_pass *pass,
                                 uint32_t columns) {
    struct weft_reduce_pass first = *pass;
    first.axis.extent /= columns;
    first.axis.inner = columns;
    first.result = weft_lower_scratch(lowering, 4 * pass->axis.outer * columns);
    weft_lower_reduce(lowering, &first);
    pass->x = first.result;
    pass->axis.extent = columns;
    pass->term = WEFT_TERM_ITSELF;
}

void weft_lower_reduce(struct weft_lowering *lowering, const struct weft_reduce_pass *whole) {
    struct weft_reduce_pass pass = *whole;
    const uint32_t columns = columns_of_row(whole);
    if (columns >= LEAST_COLUMNS) {
        lower_row_as_columns(lowering, &pass, columns);
    }
    while (!is_by_rows(&pass) && pass.axis.extent > MOST_AT_ONCE) {
        struct weft_reduce_pass blocks = pass;
        const uint32_t count = weft_blocks_of(pass.axis.extent, BLOCK);
        blocks.result = weft_lower_scratch(lowering, 4 * pass.axis.outer * count * pass.axis.inner);
        blocks.divides = false;
        blocks.by_lengths = false;
        lower_columns(lowering, &blocks, BLOCK);
        pass.x = blocks.result;
        pass.axis.extent = count;
        pass.term = WEFT_TERM_ITSELF;
        pass.passes++;
    }
    if (is_by_rows(&pass)) {
        lower_rows(lowering, &pass);
    } else {
        lower_columns(lowering, &pass, pass.axis.extent);
    }
}
