/* SPDX-License-Identifier: MIT */
/* weft-test: posix */
/*
 * run of one batch, of a program, and of lines as JSON lines or as parts of texts, stopped at random moments: what it delivers is
 * part of what it delivers uninterrupted, or nothing.
 */
#define _DEFAULT_SOURCE
#include "cli/task_models.h"

#include "cli/interrupt_rows.h"

/* ---- one batch ---- */

PLACE_TEST(one_batch_is_whole_or_not_there, place) {
    const char *model = write_tiny_model(place->folder, "model", &classifier);
    const char *const arguments[] = {"run",   model,     "--text", "a text",
                                     "--out", "out.npy", "--json", NULL};
    interrupt(arguments, check_all_or_nothing);
}

PLACE_TEST(an_array_of_tokens_is_run_whole, place) {
    enum { BATCH = 3, TOKENS = 5 };
    int32_t tokens[BATCH * TOKENS];
    for (int32_t i = 0; i < BATCH * TOKENS; i++) {
        tokens[i] = (i * 37 + 1) % BYTES;
    }
    const char *model = write_tiny_model(place->folder, "model", &classifier);
    const char *path =
        write_integers(place->folder, "tokens.npy", tokens, weft_shape_of(BATCH, TOKENS));
    const char *const arguments[] = {"run",   model,     "--tokens", path,
                                     "--out", "out.npy", "--json",   NULL};
    interrupt(arguments, check_all_or_nothing);
}

PLACE_TEST(an_array_of_vectors_is_run_whole, place) {
    enum { BATCH = 3 };
    static float inputs[BATCH * LENGTH * WIDTH];
    weft_philox_uniform(inputs, sizeof inputs / sizeof *inputs, 12, 0);
    const char *model = write_tiny_model(place->folder, "model", &regression);
    const char *path =
        write_reals(place->folder, "inputs.npy", inputs, weft_shape_of(BATCH, LENGTH, WIDTH));
    const char *const arguments[] = {"run",   model,     "--input", path,
                                     "--out", "out.npy", "--json",  NULL};
    interrupt(arguments, check_all_or_nothing);
}

/* ---- lines ---- */

PLACE_TEST(json_lines_are_those_that_were_made, place) {
    const char *model = write_tiny_model(place->folder, "model", &classifier);
    const char *const arguments[] = {"run",     model, "--lines", write_lines(place->folder, true),
                                     "--jsonl", NULL};
    interrupt(arguments, check_text);
}

/* The first answers; the hash is of all of them or not there. */
static void check_found(const struct run *whole, const struct run *run) {
    json_t *all = report_of(whole);
    json_t *report = report_of(run);
    const json_t *hash = part(part(report, "output"), "sha256");
    const uint32_t count = expect_first_items(part(all, "results"), part(report, "results"));
    assert_int_equal(json_integer_value(part(report, "texts")), count);
    assert_true(was_stopped(run)
                    ? !json_is_string(hash)
                    : count == LINES && json_equal(hash, part(part(all, "output"), "sha256")));
    assert_int_equal(weft_test_entries(run->folder), 0);
    json_decref(all);
    json_decref(report);
}

/* A program that gives each byte a label; neighbours of one label are an entity. */
static char *write_tagger(const char *place) {
    char *folder = weft_test_path(place, "tagger");
    struct weft_test_model files = {.folder = folder};
    assert_int_equal(mkdir(folder, 0777), 0);
    weft_test_model_add(&files, "table", weft_shape_of(BYTES, OUTPUTS));
    write_random(&files,
                 "{'model_type': 'program', 'format': 1, 'task': 'classify_tokens', "
                 "'vocab_size': 256, 'tokenizer_class': 'ByteTokenizer', "
                 "'symbols': {'batch': {'max': 64}, 'length': {'max': 16}}, "
                 "'inputs': [{'name': 'tokens', 'dtype': 'i32', 'shape': ['batch', 'length']}], "
                 "'nodes': [{'op': 'embedding', 'inputs': ['tokens', 'table'], 'output': 'h'}], "
                 "'outputs': [{'name': 'output', 'value': 'h'}]}",
                 9);
    return folder;
}

PLACE_TEST(entities_are_those_that_were_found, place) {
    const char *model = write_tagger(place->folder);
    const char *lines = write_lines(place->folder, true);
    const char *const as_json[] = {"run", model, "--lines", lines, "--json", NULL};
    const char *const as_lines[] = {"run", model, "--lines", lines, "--jsonl", NULL};
    interrupt(as_json, check_found);
    interrupt(as_lines, check_text);
}
