/* SPDX-License-Identifier: MIT */
#ifndef _WIN32_WINNT
#define _WIN32_WINNT 0x0A00 /* Windows 10 */
#endif
#define WIN32_LEAN_AND_MEAN
#include "jobs/machine.h"

#include <stdio.h>
#include <windows.h>

uint32_t weft_affine_processors(void) {
    DWORD_PTR process = 0, system = 0;
    /* Masks of the group of up to 64 in which the process starts; both are 0 once it has threads in several groups. */
    if (GetProcessAffinityMask(GetCurrentProcess(), &process, &system) && process != 0) {
        return (uint32_t)__builtin_popcountll(process);
    }
    const DWORD active = GetActiveProcessorCount(ALL_PROCESSOR_GROUPS);
    return active > 0 ? active : 1;
}

uint64_t weft_physical_memory(void) {
    MEMORYSTATUSEX memory = {.dwLength = sizeof memory};
    return GlobalMemoryStatusEx(&memory) ? memory.ullTotalPhys : UINT64_C(1) << 30;
}

uint64_t weft_clock_ns(void) {
    const uint64_t second = UINT64_C(1000000000);
    LARGE_INTEGER frequency,
        count; /* neither fails since Windows XP; the frequency does not change */
    (void)QueryPerformanceFrequency(&frequency);
    (void)QueryPerformanceCounter(&count);
    const uint64_t rate = (uint64_t)frequency.QuadPart, ticks = (uint64_t)count.QuadPart;
    return ticks / rate * second + ticks % rate * second / rate;
}

void weft_processor_system_name(char *name, size_t size) {
    (void)snprintf(name, size, "%s", "x86-64 processor");
}
