/* SPDX-License-Identifier: MIT */
/* From a plane of a video's frame to what a model of photographs reads: an op of this program's own. */
#ifndef FFMPEG_LUMA_H
#define FFMPEG_LUMA_H

#include <stdbool.h>
#include <stdint.h>

#include <weft/op.h>

/* The square of a plane that is read: 28 times `square` pixels a side, in the middle. */
typedef struct luma {
    uint32_t width, height; /* of the plane */
    uint32_t square;
    uint32_t black, white; /* 16 and 235 in most videos, 0 and 255 where their range is full */
} luma;

/* False, and a message on stderr, for planes of less than 28 pixels a side or above 256 times that. */
bool luma_of(luma *l, int width, int height, bool full_range);

/* Adds the op: plane f32 [height, width], 0 … 255 → features f32 [1, 49, 16]. */
weft_status graph_luma(weft_tensor *out, weft_graph *graph, weft_tensor plane, const luma *l);

/* The same on the host, from a plane with rows of `row` bytes. */
void luma_on_host(const luma *l, const uint8_t *plane, int row, float *features);

#endif
