/* SPDX-License-Identifier: MIT */
/*
 * Any GLSL with any table of includes: the text, and then names and texts by turns, each up to a zero byte. What the compiler
 * gets has no include left, no comment and no joined line, and as many lines as the text where nothing was included. The
 * compiler itself is not asked: a shader is code, and glslang is not made for texts of strangers.
 */
#include <ctype.h>
#include <string.h>

#include "fuzz.h"
#include "shader/glsl_include.h"

#define MAX_SIZE     4096u /* includes multiply */
#define MAX_INCLUDES 8u

/* The text at *at, and *at behind it; null at the end. */
static const char *take(const char **at, const char *end) {
    const char *text = *at < end ? *at : NULL;
    *at = text ? text + strlen(text) + 1 : end;
    return text;
}

static size_t lines_of(const char *text) {
    size_t count = 0;
    for (; *text != '\0'; text++) {
        count += *text == '\n' || (*text == '\r' && text[1] != '\n');
    }
    return count;
}

static bool begins_include(const char *line) {
    static const char blanks[] = " \t\v\f";
    const char *at = line + strspn(line, blanks);
    if (*at != '#') {
        return false;
    }
    at += 1 + strspn(at + 1, blanks);
    return strncmp(at, "include", 7) == 0 && !isalnum((unsigned char)at[7]) && at[7] != '_';
}

static bool has_include(const char *text) {
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (begins_include(line)) {
            return true;
        }
    }
    return false;
}

static void check(const struct weft_glsl_source *source, const char *expanded, size_t size) {
    fuzz_expect(strlen(expanded) == size);
    fuzz_expect(!has_include(expanded));
    fuzz_expect(!strchr(expanded, '\r') && !strstr(expanded, "\\\n"));
    if (!strstr(expanded, "#error") && !strstr(expanded, "#line")) {
        fuzz_expect(!strstr(expanded, "//") && !strstr(expanded, "/*"));
        /* The last lines may have been joined. */
        fuzz_expect(lines_of(expanded) <= lines_of(source->text));
        fuzz_expect(size <= strlen(source->text) + 1); /* a blank behind a backslash */
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static char copy[MAX_SIZE + 2];
    struct weft_embedded_include includes[MAX_INCLUDES];
    if (size > MAX_SIZE) {
        return 0;
    }
    memcpy(copy, data, size);
    copy[size] = copy[size + 1] = '\0';
    const char *at = copy;
    struct weft_glsl_source source = {.name = "text", .includes = includes};
    source.text = size > 0 ? take(&at, copy + size) : "";
    while (source.include_count < MAX_INCLUDES && at < copy + size) {
        const char *name = take(&at, copy + size), *text = take(&at, copy + size);
        includes[source.include_count++] = (struct weft_embedded_include){
            .name = name, .text = text, .size = text ? strlen(text) : 0};
    }
    size_t left = 0;
    const weft_host host = fuzz_small_host(&left, (size_t)64 << 20);
    char *expanded = NULL;
    size_t expanded_size = 0;
    if (weft_glsl_expand(&expanded, &expanded_size, &source, &host) == WEFT_OK) {
        check(&source, expanded, expanded_size);
        weft_free(&host, expanded);
    }
    return 0;
}
