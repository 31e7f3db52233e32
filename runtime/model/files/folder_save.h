/* SPDX-License-Identifier: MIT */
/*
 * Saving into a model folder. What is loaded from it is of one save, whoever else saves into it meanwhile:
 *   - new files are written beside the old ones; while they are put in their places, one saver has the folder (a lock, .weft-save.lock);
 *   - first config.json goes, which every model has, and it comes last;
 *   - who loads keeps config.json open, and compares it with the folder's at the end (model.c).
 */
#ifndef WEFT_MODEL_FOLDER_SAVE_H
#define WEFT_MODEL_FOLDER_SAVE_H

#include "core/host.h"

struct weft_folder_save {
    int lock;   /* or -1 */
    char *name; /* of its file, in host memory */
};

/**
 * Waits until no other process, and nobody else in this one, saves into the folder, which exists. End it in any case. WEFT_IO_ERROR when
 * half a minute was not enough, or the folder cannot be written. A file system without locks is told of in the log; then two
 * savers can mix their files.
 */
weft_status weft_folder_save_begin(struct weft_folder_save *save, const char *folder,
                                   const weft_host *host);
void weft_folder_save_end(struct weft_folder_save *save, const weft_host *host);

/** Removes the folder's config.json: until the new one is placed, there is no model. */
weft_status weft_folder_save_withdraw(const char *folder, const weft_host *host);

#endif
