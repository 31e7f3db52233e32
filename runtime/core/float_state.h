/* SPDX-License-Identifier: MIT */
/* The calling thread's treatment of subnormal numbers, and of floating-point numbers in general. */
#ifndef WEFT_CORE_FLOAT_STATE_H
#define WEFT_CORE_FLOAT_STATE_H

typedef struct weft_float_state {
    unsigned long long control;
} weft_float_state;

/**
 * Lets the calling thread, and threads that it starts, count subnormal operands and results as
 * zeros, where the processor can (x86 with SSE, AArch64; elsewhere this does nothing), until
 * weft_float_state_restore with what this returned. Code that computes on the host must not run in
 * between.
 */
weft_float_state weft_float_state_flush(void);

/**
 * The same, and nothing else is left to the thread's owner: rounding to nearest, and no operation traps. For kernels,
 * which run on whatever thread there is.
 */
weft_float_state weft_float_state_kernel(void);
void weft_float_state_restore(weft_float_state state);

#endif
