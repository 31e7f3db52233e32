/* SPDX-License-Identifier: MIT */
/*
 * Ctrl-C and SIGTERM during a command: what is done is kept. The library's calls end by weft_host.interrupted, which
 * weft_cli_host sets, the command's loops by looking. stop.c; what asks the system is in stop_posix.c, stop_windows.c.
 */
#ifndef WEFT_CLI_STOP_H
#define WEFT_CLI_STOP_H

#include <stdbool.h>
#include <stdint.h>

/** Begins a watch: the first SIGINT or SIGTERM is only noted; a second one, a tenth of a second later or of the other kind, ends the program. */
void weft_cli_stop_begin(void);

/** Ends it: signals do what they did before. Which one stopped the command, or 0. */
int weft_cli_stop_end(void);

/** Whether one has come since the watch began and, once it was settled, whether it kept something from being done. */
bool weft_cli_stopped(void);

/** Whether a call of the library has to end: only until it was settled. What is delivered then is delivered as a whole. */
bool weft_cli_stops_calls(void);

/**
 * After the work and before anything is delivered: whether all that was asked for has been done. Then a signal has stopped
 * nothing, however early or late it came, and else all that follows says that the command was stopped.
 */
void weft_cli_stop_settle(bool whole);

/** What comes next can be stopped again: a command has run inside another. */
void weft_cli_stop_go_on(void);

/** For tests: the `look`-th weft_cli_stopped since the watch began finds that signal; 0: none does. Kept by the next watch. */
void weft_cli_stop_at(uint64_t look, int signal_number);
/** For tests: how often it has been asked since then. */
uint64_t weft_cli_stop_looks(void);

/* ---- of the system ---- */

void weft_cli_signals_watch(void);
void weft_cli_signals_leave(void);
/** The first that came since weft_cli_signals_watch, or 0. */
int weft_cli_signal(void);

#endif
