/* SPDX-License-Identifier: MIT */
/*
 * All that differs between the versions of LLVM that the compiler works with, whichever of them the headers are of: what is open
 * decides. Of LLVM's C interface the sources of this folder name only what all of them have, with the same types and numbers.
 */
#ifndef WEFT_NATIVE_LLVM_VERSION_H
#define WEFT_NATIVE_LLVM_VERSION_H

#include <stdbool.h>
#include <stddef.h>

#define WEFT_LLVM_OLDEST 15u
#define WEFT_LLVM_NEWEST 22u

/** The file names that a version's library has on this system, one for each index; false: there are no more. */
bool weft_llvm_file_name(char *name, size_t size, unsigned version, unsigned index);

/** Folders that distributions keep a version's library in, beside those that the system's linker looks into; the same way. */
bool weft_llvm_folder(char *folder, size_t size, unsigned version, unsigned index);

/**
 * The major version of an open library, and all of it as text; 0, and no text, for one that is older than 15. Versions before 16 do
 * not tell it.
 */
unsigned weft_llvm_version_of(void *library, char *text, size_t size);

/** What all below is for. Before anything is compiled, once. */
void weft_llvm_set_version(unsigned version);

/** The optimizer's passes, for LLVMRunPasses. */
const char *weft_llvm_passes(void);

#endif
