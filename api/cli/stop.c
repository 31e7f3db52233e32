/* SPDX-License-Identifier: MIT */
#include "stop.h"

#include <signal.h>

static enum { OPEN, WHOLE, PART } state;
static uint64_t looks, stop_at;
static int stop_by;

void weft_cli_stop_begin(void) {
    state = OPEN;
    looks = 0;
    weft_cli_signals_watch();
}

int weft_cli_stop_end(void) {
    weft_cli_signals_leave();
    return state == WHOLE ? 0 : weft_cli_signal();
}

bool weft_cli_stopped(void) {
    if (state != OPEN) {
        return state == PART;
    }
    if (++looks == stop_at) {
        raise(stop_by);
    }
    return weft_cli_signal() != 0;
}

bool weft_cli_stops_calls(void) {
    return state == OPEN && weft_cli_stopped();
}

/* Without a signal whatever is missing is missing for another reason, which has its own message. */
void weft_cli_stop_settle(bool whole) {
    if (whole || weft_cli_signal() != 0) {
        state = whole ? WHOLE : PART;
    }
}

void weft_cli_stop_go_on(void) {
    state = OPEN;
}

void weft_cli_stop_at(uint64_t look, int signal_number) {
    stop_at = look;
    stop_by = signal_number;
}

uint64_t weft_cli_stop_looks(void) {
    return looks;
}
