/* SPDX-License-Identifier: MIT */
/*
 * How the calling thread computes with floating-point numbers: rounding, subnormals, traps, and on x86 the precision of
 * long double. The thread is the program's, and so is its state: the library computes in a state of its own and leaves
 * the program's as it was, flags included.
 */
#ifndef WEFT_CORE_FLOAT_STATE_H
#define WEFT_CORE_FLOAT_STATE_H

#if defined(__FAST_MATH__) || defined(__RECIPROCAL_MATH__) || defined(__ASSOCIATIVE_MATH__) || \
    (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__ > 0)
#error "Weft needs -fno-fast-math: other arithmetic has other bits, and no NaN"
#endif

#if defined(__i386__) || defined(__x86_64__)
#define WEFT_FLOAT_STATE_X87 1
#elif !defined(__aarch64__)
#include <fenv.h>
#endif

typedef struct weft_float_state {
#if defined(WEFT_FLOAT_STATE_X87)
    unsigned mxcsr; /* 0 where there is no SSE */
    unsigned short x87_control, x87_status;
#elif defined(__aarch64__)
    unsigned long long fpcr, fpsr;
#else
    fenv_t environment;
#endif
} weft_float_state;

/*
 * 1 if the processor can count subnormals as zeros as reproducible math does, which tests a product after rounding
 * (spirv/passes/flush_products.c). AArch64 tests before rounding (Arm Architecture Reference Manual, FPCR.FZ), so a
 * product that rounds up to 2^-126 would become zero. There subnormals are kept; the probe finds that, and shaders
 * flush them themselves.
 */
#if defined(__SSE__)
#define WEFT_FLOAT_STATE_FLUSHES 1
#else
#define WEFT_FLOAT_STATE_FLUSHES 0
#endif

/**
 * The state of a thread that nobody has touched: to nearest, nothing traps, subnormals are kept, long double has all of its
 * bits. Returns the state before, for weft_float_state_restore on the same thread.
 */
weft_float_state weft_float_state_default(void);

/**
 * Sets the state for kernels, and for drivers while they start threads for kernels. If WEFT_FLOAT_STATE_FLUSHES, the
 * calling thread and threads that it starts also count subnormal operands and results as zeros. Other code that
 * computes on the host must not run in between.
 */
weft_float_state weft_float_state_kernel(void);

void weft_float_state_restore(const weft_float_state *state);

/**
 * The first statement of every public function that gives a weft_status or nothing: the default state until it returns.
 * tests/house/entries.cmake looks that it is there.
 */
#define WEFT_ENTER                                                                                 \
    __attribute__((cleanup(weft_float_state_restore), unused)) const weft_float_state weft_enter = \
        weft_float_state_default()

#endif
