/* SPDX-License-Identifier: MIT */
/* The probe's questions of fused math, for whether a device's fma has one rounding. */
#ifndef WEFT_SHADER_PROBE_FMA_H
#define WEFT_SHADER_PROBE_FMA_H

#include "core/hash.h"
#include "device/device.h"

/* The cases, in this order: those without subnormals, about which there is no choice; those with them. */
#define WEFT_PROBE_FMA_PLAIN     3072
#define WEFT_PROBE_FMA_SUBNORMAL 1024
#define WEFT_PROBE_FMA_CASES     (WEFT_PROBE_FMA_PLAIN + WEFT_PROBE_FMA_SUBNORMAL)
#define WEFT_PROBE_FMA_INPUTS    3u
#define WEFT_PROBE_FMA_RESULTS   4u

/**
 * Fills inputs[WEFT_PROBE_FMA_CASES · 3], the same on every machine: products that the addend cancels to the last bit; ties that only the
 * product's last bits decide; products that overflow until the addend brings them back; infinities, NaN and zeros; results about
 * 2^-126; subnormal operands.
 */
void weft_probe_fma_make(uint32_t *inputs);

/**
 * Verdict of results[WEFT_PROBE_FMA_CASES · 4]: WEFT_PROBE_RIGHT; KEEPS_SUBNORMALS where only cases with those are
 * wrong; else WRONG, or the first of them in `text`.
 */
uint32_t weft_probe_fma_judge(char *text, size_t size, const uint32_t *inputs,
                              const uint32_t *results);

/** Chooses how the device computes an Fma (device->info.fma): by what is right of what it has, the cheapest first, or by what the environment
 * variable WEFT_FMA names. *needs may get what its own Fma needs of modules. *verdict and text are of the last that was tried. `apply`
 * sets the needs. */
weft_status weft_probe_fma(uint32_t *verdict, uint32_t *needs, char *text, size_t size,
                           weft_device *device, void (*apply)(weft_device *device, uint32_t needs));

/** Sets the expected values of a device that only compiles. */
void weft_probe_fma_guess(weft_device *device);

/** Adds the questions, and what can answer them, to what a verdict depends on. */
void weft_probe_fma_identify(weft_sha256 *hash, const weft_device *device);

#endif
