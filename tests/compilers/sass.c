/* SPDX-License-Identifier: MIT */
/*
 * NVIDIA's machine code as its own compiler makes it and its own disassembler prints it, without addresses: "@!P0 FADD.FTZ R1, R2, -R3".
 * Every instruction that computes floats flushes subnormals and none rounds another way. A MUFU.RCP is the first estimate of a division of
 * whole numbers if it follows an I2F that rounds up, which nothing but such a division has: a float that is divided by would be
 * rounded to nearest.
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "language.h"

/* Without a condition, "@P0", and the mark of instructions whose operands a subgroup has in common, as UFADD. */
static bool read_sass(struct weft_instruction *read, const char *line) {
    line += strspn(line, " ");
    if (*line == '@') {
        line += strcspn(line, " ");
    }
    line += strspn(line, " ");
    line += weft_begins(line, "UF") || weft_begins(line, "UI2F");
    const int found = sscanf(line, "%63[A-Z0-9_.a-z] %63[^, \n], %63[^, \n]", read->name,
                             read->target, read->source);
    if (strstr(read->name, ".64") || strstr(read->name, ".WIDE")) {
        read->repeats = 1;
    } else if (strstr(read->name, ".128") || strstr(read->name, ".256")) {
        read->repeats = strstr(read->name, ".128") ? 3 : 7;
    }
    return found >= 2;
}

/* "HFMA2.MMA R1, -RZ, RZ, 1.875, 0" moves the bits of two half floats. */
static bool moves_constant(const struct weft_instruction *read) {
    return weft_begins(read->name, "HFMA2") && strcmp(read->source, "-RZ") == 0 &&
           strstr(read->line, " -RZ, RZ, ");
}

static bool keeps_modes(const char *name) {
    static const char *const others[] = {".RZ", ".RM", ".RP", ".SAT"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (strstr(name, others[i])) {
            return false;
        }
    }
    return strstr(name, ".FTZ") != NULL;
}

/* A comparison with a normal number says the same of a subnormal as of a zero, and ptxas leaves its mark out; so clang does of a maximum or minimum. */
static bool compares_with_normal(const struct weft_instruction *read) {
    bool found = false;
    const char *at = weft_begins(read->name, "FSETP") || weft_begins(read->name, "FMNMX.NAN")
                         ? strchr(read->line, ',')
                         : NULL;
    for (; at && !found; at = strchr(at + 1, ',')) {
        char *end = NULL;
        const double value = strtod(at + 1, &end);
        found = end != at + 1 && fabs(value) >= (double)FLT_MIN;
    }
    return found;
}

static bool sass_refuses(const struct weft_instruction *read) {
    static const char *const computes[] = {"FADD", "FMUL", "FMNMX", "FSET", "FRND", NULL};
    static const char *const refused[] = {"FFMA", "HFMA", "HADD",  "HMUL", "HMMA", "BFMA", "DFMA",
                                          "DADD", "DMUL", "DMMA",  "QMMA", "OMMA", "MUFU", "FSWZ",
                                          "RRO",  "FCHK", "HGMMA", "F2FP", NULL};
    const bool saturates = (weft_begins(read->name, "IMMA") || weft_begins(read->name, "IDP")) &&
                           strstr(read->name, ".SAT");
    return (weft_begins_with_one_of(read->name, computes) && !keeps_modes(read->name) &&
            !compares_with_normal(read)) ||
           (weft_begins_with_one_of(read->name, refused) && !moves_constant(read)) || saturates;
}

static bool sass_fuses(const struct weft_instruction *read) {
    return weft_begins(read->name, "FFMA") && keeps_modes(read->name);
}

static bool sass_reciprocal(const struct weft_instruction *read) {
    return strcmp(read->name, "MUFU.RCP") == 0;
}

static bool sass_from_integer(const struct weft_instruction *read) {
    return weft_begins(read->name, "I2F") && strstr(read->name, ".U") && strstr(read->name, ".RP");
}

/* Those that a subgroup has in common come behind the others. */
static long sass_register(const char *operand) {
    enum { COMMON = 1024 };
    const char *end = NULL;
    const bool common = operand[0] == 'U';
    operand += common;
    const long number = operand[0] == 'R' ? weft_number_of(operand + 1, &end) : -1;
    return number < 0 ? -1 : number + (common ? COMMON : 0);
}

const struct weft_language weft_sass = {
    read_sass, sass_refuses, sass_fuses, sass_reciprocal, sass_from_integer, sass_register,
    NULL,      NULL,         NULL};
