/* SPDX-License-Identifier: MIT */
/* What system_posix.c shares with the other files for POSIX. */
#ifndef WEFT_CORE_SYSTEM_POSIX_H
#define WEFT_CORE_SYSTEM_POSIX_H

#include <sys/stat.h>

#include "core/system.h"

weft_file_facts weft_system_facts_from(const struct stat *information);

/** weft_system_list of an open folder, which it closes. */
int weft_system_list_open(int file, bool (*take)(void *user, const char *name), void *user);

#endif
