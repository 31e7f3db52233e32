/* SPDX-License-Identifier: MIT */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* sched_getaffinity */
#endif
#include "jobs/machine.h"

#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

uint32_t weft_affine_processors(void) {
#ifdef CPU_COUNT
    cpu_set_t set;
    CPU_ZERO(&set);
    /* Fails on machines with more processors than the set has room for: then they all count. */
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0) {
        return (uint32_t)CPU_COUNT(&set);
    }
#endif
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (uint32_t)online : 1;
}

uint64_t weft_physical_memory(void) {
    const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size : UINT64_C(1) << 30;
}

uint64_t weft_clock_ns(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static bool ask_kernel(char *name, size_t size) {
    FILE *stream = fopen("/proc/cpuinfo", "r");
    bool found = false;
    char line[256];
    while (stream && !found && fgets(line, sizeof line, stream)) {
        const char *value = strchr(line, ':');
        if (value && strncmp(line, "model name", 10) == 0) {
            (void)snprintf(name, size, "%s", value + 1);
            found = true;
        }
    }
    if (stream) {
        (void)fclose(stream);
    }
    return found;
}

void weft_processor_system_name(char *name, size_t size) {
    struct utsname system;
    if (!ask_kernel(name, size)) {
        (void)snprintf(name, size, "%s", uname(&system) >= 0 ? system.machine : "processor");
    }
}
