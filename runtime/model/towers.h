/* SPDX-License-Identifier: MIT */
/*
 * Models of two towers: CLIPModel, SiglipModel. config.json has the config of a network that reads texts, and of one that reads
 * images; model.safetensors has both. A class may have the second alone.
 */
#ifndef WEFT_MODEL_TOWERS_H
#define WEFT_MODEL_TOWERS_H

#include <weft/model.h>

#include "model/files/source.h"

struct weft_network;

/** What each tower is loaded from: the source with other fields and another name. A tower that is not there has no fields. */
struct weft_towers {
    struct weft_model_source texts, images;
};

/** True if config.json says that it is one of these. */
bool weft_towers_are_there(const struct weft_model_source *source);
/** "clip, siglip" */
const char *weft_towers_types(void);

/**
 * Makes the sources of the towers, whose files are those of `source`. To be cleared also on failure.
 * Errors: WEFT_UNSUPPORTED for another class; WEFT_BAD_FILE.
 */
weft_status weft_towers_split(struct weft_towers *towers, const struct weft_model_source *source,
                              const weft_host *host);
/** WEFT_BAD_FILE where one tower makes other vectors than the other: they are compared. */
weft_status weft_towers_check(const struct weft_towers *towers, const struct weft_network *texts,
                              const struct weft_network *images, const weft_host *host);
void weft_towers_clear(struct weft_towers *towers, const weft_host *host);

/** Reads logit_scale and, where the file has it, logit_bias into info->similarity_scale, which is their exponential, and _bias. */
weft_status weft_towers_read_similarity(weft_model_info *info, const struct weft_network *texts);

#endif
