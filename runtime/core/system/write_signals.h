/* SPDX-License-Identifier: MIT */
/*
 * The signals that a thread gets for what it writes: SIGXFSZ for a file beyond the limit of the process (ulimit -f), SIGPIPE for a
 * pipe that nobody reads. They end the process where it does not expect them. Between the two calls they do not come: what would
 * have raised one fails with EFBIG or EPIPE. Windows has neither.
 */
#ifndef WEFT_CORE_WRITE_SIGNALS_H
#define WEFT_CORE_WRITE_SIGNALS_H

#include <stdint.h>

struct weft_write_signals {
    unsigned blocked; /* by the first call, in the order of write_signals_posix.c */
    unsigned pending; /* before it: they are somebody else's, and stay */
};

/** The limit, or UINT64_MAX. Whoever maps what it could not make so large gets SIGBUS, as some drivers do: ask before. */
uint64_t weft_write_limit(void);

/** Both of the same thread. They may be nested. */
void weft_write_signals_hold(struct weft_write_signals *signals);
void weft_write_signals_release(const struct weft_write_signals *signals);

#endif
