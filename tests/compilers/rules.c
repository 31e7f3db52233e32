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

struct instruction {
    char name[64];
    char first[64], second[64]; /* operands */
};

static bool read_instruction(struct instruction *read, const char *text) {
    *read = (struct instruction){{0}, {0}, {0}};
    const int found =
        sscanf(text, " %63[a-z0-9_] %63[^, \n], %63[^, \n]", read->name, read->first, read->second);
    return found >= 1 && (begins(read->name, "v_") || begins(read->name, "s_"));
}

/* Without the prefix that every instruction has, and that of one half of an instruction that issues two. */
static const char *stem_of(const char *name) {
    const char *stem = name + 2;
    return begins(stem, "dual_") ? stem + 5 : stem;
}

/* from_integer: of each register whether v_cvt_f32_u32 was the last to write it. */
static bool instruction_breaks(char *why, size_t size, const char *text,
                               bool from_integer[REGISTERS]) {
    struct instruction read;
    if (!read_instruction(&read, text)) {
        return false;
    }
    const char *stem = stem_of(read.name);
    const long source = register_of(read.second), target = register_of(read.first);
    const bool divides = begins(stem, "rcp_f32") && source >= 0 && from_integer[source];
    if (is_refused(stem) && !divides) {
        snprintf(why, size, "%s %s, %s", read.name, read.first, read.second);
        return true;
    }
    if (target >= 0) {
        from_integer[target] = begins(stem, "cvt_f32_u32");
    }
    return false;
}

static bool amd_breaks(char *why, size_t size, const char *code) {
    bool from_integer[REGISTERS] = {false};
    char line[512];
    for (const char *at = code; *at != '\0';) {
        const size_t length = strcspn(at, "\n");
        snprintf(line, sizeof line, "%.*s", (int)length, at);
        char *second = strstr(line, ":: "); /* of two that are issued together */
        if (instruction_breaks(why, size, line, from_integer) ||
            (second && instruction_breaks(why, size, second + 3, from_integer))) {
            return true;
        }
        at += length + (at[length] == '\n');
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
