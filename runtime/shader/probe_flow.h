/* SPDX-License-Identifier: MIT */
#ifndef WEFT_SHADER_PROBE_FLOW_H
#define WEFT_SHADER_PROBE_FLOW_H

#include "core/hash.h"
#include "device/device.h"

/**
 * The probe's questions about control flow: shaders/probe/barriers.comp and loops.comp, whose results the host knows word by word. Compilers
 * of OpenCL have been seen to get such kernels wrong (PoCL 3.1 stores of which the guard is false, Intel's 2026.22 a negation behind a
 * barrier). *verdict is WEFT_PROBE_RIGHT, or WEFT_PROBE_WRONG with the reason in `text`.
 */
weft_status weft_probe_flow(uint32_t *verdict, char *text, size_t size, weft_device *device);

/** Adds the questions to what a verdict depends on. */
void weft_probe_flow_identify(weft_sha256 *hash);

#endif
