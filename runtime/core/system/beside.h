/* SPDX-License-Identifier: MIT */
/*
 * Functions of the operating system for files that are written beside the file that they will replace:
 * beside_posix.c, beside_windows.c. core/system/file.h uses them. Results are 0 or a value of errno.h unless
 * documented otherwise.
 */
#ifndef WEFT_CORE_BESIDE_H
#define WEFT_CORE_BESIDE_H

#include "core/system/system.h"

/**
 * Creates the file `name`, which will be renamed to `path`. Where there is a file of that path, the new one gets its owner, group and
 * mode before anything is in it, as far as this user may give them away; never may anybody read it who could not read the old one.
 * Elsewhere it has what the umask, on Windows the folder, gives to every new file. EEXIST: try another name.
 *
 * While it is open it is held: a lock, which ends with the process, however that ends, tells the others that it is being written.
 */
int weft_beside_create(int *file, const char *name, const char *path);

/** Removes such a file where nobody holds it any more: who wrote it has ended before it was renamed. */
void weft_beside_remove_left(const char *name);

/** Final target of `path` if it is a symbolic link, even if the target does not exist. */
int weft_beside_target(char target[WEFT_SYSTEM_PATH_SIZE], const char *path);

/** The descriptor of this process that the path is a name of, such as /dev/stdout; else -1. */
int weft_beside_own_descriptor(const char *path);

/** A descriptor of the same open file for weft_system_write and weft_system_close. */
int weft_beside_duplicate(int *file, int of);

/* ---- one writer at a time ---- */

#define WEFT_BESIDE_LOCK_TRIES 3000 /* with 10 ms between them */

/**
 * Waits until nobody else holds the lock of that name, an empty file that is there while it is held, and takes it. EWOULDBLOCK when
 * half a minute was not enough; ENOLCK where the file system has no locks. It ends with the process, too.
 */
int weft_beside_lock(int *lock, const char *name);
/** Removes the file and lets the next one have it. */
void weft_beside_unlock(int lock, const char *name);

#endif
