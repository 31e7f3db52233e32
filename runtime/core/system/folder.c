/* SPDX-License-Identifier: MIT */
#include "core/system/folder.h"

#include <stdlib.h>
#include <string.h>

#include "core/system/system.h"

struct listing {
    struct weft_names *names;
    const weft_host *host;
    bool fine;
};

static bool add_name(struct weft_names *names, const char *name, const weft_host *host) {
    char *copy = weft_strdup(host, name);
    if (!copy || !weft_grow(host, &names->at, names->count, &names->capacity, sizeof *names->at)) {
        weft_free(host, copy);
        return false;
    }
    names->at[names->count++] = copy;
    return true;
}

static bool take_name(void *user, const char *name) {
    struct listing *listing = user;
    listing->fine = name[0] == '.' || add_name(listing->names, name, listing->host);
    return listing->fine;
}

static int compare_names(const void *left, const void *right) {
    return strcmp(*(char *const *)left, *(char *const *)right);
}

weft_status weft_folder_list(struct weft_names *names, const char *path, const weft_host *host) {
    struct listing listing = {names, host, true};
    const int error = weft_system_list(path, take_name, &listing);
    if (error != 0) {
        char reason[128];
        weft_system_error_text(reason, sizeof reason, error);
        return weft_fail(host, WEFT_IO_ERROR, "%s: cannot list: %s", path, reason);
    }
    if (!listing.fine) {
        return weft_fail_memory(host, path);
    }
    if (names->count > 0) {
        qsort(names->at, names->count, sizeof *names->at, compare_names);
    }
    return WEFT_OK;
}

void weft_names_free(struct weft_names *names, const weft_host *host) {
    for (uint32_t i = 0; i < names->count; i++) {
        weft_free(host, names->at[i]);
    }
    weft_free(host, names->at);
    *names = (struct weft_names){0};
}
