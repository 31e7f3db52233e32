/* SPDX-License-Identifier: MIT */
/* Contents of a folder, in an order that is the same everywhere. */
#ifndef WEFT_CORE_FOLDER_H
#define WEFT_CORE_FOLDER_H

#include "core/host.h"

/** Names in host memory. */
struct weft_names {
    char **at;
    uint32_t count, capacity;
};

/**
 * The names of a folder's entries without hidden ones, sorted by their bytes, into zeroed `names`. WEFT_IO_ERROR with the reason,
 * WEFT_OUT_OF_HOST_MEMORY; then `names` is to be freed, too.
 */
weft_status weft_folder_list(struct weft_names *names, const char *path, const weft_host *host);

void weft_names_free(struct weft_names *names, const weft_host *host);

#endif
