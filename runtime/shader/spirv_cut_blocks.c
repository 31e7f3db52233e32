/* SPDX-License-Identifier: MIT */
#include "shader/spirv_cut_blocks.h"

#include "core/try.h"
#include "device/vendor.h"
#include "shader/spirv_writer.h"

#define SCOPE_WORKGROUP  2u
#define ORDERS_WORKGROUP 0x108u /* AcquireRelease, WorkgroupMemory */
#define IDS_PER_LOAD     2u     /* the number as it is; what it is or'ed with */
#define WORDS_PER_LOAD   9u
#define WORDS_PER_CUT    33u
#define WORDS_ONCE       36u     /* declarations, decoration, interface */
#define MOST_WORDS       0xffffu /* of an instruction */

/* Ids that are new in the module. */
enum { NONE, SOME, SCOPE, SEMANTICS, POINTER, HIDDEN, BOOL, WORKGROUPS, NEW_IDS };

/* Ids of a cut. */
enum { COUNTS, COUNT, IS_EMPTY, TAKEN, REST, IDS_PER_CUT };

struct cut {
    const uint32_t *source;
    size_t count; /* words */
    uint32_t bound;
    uint8_t *is_number; /* per id: whether it points to numbers of the invocation */
    uint32_t *last;     /* per label: that of its block's last part, or 0 where it is not cut */
    uint32_t entry_points;
    uint32_t entry;          /* the function */
    uint32_t entry_length;   /* words that name it */
    size_t types, functions; /* where the first ones are */
    uint32_t uint_type, bool_type, vector;
    uint32_t input;                       /* a pointer to a vector */
    uint32_t workgroups, workgroups_type; /* the variable that counts them, or 0 */
    uint32_t cuts, loads;
    const weft_host *host;
};

bool weft_blocks_are_cut(const weft_device_info *info) {
    return !weft_vendor_has_over_64_registers(info->vendor_id);
}

/* ---- where the cuts are ---- */

struct walk {
    bool is_inside;
    uint32_t label;       /* of the block */
    uint32_t part, since; /* instructions */
    uint32_t left;        /* cuts */
};

/* Into how many parts the block goes whose label is at `at`. A loop's header stays where its branches go. */
static uint32_t parts_of(const struct cut *cut, size_t at, uint32_t *instructions) {
    *instructions = 0;
    for (at += weft_spirv_length(cut->source[at]); at < cut->count;
         at += weft_spirv_length(cut->source[at])) {
        const uint32_t opcode = weft_spirv_opcode(cut->source[at]);
        if (opcode == WEFT_OP_LABEL || opcode == WEFT_OP_FUNCTION_END) {
            break;
        }
        if (opcode == WEFT_OP_LOOP_MERGE) {
            return 1;
        }
        ++*instructions;
    }
    return *instructions < WEFT_SPIRV_LONG_BLOCK ? 1 : *instructions / WEFT_SPIRV_PART;
}

static void enter_block(struct walk *walk, const struct cut *cut, size_t at) {
    uint32_t instructions = 0;
    const uint32_t parts = parts_of(cut, at, &instructions);
    walk->label = cut->source[at + 1];
    walk->part = instructions / parts;
    walk->since = 0;
    walk->left = parts - 1;
}

/* Goes over the instruction at `at`; whether there is a cut behind it. No variable is declared behind a store. */
static bool step(struct walk *walk, const struct cut *cut, size_t at) {
    const uint32_t *instruction = cut->source + at;
    const uint32_t opcode = weft_spirv_opcode(instruction[0]);
    if (opcode == WEFT_OP_FUNCTION) {
        *walk = (struct walk){.is_inside = instruction[2] == cut->entry};
    } else if (opcode == WEFT_OP_LABEL && walk->is_inside) {
        enter_block(walk, cut, at);
    } else {
        walk->since++;
    }
    if (walk->left == 0 || walk->since < walk->part || opcode != WEFT_OP_STORE) {
        return false;
    }
    walk->left--;
    walk->since = 0;
    return true;
}

/* ---- survey ---- */

static void note_decoration(struct cut *cut, const uint32_t *instruction) {
    if (weft_spirv_length(instruction[0]) < 4 || instruction[2] != WEFT_DECORATION_BUILT_IN) {
        return;
    }
    switch (instruction[3]) {
    case WEFT_BUILT_IN_WORKGROUP_ID:
    case WEFT_BUILT_IN_LOCAL_INVOCATION_ID:
    case WEFT_BUILT_IN_GLOBAL_INVOCATION_ID:
    case WEFT_BUILT_IN_LOCAL_INVOCATION_INDEX:
        cut->is_number[instruction[1]] = 1;
        break;
    case WEFT_BUILT_IN_NUM_WORKGROUPS:
        cut->workgroups = instruction[1];
        break;
    default:
        break;
    }
}

static void note_type(struct cut *cut, const uint32_t *instruction) {
    const uint32_t length = weft_spirv_length(instruction[0]);
    switch (weft_spirv_opcode(instruction[0])) {
    case WEFT_OP_TYPE_BOOL:
        cut->bool_type = instruction[1];
        break;
    case WEFT_OP_TYPE_INT:
        if (length == 4 && instruction[2] == 32 && instruction[3] == 0) {
            cut->uint_type = instruction[1];
        }
        break;
    case WEFT_OP_TYPE_VECTOR:
        if (length == 4 && instruction[2] == cut->uint_type && instruction[3] == 3) {
            cut->vector = instruction[1];
        }
        break;
    case WEFT_OP_TYPE_POINTER:
        if (length == 4 && instruction[2] == WEFT_STORAGE_CLASS_INPUT &&
            instruction[3] == cut->vector) {
            cut->input = instruction[1];
        }
        break;
    default:
        break;
    }
}

static void note_declaration(struct cut *cut, size_t at) {
    const uint32_t *instruction = cut->source + at;
    const uint32_t opcode = weft_spirv_opcode(instruction[0]);
    switch (opcode) {
    case WEFT_OP_ENTRY_POINT:
        cut->entry_points++;
        cut->entry = instruction[2];
        cut->entry_length = weft_spirv_length(instruction[0]);
        break;
    case WEFT_OP_DECORATE:
        note_decoration(cut, instruction);
        break;
    case WEFT_OP_VARIABLE:
        if (instruction[2] == cut->workgroups) {
            cut->workgroups_type = instruction[1];
        }
        break;
    case WEFT_OP_FUNCTION:
        cut->functions = at;
        break;
    default:
        if (opcode >= WEFT_OP_TYPE_VOID && opcode <= WEFT_OP_TYPE_FUNCTION) {
            cut->types = cut->types == 0 ? at : cut->types;
            note_type(cut, instruction);
        }
        break;
    }
}

static bool is_number(const struct cut *cut, const uint32_t *instruction) {
    return weft_spirv_opcode(instruction[0]) == WEFT_OP_LOAD && instruction[1] == cut->uint_type &&
           cut->is_number[instruction[3]];
}

static uint32_t first_of_cut(const struct cut *cut, uint32_t index) {
    return cut->bound + NEW_IDS + index * IDS_PER_CUT;
}

static void note_instruction(struct cut *cut, struct walk *walk, size_t at) {
    const uint32_t *instruction = cut->source + at;
    const uint32_t opcode = weft_spirv_opcode(instruction[0]);
    if (opcode == WEFT_OP_ACCESS_CHAIN || opcode == WEFT_OP_IN_BOUNDS_ACCESS_CHAIN) {
        cut->is_number[instruction[2]] = cut->is_number[instruction[3]];
    }
    cut->loads += is_number(cut, instruction);
    if (step(walk, cut, at)) {
        cut->last[walk->label] = first_of_cut(cut, cut->cuts++) + REST;
    }
}

static weft_status survey(struct cut *cut) {
    struct walk walk = {0};
    for (size_t at = WEFT_SPIRV_HEADER_WORDS; at < cut->count;
         at += weft_spirv_length(cut->source[at])) {
        if (cut->functions == 0) {
            note_declaration(cut, at);
        }
        if (cut->functions != 0) {
            note_instruction(cut, &walk, at);
        }
    }
    if ((uint64_t)cut->bound + NEW_IDS + (uint64_t)cut->cuts * IDS_PER_CUT +
            (uint64_t)cut->loads * IDS_PER_LOAD >
        WEFT_SPIRV_MAX_BOUND) {
        return weft_fail(cut->host, WEFT_COMPILE_ERROR,
                         "SPIR-V module: no ids are left to cut blocks at %u places", cut->cuts);
    }
    return WEFT_OK;
}

static bool can_cut(const struct cut *cut) {
    return cut->cuts > 0 && cut->entry_points == 1 && cut->entry_length < MOST_WORDS &&
           cut->input != 0 && (cut->workgroups == 0 || cut->workgroups_type == cut->input);
}

/* ---- rewriting ---- */

static uint32_t id_of(const struct cut *cut, uint32_t which) {
    if (which == WORKGROUPS && cut->workgroups != 0) {
        return cut->workgroups;
    }
    return which == BOOL && cut->bool_type != 0 ? cut->bool_type : cut->bound + which;
}

static void put_entry_point(struct weft_spirv_writer *writer, const struct cut *cut,
                            const uint32_t *entry_point) {
    const uint32_t length = weft_spirv_length(entry_point[0]);
    uint32_t *copy = weft_spirv_put_words(writer, entry_point, length);
    if (!weft_spirv_interface_has(entry_point, id_of(cut, WORKGROUPS))) {
        copy[0] = weft_spirv_first_word(WEFT_OP_ENTRY_POINT, length + 1);
        writer->words[writer->count++] = id_of(cut, WORKGROUPS);
    }
}

static void put_constant(struct weft_spirv_writer *writer, const struct cut *cut, uint32_t which,
                         uint32_t value) {
    WEFT_SPIRV_PUT(writer, WEFT_OP_CONSTANT, cut->uint_type, id_of(cut, which), value);
}

static void put_declarations(struct weft_spirv_writer *writer, const struct cut *cut) {
    if (cut->bool_type == 0) {
        WEFT_SPIRV_PUT(writer, WEFT_OP_TYPE_BOOL, id_of(cut, BOOL));
    }
    if (cut->workgroups == 0) {
        WEFT_SPIRV_PUT(writer, WEFT_OP_VARIABLE, cut->input, id_of(cut, WORKGROUPS),
                       WEFT_STORAGE_CLASS_INPUT);
    }
    put_constant(writer, cut, NONE, 0);
    put_constant(writer, cut, SOME, 1);
    put_constant(writer, cut, SCOPE, SCOPE_WORKGROUP);
    put_constant(writer, cut, SEMANTICS, ORDERS_WORKGROUP);
    WEFT_SPIRV_PUT(writer, WEFT_OP_TYPE_POINTER, id_of(cut, POINTER), WEFT_STORAGE_CLASS_FUNCTION,
                   cut->uint_type);
}

static void put_cut(struct weft_spirv_writer *writer, const struct cut *cut, uint32_t index) {
    const uint32_t ids = first_of_cut(cut, index);
    WEFT_SPIRV_PUT(writer, WEFT_OP_LOAD, cut->vector, ids + COUNTS, id_of(cut, WORKGROUPS));
    WEFT_SPIRV_PUT(writer, WEFT_OP_COMPOSITE_EXTRACT, cut->uint_type, ids + COUNT, ids + COUNTS, 0);
    WEFT_SPIRV_PUT(writer, WEFT_OP_I_EQUAL, id_of(cut, BOOL), ids + IS_EMPTY, ids + COUNT,
                   id_of(cut, NONE));
    WEFT_SPIRV_PUT(writer, WEFT_OP_SELECTION_MERGE, ids + REST, 0);
    WEFT_SPIRV_PUT(writer, WEFT_OP_BRANCH_CONDITIONAL, ids + IS_EMPTY, ids + TAKEN, ids + REST);
    WEFT_SPIRV_PUT(writer, WEFT_OP_LABEL, ids + TAKEN);
    WEFT_SPIRV_PUT(writer, WEFT_OP_MEMORY_BARRIER, id_of(cut, SCOPE), id_of(cut, SEMANTICS));
    WEFT_SPIRV_PUT(writer, WEFT_OP_STORE, id_of(cut, HIDDEN), id_of(cut, SOME));
    WEFT_SPIRV_PUT(writer, WEFT_OP_BRANCH, ids + REST);
    WEFT_SPIRV_PUT(writer, WEFT_OP_LABEL, ids + REST);
}

/* number = what was read | what changes where no invocation comes by */
static void put_number(struct weft_spirv_writer *writer, const struct cut *cut,
                       const uint32_t *load, uint32_t ids) {
    weft_spirv_put_words(writer, load, weft_spirv_length(load[0]))[2] = ids;
    WEFT_SPIRV_PUT(writer, WEFT_OP_LOAD, cut->uint_type, ids + 1, id_of(cut, HIDDEN));
    WEFT_SPIRV_PUT(writer, WEFT_OP_BITWISE_OR, cut->uint_type, load[2], ids, ids + 1);
}

/* Values come from the last part of a block. */
static void put_phi(struct weft_spirv_writer *writer, const struct cut *cut, const uint32_t *phi) {
    const uint32_t length = weft_spirv_length(phi[0]);
    uint32_t *copy = weft_spirv_put_words(writer, phi, length);
    for (uint32_t i = 4; i < length; i += 2) {
        copy[i] = cut->last[phi[i]] != 0 ? cut->last[phi[i]] : phi[i];
    }
}

static void put_functions(struct weft_spirv_writer *writer, const struct cut *cut) {
    struct walk walk = {0};
    bool is_first = true; /* block of the entry point */
    uint32_t cuts = 0;
    uint32_t next_id = first_of_cut(cut, cut->cuts);
    for (size_t at = cut->functions; at < cut->count; at += weft_spirv_length(cut->source[at])) {
        const uint32_t *instruction = cut->source + at;
        const uint32_t opcode = weft_spirv_opcode(instruction[0]);
        const bool is_cut = step(&walk, cut, at);
        if (walk.is_inside && is_number(cut, instruction)) {
            put_number(writer, cut, instruction, next_id);
            next_id += IDS_PER_LOAD;
        } else if (opcode == WEFT_OP_PHI) {
            put_phi(writer, cut, instruction);
        } else {
            weft_spirv_put_words(writer, instruction, weft_spirv_length(instruction[0]));
        }
        if (opcode == WEFT_OP_LABEL && walk.is_inside && is_first) {
            WEFT_SPIRV_PUT(writer, WEFT_OP_VARIABLE, id_of(cut, POINTER), id_of(cut, HIDDEN),
                           WEFT_STORAGE_CLASS_FUNCTION, id_of(cut, NONE));
            is_first = false;
        }
        if (is_cut) {
            put_cut(writer, cut, cuts++);
        }
    }
    writer->words[WEFT_SPIRV_AT_BOUND] = next_id;
}

static void put_module(struct weft_spirv_writer *writer, const struct cut *cut) {
    weft_spirv_put_words(writer, cut->source, WEFT_SPIRV_HEADER_WORDS);
    for (size_t at = WEFT_SPIRV_HEADER_WORDS; at < cut->functions;
         at += weft_spirv_length(cut->source[at])) {
        const uint32_t *instruction = cut->source + at;
        if (at == cut->types && cut->workgroups == 0) {
            WEFT_SPIRV_PUT(writer, WEFT_OP_DECORATE, id_of(cut, WORKGROUPS),
                           WEFT_DECORATION_BUILT_IN, WEFT_BUILT_IN_NUM_WORKGROUPS);
        }
        if (weft_spirv_opcode(instruction[0]) == WEFT_OP_ENTRY_POINT) {
            put_entry_point(writer, cut, instruction);
        } else {
            weft_spirv_put_words(writer, instruction, weft_spirv_length(instruction[0]));
        }
    }
    put_declarations(writer, cut);
    put_functions(writer, cut);
}

static weft_status rewrite(uint32_t **words, size_t *size, struct cut *cut) {
    WEFT_TRY(survey(cut));
    const size_t most = cut->count + WORDS_ONCE + (size_t)cut->cuts * WORDS_PER_CUT +
                        (size_t)cut->loads * WORDS_PER_LOAD;
    struct weft_spirv_writer writer = {.words = weft_alloc(cut->host, most * sizeof(uint32_t))};
    if (!writer.words) {
        return weft_fail_memory(cut->host, "SPIR-V module");
    }
    if (can_cut(cut)) {
        put_module(&writer, cut);
    } else {
        weft_spirv_put_words(&writer, cut->source, cut->count);
    }
    *words = writer.words;
    *size = writer.count * sizeof(uint32_t);
    return WEFT_OK;
}

weft_status weft_spirv_cut_blocks(uint32_t **words, size_t *size, const uint32_t *source,
                                  size_t source_size, const weft_host *host) {
    const uint32_t bound = source[WEFT_SPIRV_AT_BOUND];
    struct cut cut = {.source = source, .count = source_size / 4, .bound = bound, .host = host};
    cut.is_number = weft_alloc_zero(host, bound, sizeof *cut.is_number);
    cut.last = weft_alloc_zero(host, bound, sizeof *cut.last);
    const weft_status status = cut.is_number && cut.last ? rewrite(words, size, &cut)
                                                         : weft_fail_memory(host, "SPIR-V ids");
    weft_free(host, cut.is_number);
    weft_free(host, cut.last);
    return status;
}
