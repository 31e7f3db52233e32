/* SPDX-License-Identifier: MIT */
#include "model/files/folder_save.h"

#include <errno.h>

#include "core/system/beside.h"
#include "core/system/file.h"

#define LOCK_NAME ".weft-save.lock"

weft_status weft_folder_save_begin(struct weft_folder_save *save, const char *folder,
                                   const weft_host *host) {
    *save = (struct weft_folder_save){.lock = -1, .name = weft_path_join(folder, LOCK_NAME, host)};
    if (!save->name) {
        return weft_fail_memory(host, folder);
    }
    const int error = weft_beside_lock(&save->lock, save->name);
    save->lock = error == 0 ? save->lock : -1;
    if (error == EWOULDBLOCK) {
        return weft_fail(host, WEFT_IO_ERROR,
                         "%s: another process saves into this folder, and holds %s for half a "
                         "minute already",
                         folder, LOCK_NAME);
    }
    if (error == ENOLCK) {
        weft_log(host, WEFT_LOG_WARNING,
                 "%s: the file system has no locks: let no other process save into this folder",
                 folder);
    }
    return error == 0 || error == ENOLCK ? WEFT_OK
                                         : weft_file_fail(host, error, "lock", save->name);
}

void weft_folder_save_end(struct weft_folder_save *save, const weft_host *host) {
    if (save->lock >= 0) {
        weft_beside_unlock(save->lock, save->name);
    }
    weft_free(host, save->name);
    *save = (struct weft_folder_save){.lock = -1};
}

weft_status weft_folder_save_withdraw(const char *folder, const weft_host *host) {
    char target[WEFT_SYSTEM_PATH_SIZE];
    char *path = weft_path_join(folder, "config.json", host);
    if (!path) {
        return weft_fail_memory(host, folder);
    }
    int error = weft_beside_target(target, path);
    error = error != 0 ? error : weft_system_remove(target);
    const weft_status status =
        error == 0 || error == ENOENT ? WEFT_OK : weft_file_fail(host, error, "replace", path);
    weft_free(host, path);
    return status;
}
