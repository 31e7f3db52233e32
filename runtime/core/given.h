/* SPDX-License-Identifier: MIT */
/* Checks that a public function got all required pointers: one check and one message for all functions. */
#ifndef WEFT_CORE_GIVEN_H
#define WEFT_CORE_GIVEN_H

#include "core/try.h"

/**
 * Returns WEFT_INVALID_ARGUMENT from the function if one of these parameters is null, and logs its name. It stands behind
 * WEFT_ENTER, before anything is read. tests/null calls every public function with null for each of its pointers.
 *
 *     WEFT_GIVEN(WEFT_HOST_OF(device, host), device, buffer);
 */
#define WEFT_GIVEN(host, ...) WEFT_GIVEN_AS(host, #__VA_ARGS__, __VA_ARGS__)

/** As WEFT_GIVEN, with the header's names where they differ: "weight, params". */
#define WEFT_GIVEN_AS(host, names, ...)                                                  \
    WEFT_TRY(weft_check_given(host, __func__, names, (const void *const[]){__VA_ARGS__}, \
                              sizeof((const void *const[]){__VA_ARGS__}) / sizeof(const void *)))

/** As WEFT_GIVEN for a list, which may be null if it has no elements. */
#define WEFT_GIVEN_LIST(host, list, count)    \
    do {                                      \
        if ((count) > 0) {                    \
            WEFT_GIVEN_AS(host, #list, list); \
        }                                     \
    } while (0)

/** The host in an object, or null where there is no object: then nobody is told. */
#define WEFT_HOST_OF(object, path) ((object) ? &(object)->path : NULL)

/** `names` are those of the pointers, with commas between them. */
weft_status weft_check_given(const weft_host *host, const char *function, const char *names,
                             const void *const *pointers, size_t count);

#endif
