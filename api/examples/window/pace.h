/* SPDX-License-Identifier: MIT */
/* What frames take, and what of their budget is left for a network. */
#ifndef WINDOW_PACE_H
#define WINDOW_PACE_H

#include <stdbool.h>
#include <stddef.h>

/* A number that changes from frame to frame. */
typedef struct track {
    double mean; /* of about the newest 16 */
    double high; /* the largest; it comes down to the mean by a 24th a frame */
    bool any;
} track;

/* One frame, in milliseconds. */
typedef struct frame_times {
    double frame;    /* from the acquired image until all of its work is done */
    double drawing;  /* of it, on the device: the render pass */
    double network;  /* of it, on the device: parts of a run, 0 where there were none */
    double expected; /* what the network's parts were expected to take, 0 where there were none */
} frame_times;

typedef struct pace {
    double budget;    /* of a frame */
    double safety;    /* the share of it that is planned with */
    track others;     /* what a frame takes but for the network */
    track excess;     /* what parts take beyond what is expected of them */
    frame_times *all; /* every frame that was counted */
    size_t count, capacity;
} pace;

/* Milliseconds of parts, as weft_plan_record_frame counts them, that still fit into a frame; 0 or less: none. */
double pace_left(const pace *p);

/* A frame that is `counted` is in the summary, too. False where there is no memory. */
bool pace_add(pace *p, frame_times times, bool counted);
void pace_free(pace *p);

typedef struct pace_summary {
    double median, p99, worst;
} pace_summary;

/* Over all counted frames; `at` is the offset of a number in frame_times. */
pace_summary pace_summarize(const pace *p, size_t at);

/* How many of them took longer than the budget. */
size_t pace_over(const pace *p);

#endif
