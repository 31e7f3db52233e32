/* SPDX-License-Identifier: MIT */
/* The wire format of protocol buffers, read one field at a time. */
#ifndef WEFT_TOKENIZER_PROTOBUF_H
#define WEFT_TOKENIZER_PROTOBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Rest of a message. The bytes are borrowed. */
struct weft_protobuf {
    const uint8_t *data;
    size_t size;
};

enum weft_protobuf_wire {
    WEFT_PROTOBUF_VARINT = 0,
    WEFT_PROTOBUF_FIXED64 = 1,
    WEFT_PROTOBUF_BYTES = 2,
    WEFT_PROTOBUF_FIXED32 = 5
};

struct weft_protobuf_field {
    uint32_t number;
    enum weft_protobuf_wire wire;
    uint64_t value;             /* of all wires but BYTES */
    struct weft_protobuf bytes; /* of BYTES: text, bytes or another message */
};

/**
 * Takes the next field of a message that is not empty. False when the bytes are no message: cut, a varint of more than
 * ten bytes, a field number out of range, or a group.
 */
bool weft_protobuf_next(struct weft_protobuf *message, struct weft_protobuf_field *field);

#endif
