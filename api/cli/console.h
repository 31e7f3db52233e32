/* SPDX-License-Identifier: MIT */
/* Standard streams and arguments: console_posix.c, console_windows.c. */
#ifndef WEFT_CLI_CONSOLE_H
#define WEFT_CLI_CONSOLE_H

#include <stdbool.h>
#include <stdio.h>

/**
 * Streams carry bytes as they are, terminals show UTF-8, and writing to a closed pipe, or above the limit of files, fails. Of standard
 * streams that are missing the use fails, too. Gives the arguments as UTF-8, which
 * stay until the end of the program; null when memory is out.
 */
char **weft_cli_console_begin(int argc, char **argv);
/** Leaves the terminal as it was. */
void weft_cli_console_end(void);

/** Whether the stream is a terminal that a person looks at. */
bool weft_cli_is_terminal(FILE *stream);

/** After a failed write: whether standard output is a pipe that nobody reads from any more, as in weft … | head -n 1. */
bool weft_cli_reader_is_gone(void);

#endif
