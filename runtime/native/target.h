/* SPDX-License-Identifier: MIT */
/* The processor that this program runs on, as a compiler is told of it. */
#ifndef WEFT_NATIVE_TARGET_H
#define WEFT_NATIVE_TARGET_H

#include <stdbool.h>
#include <stdint.h>

/** By what instructions sums of products of four bytes are made. */
enum weft_native_dot {
    WEFT_NATIVE_DOT_PLAIN = 0,
    WEFT_NATIVE_DOT_PAIRS, /* pmaddwd, of SSE2, AVX2 and AVX-512 */
    WEFT_NATIVE_DOT_VNNI,  /* vpdpbusd, of AVX-VNNI and AVX512-VNNI */
    WEFT_NATIVE_DOT_NEON   /* sdot */
};

struct weft_native_machine {
    const char *triple;   /* LLVM's name of architecture and system */
    const char *cpu;      /* LLVM's name of the processor: --mcpu */
    const char *features; /* LLVM's list of features beyond it: --mattr; may be empty */
    uint32_t lanes;       /* the vector width that it runs best with, in 32-bit values */
    enum weft_native_dot dot;
    uint32_t elf;       /* e_machine of its objects; 0 where this library loads none */
    const char *target; /* weft_native_target() */
    /* The stack grows only by its next page, so that each must be touched in turn, and what is below it may be overwritten at
     * any time. */
    bool windows_stack;
};

/**
 * In static memory, the same at every call. What WEFT_PROCESSOR_TARGET in the environment names, such as x86-64-v3, or else the best that this
 * processor runs. Thread safe.
 */
const struct weft_native_machine *weft_native_machine(void);

/** True if WEFT_PROCESSOR_TARGET is set to what this processor does not run, or what is not known. */
bool weft_native_machine_is_wrong(void);

#endif
