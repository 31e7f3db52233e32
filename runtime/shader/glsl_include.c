/* SPDX-License-Identifier: MIT */
/*
 * The C interface of older glslang releases takes no include callbacks. Inclusion by text needs
 * none, and it gives the text whose hash names the cache entry.
 */
#include "shader/glsl_include.h"

#include <stdio.h>
#include <string.h>

#include "core/try.h"
#include "shader/embedded.h"

#define MAX_EXPANDED ((size_t)16 << 20)

struct expansion {
    char *data;
    size_t size;
    size_t capacity;
    const char *name;
    const weft_host *host;
};

/* A file that is being expanded, and the one that includes it. */
struct source {
    uint32_t string; /* its number in #line directives */
    const struct source *includer;
};

static weft_status append(struct expansion *out, const char *text, size_t size) {
    if (size > MAX_EXPANDED - out->size) {
        return weft_fail(out->host, WEFT_COMPILE_ERROR,
                         "%s: more than %zu bytes once its includes are in", out->name,
                         MAX_EXPANDED);
    }
    if (out->size + size + 1 > out->capacity) {
        size_t capacity = 2 * (out->size + size + 1);
        char *data = weft_realloc(out->host, out->data, capacity);
        if (!data) {
            return weft_fail_memory(out->host, out->name);
        }
        out->data = data;
        out->capacity = capacity;
    }
    memcpy(out->data + out->size, text, size);
    out->size += size;
    out->data[out->size] = '\0';
    return WEFT_OK;
}

static weft_status append_line_directive(struct expansion *out, uint32_t line, uint32_t string) {
    char directive[64];
    int length = snprintf(directive, sizeof directive, "#line %u %u\n", line, string);
    return append(out, directive, (size_t)length);
}

static const char *skip_blanks(const char *at, const char *end) {
    while (at < end && (*at == ' ' || *at == '\t')) {
        at++;
    }
    return at;
}

/*
 * The file that a line includes, as its number plus one; 0 when it is not an include of an embedded
 * file.
 */
static uint32_t included_file(const char *line, const char *end) {
    const char *at = skip_blanks(line, end);
    if (at == end || *at != '#') {
        return 0;
    }
    at = skip_blanks(at + 1, end);
    static const char directive[] = "include";
    size_t length = sizeof directive - 1;
    if ((size_t)(end - at) < length || memcmp(at, directive, length) != 0) {
        return 0;
    }
    at = skip_blanks(at + length, end);
    if (at == end || (*at != '"' && *at != '<')) {
        return 0;
    }
    char close = *at == '<' ? '>' : '"';
    const char *name = at + 1;
    const char *name_end = memchr(name, close, (size_t)(end - name));
    if (!name_end) {
        return 0;
    }
    length = (size_t)(name_end - name);
    for (size_t i = 0; i < weft_embedded_include_count; i++) {
        const char *candidate = weft_embedded_includes[i].name;
        if (strlen(candidate) == length && memcmp(candidate, name, length) == 0) {
            return (uint32_t)i + 1;
        }
    }
    return 0;
}

enum comment { NO_COMMENT, BLOCK_COMMENT, LINE_COMMENT };

/*
 * What the text is in after this line. GLSL has no string literals that could hide a comment's
 * start.
 */
static enum comment comment_after(enum comment comment, const char *line, const char *end) {
    for (const char *at = line; at < end; at++) {
        bool pair = at + 1 < end;
        if (comment == BLOCK_COMMENT) {
            if (pair && at[0] == '*' && at[1] == '/') {
                comment = NO_COMMENT;
                at++;
            }
        } else if (comment == NO_COMMENT && pair && at[0] == '/' && at[1] == '*') {
            comment = BLOCK_COMMENT;
            at++;
        } else if (comment == NO_COMMENT && pair && at[0] == '/' && at[1] == '/') {
            comment = LINE_COMMENT;
        }
    }
    /* A backslash joins the next line to this one, and with it to a comment. */
    bool joined = end > line && end[-1] == '\\';
    return comment == LINE_COMMENT && !joined ? NO_COMMENT : comment;
}

static weft_status expand(struct expansion *out, const char *text, size_t size,
                          const struct source *source);

static weft_status expand_include(struct expansion *out, uint32_t string, uint32_t line,
                                  const struct source *includer) {
    const struct weft_embedded_include *file = &weft_embedded_includes[string - 1];
    for (const struct source *at = includer; at; at = at->includer) {
        if (at->string == string) {
            return weft_fail(out->host, WEFT_COMPILE_ERROR, "%s: %s includes itself", out->name,
                             file->name);
        }
    }
    const struct source source = {.string = string, .includer = includer};
    WEFT_TRY(append_line_directive(out, 1, string));
    WEFT_TRY(expand(out, file->text, file->size, &source));
    WEFT_TRY(append(out, "\n", 1));
    return append_line_directive(out, line + 1, includer->string);
}

static weft_status expand(struct expansion *out, const char *text, size_t size,
                          const struct source *source) {
    enum comment comment = NO_COMMENT;
    uint32_t line = 1;
    size_t at = 0;
    weft_status status = WEFT_OK;
    while (at < size && status == WEFT_OK) {
        const char *start = text + at;
        const char *newline = memchr(start, '\n', size - at);
        const char *next = newline ? newline + 1 : text + size;
        const char *end = newline ? newline : next;
        if (end > start && end[-1] == '\r') {
            end--;
        }
        uint32_t string = comment == NO_COMMENT ? included_file(start, end) : 0;
        status = string != 0 ? expand_include(out, string, line, source)
                             : append(out, start, (size_t)(next - start));
        comment = comment_after(comment, start, end);
        at = (size_t)(next - text);
        line++;
    }
    return status;
}

weft_status weft_glsl_expand(char **expanded, size_t *size, const char *name, const char *text,
                             const weft_host *host) {
    struct expansion out = {.name = name, .host = host};
    const struct source root = {0};
    weft_status status = append(&out, "", 0);
    if (status == WEFT_OK) {
        status = expand(&out, text, strlen(text), &root);
    }
    if (status != WEFT_OK) {
        weft_free(host, out.data);
        return status;
    }
    *expanded = out.data;
    *size = out.size;
    return WEFT_OK;
}
