/* SPDX-License-Identifier: MIT */
/* A model on the window's device: one batch of photographs after another, each run a few parts a frame. */
#ifndef WINDOW_NETWORK_H
#define WINDOW_NETWORK_H

#include "classifier.h"

enum {
    NETWORK_PATIENCE = 30
}; /* frames without room for a part, after which one is recorded all the same */

typedef struct network {
    classifier c;
    weft_plan_info info;
    uint32_t batch;   /* photographs of a run */
    uint32_t batches; /* that there are; run r is of batch r % batches */
    float
        *expected; /* [batches, batch, labels]: what the whole plan gives, from weft_plan_execute */
    gpu_buffer photos;        /* f32 [batches, batch, 49, 16], on the device */
    gpu_buffer logits;        /* a run's output for the host */
    weft_frame_cursor cursor; /* where the run is */
    uint32_t runs;            /* that are complete */
    uint32_t same_bits;       /* of them, with the bits of the whole plan */
    uint32_t parts_recorded;  /* of all runs */
    uint32_t waited;          /* frames since the last part */
    uint32_t skipped,
        forced; /* frames without room for a part; and those of them with one all the same */
} network;

/*
 * features: f32 [batches, batch, 49, 16]. Parts are cut to about part_ms, and timed. `g` stays where it is. What is wrong is
 * said on stderr.
 */
bool network_create(network *n, const gpu *g, const char *folder, float *features, uint32_t batch,
                    uint32_t batches, double part_ms);
void network_destroy(network *n);

/*
 * Records what fits into left_ms of the run that is under way, or of the next one. *recorded says whether there was anything; then
 * cursor.ms is what it is expected to take.
 */
bool network_record(network *n, VkCommandBuffer commands, double left_ms, bool *recorded);

/* When what was recorded has been executed: the logits [batch, labels] of a run that is complete now, or null. */
const float *network_finish(network *n, bool recorded);

/* How much of the run is done, from 0 to 1. */
float network_progress(const network *n);

#endif
