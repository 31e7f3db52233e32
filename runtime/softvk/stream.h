/* SPDX-License-Identifier: MIT */
/*
 * What a command buffer holds: records one behind the other, each a header and what the command needs, copied. Nothing in
 * a record points into the stream, so streams can be moved and joined.
 */
#ifndef WEFT_SOFTVK_STREAM_H
#define WEFT_SOFTVK_STREAM_H

#include "core/host.h"
#include "cpu/kernel.h"

struct weft_soft_device;
struct weft_soft_event;
struct weft_soft_pipeline;
struct weft_soft_query_pool;

enum weft_soft_command {
    WEFT_SOFT_DISPATCH,
    WEFT_SOFT_COPY,
    WEFT_SOFT_FILL,
    WEFT_SOFT_UPDATE,
    WEFT_SOFT_RESET_QUERIES,
    WEFT_SOFT_WRITE_TIMESTAMP,
    WEFT_SOFT_COPY_QUERIES,
    WEFT_SOFT_SET_EVENT,
    WEFT_SOFT_WAIT_EVENT,
};

#define WEFT_SOFT_RECORD_ALIGNMENT ((size_t)16) /* of records and of what is in them: malloc's */

struct weft_soft_record {
    enum weft_soft_command command;
    uint32_t size; /* with this header and the padding behind it */
    uint64_t unused;
};

/* The ranges follow it, one for each binding, and then the push constants. */
struct weft_soft_dispatch_record {
    struct weft_soft_pipeline *pipeline;
    const uint8_t *indirect; /* where the device reads the groups from, or null */
    uint32_t base[3], groups[3];
};

struct weft_soft_copy_record {
    const uint8_t *from;
    uint8_t *to;
    uint64_t size;
};

struct weft_soft_fill_record {
    uint8_t *to;
    uint64_t size;
    uint32_t word;
};

/* The bytes follow it. */
struct weft_soft_update_record {
    uint8_t *to;
    uint64_t size;
};

struct weft_soft_query_record {
    struct weft_soft_query_pool *pool;
    uint32_t first, count;
    uint8_t *to; /* for copies, as are the next two */
    uint64_t stride;
    uint32_t flags;
};

struct weft_soft_event_record {
    struct weft_soft_event *event;
    bool value; /* to set */
};

struct weft_soft_stream {
    uint8_t *bytes;
    size_t size, room;
    bool failed; /* memory ran out: what was to be added is missing */
    bool
        has_given; /* a kernel that may not end by itself: somebody else's, compiled as `checked` */
};

/** Adds a record and returns its contents, zeroed; null when memory is out. */
void *weft_soft_stream_add(struct weft_soft_stream *stream, enum weft_soft_command command,
                           size_t size, const weft_host *host);

/** Adds what another stream holds. */
void weft_soft_stream_join(struct weft_soft_stream *stream, const struct weft_soft_stream *other,
                           const weft_host *host);

/** Empties it, but keeps the memory. */
void weft_soft_stream_reset(struct weft_soft_stream *stream);
void weft_soft_stream_free(struct weft_soft_stream *stream, const weft_host *host);

/** `size` rounded up to whole alignments. */
static inline size_t weft_soft_record_round(size_t size) {
    return (size + WEFT_SOFT_RECORD_ALIGNMENT - 1) / WEFT_SOFT_RECORD_ALIGNMENT *
           WEFT_SOFT_RECORD_ALIGNMENT;
}

/** Does what the records say, in their order; where the queue's watch is halted, the rest does nothing. */
void weft_processor_execute(struct weft_soft_device *device, const struct weft_soft_stream *stream);

#endif
