/* SPDX-License-Identifier: MIT */
/*
 * Functions of the operating system for files: system_posix.c, system_windows.c. core/system/file.h is built on them.
 * Paths and names are UTF-8. Results are 0 or a value of errno.h unless documented otherwise.
 */
#ifndef WEFT_CORE_SYSTEM_H
#define WEFT_CORE_SYSTEM_H

#include <stdio.h>

#include "core/host.h"

#define WEFT_SYSTEM_PATH_SIZE 16384u /* bytes of a path that the system gives back, with its end */

typedef enum weft_file_kind { WEFT_FILE_REGULAR, WEFT_FILE_FOLDER, WEFT_FILE_OTHER } weft_file_kind;

typedef struct weft_file_facts {
    weft_file_kind kind;
    uint64_t size;
    int64_t changed;         /* when its bytes were, in nanoseconds since 1970 */
    uint64_t volume, number; /* both the same: the same file, as long as it is open somewhere */
} weft_file_facts;

typedef enum weft_open_how {
    WEFT_OPEN_READ,
    WEFT_OPEN_READ_AT_ONCE, /* without waiting for the writer of a FIFO; for regular files the same */
    WEFT_OPEN_WRITE,        /* what is there, such as a device */
    WEFT_OPEN_CREATE,       /* a new file; EEXIST where there is something of that name */
} weft_open_how;

int weft_system_open(int *file, const char *path, weft_open_how how);
/** Closes it in any case. */
int weft_system_close(int file);
/** At most `size` bytes; *count is 0 at the end of the file. */
int weft_system_read(size_t *count, int file, void *data, size_t size);
/** Reads a regular file from an offset on. Several threads may read at once. */
int weft_system_read_at(size_t *count, int file, void *data, size_t size, uint64_t offset);
/** At most `size` bytes, at least one. No signal comes of it: EFBIG above the limit of files, EPIPE where nobody reads. */
int weft_system_write(size_t *count, int file, const void *data, size_t size);
/** Where the next bytes are written. */
int weft_system_seek(int file, uint64_t offset);
/** Cuts a regular file off behind so many bytes. */
int weft_system_resize(int file, uint64_t size);
/** Until the device has it. */
int weft_system_sync(int file);
int weft_system_facts_of(weft_file_facts *facts, int file);
/** Facts about a file; follows a symbolic link. */
int weft_system_facts(weft_file_facts *facts, const char *path);

/** Makes a path independent of the working folder. Symbolic links are not resolved, and nothing needs to exist there. */
int weft_system_absolute(char absolute[WEFT_SYSTEM_PATH_SIZE], const char *path);
/** The file that symbolic links lead to. */
int weft_system_resolve(char target[WEFT_SYSTEM_PATH_SIZE], const char *path);
/** Replaces a file of the name `to`. */
int weft_system_rename(const char *from, const char *to);
int weft_system_remove(const char *path);

typedef enum weft_folder_for {
    WEFT_FOLDER_FOR_ALL,    /* as the umask, on Windows the folder above, will have it */
    WEFT_FOLDER_FOR_MYSELF, /* nobody but this user and the administrator may look into it */
} weft_folder_for;

/** Its parent must exist. EEXIST where there is something of that name. */
int weft_system_make_folder(const char *path, weft_folder_for whom);
/** The names of all entries of a folder but . and .., until `take` gives false. */
int weft_system_list(const char *path, bool (*take)(void *user, const char *name), void *user);

/** For reading bytes; null with errno. */
FILE *weft_system_stream(const char *path);

/** True if the letter stands between the parts of a path: '/', on Windows '\\' as well. */
bool weft_system_is_separator(char letter);
/** How many bytes at the start of a path name no folder that could be made: "/", "C:/". */
size_t weft_system_root_length(const char *path);

/** Meaning of an errno value, one line without a newline. */
void weft_system_error_text(char *text, size_t size, int error);
/** Number of this process, for names that other processes do not take. */
unsigned long weft_system_process(void);
/** False where no process of that number is to be seen; one of another container may be there all the same. */
bool weft_system_process_lives(unsigned long process);
/** False where no device file of a GPU's driver is to be seen; true on systems that have none of these. */
bool weft_system_may_have_gpu(void);
/** Now, as weft_file_facts.changed has it. */
int64_t weft_system_now(void);
/** At most 256 bytes that nobody else knows: keys of tables whose contents are somebody else's. */
void weft_system_random(void *bytes, size_t size);
/** The folder below which Weft keeps what it caches, in host memory; null where the environment names none, and out of memory. */
char *weft_system_cache_folder(const weft_host *host);

#endif
