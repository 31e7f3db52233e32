/* SPDX-License-Identifier: MIT */
/*
 * Functions of math.glsl that a processor has instructions for. Drivers round divisions and square roots as they like, so math.glsl
 * makes them of integers, correctly rounded; IEEE 754 asks a processor for the same bits. Their names stay in modules, where
 * runtime/spirv/ir finds them: whoever calls a function of another meaning so has other bits on processors.
 */
#ifndef WEFT_SPIRV_KNOWN_H
#define WEFT_SPIRV_KNOWN_H

#include "spirv/grammar.h"

struct weft_spirv_known {
    const char *name; /* as glslang writes it, with the parameters */
    uint32_t op;      /* as in ir.h */
    uint32_t count;   /* of numbers, of 32 bits */
};

/** The function of this name, or null; also for null. */
const struct weft_spirv_known *weft_spirv_find_known(const char *name);

#endif
