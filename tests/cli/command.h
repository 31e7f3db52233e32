/* SPDX-License-Identifier: MIT */
/*
 * Runs the weft command as a shell does, and looks at what it printed. The command is
 * $WEFT_COMMAND, or the one that this build made.
 */
#ifndef WEFT_TESTS_CLI_COMMAND_H
#define WEFT_TESTS_CLI_COMMAND_H

#include <sys/wait.h>

#include <jansson.h>

#include "support.h"

/** What a run of the command came to; release it with outcome_clear. */
struct outcome {
    char *line; /* what was run */
    int exit_code;
    char *out;
    char *err;
};

static inline void outcome_clear(struct outcome *outcome) {
    free(outcome->out);
    free(outcome->err);
    *outcome = (struct outcome){0};
}

static inline const char *weft_command(void) {
    const char *command = getenv("WEFT_COMMAND");
    return command != NULL ? command : WEFT_BINARY_DIR "/weft";
}

/** All of a stream in malloc's memory. */
static inline char *read_all(FILE *stream) {
    size_t size = 0;
    size_t capacity = 4096;
    char *text = malloc(capacity);
    assert_non_null(text);
    size_t count;
    while ((count = fread(text + size, 1, capacity - size - 1, stream)) > 0) {
        size += count;
        if (capacity - size < 2) {
            capacity *= 2;
            text = realloc(text, capacity);
            assert_non_null(text);
        }
    }
    text[size] = '\0';
    return text;
}

/**
 * Runs "environment weft arguments" in a shell; environment is empty or "NAME=VALUE …". Fails the
 * test when the command is killed by a signal.
 */
static inline struct outcome run_weft(const char *environment, const char *arguments) {
    char *folder = weft_test_folder();
    char *err_path = weft_test_path(folder, "err");
    struct outcome outcome = {
        .line = weft_test_text("%s '%s' %s", environment, weft_command(), arguments)};
    char *line = weft_test_text("{ %s ; } 2>'%s'", outcome.line, err_path);
    FILE *pipe = popen(line, "r");
    assert_non_null(pipe);
    outcome.out = read_all(pipe);
    int status = pclose(pipe);
    FILE *err = fopen(err_path, "r");
    assert_non_null(err);
    outcome.err = read_all(err);
    fclose(err);
    if (!WIFEXITED(status) || WEXITSTATUS(status) > 125) {
        fail_msg("%s: ended with status %d; it said:\n%s%s", outcome.line, status, outcome.out,
                 outcome.err);
    }
    outcome.exit_code = WEXITSTATUS(status);
    return outcome;
}

/** Runs with formatted arguments and fails the test unless the exit code is the expected one. */
static inline struct outcome expect_weft(int exit_code, const char *format, ...) {
    char arguments[4096];
    va_list list;
    va_start(list, format);
    int length = vsnprintf(arguments, sizeof arguments, format, list);
    va_end(list);
    assert_in_range(length, 0, sizeof arguments - 1);
    struct outcome outcome = run_weft("", arguments);
    if (outcome.exit_code != exit_code) {
        fail_msg("%s: exit code %d, not %d; it said:\n%s%s", outcome.line, outcome.exit_code,
                 exit_code, outcome.out, outcome.err);
    }
    return outcome;
}

/** Fails the test unless the text contains the part. */
static inline void expect_part(const struct outcome *outcome, const char *text, const char *part) {
    if (strstr(text, part) == NULL) {
        fail_msg("%s: \"%s\" is not in\n%s", outcome->line, part, text);
    }
}

/** The same for each part of a list that ends with null. */
static inline void expect_parts(const struct outcome *outcome, const char *text, va_list parts) {
    for (const char *part; (part = va_arg(parts, const char *)) != NULL;) {
        expect_part(outcome, text, part);
    }
}

/**
 * Runs something that must end with that exit code and say every part (ended by null): on standard output, or on
 * standard error if it fails.
 */
static inline void expect_says(int exit_code, const char *arguments, ...) {
    struct outcome outcome = expect_weft(exit_code, "%s", arguments);
    va_list parts;
    va_start(parts, arguments);
    expect_parts(&outcome, exit_code == 0 ? outcome.out : outcome.err, parts);
    va_end(parts);
    outcome_clear(&outcome);
}

/**
 * Runs something that must be refused: with that exit code, nothing on standard output, and every
 * part (ended by null) in what it says on standard error.
 */
static inline void expect_refused(int exit_code, const char *arguments, ...) {
    struct outcome outcome = expect_weft(exit_code, "%s", arguments);
    assert_string_equal(outcome.out, "");
    va_list parts;
    va_start(parts, arguments);
    expect_parts(&outcome, outcome.err, parts);
    va_end(parts);
    outcome_clear(&outcome);
}

/** Standard output as the one JSON object it must be. */
static inline json_t *json_of(const struct outcome *outcome) {
    json_error_t error;
    json_t *object = json_loads(outcome->out, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &error);
    if (!json_is_object(object)) {
        fail_msg("%s: no JSON object: %s\n%s", outcome->line, error.text, outcome->out);
    }
    return object;
}

/** Runs with "… --json", which must succeed, and gives the object. */
static inline json_t *run_json(const char *environment, const char *format, ...) {
    char arguments[4096];
    va_list list;
    va_start(list, format);
    int length = vsnprintf(arguments, sizeof arguments, format, list);
    va_end(list);
    assert_in_range(length, 0, sizeof arguments - 1);
    struct outcome outcome = run_weft(environment, weft_test_text("%s --json", arguments));
    if (outcome.exit_code != 0) {
        fail_msg("%s: exit code %d; it said:\n%s", outcome.line, outcome.exit_code, outcome.err);
    }
    json_t *object = json_of(&outcome);
    outcome_clear(&outcome);
    return object;
}

/** A field by its path, such as "device" or "output/sha256"; fails the test when there is none. */
static inline json_t *field(const json_t *object, const char *path) {
    char name[64];
    json_t *value = NULL;
    for (const char *at = path; *at != '\0';) {
        size_t length = strcspn(at, "/");
        assert_true(length < sizeof name);
        memcpy(name, at, length);
        name[length] = '\0';
        value = json_object_get(value == NULL ? object : value, name);
        if (value == NULL) {
            fail_msg("no field %s", path);
        }
        at += length + (at[length] == '/');
    }
    return value;
}

static inline long long integer_field(const json_t *object, const char *path) {
    json_t *value = field(object, path);
    if (!json_is_integer(value)) {
        fail_msg("field %s is no integer", path);
    }
    return json_integer_value(value);
}

static inline double number_field(const json_t *object, const char *path) {
    json_t *value = field(object, path);
    if (!json_is_number(value)) {
        fail_msg("field %s is no number", path);
    }
    return json_number_value(value);
}

static inline const char *string_field(const json_t *object, const char *path) {
    json_t *value = field(object, path);
    if (!json_is_string(value)) {
        fail_msg("field %s is no string", path);
    }
    return json_string_value(value);
}

#endif
