/* SPDX-License-Identifier: MIT */
/*
 * Long blocks on devices with few registers. Their compilers order the instructions of a block by what is ready, and share what several of
 * its parts compute, addresses above all: more values are alive at once than registers are there, and every value that goes to memory
 * makes them look anew at who is alive. VkFFT's kernels are blocks of thousands of instructions, in which each stage of a transform is done
 * when the next one starts. Told so, V3D's compiler needs 3 s instead of 37 for a transform of 2,042 points, keeps all of it in registers
 * (10 KiB went to memory), and makes a fifth less code; Mali's needs 0.4 s instead of 6 (Mesa 25.0.7, bench/compilers).
 */
#ifndef WEFT_SHADER_SPIRV_CUT_BLOCKS_H
#define WEFT_SHADER_SPIRV_CUT_BLOCKS_H

#include "core/host.h"
#include "weft/device.h"

/** Whether modules for this device are to go through the pass. */
bool weft_blocks_are_cut(const weft_device_info *info);

/**
 * Rewrites a module that weft_spirv_check has passed: of its entry point, a block of WEFT_SPIRV_LONG_BLOCK instructions or more becomes
 * parts of about WEFT_SPIRV_PART each. Between two of them is a branch that is taken where there are no workgroups, so never, as no
 * compiler knows; on it memory is ordered, which keeps it a branch, and a variable changes that all numbers of the invocation and its
 * workgroup are or'ed with when they are read, so that nothing computed from them is known behind a cut. No result changes. Costs a
 * branch on a uniform value for each cut, and an integer instruction for each number read.
 *
 * The lint comes before: it refuses counts of workgroups, which differ where a dispatch is split. This one is compared with 0.
 *
 * A module is copied unchanged where no block is that long, or which has not exactly one entry point, or reads no vector of such numbers.
 * Errors: WEFT_COMPILE_ERROR when no ids are left; WEFT_OUT_OF_HOST_MEMORY. The result is in host memory; the caller frees it.
 */
weft_status weft_spirv_cut_blocks(uint32_t **words, size_t *size, const uint32_t *source,
                                  size_t source_size, const weft_host *host);

/** Instructions, loads and stores of variables and address computations among them. Shorter blocks fit registers as they are. */
#define WEFT_SPIRV_LONG_BLOCK 900u
#define WEFT_SPIRV_PART       300u

#endif
