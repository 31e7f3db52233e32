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

#define POWER_SCHEMES "SYSTEM\\CurrentControlSet\\Control\\Power\\User\\PowerSchemes"

/* Of the plans that Windows comes with; the number of one that its owner made says whose it is. */
static void read_power_plan(char *text, size_t size) {
    static const char *const plans[][2] = {
        {"381b4222-f694-41f0-9685-ff5bb260df2e", "balanced"},
        {"8c5e7fda-e8bf-4a96-9a85-a6e23a8c635c", "high performance"},
        {"a1841308-3541-4fab-bc81-f87156f20b4a", "power saver"},
        {"e9a42b02-d5df-448d-aa00-03f14749eb61", "ultimate performance"},
    };
    char found[64];
    DWORD length = sizeof found;
    if (RegGetValueA(HKEY_LOCAL_MACHINE, POWER_SCHEMES, "ActivePowerScheme", RRF_RT_REG_SZ, NULL,
                     found, &length) != ERROR_SUCCESS) {
        return;
    }
    const char *name = "another";
    for (size_t i = 0; i < sizeof plans / sizeof plans[0]; i++) {
        name = _stricmp(found, plans[i][0]) == 0 ? plans[i][1] : name;
    }
    snprintf(text, size, "%s", name);
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
    MEMORYSTATUSEX memory = {.dwLength = sizeof memory};
    if (GlobalMemoryStatusEx(&memory)) {
        environment->memory = memory.ullTotalPhys;
    }
    read_power_plan(environment->power_plan, sizeof environment->power_plan);
}
