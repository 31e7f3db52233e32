/* SPDX-License-Identifier: MIT */
/*
 * The C interface of older glslang releases takes no include callbacks, and opens files where it finds an include. Inclusion
 * by text needs no callbacks, and it gives the text whose hash names the cache entry. For it to find every include that the
 * compiler would find, the compiler gets a text in which a directive can only be the beginning of a line.
 */
#include "shader/glsl_include.h"

#include <stdio.h>
#include <string.h>

#include "core/try.h"

#define MAX_EXPANDED ((size_t)16 << 20)
#define MAX_DEPTH    64u
#define NO_END       " \n#error a comment does not end\n"

struct expansion {
    char *data;
    size_t size;
    size_t capacity;
    const struct weft_glsl_source *source;
    const weft_host *host;
};

/* A text that is being expanded, and the one that includes it. */
struct place {
    uint32_t string; /* its number in #line directives */
    uint32_t depth;
    const struct place *includer;
};

const struct weft_embedded_include *weft_glsl_included(const struct weft_glsl_source *source,
                                                       uint32_t number) {
    const size_t built_in = weft_embedded_include_count;
    if (number == 0 || number > built_in + source->include_count) {
        return NULL;
    }
    return number <= built_in ? &weft_embedded_includes[number - 1]
                              : &source->includes[number - 1 - built_in];
}

/* The number of the include of that name; 0: there is none. */
static uint32_t find_include(const struct weft_glsl_source *source, const char *name,
                             size_t length) {
    const struct weft_embedded_include *include;
    for (uint32_t number = 1; (include = weft_glsl_included(source, number)); number++) {
        if (strlen(include->name) == length && memcmp(include->name, name, length) == 0) {
            return number;
        }
    }
    return 0;
}

/* ---- the text as directives can be seen in it ---- */

struct reader {
    const char *at, *end;
    uint32_t joined; /* lines that have not been ended yet */
};

static int skip_newline(struct reader *reader) {
    const char first = *reader->at++;
    if (first == '\r' && reader->at < reader->end && *reader->at == '\n') {
        reader->at++;
    }
    return '\n';
}

static bool at_newline(const struct reader *reader) {
    return reader->at < reader->end && (*reader->at == '\n' || *reader->at == '\r');
}

/* The next letter, behind joined lines; −1 at the end. */
static int next_letter(struct reader *reader) {
    while (reader->at < reader->end) {
        if (at_newline(reader)) {
            return skip_newline(reader);
        }
        const char letter = *reader->at++;
        if (letter != '\\' || !at_newline(reader)) {
            return (unsigned char)letter;
        }
        skip_newline(reader);
        reader->joined++;
    }
    return -1;
}

static int peek(const struct reader *reader) {
    struct reader ahead = *reader;
    return next_letter(&ahead);
}

/* Behind the two letters that begin it. False where a block does not end. */
static bool skip_comment(struct reader *reader, bool block) {
    while (peek(reader) != -1 && (block || peek(reader) != '\n')) {
        const int letter = next_letter(reader);
        reader->joined += letter == '\n';
        if (block && letter == '*' && peek(reader) == '/') {
            next_letter(reader);
            return true;
        }
    }
    return !block;
}

static bool is_blank(char letter) {
    return letter == ' ' || letter == '\t' || letter == '\v' || letter == '\f';
}

static const char *skip_blanks(const char *at, const char *end) {
    while (at < end && is_blank(*at)) {
        at++;
    }
    return at;
}

static bool is_letter(char letter) {
    return letter == '_' || (letter >= '0' && letter <= '9') ||
           ((letter | 0x20) >= 'a' && (letter | 0x20) <= 'z');
}

/* Rest of a line after `#word`; null for any other line. */
static const char *behind_directive(const char *word, const char *line, const char *end) {
    const size_t length = strlen(word);
    const char *at = skip_blanks(line, end);
    if (at == end || *at != '#') {
        return NULL;
    }
    at = skip_blanks(at + 1, end);
    if ((size_t)(end - at) < length || memcmp(at, word, length) != 0) {
        return NULL;
    }
    at += length;
    return at < end && is_letter(*at) ? NULL : skip_blanks(at, end);
}

/* Writes at most as many letters as there were and NO_END, and no backslash at the end of a line. Comments become a blank, and lines keep their numbers. */
static size_t make_plain(char *plain, const char *text, size_t size) {
    struct reader reader = {.at = text, .end = text + size};
    char *out = plain, *line = plain;
    int letter, close = 0; /* of a name, in which no comment begins */
    while ((letter = next_letter(&reader)) != -1) {
        const int next = letter == '/' && close == 0 ? peek(&reader) : 0;
        if (next == '/' || next == '*') {
            next_letter(&reader);
            if (!skip_comment(&reader, next == '*')) {
                memcpy(out, NO_END, sizeof NO_END - 1);
                return (size_t)(out - plain) + sizeof NO_END - 1;
            }
            *out++ = ' ';
            continue;
        }
        if (letter == '\n') {
            /* The second of two backslashes has joined an empty line; the first joins none. */
            if (out > line && out[-1] == '\\') {
                *out++ = ' ';
            }
            memset(out, '\n', reader.joined);
            out += reader.joined;
            reader.joined = 0;
            line = out + 1;
            close = 0;
        } else if (letter == close) {
            close = 0;
        } else if (close == 0 && (letter == '"' || letter == '<') &&
                   behind_directive("include", line, out) == out) {
            close = letter == '<' ? '>' : '"';
        }
        *out++ = (char)letter;
    }
    if (out > plain && out[-1] == '\\') { /* lest it join what comes behind an include */
        *out++ = ' ';
    }
    return (size_t)(out - plain);
}

/* ---- expansion ---- */

static weft_status append(struct expansion *out, const char *text, size_t size) {
    if (size > MAX_EXPANDED - out->size) {
        return weft_fail(out->host, WEFT_COMPILE_ERROR,
                         "%s: more than %zu bytes once its includes are in", out->source->name,
                         MAX_EXPANDED);
    }
    if (out->size + size + 1 > out->capacity) {
        size_t capacity = 2 * (out->size + size + 1);
        char *data = weft_realloc(out->host, out->data, capacity);
        if (!data) {
            return weft_fail_memory(out->host, out->source->name);
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

/*
 * As an error of the compiler, which does not come where the line is left out by an #if. Only letters of names go into it, and
 * no punctuation, which glslang would set apart.
 */
static weft_status append_error(struct expansion *out, const char *name, size_t length) {
    char shown[128], directive[384];
    size_t count = length < sizeof shown - 1 ? length : sizeof shown - 1;
    for (size_t i = 0; i < count; i++) {
        const char letter = name[i];
        const bool plain = letter > ' ' && letter < 0x7f && letter != '"' && letter != '\\';
        shown[i] = plain ? letter : '?';
        /* Nothing that begins a comment. */
        if (i > 0 && shown[i - 1] == '/' && (letter == '/' || letter == '*')) {
            shown[i] = '?';
        }
    }
    shown[count] = '\0';
    const int written = snprintf(
        directive, sizeof directive,
        count > 0 ? "#error \"%s\" is neither an include that was given with the shader nor one "
                    "of Weft and files are not opened\n"
                  : "#error an include names a text by quotes or angle brackets%s\n",
        shown);
    return append(out, directive, (size_t)written);
}

static weft_status expand(struct expansion *out, const char *text, size_t size,
                          const struct place *place);

static weft_status expand_include(struct expansion *out, uint32_t string, uint32_t line,
                                  const struct place *includer) {
    const struct weft_embedded_include *include = weft_glsl_included(out->source, string);
    for (const struct place *at = includer; at; at = at->includer) {
        if (at->string == string) {
            return weft_fail(out->host, WEFT_COMPILE_ERROR, "%s: %s includes itself",
                             out->source->name, include->name);
        }
    }
    const struct place place = {
        .string = string, .depth = includer->depth + 1, .includer = includer};
    if (place.depth > MAX_DEPTH) {
        return weft_fail(out->host, WEFT_COMPILE_ERROR,
                         "%s: %s is included by more than %u texts within each other",
                         out->source->name, include->name, MAX_DEPTH);
    }
    WEFT_TRY(append_line_directive(out, 1, string));
    WEFT_TRY(expand(out, include->text, include->size, &place));
    WEFT_TRY(append(out, "\n", 1));
    return append_line_directive(out, line + 1, includer->string);
}

/* `at` is behind #include. */
static weft_status take_include(struct expansion *out, const char *at, const char *end,
                                uint32_t line, const struct place *place) {
    const char close = at < end && *at == '<' ? '>' : '"';
    const bool opened = at < end && (*at == '<' || *at == '"');
    const char *name = at + opened;
    const char *name_end = opened ? memchr(name, close, (size_t)(end - name)) : NULL;
    if (!name_end || skip_blanks(name_end + 1, end) != end) {
        return append_error(out, NULL, 0);
    }
    const size_t length = (size_t)(name_end - name);
    const uint32_t string = find_include(out->source, name, length);
    return string != 0 ? expand_include(out, string, line, place) : append_error(out, name, length);
}

/*
 * Others than those with compute shaders are refused here, since glslang cannot parse its own declarations for some of them, and
 * prints them all. It looks for the directive wherever it stands. `at` is behind #version.
 */
static weft_status check_version(struct expansion *out, const char *at, const char *end,
                                 uint32_t line) {
    const char *digits = at;
    uint32_t number = 0;
    while (at < end && *at >= '0' && *at <= '9' && at - digits < 4) {
        number = 10 * number + (uint32_t)(*at++ - '0');
    }
    const char *profile = skip_blanks(at, end);
    const bool es = end - profile >= 2 && memcmp(profile, "es", 2) == 0;
    if (at - digits != 3 || number < (es ? 310U : 430U)) {
        return weft_fail(out->host, WEFT_COMPILE_ERROR,
                         "%s:%u: #version %.*s: compute shaders begin with 430, and 310 es",
                         out->source->name, line, (int)(end - digits < 40 ? end - digits : 40),
                         digits);
    }
    return WEFT_OK;
}

static weft_status expand_plain(struct expansion *out, const char *plain, size_t size,
                                const struct place *place) {
    weft_status status = WEFT_OK;
    uint32_t line = 1;
    for (size_t at = 0; at < size && status == WEFT_OK; line++) {
        const char *start = plain + at;
        const char *newline = memchr(start, '\n', size - at);
        const char *end = newline ? newline : plain + size;
        const char *next = newline ? newline + 1 : end;
        const char *included = behind_directive("include", start, end);
        const char *version = behind_directive("version", start, end);
        status = version ? check_version(out, version, end, line) : WEFT_OK;
        if (status == WEFT_OK) {
            status = included ? take_include(out, included, end, line, place)
                              : append(out, start, (size_t)(next - start));
        }
        at = (size_t)(next - plain);
    }
    return status;
}

static weft_status expand(struct expansion *out, const char *text, size_t size,
                          const struct place *place) {
    if (size > MAX_EXPANDED) {
        return append(out, text, size); /* which says that it is too much */
    }
    char *plain = weft_alloc(out->host, size + sizeof NO_END);
    if (!plain) {
        return weft_fail_memory(out->host, out->source->name);
    }
    const weft_status status = expand_plain(out, plain, make_plain(plain, text, size), place);
    weft_free(out->host, plain);
    return status;
}

static weft_status check_includes(const struct weft_glsl_source *source, const weft_host *host) {
    if (source->include_count > WEFT_MAX_GLSL_INCLUDES) {
        return weft_fail(host, WEFT_INVALID_ARGUMENT, "%s: %u includes, of at most %u",
                         source->name, source->include_count, WEFT_MAX_GLSL_INCLUDES);
    }
    for (uint32_t i = 0; i < source->include_count; i++) {
        const struct weft_embedded_include *include = &source->includes[i];
        if (!include->name || include->name[0] == '\0' || !include->text) {
            return weft_fail(host, WEFT_INVALID_ARGUMENT, "%s: include %u has no name or no text",
                             source->name, i);
        }
    }
    for (uint32_t i = 0; i < source->include_count; i++) {
        const struct weft_embedded_include *include = &source->includes[i];
        const uint32_t first = find_include(source, include->name, strlen(include->name));
        if (first != weft_embedded_include_count + i + 1) {
            return weft_fail(host, WEFT_INVALID_ARGUMENT, "%s: include %u, \"%s\": %s",
                             source->name, i, include->name,
                             first <= weft_embedded_include_count ? "that is one of Weft's own"
                                                                  : "that name is there twice");
        }
    }
    return WEFT_OK;
}

weft_status weft_glsl_expand(char **expanded, size_t *size, const struct weft_glsl_source *source,
                             const weft_host *host) {
    struct expansion out = {.source = source, .host = host};
    const struct place root = {0};
    WEFT_TRY(check_includes(source, host));
    weft_status status = append(&out, "", 0);
    if (status == WEFT_OK) {
        status = expand(&out, source->text, strlen(source->text), &root);
    }
    if (status != WEFT_OK) {
        weft_free(host, out.data);
        return status;
    }
    *expanded = out.data;
    *size = out.size;
    return WEFT_OK;
}
