/* SPDX-License-Identifier: MIT */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L /* nanosleep */
#endif

#include "bench/state.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench/environment.h"

#define PATH_SIZE    128
#define MOST_CPUS    1024
#define MOST_SENSORS 64
#define PER_KILO     1e-3 /* millidegrees, and kHz as MHz */
#define PER_MEGA     1e-6 /* microwatts, and Hz as MHz */

static double read_number(const char *path, double unit) {
    char line[64];
    char *end = line;
    const double value = weft_bench_read_line(line, sizeof line, path) ? strtod(line, &end) : 0.0;
    return end != line ? value * unit : (double)NAN;
}

static void read_clocks(weft_bench_state *state) {
    double sum = 0.0;
    int cpu = 0;
    for (; cpu < MOST_CPUS; cpu++) {
        char path[PATH_SIZE];
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_cur_freq", cpu);
        const double mhz = read_number(path, PER_KILO);
        if (isnan(mhz)) {
            break;
        }
        sum += mhz;
        state->lowest_mhz = fmin(state->lowest_mhz, mhz); /* fmin(NaN, x) is x */
        state->highest_mhz = fmax(state->highest_mhz, mhz);
    }
    state->mean_mhz = cpu > 0 ? sum / cpu : (double)NAN;
    weft_bench_read_line(state->governor, sizeof state->governor,
                         "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
}

static void read_sensors(weft_bench_state *state) {
    for (int i = 0; i < MOST_SENSORS; i++) {
        char path[PATH_SIZE];
        char name[32];
        snprintf(path, sizeof path, "/sys/class/thermal/thermal_zone%d/temp", i);
        state->temperature_c = fmax(state->temperature_c, read_number(path, PER_KILO));
        snprintf(path, sizeof path, "/sys/class/hwmon/hwmon%d/name", i);
        if (!weft_bench_read_line(name, sizeof name, path)) {
            continue;
        }
        snprintf(path, sizeof path, "/sys/class/hwmon/hwmon%d/temp1_input", i);
        const double temperature = read_number(path, PER_KILO);
        if (strcmp(name, "amdgpu") == 0 && isnan(state->gpu_temperature_c)) {
            state->gpu_temperature_c = temperature;
            snprintf(path, sizeof path, "/sys/class/hwmon/hwmon%d/freq1_input", i);
            state->gpu_mhz = read_number(path, PER_MEGA);
            snprintf(path, sizeof path, "/sys/class/hwmon/hwmon%d/power1_average", i);
            state->gpu_watt = read_number(path, PER_MEGA);
        } else if (strcmp(name, "coretemp") == 0 || strcmp(name, "k10temp") == 0) {
            state->temperature_c = fmax(state->temperature_c, temperature);
        }
    }
}

/* user, nice, system, idle, iowait, irq, softirq, steal: idle and iowait are not busy. */
static void read_load(weft_bench_state *state) {
    char line[256];
    double ticks[8] = {0};
    state->load_1min = read_number("/proc/loadavg", 1.0);
    if (weft_bench_read_line(line, sizeof line, "/proc/stat") && strncmp(line, "cpu ", 4) == 0) {
        const double seconds = 1.0 / (double)sysconf(_SC_CLK_TCK);
        char *at = line + 4;
        state->all_s = 0.0;
        for (int i = 0; i < 8; i++) {
            ticks[i] = strtod(at, &at);
            state->all_s += ticks[i] * seconds;
        }
        state->busy_s = state->all_s - (ticks[3] + ticks[4]) * seconds;
    }
    state->own_s = (double)clock() / CLOCKS_PER_SEC;
}

weft_bench_state weft_bench_state_now(void) {
    weft_bench_state state = weft_bench_state_untold();
    read_clocks(&state);
    read_sensors(&state);
    read_load(&state);
    return state;
}

void weft_bench_state_wait(uint32_t ms) {
    const struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000L};
    nanosleep(&time, NULL);
}
