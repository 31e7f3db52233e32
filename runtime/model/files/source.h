/* SPDX-License-Identifier: MIT */
/* Source of a model: the files of a folder, or the text of a config with weights in memory or random numbers. */
#ifndef WEFT_MODEL_SOURCE_H
#define WEFT_MODEL_SOURCE_H

#include "core/formats/json.h"
#include "model/files/checkpoint.h"

struct weft_model_source {
    const char *folder; /* with config.json, model.safetensors and the tokenizer; or null */
    const char *config; /* the text of config.json, or what it would hold */
    struct weft_checkpoint *checkpoint; /* without a folder: the weights, or null */
    uint64_t seed;                      /* without either: of the weights */
    /* Without a folder: the text of a tokenizer.json, or null, and what errors call all of it, or null. */
    const char *tokenizer;
    size_t tokenizer_size;
    const char *label;
    bool encoder; /* the last hidden state is asked for, whatever class the config names */
    const char *other_tensor; /* among the weights, that somebody else reads; or null */
    /* By weft_source_parse: */
    json_t *fields; /* of the config; nobody changes them */
    char *name;     /* what errors about them begin with, in the host's memory */
    /* By weft_source_read_generation: generation_config.json, or null, and its name. */
    json_t *generation;
    char *generation_name;
};

/** Parses the config, once for all that read it. Errors as weft_json_parse. */
weft_status weft_source_parse(struct weft_model_source *source, const weft_host *host);

/** Reads the folder's generation_config.json, if there are both, once for all that read it. Errors as weft_json_read. */
weft_status weft_source_read_generation(struct weft_model_source *source, const weft_host *host);

/** Releases what these made. */
void weft_source_clear(struct weft_model_source *source, const weft_host *host);

static inline weft_json_fields weft_source_fields(const struct weft_model_source *source,
                                                  const weft_host *host) {
    return (weft_json_fields){.object = source->fields, .path = source->name, .host = host};
}

/**
 * Reads a JSON file that a folder need not have: *document is null then. *path is its name for messages, in the host's memory. Both are to be
 * released, after an error, too. Errors as weft_json_read.
 */
weft_status weft_source_read_optional(json_t **document, char **path, const char *folder,
                                      const char *name, const weft_host *host);

/** The weights, to be released with weft_checkpoint_close. */
weft_status weft_source_open_checkpoint(struct weft_checkpoint **checkpoint,
                                        const struct weft_model_source *source,
                                        const weft_host *host);

#endif
