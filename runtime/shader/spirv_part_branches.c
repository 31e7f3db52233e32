/* SPDX-License-Identifier: MIT */
#include "shader/spirv_part_branches.h"

#include "core/try.h"
#include "device/vendor.h"
#include "shader/spirv_writer.h"

#define LARGEST         0x7fffffffu /* that a number of an invocation or a workgroup may be */
#define CONSTANT_WORDS  4u
#define NEW_IDS         4u /* of each changed condition: see put_condition */
#define CONDITION_WORDS 19u
#define PREFERENCES     3u

struct part {
    const uint32_t *source;
    size_t count;    /* words */
    size_t *at;      /* by id: where it is declared, outside of functions */
    uint32_t *merge; /* where the selections end that are open */
    uint8_t *odd;    /* by nesting: whether the last selection there was changed */
    uint32_t depth;
    uint32_t bound, next_id;
    size_t functions; /* where the first one is; 0: nowhere */
    uint32_t selections;
    uint32_t candidates[PREFERENCES]; /* variables, the most welcome first, or 0 */
    uint32_t variable;                /* the one that is taken, or 0 */
    uint32_t vector, uint_type, bool_type, largest;
    bool is_specialized;
    const weft_host *host;
};

bool weft_branches_are_parted(const weft_device_info *info) {
    return info->vendor_id == WEFT_VENDOR_BROADCOM;
}

/* ---- survey ---- */

static void note_decoration(struct part *part, const uint32_t *instruction) {
    static const uint32_t preferred[PREFERENCES] = {WEFT_BUILT_IN_WORKGROUP_ID,
                                                    WEFT_BUILT_IN_GLOBAL_INVOCATION_ID,
                                                    WEFT_BUILT_IN_LOCAL_INVOCATION_ID};
    if (weft_spirv_length(instruction[0]) < 4) {
        return;
    }
    part->is_specialized = part->is_specialized || instruction[2] == WEFT_DECORATION_SPEC_ID;
    for (size_t i = 0; i < PREFERENCES; i++) {
        if (instruction[2] == WEFT_DECORATION_BUILT_IN && instruction[3] == preferred[i]) {
            part->candidates[i] = instruction[1];
        }
    }
}

static void note_declaration(struct part *part, size_t at) {
    const uint32_t *instruction = part->source + at;
    const bool is_whole = weft_spirv_length(instruction[0]) >= 4;
    switch (weft_spirv_opcode(instruction[0])) {
    case WEFT_OP_DECORATE:
        note_decoration(part, instruction);
        break;
    case WEFT_OP_TYPE_BOOL:
        part->bool_type = instruction[1];
        break;
    case WEFT_OP_TYPE_INT:
    case WEFT_OP_TYPE_VECTOR:
    case WEFT_OP_TYPE_POINTER:
        part->at[is_whole ? instruction[1] : 0] = at;
        break;
    case WEFT_OP_VARIABLE:
        part->at[is_whole ? instruction[2] : 0] = at;
        break;
    default:
        break;
    }
}

/* The declaration of an id, if it is one of that opcode. */
static const uint32_t *declaration(const struct part *part, uint32_t id, enum weft_spirv_op op) {
    const size_t at = id < part->bound && id != 0 ? part->at[id] : 0;
    return at != 0 && weft_spirv_opcode(part->source[at]) == op ? part->source + at : NULL;
}

/* Only variables of an entry point's interface may be read there. */
static bool is_in_interfaces(const struct part *part, uint32_t variable) {
    bool is_in_all = true;
    for (size_t at = WEFT_SPIRV_HEADER_WORDS; at < part->functions;
         at += weft_spirv_length(part->source[at])) {
        const uint32_t *instruction = part->source + at;
        is_in_all = is_in_all && (weft_spirv_opcode(instruction[0]) != WEFT_OP_ENTRY_POINT ||
                                  weft_spirv_interface_has(instruction, variable));
    }
    return is_in_all;
}

/* Takes a variable that is a vector of unsigned integers. */
static void choose_variable(struct part *part) {
    for (size_t i = 0; i < PREFERENCES && part->variable == 0; i++) {
        const uint32_t *variable = declaration(part, part->candidates[i], WEFT_OP_VARIABLE);
        const uint32_t *pointer =
            variable ? declaration(part, variable[1], WEFT_OP_TYPE_POINTER) : NULL;
        const uint32_t *vector =
            pointer ? declaration(part, pointer[3], WEFT_OP_TYPE_VECTOR) : NULL;
        const uint32_t *scalar = vector ? declaration(part, vector[2], WEFT_OP_TYPE_INT) : NULL;
        if (scalar && scalar[2] == 32 && scalar[3] == 0 && is_in_interfaces(part, variable[2])) {
            part->variable = variable[2];
            part->vector = vector[1];
            part->uint_type = scalar[1];
        }
    }
}

static weft_status survey(struct part *part) {
    for (size_t at = WEFT_SPIRV_HEADER_WORDS; at < part->count;
         at += weft_spirv_length(part->source[at])) {
        const uint32_t opcode = weft_spirv_opcode(part->source[at]);
        if (opcode == WEFT_OP_FUNCTION && part->functions == 0) {
            part->functions = at;
        }
        if (part->functions == 0) {
            note_declaration(part, at);
        }
        part->selections += opcode == WEFT_OP_SELECTION_MERGE;
    }
    choose_variable(part);
    if ((uint64_t)part->bound + 1 + (uint64_t)part->selections * NEW_IDS > WEFT_SPIRV_MAX_BOUND) {
        return weft_fail(part->host, WEFT_COMPILE_ERROR,
                         "SPIR-V module: no ids are left to tell %u branches apart",
                         part->selections);
    }
    return WEFT_OK;
}

/* ---- rewriting ---- */

/* "condition, or a number is above the largest". */
static uint32_t put_condition(struct weft_spirv_writer *writer, struct part *part,
                              uint32_t condition) {
    const uint32_t vector = part->next_id;
    const uint32_t number = vector + 1;
    const uint32_t is_above = vector + 2;
    const uint32_t either = vector + 3;
    WEFT_SPIRV_PUT(writer, WEFT_OP_LOAD, part->vector, vector, part->variable);
    WEFT_SPIRV_PUT(writer, WEFT_OP_COMPOSITE_EXTRACT, part->uint_type, number, vector, 0);
    WEFT_SPIRV_PUT(writer, WEFT_OP_U_GREATER_THAN, part->bool_type, is_above, number,
                   part->largest);
    WEFT_SPIRV_PUT(writer, WEFT_OP_LOGICAL_OR, part->bool_type, either, condition, is_above);
    part->next_id += NEW_IDS;
    return either;
}

/* A selection, before which the condition of its branch goes; which the branch gets. */
static uint32_t put_selection(struct weft_spirv_writer *writer, struct part *part,
                              const uint32_t *selection, const uint32_t *branch) {
    part->odd[part->depth] ^= 1;
    const uint32_t condition =
        part->odd[part->depth] ? branch[1] : put_condition(writer, part, branch[1]);
    weft_spirv_put_words(writer, selection, weft_spirv_length(selection[0]));
    part->merge[part->depth++] = selection[1];
    return condition;
}

static bool is_selection(const struct part *part, size_t at) {
    const size_t next = at + weft_spirv_length(part->source[at]);
    return weft_spirv_opcode(part->source[at]) == WEFT_OP_SELECTION_MERGE && next < part->count &&
           weft_spirv_length(part->source[at]) == 3 &&
           weft_spirv_opcode(part->source[next]) == WEFT_OP_BRANCH_CONDITIONAL &&
           weft_spirv_length(part->source[next]) >= 4;
}

static void put_module(struct weft_spirv_writer *writer, struct part *part) {
    weft_spirv_put_words(writer, part->source, part->functions);
    part->largest = part->next_id++;
    WEFT_SPIRV_PUT(writer, WEFT_OP_CONSTANT, part->uint_type, part->largest, LARGEST);
    for (size_t at = part->functions; at < part->count;) {
        const uint32_t *instruction = part->source + at;
        const uint32_t opcode = weft_spirv_opcode(instruction[0]);
        const uint32_t length = weft_spirv_length(instruction[0]);
        while (opcode == WEFT_OP_LABEL && part->depth > 0 &&
               part->merge[part->depth - 1] == instruction[1]) {
            part->depth--;
        }
        const bool is_first = is_selection(part, at);
        at += length;
        if (is_first) {
            const uint32_t *branch = part->source + at;
            const uint32_t condition = put_selection(writer, part, instruction, branch);
            weft_spirv_put_words(writer, branch, weft_spirv_length(branch[0]))[1] = condition;
            at += weft_spirv_length(branch[0]);
        } else {
            weft_spirv_put_words(writer, instruction, length);
        }
    }
    writer->words[WEFT_SPIRV_AT_BOUND] = part->next_id;
}

static weft_status rewrite(uint32_t **words, size_t *size, struct part *part) {
    WEFT_TRY(survey(part));
    const size_t most = part->count + CONSTANT_WORDS + (size_t)part->selections * CONDITION_WORDS;
    struct weft_spirv_writer writer = {.words = weft_alloc(part->host, most * sizeof(uint32_t))};
    part->merge = weft_alloc(part->host, ((size_t)part->selections + 1) * sizeof *part->merge);
    part->odd = weft_alloc_zero(part->host, (size_t)part->selections + 1, sizeof *part->odd);
    if (!writer.words || !part->merge || !part->odd) {
        weft_free(part->host, writer.words);
        return weft_fail_memory(part->host, "SPIR-V module");
    }
    if (part->variable != 0 && part->bool_type != 0 && !part->is_specialized) {
        put_module(&writer, part);
    } else {
        weft_spirv_put_words(&writer, part->source, part->count);
    }
    *words = writer.words;
    *size = writer.count * sizeof(uint32_t);
    return WEFT_OK;
}

weft_status weft_spirv_part_branches(uint32_t **words, size_t *size, const uint32_t *source,
                                     size_t source_size, const weft_host *host) {
    const uint32_t bound = source[WEFT_SPIRV_AT_BOUND];
    struct part part = {
        .source = source, .count = source_size / 4, .bound = bound, .next_id = bound, .host = host};
    part.at = weft_alloc_zero(host, bound, sizeof *part.at);
    const weft_status status =
        part.at ? rewrite(words, size, &part) : weft_fail_memory(host, "SPIR-V ids");
    weft_free(host, part.at);
    weft_free(host, part.merge);
    weft_free(host, part.odd);
    return status;
}
