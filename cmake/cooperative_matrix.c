/* SPDX-License-Identifier: MIT */
#include "cooperative_matrix.h"

#include "core/try.h"
#include "shader/spirv_writer.h"

/* SPV_NV_cooperative_matrix and SPV_KHR_cooperative_matrix, in the sections on capabilities and on instructions. */
enum {
    NV_CAPABILITY = 5357,
    NV_TYPE = 5358,
    NV_LOAD = 5359,
    NV_STORE = 5360,
    NV_MUL_ADD = 5361,
    NV_LENGTH = 5362,
    KHR_LOAD = 4457,
    KHR_STORE = 4458,
    KHR_MUL_ADD = 4459,
    KHR_LENGTH = 4460,
    KHR_CAPABILITY = 6022
};

/* SPV_KHR_cooperative_matrix, Cooperative Matrix Use, and none of them. */
enum use { FIRST_FACTOR = 0, SECOND_FACTOR = 1, ACCUMULATOR = 2, USES = 3, NO_USE = USES };

/* Cooperative Matrix Layout has 0 for rows and 1 for columns, as NV's Boolean. */
enum { CONSTANTS = USES, CONSTANT_WORDS = 4 };

static const char nv_extension[] = "SPV_NV_cooperative_matrix";
static const char khr_extension[] = "SPV_KHR_cooperative_matrix"; /* as many words */

struct translation {
    const uint32_t *words;
    size_t count;
    uint32_t *type_of; /* of each id */
    uint8_t *use_of;   /* of each type */
    uint32_t uint_type, false_id, true_id;
    uint32_t constant; /* id of the number 0; 1 and 2 follow */
    const weft_host *host;
};

static bool is_uint(const uint32_t *instruction) {
    return weft_spirv_opcode(instruction[0]) == WEFT_OP_TYPE_INT && instruction[2] == 32 &&
           instruction[3] == 0;
}

/* Types of ids, and the ids of what is looked for. */
static bool survey(struct translation *t) {
    bool found = false;
    for (size_t at = WEFT_SPIRV_HEADER_WORDS; at < t->count;
         at += weft_spirv_length(t->words[at])) {
        const uint32_t *instruction = t->words + at;
        const uint32_t opcode = weft_spirv_opcode(instruction[0]);
        if (weft_spirv_has_typed_result(opcode) || opcode == NV_LOAD || opcode == NV_MUL_ADD) {
            t->type_of[instruction[2]] = instruction[1];
        }
        if (is_uint(instruction)) {
            t->uint_type = instruction[1];
        } else if (opcode == WEFT_OP_CONSTANT_FALSE) {
            t->false_id = instruction[2];
        } else if (opcode == WEFT_OP_CONSTANT_TRUE) {
            t->true_id = instruction[2];
        }
        found = found || opcode == NV_TYPE;
    }
    return found;
}

static weft_status note_use(struct translation *t, uint32_t type, enum use use) {
    if (t->use_of[type] != NO_USE && t->use_of[type] != use) {
        return weft_fail(t->host, WEFT_COMPILE_ERROR,
                         "cooperative matrices of one type are used as different operands: give "
                         "their shapes as constants of their own");
    }
    t->use_of[type] = (uint8_t)use;
    return WEFT_OK;
}

static weft_status note_uses(struct translation *t) {
    for (size_t at = WEFT_SPIRV_HEADER_WORDS; at < t->count;
         at += weft_spirv_length(t->words[at])) {
        const uint32_t *instruction = t->words + at;
        if (weft_spirv_opcode(instruction[0]) != NV_MUL_ADD) {
            continue;
        }
        WEFT_TRY(note_use(t, t->type_of[instruction[3]], FIRST_FACTOR));
        WEFT_TRY(note_use(t, t->type_of[instruction[4]], SECOND_FACTOR));
        WEFT_TRY(note_use(t, t->type_of[instruction[5]], ACCUMULATOR));
        WEFT_TRY(note_use(t, instruction[1], ACCUMULATOR));
    }
    return WEFT_OK;
}

/*
 * Where the memory operands of an access are, 0 for none. glslang makes each access to shared memory available or visible to the
 * workgroup, and drivers then wait for each. Our kernels leave that to their barriers, which say so.
 */
static uint32_t memory_operands_at(uint32_t opcode) {
    switch (opcode) {
    case WEFT_OP_LOAD:
        return 4;
    case WEFT_OP_STORE:
        return 3;
    case NV_LOAD:
        return 6;
    case NV_STORE:
        return 5;
    default:
        return 0;
    }
}

/* An instruction without that: its mask loses a bit, and the scope behind goes. Returns the copy. */
static uint32_t *put_plainly(struct weft_spirv_writer *writer, const uint32_t *instruction) {
    enum { AVAILABLE = 0x8, VISIBLE = 0x10, NON_PRIVATE = 0x20 };
    const uint32_t length = weft_spirv_length(instruction[0]);
    const uint32_t at = memory_operands_at(weft_spirv_opcode(instruction[0]));
    uint32_t *copy = weft_spirv_put_words(writer, instruction, length);
    if (at != 0 && length == at + 2 &&
        (copy[at] == (AVAILABLE | NON_PRIVATE) || copy[at] == (VISIBLE | NON_PRIVATE))) {
        copy[at] = NON_PRIVATE;
        copy[0] -= 1u << 16;
        writer->count--;
    }
    return copy;
}

static void set_opcode(uint32_t *instruction, uint32_t opcode) {
    instruction[0] = (instruction[0] & 0xFFFF0000u) | opcode;
}

static void put_constants(struct weft_spirv_writer *writer, const struct translation *t) {
    for (uint32_t i = 0; i < CONSTANTS; i++) {
        WEFT_SPIRV_PUT(writer, WEFT_OP_CONSTANT, t->uint_type, t->constant + i, i);
    }
}

static weft_status put_type(struct weft_spirv_writer *writer, const struct translation *t,
                            const uint32_t *type) {
    const uint32_t use = t->use_of[type[1]];
    if (use == NO_USE) {
        return weft_fail(t->host, WEFT_COMPILE_ERROR,
                         "cooperative matrices of a type are in no product");
    }
    WEFT_SPIRV_PUT(writer, WEFT_OP_TYPE_COOPERATIVE_MATRIX, type[1], type[2], type[3], type[4],
                   type[5], t->constant + use);
    return WEFT_OK;
}

/* After the pointer and whatever follows it: NV has the stride, then the layout. */
static weft_status put_access(struct weft_spirv_writer *writer, const struct translation *t,
                              const uint32_t *access, uint32_t opcode, uint32_t stride_at) {
    const uint32_t layout = access[stride_at + 1];
    if (layout != t->false_id && layout != t->true_id) {
        return weft_fail(t->host, WEFT_COMPILE_ERROR,
                         "the layout of a cooperative matrix in memory is no constant");
    }
    uint32_t *copy = put_plainly(writer, access);
    set_opcode(copy, opcode);
    copy[stride_at] = t->constant + (layout == t->true_id);
    copy[stride_at + 1] = access[stride_at];
    return WEFT_OK;
}

static weft_status put(struct weft_spirv_writer *writer, const struct translation *t,
                       const uint32_t *instruction) {
    const uint32_t length = weft_spirv_length(instruction[0]);
    switch (weft_spirv_opcode(instruction[0])) {
    case NV_TYPE:
        return put_type(writer, t, instruction);
    case NV_LOAD:
        return put_access(writer, t, instruction, KHR_LOAD, 4);
    case NV_STORE:
        return put_access(writer, t, instruction, KHR_STORE, 3);
    default:
        break;
    }
    uint32_t *copy = put_plainly(writer, instruction);
    switch (weft_spirv_opcode(instruction[0])) {
    case NV_MUL_ADD:
        set_opcode(copy, KHR_MUL_ADD);
        break;
    case NV_LENGTH:
        set_opcode(copy, KHR_LENGTH);
        break;
    case WEFT_OP_CAPABILITY:
        copy[1] = copy[1] == NV_CAPABILITY ? KHR_CAPABILITY : copy[1];
        break;
    case WEFT_OP_EXTENSION:
        if (weft_spirv_string_is(copy + 1, length - 1, nv_extension)) {
            memcpy(copy + 1, khr_extension, sizeof khr_extension);
        }
        break;
    case WEFT_OP_TYPE_INT:
        if (copy[1] == t->uint_type) { /* of which no cooperative matrix is before */
            put_constants(writer, t);
        }
        break;
    default:
        break;
    }
    return WEFT_OK;
}

static weft_status write_module(struct weft_spirv_writer *writer, const struct translation *t) {
    weft_spirv_put_words(writer, t->words, WEFT_SPIRV_HEADER_WORDS);
    writer->words[WEFT_SPIRV_AT_BOUND] += CONSTANTS;
    for (size_t at = WEFT_SPIRV_HEADER_WORDS; at < t->count;
         at += weft_spirv_length(t->words[at])) {
        WEFT_TRY(put(writer, t, t->words + at));
    }
    return WEFT_OK;
}

static weft_status translate(uint32_t **made, size_t *made_count, struct translation *t) {
    const uint32_t bound = t->words[WEFT_SPIRV_AT_BOUND];
    /* A type grows by a word, and has six. */
    const size_t most = t->count + t->count / 6 + (size_t)CONSTANTS * CONSTANT_WORDS;
    t->constant = bound;
    memset(t->use_of, NO_USE, bound);
    if (!survey(t)) {
        return WEFT_OK;
    }
    WEFT_TRY(note_uses(t));
    struct weft_spirv_writer writer = {.words = weft_alloc(t->host, most * sizeof(uint32_t))};
    if (!writer.words) {
        return weft_fail_memory(t->host, "SPIR-V module");
    }
    const weft_status status = write_module(&writer, t);
    if (status != WEFT_OK) {
        weft_free(t->host, writer.words);
        return status;
    }
    *made = writer.words;
    *made_count = writer.count;
    return WEFT_OK;
}

weft_status weft_cooperative_translate(uint32_t **made, size_t *made_count, const uint32_t *words,
                                       size_t count, const weft_host *host) {
    *made = NULL;
    WEFT_TRY(weft_spirv_check(words, 4 * count, host));
    struct translation t = {.words = words, .count = count, .host = host};
    t.type_of = weft_alloc_zero(host, words[WEFT_SPIRV_AT_BOUND], sizeof *t.type_of);
    t.use_of = weft_alloc_zero(host, words[WEFT_SPIRV_AT_BOUND], 1);
    const weft_status status = t.type_of && t.use_of ? translate(made, made_count, &t)
                                                     : weft_fail_memory(host, "SPIR-V ids");
    weft_free(host, t.type_of);
    weft_free(host, t.use_of);
    return status;
}
