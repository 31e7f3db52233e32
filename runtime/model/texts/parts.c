/* SPDX-License-Identifier: MIT */
/* Parts of texts in characters. */
#include <weft/texts.h>

#include "core/text.h"

weft_text_part weft_text_find_part(const char *text, size_t size, size_t begin, size_t end) {
    weft_text_part part = {0};
    if (!text) {
        return part;
    }
    part.begin = begin < size ? begin : size;
    part.end = end < size ? end : size;
    while (part.begin > 0 && part.begin < size && weft_utf8_goes_on(text[part.begin])) {
        part.begin--;
    }
    while (part.end < size && weft_utf8_goes_on(text[part.end])) {
        part.end++;
    }
    part.first = weft_utf8_count(text, part.begin);
    part.last = weft_utf8_count(text, part.end);
    return part;
}
