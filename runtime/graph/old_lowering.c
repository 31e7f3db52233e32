/* SPDX-License-Identifier: MIT */
/* Positional lowering: gone when all mixers are converted. */
#include <string.h>

#include "graph/lowering.h"

struct weft_dispatch *weft_old_dispatch(struct weft_lowering *lowering, const char *shader) {
    struct weft_dispatch *dispatch = weft_lower_dispatch(lowering);
    dispatch->pipeline.name = shader;
    return dispatch;
}

static void bind(struct weft_dispatch *dispatch, uint32_t storage, bool write) {
    dispatch->operand[dispatch->operand_count++] =
        (struct weft_operand){.storage = storage, .write = write};
}

void weft_dispatch_read(struct weft_dispatch *dispatch, uint32_t storage) {
    bind(dispatch, storage, false);
}

void weft_dispatch_write(struct weft_dispatch *dispatch, uint32_t storage) {
    bind(dispatch, storage, true);
}

void weft_dispatch_specialize(struct weft_dispatch *dispatch, uint32_t value) {
    dispatch->pipeline.specialization[dispatch->pipeline.specialization_count++] = value;
}

void weft_dispatch_push_u32(struct weft_dispatch *dispatch, uint32_t value) {
    memcpy(dispatch->push + dispatch->push_size, &value, sizeof value);
    dispatch->push_size += (uint32_t)sizeof value;
}

void weft_dispatch_push_f32(struct weft_dispatch *dispatch, float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    weft_dispatch_push_u32(dispatch, bits);
}

static void spread_groups(struct weft_dispatch *dispatch, uint64_t groups) {
    const uint64_t max_x = 65535;
    uint64_t y = (groups + max_x - 1) / max_x;
    dispatch->groups[0] = (uint32_t)((groups + y - 1) / y);
    dispatch->groups[1] = (uint32_t)y;
    dispatch->groups[2] = 1;
}

void weft_dispatch_items(struct weft_dispatch *dispatch, uint64_t count) {
    spread_groups(dispatch, (count + WEFT_ITEMS_PER_GROUP - 1) / WEFT_ITEMS_PER_GROUP);
    weft_dispatch_push_u32(dispatch, (uint32_t)count);
    weft_dispatch_push_u32(dispatch, dispatch->groups[0]);
}

void weft_dispatch_rows(struct weft_dispatch *dispatch, struct weft_rows rows) {
    spread_groups(dispatch, rows.rows);
    weft_dispatch_push_u32(dispatch, (uint32_t)rows.rows);
    weft_dispatch_push_u32(dispatch, rows.columns);
    weft_dispatch_push_u32(dispatch, dispatch->groups[0]);
}
