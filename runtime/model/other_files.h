/* SPDX-License-Identifier: MIT */
/* What a model folder has beside its weights. */
#ifndef WEFT_MODEL_OTHER_FILES_H
#define WEFT_MODEL_OTHER_FILES_H

#include <weft/weft.h>

/**
 * Copies configs, tokenizers and texts of a folder, and of the folders in it, to another: what ends in .json, .txt, .model, .jinja or
 * .md, but no index of weights. Other files stay behind. Errors: those of reading and writing.
 */
weft_status weft_copy_other_files(const char *folder, const char *out, const weft_host *host);

#endif
