/* SPDX-License-Identifier: MIT */
#ifndef _WIN32_WINNT
#define _WIN32_WINNT 0x0A00 /* Windows 10 */
#endif
#define WIN32_LEAN_AND_MEAN
#include "jobs/quota.h"

#include <windows.h>

#define WHOLE UINT64_C(10000) /* of a rate: all processors of the machine */

uint32_t weft_quota(const char *root) {
    JOBOBJECT_CPU_RATE_CONTROL_INFORMATION control = {0};
    const DWORD hard = JOB_OBJECT_CPU_RATE_CONTROL_ENABLE | JOB_OBJECT_CPU_RATE_CONTROL_HARD_CAP;
    (void)root;
    /* Quota of this process's job; fails if it is in none. */
    if (!QueryInformationJobObject(NULL, JobObjectCpuRateControlInformation, &control,
                                   sizeof control, NULL) ||
        (control.ControlFlags & hard) != hard || control.CpuRate == 0) {
        return UINT32_MAX;
    }
    const uint64_t all = GetActiveProcessorCount(ALL_PROCESSOR_GROUPS);
    return (uint32_t)((all * control.CpuRate + WHOLE - 1) / WHOLE);
}

uint64_t weft_memory_limit(const char *root) {
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION job = {0};
    uint64_t least = UINT64_MAX;
    (void)root;
    if (!QueryInformationJobObject(NULL, JobObjectExtendedLimitInformation, &job, sizeof job,
                                   NULL)) {
        return least;
    }
    if ((job.BasicLimitInformation.LimitFlags & JOB_OBJECT_LIMIT_JOB_MEMORY) != 0) {
        least = job.JobMemoryLimit;
    }
    if ((job.BasicLimitInformation.LimitFlags & JOB_OBJECT_LIMIT_PROCESS_MEMORY) != 0 &&
        job.ProcessMemoryLimit < least) {
        least = job.ProcessMemoryLimit;
    }
    return least;
}
