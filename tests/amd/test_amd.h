/* SPDX-License-Identifier: MIT */
/* A wave for tests: registers are set, lines of assembly run, registers looked at. */
#ifndef WEFT_TESTS_AMD_TEST_H
#define WEFT_TESTS_AMD_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gpu.h"

struct machine {
    struct amd_program program;
    struct amd_dispatch dispatch;
    struct amd_wave wave;
    struct amd_instruction instructions[64];
    uint8_t memory[4096]; /* the region of the first buffer */
    uint8_t local[1024];
    uint8_t private_bytes[256 * AMD_LANES];
};

/** One for all tests: a wave of 32 lanes, all active, that flushes subnormals, with 64 vector registers. */
struct machine *machine_begin(uint32_t lanes);

/** Runs lines of assembly, parted by newlines. */
void machine_run(struct machine *machine, const char *lines);
/** The same, and it has to fail with a message that has this part. */
void machine_refuses(struct machine *machine, const char *lines, const char *part);

extern const struct CMUnitTest amd_vector_tests[], amd_scalar_tests[], amd_memory_tests[],
    amd_code_tests[];
extern const size_t amd_vector_count, amd_scalar_count, amd_memory_count, amd_code_count;

#endif
