/* SPDX-License-Identifier: MIT */
#include "softvk/stream.h"

#define FIRST_ROOM ((size_t)1024)

_Static_assert(sizeof(struct weft_soft_record) % WEFT_SOFT_RECORD_ALIGNMENT == 0,
               "what follows a header is aligned");

static bool make_room(struct weft_soft_stream *stream, size_t more, const weft_host *host) {
    size_t room = stream->room == 0 ? FIRST_ROOM : stream->room;
    while (room - stream->size < more && room <= SIZE_MAX / 2) {
        room *= 2;
    }
    if (room == stream->room) {
        return true;
    }
    uint8_t *bytes = room - stream->size < more ? NULL : weft_realloc(host, stream->bytes, room);
    if (!bytes) {
        stream->failed = true;
        return false;
    }
    stream->bytes = bytes;
    stream->room = room;
    return true;
}

void *weft_soft_stream_add(struct weft_soft_stream *stream, enum weft_soft_command command,
                           size_t size, const weft_host *host) {
    const size_t whole = sizeof(struct weft_soft_record) + weft_soft_record_round(size);
    if (!make_room(stream, whole, host)) {
        return NULL;
    }
    uint8_t *bytes = stream->bytes + stream->size;
    const struct weft_soft_record record = {.command = command, .size = (uint32_t)whole};
    memset(bytes, 0, whole);
    memcpy(bytes, &record, sizeof record);
    stream->size += whole;
    return bytes + sizeof record;
}

void weft_soft_stream_reset(struct weft_soft_stream *stream) {
    stream->size = 0;
    stream->failed = false;
    stream->has_given = false;
}

void weft_soft_stream_free(struct weft_soft_stream *stream, const weft_host *host) {
    weft_free(host, stream->bytes);
    *stream = (struct weft_soft_stream){0};
}
