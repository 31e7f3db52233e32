/* SPDX-License-Identifier: MIT */
#include "model/files/source.h"

#include <string.h>

#include "core/system/file.h"
#include "core/system/system.h"
#include "model/files/other_weights.h"

weft_status weft_source_parse(struct weft_model_source *source, const weft_host *host) {
    source->name = source->folder
                       ? weft_path_join(source->folder, "config.json", host)
                       : weft_strdup(host, source->label ? source->label : "config_json");
    return source->name ? weft_json_parse_with_reals(&source->fields, source->config,
                                                     strlen(source->config), source->name, host)
                        : weft_fail_memory(host, "a path");
}

weft_status weft_source_read_generation(struct weft_model_source *source, const weft_host *host) {
    return source->folder
               ? weft_source_read_optional(&source->generation, &source->generation_name,
                                           source->folder, "generation_config.json", host)
               : WEFT_OK;
}

void weft_source_clear(struct weft_model_source *source, const weft_host *host) {
    json_decref(source->fields);
    source->fields = NULL;
    json_decref(source->generation);
    source->generation = NULL;
    weft_free(host, source->name);
    weft_free(host, source->generation_name);
    source->name = source->generation_name = NULL;
}

/* As transformers does: one file, and only where that is not there, the files of an index. */
static weft_status open_in_folder(struct weft_checkpoint **checkpoint, const char *folder,
                                  const weft_host *host) {
    char *path = weft_path_join(folder, "model.safetensors", host);
    char *index = weft_path_join(folder, "model.safetensors.index.json", host);
    weft_file_facts facts;
    weft_status status = WEFT_OK;
    if (!path || !index) {
        status = weft_fail_memory(host, "a path");
    } else if (weft_system_facts(&facts, path) != 0 && weft_system_facts(&facts, index) == 0) {
        status = weft_checkpoint_open_index(checkpoint, folder, index, host);
    } else {
        status = weft_checkpoint_open(checkpoint, path, host);
        status = weft_other_weights_explain(folder, path, status, host);
    }
    weft_free(host, path);
    weft_free(host, index);
    return status;
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
    return open_in_folder(checkpoint, source->folder, host);
}

weft_status weft_source_read_optional(json_t **document, char **path, const char *folder,
                                      const char *name, const weft_host *host) {
    weft_host quiet = *host;
    quiet.log = NULL;
    *document = NULL;
    *path = weft_path_join(folder, name, host);
    if (!*path) {
        return weft_fail_memory(host, "a path");
    }
    const weft_status status = weft_json_read(document, *path, &quiet);
    if (status == WEFT_OK || status == WEFT_NOT_FOUND) {
        return WEFT_OK;
    }
    return weft_json_read(document, *path, host); /* says what is wrong */
}
