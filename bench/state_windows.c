/* SPDX-License-Identifier: MIT */
#define WIN32_LEAN_AND_MEAN
#include <windows.h>

#include "bench/state.h"

static double seconds(FILETIME time) {
    return 1e-7 * (4294967296.0 * time.dwHighDateTime + time.dwLowDateTime);
}

weft_bench_state weft_bench_state_now(void) {
    weft_bench_state state = weft_bench_state_untold();
    FILETIME idle, kernel, user, created, ended;
    if (GetSystemTimes(&idle, &kernel, &user)) { /* the kernel's has the idle time in it */
        state.all_s = seconds(kernel) + seconds(user);
        state.busy_s = state.all_s - seconds(idle);
    }
    if (GetProcessTimes(GetCurrentProcess(), &created, &ended, &kernel, &user)) {
        state.own_s = seconds(kernel) + seconds(user);
    }
    return state;
}

void weft_bench_state_wait(uint32_t ms) {
    Sleep(ms);
}
