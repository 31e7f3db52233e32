/* SPDX-License-Identifier: MIT */
#include "tokenizer/unicode/unicode.h"

#include <string.h>
#include <utf8proc.h>

#include "tokenizer/unicode/unicode_history.h"

#define BIT(category) (1u << UTF8PROC_CATEGORY_##category)

const weft_categories weft_category_letter = BIT(LU) | BIT(LL) | BIT(LT) | BIT(LM) | BIT(LO);
const weft_categories weft_category_mark = BIT(MN) | BIT(MC) | BIT(ME);
const weft_categories weft_category_number = BIT(ND) | BIT(NL) | BIT(NO);
const weft_categories weft_category_punctuation =
    BIT(PC) | BIT(PD) | BIT(PS) | BIT(PE) | BIT(PI) | BIT(PF) | BIT(PO);
const weft_categories weft_category_decimal = BIT(ND);
const weft_categories weft_category_nonspacing = BIT(MN);
const weft_categories weft_category_control = BIT(CC) | BIT(CF) | BIT(CO) | BIT(CS);

weft_categories weft_category_of(uint32_t code) {
    return 1u << utf8proc_category((utf8proc_int32_t)code);
}

weft_categories weft_categories_named(const char *name) {
    static const struct {
        const char *name;
        weft_categories categories;
    } rows[] = {
        {"L", BIT(LU) | BIT(LL) | BIT(LT) | BIT(LM) | BIT(LO)},
        {"Letter", BIT(LU) | BIT(LL) | BIT(LT) | BIT(LM) | BIT(LO)},
        {"Lu", BIT(LU)},
        {"Ll", BIT(LL)},
        {"Lt", BIT(LT)},
        {"Lm", BIT(LM)},
        {"Lo", BIT(LO)},
        {"M", BIT(MN) | BIT(MC) | BIT(ME)},
        {"Mark", BIT(MN) | BIT(MC) | BIT(ME)},
        {"Mn", BIT(MN)},
        {"Mc", BIT(MC)},
        {"Me", BIT(ME)},
        {"N", BIT(ND) | BIT(NL) | BIT(NO)},
        {"Number", BIT(ND) | BIT(NL) | BIT(NO)},
        {"Nd", BIT(ND)},
        {"Nl", BIT(NL)},
        {"No", BIT(NO)},
        {"P", BIT(PC) | BIT(PD) | BIT(PS) | BIT(PE) | BIT(PI) | BIT(PF) | BIT(PO)},
        {"Punctuation", BIT(PC) | BIT(PD) | BIT(PS) | BIT(PE) | BIT(PI) | BIT(PF) | BIT(PO)},
        {"Pc", BIT(PC)},
        {"Pd", BIT(PD)},
        {"Ps", BIT(PS)},
        {"Pe", BIT(PE)},
        {"Pi", BIT(PI)},
        {"Pf", BIT(PF)},
        {"Po", BIT(PO)},
        {"S", BIT(SM) | BIT(SC) | BIT(SK) | BIT(SO)},
        {"Symbol", BIT(SM) | BIT(SC) | BIT(SK) | BIT(SO)},
        {"Sm", BIT(SM)},
        {"Sc", BIT(SC)},
        {"Sk", BIT(SK)},
        {"So", BIT(SO)},
        {"Z", BIT(ZS) | BIT(ZL) | BIT(ZP)},
        {"Separator", BIT(ZS) | BIT(ZL) | BIT(ZP)},
        {"Zs", BIT(ZS)},
        {"Zl", BIT(ZL)},
        {"Zp", BIT(ZP)},
        {"C", BIT(CC) | BIT(CF) | BIT(CO) | BIT(CS) | BIT(CN)},
        {"Other", BIT(CC) | BIT(CF) | BIT(CO) | BIT(CS) | BIT(CN)},
        {"Cc", BIT(CC)},
        {"Cf", BIT(CF)},
        {"Co", BIT(CO)},
        {"Cs", BIT(CS)},
        {"Cn", BIT(CN)},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (strcmp(name, rows[i].name) == 0) {
            return rows[i].categories;
        }
    }
    return 0;
}

bool weft_is_space(uint32_t code) {
    if (code < 0x80) {
        return code == ' ' || (code >= 0x09 && code <= 0x0D);
    }
    return code == 0x85 || code == 0xA0 || code == 0x1680 || (code >= 0x2000 && code <= 0x200A) ||
           code == 0x2028 || code == 0x2029 || code == 0x202F || code == 0x205F || code == 0x3000;
}

bool weft_is_word(uint32_t code) {
    if (code < 0x80) {
        return (code >= '0' && code <= '9') || (code >= 'a' && code <= 'z') ||
               (code >= 'A' && code <= 'Z') || code == '_';
    }
    const weft_categories word =
        weft_category_letter | weft_category_mark | BIT(ND) | BIT(NL) | BIT(PC);
    /* Circled and squared letters are symbols that are Alphabetic. */
    return (weft_category_of(code) & word) != 0 || (code >= 0x24B6 && code <= 0x24E9) ||
           (code >= 0x1F130 && code <= 0x1F149) || (code >= 0x1F150 && code <= 0x1F169) ||
           (code >= 0x1F170 && code <= 0x1F189);
}

bool weft_is_punctuation(uint32_t code) {
    if (code < 0x80) {
        return code > ' ' && code < 0x7F && !(weft_is_word(code) && code != '_');
    }
    return weft_history_has(code, WEFT_HISTORY_PUNCTUATION,
                            (weft_category_of(code) & weft_category_punctuation) != 0);
}

uint32_t weft_lower(uint32_t code) {
    return code < 0x80 ? code + (code >= 'A' && code <= 'Z' ? 'a' - 'A' : 0)
                       : (uint32_t)utf8proc_tolower((utf8proc_int32_t)code);
}

uint32_t weft_fold(uint32_t code) {
    return code < 0x80 ? weft_lower(code)
                       : (uint32_t)utf8proc_tolower(utf8proc_toupper((utf8proc_int32_t)code));
}

uint8_t weft_combining_class(uint32_t code) {
    if (code < 0x300) {
        return 0;
    }
    const uint8_t class = (uint8_t)utf8proc_get_property((utf8proc_int32_t)code)->combining_class;
    return class > 0 && weft_history_has(code, WEFT_HISTORY_MARK, true) ? class : 0;
}

uint32_t weft_decompose(uint32_t out[WEFT_MAX_DECOMPOSITION], uint32_t code, bool compatible) {
    utf8proc_int32_t parts[WEFT_MAX_DECOMPOSITION];
    int boundary = 0;
    const int options = UTF8PROC_DECOMPOSE | (compatible ? UTF8PROC_COMPAT : 0);
    const utf8proc_ssize_t count =
        code < 0xA0 || (compatible && !weft_history_has(code, WEFT_HISTORY_DECOMPOSES, true))
            ? 0
            : utf8proc_decompose_char((utf8proc_int32_t)code, parts, WEFT_MAX_DECOMPOSITION,
                                      (utf8proc_option_t)options, &boundary);
    if (count < 1 || count > (utf8proc_ssize_t)WEFT_MAX_DECOMPOSITION) {
        out[0] = code;
        return 1;
    }
    for (utf8proc_ssize_t i = 0; i < count; i++) {
        out[i] = (uint32_t)parts[i];
    }
    return (uint32_t)count;
}

uint32_t weft_compose(uint32_t first, uint32_t second) {
    if (second < 0x300) {
        return 0;
    }
    utf8proc_int32_t pair[3] = {(utf8proc_int32_t)first, (utf8proc_int32_t)second, 0};
    const utf8proc_ssize_t count =
        utf8proc_normalize_utf32(pair, 2, (utf8proc_option_t)(UTF8PROC_COMPOSE | UTF8PROC_STABLE));
    return count == 1 ? (uint32_t)pair[0] : 0;
}
