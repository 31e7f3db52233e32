/* SPDX-License-Identifier: MIT */
#include "spirv/check.h"

#include "core/try.h"

enum { DEFINED = 1, USED = 2, IS_FUNCTION = 4, IS_ENTRY = 8 };

struct check {
    const uint32_t *words;
    size_t count;
    uint32_t bound;
    uint8_t *ids; /* bound flag sets */
    bool all_known;
    bool in_function;
    enum weft_spirv_section section; /* of the newest instruction */
    uint32_t memory_models;
    uint32_t entry_points;
    const weft_host *host;
};

static weft_status fail_at(const struct check *check, size_t at, const char *what) {
    return weft_fail(check->host, WEFT_COMPILE_ERROR, "SPIR-V module, word %zu (opcode %u): %s", at,
                     weft_spirv_opcode(check->words[at]), what);
}

static weft_status use_id(struct check *check, size_t at, uint32_t id) {
    if (id == 0 || id >= check->bound) {
        return fail_at(check, at, "an id is outside the module's bound");
    }
    check->ids[id] |= USED;
    return WEFT_OK;
}

static weft_status define_id(struct check *check, size_t at, uint32_t id) {
    if (id == 0 || id >= check->bound) {
        return fail_at(check, at, "the result id is outside the module's bound");
    }
    if ((check->ids[id] & DEFINED) != 0) {
        return fail_at(check, at, "the result id is defined twice");
    }
    check->ids[id] |= DEFINED;
    if (weft_spirv_opcode(check->words[at]) == SpvOpFunction) {
        check->ids[id] |= IS_FUNCTION;
    }
    return WEFT_OK;
}

/* The order of a module (SPIR-V specification, section 2.4), which passes rely on. */
static weft_status check_order(struct check *check, size_t at, enum weft_spirv_section section) {
    if (check->section == WEFT_SPIRV_FUNCTIONS && section == WEFT_SPIRV_DECLARATIONS) {
        return WEFT_OK; /* an instruction of a function */
    }
    if (section < check->section) {
        return fail_at(check, at, "it belongs before the instructions that it follows");
    }
    check->section = section;
    return WEFT_OK;
}

static weft_status check_layout(struct check *check, size_t at, uint32_t length) {
    const uint32_t *instruction = check->words + at;
    const struct weft_spirv_layout layout = weft_spirv_layout(weft_spirv_opcode(instruction[0]));
    const uint32_t string = layout.string;
    WEFT_TRY(check_order(check, at, layout.section));
    check->all_known = check->all_known && layout.is_known;
    if (length < layout.least) {
        return fail_at(check, at, "too few words");
    }
    if (layout.type != 0) {
        WEFT_TRY(use_id(check, at, instruction[layout.type]));
    }
    if (layout.result != 0) {
        WEFT_TRY(define_id(check, at, instruction[layout.result]));
    }
    const uint32_t end = layout.more_ids ? length : layout.least;
    for (uint32_t i = layout.first; i < end; i++) {
        if (weft_spirv_is_id(&layout, i)) {
            WEFT_TRY(use_id(check, at, instruction[i]));
        }
    }
    if (string != 0 && weft_spirv_string_words(instruction + string, length - string) == 0) {
        return fail_at(check, at, "a literal string does not end");
    }
    return WEFT_OK;
}

static weft_status check_entry_point(struct check *check, size_t at, uint32_t length) {
    const uint32_t *instruction = check->words + at;
    for (uint32_t i = weft_spirv_interface_start(instruction); i < length; i++) {
        WEFT_TRY(use_id(check, at, instruction[i]));
    }
    check->ids[instruction[2]] |= IS_ENTRY;
    check->entry_points++;
    return WEFT_OK;
}

/* Instructions that say something about the whole module. */
static weft_status check_particular(struct check *check, size_t at, uint32_t length) {
    switch (weft_spirv_opcode(check->words[at])) {
    case SpvOpEntryPoint:
        return check_entry_point(check, at, length);
    case SpvOpMemoryModel:
        check->memory_models++;
        return length == 3 ? WEFT_OK : fail_at(check, at, "a wrong number of words");
    case SpvOpFunction:
        if (check->in_function) {
            return fail_at(check, at, "a function starts inside another");
        }
        check->in_function = true;
        return WEFT_OK;
    case SpvOpFunctionEnd:
        if (!check->in_function) {
            return fail_at(check, at, "a function ends that has not started");
        }
        check->in_function = false;
        return WEFT_OK;
    default:
        return WEFT_OK;
    }
}

static weft_status check_instructions(struct check *check) {
    size_t at = WEFT_SPIRV_HEADER_WORDS;
    while (at < check->count) {
        const uint32_t length = weft_spirv_length(check->words[at]);
        if (length == 0) {
            return fail_at(check, at, "an instruction of no words");
        }
        if (length > check->count - at) {
            return fail_at(check, at, "the instruction reaches beyond the module's end");
        }
        WEFT_TRY(check_layout(check, at, length));
        WEFT_TRY(check_particular(check, at, length));
        at += length;
    }
    return WEFT_OK;
}
static weft_status check_whole(const struct check *check) {
    if (check->in_function) {
        return weft_fail(check->host, WEFT_COMPILE_ERROR, "SPIR-V module: it ends in a function");
    }
    if (check->memory_models != 1 || check->entry_points == 0) {
        return weft_fail(check->host, WEFT_COMPILE_ERROR,
                         "SPIR-V module: %u memory models and %u entry points, expected one and "
                         "at least one",
                         check->memory_models, check->entry_points);
    }
    for (uint32_t id = 1; id < check->bound; id++) {
        uint8_t flags = check->ids[id];
        if (check->all_known && (flags & (USED | DEFINED)) == USED) {
            return weft_fail(check->host, WEFT_COMPILE_ERROR,
                             "SPIR-V module: id %u is used and not defined", id);
        }
        if ((flags & IS_ENTRY) != 0 && (flags & IS_FUNCTION) == 0) {
            return weft_fail(check->host, WEFT_COMPILE_ERROR,
                             "SPIR-V module: id %u is an entry point and not a function", id);
        }
    }
    return WEFT_OK;
}

static weft_status check_header(const uint32_t *words, size_t size, const weft_host *host) {
    if (size % 4 != 0 || size / 4 < WEFT_SPIRV_HEADER_WORDS || size / 4 > UINT32_MAX) {
        return weft_fail(host, WEFT_COMPILE_ERROR,
                         "SPIR-V module: %zu bytes, expected a multiple of 4, at least %u and less "
                         "than 16 GiB",
                         size, 4 * WEFT_SPIRV_HEADER_WORDS);
    }
    if (words[WEFT_SPIRV_AT_MAGIC] != SpvMagicNumber) {
        return weft_fail(host, WEFT_COMPILE_ERROR,
                         "SPIR-V module: starts with 0x%08x, expected 0x%08x",
                         words[WEFT_SPIRV_AT_MAGIC], SpvMagicNumber);
    }
    uint32_t version = words[WEFT_SPIRV_AT_VERSION];
    if (version < 0x10000u || version > 0x10600u || (version & 0xFFu) != 0) {
        return weft_fail(host, WEFT_COMPILE_ERROR,
                         "SPIR-V module: version word 0x%08x, expected 1.0 to 1.6", version);
    }
    uint32_t bound = words[WEFT_SPIRV_AT_BOUND];
    const uint32_t most = weft_spirv_most_ids(size / 4);
    if (bound == 0 || bound > most) {
        return weft_fail(host, WEFT_COMPILE_ERROR,
                         "SPIR-V module: bound %u, expected 1 to %u in a module of %zu words",
                         bound, most, size / 4);
    }
    if (words[WEFT_SPIRV_AT_SCHEMA] != 0) {
        return weft_fail(host, WEFT_COMPILE_ERROR, "SPIR-V module: schema %u, expected 0",
                         words[WEFT_SPIRV_AT_SCHEMA]);
    }
    return WEFT_OK;
}

weft_status weft_spirv_check(const uint32_t *words, size_t size, const weft_host *host) {
    WEFT_TRY(check_header(words, size, host));
    struct check check = {.words = words,
                          .count = size / 4,
                          .bound = words[WEFT_SPIRV_AT_BOUND],
                          .all_known = true,
                          .host = host};
    check.ids = weft_alloc_zero(host, check.bound, 1);
    if (!check.ids) {
        return weft_fail_memory(host, "SPIR-V ids");
    }
    weft_status status = check_instructions(&check);
    if (status == WEFT_OK) {
        status = check_whole(&check);
    }
    weft_free(host, check.ids);
    return status;
}
