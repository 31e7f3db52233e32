/* SPDX-License-Identifier: MIT */
/* The C locale for one thread: locale_posix.c, locale_windows.c. */
#ifndef WEFT_CORE_LOCALE_H
#define WEFT_CORE_LOCALE_H

#include "core/host.h"

/** Locale of the thread before. */
typedef struct weft_locale {
    void *own;
    void *previous;
    int per_thread;
} weft_locale;

/** From here on this thread writes and reads numbers as in C. False, and nothing to end, when memory is out. */
bool weft_locale_begin(weft_locale *locale, const weft_host *host);
/** As before; on the same thread. */
void weft_locale_end(weft_locale *locale, const weft_host *host);

#endif
