/* SPDX-License-Identifier: MIT */
/* Writes GGUF files for tests and fuzzers, sound ones and others: nothing is checked. */
#ifndef WEFT_TEST_GGUF_WRITER_H
#define WEFT_TEST_GGUF_WRITER_H

#include <string.h>

#include "core/bytes.h"
#include "core/text.h"
#include "model/gguf/gguf.h"

/** Zeros are an empty file of version 3. */
struct gguf_writer {
    struct weft_text keys, tensors, data;
    uint64_t key_count, tensor_count;
    uint64_t alignment; /* 0: 32 */
    uint32_t version;   /* 0: 3 */
};

static inline void gguf_put(struct weft_text *text, uint64_t value, size_t size) {
    uint8_t bytes[8];
    weft_store_bytes(bytes, value, size);
    weft_text_put(text, bytes, size);
}

static inline void gguf_put_text(struct weft_text *text, const char *value) {
    gguf_put(text, strlen(value), 8);
    weft_text_put(text, value, strlen(value));
}

static inline void gguf_put_real(struct weft_text *text, float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    gguf_put(text, bits, 4);
}

/** A key and the type of its value, which is to be put behind. */
static inline void gguf_key(struct gguf_writer *writer, const char *key, enum weft_gguf_type type) {
    gguf_put_text(&writer->keys, key);
    gguf_put(&writer->keys, (uint64_t)type, 4);
    writer->key_count++;
}

static inline void gguf_u32(struct gguf_writer *writer, const char *key, uint32_t value) {
    gguf_key(writer, key, WEFT_GGUF_U32);
    gguf_put(&writer->keys, value, 4);
}

static inline void gguf_f32(struct gguf_writer *writer, const char *key, float value) {
    gguf_key(writer, key, WEFT_GGUF_F32);
    gguf_put_real(&writer->keys, value);
}

static inline void gguf_bool(struct gguf_writer *writer, const char *key, bool value) {
    gguf_key(writer, key, WEFT_GGUF_BOOL);
    gguf_put(&writer->keys, value, 1);
}

static inline void gguf_string(struct gguf_writer *writer, const char *key, const char *value) {
    gguf_key(writer, key, WEFT_GGUF_STRING);
    gguf_put_text(&writer->keys, value);
}

/** An array, whose elements are to be put behind. */
static inline void gguf_array(struct gguf_writer *writer, const char *key,
                              enum weft_gguf_type element, uint64_t count) {
    gguf_key(writer, key, WEFT_GGUF_ARRAY);
    gguf_put(&writer->keys, (uint64_t)element, 4);
    gguf_put(&writer->keys, count, 8);
}

static inline void gguf_strings(struct gguf_writer *writer, const char *key,
                                const char *const *values, uint32_t count) {
    gguf_array(writer, key, WEFT_GGUF_STRING, count);
    for (uint32_t i = 0; i < count; i++) {
        gguf_put_text(&writer->keys, values[i]);
    }
}

static inline void gguf_pad(struct weft_text *text, uint64_t alignment) {
    while (text->length % (alignment > 0 ? alignment : 32) != 0) {
        weft_text_put(text, "", 1);
    }
}

/** The entry of a tensor alone; the innermost axis comes first. */
static inline void gguf_entry(struct gguf_writer *writer, const char *name, uint32_t rank,
                              const uint64_t *shape, uint32_t format, uint64_t offset) {
    gguf_put_text(&writer->tensors, name);
    gguf_put(&writer->tensors, rank, 4);
    for (uint32_t i = 0; i < rank; i++) {
        gguf_put(&writer->tensors, shape[i], 8);
    }
    gguf_put(&writer->tensors, format, 4);
    gguf_put(&writer->tensors, offset, 8);
    writer->tensor_count++;
}

/** A tensor with its bytes. */
static inline void gguf_tensor(struct gguf_writer *writer, const char *name, uint32_t rank,
                               const uint64_t *shape, uint32_t format, const void *bytes,
                               size_t size) {
    gguf_pad(&writer->data, writer->alignment);
    gguf_entry(writer, name, rank, shape, format, writer->data.length);
    weft_text_put(&writer->data, bytes, size);
}

/** The whole file, to be freed; the writer is empty then. */
static inline struct weft_text gguf_finish(struct gguf_writer *writer) {
    struct weft_text file = {.data = NULL};
    weft_text_put(&file, "GGUF", 4);
    gguf_put(&file, writer->version > 0 ? writer->version : 3, 4);
    gguf_put(&file, writer->tensor_count, 8);
    gguf_put(&file, writer->key_count, 8);
    struct weft_text *const parts[] = {&writer->keys, &writer->tensors, &writer->data};
    for (size_t i = 0; i < 3; i++) {
        if (i == 2) {
            gguf_pad(&file, writer->alignment);
        }
        if (parts[i]->length > 0) {
            weft_text_put(&file, parts[i]->data, parts[i]->length);
        }
        weft_free(NULL, parts[i]->data);
    }
    *writer = (struct gguf_writer){.key_count = 0};
    return file;
}

#endif
