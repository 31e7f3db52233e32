/* SPDX-License-Identifier: MIT */
/* Names of poolings, here and in folders: one table. */
#ifndef WEFT_MODEL_POOLING_NAMES_H
#define WEFT_MODEL_POOLING_NAMES_H

#include <weft/model.h>

struct weft_pooling_name {
    const char *name; /* in options and calls */
    const char *flag; /* in 1_Pooling/config.json, true or false */
    const char *word; /* in its pooling_mode, which newer versions write; a name, too */
    weft_embed_pooling pooling;
};

#define WEFT_POOLING_COUNT 6

/** In the order of their bits, in which their results stand side by side where a folder has flags. */
extern const struct weft_pooling_name weft_pooling_table[WEFT_POOLING_COUNT];

#endif
