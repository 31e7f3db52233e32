/* SPDX-License-Identifier: MIT */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L /* SIGPIPE, poll, isatty, fileno */
#endif
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700 /* SIGXFSZ */
#endif

#include "console.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

/*
 * A standard descriptor that is missing would be the next file's that somebody opens, and what is read or printed would be of
 * that. /dev/null takes its place, opened for the other direction, or else a folder: its use is an error, as it was.
 */
static void open_missing(void) {
    for (int file = STDIN_FILENO; file <= STDERR_FILENO; file++) {
        if (fcntl(file, F_GETFD) == -1 && errno == EBADF) {
            /* All lower ones are there, so that it gets this number. */
            if (open("/dev/null", file == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0) {
                (void)open("/", O_RDONLY);
            }
        }
    }
}

char **weft_cli_console_begin(int argc, char **argv) {
    (void)argc;
    open_missing();
    /*
     * Writing to a closed pipe then fails instead of killing the process before it has cleaned up, and so does writing to a file
     * that is as large as the process may make one.
     */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
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
