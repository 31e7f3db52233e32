/* SPDX-License-Identifier: MIT */
/*
 * A jump for each function of LLVM that the sources of this folder name, under a name of ours (cmake/WeftProcessor.cmake). Not in
 * a static program, whose linker finds LLVM's functions.
 */
#ifndef WEFT_NATIVE_LLVM_JUMPS_H
#define WEFT_NATIVE_LLVM_JUMPS_H

#include <stdbool.h>
#include <stddef.h>

/** Makes all of them lead into a library, which was opened from `path`. False with what it lacks. */
bool weft_llvm_lead(void *library, const char *path, char *fault, size_t size);

#endif
