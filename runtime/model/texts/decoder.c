/* SPDX-License-Identifier: MIT */
/* Sequences that grow token by token, either with a state or by evaluating all of the sequence again. */
#include "model/texts/decoder.h"

#include <string.h>

#include "core/given.h"
#include "core/try.h"
#include "model/network/architecture.h"
#include "model/texts/cross_decoder.h"
#include "plan/states.h"

#define LEAST_PLAN_LENGTH 64U /* of those that evaluate again; they double from there */

const char *weft_decoding_name(weft_decoding decoding) {
    switch (decoding) {
    case WEFT_DECODING_RECURRENT:
        return "recurrent";
    case WEFT_DECODING_REEVALUATED:
        return "reevaluated";
    }
    return "unknown";
}

/* ---- with a state ---- */

static weft_status find_states(weft_decoder *decoder) {
    weft_port_info port;
    for (uint32_t i = 0; weft_plan_get_port(decoder->plan, i, &port) == WEFT_OK; i++) {
        decoder->state_bytes += port.is_state ? port.bytes : 0;
        decoder->has_numbers = decoder->has_numbers || strcmp(port.name, "position_number") == 0;
    }
    decoder->position = weft_alloc_zero(&decoder->host, decoder->batch, sizeof *decoder->position);
    decoder->number = weft_alloc_zero(&decoder->host, decoder->batch, sizeof *decoder->number);
    decoder->given = weft_alloc_zero(&decoder->host, decoder->batch, sizeof *decoder->given);
    return decoder->position && decoder->number && decoder->given
               ? WEFT_OK
               : weft_fail_memory(&decoder->host, "a decoder's positions");
}

static weft_status begin_recurrent(weft_decoder *decoder) {
    decoder->decoding = WEFT_DECODING_RECURRENT;
    decoder->plan_length = 1;
    const struct weft_model_step step = {
        .batch = decoder->batch, .tokens = 1, .length = decoder->max_length};
    WEFT_TRY(weft_model_compile_step(&decoder->plan, decoder->model, decoder->device, &step,
                                     &decoder->plan_params));
    return find_states(decoder);
}

static weft_status prepare_prompt(weft_decoder *decoder, uint32_t count) {
    if (decoder->prompt && decoder->prompt_length == count) {
        return WEFT_OK;
    }
    weft_plan_destroy(&decoder->prompt);
    const struct weft_model_step step = {
        .batch = decoder->batch, .tokens = count, .length = decoder->max_length};
    WEFT_TRY(weft_model_compile_step(&decoder->prompt, decoder->model, decoder->device, &step,
                                     &decoder->plan_params));
    decoder->prompt_length = count;
    weft_status status = weft_plan_borrow_states(decoder->prompt, decoder->plan);
    if (status != WEFT_OK) {
        weft_plan_destroy(&decoder->prompt);
    }
    return status;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): plans write it */
static uint32_t add_logits(weft_host_tensor *tensor, const weft_decoder *decoder, float *logits) {
    const uint64_t count = (uint64_t)decoder->batch * decoder->model_info.vocabulary;
    if (!logits) {
        return 0;
    }
    *tensor = (weft_host_tensor){"output", logits, count * sizeof *logits};
    return 1;
}

static weft_status prompt_recurrent(weft_decoder *decoder, const int32_t *tokens, uint32_t count,
                                    const int32_t *lengths, float *logits) {
    const uint64_t bytes = decoder->batch * (uint64_t)sizeof(int32_t);
    WEFT_TRY(prepare_prompt(decoder, count));
    for (uint32_t b = 0; b < decoder->batch; b++) {
        decoder->position[b] = lengths[b] - 1;
    }
    /* Casts: an input's data are only read. */
    weft_host_tensor tensors[4] = {{"tokens", (void *)(uintptr_t)tokens, bytes * count},
                                   {"position", decoder->position, bytes},
                                   {"lengths", (void *)(uintptr_t)lengths, bytes}};
    return weft_plan_execute(decoder->prompt, tensors,
                             3 + add_logits(&tensors[3], decoder, logits));
}

/** The plan keeps the states in its own buffers from step to step. A sequence that has ended gets any token at a place of its own. */
static weft_status step_recurrent(weft_decoder *decoder, const int32_t *tokens, float *logits) {
    const uint64_t bytes = decoder->batch * (uint64_t)sizeof(int32_t);
    const int32_t last = (int32_t)decoder->max_length - 1;
    weft_host_tensor tensors[4];
    uint32_t count = 0;
    for (uint32_t b = 0; b < decoder->batch; b++) {
        const int32_t place = decoder->lengths[b] < last ? decoder->lengths[b] : last;
        decoder->given[b] = tokens[b] < 0 ? 0 : tokens[b];
        decoder->position[b] = place;
        decoder->number[b] = (float)place;
    }
    tensors[count++] = (weft_host_tensor){"tokens", decoder->given, bytes};
    tensors[count++] = (weft_host_tensor){"position", decoder->position, bytes};
    if (decoder->has_numbers) {
        tensors[count++] = (weft_host_tensor){"position_number", decoder->number, bytes};
    }
    count += add_logits(&tensors[count], decoder, logits);
    return weft_plan_execute(decoder->plan, tensors, count);
}

/* ---- evaluated again ---- */

static void drop_plan(weft_decoder *decoder) {
    weft_bindings_destroy(&decoder->bindings);
    weft_buffer_destroy(&decoder->input);
    weft_buffer_destroy(&decoder->output);
    weft_plan_destroy(&decoder->plan);
    weft_free(&decoder->host, decoder->staging);
    decoder->staging = NULL;
    decoder->plan_length = 0;
}

weft_status weft_decoder_make_room(weft_decoder *decoder, uint32_t length) {
    if (length <= decoder->token_room) {
        return WEFT_OK;
    }
    const uint64_t twice = (uint64_t)decoder->token_room * 2;
    const uint64_t wanted = length > twice ? length : twice;
    const uint32_t room = wanted < decoder->max_length ? (uint32_t)wanted : decoder->max_length;
    int32_t *tokens =
        weft_alloc_zero(&decoder->host, (size_t)decoder->batch * room, sizeof *tokens);
    if (!tokens) {
        return weft_fail_memory(&decoder->host, "a decoder's tokens");
    }
    for (uint32_t b = 0; decoder->tokens && b < decoder->batch; b++) {
        memcpy(tokens + (size_t)b * room, decoder->tokens + (size_t)b * decoder->token_room,
               decoder->token_room * sizeof *tokens);
    }
    weft_free(&decoder->host, decoder->tokens);
    decoder->tokens = tokens;
    decoder->token_room = room;
    return WEFT_OK;
}

static weft_status begin_again(weft_decoder *decoder) {
    const uint32_t first = LEAST_PLAN_LENGTH;
    decoder->decoding = WEFT_DECODING_REEVALUATED;
    return weft_decoder_make_room(decoder,
                                  first < decoder->max_length ? first : decoder->max_length);
}

static uint32_t plan_length_for(const weft_decoder *decoder, uint32_t length) {
    const weft_model_info *info = &decoder->model_info;
    if (info->exact_length) {
        return info->exact_length;
    }
    uint64_t result = LEAST_PLAN_LENGTH;
    while (result < length) {
        result *= 2;
    }
    return result < info->max_length ? (uint32_t)result : info->max_length;
}

static weft_status make_buffers(weft_decoder *decoder) {
    const uint64_t count = (uint64_t)decoder->batch * decoder->plan_length;
    decoder->staging = weft_alloc_zero(&decoder->host, (size_t)count, sizeof *decoder->staging);
    if (!decoder->staging) {
        return weft_fail_memory(&decoder->host, "a decoder's tokens");
    }
    WEFT_TRY(weft_buffer_create(&decoder->input, decoder->device, count * sizeof *decoder->tokens));
    WEFT_TRY(weft_buffer_create(&decoder->output, decoder->device,
                                count * decoder->model_info.vocabulary * sizeof(float)));
    WEFT_TRY(weft_bindings_create(&decoder->bindings, decoder->plan));
    WEFT_TRY(weft_bindings_set(decoder->bindings, "tokens", decoder->input));
    return weft_bindings_set(decoder->bindings, "output", decoder->output);
}

static weft_status prepare_again(weft_decoder *decoder, uint32_t length) {
    const uint32_t plan_length = plan_length_for(decoder, length);
    if (plan_length == decoder->plan_length) {
        return WEFT_OK;
    }
    drop_plan(decoder);
    weft_status status =
        weft_model_compile(&decoder->plan, decoder->model, decoder->device, decoder->batch,
                           plan_length, false, &decoder->plan_params);
    if (status == WEFT_OK) {
        decoder->plan_length = plan_length;
        status = make_buffers(decoder);
    }
    if (status != WEFT_OK) {
        drop_plan(decoder);
    }
    return status;
}

/** Uploads the tokens, runs, and reads the logits behind the last of each sequence. */
static weft_status run_again(weft_decoder *decoder, const int32_t *lengths, float *logits) {
    const uint32_t n = decoder->plan_length;
    const uint32_t vocabulary = decoder->model_info.vocabulary;
    const uint64_t row_bytes = vocabulary * (uint64_t)sizeof *logits;
    memset(decoder->staging, 0, (size_t)decoder->batch * n * sizeof *decoder->staging);
    for (uint32_t b = 0; b < decoder->batch; b++) {
        memcpy(decoder->staging + (size_t)b * n, decoder->tokens + (size_t)b * decoder->token_room,
               (size_t)lengths[b] * sizeof *decoder->tokens);
    }
    WEFT_TRY(weft_buffer_write(decoder->input, 0, decoder->staging,
                               (uint64_t)decoder->batch * n * sizeof *decoder->staging));
    WEFT_TRY(weft_plan_run(decoder->plan, decoder->bindings));
    for (uint32_t b = 0; b < decoder->batch; b++) {
        const uint64_t row = (uint64_t)b * n + (uint32_t)lengths[b] - 1;
        WEFT_TRY(weft_buffer_read(decoder->output, row * row_bytes, logits + (size_t)b * vocabulary,
                                  row_bytes));
    }
    return WEFT_OK;
}

static uint32_t longest_of(const weft_decoder *decoder, const int32_t *lengths) {
    int32_t longest = 0;
    for (uint32_t b = 0; b < decoder->batch; b++) {
        longest = lengths[b] > longest ? lengths[b] : longest;
    }
    return (uint32_t)longest;
}

static weft_status step_again(weft_decoder *decoder, const int32_t *lengths, float *logits) {
    if (!logits) {
        return WEFT_OK;
    }
    WEFT_TRY(prepare_again(decoder, longest_of(decoder, lengths)));
    return run_again(decoder, lengths, logits);
}

/* ---- of a text that an encoder reads ---- */

static weft_status begin_cross(weft_decoder *decoder, bool again) {
    decoder->decoding = WEFT_DECODING_RECURRENT;
    decoder->plan_length = 1;
    decoder->given = weft_alloc_zero(&decoder->host, decoder->batch, sizeof *decoder->given);
    if (!decoder->given) {
        return weft_fail_memory(&decoder->host, "a decoder's tokens");
    }
    return again ? weft_fail(&decoder->host, WEFT_UNSUPPORTED,
                             "reevaluate: a text_to_text model is decoded with its states alone")
                 : weft_cross_decoder_create(&decoder->cross, decoder->model, decoder->device,
                                             decoder->batch, &decoder->plan_params);
}

/* Sequences that go on have equally many tokens; one that has ended gets any token. */
static weft_status step_cross(weft_decoder *decoder, const int32_t *tokens, float *logits) {
    for (uint32_t b = 0; b < decoder->batch; b++) {
        decoder->given[b] = tokens[b] < 0 ? 0 : tokens[b];
    }
    return weft_cross_decoder_step(decoder->cross, decoder->given,
                                   longest_of(decoder, decoder->lengths), logits);
}

/* The encoder reads the prompts; each sequence begins with the start token. */
static weft_status prompt_cross(weft_decoder *decoder, const int32_t *tokens, uint32_t count,
                                const int32_t *lengths, float *logits) {
    WEFT_TRY(weft_cross_decoder_read(
        decoder->cross,
        &(struct weft_cross_source){.data = tokens, .count = count, .lengths = lengths}));
    decoder->has_read = true;
    for (uint32_t b = 0; b < decoder->batch; b++) {
        decoder->given[b] = weft_cross_decoder_start(decoder->cross);
        decoder->next[b] = 1;
    }
    return weft_cross_decoder_step(decoder->cross, decoder->given, 0, logits);
}

weft_status weft_decoder_read_features(weft_decoder *decoder, const float *features,
                                       uint32_t count) {
    weft_decoder_reset(decoder);
    WEFT_TRY(weft_cross_decoder_read(
        decoder->cross, &(struct weft_cross_source){.data = features, .count = count}));
    decoder->has_read = true;
    return WEFT_OK;
}

/* ---- both ---- */

static weft_status check_model(const weft_decoder *decoder) {
    const weft_model_info *info = &decoder->model_info;
    const uint32_t positions = weft_model_text_positions(decoder->model);
    if (decoder->max_length > positions) {
        return weft_fail(&decoder->host, WEFT_INVALID_ARGUMENT,
                         "max_length %u is more than the model's %u positions", decoder->max_length,
                         positions);
    }
    if (!weft_model_writes(info)) {
        return weft_fail(
            &decoder->host, WEFT_UNSUPPORTED,
            "only causal language models over tokens, and those that make one text of another, can "
            "be decoded: this model's task is %s%s",
            weft_task_name(info->task), info->vocabulary ? "" : ", its input features");
    }
    if (info->position_size) {
        return weft_fail(
            &decoder->host, WEFT_UNSUPPORTED,
            "the model cannot be decoded, because it reads positions beside its tokens");
    }
    return WEFT_OK;
}

static weft_status begin(weft_decoder *decoder, const weft_decoder_params *params) {
    WEFT_TRY(weft_model_get_info(decoder->model, &decoder->model_info));
    decoder->max_length = params && params->max_length ? params->max_length
                                                       : weft_model_text_positions(decoder->model);
    WEFT_TRY(check_model(decoder));
    decoder->lengths = weft_alloc_zero(&decoder->host, decoder->batch, sizeof *decoder->lengths);
    decoder->ended = weft_alloc_zero(&decoder->host, decoder->batch, sizeof *decoder->ended);
    decoder->next = weft_alloc_zero(&decoder->host, decoder->batch, sizeof *decoder->next);
    if (!decoder->lengths || !decoder->ended || !decoder->next) {
        return weft_fail_memory(&decoder->host, "a decoder's lengths");
    }
    if (decoder->model_info.task == WEFT_TASK_TEXT_TO_TEXT) {
        return begin_cross(decoder, params && params->reevaluate);
    }
    const bool again = (params && params->reevaluate) || !weft_model_is_recurrent(decoder->model);
    return again ? begin_again(decoder) : begin_recurrent(decoder);
}

weft_status weft_decoder_create(weft_decoder **out, weft_model *model, weft_device *device,
                                const weft_decoder_params *params) {
    WEFT_ENTER;
    WEFT_GIVEN_AS(weft_model_host(model), "decoder, model, device", out, model, device);
    const weft_host *host = weft_model_host(model);
    weft_decoder *decoder = weft_alloc_zero(host, 1, sizeof *decoder);
    if (!decoder) {
        return weft_fail_memory(host, "a decoder");
    }
    decoder->host = *host;
    decoder->model = model;
    decoder->device = device;
    decoder->batch = params && params->batch ? params->batch : 1;
    decoder->plan_params = params && params->plan ? *params->plan : (weft_plan_params){0};
    weft_status status = begin(decoder, params);
    if (status != WEFT_OK) {
        weft_decoder_destroy(&decoder);
        return status;
    }
    *out = decoder;
    return WEFT_OK;
}

void weft_decoder_destroy(weft_decoder **address) {
    WEFT_ENTER;
    weft_decoder *decoder = address ? *address : NULL;
    if (!decoder) {
        return;
    }
    *address = NULL;
    const weft_host host = decoder->host;
    weft_cross_decoder_destroy(&decoder->cross);
    weft_plan_destroy(&decoder->prompt); /* before the plan whose states it has */
    drop_plan(decoder);
    weft_free(&host, decoder->position);
    weft_free(&host, decoder->number);
    weft_free(&host, decoder->given);
    weft_free(&host, decoder->lengths);
    weft_free(&host, decoder->next);
    weft_free(&host, decoder->ended);
    weft_free(&host, decoder->tokens);
    weft_free(&host, decoder);
}

static weft_status check_token(const weft_decoder *decoder, uint32_t sequence, int32_t token) {
    const weft_model_info *info = &decoder->model_info;
    return token >= 0 && (uint32_t)token < info->vocabulary
               ? WEFT_OK
               : weft_fail(&decoder->host, WEFT_INVALID_ARGUMENT,
                           "sequence %u: token %d is outside 0 to %u", sequence, token,
                           info->vocabulary - 1);
}

/* A token for each sequence that goes on, for which there is a position. */
static weft_status check_step(const weft_decoder *decoder, const int32_t *tokens) {
    for (uint32_t b = 0; b < decoder->batch; b++) {
        const bool ends = tokens[b] == WEFT_NO_TOKEN && decoder->lengths[b] > 0;
        if (decoder->cross && !decoder->has_read) {
            return weft_fail(&decoder->host, WEFT_INVALID_ARGUMENT,
                             "sequence %u has no prompt that the model's encoder would read", b);
        }
        if (!ends && decoder->ended[b]) {
            return weft_fail(&decoder->host, WEFT_INVALID_ARGUMENT,
                             "sequence %u has ended: it takes no token until the decoder is reset",
                             b);
        }
        if (!ends && (uint32_t)decoder->lengths[b] >= decoder->max_length) {
            return weft_fail(&decoder->host, WEFT_INVALID_ARGUMENT,
                             "sequence %u already fills all of its %u positions", b,
                             decoder->max_length);
        }
        WEFT_TRY(ends ? WEFT_OK : check_token(decoder, b, tokens[b]));
    }
    return WEFT_OK;
}

/* Each sequence has next[b] tokens afterwards, of which the new ones are in a row of `count`. */
static weft_status keep_tokens(weft_decoder *decoder, const int32_t *tokens, uint32_t count) {
    WEFT_TRY(weft_decoder_make_room(decoder, longest_of(decoder, decoder->next)));
    for (uint32_t b = 0; b < decoder->batch; b++) {
        const size_t before = (size_t)decoder->lengths[b];
        memcpy(decoder->tokens + (size_t)b * decoder->token_room + before,
               tokens + (size_t)b * count,
               ((size_t)decoder->next[b] - before) * sizeof *decoder->tokens);
    }
    return WEFT_OK;
}

/* The tokens of a step or a prompt. */
static weft_status take_tokens(weft_decoder *decoder, const int32_t *tokens, uint32_t count,
                               float *logits) {
    WEFT_TRY(keep_tokens(decoder, tokens, count));
    WEFT_TRY(weft_decoder_prepare_states(decoder));
    if (decoder->decoding == WEFT_DECODING_REEVALUATED) {
        return step_again(decoder, decoder->next, logits);
    }
    return count > 1 ? prompt_recurrent(decoder, tokens, count, decoder->next, logits)
                     : step_recurrent(decoder, tokens, logits);
}

weft_status weft_decoder_step(weft_decoder *decoder, const int32_t *tokens, float *logits) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(decoder, host), decoder, tokens);
    WEFT_TRY(check_step(decoder, tokens));
    for (uint32_t b = 0; b < decoder->batch; b++) {
        decoder->next[b] = decoder->lengths[b] + (tokens[b] == WEFT_NO_TOKEN ? 0 : 1);
    }
    WEFT_TRY(decoder->cross ? step_cross(decoder, tokens, logits)
                            : take_tokens(decoder, tokens, 1, logits));
    for (uint32_t b = 0; b < decoder->batch; b++) {
        decoder->lengths[b] = decoder->next[b];
        decoder->ended[b] = tokens[b] == WEFT_NO_TOKEN;
    }
    return WEFT_OK;
}

static weft_status check_prompt(const weft_decoder *decoder, const int32_t *tokens, uint32_t count,
                                const int32_t *lengths) {
    if (decoder->model_info.input_size > 0) {
        return weft_fail(
            &decoder->host, WEFT_UNSUPPORTED,
            "a prompt of tokens: expected the features that the model's encoder reads, "
            "as weft_transcriber gives them");
    }
    if (longest_of(decoder, decoder->lengths) > 0) {
        return weft_fail(&decoder->host, WEFT_INVALID_ARGUMENT,
                         "a prompt needs empty sequences, but they have %u tokens",
                         longest_of(decoder, decoder->lengths));
    }
    const uint32_t most = decoder->cross ? decoder->model_info.max_length : decoder->max_length;
    if (count == 0 || count > most) {
        return weft_fail(&decoder->host, WEFT_INVALID_ARGUMENT,
                         "a prompt of %u tokens is outside 1 to %u", count, most);
    }
    for (uint32_t b = 0; b < decoder->batch; b++) {
        if (lengths && (lengths[b] < 1 || (uint32_t)lengths[b] > count)) {
            return weft_fail(&decoder->host, WEFT_INVALID_ARGUMENT,
                             "sequence %u: a length of %d is outside 1 to %u", b, lengths[b],
                             count);
        }
        for (uint32_t i = 0; i < count; i++) {
            WEFT_TRY(check_token(decoder, b, tokens[(size_t)b * count + i]));
        }
    }
    return WEFT_OK;
}

weft_status weft_decoder_prompt_lengths(weft_decoder *decoder, const int32_t *tokens,
                                        uint32_t count, const int32_t *lengths, float *logits) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(decoder, host), decoder);
    WEFT_GIVEN_LIST(WEFT_HOST_OF(decoder, host), tokens, count);
    WEFT_TRY(check_prompt(decoder, tokens, count, lengths));
    for (uint32_t b = 0; b < decoder->batch; b++) {
        decoder->next[b] = lengths ? lengths[b] : (int32_t)count;
        decoder->ended[b] = false;
    }
    WEFT_TRY(decoder->cross ? prompt_cross(decoder, tokens, count, decoder->next, logits)
                            : take_tokens(decoder, tokens, count, logits));
    memcpy(decoder->lengths, decoder->next, decoder->batch * sizeof *decoder->lengths);
    return WEFT_OK;
}

weft_status weft_decoder_prompt(weft_decoder *decoder, const int32_t *tokens, uint32_t count,
                                float *logits) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(decoder, host), decoder);
    WEFT_GIVEN_LIST(WEFT_HOST_OF(decoder, host), tokens, count);
    return weft_decoder_prompt_lengths(decoder, tokens, count, NULL, logits);
}

void weft_decoder_reset(weft_decoder *decoder) {
    WEFT_ENTER;
    for (uint32_t b = 0; decoder && b < decoder->batch; b++) {
        decoder->lengths[b] = 0; /* states start anew at position 0 */
        decoder->ended[b] = false;
        decoder->is_clean = false;
        decoder->has_read = false;
    }
}

weft_status weft_decoder_get_info(const weft_decoder *decoder, weft_decoder_info *info) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(decoder, host), decoder, info);
    *info = (weft_decoder_info){.decoding = decoder->decoding,
                                .batch = decoder->batch,
                                .vocabulary = decoder->model_info.vocabulary,
                                .length = longest_of(decoder, decoder->lengths),
                                .max_length = decoder->max_length,
                                .plan_length = decoder->plan_length,
                                .state_bytes = decoder->cross
                                                   ? weft_cross_decoder_state_bytes(decoder->cross)
                                                   : decoder->state_bytes};
    const weft_plan *plan =
        decoder->cross ? weft_cross_decoder_plan(decoder->cross) : decoder->plan;
    return plan ? weft_plan_get_info(plan, &info->plan) : WEFT_OK;
}
