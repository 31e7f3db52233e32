/* SPDX-License-Identifier: MIT */
/* What tells one build of a library from others, without loading it. */
#ifndef WEFT_NATIVE_LLVM_BUILD_ID_H
#define WEFT_NATIVE_LLVM_BUILD_ID_H

#include <stdbool.h>
#include <stddef.h>

/**
 * The build ID that linkers write into ELF files, in hexadecimal, or else the file's size. False where the file is no ELF file for
 * this processor, or cannot be read.
 */
bool weft_build_id(char *id, size_t size, const char *path);

#endif
