/* SPDX-License-Identifier: MIT */
/* Entries of __metadata__ in a safetensors file. */
#ifndef WEFT_MODEL_SAFETENSORS_NOTES_H
#define WEFT_MODEL_SAFETENSORS_NOTES_H

#include "core/formats/json.h"

/** Entry of __metadata__. Key and value live as long as the file is open. */
typedef struct weft_safetensors_note {
    const char *key, *value;
} weft_safetensors_note;

struct weft_safetensors_notes {
    weft_safetensors_note *items;
    uint32_t count;
    char *text; /* all keys and values, each with its zero */
};

/** Reads an object of strings. Errors: WEFT_BAD_FILE, naming the key; WEFT_OUT_OF_HOST_MEMORY. In any case free them. */
weft_status weft_safetensors_notes_read(struct weft_safetensors_notes *notes,
                                        const weft_json_part *object);
void weft_safetensors_notes_free(struct weft_safetensors_notes *notes, const weft_host *host);

#endif
