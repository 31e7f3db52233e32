/* SPDX-License-Identifier: MIT */
/* Depthwise convolutions on processors: of lines that a workgroup copies. */
#include "kernels/conv/depthwise.h"
#include "lower/divisor.h"
#include "mixers/conv_lowering.h"

/* How a workgroup has its rows. */
struct bands {
    bool one_line;
    uint32_t pitch;
    uint64_t rows; /* of windows, of a workgroup; 0: no line fits */
};

/* Words behind the lines that the last places read. */
static uint64_t words_behind(const struct weft_windows *w) {
    return (uint64_t)WEFT_CONV_DEPTHWISE_COLUMNS * w->strides[1] +
           (uint64_t)(w->sizes[1] - 1) * w->dilations[1];
}

static struct bands bands_of(const struct weft_windows *w) {
    const uint64_t pitch = (uint64_t)w->before[1] + w->extents[1] + w->after[1];
    const uint64_t behind = words_behind(w);
    const uint64_t lines =
        behind < WEFT_CONV_DEPTHWISE_WORDS ? (WEFT_CONV_DEPTHWISE_WORDS - behind) / pitch : 0;
    const uint64_t window = (uint64_t)(w->sizes[0] - 1) * w->dilations[0] + 1;
    const uint64_t rows = lines < window ? 0 : (lines - window) / w->strides[0] + 1;
    return (struct bands){.one_line = w->strides[0] == 1 && w->strides[1] == 1,
                          .pitch = (uint32_t)pitch,
                          .rows = rows < w->counts[0] ? rows : w->counts[0]};
}

/* Not worth it where most of the lines that a workgroup copies are copied by others, too. */
bool weft_conv_is_depthwise(const struct weft_lowering *lowering, const struct weft_conv *c) {
    const struct weft_windows *w = &c->windows;
    const struct bands bands = bands_of(w);
    const bool is_whole = bands.rows == w->counts[0] || bands.rows >= w->sizes[0];
    return weft_lower_on_processor(lowering) && c->channels == 1 && bands.rows > 0 && is_whole &&
           weft_windows_small_stride(w) != 0;
}

void weft_conv_lower_depthwise(struct weft_lowering *lowering, const struct weft_conv *c) {
    const struct weft_windows *w = &c->windows;
    const struct bands bands = bands_of(w);
    const uint64_t planes = (uint64_t)c->batch * c->groups * c->outputs;
    const uint64_t count = (w->counts[0] + bands.rows - 1) / bands.rows; /* of a plane */
    if (!weft_lower_countable(lowering, (double)planes * (double)weft_windows_count(w),
                              "elements")) {
        return;
    }
    struct weft_dispatch *dispatch =
        WEFT_LOWER(lowering, conv_depthwise, weft_grid_of_groups(planes * count),
                   .bind = {.x = c->x, .weight = c->weight, .bias = c->bias, .result = c->result},
                   .push = {.groups = (uint32_t)(planes * count),
                            .bands = (uint32_t)count,
                            .band = (uint32_t)bands.rows,
                            .channels = c->groups * c->outputs,
                            .outputs = c->outputs,
                            .height = w->extents[0],
                            .width = w->extents[1],
                            .window_height = w->sizes[0],
                            .window_width = w->sizes[1],
                            .rows = w->counts[0],
                            .columns = w->counts[1],
                            .stride_y = w->strides[0],
                            .dilation_y = w->dilations[0],
                            .dilation_x = w->dilations[1],
                            .before_y = w->before[0],
                            .before_x = w->before[1],
                            .pitch = bands.pitch,
                            WEFT_INVERSE(pitch, bands.pitch)},
                   .constant = {.activation = (int32_t)c->activation,
                                .has_bias = c->bias != WEFT_NO_STORAGE,
                                .stride_x = w->strides[1],
                                .window_y = w->sizes[0] <= WEFT_CONV_SMALL_WINDOW ? w->sizes[0] : 0,
                                .window_x = w->sizes[1] <= WEFT_CONV_SMALL_WINDOW ? w->sizes[1] : 0,
                                .one_line = bands.one_line});
    weft_conv_count_costs(dispatch, c, 1.0);
}
