/* SPDX-License-Identifier: MIT */
/*
 * Several texts in one decoder, each with as many tokens in it as it would have alone: a run reads all prompts, and each of
 * the next ones adds a token to every text that goes on. So a text depends on nothing but its prompt, and one that fills
 * the positions does so when it would alone.
 */
#include "model/texts/generator.h"

#include <string.h>

#include "core/given.h"
#include "core/try.h"
#include "model/network/architecture.h"
#include "model/texts/decoder.h"

const char *weft_ending_name(weft_ending ending) {
    static const char *const names[] = {"none", "length", "end_token", "stop", "caller"};
    return (unsigned)ending < sizeof names / sizeof names[0] ? names[ending] : "unknown";
}

/* ---- making and releasing ---- */

/* Tokens of a prompt that are read. */
static uint32_t read_of(const struct weft_sequence *sequence) {
    return sequence->source > 0 ? sequence->source : sequence->prompt_count - sequence->first;
}

/* Most positions that a sequence needs, and most that a prompt has. */
static void find_lengths(const weft_generator *generator, uint32_t *longest, uint32_t *prompt) {
    *longest = 1;
    *prompt = 1;
    for (uint32_t i = 0; i < generator->count; i++) {
        const struct weft_sequence *sequence = &generator->sequences[i];
        const uint32_t read = read_of(sequence);
        const uint32_t before = sequence->source > 0 ? 1 : read; /* in the decoder */
        const uint64_t needed = (uint64_t)before + sequence->most - 1;
        const uint32_t positions = generator->info.max_length;
        const uint32_t own = needed < positions ? (uint32_t)needed : positions;
        *longest = own > *longest ? own : *longest;
        *prompt = read > *prompt ? read : *prompt;
    }
}

static weft_status make_decoder(weft_generator *generator, weft_device *device,
                                const weft_generator_params *params) {
    const weft_host *host = &generator->host;
    uint32_t longest = 0;
    uint32_t prompt = 0;
    find_lengths(generator, &longest, &prompt);
    WEFT_TRY(weft_decoder_create(
        &generator->decoder, generator->model, device,
        weft_decoder_params(.batch = generator->count, .max_length = longest,
                            .reevaluate = params->reevaluate, .plan = params->plan)));
    /* What slides keeps the other texts as they are: they may have all positions. */
    const uint32_t most = generator->window > 0 ? longest : prompt;
    generator->fed = weft_alloc_zero(host, (size_t)generator->count * most, sizeof *generator->fed);
    generator->lengths = weft_alloc_zero(host, generator->count, sizeof *generator->lengths);
    generator->logits = weft_alloc_zero(host, (size_t)generator->count * generator->info.vocabulary,
                                        sizeof *generator->logits);
    return generator->fed && generator->lengths && generator->logits
               ? WEFT_OK
               : weft_fail_memory(host, "a generator's tokens");
}

static weft_status begin(weft_generator *generator, weft_device *device,
                         const weft_generator_params *params) {
    WEFT_TRY(weft_model_get_info(generator->model, &generator->info));
    const weft_model_info *info = &generator->info;
    if (!weft_model_writes(info)) {
        return weft_decoder_create(&generator->decoder, generator->model, device,
                                   NULL); /* says why not */
    }
    if (info->input_size > 0) {
        return weft_fail(&generator->host, WEFT_UNSUPPORTED,
                         "prompts: expected a model that reads texts, found one that reads speech: "
                         "weft_transcriber, weft transcribe and transcribe in Python give it that");
    }
    if (params->state) {
        WEFT_TRY(weft_generator_open_state(generator, device, params));
    }
    WEFT_TRY(weft_generator_read(generator, params));
    return make_decoder(generator, device, params);
}

weft_status weft_generator_create(weft_generator **out, weft_model *model, weft_device *device,
                                  const weft_generator_params *params) {
    WEFT_ENTER;
    WEFT_GIVEN_AS(weft_model_host(model), "generator, model, device, params", out, model, device,
                  params);
    const weft_host *host = weft_model_host(model);
    weft_generator *generator = weft_alloc_zero(host, 1, sizeof *generator);
    if (!generator) {
        return weft_fail_memory(host, "a generator");
    }
    generator->host = *host;
    generator->model = model;
    weft_status status = begin(generator, device, params);
    if (status != WEFT_OK) {
        weft_generator_destroy(&generator);
        return status;
    }
    *out = generator;
    return WEFT_OK;
}

void weft_generator_destroy(weft_generator **address) {
    WEFT_ENTER;
    weft_generator *generator = address ? *address : NULL;
    if (!generator) {
        return;
    }
    *address = NULL;
    const weft_host host = generator->host;
    weft_decoder_destroy(&generator->decoder);
    weft_state_file_close(&generator->state);
    for (uint32_t i = 0; i < generator->count; i++) {
        weft_generated_text_clear(&generator->sequences[i].text, generator->model);
        weft_free(&host, generator->sequences[i].tokens);
    }
    weft_stops_clear(&generator->stops, &host);
    weft_free(&host, generator->sequences);
    weft_free(&host, generator->end_tokens);
    weft_free(&host, generator->fed);
    weft_free(&host, generator->lengths);
    weft_free(&host, generator->logits);
    weft_free(&host, generator);
}

/* ---- feeding ---- */

static bool goes_on(const struct weft_sequence *sequence) {
    return sequence->ending == WEFT_ENDING_NONE;
}

/* Begins all sequences anew with the tokens that each has in the decoder: of those that have ended, one. */
static weft_status feed_beginnings(weft_generator *generator) {
    uint32_t longest = 1;
    for (uint32_t i = 0; i < generator->count; i++) {
        const struct weft_sequence *sequence = &generator->sequences[i];
        const uint32_t whole =
            sequence->source > 0 ? sequence->source : sequence->count - sequence->first;
        const uint32_t length = goes_on(sequence) ? whole : 1;
        generator->lengths[i] = (int32_t)length;
        longest = length > longest ? length : longest;
    }
    memset(generator->fed, 0, (size_t)generator->count * longest * sizeof *generator->fed);
    for (uint32_t i = 0; i < generator->count; i++) {
        const struct weft_sequence *sequence = &generator->sequences[i];
        memcpy(generator->fed + (size_t)i * longest, sequence->tokens + sequence->first,
               (size_t)generator->lengths[i] * sizeof *generator->fed);
    }
    weft_decoder_reset(generator->decoder);
    return weft_decoder_prompt_lengths(generator->decoder, generator->fed, longest,
                                       generator->lengths, generator->logits);
}

/* The state's tokens are there already; the text's others follow one by one. */
static weft_status feed_state(weft_generator *generator) {
    const struct weft_sequence *sequence = &generator->sequences[0];
    uint32_t read = generator->state.text.count;
    WEFT_TRY(weft_decoder_take(generator->decoder, 0, &generator->state));
    weft_state_file_close(&generator->state);
    for (; read < sequence->count; read++) {
        const bool is_last = read + 1 == sequence->count;
        WEFT_TRY(weft_decoder_step(generator->decoder, &sequence->tokens[read],
                                   is_last ? generator->logits : NULL));
    }
    generator->lengths[0] = (int32_t)read;
    return WEFT_OK;
}

/* Of texts that fill all positions the last tokens become what they begin with. */
static bool slide(weft_generator *generator) {
    bool slides = false;
    for (uint32_t i = 0; i < generator->count; i++) {
        struct weft_sequence *sequence = &generator->sequences[i];
        if (generator->window > 0 && goes_on(sequence) &&
            (uint32_t)generator->lengths[i] == generator->info.max_length) {
            sequence->first = sequence->count - generator->window;
            slides = true;
        }
    }
    return slides;
}

/* The token that each text has chosen. */
static weft_status feed(weft_generator *generator) {
    if (slide(generator)) {
        return feed_beginnings(generator);
    }
    for (uint32_t i = 0; i < generator->count; i++) {
        const struct weft_sequence *sequence = &generator->sequences[i];
        generator->fed[i] =
            goes_on(sequence) ? sequence->tokens[sequence->count - 1] : WEFT_NO_TOKEN;
        generator->lengths[i] += goes_on(sequence) ? 1 : 0;
    }
    return weft_decoder_step(generator->decoder, generator->fed, generator->logits);
}

/* ---- choosing ---- */

static weft_status take_text(weft_generator *generator, struct weft_sequence *sequence) {
    if (!generator->has_text) {
        return WEFT_OK;
    }
    bool stopped = false;
    const uint32_t first = sequence->source > 0 ? sequence->prompt_count : 0;
    const uint32_t end = sequence->ending == WEFT_ENDING_END_TOKEN ? 1 : 0;
    const struct weft_text_tokens text = {.tokens = sequence->tokens + first,
                                          .count = sequence->count - first - end,
                                          .is_whole = sequence->ending != WEFT_ENDING_NONE};
    WEFT_TRY(weft_generated_text_take(&sequence->text, &stopped, generator->model, &text,
                                      &generator->stops));
    sequence->ending = stopped ? WEFT_ENDING_STOP : sequence->ending;
    return WEFT_OK;
}

static bool is_end_token(const weft_generator *generator, int32_t token) {
    for (uint32_t i = 0; i < generator->end_token_count; i++) {
        if (generator->end_tokens[i] == token) {
            return true;
        }
    }
    return false;
}

static weft_status append(weft_generator *generator, struct weft_sequence *sequence,
                          int32_t token) {
    if (!weft_grow(&generator->host, &sequence->tokens, sequence->count, &sequence->capacity,
                   sizeof *sequence->tokens)) {
        return weft_fail_memory(&generator->host, "a generator's tokens");
    }
    sequence->tokens[sequence->count++] = token;
    if (is_end_token(generator, token)) {
        sequence->ending = WEFT_ENDING_END_TOKEN;
    } else if (sequence->count - sequence->prompt_count == sequence->most) {
        sequence->ending = WEFT_ENDING_LENGTH;
    }
    return take_text(generator, sequence);
}

static weft_status choose(weft_generator *generator, uint32_t number) {
    struct weft_sequence *sequence = &generator->sequences[number];
    const uint32_t vocabulary = generator->info.vocabulary;
    float *logits = generator->logits + (size_t)number * vocabulary;
    weft_sampling sampling = generator->sampling;
    uint32_t token = 0;
    sampling.seed = sequence->seed;
    if (generator->repetition_penalty > 0.0) {
        WEFT_TRY(weft_penalize(logits, vocabulary, sequence->tokens + sequence->source,
                               sequence->count - sequence->source, generator->repetition_penalty,
                               &generator->host));
    }
    const uint64_t index = sequence->drawn + sequence->count - sequence->prompt_count;
    WEFT_TRY(weft_sample(&token, logits, vocabulary, &sampling, index, &generator->host));
    return append(generator, sequence, (int32_t)token);
}

static bool are_done(const weft_generator *generator) {
    for (uint32_t i = 0; i < generator->count; i++) {
        if (generator->sequences[i].ending == WEFT_ENDING_NONE) {
            return false;
        }
    }
    return true;
}

static weft_status go_on(weft_generator *generator) {
    if (!generator->begun) {
        generator->begun = generator->has_logits = true;
        return generator->state.tensors ? feed_state(generator) : feed_beginnings(generator);
    }
    if (!generator->has_logits) {
        WEFT_TRY(feed(generator));
    }
    generator->has_logits = false;
    for (uint32_t i = 0; i < generator->count; i++) {
        if (goes_on(&generator->sequences[i])) {
            WEFT_TRY(choose(generator, i));
        }
    }
    return WEFT_OK;
}

weft_status weft_generator_step(weft_generator *generator, bool *done) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(generator, host), generator, done);
    if (generator->failed != WEFT_OK) {
        return weft_fail(&generator->host, generator->failed,
                         "weft_generator_step: an earlier step has failed");
    }
    if (!are_done(generator)) {
        generator->failed = go_on(generator);
        WEFT_TRY(generator->failed);
    }
    *done = are_done(generator);
    return WEFT_OK;
}

/* ---- what there is ---- */

weft_status weft_generator_end(weft_generator *generator, uint32_t prompt) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(generator, host), generator);
    if (prompt >= generator->count) {
        return WEFT_NOT_FOUND;
    }
    struct weft_sequence *sequence = &generator->sequences[prompt];
    if (sequence->ending != WEFT_ENDING_NONE) {
        return WEFT_OK;
    }
    sequence->ending = WEFT_ENDING_CALLER;
    return take_text(generator, sequence);
}

/* A text that an earlier state began has been given up to where its random numbers begin. */
static weft_status save(weft_generator *generator, uint32_t number, const char *path) {
    const struct weft_sequence *sequence = &generator->sequences[number];
    const uint32_t read = (uint32_t)generator->lengths[number];
    if (!generator->begun) {
        return weft_fail(&generator->host, WEFT_INVALID_ARGUMENT,
                         "prompt %u has no state before the first step", number);
    }
    if (sequence->first > 0) {
        return weft_fail(&generator->host, WEFT_UNSUPPORTED,
                         "prompt %u: a window has let its oldest tokens go: a state of the others "
                         "would be another text's",
                         number);
    }
    return weft_decoder_write(generator->decoder, number, path, sequence->tokens + read,
                              sequence->count - read,
                              sequence->prompt_count - (uint32_t)sequence->drawn);
}

weft_status weft_generator_save(weft_generator *generator, uint32_t prompt, const char *path) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(generator, host), generator, path);
    return prompt < generator->count ? save(generator, prompt, path) : WEFT_NOT_FOUND;
}

weft_status weft_generator_get_text(const weft_generator *generator, uint32_t prompt,
                                    weft_generated *generated) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(generator, host), generator, generated);
    if (prompt >= generator->count) {
        return WEFT_NOT_FOUND;
    }
    const struct weft_sequence *sequence = &generator->sequences[prompt];
    const struct weft_generated_text *text = &sequence->text;
    *generated = (weft_generated){.tokens = sequence->tokens + sequence->prompt_count,
                                  .count = sequence->count - sequence->prompt_count,
                                  .text = text->text ? text->text + text->begin : "",
                                  .text_size = text->text ? text->end - text->begin : 0,
                                  .prompt_count = sequence->source > 0 ? sequence->source
                                                                       : sequence->prompt_count,
                                  .ending = sequence->ending};
    return WEFT_OK;
}

weft_status weft_generator_get_decoder_info(const weft_generator *generator,
                                            weft_decoder_info *info) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(generator, host), generator, info);
    return weft_decoder_get_info(generator->decoder, info);
}
