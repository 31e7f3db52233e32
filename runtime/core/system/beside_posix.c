/* SPDX-License-Identifier: MIT */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#ifndef _FILE_OFFSET_BITS
#define _FILE_OFFSET_BITS 64
#endif
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE /* flock */
#endif
#ifdef __APPLE__
#define _DARWIN_C_SOURCE /* O_NOFOLLOW */
#endif

#include "core/system/beside.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/xattr.h>
#endif

#include "core/system/system_posix.h"

#define MOST_LINKS 40 /* as Linux follows at most */
#define COMMON     (O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)

/* ---- rights ---- */

#ifdef __linux__
#define ACL      "system.posix_acl_access"
#define ACL_SIZE 4096

/* For a file with an access control list, the mode's group bits are the most that the list may grant. */
static ssize_t read_acl(char acl[ACL_SIZE], const char *path) {
    const ssize_t size = getxattr(path, ACL, acl, ACL_SIZE);
    return size < 0 && errno == ERANGE ? 0 : size;
}

static bool set_acl(int file, const char *acl, ssize_t size) {
    return size > 0 && fsetxattr(file, ACL, acl, (size_t)size, 0) == 0;
}
#else
#define ACL_SIZE 1

static ssize_t read_acl(char acl[ACL_SIZE], const char *path) {
    (void)acl;
    (void)path;
    return -1;
}

static bool set_acl(int file, const char *acl, ssize_t size) {
    (void)file;
    (void)acl;
    (void)size;
    return false;
}
#endif

/* The group first, as its bits are for the right one alone; the owner last, as others may not change the mode. */
static int take_rights(int file, const struct stat *old, const char *path) {
    char acl[ACL_SIZE];
    const ssize_t acl_size = read_acl(acl, path);
    struct stat made;
    if (fstat(file, &made) != 0) {
        return errno;
    }
    mode_t mode = old->st_mode & (S_IRWXU | S_IRWXG | S_IRWXO);
    const bool group_is_kept =
        made.st_gid == old->st_gid || fchown(file, (uid_t)-1, old->st_gid) == 0;
    if (!group_is_kept || acl_size >= 0) {
        mode &= ~(mode_t)S_IRWXG | (mode & S_IRWXO) << 3; /* at most what everybody may */
    }
    if (fchmod(file, mode) != 0 && (made.st_mode & ~mode & 0777) != 0) {
        return errno; /* where there are no modes it is right as it is */
    }
    if (group_is_kept && acl_size > 0) {
        (void)set_acl(file, acl, acl_size);
    }
    /* The administrator alone may: of anybody else it is their own now. */
    const int given = made.st_uid == old->st_uid ? 0 : fchown(file, old->st_uid, (gid_t)-1);
    (void)given;
    return 0;
}

/* ---- files ---- */

/*
 * On a file system without locks nobody takes the file for abandoned either. EEXIST: somebody took it before it was
 * locked.
 */
static int hold(int file) {
    struct stat made;
    if (flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        return EEXIST;
    }
    return fstat(file, &made) != 0 ? errno : made.st_nlink == 0 ? EEXIST : 0;
}

int weft_beside_create(int *file, const char *name, const char *path) {
    struct stat old;
    const bool replaces = stat(path, &old) == 0;
    const mode_t mode = replaces ? S_IRUSR | S_IWUSR : 0666;
    do {
        *file = open(name, O_WRONLY | O_CREAT | O_EXCL | COMMON, mode);
    } while (*file < 0 && errno == EINTR);
    int error = *file < 0 ? errno : weft_posix_lift(file);
    if (error != 0) {
        return error;
    }
    error = hold(*file);
    if (error == 0 && replaces) {
        error = take_rights(*file, &old, path);
        if (error != 0) {
            (void)unlink(name);
        }
    }
    if (error != 0) {
        (void)close(*file);
    }
    return error;
}

void weft_beside_remove_left(const char *name) {
    static const int ways[] = {
        O_RDWR, O_RDONLY}; /* of a network's files those alone can be locked that can be written */
    struct stat found;
    int file = -1;
    for (size_t i = 0; file < 0 && i < sizeof ways / sizeof ways[0]; i++) {
        file = open(name, ways[i] | COMMON);
    }
    if (file < 0 || weft_posix_lift(&file) != 0) {
        return;
    }
    if (fstat(file, &found) == 0 && S_ISREG(found.st_mode) && flock(file, LOCK_EX | LOCK_NB) == 0) {
        (void)unlink(name);
    }
    (void)close(file);
}

/* ---- what is meant ---- */

int weft_beside_own_descriptor(const char *path) {
    static const char *const names[] = {"/dev/stdin", "/dev/stdout", "/dev/stderr"};
    static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
    for (int i = 0; i < 3; i++) {
        if (strcmp(path, names[i]) == 0) {
            return i;
        }
    }
    for (int i = 0; i < 2; i++) {
        const size_t length = strlen(folders[i]);
        const char *number = path + length;
        if (strncmp(path, folders[i], length) == 0 && number[0] != '\0' && strlen(number) < 8 &&
            number[strspn(number, "0123456789")] == '\0') {
            return (int)strtoul(number, NULL, 10);
        }
    }
    return -1;
}

int weft_beside_duplicate(int *file, int of) {
    *file = fcntl(of, F_DUPFD_CLOEXEC, WEFT_POSIX_FIRST);
    return *file < 0 ? errno : 0;
}

/* Puts what a link has where its name stands. */
static int follow(char target[WEFT_SYSTEM_PATH_SIZE], const char *link, size_t size) {
    const char *last = strrchr(target, '/');
    const size_t kept = link[0] == '/' || !last ? 0 : (size_t)(last - target) + 1;
    if (kept + size >= WEFT_SYSTEM_PATH_SIZE) {
        return ENAMETOOLONG;
    }
    memcpy(target + kept, link, size);
    target[kept + size] = '\0';
    return 0;
}

int weft_beside_target(char target[WEFT_SYSTEM_PATH_SIZE], const char *path) {
    char link[4096]; /* Linux has none longer */
    const size_t length = strlen(path);
    if (length >= WEFT_SYSTEM_PATH_SIZE) {
        return ENAMETOOLONG;
    }
    memcpy(target, path, length + 1);
    for (int i = 0; i < MOST_LINKS && weft_beside_own_descriptor(target) < 0; i++) {
        const ssize_t size = readlink(target, link, sizeof link);
        if (size < 0) {
            return 0; /* no link, or nothing there */
        }
        const int error =
            (size_t)size == sizeof link ? ENAMETOOLONG : follow(target, link, (size_t)size);
        if (error != 0) {
            return error;
        }
    }
    return weft_beside_own_descriptor(target) < 0 ? ELOOP : 0;
}

/* ---- locks ---- */

/* EAGAIN: somebody has it, or has just removed the file. */
static int try_lock(int *lock, const char *name) {
    struct stat opened, found;
    *lock = open(name, O_RDWR | O_CREAT | COMMON, 0666);
    int error = *lock < 0 ? errno : weft_posix_lift(lock);
    if (error != 0) {
        return error;
    }
    if (flock(*lock, LOCK_EX | LOCK_NB) != 0) {
        error = errno == EWOULDBLOCK || errno == EINTR ? EAGAIN : ENOLCK;
    } else if (fstat(*lock, &opened) != 0 || stat(name, &found) != 0 ||
               opened.st_ino != found.st_ino || opened.st_dev != found.st_dev) {
        error = EAGAIN;
    }
    if (error == ENOLCK) {
        (void)unlink(name);
    }
    if (error != 0) {
        (void)close(*lock);
    }
    return error;
}

int weft_beside_lock(int *lock, const char *name) {
    static const struct timespec pause = {.tv_nsec = 10000000};
    for (int i = 0; i < WEFT_BESIDE_LOCK_TRIES; i++) {
        const int error = try_lock(lock, name);
        if (error != EAGAIN) {
            return error;
        }
        (void)nanosleep(&pause, NULL);
    }
    return EWOULDBLOCK;
}

void weft_beside_unlock(int lock, const char *name) {
    (void)unlink(name); /* before it is free, so that nobody's is removed */
    (void)close(lock);
}
