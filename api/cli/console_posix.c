/* SPDX-License-Identifier: MIT */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L /* SIGPIPE, poll, isatty, fileno */
#endif

#include "console.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

char **weft_cli_console_begin(int argc, char **argv) {
    (void)argc;
    /* Writing to a closed pipe then fails instead of killing the process before it has cleaned up. */
    signal(SIGPIPE, SIG_IGN);
    return argv;
}

void weft_cli_console_end(void) {
}

bool weft_cli_is_terminal(FILE *stream) {
    return isatty(fileno(stream)) != 0;
}

bool weft_cli_reader_is_gone(void) {
    struct pollfd output = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return poll(&output, 1, 0) == 1 && (output.revents & POLLERR) != 0;
}
