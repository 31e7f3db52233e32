/* SPDX-License-Identifier: MIT */
/* Writing the start of a safetensors file. */
#ifndef WEFT_MODEL_SAFETENSORS_HEADER_H
#define WEFT_MODEL_SAFETENSORS_HEADER_H

#include "core/text.h"
#include "model/files/safetensors.h"

/** Begins with the host in `text` and zeros elsewhere; text.data is to be freed in any case. */
struct weft_safetensors_header {
    struct weft_text text;
    uint64_t
        data; /* bytes of the tensors so far, which follow in the order in which they are added */
};

weft_status weft_safetensors_header_add(struct weft_safetensors_header *header, const char *name,
                                        weft_safetensors_dtype dtype, const uint64_t *shape,
                                        uint32_t rank);

/** With so many notes for __metadata__. text then has all bytes before the first tensor's, which begin at a multiple of 8. */
weft_status weft_safetensors_header_end(struct weft_safetensors_header *header,
                                        const weft_safetensors_note *notes, uint32_t count);

#endif
