/* SPDX-License-Identifier: MIT */
/* What tests of SPIR-V passes need: modules from GLSL, and spirv-val's opinion of them. */
#ifndef WEFT_TESTS_SUPPORT_SPIRV_H
#define WEFT_TESTS_SUPPORT_SPIRV_H

#include "support.h"

/** A module in malloc's memory. */
struct words {
    uint32_t *data;
    size_t size; /* bytes */
};

/** Compiles GLSL as reproducible math does. */
struct words weft_test_compile(const char *text);

/** weft_spirv_make_reproducible, which must not fail. */
struct words weft_test_make_reproducible(struct words source);

/** How many instructions have that opcode. */
uint32_t weft_test_count_ops(struct words words, uint32_t opcode);

/** Whether spirv-val is installed; says so if not. */
bool weft_test_has_spirv_val(void);

/** Fails the test, naming the module, if spirv-val has anything against it. */
void weft_test_expect_valid(struct words words, const char *name);

#endif
