/* SPDX-License-Identifier: MIT */
/*
 * Models that read speech, by a grammar of their config: decoded for a few tokens on a device that computes nothing, now and then on the
 * processor. And preprocessor_config.json and generation_config.json by one of their fields, whose spectrum is planned and run likewise.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <weft/device.h>
#include <weft/model.h>

#include "field_grammar.h"
#include "fuzz.h"
#include "model/network/architecture.h"
#include "model/speech/spectrum.h"
#include "model/texts/decoder.h"

#define MEMORY     ((size_t)4 << 20)
#define MOST_BYTES ((uint64_t)16 << 20) /* of a plan's inputs and outputs */
#define MOST_WORK  4096U                /* values of what the processor reads */
#define VOCABULARY 20U

/* ---- models ---- */

#define NO_SIZES "0", "65536", "65537", "-1"

static const struct fuzz_field config[] = {
    {FUZZ_FIELD("vocab_size", "20", "7"), .odd = {"0", "1", "16777217"}},
    {FUZZ_FIELD("num_mel_bins", "3", "80", "1"), .odd = {NO_SIZES, "1024", "1025"}},
    {FUZZ_FIELD("d_model", "8", "16", "4"), .odd = {NO_SIZES, "9"}},
    {FUZZ_FIELD("encoder_layers", "1", "2"), .odd = {"0", "1025"}},
    {FUZZ_FIELD("decoder_layers", "1", "2"), .odd = {"0", "1024"}},
    {FUZZ_FIELD("encoder_attention_heads", "2", "1"), .odd = {NO_SIZES, "3"}},
    {FUZZ_FIELD("decoder_attention_heads", "2", "1"), .odd = {NO_SIZES, "3"}},
    {FUZZ_FIELD("encoder_ffn_dim", "16", "7"), .odd = {"0", "1048576"}},
    {FUZZ_FIELD("decoder_ffn_dim", "16", "7"), .odd = {"0", "1048576"}},
    {FUZZ_FIELD("max_source_positions", "5", "1", "50"), .odd = {"0", "1048576", "1048577"}},
    {FUZZ_FIELD("max_target_positions", "6", "1", "448"), .odd = {"0", "1048576", "1048577"}},
    {FUZZ_FIELD("decoder_start_token_id", "5", "0"), .odd = {"20", "-1", "4294967298", "[5]"}},
    {FUZZ_FIELD("eos_token_id", "4", "6"), .odd = {"20", "-1", "[5]"}},
    {FUZZ_FIELD("activation_function", "\"gelu\"", "\"relu\""), .odd = {"\"mish\"", "\"\""}},
    {FUZZ_FIELD("scale_embedding", "false"), .odd = {"true"}},
    {FUZZ_FIELD("tie_word_embeddings", "true", "false")},
    {.name = NULL}};

static void make_config(char text[FUZZ_TEXT_SIZE], struct fuzz_choices *choices) {
    char fields[FUZZ_TEXT_SIZE] = "";
    fuzz_append(text, "{\"model_type\":\"whisper\",\"architectures\":[\"Whisper");
    fuzz_append(text, fuzz_choose(choices, 8) == 7 ? "Encoder" : "ForConditionalGeneration");
    fuzz_append(text, "\"],");
    fuzz_append_object(fields, config, choices, fuzz_choose_rarity(choices));
    fuzz_append(text, strcmp(fields, "{}") == 0 ? "\"torch_dtype\":\"float32\"}" : fields + 1);
}

/* More tokens than it has positions, so that the last are refused. */
static void write_down(weft_decoder *decoder, const weft_model_info *info, uint32_t positions,
                       struct fuzz_choices *choices) {
    const uint64_t values = (uint64_t)info->exact_length * info->input_size;
    float *features = calloc((size_t)values, sizeof *features);
    float *logits = calloc(info->vocabulary, sizeof *logits);
    const uint32_t count = 1 + fuzz_choose(choices, 9);
    fuzz_expect(features && logits);
    int32_t token = 0;
    fuzz_expect(weft_decoder_step(decoder, &token, logits) != WEFT_OK); /* nothing has been read */
    weft_status status = weft_decoder_read_features(decoder, features, info->exact_length);
    for (uint32_t i = 0; i < count && status == WEFT_OK; i++) {
        token = (int32_t)(i % info->vocabulary);
        status = weft_decoder_step(decoder, &token, i % 2 ? logits : NULL);
        fuzz_expect(status != WEFT_OK || i < positions);
    }
    free(features);
    free(logits);
}

static void run(weft_model *model, struct fuzz_choices *choices) {
    weft_model_info info;
    weft_decoder *decoder = NULL;
    fuzz_expect(weft_model_get_info(model, &info) == WEFT_OK);
    fuzz_expect(info.input_size > 0 && info.exact_length > 0 && !info.takes_lengths);
    fuzz_expect(weft_model_text_positions(model) > 0);
    const uint64_t values = (uint64_t)info.exact_length * info.input_size;
    if (info.task != WEFT_TASK_TEXT_TO_TEXT || values * sizeof(float) > MOST_BYTES ||
        info.vocabulary > MOST_WORK) {
        return;
    }
    const bool processor = fuzz_choose(choices, 64) == 63 && values <= MOST_WORK;
    const weft_status status =
        weft_decoder_create(&decoder, model, fuzz_device(processor, 8 * MOST_BYTES), NULL);
    fuzz_expect((status == WEFT_OK) == (decoder != NULL));
    if (decoder) {
        write_down(decoder, &info, weft_model_text_positions(model), choices);
    }
    weft_decoder_destroy(&decoder);
}

static void fuzz_model(struct fuzz_choices *choices) {
    static char text[FUZZ_TEXT_SIZE];
    text[0] = '\0';
    make_config(text, choices);
    size_t left = 0;
    const weft_host host = fuzz_small_host(&left, MEMORY);
    weft_model *model = NULL;
    const weft_status status = weft_model_create_random(&model, text, 1, &host);
    fuzz_expect((status == WEFT_OK) == (model != NULL));
    if (model) {
        run(model, choices);
    }
    weft_model_destroy(&model);
    fuzz_expect(left == MEMORY); /* nothing was lost on the way */
}

/* ---- what is beside them ---- */

#define NO_NUMBERS "0", "-1", "1e3", "18446744073709551617"

static const struct fuzz_field preprocessor[] = {
    {FUZZ_FIELD("feature_extractor_type", "\"WhisperFeatureExtractor\""),
     .odd = {"\"Whisper\"", "\"CLIPFeatureExtractor\""}},
    {FUZZ_FIELD("feature_size", "3"), .odd = {NO_NUMBERS, "1024"}},
    {FUZZ_FIELD("sampling_rate", "100", "160", "16000"), .odd = {NO_NUMBERS, "768000", "768001"}},
    {FUZZ_FIELD("hop_length", "10", "16", "160"), .odd = {NO_NUMBERS, "7", "768000"}},
    {FUZZ_FIELD("chunk_length", "1", "2"), .odd = {NO_NUMBERS, "3600", "3601"}},
    {FUZZ_FIELD("n_fft", "20", "2", "400"), .odd = {NO_NUMBERS, "21", "4096", "4097"}},
    {FUZZ_FIELD("n_samples", "100", "200", "160"), .odd = {NO_NUMBERS}},
    {FUZZ_FIELD("nb_max_frames", "10", "20"), .odd = {NO_NUMBERS}},
    {FUZZ_FIELD("padding_value", "0.0", "0"), .odd = {"1", "1e-300"}},
    {FUZZ_FIELD("padding_side", "\"right\""), .odd = {"\"left\""}},
    {FUZZ_FIELD("dither", "0.0"), .odd = {"0.1"}},
    {.name = NULL}};

static const struct fuzz_field languages[] = {
    {FUZZ_FIELD("<|en|>", "3", "4"), .odd = {"20", "-1", "\"3\""}},
    {FUZZ_FIELD("<|yue|>", "5"), .odd = {"20", "4294967301"}},
    {FUZZ_FIELD("<|\\u001b|>", "6"), .odd = {"7"}},
    {FUZZ_FIELD("<||>", "6"), .odd = {"7"}},
    {.name = NULL}};
static const struct fuzz_field tasks[] = {{FUZZ_FIELD("transcribe", "7"), .odd = {"20", "-1"}},
                                          {FUZZ_FIELD("translate", "8"), .odd = {"20", "1.5"}},
                                          {.name = NULL}};
static const struct fuzz_field generation[] = {
    {.name = "lang_to_id", .object = languages},
    {.name = "task_to_id", .object = tasks},
    {FUZZ_FIELD("no_timestamps_token_id", "9", "19"), .odd = {"20", "-1", "[9]"}},
    {FUZZ_FIELD("is_multilingual", "true", "false")},
    {FUZZ_FIELD("suppress_tokens", "[1,2]", "[]", "[0,1,2,3,4,5,6,7,8,9]"),
     .odd = {"[20]", "[-1]", "[\"1\"]", "1", "[4294967297]"}},
    {FUZZ_FIELD("begin_suppress_tokens", "[1,2]", "[]"), .odd = {"[20]", "[1.0]", "{}"}},
    {.name = NULL}};

static void expect_tokens(const struct weft_speech_tokens *tokens) {
    for (uint32_t i = 0; i < tokens->count; i++) {
        fuzz_expect(tokens->tokens[i] >= 0 && tokens->tokens[i] < (int32_t)VOCABULARY);
    }
}

/* What their readers divide by, index and allocate by. */
static void expect_rules(const struct weft_speech_rules *rules, const weft_model_info *info) {
    fuzz_expect(rules->rate > 0 && rules->hop > 0 && rules->frame % 2 == 0 && rules->frame > 0);
    fuzz_expect((uint64_t)rules->frames * rules->hop == rules->window &&
                rules->window > rules->frame);
    fuzz_expect(rules->frames == 2 * info->exact_length && 2 * rules->bands == info->input_size);
    fuzz_expect(rules->no_time_stamps < (int32_t)VOCABULARY &&
                rules->translate < (int32_t)VOCABULARY);
    fuzz_expect(rules->language_count == 0 || rules->transcribe >= 0);
    for (uint32_t i = 0; i < rules->language_count; i++) {
        fuzz_expect(rules->languages[i].token >= 0 &&
                    rules->languages[i].token < (int32_t)VOCABULARY && rules->languages[i].code &&
                    !strchr(rules->languages[i].code, '\x1b'));
    }
    expect_tokens(&rules->never);
    expect_tokens(&rules->never_first);
}

/* Silence is finite, too. */
static void run_spectrum(const struct weft_speech_rules *rules, struct fuzz_choices *choices) {
    const uint64_t count = weft_spectrum_samples(rules),
                   values = (uint64_t)rules->frames * rules->bands;
    weft_graph *graph = NULL;
    weft_plan *plan = NULL;
    if (count > MOST_WORK || values > MOST_WORK) {
        return;
    }
    fuzz_expect(weft_graph_create(&graph, NULL) == WEFT_OK);
    fuzz_expect(weft_spectrum_build(graph, rules, NULL) == WEFT_OK);
    const bool processor = fuzz_choose(choices, 64) == 63;
    fuzz_expect(weft_plan_compile(&plan, fuzz_device(processor, 8 * MOST_BYTES), graph, NULL) ==
                WEFT_OK);
    static float samples[MOST_WORK], features[MOST_WORK];
    const float one = 1.0F;
    weft_spectrum_pad(samples, rules, &one, 1);
    const weft_host_tensor tensors[] = {{"samples", samples, count * sizeof *samples},
                                        {"features", features, values * sizeof *features}};
    fuzz_expect(weft_plan_execute(plan, tensors, 2) == WEFT_OK);
    for (uint64_t i = 0; processor && i < values; i++) {
        fuzz_expect(isfinite(features[i]));
    }
    weft_plan_destroy(&plan);
    weft_graph_destroy(&graph);
}

static void write_fields(const char *name, const struct fuzz_field *fields,
                         struct fuzz_choices *choices) {
    static char text[FUZZ_TEXT_SIZE];
    text[0] = '\0';
    fuzz_append_object(text, fields, choices, fuzz_choose_rarity(choices));
    const size_t size = strlen(text);
    (void)fuzz_write(
        name, text, fuzz_choose(choices, 32) == 31 ? fuzz_choose(choices, 256) % (size + 1) : size);
}

static void fuzz_rules(struct fuzz_choices *choices) {
    static const uint32_t lengths[] = {5, 10, 50};
    const weft_model_info info = {.vocabulary = VOCABULARY,
                                  .input_size = 6,
                                  .exact_length = lengths[fuzz_choose(choices, 3)]};
    write_fields("preprocessor_config.json", preprocessor, choices);
    write_fields("generation_config.json", generation, choices);
    size_t left = 0;
    const weft_host host = fuzz_small_host(&left, MEMORY);
    struct weft_speech_rules *rules = NULL;
    struct weft_model_source source = {.folder = fuzz_folder()};
    weft_status status = weft_source_read_generation(&source, &host);
    if (status == WEFT_OK) {
        status = weft_speech_rules_read(&rules, &source, &info, &host);
    }
    weft_source_clear(&source, &host);
    fuzz_expect(status == WEFT_OK || !rules);
    if (rules) {
        expect_rules(rules, &info);
        run_spectrum(rules, choices);
    }
    weft_speech_rules_destroy(&rules, &host);
    fuzz_expect(left == MEMORY);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct fuzz_choices choices = {.data = data, .size = size};
    if (fuzz_choose(&choices, 2) == 1) {
        fuzz_rules(&choices);
    } else {
        fuzz_model(&choices);
    }
    return 0;
}
