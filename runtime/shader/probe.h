/* SPDX-License-Identifier: MIT */
#ifndef WEFT_SHADER_PROBE_H
#define WEFT_SHADER_PROBE_H

#include "device/device.h"

/**
 * The reproducibility probe of docs/reproducibility.md, rule 6: runs shaders/probe/arithmetic.comp on hard inputs and compares
 * with host arithmetic, once per driver identity (the verdict is cached on disk).
 */
weft_status weft_device_probe(weft_device *device);

#endif
