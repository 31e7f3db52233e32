/* SPDX-License-Identifier: MIT */
/*
 * LLVM's C interface without linking LLVM: loading that library takes 20 ms (it has 30 others behind it), which a program
 * that uses a GPU, or objects from disk, need not spend. It is opened at the first compilation. Sources in this folder include
 * LLVM's headers and call its functions as ever: the build compiles them with these names turned into names of ours
 * (cmake/WeftProcessor.cmake), behind which llvm.c has a jump for each.
 */
#ifndef WEFT_NATIVE_LLVM_H
#define WEFT_NATIVE_LLVM_H

#include "core/host.h"

/**
 * Opens LLVM and makes its target for this processor known, once in a process. No function of LLVM may be called before this
 * has been WEFT_OK. Thread safe.
 * Errors: WEFT_UNSUPPORTED, saying what the dynamic linker found.
 */
weft_status weft_llvm_open(const weft_host *host);

#endif
