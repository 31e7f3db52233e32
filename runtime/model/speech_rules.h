/* SPDX-License-Identifier: MIT */
/* What a folder says of a model that reads speech: the spectrum, the tokens that a text begins with, and those that it never has. */
#ifndef WEFT_MODEL_SPEECH_RULES_H
#define WEFT_MODEL_SPEECH_RULES_H

#include <weft/model.h>

#include "core/host.h"
#include "model/files/source.h"

struct weft_speech_language {
    char *code; /* "en" */
    int32_t token;
};

struct weft_speech_tokens {
    int32_t *tokens;
    uint32_t count;
};

/** Of preprocessor_config.json and generation_config.json. A token is -1 where there is none. */
struct weft_speech_rules {
    uint32_t rate;   /* samples a second */
    uint32_t window; /* samples that are read at once: frames · hop */
    uint32_t frame;  /* samples of a frame, an even number */
    uint32_t hop;    /* from frame to frame */
    uint32_t frames, bands;
    int32_t transcribe, translate, no_time_stamps;
    uint32_t latest_first; /* that the first time stamp of a text may be, in two frames */
    struct weft_speech_language
        *languages; /* none: the model writes one, and its texts begin without it */
    uint32_t language_count;
    struct weft_speech_tokens never, never_first;
};

/**
 * Reads both files of a source's folder, the second as weft_source_read_generation has it; *rules is null unless both are there. `info` is the model's, whose input they must fit. Numbers of tokens outside
 * the vocabulary, which no model makes, are left out of lists.
 * Errors: WEFT_UNSUPPORTED and WEFT_BAD_FILE, naming file, field, expected and found.
 */
weft_status weft_speech_rules_read(struct weft_speech_rules **rules,
                                   const struct weft_model_source *source,
                                   const weft_model_info *info, const weft_host *host);
/** Also of null. */
void weft_speech_rules_destroy(struct weft_speech_rules **rules, const weft_host *host);

/** Fields of generation_config.json that are read here, or that say nothing to a text without time stamps; null is the last. */
extern const char *const weft_speech_fields[];

/** The model's, or null. */
const struct weft_speech_rules *weft_model_speech_rules(const weft_model *model);

#endif
