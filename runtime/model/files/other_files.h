/* SPDX-License-Identifier: MIT */
/* Files of a model folder beside its weights. */
#ifndef WEFT_MODEL_OTHER_FILES_H
#define WEFT_MODEL_OTHER_FILES_H

#include <weft/weft.h>

/**
 * Fails, with the name, on a link among what weft_copy_other_files would copy that leads out of the folder. Links of the Hub's cache, to
 * blobs/HASH beside the folder's snapshots, are none: they are the model's own files.
 */
weft_status weft_check_other_files(const char *folder, const weft_host *host);

/**
 * Copies configs, tokenizers and texts of a folder, and of the folders in it, to another: what ends in .json, .txt, .model, .jinja or
 * .md, but no index of weights; config.json comes last. Other files stay behind. Errors: of weft_check_other_files, and those of reading and writing.
 */
weft_status weft_copy_other_files(const char *folder, const char *out, const weft_host *host);

#endif
