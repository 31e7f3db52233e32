/* SPDX-License-Identifier: MIT */
/* The manual page, of the tables of options and of manual.roff, which has what no table says. */
#include <ctype.h>
#include <string.h>

#include "help.h"

static const char prose[] = {
#include "manual.roff.inc"
};
#define HERE ".\\\" COMMANDS\n" /* where in it the commands come */

/* ---- text as roff ---- */

/* A character that roff would take for something else, or which prints as another. */
static void print_character(char character, bool first) {
    if (character == '\\') {
        weft_cli_print(stdout, "\\e");
    } else if (character == '-') {
        weft_cli_print(stdout, "\\-");
    } else {
        const bool is_request = first && (character == '.' || character == '\'');
        weft_cli_print(stdout, "%s%c", is_request ? "\\&" : "", character);
    }
}

static void print_name(const char *name, size_t length) {
    weft_cli_print(stdout, "\\-\\-");
    for (size_t i = 0; i < length; i++) {
        print_character(name[i], false);
    }
}

/* An option in a text, without its dashes, is bold. How long it is. */
static size_t print_bold(const char *name) {
    const size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyz-");
    weft_cli_print(stdout, "\\fB");
    print_name(name, length);
    weft_cli_print(stdout, "\\fR");
    return length;
}

/* Sentences are lines of their own, as roff wants them; lines that begin with a space stay lines. */
static void print_line(const char *text, size_t length) {
    for (size_t at = 0; at < length;) {
        const bool first = at == 0 || (text[at - 1] == ' ' && at >= 2 && text[at - 2] == '.');
        if (strncmp(text + at, "--", 2) == 0 && islower((unsigned char)text[at + 2])) {
            at += 2 + print_bold(text + at + 2);
        } else if (text[at] == ' ' && at > 0 && text[at - 1] == '.') {
            weft_cli_print(stdout, "\n");
            at++;
        } else {
            print_character(at == 0 ? (char)toupper((unsigned char)text[at]) : text[at], first);
            at++;
        }
    }
}

static void print_text(const char *text) {
    bool is_list = false;
    for (bool more = true; more;) {
        const size_t length = strcspn(text, "\n");
        if (length == 0) {
            weft_cli_print(stdout, ".PP");
        } else if (is_list && text[0] != ' ') {
            weft_cli_print(stdout, ".br\n");
        }
        is_list = text[0] == ' ';
        print_line(text, length);
        more = text[length] != '\0';
        weft_cli_print(stdout, !more && text[length - 1] != '.' ? ".\n" : "\n");
        text += length + more;
    }
}

/* ---- commands ---- */

static bool is_shared(const weft_cli_option *option) {
    static const char *const names[] = {"device",   "math", "weights", "validation",
                                        "no-cache", "json", "verbose"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(names[i], option->name) == 0) {
            return true;
        }
    }
    return false;
}

static void print_option(const weft_cli_option *option) {
    weft_cli_print_lines(stdout, !option->argument ? ".TP\n.B " : ".TP\n.BI ");
    print_name(option->name, strlen(option->name));
    if (option->argument) {
        weft_cli_print(stdout, " \" %s\"", option->argument);
    }
    weft_cli_print(stdout, "\n");
    print_text(option->help);
}

void weft_cli_manual_command(const weft_cli_syntax *syntax) {
    weft_cli_print(stdout, ".SS \"weft %s%s%s\"\n", syntax->command,
                   !syntax->positionals ? "" : " ",
                   !syntax->positionals ? "" : syntax->positionals);
    print_text(syntax->summary);
    const char *before = ".PP\nAs below: ";
    for (const weft_cli_option *option = syntax->options; option->name; option++) {
        if (!is_shared(option)) {
            print_option(option);
        }
    }
    for (const weft_cli_option *option = syntax->options; option->name; option++) {
        if (is_shared(option)) {
            weft_cli_print_lines(stdout, before);
            print_bold(option->name);
            before = ", ";
        }
    }
    weft_cli_print(stdout, ".\n");
}

void weft_cli_manual_options(const weft_cli_syntax *syntax) {
    for (const weft_cli_option *option = syntax->options; option->name; option++) {
        if (is_shared(option)) {
            print_option(option);
        }
    }
    print_option(&(weft_cli_option){.name = "help", .help = "print the help"});
}

/* ---- the whole ---- */

const char weft_cli_description[] = WEFT_DESCRIPTION;

void weft_cli_manual_begin(void) {
    weft_cli_print_lines(stdout, ".\\\" SPDX-License-Identifier: MIT\n");
    weft_cli_print_lines(stdout, ".\\\" Made by weft help --man.\n");
    weft_cli_print(stdout, ".TH WEFT 1 \"\" \"Weft %s\" \"User Commands\"\n", weft_version());
    weft_cli_print_lines(stdout, ".SH NAME\nweft \\- ");
    weft_cli_print(stdout, "%s\n", weft_cli_description);
    const char *here = strstr(prose, HERE);
    weft_cli_print_text(stdout, prose, (size_t)(here - prose));
    weft_cli_print_lines(stdout, ".SH COMMANDS\n");
}

void weft_cli_manual_shared(void) {
    weft_cli_print_lines(stdout, ".SH COMMON OPTIONS\n");
}

void weft_cli_manual_end(void) {
    weft_cli_print_lines(stdout, strstr(prose, HERE) + strlen(HERE));
}
