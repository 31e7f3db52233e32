/* SPDX-License-Identifier: MIT */
/* The calling thread's treatment of subnormal numbers, and of floating-point numbers in general. */
#ifndef WEFT_CORE_FLOAT_STATE_H
#define WEFT_CORE_FLOAT_STATE_H

typedef struct weft_float_state {
    unsigned long long control;
} weft_float_state;

/*
 * Whether the processor can count subnormals as zeros in the way of reproducible math, which looks at a product as rounded
 * (shader/spirv_flush.h). AArch64 looks before rounding (Arm Architecture Reference Manual, FPCR.FZ): a product that would
 * be rounded up to 2^-126 were then a zero. So it keeps subnormals, the probe finds that, and shaders flush them themselves.
 */
#if defined(__SSE__)
#define WEFT_FLOAT_STATE_FLUSHES 1
#else
#define WEFT_FLOAT_STATE_FLUSHES 0
#endif

/**
 * Lets the calling thread, and threads that it starts, count subnormal operands and results as zeros, where
 * WEFT_FLOAT_STATE_FLUSHES, until weft_float_state_restore with what this returned. Code that computes on the host must not
 * run in between.
 */
weft_float_state weft_float_state_flush(void);

/**
 * The same, and nothing else is left to the thread's owner: rounding to nearest, no operation traps, and subnormals are
 * kept where they are not flushed. For kernels, which run on whatever thread there is.
 */
weft_float_state weft_float_state_kernel(void);
void weft_float_state_restore(weft_float_state state);

#endif
