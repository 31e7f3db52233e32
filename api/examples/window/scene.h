/* SPDX-License-Identifier: MIT */
/* What is on the screen: photographs on a belt that the network names as it comes to them, and what it costs. */
#ifndef WINDOW_SCENE_H
#define WINDOW_SCENE_H

#include "draw.h"
#include "network.h"
#include "pace.h"
#include "photos.h"

enum {
    SCENE_WIDTH = 800,
    SCENE_HEIGHT = 450, /* pixels */
    SCENE_ROWS = 3,     /* of photographs */
    SCENE_KEPT = 128,   /* photographs whose answer is still shown, at least */
    SCENE_FRAMES = 240  /* in the chart of times */
};

typedef struct answer {
    uint32_t photo; /* counted over all runs, plus 1; 0: none */
    uint32_t label;
    float probability;
} answer;

typedef struct scene {
    draw d;
    const network *n;
    const pace *p;
    const uint32_t *labels; /* the true ones, [batches, batch] */
    answer answers[SCENE_KEPT];
    uint32_t answered, right;
    float place; /* of the belt: pixels that have gone by */
    frame_times newest[SCENE_FRAMES];
    uint32_t frames;
} scene;

/* Logits [batch, labels] of run `run`. */
void scene_answer(scene *s, uint32_t run, const float *logits);

void scene_add(scene *s, frame_times times);

/* The quads of one frame. */
void scene_draw(scene *s);

#endif
