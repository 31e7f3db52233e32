/* SPDX-License-Identifier: MIT */
#include "apart.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATIENCE 20 /* so many times the limit, by the clock: for what waits for ever */

struct running {
    pid_t process; /* 0: none */
    uint32_t index;
};

static bool start(struct running *running, uint32_t index, uint32_t seconds,
                  bool (*work)(void *user, uint32_t i), void *user) {
    fflush(NULL); /* or the copy would write it again */
    const pid_t process = fork();
    if (process == 0) {
        const struct rlimit time = {seconds, seconds + 1}, none = {0, 0};
        setrlimit(RLIMIT_CPU, &time);
        setrlimit(RLIMIT_CORE, &none);
        alarm(PATIENCE * seconds);
        const bool is_well = work(user, index);
        fflush(NULL);
        _exit(is_well ? EXIT_SUCCESS
                      : EXIT_FAILURE); /* what a driver does at exit is the first process's */
    }
    *running = (struct running){.process = process > 0 ? process : 0, .index = index};
    return process > 0;
}

static enum weft_ending ending_of(int status) {
    if (WIFEXITED(status)) {
        return WEXITSTATUS(status) == EXIT_SUCCESS ? WEFT_ENDED_WELL : WEFT_ENDED_BADLY;
    }
    const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    return signal == SIGXCPU || signal == SIGKILL || signal == SIGALRM ? WEFT_ENDED_LATE
                                                                       : WEFT_ENDED_CRASHED;
}

/* Waits for the first of those that run, and returns its place; at_once where none does. */
static uint32_t wait_for_one(enum weft_ending *endings, struct running *running, uint32_t at_once) {
    int status = 0;
    const pid_t process = wait(&status);
    for (uint32_t i = 0; process > 0 && i < at_once; i++) {
        if (running[i].process == process) {
            endings[running[i].index] = ending_of(status);
            running[i].process = 0;
            return i;
        }
    }
    return at_once;
}

bool weft_run_apart(enum weft_ending *endings, uint32_t count, uint32_t at_once, uint32_t seconds,
                    bool (*work)(void *user, uint32_t i), void *user) {
    struct running *running = calloc(at_once, sizeof *running);
    bool is_well = running != NULL;
    for (uint32_t i = 0; is_well && i < count; i++) {
        const uint32_t place = i < at_once ? i : wait_for_one(endings, running, at_once);
        is_well = place < at_once && start(&running[place], i, seconds, work, user);
    }
    while (running && wait_for_one(endings, running, at_once) < at_once) {
    }
    free(running);
    return is_well;
}
