/* SPDX-License-Identifier: MIT */
/* What another program printed. */
#ifndef WEFT_TESTS_COMPILERS_LISTING_H
#define WEFT_TESTS_COMPILERS_LISTING_H

#include "core/host.h"

/** From where a text begins in another to where the next one does: in host memory, or null where it is not there. */
char *weft_listing_part(const char *text, const char *begin, const char *end,
                        const weft_host *host);

#endif
