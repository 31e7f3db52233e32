/* SPDX-License-Identifier: MIT */
/* Facts of the operating system about this machine: processor_posix.c, processor_windows.c. */
#ifndef WEFT_JOBS_MACHINE_H
#define WEFT_JOBS_MACHINE_H

#include <stddef.h>
#include <stdint.h>

/** How many processors this process may use, by its affinity and its quota of time; at least 1. */
uint32_t weft_processor_count(void);

/** By its affinity alone. */
uint32_t weft_affine_processors(void);

/** The processor's name, such as "AMD EPYC 7763 64-Core Processor"; its architecture where it does not tell. */
void weft_processor_name(char *name, size_t size);

/** The operating system's name of the processor, or of its architecture. */
void weft_processor_system_name(char *name, size_t size);

/** Bytes of memory that this process may have: the machine's, or fewer by the limit of its container or service. */
uint64_t weft_machine_memory(void);

/** Bytes of the machine's memory. */
uint64_t weft_physical_memory(void);

/** Nanoseconds of a clock that never goes back. */
uint64_t weft_clock_ns(void);

#endif
