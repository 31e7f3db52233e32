/* SPDX-License-Identifier: MIT */
/* OpenCL C to a code object, by clang. */
#ifndef WEFT_TESTS_AMD_COMPILE_H
#define WEFT_TESTS_AMD_COMPILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct amd_compiled {
    uint8_t *object; /* free() */
    size_t size;
    char *log; /* free() */
};

/**
 * Compiles for LLVM's name of a GPU. `contracts`: products and sums may become one, against the text, which a test is to notice. False where
 * clang refuses the text, with `log`, or where nothing can be run.
 */
bool amd_compile(struct amd_compiled *made, const char *gpu, const char *text, size_t size,
                 bool contracts);

#endif
