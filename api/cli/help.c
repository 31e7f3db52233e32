/* SPDX-License-Identifier: MIT */
/* The help of a command, for people and for shells. */
#include "help.h"

#include <string.h>

#define WIDTH 100
#define LEFT  26 /* of which an option takes; the help of a longer one begins below it */

static const weft_cli_option help_option = {.name = "help", .help = "print this"};

/* A line of a text in as many as it takes, all but the first behind `indent` spaces and those that the line begins with. */
static void print_wrapped(const char *line, int length, int indent) {
    int at = (int)strspn(line, " ");
    indent += at;
    int column = indent;
    weft_cli_print(stdout, "%*s", at, "");
    while (at < length) {
        const int rest = length - at;
        const int end = (int)strcspn(line + at, " ");
        const int word = end < rest ? end : rest;
        if (column > indent && column + 1 + word > WIDTH) {
            weft_cli_print(stdout, "\n");
            weft_cli_print(stdout, "%*s", indent, "");
            column = indent;
        } else if (column > indent) {
            weft_cli_print(stdout, " ");
            column++;
        }
        weft_cli_print(stdout, "%.*s", word, line + at);
        column += word;
        at += word + 1;
    }
    weft_cli_print(stdout, "\n");
}

static void print_text(const char *text, int indent) {
    for (bool more = true; more;) {
        const size_t length = strcspn(text, "\n");
        print_wrapped(text, (int)length, indent);
        more = text[length] != '\0';
        text += length + more;
        if (more) {
            weft_cli_print(stdout, "%*s", indent, "");
        }
    }
}

static int width_of(const weft_cli_option *option) {
    return (int)(strlen("--") + strlen(option->name) +
                 (!option->argument ? 0 : 1 + strlen(option->argument)));
}

static void print_option(const weft_cli_option *option, int width) {
    const int rest = width - width_of(option);
    weft_cli_print(stdout, "  --%s%s%s", option->name, !option->argument ? "" : " ",
                   !option->argument ? "" : option->argument);
    weft_cli_print(stdout, rest < 0 ? "\n" : "");
    weft_cli_print(stdout, "%*s", rest < 0 ? width + 4 : rest + 2, "");
    print_text(option->help, width + 4);
}

static void print_help(const weft_cli_syntax *syntax) {
    weft_cli_print(stdout, "usage: weft %s%s%s [OPTIONS]\n\n", syntax->command,
                   !syntax->positionals ? "" : " ",
                   !syntax->positionals ? "" : syntax->positionals);
    print_text(syntax->summary, 0);
    weft_cli_print(stdout, "\n");
    int width = width_of(&help_option);
    for (const weft_cli_option *option = syntax->options; option->name; option++) {
        const int own = width_of(option);
        width = own > width && own <= LEFT ? own : width;
    }
    for (const weft_cli_option *option = syntax->options; option->name; option++) {
        print_option(option, width);
    }
    print_option(&help_option, width);
}

/* ---- shells ---- */

static size_t first_sentence(const char *text) {
    size_t length = 0;
    while (text[length] != '\0' && text[length] != '\n' && strncmp(text + length, "; ", 2) != 0 &&
           strncmp(text + length, ". ", 2) != 0) {
        length++;
    }
    return length;
}

void weft_cli_print_row(const char *command, const weft_cli_option *option) {
    weft_cli_print(stdout, "%s|%s%s|", command, !option->name ? "" : "--",
                   !option->name ? "" : option->name);
    for (const char *at = !option->argument ? "" : option->argument;
         *at != '\0' && strcmp(at, "|...") != 0; at++) {
        weft_cli_print(stdout, "%c", *at == '|' ? ' ' : *at);
    }
    weft_cli_print(stdout, "|%.*s\n", (int)first_sentence(option->help), option->help);
}

static void print_rows(const weft_cli_syntax *syntax) {
    for (const weft_cli_option *option = syntax->options; option->name; option++) {
        weft_cli_print_row(syntax->command, option);
    }
    weft_cli_print_row(syntax->command, &help_option);
}

static const char bash[] = {
#include "weft.bash.inc"
};
static const char zsh[] = {
#include "weft.zsh.inc"
};
static const char fish[] = {
#include "weft.fish.inc"
};

const char *weft_cli_completion(const char *shell) {
    return strcmp(shell, "bash") == 0   ? bash
           : strcmp(shell, "zsh") == 0  ? zsh
           : strcmp(shell, "fish") == 0 ? fish
                                        : NULL;
}

bool weft_cli_describe(const weft_cli_syntax *syntax, const char *form) {
    static const struct {
        const char *form;
        void (*print)(const weft_cli_syntax *syntax);
    } forms[] = {{"", print_help},
                 {"man", weft_cli_manual_command},
                 {"shared", weft_cli_manual_options},
                 {"options", print_rows}};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (strcmp(forms[i].form, !form ? "" : form) == 0) {
            forms[i].print(syntax);
            return true;
        }
    }
    return false;
}

char *weft_cli_any_of(char *text, size_t room, const char *argument) {
    size_t used = 0;
    for (const char *word = argument; *word != '\0' && used < room;) {
        const size_t length = strcspn(word, "|");
        const char *next = word + length + (word[length] == '|');
        const char *behind = *next == '\0' ? "" : strchr(next, '|') ? ", " : " or ";
        used += (size_t)snprintf(text + used, room - used, "%.*s%s", (int)length, word, behind);
        word = next;
    }
    return text;
}
