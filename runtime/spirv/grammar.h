/* SPDX-License-Identifier: MIT */
/*
 * How SPIR-V's instructions are laid out in words (SPIR-V specification 1.6, sections 2.3 and 3). Numbers, and which instructions have a
 * result and a type, are Khronos's, from SPIRV-Headers; which further words are ids is said in grammar.c alone.
 */
#ifndef WEFT_SPIRV_GRAMMAR_H
#define WEFT_SPIRV_GRAMMAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <spirv/unified1/GLSL.std.450.h>
#include <spirv/unified1/spirv.h>

#define WEFT_SPIRV_HEADER_WORDS 5u
#define WEFT_SPIRV_MAX_BOUND    0x3FFFFFu /* universal limit, section 2.17 */
#define WEFT_SPIRV_MOST_WORDS   0xFFFFu   /* of an instruction */

/* Words of the header. */
enum {
    WEFT_SPIRV_AT_MAGIC = 0,
    WEFT_SPIRV_AT_VERSION = 1,
    WEFT_SPIRV_AT_BOUND = 3,
    WEFT_SPIRV_AT_SCHEMA = 4
};

/* SPV_KHR_cooperative_matrix, which SPIRV-Headers before 1.3.250 do not have. */
enum {
    WEFT_SPIRV_COOPERATIVE_TYPE = 4456,
    WEFT_SPIRV_COOPERATIVE_LOAD = 4457,
    WEFT_SPIRV_COOPERATIVE_STORE = 4458,
    WEFT_SPIRV_COOPERATIVE_MUL_ADD = 4459,
    WEFT_SPIRV_COOPERATIVE_LENGTH = 4460,
    WEFT_SPIRV_COOPERATIVE_CAPABILITY = 6022,
    WEFT_SPIRV_COOPERATIVE_SATURATES = 0x10 /* of the operands of a product */
};

/* SPV_KHR_fma, which SPIRV-Headers before 1.4.328 do not have. */
enum { WEFT_SPIRV_FMA = 4427, WEFT_SPIRV_FMA_CAPABILITY = 6030 };

static inline uint32_t weft_spirv_opcode(uint32_t first_word) {
    return first_word & SpvOpCodeMask;
}

static inline uint32_t weft_spirv_length(uint32_t first_word) {
    return first_word >> SpvWordCountShift;
}

static inline const uint32_t *weft_spirv_next(const uint32_t *instruction) {
    return instruction + weft_spirv_length(instruction[0]);
}

/** The first word of an instruction. */
static inline uint32_t weft_spirv_first_word(SpvOp opcode, uint32_t length) {
    return length << SpvWordCountShift | (uint32_t)opcode;
}

/** Whether a module of `count` words that weft_spirv_check has passed declares it. */
bool weft_spirv_declares(const uint32_t *words, size_t count, uint32_t capability);

/** A word of an instruction; one that it does not have is a number that nothing has. */
static inline uint32_t weft_spirv_word(const uint32_t *instruction, uint32_t index) {
    return index < weft_spirv_length(instruction[0]) ? instruction[index] : UINT32_MAX;
}

/** The parts of a module in their order (section 2.4). */
enum weft_spirv_section {
    WEFT_SPIRV_CAPABILITIES = 1,
    WEFT_SPIRV_EXTENSIONS,
    WEFT_SPIRV_IMPORTS,
    WEFT_SPIRV_MEMORY_MODEL,
    WEFT_SPIRV_ENTRY_POINTS,
    WEFT_SPIRV_MODES,
    WEFT_SPIRV_DEBUG,
    WEFT_SPIRV_ANNOTATIONS,
    WEFT_SPIRV_DECLARATIONS, /* types, constants and variables */
    WEFT_SPIRV_FUNCTIONS,
    WEFT_SPIRV_SECTIONS_END
};

/** The layout of an instruction. */
struct weft_spirv_layout {
    uint32_t type, result; /* the words with them, or 0 */
    uint32_t least;        /* words that it has at least */
    uint32_t first;        /* word behind the result; from there on: */
    uint32_t ids;          /* flags of words up to `least` that are ids */
    bool more_ids;   /* all words from `least` on are ids; else they are literals, or not known */
    bool is_known;   /* whether grammar.c knows its operands */
    uint32_t string; /* word at which a literal string starts, or 0 */
    enum weft_spirv_section section; /* outside of functions; the last one starts with a function */
};

struct weft_spirv_layout weft_spirv_layout(uint32_t opcode);

/** The words with an instruction's result and the type of it, or 0s: that much of its layout. */
uint32_t weft_spirv_result(uint32_t *type, uint32_t opcode);

/** True if a word from `first` on is an id. */
static inline bool weft_spirv_is_id(const struct weft_spirv_layout *layout, uint32_t word) {
    return word < layout->least ? (layout->ids >> word & 1) != 0 : layout->more_ids;
}

/** Words that a literal string takes, with its terminating zero; 0 when it does not end in `count` words. */
uint32_t weft_spirv_string_words(const uint32_t *words, size_t count);

/** True if the literal string at `words`, of which `count` may be read, ends and equals `text`. */
bool weft_spirv_string_is(const uint32_t *words, size_t count, const char *text);

/** First word of the interface in a checked module's OpEntryPoint, after the name; its length if there is none. */
static inline uint32_t weft_spirv_interface_start(const uint32_t *entry_point) {
    return 3 + weft_spirv_string_words(entry_point + 3, weft_spirv_length(entry_point[0]) - 3);
}

#endif
