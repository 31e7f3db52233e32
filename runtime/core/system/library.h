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

/** Where the installer of the program `package` puts the library of that name, or false where there is no such place. */
bool weft_library_installed(char *path, size_t size, const char *package, const char *name);

/**
 * Where the file `name`, or but on Windows the folder, is that came with us: in the folder of the file that this code was loaded from,
 * or, but on Windows, in the folder `weft` in that one, which distributions keep such files in, or in `lib` or the folder of libraries
 * beside that folder. False where there is none. The file is that of libweft or
 * of the Python module, or, with a static libweft, the program's. Neither the current folder nor the environment counts, where others
 * may have put one; nor does another folder than ours to which somebody may write who may not write to ours, nor in a sticky folder a
 * file that is neither this user's nor the administrator's.
 */
bool weft_library_beside(char *path, size_t size, const char *name);

#endif
