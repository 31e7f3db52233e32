/* SPDX-License-Identifier: MIT */
#include <signal.h>
#include <windows.h>

#include "stop.h"

static volatile LONG stopped;

/* Runs on a thread of its own. Ctrl-C and Ctrl-Break; a second one does what it would without this. */
static BOOL WINAPI note(DWORD event) {
    return (event == CTRL_C_EVENT || event == CTRL_BREAK_EVENT) &&
           InterlockedCompareExchange(&stopped, SIGINT, 0) == 0;
}

void weft_cli_signals_watch(void) {
    InterlockedExchange(&stopped, 0);
    SetConsoleCtrlHandler(note, TRUE);
}

void weft_cli_signals_leave(void) {
    SetConsoleCtrlHandler(note, FALSE);
}

int weft_cli_signal(void) {
    return (int)stopped;
}
