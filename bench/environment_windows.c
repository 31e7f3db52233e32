/* SPDX-License-Identifier: MIT */
#ifndef _WIN32_WINNT
#define _WIN32_WINNT 0x0A00 /* Windows 10 */
#endif
#define WIN32_LEAN_AND_MEAN
#include <stdio.h>
#include <string.h>
#include <windows.h>

#include "bench/environment.h"

bool weft_bench_utc(struct tm *utc, time_t time) {
    return gmtime_s(utc, &time) == 0;
}

/* GetVersionEx would say what the program's manifest says. */
static void read_system(char *text, size_t size) {
    typedef LONG(WINAPI * get_version)(OSVERSIONINFOW *);
    const FARPROC function = GetProcAddress(GetModuleHandleA("ntdll.dll"), "RtlGetVersion");
    OSVERSIONINFOW version = {.dwOSVersionInfoSize = sizeof version};
    get_version ask = NULL;
    memcpy(&ask, &function, sizeof ask);
    if (ask && ask(&version) == 0) {
        snprintf(text, size, "Windows %lu.%lu.%lu x86_64", version.dwMajorVersion,
                 version.dwMinorVersion, version.dwBuildNumber);
    }
}

void weft_bench_ask_system(weft_bench_environment *environment) {
    read_system(environment->system, sizeof environment->system);
    DWORD size = sizeof environment->cpu;
    if (RegGetValueA(HKEY_LOCAL_MACHINE, "HARDWARE\\DESCRIPTION\\System\\CentralProcessor\\0",
                     "ProcessorNameString", RRF_RT_REG_SZ, NULL, environment->cpu,
                     &size) != ERROR_SUCCESS) {
        environment->cpu[0] = '\0';
    }
    const DWORD cores = GetActiveProcessorCount(ALL_PROCESSOR_GROUPS);
    environment->cores = cores > 0 ? cores : 1;
}
