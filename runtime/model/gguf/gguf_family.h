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

/** What makes a folder's tensor of a file's. */
enum weft_gguf_change {
    WEFT_GGUF_SAME,
    WEFT_GGUF_WHOLE,           /* the same, and the names are whole */
    WEFT_GGUF_ROWS_OF_QUERIES, /* rows of heads whose channels turn in pairs lie in another order */
    WEFT_GGUF_ROWS_OF_KEYS,    /* likewise */
    WEFT_GGUF_LESS_ONE,        /* a file has 1 + weight, where a folder has the weight */
    WEFT_GGUF_RATE, /* a file has -exp(weight), where a folder has the weight; whole names */
    WEFT_GGUF_FLAT, /* a file has two axes, where a folder has one; whole names */
    WEFT_GGUF_EXPERTS, /* a file has [experts, rows, columns], where these are one behind the other here */
    WEFT_GGUF_ROW,   /* a file has [columns], where a folder has [1, columns] */
    WEFT_GGUF_FILTER /* a file has [channels, taps], where a folder has [channels, 1, taps] */
};

/** Names of a tensor, without ".weight" and ".bias" but for FLAT, RATE and WHOLE; # is the layer's number. */
struct weft_gguf_name {
    const char *theirs; /* in a GGUF file; null ends a list */
    const char *ours;   /* in a folder */
    enum weft_gguf_change change;
};

struct weft_gguf_reading;

struct weft_gguf_family {
    const char *architecture;
    const char *model_type;
    const char *language; /* class with the head of a language model; null: there is none */
    const char *encoder;  /* class without a head */
    bool as_applied;      /* matrices are [out, in] here, and [in, out] in folders */
    bool partial;         /* some of a head's channels may turn, and others not */
    bool experts;         /* of the files of the architecture, those with experts */
    bool both_ways;       /* tokens see those behind them, too */
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
weft_status weft_gguf_add_qwen3moe(const struct weft_gguf_reading *reading);
weft_status weft_gguf_add_seed_oss(const struct weft_gguf_reading *reading);
weft_status weft_gguf_add_exaone4(const struct weft_gguf_reading *reading);
weft_status weft_gguf_add_starcoder2(const struct weft_gguf_reading *reading);
weft_status weft_gguf_add_stablelm(const struct weft_gguf_reading *reading);
weft_status weft_gguf_add_cohere2(const struct weft_gguf_reading *reading);
weft_status weft_gguf_add_gemma2(const struct weft_gguf_reading *reading);
weft_status weft_gguf_add_gemma3(const struct weft_gguf_reading *reading);
weft_status weft_gguf_add_lfm2(const struct weft_gguf_reading *reading);
weft_status weft_gguf_add_lfm2moe(const struct weft_gguf_reading *reading);
weft_status weft_gguf_add_gpt_oss(const struct weft_gguf_reading *reading);
weft_status weft_gguf_add_falcon_h1(const struct weft_gguf_reading *reading);
weft_status weft_gguf_add_granitehybrid(const struct weft_gguf_reading *reading);
weft_status weft_gguf_add_qwen3next(const struct weft_gguf_reading *reading);
weft_status weft_gguf_add_qwen35(const struct weft_gguf_reading *reading);
weft_status weft_gguf_add_gpt2(const struct weft_gguf_reading *reading);
weft_status weft_gguf_add_bert(const struct weft_gguf_reading *reading);
weft_status weft_gguf_add_nomic_bert(const struct weft_gguf_reading *reading);

/** Sets a field of the config; takes `value`, which is null when memory is out. */
weft_status weft_gguf_set(const struct weft_gguf_reading *reading, const char *field,
                          json_t *value);

/** A key below the architecture's name. */
struct weft_gguf_own_key {
    char text[2 * WEFT_GGUF_MAX_KEY];
};
struct weft_gguf_own_key weft_gguf_own_key(const struct weft_gguf_reading *reading,
                                           const char *name);
/** Its value, as gguf.h has them; integers are from 0 to INT32_MAX. */
weft_status weft_gguf_own_integer(int64_t *value, const struct weft_gguf_reading *reading,
                                  const char *name);
weft_status weft_gguf_own_real(double *value, const struct weft_gguf_reading *reading,
                               const char *name);
/** The key, if it is there, must be that number, which is `what`. */
weft_status weft_gguf_own_expect(const struct weft_gguf_reading *reading, const char *name,
                                 int64_t expected, const char *what);
/** The first of the layers that predict further tokens, which are no part of the model: they are the last ones. */
weft_status weft_gguf_own_layers(int64_t *layers, const struct weft_gguf_reading *reading);
/** attention.head_count_kv: a number, or one for each layer, which is 0 in those without attention; unchanged where the key is missing. */
weft_status weft_gguf_own_key_heads(int64_t *heads, const struct weft_gguf_reading *reading);
/** WEFT_UNSUPPORTED, naming the key. */
weft_status weft_gguf_own_fail(const struct weft_gguf_reading *reading, const char *name,
                               const char *expected, const char *found);

/* ---- gguf_rope.c ---- */

/** Adds what a file says of rotary positions of heads with so many channels. */
weft_status weft_gguf_add_rope(const struct weft_gguf_reading *reading, int64_t head);

#endif
