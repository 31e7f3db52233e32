/* SPDX-License-Identifier: MIT */
/* Several runs that share frames: which of them goes on, and for how long. */
#include <string.h>

#include <weft/vulkan.h>

#include "core/given.h"
#include "core/try.h"
#include "plan/plan.h"

struct job {
    uint64_t number;
    weft_plan *plan; /* these two only until it has ended */
    weft_bindings *bindings;
    weft_frame_job_info info;
};

struct weft_frame_queue {
    weft_device *device;
    struct job *jobs; /* in the order of arrival; of those that have ended, the newest */
    uint32_t count, room;
    uint32_t ended; /* of them */
    uint64_t newest;
    uint64_t *finished; /* in the newest frame; with room for all jobs */
    uint32_t finished_count, finished_room;
};

weft_status weft_frame_queue_create(weft_frame_queue **out, weft_device *device) {
    WEFT_ENTER;
    WEFT_GIVEN_AS(WEFT_HOST_OF(device, host), "queue, device", out, device);
    WEFT_TRY(weft_device_runs(device));
    weft_frame_queue *queue = weft_alloc_zero(&device->host, 1, sizeof *queue);
    if (!queue) {
        return weft_fail_memory(&device->host, "a frame queue");
    }
    queue->device = device;
    *out = queue;
    return WEFT_OK;
}

void weft_frame_queue_destroy(weft_frame_queue **address) {
    WEFT_ENTER;
    weft_frame_queue *queue = address ? *address : NULL;
    if (queue) {
        const weft_host *host = &queue->device->host;
        *address = NULL;
        weft_free(host, queue->jobs);
        weft_free(host, queue->finished);
        weft_free(host, queue);
    }
}

static bool has_ended(const struct job *job) {
    return job->info.state == WEFT_FRAME_JOB_DONE || job->info.state == WEFT_FRAME_JOB_CANCELLED;
}

/* ---- who comes next ---- */

static bool have_same_state(const struct job *a, uint32_t i, const struct job *b, uint32_t j) {
    const struct weft_port *of_a = &a->plan->ports[i], *of_b = &b->plan->ports[j];
    const uint64_t begin_a = a->bindings->offsets[i], begin_b = b->bindings->offsets[j];
    return of_a->is_state && of_b->is_state && a->bindings->buffers[i] == b->bindings->buffers[j] &&
           begin_a < begin_b + of_b->bytes && begin_b < begin_a + of_a->bytes;
}

static bool share_state(const struct job *a, const struct job *b) {
    for (uint32_t i = 0; i < a->plan->port_count; i++) {
        for (uint32_t j = 0; j < b->plan->port_count; j++) {
            if (have_same_state(a, i, b, j)) {
                return true;
            }
        }
    }
    return false;
}

/* True if `other` must end before `job` may go on. */
static bool goes_before(const struct job *other, const struct job *job) {
    if (other == job || has_ended(other)) {
        return false;
    }
    const bool runs = other->info.state == WEFT_FRAME_JOB_RUNNING;
    return (runs && other->bindings->workspace == job->bindings->workspace) ||
           ((runs || other < job) && share_state(other, job));
}

/* The first by priority, or whoever must end before it; null when all have ended. */
static struct job *choose(const weft_frame_queue *queue) {
    struct job *chosen = NULL;
    for (uint32_t i = 0; i < queue->count; i++) {
        struct job *job = &queue->jobs[i];
        if (!has_ended(job) && (!chosen || job->info.priority > chosen->info.priority)) {
            chosen = job;
        }
    }
    /* Each step leads to a job that came earlier, or to one that runs, which nobody precedes: `count` of them at most. */
    for (uint32_t step = 0; chosen && step < queue->count; step++) {
        uint32_t i = 0;
        while (i < queue->count && !goes_before(&queue->jobs[i], chosen)) {
            i++;
        }
        if (i == queue->count) {
            break;
        }
        chosen = &queue->jobs[i];
    }
    return chosen;
}

/* ---- jobs ---- */

/* Only so many that have ended are remembered. */
static void drop_oldest(weft_frame_queue *queue) {
    uint32_t oldest = 0;
    if (queue->ended <= WEFT_FRAME_QUEUE_REMEMBERS) {
        return;
    }
    while (!has_ended(&queue->jobs[oldest])) {
        oldest++;
    }
    queue->count--;
    queue->ended--;
    memmove(&queue->jobs[oldest], &queue->jobs[oldest + 1],
            (queue->count - oldest) * sizeof *queue->jobs);
}

static void end(weft_frame_queue *queue, struct job *job, weft_frame_job_state state) {
    job->info.state = state;
    job->plan = NULL;
    job->bindings = NULL;
    queue->ended++;
}

weft_status weft_frame_queue_add(weft_frame_queue *queue, weft_plan *plan, weft_bindings *bindings,
                                 int32_t priority, uint64_t *job) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(queue, device->host), queue, plan, bindings, job);
    if (bindings->plan != plan || plan->device != queue->device) {
        return weft_fail(&queue->device->host, WEFT_INVALID_ARGUMENT, "weft_frame_queue_add: %s",
                         bindings->plan != plan ? "the bindings are of another plan"
                                                : "the plan is of another device");
    }
    const weft_host *host = &queue->device->host;
    WEFT_TRY(weft_device_runs(queue->device));
    WEFT_TRY(weft_bindings_prepare(bindings));
    if (!weft_grow(host, &queue->jobs, queue->count, &queue->room, sizeof *queue->jobs) ||
        !weft_grow(host, &queue->finished, queue->count, &queue->finished_room,
                   sizeof *queue->finished)) {
        return weft_fail_memory(host, "a frame queue's jobs");
    }
    queue->jobs[queue->count++] =
        (struct job){.number = ++queue->newest,
                     .plan = plan,
                     .bindings = bindings,
                     .info = {.priority = priority, .parts = plan->steps.count}};
    drop_oldest(queue);
    *job = queue->newest;
    return WEFT_OK;
}

static struct job *find(const weft_frame_queue *queue, uint64_t number) {
    for (uint32_t i = 0; i < queue->count; i++) {
        if (queue->jobs[i].number == number) {
            return &queue->jobs[i];
        }
    }
    return NULL;
}

static bool has_states(const weft_plan *plan) {
    bool any = false;
    for (uint32_t i = 0; i < plan->port_count; i++) {
        any = any || plan->ports[i].is_state;
    }
    return any;
}

static weft_status not_found(const weft_frame_queue *queue, uint64_t number) {
    return weft_fail(&queue->device->host, WEFT_NOT_FOUND, "the frame queue knows no job %llu",
                     (unsigned long long)number);
}

weft_status weft_frame_queue_cancel(weft_frame_queue *queue, uint64_t number) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(queue, device->host), queue);
    struct job *job = find(queue, number);
    if (!job) {
        return not_found(queue, number);
    }
    if (has_ended(job)) {
        return WEFT_OK;
    }
    if (job->info.state == WEFT_FRAME_JOB_RUNNING && has_states(job->plan)) {
        return weft_fail(&queue->device->host, WEFT_INVALID_ARGUMENT,
                         "weft_frame_queue_cancel: job %llu has begun to change a state, and must "
                         "end",
                         (unsigned long long)number);
    }
    end(queue, job, WEFT_FRAME_JOB_CANCELLED);
    return WEFT_OK;
}

weft_status weft_frame_queue_get_job(const weft_frame_queue *queue, uint64_t number,
                                     weft_frame_job_info *info) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(queue, device->host), queue, info);
    const struct job *job = find(queue, number);
    if (!job) {
        return not_found(queue, number);
    }
    *info = job->info;
    return WEFT_OK;
}

/* ---- frames ---- */

/* Records what of the job fits behind what the frame has; *any: there was something. */
static weft_status record_job(weft_frame_queue *queue, VkCommandBuffer commands, struct job *job,
                              double budget_ms, weft_frame_info *frame, bool *any) {
    double ms = 0.0;
    const uint32_t first = job->info.recorded;
    const uint32_t count =
        weft_parts_that_fit(job->plan, first, budget_ms - frame->ms, frame->parts == 0, &ms);
    *any = count > 0;
    if (count == 0) {
        return WEFT_OK;
    }
    WEFT_TRY(weft_plan_record_range(job->plan, commands, job->bindings, first, count));
    frame->parts += count;
    frame->ms += ms;
    job->info.recorded += count;
    job->info.state = WEFT_FRAME_JOB_RUNNING;
    if (job->info.recorded == job->info.parts) {
        queue->finished[queue->finished_count++] = job->number;
        end(queue, job, WEFT_FRAME_JOB_DONE);
    }
    return WEFT_OK;
}

weft_status weft_frame_queue_record(weft_frame_queue *queue, VkCommandBuffer commands,
                                    double budget_ms, weft_frame_info *info) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(queue, device->host), queue, commands);
    if (!(budget_ms > 0.0)) {
        return weft_fail(&queue->device->host, WEFT_INVALID_ARGUMENT,
                         "weft_frame_queue_record: a budget of %g ms, expected more than 0",
                         budget_ms);
    }
    WEFT_TRY(weft_device_runs(queue->device));
    weft_frame_info frame = {0};
    weft_status status = WEFT_OK;
    queue->finished_count = 0;
    struct job *job = choose(queue);
    for (bool any = true; job && any && status == WEFT_OK;) {
        if (job->info.state == WEFT_FRAME_JOB_WAITING) { /* the plan may have been split again */
            job->info.parts = job->plan->steps.count;
        }
        status = record_job(queue, commands, job, budget_ms, &frame, &any);
        job = any && has_ended(job) ? choose(queue) : NULL;
    }
    frame.finished = queue->finished;
    frame.finished_count = queue->finished_count;
    frame.jobs_left = queue->count - queue->ended;
    if (info) {
        *info = frame;
    }
    return status;
}
