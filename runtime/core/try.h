/* SPDX-License-Identifier: MIT */
#ifndef WEFT_CORE_TRY_H
#define WEFT_CORE_TRY_H

#include <weft/weft.h>

/** Returns from the function with the status of `call` unless that is WEFT_OK: where nothing needs cleaning up. */
#define WEFT_TRY(call)                              \
    do {                                            \
        const weft_status weft_try_status = (call); \
        if (weft_try_status != WEFT_OK) {           \
            return weft_try_status;                 \
        }                                           \
    } while (0)

#endif
