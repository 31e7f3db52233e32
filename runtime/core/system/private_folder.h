/* SPDX-License-Identifier: MIT */
/*
 * A folder that nobody but this user and the administrator can have filled, and the files in it, by name:
 * private_folder_posix.c, private_folder_windows.c. What is checked is what was opened: names may change meanwhile.
 *
 * Trusted is what belongs to this user or to the administrator (POSIX: the effective user id, or root; Windows: the user of
 * this process's token, Administrators or SYSTEM) and what nobody else may write to: neither by mode, which covers lists of
 * access, nor on Windows by the list of access. For root only what is root's is trusted. The last part of the path must be a
 * folder itself: a link there may be anybody's. Folders above it may be links, and anybody's: who moves things there can lead
 * to another folder of this user, and to no other.
 *
 * Results are 0 or a value of errno.h; with EPERM, `distrust` says what is not as it must be.
 */
#ifndef WEFT_CORE_PRIVATE_FOLDER_H
#define WEFT_CORE_PRIVATE_FOLDER_H

#include "core/system/system.h"

#define WEFT_DISTRUST_SIZE 256

struct weft_private_folder {
    intptr_t handle;
    const char *path;           /* the caller's */
    bool is_shipped;            /* weft_private_open_shipped, in a folder with these: */
    uint32_t user, group, mode; /* POSIX's */
};

/** `path` must not end in a separator. */
int weft_private_open(struct weft_private_folder *folder, const char *path,
                      char distrust[WEFT_DISTRUST_SIZE]);
/**
 * One that lies beside a program or library that runs already, and is only read. Trusted is then also what has the owner and the group of the
 * folder that both are in, where nobody may write to it who may not write there: he could replace the program as well. So it is for users whose files
 * their own group may write to. Not where that folder is sticky, as /tmp is; on Windows ENOENT: no release has one.
 */
int weft_private_open_shipped(struct weft_private_folder *folder, const char *path,
                              char distrust[WEFT_DISTRUST_SIZE]);
void weft_private_close(struct weft_private_folder *folder);

/** For reading: a regular file that is trusted and no link. */
int weft_private_read(int *file, const struct weft_private_folder *folder, const char *name,
                      char distrust[WEFT_DISTRUST_SIZE]);
/** A new file, which only this user may read and write, whatever the umask. EEXIST where there is something of that name. */
int weft_private_create(int *file, const struct weft_private_folder *folder, const char *name);
/** Replaces a file of the name `to`. */
int weft_private_rename(const struct weft_private_folder *folder, const char *from, const char *to);
int weft_private_remove(const struct weft_private_folder *folder, const char *name);
/** Facts about the entry itself, even if it is a link. */
int weft_private_facts(weft_file_facts *facts, const struct weft_private_folder *folder,
                       const char *name);
/** The names of all entries but . and .., until `take` gives false. */
int weft_private_list(const struct weft_private_folder *folder,
                      bool (*take)(void *user, const char *name), void *user);
/** Sets the time at which an open file was changed to now. */
int weft_private_touch(int file);

#endif
