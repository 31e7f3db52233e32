/* SPDX-License-Identifier: MIT */
/*
 * Results of ops that move elements: for each element of the result, by its coordinates, the place of its source.
 */
#ifndef WEFT_VERIFY_MOVED_H
#define WEFT_VERIFY_MOVED_H

#include "verify/conformance.h"

#define WEFT_MOVED_NONE UINT64_MAX /* no element of x */

/** A shape as names of cases have it, such as "2x37x5", in `text`, which has WEFT_MOVED_TEXT bytes. Returns that. */
#define WEFT_MOVED_TEXT 96
const char *weft_moved_text(char *text, weft_shape shape);

/** The place in x of the result's element at these coordinates, of WEFT_MAX_RANK axes. */
typedef uint64_t (*weft_moved_from)(const uint32_t *at, weft_shape x, const void *user);

/** The coordinates of element i; axes that there are not have 0. */
void weft_moved_at(uint32_t at[WEFT_MAX_RANK], uint64_t i, weft_shape shape);

/** The element at these coordinates. */
uint64_t weft_moved_place(const uint32_t *at, weft_shape shape);

/** The words of a result of that shape, until the case is made; zeros with x null. Null after a failure. */
uint32_t *weft_moved_words(weft_case *c, weft_shape shape, const weft_array *x,
                           weft_moved_from from, const void *user);

/** Makes y an output that is to have these words. */
void weft_moved_expect_words(weft_case *c, weft_tensor y, const uint32_t *words);

/** Both. */
void weft_moved_expect(weft_case *c, weft_tensor y, weft_shape shape, const weft_array *x,
                       weft_moved_from from, const void *user);

/** Axes in another order, with its elements (paired.h). */
weft_array weft_case_permute(weft_case *c, weft_array x, weft_shape axes);

#endif
