/* SPDX-License-Identifier: MIT */
#ifndef WEFT_CORE_CLOCK_H
#define WEFT_CORE_CLOCK_H

/** Milliseconds of a clock that never goes back; only differences mean anything. */
double weft_clock_ms(void);

#endif
