/* SPDX-License-Identifier: MIT */
/* Textual inclusion of the GLSL files that are built into the library. */
#ifndef WEFT_SHADER_GLSL_INCLUDE_H
#define WEFT_SHADER_GLSL_INCLUDE_H

#include "core/host.h"

/**
 * Replaces each `#include "name"` or `#include <name>` outside comments by the embedded file of
 * that name, with #line directives around it, so that a compiler's message names a file by its
 * source string number: 0 for the text itself, i + 1 for weft_embedded_includes[i]. Lines that name
 * no embedded file are left to the compiler. The zero-terminated result is in host memory; the
 * caller frees it.
 * Errors: WEFT_COMPILE_ERROR for a file that includes itself and for a result of more than 16 MiB.
 */
weft_status weft_glsl_expand(char **expanded, size_t *size, const char *name, const char *text,
                             const weft_host *host);

#endif
