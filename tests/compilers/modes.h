/* SPDX-License-Identifier: MIT */
/* How a pipeline rounds and what it makes of subnormal numbers, where that is not in its instructions. */
#ifndef WEFT_TESTS_COMPILERS_MODES_H
#define WEFT_TESTS_COMPILERS_MODES_H

#include <stdbool.h>
#include <stddef.h>

/** Whether a text of the driver's tells the float modes of a pipeline, in Mesa's words. */
bool weft_float_modes_are_told(const char *text);

/** Whether these are other than rounding to nearest and, if `flushes`, flushing subnormals; which is written to `why`. */
bool weft_float_modes_break(char *why, size_t size, const char *text, bool flushes);

#endif
