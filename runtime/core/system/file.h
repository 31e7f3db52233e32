/* SPDX-License-Identifier: MIT */
/* Files: opening, reading (file.c), and writing beside and renaming so that a reader never sees half a file. */
#ifndef WEFT_CORE_FILE_H
#define WEFT_CORE_FILE_H

#include "core/host.h"

/**
 * Opens a regular file for weft_system_read and weft_system_close, and gives its size. Errors: WEFT_NOT_FOUND, WEFT_IO_ERROR; both
 * are logged with the path. *file is -1 on failure.
 */
weft_status weft_file_open(int *file, uint64_t *size, const char *path, const weft_host *host);

/** The next `size` bytes of an open file. Errors: WEFT_BAD_FILE when it ends before, WEFT_IO_ERROR. */
weft_status weft_file_read_some(int file, void *data, size_t size, const char *path,
                                const weft_host *host);

/** Reads a whole file of at most `limit` bytes into host memory with a zero byte behind it. */
weft_status weft_file_read(uint8_t **data, size_t *size, size_t limit, const char *path,
                           const weft_host *host);

/** Reads a regular file; fails on a FIFO instead of waiting for its writer. */
weft_status weft_file_read_regular(uint8_t **data, size_t *size, size_t limit, const char *path,
                                   const weft_host *host);

/** Reads an open file, which it leaves open; `path` is for messages. */
weft_status weft_file_read_open(uint8_t **data, size_t *size, size_t limit, int file,
                                const char *path, const weft_host *host);

/** Logs what a value of errno.h says about a path. Returns WEFT_NOT_FOUND, else WEFT_IO_ERROR. */
weft_status weft_file_fail(const weft_host *host, int error, const char *action, const char *path);

/* ---- writing: new_file.c ---- */

/** "NAME.PROCESS-SALT.tmp" in host memory, or null: a name beside `name` that no other process takes; attempts differ. */
char *weft_name_beside(const char *name, int attempt, const weft_host *host);
#define WEFT_NAME_ATTEMPTS 100

/** True if `end`, the end of a name, makes it one of weft_name_beside; tells of which process. */
bool weft_is_name_beside(unsigned long *process, const char *end);

/** Writes everything into a new file, syncs and closes it. 0 or a value of errno.h. */
int weft_file_fill(int file, const void *data, size_t size);

/**
 * Writes to a new file in the same folder, syncs it and renames it over `path`, or what its links lead to. On failure that is as it
 * was. Owner, group and mode stay those of the old file (core/system/beside.h). Devices, pipes and /dev/stdout are written into.
 */
weft_status weft_file_write(const char *path, const void *data, size_t size, const weft_host *host);

/**
 * A file that is written piece by piece beside the one that it will replace. Create it, add to it, finish it, place it; drop it in
 * any case, which removes what has not been placed. Creating one removes what earlier ones of the same name have left, whose
 * process was ended.
 */
struct weft_new_file {
    int file;     /* open until it is placed, as nobody else removes it then; or -1 */
    char *name;   /* in host memory; null: placed, or not created */
    char *target; /* in host memory */
};

weft_status weft_new_file_create(struct weft_new_file *made, const char *path,
                                 const weft_host *host);
weft_status weft_new_file_add(struct weft_new_file *made, const void *data, size_t size,
                              const weft_host *host);
/** Syncs it. */
weft_status weft_new_file_finish(struct weft_new_file *made, const weft_host *host);
/** Renames it over its target, and closes it. */
weft_status weft_new_file_place(struct weft_new_file *made, const weft_host *host);
void weft_new_file_drop(struct weft_new_file *made, const weft_host *host);

/* ---- folders ---- */

/** Makes a folder and its parents. An existing folder is fine. */
weft_status weft_make_folders(const char *path, const weft_host *host);
/** As weft_make_folders; new folders are for this user alone. */
weft_status weft_make_private_folders(const char *path, const weft_host *host);

/** "folder/name" in host memory, or null. */
char *weft_path_join(const char *folder, const char *name, const weft_host *host);

#endif
