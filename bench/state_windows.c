/* SPDX-License-Identifier: MIT */
#define WIN32_LEAN_AND_MEAN
#include <math.h>
#include <windows.h>

#include "bench/state.h"

static double seconds(FILETIME time) {
    return 1e-7 * (4294967296.0 * time.dwHighDateTime + time.dwLowDateTime);
}

weft_bench_state weft_bench_state_now(void) {
    weft_bench_state state = {.lowest_mhz = NAN,
                              .mean_mhz = NAN,
                              .highest_mhz = NAN,
                              .temperature_c = NAN,
                              .gpu_mhz = NAN,
                              .gpu_temperature_c = NAN,
                              .gpu_watt = NAN,
                              .load_1min = NAN,
                              .busy_s = NAN,
                              .all_s = NAN,
                              .own_s = NAN};
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
