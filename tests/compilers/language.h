/* SPDX-License-Identifier: MIT */
/* How the machine code of one vendor reads: what rules.c asks about each of its instructions. */
#ifndef WEFT_COMPILERS_LANGUAGE_H
#define WEFT_COMPILERS_LANGUAGE_H

#include <stdbool.h>
#include <stddef.h>

#define WEFT_REGISTERS 4096

struct weft_instruction {
    const char *line;
    char name[64];
    char target[64], source[64];
    long repeats;        /* for so many further registers */
    bool source_follows; /* with them */
};

/* The machine code of one vendor. `read` is false for a line that holds no instruction. */
struct weft_language {
    bool (*read)(struct weft_instruction *read, const char *line);
    bool (*is_refused)(const struct weft_instruction *read);
    bool (*is_fused)(
        const struct weft_instruction *read); /* rounds a product and a sum of float32 once */
    bool (*is_reciprocal)(const struct weft_instruction *read);
    bool (*is_from_integer)(const struct weft_instruction *read);
    long (*register_of)(const char *operand); /* below WEFT_REGISTERS; -1 for what is none */
    const char *separator;  /* of instructions that are issued together; null: none are */
    const char *sets_modes; /* what is in code that sets its own float modes; null: code does not */
    /* Takes divisions of whole numbers out of code where they have rules of their own: false where they break these; null: they have not */
    bool (*take_divisions)(char *code, char *why, size_t size);
};

bool weft_begins(const char *text, const char *with);
/* The list ends with null. */
bool weft_begins_with_one_of(const char *text, const char *const list[]);

/* "12" is 12; -1 where there is no number. *end is what comes after it. */
long weft_number_of(const char *text, const char **end);

/* ---- Intel's, as Mesa's compiler and as Intel's own print it ---- */

/* What stands behind conditions, as "(W&f0.0)". */
const char *weft_after_condition(const char *line);
bool weft_intel_is_float(const char *operand);
/* Whether it is arithmetic that fuses, or that the manuals do not state to the last bit. */
bool weft_intel_computes(const struct weft_instruction *read);

/* Of ptxas, NVIDIA's own compiler (sass.c). */
extern const struct weft_language weft_sass;
/* Of ocloc, Intel's own compiler (ocloc.c). */
extern const struct weft_language weft_ocloc;

#endif
