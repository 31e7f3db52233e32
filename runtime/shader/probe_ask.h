/* SPDX-License-Identifier: MIT */
#ifndef WEFT_SHADER_PROBE_ASK_H
#define WEFT_SHADER_PROBE_ASK_H

#include "device/device.h"

#define WEFT_PROBE_PUSH 3u

/** One of the probe's kernels, which reads words from binding 0 and writes words to binding 1. */
struct weft_probe_question {
    const char *shader;
    const uint32_t *inputs;
    size_t input_count; /* words */
    uint32_t *results;  /* where the kernel writes nothing: all ones, as before it ran */
    size_t result_count;
    uint32_t push[WEFT_PROBE_PUSH];
    uint32_t push_count; /* words */
    uint32_t groups;
};

/** Runs it once. Errors: those of making a pipeline and of a submission. */
weft_status weft_probe_ask(const struct weft_probe_question *question, weft_device *device);

#endif
