/* SPDX-License-Identifier: MIT */
/*
 * Functions that the files for Windows share: paths, handles, and owners of files and folders. Results are 0 or a
 * value of errno.h.
 */
#ifndef WEFT_CORE_SYSTEM_WINDOWS_H
#define WEFT_CORE_SYSTEM_WINDOWS_H

#include <wchar.h>
#include <windows.h>

#include "core/system/private_folder.h"

#define WEFT_WIDE_SIZE 4096 /* letters of a path, with its end */

/** The path in UTF-16 as Windows takes it. */
int weft_windows_widen(wchar_t wide[WEFT_WIDE_SIZE], const char *path);

/** Value of errno.h for GetLastError. */
int weft_windows_last_error(void);

int weft_windows_facts(weft_file_facts *facts, HANDLE handle);

HANDLE weft_windows_handle(int file);

/** Makes a handle a file, which owns it; closes it where that fails. */
int weft_windows_file(int *file, HANDLE handle, bool reads);

/** For what nobody but this user, Administrators and SYSTEM may open. weft_windows_free_attributes releases it. */
int weft_windows_private_attributes(SECURITY_ATTRIBUTES *attributes);
void weft_windows_free_attributes(SECURITY_ATTRIBUTES *attributes);

/** EPERM with `distrust` unless it is trusted as private_folder.h says. The handle may read. */
int weft_windows_check_trust(HANDLE handle, char distrust[WEFT_DISTRUST_SIZE]);

#endif
