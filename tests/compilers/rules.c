/* SPDX-License-Identifier: MIT */
/*
 * What is allowed of what looks like a breach, and why. Everything else that fuses, or whose result the ISA's manuals do not state to
 * the last bit, is refused.
 *   All: the reciprocal of what was just converted from an integer: the first estimate of a division of unsigned integers, which
 *     integer instructions correct.
 *   AMD: v_mad_f32, v_mac_f32 and their forms with a constant (up to RDNA1): product and sum are rounded apart, and subnormals flushed
 *     as Weft asks for.
 *   Qualcomm: mad.f32. Mesa's compiler makes it of a product and a sum that may not be fused, and takes it to round both.
 *   Arm: FMA whose addend is -0, the only product there is: adding -0 changes nothing, and what it rounds is the product alone.
 *   Sums of integers by matrix units, v_wmma_i32, dpas and imma, unless they saturate.
 *   Broadcom has nothing that fuses; refused are the estimates of its unit for special functions.
 *   NVIDIA's own compiler (sass.c): HFMA2 of two zeros and a constant, by which it moves that.
 *   Intel's own compiler (ocloc.c): what divides whole numbers between two changes of the rounding (ocloc_text.h).
 *   In fused math: float32 instructions that multiply and add with one rounding. Whether they stand for an Fma and no other sum shows in
 *     reproducible math, where the same kernels have none.
 *
 * Rounding and subnormals. AMD: the pipeline begins with modes that the code does not show (modes.h) and may not set others. Intel: the code
 * has to set its control register, to nearest and flushing, and to nothing else. NVIDIA: every instruction flushes and none rounds
 * another way. Qualcomm: the code has nothing of either (modes.h). Broadcom and Arm flush by instructions that Weft adds, which are integer ones;
 * Arm's name another way of rounding, Broadcom has none.
 */
#include "rules.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "language.h"

bool weft_begins(const char *text, const char *with) {
    return strncmp(text, with, strlen(with)) == 0;
}

bool weft_begins_with_one_of(const char *text, const char *const list[]) {
    for (size_t i = 0; list[i]; i++) {
        if (weft_begins(text, list[i])) {
            return true;
        }
    }
    return false;
}

long weft_number_of(const char *text, const char **end) {
    char *after = NULL;
    if (!isdigit((unsigned char)text[0])) {
        return -1;
    }
    const long number = strtol(text, &after, 10);
    *end = after;
    return number;
}

/* ---- AMD: "v_add_f32_e32 v1, v2, v3", perhaps with ":: " and a second one ---- */

static bool read_amd(struct weft_instruction *read, const char *line) {
    const int found = sscanf(line, " %63[a-z0-9_] %63[^, \n], %63[^, \n]", read->name, read->target,
                             read->source);
    return found >= 1 && (weft_begins(read->name, "v_") || weft_begins(read->name, "s_"));
}

/* Without the prefix that every instruction has, and that of one half of an instruction that issues two. */
static const char *amd_stem(const struct weft_instruction *read) {
    const char *stem = read->name + 2;
    return weft_begins(stem, "dual_") ? stem + 5 : stem;
}

/* A matrix unit adds up integers exactly, if it does not stop at a limit. */
static bool amd_adds_integers(const struct weft_instruction *read) {
    return weft_begins(amd_stem(read), "wmma_i32") && !strstr(read->line, " clamp");
}

static bool amd_refuses(const struct weft_instruction *read) {
    static const char *const refused[] = {
        "fma_f",     "fmac_f",      "fmaak_f",    "fmamk_f", "fma_mix",    "pk_fma",
        "pk_fmac",   "mad_mix",     "dot2",       "dot4_f",  "dot8",       "wmma",
        "mfma",      "div_",        "rcp_",       "rsq_",    "sqrt_",      "exp_f",
        "log_f",     "sin_",        "cos_",       "ldexp_",  "fract_",     "frexp_",
        "interp_",   "mad_f16",     "mad_legacy", "mac_f16", "mac_legacy", "mul_legacy",
        "cvt_pkrtz", "denorm_mode", "round_mode", NULL};
    const bool sets_mode =
        weft_begins(amd_stem(read), "setreg") && strstr(read->line, "HW_REG_MODE");
    return (weft_begins_with_one_of(amd_stem(read), refused) && !amd_adds_integers(read)) ||
           sets_mode || strstr(read->line, " mul:") ||
           strstr(read->line, " div:"); /* results that are scaled lose the sign of zero */
}

static bool amd_fuses(const struct weft_instruction *read) {
    static const char *const fused[] = {"fma_f32", "fmac_f32", "fmaak_f32", "fmamk_f32", NULL};
    return weft_begins_with_one_of(amd_stem(read), fused) && !strstr(read->line, " mul:") &&
           !strstr(read->line, " div:");
}

static bool amd_reciprocal(const struct weft_instruction *read) {
    return weft_begins(amd_stem(read), "rcp_f32");
}

static bool amd_from_integer(const struct weft_instruction *read) {
    return weft_begins(amd_stem(read), "cvt_f32_u32");
}

static long amd_register(const char *operand) {
    const char *end = NULL;
    return operand[0] == 'v' ? weft_number_of(operand + 1, &end) : -1;
}

/* ---- Intel: "(W) mad (8) r1:f r2<0>:f r3:f r4:f {@1}"; types that are not written are :ud ---- */

const char *weft_after_condition(const char *line) {
    while (*line == ' ' || *line == '(') {
        const char *end = *line == '(' ? strchr(line, ')') : line;
        line = end ? end + 1 : line + strlen(line);
    }
    return line;
}

bool weft_intel_is_float(const char *operand) {
    const char *type = strrchr(operand, ':');
    return type && (weft_begins(type, ":f") || weft_begins(type, ":hf") ||
                    weft_begins(type, ":df") || weft_begins(type, ":bf"));
}

static bool read_intel(struct weft_instruction *read, const char *line) {
    const int found = sscanf(weft_after_condition(line), "%63[a-z0-9.] (%*d) %63s %63s", read->name,
                             read->target, read->source);
    return found == 3;
}

/* "and (1) cr0 cr0<0> 0xffffff4f": bits 4 and 5 choose the rounding, 0 is to nearest; bit 7 keeps subnormals. */
static bool sets_other_modes(const struct weft_instruction *read) {
    const char *mask = strstr(read->line, "0x");
    const bool clears = strcmp(read->name, "and") == 0 && weft_begins(read->source, "cr0<0>") &&
                        mask && (strtoul(mask, NULL, 16) & 0xb0) == 0;
    return weft_begins(read->target, "cr0") && !clears;
}

bool weft_intel_computes(const struct weft_instruction *read) {
    static const char *const refused[] = {"mad", "lrp",   "pln",  "line", "dp2", "dp3",
                                          "dph", "dpas.", "math", "frc",  "mac", NULL};
    const bool matrices = weft_begins(read->name, "dpas.") &&
                          (!strstr(read->target, ":d") || strstr(read->name, ".sat"));
    return weft_begins_with_one_of(read->name, refused) && !weft_begins(read->name, "math.int") &&
           (weft_intel_is_float(read->target) || matrices);
}

static bool intel_refuses(const struct weft_instruction *read) {
    return weft_intel_computes(read) || sets_other_modes(read);
}

static bool intel_fuses(const struct weft_instruction *read) {
    return strcmp(read->name, "mad") == 0 && strstr(read->target, ":f");
}

static bool intel_reciprocal(const struct weft_instruction *read) {
    return strcmp(read->name, "math.inv") == 0;
}

static bool intel_from_integer(const struct weft_instruction *read) {
    return strcmp(read->name, "mov") == 0 && weft_intel_is_float(read->target) &&
           !weft_intel_is_float(read->source);
}

/* "r12.4<0>:f": register 12, from its element 4. */
static long intel_register(const char *operand) {
    const char *end = NULL;
    const long number = operand[0] == 'r' ? weft_number_of(operand + 1, &end) : -1;
    const long element = number >= 0 && *end == '.' ? weft_number_of(end + 1, &end) : 0;
    return number < 0 || element < 0 || element > 15 ? -1 : 16 * number + element;
}

/* ---- NVIDIA, Mesa's compiler: "@p0 r1 = ffma.ftz r2 r3 r4 // delay=1" ---- */

static bool read_nvidia(struct weft_instruction *read, const char *line) {
    const char *equals = strstr(line, " = ");
    if (!equals) {
        return false;
    }
    line = *line == '@' ? line + strcspn(line, " ") : line;
    return sscanf(line, " %63s", read->target) == 1 &&
           sscanf(equals, " = %63s %63s", read->name, read->source) >= 1;
}

/* Subnormals are flushed by each instruction, which would name another way of rounding. */
static bool has_nvidia_modes(const char *name) {
    return strstr(name, ".ftz") && !strstr(name, ".rz") && !strstr(name, ".rm") &&
           !strstr(name, ".rp");
}

static bool nvidia_refuses(const struct weft_instruction *read) {
    static const char *const refused[] = {"ffma", "hfma2", "dfma", "hmma",
                                          "mufu", "fswz",  "rro",  NULL};
    const bool computes = weft_begins(read->name, "fadd") || weft_begins(read->name, "fmul");
    const bool saturates = weft_begins(read->name, "imma") && strstr(read->name, ".sat");
    return (computes && !has_nvidia_modes(read->name)) || saturates ||
           weft_begins_with_one_of(read->name, refused);
}

static bool nvidia_fuses(const struct weft_instruction *read) {
    return weft_begins(read->name, "ffma") && has_nvidia_modes(read->name);
}

static bool nvidia_reciprocal(const struct weft_instruction *read) {
    return strcmp(read->name, "mufu.rcp.f32") == 0;
}

static bool nvidia_from_integer(const struct weft_instruction *read) {
    return weft_begins(read->name, "i2f.f32.u32");
}

/* Those that a subgroup has in common come behind the others. */
static long nvidia_register(const char *operand) {
    enum { COMMON = 1024 };
    const char *end = NULL;
    const bool common = operand[0] == 'u';
    operand += common;
    const long number = operand[0] == 'r' ? weft_number_of(operand + 1, &end) : -1;
    return number < 0 ? -1 : number + (common ? COMMON : 0);
}

/* ---- Qualcomm: "(sy)(nop3) mad.f32 r1.x, r2.y, (last)r3.z, c4.w"; "(rpt1)" for the register behind r1.x, too ---- */

static bool read_qualcomm(struct weft_instruction *read, const char *line) {
    const char *repeat = strstr(line, "(rpt"), *end = NULL;
    read->repeats = repeat ? weft_number_of(repeat + 4, &end) : 0;
    read->source_follows = strstr(line, "(r)") != NULL;
    return sscanf(weft_after_condition(line), "%63[a-z0-9.] %63[^, \n], %63[^, \n]", read->name,
                  read->target, read->source) == 3;
}

static bool qualcomm_refuses(const struct weft_instruction *read) {
    static const char *const refused[] = {"mad.f16", "rcp",    "rsq", "sqrt", "log2",
                                          "exp2",    "sin",    "cos", "hrsq", "hlog2",
                                          "hexp2",   "dp2acc", "wmm", NULL};
    return weft_begins_with_one_of(read->name, refused);
}

static bool fuses_nothing(const struct weft_instruction *read) {
    (void)read;
    return false;
}

static bool qualcomm_reciprocal(const struct weft_instruction *read) {
    return strcmp(read->name, "rcp") == 0;
}

static bool qualcomm_from_integer(const struct weft_instruction *read) {
    return weft_begins(read->name, "cov.u32f32");
}

static long qualcomm_register(const char *operand) {
    static const char components[] = "xyzw";
    const char *end = NULL;
    operand = weft_after_condition(operand);
    const long number = operand[0] == 'r' ? weft_number_of(operand + 1, &end) : -1;
    const char *component =
        number >= 0 && *end == '.' && end[1] ? strchr(components, end[1]) : NULL;
    return component ? 4 * number + (long)(component - components) : -1;
}

/* ---- Broadcom: "fadd rf1, rf2, rf3 ; fmul.ifa rf4, rf5, rf6 ; ldunifrf.rf7", two operations and what is loaded ---- */

static bool read_broadcom(struct weft_instruction *read, const char *line) {
    if (sscanf(line, " %63[a-z0-9.] %63[^, \n], %63[^, ;\n]", read->name, read->target,
               read->source) >= 2) {
        return true;
    }
    const char *loaded = strstr(line, ".rf");
    snprintf(read->target, sizeof read->target, "%.*s",
             loaded ? (int)strcspn(loaded + 1, " ;\n") : 0, loaded ? loaded + 1 : "");
    return loaded != NULL;
}

/* The unit for special functions is an operation in 7.1, and a place to write to in 4.2. */
static bool broadcom_refuses(const struct weft_instruction *read) {
    static const char *const refused[] = {"recip", "rsqrt", "exp", "log", "sin", NULL};
    return weft_begins_with_one_of(read->name, refused) ||
           weft_begins_with_one_of(read->target, refused);
}

static bool broadcom_reciprocal(const struct weft_instruction *read) {
    return weft_begins(read->name, "recip");
}

static bool broadcom_from_integer(const struct weft_instruction *read) {
    return strcmp(read->name, "utof") == 0;
}

static long broadcom_register(const char *operand) {
    const char *end = NULL;
    return weft_begins(operand, "rf") ? weft_number_of(operand + 2, &end) : -1;
}

/* ---- Arm: "FMA.f32 r1, ^r2, u3, 0x0.neg"; "@r4:r5" for two registers ---- */

static bool read_arm(struct weft_instruction *read, const char *line) {
    const int found = sscanf(line, " %63[A-Za-z0-9_.] %63[^, \n], %63[^, \n]", read->name,
                             read->target, read->source);
    for (const char *at = read->target; (at = strchr(at, ':')); at++) {
        read->repeats++;
    }
    return found >= 2;
}

static bool is_product(const char *line) {
    const char *addend = strrchr(line, ',');
    return addend && strncmp(addend, ", 0x0.neg", 9) == 0 &&
           (addend[9] == '\0' || addend[9] == ' ');
}

static bool arm_refuses(const struct weft_instruction *read) {
    static const char *const refused[] = {
        "FRCP",  "FRSQ",  "FSQRT", "FEXP",   "FLOG",       "FPOW",        "FSIN", "FCOS",
        "FATAN", "FREXP", "LDEXP", "FSCALE", "FMA_RSCALE", "FADD_LSCALE", "FDOT", NULL};
    const bool computes = weft_begins(read->name, "FMA.") || weft_begins(read->name, "FADD");
    return weft_begins_with_one_of(read->name, refused) ||
           (weft_begins(read->name, "FMA.") && !is_product(read->line)) ||
           (computes && strstr(read->name, ".rt"));
}

static bool arm_fuses(const struct weft_instruction *read) {
    return strcmp(read->name, "FMA.f32") == 0;
}

static bool arm_reciprocal(const struct weft_instruction *read) {
    return strcmp(read->name, "FRCP.f32") == 0;
}

static bool arm_from_integer(const struct weft_instruction *read) {
    return weft_begins(read->name, "U32_TO_F32");
}

static long arm_register(const char *operand) {
    const char *end = NULL;
    operand += *operand == '^' || *operand == '@';
    const long number = operand[0] == 'r' ? weft_number_of(operand + 1, &end) : -1;
    return number >= 0 && (*end == '\0' || *end == ':') ? number : -1;
}

/* ---- all ---- */

/* What code of a math mode does that it may not. */
struct breach {
    weft_math math;
    char *why;
    size_t size;
};

/* Whether a conversion from an integer was the last to write what an instruction reads. */
static bool reads_converted(const struct weft_instruction *read, long source,
                            const bool from_integer[WEFT_REGISTERS]) {
    for (long i = 0; i <= read->repeats; i++) {
        const long at = source + (read->source_follows ? i : 0);
        if (source < 0 || at >= WEFT_REGISTERS || !from_integer[at]) {
            return false;
        }
    }
    return true;
}

static void note_written(const struct weft_instruction *read, long target, bool converted,
                         bool from_integer[WEFT_REGISTERS]) {
    for (long i = target; target >= 0 && i <= target + read->repeats && i < WEFT_REGISTERS; i++) {
        from_integer[i] = converted;
    }
}

static bool instruction_breaks(struct breach *breach, const struct weft_language *language,
                               const char *text, bool from_integer[WEFT_REGISTERS]) {
    struct weft_instruction read = {.line = text};
    if (!language->read(&read, text)) {
        return false;
    }
    const bool divides = language->is_reciprocal(&read) &&
                         reads_converted(&read, language->register_of(read.source), from_integer);
    const bool fuses = breach->math == WEFT_MATH_FUSED && language->is_fused(&read);
    if (language->is_refused(&read) && !divides && !fuses) {
        snprintf(breach->why, breach->size, "%s %s, %s", read.name, read.target, read.source);
        return true;
    }
    note_written(&read, language->register_of(read.target), language->is_from_integer(&read),
                 from_integer);
    return false;
}

/* A line, of one instruction or of several that are issued together. */
static bool line_breaks(struct breach *breach, const struct weft_language *language, char *line,
                        bool from_integer[WEFT_REGISTERS]) {
    char *next = NULL;
    for (char *at = line; at; at = next) {
        next = language->separator ? strstr(at, language->separator) : NULL;
        if (next) {
            *next = '\0';
            next += strlen(language->separator);
        }
        if (instruction_breaks(breach, language, at, from_integer)) {
            return true;
        }
    }
    return false;
}

static bool lines_break(struct breach *breach, const struct weft_language *language,
                        const char *code) {
    bool from_integer[WEFT_REGISTERS] = {false};
    char line[512];
    for (const char *at = code; *at != '\0';) {
        const size_t length = strcspn(at, "\n");
        snprintf(line, sizeof line, "%.*s", (int)length, at);
        if (line_breaks(breach, language, line, from_integer)) {
            return true;
        }
        at += length + (at[length] == '\n');
    }
    return false;
}

/* Divisions are taken out of a copy. */
static bool code_breaks(struct breach *breach, const struct weft_language *language,
                        const char *code) {
    char *copy = language->take_divisions ? strdup(code) : NULL;
    if (language->take_divisions && !copy) {
        snprintf(breach->why, breach->size, "no memory to look for divisions");
        return true;
    }
    const bool breaks = (copy && !language->take_divisions(copy, breach->why, breach->size)) ||
                        lines_break(breach, language, copy ? copy : code);
    free(copy);
    return breaks;
}

struct weft_isa {
    const char *driver;         /* the beginning of VkPhysicalDeviceDriverProperties::driverName */
    const char *representation; /* what the driver calls its machine code */
    const struct weft_language *language;
};

static const struct weft_isa known[] = {
    {"radv", "Assembly",
     &(const struct weft_language){read_amd, amd_refuses, amd_fuses, amd_reciprocal,
                                   amd_from_integer, amd_register, ":: ", NULL, NULL}},
    {"Intel open-source Mesa driver", "GEN Assembly",
     &(const struct weft_language){read_intel, intel_refuses, intel_fuses, intel_reciprocal,
                                   intel_from_integer, intel_register, NULL, " cr0<0> ", NULL}},
    {"NVK", "NAK assembly",
     &(const struct weft_language){read_nvidia, nvidia_refuses, nvidia_fuses, nvidia_reciprocal,
                                   nvidia_from_integer, nvidia_register, NULL, NULL, NULL}},
    {"turnip Mesa driver", "IR3 Assembly",
     &(const struct weft_language){read_qualcomm, qualcomm_refuses, fuses_nothing,
                                   qualcomm_reciprocal, qualcomm_from_integer, qualcomm_register,
                                   NULL, NULL, NULL}},
    {"V3DV Mesa", "QPU (MESA_SHADER_COMPUTE)",
     &(const struct weft_language){read_broadcom, broadcom_refuses, fuses_nothing,
                                   broadcom_reciprocal, broadcom_from_integer, broadcom_register,
                                   ";", NULL, NULL}},
    {"panvk", "Assembly",
     &(const struct weft_language){read_arm, arm_refuses, arm_fuses, arm_reciprocal,
                                   arm_from_integer, arm_register, NULL, NULL, NULL}},
    {"ptxas", "SASS", &weft_sass},
    {"ocloc", "GEN", &weft_ocloc},
};

const struct weft_isa *weft_isa_of(const char *driver) {
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (weft_begins(driver, known[i].driver)) {
            return &known[i];
        }
    }
    return NULL;
}

bool weft_isa_is(const struct weft_isa *isa, const char *representation) {
    return strcmp(representation, isa->representation) == 0;
}

bool weft_isa_breaks(const struct weft_isa *isa, char *why, size_t size, weft_math math,
                     const char *code) {
    struct breach breach = {math, why, size};
    return code_breaks(&breach, isa->language, code);
}

bool weft_isa_lacks_modes(const struct weft_isa *isa, const char *code) {
    return isa->language->sets_modes && !strstr(code, isa->language->sets_modes);
}
