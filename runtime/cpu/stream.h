/* SPDX-License-Identifier: MIT */
/*
 * What a command buffer holds: records one behind the other, each a header and what the command needs, copied. Nothing in
 * a record points into the stream, so streams can be moved and joined.
 */
#ifndef WEFT_CPU_STREAM_H
#define WEFT_CPU_STREAM_H

#include "core/host.h"
#include "native/kernel.h"

struct weft_cpu_device;
struct weft_cpu_event;
struct weft_cpu_pipeline;
struct weft_cpu_query_pool;

enum weft_cpu_command {
    WEFT_CPU_DISPATCH,
    WEFT_CPU_COPY,
    WEFT_CPU_FILL,
    WEFT_CPU_UPDATE,
    WEFT_CPU_RESET_QUERIES,
    WEFT_CPU_WRITE_TIMESTAMP,
    WEFT_CPU_COPY_QUERIES,
    WEFT_CPU_SET_EVENT,
    WEFT_CPU_WAIT_EVENT,
};

#define WEFT_CPU_RECORD_ALIGNMENT ((size_t)16) /* of records and of what is in them: malloc's */

struct weft_cpu_record {
    enum weft_cpu_command command;
    uint32_t size; /* with this header and the padding behind it */
    uint64_t unused;
};

/* The ranges follow it, one for each binding, and then the push constants. */
struct weft_cpu_dispatch_record {
    struct weft_cpu_pipeline *pipeline;
    const uint8_t *indirect; /* where the device reads the groups from, or null */
    uint32_t base[3], groups[3];
};

struct weft_cpu_copy_record {
    const uint8_t *from;
    uint8_t *to;
    uint64_t size;
};

struct weft_cpu_fill_record {
    uint8_t *to;
    uint64_t size;
    uint32_t word;
};

/* The bytes follow it. */
struct weft_cpu_update_record {
    uint8_t *to;
    uint64_t size;
};

struct weft_cpu_query_record {
    struct weft_cpu_query_pool *pool;
    uint32_t first, count;
    uint8_t *to; /* for copies, as are the next two */
    uint64_t stride;
    uint32_t flags;
};

struct weft_cpu_event_record {
    struct weft_cpu_event *event;
    bool value; /* to set */
};

struct weft_cpu_stream {
    uint8_t *bytes;
    size_t size, room;
    bool failed; /* memory ran out: what was to be added is missing */
    bool
        has_given; /* a kernel that may not end by itself: somebody else's, compiled as `checked` */
};

/** Adds a record and returns its contents, zeroed; null when memory is out. */
void *weft_cpu_stream_add(struct weft_cpu_stream *stream, enum weft_cpu_command command,
                          size_t size, const weft_host *host);

/** Adds what another stream holds. */
void weft_cpu_stream_join(struct weft_cpu_stream *stream, const struct weft_cpu_stream *other,
                          const weft_host *host);

/** Empties it, but keeps the memory. */
void weft_cpu_stream_reset(struct weft_cpu_stream *stream);
void weft_cpu_stream_free(struct weft_cpu_stream *stream, const weft_host *host);

/** `size` rounded up to whole alignments. */
static inline size_t weft_cpu_record_round(size_t size) {
    return (size + WEFT_CPU_RECORD_ALIGNMENT - 1) / WEFT_CPU_RECORD_ALIGNMENT *
           WEFT_CPU_RECORD_ALIGNMENT;
}

/** Does what the records say, in their order; where the queue's watch is halted, the rest does nothing. */
void weft_cpu_execute(struct weft_cpu_device *device, const struct weft_cpu_stream *stream);

#endif
