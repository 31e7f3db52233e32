/* SPDX-License-Identifier: MIT */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include "core/system/locale.h"

#include <locale.h>

bool weft_locale_begin(weft_locale *locale, const weft_host *host) {
    (void)host;
    const locale_t own = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (own == (locale_t)0) {
        return false;
    }
    *locale = (weft_locale){.own = (void *)own, .previous = (void *)uselocale(own)};
    return true;
}

void weft_locale_end(weft_locale *locale, const weft_host *host) {
    (void)host;
    uselocale((locale_t)locale->previous);
    freelocale((locale_t)locale->own);
}
