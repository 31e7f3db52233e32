/* SPDX-License-Identifier: MIT */
/* What a model is made of: the files of a folder, or the text of a config and weights in memory or numbers in their place. */
#ifndef WEFT_MODEL_SOURCE_H
#define WEFT_MODEL_SOURCE_H

#include "core/json.h"
#include "model/checkpoint.h"

struct weft_model_source {
    const char *folder; /* with config.json, model.safetensors and the tokenizer; or null */
    const char *config; /* the text of config.json, or what it would hold */
    struct weft_checkpoint *checkpoint; /* without a folder: the weights, or null */
    uint64_t seed;                      /* without either: of the weights */
    bool encoder; /* the last hidden state is asked for, whatever class the config names */
};

/** What errors about the config's fields begin with, in the host's memory; null: there is none left. */
char *weft_source_config_name(const struct weft_model_source *source, const weft_host *host);

/** The config, to be released with json_decref. Errors as weft_json_parse. */
weft_status weft_source_parse_config(json_t **object, const char *name,
                                     const struct weft_model_source *source, const weft_host *host);

/** The weights, to be released with weft_checkpoint_close. */
weft_status weft_source_open_checkpoint(struct weft_checkpoint **checkpoint,
                                        const struct weft_model_source *source,
                                        const weft_host *host);

#endif
