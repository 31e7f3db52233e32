/* SPDX-License-Identifier: MIT */
/* Command lines, from a table of options. */
#include "cli.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "help.h"

#define MAX_OPTIONS 32 /* of one subcommand, --help included */
#define HELP        MAX_OPTIONS

#define LEAST_SECONDS 1e-3
#define MOST_SECONDS  1e6

int weft_cli_usage_error(const weft_cli_syntax *syntax, const char *format, ...) {
    weft_cli_print(stderr, "weft %s: ", syntax->command);
    va_list arguments;
    va_start(arguments, format);
    weft_cli_print_list(stderr, format, arguments);
    va_end(arguments);
    weft_cli_print(stderr, "\n");
    weft_cli_print(stderr, "Try: weft %s --help\n", syntax->command);
    return WEFT_CLI_USAGE;
}

bool weft_cli_take_number(uint64_t *number, const char **text) {
    char *end = NULL;
    /* strtoull takes signs and spaces, too. */
    if (**text < '0' || **text > '9') {
        return false;
    }
    errno = 0;
    *number = strtoull(*text, &end, 10);
    *text = end;
    return errno == 0;
}

static bool read_count(uint32_t *value, const char *text) {
    uint64_t number = 0;
    if (!weft_cli_take_number(&number, &text) || *text != '\0' || number < 1 ||
        number > UINT32_MAX) {
        return false;
    }
    *value = (uint32_t)number;
    return true;
}

/* Digits with at most one point in them; strtod alone takes signs, spaces, exponents and "inf", too. */
static bool read_seconds(double *value, const char *text) {
    const size_t whole = strspn(text, "0123456789");
    const size_t point = text[whole] == '.' ? 1 : 0;
    const size_t part = point + strspn(text + whole + point, "0123456789");
    if (whole == 0 || part == 1 || text[whole + part] != '\0') {
        return false;
    }
    const double number = strtod(text, NULL);
    if (number < LEAST_SECONDS || number > MOST_SECONDS) {
        return false;
    }
    *value = number;
    return true;
}

static bool read_math(weft_math *value, const char *text) {
    for (int math = WEFT_MATH_REPRODUCIBLE; math <= WEFT_MATH_FUSED; math++) {
        if (strcmp(text, weft_math_name((weft_math)math)) == 0) {
            *value = (weft_math)math;
            return true;
        }
    }
    return false;
}

static bool read_weights(weft_weight_storage *value, const char *text) {
    for (int storage = WEFT_WEIGHTS_AUTO; storage <= WEFT_WEIGHTS_I8_ONLY; storage++) {
        if (strcmp(text, weft_weight_storage_name((weft_weight_storage)storage)) == 0) {
            *value = (weft_weight_storage)storage;
            return true;
        }
    }
    return false;
}

static bool read_state(weft_dtype *value, const char *text) {
    static const weft_dtype types[] = {WEFT_F32, WEFT_F16};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (strcmp(text, weft_dtype_name(types[i])) == 0) {
            *value = types[i];
            return true;
        }
    }
    return false;
}

/* Whether an option takes any value, or this is one of its words. */
static bool is_any_of(const char *argument, const char *text) {
    bool only = argument && strchr(argument, '|') && !strstr(argument, "...");
    for (const char *word = argument; only && word; word = strchr(word, '|')) {
        word += *word == '|';
        const size_t length = strcspn(word, "|");
        only = length != strlen(text) || strncmp(word, text, length) != 0;
    }
    return !only;
}

static bool append(weft_cli_list *list, const char *text) {
    if (list->count == sizeof list->at / sizeof *list->at) {
        return false;
    }
    list->at[list->count++] = text;
    return true;
}

/* Stores an option's value; false after a usage error. */
static bool store(const weft_cli_syntax *syntax, const weft_cli_option *option, const char *text) {
    bool fits = is_any_of(option->argument, text);
    char expected[128] = "";
    if (!fits) {
        weft_cli_usage_error(syntax, "--%s: expected %s, found '%s'", option->name,
                             weft_cli_any_of(expected, sizeof expected, option->argument), text);
        return false;
    }
    switch (option->kind) {
    case WEFT_CLI_FLAG:
        *(bool *)option->value = true;
        break;
    case WEFT_CLI_TEXT:
        *(const char **)option->value = text;
        break;
    case WEFT_CLI_LIST:
        fits = append(option->value, text);
        snprintf(expected, sizeof expected, "at most 64 of them");
        break;
    case WEFT_CLI_COUNT:
        fits = read_count(option->value, text);
        snprintf(expected, sizeof expected, "a whole number from 1 to %u", UINT32_MAX);
        break;
    case WEFT_CLI_SECONDS:
        fits = read_seconds(option->value, text);
        snprintf(expected, sizeof expected, "a number from %g to %.0f, such as 2 or 0.25",
                 LEAST_SECONDS, MOST_SECONDS);
        break;
    case WEFT_CLI_MATH:
        fits = read_math(option->value, text);
        break;
    case WEFT_CLI_WEIGHTS:
        fits = read_weights(option->value, text);
        break;
    case WEFT_CLI_STATE:
        fits = read_state(option->value, text);
        break;
    }
    if (!fits) {
        weft_cli_usage_error(syntax, "--%s: expected %s, found '%s'", option->name, expected, text);
    }
    return fits;
}

/* getopt's table, whose entries return their index in syntax->options. */
static void make_long_options(struct option long_options[MAX_OPTIONS + 1],
                              const weft_cli_syntax *syntax) {
    int count = 0;
    for (const weft_cli_option *option = syntax->options; option->name && count + 1 < MAX_OPTIONS;
         option++) {
        long_options[count] = (struct option){
            option->name, option->kind == WEFT_CLI_FLAG ? no_argument : required_argument, NULL,
            count};
        count++;
    }
    long_options[count] = (struct option){"help", optional_argument, NULL, HELP};
    long_options[count + 1] = (struct option){0};
}

/* One result of getopt_long; false ends the command with *exit_code. */
static bool take(const weft_cli_syntax *syntax, int result, char **argv, int *exit_code) {
    *exit_code = WEFT_CLI_USAGE;
    if (result == HELP || result == 'h') {
        *exit_code = weft_cli_describe(syntax, optarg)
                         ? WEFT_CLI_FINE
                         : weft_cli_usage_error(syntax, "--help takes no value");
        return false;
    }
    if (result == ':') {
        weft_cli_usage_error(syntax, "%s needs a value", argv[optind - 1]);
        return false;
    }
    if (result == '?') {
        bool is_short =
            optopt > 0 && optopt < 128 && optopt != HELP && strncmp(argv[optind - 1], "--", 2) != 0;
        if (is_short) {
            weft_cli_usage_error(syntax, "unknown option '-%c'", optopt);
        } else {
            weft_cli_usage_error(syntax, "unknown, ambiguous or misused option '%s'",
                                 argv[optind - 1]);
        }
        return false;
    }
    return store(syntax, &syntax->options[result], optarg);
}

bool weft_cli_parse(const weft_cli_syntax *syntax, int argc, char **argv, const char **positionals,
                    int *exit_code) {
    struct option long_options[MAX_OPTIONS + 1];
    make_long_options(long_options, syntax);
    opterr = 0;
    optind = 0; /* 0, not 1: glibc's way of starting over */
    int result;
    while ((result = getopt_long(argc, argv, ":h", long_options, NULL)) != -1) {
        if (!take(syntax, result, argv, exit_code)) {
            return false;
        }
    }
    int found = argc - optind;
    bool open = syntax->positional_found != NULL;
    if (found < syntax->positional_count || (found > syntax->positional_count && !open)) {
        if (found > syntax->positional_count) {
            *exit_code = weft_cli_usage_error(syntax, "unexpected argument '%s'",
                                              argv[optind + syntax->positional_count]);
        } else {
            *exit_code = weft_cli_usage_error(syntax, "expected %s", syntax->positionals);
        }
        return false;
    }
    if (open) {
        *syntax->positional_found = found;
    }
    for (int index = 0; index < found; index++) {
        positionals[index] = argv[optind + index];
    }
    *exit_code = WEFT_CLI_FINE;
    return true;
}
