/* SPDX-License-Identifier: MIT */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* sched_getaffinity */
#endif
#include "cpu/processor.h"

#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#define NAME_SIZE 128

uint32_t weft_cpu_processor_count(void) {
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

uint64_t weft_cpu_physical_memory(void) {
    const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size : UINT64_C(1) << 30;
}

uint64_t weft_cpu_clock_ns(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/* Without what pads it. */
static void trim(char *text) {
    size_t length = strlen(text);
    while (length > 0 && (text[length - 1] == ' ' || text[length - 1] == '\n')) {
        text[--length] = '\0';
    }
    memmove(text, text + strspn(text, " \t"), length - strspn(text, " \t") + 1);
}

/* The brand string, which costs nothing; /proc/cpuinfo of a large machine takes milliseconds. */
static bool ask_processor(char name[NAME_SIZE]) {
#if defined(__x86_64__) || defined(__i386__)
    unsigned words[12] = {0};
    for (unsigned i = 0; i < 3; i++) {
        unsigned *w = words + (size_t)4 * i;
        if (!__get_cpuid(0x80000002u + i, &w[0], &w[1], &w[2], &w[3])) {
            return false;
        }
    }
    memcpy(name, words, sizeof words);
    name[sizeof words] = '\0';
    return true;
#else
    (void)name;
    return false;
#endif
}

static bool ask_kernel(char name[NAME_SIZE]) {
    FILE *stream = fopen("/proc/cpuinfo", "r");
    bool found = false;
    char line[NAME_SIZE];
    while (stream && !found && fgets(line, sizeof line, stream)) {
        const char *value = strchr(line, ':');
        if (value && strncmp(line, "model name", 10) == 0) {
            memmove(name, value + 1, strlen(value + 1) + 1);
            found = true;
        }
    }
    if (stream) {
        (void)fclose(stream);
    }
    return found;
}

void weft_cpu_processor_name(char *name, size_t size) {
    char found[NAME_SIZE] = "";
    struct utsname system;
    if (ask_processor(found) || ask_kernel(found)) {
        trim(found);
    }
    if (found[0] == '\0') {
        (void)snprintf(found, sizeof found, "%s",
                       uname(&system) >= 0 ? system.machine : "processor");
    }
    (void)snprintf(name, size, "%s", found);
}
