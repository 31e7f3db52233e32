/* SPDX-License-Identifier: MIT */
/* glslang is C++ behind a C interface that lets exceptions through, such as that of a memory that is full. */
#ifndef WEFT_SHADER_GLSLANG_GUARD_H
#define WEFT_SHADER_GLSLANG_GUARD_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Calls the function; false where an exception came out of it. */
bool weft_glslang_guard(void (*call)(void *user), void *user);

#ifdef __cplusplus
}
#endif

#endif
