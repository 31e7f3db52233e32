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

/** Turns of all its loops of which an invocation is sure where a driver ends loops. */
#define WEFT_PROBE_SURE_TURNS 65000u

/**
 * Asks by shaders/probe/turns.comp whether loops go on as long as they should. *verdict is WEFT_PROBE_RIGHT, WEFT_PROBE_ENDS_LOOPS where they
 * end early, or WEFT_PROBE_WRONG with the reason in `text`, also where they end before WEFT_PROBE_SURE_TURNS.
 */
weft_status weft_probe_turns(uint32_t *verdict, char *text, size_t size, weft_device *device);

/** Adds the questions to what a verdict depends on. */
void weft_probe_flow_identify(weft_sha256 *hash);

#endif
