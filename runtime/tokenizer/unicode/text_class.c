/* SPDX-License-Identifier: MIT */
#include "tokenizer/unicode/text_class.h"

#define REPLACEMENT 0xFFFDu

size_t weft_utf8_decode(const char *text, size_t size, uint32_t *character) {
    const uint8_t *bytes = (const uint8_t *)text;
    uint8_t lead = bytes[0];
    *character = lead;
    if (lead < 0x80) {
        return 1;
    }
    size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    uint32_t smallest = length == 4 ? 0x10000 : length == 3 ? 0x800 : 0x80;
    uint32_t value = lead & (0x7Fu >> length);
    bool valid = lead >= 0xC2 && lead <= 0xF4 && length <= size;
    for (size_t i = 1; valid && i < length; i++) {
        valid = (bytes[i] & 0xC0) == 0x80;
        value = value << 6 | (bytes[i] & 0x3Fu);
    }
    valid = valid && value >= smallest && value <= 0x10FFFF && (value & 0x1FF800) != 0xD800;
    *character = valid ? value : REPLACEMENT;
    return valid ? length : 1;
}

size_t weft_utf8_last(const char *text, size_t size) {
    size_t most = size < 4 ? size : 4;
    for (size_t length = 1; length <= most; length++) {
        uint32_t character;
        if (((uint8_t)text[size - length] & 0xC0) != 0x80) {
            return weft_utf8_decode(text + size - length, length, &character) == length ? length
                                                                                        : 1;
        }
    }
    return 1;
}

bool weft_utf8_is_text(const char *text, size_t size) {
    for (size_t i = 0; i < size;) {
        uint32_t character;
        const size_t length = weft_utf8_decode(text + i, size - i, &character);
        if (character == 0 || (character == REPLACEMENT && length == 1)) {
            return false;
        }
        i += length;
    }
    return true;
}

bool weft_is_white_space(uint32_t character) {
    if (character < 0x80) {
        return character == ' ' || (character >= 0x09 && character <= 0x0D) ||
               (character >= 0x1C && character <= 0x1F);
    }
    return character == 0x85 || character == 0xA0 || character == 0x1680 ||
           (character >= 0x2000 && character <= 0x200A) || character == 0x2028 ||
           character == 0x2029 || character == 0x202F || character == 0x205F || character == 0x3000;
}

/* First and last of each run, ascending. */
static const uint32_t digit_runs[][2] = {
    {0x30, 0x39},       {0xB2, 0xB3},       {0xB9, 0xB9},       {0x660, 0x669},
    {0x6F0, 0x6F9},     {0x7C0, 0x7C9},     {0x966, 0x96F},     {0x9E6, 0x9EF},
    {0xA66, 0xA6F},     {0xAE6, 0xAEF},     {0xB66, 0xB6F},     {0xBE6, 0xBEF},
    {0xC66, 0xC6F},     {0xCE6, 0xCEF},     {0xD66, 0xD6F},     {0xDE6, 0xDEF},
    {0xE50, 0xE59},     {0xED0, 0xED9},     {0xF20, 0xF29},     {0x1040, 0x1049},
    {0x1090, 0x1099},   {0x1369, 0x1371},   {0x17E0, 0x17E9},   {0x1810, 0x1819},
    {0x1946, 0x194F},   {0x19D0, 0x19DA},   {0x1A80, 0x1A89},   {0x1A90, 0x1A99},
    {0x1B50, 0x1B59},   {0x1BB0, 0x1BB9},   {0x1C40, 0x1C49},   {0x1C50, 0x1C59},
    {0x2070, 0x2070},   {0x2074, 0x2079},   {0x2080, 0x2089},   {0x2460, 0x2468},
    {0x2474, 0x247C},   {0x2488, 0x2490},   {0x24EA, 0x24EA},   {0x24F5, 0x24FD},
    {0x24FF, 0x24FF},   {0x2776, 0x277E},   {0x2780, 0x2788},   {0x278A, 0x2792},
    {0xA620, 0xA629},   {0xA8D0, 0xA8D9},   {0xA900, 0xA909},   {0xA9D0, 0xA9D9},
    {0xA9F0, 0xA9F9},   {0xAA50, 0xAA59},   {0xABF0, 0xABF9},   {0xFF10, 0xFF19},
    {0x104A0, 0x104A9}, {0x10A40, 0x10A43}, {0x10D30, 0x10D39}, {0x10E60, 0x10E68},
    {0x11052, 0x1105A}, {0x11066, 0x1106F}, {0x110F0, 0x110F9}, {0x11136, 0x1113F},
    {0x111D0, 0x111D9}, {0x112F0, 0x112F9}, {0x11450, 0x11459}, {0x114D0, 0x114D9},
    {0x11650, 0x11659}, {0x116C0, 0x116C9}, {0x11730, 0x11739}, {0x118E0, 0x118E9},
    {0x11950, 0x11959}, {0x11C50, 0x11C59}, {0x11D50, 0x11D59}, {0x11DA0, 0x11DA9},
    {0x16A60, 0x16A69}, {0x16AC0, 0x16AC9}, {0x16B50, 0x16B59}, {0x1D7CE, 0x1D7FF},
    {0x1E140, 0x1E149}, {0x1E2F0, 0x1E2F9}, {0x1E950, 0x1E959}, {0x1F100, 0x1F10A},
    {0x1FBF0, 0x1FBF9},
};

bool weft_is_digit(uint32_t character) {
    size_t low = 0;
    size_t high = sizeof digit_runs / sizeof digit_runs[0];
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (character > digit_runs[middle][1]) {
            low = middle + 1;
        } else if (character < digit_runs[middle][0]) {
            high = middle;
        } else {
            return true;
        }
    }
    return false;
}
