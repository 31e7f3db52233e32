/* SPDX-License-Identifier: MIT */
#include "field_grammar.h"

#include <stdio.h>
#include <string.h>

static const char *const any[] = {"null", "true",       "false",   "0",        "1",           "-1",
                                  "3.5",  "4294967297", "1e300",   "\"\"",     "\"\\u0000\"", "[]",
                                  "{}",   "[[]]",       "\"cls\"", "{\"a\":1}"};

void fuzz_append(char text[FUZZ_TEXT_SIZE], const char *more) {
    const size_t size = strlen(text);
    snprintf(text + size, FUZZ_TEXT_SIZE - size, "%s", more);
}

const struct fuzz_rarity *fuzz_choose_rarity(struct fuzz_choices *choices) {
    static const struct fuzz_rarity rarities[] = {
        {.absent = 0}, {.absent = 64, .any = 64, .odd = 16}, {.absent = 8, .any = 32, .odd = 8}};
    return &rarities[fuzz_choose(choices, sizeof rarities / sizeof *rarities)];
}

static bool is_drawn(struct fuzz_choices *choices, uint32_t one_of) {
    return one_of > 0 && fuzz_choose(choices, one_of) == one_of - 1;
}

static const char *choose_of(const char *const values[FUZZ_FIELD_VALUES],
                             struct fuzz_choices *choices) {
    uint32_t count = 0;
    while (count < FUZZ_FIELD_VALUES && values[count]) {
        count++;
    }
    return values[fuzz_choose(choices, count)];
}

static void append_value(char text[FUZZ_TEXT_SIZE], const struct fuzz_field *field,
                         struct fuzz_choices *choices, const struct fuzz_rarity *rarity) {
    if (is_drawn(choices, rarity->any)) {
        fuzz_append(text, any[fuzz_choose(choices, sizeof any / sizeof *any)]);
    } else if (field->object) {
        fuzz_append_object(text, field->object, choices, rarity);
    } else if (field->odd[0] && is_drawn(choices, rarity->odd)) {
        fuzz_append(text, choose_of(field->odd, choices));
    } else {
        fuzz_append(text, choose_of(field->values, choices));
    }
}

void fuzz_append_object(char text[FUZZ_TEXT_SIZE], const struct fuzz_field *fields,
                        struct fuzz_choices *choices, const struct fuzz_rarity *rarity) {
    fuzz_append(text, "{");
    for (bool first = true; fields->name; fields++) {
        if (rarity->absent == 0 || fuzz_choose(choices, rarity->absent) > 0) {
            fuzz_append(text, first ? "\"" : ",\"");
            fuzz_append(text, fields->name);
            fuzz_append(text, "\":");
            append_value(text, fields, choices, rarity);
            first = false;
        }
    }
    fuzz_append(text, "}");
}
