/* SPDX-License-Identifier: MIT */
#include "core/float_state.h"

#if defined(__SSE__)

#include <xmmintrin.h>

#define FLUSH      0x8040u /* FTZ for results, DAZ for operands */
#define AS_STARTED 0x1f80u /* to nearest, every exception masked */

static unsigned long long get_control(void) {
    return _mm_getcsr();
}

static void set_control(unsigned long long control) {
    _mm_setcsr((unsigned)control);
}

#elif defined(__aarch64__) && defined(__GNUC__)

#define FLUSH      0ull
#define AS_STARTED 0ull /* to nearest, nothing traps, NaN and subnormals are kept */

static unsigned long long get_control(void) {
    unsigned long long control;
    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    return control;
}

static void set_control(unsigned long long control) {
    __asm__ volatile("msr fpcr, %0" : : "r"(control));
}

#else

#define FLUSH      0u
#define AS_STARTED 0u

static unsigned long long get_control(void) {
    return 0;
}

static void set_control(unsigned long long control) {
    (void)control;
}

#endif

weft_float_state weft_float_state_flush(void) {
    const weft_float_state state = {get_control()};
    set_control(state.control | FLUSH);
    return state;
}

weft_float_state weft_float_state_kernel(void) {
    const weft_float_state state = {get_control()};
    set_control(AS_STARTED | FLUSH);
    return state;
}

void weft_float_state_restore(weft_float_state state) {
    set_control(state.control);
}
