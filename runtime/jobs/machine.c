/* SPDX-License-Identifier: MIT */
#include "jobs/machine.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "jobs/quota.h"

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#define NAME_SIZE 128

uint32_t weft_processor_count(void) {
    const uint32_t affine = weft_affine_processors(), quota = weft_quota("");
    return quota < affine ? quota : affine;
}

uint64_t weft_machine_memory(void) {
    const uint64_t physical = weft_physical_memory(), limit = weft_memory_limit("");
    return limit < physical ? limit : physical;
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

void weft_processor_name(char *name, size_t size) {
    char found[NAME_SIZE] = "";
    if (ask_processor(found)) {
        trim(found);
    }
    if (found[0] == '\0') {
        weft_processor_system_name(found, sizeof found);
        trim(found);
    }
    (void)snprintf(name, size, "%s", found);
}
