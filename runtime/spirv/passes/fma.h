/* SPDX-License-Identifier: MIT */
/* Helpers of the exact multiply-add: they write a function of three float32 numbers that replaces Fma. */
#ifndef WEFT_SPIRV_FMA_H
#define WEFT_SPIRV_FMA_H

#include "spirv/passes/passes.h"

#define WEFT_FMA_CONSTANTS 32u

enum weft_fma_type {
    WEFT_FMA_BOOL,
    WEFT_FMA_UINT,
    WEFT_FMA_FLOAT,
    WEFT_FMA_ULONG,  /* of 64 bits, as … */
    WEFT_FMA_DOUBLE, /* … this */
    WEFT_FMA_TYPES
};

struct weft_fma_constant {
    uint32_t type, id;
    uint64_t bits;
};

struct weft_fma_writer {
    struct weft_spirv_edit *edit;
    const struct weft_spirv_module *module;
    uint32_t types[WEFT_FMA_TYPES]; /* those that are needed so far */
    uint32_t glsl;                  /* GLSL.std.450 */
    struct weft_fma_constant constants[WEFT_FMA_CONSTANTS];
    uint32_t constant_count;
};

/** Writes the function's instructions from its operands to its result, whose id it returns. */
typedef uint32_t weft_fma_body(struct weft_fma_writer *writer, const uint32_t operands[3]);

/** Makes a call of such a function of each Fma of float32. A module without any stays as it is. */
weft_status weft_fma_replace(struct weft_spirv_edit *edit, weft_fma_body *body);

/** The id of a type, declared where it is missing. */
uint32_t weft_fma_type_of(struct weft_fma_writer *writer, enum weft_fma_type type);

/** The id of a constant. */
uint32_t weft_fma_constant_of(struct weft_fma_writer *writer, enum weft_fma_type type,
                              uint64_t bits);

/** An instruction of a result and `count` operands behind it; the result's id. Arithmetic of floats is not contracted. */
uint32_t weft_fma_put(struct weft_fma_writer *writer, enum weft_fma_type type, SpvOp opcode,
                      uint32_t count, const uint32_t *operands);

#define WEFT_FMA_PUT(writer, type, opcode, ...)                                    \
    weft_fma_put((writer), (type), (opcode),                                       \
                 (uint32_t)(sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t)), \
                 (const uint32_t[]){__VA_ARGS__})

#endif
