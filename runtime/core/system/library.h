/* SPDX-License-Identifier: MIT */
/* Opening shared libraries at run time: library_posix.c, library_windows.c; library_none.c in a static program, which cannot. */
#ifndef WEFT_CORE_LIBRARY_H
#define WEFT_CORE_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

/**
 * Opens a library by its absolute path, or by its name where the system looks for libraries. On Windows that is the program's
 * folder, the system's, and those that the program has added (AddDllDirectory); neither the current folder nor PATH, where
 * others may have put one. Null with the reason.
 */
void *weft_library_open(const char *name, char *reason, size_t size);

/** Why this program opens no library at all, in a sentence without its full stop. Null: it opens those that are there. */
const char *weft_library_refusal(void);

/** The address of what it exports by that name, or null. */
void *weft_library_function(void *library, const char *name);

/** True if `path` is absolute and the file can be read, without opening the library. */
bool weft_library_is_there(const char *path);

/** Path at which the installer of the program `package` puts the library of that name; false if there is no such path. */
bool weft_library_installed(char *path, size_t size, const char *package, const char *name);

/**
 * Path of the file `name` (or folder, except on Windows) that was installed with us; false if there is none. Searches
 * the folder of the file that contains this code: libweft, the Python module or, with a static libweft, the program.
 * Except on Windows it also searches `weft` in that folder, where distributions keep such files, and `lib` or the
 * folder of libraries beside it. Ignores the current folder and the environment, where others may have put a file;
 * another folder than ours that more users may write to than ours; and in a sticky folder a file that belongs neither
 * to this user nor to the administrator.
 */
bool weft_library_beside(char *path, size_t size, const char *name);

#endif
