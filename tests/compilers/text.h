/* SPDX-License-Identifier: MIT */
/* A pipeline as the text that OpenCL devices get. */
#ifndef WEFT_TESTS_COMPILERS_TEXT_H
#define WEFT_TESTS_COMPILERS_TEXT_H

#include "opencl/emit.h"
#include "source.h"

struct weft_text_form {
    weft_math math;
    bool flushes;    /* small products, by instructions, as NVIDIA's GPUs need it */
    bool apart;      /* keeps products from sums (multiply_adds.h) */
    bool contracted; /* breaks the rule of reproducible math that the compiler may not fuse them */
};

/**
 * The text of a device that flushes subnormals by its mode and has the Fma; weft_free its text with the host. Errors: those of the passes,
 * and of weft_cl_emit.
 */
weft_status weft_source_text(struct weft_cl_text *text, const struct weft_source *source,
                             const struct weft_text_form *form, const weft_host *host);

#endif
