/* SPDX-License-Identifier: MIT */
/* Statistics of a plan's runs, without waiting for any. */
#include "core/given.h"
#include "core/try.h"
#include "plan/plan.h"

enum { PENDING = sizeof((struct weft_pending_runs){0}.at) / sizeof(struct weft_pending) };

void weft_stats_recorded(weft_plan *plan, uint32_t parts, bool last) {
    atomic_fetch_add(&plan->parts_recorded, parts);
    atomic_fetch_add(&plan->runs_recorded, last);
}

void weft_stats_submitted(weft_plan *plan, uint64_t ticket) {
    struct weft_pending_runs *pending = &plan->pending;
    atomic_fetch_add(&plan->runs_submitted, 1);
    pthread_mutex_lock(&plan->device->locks.queue);
    if (pending->count < PENDING) {
        pending->at[(pending->first + pending->count) % PENDING] =
            (struct weft_pending){.ticket = ticket};
        pending->count++;
    }
    struct weft_pending *newest = &pending->at[(pending->first + pending->count - 1) % PENDING];
    newest->ticket = newest->ticket > ticket ? newest->ticket : ticket; /* threads may overtake */
    newest->runs++;
    pthread_mutex_unlock(&plan->device->locks.queue);
}

/* How many runs have finished when the timeline is at `value`. */
static uint64_t count_finished(weft_plan *plan, uint64_t value) {
    weft_device *device = plan->device;
    struct weft_pending_runs *pending = &plan->pending;
    pthread_mutex_lock(&device->locks.queue);
    while (pending->count > 0 && pending->at[pending->first].ticket <= value) {
        pending->finished += pending->at[pending->first].runs;
        pending->first = (pending->first + 1) % PENDING;
        pending->count--;
    }
    const uint64_t finished = pending->finished;
    pthread_mutex_unlock(&device->locks.queue);
    return finished;
}

/* *stamp stays as it is where the newest run has not begun. */
static weft_status read_first(uint64_t *stamp, const struct weft_workspace *workspace,
                              weft_device *device) {
    const VkResult result =
        device->vk.GetQueryPoolResults(device->vk.handle, workspace->queries, 0, 1, sizeof *stamp,
                                       stamp, sizeof *stamp, VK_QUERY_RESULT_64_BIT);
    return result == VK_NOT_READY ? WEFT_OK
                                  : weft_device_check(device, result, "vkGetQueryPoolResults");
}

static void add_time(struct weft_workspace *workspace, const weft_plan *plan,
                     const uint64_t *stamps) {
    double ms = 0.0;
    for (size_t i = 0; i < plan->steps.count; i++) {
        ms += weft_stamps_ms(plan, stamps[2 * i], stamps[2 * i + 1]);
    }
    workspace->seen = stamps[0];
    workspace->newest_ms = ms;
    workspace->sum_ms += ms;
    workspace->max_ms = ms > workspace->max_ms ? ms : workspace->max_ms;
    workspace->runs_timed++;
}

/* A run that begins while these are read makes the first one another: then they are of two runs. */
static weft_status read_times(struct weft_workspace *workspace, const weft_plan *plan,
                              uint64_t *stamps) {
    weft_device *device = plan->device;
    uint64_t again = 0;
    const VkResult result = weft_stamps_read(stamps, workspace, plan);
    if (result == VK_NOT_READY) {
        return WEFT_OK;
    }
    WEFT_TRY(weft_device_check(device, result, "vkGetQueryPoolResults"));
    WEFT_TRY(read_first(&again, workspace, device));
    if (again == stamps[0]) {
        add_time(workspace, plan, stamps);
    }
    return WEFT_OK;
}

/* True if time stamps may be asked for without waiting, with the timeline at `value`. */
static bool may_ask(const struct weft_workspace *workspace, const weft_device *device,
                    uint64_t value) {
    return atomic_load(device->queries_wait ? &device->timeline_value : &workspace->newest_run) <=
           value;
}

static weft_status look(struct weft_workspace *workspace, const weft_plan *plan) {
    weft_device *device = plan->device;
    uint64_t first = workspace->seen;
    WEFT_TRY(read_first(&first, workspace, device));
    if (first == workspace->seen) {
        return WEFT_OK;
    }
    uint64_t *stamps =
        weft_alloc_zero(&device->host, 2 * (size_t)plan->steps.count + 1, sizeof *stamps);
    if (!stamps) {
        return weft_fail_memory(&device->host, "time stamps");
    }
    const weft_status status = read_times(workspace, plan, stamps);
    weft_free(&device->host, stamps);
    return status;
}

static weft_status add_workspace(weft_plan_stats *stats, uint64_t *newest,
                                 struct weft_workspace *workspace, const weft_plan *plan,
                                 uint64_t value) {
    stats->arena_bytes += plan->info.arena_bytes;
    if (!workspace->queries) {
        return WEFT_OK;
    }
    if (may_ask(workspace, plan->device, value)) {
        WEFT_TRY(look(workspace, plan));
    }
    stats->runs_timed += workspace->runs_timed;
    stats->mean_ms += workspace->sum_ms;
    stats->max_ms = workspace->max_ms > stats->max_ms ? workspace->max_ms : stats->max_ms;
    if (workspace->runs_timed > 0 && workspace->seen >= *newest) {
        *newest = workspace->seen;
        stats->newest_ms = workspace->newest_ms;
    }
    return WEFT_OK;
}

weft_status weft_plan_get_stats(weft_plan *plan, weft_plan_stats *out) {
    WEFT_ENTER;
    WEFT_GIVEN_AS(WEFT_HOST_OF(plan, device->host), "plan, stats", plan, out);
    weft_plan_stats stats = {.weight_bytes = plan->info.weight_bytes};
    weft_device *device = plan->device;
    uint64_t newest = 0, value = 0;
    WEFT_TRY(weft_device_runs(device));
    WEFT_TRY(weft_device_completed(device, &value));
    WEFT_TRY(add_workspace(&stats, &newest, &plan->workspace, plan, value));
    for (weft_bindings *bindings = plan->bindings; bindings; bindings = bindings->next) {
        if (bindings->workspace == &bindings->own) {
            WEFT_TRY(add_workspace(&stats, &newest, &bindings->own, plan, value));
        }
    }
    stats.mean_ms = stats.runs_timed > 0 ? stats.mean_ms / (double)stats.runs_timed : 0.0;
    stats.runs_recorded = atomic_load(&plan->runs_recorded);
    stats.parts_recorded = atomic_load(&plan->parts_recorded);
    stats.runs_finished = count_finished(plan, value);
    stats.runs_submitted = atomic_load(&plan->runs_submitted);
    *out = stats;
    return WEFT_OK;
}
