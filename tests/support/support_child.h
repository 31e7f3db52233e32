/* SPDX-License-Identifier: MIT */
/* Checks in a forked child, for tests that change or end a process. Not for Windows. */
#ifndef WEFT_TESTS_SUPPORT_CHILD_H
#define WEFT_TESTS_SUPPORT_CHILD_H

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"

enum { WEFT_CHILD_PATIENCE_S = 300, WEFT_CHILD_SKIPS = 77 };

/* An assertion would go back to the parent's list of tests, in the child. */
#define WEFT_CHILD_EXPECT(condition)                                                     \
    do {                                                                                 \
        if (!(condition)) {                                                              \
            (void)fprintf(stderr, "child: %s:%d: %s\n", __FILE__, __LINE__, #condition); \
            return false;                                                                \
        }                                                                                \
    } while (0)

/** Forks, and the child checks; the test fails where that gives false, crashes or does not end. A child that exits with WEFT_CHILD_SKIPS skips it. */
static inline void weft_test_in_child(bool (*check)(void *user), void *user) {
    int status = 0;
    const pid_t child = fork();
    if (child == 0) {
        (void)signal(SIGALRM, SIG_DFL);
        (void)alarm(WEFT_CHILD_PATIENCE_S);
        _exit(check(user) ? 0 : 1);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFSIGNALED(status)) {
        fail_msg("the child %s (signal %d)",
                 WTERMSIG(status) == SIGALRM ? "does not end" : "crashed", WTERMSIG(status));
    }
    if (WEXITSTATUS(status) == WEFT_CHILD_SKIPS) {
        skip();
    }
    assert_int_equal(WEXITSTATUS(status), 0);
}

#endif
