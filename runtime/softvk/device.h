/* SPDX-License-Identifier: MIT */
#ifndef WEFT_SOFTVK_DEVICE_H
#define WEFT_SOFTVK_DEVICE_H

#include <stdatomic.h>

#include "jobs/given_jobs.h"
#include "jobs/threads.h"
#include "softvk/instance.h"
#include "softvk/queue.h"

struct weft_soft_device {
    uintptr_t loader;
    weft_host host;
    const struct weft_soft_physical *physical;
    const struct weft_soft_backend *backend;
    void *state;                   /* the back end's */
    bool checked;                  /* robustBufferAccess is on */
    atomic_bool careful;           /* weft_soft_set_careful */
    struct weft_threads *threads;  /* these, … */
    struct weft_given_jobs *given; /* … or the program's jobs */
    weft_job_system jobs;
    atomic_flag jobs_taken; /* by the queue or by whoever compiles */
    atomic_uint busy;       /* calls that take a lock of a pipeline cache or of the back end */
    struct weft_soft_queue queue;
    atomic_uint_least64_t memory_in_use; /* bytes of VkDeviceMemory */
};

WEFT_SOFT_OBJECT(VkDevice, device)

/** True if the caller may use the device's job system, which it gives back soon; if not, it works alone. */
static inline bool weft_soft_take_jobs(struct weft_soft_device *device) {
    return !atomic_flag_test_and_set(&device->jobs_taken);
}

static inline void weft_soft_give_jobs(struct weft_soft_device *device) {
    atomic_flag_clear(&device->jobs_taken);
}

/** Zeroed, from the device's host; null when memory is out. */
static inline void *weft_soft_new(const struct weft_soft_device *device, size_t size) {
    return weft_alloc_zero(&device->host, 1, size);
}

static inline void weft_soft_delete(const struct weft_soft_device *device, void *object) {
    weft_free(&device->host, object);
}

#endif
