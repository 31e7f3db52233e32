/* SPDX-License-Identifier: MIT */
/*
 * Several texts in one decoder. All have as many tokens in it at any time: a text whose prompt is longer is fed from it
 * while others are fed what they have chosen. So a text depends on nothing but its prompt, and one that fills the
 * positions does so when it would alone.
 */
#include "model/generator.h"

#include "core/try.h"
#include "model/architecture.h"

const char *weft_ending_name(weft_ending ending) {
    static const char *const names[] = {"none", "length", "end_token", "stop", "caller"};
    return (unsigned)ending < sizeof names / sizeof names[0] ? names[ending] : "unknown";
}

/* ---- making and releasing ---- */

/* Most positions that a sequence needs, and fewest that the prompts have. */
static void find_lengths(const weft_generator *generator, uint32_t *longest, uint32_t *common) {
    *longest = 1;
    *common = UINT32_MAX;
    for (uint32_t i = 0; i < generator->count; i++) {
        const struct weft_sequence *sequence = &generator->sequences[i];
        const uint32_t read = sequence->prompt_count - sequence->first;
        const uint64_t needed = (uint64_t)read + sequence->most - 1;
        const uint32_t positions = generator->info.max_length;
        const uint32_t own = needed < positions ? (uint32_t)needed : positions;
        *longest = own > *longest ? own : *longest;
        *common = read < *common ? read : *common;
    }
}

static weft_status make_decoder(weft_generator *generator, weft_device *device,
                                const weft_generator_params *params) {
    const weft_host *host = &generator->host;
    uint32_t longest = 0;
    uint32_t common = 0;
    find_lengths(generator, &longest, &common);
    WEFT_TRY(weft_decoder_create(
        &generator->decoder, generator->model, device,
        weft_decoder_params(.batch = generator->count, .max_length = longest,
                            .reevaluate = params->reevaluate, .plan = params->plan)));
    const uint32_t most = common > generator->window ? common : generator->window;
    generator->length = common; /* once it has begun */
    generator->fed = weft_alloc_zero(host, (size_t)generator->count * most, sizeof *generator->fed);
    generator->logits = weft_alloc_zero(host, (size_t)generator->count * generator->info.vocabulary,
                                        sizeof *generator->logits);
    return generator->fed && generator->logits ? WEFT_OK
                                               : weft_fail_memory(host, "a generator's tokens");
}

static weft_status begin(weft_generator *generator, weft_device *device,
                         const weft_generator_params *params) {
    WEFT_TRY(weft_model_get_info(generator->model, &generator->info));
    const weft_model_info *info = &generator->info;
    if (info->task != WEFT_TASK_CAUSAL_LM || info->vocabulary == 0) {
        return weft_decoder_create(&generator->decoder, generator->model, device,
                                   NULL); /* says why not */
    }
    WEFT_TRY(weft_generator_read(generator, params));
    return make_decoder(generator, device, params);
}

weft_status weft_generator_create(weft_generator **out, weft_model *model, weft_device *device,
                                  const weft_generator_params *params) {
    WEFT_ENTER;
    if (!out || !model || !device || !params) {
        return weft_fail(model ? weft_model_host(model) : NULL, WEFT_INVALID_ARGUMENT,
                         "weft_generator_create: null argument");
    }
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
    for (uint32_t i = 0; i < generator->count; i++) {
        weft_generated_text_clear(&generator->sequences[i].text, generator->model);
        weft_free(&host, generator->sequences[i].tokens);
    }
    weft_stops_clear(&generator->stops, &host);
    weft_free(&host, generator->sequences);
    weft_free(&host, generator->end_tokens);
    weft_free(&host, generator->fed);
    weft_free(&host, generator->logits);
    weft_free(&host, generator);
}

/* ---- feeding ---- */

/* Token `position` of what the decoder has of a sequence; any, where that has ended before. */
static int32_t token_at(const struct weft_sequence *sequence, uint32_t position) {
    const uint64_t index = (uint64_t)sequence->first + position;
    return index < sequence->count ? sequence->tokens[index] : 0;
}

static weft_status feed_beginning(weft_generator *generator, uint32_t count) {
    for (uint32_t i = 0; i < generator->count; i++) {
        for (uint32_t p = 0; p < count; p++) {
            generator->fed[(size_t)i * count + p] = token_at(&generator->sequences[i], p);
        }
    }
    WEFT_TRY(weft_decoder_prompt(generator->decoder, generator->fed, count, generator->logits));
    generator->length = count;
    return WEFT_OK;
}

/* The last tokens, the next one among them, become what sequences begin with. */
static weft_status slide(weft_generator *generator) {
    for (uint32_t i = 0; i < generator->count; i++) {
        generator->sequences[i].first += generator->length + 1 - generator->window;
    }
    weft_decoder_reset(generator->decoder);
    return feed_beginning(generator, generator->window);
}

static bool is_fed(const weft_generator *generator, const struct weft_sequence *sequence) {
    return (uint64_t)sequence->first + generator->length == sequence->count;
}

static bool is_waiting(const weft_generator *generator, uint32_t length) {
    for (uint32_t i = 0; i < generator->count; i++) {
        const struct weft_sequence *sequence = &generator->sequences[i];
        if (sequence->ending == WEFT_ENDING_NONE &&
            (uint64_t)sequence->first + length == sequence->count) {
            return true;
        }
    }
    return false;
}

static weft_status feed(weft_generator *generator) {
    if (generator->length == generator->info.max_length) {
        return slide(generator);
    }
    for (uint32_t i = 0; i < generator->count; i++) {
        generator->fed[i] = token_at(&generator->sequences[i], generator->length);
    }
    const bool wanted = is_waiting(generator, generator->length + 1);
    WEFT_TRY(
        weft_decoder_step(generator->decoder, generator->fed, wanted ? generator->logits : NULL));
    generator->length++;
    return WEFT_OK;
}

/* ---- choosing ---- */

static weft_status take_text(weft_generator *generator, struct weft_sequence *sequence) {
    if (!generator->has_text) {
        return WEFT_OK;
    }
    bool stopped = false;
    const struct weft_text_tokens text = {
        .tokens = sequence->tokens,
        .count = sequence->count - (sequence->ending == WEFT_ENDING_END_TOKEN ? 1U : 0U),
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
        WEFT_TRY(weft_penalize(logits, vocabulary, sequence->tokens, sequence->count,
                               generator->repetition_penalty, &generator->host));
    }
    const uint64_t index = sequence->count - sequence->prompt_count;
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
        return feed_beginning(generator, generator->length);
    }
    if (!generator->has_logits) {
        WEFT_TRY(feed(generator));
    }
    generator->has_logits = false;
    for (uint32_t i = 0; i < generator->count; i++) {
        const struct weft_sequence *sequence = &generator->sequences[i];
        if (sequence->ending == WEFT_ENDING_NONE && is_fed(generator, sequence)) {
            WEFT_TRY(choose(generator, i));
        }
    }
    return WEFT_OK;
}

weft_status weft_generator_step(weft_generator *generator, bool *done) {
    WEFT_ENTER;
    if (!generator || !done) {
        return weft_fail(generator ? &generator->host : NULL, WEFT_INVALID_ARGUMENT,
                         "weft_generator_step: null argument");
    }
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
    if (!generator || prompt >= generator->count) {
        return generator ? WEFT_NOT_FOUND : WEFT_INVALID_ARGUMENT;
    }
    struct weft_sequence *sequence = &generator->sequences[prompt];
    if (sequence->ending != WEFT_ENDING_NONE) {
        return WEFT_OK;
    }
    sequence->ending = WEFT_ENDING_CALLER;
    return take_text(generator, sequence);
}

weft_status weft_generator_get_text(const weft_generator *generator, uint32_t prompt,
                                    weft_generated *generated) {
    WEFT_ENTER;
    if (!generator || !generated) {
        return WEFT_INVALID_ARGUMENT;
    }
    if (prompt >= generator->count) {
        return WEFT_NOT_FOUND;
    }
    const struct weft_sequence *sequence = &generator->sequences[prompt];
    const struct weft_generated_text *text = &sequence->text;
    *generated = (weft_generated){.tokens = sequence->tokens + sequence->prompt_count,
                                  .count = sequence->count - sequence->prompt_count,
                                  .text = text->text ? text->text + text->begin : "",
                                  .text_size = text->text ? text->end - text->begin : 0,
                                  .prompt_count = sequence->prompt_count,
                                  .ending = sequence->ending};
    return WEFT_OK;
}

weft_status weft_generator_get_decoder_info(const weft_generator *generator,
                                            weft_decoder_info *info) {
    WEFT_ENTER;
    return generator && info ? weft_decoder_get_info(generator->decoder, info)
                             : WEFT_INVALID_ARGUMENT;
}
