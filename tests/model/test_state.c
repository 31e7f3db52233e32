/* SPDX-License-Identifier: MIT */
/* weft-test: long device */
/*
 * States in files: a sequence that is cut at random places, each piece in another decoder, on another device, in another row, of another
 * size, gives the logits of the uninterrupted one, bit for bit; what is not its own is refused by name.
 */
#include <math.h>

#include "core/hash.h"
#include "core/math/philox.h"
#include "core/system/file.h"
#include "model/files/safetensors.h"
#include "support.h"
#include "support_decoder.h"

#define TEST(name, f) WEFT_TEST_WITH(name, struct weft_test_device *f, NULL, NULL)

WEFT_TEST_GROUP(weft_test_device_set_up, weft_test_device_tear_down);

#define ROWS   3U /* of the decoders that go on */
#define PIECES 5U

/* ---- one sequence ---- */

struct run {
    weft_model *model;
    weft_model_info info;
    uint32_t n;
    int32_t *tokens; /* [n] */
    float *logits;   /* [ROWS, vocabulary] */
    uint64_t seed;
};

static void begin(struct run *run, struct weft_test_device *f,
                  const struct weft_test_decoded *variant) {
    weft_test_load_decoded(&run->model, f, variant);
    assert_ok(weft_model_get_info(run->model, &run->info));
    run->n = weft_test_decoded_reach(&run->info);
    run->tokens = calloc(run->n, sizeof *run->tokens);
    run->logits = calloc((size_t)ROWS * run->info.vocabulary, sizeof *run->logits);
    assert_true(run->tokens && run->logits);
    for (uint32_t i = 0; i < run->n; i++) {
        run->tokens[i] = (int32_t)(weft_philox_u32(8, 0, i) % run->info.vocabulary);
    }
}

static void end(struct run *run) {
    free(run->tokens);
    free(run->logits);
    weft_model_destroy(&run->model);
}

static uint32_t draw(struct run *run, uint32_t count) {
    return weft_philox_u32(9, 0, run->seed++) % count;
}

static void add_row(weft_sha256 *hash, const struct run *run, uint32_t row) {
    weft_sha256_add(hash, run->logits + (size_t)row * run->info.vocabulary,
                    run->info.vocabulary * sizeof *run->logits);
}

/* All steps of one decoder. */
static weft_digest uninterrupted(struct run *run, weft_device *device) {
    weft_decoder *decoder = NULL;
    weft_sha256 hash;
    weft_sha256_begin(&hash);
    assert_ok(weft_decoder_create(&decoder, run->model, device, NULL));
    for (uint32_t p = 0; p < run->n; p++) {
        assert_ok(weft_decoder_step(decoder, &run->tokens[p], run->logits));
        add_row(&hash, run, 0);
    }
    weft_decoder_destroy(&decoder);
    return weft_sha256_end(&hash);
}

/* The tokens from `first` to `last` - 1 in one row, behind the state of the file, whatever the others get. */
static void go_on(struct run *run, weft_device *device, const char *path, uint32_t first,
                  uint32_t last, weft_sha256 *hash) {
    weft_decoder *decoder = NULL;
    const uint32_t row = draw(run, ROWS);
    const uint32_t longest = last + draw(run, run->n - last + 1);
    assert_ok(weft_decoder_create(&decoder, run->model, device,
                                  weft_decoder_params(.batch = ROWS, .max_length = longest)));
    if (first > 0) {
        assert_ok(weft_decoder_load(decoder, row, path));
    }
    for (uint32_t p = first; p < last; p++) {
        int32_t given[ROWS];
        for (uint32_t b = 0; b < ROWS; b++) {
            given[b] = (int32_t)draw(run, run->info.vocabulary);
        }
        given[row] = run->tokens[p];
        assert_ok(weft_decoder_step(decoder, given, run->logits));
        add_row(hash, run, row);
    }
    const int32_t *tokens = NULL;
    uint32_t count = 0;
    assert_ok(weft_decoder_get_tokens(decoder, row, &tokens, &count));
    assert_int_equal(count, last);
    assert_memory_equal(tokens, run->tokens, count * sizeof *tokens);
    assert_ok(weft_decoder_save(decoder, row, path));
    weft_decoder_destroy(&decoder);
}

static void expect_one_hash(struct weft_test_device *f, weft_device *const devices[2],
                            const struct weft_test_decoded *variant, const char *path) {
    struct run run = {.seed = 0};
    weft_sha256 hash;
    begin(&run, f, variant);
    const weft_digest whole = uninterrupted(&run, devices[0]);
    weft_sha256_begin(&hash);
    for (uint32_t piece = 0, first = 0; first < run.n; piece++) {
        const uint32_t left = run.n - first;
        const uint32_t length = piece + 1 == PIECES ? left : 1 + draw(&run, left < 60 ? left : 60);
        go_on(&run, devices[piece % 2], path, first, first + length, &hash);
        first += length;
    }
    const weft_digest cut = weft_sha256_end(&hash);
    if (memcmp(&whole, &cut, sizeof whole) != 0) {
        fail_msg("%s: cut sequences have other bits", variant->golden);
    }
    end(&run);
}

/* A device more, of the processor if this one is not and it is there; its own pipelines and buffers in any case. */
static weft_device *open_another(struct weft_test_device *f) {
    weft_device *device = NULL;
    weft_device_params params = {.host = f->host.host, .select = "processor"};
    if (weft_device_open(&device, &params) != WEFT_OK) {
        params.select = NULL;
        assert_ok(weft_device_open(&device, &params));
    }
    return device;
}

TEST(cut_sequences_are_one, f) {
    char *path = weft_test_path(weft_test_folder(), "state");
    weft_device *another = open_another(f);
    weft_device *const devices[2] = {f->device, another};
    for (size_t i = 0; i < weft_test_decoded_count; i++) {
        if (weft_test_decoded_models[i].decoding == WEFT_DECODING_RECURRENT) {
            expect_one_hash(f, devices, &weft_test_decoded_models[i], path);
        }
    }
    weft_device_destroy(&another);
}

/* ---- behind a prompt, and taken back ---- */

/* The logits behind token `p` of a decoder, which has those before it. */
static void expect_step(struct run *run, weft_decoder *decoder, uint32_t p, const float *expected) {
    assert_ok(weft_decoder_step(decoder, &run->tokens[p], run->logits));
    assert_memory_equal(run->logits, expected, run->info.vocabulary * sizeof *expected);
}

static const struct weft_test_decoded *find(const char *golden) {
    for (size_t i = 0; i < weft_test_decoded_count; i++) {
        if (strcmp(weft_test_decoded_models[i].golden, golden) == 0) {
            return &weft_test_decoded_models[i];
        }
    }
    fail_msg("no model %s", golden);
    return NULL;
}

TEST(a_state_behind_a_prompt, f) {
    static const char *const goldens[] = {"qwen3_next_causal_lm", "mistral_window_causal_lm",
                                          "lfm2_causal_lm"};
    char *path = weft_test_path(weft_test_folder(), "state");
    for (size_t i = 0; i < sizeof goldens / sizeof goldens[0]; i++) {
        struct run run = {.seed = 0};
        weft_decoder *decoder = NULL;
        begin(&run, f, find(goldens[i]));
        float *expected = calloc(run.info.vocabulary, sizeof *expected);
        assert_non_null(expected);
        assert_ok(weft_decoder_create(&decoder, run.model, f->device, NULL));
        assert_ok(weft_decoder_prompt(decoder, run.tokens, 67, NULL));
        assert_ok(weft_decoder_save(decoder, 0, path));
        assert_ok(weft_decoder_step(decoder, &run.tokens[67], expected));
        assert_ok(weft_decoder_load(decoder, 0, path)); /* over what it has */
        expect_step(&run, decoder, 67, expected);
        weft_decoder_reset(decoder);
        assert_ok(weft_decoder_load(decoder, 0, path));
        expect_step(&run, decoder, 67, expected);
        weft_decoder_destroy(&decoder);
        free(expected);
        end(&run);
    }
}

/* Three tokens that are taken back and others in their place. */
static void rewind_and_repeat(struct run *run, weft_decoder *decoder, uint32_t p) {
    const int32_t other = 1;
    float *expected = calloc(run->info.vocabulary, sizeof *expected);
    assert_non_null(expected);
    assert_ok(weft_decoder_prompt(decoder, run->tokens, p, NULL));
    assert_ok(weft_decoder_step(decoder, &run->tokens[p], expected));
    assert_ok(weft_decoder_rewind(decoder, 0, p));
    for (uint32_t i = 0; i < 3; i++) {
        assert_ok(weft_decoder_step(decoder, &other, NULL));
    }
    assert_ok(weft_decoder_rewind(decoder, 0, p));
    expect_step(run, decoder, p, expected);
    free(expected);
}

TEST(tokens_are_taken_back, f) {
    struct run run = {.seed = 0};
    weft_decoder *decoder = NULL;
    begin(&run, f, find("qwen3_causal_lm"));
    for (int again = 0; again < 2; again++) {
        assert_ok(weft_decoder_create(&decoder, run.model, f->device,
                                      weft_decoder_params(.reevaluate = again != 0)));
        rewind_and_repeat(&run, decoder, 20);
        WEFT_EXPECT_REFUSED(&f->host, WEFT_INVALID_ARGUMENT, weft_decoder_rewind(decoder, 0, 22),
                            "length of 22", "0 to 21");
        weft_decoder_destroy(&decoder);
    }
    end(&run);
}

/* A window that has overwritten tokens gives one back, sums none. */
TEST(what_cannot_be_taken_back, f) {
    struct run run = {.seed = 0};
    weft_decoder *decoder = NULL;
    begin(&run, f, find("mistral_window_causal_lm"));
    assert_ok(weft_decoder_create(&decoder, run.model, f->device, NULL));
    float *expected = calloc(run.info.vocabulary, sizeof *expected);
    assert_non_null(expected);
    assert_ok(weft_decoder_prompt(decoder, run.tokens, 60, NULL));
    assert_ok(weft_decoder_step(decoder, &run.tokens[60], expected));
    WEFT_EXPECT_REFUSED(&f->host, WEFT_UNSUPPORTED, weft_decoder_rewind(decoder, 0, 59), "state '",
                        "only the last");
    assert_ok(weft_decoder_rewind(decoder, 0, 60));
    expect_step(&run, decoder, 60, expected);
    weft_decoder_destroy(&decoder);
    free(expected);
    end(&run);
    begin(&run, f, find("mamba2_causal_lm"));
    assert_ok(weft_decoder_create(&decoder, run.model, f->device, NULL));
    assert_ok(weft_decoder_prompt(decoder, run.tokens, 5, NULL));
    WEFT_EXPECT_REFUSED(&f->host, WEFT_UNSUPPORTED, weft_decoder_rewind(decoder, 0, 4), "state '",
                        "sums of all tokens");
    assert_ok(weft_decoder_rewind(decoder, 0, 0));
    weft_decoder_destroy(&decoder);
    end(&run);
}

/* ---- refusals ---- */

/* Each text of the file that is `found` becomes `other`, which has its length. */
static void replace(const char *path, const char *found, const char *other, const weft_host *host) {
    uint8_t *bytes = NULL;
    size_t size = 0;
    bool any = false;
    assert_int_equal(strlen(found), strlen(other));
    assert_ok(weft_file_read(&bytes, &size, (size_t)1 << 24, path, host));
    for (size_t i = 0; i + strlen(found) <= size; i++) {
        if (memcmp(bytes + i, found, strlen(found)) == 0) {
            memcpy(bytes + i, other, strlen(other));
            any = true;
        }
    }
    assert_true(any);
    assert_ok(weft_file_write(path, bytes, size, host));
    weft_free(host, bytes);
}

TEST(files_of_others_are_refused, f) {
    static const struct {
        const char *found, *other, *said[2];
    } changes[] = {
        {"\"version\":\"1\"", "\"version\":\"2\"", {"version: expected '1'", "found '2'"}},
        {"\"format\":\"weft-state\"",
         "\"format\":\"weft-stata\"",
         {"format: expected", "weft-stata"}},
        {"\"bits\":\"1\"", "\"bits\":\"7\"", {"bits: expected '1'", "found '7'"}},
        {"\"decoding\":\"recurrent\"",
         "\"decoding\":\"rerurrent\"",
         {"decoding: expected", "rerurrent"}},
        {"\"weights\":\"f32\"", "\"weights\":\"f16\"", {"weights: expected 'f32'", "found 'f16'"}},
        {"\"tokens\":\"9\"", "\"tokens\":\"8\"", {"tokens: expected a number from 9 to 9", "'8'"}},
        {"\"given\":\"9\"", "\"given\":\"g\"", {"given: expected a number", "'g'"}},
        {"\"text\":\"", "\"texo\":\"", {"notes of a state", "texo"}},
        {"\"dtype\":\"F32\"", "\"dtype\":\"I32\"", {"state/", "I32"}},
    };
    char *path = weft_test_path(weft_test_folder(), "state");
    struct run run = {.seed = 0};
    weft_decoder *decoder = NULL;
    begin(&run, f, find("qwen3_next_causal_lm"));
    assert_ok(weft_decoder_create(&decoder, run.model, f->device, NULL));
    WEFT_EXPECT_REFUSED(&f->host, WEFT_INVALID_ARGUMENT, weft_decoder_save(decoder, 0, path),
                        "no tokens");
    WEFT_EXPECT_REFUSED(&f->host, WEFT_INVALID_ARGUMENT, weft_decoder_save(decoder, 1, path),
                        "sequence 1 is outside 0 to 0");
    assert_ok(weft_decoder_prompt(decoder, run.tokens, 9, NULL));
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        assert_ok(weft_decoder_save(decoder, 0, path));
        replace(path, changes[i].found, changes[i].other, &f->host.host);
        WEFT_EXPECT_REFUSED(&f->host, WEFT_BAD_FILE, weft_decoder_load(decoder, 0, path), path,
                            changes[i].said[0], changes[i].said[1]);
    }
    weft_decoder_info info;
    assert_ok(weft_decoder_get_info(decoder, &info));
    assert_int_equal(info.length, 9); /* as it was */
    weft_decoder_destroy(&decoder);
    end(&run);
}

/* A state of another model, in a decoder without room, and in one of another kind. */
TEST(states_of_other_decoders_are_refused, f) {
    char *path = weft_test_path(weft_test_folder(), "state");
    struct run run = {.seed = 0};
    weft_decoder *decoder = NULL;
    begin(&run, f, find("qwen3_causal_lm"));
    assert_ok(weft_decoder_create(&decoder, run.model, f->device, NULL));
    assert_ok(weft_decoder_prompt(decoder, run.tokens, 9, NULL));
    assert_ok(weft_decoder_save(decoder, 0, path));
    weft_decoder_destroy(&decoder);
    assert_ok(
        weft_decoder_create(&decoder, run.model, f->device, weft_decoder_params(.max_length = 8)));
    WEFT_EXPECT_REFUSED(&f->host, WEFT_BAD_FILE, weft_decoder_load(decoder, 0, path), path,
                        "'tokens'", "n from 1 to 8", "9 elements");
    weft_decoder_destroy(&decoder);
    assert_ok(weft_decoder_create(&decoder, run.model, f->device,
                                  weft_decoder_params(.reevaluate = true)));
    WEFT_EXPECT_REFUSED(&f->host, WEFT_BAD_FILE, weft_decoder_load(decoder, 0, path), path,
                        "decoding: expected 'reevaluated'", "found 'recurrent'");
    weft_decoder_destroy(&decoder);
    end(&run);
    begin(&run, f, find("llama_causal_lm"));
    assert_ok(weft_decoder_create(&decoder, run.model, f->device, NULL));
    WEFT_EXPECT_REFUSED(&f->host, WEFT_BAD_FILE, weft_decoder_load(decoder, 0, path), path,
                        "model: expected", "this model's hash");
    const char *absent = weft_test_absent("state");
    WEFT_EXPECT_REFUSED(&f->host, WEFT_NOT_FOUND, weft_decoder_load(decoder, 0, absent), absent);
    weft_decoder_destroy(&decoder);
    end(&run);
}

/* One float of a state is another: its hash says so. */
TEST(changed_states_are_refused, f) {
    char *path = weft_test_path(weft_test_folder(), "state");
    struct run run = {.seed = 0};
    weft_decoder *decoder = NULL;
    uint8_t *bytes = NULL;
    size_t size = 0;
    begin(&run, f, find("lfm2_causal_lm"));
    assert_ok(weft_decoder_create(&decoder, run.model, f->device, NULL));
    assert_ok(weft_decoder_prompt(decoder, run.tokens, 9, NULL));
    assert_ok(weft_decoder_save(decoder, 0, path));
    assert_ok(weft_file_read(&bytes, &size, (size_t)1 << 24, path, &f->host.host));
    bytes[size - 2] ^= 1;
    assert_ok(weft_file_write(path, bytes, size, &f->host.host));
    WEFT_EXPECT_REFUSED(&f->host, WEFT_BAD_FILE, weft_decoder_load(decoder, 0, path), path,
                        "states: expected the hash of its states");
    assert_ok(weft_file_write(path, bytes, size - 4, &f->host.host));
    WEFT_EXPECT_REFUSED(&f->host, WEFT_BAD_FILE, weft_decoder_load(decoder, 0, path), path, "data");
    weft_free(&f->host.host, bytes);
    weft_decoder_destroy(&decoder);
    end(&run);
}
