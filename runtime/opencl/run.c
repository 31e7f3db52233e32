/* SPDX-License-Identifier: MIT */
/*
 * Running a stream: its commands are enqueued in order, and the queue runs them in order, each as if the one before were over. Time
 * stamps are read from events when all is done.
 */
#include <string.h>

#include "core/math/float_state.h"
#include "jobs/machine.h"
#include "jobs/share.h"
#include "opencl/emit.h"
#include "opencl/state.h"
#include "softvk/query.h"

#define MOST_STAMPS 64u

/* A time stamp whose event is not over yet. */
struct pending {
    struct weft_soft_record *record;
    cl_event event;
};

/* Run of a stream. */
struct run {
    const struct weft_cl_state *state;
    const struct weft_cl_functions *cl;
    cl_command_queue queue;
    struct weft_watch *watch;
    const char *function; /* the first that failed, with its error */
    cl_int error;
    cl_event mark;  /* behind commands that were enqueued a while ago, or null */
    uint32_t ahead; /* commands since */
    struct pending stamps[MOST_STAMPS];
    uint32_t stamp_count;
};

static bool succeeded(struct run *run, const char *function, cl_int error) {
    if (error != CL_SUCCESS && run->error == CL_SUCCESS) {
        run->function = function;
        run->error = error;
    }
    return run->error == CL_SUCCESS;
}

static void finish(struct run *run) {
    (void)succeeded(run, "clFinish", run->cl->Finish(run->queue));
}

/* ---- how far ahead ---- */

/* Commands between two marks. The host waits for a mark when it has set the next one: at most twice as many are enqueued and not done, so
 * that a run that is cancelled ends soon, and the device always has some. */
#define MOST_AHEAD 16u

static void wait_for_mark(struct run *run) {
    if (run->mark) {
        (void)succeeded(run, "clWaitForEvents", run->cl->WaitForEvents(1, &run->mark));
        (void)run->cl->ReleaseEvent(run->mark);
        run->mark = NULL;
    }
}

static void count_ahead(struct run *run) {
    cl_event mark = NULL;
    if (++run->ahead < MOST_AHEAD) {
        return;
    }
    run->ahead = 0;
    (void)succeeded(run, "clEnqueueMarkerWithWaitList",
                    run->cl->EnqueueMarkerWithWaitList(run->queue, 0, NULL, &mark));
    (void)succeeded(run, "clFlush", run->cl->Flush(run->queue));
    wait_for_mark(run);
    run->mark = mark;
}

/* ---- dispatches ---- */

/* A kernel has no pointers into memory of the host: what it is bound to there is copied to the device, and back behind it. */
struct mirror {
    const struct weft_soft_memory *memory;
    cl_mem copy;
};

struct mirrors {
    struct mirror list[WEFT_SOFT_MAX_BINDINGS];
    uint32_t count;
};

static cl_mem mirror_of(struct mirrors *mirrors, struct run *run,
                        const struct weft_soft_memory *memory) {
    cl_int error = CL_SUCCESS;
    for (uint32_t i = 0; i < mirrors->count; i++) {
        if (mirrors->list[i].memory == memory) {
            return mirrors->list[i].copy;
        }
    }
    cl_mem copy = run->cl->CreateBuffer(run->state->context, CL_MEM_READ_WRITE,
                                        (size_t)memory->size, NULL, &error);
    if (succeeded(run, "clCreateBuffer", error)) {
        mirrors->list[mirrors->count++] = (struct mirror){.memory = memory, .copy = copy};
        (void)succeeded(run, "clEnqueueWriteBuffer",
                        run->cl->EnqueueWriteBuffer(run->queue, copy, CL_TRUE, 0,
                                                    (size_t)memory->size, memory->bytes, 0, NULL,
                                                    NULL));
    }
    return copy;
}

static void end_mirrors(struct mirrors *mirrors, struct run *run) {
    for (uint32_t i = 0; i < mirrors->count; i++) {
        const struct mirror *mirror = &mirrors->list[i];
        (void)succeeded(run, "clEnqueueReadBuffer",
                        run->cl->EnqueueReadBuffer(run->queue, mirror->copy, CL_TRUE, 0,
                                                   (size_t)mirror->memory->size,
                                                   mirror->memory->bytes, 0, NULL, NULL));
        (void)run->cl->ReleaseMemObject(mirror->copy);
    }
}

/* As weft_arguments of opencl/emit.h. */
static void fill_arguments(uint32_t *words, const struct weft_soft_dispatch_record *record) {
    const struct weft_soft_range *ranges = weft_soft_dispatch_ranges(record);
    const uint32_t count = record->kernel->binding_count;
    memcpy(words, record->base, sizeof record->base);
    memcpy(words + 3, record->groups, sizeof record->groups);
    words[6] = WEFT_CL_SIGN;
    words += WEFT_CL_FIXED_WORDS;
    for (uint32_t i = 0; i < count; i++) {
        words[i] = (uint32_t)(ranges[i].offset / WEFT_CL_OFFSET_UNIT);
        words[count + i] = (uint32_t)ranges[i].size;
    }
    memcpy(words + 2 * (size_t)count, weft_soft_dispatch_push(record), record->kernel->push_size);
}

static void set_arguments(struct run *run, struct mirrors *mirrors,
                          const struct weft_soft_dispatch_record *record) {
    const struct weft_cl_kernel *kernel = record->kernel->own;
    const struct weft_soft_range *ranges = weft_soft_dispatch_ranges(record);
    uint32_t words[WEFT_CL_FIXED_WORDS + 2 * WEFT_SOFT_MAX_BINDINGS + WEFT_SOFT_MAX_PUSH / 4];
    fill_arguments(words, record);
    (void)succeeded(run, "clSetKernelArg",
                    run->cl->SetKernelArg(kernel->kernel, 0, kernel->argument_size, words));
    for (uint32_t i = 0; i < record->kernel->binding_count; i++) {
        const struct weft_soft_memory *memory = ranges[i].memory;
        cl_mem bound = !memory         ? NULL
                       : memory->bytes ? mirror_of(mirrors, run, memory)
                                       : memory->own;
        (void)succeeded(run, "clSetKernelArg",
                        run->cl->SetKernelArg(kernel->kernel, 1 + i, sizeof(cl_mem), &bound));
    }
}

static void dispatch(struct run *run, const struct weft_soft_dispatch_record *record) {
    const struct weft_cl_kernel *kernel = record->kernel->own;
    struct mirrors mirrors = {.count = 0};
    size_t global[3], local[3];
    for (uint32_t i = 0; i < 3; i++) {
        local[i] = kernel->local_size[i];
        global[i] = local[i] * record->groups[i];
    }
    if (global[0] == 0 || global[1] == 0 || global[2] == 0) {
        return;
    }
    set_arguments(run, &mirrors, record);
    if (run->error == CL_SUCCESS) {
        (void)succeeded(run, "clEnqueueNDRangeKernel",
                        run->cl->EnqueueNDRangeKernel(run->queue, kernel->kernel, 3, NULL, global,
                                                      local, 0, NULL, NULL));
    }
    end_mirrors(&mirrors, run);
}

/* ---- copies ---- */

static void copy(struct run *run, const struct weft_soft_copy_record *record) {
    const struct weft_soft_range *from = &record->from, *to = &record->to;
    uint8_t *read = weft_cl_bytes(from), *written = weft_cl_bytes(to);
    const size_t size = (size_t)from->size;
    if (read && written) {
        finish(run);
        memmove(written, read, size);
    } else if (read) {
        (void)succeeded(run, "clEnqueueWriteBuffer",
                        run->cl->EnqueueWriteBuffer(run->queue, to->memory->own, CL_FALSE,
                                                    (size_t)to->offset, size, read, 0, NULL, NULL));
    } else if (written) {
        (void)succeeded(run, "clEnqueueReadBuffer",
                        run->cl->EnqueueReadBuffer(run->queue, from->memory->own, CL_FALSE,
                                                   (size_t)from->offset, size, written, 0, NULL,
                                                   NULL));
    } else {
        (void)succeeded(run, "clEnqueueCopyBuffer",
                        run->cl->EnqueueCopyBuffer(run->queue, from->memory->own, to->memory->own,
                                                   (size_t)from->offset, (size_t)to->offset, size,
                                                   0, NULL, NULL));
    }
}

static void fill(struct run *run, const struct weft_soft_fill_record *record) {
    uint8_t *bytes = weft_cl_bytes(&record->to);
    if (!bytes) {
        (void)succeeded(run, "clEnqueueFillBuffer",
                        run->cl->EnqueueFillBuffer(
                            run->queue, record->to.memory->own, &record->word, sizeof record->word,
                            (size_t)record->to.offset, (size_t)record->to.size, 0, NULL, NULL));
        return;
    }
    finish(run);
    for (uint64_t at = 0; at < record->to.size; at += sizeof record->word) {
        memcpy(bytes + at, &record->word, sizeof record->word);
    }
}

/* ---- time stamps ---- */

/* All is done. Where the driver does not say when a marker was reached, that is now. */
static void settle_stamp(struct run *run, const struct pending *pending) {
    cl_ulong nanoseconds = 0;
    const bool told = pending->event && run->cl->GetEventProfilingInfo(
                                            pending->event, CL_PROFILING_COMMAND_END,
                                            sizeof nanoseconds, &nanoseconds, NULL) == CL_SUCCESS;
    if (pending->event) {
        (void)run->cl->ReleaseEvent(pending->event);
    }
    weft_soft_run_other(pending->record, run->watch, told ? nanoseconds : weft_clock_ns());
}

static void settle(struct run *run) {
    finish(run);
    for (uint32_t i = 0; i < run->stamp_count; i++) {
        settle_stamp(run, &run->stamps[i]);
    }
    run->stamp_count = 0;
}

/* The time at which all before it is done. */
static void stamp(struct run *run, struct weft_soft_record *record) {
    cl_event event = NULL;
    if (run->stamp_count == MOST_STAMPS) {
        settle(run);
    }
    if (run->error == CL_SUCCESS) {
        (void)succeeded(run, "clEnqueueMarkerWithWaitList",
                        run->cl->EnqueueMarkerWithWaitList(run->queue, 0, NULL, &event));
    }
    run->stamps[run->stamp_count++] = (struct pending){.record = record, .event = event};
}

/* ---- all ---- */

static void run_one(struct run *run, struct weft_soft_record *record) {
    const void *contents = record + 1;
    switch (record->command) {
    case WEFT_SOFT_DISPATCH:
        dispatch(run, contents);
        break;
    case WEFT_SOFT_COPY:
        copy(run, contents);
        break;
    case WEFT_SOFT_FILL:
        fill(run, contents);
        break;
    case WEFT_SOFT_BARRIER:
        return;
    case WEFT_SOFT_WRITE_TIMESTAMP:
        stamp(run, record);
        return;
    case WEFT_SOFT_RESET_QUERIES:
        if (run->stamp_count > 0) {
            settle(run);
        }
        weft_soft_run_other(record, run->watch, 0);
        return;
    case WEFT_SOFT_CALL:
        settle(run);
        weft_soft_run_other(record, run->watch, 0);
        return;
    }
    count_ahead(run);
}

/* Some drivers compute on this thread, or on threads that it starts: they are to do so as when the probe asked. */
void weft_cl_run(const struct weft_soft_stream *stream, struct weft_watch *watch, void *untyped) {
    WEFT_ENTER;
    const struct weft_cl_state *state = untyped;
    struct run run = {.state = state, .cl = state->cl, .queue = state->queue, .watch = watch};
    struct weft_soft_record *record = NULL;
    while ((record = weft_soft_stream_next(stream, record))) {
        weft_watch_ask(watch);
        const bool stopped = run.error != CL_SUCCESS || weft_halted(watch);
        if (!stopped || weft_soft_runs_when_halted(record)) {
            run_one(&run, record);
        }
    }
    settle(&run);
    wait_for_mark(&run);
    if (run.error != CL_SUCCESS) {
        (void)weft_cl_fail(&state->device->host, run.function, run.error);
        atomic_store(&state->device->queue.broken, true);
    }
}
