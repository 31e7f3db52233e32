/* SPDX-License-Identifier: MIT */
/* Hashes of what a run read and gave. */
#include "plan/port_digest.h"

#include <string.h>

#include "core/try.h"

/* Collects, from bytes that come in order, those of rows before the lengths. */
struct gatherer {
    weft_tree_hash hash;
    const struct weft_row_lengths *rows; /* or null: all */
    uint64_t row_bytes;
    uint64_t at; /* bytes so far */
};

/* Number of the first of `size` bytes that all count or all do not. */
static uint64_t stretch(bool *counts, const struct gatherer *self, uint64_t size) {
    const uint64_t sequence_bytes = self->rows->tokens * self->row_bytes;
    const uint64_t inside = self->at % sequence_bytes;
    const uint64_t used =
        (uint64_t)(uint32_t)self->rows->lengths[self->at / sequence_bytes] * self->row_bytes;
    *counts = inside < used;
    const uint64_t left = (*counts ? used : sequence_bytes) - inside;
    return left < size ? left : size;
}

static void take(void *user, const void *data, size_t size) {
    struct gatherer *self = user;
    const uint8_t *bytes = data;
    while (size > 0) {
        bool counts = true;
        const size_t part = self->rows ? (size_t)stretch(&counts, self, size) : size;
        if (counts) {
            weft_tree_hash_add(&self->hash, bytes, part);
        }
        self->at += part;
        bytes += part;
        size -= part;
    }
}

bool weft_rows_apply(const struct weft_row_lengths *rows, const struct weft_port *port) {
    const uint32_t least = port->is_output ? 3 : 2; /* a vector for each sequence has no tokens */
    return rows->lengths && port->shape.rank >= least && port->shape.dim[0] == rows->count &&
           port->shape.dim[1] == rows->tokens;
}

bool weft_rows_hide(const struct weft_row_lengths *rows, const struct weft_port *port) {
    bool found = false;
    for (uint32_t i = 0; i < port->shape.rank; i++) {
        found |= i != 0 && port->shape.dim[i] == rows->tokens;
    }
    return rows->lengths && found && port->shape.rank > 2 && !weft_rows_apply(rows, port);
}

weft_status weft_plan_find_lengths(struct weft_row_lengths *rows, const weft_plan *plan,
                                   const weft_host_tensor *tensors, uint32_t count) {
    *rows = (struct weft_row_lengths){0};
    for (uint32_t i = 0; i < plan->port_count; i++) {
        const struct weft_port *port = &plan->ports[i];
        if (port->index_first == 0) { /* lengths alone begin with 1 */
            continue;
        }
        if (rows->lengths || port->shape.rank != 1) {
            return weft_fail(&plan->device->host, WEFT_UNSUPPORTED,
                             "a receipt of a plan with several inputs of lengths");
        }
        *rows =
            (struct weft_row_lengths){.count = port->shape.dim[0], .tokens = port->index_limit - 1};
        for (uint32_t k = count; k-- > 0;) {
            if (strcmp(tensors[k].name, port->name) == 0) {
                rows->lengths = tensors[k].data;
            }
        }
    }
    return WEFT_OK;
}

weft_status weft_plan_port_digest(weft_digest *digest, const weft_plan *plan, uint32_t index,
                                  const void *data, const struct weft_row_lengths *rows) {
    const struct weft_port *port = &plan->ports[index];
    struct gatherer gatherer = {.rows = weft_rows_apply(rows, port) ? rows : NULL};
    if (gatherer.rows) {
        gatherer.row_bytes = port->bytes / ((uint64_t)rows->count * rows->tokens);
    }
    weft_tree_hash_begin(&gatherer.hash);
    if (data) {
        take(&gatherer, data, (size_t)port->bytes);
    } else {
        const weft_buffer *buffer = plan->execute_buffers[index];
        WEFT_TRY(weft_device_download_to(plan->device, buffer->handle, buffer->offset, port->bytes,
                                         take, &gatherer));
    }
    *digest = weft_tree_hash_end(&gatherer.hash);
    return WEFT_OK;
}
