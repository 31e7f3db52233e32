/* SPDX-License-Identifier: MIT */
/* Words for the trials of a sheet, of which each is a row {MISMATCH, IS(AS(Q, 5, 6)), SAYS("[5, 6]", "[2, 7, 6]")}. */
#ifndef WEFT_VERIFY_TRIALS_H
#define WEFT_VERIFY_TRIALS_H

#include <math.h>

#include "verify/sheet.h"

#define MISMATCH    WEFT_SHAPE_MISMATCH
#define INVALID     WEFT_INVALID_ARGUMENT
#define UNSUPPORTED WEFT_UNSUPPORTED
#define ACCEPTED    WEFT_OK

#define DIMS(...)                                                         \
    {                                                                     \
        (uint32_t)(sizeof(uint32_t[]){__VA_ARGS__} / sizeof(uint32_t)), { \
            __VA_ARGS__                                                   \
        }                                                                 \
    }

/** Operands that are others: of a shape, of another type, with these elements, missing, or of another graph. */
#define IS(...) .replaced = {__VA_ARGS__}
#define AS(at, ...) \
    { .operand = (at), .shape = DIMS(__VA_ARGS__) }
#define AS_I32(at, ...) \
    { .operand = (at), .shape = DIMS(__VA_ARGS__), .dtype = WEFT_I32 }
#define AS_DATA(at, values, ...) \
    { .operand = (at), .shape = DIMS(__VA_ARGS__), .data = (values) }
#define AS_WORDS(at, values, ...) \
    { .operand = (at), .shape = DIMS(__VA_ARGS__), .dtype = WEFT_I32, .data = (values) }
#define AS_NOTHING(at) \
    { .operand = (at), .is_other = true }
#define AS_UNKNOWN(at) \
    { .operand = (at), .is_other = true, .id = 99 }

/** No denominator is guarded by these. */
#define EPSILONS                                                \
    {INVALID, WITH(.epsilon = -1.0F), SAYS("epsilon -1")},      \
        {INVALID, WITH(.epsilon = NAN), SAYS("epsilon nan")}, { \
        INVALID, WITH(.epsilon = INFINITY), SAYS("epsilon inf") \
    }

#define SAYS(...)  .says = {__VA_ARGS__}
#define GIVES(...) .gives = DIMS(__VA_ARGS__)

#endif
