/* SPDX-License-Identifier: MIT */
/* Textual inclusion in GLSL: of the files that are built into the library, and of texts that come with a shader. */
#ifndef WEFT_SHADER_GLSL_INCLUDE_H
#define WEFT_SHADER_GLSL_INCLUDE_H

#include "core/host.h"
#include "shader/embedded.h"

#define WEFT_MAX_GLSL_INCLUDES 256u /* that come with a shader */

/** A shader's text. */
struct weft_glsl_source {
    const char *name; /* what messages call the text */
    const char *text;
    const struct weft_embedded_include *includes; /* that it may include beside those built in */
    uint32_t include_count;
};

/** Include that `#line` and the compiler's messages call string `number`, from 1; null if there is none. */
const struct weft_embedded_include *weft_glsl_included(const struct weft_glsl_source *source,
                                                       uint32_t number);

/**
 * The text without comments and joined lines, and with the included text for each `#include "name"` or `#include <name>`,
 * between #line directives, so that the lines of a compiler's message are those of the text, and its source string number is
 * 0 for the text itself and otherwise weft_glsl_included's. Any other include becomes an `#error` that names it: no
 * `#include` is left for the compiler, which would open files. The zero-terminated result is in host memory; the caller frees it.
 *
 * Errors: WEFT_COMPILE_ERROR for a text that includes itself, more than 64 texts within each other, and a result of more than
 * 16 MiB, and for a #version without compute shaders; WEFT_INVALID_ARGUMENT for an include without a name or text, or of a name that is there twice or built in;
 * WEFT_OUT_OF_HOST_MEMORY.
 */
weft_status weft_glsl_expand(char **expanded, size_t *size, const struct weft_glsl_source *source,
                             const weft_host *host);

#endif
