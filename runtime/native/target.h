/* SPDX-License-Identifier: MIT */
/* The processor that this program runs on, as a compiler is told of it. */
#ifndef WEFT_NATIVE_TARGET_H
#define WEFT_NATIVE_TARGET_H

#include <stdbool.h>
#include <stdint.h>

struct weft_cpu_machine {
    const char *triple;   /* LLVM's name of architecture and system */
    const char *cpu;      /* LLVM's name of the processor: --mcpu */
    const char *features; /* LLVM's list of features beyond it: --mattr; may be empty */
    uint32_t lanes;       /* the vector width that it runs best with, in 32-bit values */
    uint32_t elf;         /* e_machine of its objects; 0 where this library loads none */
    const char *target;   /* weft_cpu_target() */
    /* The stack grows only by its next page, so that each must be touched in turn, and what is below it may be overwritten at
     * any time. */
    bool windows_stack;
};

/** In static memory, the same at every call. Thread safe. */
const struct weft_cpu_machine *weft_cpu_machine(void);

#endif
