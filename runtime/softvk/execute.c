/* SPDX-License-Identifier: MIT */
/* Running the records of a command buffer. Barriers have none: each command is over before the next begins. */
#include <string.h>

#include "jobs/share.h"
#include "softvk/device.h"
#include "softvk/pipeline.h"
#include "softvk/query.h"
#include "softvk/stream.h"
#include "softvk/workgroups.h"

#define BLOCK (UINT64_C(256) << 10) /* bytes of a copy that one thread takes at a time */
#define BLOCK_PS \
    UINT64_C(25000000) /* about what they take, so that smaller copies are not shared */

static const weft_job_system alone = {.slots = 1};

/* Somebody else may have all threads compile: then this one does the work, rather than wait for a second. */
static const weft_job_system *take_jobs(struct weft_soft_device *device) {
    return weft_soft_take_jobs(device) ? &device->jobs : &alone;
}

static void give_jobs(struct weft_soft_device *device, const weft_job_system *jobs) {
    if (jobs != &alone) {
        weft_soft_give_jobs(device);
    }
}

/* ---- dispatches ---- */

static void dispatch(struct weft_soft_device *device,
                     const struct weft_soft_dispatch_record *record) {
    struct weft_soft_pipeline *pipeline = record->pipeline;
    const struct weft_cpu_interface *interface = &pipeline->kernel->interface;
    const uint8_t *ranges = (const uint8_t *)record + weft_soft_record_round(sizeof *record);
    struct weft_processor_dispatch work = {
        .kernel = pipeline->kernel,
        .ranges = (const struct weft_cpu_range *)(const void *)ranges,
        .push = ranges +
                weft_soft_record_round(interface->binding_count * sizeof(struct weft_cpu_range)),
        .cost = &pipeline->cost,
        .watch = &device->queue.watch,
    };
    memcpy(work.base, record->base, sizeof work.base);
    memcpy(work.groups, record->indirect ? record->indirect : (const uint8_t *)record->groups,
           sizeof work.groups);
    if (work.groups[0] == 0 || work.groups[1] == 0 || work.groups[2] == 0) {
        return;
    }
    const struct weft_scratch_pieces scratch = weft_scratch_pieces(&device->scratch);
    const weft_job_system *jobs = take_jobs(device);
    weft_processor_dispatch_run(&work, jobs, &scratch);
    give_jobs(device, jobs);
}

/* ---- copies ---- */

static void share_blocks(void (*run)(const void *job, uint32_t slot, uint64_t first,
                                     uint64_t count),
                         const void *job, uint64_t size, struct weft_soft_device *device) {
    uint64_t cost = BLOCK_PS;
    const struct weft_share_items items = {.run = run,
                                           .job = job,
                                           .count = size / BLOCK + (size % BLOCK != 0),
                                           .cost = &cost,
                                           .watch = &device->queue.watch};
    const weft_job_system *jobs = take_jobs(device);
    weft_share(&items, jobs);
    give_jobs(device, jobs);
}

/* Where blocks `first` … begin, and how many bytes there are. */
static uint64_t block_bytes(uint64_t *at, uint64_t size, uint64_t first, uint64_t count) {
    *at = first * BLOCK;
    return count * BLOCK < size - *at ? count * BLOCK : size - *at;
}

static void copy_blocks(const void *job, uint32_t slot, uint64_t first, uint64_t count) {
    const struct weft_soft_copy_record *record = job;
    (void)slot;
    uint64_t at = 0;
    const uint64_t bytes = block_bytes(&at, record->size, first, count);
    memmove(record->to + at, record->from + at, (size_t)bytes);
}

/* Sizes and addresses are multiples of 4. */
static void fill_blocks(const void *job, uint32_t slot, uint64_t first, uint64_t count) {
    const struct weft_soft_fill_record *record = job;
    (void)slot;
    uint64_t at = 0;
    const uint64_t words = block_bytes(&at, record->size, first, count) / 4;
    uint32_t *to = (uint32_t *)(void *)(record->to + at);
    for (uint64_t i = 0; i < words; i++) {
        to[i] = record->word;
    }
}

static void update(const struct weft_soft_update_record *record) {
    memcpy(record->to, (const uint8_t *)record + weft_soft_record_round(sizeof *record),
           (size_t)record->size);
}

/* ---- events ---- */

static void wait_event(struct weft_soft_device *device,
                       const struct weft_soft_event_record *record) {
    weft_soft_queue_await_flag(&device->queue, &record->event->set);
}

static void set_event(struct weft_soft_device *device,
                      const struct weft_soft_event_record *record) {
    weft_soft_queue_set_flag(&device->queue, &record->event->set, record->value);
}

/* ---- all ---- */

static void execute_one(struct weft_soft_device *device, enum weft_soft_command command,
                        const void *record) {
    switch (command) {
    case WEFT_SOFT_DISPATCH:
        dispatch(device, record);
        break;
    case WEFT_SOFT_COPY:
        share_blocks(copy_blocks, record, ((const struct weft_soft_copy_record *)record)->size,
                     device);
        break;
    case WEFT_SOFT_FILL:
        share_blocks(fill_blocks, record, ((const struct weft_soft_fill_record *)record)->size,
                     device);
        break;
    case WEFT_SOFT_UPDATE:
        update(record);
        break;
    case WEFT_SOFT_RESET_QUERIES:
        weft_soft_query_reset(record);
        break;
    case WEFT_SOFT_WRITE_TIMESTAMP:
        weft_soft_query_stamp(record);
        break;
    case WEFT_SOFT_COPY_QUERIES:
        weft_soft_query_copy(record);
        break;
    case WEFT_SOFT_SET_EVENT:
        set_event(device, record);
        break;
    case WEFT_SOFT_WAIT_EVENT:
        wait_event(device, record);
        break;
    }
}

/* A run that is halted has time stamps all the same, and nobody waits for its events. */
static bool goes_on_when_halted(enum weft_soft_command command) {
    return command == WEFT_SOFT_RESET_QUERIES || command == WEFT_SOFT_WRITE_TIMESTAMP ||
           command == WEFT_SOFT_SET_EVENT;
}

void weft_processor_execute(struct weft_soft_device *device,
                            const struct weft_soft_stream *stream) {
    struct weft_watch *watch = &device->queue.watch;
    for (size_t at = 0; at < stream->size;) {
        const struct weft_soft_record *record =
            (const struct weft_soft_record *)(const void *)(stream->bytes + at);
        weft_watch_ask(watch);
        if (!weft_halted(watch) || goes_on_when_halted(record->command)) {
            execute_one(device, record->command, record + 1);
        }
        at += record->size;
    }
}
