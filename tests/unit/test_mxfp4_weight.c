/* SPDX-License-Identifier: MIT */
/* Matrices in MXFP4 as gpt-oss's folders have them: numbers by the format's definition, their blocks, and what is refused. */
#include <math.h>

#include "graph/graph.h"
#include "model/files/mxfp4_weight.h"
#include "support.h"

enum {
    GROUPS = 2,
    ROWS = 6,
    BLOCKS = 3, /* of a row */
    COLUMNS = 32 * BLOCKS,
    BYTES = GROUPS * ROWS * BLOCKS * 16,
    SCALES = GROUPS * ROWS * BLOCKS
};

struct file {
    char header[512];
    uint8_t data[BYTES + SCALES];
};

#define ENTRY(name, type, shape, begin, end)                                                      \
    "\"" name "\":{\"dtype\":\"" type "\",\"shape\":" shape ",\"data_offsets\":[" #begin "," #end \
    "]}"

static void fill(struct file *file) {
    snprintf(file->header, sizeof file->header, "{%s,%s}",
             ENTRY("w_blocks", "U8", "[2,6,3,16]", 0, 576),
             ENTRY("w_scales", "U8", "[2,6,3]", 576, 612));
    for (uint32_t i = 0; i < sizeof file->data; i++) {
        file->data[i] = (uint8_t)(i * 37 + i / 7);
    }
    for (uint32_t i = 0; i < SCALES; i++) {
        file->data[BYTES + i] = (uint8_t)(100 + i);
    }
}

/* Number `column` of a row, as the specification has it: a sign, two bits of exponent, one of fraction; and the block's exponent. */
static float number_at(const struct file *file, uint32_t row, uint32_t column) {
    static const float magnitudes[] = {0.0F, 0.5F, 1.0F, 1.5F, 2.0F, 3.0F, 4.0F, 6.0F};
    const uint32_t block = row * BLOCKS + column / 32;
    const uint8_t byte = file->data[block * 16 + column % 32 / 2];
    const uint32_t code = column % 2 == 0 ? byte & 15U : byte >> 4U;
    const float value = ldexpf(magnitudes[code & 7], file->data[BYTES + block] - 127);
    return (code & 8) != 0 ? -value : value;
}

/* The checkpoint of a file's bytes, of which `image` is a copy that outlives it. */
static struct weft_checkpoint *open_file(struct weft_test_host *f, const struct file *file,
                                         uint8_t **image) {
    struct weft_checkpoint *checkpoint = NULL;
    const size_t header = strlen(file->header), size = 8 + header + sizeof file->data;
    *image = calloc(1, size);
    assert_non_null(*image);
    (*image)[0] = (uint8_t)header;
    (*image)[1] = (uint8_t)(header >> 8);
    memcpy(*image + 8, file->header, header);
    memcpy(*image + 8 + header, file->data, sizeof file->data);
    const struct weft_checkpoint_memory memory = {.data = *image, .size = size};
    assert_ok(weft_checkpoint_open_memory(&checkpoint, &memory, "model.safetensors", &f->host));
    return checkpoint;
}

static const struct weft_mxfp4_rows every_other = {
    .groups = GROUPS, .rows = ROWS, .first = 1, .step = 2, .count = 3};

static uint32_t whole_row(uint32_t row) {
    return row / 3 * ROWS + 1 + row % 3 * 2;
}

static weft_weight *take_rows(struct weft_checkpoint *checkpoint) {
    weft_weight *weight = NULL;
    assert_ok(weft_mxfp4_weight(&weight, checkpoint, "w_blocks", weft_shape_of(GROUPS * 3, COLUMNS),
                                &every_other));
    return weight;
}

WEFT_TEST_ON_HOST(numbers_are_those_of_the_format, f) {
    static struct file file;
    static float found[GROUPS * 3 * COLUMNS];
    uint8_t *image = NULL;
    fill(&file);
    struct weft_checkpoint *checkpoint = open_file(f, &file, &image);
    weft_weight *weight = take_rows(checkpoint);
    assert_false(weft_checkpoint_was_used(checkpoint, 0));
    weft_checkpoint_close(&checkpoint); /* the weight has it */
    for (uint32_t first = 0; first < sizeof found / sizeof *found; first += 41) {
        const uint32_t left = (uint32_t)(sizeof found / sizeof *found) - first;
        const uint32_t count = left < 97 ? left : 97;
        assert_ok(weft_weight_read(weight, first, count, found));
        for (uint32_t i = 0; i < count; i++) {
            const uint32_t row = (first + i) / COLUMNS, column = (first + i) % COLUMNS;
            assert_true(found[i] == number_at(&file, whole_row(row), column));
        }
    }
    weft_weight_destroy(&weight);
    free(image);
}

/* A device's blocks: codes are twice the magnitudes, scales half of the powers. */
WEFT_TEST_ON_HOST(blocks_are_kept, f) {
    static struct file file;
    int8_t codes[3 * COLUMNS];
    float scales[3 * BLOCKS];
    uint8_t *image = NULL;
    fill(&file);
    struct weft_checkpoint *checkpoint = open_file(f, &file, &image);
    weft_weight *weight = take_rows(checkpoint);
    assert_non_null(weft_weight_blocks(weight));
    const struct weft_blocks blocks = {.codes = codes, .scales = scales};
    assert_ok(weft_weight_read_blocks(weight, 2, 3, &blocks)); /* of both matrices */
    for (uint32_t i = 0; i < 3 * COLUMNS; i++) {
        const float expected = number_at(&file, whole_row(2 + i / COLUMNS), i % COLUMNS);
        assert_true((float)codes[i] * scales[i / 32] == expected);
    }
    assert_true(weft_checkpoint_was_used(checkpoint, 0) && weft_checkpoint_was_used(checkpoint, 1));
    assert_true(weft_mxfp4_is_scale(checkpoint, "w_scales"));
    assert_false(weft_mxfp4_is_scale(checkpoint, "w_blocks"));
    weft_weight_destroy(&weight);
    weft_checkpoint_close(&checkpoint);
    free(image);
}

/* ---- what is refused ---- */

static weft_status load(struct weft_test_host *f, const struct file *file, const char *name,
                        uint32_t columns) {
    uint8_t *image = NULL;
    weft_weight *weight = NULL;
    struct weft_checkpoint *checkpoint = open_file(f, file, &image);
    const weft_status status = weft_mxfp4_weight(&weight, checkpoint, name,
                                                 weft_shape_of(GROUPS * 3, columns), &every_other);
    assert_null(weight);
    weft_checkpoint_close(&checkpoint);
    free(image);
    return status;
}

WEFT_TEST_ON_HOST(other_files_are_refused, f) {
    static struct file file;
    fill(&file);
    WEFT_EXPECT_REFUSED(f, WEFT_NOT_FOUND, load(f, &file, "v_blocks", COLUMNS), "v_blocks",
                        "[2, 6, 3, 16]");
    WEFT_EXPECT_REFUSED(f, WEFT_NOT_FOUND, load(f, &file, "w_scales", COLUMNS), "expected shape");
    WEFT_EXPECT_REFUSED(f, WEFT_BAD_FILE, load(f, &file, "w_blocks", COLUMNS + 32), "w_blocks",
                        "[2, 6, 4, 16]", "[2, 6, 3, 16]");
    WEFT_EXPECT_REFUSED(f, WEFT_UNSUPPORTED, load(f, &file, "w_blocks", COLUMNS - 1), "w_blocks",
                        "whole blocks of 32", "95");
    file.data[BYTES + SCALES - 1] = 253;
    WEFT_EXPECT_REFUSED(f, WEFT_BAD_FILE, load(f, &file, "w_blocks", COLUMNS), "w_scales",
                        "at most 252", "253 at index 35");
    snprintf(file.header, sizeof file.header, "{%s,%s}",
             ENTRY("w_blocks", "I8", "[2,6,3,16]", 0, 576),
             ENTRY("w_scales", "U8", "[2,6,3]", 576, 612));
    WEFT_EXPECT_REFUSED(f, WEFT_BAD_FILE, load(f, &file, "w_blocks", COLUMNS), "w_blocks", "U8",
                        "I8");
    snprintf(file.header, sizeof file.header, "{%s,%s}",
             ENTRY("w_blocks", "U8", "[2,6,3,16]", 0, 576),
             ENTRY("other", "U8", "[2,6,3]", 576, 612));
    WEFT_EXPECT_REFUSED(f, WEFT_NOT_FOUND, load(f, &file, "w_blocks", COLUMNS), "w_scales",
                        "[2, 6, 3]");
}

WEFT_TEST_ON_HOST(memory_may_run_out, f) {
    static struct file file;
    uint8_t *image = NULL;
    weft_status status = WEFT_OUT_OF_HOST_MEMORY;
    fill(&file);
    struct weft_checkpoint *checkpoint = open_file(f, &file, &image);
    while (weft_test_next_failure(f, status)) {
        float found[COLUMNS];
        weft_weight *weight = NULL;
        status = weft_mxfp4_weight(&weight, checkpoint, "w_blocks",
                                   weft_shape_of(GROUPS * 3, COLUMNS), &every_other);
        if (status == WEFT_OK) {
            status = weft_weight_read(weight, 5, COLUMNS, found);
        }
        weft_weight_destroy(&weight);
    }
    weft_checkpoint_close(&checkpoint);
    free(image);
}
