/* SPDX-License-Identifier: MIT */
/* What the names in tokenizer.ggml.pre stand for: how a text is cut into words before pairs of bytes are merged. */
#ifndef WEFT_MODEL_GGUF_PRE_H
#define WEFT_MODEL_GGUF_PRE_H

#include <stdbool.h>

#define WEFT_GGUF_MOST_PATTERNS 6 /* null behind the last */

struct weft_gguf_pre {
    const char *name;
    const char *patterns
        [WEFT_GGUF_MOST_PATTERNS]; /* of words, one after another, up to null; none: GPT-2's */
    bool digits;                   /* each digit is a word, whatever the patterns say */
    bool composed;                 /* the text is normalized to NFC before */
    bool whole;                    /* a word that is a token is not merged */
    bool begins;                   /* a text begins with a token, unless the file says otherwise */
};

/** Null: the name is unknown. */
const struct weft_gguf_pre *weft_gguf_pre_of(const char *name);

/** Their names: "gpt-2, …". */
extern const char weft_gguf_pre_list[];

#endif
