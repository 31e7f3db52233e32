/* SPDX-License-Identifier: MIT */
/* A pipeline as the text that OpenCL devices get. */
#ifndef WEFT_TESTS_COMPILERS_TEXT_H
#define WEFT_TESTS_COMPILERS_TEXT_H

#include "opencl/emit.h"
#include "source.h"

/**
 * The text of a device that flushes subnormals, but for small products, as NVIDIA's GPUs do, and has the Fma; weft_free its text with
 * the host. `apart` keeps products from sums
 * (multiply_adds.h), and `contracted` breaks the rule of reproducible math that the compiler may not fuse them. Errors: those of
 * the passes, and of weft_cl_emit.
 */
weft_status weft_source_text(struct weft_cl_text *text, const struct weft_source *source,
                             weft_math math, bool apart, bool contracted, const weft_host *host);

#endif
