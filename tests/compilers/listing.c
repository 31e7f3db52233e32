/* SPDX-License-Identifier: MIT */
#include "listing.h"

#include <string.h>

char *weft_listing_part(const char *text, const char *begin, const char *end,
                        const weft_host *host) {
    const char *from = strstr(text, begin);
    const char *to = from ? strstr(from + strlen(begin), end) : NULL;
    return from ? weft_format(host, "%.*s", (int)(to ? (size_t)(to - from) : strlen(from)), from)
                : NULL;
}
