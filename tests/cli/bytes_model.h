/* SPDX-License-Identifier: MIT */
/* Tests each of which has a small language model of bytes with POSITIONS positions: TEST(name, model). */
#ifndef WEFT_TESTS_CLI_BYTES_MODEL_H
#define WEFT_TESTS_CLI_BYTES_MODEL_H

#include "support_model.h"

static int make_model(void **state) {
    struct weft_test_model *model = calloc(1, sizeof *model);
    assert_non_null(model);
    weft_test_model_begin(model);
    weft_test_model_write_bytes(model, POSITIONS);
    *state = model;
    return 0;
}

static int remove_model(void **state) {
    struct weft_test_model *model = *state;
    weft_test_model_end(model);
    free(model);
    return 0;
}

#define TEST(name, f) WEFT_TEST_WITH(name, struct weft_test_model *f, make_model, remove_model)

#endif
