/* SPDX-License-Identifier: MIT */
/*
 * Ctrl-C and SIGTERM during a command: what is done is kept. The library's calls end by weft_host.interrupted, which
 * weft_cli_host sets, the command's loops by looking. stop_posix.c, stop_windows.c.
 */
#ifndef WEFT_CLI_STOP_H
#define WEFT_CLI_STOP_H

#include <stdbool.h>

/** Begins a watch: the first SIGINT or SIGTERM is only noted; a second one ends the program. */
void weft_cli_stop_begin(void);

/** Ends it: signals do what they did before. Which came first, or 0. */
int weft_cli_stop_end(void);

/** Whether one has come since the watch began. */
bool weft_cli_stopped(void);

#endif
