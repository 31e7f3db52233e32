/* SPDX-License-Identifier: MIT */
/*
 * Indices of bytes as indices of words. An element's place is a product with its size, and the sum of such where there is more
 * than one index: without the factor 4 it is one of words. In unchecked programs only, whose indices do not wrap.
 */
#include "opencl/writer.h"

/* Deepest nesting of sums that are taken apart. */
#define MOST_SUMS 4u

uint32_t weft_cl_node_of(const struct weft_cl_writer *writer,
                         const struct weft_ir_instruction *instruction) {
    return writer->steps[instruction - writer->program->instructions].node;
}

bool weft_cl_take_apart(const struct weft_cl_writer *writer, struct weft_cl_term *term,
                        weft_ir_value value, uint32_t node) {
    const struct weft_ir_instruction *maker = weft_cl_maker(writer, value);
    if (!maker || weft_cl_node_of(writer, maker) != node || maker->argument_count != 2) {
        return false;
    }
    const weft_ir_value a = weft_cl_argument(writer, maker, 0);
    const weft_ir_value b = weft_cl_argument(writer, maker, 1);
    const struct weft_ir_def *by = &writer->program->values[b];
    *term = (struct weft_cl_term){.parts = {a}};
    switch (maker->op) {
    case SpvOpIAdd:
        term->parts[1] = b;
        return true;
    case SpvOpIMul:
        term->factor = (uint32_t)by->bits;
        return by->constant && by->bits % 4 == 0;
    case SpvOpShiftLeftLogical:
        term->factor = by->bits < 32 ? UINT32_C(1) << by->bits : 0;
        return by->constant && by->bits >= 2 && by->bits < 32;
    default:
        return false;
    }
}

static uint32_t smaller(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}

/* The exponent of a power of 2 that an index is a multiple of, as far as its terms say so. */
static uint32_t alignment(const struct weft_cl_writer *writer, weft_ir_value value, uint32_t node,
                          uint32_t sums) {
    const struct weft_ir_def *def = &writer->program->values[value];
    struct weft_cl_term term;
    if (value == 0 || def->constant) {
        return weft_ir_align_of(value == 0 ? 0 : def->bits);
    }
    if (sums > MOST_SUMS || !weft_cl_take_apart(writer, &term, value, node)) {
        return 0;
    }
    return term.parts[1] == 0 ? weft_ir_align_of(term.factor)
                              : smaller(alignment(writer, term.parts[0], node, sums + 1),
                                        alignment(writer, term.parts[1], node, sums + 1));
}

bool weft_cl_is_aligned(const struct weft_cl_writer *writer,
                        const struct weft_ir_instruction *instruction, uint32_t exponent) {
    const uint32_t index = alignment(writer, weft_cl_argument(writer, instruction, 0),
                                     weft_cl_node_of(writer, instruction), 0);
    return smaller(index, weft_ir_align_of(instruction->place)) >= exponent;
}

bool weft_cl_is_in_words(const struct weft_cl_writer *writer,
                         const struct weft_ir_instruction *instruction) {
    return !writer->program->checked && weft_ir_bits(instruction->type) == 32 &&
           weft_cl_is_aligned(writer, instruction, 2);
}

static void write_terms(struct weft_cl_writer *writer, weft_ir_value value, uint32_t node) {
    const struct weft_ir_def *def = &writer->program->values[value];
    struct weft_cl_term term = {0};
    if (def->constant) {
        weft_cl_add(writer, "%uu", (uint32_t)def->bits / 4);
    } else if (weft_cl_take_apart(writer, &term, value, node) && term.parts[1] == 0) {
        weft_cl_write_value(writer, term.parts[0], true);
        if (term.factor != 4) {
            weft_cl_add(writer, " * %uu", term.factor / 4);
        }
    } else {
        write_terms(writer, term.parts[0], node);
        weft_cl_add(writer, " + ");
        write_terms(writer, term.parts[1], node);
    }
}

void weft_cl_write_words(struct weft_cl_writer *writer,
                         const struct weft_ir_instruction *instruction, uint32_t more) {
    const weft_ir_value index = weft_cl_argument(writer, instruction, 0);
    const uint32_t words = instruction->place / 4 + more;
    if (index == 0) {
        weft_cl_add(writer, "%uu", words);
        return;
    }
    if (weft_cl_is_in_words(writer, instruction)) {
        write_terms(writer, index, weft_cl_node_of(writer, instruction));
    } else {
        weft_cl_add(writer, "(");
        weft_cl_write_value(writer, index, true);
        weft_cl_add(writer, " >> 2)");
    }
    if (words != 0) {
        weft_cl_add(writer, " + %uu", words);
    }
}
