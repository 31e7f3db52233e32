/* SPDX-License-Identifier: MIT */
#include "core/harmless.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define ELLIPSIS      "…"
#define ELLIPSIS_SIZE (sizeof ELLIPSIS - 1)

/* ---- UTF-8 ---- */

static const uint32_t least_of_length[] = {0, 0, 0x80, 0x800, 0x10000};

/* How long the first byte says that the character is; 0: it begins none. */
static size_t length_by(uint8_t first) {
    return first < 0x80                     ? 1
           : first >= 0xc2 && first <= 0xdf ? 2
           : first >= 0xe0 && first <= 0xef ? 3
           : first >= 0xf0 && first <= 0xf4 ? 4
                                            : 0;
}

/* The first character and its length; false where the bytes begin with none. */
static bool decode(uint32_t *character, size_t *length, const char *bytes, size_t size) {
    const uint8_t first = (uint8_t)bytes[0];
    *length = length_by(first);
    if (*length == 0 || *length > size) {
        return false;
    }
    uint32_t value = *length == 1 ? first : first & (0x7fu >> *length);
    for (size_t i = 1; i < *length; i++) {
        const uint8_t next = (uint8_t)bytes[i];
        if ((next & 0xc0u) != 0x80u) {
            return false;
        }
        value = value << 6 | (next & 0x3fu);
    }
    *character = value;
    return value >= least_of_length[*length] && value <= 0x10ffff &&
           !(value >= 0xd800 && value <= 0xdfff);
}

/* True if the bytes are the beginning of a character and end before it does. */
static bool is_begun(const char *bytes, size_t size) {
    bool fits = length_by((uint8_t)bytes[0]) > size;
    for (size_t i = 1; fits && i < size; i++) {
        fits = ((uint8_t)bytes[i] & 0xc0u) == 0x80u;
    }
    return fits;
}

/* ---- what steers ---- */

static bool is_harmful(uint32_t character) {
    static const struct {
        uint32_t first, last;
    } ranges[] = {
        {0x00, 0x1f},     {0x7f, 0x9f},     {0x61c, 0x61c},     {0x180e, 0x180e},
        {0x200b, 0x200b}, {0x200e, 0x200f}, {0x2028, 0x202e},   {0x2060, 0x206f},
        {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe0fff},
    };
    bool harmful = false;
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        harmful |= character >= ranges[i].first && character <= ranges[i].last;
    }
    return harmful;
}

static size_t escaped(char text[WEFT_HARMLESS_SIZE], const char *format, unsigned number) {
    return (size_t)snprintf(text, WEFT_HARMLESS_SIZE, format, number);
}

/* As jansson writes others. */
static size_t escape_for_json(char text[WEFT_HARMLESS_SIZE], uint32_t character) {
    if (character < 0x10000) {
        return escaped(text, "\\u%04X", character);
    }
    return (size_t)snprintf(text, WEFT_HARMLESS_SIZE, "\\u%04X\\u%04X",
                            (unsigned)(0xd800 + ((character - 0x10000) >> 10)),
                            (unsigned)(0xdc00 + (character & 0x3ff)));
}

static size_t escape(char text[WEFT_HARMLESS_SIZE], uint32_t character) {
    static const char named[] = "\n\r\t", names[] = "nrt";
    const char *name = character != 0 && character < 0x80 ? strchr(named, (int)character) : NULL;
    return name                  ? escaped(text, "\\%c", (unsigned char)names[name - named])
           : character < 0x80    ? escaped(text, "\\x%02x", character)
           : character < 0x10000 ? escaped(text, "\\u%04x", character)
                                 : escaped(text, "\\U%08x", character);
}

size_t weft_harmless_character(char text[WEFT_HARMLESS_SIZE], size_t *length, const char *bytes,
                               size_t size, enum weft_harmless_form form, const char *kept) {
    uint32_t character = 0;
    size_t taken = 0;
    if (!decode(&character, &taken, bytes, size)) {
        *length = escaped(text, "\\x%02x", (uint8_t)bytes[0]);
        return 1;
    }
    const bool stays = form == WEFT_HARMLESS_UTF8 || !is_harmful(character) ||
                       (character != 0 && character < 0x80 && strchr(kept, (int)character));
    if (stays) {
        memcpy(text, bytes, taken);
        text[taken] = '\0';
        *length = taken;
    } else {
        *length =
            form == WEFT_HARMLESS_JSON ? escape_for_json(text, character) : escape(text, character);
    }
    return taken;
}

/* ---- one line in a buffer ---- */

char *weft_harmless(char *text, size_t room, const char *bytes, size_t size, bool is_cut) {
    size_t used = 0, fits = 0; /* fits: as much as leaves room for the ellipsis */
    text[0] = '\0';
    while (size > 0 && !(is_cut && is_begun(bytes, size))) {
        char character[WEFT_HARMLESS_SIZE];
        size_t length = 0;
        const size_t taken =
            weft_harmless_character(character, &length, bytes, size, WEFT_HARMLESS_TEXT, "");
        if (used + length + 1 > room) {
            is_cut = true;
            break;
        }
        memcpy(text + used, character, length + 1);
        used += length;
        fits = used + ELLIPSIS_SIZE + 1 <= room ? used : fits;
        bytes += taken;
        size -= taken;
    }
    if (is_cut) {
        memcpy(text + fits, ELLIPSIS, ELLIPSIS_SIZE + 1);
    }
    return text;
}
