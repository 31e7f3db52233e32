/* SPDX-License-Identifier: MIT */
#ifndef _WIN32_WINNT
#define _WIN32_WINNT 0x0A00 /* Windows 10 */
#endif
#define WIN32_LEAN_AND_MEAN
#define _CRT_RAND_S /* rand_s */
#include "core/system/system.h"

#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>
#include <windows.h>

#include "core/system/file.h"
#include "core/system/system_windows.h"

#define SINGLE_IO_SIZE ((size_t)1 << 30) /* the C library counts in int */
#define SHORT_PATH \
    240 /* letters; from about here on Windows wants the form that begins with \\?\ */
#define LONG_PREFIX L"\\\\?\\"
#define RENAME_TRIES \
    20 /* 5 ms apart: somebody who looks at a file, such as a scanner, keeps it from being replaced */
#define RENAME_WAIT_MS 5

/* ---- errors ---- */

static int errno_of(DWORD error) {
    switch (error) {
    case ERROR_FILE_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND:
    case ERROR_INVALID_DRIVE:
    case ERROR_BAD_NETPATH:
    case ERROR_BAD_NET_NAME:
    case ERROR_INVALID_NAME:
        return ENOENT;
    case ERROR_ALREADY_EXISTS:
    case ERROR_FILE_EXISTS:
        return EEXIST;
    case ERROR_ACCESS_DENIED:
    case ERROR_SHARING_VIOLATION:
    case ERROR_LOCK_VIOLATION:
    case ERROR_WRITE_PROTECT:
    case ERROR_USER_MAPPED_FILE:
        return EACCES;
    case ERROR_DIRECTORY:
        return ENOTDIR;
    case ERROR_DIR_NOT_EMPTY:
        return ENOTEMPTY;
    case ERROR_NOT_ENOUGH_MEMORY:
    case ERROR_OUTOFMEMORY:
    case ERROR_COMMITMENT_LIMIT:
        return ENOMEM;
    case ERROR_DISK_FULL:
    case ERROR_HANDLE_DISK_FULL:
        return ENOSPC;
    case ERROR_BROKEN_PIPE:
    case ERROR_NO_DATA:
        return EPIPE;
    case ERROR_TOO_MANY_OPEN_FILES:
        return EMFILE;
    case ERROR_FILENAME_EXCED_RANGE:
        return ENAMETOOLONG;
    default:
        return EIO;
    }
}

int weft_windows_last_error(void) {
    return errno_of(GetLastError());
}

void weft_system_error_text(char *text, size_t size, int error) {
    if (strerror_s(text, size, error) != 0) {
        snprintf(text, size, "error %d", error);
    }
}

/* ---- paths ---- */

bool weft_system_is_separator(char letter) {
    return letter == '/' || letter == '\\';
}

static bool has_drive(const char *path) {
    const char letter = (char)(path[0] | 0x20);
    return letter >= 'a' && letter <= 'z' && path[1] == ':';
}

static bool is_network(const char *path) {
    return weft_system_is_separator(path[0]) && weft_system_is_separator(path[1]);
}

/* "C:/", "C:", "\", and of "\\server\share\folder" all before the folder. */
size_t weft_system_root_length(const char *path) {
    if (has_drive(path)) {
        return weft_system_is_separator(path[2]) ? 3 : 2;
    }
    if (!is_network(path)) {
        return weft_system_is_separator(path[0]) ? 1 : 0;
    }
    size_t length = 2;
    for (int part = 0; part < 2; part++) {
        length += strcspn(path + length, "/\\");
        length += path[length] != '\0' ? 1 : 0;
    }
    return length;
}

/* True if it means the same from whatever folder. */
static bool is_absolute(const char *path) {
    return (has_drive(path) && weft_system_is_separator(path[2])) || is_network(path);
}

int weft_windows_widen(wchar_t wide[WEFT_WIDE_SIZE], const char *path) {
    wchar_t plain[WEFT_WIDE_SIZE];
    const int length =
        MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, plain, WEFT_WIDE_SIZE);
    if (length <= 1) {
        return path[0] == '\0'                               ? ENOENT
               : GetLastError() == ERROR_INSUFFICIENT_BUFFER ? ENAMETOOLONG
                                                             : EILSEQ;
    }
    if (length < SHORT_PATH || wcsncmp(plain, LONG_PREFIX, 4) == 0) {
        memcpy(wide, plain, (size_t)length * sizeof *plain);
        return 0;
    }
    /* Such paths are absolute and have no other separators than \. */
    const bool network = is_network(path);
    const wchar_t *const prefix = network ? LONG_PREFIX L"UNC" : LONG_PREFIX;
    const size_t before = network ? 7 : 4, after = network ? 1 : 0;
    wchar_t full[WEFT_WIDE_SIZE];
    const DWORD size = GetFullPathNameW(plain, WEFT_WIDE_SIZE, full, NULL);
    if (size == 0 || size + before >= WEFT_WIDE_SIZE) {
        return size == 0 ? weft_windows_last_error() : ENAMETOOLONG;
    }
    memcpy(wide, prefix, before * sizeof *wide);
    memcpy(wide + before, full + after, (size - after + 1) * sizeof *wide);
    return 0;
}

/* 0 or an errno value. */
static int narrow(char *text, size_t size, const wchar_t *wide) {
    const int length =
        WideCharToMultiByte(CP_UTF8, WC_ERR_INVALID_CHARS, wide, -1, text, (int)size, NULL, NULL);
    return length > 0 ? 0 : GetLastError() == ERROR_INSUFFICIENT_BUFFER ? ENAMETOOLONG : EILSEQ;
}

/* ---- facts ---- */

#define UNIX_EPOCH \
    INT64_C(116444736000000000) /* in units of 100 ns since 1601, as Windows counts */

static int64_t nanoseconds(FILETIME time) {
    const uint64_t count = (uint64_t)time.dwHighDateTime << 32 | time.dwLowDateTime;
    return ((int64_t)count - UNIX_EPOCH) * 100;
}

int weft_windows_facts(weft_file_facts *facts, HANDLE handle) {
    BY_HANDLE_FILE_INFORMATION information;
    if (GetFileType(handle) != FILE_TYPE_DISK) {
        *facts = (weft_file_facts){.kind = WEFT_FILE_OTHER};
        return 0;
    }
    if (!GetFileInformationByHandle(handle, &information)) {
        return weft_windows_last_error();
    }
    const bool folder = (information.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) != 0;
    *facts = (weft_file_facts){
        .kind = folder ? WEFT_FILE_FOLDER : WEFT_FILE_REGULAR,
        .size = (uint64_t)information.nFileSizeHigh << 32 | information.nFileSizeLow,
        .changed = nanoseconds(information.ftLastWriteTime),
        .volume = information.dwVolumeSerialNumber,
        .number = (uint64_t)information.nFileIndexHigh << 32 | information.nFileIndexLow};
    return 0;
}

HANDLE weft_windows_handle(int file) {
    return (HANDLE)_get_osfhandle(file);
}

int weft_system_facts_of(weft_file_facts *facts, int file) {
    return weft_windows_facts(facts, weft_windows_handle(file));
}

/* For looking at what is there, folders included. Null with *error. */
static HANDLE open_to_look(int *error, const char *path) {
    wchar_t wide[WEFT_WIDE_SIZE];
    *error = weft_windows_widen(wide, path);
    if (*error != 0) {
        return NULL;
    }
    HANDLE handle = CreateFileW(wide, FILE_READ_ATTRIBUTES,
                                FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL,
                                OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, NULL);
    *error = handle == INVALID_HANDLE_VALUE ? weft_windows_last_error() : 0;
    return handle == INVALID_HANDLE_VALUE ? NULL : handle;
}

int weft_system_facts(weft_file_facts *facts, const char *path) {
    int error = 0;
    HANDLE handle = open_to_look(&error, path);
    if (handle) {
        error = weft_windows_facts(facts, handle);
        CloseHandle(handle);
    }
    return error;
}

/* The path without what stands before a long one: it is for people, too, and put there again where it is needed. */
static const wchar_t *without_prefix(wchar_t *wide) {
    if (wcsncmp(wide, LONG_PREFIX L"UNC\\", 8) == 0) {
        wide[6] = L'\\';
        return wide + 6;
    }
    return wcsncmp(wide, LONG_PREFIX, 4) == 0 ? wide + 4 : wide;
}

int weft_system_absolute(char absolute[WEFT_SYSTEM_PATH_SIZE], const char *path) {
    wchar_t wide[WEFT_WIDE_SIZE], full[WEFT_WIDE_SIZE];
    int error = weft_windows_widen(wide, path);
    if (error != 0) {
        return error;
    }
    const DWORD size = GetFullPathNameW(wide, WEFT_WIDE_SIZE, full, NULL);
    error = size == 0 ? weft_windows_last_error() : size >= WEFT_WIDE_SIZE ? ENAMETOOLONG : 0;
    return error != 0 ? error : narrow(absolute, WEFT_SYSTEM_PATH_SIZE, without_prefix(full));
}

int weft_system_resolve(char target[WEFT_SYSTEM_PATH_SIZE], const char *path) {
    wchar_t wide[WEFT_WIDE_SIZE];
    int error = weft_windows_widen(wide, path);
    const DWORD attributes = error == 0 ? GetFileAttributesW(wide) : 0;
    if (error == 0 && (attributes & FILE_ATTRIBUTE_REPARSE_POINT) == 0) {
        /* Folders on the way to it may be links. */
        return snprintf(target, WEFT_SYSTEM_PATH_SIZE, "%s", path) < (int)WEFT_SYSTEM_PATH_SIZE
                   ? 0
                   : ENAMETOOLONG;
    }
    HANDLE handle = error == 0 ? open_to_look(&error, path) : NULL;
    if (!handle) {
        return error;
    }
    const DWORD size =
        GetFinalPathNameByHandleW(handle, wide, WEFT_WIDE_SIZE, FILE_NAME_NORMALIZED);
    error = size == 0 ? weft_windows_last_error() : size >= WEFT_WIDE_SIZE ? ENAMETOOLONG : 0;
    CloseHandle(handle);
    return error != 0 ? error : narrow(target, WEFT_SYSTEM_PATH_SIZE, without_prefix(wide));
}

/* ---- reading and writing ---- */

/* A folder can be opened, and then not be read. */
static int check_opened(HANDLE handle, weft_open_how how) {
    weft_file_facts facts;
    const int error = weft_windows_facts(&facts, handle);
    return error == 0 && how == WEFT_OPEN_READ && facts.kind == WEFT_FILE_FOLDER ? EISDIR : error;
}

int weft_windows_file(int *file, HANDLE handle, bool reads) {
    *file = _open_osfhandle((intptr_t)handle,
                            (reads ? _O_RDONLY : _O_WRONLY) | _O_BINARY | _O_NOINHERIT);
    if (*file < 0) {
        CloseHandle(handle);
        return EMFILE;
    }
    return 0;
}

int weft_system_open(int *file, const char *path, weft_open_how how) {
    wchar_t wide[WEFT_WIDE_SIZE];
    const bool reads = how == WEFT_OPEN_READ || how == WEFT_OPEN_READ_AT_ONCE;
    int error = weft_windows_widen(wide, path);
    if (error != 0) {
        return error;
    }
    /* Shared in every way, so that a file can be replaced while it is read. */
    HANDLE handle =
        CreateFileW(wide, reads ? GENERIC_READ : GENERIC_WRITE,
                    FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL,
                    how == WEFT_OPEN_CREATE ? CREATE_NEW : OPEN_EXISTING,
                    FILE_ATTRIBUTE_NORMAL | (reads ? FILE_FLAG_BACKUP_SEMANTICS : 0), NULL);
    if (handle == INVALID_HANDLE_VALUE) {
        return weft_windows_last_error();
    }
    error = check_opened(handle, how);
    if (error != 0) {
        CloseHandle(handle);
        return error;
    }
    return weft_windows_file(file, handle, reads);
}

int weft_system_close(int file) {
    return _close(file) == 0 ? 0 : errno;
}

int weft_system_read(size_t *count, int file, void *data, size_t size) {
    const int done = _read(file, data, (unsigned)(size < SINGLE_IO_SIZE ? size : SINGLE_IO_SIZE));
    *count = done > 0 ? (size_t)done : 0;
    return done < 0 ? errno : 0;
}

int weft_system_read_at(size_t *count, int file, void *data, size_t size, uint64_t offset) {
    OVERLAPPED place = {.Offset = (DWORD)offset, .OffsetHigh = (DWORD)(offset >> 32)};
    DWORD done = 0;
    const bool read =
        ReadFile(weft_windows_handle(file), data,
                 (DWORD)(size < SINGLE_IO_SIZE ? size : SINGLE_IO_SIZE), &done, &place);
    *count = done;
    return read || GetLastError() == ERROR_HANDLE_EOF ? 0 : weft_windows_last_error();
}

int weft_system_write(size_t *count, int file, const void *data, size_t size) {
    const int done = _write(file, data, (unsigned)(size < SINGLE_IO_SIZE ? size : SINGLE_IO_SIZE));
    *count = done > 0 ? (size_t)done : 0;
    return done > 0 ? 0 : done < 0 ? errno : EIO;
}

int weft_system_seek(int file, uint64_t offset) {
    return _lseeki64(file, (__int64)offset, SEEK_SET) < 0 ? errno : 0;
}

int weft_system_resize(int file, uint64_t size) {
    return _chsize_s(file, (__int64)size);
}

int weft_system_sync(int file) {
    return _commit(file) == 0 ? 0 : errno;
}

FILE *weft_system_stream(const char *path) {
    wchar_t wide[WEFT_WIDE_SIZE];
    const int error = weft_windows_widen(wide, path);
    if (error != 0) {
        errno = error;
        return NULL;
    }
    return _wfopen(wide, L"rb");
}

/* ---- folders and names ---- */

int weft_system_rename(const char *from, const char *to) {
    wchar_t wide_from[WEFT_WIDE_SIZE], wide_to[WEFT_WIDE_SIZE];
    int error = weft_windows_widen(wide_from, from);
    error = error != 0 ? error : weft_windows_widen(wide_to, to);
    for (int attempt = 0; error == 0; attempt++) {
        if (MoveFileExW(wide_from, wide_to, MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH)) {
            return 0;
        }
        const int reason = weft_windows_last_error();
        error = reason != EACCES || attempt + 1 >= RENAME_TRIES ? reason : 0;
        if (error == 0) {
            Sleep(RENAME_WAIT_MS);
        }
    }
    return error;
}

int weft_system_remove(const char *path) {
    wchar_t wide[WEFT_WIDE_SIZE];
    const int error = weft_windows_widen(wide, path);
    if (error != 0) {
        return error;
    }
    const DWORD attributes = GetFileAttributesW(wide);
    if (attributes == INVALID_FILE_ATTRIBUTES) {
        return weft_windows_last_error();
    }
    const bool folder = (attributes & FILE_ATTRIBUTE_DIRECTORY) != 0;
    return (folder ? RemoveDirectoryW(wide) : DeleteFileW(wide)) ? 0 : weft_windows_last_error();
}

int weft_system_make_folder(const char *path, weft_folder_for whom) {
    wchar_t wide[WEFT_WIDE_SIZE];
    SECURITY_ATTRIBUTES attributes = {.nLength = sizeof attributes}; /* those of the folder above */
    int error = weft_windows_widen(wide, path);
    if (error == 0 && whom == WEFT_FOLDER_FOR_MYSELF) {
        error = weft_windows_private_attributes(&attributes);
    }
    if (error == 0 && !CreateDirectoryW(wide, &attributes)) {
        error = weft_windows_last_error();
    }
    weft_windows_free_attributes(&attributes);
    return error;
}

/* Calls `take` for each entry but . and .., as long as it gives true; 0 or an errno value. */
static int list_entries(HANDLE search, WIN32_FIND_DATAW *entry,
                        bool (*take)(void *user, const char *name), void *user) {
    do {
        char name[4 * MAX_PATH]; /* MAX_PATH letters, each of at most three bytes */
        const int error = narrow(name, sizeof name, entry->cFileName);
        if (error != 0) {
            return error;
        }
        if (strcmp(name, ".") != 0 && strcmp(name, "..") != 0 && !take(user, name)) {
            return 0;
        }
    } while (FindNextFileW(search, entry));
    return GetLastError() == ERROR_NO_MORE_FILES ? 0 : weft_windows_last_error();
}

int weft_system_list(const char *path, bool (*take)(void *user, const char *name), void *user) {
    char *pattern = weft_path_join(path, "*", NULL);
    if (!pattern) {
        return ENOMEM;
    }
    wchar_t wide[WEFT_WIDE_SIZE];
    int error = weft_windows_widen(wide, pattern);
    weft_free(NULL, pattern);
    if (error != 0) {
        return error;
    }
    WIN32_FIND_DATAW entry;
    HANDLE search = FindFirstFileW(wide, &entry);
    if (search == INVALID_HANDLE_VALUE) {
        return weft_windows_last_error();
    }
    error = list_entries(search, &entry, take, user);
    FindClose(search);
    return error;
}

/* ---- the process ---- */

unsigned long weft_system_process(void) {
    return GetCurrentProcessId();
}

bool weft_system_process_lives(unsigned long process) {
    HANDLE handle = OpenProcess(SYNCHRONIZE, FALSE, process);
    if (!handle) {
        return GetLastError() == ERROR_ACCESS_DENIED;
    }
    const bool lives = WaitForSingleObject(handle, 0) == WAIT_TIMEOUT;
    CloseHandle(handle);
    return lives;
}

bool weft_system_may_have_gpu(void) {
    return true;
}

int64_t weft_system_now(void) {
    FILETIME now;
    GetSystemTimeAsFileTime(&now);
    return nanoseconds(now);
}

void weft_system_random(void *bytes, size_t size) {
    for (size_t i = 0; i < size; i++) {
        unsigned drawn = (unsigned)weft_system_now();
        (void)rand_s(&drawn);
        ((uint8_t *)bytes)[i] = (uint8_t)drawn;
    }
}

/* "folder/name" below the folder that a variable names, if it names an absolute one; else null. */
static char *below_variable(const wchar_t *variable, const char *name, const weft_host *host) {
    wchar_t wide[WEFT_WIDE_SIZE];
    char folder[WEFT_SYSTEM_PATH_SIZE];
    const DWORD length = GetEnvironmentVariableW(variable, wide, WEFT_WIDE_SIZE);
    if (length == 0 || length >= WEFT_WIDE_SIZE || narrow(folder, sizeof folder, wide) != 0 ||
        !is_absolute(folder)) {
        return NULL;
    }
    return weft_path_join(folder, name, host);
}

char *weft_system_cache_folder(const weft_host *host) {
    char *folder = below_variable(L"XDG_CACHE_HOME", "weft", host);
    return folder ? folder : below_variable(L"LOCALAPPDATA", "weft/cache", host);
}
