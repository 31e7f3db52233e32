/* SPDX-License-Identifier: MIT */
/* Sizes of a program: integers, or expressions of integers and symbols, such as "2 * length + 1". */
#ifndef WEFT_MODEL_EXPRESSION_H
#define WEFT_MODEL_EXPRESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WEFT_MAX_SYMBOLS             16
#define WEFT_EXPRESSION_MAX_DEPTH    32
#define WEFT_EXPRESSION_MAX_BYTES    1024
#define WEFT_EXPRESSION_MESSAGE_SIZE 128

/** A number of which a program's shapes are functions. */
struct weft_symbol_row {
    const char *name;
    int64_t minimum, maximum, example;
};

struct weft_symbol_table {
    struct weft_symbol_row rows[WEFT_MAX_SYMBOLS];
    uint32_t count;
};

/** The symbol of that name of `length` bytes, or UINT32_MAX. */
uint32_t weft_symbol_find(const struct weft_symbol_table *table, const char *name, size_t length);

/** True if it is [A-Za-z_][A-Za-z0-9_]* and none of "min", "max", "inf" and "nan". */
bool weft_symbol_is_name(const char *name);

/**
 * The number of an expression: integers, symbols, + - * // %, -x, (x), min(x, …) and max(x, …). // and % round down, as Python's.
 * values[i] is that of symbol i. False, with the reason and its place in `message`, where it is none, or overflows 64 bits.
 */
bool weft_expression_evaluate(int64_t *value, const char *text,
                              const struct weft_symbol_table *table, const int64_t *values,
                              char message[WEFT_EXPRESSION_MESSAGE_SIZE]);

#endif
