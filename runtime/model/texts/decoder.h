/* SPDX-License-Identifier: MIT */
/* A decoder: decoder.c runs it, decoder_state.c saves what it has of a sequence and takes it back. */
#ifndef WEFT_MODEL_DECODER_H
#define WEFT_MODEL_DECODER_H

#include <weft/model.h>

#include "core/host.h"
#include "model/texts/state_file.h"

struct weft_decoder {
    weft_host host;
    weft_model *model;
    weft_device *device;
    weft_model_info model_info;
    weft_plan_params plan_params;
    weft_decoding decoding;
    uint32_t batch;
    int32_t *lengths;    /* [batch], tokens of each sequence so far */
    int32_t *next;       /* [batch], these after a call */
    bool *ended;         /* [batch], sequences that take no more */
    uint32_t max_length; /* tokens that each may have */
    weft_plan *plan;
    uint32_t plan_length;
    /* recurrent */
    weft_plan
        *prompt; /* the newest for the tokens that sequences begin with, on the states of `plan` */
    uint32_t prompt_length; /* how many those are */
    bool has_numbers;       /* the plan reads the positions as numbers, too */
    int32_t *position;      /* [batch], of each sequence's newest token */
    float *number;          /* [batch], the same */
    int32_t *given;         /* [batch], the tokens of a step */
    uint64_t state_bytes;
    bool is_clean; /* states have nothing of texts before those that the sequences have */
    struct weft_cross_decoder *cross; /* of a text_to_text model, in place of the plans; or null */
    bool has_read;                    /* with it: the encoder has, so that texts can begin */
    /* The tokens that each sequence has: what is evaluated again, and what a state's file has; of none with `cross` */
    int32_t *tokens;     /* [batch, token_room] */
    uint32_t token_room; /* grows up to max_length, which the model's file may choose */
    /* evaluated again */
    weft_bindings *bindings;
    weft_buffer *input;  /* [batch, plan_length] */
    weft_buffer *output; /* [batch, plan_length, vocabulary] */
    int32_t *staging;    /* as input */
};

/** Room for so many tokens of each sequence. */
weft_status weft_decoder_make_room(weft_decoder *decoder, uint32_t length);

/**
 * Resets the decoder of a model whose encoder reads features, and has it read features f32 [batch, count, input_size], count being the model's
 * exact_length. The texts' tokens follow, all by weft_decoder_step.
 */
weft_status weft_decoder_read_features(weft_decoder *decoder, const float *features,
                                       uint32_t count);

/**
 * Before the first token of all sequences: zeros in all states but rings, of which only rows of the sequence's own tokens are saved. So no
 * file has what another text has left.
 */
weft_status weft_decoder_prepare_states(weft_decoder *decoder);

/** What a state of this model on this device belongs to. */
weft_status weft_state_owner_of(struct weft_state_owner *owner, weft_model *model,
                                const weft_device *device, weft_decoding decoding);

/**
 * As weft_decoder_save, with `next` further tokens of the text, which were not read, and the number of those that were given; as
 * weft_decoder_load, of a file that is open.
 */
weft_status weft_decoder_write(weft_decoder *decoder, uint32_t sequence, const char *path,
                               const int32_t *next, uint32_t next_count, uint32_t given);
weft_status weft_decoder_take(weft_decoder *decoder, uint32_t sequence,
                              const struct weft_state_file *file);

#endif
