/* SPDX-License-Identifier: MIT */
/*
 * What is allowed of what looks like a breach, and why. Everything else that fuses, or whose result the ISA's manuals do not state to
 * the last bit, is refused.
 *   All: the reciprocal of what was just converted from an integer: the first estimate of a division of unsigned integers, which
 *     integer instructions correct.
 *   AMD: v_mad_f32, v_mac_f32 and their forms with a constant (up to RDNA1): product and sum are rounded apart, and subnormals flushed
 *     as Weft asks for.
 *   Qualcomm: mad.f32. Mesa's compiler makes it of a product and a sum that may not be fused, and takes it to round both.
 */
#include "rules.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REGISTERS 4096

static bool begins(const char *text, const char *with) {
    return strncmp(text, with, strlen(with)) == 0;
}

static bool begins_with_one_of(const char *text, const char *const list[]) {
    for (size_t i = 0; list[i]; i++) {
        if (begins(text, list[i])) {
            return true;
        }
    }
    return false;
}

struct instruction {
    char name[64];
    char target[64], source[64];
    long repeats;        /* Qualcomm's: for so many further registers */
    bool source_follows; /* with them */
};

/* The machine code of one vendor. `read` is false for a line that holds no instruction. */
struct language {
    bool (*read)(struct instruction *read, const char *line);
    bool (*is_refused)(const struct instruction *read);
    bool (*is_reciprocal)(const struct instruction *read);
    bool (*is_from_integer)(const struct instruction *read);
    long (*register_of)(const char *operand); /* below REGISTERS; -1 for what is none */
};

/* "12" is 12; -1 where there is no number. *end is what comes after it. */
static long number_of(const char *text, const char **end) {
    char *after = NULL;
    if (!isdigit((unsigned char)text[0])) {
        return -1;
    }
    const long number = strtol(text, &after, 10);
    *end = after;
    return number;
}

/* ---- AMD: "v_add_f32_e32 v1, v2, v3", perhaps with ":: " and a second one that is issued together with it ---- */

static bool read_amd(struct instruction *read, const char *line) {
    const int found = sscanf(line, " %63[a-z0-9_] %63[^, \n], %63[^, \n]", read->name, read->target,
                             read->source);
    return found >= 1 && (begins(read->name, "v_") || begins(read->name, "s_"));
}

/* Without the prefix that every instruction has, and that of one half of an instruction that issues two. */
static const char *amd_stem(const struct instruction *read) {
    const char *stem = read->name + 2;
    return begins(stem, "dual_") ? stem + 5 : stem;
}

static bool amd_refuses(const struct instruction *read) {
    static const char *const refused[] = {
        "fma_f",      "fmac_f",     "fmaak_f",   "fmamk_f", "fma_mix", "pk_fma",     "pk_fmac",
        "mad_mix",    "dot2",       "dot4",      "dot8",    "wmma",    "mfma",       "div_",
        "rcp_",       "rsq_",       "sqrt_",     "exp_f",   "log_f",   "sin_",       "cos_",
        "ldexp_",     "fract_",     "frexp_",    "interp_", "mad_f16", "mad_legacy", "mac_f16",
        "mac_legacy", "mul_legacy", "cvt_pkrtz", NULL};
    return begins_with_one_of(amd_stem(read), refused);
}

static bool amd_reciprocal(const struct instruction *read) {
    return begins(amd_stem(read), "rcp_f32");
}

static bool amd_from_integer(const struct instruction *read) {
    return begins(amd_stem(read), "cvt_f32_u32");
}

static long amd_register(const char *operand) {
    const char *end = NULL;
    return operand[0] == 'v' ? number_of(operand + 1, &end) : -1;
}

/* ---- Intel: "(W) mad (8) r1:f r2<0>:f r3:f r4:f {@1}"; types that are not written are :ud ---- */

static const char *after_condition(const char *line) {
    while (*line == ' ' || *line == '(') {
        const char *end = *line == '(' ? strchr(line, ')') : line;
        line = end ? end + 1 : line + strlen(line);
    }
    return line;
}

static bool is_float(const char *operand) {
    const char *type = strrchr(operand, ':');
    return type && (begins(type, ":f") || begins(type, ":hf") || begins(type, ":df") ||
                    begins(type, ":bf"));
}

static bool read_intel(struct instruction *read, const char *line) {
    const int found = sscanf(after_condition(line), "%63[a-z0-9.] (%*d) %63s %63s", read->name,
                             read->target, read->source);
    return found == 3;
}

static bool intel_refuses(const struct instruction *read) {
    static const char *const refused[] = {"mad", "lrp",   "pln",  "line", "dp2", "dp3",
                                          "dph", "dpas.", "math", "frc",  NULL};
    return begins_with_one_of(read->name, refused) && !begins(read->name, "math.int") &&
           (is_float(read->target) || begins(read->name, "dpas"));
}

static bool intel_reciprocal(const struct instruction *read) {
    return strcmp(read->name, "math.inv") == 0;
}

static bool intel_from_integer(const struct instruction *read) {
    return strcmp(read->name, "mov") == 0 && is_float(read->target) && !is_float(read->source);
}

/* "r12.4<0>:f": register 12, from its element 4. */
static long intel_register(const char *operand) {
    const char *end = NULL;
    const long number = operand[0] == 'r' ? number_of(operand + 1, &end) : -1;
    const long element = number >= 0 && *end == '.' ? number_of(end + 1, &end) : 0;
    return number < 0 || element < 0 || element > 15 ? -1 : 16 * number + element;
}

/* ---- NVIDIA, Mesa's compiler: "@p0 r1 = ffma.ftz r2 r3 r4 // delay=1" ---- */

static bool read_nvidia(struct instruction *read, const char *line) {
    const char *equals = strstr(line, " = ");
    if (!equals) {
        return false;
    }
    line = *line == '@' ? line + strcspn(line, " ") : line;
    return sscanf(line, " %63s", read->target) == 1 &&
           sscanf(equals, " = %63s %63s", read->name, read->source) >= 1;
}

/* Subnormals are flushed by each instruction. */
static bool nvidia_refuses(const struct instruction *read) {
    static const char *const refused[] = {"ffma", "hfma2", "dfma", "hmma",
                                          "mufu", "fswz",  "rro",  NULL};
    const bool keeps =
        (begins(read->name, "fadd") || begins(read->name, "fmul")) && !strstr(read->name, ".ftz");
    return keeps || begins_with_one_of(read->name, refused);
}

static bool nvidia_reciprocal(const struct instruction *read) {
    return strcmp(read->name, "mufu.rcp.f32") == 0;
}

static bool nvidia_from_integer(const struct instruction *read) {
    return begins(read->name, "i2f.f32.u32");
}

/* Those that a subgroup has in common come behind the others. */
static long nvidia_register(const char *operand) {
    enum { COMMON = 1024 };
    const char *end = NULL;
    const bool common = operand[0] == 'u';
    operand += common;
    const long number = operand[0] == 'r' ? number_of(operand + 1, &end) : -1;
    return number < 0 ? -1 : number + (common ? COMMON : 0);
}

/* ---- Qualcomm: "(sy)(nop3) mad.f32 r1.x, r2.y, (last)r3.z, c4.w"; "(rpt1)" for the register behind r1.x, too ---- */

static bool read_qualcomm(struct instruction *read, const char *line) {
    const char *repeat = strstr(line, "(rpt"), *end = NULL;
    read->repeats = repeat ? number_of(repeat + 4, &end) : 0;
    read->source_follows = strstr(line, "(r)") != NULL;
    return sscanf(after_condition(line), "%63[a-z0-9.] %63[^, \n], %63[^, \n]", read->name,
                  read->target, read->source) == 3;
}

static bool qualcomm_refuses(const struct instruction *read) {
    static const char *const refused[] = {"mad.f16", "rcp",    "rsq", "sqrt", "log2",
                                          "exp2",    "sin",    "cos", "hrsq", "hlog2",
                                          "hexp2",   "dp2acc", "wmm", NULL};
    return begins_with_one_of(read->name, refused);
}

static bool qualcomm_reciprocal(const struct instruction *read) {
    return strcmp(read->name, "rcp") == 0;
}

static bool qualcomm_from_integer(const struct instruction *read) {
    return begins(read->name, "cov.u32f32");
}

static long qualcomm_register(const char *operand) {
    static const char components[] = "xyzw";
    const char *end = NULL;
    operand = after_condition(operand);
    const long number = operand[0] == 'r' ? number_of(operand + 1, &end) : -1;
    const char *component =
        number >= 0 && *end == '.' && end[1] ? strchr(components, end[1]) : NULL;
    return component ? 4 * number + (long)(component - components) : -1;
}

/* ---- all ---- */

/* Whether a conversion from an integer was the last to write what an instruction reads. */
static bool reads_converted(const struct instruction *read, long source,
                            const bool from_integer[REGISTERS]) {
    for (long i = 0; i <= read->repeats; i++) {
        const long at = source + (read->source_follows ? i : 0);
        if (source < 0 || at >= REGISTERS || !from_integer[at]) {
            return false;
        }
    }
    return true;
}

static void note_written(const struct instruction *read, long target, bool converted,
                         bool from_integer[REGISTERS]) {
    for (long i = target; target >= 0 && i <= target + read->repeats && i < REGISTERS; i++) {
        from_integer[i] = converted;
    }
}

static bool instruction_breaks(char *why, size_t size, const struct language *language,
                               const char *text, bool from_integer[REGISTERS]) {
    struct instruction read = {.repeats = 0};
    if (!language->read(&read, text)) {
        return false;
    }
    const bool divides = language->is_reciprocal(&read) &&
                         reads_converted(&read, language->register_of(read.source), from_integer);
    if (language->is_refused(&read) && !divides) {
        snprintf(why, size, "%s %s, %s", read.name, read.target, read.source);
        return true;
    }
    note_written(&read, language->register_of(read.target), language->is_from_integer(&read),
                 from_integer);
    return false;
}

static bool code_breaks(char *why, size_t size, const struct language *language, const char *code) {
    bool from_integer[REGISTERS] = {false};
    char line[512];
    for (const char *at = code; *at != '\0';) {
        const size_t length = strcspn(at, "\n");
        snprintf(line, sizeof line, "%.*s", (int)length, at);
        const char *second = strstr(line, ":: "); /* of AMD's, of two that are issued together */
        if (instruction_breaks(why, size, language, line, from_integer) ||
            (second && instruction_breaks(why, size, language, second + 3, from_integer))) {
            return true;
        }
        at += length + (at[length] == '\n');
    }
    return false;
}

struct weft_isa {
    const char *driver;         /* the beginning of VkPhysicalDeviceDriverProperties::driverName */
    const char *representation; /* what the driver calls its machine code */
    struct language language;
};

static const struct weft_isa known[] = {
    {"radv", "Assembly", {read_amd, amd_refuses, amd_reciprocal, amd_from_integer, amd_register}},
    {"Intel open-source Mesa driver",
     "GEN Assembly",
     {read_intel, intel_refuses, intel_reciprocal, intel_from_integer, intel_register}},
    {"NVK",
     "NAK assembly",
     {read_nvidia, nvidia_refuses, nvidia_reciprocal, nvidia_from_integer, nvidia_register}},
    {"turnip Mesa driver",
     "IR3 Assembly",
     {read_qualcomm, qualcomm_refuses, qualcomm_reciprocal, qualcomm_from_integer,
      qualcomm_register}},
};

const struct weft_isa *weft_isa_of(const char *driver) {
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (begins(driver, known[i].driver)) {
            return &known[i];
        }
    }
    return NULL;
}

bool weft_isa_is(const struct weft_isa *isa, const char *representation) {
    return strcmp(representation, isa->representation) == 0;
}

bool weft_isa_breaks(const struct weft_isa *isa, char *why, size_t size, const char *code) {
    return code_breaks(why, size, &isa->language, code);
}
