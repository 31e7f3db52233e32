/* SPDX-License-Identifier: MIT */
/* How often each instruction was executed, over all programs, and how many these were, for WEFT_AMD_COUNTS. */
#include <stdio.h>
#include <stdlib.h>

#include <pthread.h>

#include "gpu.h"

enum { MOST = 1024 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct count {
    const struct amd_operation *operation;
    uint64_t times, kernels;
} counts[MOST];
static uint32_t programs;

static struct count *count_of(const struct amd_operation *operation) {
    for (size_t i = 0; i < MOST; i++) {
        if (!counts[i].operation) {
            counts[i].operation = operation;
        }
        if (counts[i].operation == operation) {
            return &counts[i];
        }
    }
    return NULL;
}

static void write_counts(void) {
    const char *path = getenv("WEFT_AMD_COUNTS");
    FILE *file = path ? fopen(path, "w") : NULL;
    if (file) {
        (void)fprintf(file, "programs %u\n", programs);
    }
    for (size_t i = 0; file && i < MOST && counts[i].operation; i++) {
        (void)fprintf(file, "%s %llu\n", counts[i].operation->name,
                      (unsigned long long)counts[i].times);
    }
    if (file) {
        (void)fclose(file);
    }
}

void amd_counts_add(const struct amd_program *program, const uint64_t *times) {
    pthread_mutex_lock(&lock);
    static bool is_registered;
    if (!is_registered) {
        is_registered = atexit(write_counts) == 0;
    }
    programs++;
    for (uint32_t i = 0; i < program->count; i++) {
        struct count *count = times[i] > 0 ? count_of(program->instructions[i].operation) : NULL;
        if (count) {
            count->times += times[i];
        }
    }
    pthread_mutex_unlock(&lock);
}
