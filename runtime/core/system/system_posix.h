/* SPDX-License-Identifier: MIT */
/* Functions that system_posix.c shares with the other files for POSIX. */
#ifndef WEFT_CORE_SYSTEM_POSIX_H
#define WEFT_CORE_SYSTEM_POSIX_H

#include <sys/stat.h>

#include "core/system/system.h"

/**
 * First descriptor that Weft uses for its files, above standard input, output and error: if the program has closed
 * those, a line for standard error would otherwise go into a file of Weft, and a reader of standard input would read
 * one.
 */
#define WEFT_POSIX_FIRST 3

/** Gives a descriptor a number from there on. Where that fails it is closed, and -1. */
int weft_posix_lift(int *file);

weft_file_facts weft_system_facts_from(const struct stat *information);

/** weft_system_list of an open folder, which it closes. */
int weft_system_list_open(int file, bool (*take)(void *user, const char *name), void *user);

#endif
