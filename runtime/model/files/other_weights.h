/* SPDX-License-Identifier: MIT */
/* Explains a path that is not a model folder or one of its files: names what it is, and the remedy. */
#ifndef WEFT_MODEL_OTHER_WEIGHTS_H
#define WEFT_MODEL_OTHER_WEIGHTS_H

#include "core/host.h"

/* Each logs one error more where it knows the cause of a failure that has been logged, and returns the status. */

/** After `path`, the folder's model.safetensors, could not be opened: the folder has its weights in other files, or the file is something else. */
weft_status weft_other_weights_explain(const char *folder, const char *path, weft_status status,
                                       const weft_host *host);

/** After a file was refused with WEFT_BAD_FILE: it is known to be something else. Of JSON, only what stands in its place is said. */
weft_status weft_other_weights_explain_file(const char *path, weft_status status,
                                            const weft_host *host);

/** After the folder's config.json could not be opened: there is no such folder, but it could be a name on the Hugging Face Hub; it is a file; or it has other files. */
weft_status weft_other_weights_explain_folder(const char *folder, weft_status status,
                                              const weft_host *host);

#endif
