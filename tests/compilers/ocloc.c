/* SPDX-License-Identifier: MIT */
/*
 * Intel's machine code as its own compiler makes and prints it: "(W) mad (16|M0) r1.0<1>:f r2.0<0;0>:f r3.0<1;0>:f r4.0<1>:f {F@1}". Divisions
 * of whole numbers have rules of their own (ocloc_text.h). Otherwise code begins by setting the one register of modes, to keep subnormals of float64
 * alone (bit 6; bit 7 would be float32's, bit 10 float16's, bits 4 and 5 the rounding, which the driver sets to nearest before), and sets nothing else. Bit 30, which
 * every kernel for Battlemage sets, is none of these.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "language.h"
#include "ocloc_text.h"

static bool read_ocloc(struct weft_instruction *read, const char *line) {
    if (weft_begins(line, "//")) {
        return false;
    }
    const char *at = weft_after_condition(line);
    const int found =
        sscanf(at, "%63[a-zA-F0-9.] (%*[^)]) %63s %63s", read->name, read->target, read->source);
    return found == 3;
}

static bool sets_other_modes(const struct weft_instruction *read) {
    const unsigned long kept = 1ul << 6 | 1ul << 30;
    const char *mask = strstr(read->line, "0x");
    const bool sets = strcmp(read->name, "or") == 0 && weft_begins(read->source, "cr0.0<0;1,0>") &&
                      mask && (strtoul(mask, NULL, 16) & ~kept) == 0;
    return weft_begins(read->target, "cr0") && !sets;
}

static bool ocloc_refuses(const struct weft_instruction *read) {
    const bool saturates = strstr(read->line, "(sat)") && weft_intel_is_float(read->target);
    return weft_intel_computes(read) || sets_other_modes(read) || saturates;
}

static bool ocloc_fuses(const struct weft_instruction *read) {
    return strcmp(read->name, "mad") == 0 && strstr(read->target, ":f") &&
           !strstr(read->line, "(sat)");
}

static bool is_none(const struct weft_instruction *read) {
    (void)read;
    return false;
}

static long no_register(const char *operand) {
    (void)operand;
    return -1;
}

const struct weft_language weft_ocloc = {.read = read_ocloc,
                                         .is_refused = ocloc_refuses,
                                         .is_fused = ocloc_fuses,
                                         .is_reciprocal = is_none,
                                         .is_from_integer = is_none,
                                         .register_of = no_register,
                                         .sets_modes = " cr0.0<0;1,0>",
                                         .take_divisions = weft_ocloc_divisions};
