/* SPDX-License-Identifier: MIT */
#include "model/program/expression.h"

#include <stdio.h>
#include <string.h>

struct parser {
    const char *text, *at;
    const struct weft_symbol_table *table;
    const int64_t *values;
    char *message;
    uint32_t depth;
};

static bool fail(struct parser *p, const char *what) {
    snprintf(p->message, WEFT_EXPRESSION_MESSAGE_SIZE, "%s at character %zu", what,
             (size_t)(p->at - p->text) + 1);
    return false;
}

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool continues_name(char c) {
    return is_letter(c) || is_digit(c) || c == '.';
}

static size_t name_length(const char *text) {
    size_t length = is_letter(text[0]) ? 1 : 0;
    while (length > 0 && continues_name(text[length])) {
        length++;
    }
    return length;
}

uint32_t weft_symbol_find(const struct weft_symbol_table *table, const char *name, size_t length) {
    for (uint32_t i = 0; i < table->count; i++) {
        const char *known = table->rows[i].name;
        if (strlen(known) == length && memcmp(known, name, length) == 0) {
            return i;
        }
    }
    return UINT32_MAX;
}

bool weft_symbol_is_name(const char *name) {
    static const char *const taken[] = {"min", "max", "inf", "nan"};
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
        if (strcmp(taken[i], name) == 0) {
            return false;
        }
    }
    return name[0] && name[name_length(name)] == '\0';
}

static bool accept(struct parser *p, const char *token) {
    while (*p->at == ' ') {
        p->at++;
    }
    const size_t length = strlen(token);
    const bool found = strncmp(p->at, token, length) == 0;
    p->at += found ? length : 0;
    return found;
}

/* ---- arithmetic ---- */

static bool negate(int64_t *x) {
    const bool fits = *x != INT64_MIN;
    *x = fits ? -*x : 0;
    return fits;
}

static bool add(int64_t *a, int64_t b) {
    const bool fits = b >= 0 ? *a <= INT64_MAX - b : *a >= INT64_MIN - b;
    *a = fits ? *a + b : 0;
    return fits;
}

static bool multiply(int64_t *a, int64_t b) {
    if (*a == 0 || b == 0) {
        *a = 0;
        return true;
    }
    if ((*a == INT64_MIN && b != 1) || (b == INT64_MIN && *a != 1)) {
        return false;
    }
    const int64_t x = *a < 0 && *a != INT64_MIN ? -*a : *a;
    const int64_t y = b < 0 && b != INT64_MIN ? -b : b;
    if (*a != INT64_MIN && b != INT64_MIN && x > INT64_MAX / y) {
        return false;
    }
    *a *= b;
    return true;
}

/** The quotient, or the remainder, of the division that rounds down; b is not 0. */
static bool divide(int64_t *a, int64_t b, bool remainder) {
    if (b == -1) {
        return remainder ? multiply(a, 0) : negate(a);
    }
    const int64_t rest = *a % b;
    const bool down = rest != 0 && (rest < 0) != (b < 0);
    *a = remainder ? rest + (down ? b : 0) : *a / b - (down ? 1 : 0);
    return true;
}

/* ---- grammar ---- */

static bool sum(struct parser *p, int64_t *value);

static bool number(struct parser *p, int64_t *value) {
    int64_t result = 0;
    for (; is_digit(*p->at); p->at++) {
        if (!multiply(&result, 10) || !add(&result, *p->at - '0')) {
            return fail(p, "a number beyond 64 bits");
        }
    }
    *value = result;
    return true;
}

/** min(…) and max(…), behind the name. */
static bool extreme(struct parser *p, int64_t *value, bool is_min) {
    if (!accept(p, "(") || !sum(p, value)) {
        return p->message[0] ? false : fail(p, "expected (");
    }
    while (accept(p, ",")) {
        int64_t other = 0;
        if (!sum(p, &other)) {
            return false;
        }
        *value = (other < *value) == is_min ? other : *value;
    }
    return accept(p, ")") || fail(p, "expected , or )");
}

static bool name(struct parser *p, int64_t *value) {
    const size_t length = name_length(p->at);
    const char *start = p->at;
    const bool is_min = length == 3 && memcmp(start, "min", 3) == 0;
    if (is_min || (length == 3 && memcmp(start, "max", 3) == 0)) {
        p->at += length;
        return extreme(p, value, is_min);
    }
    const uint32_t symbol = weft_symbol_find(p->table, start, length);
    if (symbol == UINT32_MAX) {
        return fail(p, "no symbol of that name");
    }
    p->at += length;
    *value = p->values[symbol];
    return true;
}

static bool unary(struct parser *p, int64_t *value) {
    if (++p->depth > WEFT_EXPRESSION_MAX_DEPTH) {
        return fail(p, "more than 32 levels of depth");
    }
    bool fine = true;
    if (accept(p, "-")) {
        fine = unary(p, value) && (negate(value) || fail(p, "a result beyond 64 bits"));
    } else if (accept(p, "(")) {
        fine = sum(p, value) && (accept(p, ")") || fail(p, "expected )"));
    } else if (is_digit(*p->at)) {
        fine = number(p, value);
    } else if (is_letter(*p->at)) {
        fine = name(p, value);
    } else {
        fine = fail(p, "expected a number, a symbol, - or (");
    }
    p->depth--;
    return fine;
}

static bool product(struct parser *p, int64_t *value) {
    bool fine = unary(p, value);
    while (fine) {
        const bool times = accept(p, "*");
        const bool over = !times && accept(p, "//");
        const bool rest = !times && !over && accept(p, "%");
        if (!times && !over && !rest) {
            break;
        }
        int64_t other = 0;
        fine = unary(p, &other);
        if (fine && !times && other == 0) {
            return fail(p, "a division by 0");
        }
        fine = fine && ((times ? multiply(value, other) : divide(value, other, rest)) ||
                        fail(p, "a result beyond 64 bits"));
    }
    return fine;
}

static bool sum(struct parser *p, int64_t *value) {
    bool fine = product(p, value);
    while (fine) {
        const bool plus = accept(p, "+");
        if (!plus && !accept(p, "-")) {
            break;
        }
        int64_t other = 0;
        fine = product(p, &other) && (((plus || negate(&other)) && add(value, other)) ||
                                      fail(p, "a result beyond 64 bits"));
    }
    return fine;
}

bool weft_expression_evaluate(int64_t *value, const char *text,
                              const struct weft_symbol_table *table, const int64_t *values,
                              char message[WEFT_EXPRESSION_MESSAGE_SIZE]) {
    struct parser parser = {
        .text = text, .at = text, .table = table, .values = values, .message = message};
    message[0] = '\0';
    if (strlen(text) > WEFT_EXPRESSION_MAX_BYTES) {
        return fail(&parser, "more than 1024 bytes");
    }
    if (!sum(&parser, value)) {
        return false;
    }
    return accept(&parser, "") && *parser.at ? fail(&parser, "something behind its end") : true;
}
