/* SPDX-License-Identifier: MIT */
/* GLSL compiled at run time through glslang's C interface. */
#ifndef WEFT_SHADER_GLSL_H
#define WEFT_SHADER_GLSL_H

#include "device/device.h"
#include "shader/glsl_include.h"

/**
 * Compiles a compute shader to SPIR-V 1.3 for Vulkan 1.1 in host memory; the caller frees it. `#include "math.glsl"`,
 * the other files of shaders/include and the source's own includes are found, and nothing else: no file is opened.
 * WEFT_MATH_FAST is defined in fast mode. Results are kept in the disk cache under the hash of the text with its includes in
 * it, and the mode; stats.shaders_compiled counts what was really compiled.
 * Errors: WEFT_COMPILE_ERROR with the compiler's message and the source's name; those of weft_glsl_expand.
 */
weft_status weft_glsl_compile_source(uint32_t **words, size_t *size, weft_device *device,
                                     const struct weft_glsl_source *source);
/** Compiles a text without includes of its own. */
weft_status weft_glsl_compile(uint32_t **words, size_t *size, weft_device *device, const char *name,
                              const char *text);

/**
 * glslang keeps state of the whole process: whoever calls it does so between these two. The first call prepares
 * glslang, which stays ready until the process ends. WEFT_COMPILE_ERROR, logged, when it cannot be prepared; the lock
 * is then not held.
 */
weft_status weft_glslang_lock(const weft_host *host);
void weft_glslang_unlock(void);

#endif
