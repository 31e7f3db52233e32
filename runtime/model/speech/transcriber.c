/* SPDX-License-Identifier: MIT */
/* Speech to text, a window at a time: its spectrum, the encoder, then tokens until the model ends the text. */
#include <weft/speech.h>

#include <float.h>
#include <math.h>
#include <string.h>

#include "core/given.h"
#include "core/host.h"
#include "core/try.h"
#include "model/network/architecture.h"
#include "model/network/network_decoder.h"
#include "model/speech/spectrum.h"
#include "model/speech/time_stamps.h"
#include "model/speech_rules.h"
#include "model/texts/decoder.h"

#define NO_TOKEN     (-1)
#define NO_LANGUAGE  UINT32_MAX
#define MOST_PREFIX  4U /* tokens that a text begins with: start, language, task, no time stamps */
#define QUIET_PARTS  5U /* of 10 ms each, among which the quietest stretch is looked for */
#define CUT_FRACTION 6U /* in the last so-many-th of a window */
#define PARTS_SECOND 100U /* of 10 ms */

struct segment {
    uint64_t begin, end, window; /* samples */
    uint32_t language;           /* or NO_LANGUAGE */
    char *text;
    int32_t *tokens;
    uint32_t count, capacity;
    bool is_cut;
};

struct weft_transcriber {
    weft_host host;
    weft_model *model;
    weft_device *device;
    const struct weft_speech_rules *rules;
    weft_model_info info;
    weft_plan_params params;
    weft_plan *spectrum; /* null before the first window */
    weft_decoder *decoder;
    float *samples;  /* [weft_spectrum_samples] */
    float *features; /* [frames, bands] */
    float *logits;   /* [vocabulary] */
    /* The transcript. */
    const float *sound; /* null: none has begun */
    uint64_t count, at; /* samples, and those that have been read */
    uint32_t language;
    bool translates, has_times;
    uint32_t most; /* tokens of a window */
    weft_status failed;
    struct segment *segments;
    uint32_t segment_count, segment_capacity;
};

/* ---- making and releasing ---- */

/* Tokens of each text before the first that the model chooses. */
static uint32_t prefix_size(const struct weft_speech_rules *rules, bool has_times) {
    return (rules->language_count > 0 ? MOST_PREFIX : 2) - (has_times ? 1 : 0);
}

static weft_status check_model(weft_model *model, const weft_model_info *info) {
    const weft_host *host = weft_model_host(model);
    const struct weft_speech_rules *rules = weft_model_speech_rules(model);
    if (info->task != WEFT_TASK_TEXT_TO_TEXT || info->input_size == 0) {
        return weft_fail(host, WEFT_UNSUPPORTED,
                         "model: expected one that reads speech, of the family whisper, found %s",
                         info->architecture);
    }
    if (!rules) {
        return weft_fail(
            host, WEFT_UNSUPPORTED,
            "model: expected preprocessor_config.json and generation_config.json in its "
            "folder, found not both");
    }
    if (rules->no_time_stamps == NO_TOKEN) {
        return weft_fail(
            host, WEFT_UNSUPPORTED,
            "generation_config.json: field \"no_timestamps_token_id\": expected a token, "
            "as texts are written without time stamps, found none");
    }
    if (strcmp(info->tokenizer, "none") == 0) {
        return weft_fail(host, WEFT_UNSUPPORTED,
                         "model: expected one with a tokenizer, found none");
    }
    return weft_model_text_positions(model) > prefix_size(rules, false)
               ? WEFT_OK
               : weft_fail(host, WEFT_UNSUPPORTED,
                           "config.json: field \"max_target_positions\": expected more than %u, "
                           "found %u",
                           prefix_size(rules, false), weft_model_text_positions(model));
}

static weft_status make(weft_transcriber *transcriber) {
    const weft_host *host = &transcriber->host;
    const struct weft_speech_rules *rules = transcriber->rules;
    transcriber->samples =
        weft_alloc_zero(host, weft_spectrum_samples(rules), sizeof *transcriber->samples);
    transcriber->features =
        weft_alloc_zero(host, (size_t)rules->frames * rules->bands, sizeof *transcriber->features);
    transcriber->logits =
        weft_alloc_zero(host, transcriber->info.vocabulary, sizeof *transcriber->logits);
    if (!transcriber->samples || !transcriber->features || !transcriber->logits) {
        return weft_fail_memory(host, "a transcriber's window");
    }
    return weft_decoder_create(&transcriber->decoder, transcriber->model, transcriber->device,
                               weft_decoder_params(.plan = &transcriber->params));
}

weft_status weft_transcriber_create(weft_transcriber **out, weft_model *model, weft_device *device,
                                    const weft_plan_params *plan) {
    WEFT_ENTER;
    WEFT_GIVEN_AS(weft_model_host(model), "transcriber, model, device", out, model, device);
    const weft_host *host = weft_model_host(model);
    weft_model_info info;
    WEFT_TRY(weft_model_get_info(model, &info));
    WEFT_TRY(check_model(model, &info));
    weft_transcriber *transcriber = weft_alloc_zero(host, 1, sizeof *transcriber);
    if (!transcriber) {
        return weft_fail_memory(host, "a transcriber");
    }
    transcriber->host = *host;
    transcriber->model = model;
    transcriber->device = device;
    transcriber->rules = weft_model_speech_rules(model);
    transcriber->info = info;
    transcriber->params = plan ? *plan : (weft_plan_params){0};
    const weft_status status = make(transcriber);
    if (status != WEFT_OK) {
        weft_transcriber_destroy(&transcriber);
        return status;
    }
    *out = transcriber;
    return WEFT_OK;
}

static void clear_segment(weft_transcriber *transcriber, struct segment *segment) {
    weft_text_free(transcriber->model, &segment->text);
    weft_free(&transcriber->host, segment->tokens);
    segment->tokens = NULL;
}

static void forget(weft_transcriber *transcriber) {
    for (uint32_t i = 0; i < transcriber->segment_count; i++) {
        clear_segment(transcriber, &transcriber->segments[i]);
    }
    transcriber->segment_count = 0;
    transcriber->sound = NULL;
    transcriber->failed = WEFT_OK;
}

void weft_transcriber_destroy(weft_transcriber **address) {
    WEFT_ENTER;
    weft_transcriber *transcriber = address ? *address : NULL;
    if (!transcriber) {
        return;
    }
    *address = NULL;
    const weft_host host = transcriber->host;
    forget(transcriber);
    weft_decoder_destroy(&transcriber->decoder);
    weft_plan_destroy(&transcriber->spectrum);
    weft_free(&host, transcriber->segments);
    weft_free(&host, transcriber->samples);
    weft_free(&host, transcriber->features);
    weft_free(&host, transcriber->logits);
    weft_free(&host, transcriber);
}

weft_status weft_transcriber_get_info(const weft_transcriber *transcriber,
                                      weft_transcriber_info *info) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(transcriber, host), transcriber, info);
    const struct weft_speech_rules *rules = transcriber->rules;
    *info = (weft_transcriber_info){.rate = rules->rate,
                                    .window = rules->window,
                                    .bands = rules->bands,
                                    .language_count = rules->language_count};
    return WEFT_OK;
}

const char *weft_transcriber_language(const weft_transcriber *transcriber, uint32_t index) {
    return transcriber && index < transcriber->rules->language_count
               ? transcriber->rules->languages[index].code
               : NULL;
}

/* ---- what is asked for ---- */

static weft_status find_language(uint32_t *language, const weft_transcriber *transcriber,
                                 const char *code) {
    const struct weft_speech_rules *rules = transcriber->rules;
    *language = NO_LANGUAGE;
    if (!code) {
        return WEFT_OK;
    }
    for (uint32_t i = 0; i < rules->language_count; i++) {
        if (strcmp(rules->languages[i].code, code) == 0) {
            *language = i;
            return WEFT_OK;
        }
    }
    return rules->language_count == 0
               ? weft_fail(&transcriber->host, WEFT_INVALID_ARGUMENT,
                           "language: expected none, as the model writes one language alone, found "
                           "\"%s\"",
                           code)
               : weft_fail(&transcriber->host, WEFT_INVALID_ARGUMENT,
                           "language: expected one of the model's %u, such as \"%s\", found \"%s\"",
                           rules->language_count, rules->languages[0].code, code);
}

static weft_status check_sound(const float *samples, uint64_t count, const weft_host *host) {
    for (uint64_t i = 0; i < count; i++) {
        if (!isfinite(samples[i])) {
            return weft_fail(host, WEFT_INVALID_ARGUMENT,
                             "samples: expected finite numbers, found %g as sample %llu",
                             (double)samples[i], (unsigned long long)i);
        }
    }
    return WEFT_OK;
}

static bool has_stamps(const weft_transcriber *transcriber) {
    return transcriber->info.vocabulary > (uint32_t)transcriber->rules->no_time_stamps + 1;
}

static uint32_t most_tokens(const weft_transcriber *transcriber,
                            const weft_transcript_params *params) {
    return weft_model_text_positions(transcriber->model) -
           prefix_size(transcriber->rules, !params->without_times);
}

static weft_status check_params(const weft_transcriber *transcriber,
                                const weft_transcript_params *params) {
    const weft_host *host = &transcriber->host;
    const struct weft_speech_rules *rules = transcriber->rules;
    const uint32_t most = most_tokens(transcriber, params);
    if (!params->samples || params->count == 0) {
        return weft_fail(host, WEFT_INVALID_ARGUMENT, "samples: expected at least 1, found 0");
    }
    if (params->translates && rules->translate == NO_TOKEN) {
        return weft_fail(host, WEFT_INVALID_ARGUMENT,
                         "translates: expected false, as the model cannot translate, found true");
    }
    if (!params->without_times && !has_stamps(transcriber)) {
        return weft_fail(host, WEFT_INVALID_ARGUMENT,
                         "without_times: expected true, as the model's vocabulary has no time "
                         "stamps, found false");
    }
    if (params->tokens > most) {
        return weft_fail(host, WEFT_INVALID_ARGUMENT,
                         "tokens: expected at most the %u that a window's text may have, found %u",
                         most, params->tokens);
    }
    return check_sound(params->samples, params->count, host);
}

weft_status weft_transcriber_begin(weft_transcriber *transcriber,
                                   const weft_transcript_params *params) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(transcriber, host), transcriber, params);
    uint32_t language = NO_LANGUAGE;
    WEFT_TRY(check_params(transcriber, params));
    WEFT_TRY(find_language(&language, transcriber, params->language));
    const uint32_t most = most_tokens(transcriber, params);
    forget(transcriber);
    transcriber->sound = params->samples;
    transcriber->count = params->count;
    transcriber->at = 0;
    transcriber->language = language;
    transcriber->translates = params->translates;
    transcriber->has_times = !params->without_times;
    transcriber->most = params->tokens > 0 ? params->tokens : most;
    return WEFT_OK;
}

/* ---- windows ---- */

static double energy_of(const float *samples, uint64_t count) {
    double sum = 0;
    for (uint64_t i = 0; i < count; i++) {
        sum += (double)samples[i] * (double)samples[i];
    }
    return sum;
}

/* Where the window that begins at `at` ends. Without time stamps where it is quietest: of several places that are as quiet, the last. */
static uint64_t end_of_window(const weft_transcriber *transcriber) {
    const struct weft_speech_rules *rules = transcriber->rules;
    const uint64_t at = transcriber->at, window = rules->window;
    if (transcriber->count - at <= window) {
        return transcriber->count;
    }
    if (transcriber->has_times) {
        return at + window;
    }
    const uint64_t part = rules->rate / PARTS_SECOND > 0 ? rules->rate / PARTS_SECOND : 1;
    const uint64_t stretch = QUIET_PARTS * part;
    uint64_t best = at + window;
    double least = INFINITY;
    for (uint64_t begin = at + window - window / CUT_FRACTION; begin + stretch <= at + window;
         begin += part) {
        const double energy = energy_of(transcriber->sound + begin, stretch);
        if (energy <= least) {
            least = energy;
            best = begin + stretch / 2;
        }
    }
    return best;
}

static weft_status compile_spectrum(weft_transcriber *transcriber) {
    weft_graph *graph = NULL;
    if (transcriber->spectrum) {
        return WEFT_OK;
    }
    WEFT_TRY(weft_graph_create(&graph, &transcriber->host));
    weft_status status = weft_spectrum_build(graph, transcriber->rules, &transcriber->host);
    if (status == WEFT_OK) {
        status = weft_plan_compile(&transcriber->spectrum, transcriber->device, graph,
                                   &transcriber->params);
    }
    weft_graph_destroy(&graph);
    return status;
}

/* Of at most a window, into `features`. */
static weft_status run_spectrum(weft_transcriber *transcriber, const float *samples, uint64_t count,
                                float *features) {
    const struct weft_speech_rules *rules = transcriber->rules;
    const uint64_t size = sizeof(float);
    WEFT_TRY(compile_spectrum(transcriber));
    weft_spectrum_pad(transcriber->samples, rules, samples, count);
    const weft_host_tensor tensors[] = {
        {"samples", transcriber->samples, weft_spectrum_samples(rules) * size},
        {"features", features, (uint64_t)rules->frames * rules->bands * size}};
    return weft_plan_execute(transcriber->spectrum, tensors, 2);
}

weft_status weft_transcriber_spectrum(weft_transcriber *transcriber, const float *samples,
                                      uint64_t count, float *features) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(transcriber, host), transcriber, features);
    WEFT_GIVEN_LIST(WEFT_HOST_OF(transcriber, host), samples, count);
    if (count > transcriber->rules->window) {
        return weft_fail(&transcriber->host, WEFT_INVALID_ARGUMENT,
                         "count: expected at most a window's %u samples, found %llu",
                         transcriber->rules->window, (unsigned long long)count);
    }
    WEFT_TRY(check_sound(samples, count, &transcriber->host));
    return run_spectrum(transcriber, samples, count, features);
}

/* ---- tokens ---- */

static void suppress(float *logits, const struct weft_speech_tokens *tokens) {
    for (uint32_t i = 0; i < tokens->count; i++) {
        logits[tokens->tokens[i]] = -FLT_MAX;
    }
}

/* The likeliest, of those that may be written. */
static weft_status choose(int32_t *token, weft_transcriber *transcriber,
                          const struct segment *text) {
    const struct weft_speech_rules *rules = transcriber->rules;
    const weft_sampling likeliest = {0};
    const struct weft_timed_text timed = {.rules = rules,
                                          .tokens = text->tokens,
                                          .count = text->count,
                                          .vocabulary = transcriber->info.vocabulary,
                                          .end = transcriber->info.eos_token};
    uint32_t found = 0;
    suppress(transcriber->logits, &rules->never);
    if (text->count == 0) {
        suppress(transcriber->logits, &rules->never_first);
    }
    if (transcriber->has_times) {
        weft_time_stamps_mask(transcriber->logits, &timed);
    } else {
        weft_time_stamps_hide(transcriber->logits, &timed);
    }
    WEFT_TRY(weft_sample(&found, transcriber->logits, transcriber->info.vocabulary, &likeliest, 0,
                         &transcriber->host));
    *token = (int32_t)found;
    return WEFT_OK;
}

/* The language whose token is the likeliest behind the first. */
static uint32_t likeliest_language(const weft_transcriber *transcriber) {
    const struct weft_speech_rules *rules = transcriber->rules;
    uint32_t best = 0;
    for (uint32_t i = 1; i < rules->language_count; i++) {
        const float logit = transcriber->logits[rules->languages[i].token];
        best = logit > transcriber->logits[rules->languages[best].token] ? i : best;
    }
    return best;
}

static weft_status put(weft_transcriber *transcriber, int32_t token, bool is_read) {
    WEFT_TRY(weft_interrupted(&transcriber->host));
    return weft_decoder_step(transcriber->decoder, &token, is_read ? transcriber->logits : NULL);
}

/* The tokens that a text begins with; the logits are then those of its first. */
static weft_status put_prefix(weft_transcriber *transcriber) {
    const struct weft_speech_rules *rules = transcriber->rules;
    const bool has_languages = rules->language_count > 0, timed = transcriber->has_times;
    const bool finds = has_languages && transcriber->language == NO_LANGUAGE;
    const int32_t task = transcriber->translates ? rules->translate : rules->transcribe;
    WEFT_TRY(put(transcriber, weft_network_start_token(weft_model_network(transcriber->model)),
                 finds || (timed && !has_languages)));
    if (finds) {
        transcriber->language = likeliest_language(transcriber);
    }
    if (has_languages) {
        WEFT_TRY(put(transcriber, rules->languages[transcriber->language].token, false));
        WEFT_TRY(put(transcriber, task, timed));
    }
    return timed ? WEFT_OK : put(transcriber, rules->no_time_stamps, true);
}

static bool is_end(const weft_transcriber *transcriber, int32_t token) {
    for (uint32_t i = 0; i < transcriber->info.eos_token_count; i++) {
        if (transcriber->info.eos_tokens[i] == token) {
            return true;
        }
    }
    return false;
}

static weft_status append(struct segment *segment, int32_t token, const weft_host *host) {
    if (!weft_grow(host, &segment->tokens, segment->count, &segment->capacity,
                   sizeof *segment->tokens)) {
        return weft_fail_memory(host, "a segment's tokens");
    }
    segment->tokens[segment->count++] = token;
    return WEFT_OK;
}

static weft_status write_tokens(weft_transcriber *transcriber, struct segment *segment) {
    int32_t token = NO_TOKEN;
    WEFT_TRY(put_prefix(transcriber));
    WEFT_TRY(choose(&token, transcriber, segment));
    while (!is_end(transcriber, token)) {
        WEFT_TRY(append(segment, token, &transcriber->host));
        if (segment->count == transcriber->most) {
            segment->is_cut = true;
            return WEFT_OK;
        }
        WEFT_TRY(put(transcriber, token, true));
        WEFT_TRY(choose(&token, transcriber, segment));
    }
    return WEFT_OK;
}

/* Of the words alone. */
static weft_status write_text(weft_transcriber *transcriber, struct segment *segment) {
    size_t size = 0;
    int32_t *words = weft_alloc_zero(&transcriber->host, (size_t)segment->count + 1, sizeof *words);
    uint32_t count = 0;
    if (!words) {
        return weft_fail_memory(&transcriber->host, "a segment's words");
    }
    for (uint32_t i = 0; i < segment->count; i++) {
        words[count] = segment->tokens[i];
        count += weft_is_time_stamp(transcriber->rules, segment->tokens[i]) ? 0 : 1;
    }
    const weft_status status =
        weft_model_detokenize(transcriber->model, words, count, &segment->text, &size);
    weft_free(&transcriber->host, words);
    return status;
}

/* ---- segments ---- */

/* Tokens [first, end) of a window. */
static weft_status add_segment(weft_transcriber *transcriber, const struct segment *window,
                               uint32_t first, uint32_t end) {
    const weft_host *host = &transcriber->host;
    struct segment segment = {.begin = window->begin,
                              .end = window->end,
                              .window = window->window,
                              .language = window->language,
                              .count = end - first,
                              .is_cut = window->is_cut};
    if (!weft_grow(host, &transcriber->segments, transcriber->segment_count,
                   &transcriber->segment_capacity, sizeof *transcriber->segments)) {
        return weft_fail_memory(host, "segments");
    }
    segment.tokens = weft_alloc_zero(host, (size_t)segment.count + 1, sizeof *segment.tokens);
    if (!segment.tokens) {
        return weft_fail_memory(host, "a segment's tokens");
    }
    for (uint32_t i = 0; i < segment.count; i++) {
        segment.tokens[i] = window->tokens[first + i];
    }
    const weft_status status = write_text(transcriber, &segment);
    if (status != WEFT_OK) {
        clear_segment(transcriber, &segment);
        return status;
    }
    transcriber->segments[transcriber->segment_count++] = segment;
    return WEFT_OK;
}

/* Sample of a window at which a time stamp is; its end, if the stamp lies behind it. */
static uint64_t sample_of(const weft_transcriber *transcriber, const struct segment *window,
                          int32_t stamp) {
    const uint64_t at = window->begin + weft_time_stamp_samples(transcriber->rules, stamp);
    return at < window->end ? at : window->end;
}

/* The part between two pairs of stamps. */
static weft_status add_part(weft_transcriber *transcriber, const struct segment *window,
                            uint32_t first, uint32_t end) {
    struct segment part = *window;
    part.begin = sample_of(transcriber, window, window->tokens[first]);
    part.end = sample_of(transcriber, window, window->tokens[end - 1]);
    part.is_cut = false;
    return add_segment(transcriber, &part, first, end);
}

/* A window without a pair of stamps is one segment: up to its last stamp, if that says something. */
static weft_status add_whole(weft_transcriber *transcriber, const struct segment *window) {
    struct segment whole = *window;
    for (uint32_t i = 0; transcriber->has_times && i < window->count; i++) {
        const uint64_t at = sample_of(transcriber, window, window->tokens[i]);
        whole.end = at > window->begin ? at : whole.end;
    }
    return add_segment(transcriber, &whole, 0, window->count);
}

/*
 * Pairs of stamps part a window's text. What stands behind the last pair is heard again by the window that begins there, unless it ends with
 * a stamp of its own.
 */
static weft_status add_segments(uint64_t *next, weft_transcriber *transcriber,
                                const struct segment *window) {
    const struct weft_speech_rules *rules = transcriber->rules;
    const int32_t *tokens = window->tokens;
    const uint32_t count = window->count;
    uint32_t first = 0;
    *next = window->end;
    for (uint32_t i = 1; transcriber->has_times && i < count; i++) {
        if (weft_is_time_stamp(rules, tokens[i - 1]) && weft_is_time_stamp(rules, tokens[i])) {
            WEFT_TRY(add_part(transcriber, window, first, i));
            first = i;
        }
    }
    if (first == 0) {
        return add_whole(transcriber, window);
    }
    if (!weft_is_time_stamp(rules, tokens[count - 2]) &&
        weft_is_time_stamp(rules, tokens[count - 1])) {
        return add_part(transcriber, window, first, count);
    }
    const uint64_t heard = sample_of(transcriber, window, tokens[first - 1]);
    *next = heard > window->begin ? heard : window->end;
    return WEFT_OK;
}

static weft_status write_window(weft_transcriber *transcriber, struct segment *window) {
    WEFT_TRY(run_spectrum(transcriber, transcriber->sound + window->begin,
                          window->end - window->begin, transcriber->features));
    WEFT_TRY(weft_decoder_read_features(transcriber->decoder, transcriber->features,
                                        transcriber->info.exact_length));
    WEFT_TRY(write_tokens(transcriber, window));
    window->language = transcriber->rules->language_count > 0 ? transcriber->language : NO_LANGUAGE;
    return WEFT_OK;
}

static weft_status step(weft_transcriber *transcriber) {
    struct segment window = {
        .begin = transcriber->at, .end = end_of_window(transcriber), .window = transcriber->at};
    uint64_t next = window.end;
    weft_status status = write_window(transcriber, &window);
    if (status == WEFT_OK) {
        status = add_segments(&next, transcriber, &window);
    }
    clear_segment(transcriber, &window);
    transcriber->at = status == WEFT_OK ? next : transcriber->at;
    return status;
}

weft_status weft_transcriber_step(weft_transcriber *transcriber, bool *done) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(transcriber, host), transcriber, done);
    if (!transcriber->sound) {
        return weft_fail(&transcriber->host, WEFT_INVALID_ARGUMENT,
                         "weft_transcriber_step: no transcript has begun");
    }
    if (transcriber->failed != WEFT_OK) {
        return weft_fail(&transcriber->host, transcriber->failed,
                         "weft_transcriber_step: an earlier step has failed");
    }
    if (transcriber->at < transcriber->count) {
        transcriber->failed = step(transcriber);
        WEFT_TRY(transcriber->failed);
    }
    *done = transcriber->at == transcriber->count;
    return WEFT_OK;
}

weft_status weft_transcriber_get_segment(const weft_transcriber *transcriber, uint32_t index,
                                         weft_segment *segment) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(transcriber, host), transcriber, segment);
    if (index >= transcriber->segment_count) {
        return WEFT_NOT_FOUND;
    }
    const struct segment *found = &transcriber->segments[index];
    *segment = (weft_segment){.begin = found->begin,
                              .end = found->end,
                              .window = found->window,
                              .language = found->language != NO_LANGUAGE
                                              ? transcriber->rules->languages[found->language].code
                                              : NULL,
                              .text = found->text,
                              .tokens = found->tokens,
                              .token_count = found->count,
                              .is_cut = found->is_cut};
    return WEFT_OK;
}
