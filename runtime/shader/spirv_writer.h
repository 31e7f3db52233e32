/* SPDX-License-Identifier: MIT */
/* Writing instructions one behind the other. A pass counts first and allocates what it needs, so nothing here can fail. */
#ifndef WEFT_SHADER_SPIRV_WRITER_H
#define WEFT_SHADER_SPIRV_WRITER_H

#include <string.h>

#include "spirv/module.h"

struct weft_spirv_writer {
    uint32_t *words; /* room for all that is put */
    size_t count;
};

/** Copies whole instructions. Returns the copy. */
static inline uint32_t *weft_spirv_put_words(struct weft_spirv_writer *writer,
                                             const uint32_t *words, size_t count) {
    uint32_t *copy = writer->words + writer->count;
    memcpy(copy, words, count * sizeof *words);
    writer->count += count;
    return copy;
}

/** An instruction of an opcode and `count` operands, a type and a result included. */
static inline void weft_spirv_put_op(struct weft_spirv_writer *writer, enum weft_spirv_op opcode,
                                     uint32_t count, const uint32_t *operands) {
    writer->words[writer->count++] = weft_spirv_first_word(opcode, count + 1);
    weft_spirv_put_words(writer, operands, count);
}

#define WEFT_SPIRV_PUT(writer, opcode, ...)                                             \
    weft_spirv_put_op(writer, opcode,                                                   \
                      (uint32_t)(sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t)), \
                      (const uint32_t[]){__VA_ARGS__})

#endif
