/* SPDX-License-Identifier: MIT */
/* What a generator is asked for: its parameters, and prompts as tokens. */
#include "model/texts/generator.h"

#include <math.h>
#include <string.h>

#include "core/try.h"
#include "model/network/architecture.h"
#include "model/network/network_decoder.h"
#include "model/texts/decoder.h"

#define USUAL_TOKENS 200U

static weft_status check_params(const weft_generator *generator,
                                const weft_generator_params *params) {
    const weft_host *host = &generator->host;
    const double temperature = params->sampling.temperature;
    const double penalty = params->repetition_penalty;
    if (params->prompt_count == 0 || !params->prompts) {
        return weft_fail(host, WEFT_INVALID_ARGUMENT, "prompts: expected at least 1, found 0");
    }
    if (params->state && (params->prompt_count != 1 || params->window > 0)) {
        return weft_fail(host, WEFT_INVALID_ARGUMENT,
                         "state: expected 1 prompt and no window, found %u and a window of %u",
                         params->prompt_count, params->window);
    }
    if (params->window > generator->info.max_length) {
        return weft_fail(host, WEFT_INVALID_ARGUMENT,
                         "window: expected 1 to the model's %u positions, or 0, found %u",
                         generator->info.max_length, params->window);
    }
    if (params->window > 0 && generator->info.task == WEFT_TASK_TEXT_TO_TEXT) {
        return weft_fail(host, WEFT_INVALID_ARGUMENT,
                         "window: expected 0 for a model that makes one text of another, found %u",
                         params->window);
    }
    if (!isfinite(temperature) || temperature < 0.0) {
        return weft_fail(host, WEFT_INVALID_ARGUMENT,
                         "temperature: expected a finite number of at least 0, found %g",
                         temperature);
    }
    if (!(params->sampling.top_p >= 0.0 && params->sampling.top_p <= 1.0)) {
        return weft_fail(host, WEFT_INVALID_ARGUMENT,
                         "top_p: expected a number from 0 to 1, found %g", params->sampling.top_p);
    }
    if (!isfinite(penalty) || penalty < 0.0) {
        return weft_fail(host, WEFT_INVALID_ARGUMENT,
                         "repetition_penalty: expected a finite number above 0, or 0 for none, "
                         "found %g",
                         penalty);
    }
    if (params->stop_count > 0 && !generator->has_text) {
        return weft_fail(host, WEFT_UNSUPPORTED,
                         "stop: expected a model with a tokenizer, found none");
    }
    return WEFT_OK;
}

static weft_status copy_lists(weft_generator *generator, const weft_generator_params *params) {
    const weft_model_info *info = &generator->info;
    const int32_t *tokens = params->end_tokens ? params->end_tokens : info->eos_tokens;
    const uint32_t count = params->end_tokens ? params->end_token_count : info->eos_token_count;
    WEFT_TRY(
        weft_stops_copy(&generator->stops, params->stops, params->stop_count, &generator->host));
    if (count > 0) {
        generator->end_tokens = weft_alloc_zero(&generator->host, count, sizeof *tokens);
        if (!generator->end_tokens) {
            return weft_fail_memory(&generator->host, "tokens that end a text");
        }
        memcpy(generator->end_tokens, tokens, count * sizeof *tokens);
        generator->end_token_count = count;
    }
    return WEFT_OK;
}

/* ---- prompts ---- */

/* How many tokens are made for a prompt; they and the prompt fit, or there is a window. */
static weft_status limit(weft_generator *generator, uint32_t number, uint32_t tokens) {
    struct weft_sequence *sequence = &generator->sequences[number];
    const uint32_t positions = generator->info.max_length;
    const uint32_t length = sequence->source > 0 ? sequence->source : sequence->prompt_count;
    if (generator->window > 0) {
        sequence->first = length > positions ? length - generator->window : 0;
        sequence->most = tokens > 0 ? tokens : USUAL_TOKENS;
        return WEFT_OK;
    }
    if (length > positions) {
        return weft_fail(&generator->host, WEFT_INVALID_ARGUMENT,
                         "prompt %u: expected at most the model's %u positions, found %u tokens; a "
                         "window would read the last ones",
                         number, positions, length);
    }
    /* What an encoder reads takes none of the positions. */
    const uint32_t before = sequence->source > 0 ? 1 : length;
    const uint32_t left = positions - before + 1; /* the last token needs no position */
    if (tokens > left) {
        return weft_fail(&generator->host, WEFT_INVALID_ARGUMENT,
                         "tokens: the model's %u positions leave %u tokens after prompt %u of %u, "
                         "found %u; a window would let the oldest go",
                         positions, left, number, before, tokens);
    }
    sequence->most = tokens > 0 ? tokens : left < USUAL_TOKENS ? left : USUAL_TOKENS;
    return WEFT_OK;
}

static weft_status check_tokens(const weft_generator *generator, uint32_t number,
                                const struct weft_sequence *sequence) {
    const uint32_t vocabulary = generator->info.vocabulary;
    for (uint32_t i = 0; i < sequence->count; i++) {
        if (sequence->tokens[i] < 0 || (uint32_t)sequence->tokens[i] >= vocabulary) {
            return weft_fail(&generator->host, WEFT_INVALID_ARGUMENT,
                             "prompt %u: token %d is outside 0 to %u", number, sequence->tokens[i],
                             vocabulary - 1);
        }
    }
    return WEFT_OK;
}

static weft_status take_tokens(struct weft_sequence *sequence, const weft_prompt *prompt,
                               const weft_host *host) {
    sequence->tokens = weft_alloc_zero(host, prompt->count, sizeof *sequence->tokens);
    if (!sequence->tokens) {
        return weft_fail_memory(host, "a prompt");
    }
    memcpy(sequence->tokens, prompt->tokens, prompt->count * sizeof *sequence->tokens);
    sequence->count = prompt->count;
    return WEFT_OK;
}

/* What an encoder has read is no part of the text, which begins with a token of the model. */
static weft_status begin_text(weft_generator *generator, struct weft_sequence *sequence) {
    if (!weft_grow(&generator->host, &sequence->tokens, sequence->count, &sequence->capacity,
                   sizeof *sequence->tokens)) {
        return weft_fail_memory(&generator->host, "a prompt");
    }
    sequence->source = sequence->count;
    sequence->tokens[sequence->count++] =
        weft_network_start_token(weft_model_network(generator->model));
    sequence->prompt_count = sequence->count;
    return WEFT_OK;
}

/* ---- a text that goes on from a state ---- */

weft_status weft_generator_open_state(weft_generator *generator, const weft_device *device,
                                      const weft_generator_params *params) {
    struct weft_state_owner owner;
    const bool again = params->reevaluate || !weft_model_is_recurrent(generator->model);
    if (generator->info.task == WEFT_TASK_TEXT_TO_TEXT) {
        return weft_fail(&generator->host, WEFT_UNSUPPORTED,
                         "state: a text_to_text model's texts have none that can be loaded");
    }
    WEFT_TRY(weft_state_owner_of(&owner, generator->model, device,
                                 again ? WEFT_DECODING_REEVALUATED : WEFT_DECODING_RECURRENT));
    return weft_state_file_open(&generator->state, params->state, &owner,
                                generator->info.max_length, &generator->host);
}

/* The text that was saved is the prompt. */
static weft_status take_saved(weft_generator *generator, struct weft_sequence *sequence) {
    const struct weft_state_text *text = &generator->state.text;
    const weft_prompt saved = {.tokens = text->tokens, .count = text->count + text->next};
    sequence->drawn = saved.count - text->given;
    return take_tokens(sequence, &saved, &generator->host);
}

static weft_status check_begins(const weft_generator *generator,
                                const struct weft_sequence *sequence) {
    const struct weft_state_text *text = &generator->state.text;
    for (uint32_t i = 0; i < text->count && i < sequence->count; i++) {
        if (sequence->tokens[i] != text->tokens[i]) {
            return weft_fail(&generator->host, WEFT_INVALID_ARGUMENT,
                             "prompt 0: token %u: expected %d, as in the state's text, found %d", i,
                             text->tokens[i], sequence->tokens[i]);
        }
    }
    return sequence->count > text->count
               ? WEFT_OK
               : weft_fail(&generator->host, WEFT_INVALID_ARGUMENT,
                           "prompt 0: expected more than the state's %u tokens, found %u",
                           text->count, sequence->count);
}

static weft_status take_prompt(weft_generator *generator, uint32_t number,
                               const weft_generator_params *params) {
    const weft_prompt *prompt = &params->prompts[number];
    struct weft_sequence *sequence = &generator->sequences[number];
    if (prompt->text) {
        WEFT_TRY(weft_model_tokenize_prompt(generator->model, prompt->text, prompt->size,
                                            &sequence->tokens, &sequence->count));
    } else if (prompt->tokens && prompt->count > 0) {
        WEFT_TRY(take_tokens(sequence, prompt, &generator->host));
    } else if (generator->state.tensors) {
        WEFT_TRY(take_saved(generator, sequence));
    }
    if (sequence->count == 0) {
        return weft_fail(&generator->host, WEFT_INVALID_ARGUMENT, "prompt %u: %s", number,
                         !prompt->text       ? "there are no tokens"
                         : prompt->size == 0 ? "the text is empty"
                                             : "the text has no tokens");
    }
    sequence->capacity = sequence->prompt_count = sequence->count;
    sequence->seed = params->seeds ? params->seeds[number] : params->sampling.seed;
    WEFT_TRY(check_tokens(generator, number, sequence));
    if (generator->state.tensors) {
        WEFT_TRY(check_begins(generator, sequence));
    }
    if (generator->info.task == WEFT_TASK_TEXT_TO_TEXT) {
        WEFT_TRY(begin_text(generator, sequence));
    }
    WEFT_TRY(limit(generator, number, params->tokens));
    if (!generator->has_text || sequence->source > 0) {
        return WEFT_OK;
    }
    bool stopped = false;
    const struct weft_text_tokens text = {.tokens = sequence->tokens,
                                          .count = sequence->count,
                                          .is_prompt = true,
                                          .is_whole =
                                              strcmp(generator->info.tokenizer, "bytes") == 0};
    return weft_generated_text_take(&sequence->text, &stopped, generator->model, &text,
                                    &generator->stops);
}

weft_status weft_generator_read(weft_generator *generator, const weft_generator_params *params) {
    generator->has_text = strcmp(generator->info.tokenizer, "none") != 0;
    generator->window = params->window;
    generator->sampling = params->sampling;
    generator->repetition_penalty = params->repetition_penalty;
    WEFT_TRY(check_params(generator, params));
    WEFT_TRY(copy_lists(generator, params));
    generator->sequences =
        weft_alloc_zero(&generator->host, params->prompt_count, sizeof *generator->sequences);
    if (!generator->sequences) {
        return weft_fail_memory(&generator->host, "prompts");
    }
    generator->count = params->prompt_count;
    for (uint32_t i = 0; i < generator->count; i++) {
        WEFT_TRY(take_prompt(generator, i, params));
    }
    return WEFT_OK;
}
