/* SPDX-License-Identifier: MIT */
/* Rectangles, text and photographs: one list a frame, drawn at once. */
#ifndef WINDOW_DRAW_H
#define WINDOW_DRAW_H

#include "host.h"

enum { DRAW_QUADS = 8192 }; /* most of a frame; those behind them are not drawn */

typedef struct color {
    float red, green, blue, opacity;
} color;

typedef struct draw {
    const host *h;
    VkDescriptorSetLayout set_layout;
    VkDescriptorPool pool;
    VkDescriptorSet set;
    VkPipelineLayout layout;
    VkPipeline pipeline;
    gpu_buffer quads;
    uint32_t count; /* quads of this frame */
} draw;

/* `photos` holds photographs as the network reads them, f32 [count, 49, 16]. */
bool draw_create(draw *d, const host *h, const gpu_buffer *photos);
void draw_destroy(draw *d);

/* Coordinates and sizes are pixels of the window from its upper left corner. */
void draw_box(draw *d, float x, float y, float width, float height, color fill);
void draw_photo(draw *d, float x, float y, float side, uint32_t index, color light);

/* Characters of 5 by 7 dots in cells of 6 by 8, `dot` pixels each. Returns where the next one would be. */
float draw_text(draw *d, float x, float y, float dot, color ink, const char *text);

/* A render pass with all quads of this frame; the list is then empty. */
void draw_record(draw *d, VkCommandBuffer commands);

#endif
