/* SPDX-License-Identifier: MIT */
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700 /* S_ISVTX */
#endif
#ifndef _FILE_OFFSET_BITS
#define _FILE_OFFSET_BITS 64
#endif
#ifdef __APPLE__
#define _DARWIN_C_SOURCE /* O_NOFOLLOW */
#endif

#include "core/system/private_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "core/system/system_posix.h"

#define OTHERS_WRITE (S_IWGRP | S_IWOTH)

/* True for the error of openat on a link that it does not follow; the BSDs have a value of their own. */
static bool is_link_error(int error) {
    return error == ELOOP || error == EMLINK;
}

/* weft_private_open_shipped. */
static bool is_as_trusted(const struct stat *found, const struct weft_private_folder *folder) {
    return folder->is_shipped && found->st_uid == folder->user && found->st_gid == folder->group &&
           (folder->mode & S_ISVTX) == 0 &&
           ((unsigned)found->st_mode & OTHERS_WRITE & ~folder->mode) == 0;
}

static int check(const struct stat *found, const struct weft_private_folder *folder,
                 char distrust[WEFT_DISTRUST_SIZE]) {
    const uid_t user = geteuid();
    if (is_as_trusted(found, folder)) {
        return 0;
    }
    if (found->st_uid != user && found->st_uid != 0) {
        snprintf(distrust, WEFT_DISTRUST_SIZE, "it belongs to user %lu; expected %lu%s",
                 (unsigned long)found->st_uid, (unsigned long)user,
                 user == 0 ? "" : ", the current user, or 0");
        return EPERM;
    }
    if ((found->st_mode & OTHERS_WRITE) != 0) {
        const unsigned mode = (unsigned)found->st_mode & 07777U;
        snprintf(distrust, WEFT_DISTRUST_SIZE,
                 "users other than its owner, user %lu, may write to it: its mode is %04o; "
                 "expected %04o",
                 (unsigned long)found->st_uid, mode, mode & 0755U);
        return EPERM;
    }
    return 0;
}

static bool is_link(const char *path) {
    struct stat found;
    return lstat(path, &found) == 0 && S_ISLNK(found.st_mode);
}

/* Reads facts about the parent of an open folder. */
static int look_around(struct weft_private_folder *folder, int file) {
    struct stat around;
    if (fstatat(file, "..", &around, 0) != 0) {
        return errno;
    }
    folder->user = (uint32_t)around.st_uid;
    folder->group = (uint32_t)around.st_gid;
    folder->mode = (uint32_t)around.st_mode;
    return 0;
}

static int open_folder(struct weft_private_folder *folder, const char *path,
                       char distrust[WEFT_DISTRUST_SIZE]) {
    int file = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (file < 0) {
        /* If both flags fail, systems report different errors. */
        const int error = errno;
        if ((error == ENOTDIR || is_link_error(error)) && is_link(path)) {
            snprintf(distrust, WEFT_DISTRUST_SIZE,
                     "it is a symbolic link; expected the folder itself");
            return EPERM;
        }
        return error;
    }
    struct stat found;
    int error = weft_posix_lift(&file);
    if (error != 0) {
        return error;
    }
    error = folder->is_shipped ? look_around(folder, file) : 0;
    error = error == 0 && fstat(file, &found) != 0 ? errno : error;
    error = error == 0 ? check(&found, folder, distrust) : error;
    if (error != 0) {
        close(file);
        return error;
    }
    folder->handle = file;
    folder->path = path;
    return 0;
}

int weft_private_open(struct weft_private_folder *folder, const char *path,
                      char distrust[WEFT_DISTRUST_SIZE]) {
    *folder = (struct weft_private_folder){.is_shipped = false};
    return open_folder(folder, path, distrust);
}

int weft_private_open_shipped(struct weft_private_folder *folder, const char *path,
                              char distrust[WEFT_DISTRUST_SIZE]) {
    *folder = (struct weft_private_folder){.is_shipped = true};
    return open_folder(folder, path, distrust);
}

void weft_private_close(struct weft_private_folder *folder) {
    close((int)folder->handle);
}

int weft_private_read(int *file, const struct weft_private_folder *folder, const char *name,
                      char distrust[WEFT_DISTRUST_SIZE]) {
    struct stat found;
    /* Without waiting: a FIFO has perhaps no writer. */
    int opened = openat((int)folder->handle, name,
                        O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (opened < 0) {
        if (!is_link_error(errno)) {
            return errno;
        }
        snprintf(distrust, WEFT_DISTRUST_SIZE, "it is a symbolic link; expected a regular file");
        return EPERM;
    }
    int error = weft_posix_lift(&opened);
    if (error != 0) {
        return error;
    }
    error = fstat(opened, &found) != 0 ? errno : 0;
    if (error == 0 && !S_ISREG(found.st_mode)) {
        snprintf(distrust, WEFT_DISTRUST_SIZE, "it is not a regular file");
        error = EPERM;
    }
    error = error != 0 ? error : check(&found, folder, distrust);
    if (error != 0) {
        close(opened);
        return error;
    }
    *file = opened;
    return 0;
}

int weft_private_create(int *file, const struct weft_private_folder *folder, const char *name) {
    int created =
        openat((int)folder->handle, name,
               O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC, S_IRUSR | S_IWUSR);
    const int error = created < 0 ? errno : weft_posix_lift(&created);
    if (error != 0) {
        return error;
    }
    /* The umask may have taken the owner's own rights. Where there are no modes, this fails and matters not. */
    (void)fchmod(created, S_IRUSR | S_IWUSR);
    *file = created;
    return 0;
}

int weft_private_rename(const struct weft_private_folder *folder, const char *from,
                        const char *to) {
    const int at = (int)folder->handle;
    return renameat(at, from, at, to) == 0 ? 0 : errno;
}

int weft_private_remove(const struct weft_private_folder *folder, const char *name) {
    return unlinkat((int)folder->handle, name, 0) == 0 ? 0 : errno;
}

int weft_private_facts(weft_file_facts *facts, const struct weft_private_folder *folder,
                       const char *name) {
    struct stat found;
    if (fstatat((int)folder->handle, name, &found, AT_SYMLINK_NOFOLLOW) != 0) {
        return errno;
    }
    *facts = weft_system_facts_from(&found);
    return 0;
}

int weft_private_list(const struct weft_private_folder *folder,
                      bool (*take)(void *user, const char *name), void *user) {
    const int file =
        openat((int)folder->handle, ".", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return file < 0 ? errno : weft_system_list_open(file, take, user);
}

int weft_private_touch(int file) {
    return futimens(file, NULL) == 0 ? 0 : errno;
}
