/* SPDX-License-Identifier: MIT */
/*
 * Around what has locks or half-done state of the whole process, such as another library's compiler. A child that was forked while a thread
 * of the parent was inside would wait for ever for a lock of that thread, which the child does not have; a gate lets nobody in there.
 */
#ifndef WEFT_CORE_FORK_GATE_H
#define WEFT_CORE_FORK_GATE_H

#include <stdatomic.h>

#include "core/host.h"

typedef struct weft_fork_gate {
    atomic_uint_least64_t inside; /* threads, and above 32 bits the process that they are of */
} weft_fork_gate;

/** Errors: WEFT_UNSUPPORTED, naming `what`, such as "compiling GLSL". */
weft_status weft_fork_gate_enter(weft_fork_gate *gate, const char *what, const weft_host *host);
void weft_fork_gate_leave(weft_fork_gate *gate);

#endif
