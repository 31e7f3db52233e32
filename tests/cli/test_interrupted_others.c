/* SPDX-License-Identifier: MIT */
/* weft-test: posix */
/*
 * generate, transcribe, quantize, verify --receipt and inspect, stopped at random moments: what they say and write is part of what they say
 * and write uninterrupted, or nothing.
 */
#define _DEFAULT_SOURCE
#include "cli/task_models.h"

#include "cli/interrupt.h"
#include "cli/whisper_folder.h"

/* ---- texts ---- */

/* Each text begins as the uninterrupted one does, and one that has ended is that. */
static void expect_texts(const json_t *all, const json_t *some) {
    assert_true(json_array_size(some) <= json_array_size(all));
    for (size_t i = 0; i < json_array_size(some); i++) {
        const json_t *whole = json_array_get(all, i);
        const json_t *text = json_array_get(some, i);
        const json_t *tokens = part(text, "tokens");
        const char *ending = json_string_value(part(text, "ending"));
        assert_true(json_array_size(tokens) <= json_array_size(part(whole, "tokens")));
        for (size_t k = 0; k < json_array_size(tokens); k++) {
            assert_true(
                json_equal(json_array_get(tokens, k), json_array_get(part(whole, "tokens"), k)));
        }
        assert_true(json_equal(whole, text) || strcmp(ending, "none") == 0);
    }
}

static void check_generated(const struct run *whole, const struct run *run) {
    json_t *all = report_of(whole);
    json_t *report = report_of(run);
    const json_t *texts = part(report, "texts");
    expect_texts(part(all, "texts"), texts);
    assert_true(was_stopped(run) || json_array_size(texts) == json_array_size(part(all, "texts")));
    assert_int_equal(weft_test_entries(run->folder), 0);
    json_decref(all);
    json_decref(report);
}

PLACE_TEST(texts_begin_as_they_do, place) {
    enum { PROMPTS = 20 }; /* more than one batch */
    char prompts[PROMPTS * 8] = "";
    size_t size = 0;
    for (int i = 0; i < PROMPTS; i++) {
        size += (size_t)snprintf(prompts + size, 8, "%c%c\n", 'a' + i, 'b' + i % 3);
    }
    const char *model = write_tiny_model(place->folder, "model", &causal);
    const char *lines = weft_test_write(place->folder, "prompts.txt", prompts, size);
    const char *const arguments[] = {"generate", model,    "--lines", lines,    "--tokens",
                                     "6",        "--seed", "3",       "--json", NULL};
    interrupt(arguments, check_generated);
}

/* ---- sounds ---- */

/* The first segments of the uninterrupted transcripts; only the last file may lack some. */
static void check_transcripts(const struct run *whole, const struct run *run) {
    json_t *all = report_of(whole);
    json_t *report = report_of(run);
    const json_t *files = part(report, "files");
    const size_t count = json_array_size(files);
    assert_true(count <= 2 && (was_stopped(run) || count == 2));
    for (size_t i = 0; i < count; i++) {
        const json_t *expected = json_array_get(part(all, "files"), i);
        const json_t *file = json_array_get(files, i);
        const json_t *segments = part(file, "segments");
        assert_true(json_equal(part(file, "file"), part(expected, "file")));
        assert_true(json_array_size(segments) <= json_array_size(part(expected, "segments")));
        for (size_t k = 0; k < json_array_size(segments); k++) {
            assert_true(json_equal(json_array_get(segments, k),
                                   json_array_get(part(expected, "segments"), k)));
        }
        assert_true(json_equal(file, expected) || (was_stopped(run) && i + 1 == count));
    }
    assert_int_equal(weft_test_entries(run->folder), 0);
    json_decref(all);
    json_decref(report);
}

PLACE_TEST(segments_are_those_that_were_made, place) {
    const char *first = write_wav(place->folder, "first.wav", 3, 3 * WINDOW, RATE);
    const char *second = write_wav(place->folder, "second.wav", 4, WINDOW, RATE);
    const char *const arguments[] = {"transcribe", WHISPER, first,    second,
                                     "--tokens",   "4",     "--json", NULL};
    interrupt(arguments, check_transcripts);
}

/* ---- files ---- */

static void check_folder(const struct run *whole, const struct run *run) {
    const char *const name = "int8/model.safetensors";
    const char *path = weft_test_path(run->folder, name);
    if (access(path, F_OK) != 0) {
        assert_true(was_stopped(run));
        const char *folder = weft_test_path(run->folder, "int8");
        assert_true(access(folder, F_OK) != 0 || weft_test_entries(folder) == 0);
        return;
    }
    size_t sizes[2] = {0};
    uint8_t *files[2] = {weft_test_read(weft_test_path(whole->folder, name), &sizes[0]),
                         weft_test_read(path, &sizes[1])};
    assert_int_equal(sizes[0], sizes[1]);
    assert_memory_equal(files[0], files[1], sizes[0]);
    assert_int_equal(weft_test_entries(weft_test_path(run->folder, "int8")),
                     weft_test_entries(weft_test_path(whole->folder, "int8")));
    free(files[0]);
    free(files[1]);
}

PLACE_TEST(a_folder_is_whole_or_empty, place) {
    const char *model = write_tiny_model(place->folder, "model", &causal);
    const char *const arguments[] = {"quantize", model, "int8", "--json", NULL};
    interrupt(arguments, check_folder);
}

/* Nothing is written, and what it says is all or that it was stopped. */
static void check_report(const struct run *whole, const struct run *run) {
    json_t *all = report_of(whole);
    json_t *report = report_of(run);
    assert_int_equal(json_object_size(report), was_stopped(run) ? 1 : json_object_size(all));
    assert_int_equal(weft_test_entries(run->folder), 0);
    json_decref(all);
    json_decref(report);
}

PLACE_TEST(a_plan_is_shown_whole, place) {
    const char *model = write_tiny_model(place->folder, "model", &causal);
    const char *const arguments[] = {"inspect", model, "--json", NULL};
    interrupt(arguments, check_report);
}

PLACE_TEST(a_verdict_is_of_the_whole_receipt, place) {
    uint64_t looks = 0;
    const char *model = write_tiny_model(place->folder, "model", &causal);
    const char *receipt = weft_test_path(place->folder, "receipt.json");
    const char *const making[] = {"run", model, "--text", "abc", "--receipt", receipt, NULL};
    struct run made = run_in(weft_test_folder(), making, 0, &looks);
    assert_false(was_stopped(&made));
    clear(&made);
    const char *const arguments[] = {"verify", "--receipt", receipt,  model,
                                     "--text", "abc",       "--json", NULL};
    interrupt(arguments, check_report);
}
