/* SPDX-License-Identifier: MIT */
/* Work that may not come back, or take its process down: each piece in a process of its own, with a limit. */
#ifndef WEFT_TESTS_COMPILERS_APART_H
#define WEFT_TESTS_COMPILERS_APART_H

#include <stdbool.h>
#include <stdint.h>

enum weft_ending { WEFT_ENDED_WELL, WEFT_ENDED_BADLY, WEFT_ENDED_LATE, WEFT_ENDED_CRASHED };

/**
 * Calls work(user, i) for each i below `count`, `at_once` of them at a time, each in a copy of this process, and writes how it ended to
 * endings[i]: badly where it returned false, late where it took more than `seconds` of processor time (a machine that is busy with
 * something else makes nothing late), or twenty times that by the clock, as where it waits for ever. False when processes cannot be started.
 */
bool weft_run_apart(enum weft_ending *endings, uint32_t count, uint32_t at_once, uint32_t seconds,
                    bool (*work)(void *user, uint32_t i), void *user);

#endif
