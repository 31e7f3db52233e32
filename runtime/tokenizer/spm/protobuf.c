/* SPDX-License-Identifier: MIT */
#include "tokenizer/spm/protobuf.h"

#include "core/bytes.h"

#define MAX_NUMBER 0x1FFFFFFFu

static bool take_varint(struct weft_protobuf *message, uint64_t *value) {
    *value = 0;
    for (unsigned shift = 0; shift < 70 && message->size > 0; shift += 7) {
        const uint8_t byte = *message->data++;
        message->size--;
        *value |= (uint64_t)(byte & 0x7F) << shift;
        if (byte < 0x80) {
            return true;
        }
    }
    return false;
}

static bool take_bytes(struct weft_protobuf *message, uint64_t size, struct weft_protobuf *taken) {
    if (size > message->size) {
        return false;
    }
    *taken = (struct weft_protobuf){message->data, (size_t)size};
    message->data += size;
    message->size -= (size_t)size;
    return true;
}

static bool take_fixed(struct weft_protobuf *message, size_t size, uint64_t *value) {
    struct weft_protobuf bytes;
    if (!take_bytes(message, size, &bytes)) {
        return false;
    }
    *value = weft_load_bytes(bytes.data, size);
    return true;
}

bool weft_protobuf_next(struct weft_protobuf *message, struct weft_protobuf_field *field) {
    uint64_t tag;
    *field = (struct weft_protobuf_field){0};
    if (!take_varint(message, &tag) || tag >> 3 == 0 || tag >> 3 > MAX_NUMBER) {
        return false;
    }
    field->number = (uint32_t)(tag >> 3);
    field->wire = (enum weft_protobuf_wire)(tag & 7);
    switch (field->wire) {
    case WEFT_PROTOBUF_VARINT:
        return take_varint(message, &field->value);
    case WEFT_PROTOBUF_FIXED64:
        return take_fixed(message, 8, &field->value);
    case WEFT_PROTOBUF_BYTES:
        return take_varint(message, &tag) && take_bytes(message, tag, &field->bytes);
    case WEFT_PROTOBUF_FIXED32:
        return take_fixed(message, 4, &field->value);
    }
    return false;
}
