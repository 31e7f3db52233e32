/* SPDX-License-Identifier: MIT */
/* Running the records of a stream. Each command is over before the next begins, and memory is coherent: what barriers ask for is so. */
#include <string.h>

#include "core/math/float_state.h"
#include "jobs/machine.h"
#include "jobs/share.h"
#include "processor/state.h"
#include "processor/workgroups.h"
#include "softvk/query.h"

#define BLOCK (UINT64_C(256) << 10) /* bytes of a copy that one thread takes at a time */
#define BLOCK_PS \
    UINT64_C(25000000) /* about what they take, so that smaller copies are not shared */

static const weft_job_system alone = {.concurrency = 1};

/* Somebody else may have all threads compile: then this one does the work, rather than wait for a second. */
static const weft_job_system *take_jobs(struct weft_soft_device *device) {
    return weft_soft_take_jobs(device) ? &device->jobs : &alone;
}

static void give_jobs(struct weft_soft_device *device, const weft_job_system *jobs) {
    if (jobs != &alone) {
        weft_soft_give_jobs(device);
    }
}

/* Run of a stream. */
struct run {
    struct weft_soft_device *device;
    struct weft_watch *watch;
    struct weft_scratch_pieces
        scratch; /* as large as all its kernels want, which were there before it */
};

static uint8_t *bytes_of(const struct weft_soft_range *range) {
    return range->memory ? range->memory->bytes + range->offset : NULL;
}

/* ---- dispatches ---- */

static void dispatch(const struct run *run, const struct weft_soft_dispatch_record *record) {
    struct weft_processor_kernel *kernel = record->kernel->own;
    const struct weft_soft_range *bound = weft_soft_dispatch_ranges(record);
    struct weft_native_range ranges[WEFT_NATIVE_MAX_BINDINGS];
    struct weft_processor_dispatch work = {.kernel = kernel->native,
                                           .ranges = ranges,
                                           .push = weft_soft_dispatch_push(record),
                                           .cost = &kernel->cost,
                                           .watch = run->watch};
    for (uint32_t i = 0; i < record->kernel->binding_count; i++) {
        ranges[i] = (struct weft_native_range){.data = bytes_of(&bound[i]), .size = bound[i].size};
    }
    memcpy(work.base, record->base, sizeof work.base);
    memcpy(work.groups, record->groups, sizeof work.groups);
    if (work.groups[0] == 0 || work.groups[1] == 0 || work.groups[2] == 0) {
        return;
    }
    const weft_job_system *jobs = take_jobs(run->device);
    weft_processor_dispatch_run(&work, jobs, &run->scratch);
    give_jobs(run->device, jobs);
}

/* ---- copies ---- */

static void share_blocks(void (*run)(const void *job, uint32_t slot, uint64_t first,
                                     uint64_t count),
                         const void *job, uint64_t size, const struct run *context) {
    uint64_t cost = BLOCK_PS;
    const struct weft_share_items items = {.run = run,
                                           .job = job,
                                           .count = size / BLOCK + (size % BLOCK != 0),
                                           .cost = &cost,
                                           .watch = context->watch};
    const weft_job_system *jobs = take_jobs(context->device);
    weft_share(&items, jobs);
    give_jobs(context->device, jobs);
}

/* Start of blocks from `first` on, and their number of bytes. */
static uint64_t block_bytes(uint64_t *at, uint64_t size, uint64_t first, uint64_t count) {
    *at = first * BLOCK;
    return count * BLOCK < size - *at ? count * BLOCK : size - *at;
}

static void copy_blocks(const void *job, uint32_t slot, uint64_t first, uint64_t count) {
    const struct weft_soft_copy_record *record = job;
    (void)slot;
    uint64_t at = 0;
    const uint64_t bytes = block_bytes(&at, record->from.size, first, count);
    memmove(bytes_of(&record->to) + at, bytes_of(&record->from) + at, (size_t)bytes);
}

static void fill_blocks(const void *job, uint32_t slot, uint64_t first, uint64_t count) {
    const struct weft_soft_fill_record *record = job;
    (void)slot;
    uint64_t at = 0;
    const uint64_t words = block_bytes(&at, record->to.size, first, count) / 4;
    uint32_t *to = (uint32_t *)(void *)(bytes_of(&record->to) + at);
    for (uint64_t i = 0; i < words; i++) {
        to[i] = record->word;
    }
}

/* ---- all ---- */

static void run_one(const struct run *run, struct weft_soft_record *record) {
    const void *contents = record + 1;
    switch (record->command) {
    case WEFT_SOFT_DISPATCH:
        dispatch(run, contents);
        break;
    case WEFT_SOFT_COPY:
        share_blocks(copy_blocks, contents,
                     ((const struct weft_soft_copy_record *)contents)->from.size, run);
        break;
    case WEFT_SOFT_FILL:
        share_blocks(fill_blocks, contents,
                     ((const struct weft_soft_fill_record *)contents)->to.size, run);
        break;
    case WEFT_SOFT_BARRIER:
        break;
    case WEFT_SOFT_CALL:
        (void)weft_float_state_default();
        weft_soft_run_other(record, run->watch, 0);
        (void)weft_float_state_kernel();
        break;
    case WEFT_SOFT_RESET_QUERIES:
    case WEFT_SOFT_WRITE_TIMESTAMP:
        weft_soft_run_other(record, run->watch, weft_clock_ns());
        break;
    }
}

void weft_processor_run(const struct weft_soft_stream *stream, struct weft_watch *watch,
                        void *state) {
    struct weft_processor *processor = state;
    const struct run run = {.device = processor->device,
                            .watch = watch,
                            .scratch = weft_scratch_pieces(&processor->scratch)};
    const weft_float_state float_state = weft_float_state_kernel();
    struct weft_soft_record *record = NULL;
    while ((record = weft_soft_stream_next(stream, record))) {
        if (record->command == WEFT_SOFT_BARRIER) {
            continue;
        }
        weft_watch_ask(watch);
        if (!weft_halted(watch) || weft_soft_runs_when_halted(record)) {
            run_one(&run, record);
        }
    }
    weft_float_state_restore(&float_state);
}
