/* SPDX-License-Identifier: MIT */
/*
 * A kernel and its interface, which comes from the SPIR-V itself (spirv/reflect.h), for the shaders
 * of the library while it is built and for those given as text or words when they arrive.
 */
#ifndef WEFT_SHADER_SHADER_H
#define WEFT_SHADER_SHADER_H

#include "spirv/interface.h"

struct weft_spirv {
    const uint32_t *words;
    size_t size; /* bytes */
};

struct weft_shader {
    const char *name; /* "matmul/direct" for shaders/matmul/direct.comp */
    struct weft_spirv reproducible;
    struct weft_spirv fast;
    bool one_module; /* `fast` is the reproducible one, which fast mode has with its passes */
    struct weft_spirv
        given; /* of a kernel that came as text or words: for the device's math mode, whatever that is */
    bool checked; /* somebody else's: with bounds checks, where the driver has them */
    struct weft_shader_interface interface;
};

#endif
