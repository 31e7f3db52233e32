/* SPDX-License-Identifier: MIT */
/*
 * What the tables of options say, for people, for `man` and for shells. All print on stdout.
 */
#ifndef WEFT_CLI_HELP_H
#define WEFT_CLI_HELP_H

#include "cli.h"

/**
 * What COMMAND --help=FORM prints: without a form, the help; "man", its section of the manual; "shared", the options that
 * most commands have, for the manual; "options", a line for each option. False for another form.
 */
bool weft_cli_describe(const weft_cli_syntax *syntax, const char *form);

/**
 * A line of `weft help --options`, COMMAND|OPTION|ARGUMENT|HELP, by which shells complete: of the help the first sentence, and in
 * ARGUMENT a space between words. Empty are OPTION for a command itself, COMMAND for options without one, ARGUMENT for flags.
 */
void weft_cli_print_row(const char *command, const weft_cli_option *option);

/** The argument "full|short|smallest" as "full, short or smallest", in `text`; returns text. */
char *weft_cli_any_of(char *text, size_t room, const char *argument);

/** What Weft is, in one sentence without its full stop: the project's DESCRIPTION. */
extern const char weft_cli_description[];

/** The manual up to the sections of the commands, between those and the shared options, and behind these. */
void weft_cli_manual_begin(void);
void weft_cli_manual_shared(void);
void weft_cli_manual_end(void);
/** What weft_cli_describe prints as "man" and as "shared". */
void weft_cli_manual_command(const weft_cli_syntax *syntax);
void weft_cli_manual_options(const weft_cli_syntax *syntax);

/** The script by which a shell, bash, zsh or fish, completes command lines; null for others. */
const char *weft_cli_completion(const char *shell);

#endif
