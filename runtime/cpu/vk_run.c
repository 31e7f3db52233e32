/* SPDX-License-Identifier: MIT */
/* Running what the queue holds: by its thread, or by who waits. */
#include "cpu/processor.h"
#include "cpu/thread.h"
#include "cpu/vk_command.h"
#include "cpu/vk_device.h"
#include "cpu/vk_queue.h"

#define DOZE_NS    UINT64_C(250000) /* a submission is left to who waits for it for at least as long */
#define IDLE_DOZES 40u              /* without anything new, until the thread sleeps */

/* ---- running, all with the lock held ---- */

static bool is_reached(const struct weft_cpu_point *point) {
    return atomic_load(&point->semaphore->value) >= point->value;
}

/* Whether the first submission could be run by whoever asks. */
static bool is_ready(const struct weft_cpu_queue *queue) {
    const struct weft_cpu_submission *first = queue->first;
    if (!first || queue->running || queue->stop) {
        return false;
    }
    bool ready = true;
    for (uint32_t i = 0; i < first->wait_count; i++) {
        ready = ready && is_reached(&first->points[i]);
    }
    return ready;
}

static void take_waits(const struct weft_cpu_submission *submission) {
    for (uint32_t i = 0; i < submission->wait_count; i++) {
        struct weft_cpu_semaphore *semaphore = submission->points[i].semaphore;
        if (!semaphore->timeline) {
            atomic_store(&semaphore->value, 0);
        }
    }
}

static void signal_all(const struct weft_cpu_submission *submission) {
    for (uint32_t i = 0; i < submission->signal_count; i++) {
        const struct weft_cpu_point *point = &submission->points[submission->wait_count + i];
        atomic_store(&point->semaphore->value, point->value);
    }
    if (submission->fence) {
        atomic_store(&submission->fence->signalled, true);
    }
}

static void tell_waiters(struct weft_cpu_queue *queue) {
    if (queue->waiters > 0) {
        pthread_cond_broadcast(&queue->changed);
    }
}

/* The lock is not held while commands run. */
static void run_first(struct weft_cpu_queue *queue) {
    struct weft_cpu_submission *first = queue->first;
    take_waits(first);
    queue->running = true;
    pthread_mutex_unlock(&queue->lock);
    for (uint32_t i = 0; i < first->command_count; i++) {
        weft_cpu_execute(queue->device, &first->commands[i]->stream);
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

static void doze(struct weft_cpu_queue *queue) {
    queue->dozing = true;
    weft_cpu_condition_wait(&queue->wake, &queue->lock, weft_cpu_clock_ns() + DOZE_NS);
    queue->dozing = false;
}

static void sleep_until_woken(struct weft_cpu_queue *queue) {
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
    struct weft_cpu_queue *queue = argument;
    uint64_t seen = 0;
    uint32_t idle = 0;
    bool busy = false;
    pthread_mutex_lock(&queue->lock);
    while (!queue->stop) {
        if (is_ready(queue) && (busy || queue->hurry || queue->first->number <= seen)) {
            run_first(queue);
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

/* For whoever leaves the queue to the thread. */
static void leave_to_thread(struct weft_cpu_queue *queue) {
    if (queue->asleep && is_ready(queue)) {
        pthread_cond_signal(&queue->wake);
    }
}

static void hurry(struct weft_cpu_queue *queue) {
    if (!queue->hurry && queue->first && !queue->running) {
        queue->hurry = true;
        if (queue->asleep || queue->dozing) {
            pthread_cond_signal(&queue->wake);
        }
    }
}

/* ---- for others ---- */

static uint64_t deadline_of(uint64_t timeout) {
    const uint64_t now = weft_cpu_clock_ns();
    return timeout < UINT64_MAX - now ? now + timeout : UINT64_MAX;
}

/* One step of a wait; false when the time is over. */
static bool wait_step(struct weft_cpu_queue *queue, uint64_t deadline) {
    const bool for_ever = deadline == UINT64_MAX;
    if (for_ever && is_ready(queue)) {
        run_first(queue);
        return true;
    }
    if (!for_ever) {
        hurry(queue);
        if (weft_cpu_clock_ns() >= deadline) {
            return false;
        }
    }
    queue->waiters++;
    weft_cpu_condition_wait(&queue->changed, &queue->lock, deadline);
    queue->waiters--;
    return true;
}

VkResult weft_cpu_queue_wait(struct weft_cpu_queue *queue,
                             bool (*done)(const struct weft_cpu_queue *queue, const void *what),
                             const void *what, uint64_t timeout) {
    VkResult result = VK_SUCCESS;
    const uint64_t deadline = timeout == UINT64_MAX ? UINT64_MAX : deadline_of(timeout);
    pthread_mutex_lock(&queue->lock);
    while (!done(queue, what)) {
        if (!wait_step(queue, deadline)) {
            result = VK_TIMEOUT;
            break;
        }
    }
    leave_to_thread(queue);
    pthread_mutex_unlock(&queue->lock);
    return result;
}

void weft_cpu_queue_set_value(struct weft_cpu_queue *queue, atomic_uint_least64_t *state,
                              uint64_t value) {
    pthread_mutex_lock(&queue->lock);
    atomic_store(state, value);
    tell_waiters(queue);
    leave_to_thread(queue);
    pthread_mutex_unlock(&queue->lock);
}

void weft_cpu_queue_set_flag(struct weft_cpu_queue *queue, atomic_bool *state, bool value) {
    pthread_mutex_lock(&queue->lock);
    atomic_store(state, value);
    tell_waiters(queue);
    pthread_mutex_unlock(&queue->lock);
}

void weft_cpu_queue_hurry(struct weft_cpu_queue *queue) {
    pthread_mutex_lock(&queue->lock);
    hurry(queue);
    pthread_mutex_unlock(&queue->lock);
}

void weft_cpu_queue_await_flag(struct weft_cpu_queue *queue, const atomic_bool *state) {
    pthread_mutex_lock(&queue->lock);
    queue->waiters++;
    while (!atomic_load(state)) {
        pthread_cond_wait(&queue->changed, &queue->lock);
    }
    queue->waiters--;
    pthread_mutex_unlock(&queue->lock);
}

/* ---- submissions ---- */

void weft_cpu_submissions_free(const struct weft_cpu_queue *queue,
                               struct weft_cpu_submission *first) {
    while (first) {
        struct weft_cpu_submission *next = first->next;
        weft_cpu_delete(queue->device, first->points);
        weft_cpu_delete(queue->device, first->commands);
        weft_cpu_delete(queue->device, first);
        first = next;
    }
}

struct weft_cpu_submission *weft_cpu_submission_new(struct weft_cpu_queue *queue) {
    pthread_mutex_lock(&queue->lock);
    struct weft_cpu_submission *spare = queue->spare;
    if (spare) {
        queue->spare = spare->next;
    }
    pthread_mutex_unlock(&queue->lock);
    if (!spare) {
        return weft_cpu_new(queue->device, sizeof *spare);
    }
    spare->next = NULL;
    spare->fence = NULL;
    spare->wait_count = spare->signal_count = spare->command_count = 0;
    return spare;
}

/* With the lock held. */
static bool start_thread(struct weft_cpu_queue *queue) {
    if (!queue->has_thread) {
        queue->has_thread = weft_cpu_thread_start(&queue->thread, thread_main, queue);
    }
    return queue->has_thread;
}

bool weft_cpu_queue_append(struct weft_cpu_queue *queue, struct weft_cpu_submission *first,
                           struct weft_cpu_submission *last) {
    pthread_mutex_lock(&queue->lock);
    if (!start_thread(queue)) {
        pthread_mutex_unlock(&queue->lock);
        return false;
    }
    for (struct weft_cpu_submission *made = first; made; made = made->next) {
        made->number = ++queue->newest;
    }
    if (queue->last) {
        queue->last->next = first;
    } else {
        queue->first = first;
    }
    queue->last = last;
    tell_waiters(queue);
    leave_to_thread(queue);
    pthread_mutex_unlock(&queue->lock);
    return true;
}

/* ---- from start to end ---- */

static bool create_locks(struct weft_cpu_queue *queue) {
    if (pthread_mutex_init(&queue->lock, NULL) != 0) {
        return false;
    }
    if (!weft_cpu_condition_create(&queue->changed)) {
        pthread_mutex_destroy(&queue->lock);
        return false;
    }
    if (!weft_cpu_condition_create(&queue->wake)) {
        pthread_cond_destroy(&queue->changed);
        pthread_mutex_destroy(&queue->lock);
        return false;
    }
    return true;
}

static void destroy_locks(struct weft_cpu_queue *queue) {
    pthread_cond_destroy(&queue->wake);
    pthread_cond_destroy(&queue->changed);
    pthread_mutex_destroy(&queue->lock);
}

VkResult weft_cpu_queue_start(struct weft_cpu_queue *queue, struct weft_cpu_device *device) {
    queue->loader = WEFT_CPU_LOADER_MAGIC;
    queue->device = device;
    if (!create_locks(queue)) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    if (!start_thread(queue)) {
        destroy_locks(queue);
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    return VK_SUCCESS;
}

bool weft_cpu_queue_inherit(struct weft_cpu_queue *queue) {
    if (queue->first) {
        return false;
    }
    queue->has_thread = queue->asleep = queue->dozing = false;
    queue->waiters = 0;
    return create_locks(queue);
}

void weft_cpu_queue_end(struct weft_cpu_queue *queue) {
    pthread_mutex_lock(&queue->lock);
    queue->stop = true;
    pthread_cond_signal(&queue->wake);
    pthread_mutex_unlock(&queue->lock);
    if (queue->has_thread) {
        pthread_join(queue->thread, NULL);
    }
    weft_cpu_submissions_free(queue, queue->first);
    weft_cpu_submissions_free(queue, queue->spare);
    destroy_locks(queue);
}
