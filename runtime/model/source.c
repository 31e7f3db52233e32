/* SPDX-License-Identifier: MIT */
#include "model/source.h"

#include <string.h>

#include "core/file.h"
#include "model/other_weights.h"

char *weft_source_config_name(const struct weft_model_source *source, const weft_host *host) {
    return source->folder ? weft_path_join(source->folder, "config.json", host)
                          : weft_strdup(host, "config_json");
}

weft_status weft_source_parse_config(json_t **object, const char *name,
                                     const struct weft_model_source *source,
                                     const weft_host *host) {
    return weft_json_parse(object, source->config, strlen(source->config), name, host);
}

weft_status weft_source_open_checkpoint(struct weft_checkpoint **checkpoint,
                                        const struct weft_model_source *source,
                                        const weft_host *host) {
    if (source->checkpoint) {
        weft_checkpoint_share(source->checkpoint);
        *checkpoint = source->checkpoint;
        return WEFT_OK;
    }
    if (!source->folder) {
        return weft_checkpoint_create_random(checkpoint, source->seed, host);
    }
    char *path = weft_path_join(source->folder, "model.safetensors", host);
    if (!path) {
        return weft_fail_memory(host, "a path");
    }
    weft_status status = weft_other_weights_explain(
        source->folder, path, weft_checkpoint_open(checkpoint, path, host), host);
    weft_free(host, path);
    return status;
}
