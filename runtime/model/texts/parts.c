/* SPDX-License-Identifier: MIT */
/* Parts of texts in characters. */
#include <weft/texts.h>

static bool goes_on(char byte) {
    return ((unsigned char)byte & 0xC0U) == 0x80U;
}

/* Characters that begin in front of a byte. */
static size_t count(const char *text, size_t bytes) {
    size_t found = 0;
    for (size_t i = 0; i < bytes; i++) {
        found += !goes_on(text[i]);
    }
    return found;
}

weft_text_part weft_text_find_part(const char *text, size_t size, size_t begin, size_t end) {
    weft_text_part part = {0};
    if (!text) {
        return part;
    }
    part.begin = begin < size ? begin : size;
    part.end = end < size ? end : size;
    while (part.begin > 0 && part.begin < size && goes_on(text[part.begin])) {
        part.begin--;
    }
    while (part.end < size && goes_on(text[part.end])) {
        part.end++;
    }
    part.first = count(text, part.begin);
    part.last = count(text, part.end);
    return part;
}
