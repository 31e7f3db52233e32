/* SPDX-License-Identifier: MIT */
/*
 * Contents of a command buffer: consecutive records, each a header and a copy of the command's data. Nothing in a
 * record points into the stream, so streams can be moved and joined.
 */
#ifndef WEFT_SOFTVK_STREAM_H
#define WEFT_SOFTVK_STREAM_H

#include <string.h>

#include "jobs/share.h"
#include "softvk/backend.h"

struct weft_soft_pipeline;
struct weft_soft_query_pool;

enum weft_soft_command {
    WEFT_SOFT_DISPATCH,
    WEFT_SOFT_COPY,
    WEFT_SOFT_FILL,
    WEFT_SOFT_BARRIER, /* nothing follows */
    WEFT_SOFT_RESET_QUERIES,
    WEFT_SOFT_WRITE_TIMESTAMP,
    WEFT_SOFT_CALL,
};

#define WEFT_SOFT_RECORD_ALIGNMENT ((size_t)16) /* of records and of what is in them: malloc's */

struct weft_soft_record {
    enum weft_soft_command command;
    uint32_t size; /* with this header and the padding behind it */
    uint64_t unused;
};

/* The ranges follow it, one for each binding of the kernel, and then the push constants. */
struct weft_soft_dispatch_record {
    struct weft_soft_kernel *kernel; /* the pipeline's */
    uint32_t base[3], groups[3];
};

struct weft_soft_copy_record {
    struct weft_soft_range from, to; /* of equal sizes */
};

/* Offset and size are multiples of 4. */
struct weft_soft_fill_record {
    struct weft_soft_range to;
    uint32_t word;
};

struct weft_soft_query_record {
    struct weft_soft_query_pool *pool;
    uint32_t first, count;
};

/* A function that runs in the command's turn. What it needs follows. */
struct weft_soft_call_record {
    void (*call)(struct weft_soft_call_record *record, const struct weft_watch *watch);
    bool always; /* also in what has been halted */
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

/** Empties it, but keeps the memory. */
void weft_soft_stream_reset(struct weft_soft_stream *stream);
void weft_soft_stream_free(struct weft_soft_stream *stream, const weft_host *host);

/** `size` rounded up to whole alignments. */
static inline size_t weft_soft_record_round(size_t size) {
    return (size + WEFT_SOFT_RECORD_ALIGNMENT - 1) / WEFT_SOFT_RECORD_ALIGNMENT *
           WEFT_SOFT_RECORD_ALIGNMENT;
}

/* ---- for back ends ---- */

/** The record behind `record`, or the first one for null; null behind the last. The contents begin at record + 1. */
static inline struct weft_soft_record *weft_soft_stream_next(
    const struct weft_soft_stream *stream, const struct weft_soft_record *record) {
    const size_t at = record ? (size_t)((const uint8_t *)record - stream->bytes) + record->size : 0;
    return at < stream->size ? (struct weft_soft_record *)(void *)(stream->bytes + at) : NULL;
}

/** The ranges of a dispatch, in the order of its kernel's bindings, and its push constants. */
static inline const struct weft_soft_range *weft_soft_dispatch_ranges(
    const struct weft_soft_dispatch_record *record) {
    return (const struct weft_soft_range *)(const void *)((const uint8_t *)record +
                                                          weft_soft_record_round(sizeof *record));
}

static inline const void *weft_soft_dispatch_push(const struct weft_soft_dispatch_record *record) {
    return (const uint8_t *)weft_soft_dispatch_ranges(record) +
           weft_soft_record_round(record->kernel->binding_count * sizeof(struct weft_soft_range));
}

#endif
