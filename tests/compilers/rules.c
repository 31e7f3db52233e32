/* SPDX-License-Identifier: MIT */
/*
 * AMD. What is allowed, and why:
 *   v_mad_f32, v_mac_f32 and their forms with a constant (up to RDNA1): product and sum are rounded apart, and subnormals flushed
 *     as Weft asks for.
 *   v_rcp_f32 of what v_cvt_f32_u32 has made of an integer: the first estimate of a division of unsigned integers, which integer
 *     instructions correct (LLVM's and ACO's).
 * Everything else that fuses, or whose result the ISA's manuals do not state to the last bit, is refused.
 */
#include "rules.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REGISTERS 512

static bool begins(const char *text, const char *with) {
    return strncmp(text, with, strlen(with)) == 0;
}

/* Instructions by how they begin, without "v_", "s_" and "dual_". */
static bool is_refused(const char *instruction) {
    static const char *const refused[] = {
        "fma_f",      "fmac_f",     "fmaak_f",  "fmamk_f", "fma_mix", "pk_fma",     "pk_fmac",
        "mad_mix",    "dot2",       "dot4",     "dot8",    "wmma",    "mfma",       "div_",
        "rcp_",       "rsq_",       "sqrt_",    "exp_f",   "log_f",   "sin_",       "cos_",
        "ldexp_",     "fract_",     "frexp_",   "interp_", "mad_f16", "mad_legacy", "mac_f16",
        "mac_legacy", "mul_legacy", "cvt_pkrtz"};
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        if (begins(instruction, refused[i])) {
            return true;
        }
    }
    return false;
}

/* "v12" is 12; -1 for anything else. */
static long register_of(const char *operand) {
    char *end = NULL;
    const long number = operand[0] == 'v' && isdigit((unsigned char)operand[1])
                            ? strtol(operand + 1, &end, 10)
                            : -1;
    return number < REGISTERS ? number : -1;
}

struct line {
    char name[64];
    char first[64], second[64]; /* operands */
};

static bool read_line(struct line *line, const char *text) {
    *line = (struct line){{0}, {0}, {0}};
    const int found =
        sscanf(text, " %63[a-z0-9_] %63[^, \n], %63[^, \n]", line->name, line->first, line->second);
    return found >= 1 && (begins(line->name, "v_") || begins(line->name, "s_"));
}

/* Of the two halves of an instruction that issues two, each. */
static const char *stem_of(const char *name) {
    const char *stem = name + 2;
    return begins(stem, "dual_") ? stem + 5 : stem;
}

static bool amd_breaks(char *why, size_t size, const char *code) {
    bool from_integer[REGISTERS] = {false};
    for (const char *at = code; at; at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL) {
        struct line line;
        const char *half = strstr(at, ":: ");
        const char *end = strchr(at, '\n');
        for (const char *part = at; part;
             part = part == at && half && (!end || half < end) ? half + 3 : NULL) {
            if (!read_line(&line, part)) {
                continue;
            }
            const char *stem = stem_of(line.name);
            const long source = register_of(line.second), target = register_of(line.first);
            const bool divides = begins(stem, "rcp_f32") && source >= 0 && from_integer[source];
            if (is_refused(stem) && !divides) {
                snprintf(why, size, "%s %s, %s", line.name, line.first, line.second);
                return true;
            }
            if (target >= 0) {
                from_integer[target] = begins(stem, "cvt_f32_u32");
            }
        }
    }
    return false;
}

static const struct weft_isa known[] = {
    {.driver = "radv", .representation = "Assembly", .breaks = amd_breaks}};

const struct weft_isa *weft_isa_of(const char *driver) {
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (begins(driver, known[i].driver)) {
            return &known[i];
        }
    }
    return NULL;
}
