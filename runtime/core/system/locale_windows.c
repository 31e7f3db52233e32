/* SPDX-License-Identifier: MIT */
#include "core/system/locale.h"

#include <locale.h>

bool weft_locale_begin(weft_locale *locale, const weft_host *host) {
    /* From here on setlocale is about this thread alone. */
    const int per_thread = _configthreadlocale(_ENABLE_PER_THREAD_LOCALE);
    char *previous = weft_strdup(host, setlocale(LC_ALL, NULL));
    if (!previous) {
        (void)_configthreadlocale(per_thread);
        return false;
    }
    (void)setlocale(LC_ALL, "C");
    *locale = (weft_locale){.previous = previous, .per_thread = per_thread};
    return true;
}

void weft_locale_end(weft_locale *locale, const weft_host *host) {
    (void)setlocale(LC_ALL, locale->previous);
    weft_free(host, locale->previous);
    (void)_configthreadlocale(locale->per_thread);
}
