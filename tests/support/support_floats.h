/* SPDX-License-Identifier: MIT */
/* Float states that a program's thread may be in when it calls the library. */
#ifndef WEFT_TESTS_SUPPORT_FLOATS_H
#define WEFT_TESTS_SUPPORT_FLOATS_H

#include <stdbool.h>
#include <stddef.h>

struct weft_test_floats {
    const char *name; /* "upward"; null at the end of the list */
    int rounding;     /* of fenv.h */
    unsigned mxcsr;   /* x86 alone, flags included, as these two */
    unsigned short x87_control, x87_status;
};

/** First the default, whose flags are set in part, too. On x86 also flushing, trapping, and 24 bits of long double. */
extern const struct weft_test_floats weft_test_floats[];

/** The one of that name, or null. */
const struct weft_test_floats *weft_test_floats_named(const char *name);

/** Puts the calling thread into the state. */
void weft_test_floats_enter(const struct weft_test_floats *floats);
/** Puts it back into that of a new thread. Returns whether it was still in the one entered, flags included. */
bool weft_test_floats_leave(const struct weft_test_floats *floats);

/** True if the calling thread rounds to nearest, keeps subnormals, has all bits of long double, and nothing traps. */
bool weft_test_floats_default(void);

#endif
