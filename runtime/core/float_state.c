/* SPDX-License-Identifier: MIT */
#include "core/float_state.h"

#ifdef __SSE__

#include <xmmintrin.h>

#define FLUSH_RESULTS 0x8000u /* FTZ */
#define ZERO_OPERANDS 0x0040u /* DAZ */

weft_float_state weft_float_state_flush(void) {
    weft_float_state state = {_mm_getcsr()};
    _mm_setcsr(state.control | FLUSH_RESULTS | ZERO_OPERANDS);
    return state;
}

void weft_float_state_restore(weft_float_state state) {
    _mm_setcsr(state.control);
}

#else

weft_float_state weft_float_state_flush(void) {
    return (weft_float_state){0};
}

void weft_float_state_restore(weft_float_state state) {
    (void)state;
}

#endif
