/* SPDX-License-Identifier: MIT */
/* Architectures of GGUF files: which model_type each is, and how its keys and tensors are called in that type's folders. */
#ifndef WEFT_MODEL_GGUF_FAMILY_H
#define WEFT_MODEL_GGUF_FAMILY_H

#include <jansson.h>

#include "model/gguf/gguf.h"

/** What is done with a key below the architecture's name. */
enum weft_gguf_use {
    WEFT_GGUF_INTEGER, /* becomes a field of config.json */
    WEFT_GGUF_REAL,    /* likewise */
    WEFT_GGUF_READ,    /* read by gguf_config.c, which checks it or derives fields from it */
    WEFT_GGUF_NONE     /* must be 0, as it is where a model has nothing of that kind */
};

struct weft_gguf_key {
    const char *name;  /* null ends a list */
    const char *field; /* of config.json, of INTEGER and REAL */
    enum weft_gguf_use use;
    bool required;
};

/** Rows of a tensor that lie in another order than in a folder: of heads whose channels turn in pairs. */
enum weft_gguf_rows { WEFT_GGUF_ROWS_SAME, WEFT_GGUF_ROWS_QUERIES, WEFT_GGUF_ROWS_KEYS };

/** Names of a tensor, without ".weight" and ".bias"; # is the layer's number. */
struct weft_gguf_name {
    const char *theirs; /* in a GGUF file; null ends a list */
    const char *ours;   /* in a folder */
    enum weft_gguf_rows rows;
};

struct weft_gguf_reading;

struct weft_gguf_family {
    const char *architecture;
    const char *model_type;
    const char *language; /* class with the head of a language model; null: there is none */
    const char *encoder;  /* class without a head */
    bool as_applied;      /* matrices are [out, in] here, and [in, out] in folders */
    const struct weft_gguf_key *keys;
    const struct weft_gguf_name *names;
    /** Adds fields that the keys do not say. */
    weft_status (*add)(const struct weft_gguf_reading *reading);
};

/** A config.json that is made of a file's keys. */
struct weft_gguf_reading {
    const weft_gguf *file;
    const struct weft_gguf_family *family;
    json_t *config;
};

/** The family of the file. Errors: WEFT_UNSUPPORTED, naming general.architecture; WEFT_BAD_FILE. */
weft_status weft_gguf_family_of(const struct weft_gguf_family **family, const weft_gguf *file);

/* ---- gguf_fields.c ---- */

/** What families add. */
weft_status weft_gguf_add_llama(const struct weft_gguf_reading *reading);
weft_status weft_gguf_add_qwen(const struct weft_gguf_reading *reading);
weft_status weft_gguf_add_gpt2(const struct weft_gguf_reading *reading);
weft_status weft_gguf_add_bert(const struct weft_gguf_reading *reading);

/** Sets a field of the config; takes `value`, which is null when memory is out. */
weft_status weft_gguf_set(const struct weft_gguf_reading *reading, const char *field,
                          json_t *value);

/** A key below the architecture's name. */
struct weft_gguf_own_key {
    char text[2 * WEFT_GGUF_MAX_KEY];
};
struct weft_gguf_own_key weft_gguf_own_key(const struct weft_gguf_reading *reading,
                                           const char *name);

#endif
