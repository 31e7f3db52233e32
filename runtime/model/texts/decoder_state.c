/* SPDX-License-Identifier: MIT */
/* States of a decoder's sequences: saved, loaded and taken back. */
#include <inttypes.h>
#include <string.h>

#include "core/given.h"
#include "core/try.h"
#include "device/device.h"
#include "model/files/checkpoint.h"
#include "model/network/architecture.h"
#include "model/texts/decoder.h"
#include "model/texts/state_rows.h"
#include "plan/states.h"

/* ---- whose it is ---- */

/* Of the config and the tensors: what decides the numbers that a model makes of tokens. */
static weft_status hash_model(weft_digest *digest, const weft_model *model) {
    const struct weft_model_parts parts = weft_model_parts(model);
    struct weft_checkpoint *checkpoint = (struct weft_checkpoint *)(uintptr_t)parts.checkpoint;
    weft_digest tensors;
    weft_sha256 hash;
    WEFT_TRY(weft_checkpoint_digest_all(&tensors, checkpoint));
    weft_sha256_begin(&hash);
    weft_sha256_add(&hash, tensors.bytes, sizeof tensors.bytes);
    weft_sha256_add(&hash, parts.config, strlen(parts.config));
    *digest = weft_sha256_end(&hash);
    return WEFT_OK;
}

weft_status weft_state_owner_of(struct weft_state_owner *owner, weft_model *model,
                                const weft_device *device, weft_decoding decoding) {
    weft_model_info info;
    WEFT_TRY(weft_model_get_info(model, &info));
    *owner = (struct weft_state_owner){.math = weft_math_name(weft_device_get_math(device)),
                                       .weights = weft_weight_storage_name(device->weight_storage),
                                       .decoding = weft_decoding_name(decoding),
                                       .vocabulary = info.vocabulary};
    return hash_model(&owner->model, model);
}

/* ---- states ---- */

/* Those of the plan: none of one that evaluates again. */
struct states {
    struct weft_plan_state *at;
    struct weft_state_part *parts;
    uint32_t count;
};

static void clear_states(struct states *states, const weft_host *host) {
    weft_free(host, states->at);
    weft_free(host, states->parts);
}

static weft_status list_states(struct states *states, weft_decoder *decoder) {
    const bool has_some = decoder->decoding == WEFT_DECODING_RECURRENT;
    states->count = has_some ? weft_plan_state_count(decoder->plan) : 0;
    states->at = weft_alloc_zero(&decoder->host, (size_t)states->count + 1, sizeof *states->at);
    states->parts =
        weft_alloc_zero(&decoder->host, (size_t)states->count + 1, sizeof *states->parts);
    if (!states->at || !states->parts) {
        return weft_fail_memory(&decoder->host, "a decoder's states");
    }
    for (uint32_t i = 0; i < states->count; i++) {
        struct weft_plan_state *state = &states->at[i];
        WEFT_TRY(weft_plan_get_state(state, decoder->plan, i));
        states->parts[i] = (struct weft_state_part){.name = state->name,
                                                    .dtype = state->dtype,
                                                    .elements = state->elements,
                                                    .rings = state->rings};
    }
    return WEFT_OK;
}

/* Of a sequence. */
static uint64_t bytes_of(const struct weft_plan_state *state) {
    return state->elements * weft_dtype_size(state->dtype);
}

static void *room_for(const struct states *states, const weft_host *host) {
    uint64_t most = 1;
    for (uint32_t i = 0; i < states->count; i++) {
        const uint64_t bytes = bytes_of(&states->at[i]);
        most = bytes > most ? bytes : most;
    }
    return weft_alloc_zero(host, (size_t)most, 1);
}

/* ---- saving ---- */

struct saver {
    const struct states *states;
    uint32_t sequence, tokens;
    void *row;
};

static weft_status read_part(void *user, uint32_t index, void *out) {
    const struct saver *saver = user;
    const struct weft_plan_state *state = &saver->states->at[index];
    const struct weft_state_part *part = &saver->states->parts[index];
    const uint64_t bytes = bytes_of(state);
    const bool whole = part->rings.count == 0;
    WEFT_TRY(
        weft_buffer_read(state->buffer, saver->sequence * bytes, whole ? out : saver->row, bytes));
    if (!whole) {
        weft_state_copy_rows(saver->row, out, part, saver->tokens, false);
    }
    return WEFT_OK;
}

static weft_status check_sequence(const weft_decoder *decoder, uint32_t sequence) {
    if (sequence >= decoder->batch) {
        return weft_fail(&decoder->host, WEFT_INVALID_ARGUMENT,
                         "sequence %" PRIu32 " is outside 0 to %" PRIu32, sequence,
                         decoder->batch - 1);
    }
    return decoder->cross
               ? weft_fail(&decoder->host, WEFT_UNSUPPORTED,
                           "a text_to_text model's sequence has no state that can be saved, loaded "
                           "or taken back: it is made of a text that the encoder has read")
               : WEFT_OK;
}

/* One that has not ended. */
static weft_status check_goes_on(const weft_decoder *decoder, uint32_t sequence) {
    WEFT_TRY(check_sequence(decoder, sequence));
    return decoder->ended[sequence]
               ? weft_fail(&decoder->host, WEFT_INVALID_ARGUMENT,
                           "sequence %" PRIu32 " has ended: it has no state any more", sequence)
               : WEFT_OK;
}

/* The tokens of the file, those that were read and others, in host memory. */
static int32_t *join_tokens(const weft_decoder *decoder, uint32_t sequence, const int32_t *next,
                            uint32_t next_count) {
    const uint32_t count = (uint32_t)decoder->lengths[sequence];
    int32_t *tokens = weft_alloc_zero(&decoder->host, (size_t)count + next_count, sizeof *tokens);
    if (tokens) {
        memcpy(tokens, decoder->tokens + (size_t)sequence * decoder->token_room,
               count * sizeof *tokens);
        if (next_count > 0) {
            memcpy(tokens + count, next, next_count * sizeof *tokens);
        }
    }
    return tokens;
}

static weft_status write_file(weft_decoder *decoder, const char *path, struct saver *saver,
                              const struct weft_state_text *text) {
    struct weft_state_owner owner;
    WEFT_TRY(weft_state_owner_of(&owner, decoder->model, decoder->device, decoder->decoding));
    const struct weft_state_source source = {.owner = &owner,
                                             .text = *text,
                                             .parts = saver->states->parts,
                                             .count = saver->states->count,
                                             .read = read_part,
                                             .user = saver};
    return weft_state_file_write(path, &source, &decoder->host);
}

weft_status weft_decoder_write(weft_decoder *decoder, uint32_t sequence, const char *path,
                               const int32_t *next, uint32_t next_count, uint32_t given) {
    WEFT_TRY(check_goes_on(decoder, sequence));
    const uint32_t count = (uint32_t)decoder->lengths[sequence];
    if (count == 0) {
        return weft_fail(&decoder->host, WEFT_INVALID_ARGUMENT,
                         "sequence %" PRIu32 " has no tokens: there is no state to save", sequence);
    }
    struct states states = {.count = 0};
    struct saver saver = {.states = &states, .sequence = sequence, .tokens = count};
    int32_t *tokens = join_tokens(decoder, sequence, next, next_count);
    weft_status status = tokens ? list_states(&states, decoder)
                                : weft_fail_memory(&decoder->host, "a state's tokens");
    if (status == WEFT_OK) {
        saver.row = room_for(&states, &decoder->host);
        status = saver.row ? WEFT_OK : weft_fail_memory(&decoder->host, "a state");
    }
    if (status == WEFT_OK) {
        const struct weft_state_text text = {
            .tokens = tokens, .count = count, .next = next_count, .given = given};
        status = write_file(decoder, path, &saver, &text);
    }
    weft_free(&decoder->host, saver.row);
    weft_free(&decoder->host, tokens);
    clear_states(&states, &decoder->host);
    return status;
}

weft_status weft_decoder_save(weft_decoder *decoder, uint32_t sequence, const char *path) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(decoder, host), decoder, path);
    const uint32_t count = sequence < decoder->batch ? (uint32_t)decoder->lengths[sequence] : 0;
    return weft_decoder_write(decoder, sequence, path, NULL, 0, count);
}

/* ---- what other texts have left ---- */

static weft_status clear_state(const struct weft_plan_state *state, uint32_t batch,
                               const void *zeros) {
    const uint64_t bytes = bytes_of(state);
    for (uint32_t b = 0; b < batch && state->rings.count == 0; b++) {
        WEFT_TRY(weft_buffer_write(state->buffer, b * bytes, zeros, bytes));
    }
    return WEFT_OK;
}

static weft_status clear_all(weft_decoder *decoder) {
    struct states states = {.count = 0};
    weft_status status = list_states(&states, decoder);
    void *zeros = status == WEFT_OK ? room_for(&states, &decoder->host) : NULL;
    if (status == WEFT_OK && !zeros) {
        status = weft_fail_memory(&decoder->host, "a decoder's states");
    }
    for (uint32_t i = 0; i < states.count && status == WEFT_OK; i++) {
        status = clear_state(&states.at[i], decoder->batch, zeros);
    }
    weft_free(&decoder->host, zeros);
    clear_states(&states, &decoder->host);
    return status;
}

weft_status weft_decoder_prepare_states(weft_decoder *decoder) {
    bool begins = !decoder->is_clean && decoder->decoding == WEFT_DECODING_RECURRENT;
    for (uint32_t b = 0; b < decoder->batch; b++) {
        begins = begins && decoder->lengths[b] == 0;
    }
    if (begins) {
        WEFT_TRY(clear_all(decoder));
        decoder->is_clean = true;
    }
    return WEFT_OK;
}

/* ---- loading ---- */

static weft_status write_part(const struct weft_state_file *file, const struct states *states,
                              uint32_t index, uint32_t sequence, void *const room[2]) {
    const struct weft_plan_state *state = &states->at[index];
    const struct weft_state_part *part = &states->parts[index];
    const uint64_t bytes = bytes_of(state);
    const bool whole = part->rings.count == 0;
    WEFT_TRY(weft_state_file_read(file, part, room[whole ? 0 : 1]));
    if (!whole) {
        memset(room[0], 0, (size_t)bytes);
        weft_state_copy_rows(room[0], room[1], part, file->text.count, true);
    }
    return weft_buffer_write(state->buffer, sequence * bytes, room[0], bytes);
}

static weft_status write_parts(const struct weft_state_file *file, const struct states *states,
                               uint32_t sequence, const weft_host *host) {
    void *const room[2] = {room_for(states, host), room_for(states, host)};
    weft_status status = room[0] && room[1] ? WEFT_OK : weft_fail_memory(host, "a state");
    for (uint32_t i = 0; i < states->count && status == WEFT_OK; i++) {
        status = write_part(file, states, i, sequence, room);
    }
    weft_free(host, room[0]);
    weft_free(host, room[1]);
    return status;
}

/* From the first byte that is written on the sequence is empty, until all are there. */
static weft_status take_parts(weft_decoder *decoder, uint32_t sequence,
                              const struct weft_state_file *file, const struct states *states) {
    const uint32_t count = file->text.count;
    WEFT_TRY(weft_state_file_check(file, states->parts, states->count));
    WEFT_TRY(weft_decoder_make_room(decoder, count));
    WEFT_TRY(weft_decoder_prepare_states(decoder));
    decoder->lengths[sequence] = 0;
    decoder->ended[sequence] = false;
    WEFT_TRY(write_parts(file, states, sequence, &decoder->host));
    memcpy(decoder->tokens + (size_t)sequence * decoder->token_room, file->text.tokens,
           count * sizeof *decoder->tokens);
    decoder->lengths[sequence] = (int32_t)count;
    return WEFT_OK;
}

weft_status weft_decoder_take(weft_decoder *decoder, uint32_t sequence,
                              const struct weft_state_file *file) {
    struct states states = {.count = 0};
    WEFT_TRY(check_sequence(decoder, sequence));
    weft_status status = list_states(&states, decoder);
    if (status == WEFT_OK) {
        status = take_parts(decoder, sequence, file, &states);
    }
    clear_states(&states, &decoder->host);
    return status;
}

weft_status weft_decoder_load(weft_decoder *decoder, uint32_t sequence, const char *path) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(decoder, host), decoder, path);
    struct weft_state_owner owner;
    struct weft_state_file file = {.tensors = NULL};
    WEFT_TRY(check_sequence(decoder, sequence));
    WEFT_TRY(weft_state_owner_of(&owner, decoder->model, decoder->device, decoder->decoding));
    weft_status status =
        weft_state_file_open(&file, path, &owner, decoder->max_length, &decoder->host);
    if (status == WEFT_OK) {
        status = weft_decoder_take(decoder, sequence, &file);
    }
    weft_state_file_close(&file);
    return status;
}

/* ---- taking back ---- */

/* A ring still has all tokens that token `length` reads: nothing was overwritten, or one token alone is taken back. */
static weft_status check_state(const weft_decoder *decoder, const struct weft_state_part *part,
                               uint32_t count, uint32_t length) {
    if (part->rings.count == 0) {
        return weft_fail(&decoder->host, WEFT_UNSUPPORTED,
                         "state '%s' has sums of all tokens, which cannot be taken out of it: save "
                         "the sequence before, and load it",
                         part->name);
    }
    return count <= part->rings.rows || length + 1 >= count
               ? WEFT_OK
               : weft_fail(
                     &decoder->host, WEFT_UNSUPPORTED,
                     "state '%s' keeps %" PRIu32 " tokens, and of %" PRIu32
                     " only the last can be taken back: save the sequence before, and load it",
                     part->name, part->rings.rows, count);
}

static weft_status check_states(weft_decoder *decoder, uint32_t count, uint32_t length) {
    struct states states = {.count = 0};
    weft_status status = list_states(&states, decoder);
    for (uint32_t i = 0; i < states.count && status == WEFT_OK; i++) {
        status = check_state(decoder, &states.parts[i], count, length);
    }
    clear_states(&states, &decoder->host);
    return status;
}

weft_status weft_decoder_rewind(weft_decoder *decoder, uint32_t sequence, uint32_t length) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(decoder, host), decoder);
    WEFT_TRY(check_goes_on(decoder, sequence));
    const uint32_t count = (uint32_t)decoder->lengths[sequence];
    if (length > count) {
        return weft_fail(&decoder->host, WEFT_INVALID_ARGUMENT,
                         "sequence %" PRIu32 ": a length of %" PRIu32 " is outside 0 to %" PRIu32,
                         sequence, length, count);
    }
    if (length > 0 && length < count) {
        WEFT_TRY(check_states(decoder, count, length));
    }
    decoder->lengths[sequence] = (int32_t)length;
    return WEFT_OK;
}

/* ---- tokens ---- */

weft_status weft_decoder_get_tokens(const weft_decoder *decoder, uint32_t sequence,
                                    const int32_t **tokens, uint32_t *count) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(decoder, host), decoder, tokens, count);
    WEFT_TRY(check_sequence(decoder, sequence));
    *tokens = decoder->tokens ? decoder->tokens + (size_t)sequence * decoder->token_room : NULL;
    *count = (uint32_t)decoder->lengths[sequence];
    return WEFT_OK;
}
