/* SPDX-License-Identifier: MIT */
/* The fields of the ops' parameters (graph/op.h). */
#include <string.h>

#include "graph/op.h"
#include "model/program/program.h"
#include "support.h"

#define OP_ROW(name) &weft_op_##name,
static const struct weft_op *const ops[] = {WEFT_OPS(OP_ROW)};
#define OP_COUNT (sizeof ops / sizeof *ops)

static void mark(uint8_t *covered, const struct weft_op *op, size_t first, size_t size) {
    for (size_t i = first; i < first + size; i++) {
        if (i >= op->params_size || covered[i]) {
            fail_msg("%s: byte %zu is outside its parameters, or of two fields", op->name, i);
        }
        covered[i] = 1;
    }
}

static void check_field(const struct weft_op *op, const struct weft_member *field) {
    static const char *const others[] = {"op", "inputs", "output", "comment"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        assert_string_not_equal(field->name, others[i]);
    }
    for (const struct weft_member *f = op->fields; f != field; f++) {
        assert_string_not_equal(f->name, field->name);
    }
    const uint32_t elements = field->capacity ? field->capacity : 1;
    assert_true(field->kind == WEFT_MEMBER_BOOL ? !field->capacity : field->size == 4 * elements);
    assert_true((field->kind == WEFT_MEMBER_WORD) == (field->words != NULL));
}

/** Also that of padding there is none but behind a bool. */
WEFT_TEST(fields_cover_the_parameters) {
    for (size_t i = 0; i < OP_COUNT; i++) {
        const struct weft_op *op = ops[i];
        uint8_t covered[WEFT_MAX_PARAMETER_BYTES] = {0};
        uint16_t counted_at = WEFT_FIELD_FULL;
        size_t sum = 0;
        for (const struct weft_member *f = op->fields; f && f->name; f++) {
            check_field(op, f);
            mark(covered, op, f->offset, f->size);
            if (f->capacity && f->counted_at != WEFT_FIELD_FULL && f->counted_at != counted_at) {
                mark(covered, op, f->counted_at, 4);
                counted_at = f->counted_at;
            }
        }
        for (size_t k = 0; k < op->params_size; k++) {
            sum += covered[k];
        }
        if (op->fields && (op->params_size - sum) / 4 != 0) {
            fail_msg("%s: %zu of its %zu bytes of parameters are fields", op->name, sum,
                     op->params_size);
        }
    }
}

WEFT_TEST(programs_can_have_all_ops_but_steps_and_those_of_lowering) {
    static const char *const not_for[] = {"toeplitz_kernel", "toeplitz_fd_kernel", "sine_spe_codes",
                                          "conv_spe_codes"};
    for (size_t i = 0; i < OP_COUNT; i++) {
        bool expected = ops[i]->state_input == 0;
        for (size_t k = 0; k < sizeof not_for / sizeof *not_for; k++) {
            expected = expected && strcmp(ops[i]->name, not_for[k]) != 0;
        }
        if (weft_op_is_for_programs(ops[i]) != expected) {
            fail_msg("%s", ops[i]->name);
        }
        assert_ptr_equal(weft_op_named(ops[i]->name), ops[i]);
    }
    assert_null(weft_op_named("nothing"));
}

/** docs/programs.md has a row for each op that programs can have, with all its fields. */
WEFT_TEST(the_page_has_all_ops) {
    size_t size = 0;
    uint8_t *bytes = weft_test_read(WEFT_SOURCE_DIR "/docs/programs.md", &size);
    for (size_t i = 0; i < OP_COUNT; i++) {
        if (!weft_op_is_for_programs(ops[i])) {
            continue;
        }
        char *row = strstr((char *)bytes, weft_test_text("\n| `%s` | ", ops[i]->name));
        if (!row) {
            fail_msg("docs/programs.md has no row for the op %s", ops[i]->name);
        }
        const size_t length = strcspn(row + 1, "\n") + 1;
        const char end = row[length];
        row[length] = '\0';
        for (const struct weft_member *f = ops[i]->fields; f && f->name; f++) {
            if (!strstr(row, weft_test_text("`%s`", f->name))) {
                fail_msg("docs/programs.md: the row of %s has no field %s", ops[i]->name, f->name);
            }
        }
        row[length] = end;
    }
    free(bytes);
}
