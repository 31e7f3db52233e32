/* SPDX-License-Identifier: MIT */
/*
 * Whether a module can give other bits on another driver. Reproducible math rests on SPIR-V that
 * leaves a driver no choice: this looks for any choice that is left.
 */
#ifndef WEFT_SHADER_SPIRV_LINT_H
#define WEFT_SHADER_SPIRV_LINT_H

#include "core/host.h"

/**
 * Checks a module that weft_spirv_check has passed, as the driver is going to get it, against the
 * lists of spirv_lint_rules.h: every instruction, GLSL.std.450 function, capability, execution
 * mode, decoration and built-in variable must be on them, those of floating-point arithmetic with
 * the decoration NoContraction. One walk over the words, and a second one where there are atomics.
 * What a list allows on a condition (no division by zero, no unwritten variable read, ...) is for
 * the shader to keep; the lint cannot see values. Thread safe.
 * Errors: WEFT_UNSUPPORTED, logged with the instruction's name and place, why it is refused and
 * what to use instead; WEFT_OUT_OF_HOST_MEMORY.
 */
weft_status weft_spirv_lint(const uint32_t *words, size_t size, const weft_host *host);

#endif
