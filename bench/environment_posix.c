/* SPDX-License-Identifier: MIT */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L /* gmtime_r */
#endif
#ifdef __APPLE__
#define _DARWIN_C_SOURCE /* _SC_NPROCESSORS_ONLN, _SC_PHYS_PAGES */
#endif

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "bench/environment.h"

#define CPUFREQ "/sys/devices/system/cpu/cpu0/cpufreq/"

bool weft_bench_read_line(char *line, int size, const char *path) {
    FILE *file = fopen(path, "r");
    line[0] = '\0';
    if (!file) {
        return false;
    }
    const bool fine = fgets(line, size, file) != NULL;
    fclose(file);
    line[fine ? strcspn(line, "\n") : 0] = '\0';
    return fine;
}

static uint64_t memory_of_machine(void) {
    const long pages = sysconf(_SC_PHYS_PAGES);
    const long size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size : 0;
}

/** The value of a line "model name : VALUE" of Linux's list of processors. */
static void read_cpu(char *cpu, size_t size) {
    static const char key[] = "model name";
    char line[2 * WEFT_BENCH_TEXT_SIZE];
    FILE *file = fopen("/proc/cpuinfo", "r");
    if (!file) {
        return;
    }
    while (cpu[0] == '\0' && fgets(line, sizeof line, file)) {
        const char *colon = strchr(line, ':');
        if (colon && strncmp(line, key, sizeof key - 1) == 0) {
            colon += 1 + strspn(colon + 1, " \t");
            snprintf(cpu, size, "%.*s", (int)strcspn(colon, "\n"), colon);
        }
    }
    fclose(file);
}

bool weft_bench_utc(struct tm *utc, time_t time) {
    return gmtime_r(&time, utc) != NULL;
}

void weft_bench_ask_system(weft_bench_environment *environment) {
    struct utsname name;
    if (uname(&name) >= 0) {
        snprintf(environment->system, sizeof environment->system, "%.40s %.60s %.40s", name.sysname,
                 name.release, name.machine);
    }
    read_cpu(environment->cpu, sizeof environment->cpu);
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    environment->cores = cores > 0 ? (uint32_t)cores : 1;
    environment->memory = memory_of_machine();
    weft_bench_read_line(environment->governor, sizeof environment->governor,
                         CPUFREQ "scaling_governor");
    weft_bench_read_line(environment->energy_preference, sizeof environment->energy_preference,
                         CPUFREQ "energy_performance_preference");
}
