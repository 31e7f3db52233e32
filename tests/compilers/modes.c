/* SPDX-License-Identifier: MIT */
/*
 * Mesa's compilers print the modes that they were asked for with the program they work on ("float_controls_execution_mode: 0x12092"),
 * and it is from there that its drivers fill the register, or the shader's descriptor, that the hardware begins with: AMD's FLOAT_MODE,
 * Qualcomm's and Arm's. Intel's programs set it themselves and NVIDIA's instructions name it each, which rules.c looks at. The bits
 * were numbered anew in Mesa 26; whatever Weft asks for sets one of the later ones in the older numbering.
 */
#include "modes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char words[] = "float_controls_execution_mode: ";

struct numbering {
    unsigned long preserve, flush, nearest, to_zero; /* of float32 */
};

static const struct numbering mesa25 = {1UL << 10, 1UL << 13, 1UL << 16, 1UL << 19};
static const struct numbering mesa26 = {1UL << 1, 1UL << 4, 1UL << 7, 1UL << 10};

bool weft_float_modes_are_told(const char *text) {
    return strstr(text, words) != NULL;
}

bool weft_float_modes_break(char *why, size_t size, const char *text, bool flushes) {
    const char *at = strstr(text, words);
    const unsigned long modes = at ? strtoul(at + sizeof words - 1, NULL, 16) : 0;
    const struct numbering *of = modes >> 12 != 0 ? &mesa25 : &mesa26;
    const bool rounds = (modes & of->nearest) && !(modes & of->to_zero);
    const bool keeps = flushes && (!(modes & of->flush) || (modes & of->preserve));
    if (!rounds || keeps) {
        snprintf(why, size, "float modes 0x%lx:%s%s", modes, rounds ? "" : " not to nearest",
                 keeps ? " subnormals are not flushed" : "");
    }
    return !rounds || keeps;
}
