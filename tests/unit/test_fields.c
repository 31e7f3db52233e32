/* SPDX-License-Identifier: MIT */
/* The fields of the ops' parameters (graph/op.h). */
#include <string.h>

#include "graph/op.h"
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

static void check_field(const struct weft_op *op, const struct weft_field *field) {
    static const char *const others[] = {"op", "inputs", "output", "comment"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        assert_string_not_equal(field->name, others[i]);
    }
    for (const struct weft_field *f = op->fields; f != field; f++) {
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
        for (const struct weft_field *f = op->fields; f && f->name; f++) {
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
