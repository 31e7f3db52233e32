/* SPDX-License-Identifier: MIT */
#include "sass_text.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Of a line that is an address in the marks of a comment, an instruction and a semicolon, the instruction: *text and its length. */
static size_t instruction_of(const char **text, const char *line, size_t length) {
    const char *begin = line + strspn(line, " \t");
    const char *end = strncmp(begin, "/*", 2) == 0 ? strstr(begin, "*/") : NULL;
    if (!end || end >= line + length) {
        return 0;
    }
    *text = end + 2 + strspn(end + 2, " \t");
    const char *semicolon = memchr(*text, ';', (size_t)(line + length - *text));
    size_t count = semicolon ? (size_t)(semicolon - *text) : 0;
    while (count > 0 && (*text)[count - 1] == ' ') {
        count--;
    }
    return count;
}

static bool is_label(const char *line, size_t length) {
    return length > 1 && line[length - 1] == ':' && !isspace((unsigned char)line[0]);
}

/* Writes the text without the marks of registers that are read again: where it ends. */
static char *write_line(char *to, const char *text, size_t length) {
    static const char mark[] = ".reuse";
    const char *end = text + length;
    while (text < end) {
        if ((size_t)(end - text) >= sizeof mark - 1 && memcmp(text, mark, sizeof mark - 1) == 0) {
            text += sizeof mark - 1;
        } else {
            *to++ = *text++;
        }
    }
    return to;
}

void weft_sass_clean(char *listing) {
    char *to = listing;
    const char *next = NULL;
    for (const char *line = listing; *line != '\0'; line = next) {
        const size_t length = strcspn(line, "\n");
        const bool ends = line[length] == '\0';
        const char *text = line;
        next = line + length + !ends;
        const size_t count = is_label(line, length) ? length : instruction_of(&text, line, length);
        if (count > 0) {
            to = write_line(to, text, count);
            if (!ends) {
                *to++ = '\n';
            }
        }
    }
    *to = '\0';
}

int64_t weft_ptxas_told(const char *told, const char *behind) {
    const char *at = strstr(told, behind);
    const char *number = at;
    while (number && number > told && isdigit((unsigned char)number[-1])) {
        number--;
    }
    return number && number < at ? strtoll(number, NULL, 10) : 0;
}
