/* SPDX-License-Identifier: MIT */
#include "classifier.h"

#include "photos.h"

#include <stdio.h>

static void print_log(void *user, weft_log_level level, const char *message) {
    (void)user;
    if (level <= WEFT_LOG_WARNING) {
        fprintf(stderr, "weft: %s\n", message);
    }
}

const weft_host classifier_host = {.log = print_log};

bool classifier_open(classifier *c, const gpu *g, queue_lock lock, const char *folder) {
    const weft_device_adopt_params params = {.host = classifier_host,
                                             .instance = g->instance,
                                             .physical_device = g->physical,
                                             .device = g->device,
                                             .queue = g->queue,
                                             .queue_family = g->family,
                                             .get_instance_proc_addr = vkGetInstanceProcAddr,
                                             .lock_queue = lock.lock,
                                             .unlock_queue = lock.unlock,
                                             .lock_user = lock.user,
                                             .timeline_semaphore = true};
    weft_model_info info;
    *c = (classifier){.g = g};
    if (weft_device_adopt(&c->device, &params) != WEFT_OK ||
        weft_model_load(&c->model, folder, &classifier_host) != WEFT_OK ||
        weft_model_get_info(c->model, &info) != WEFT_OK) {
        return false;
    }
    if (info.task != WEFT_TASK_CLASSIFY || info.input_size != PHOTO_CHANNELS ||
        info.max_length < PHOTO_TOKENS) {
        fprintf(stderr, "%s is no model of photographs\n", folder);
        return false;
    }
    c->labels = info.label_count;
    return true;
}

static bool bind_port(classifier *c, uint32_t index, gpu_buffer *memory, weft_buffer **port) {
    weft_port_info info;
    return weft_plan_get_port(c->plan, index, &info) == WEFT_OK &&
           gpu_make_buffer(c->g, memory, info.bytes, false) &&
           weft_buffer_wrap(port, c->device, memory->handle, 0, info.bytes) == WEFT_OK &&
           weft_bindings_set(c->bindings, info.name, *port) == WEFT_OK;
}

bool classifier_bind(classifier *c) {
    return weft_bindings_create(&c->bindings, c->plan) == WEFT_OK &&
           bind_port(c, 0, &c->input, &c->input_port) &&
           bind_port(c, 1, &c->output, &c->output_port);
}

void classifier_destroy(classifier *c) {
    weft_bindings_destroy(&c->bindings);
    weft_buffer_destroy(&c->input_port);
    weft_buffer_destroy(&c->output_port);
    weft_plan_destroy(&c->plan);
    weft_model_destroy(&c->model);
    weft_device_destroy(&c->device);
    if (c->g && c->g->device) {
        gpu_destroy_buffer(c->g, &c->input);
        gpu_destroy_buffer(c->g, &c->output);
    }
    *c = (classifier){0};
}

bool classifier_execute(weft_plan *plan, void *input, float *logits) {
    weft_port_info in, out;
    if (weft_plan_get_port(plan, 0, &in) != WEFT_OK ||
        weft_plan_get_port(plan, 1, &out) != WEFT_OK) {
        return false;
    }
    const weft_host_tensor tensors[] = {{in.name, input, in.bytes}, {out.name, logits, out.bytes}};
    return weft_plan_execute(plan, tensors, 2) == WEFT_OK;
}
