/* SPDX-License-Identifier: MIT */
/* weft-test: device */
/* Speech to text by a small model of the family whisper: its spectrum by the formula, its windows, stamps, tokens and refusals. */
#include <weft/speech.h>

#include <math.h>

#include "core/math/philox.h"
#include "model/speech/time_stamps.h"
#include "support_model.h"

#define DEVICE_TEST(name, f) WEFT_TEST_WITH(name, struct weft_test_device *f, NULL, NULL)

WEFT_TEST_GROUP(weft_test_device_set_up,
                weft_test_device_tear_down); /* one: its kernels are compiled once */

#define RATE   16000U
#define WINDOW 16000U /* a second */
#define HOP    320U
#define FRAME  400U
#define FRAMES (WINDOW / HOP)
#define BANDS  8U
#define BINS   (FRAME / 2 + 1)
#define WIDTH  16U
#define WORDS  8U /* letters a to h, of which c is never written */
#define STAMPS 51U

enum {
    END = WORDS,
    START,
    ENGLISH,
    GERMAN,
    TRANSLATE,
    TRANSCRIBE,
    NO_STAMPS,
    VOCABULARY = NO_STAMPS + 1 + STAMPS
};
#define POSITIONS 14U
#define PREFIX    4U

/* ---- a folder ---- */

#define CONFIG                                                                                    \
    "{'model_type':'whisper','architectures':['WhisperForConditionalGeneration'],'vocab_size':"   \
    "66,'num_mel_bins':8,'d_model':16,'encoder_layers':1,'decoder_layers':2,'encoder_attention_"  \
    "heads':2,'decoder_attention_heads':2,'encoder_ffn_dim':24,'decoder_ffn_dim':24,'max_source_" \
    "positions':25,'max_target_positions':14,'decoder_start_token_id':9,'eos_token_id':8,"        \
    "'tie_word_embeddings':true}"
#define PREPROCESSOR                                                                        \
    "{'feature_extractor_type':'WhisperFeatureExtractor','feature_size':8,'sampling_rate':" \
    "16000,'hop_length':320,'n_fft':400,'chunk_length':1,'n_samples':16000,'nb_max_frames'" \
    ":50,'padding_value':0.0}"
#define GENERATION_END                                                                            \
    "'no_timestamps_token_id':14,'suppress_tokens':[2,9,10,11,12,13],'begin_suppress_tokens':[0," \
    "8],'eos_token_id':8}"
#define GENERATION                                                                              \
    "{'is_multilingual':true,'lang_to_id':{'<|en|>':10,'<|de|>':11},'task_to_id':{'translate':" \
    "12,'transcribe':13},'max_initial_timestamp_index':30," GENERATION_END
#define ENGLISH_ALONE "{'is_multilingual':false," GENERATION_END
#define TOKENIZER                                                                                  \
    "{'version':'1.0','added_tokens':[{'id':8,'content':'<|endoftext|>','special':true}],'model':" \
    "{'type':'BPE','vocab':{'a':0,'b':1,'c':2,'d':3,'e':4,'f':5,'g':6,'h':7},'merges':[]},"        \
    "'pre_tokenizer':{'type':'ByteLevel','add_prefix_space':false},'decoder':{'type':'ByteLevel'}" \
    "}"

/* Gives the elements of the matrix. */
static float *add_map(struct weft_test_model *model, const char *part, const char *name, bool bias,
                      uint32_t in, uint32_t out) {
    if (bias) {
        weft_test_model_add(model, weft_test_text("%s%s.bias", part, name), weft_shape_of(out));
    }
    return weft_test_model_add(model, weft_test_text("%s%s.weight", part, name),
                               weft_shape_of(out, in));
}

static void add_norm(struct weft_test_model *model, const char *part, const char *name) {
    weft_test_model_add_norm(model, weft_test_text("%s%s", part, name), WIDTH);
}

static void add_attention(struct weft_test_model *model, const char *part, const char *name,
                          float factor) {
    const char *all = weft_test_text("%s%s.", part, name);
    add_map(model, all, "q_proj", true, WIDTH, WIDTH);
    add_map(model, all, "k_proj", false, WIDTH, WIDTH);
    add_map(model, all, "v_proj", true, WIDTH, WIDTH);
    float *output = add_map(model, all, "out_proj", true, WIDTH, WIDTH);
    for (uint32_t i = 0; i < WIDTH * WIDTH; i++) {
        output[i] *= factor;
    }
    add_norm(model, part, weft_test_text("%s_layer_norm", name));
}

static void add_layer(struct weft_test_model *model, const char *part, bool is_decoder) {
    add_attention(model, part, "self_attn", 1.0F);
    if (is_decoder) {
        add_attention(model, part, "encoder_attn", 30.0F);
    }
    add_map(model, part, "fc1", true, WIDTH, 24);
    add_map(model, part, "fc2", true, 24, WIDTH);
    add_norm(model, part, "final_layer_norm");
}

/* What is heard counts for much, so that texts differ with sounds. */
static void write_folder(struct weft_test_model *model, const char *generation) {
    static const char encoder[] = "model.encoder.", decoder[] = "model.decoder.";
    weft_test_model_begin(model);
    for (uint32_t i = 1; i <= 2; i++) {
        const char *name = weft_test_text("%sconv%u", encoder, i);
        weft_test_model_add(model, weft_test_text("%s.weight", name),
                            weft_shape_of(WIDTH, i == 1 ? BANDS : WIDTH, 3));
        weft_test_model_add(model, weft_test_text("%s.bias", name), weft_shape_of(WIDTH));
    }
    weft_test_model_add(model, "model.encoder.embed_positions.weight", weft_shape_of(25, WIDTH));
    add_layer(model, "model.encoder.layers.0.", false);
    add_norm(model, encoder, "layer_norm");
    weft_test_model_add(model, "model.decoder.embed_tokens.weight",
                        weft_shape_of(VOCABULARY, WIDTH));
    weft_test_model_add(model, "model.decoder.embed_positions.weight",
                        weft_shape_of(POSITIONS, WIDTH));
    add_layer(model, "model.decoder.layers.0.", true);
    add_layer(model, "model.decoder.layers.1.", true);
    add_norm(model, decoder, "layer_norm");
    weft_test_model_write(model, CONFIG);
    const char *const files[][2] = {{"preprocessor_config.json", PREPROCESSOR},
                                    {"generation_config.json", generation},
                                    {"tokenizer.json", TOKENIZER}};
    for (size_t i = 0; i < 3; i++) {
        const char *text = weft_test_json(files[i][1]);
        weft_test_write(model->folder, files[i][0], text, strlen(text));
    }
}

/* ---- fixtures ---- */

struct speech {
    struct weft_test_device *f;
    weft_model *model;
    weft_transcriber *transcriber;
};

static struct speech begin(struct weft_test_device *f, const char *generation) {
    struct speech speech = {.f = f};
    struct weft_test_model files;
    write_folder(&files, generation);
    assert_ok(weft_model_load(&speech.model, files.folder, &f->host.host));
    assert_int_equal(weft_test_log_count(&f->host, "warning"), 0);
    assert_ok(weft_transcriber_create(&speech.transcriber, speech.model, f->device, NULL));
    weft_test_model_end(&files);
    return speech;
}

static void end(struct speech *speech) {
    weft_transcriber_destroy(&speech->transcriber);
    weft_model_destroy(&speech->model);
}

/* A tone in some noise that grows and falls, with silence in [quiet, quiet_end). */
static float *make_sound(uint64_t count, uint64_t seed, uint64_t quiet, uint64_t quiet_end) {
    float *sound = weft_test_uniform((size_t)count, seed, 1);
    const double pitch = 150 * pow(1.6, (double)(seed % 9));
    for (uint64_t i = 0; i < count; i++) {
        const double swing = sin((double)i * 0.0004 * (double)seed) + 1.1;
        const double tone = 0.4 * sin(2 * M_PI * pitch * (double)i / RATE);
        sound[i] =
            i >= quiet && i < quiet_end ? 0.0F : (float)((0.02 * (double)sound[i] + tone) * swing);
    }
    return sound;
}

static void run(struct speech *speech, const weft_transcript_params *params) {
    bool done = false;
    assert_ok(weft_transcriber_begin(speech->transcriber, params));
    for (uint32_t steps = 0; !done; steps++) {
        assert_true(steps < 1000);
        assert_ok(weft_transcriber_step(speech->transcriber, &done));
    }
}

static uint32_t count_segments(const struct speech *speech) {
    weft_segment segment;
    uint32_t count = 0;
    while (weft_transcriber_get_segment(speech->transcriber, count, &segment) == WEFT_OK) {
        count++;
    }
    return count;
}

static weft_segment segment_at(const struct speech *speech, uint32_t index) {
    weft_segment segment;
    assert_ok(weft_transcriber_get_segment(speech->transcriber, index, &segment));
    return segment;
}

/* ---- the spectrum ---- */

static double mel_of(double hertz) {
    return hertz < 1000 ? hertz * 3 / 200 : 15 + log(hertz / 1000) / (log(6.4) / 27);
}

static double hertz_of(double mel) {
    return mel < 15 ? mel * 200 / 3 : 1000 * exp(log(6.4) / 27 * (mel - 15));
}

static double power_of(const float *sound, uint64_t count, uint32_t frame, uint32_t bin) {
    double re = 0, im = 0;
    for (uint32_t t = 0; t < FRAME; t++) {
        const int64_t at = (int64_t)frame * HOP + t - FRAME / 2;
        const int64_t low = at < 0 ? -at : at;
        const int64_t mirrored = low < (int64_t)WINDOW ? low : 2 * ((int64_t)WINDOW - 1) - low;
        const double x = mirrored < (int64_t)count ? (double)sound[mirrored] : 0;
        const double hann = 0.5 - 0.5 * cos(2 * M_PI * t / FRAME);
        re += x * hann * cos(2 * M_PI * bin * t / FRAME);
        im -= x * hann * sin(2 * M_PI * bin * t / FRAME);
    }
    return re * re + im * im;
}

static double filter_of(uint32_t band, uint32_t bin) {
    const double hertz = (double)bin * (RATE / 2) / (BINS - 1), most = mel_of(8000);
    double edges[3];
    for (uint32_t i = 0; i < 3; i++) {
        edges[i] = hertz_of(most * (band + i) / (BANDS + 1));
    }
    const double rise = (hertz - edges[0]) / (edges[1] - edges[0]);
    const double fall = (edges[2] - hertz) / (edges[2] - edges[1]);
    return fmax(0, fmin(rise, fall)) * 2 / (edges[2] - edges[0]);
}

static void reference_spectrum(double *features, const float *sound, uint64_t count) {
    double largest = -INFINITY;
    for (uint32_t frame = 0; frame < FRAMES; frame++) {
        double power[BINS];
        for (uint32_t bin = 0; bin < BINS; bin++) {
            power[bin] = power_of(sound, count, frame, bin);
        }
        for (uint32_t band = 0; band < BANDS; band++) {
            double sum = 0;
            for (uint32_t bin = 0; bin < BINS; bin++) {
                sum += filter_of(band, bin) * power[bin];
            }
            features[frame * BANDS + band] = log10(fmax(sum, 1e-10));
            largest = fmax(largest, features[frame * BANDS + band]);
        }
    }
    for (uint32_t i = 0; i < FRAMES * BANDS; i++) {
        features[i] = (fmax(features[i], largest - 8) + 4) / 4;
    }
}

DEVICE_TEST(a_spectrum_is_that_of_its_formula, f) {
    static const uint64_t counts[] = {WINDOW, 0, 1, 7, 4001, WINDOW - 1};
    struct speech speech = begin(f, GENERATION);
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        float *sound = make_sound(WINDOW, 3 + i, 2000, 2600);
        static double expected[FRAMES * BANDS];
        static float found[FRAMES * BANDS];
        memset(found, 0xa5, sizeof found);
        reference_spectrum(expected, sound, counts[i]);
        assert_ok(weft_transcriber_spectrum(speech.transcriber, sound, counts[i], found));
        for (uint32_t k = 0; k < FRAMES * BANDS; k++) {
            assert_true(fabs((double)found[k] - expected[k]) <= 2e-5);
        }
        free(sound);
    }
    end(&speech);
}

/* ---- texts ---- */

/* Of a segment without a word of those that are never written: its letters in the order of its tokens. */
static void expect_text(const weft_segment *segment) {
    char text[POSITIONS + 1] = "";
    for (uint32_t i = 0, used = 0; i < segment->token_count; i++) {
        const int32_t token = segment->tokens[i];
        assert_true(token != 2 && token != END && (token < (int32_t)WORDS || token > NO_STAMPS));
        if (token < (int32_t)WORDS) {
            text[used++] = (char)('a' + token);
            text[used] = '\0';
        }
    }
    assert_string_equal(segment->text, text);
}

DEVICE_TEST(a_window_without_stamps_is_a_segment, f) {
    struct speech speech = begin(f, GENERATION);
    uint32_t differ = 0;
    int32_t before[POSITIONS] = {0};
    for (uint64_t seed = 1; seed <= 8; seed++) {
        float *sound = make_sound(WINDOW, seed, 0, 0);
        run(&speech, weft_transcript_params(.samples = sound, .count = WINDOW - seed,
                                            .language = "de", .without_times = true));
        const weft_segment segment = segment_at(&speech, 0);
        assert_int_equal(count_segments(&speech), 1);
        assert_int_equal(segment.begin, 0);
        assert_int_equal(segment.end, WINDOW - seed);
        assert_string_equal(segment.language, "de");
        assert_true(segment.token_count <= POSITIONS - PREFIX);
        assert_int_equal(segment.is_cut, segment.token_count == POSITIONS - PREFIX);
        assert_true(segment.token_count == 0 || segment.tokens[0] != 0);
        for (uint32_t i = 0; i < segment.token_count; i++) {
            assert_true(segment.tokens[i] < (int32_t)WORDS);
        }
        expect_text(&segment);
        differ += memcmp(before, segment.tokens, segment.token_count * sizeof *before) != 0;
        memcpy(before, segment.tokens, segment.token_count * sizeof *before);
        free(sound);
    }
    assert_true(differ > 1);
    end(&speech);
}

DEVICE_TEST(a_language_that_is_found_is_the_one_that_is_asked_for, f) {
    struct speech speech = begin(f, GENERATION);
    float *sound = make_sound(WINDOW, 5, 0, 0);
    run(&speech, weft_transcript_params(.samples = sound, .count = WINDOW, .translates = true));
    const weft_segment found = segment_at(&speech, 0);
    const char *language = found.language;
    int32_t tokens[POSITIONS];
    const uint32_t count = found.token_count;
    memcpy(tokens, found.tokens, count * sizeof *tokens);
    run(&speech, weft_transcript_params(.samples = sound, .count = WINDOW, .translates = true,
                                        .language = language));
    const weft_segment asked = segment_at(&speech, 0);
    assert_ptr_equal(asked.language, language);
    assert_int_equal(asked.token_count, count);
    assert_memory_equal(asked.tokens, tokens, count * sizeof *tokens);
    free(sound);
    end(&speech);
}

/* Fewer tokens begin the same text. */
DEVICE_TEST(a_text_is_cut_at_its_number_of_tokens, f) {
    struct speech speech = begin(f, ENGLISH_ALONE);
    float *sound = make_sound(WINDOW, 2, 0, 0);
    const weft_transcript_params all = {.samples = sound, .count = WINDOW, .without_times = true};
    run(&speech, &all);
    const weft_segment whole = segment_at(&speech, 0);
    const uint32_t count = whole.token_count;
    int32_t tokens[POSITIONS];
    memcpy(tokens, whole.tokens, count * sizeof *tokens);
    assert_null(whole.language);
    for (uint32_t n = 1; n <= count; n++) {
        weft_transcript_params some = all;
        some.tokens = n;
        run(&speech, &some);
        const weft_segment segment = segment_at(&speech, 0);
        assert_int_equal(segment.token_count, n);
        assert_true(segment.is_cut || n == count);
        assert_memory_equal(segment.tokens, tokens, n * sizeof *tokens);
    }
    free(sound);
    end(&speech);
}

/* ---- windows ---- */

DEVICE_TEST(a_long_sound_is_cut_where_it_is_quiet, f) {
    struct speech speech = begin(f, GENERATION);
    const uint64_t count = 3 * WINDOW, quiet = WINDOW - 2000, quiet_end = WINDOW - 1000;
    float *sound = make_sound(count, 4, quiet, quiet_end);
    run(&speech, weft_transcript_params(.samples = sound, .count = count, .without_times = true,
                                        .language = "en"));
    const uint32_t segments = count_segments(&speech);
    uint64_t at = 0;
    for (uint32_t i = 0; i < segments; i++) {
        const weft_segment segment = segment_at(&speech, i);
        assert_int_equal(segment.begin, at);
        assert_int_equal(segment.window, at); /* each window is one segment */
        assert_true(segment.end > at && segment.end - at <= WINDOW);
        assert_true(segment.end == count || segment.end - at >= WINDOW - WINDOW / 6);
        expect_text(&segment);
        at = segment.end;
    }
    assert_int_equal(at, count);
    assert_true(segment_at(&speech, 0).end > quiet && segment_at(&speech, 0).end < quiet_end);
    free(sound);
    end(&speech);
}

/* A window's text is the one that its samples have alone. */
DEVICE_TEST(windows_are_read_by_themselves, f) {
    struct speech speech = begin(f, GENERATION);
    const uint64_t count = 2 * WINDOW;
    float *sound = make_sound(count, 6, 0, 0);
    run(&speech, weft_transcript_params(.samples = sound, .count = count, .without_times = true,
                                        .language = "en"));
    const weft_segment second = segment_at(&speech, 1);
    const uint64_t begin_at = second.begin, size = second.end - second.begin;
    char *text = weft_test_text("%s", second.text);
    run(&speech, weft_transcript_params(.samples = sound + begin_at, .count = size,
                                        .without_times = true, .language = "en"));
    assert_string_equal(segment_at(&speech, 0).text, text);
    free(sound);
    end(&speech);
}

DEVICE_TEST(stamps_part_a_sound_in_order, f) {
    struct speech speech = begin(f, GENERATION);
    uint32_t parts = 0;
    uint32_t later = 0; /* in other windows than the first */
    for (uint64_t seed = 1; seed <= 6; seed++) {
        const uint64_t count = 2 * WINDOW + 100 * seed;
        float *sound = make_sound(count, seed, 0, 0);
        run(&speech, weft_transcript_params(.samples = sound, .count = count, .language = "en"));
        const uint32_t segments = count_segments(&speech);
        uint64_t at = 0;
        uint64_t window = 0; /* that of the segment before */
        uint64_t behind = 0; /* the end of the last one in the window before */
        for (uint32_t i = 0; i < segments; i++) {
            const weft_segment segment = segment_at(&speech, i);
            assert_true(segment.window == window || (i > 0 && segment.window == behind));
            assert_true(segment.begin >= segment.window && segment.end - segment.window <= WINDOW);
            later += segment.window > 0;
            window = segment.window;
            behind = segment.end;
            assert_true(segment.begin >= at && segment.end >= segment.begin &&
                        segment.end <= count);
            assert_true(segment.token_count > 0 && segment.tokens[0] > NO_STAMPS);
            expect_text(&segment);
            at = segment.begin;
        }
        parts += segments;
        free(sound);
    }
    assert_true(parts > 12); /* more than a window's each */
    assert_true(later > 0 && later < parts);
    end(&speech);
}

/* ---- which tokens may follow ---- */

static const struct weft_speech_rules some_rules = {
    .hop = HOP, .no_time_stamps = NO_STAMPS, .latest_first = 30};

static bool may_follow(const int32_t *tokens, uint32_t count, int32_t token) {
    const bool is_stamp = token > NO_STAMPS;
    const bool last = count > 0 && tokens[count - 1] > NO_STAMPS;
    const bool before = count < 2 || tokens[count - 2] > NO_STAMPS;
    int32_t newest = 0;
    for (uint32_t i = 0; i < count; i++) {
        newest = tokens[i] > NO_STAMPS ? tokens[i] : newest;
    }
    if (token == NO_STAMPS) {
        return false;
    }
    if (count == 0) {
        return is_stamp && token <= NO_STAMPS + 1 + 30;
    }
    if (last && before) {
        return !is_stamp;
    }
    if (last) {
        return is_stamp ? token >= newest : token >= END;
    }
    return !is_stamp || token > newest;
}

WEFT_TEST(tokens_follow_by_the_rules_of_stamps) {
    for (uint64_t round = 0; round < 2000; round++) {
        int32_t tokens[8];
        float logits[VOCABULARY];
        const uint32_t count = (uint32_t)(round % 9);
        double sum = 0, largest = -INFINITY;
        for (uint32_t i = 0; i < count; i++) {
            const uint32_t drawn = weft_philox_u32(7, round, i);
            tokens[i] = drawn % 2 ? (int32_t)(drawn / 2 % WORDS)
                                  : (int32_t)(NO_STAMPS + 1 + drawn / 2 % STAMPS);
        }
        for (uint32_t i = 0; i < VOCABULARY; i++) {
            logits[i] = (float)(weft_philox_u32(8, round, i) % 4000) / 1000.0F;
            if (may_follow(tokens, count, (int32_t)i) && i > NO_STAMPS) {
                sum += exp((double)logits[i]);
            } else if (may_follow(tokens, count, (int32_t)i)) {
                largest = fmax(largest, (double)logits[i]);
            }
        }
        const bool stamps = sum > 0 && log(sum) > largest;
        weft_time_stamps_mask(logits, &(struct weft_timed_text){.rules = &some_rules,
                                                                .tokens = tokens,
                                                                .count = count,
                                                                .vocabulary = VOCABULARY,
                                                                .end = END});
        for (uint32_t i = 0; i < VOCABULARY; i++) {
            const bool open = may_follow(tokens, count, (int32_t)i) && (!stamps || i > NO_STAMPS);
            assert_int_equal(logits[i] >= 0, open);
        }
    }
}

/* ---- what is refused ---- */

DEVICE_TEST(what_cannot_be_written_down_is_refused, f) {
    struct speech speech = begin(f, GENERATION);
    float *sound = make_sound(WINDOW, 1, 0, 0);
    bool done = false;
    struct weft_test_host *host = &f->host;
    WEFT_EXPECT_REFUSED(host, WEFT_INVALID_ARGUMENT,
                        weft_transcriber_step(speech.transcriber, &done), "no transcript");
    WEFT_EXPECT_REFUSED(
        host, WEFT_INVALID_ARGUMENT,
        weft_transcriber_begin(speech.transcriber, weft_transcript_params(.samples = sound)),
        "samples", "found 0");
    WEFT_EXPECT_REFUSED(
        host, WEFT_INVALID_ARGUMENT,
        weft_transcriber_begin(
            speech.transcriber,
            weft_transcript_params(.samples = sound, .count = WINDOW, .language = "<|en|>")),
        "language", "\"en\"", "\"<|en|>\"");
    WEFT_EXPECT_REFUSED(
        host, WEFT_INVALID_ARGUMENT,
        weft_transcriber_begin(
            speech.transcriber,
            weft_transcript_params(.samples = sound, .count = WINDOW, .tokens = 12)),
        "tokens", "11", "12");
    sound[77] = NAN;
    WEFT_EXPECT_REFUSED(
        host, WEFT_INVALID_ARGUMENT,
        weft_transcriber_begin(speech.transcriber,
                               weft_transcript_params(.samples = sound, .count = WINDOW)),
        "samples", "sample 77");
    WEFT_EXPECT_REFUSED(host, WEFT_INVALID_ARGUMENT,
                        weft_transcriber_spectrum(speech.transcriber, sound, WINDOW + 1, sound),
                        "16000", "16001");
    free(sound);
    end(&speech);
}

DEVICE_TEST(one_language_has_no_other_and_no_translation, f) {
    struct speech speech = begin(f, ENGLISH_ALONE);
    float *sound = make_sound(100, 1, 0, 0);
    weft_transcriber_info info;
    assert_ok(weft_transcriber_get_info(speech.transcriber, &info));
    assert_int_equal(info.language_count, 0);
    assert_null(weft_transcriber_language(speech.transcriber, 0));
    WEFT_EXPECT_REFUSED(
        &f->host, WEFT_INVALID_ARGUMENT,
        weft_transcriber_begin(
            speech.transcriber,
            weft_transcript_params(.samples = sound, .count = 100, .translates = true)),
        "translates");
    WEFT_EXPECT_REFUSED(
        &f->host, WEFT_INVALID_ARGUMENT,
        weft_transcriber_begin(
            speech.transcriber,
            weft_transcript_params(.samples = sound, .count = 100, .language = "en")),
        "language", "one language alone");
    free(sound);
    end(&speech);
}

/* What a folder says of speech, and why it is not believed. */
DEVICE_TEST(files_that_do_not_fit_are_refused, f) {
    static const struct {
        const char *file, *text, *field, *found;
    } rows[] = {
        {"preprocessor_config.json", "{'feature_extractor_type':'CLIPFeatureExtractor'}",
         "feature_extractor_type", "CLIPFeatureExtractor"},
        {"preprocessor_config.json",
         "{'feature_extractor_type':'WhisperFeatureExtractor','feature_size':80,'hop_length':320,"
         "'chunk_length':1}",
         "feature_size", "80"},
        {"preprocessor_config.json",
         "{'feature_extractor_type':'WhisperFeatureExtractor','feature_size':8,'hop_length':320,"
         "'chunk_length':30}",
         "chunk_length", "30"},
        {"preprocessor_config.json",
         "{'feature_extractor_type':'WhisperFeatureExtractor','feature_size':8,'hop_length':320,"
         "'chunk_length':1,'n_samples':15999}",
         "n_samples", "15999"},
        {"preprocessor_config.json",
         "{'feature_extractor_type':'WhisperFeatureExtractor','feature_size':8,'hop_length':320,"
         "'chunk_length':1,'n_fft':401}",
         "n_fft", "401"},
        {"preprocessor_config.json",
         "{'feature_extractor_type':'WhisperFeatureExtractor','feature_size':8,'hop_length':320,"
         "'chunk_length':1,'dither':0.5}",
         "dither", "0.5"},
        {"generation_config.json", "{'is_multilingual':true,'no_timestamps_token_id':14}",
         "lang_to_id", "nothing"},
        {"generation_config.json", "{'lang_to_id':{'<|en|>':10},'no_timestamps_token_id':14}",
         "task_to_id", "nothing"},
        {"generation_config.json", "{'lang_to_id':{'en':10}}", "lang_to_id", "10"},
        {"generation_config.json", "{'lang_to_id':{'<|en|>':66}}", "<|en|>", "66"},
        {"generation_config.json", "{'no_timestamps_token_id':66}", "no_timestamps_token_id", "66"},
        {"generation_config.json", "{'suppress_tokens':[1,'2']}", "suppress_tokens", "\"2\""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct weft_test_model files;
        weft_model *model = NULL;
        write_folder(&files, GENERATION);
        const char *text = weft_test_json(rows[i].text);
        weft_test_write(files.folder, rows[i].file, text, strlen(text));
        weft_test_host_reset(&f->host);
        assert_true(weft_model_load(&model, files.folder, &f->host.host) != WEFT_OK);
        weft_test_expect_log(&f->host, rows[i].file, rows[i].field, "expected", rows[i].found);
        weft_test_model_end(&files);
    }
}

DEVICE_TEST(a_folder_without_the_files_has_no_transcripts, f) {
    static const char *const files[] = {"preprocessor_config.json", "generation_config.json"};
    for (size_t i = 0; i < 2; i++) {
        struct weft_test_model folder;
        weft_model *model = NULL;
        weft_transcriber *transcriber = NULL;
        write_folder(&folder, GENERATION);
        assert_int_equal(remove(weft_test_path(folder.folder, files[i])), 0);
        assert_ok(weft_model_load(&model, folder.folder, &f->host.host));
        WEFT_EXPECT_REFUSED(&f->host, WEFT_UNSUPPORTED,
                            weft_transcriber_create(&transcriber, model, f->device, NULL), files[i],
                            "not both");
        weft_model_destroy(&model);
        weft_test_model_end(&folder);
    }
}
