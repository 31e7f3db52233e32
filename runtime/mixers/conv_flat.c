/* SPDX-License-Identifier: MIT */
/* Convolutions on processors: windows in one line, whatever their strides. */
#include <stdio.h>

#include <weft/op.h>

#include "kernels/conv/flat.h"
#include "kernels/conv/planes.h"
#include "lower/cut.h"
#include "lower/divisor.h"
#include "mixers/conv_lowering.h"

/* Planes as the kernel reads them: each of stride_y · stride_x parts, of `rows` lines of `pitch` words. */
struct planes {
    bool as_they_are; /* x's own */
    uint64_t count;   /* of all parts of all channels, batches and groups */
    uint64_t windows; /* rows of windows that they have elements for */
    uint64_t rows, pitch;
};

static uint64_t divided(uint64_t x, uint64_t by) {
    return (x + by - 1) / by;
}

/* From the first of some rows of windows of a pair to behind their last. */
static uint64_t places_of(const struct planes *planes, const struct weft_conv *c, uint64_t rows) {
    return (rows - 1) * planes->pitch + c->windows.counts[1];
}

/* Lines of a part for so many rows of windows. */
static uint64_t lines_of(const struct weft_windows *w, uint64_t windows) {
    return windows + (uint64_t)(w->sizes[0] - 1) * w->dilations[0] / w->strides[0];
}

/* With what the places behind the last window read, where there are fewer than a workgroup has. */
static uint64_t bytes_of(const struct planes *planes) {
    return (planes->count * planes->rows * planes->pitch + WEFT_CONV_FLAT_COLUMNS) * sizeof(float);
}

/* Bytes that planes for half as many rows of windows are made for, where they are more: a copy stays in the caches. Where most of
 * the lines would be copied again for the next rows, what the device binds. */
static uint64_t most_bytes(const struct weft_lowering *lowering, const struct weft_windows *w,
                           uint64_t windows) {
    const uint64_t worth = UINT64_C(4) << 20;
    const uint64_t most = weft_cut_limit(lowering);
    return windows / 2 >= lines_of(w, 0) && worth < most ? worth : most;
}

/* All at once, or some rows of windows at a time. */
static struct planes planes_of(const struct weft_lowering *lowering, const struct weft_conv *c) {
    const struct weft_windows *w = &c->windows;
    const uint64_t padding = (uint64_t)w->before[0] + w->after[0] + w->before[1] + w->after[1];
    struct planes planes = {
        .count = (uint64_t)c->batch * c->groups * c->channels * w->strides[0] * w->strides[1],
        .windows = w->counts[0],
        .pitch = divided((uint64_t)w->extents[1] + w->before[1] + w->after[1], w->strides[1])};
    planes.as_they_are = padding == 0 && w->strides[0] == 1 && w->strides[1] == 1 &&
                         places_of(&planes, c, w->counts[0]) >= WEFT_CONV_FLAT_COLUMNS;
    planes.rows = planes.as_they_are ? w->extents[0] : lines_of(w, planes.windows);
    while (!planes.as_they_are && planes.windows > 1 &&
           bytes_of(&planes) > most_bytes(lowering, w, planes.windows)) {
        planes.windows = divided(planes.windows, 2);
        planes.rows = lines_of(w, planes.windows);
    }
    return planes;
}

/* Not worth it are planes that cannot be cut, and those of which few channels of the result are made: depthwise ones. */
bool weft_conv_is_flat(const struct weft_lowering *lowering, const struct weft_conv *c) {
    enum { FEW_OUTPUTS = 3 };
    const struct planes planes = planes_of(lowering, c);
    const bool fits = planes.as_they_are ||
                      (c->outputs >= FEW_OUTPUTS && bytes_of(&planes) <= weft_cut_limit(lowering));
    return weft_lower_on_processor(lowering) && fits;
}

/* ---- where terms are ---- */

struct offsets {
    const struct planes *planes;
    const struct weft_conv *c;
};

static uint32_t offset_of(const struct offsets *self, uint64_t term) {
    const struct weft_windows *w = &self->c->windows;
    const struct planes *planes = self->planes;
    const uint64_t x = term % w->sizes[1] * w->dilations[1];
    const uint64_t y = term / w->sizes[1] % w->sizes[0] * w->dilations[0];
    const uint64_t channel = term / w->sizes[1] / w->sizes[0];
    const uint64_t part =
        (channel * w->strides[0] + y % w->strides[0]) * w->strides[1] + x % w->strides[1];
    return (uint32_t)((part * planes->rows + y / w->strides[0]) * planes->pitch +
                      x / w->strides[1]);
}

static weft_status fill_offsets(void *user, void *data) {
    const struct offsets *self = user;
    uint32_t *offsets = data;
    for (uint64_t term = 0; term < weft_conv_terms(self->c); term++) {
        offsets[term] = offset_of(self, term);
    }
    return WEFT_OK;
}

static uint32_t lower_offsets(struct weft_lowering *lowering, const struct planes *planes,
                              const struct weft_conv *c) {
    const struct weft_windows *w = &c->windows;
    struct offsets offsets = {.planes = planes, .c = c};
    char key[192];
    snprintf(key, sizeof key, "conv/offsets/%u/%ux%u/%u,%u/%u,%u/%llux%llu", c->channels,
             w->sizes[0], w->sizes[1], w->strides[0], w->strides[1], w->dilations[0],
             w->dilations[1], (unsigned long long)planes->rows, (unsigned long long)planes->pitch);
    return weft_lower_table(lowering, key, weft_conv_terms(c) * sizeof(uint32_t), fill_offsets,
                            &offsets);
}

/* ---- lowering ---- */

/* Fills them for the rows of windows from `first` on. */
static void lower_planes(struct weft_lowering *lowering, const struct planes *planes,
                         const struct weft_conv *c, uint32_t storage, uint64_t first) {
    const struct weft_windows *w = &c->windows;
    const uint64_t lines = planes->count * planes->rows;
    struct weft_dispatch *dispatch = WEFT_LOWER(
        lowering, conv_planes, weft_grid_of_groups(divided(lines, WEFT_CONV_PLANES_LOCAL_Y)),
        .bind = {.x = c->x, .result = storage},
        .push = {.lines = (uint32_t)lines,
                 .rows = (uint32_t)planes->rows,
                 .first = (uint32_t)first,
                 .pitch = (uint32_t)planes->pitch,
                 .stride_y = w->strides[0],
                 .stride_x = w->strides[1],
                 .height = w->extents[0],
                 .width = w->extents[1],
                 .before_y = w->before[0],
                 .before_x = w->before[1]},
        .constant = {.stride_x = weft_windows_small_stride(w)});
    dispatch->bytes = 2.0 * (double)bytes_of(planes);
}

/* Time of all channels of a place where an invocation makes `each` of them: what it reads of x costs as much as four thirds of one. */
static uint64_t time_of(const struct weft_conv *c, uint32_t each) {
    return divided(c->outputs, each) * (3 * each + 4);
}

/* How many channels an invocation makes, of those that vectors of the device have registers for. */
static uint32_t outputs_each(const struct weft_lowering *lowering, const struct weft_conv *c) {
    enum { MANY_LANES = 16, MOST_OF_16_REGISTERS = 2 };
    uint32_t each = lowering->device->info.subgroup_size >= MANY_LANES ? WEFT_CONV_FLAT_OUTPUTS
                                                                       : MOST_OF_16_REGISTERS;
    for (uint32_t fewer = each; fewer-- > 1;) {
        each = time_of(c, fewer) < time_of(c, each) ? fewer : each;
    }
    return each;
}

struct flat {
    struct planes planes;
    uint32_t x, offsets; /* storages */
};

/* The rows of windows from `first` on for which planes are there. */
static void lower_windows(struct weft_lowering *lowering, const struct weft_conv *c,
                          const struct flat *flat, uint64_t first) {
    const struct weft_windows *w = &c->windows;
    const struct planes *planes = &flat->planes;
    const uint64_t left = w->counts[0] - first;
    const uint64_t rows = left < planes->windows ? left : planes->windows;
    const uint64_t places = places_of(planes, c, rows);
    const uint32_t each = outputs_each(lowering, c);
    const uint64_t shares = divided(c->outputs, (uint64_t)each * WEFT_CONV_FLAT_LOCAL_Y);
    const uint64_t pairs = (uint64_t)c->batch * c->groups;
    struct weft_dispatch *dispatch = WEFT_LOWER(
        lowering, conv_flat,
        weft_grid_of_groups(pairs * shares * divided(places, WEFT_CONV_FLAT_COLUMNS)),
        .bind = {.x = flat->x,
                 .weight = c->weight,
                 .bias = c->bias,
                 .offsets = flat->offsets,
                 .result = c->result},
        .push = {.pairs = (uint32_t)pairs,
                 .groups = c->groups,
                 .terms = (uint32_t)weft_conv_terms(c),
                 .outputs = c->outputs,
                 .words = (uint32_t)(planes->count / pairs * planes->rows * planes->pitch),
                 .places = (uint32_t)places,
                 .pitch = (uint32_t)planes->pitch,
                 .first = (uint32_t)(first * w->counts[1]),
                 .columns = w->counts[1],
                 .windows = (uint32_t)weft_windows_count(w),
                 WEFT_INVERSE(pitch, (uint32_t)planes->pitch)},
        .constant = {.activation = (int32_t)c->activation,
                     .has_bias = c->bias != WEFT_NO_STORAGE,
                     .outputs = each,
                     .dense = planes->pitch == w->counts[1]});
    weft_conv_count_costs(dispatch, c, (double)rows / w->counts[0]);
}

void weft_conv_lower_flat(struct weft_lowering *lowering, const struct weft_conv *c) {
    struct flat flat = {.planes = planes_of(lowering, c), .x = c->x};
    const double results =
        (double)c->batch * c->groups * c->outputs * (double)weft_windows_count(&c->windows);
    if (!weft_lower_countable(lowering, results, "elements")) {
        return;
    }
    flat.offsets = lower_offsets(lowering, &flat.planes, c);
    if (!flat.planes.as_they_are) {
        flat.x = weft_lower_scratch(lowering, bytes_of(&flat.planes));
    }
    for (uint64_t first = 0; first < c->windows.counts[0]; first += flat.planes.windows) {
        if (!flat.planes.as_they_are) {
            lower_planes(lowering, &flat.planes, c, flat.x, first);
        }
        lower_windows(lowering, c, &flat, first);
    }
}
