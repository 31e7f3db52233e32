/* SPDX-License-Identifier: MIT */
/*
 * Code objects of the AMDGPU target, as AMDGPUUsage describes them: ELF with a kernel descriptor, and metadata in MessagePack. A relocatable
 * object, as no linker is needed for one kernel.
 */
#ifndef WEFT_TESTS_AMD_CODE_OBJECT_H
#define WEFT_TESTS_AMD_CODE_OBJECT_H

#include "gpu.h"

/** Loads the kernel `name`; false with a message. amd_program_free in either case. */
bool amd_program_load(struct amd_program *program, const struct amd_gpu *gpu, const uint8_t *elf,
                      size_t size, const char *name, char error[AMD_TEXT]);
void amd_program_free(struct amd_program *program);

/** What of the metadata a dispatch needs: arguments and sizes. */
bool amd_metadata_read(struct amd_program *program, const uint8_t *bytes, size_t size,
                       const char *name, char error[AMD_TEXT]);

/** Decodes the code from `from` to `to`, in bytes; instructions are added to those before. */
bool amd_decode(struct amd_program *program, size_t from, size_t to, char error[AMD_TEXT]);
/** Decodes code at the begin of the program's bytes, of which nobody says how long it is: `most` at most; *end is where it ended. */
bool amd_decode_open(struct amd_program *program, size_t most, size_t *end, char error[AMD_TEXT]);
/** When all is decoded: finds where branches lead. */
bool amd_decode_end(struct amd_program *program, char error[AMD_TEXT]);

#endif
