/* SPDX-License-Identifier: MIT */
/* Running what the queue holds: by its thread, or by who waits. */
#include "jobs/machine.h"
#include "jobs/thread.h"
#include "softvk/command.h"
#include "softvk/device.h"
#include "softvk/queue.h"
#include "softvk/softvk.h"

#define DOZE_NS    UINT64_C(250000) /* a submission is left to who waits for it for at least as long */
#define IDLE_DOZES 40u              /* without anything new, until the thread sleeps */

/* ---- running, all with the lock held ---- */

static bool is_reached(const struct weft_soft_point *point) {
    return atomic_load(&point->semaphore->value) >= point->value;
}

/* True if the first submission could be run by whoever asks. */
static bool is_ready(const struct weft_soft_queue *queue) {
    const struct weft_soft_submission *first = queue->first;
    if (!first || queue->running || queue->stop) {
        return false;
    }
    bool ready = true;
    for (uint32_t i = 0; i < first->wait_count; i++) {
        ready = ready && is_reached(&first->points[i]);
    }
    return ready || atomic_load(&queue->lost);
}

static void take_waits(const struct weft_soft_submission *submission) {
    for (uint32_t i = 0; i < submission->wait_count; i++) {
        struct weft_soft_semaphore *semaphore = submission->points[i].semaphore;
        if (!semaphore->timeline) {
            atomic_store(&semaphore->value, 0);
        }
    }
}

static void signal_all(const struct weft_soft_submission *submission) {
    for (uint32_t i = 0; i < submission->signal_count; i++) {
        const struct weft_soft_point *point = &submission->points[submission->wait_count + i];
        atomic_store(&point->semaphore->value, point->value);
    }
    if (submission->fence) {
        atomic_store(&submission->fence->signalled, 1);
    }
}

static void tell_waiters(struct weft_soft_queue *queue) {
    if (queue->waiters > 0) {
        pthread_cond_broadcast(&queue->changed);
    }
}

/* The watch of a submission that begins. Who loses the queue at this moment sets `lost` before the halt. */
static void begin_watch(struct weft_soft_queue *queue, const struct weft_soft_wait_info *info) {
    struct weft_watch *watch = &queue->watch;
    atomic_store(&watch->halt, 0);
    if (atomic_load(&queue->lost)) {
        atomic_store(&watch->halt, 1);
    }
    watch->ask = info ? info->ends : NULL;
    watch->user = info ? info->user : NULL;
    watch->asked_ns = info ? weft_clock_ns() : 0;
}

/* The lock is not held while commands run. `info` is that of the wait in which they do, or null. */
static void run_first(struct weft_soft_queue *queue, const struct weft_soft_wait_info *info) {
    const struct weft_soft_device *device = queue->device;
    struct weft_soft_submission *first = queue->first;
    const uint32_t command_count = first->cancelled ? 0 : first->command_count;
    take_waits(first);
    begin_watch(queue, info);
    queue->running = true;
    pthread_mutex_unlock(&queue->lock);
    for (uint32_t i = 0; i < command_count && !atomic_load(&queue->lost); i++) {
        device->backend->run(&first->commands[i]->stream, &queue->watch, device->state);
    }
    pthread_mutex_lock(&queue->lock);
    queue->running = false;
    queue->first = first->next;
    if (!queue->first) {
        queue->last = NULL;
        queue->hurry = false;
    }
    first->next = queue->spare;
    queue->spare = first;
    signal_all(
        first); /* last: who sees it without the lock may fork, and the child has no thread that goes on from here */
    tell_waiters(queue);
}

/* ---- the queue's thread ---- */

static void doze(struct weft_soft_queue *queue) {
    queue->dozing = true;
    weft_condition_wait(&queue->wake, &queue->lock, weft_clock_ns() + DOZE_NS);
    queue->dozing = false;
}

static void sleep_until_woken(struct weft_soft_queue *queue) {
    queue->asleep = true;
    pthread_cond_wait(&queue->wake, &queue->lock);
    queue->asleep = false;
}

/*
 * What was there before the last doze and has not begun, nobody waits for. Since the thread looks by itself for a while after
 * each submission, only the first after a pause has to wake it.
 */
static void *thread_main(void *argument) {
    WEFT_ENTER; /* it began as one that computes as kernels do, where weft_device_open made it */
    struct weft_soft_queue *queue = argument;
    uint64_t seen = 0;
    uint32_t idle = 0;
    bool busy = false;
    pthread_mutex_lock(&queue->lock);
    while (!queue->stop) {
        if (is_ready(queue) && (busy || queue->hurry || queue->first->number <= seen)) {
            run_first(queue, NULL);
            busy = true;
            continue;
        }
        busy = false;
        idle = queue->newest == seen ? idle + 1 : 0;
        seen = queue->newest;
        if (idle < IDLE_DOZES || is_ready(queue)) {
            doze(queue);
        } else {
            sleep_until_woken(queue);
            idle = 0;
        }
    }
    pthread_mutex_unlock(&queue->lock);
    return NULL;
}

/* For whoever leaves the queue to others: to its thread or, where it has none, to nobody. */
static void leave(struct weft_soft_queue *queue) {
    while (queue->immediate && is_ready(queue)) {
        run_first(queue, NULL);
    }
    if (queue->asleep && is_ready(queue)) {
        pthread_cond_signal(&queue->wake);
    }
}

static void hurry(struct weft_soft_queue *queue) {
    if (!queue->hurry && queue->first && !queue->running) {
        queue->hurry = true;
        if (queue->asleep || queue->dozing) {
            pthread_cond_signal(&queue->wake);
        }
    }
}

/* ---- for others ---- */

static uint64_t deadline_of(uint64_t timeout) {
    const uint64_t now = weft_clock_ns();
    return timeout < UINT64_MAX - now ? now + timeout : UINT64_MAX;
}

static void wait_for_change(struct weft_soft_queue *queue, uint64_t deadline) {
    queue->waiters++;
    weft_condition_wait(&queue->changed, &queue->lock, deadline);
    queue->waiters--;
}

static bool is_of(const struct weft_soft_submission *submission,
                  const struct weft_soft_waiter *waiter) {
    bool found = false;
    for (uint32_t i = 0; i < submission->signal_count; i++) {
        const struct weft_soft_point *point = &submission->points[submission->wait_count + i];
        found = found || (point->semaphore == waiter->semaphore &&
                          point->value >= waiter->info->first && point->value <= waiter->last);
    }
    return found;
}

static bool ends_by_itself(const struct weft_soft_submission *submission) {
    bool ends = true;
    for (uint32_t i = 0; i < submission->command_count; i++) {
        ends = ends && !submission->commands[i]->stream.has_given;
    }
    return ends;
}

static bool may_run(const struct weft_soft_queue *queue, const struct weft_soft_waiter *waiter) {
    return is_ready(queue) && (!waiter || !waiter->info->alone ||
                               (is_of(queue->first, waiter) && ends_by_itself(queue->first)));
}

/* Cancels the waiter's work: when this returns, it has ended or never begins. */
static void cancel_all_of(struct weft_soft_queue *queue, const struct weft_soft_waiter *waiter) {
    for (struct weft_soft_submission *at = queue->first; at; at = at->next) {
        at->cancelled = at->cancelled || is_of(at, waiter);
    }
    const struct weft_soft_submission *first = queue->first;
    const uint64_t number = first ? first->number : 0;
    while (queue->running && !atomic_load(&queue->broken) && queue->first->number == number &&
           queue->first->cancelled) {
        atomic_store(&queue->watch.halt, 1);
        wait_for_change(queue, weft_clock_ns() + WEFT_WATCH_ASK_NS);
    }
}

/* Asks whether the wait is to end. */
static bool is_over(struct weft_soft_queue *queue, const struct weft_soft_wait_info *info) {
    pthread_mutex_unlock(&queue->lock);
    const bool over = info->ends(info->user);
    pthread_mutex_lock(&queue->lock);
    return over;
}

/* One step of a wait; false when the time is over. */
static bool wait_step(struct weft_soft_queue *queue, uint64_t deadline,
                      const struct weft_soft_waiter *waiter) {
    const bool for_ever = deadline == UINT64_MAX;
    const uint64_t now = weft_clock_ns();
    const uint64_t next = now + WEFT_WATCH_ASK_NS;
    if (for_ever && may_run(queue, waiter)) {
        run_first(queue, waiter ? waiter->info : NULL);
        if (!waiter || !weft_halted(&queue->watch) || !is_over(queue, waiter->info)) {
            return true;
        }
        cancel_all_of(queue, waiter);
        return false;
    }
    if (!for_ever || is_ready(queue)) {
        hurry(queue);
    }
    if (now >= deadline) {
        return false;
    }
    /* Who cancels everything wakes nobody: he may be in a signal handler. */
    wait_for_change(queue, next < deadline ? next : deadline);
    if (waiter && weft_clock_ns() >= next && is_over(queue, waiter->info)) {
        cancel_all_of(queue, waiter);
        return false;
    }
    return true;
}

VkResult weft_soft_queue_wait(struct weft_soft_queue *queue,
                              bool (*done)(const struct weft_soft_queue *queue, const void *what),
                              const void *what, uint64_t timeout,
                              const struct weft_soft_waiter *waiter) {
    VkResult result = VK_SUCCESS;
    weft_given_jobs_look(queue->device->given);
    const uint64_t deadline = timeout == UINT64_MAX ? UINT64_MAX : deadline_of(timeout);
    pthread_mutex_lock(&queue->lock);
    while (!done(queue, what)) {
        if (atomic_load(&queue->broken)) {
            result = VK_ERROR_DEVICE_LOST;
            break;
        }
        if (!wait_step(queue, deadline, waiter)) {
            result = VK_TIMEOUT;
            break;
        }
    }
    leave(queue);
    pthread_mutex_unlock(&queue->lock);
    return result;
}

void weft_soft_queue_set(struct weft_soft_queue *queue, atomic_uint_least64_t *state,
                         uint64_t value) {
    pthread_mutex_lock(&queue->lock);
    atomic_store(state, value);
    tell_waiters(queue);
    leave(queue);
    pthread_mutex_unlock(&queue->lock);
}

void weft_soft_queue_hurry(struct weft_soft_queue *queue) {
    pthread_mutex_lock(&queue->lock);
    hurry(queue);
    pthread_mutex_unlock(&queue->lock);
}

void weft_soft_cancel(VkDevice device) {
    struct weft_soft_queue *queue = &weft_soft_device_of(device)->queue;
    atomic_store(&queue->lost, true);
    atomic_store(&queue->watch.halt, 1);
}

/* ---- submissions ---- */

void weft_soft_submissions_free(const struct weft_soft_queue *queue,
                                struct weft_soft_submission *first) {
    while (first) {
        struct weft_soft_submission *next = first->next;
        weft_soft_delete(queue->device, first->points);
        weft_soft_delete(queue->device, first->commands);
        weft_soft_delete(queue->device, first);
        first = next;
    }
}

struct weft_soft_submission *weft_soft_submission_new(struct weft_soft_queue *queue) {
    pthread_mutex_lock(&queue->lock);
    struct weft_soft_submission *spare = queue->spare;
    if (spare) {
        queue->spare = spare->next;
    }
    pthread_mutex_unlock(&queue->lock);
    if (!spare) {
        return weft_soft_new(queue->device, sizeof *spare);
    }
    spare->next = NULL;
    spare->fence = NULL;
    spare->cancelled = false;
    spare->wait_count = spare->signal_count = spare->command_count = 0;
    return spare;
}

/* With the lock held. Where the system has no thread more, who submits runs it. */
static void start_thread(struct weft_soft_queue *queue) {
    if (!queue->has_thread && !queue->immediate) {
        queue->has_thread = weft_thread_start(&queue->thread, thread_main, queue);
        queue->immediate = !queue->has_thread;
        if (queue->immediate) {
            weft_log(
                &queue->device->host, WEFT_LOG_WARNING,
                "the queue's thread could not be started: submitting waits for what is submitted");
        }
    }
}

VkResult weft_soft_queue_append(struct weft_soft_queue *queue, struct weft_soft_submission *first,
                                struct weft_soft_submission *last) {
    weft_given_jobs_look(queue->device->given);
    if (atomic_load(&queue->broken)) {
        weft_soft_submissions_free(queue, first);
        return VK_ERROR_DEVICE_LOST;
    }
    pthread_mutex_lock(&queue->lock);
    start_thread(queue);
    for (struct weft_soft_submission *made = first; made; made = made->next) {
        made->number = ++queue->newest;
    }
    if (queue->last) {
        queue->last->next = first;
    } else {
        queue->first = first;
    }
    queue->last = last;
    tell_waiters(queue);
    leave(queue);
    pthread_mutex_unlock(&queue->lock);
    return VK_SUCCESS;
}

/* ---- from start to end ---- */

static bool create_locks(struct weft_soft_queue *queue) {
    if (pthread_mutex_init(&queue->lock, NULL) != 0) {
        return false;
    }
    if (!weft_condition_create(&queue->changed)) {
        pthread_mutex_destroy(&queue->lock);
        return false;
    }
    if (!weft_condition_create(&queue->wake)) {
        pthread_cond_destroy(&queue->changed);
        pthread_mutex_destroy(&queue->lock);
        return false;
    }
    return true;
}

static void destroy_locks(struct weft_soft_queue *queue) {
    pthread_cond_destroy(&queue->wake);
    pthread_cond_destroy(&queue->changed);
    pthread_mutex_destroy(&queue->lock);
}

VkResult weft_soft_queue_start(struct weft_soft_queue *queue, struct weft_soft_device *device) {
    queue->loader = WEFT_SOFT_LOADER_MAGIC;
    queue->device = device;
    queue->immediate = device->physical->properties.immediate;
    if (!create_locks(queue)) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    start_thread(queue);
    return VK_SUCCESS;
}

bool weft_soft_queue_inherit(struct weft_soft_queue *queue) {
    if (queue->first) {
        return false;
    }
    queue->has_thread = queue->asleep = queue->dozing = false;
    queue->waiters = 0;
    return create_locks(queue);
}

void weft_soft_queue_end(struct weft_soft_queue *queue) {
    pthread_mutex_lock(&queue->lock);
    queue->stop = true;
    pthread_cond_signal(&queue->wake);
    pthread_mutex_unlock(&queue->lock);
    if (queue->has_thread) {
        pthread_join(queue->thread, NULL);
    }
    weft_soft_submissions_free(queue, queue->first);
    weft_soft_submissions_free(queue, queue->spare);
    destroy_locks(queue);
}
