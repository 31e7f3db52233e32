/* SPDX-License-Identifier: MIT */
#include "shader/spirv_hide_zeros.h"

#include "core/try.h"
#include "shader/spirv_writer.h"
#include "spirv/operands.h"

#define MAX_WIDTH        4u /* components of a vector */
#define NEW_CONSTANTS    2u /* the shift and the sign */
#define CONSTANT_WORDS   4u
#define SCALAR_IDS       6u /* per function: see put_scalars */
#define SCALAR_WORDS     27u
#define WORDS_PER_VECTOR (3u + MAX_WIDTH)
#define NUMBER_BITS      31u /* that a number of an invocation may have */
#define SIGN             0x80000000u
#define PREFERENCES      4u

/* What a type is, as far as the pass cares. */
enum { OTHER = 0, FLOAT, FLOAT_VECTOR, INT, INT_VECTOR };

/* What a constant is. */
enum { NO_ZERO = 0, PLUS_ZERO, MINUS_ZERO, ZERO_VECTOR };

/* What is known of an id. */
struct id {
    size_t at;             /* where its type, constant or variable is declared */
    uint8_t type;          /* for a type */
    uint8_t zero;          /* for a constant; if it is a zero, in the last function that uses it: */
    size_t function;       /* where that starts */
    uint32_t stand_in;     /* the value in its place */
    uint32_t next;         /* another zero of the function, or 0 */
    uint32_t entry_points; /* for a variable: those that have it in their interface */
};

struct hide {
    const uint32_t *source;
    size_t count; /* words */
    struct id *ids;
    uint32_t bound, next_id;
    uint32_t candidates[PREFERENCES]; /* variables, the most welcome first, or 0 */
    uint32_t entry_points;
    uint32_t variable;          /* the candidate that is taken, or 0 */
    uint32_t vector, component; /* what it points to: types; vector is 0 for a scalar */
    uint32_t float_type;
    size_t functions; /* where the first function is */
    uint32_t function_count;
    uint32_t vectors;     /* constants that are ZERO_VECTOR */
    uint32_t shift, sign; /* new constants */
    uint32_t marked;      /* the last zero that was found in a function, or 0 */
    const weft_host *host;
};

/* ---- survey ---- */

static void note_type(struct hide *hide, const uint32_t *instruction) {
    struct id *type = &hide->ids[instruction[1]];
    const uint32_t detail = weft_spirv_length(instruction[0]) > 2 ? instruction[2] : 0;
    switch (weft_spirv_opcode(instruction[0])) {
    case WEFT_OP_TYPE_FLOAT:
        if (detail == 32) {
            type->type = FLOAT;
            hide->float_type = instruction[1];
        }
        break;
    case WEFT_OP_TYPE_INT:
        type->type = detail == 32 ? INT : OTHER;
        break;
    case WEFT_OP_TYPE_VECTOR:
        if (weft_spirv_length(instruction[0]) == 4 && instruction[3] <= MAX_WIDTH) {
            const uint8_t component = hide->ids[detail].type;
            type->type = component == FLOAT ? FLOAT_VECTOR : component == INT ? INT_VECTOR : OTHER;
        }
        break;
    default:
        break;
    }
}

/* Components of a vector type. */
static uint32_t width_of(const struct hide *hide, uint32_t type) {
    return hide->source[hide->ids[type].at + 3];
}

static uint8_t zero_of(const struct hide *hide, const uint32_t *instruction) {
    const uint8_t type = hide->ids[instruction[1]].type;
    switch (weft_spirv_opcode(instruction[0])) {
    case WEFT_OP_CONSTANT:
        if (type != FLOAT || weft_spirv_length(instruction[0]) != 4 ||
            (instruction[3] & ~SIGN) != 0) {
            return NO_ZERO;
        }
        return instruction[3] == 0 ? PLUS_ZERO : MINUS_ZERO;
    case WEFT_OP_CONSTANT_NULL:
        return type == FLOAT ? PLUS_ZERO : type == FLOAT_VECTOR ? ZERO_VECTOR : NO_ZERO;
    case WEFT_OP_CONSTANT_COMPOSITE:
        if (type != FLOAT_VECTOR ||
            weft_spirv_length(instruction[0]) != 3 + width_of(hide, instruction[1])) {
            return NO_ZERO;
        }
        for (uint32_t i = 3; i < weft_spirv_length(instruction[0]); i++) {
            if (hide->ids[instruction[i]].zero != NO_ZERO) {
                return ZERO_VECTOR;
            }
        }
        return NO_ZERO;
    default:
        return NO_ZERO;
    }
}

static void note_decoration(struct hide *hide, const uint32_t *instruction) {
    static const uint32_t preferred[PREFERENCES] = {
        WEFT_BUILT_IN_LOCAL_INVOCATION_INDEX, WEFT_BUILT_IN_LOCAL_INVOCATION_ID,
        WEFT_BUILT_IN_WORKGROUP_ID, WEFT_BUILT_IN_GLOBAL_INVOCATION_ID};
    if (weft_spirv_length(instruction[0]) < 4 || instruction[2] != WEFT_DECORATION_BUILT_IN) {
        return;
    }
    for (size_t i = 0; i < PREFERENCES; i++) {
        if (instruction[3] == preferred[i]) {
            hide->candidates[i] = instruction[1];
        }
    }
}

static void note_entry_point(struct hide *hide, const uint32_t *instruction) {
    const uint32_t length = weft_spirv_length(instruction[0]);
    for (uint32_t i = weft_spirv_interface_start(instruction); i < length; i++) {
        hide->ids[instruction[i]].entry_points++;
    }
    hide->entry_points++;
}

static void note(struct hide *hide, size_t at) {
    const uint32_t *instruction = hide->source + at;
    const uint32_t opcode = weft_spirv_opcode(instruction[0]);
    switch (opcode) {
    case WEFT_OP_ENTRY_POINT:
        note_entry_point(hide, instruction);
        break;
    case WEFT_OP_DECORATE:
        note_decoration(hide, instruction);
        break;
    case WEFT_OP_CONSTANT:
    case WEFT_OP_CONSTANT_NULL:
    case WEFT_OP_CONSTANT_COMPOSITE:
        hide->ids[instruction[2]].zero = zero_of(hide, instruction);
        hide->vectors += hide->ids[instruction[2]].zero == ZERO_VECTOR;
        hide->ids[instruction[2]].at = at;
        break;
    case WEFT_OP_VARIABLE:
        hide->ids[instruction[2]].at = at;
        break;
    case WEFT_OP_FUNCTION:
        hide->function_count++;
        hide->functions = hide->functions == 0 ? at : hide->functions;
        break;
    default:
        if (opcode >= WEFT_OP_TYPE_VOID && opcode <= WEFT_OP_TYPE_FUNCTION) {
            hide->ids[instruction[1]].at = at;
            note_type(hide, instruction);
        }
        break;
    }
}

/* Whether an id is an input of all entry points with an integer, or a vector of them, in it; if so,
 * takes it. */
static bool take(struct hide *hide, uint32_t id) {
    const uint32_t *variable = hide->source + hide->ids[id].at;
    if (id == 0 || weft_spirv_opcode(variable[0]) != WEFT_OP_VARIABLE ||
        weft_spirv_length(variable[0]) < 4 || variable[3] != WEFT_STORAGE_CLASS_INPUT ||
        hide->ids[id].entry_points != hide->entry_points) {
        return false;
    }
    const uint32_t *pointer = hide->source + hide->ids[variable[1]].at;
    if (weft_spirv_opcode(pointer[0]) != WEFT_OP_TYPE_POINTER ||
        weft_spirv_length(pointer[0]) != 4 || pointer[3] >= hide->bound) {
        return false;
    }
    const uint32_t type = pointer[3];
    const uint8_t kind = hide->ids[type].type;
    if (kind != INT && kind != INT_VECTOR) {
        return false;
    }
    hide->variable = id;
    hide->vector = kind == INT_VECTOR ? type : 0;
    hide->component = kind == INT ? type : hide->source[hide->ids[type].at + 2];
    return true;
}

static weft_status survey(struct hide *hide) {
    for (size_t at = WEFT_SPIRV_HEADER_WORDS; at < hide->count;) {
        note(hide, at);
        at += weft_spirv_length(hide->source[at]);
    }
    for (size_t i = 0; i < PREFERENCES && hide->float_type != 0; i++) {
        if (take(hide, hide->candidates[i])) {
            break;
        }
    }
    const uint64_t needed =
        hide->bound + NEW_CONSTANTS + (uint64_t)hide->function_count * (SCALAR_IDS + hide->vectors);
    if (hide->variable != 0 && needed > WEFT_SPIRV_MAX_BOUND) {
        return weft_fail(hide->host, WEFT_COMPILE_ERROR,
                         "SPIR-V module: no ids are left to hide zeros in %u functions",
                         hide->function_count);
    }
    return WEFT_OK;
}

/* ---- writing ---- */

static void put_constants(struct weft_spirv_writer *writer, struct hide *hide) {
    hide->shift = hide->next_id++;
    hide->sign = hide->next_id++;
    WEFT_SPIRV_PUT(writer, WEFT_OP_CONSTANT, hide->component, hide->shift, NUMBER_BITS);
    WEFT_SPIRV_PUT(writer, WEFT_OP_CONSTANT, hide->component, hide->sign, SIGN);
}

static bool is_zero(const struct hide *hide, uint32_t id) {
    return id < hide->bound && hide->ids[id].zero != NO_ZERO;
}

/* Makes a list of the zeros that a function uses. */
static void mark_zeros(struct hide *hide, size_t function) {
    hide->marked = 0;
    for (size_t at = function; weft_spirv_opcode(hide->source[at]) != WEFT_OP_FUNCTION_END;) {
        const uint32_t *instruction = hide->source + at;
        uint32_t first = 0;
        uint32_t end = 0;
        weft_spirv_value_words(&first, &end, instruction);
        for (uint32_t i = first; i < end; i++) {
            const uint32_t id = instruction[i];
            if (is_zero(hide, id) && hide->ids[id].function != function) {
                hide->ids[id].function = function;
                hide->ids[id].next = hide->marked;
                hide->marked = id;
            }
        }
        at += weft_spirv_length(instruction[0]);
    }
}

/* +0 and -0 of a function, of which it may need only one, or only for vectors. */
static void put_scalars(struct weft_spirv_writer *writer, struct hide *hide, uint32_t *plus,
                        uint32_t *minus) {
    const uint32_t loaded = hide->next_id++;
    uint32_t number = loaded;
    if (hide->vector != 0) {
        number = hide->next_id++;
        WEFT_SPIRV_PUT(writer, WEFT_OP_LOAD, hide->vector, loaded, hide->variable);
        WEFT_SPIRV_PUT(writer, WEFT_OP_COMPOSITE_EXTRACT, hide->component, number, loaded, 0);
    } else {
        WEFT_SPIRV_PUT(writer, WEFT_OP_LOAD, hide->component, loaded, hide->variable);
    }
    const uint32_t plus_bits = hide->next_id++;
    const uint32_t minus_bits = hide->next_id++;
    *plus = hide->next_id++;
    *minus = hide->next_id++;
    WEFT_SPIRV_PUT(writer, WEFT_OP_SHIFT_RIGHT_LOGICAL, hide->component, plus_bits, number,
                   hide->shift);
    WEFT_SPIRV_PUT(writer, WEFT_OP_BITWISE_OR, hide->component, minus_bits, plus_bits, hide->sign);
    WEFT_SPIRV_PUT(writer, WEFT_OP_BITCAST, hide->float_type, *plus, plus_bits);
    WEFT_SPIRV_PUT(writer, WEFT_OP_BITCAST, hide->float_type, *minus, minus_bits);
}

/* A vector of the constant's components, with hidden zeros. */
static void put_vector(struct weft_spirv_writer *writer, struct hide *hide,
                       const uint32_t *constant, uint32_t plus, uint32_t minus) {
    const bool is_null = weft_spirv_opcode(constant[0]) == WEFT_OP_CONSTANT_NULL;
    const uint32_t width = width_of(hide, constant[1]);
    uint32_t operands[2 + MAX_WIDTH] = {constant[1], hide->next_id++};
    for (uint32_t i = 0; i < width; i++) {
        const uint32_t component = is_null ? 0 : constant[3 + i];
        const uint8_t zero = is_null ? PLUS_ZERO : hide->ids[component].zero;
        operands[2 + i] = zero == PLUS_ZERO ? plus : zero == MINUS_ZERO ? minus : component;
    }
    weft_spirv_put_op(writer, WEFT_OP_COMPOSITE_CONSTRUCT, 2 + width, operands);
    hide->ids[constant[2]].stand_in = operands[1];
}

/* What stands for the marked zeros of a function. */
static void put_stand_ins(struct weft_spirv_writer *writer, struct hide *hide) {
    uint32_t plus = 0;
    uint32_t minus = 0;
    put_scalars(writer, hide, &plus, &minus);
    for (uint32_t id = hide->marked; id != 0; id = hide->ids[id].next) {
        if (hide->ids[id].zero == ZERO_VECTOR) {
            put_vector(writer, hide, hide->source + hide->ids[id].at, plus, minus);
        } else {
            hide->ids[id].stand_in = hide->ids[id].zero == PLUS_ZERO ? plus : minus;
        }
    }
}

static void put_with_stand_ins(struct weft_spirv_writer *writer, const struct hide *hide,
                               size_t at) {
    const uint32_t *instruction = hide->source + at;
    const uint32_t length = weft_spirv_length(instruction[0]);
    uint32_t *copy = weft_spirv_put_words(writer, instruction, length);
    uint32_t first = 0;
    uint32_t end = 0;
    weft_spirv_value_words(&first, &end, instruction);
    for (uint32_t i = first; i < end; i++) {
        if (is_zero(hide, instruction[i])) {
            copy[i] = hide->ids[instruction[i]].stand_in;
        }
    }
}

/* Whether an instruction is at the start of a function, where no other may come between. */
static bool is_at_start(uint32_t opcode) {
    return opcode == WEFT_OP_FUNCTION || opcode == WEFT_OP_FUNCTION_PARAMETER ||
           opcode == WEFT_OP_LABEL || opcode == WEFT_OP_VARIABLE || opcode == WEFT_OP_LINE ||
           opcode == WEFT_OP_NO_LINE;
}

/* Returns where the function ends. */
static size_t put_function(struct weft_spirv_writer *writer, struct hide *hide, size_t function) {
    mark_zeros(hide, function);
    bool pending = hide->marked != 0;
    size_t at = function;
    for (;;) {
        const uint32_t opcode = weft_spirv_opcode(hide->source[at]);
        if (pending && !is_at_start(opcode)) {
            put_stand_ins(writer, hide);
            pending = false;
        }
        put_with_stand_ins(writer, hide, at);
        at += weft_spirv_length(hide->source[at]);
        if (opcode == WEFT_OP_FUNCTION_END) {
            return at;
        }
    }
}

static void put_module(struct weft_spirv_writer *writer, struct hide *hide) {
    weft_spirv_put_words(writer, hide->source, hide->functions);
    put_constants(writer, hide);
    for (size_t at = hide->functions; at < hide->count;) {
        if (weft_spirv_opcode(hide->source[at]) == WEFT_OP_FUNCTION) {
            at = put_function(writer, hide, at);
        } else { /* debug lines between functions */
            const uint32_t length = weft_spirv_length(hide->source[at]);
            weft_spirv_put_words(writer, hide->source + at, length);
            at += length;
        }
    }
    writer->words[WEFT_SPIRV_AT_BOUND] = hide->next_id;
}

static weft_status rewrite(uint32_t **words, size_t *size, struct hide *hide) {
    WEFT_TRY(survey(hide));
    const size_t most =
        hide->count + (size_t)NEW_CONSTANTS * CONSTANT_WORDS +
        hide->function_count * (SCALAR_WORDS + (size_t)hide->vectors * WORDS_PER_VECTOR);
    struct weft_spirv_writer writer = {.words = weft_alloc(hide->host, most * sizeof(uint32_t))};
    if (!writer.words) {
        return weft_fail_memory(hide->host, "SPIR-V module");
    }
    if (hide->variable != 0 && hide->functions != 0) {
        put_module(&writer, hide);
    } else {
        weft_spirv_put_words(&writer, hide->source, hide->count);
    }
    *words = writer.words;
    *size = writer.count * sizeof(uint32_t);
    return WEFT_OK;
}

weft_status weft_spirv_hide_zeros(uint32_t **words, size_t *size, const uint32_t *source,
                                  size_t source_size, const weft_host *host) {
    const uint32_t bound = source[WEFT_SPIRV_AT_BOUND];
    struct hide hide = {
        .source = source, .count = source_size / 4, .bound = bound, .next_id = bound, .host = host};
    hide.ids = weft_alloc_zero(host, bound, sizeof *hide.ids);
    if (!hide.ids) {
        return weft_fail_memory(host, "SPIR-V ids");
    }
    const weft_status status = rewrite(words, size, &hide);
    weft_free(host, hide.ids);
    return status;
}
