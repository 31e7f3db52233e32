/* SPDX-License-Identifier: MIT */
/* Opening shared libraries at run time: library_posix.c, library_windows.c. */
#ifndef WEFT_CPU_COMPILE_LIBRARY_H
#define WEFT_CPU_COMPILE_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

/** Opens a library by its path, or by its name where the system looks for libraries. Null with the reason. */
void *weft_library_open(const char *name, char *reason, size_t size);

/** The address of what it exports by that name, or null. */
void *weft_library_function(void *library, const char *name);

/** Whether the file can be read, without opening the library. */
bool weft_library_is_there(const char *path);

#endif
