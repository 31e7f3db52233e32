/* SPDX-License-Identifier: MIT */
#include "support_floats.h"

#include <fenv.h>
#include <string.h>

#if defined(__x86_64__)

#include <xmmintrin.h>

/* MXCSR: Intel SDM 1, 10.2.3. Flags: 4 division by zero, 0x10 underflow. Masks 0x1f80, rounding 0x6000, FTZ | DAZ 0x8040.
 * x87: 8.1.3 and 8.1.5. Flags the same; masks 0x3f, precision 0x300, rounding 0xc00. */
const struct weft_test_floats weft_test_floats[] = {
    {"default", FE_TONEAREST, 0x1f94, 0x037f, 0x14},
    {"upward", FE_UPWARD, 0x5f80, 0x0b7f, 0},
    {"downward", FE_DOWNWARD, 0x3f90, 0x077f, 0x04},
    {"towardzero", FE_TOWARDZERO, 0x7f84, 0x0f7f, 0x10},
    {"flush", FE_TONEAREST, 0x9fc0, 0x037f, 0},
    {"trap", FE_TONEAREST, 0x0000, 0x0340, 0},
    {"single", FE_TONEAREST, 0x1f80, 0x007f, 0x20},
    {NULL, 0, 0, 0, 0},
};

void weft_test_floats_enter(const struct weft_test_floats *floats) {
    struct {
        unsigned control, status, others[5];
    } environment;
    __asm__ volatile("fnstenv %0" : "=m"(environment));
    environment.control = floats->x87_control;
    environment.status = floats->x87_status;
    __asm__ volatile("fldenv %0" : : "m"(environment));
    _mm_setcsr(floats->mxcsr);
}

bool weft_test_floats_leave(const struct weft_test_floats *floats) {
    unsigned short control, status;
    const unsigned mxcsr = _mm_getcsr();
    __asm__ volatile("fnstcw %0\n\tfnstsw %1\n\tfninit" : "=m"(control), "=m"(status));
    _mm_setcsr(0x1f80);
    return mxcsr == floats->mxcsr && control == floats->x87_control &&
           (status & 0x3f) == floats->x87_status;
}

bool weft_test_floats_default(void) {
    unsigned short control;
    __asm__ volatile("fnstcw %0" : "=m"(control));
    return (_mm_getcsr() & ~0x3fu) == 0x1f80 && control == 0x037f;
}

#else

const struct weft_test_floats weft_test_floats[] = {
    {"default", FE_TONEAREST, 0, 0, 0},
    {"upward", FE_UPWARD, 0, 0, 0},
    {"downward", FE_DOWNWARD, 0, 0, 0},
    {"towardzero", FE_TOWARDZERO, 0, 0, 0},
    {NULL, 0, 0, 0, 0},
};

void weft_test_floats_enter(const struct weft_test_floats *floats) {
    (void)fesetround(floats->rounding);
    (void)feclearexcept(FE_ALL_EXCEPT);
    (void)feraiseexcept(FE_UNDERFLOW);
}

bool weft_test_floats_leave(const struct weft_test_floats *floats) {
    const bool same =
        fegetround() == floats->rounding && fetestexcept(FE_ALL_EXCEPT) == FE_UNDERFLOW;
    (void)fesetenv(FE_DFL_ENV);
    return same;
}

bool weft_test_floats_default(void) {
    return fegetround() == FE_TONEAREST;
}

#endif

const struct weft_test_floats *weft_test_floats_named(const char *name) {
    const struct weft_test_floats *floats = weft_test_floats;
    while (floats->name && strcmp(floats->name, name) != 0) {
        floats++;
    }
    return floats->name ? floats : NULL;
}
