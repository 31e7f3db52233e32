/* SPDX-License-Identifier: MIT */
/* A model of photographs, on a device that is the host's. */
#ifndef HOSTS_CLASSIFIER_H
#define HOSTS_CLASSIFIER_H

#include "gpu.h"

#include <weft/model.h>
#include <weft/vulkan.h>

typedef struct classifier {
    const gpu *g;
    weft_device *device;
    weft_model *model;
    uint32_t labels;
    weft_plan *plan; /* the host's to compile: one input, one output */
    gpu_buffer input, output;
    weft_buffer *input_port, *output_port;
    weft_bindings *bindings;
} classifier;

/* How to use the queue that others use, too; all null where nobody does. */
typedef struct queue_lock {
    void (*lock)(void *user);
    void (*unlock)(void *user);
    void *user;
} queue_lock;

/* Adopts the device and loads the model. `g` stays where it is. What is wrong is said on stderr. */
bool classifier_open(classifier *c, const gpu *g, queue_lock lock, const char *folder);

/* Makes buffers for the plan's input and output. */
bool classifier_bind(classifier *c);

/* Before the host's VkDevice goes. */
void classifier_destroy(classifier *c);

/* A plan of one input and one output, with memory of the host's. */
bool classifier_execute(weft_plan *plan, void *input, float *logits);

/* Weft's warnings and errors go to stderr. */
extern const weft_host classifier_host;

#endif
