/* SPDX-License-Identifier: MIT */
/* Hashes of what a run of weft_plan_execute read and gave, for receipts. */
#ifndef WEFT_PLAN_PORT_DIGEST_H
#define WEFT_PLAN_PORT_DIGEST_H

#include "core/hash.h"
#include "plan/plan.h"

/** How long the sequences of a run are. Rows behind that are whatever a kernel leaves there, and count for nothing. */
struct weft_row_lengths {
    const int32_t *lengths; /* null: all are whole */
    uint32_t count, tokens; /* of values [count, tokens, …] */
};

/**
 * The input of lengths among what weft_plan_execute was given. Errors: WEFT_UNSUPPORTED where there are several, since a value does not
 * say whose its rows are.
 */
weft_status weft_plan_find_lengths(struct weft_row_lengths *rows, const weft_plan *plan,
                                   const weft_host_tensor *tensors, uint32_t count);

/**
 * True if only some rows of a port count. weft_rows_hide: it has tokens along other axes, so the counting elements
 * are unknown.
 */
bool weft_rows_apply(const struct weft_row_lengths *rows, const struct weft_port *port);
bool weft_rows_hide(const struct weft_row_lengths *rows, const struct weft_port *port);

/**
 * Digest of the bytes at `data`; null means the buffer that weft_plan_execute has for the port. Errors: those of a
 * download.
 */
weft_status weft_plan_port_digest(weft_digest *digest, const weft_plan *plan, uint32_t index,
                                  const void *data, const struct weft_row_lengths *rows);

#endif
