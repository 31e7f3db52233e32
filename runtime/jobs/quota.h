/* SPDX-License-Identifier: MIT */
/* How much processor time and memory containers and services are given: quota_posix.c (control groups of Linux), quota_windows.c (job objects). */
#ifndef WEFT_JOBS_QUOTA_H
#define WEFT_JOBS_QUOTA_H

#include <stdint.h>

/**
 * How many processors' time this process is given at most, rounded up; UINT32_MAX where nothing limits it. `root` is where the folders
 * proc and sys are: "" for the system's own.
 */
uint32_t weft_quota(const char *root);

/** How many bytes of memory this process is given at most; UINT64_MAX where nothing limits it. */
uint64_t weft_memory_limit(const char *root);

#endif
