/* SPDX-License-Identifier: MIT */
/* What tests of stopped commands look at: the rows of out.npy, and items of reports. Includes cli/interrupt.h. */
#ifndef WEFT_TESTS_CLI_INTERRUPT_ROWS_H
#define WEFT_TESTS_CLI_INTERRUPT_ROWS_H

#include "cli/interrupt.h"
#include "cli/logits.h"

static const struct tiny_model classifier = {
    .task = "classify", .vocabulary = BYTES, .outputs = OUTPUTS, .bytes = true, .seed = 6};

struct rows {
    float *values;
    uint32_t count, width;
};

static inline struct rows read_rows(const struct run *run) {
    struct rows rows = {.values = NULL};
    const char *path = weft_test_path(run->folder, "out.npy");
    weft_npy npy = {0};
    if (access(path, F_OK) != 0) {
        return rows;
    }
    assert_ok(weft_npy_open(&npy, path, NULL));
    assert_int_equal(npy.rank, 2);
    rows = (struct rows){.values = malloc((size_t)npy.elements * sizeof(float) + 1),
                         .count = (uint32_t)npy.shape[0],
                         .width = (uint32_t)npy.shape[1]};
    assert_non_null(rows.values);
    assert_ok(weft_npy_read_f32(&npy, rows.values));
    weft_npy_close(&npy);
    return rows;
}

/* The file has the first rows of the whole one's, `count` of them, and the hash is theirs. */
static inline void expect_rows(const struct run *whole, const struct run *run, uint32_t count,
                               const char *hash) {
    struct rows all = read_rows(whole);
    struct rows some = read_rows(run);
    char digest[WEFT_DIGEST_TEXT_SIZE];
    assert_int_equal(some.count, count);
    assert_true(some.count <= all.count && (was_stopped(run) || some.count == all.count));
    assert_memory_equal(some.values ? some.values : all.values, all.values,
                        (size_t)count * all.width * sizeof(float));
    weft_cli_digest(all.values, (uint64_t)count * all.width, digest);
    assert_string_equal(hash ? hash : digest, digest);
    free(all.values);
    free(some.values);
}

/* Items of an array in a report are the first of those in the other. */
static inline uint32_t expect_first_items(const json_t *all, const json_t *some) {
    assert_true(json_array_size(some) <= json_array_size(all));
    for (size_t i = 0; i < json_array_size(some); i++) {
        if (!json_equal(json_array_get(all, i), json_array_get(some, i))) {
            fail_msg("item %zu differs", i);
        }
    }
    return (uint32_t)json_array_size(some);
}

/* ---- what a run left ---- */

/* All, or nothing at all. */
static inline void check_all_or_nothing(const struct run *whole, const struct run *run) {
    struct rows all = read_rows(whole);
    expect_rows(whole, run, was_stopped(run) ? 0 : all.count, NULL);
    assert_int_equal(weft_test_entries(run->folder), was_stopped(run) ? 0 : 1);
    free(all.values);
}

enum { LINES = 24 };

/* Texts of all lengths that the model takes; also empty ones. */
static inline char *write_lines(const char *folder, bool also_empty) {
    char text[LINES * (TINY_LENGTH + 1) + 1] = "";
    size_t size = 0;
    for (uint32_t i = 0; i < LINES; i++) {
        const uint32_t length = (i * 7 + 3) % (TINY_LENGTH + 1);
        for (uint32_t k = 0; k < (length == 0 && !also_empty ? 1 : length); k++) {
            text[size++] = (char)('a' + (i + k * k) % 26);
        }
        text[size++] = '\n';
    }
    return weft_test_write(folder, "lines.txt", text, size);
}

/* Whole lines, the first ones of the uninterrupted output. */
static inline void check_text(const struct run *whole, const struct run *run) {
    const size_t size = strlen(run->out);
    assert_true(size <= strlen(whole->out) && (was_stopped(run) || size == strlen(whole->out)));
    assert_memory_equal(run->out, whole->out, size);
    assert_true(size == 0 || run->out[size - 1] == '\n');
    assert_int_equal(weft_test_entries(run->folder), 0);
}

#endif
