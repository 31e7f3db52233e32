/* SPDX-License-Identifier: MIT */
/*
 * Sequences that a text_to_text model makes of others, or of speech, token by token: all have the same number of tokens. Of what is read the
 * keys and values stay on the device, and so do those of the tokens made. For decoder.c.
 */
#ifndef WEFT_MODEL_CROSS_DECODER_H
#define WEFT_MODEL_CROSS_DECODER_H

#include <weft/model.h>

struct weft_cross_decoder;

weft_status weft_cross_decoder_create(struct weft_cross_decoder **decoder, weft_model *model,
                                      weft_device *device, uint32_t batch,
                                      const weft_plan_params *params);
/** Also of null. */
void weft_cross_decoder_destroy(struct weft_cross_decoder **decoder);

/** What an encoder reads: i32 [batch, count] or f32 [batch, count, input_size]. */
struct weft_cross_source {
    const void *data; /* tokens, or features where the model reads these */
    uint32_t count;
    const int32_t *lengths; /* [batch] of tokens that count; not looked at where all do */
};

/** The encoder reads them; what was made is forgotten. */
weft_status weft_cross_decoder_read(struct weft_cross_decoder *decoder,
                                    const struct weft_cross_source *source);

/** Appends tokens[batch], as number `position`; logits f32 [batch, vocabulary], or null. */
weft_status weft_cross_decoder_step(struct weft_cross_decoder *decoder, const int32_t *tokens,
                                    uint32_t position, float *logits);

/** What texts begin with. */
int32_t weft_cross_decoder_start(const struct weft_cross_decoder *decoder);
uint64_t weft_cross_decoder_state_bytes(const struct weft_cross_decoder *decoder);
/** Of a token; null before the first. */
const weft_plan *weft_cross_decoder_plan(const struct weft_cross_decoder *decoder);

#endif
