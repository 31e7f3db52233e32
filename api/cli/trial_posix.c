/* SPDX-License-Identifier: MIT */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include "trial.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli.h"

#define MOST_DEVICES 4096u

/* ---- what goes through the pipe: the status, the count, the devices ---- */

static bool write_all(int to, const void *data, size_t size) {
    for (const char *at = data; size > 0;) {
        const ssize_t written = write(to, at, size);
        if (written < 0 && errno != EINTR) {
            return false;
        }
        at += written > 0 ? written : 0;
        size -= written > 0 ? (size_t)written : 0;
    }
    return true;
}

static bool read_all(int from, void *data, size_t size) {
    for (char *at = data; size > 0;) {
        const ssize_t found = read(from, at, size);
        if (found == 0 || (found < 0 && errno != EINTR)) {
            return false;
        }
        at += found > 0 ? found : 0;
        size -= found > 0 ? (size_t)found : 0;
    }
    return true;
}

static void send_devices(int to, const weft_host *host) {
    weft_device_info *infos = NULL;
    uint32_t count = 0;
    const weft_status status = weft_cli_list_devices(&infos, &count, host);
    (void)(write_all(to, &status, sizeof status) && write_all(to, &count, sizeof count) &&
           write_all(to, infos, status == WEFT_OK ? count * sizeof *infos : 0));
}

static bool receive_devices(weft_device_info **infos, uint32_t *count, weft_status *status,
                            int from, const weft_host *host) {
    *infos = NULL;
    if (!read_all(from, status, sizeof *status) || !read_all(from, count, sizeof *count) ||
        *count > MOST_DEVICES) {
        return false;
    }
    if (*status != WEFT_OK || *count == 0) {
        return true;
    }
    *infos = weft_alloc(host, *count * sizeof **infos);
    if (!*infos) {
        *status = weft_fail_memory(host, "device list");
        return true;
    }
    if (read_all(from, *infos, *count * sizeof **infos)) {
        return true;
    }
    weft_free(host, *infos);
    *infos = NULL;
    return false;
}

/* ---- children ---- */

/* What ended it, or 0. */
static int wait_for(pid_t child) {
    int how = 0;
    while (waitpid(child, &how, 0) < 0) {
        if (errno != EINTR) {
            return 0;
        }
    }
    return WIFSIGNALED(how) ? WTERMSIG(how) : 0;
}

static void dump_no_core(void) {
    const struct rlimit none = {0, 0};
    (void)setrlimit(RLIMIT_CORE, &none);
}

enum weft_cli_trial weft_cli_try_devices(weft_device_info **infos, uint32_t *count,
                                         weft_status *status, int *signal, const weft_host *host) {
    int ends[2];
    if (pipe(ends) != 0) {
        return WEFT_CLI_TRIAL_NO_CHILD;
    }
    (void)fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        (void)close(ends[0]);
        dump_no_core();
        send_devices(ends[1], host);
        _exit(0);
    }
    (void)close(ends[1]);
    const bool whole = child > 0 && receive_devices(infos, count, status, ends[0], host);
    (void)close(ends[0]);
    *signal = child > 0 ? wait_for(child) : 0;
    return child < 0 ? WEFT_CLI_TRIAL_NO_CHILD : whole ? WEFT_CLI_TRIAL_DONE : WEFT_CLI_TRIAL_DIED;
}

/* Whether a child that asks one OpenCL driver alone ends before it has an answer. */
static bool is_broken(const char *path) {
    (void)fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        uint32_t count = 0;
        dump_no_core();
        (void)setenv("OCL_ICD_VENDORS", path, 1);
        (void)setenv("OCL_ICD_FILENAMES", path, 1);
        (void)setenv("VK_DRIVER_FILES", "/nowhere", 1);
        (void)setenv("VK_ICD_FILENAMES", "/nowhere", 1);
        (void)weft_device_list(NULL, &count, NULL);
        _exit(0);
    }
    int how = 0;
    return child > 0 && waitpid(child, &how, 0) == child &&
           !(WIFEXITED(how) && WEXITSTATUS(how) == 0);
}

void weft_cli_find_broken_opencl(char *text, size_t size) {
    const char *folder = getenv("OCL_ICD_VENDORS");
    folder = folder && folder[0] != '\0' ? folder : "/etc/OpenCL/vendors";
    size_t used = 0;
    text[0] = '\0';
    if (is_broken("/nowhere")) { /* without any driver, too */
        (void)snprintf(text, size, "the system's OpenCL library itself");
        return;
    }
    DIR *open = opendir(folder);
    const struct dirent *entry = NULL;
    while (open && (entry = readdir(open)) != NULL) {
        char path[4096];
        const size_t length = strlen(entry->d_name);
        if (length < 4 || strcmp(entry->d_name + length - 4, ".icd") != 0 ||
            snprintf(path, sizeof path, "%s/%s", folder, entry->d_name) >= (int)sizeof path ||
            !is_broken(path)) {
            continue;
        }
        const int written = snprintf(text + used, size - used, "%s%s", used > 0 ? ", " : "", path);
        used += written > 0 && (size_t)written < size - used ? (size_t)written : 0;
        text[used] = '\0';
    }
    if (open) {
        (void)closedir(open);
    }
}

void weft_cli_leave_out_opencl(void) {
    (void)setenv("WEFT_OPENCL", "0", 1);
}
