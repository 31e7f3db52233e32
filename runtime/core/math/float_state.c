/* SPDX-License-Identifier: MIT */
#include "core/math/float_state.h"

#if defined(WEFT_FLOAT_STATE_X87)

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

#define MXCSR_FLAGS   0x003fu
#define MXCSR_DEFAULT 0x1f80u /* to nearest, every exception masked */
#define MXCSR_FLUSH   0x8040u /* FTZ for results, DAZ for operands */
#define X87_FLAGS     0x003fu
#define X87_DEFAULT   0x037fu /* to nearest, every exception masked, 64 bits of precision */

static void set_mxcsr(unsigned mxcsr) {
#if defined(__SSE__)
    _mm_setcsr(mxcsr);
#else
    (void)mxcsr;
#endif
}

static weft_float_state get(void) {
    weft_float_state state = {0};
#if defined(__SSE__)
    state.mxcsr = _mm_getcsr();
#endif
    __asm__ volatile("fnstcw %0\n\tfnstsw %1" : "=m"(state.x87_control), "=m"(state.x87_status));
    return state;
}

static void set_x87_control(unsigned short control) {
    __asm__ volatile("fldcw %0" : : "m"(control));
}

/* Flags are written by way of the whole environment, which takes a hundred cycles. */
static void set_x87_flags(unsigned short flags) {
    struct {
        unsigned control, status, others[5];
    } environment;
    __asm__ volatile("fnstenv %0" : "=m"(environment));
    environment.status = (environment.status & ~X87_FLAGS) | flags;
    __asm__ volatile("fldenv %0" : : "m"(environment));
}

/* Writing is slow, and most threads are in the default state already. */
static weft_float_state set(unsigned mxcsr) {
    const weft_float_state before = get();
    if ((before.mxcsr & ~MXCSR_FLAGS) != mxcsr) {
        set_mxcsr(mxcsr);
    }
    if (before.x87_control != X87_DEFAULT) {
        __asm__ volatile("fnclex"); /* else one that waits to be trapped were trapped here */
        set_x87_control(X87_DEFAULT);
    }
    return before;
}

weft_float_state weft_float_state_default(void) {
    return set(MXCSR_DEFAULT);
}

weft_float_state weft_float_state_kernel(void) {
    return set(MXCSR_DEFAULT | MXCSR_FLUSH);
}

void weft_float_state_restore(const weft_float_state *state) {
    const weft_float_state now = get();
    if (now.mxcsr != state->mxcsr) {
        set_mxcsr(state->mxcsr);
    }
    /* Flags first: the control word may say that they trap. */
    if (((now.x87_status ^ state->x87_status) & X87_FLAGS) != 0) {
        set_x87_flags(state->x87_status & X87_FLAGS);
    }
    if (now.x87_control != state->x87_control) {
        set_x87_control(state->x87_control);
    }
}

#elif defined(__aarch64__)

static void set(unsigned long long fpcr, unsigned long long fpsr) {
    __asm__ volatile("msr fpcr, %0\n\tmsr fpsr, %1" : : "r"(fpcr), "r"(fpsr));
}

weft_float_state weft_float_state_default(void) {
    weft_float_state state;
    __asm__ volatile("mrs %0, fpcr\n\tmrs %1, fpsr" : "=r"(state.fpcr), "=r"(state.fpsr));
    /* 0: to nearest, nothing traps, NaN and subnormals are kept. */
    set(0, state.fpsr);
    return state;
}

weft_float_state weft_float_state_kernel(void) {
    return weft_float_state_default();
}

void weft_float_state_restore(const weft_float_state *state) {
    set(state->fpcr, state->fpsr);
}

#else

weft_float_state weft_float_state_default(void) {
    weft_float_state state;
    (void)fegetenv(&state.environment);
    (void)fesetenv(FE_DFL_ENV);
    return state;
}

weft_float_state weft_float_state_kernel(void) {
    return weft_float_state_default();
}

void weft_float_state_restore(const weft_float_state *state) {
    (void)fesetenv(&state->environment);
}

#endif
