/* SPDX-License-Identifier: MIT */
#include "luma.h"

#include "photos.h"

#include <stdio.h>

#include "shaders.h" /* made by CMakeLists.txt: luma_glsl */

enum { LARGEST = 256 }; /* square: sums stay below 2^24, where every integer is a float */

bool luma_of(luma *l, int width, int height, bool full_range) {
    const int side = (width < height ? width : height) / PHOTO_SIDE;
    if (side < 1 || side > LARGEST) {
        fprintf(stderr, "a video of %d by %d: not %d to %d pixels a side\n", width, height,
                PHOTO_SIDE, PHOTO_SIDE * LARGEST);
        return false;
    }
    *l = (luma){.width = (uint32_t)width,
                .height = (uint32_t)height,
                .square = (uint32_t)side,
                .black = full_range ? 0 : 16,
                .white = full_range ? 255 : 235};
    return true;
}

static uint32_t margin(uint32_t size, uint32_t square) {
    return (size - PHOTO_SIDE * square) / 2;
}

static float scale_of(const luma *l) {
    return 1.0f / (float)((l->white - l->black) * l->square * l->square);
}

static weft_status infer(const weft_graph *graph, weft_node *node, weft_dtype *dtype,
                         weft_shape *shape) {
    const luma *l = weft_node_params(node);
    const weft_shape plane = *weft_node_shape(graph, node, 0);
    if (weft_node_dtype(graph, node, 0) != WEFT_F32 || plane.rank != 2 ||
        plane.dim[0] != l->height || plane.dim[1] != l->width) {
        return weft_node_fail(graph, node, WEFT_SHAPE_MISMATCH, "the plane must be f32 [%u, %u]",
                              l->height, l->width);
    }
    *dtype = WEFT_F32;
    *shape = weft_shape_of(1, PHOTO_TOKENS, PHOTO_CHANNELS);
    return WEFT_OK;
}

static weft_status lower(weft_lowering *lowering, const weft_node *node) {
    const luma *l = weft_node_params(node);
    const uint32_t pixels = l->square * l->square;
    const weft_arg args[] = {weft_arg_buffer("plane", weft_lower_input(lowering, node, 0)),
                             weft_arg_buffer("result", weft_lower_output(lowering, node)),
                             weft_arg_uint("count", PHOTO_VALUES),
                             weft_arg_uint("width", l->width),
                             weft_arg_uint("left", margin(l->width, l->square)),
                             weft_arg_uint("top", margin(l->height, l->square)),
                             weft_arg_uint("square", l->square),
                             weft_arg_float("black", (float)(l->black * pixels)),
                             weft_arg_float("scale", scale_of(l))};
    return weft_lower_launch(lowering, weft_launch(.kernel = {.name = "luma", .glsl = luma_glsl},
                                                   .items = PHOTO_VALUES, .args = args,
                                                   .arg_count = sizeof args / sizeof args[0],
                                                   .flops = (double)PHOTO_VALUES * pixels,
                                                   .bytes = 4.0 * PHOTO_VALUES * (pixels + 1)));
}

weft_status graph_luma(weft_tensor *out, weft_graph *graph, weft_tensor plane, const luma *l) {
    static const weft_implementation rows[] = {{.name = "squares", .lower = lower}};
    weft_op *op = NULL;
    weft_status status = weft_op_create(
        &op,
        weft_op_params(.name = "luma", .min_inputs = 1, .params_size = sizeof *l, .infer = infer,
                       .implementations = rows, .implementation_count = 1),
        NULL);
    if (status == WEFT_OK) {
        status = weft_graph_add(out, graph, op, &plane, 1, l, sizeof *l);
    }
    weft_op_destroy(&op); /* the graph keeps what it needs */
    return status;
}

void luma_on_host(const luma *l, const uint8_t *plane, int row, float *features) {
    const uint32_t left = margin(l->width, l->square), top = margin(l->height, l->square);
    for (uint32_t i = 0; i < PHOTO_SIDE * PHOTO_SIDE; i++) {
        const uint32_t x = i % PHOTO_SIDE, y = i / PHOTO_SIDE;
        int32_t sum = -(int32_t)(l->black * l->square * l->square);
        for (uint32_t j = 0; j < l->square * l->square; j++) {
            const size_t at_y = (size_t)top + (size_t)y * l->square + j / l->square;
            const size_t at_x = (size_t)left + (size_t)x * l->square + j % l->square;
            sum += plane[at_y * (size_t)row + at_x];
        }
        features[photo_place(x, y)] = (float)sum * scale_of(l);
    }
}
