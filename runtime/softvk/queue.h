/* SPDX-License-Identifier: MIT */
/*
 * The queue: submissions in order, run by one thread at a time. That is whichever waits for a result for ever, since it has
 * nothing else to do, and else the queue's own, which is woken as seldom as can be: the way from a submission to its
 * result then has no system call in it.
 */
#ifndef WEFT_SOFTVK_QUEUE_H
#define WEFT_SOFTVK_QUEUE_H

#include <pthread.h>
#include <stdatomic.h>

#include "jobs/share.h"
#include "softvk/functions.h"

struct weft_soft_device;
struct weft_soft_command_buffer;
struct weft_soft_submission;

struct weft_soft_queue {
    uintptr_t loader;
    struct weft_soft_device *device;
    pthread_mutex_t lock;   /* of what follows, and of the states of semaphores and fences */
    pthread_cond_t changed; /* for waiters: one of those states, or a submission came or went */
    pthread_cond_t wake;    /* for the thread */
    pthread_t thread;
    struct weft_soft_submission *first, *last; /* not done; first may be running */
    struct weft_soft_submission *spare;        /* done, to be used again */
    uint64_t newest;                           /* number of the newest submission */
    uint32_t waiters;                          /* threads in `changed` */
    bool running;                              /* some thread runs `first` */
    bool asleep, dozing; /* the thread is in `wake`: until it is woken, or for a moment */
    bool hurry;          /* somebody looks for results without waiting: nothing is left to others */
    bool stop;
    bool immediate;          /* it has no thread: who submits or signals runs what is ready */
    bool has_thread;         /* not in a forked child, until something is submitted */
    struct weft_watch watch; /* of what runs */
    atomic_bool lost;        /* by weft_soft_cancel: nothing runs any more */
    atomic_bool broken;      /* by a job system that did not return: `running` for ever */
};

/** Value of a timeline semaphore; 1 or 0 of a binary one. */
struct weft_soft_semaphore {
    atomic_uint_least64_t value;
    bool timeline;
};

struct weft_soft_fence {
    atomic_uint_least64_t signalled; /* 1 or 0 */
};

/* A semaphore with the value to wait for or to set. */
struct weft_soft_point {
    struct weft_soft_semaphore *semaphore;
    uint64_t value;
};

struct weft_soft_submission {
    struct weft_soft_submission *next;
    uint64_t number;
    struct weft_soft_point *points; /* to wait for, then to signal */
    struct weft_soft_command_buffer **commands;
    uint32_t wait_count, signal_count, command_count;
    uint32_t point_room, command_room;
    struct weft_soft_fence *fence; /* or null */
    bool cancelled;                /* it does nothing, but signals */
};

WEFT_SOFT_OBJECT(VkQueue, queue)
WEFT_SOFT_OBJECT(VkSemaphore, semaphore)
WEFT_SOFT_OBJECT(VkFence, fence)

/** With its thread. */
VkResult weft_soft_queue_start(struct weft_soft_queue *queue, struct weft_soft_device *device);
/** In a forked child, which has not its parent's thread: false where the queue is not empty, or the system has no more locks. */
bool weft_soft_queue_inherit(struct weft_soft_queue *queue);
/** Drops what has not begun. */
void weft_soft_queue_end(struct weft_soft_queue *queue);

/* Who waits for some submissions, and may cancel them. */
struct weft_soft_waiter {
    const struct weft_soft_wait_info *info;
    const struct weft_soft_semaphore *semaphore; /* that they signal, … */
    uint64_t last;                               /* … from info->first to this value */
};

/**
 * Waits, at most `timeout` nanoseconds, until done(what), which is called with the lock held; VK_SUCCESS, VK_TIMEOUT or
 * VK_ERROR_DEVICE_LOST. Where the
 * wait is for ever (UINT64_MAX) the calling thread runs what nobody has begun. `waiter` may be null: nothing ends the wait.
 */
VkResult weft_soft_queue_wait(struct weft_soft_queue *queue,
                              bool (*done)(const struct weft_soft_queue *queue, const void *what),
                              const void *what, uint64_t timeout,
                              const struct weft_soft_waiter *waiter);

/** The host has changed a state: sets *state to `value` and tells whom it concerns. */
void weft_soft_queue_set(struct weft_soft_queue *queue, atomic_uint_least64_t *state,
                         uint64_t value);

/** Somebody looks for a result and goes away again: what has not begun begins now. */
void weft_soft_queue_hurry(struct weft_soft_queue *queue);

/** One that counts nothing, old or new; null when memory is out. It may have room from its last use. */
struct weft_soft_submission *weft_soft_submission_new(struct weft_soft_queue *queue);
/** Frees a list of submissions that are not in the queue. */
void weft_soft_submissions_free(const struct weft_soft_queue *queue,
                                struct weft_soft_submission *first);
/**
 * Puts a list behind what the queue holds. Otherwise the list is freed: VK_ERROR_DEVICE_LOST where nothing runs any more,
 * VK_ERROR_OUT_OF_HOST_MEMORY where the queue's thread was to be started and the system has no more.
 */
VkResult weft_soft_queue_append(struct weft_soft_queue *queue, struct weft_soft_submission *first,
                                struct weft_soft_submission *last);

#endif
