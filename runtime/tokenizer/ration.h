/* SPDX-License-Identifier: MIT */
/* Memory that one text, or the reading of one file, may have at a time: at most a multiple of its size. */
#ifndef WEFT_TOKENIZER_RATION_H
#define WEFT_TOKENIZER_RATION_H

#include "core/host.h"

/** Bytes granted beyond the multiple. */
#define WEFT_RATION_LEAST ((uint64_t)32 << 20)
/** Bytes of memory for a byte of a text, for one of a file, and for a token that is decoded. */
#define WEFT_TEXT_RATION   512u
#define WEFT_FILE_RATION   128u
#define WEFT_DECODE_RATION 1024u

/** Begin it with weft_ration_begin. It stays where it is as long as blocks of it are in use. For one thread at a time. */
struct weft_ration {
    weft_host beneath; /* gives the memory */
    uint64_t used;
    uint64_t most;
    bool exceeded; /* more was asked for: null was given */
};

void weft_ration_begin(struct weft_ration *ration, const weft_host *beneath);

/** For a text or file of `size` bytes: `each` bytes of memory for one. Blocks that are in use count, too. */
void weft_ration_set(struct weft_ration *ration, uint64_t size, uint64_t each);

/** The host beneath, but for its memory, which counts. Blocks go back to it alone. */
weft_host weft_ration_host(struct weft_ration *ration);

/** `status`, or where more was asked for `instead`, logged with what took too much: a file's path, or "text". */
weft_status weft_ration_judge(const struct weft_ration *ration, weft_status status,
                              weft_status instead, const char *what);

#endif
