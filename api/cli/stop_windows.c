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

void weft_cli_stop_begin(void) {
    InterlockedExchange(&stopped, 0);
    SetConsoleCtrlHandler(note, TRUE);
}

int weft_cli_stop_end(void) {
    SetConsoleCtrlHandler(note, FALSE);
    return (int)stopped;
}

bool weft_cli_stopped(void) {
    return stopped != 0;
}
