/* SPDX-License-Identifier: MIT */
/* What stands in a model folder in place of model.safetensors: said by its name, with the way out. */
#ifndef WEFT_MODEL_OTHER_WEIGHTS_H
#define WEFT_MODEL_OTHER_WEIGHTS_H

#include "core/host.h"

/**
 * After `path`, the folder's model.safetensors, could not be opened with that status: logs one error more where the folder has
 * its weights in other files, or the file is known to be something else. Returns the status.
 */
weft_status weft_other_weights_explain(const char *folder, const char *path, weft_status status,
                                       const weft_host *host);

#endif
