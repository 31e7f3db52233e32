/* SPDX-License-Identifier: MIT */
#include "support_glsl.h"

#include "core/math/philox.h"
#include "support.h"

enum { VARIABLES = 5, DEEPEST = 3 };

struct writer {
    char *text;
    size_t size, length;
    uint64_t seed;
    uint32_t drawn;
    uint32_t loops;  /* so far, for names */
    uint32_t inside; /* of loops that can be left */
};

static uint32_t below(struct writer *w, uint32_t limit) {
    return weft_philox_u32(w->seed, 0, w->drawn++) % limit;
}

static void put(struct writer *w, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(struct writer *w, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(w->text + w->length, w->size - w->length, format, arguments);
    va_end(arguments);
    assert_in_range(length, 0, w->size - w->length - 1);
    w->length += (size_t)length;
}

/* ---- expressions ---- */

static void put_expression(struct writer *w, uint32_t depth);
static void put_condition(struct writer *w, uint32_t depth);

static void put_leaf(struct writer *w) {
    switch (below(w, 9)) {
    case 0:
        put(w, "%uu", below(w, 100));
        break;
    case 1:
        put(w, "in_(%uu)", below(w, 4));
        break;
    case 2:
        put(w, "lane()");
        break;
    case 3:
        put(w, "push.%c", 'a' + (int)below(w, 2));
        break;
    case 4:
        put(w, "CHOICE");
        break;
    default:
        put(w, "v%u", below(w, VARIABLES));
        break;
    }
}

/* Each %s is an expression. */
static const char *const forms[] = {
    "(%s + %s)",
    "(%s - %s)",
    "(%s * %s)",
    "(%s ^ %s)",
    "(%s & %s)",
    "(%s | %s)",
    "(%s << (%s & 31u))",
    "(%s >> (%s & 31u))",
    "(%s / (%s | 1u))",
    "(%s %% (%s | 1u))",
    "min(%s, %s)",
    "max(%s, %s)",
    "uint(int(%s) >> int(%s & 31u))",
    "uint(bitCount(%s) + findMSB(%s))",
    "floatBitsToUint(float(%s & 1023u) * 0.375 + float(%s & 63u))",
    "helper(%s, %s)",
    "(~%s + own[%s %% 5u])",
};

static void put_form(struct writer *w, const char *form, uint32_t depth) {
    for (; *form; form++) {
        if (form[0] == '%' && form[1] == 's') {
            put_expression(w, depth + 1);
            form++;
        } else if (form[0] == '%' && form[1] == '%') {
            put(w, "%%");
            form++;
        } else {
            put(w, "%c", *form);
        }
    }
}

static void put_expression(struct writer *w, uint32_t depth) {
    const uint32_t kind = below(w, 10);
    if (depth >= DEEPEST - 1 || kind < 3) {
        put_leaf(w);
    } else if (kind == 3) {
        put(w, "(");
        put_condition(w, depth + 1);
        put_form(w, " ? %s : %s)", depth);
    } else {
        put_form(w, forms[below(w, sizeof forms / sizeof forms[0])], depth);
    }
}

static void put_condition(struct writer *w, uint32_t depth) {
    static const char *const comparisons[] = {"(%s < %s)", "(%s == %s)", "(int(%s) >= int(%s))",
                                              "((%s & 3u) != (%s & 1u))"};
    if (depth < DEEPEST && below(w, 4) == 0) {
        put(w, "(");
        put_condition(w, depth + 1);
        put(w, below(w, 2) == 0 ? " && " : " || ");
        put_condition(w, depth + 1);
        put(w, ")");
    } else {
        put_form(w, comparisons[below(w, 4)], depth);
    }
}

/* ---- statements ---- */

static void put_block(struct writer *w, uint32_t depth);

static void put_if(struct writer *w, uint32_t depth) {
    put(w, "if (");
    put_condition(w, 1);
    put(w, ") ");
    put_block(w, depth + 1);
    if (below(w, 2) == 0) {
        put(w, " else ");
        put_block(w, depth + 1);
    }
}

static void put_for(struct writer *w, uint32_t depth) {
    const uint32_t name = w->loops++;
    put(w, "uint n%u = ", name);
    put_expression(w, 1);
    put(w, " %% %uu; for (uint i%u = 0u; i%u < n%u; i%u++) ", 2 + below(w, 6), name, name, name,
        name);
    w->inside++;
    put_block(w, depth + 1);
    w->inside--;
}

static void put_switch(struct writer *w, uint32_t depth) {
    put(w, "switch (");
    put_expression(w, 1);
    put(w, " %% 4u) { case 0u: ");
    put_block(w, depth + 1);
    put(w, " break; case 1u: ");
    put_block(w, depth + 1); /* and on */
    put(w, " case 2u: ");
    put_block(w, depth + 1);
    put(w, " break; default: ");
    put_block(w, depth + 1);
    put(w, " }");
}

static void put_jump(struct writer *w) {
    put(w, "if (");
    put_condition(w, 1);
    put(w, ") %s;", below(w, 2) == 0 ? "break" : "continue");
}

static void put_set(struct writer *w) {
    if (below(w, 4) == 0) {
        put_form(w, "own[%s %% 5u] = %s;", 1);
        return;
    }
    put(w, "v%u %s= ", below(w, VARIABLES), below(w, 2) == 0 ? "+" : "");
    put_expression(w, 0);
    put(w, ";");
}

static void put_statement(struct writer *w, uint32_t depth) {
    const uint32_t kind = below(w, 10);
    if (depth >= DEEPEST || kind < 5) {
        put_set(w);
    } else if (kind < 7) {
        put_if(w, depth);
    } else if (kind == 7) {
        put_for(w, depth);
    } else if (kind == 8) {
        const uint32_t inside = w->inside; /* a break would be the switch's */
        w->inside = 0;
        put_switch(w, depth);
        w->inside = inside;
    } else if (w->inside > 0) {
        put_jump(w);
    } else {
        put_set(w);
    }
}

static void put_block(struct writer *w, uint32_t depth) {
    put(w, "{ ");
    for (uint32_t i = below(w, 2) + 1; i > 0; i--) {
        put_statement(w, depth);
        put(w, " ");
    }
    put(w, "}\n");
}

/* ---- kernels ---- */

static void put_exchange(struct writer *w) {
    put(w, "tile[lane()] = ");
    put_expression(w, 1);
    put(w, "; barrier(); v%u += tile[", below(w, VARIABLES));
    put_expression(w, 1);
    put(w, " %% SIZE]; barrier();\n");
}

static void put_section(struct writer *w) {
    put_block(w, 0);
    switch (below(w, 4)) {
    case 0: /* all invocations go round as often */
        put(w, "for (uint r%u = 0u; r%u < push.a %% 3u + 1u; r%u++) {\n", w->loops, w->loops,
            w->loops);
        w->loops++;
        put_exchange(w);
        put_block(w, 1);
        put(w, "}\n");
        break;
    case 1:
        break;
    default:
        put_exchange(w);
        break;
    }
}

void weft_test_random_kernel(char *text, size_t size, uint64_t seed) {
    struct writer w = {.text = text, .size = size, .seed = seed};
    put(&w, "const uint SIZE = gl_WorkGroupSize.x * gl_WorkGroupSize.y * gl_WorkGroupSize.z;\n"
            "shared uint tile[SIZE];\n"
            "uint helper(uint v0, uint v1) {\n"
            "uint v2 = v0 ^ 5u, v3 = v1 >> 3, v4 = 1u, own[5] = {v1, 2u, 3u, v0, 5u};\n"
            "for (uint k = 0u; k < v0 %% 6u; k++) { if (((v1 >> k) & 3u) == 2u) return v2 + k;\n"
            "v2 = v2 * 3u + v3; if (v2 %% 7u == 0u) break; }\n"
            "if (v3 %% 5u == 1u) return own[v2 %% 5u]; return v2 + v4; }\n"
            "void main() {\n"
            "uint v0 = in_(0u), v1 = in_(1u), v2 = lane(), v3 = push.a, v4 = 3u;\n"
            "uint own[5] = {v0, 1u, v2, 4u, v1};\n");
    for (uint32_t i = below(&w, 2) + 2; i > 0; i--) {
        put_section(&w);
    }
    put(&w, "out_(0u, v0 ^ v1); out_(1u, v2 + own[0] + own[1]); out_(2u, v3 ^ own[2] ^ own[3]);\n"
            "out_(3u, v4 + own[4]); }\n");
}
