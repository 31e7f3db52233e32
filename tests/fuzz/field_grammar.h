/* SPDX-License-Identifier: MIT */
/* Objects of JSON made of bytes by a table of their fields, so that what a fuzzer changes is an object of these again. */
#ifndef WEFT_FUZZ_FIELD_GRAMMAR_H
#define WEFT_FUZZ_FIELD_GRAMMAR_H

#include "program_grammar.h"

#define FUZZ_TEXT_SIZE    8192
#define FUZZ_FIELD_VALUES 8

/** A field, and values that it may have; what has no name ends a table. */
struct fuzz_field {
    const char *name;
    const char *values[FUZZ_FIELD_VALUES];
    const char *odd[FUZZ_FIELD_VALUES]; /* that it should not have, beside those of other kinds */
    const struct fuzz_field *object;    /* in place of values: the fields of an object */
};

#define FUZZ_FIELD(text, ...) .name = (text), .values = {__VA_ARGS__}

/** Of how many fields one is left out, has any value of JSON, or an odd one of its own; 0: none. */
struct fuzz_rarity {
    uint32_t absent, any, odd;
};

/** None, few or many. */
const struct fuzz_rarity *fuzz_choose_rarity(struct fuzz_choices *choices);

/** Appends to a text that ends in a zero, as far as there is room. */
void fuzz_append(char text[FUZZ_TEXT_SIZE], const char *more);

/** Appends an object. */
void fuzz_append_object(char text[FUZZ_TEXT_SIZE], const struct fuzz_field *fields,
                        struct fuzz_choices *choices, const struct fuzz_rarity *rarity);

#endif
