/* SPDX-License-Identifier: MIT */
/*
 * Zeros on devices whose compilers take x * 0 for 0 and x + 0 for x where they see the zero, which is wrong for infinities, NaN and -0, and
 * which no execution mode keeps them from. (Mesa is one: gallivm's lp_build_mul in lavapipe 22.3 compares its operands with the constant
 * zero, and lavapipe 25.0 still makes x of x + 0 and -x of 0 - x; both say that they preserve signed zeros.) What such a compiler cannot see
 * it cannot fold: the zero is what remains of an invocation's number when all 31 bits that it may have are shifted out.
 *
 * Each use of a float32 zero in a function - an OpConstant of either sign, an OpConstantNull that is a float or a vector of them, a vector
 * OpConstantComposite with such a component - becomes the use of a value that is made at the start of the function from
 * LocalInvocationIndex, LocalInvocationId, WorkgroupId or GlobalInvocationId, numbers below 2^31 in every dispatch that Vulkan devices and
 * Weft allow. Costs a few integer instructions an invocation, and what the compiler would have made of the zeros.
 *
 * Left as they are: zeros in constants that are structures or arrays, in specialization constants and in initializers of variables, and
 * zeros that compilers work out for themselves, from integers for instance; and a module that has none of these variables in the interface
 * of all its entry points. Exact for the instructions whose layout is known (spirv/grammar.h), which are those that the lint allows.
 */
#include "spirv/passes/passes.h"

#define MAX_WIDTH   4u  /* components of a vector */
#define NUMBER_BITS 31u /* that a number of an invocation may have */
#define SIGN        0x80000000u

/* Kinds of constants. */
enum zero { NO_ZERO = 0, PLUS_ZERO, MINUS_ZERO, ZERO_VECTOR };

/* Facts about an id. */
struct id {
    uint8_t zero;             /* enum zero; if it is one, in the last function that uses it: */
    const uint32_t *function; /* where that starts */
    uint32_t stand_in;        /* the value in its place */
    uint32_t next;            /* another zero of the function, or 0 */
};

struct hide {
    struct weft_spirv_edit *edit;
    const struct weft_spirv_module *module;
    struct id *ids;
    struct weft_spirv_input input; /* a number of the invocation */
    uint32_t float_type;
    uint32_t shift;  /* a new constant; the next id is the sign */
    uint32_t marked; /* the last zero that was found in a function, or 0 */
};

static enum zero zero_of(const struct hide *hide, const uint32_t *constant) {
    const struct weft_spirv_shape shape = weft_spirv_shape_of(hide->module, constant[1]);
    if (shape.kind != WEFT_SPIRV_FLOAT) {
        return NO_ZERO;
    }
    switch (weft_spirv_opcode(constant[0])) {
    case SpvOpConstant:
        return (constant[3] & ~SIGN) != 0 ? NO_ZERO : constant[3] == 0 ? PLUS_ZERO : MINUS_ZERO;
    case SpvOpConstantNull:
        return shape.width == 1 ? PLUS_ZERO : ZERO_VECTOR;
    case SpvOpConstantComposite:
        for (uint32_t i = 3; i < weft_spirv_length(constant[0]); i++) {
            if (hide->ids[constant[i]].zero != NO_ZERO) {
                return weft_spirv_length(constant[0]) == 3 + shape.width ? ZERO_VECTOR : NO_ZERO;
            }
        }
        return NO_ZERO;
    default:
        return NO_ZERO;
    }
}

/* True if there is a zero, and a number to make it of. */
static bool survey(struct hide *hide) {
    static const SpvBuiltIn preferred[] = {SpvBuiltInLocalInvocationIndex,
                                           SpvBuiltInLocalInvocationId, SpvBuiltInWorkgroupId,
                                           SpvBuiltInGlobalInvocationId};
    bool found = false;
    for (size_t i = 0; i < sizeof preferred / sizeof preferred[0] && !found; i++) {
        found = weft_spirv_find_input(&hide->input, hide->module, preferred[i]);
    }
    WEFT_SPIRV_EACH(instruction, hide->module, WEFT_SPIRV_DECLARATIONS) {
        const uint32_t opcode = weft_spirv_opcode(instruction[0]);
        if (opcode >= SpvOpConstant && opcode <= SpvOpConstantNull) {
            hide->ids[instruction[2]].zero = (uint8_t)zero_of(hide, instruction);
        } else if (opcode == SpvOpTypeFloat && instruction[2] == 32) {
            hide->float_type = instruction[1];
        }
    }
    return found && hide->float_type != 0;
}

/* Makes a list of the zeros that an instruction of a function uses, or, in a `later` round, puts their stand-ins there. */
static void visit(struct hide *hide, const uint32_t *instruction, const uint32_t *function,
                  bool later) {
    const uint32_t length = weft_spirv_length(instruction[0]);
    const struct weft_spirv_layout layout = weft_spirv_layout(weft_spirv_opcode(instruction[0]));
    for (uint32_t i = layout.first; i < length; i++) {
        const uint32_t id = instruction[i];
        if (!weft_spirv_is_id(&layout, i) || id >= hide->module->bound ||
            hide->ids[id].zero == NO_ZERO) {
            continue;
        }
        if (later) {
            weft_spirv_set_word(hide->edit, instruction, i, hide->ids[id].stand_in);
        } else if (hide->ids[id].function != function) {
            hide->ids[id].function = function;
            hide->ids[id].next = hide->marked;
            hide->marked = id;
        }
    }
}

/* +0 and -0 of a function, of which it may need only one, or only for vectors. */
static void put_scalars(struct hide *hide, uint32_t *plus, uint32_t *minus) {
    struct weft_spirv_edit *edit = hide->edit;
    const struct weft_spirv_input *input = &hide->input;
    const uint32_t integer = input->shape.scalar;
    const uint32_t loaded = weft_spirv_new_ids(edit, 1);
    uint32_t number = loaded;
    WEFT_SPIRV_PUT(edit, SpvOpLoad, input->type, loaded, input->variable);
    if (input->type != integer) {
        number = weft_spirv_new_ids(edit, 1);
        WEFT_SPIRV_PUT(edit, SpvOpCompositeExtract, integer, number, loaded, 0);
    }
    const uint32_t plus_bits = weft_spirv_new_ids(edit, 4);
    const uint32_t minus_bits = plus_bits + 1;
    *plus = plus_bits + 2;
    *minus = plus_bits + 3;
    WEFT_SPIRV_PUT(edit, SpvOpShiftRightLogical, integer, plus_bits, number, hide->shift);
    WEFT_SPIRV_PUT(edit, SpvOpBitwiseOr, integer, minus_bits, plus_bits, hide->shift + 1);
    WEFT_SPIRV_PUT(edit, SpvOpBitcast, hide->float_type, *plus, plus_bits);
    WEFT_SPIRV_PUT(edit, SpvOpBitcast, hide->float_type, *minus, minus_bits);
}

/* A vector of the constant's components, with hidden zeros. */
static uint32_t put_vector(struct hide *hide, uint32_t zero, uint32_t plus, uint32_t minus) {
    const uint32_t *constant = hide->module->words + hide->module->ids[zero].at;
    const bool is_null = weft_spirv_opcode(constant[0]) == SpvOpConstantNull;
    const uint32_t width = weft_spirv_shape_of(hide->module, constant[1]).width;
    uint32_t operands[2 + MAX_WIDTH] = {constant[1], weft_spirv_new_ids(hide->edit, 1)};
    for (uint32_t i = 0; i < width; i++) {
        const uint32_t component = is_null ? 0 : constant[3 + i];
        const uint8_t kind = is_null ? PLUS_ZERO : hide->ids[component].zero;
        operands[2 + i] = kind == PLUS_ZERO ? plus : kind == MINUS_ZERO ? minus : component;
    }
    weft_spirv_put_op(hide->edit, SpvOpCompositeConstruct, 2 + width, operands);
    return operands[1];
}

/* Writes the stand-ins for the marked zeros of a function. */
static void put_stand_ins(struct hide *hide) {
    uint32_t plus = 0;
    uint32_t minus = 0;
    put_scalars(hide, &plus, &minus);
    for (uint32_t id = hide->marked; id != 0; id = hide->ids[id].next) {
        struct id *zero = &hide->ids[id];
        zero->stand_in = zero->zero == ZERO_VECTOR ? put_vector(hide, id, plus, minus)
                         : zero->zero == PLUS_ZERO ? plus
                                                   : minus;
    }
}

/* True if an instruction is at the start of a function, where no other may come between. */
static bool is_at_start(uint32_t opcode) {
    return opcode == SpvOpFunction || opcode == SpvOpFunctionParameter || opcode == SpvOpLabel ||
           opcode == SpvOpVariable || opcode == SpvOpLine || opcode == SpvOpNoLine;
}

static void hide_in_function(struct hide *hide, const uint32_t *function) {
    const uint32_t *start = NULL; /* of what is not at the start */
    hide->marked = 0;
    for (int later = 0; later < (hide->marked != 0 ? 2 : 1); later++) {
        uint32_t opcode = 0;
        for (const uint32_t *i = function; opcode != SpvOpFunctionEnd; i = weft_spirv_next(i)) {
            opcode = weft_spirv_opcode(i[0]);
            start = !start && !is_at_start(opcode) ? i : start;
            visit(hide, i, function, later != 0);
        }
        if (later == 0 && hide->marked != 0) {
            weft_spirv_insert_before(hide->edit, start);
            put_stand_ins(hide);
        }
    }
}

weft_status weft_spirv_hide_zeros(struct weft_spirv_edit *edit) {
    const struct weft_spirv_module *module = &edit->module;
    struct hide hide = {.edit = edit, .module = module};
    hide.ids = weft_alloc_zero(module->host, module->bound, sizeof *hide.ids);
    if (!hide.ids) {
        return weft_fail_memory(module->host, "SPIR-V ids");
    }
    if (survey(&hide)) {
        hide.shift = weft_spirv_new_ids(edit, 2);
        weft_spirv_insert_into(edit, WEFT_SPIRV_DECLARATIONS);
        WEFT_SPIRV_PUT(edit, SpvOpConstant, hide.input.shape.scalar, hide.shift, NUMBER_BITS);
        WEFT_SPIRV_PUT(edit, SpvOpConstant, hide.input.shape.scalar, hide.shift + 1, SIGN);
        WEFT_SPIRV_EACH(instruction, module, WEFT_SPIRV_FUNCTIONS) {
            if (weft_spirv_opcode(instruction[0]) == SpvOpFunction) {
                hide_in_function(&hide, instruction);
            }
        }
    }
    weft_free(module->host, hide.ids);
    return WEFT_OK;
}
