/* SPDX-License-Identifier: MIT */
#include "shader/spirv_float_modes.h"

#include "core/bytes.h"
#include "shader/spirv_writer.h"

#define FLOAT_WIDTH          32u
#define CAPABILITY_WORDS     2u
#define EXECUTION_MODE_WORDS 4u
#define EXTENSION            "SPV_KHR_float_controls"
#define EXTENSION_WORDS      (1u + (sizeof EXTENSION + 3u) / 4u)
#define FIRST_CORE_VERSION   0x10400u /* before SPIR-V 1.4 the modes are an extension */

static const struct {
    uint32_t flag, capability, mode;
} modes_of[] = {
    {WEFT_FLOAT_FLUSH, WEFT_CAPABILITY_DENORM_FLUSH_TO_ZERO,
     WEFT_EXECUTION_MODE_DENORM_FLUSH_TO_ZERO},
    {WEFT_FLOAT_SPECIAL, WEFT_CAPABILITY_SIGNED_ZERO_INF_NAN_PRESERVE,
     WEFT_EXECUTION_MODE_SIGNED_ZERO_INF_NAN_PRESERVE},
    {WEFT_FLOAT_NEAREST, WEFT_CAPABILITY_ROUNDING_MODE_RTE, WEFT_EXECUTION_MODE_ROUNDING_MODE_RTE},
};
#define MODE_COUNT (sizeof modes_of / sizeof modes_of[0])

/* What a module has, and where new instructions go. */
struct survey {
    uint32_t capabilities; /* declared: flags of weft_float_mode */
    bool has_extension;
    size_t capability_end; /* words before which the capabilities are over */
    size_t extension_end;
    size_t entry_end; /* where the last entry point ends */
    uint32_t entry_points;
};

static void survey_instruction(struct survey *survey, const uint32_t *instruction, size_t end) {
    uint32_t length = weft_spirv_length(instruction[0]);
    switch (weft_spirv_opcode(instruction[0])) {
    case WEFT_OP_CAPABILITY:
        for (size_t i = 0; i < MODE_COUNT; i++) {
            survey->capabilities |= instruction[1] == modes_of[i].capability ? modes_of[i].flag : 0;
        }
        survey->capability_end = end;
        survey->extension_end = end;
        break;
    case WEFT_OP_EXTENSION:
        survey->has_extension |= weft_spirv_string_is(instruction + 1, length - 1, EXTENSION);
        survey->extension_end = end;
        break;
    case WEFT_OP_ENTRY_POINT:
        survey->entry_points++;
        survey->entry_end = end;
        break;
    default:
        break;
    }
}

static struct survey survey_module(const uint32_t *source, size_t count) {
    struct survey survey = {.capability_end = WEFT_SPIRV_HEADER_WORDS,
                            .extension_end = WEFT_SPIRV_HEADER_WORDS};
    for (size_t at = WEFT_SPIRV_HEADER_WORDS; at < count;) {
        size_t end = at + weft_spirv_length(source[at]);
        survey_instruction(&survey, source + at, end);
        at = end;
    }
    return survey;
}

/* Whether an entry point has a mode already. */
static bool has_mode(const uint32_t *source, size_t count, uint32_t entry, uint32_t mode) {
    for (size_t at = WEFT_SPIRV_HEADER_WORDS; at < count; at += weft_spirv_length(source[at])) {
        if (weft_spirv_opcode(source[at]) == WEFT_OP_EXECUTION_MODE &&
            weft_spirv_length(source[at]) == EXECUTION_MODE_WORDS && source[at + 1] == entry &&
            source[at + 2] == mode && source[at + 3] == FLOAT_WIDTH) {
            return true;
        }
    }
    return false;
}

static void put_capabilities(struct weft_spirv_writer *writer, const struct survey *survey,
                             uint32_t modes) {
    for (size_t i = 0; i < MODE_COUNT; i++) {
        if ((modes & ~survey->capabilities & modes_of[i].flag) != 0) {
            WEFT_SPIRV_PUT(writer, WEFT_OP_CAPABILITY, modes_of[i].capability);
        }
    }
}

static void put_extension(struct weft_spirv_writer *writer) {
    static const char text[(EXTENSION_WORDS - 1) * 4] = EXTENSION;
    uint32_t words[EXTENSION_WORDS - 1];
    for (size_t i = 0; i < EXTENSION_WORDS - 1; i++) {
        words[i] = (uint32_t)weft_load_bytes((const uint8_t *)text + 4 * i, 4);
    }
    weft_spirv_put_op(writer, WEFT_OP_EXTENSION, EXTENSION_WORDS - 1, words);
}

static void put_modes(struct weft_spirv_writer *writer, const uint32_t *source, size_t count,
                      uint32_t modes) {
    for (size_t at = WEFT_SPIRV_HEADER_WORDS; at < count; at += weft_spirv_length(source[at])) {
        if (weft_spirv_opcode(source[at]) != WEFT_OP_ENTRY_POINT) {
            continue;
        }
        for (size_t i = 0; i < MODE_COUNT; i++) {
            if ((modes & modes_of[i].flag) != 0 &&
                !has_mode(source, count, source[at + 2], modes_of[i].mode)) {
                WEFT_SPIRV_PUT(writer, WEFT_OP_EXECUTION_MODE, source[at + 2], modes_of[i].mode,
                               FLOAT_WIDTH);
            }
        }
    }
}

weft_status weft_spirv_add_float_modes(uint32_t **words, size_t *size, const uint32_t *source,
                                       size_t source_size, uint32_t modes, const weft_host *host) {
    size_t count = source_size / 4;
    struct survey survey = survey_module(source, count);
    size_t most = count + EXTENSION_WORDS +
                  MODE_COUNT * (CAPABILITY_WORDS + survey.entry_points * EXECUTION_MODE_WORDS);
    struct weft_spirv_writer writer = {.words = weft_alloc(host, most * sizeof(uint32_t))};
    if (!writer.words) {
        return weft_fail_memory(host, "SPIR-V module");
    }
    weft_spirv_put_words(&writer, source, survey.capability_end);
    put_capabilities(&writer, &survey, modes);
    weft_spirv_put_words(&writer, source + survey.capability_end,
                         survey.extension_end - survey.capability_end);
    if (modes != 0 && !survey.has_extension && source[WEFT_SPIRV_AT_VERSION] < FIRST_CORE_VERSION) {
        put_extension(&writer);
    }
    weft_spirv_put_words(&writer, source + survey.extension_end,
                         survey.entry_end - survey.extension_end);
    put_modes(&writer, source, count, modes);
    weft_spirv_put_words(&writer, source + survey.entry_end, count - survey.entry_end);
    *words = writer.words;
    *size = writer.count * sizeof(uint32_t);
    return WEFT_OK;
}
