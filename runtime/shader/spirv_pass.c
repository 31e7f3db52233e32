/* SPDX-License-Identifier: MIT */
#include "shader/spirv_pass.h"

#include "core/try.h"
#include "shader/spirv_writer.h"

#define FMA_WORDS        8u /* OpExtInst: type, result, set, number and three operands */
#define BINARY_WORDS     5u /* OpFMul and OpFAdd: type, result and two operands */
#define DECORATION_WORDS 3u /* OpDecorate: target and NoContraction */

enum { NO_CONTRACTION = 1, IS_GLSL_SET = 2 };

struct pass {
    const uint32_t *source;
    size_t count; /* words */
    uint32_t bound;
    uint8_t *ids;       /* bound flag sets */
    size_t annotations; /* where new decorations go */
    size_t decorations; /* new ones for ids of the source */
    uint32_t fmas;      /* each gets a new id, which is decorated as well */
};

/*
 * The specification lets NoContraction be applied to its "Arithmetic Instructions"; these are the
 * ones of floating point.
 */
static bool is_float_arithmetic(uint32_t opcode) {
    switch (opcode) {
    case WEFT_OP_F_NEGATE:
    case WEFT_OP_F_ADD:
    case WEFT_OP_F_SUB:
    case WEFT_OP_F_MUL:
    case WEFT_OP_F_DIV:
    case WEFT_OP_F_REM:
    case WEFT_OP_F_MOD:
    case WEFT_OP_VECTOR_TIMES_SCALAR:
    case WEFT_OP_MATRIX_TIMES_SCALAR:
    case WEFT_OP_VECTOR_TIMES_MATRIX:
    case WEFT_OP_MATRIX_TIMES_VECTOR:
    case WEFT_OP_MATRIX_TIMES_MATRIX:
    case WEFT_OP_OUTER_PRODUCT:
    case WEFT_OP_DOT:
        return true;
    default:
        return false;
    }
}

static bool is_fma(const struct pass *pass, const uint32_t *instruction) {
    return weft_spirv_opcode(instruction[0]) == WEFT_OP_EXT_INST &&
           instruction[4] == WEFT_GLSL_STD_450_FMA &&
           (pass->ids[instruction[3]] & IS_GLSL_SET) != 0;
}

/* Sections 1 to 7 of the logical layout (section 2.4), which come before the annotations. */
static bool is_before_annotations(uint32_t opcode) {
    switch (opcode) {
    case WEFT_OP_CAPABILITY:
    case WEFT_OP_EXTENSION:
    case WEFT_OP_EXT_INST_IMPORT:
    case WEFT_OP_MEMORY_MODEL:
    case WEFT_OP_ENTRY_POINT:
    case WEFT_OP_EXECUTION_MODE:
    case WEFT_OP_EXECUTION_MODE_ID:
    case WEFT_OP_STRING:
    case WEFT_OP_SOURCE_EXTENSION:
    case WEFT_OP_SOURCE:
    case WEFT_OP_SOURCE_CONTINUED:
    case WEFT_OP_NAME:
    case WEFT_OP_MEMBER_NAME:
    case WEFT_OP_MODULE_PROCESSED:
        return true;
    default:
        return false;
    }
}

static bool decorates_no_contraction(const uint32_t *instruction) {
    return weft_spirv_opcode(instruction[0]) == WEFT_OP_DECORATE &&
           weft_spirv_length(instruction[0]) >= DECORATION_WORDS &&
           instruction[2] == WEFT_DECORATION_NO_CONTRACTION;
}

/* Notes which ids are decorated already. A group's own decorations come before it is applied. */
static void note_annotation(struct pass *pass, const uint32_t *instruction) {
    uint32_t length = weft_spirv_length(instruction[0]);
    if (decorates_no_contraction(instruction)) {
        pass->ids[instruction[1]] |= NO_CONTRACTION;
    } else if (weft_spirv_opcode(instruction[0]) == WEFT_OP_GROUP_DECORATE &&
               (pass->ids[instruction[1]] & NO_CONTRACTION) != 0) {
        for (uint32_t i = 2; i < length; i++) {
            pass->ids[instruction[i]] |= NO_CONTRACTION;
        }
    }
}

static void survey_header_sections(struct pass *pass) {
    bool before = true;
    for (size_t at = WEFT_SPIRV_HEADER_WORDS; at < pass->count;) {
        const uint32_t *instruction = pass->source + at;
        uint32_t opcode = weft_spirv_opcode(instruction[0]);
        uint32_t length = weft_spirv_length(instruction[0]);
        if (before && !is_before_annotations(opcode)) {
            pass->annotations = at;
            before = false;
        }
        if (opcode == WEFT_OP_EXT_INST_IMPORT &&
            weft_spirv_string_is(instruction + 2, length - 2, "GLSL.std.450")) {
            pass->ids[instruction[1]] |= IS_GLSL_SET;
        }
        note_annotation(pass, instruction);
        at += length;
    }
}

static weft_status survey_arithmetic(struct pass *pass, const weft_host *host) {
    for (size_t at = WEFT_SPIRV_HEADER_WORDS; at < pass->count;) {
        const uint32_t *instruction = pass->source + at;
        uint32_t length = weft_spirv_length(instruction[0]);
        bool fma = is_fma(pass, instruction);
        if (fma && length != FMA_WORDS) {
            return weft_fail(host, WEFT_COMPILE_ERROR,
                             "SPIR-V module, word %zu: Fma of %u words, expected %u", at, length,
                             FMA_WORDS);
        }
        pass->fmas += fma;
        if ((fma || is_float_arithmetic(weft_spirv_opcode(instruction[0]))) &&
            (pass->ids[instruction[2]] & NO_CONTRACTION) == 0) {
            pass->decorations++;
        }
        at += length;
    }
    if (pass->fmas > WEFT_SPIRV_MAX_BOUND - pass->bound) {
        return weft_fail(host, WEFT_COMPILE_ERROR,
                         "SPIR-V module: no ids are left to split %u fused multiply-adds",
                         pass->fmas);
    }
    return WEFT_OK;
}

static void put_decoration(struct weft_spirv_writer *writer, uint32_t id) {
    const uint32_t words[DECORATION_WORDS] = {
        weft_spirv_first_word(WEFT_OP_DECORATE, DECORATION_WORDS), id,
        WEFT_DECORATION_NO_CONTRACTION};
    weft_spirv_put_words(writer, words, DECORATION_WORDS);
}

static void put_decorations(struct weft_spirv_writer *writer, const struct pass *pass) {
    uint32_t product = pass->bound;
    for (size_t at = WEFT_SPIRV_HEADER_WORDS; at < pass->count;) {
        const uint32_t *instruction = pass->source + at;
        bool fma = is_fma(pass, instruction);
        if (fma) {
            put_decoration(writer, product++);
        }
        if ((fma || is_float_arithmetic(weft_spirv_opcode(instruction[0]))) &&
            (pass->ids[instruction[2]] & NO_CONTRACTION) == 0) {
            put_decoration(writer, instruction[2]);
        }
        at += weft_spirv_length(instruction[0]);
    }
}

/*
 * result = a * b + c as two instructions; the sum keeps the Fma's id, so its users stay as they
 * are.
 */
static void put_split_fma(struct weft_spirv_writer *writer, const uint32_t *fma, uint32_t product) {
    const uint32_t words[2 * BINARY_WORDS] = {
        weft_spirv_first_word(WEFT_OP_F_MUL, BINARY_WORDS), fma[1], product, fma[5],  fma[6],
        weft_spirv_first_word(WEFT_OP_F_ADD, BINARY_WORDS), fma[1], fma[2],  product, fma[7]};
    weft_spirv_put_words(writer, words, (size_t)2 * BINARY_WORDS);
}

static void put_module(struct weft_spirv_writer *writer, const struct pass *pass) {
    weft_spirv_put_words(writer, pass->source, pass->annotations);
    writer->words[WEFT_SPIRV_AT_BOUND] = pass->bound + pass->fmas;
    put_decorations(writer, pass);
    uint32_t product = pass->bound;
    for (size_t at = pass->annotations; at < pass->count;) {
        const uint32_t *instruction = pass->source + at;
        uint32_t length = weft_spirv_length(instruction[0]);
        if (is_fma(pass, instruction)) {
            put_split_fma(writer, instruction, product++);
        } else {
            weft_spirv_put_words(writer, instruction, length);
        }
        at += length;
    }
}

static weft_status rewrite(uint32_t **words, size_t *size, struct pass *pass,
                           const weft_host *host) {
    pass->annotations = pass->count;
    survey_header_sections(pass);
    WEFT_TRY(survey_arithmetic(pass, host));
    size_t count = pass->count + (pass->decorations + pass->fmas) * DECORATION_WORDS +
                   pass->fmas * ((size_t)2 * BINARY_WORDS - FMA_WORDS);
    struct weft_spirv_writer writer = {.words = weft_alloc(host, count * sizeof(uint32_t))};
    if (!writer.words) {
        return weft_fail_memory(host, "SPIR-V module");
    }
    put_module(&writer, pass);
    *words = writer.words;
    *size = count * sizeof(uint32_t);
    return WEFT_OK;
}

weft_status weft_spirv_make_reproducible(uint32_t **words, size_t *size, const uint32_t *source,
                                         size_t source_size, const weft_host *host) {
    WEFT_TRY(weft_spirv_check(source, source_size, host));
    struct pass pass = {
        .source = source, .count = source_size / 4, .bound = source[WEFT_SPIRV_AT_BOUND]};
    pass.ids = weft_alloc_zero(host, pass.bound, 1);
    if (!pass.ids) {
        return weft_fail_memory(host, "SPIR-V ids");
    }
    weft_status status = rewrite(words, size, &pass, host);
    weft_free(host, pass.ids);
    return status;
}
