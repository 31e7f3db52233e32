/* SPDX-License-Identifier: MIT */
/*
 * Which values are one scalar for a subgroup, which count up from lane to lane, and which differ; and which branches
 * the lanes of a subgroup can take differently. Both follow from each other, so both begin with the best that could be
 * and are lowered until nothing changes. The invocations of a subgroup have consecutive gl_LocalInvocationIndex, of
 * which the first is a multiple of the lanes. Where a row of the workgroup is shorter than that, as where few columns are
 * transformed at a time, its lanes are a run, and a value can count up within runs and from one to the next by different steps.
 */
#include "native/llvm/analysis.h"

#include "spirv/check.h"

#define MOST_ALIGN 31u

static const struct weft_ir_shape varying = {.kind = WEFT_IR_VARYING};

static uint8_t least(uint8_t a, uint8_t b) {
    return a < b ? a : b;
}

static struct weft_ir_shape uniform(uint32_t align) {
    return (struct weft_ir_shape){.kind = WEFT_IR_UNIFORM,
                                  .align = (uint8_t)(align < MOST_ALIGN ? align : MOST_ALIGN)};
}

static bool is_wide(int64_t number) {
    return number > INT32_MAX || number < INT32_MIN;
}

static struct weft_ir_shape linear(int64_t stride, int64_t outer, uint32_t align) {
    if (stride == 0 && outer == 0) {
        return uniform(align);
    }
    if (is_wide(stride) || is_wide(outer)) {
        return varying;
    }
    return (struct weft_ir_shape){.kind = WEFT_IR_LINEAR,
                                  .align = (uint8_t)(align < MOST_ALIGN ? align : MOST_ALIGN),
                                  .stride = (int32_t)stride,
                                  .outer = (int32_t)outer};
}

/* The number of the lane, plus what is one for all. */
static struct weft_ir_shape counting(const struct weft_ir_program *program, uint32_t align) {
    return linear(1, program->run < program->lanes ? program->run : 0, align);
}

int64_t weft_ir_lane_offset(const struct weft_ir_program *program, struct weft_ir_shape shape,
                            uint32_t lane) {
    return (int64_t)shape.stride * (lane % program->run) +
           (int64_t)shape.outer * (lane / program->run);
}

bool weft_ir_is_even(const struct weft_ir_program *program, struct weft_ir_shape shape) {
    return program->run == program->lanes || shape.outer == (int64_t)shape.stride * program->run;
}

static struct weft_ir_shape join(struct weft_ir_shape a, struct weft_ir_shape b) {
    if (a.kind == WEFT_IR_UNKNOWN) {
        return b;
    }
    if (b.kind == WEFT_IR_UNKNOWN) {
        return a;
    }
    if (a.kind != b.kind || a.stride != b.stride || a.outer != b.outer ||
        a.kind == WEFT_IR_VARYING) {
        return varying;
    }
    a.align = least(a.align, b.align);
    return a;
}

static bool same(struct weft_ir_shape a, struct weft_ir_shape b) {
    return a.kind == b.kind && a.stride == b.stride && a.outer == b.outer && a.align == b.align;
}

/* ---- inputs ---- */

/* The component of gl_LocalInvocationID along one dimension, where `inner` invocations share each value in turn. */
static struct weft_ir_shape local_id(const struct weft_ir_program *program, uint32_t dimension) {
    const uint32_t *size = program->local_size;
    const uint32_t lanes = program->lanes;
    uint32_t inner = 1;
    for (uint32_t i = 0; i < dimension; i++) {
        inner *= size[i];
    }
    uint32_t outer = 1;
    for (uint32_t i = dimension + 1; i < 3; i++) {
        outer *= size[i];
    }
    if (size[dimension] == 1) {
        return uniform(MOST_ALIGN);
    }
    if (inner % lanes == 0) {
        return uniform(0);
    }
    if (inner == 1 && (size[dimension] % lanes == 0 || outer == 1)) {
        return counting(program, weft_ir_align_of(lanes));
    }
    const uint32_t runs = lanes / program->run;
    if (runs > 1 && dimension == 0) {
        return linear(1, 0, MOST_ALIGN);
    }
    if (runs > 1 && inner == program->run && (size[dimension] % runs == 0 || outer == 1)) {
        return linear(0, 1, weft_ir_align_of(runs));
    }
    return varying;
}

static struct weft_ir_shape input_shape(const struct weft_ir_program *program,
                                        const struct weft_ir_instruction *instruction) {
    switch (instruction->root) {
    case SpvBuiltInLocalInvocationId:
        return instruction->place < 3 ? local_id(program, instruction->place) : varying;
    case SpvBuiltInGlobalInvocationId: {
        struct weft_ir_shape shape =
            instruction->place < 3 ? local_id(program, instruction->place) : varying;
        const uint32_t size = instruction->place < 3 ? program->local_size[instruction->place] : 1;
        shape.align = least(shape.align, weft_ir_align_of(size));
        return shape;
    }
    case SpvBuiltInLocalInvocationIndex:
        return counting(program, weft_ir_align_of(program->lanes));
    case SpvBuiltInSubgroupLocalInvocationId:
        return counting(program, MOST_ALIGN);
    default:
        return uniform(0);
    }
}

/* ---- arithmetic ---- */

/*
 * Shape of a linear value after division or remainder by a constant, when all lanes, or those of a run, have the same
 * quotient.
 */
static bool divide_linear(struct weft_ir_shape *shape, const struct weft_ir_program *program,
                          const struct weft_ir_def *a, uint64_t divisor, bool remainder) {
    const struct weft_ir_shape x = a->shape;
    if (x.kind != WEFT_IR_LINEAR || x.stride < 0 || x.outer < 0 || divisor == 0 ||
        divisor > UINT32_MAX) {
        return false;
    }
    const uint32_t align = least(x.align, weft_ir_align_of(divisor));
    const int64_t block = INT64_C(1) << align;
    const int64_t span = weft_ir_lane_offset(program, x, program->lanes - 1);
    if (span < block) {
        *shape = remainder ? linear(x.stride, x.outer, align) : uniform(0);
        return true;
    }
    /* Not where what later runs have may wrap around. */
    if (weft_ir_lane_offset(program, x, program->run - 1) >= block ||
        (uint64_t)x.outer % divisor != 0 || a->most > INT32_MAX || span > INT32_MAX) {
        return false;
    }
    *shape = remainder ? linear(x.stride, 0, align) : linear(0, x.outer / (int64_t)divisor, 0);
    return true;
}

static bool multiply_linear(struct weft_ir_shape *shape, const struct weft_ir_def *a,
                            const struct weft_ir_def *b) {
    const struct weft_ir_def *constant = a->constant ? a : b;
    const struct weft_ir_shape x = (a->constant ? b : a)->shape;
    if (!constant->constant) {
        return false;
    }
    const int64_t factor = (int32_t)constant->bits;
    *shape = linear(x.stride * factor, x.outer * factor, (uint32_t)x.align + constant->shape.align);
    return true;
}

static bool integer_shape(struct weft_ir_shape *shape, const struct weft_ir_program *program,
                          uint32_t op, const struct weft_ir_def *a, const struct weft_ir_def *b) {
    const struct weft_ir_shape x = a->shape;
    const struct weft_ir_shape y = b->shape;
    if (x.kind == WEFT_IR_VARYING || y.kind == WEFT_IR_VARYING) {
        return false;
    }
    const uint32_t align = least(x.align, y.align);
    switch (op) {
    case SpvOpIAdd:
        *shape = linear((int64_t)x.stride + y.stride, (int64_t)x.outer + y.outer, align);
        return true;
    case SpvOpISub:
        *shape = linear((int64_t)x.stride - y.stride, (int64_t)x.outer - y.outer, align);
        return true;
    case SpvOpIMul:
        if (x.kind == WEFT_IR_UNIFORM && y.kind == WEFT_IR_UNIFORM) {
            *shape = uniform((uint32_t)x.align + y.align);
            return true;
        }
        return multiply_linear(shape, a, b);
    case SpvOpShiftLeftLogical:
        if (!b->constant || b->bits >= MOST_ALIGN) {
            return false;
        }
        *shape = linear(x.stride * (INT64_C(1) << b->bits), x.outer * (INT64_C(1) << b->bits),
                        x.align + (uint32_t)b->bits);
        return true;
    case SpvOpUDiv:
        return b->constant && divide_linear(shape, program, a, b->bits, false);
    case SpvOpShiftRightLogical:
        return b->constant && b->bits < MOST_ALIGN &&
               divide_linear(shape, program, a, UINT64_C(1) << b->bits, false);
    case SpvOpUMod:
        return b->constant && divide_linear(shape, program, a, b->bits, true);
    case SpvOpBitwiseAnd: {
        const struct weft_ir_def *mask = b->constant ? b : a;
        const struct weft_ir_def *value = b->constant ? a : b;
        return mask->constant && (mask->bits & (mask->bits + 1)) == 0 &&
               divide_linear(shape, program, value, mask->bits + 1, true);
    }
    default:
        return false;
    }
}

static struct weft_ir_shape arithmetic_shape(const struct weft_ir_program *program,
                                             const struct weft_ir_instruction *instruction) {
    const weft_ir_value *arguments = program->arguments + instruction->arguments;
    struct weft_ir_shape shape = uniform(0);
    bool all_uniform = true;
    bool unknown = false;
    for (uint32_t i = 0; i < instruction->argument_count; i++) {
        const struct weft_ir_shape argument = program->values[arguments[i]].shape;
        all_uniform = all_uniform && argument.kind <= WEFT_IR_UNIFORM;
        unknown = unknown || argument.kind == WEFT_IR_UNKNOWN;
    }
    if (unknown) {
        return (struct weft_ir_shape){.kind = WEFT_IR_UNKNOWN};
    }
    const struct weft_ir_def *a = &program->values[arguments[0]];
    if (instruction->argument_count == 2 && instruction->type == WEFT_IR_I32 &&
        integer_shape(&shape, program, instruction->op, a, &program->values[arguments[1]])) {
        return shape;
    }
    if (instruction->op == SpvOpBitcast && !weft_ir_is_float(instruction->type) &&
        !weft_ir_is_float(a->type)) {
        return a->shape;
    }
    if (instruction->op == SpvOpSelect && a->shape.kind == WEFT_IR_UNIFORM) {
        return join(program->values[arguments[1]].shape, program->values[arguments[2]].shape);
    }
    return all_uniform ? uniform(0) : varying;
}

/* ---- one instruction ---- */

static struct weft_ir_shape index_of(const struct weft_ir_program *program,
                                     const struct weft_ir_instruction *instruction) {
    const weft_ir_value index = program->arguments[instruction->arguments];
    return index == 0 ? uniform(MOST_ALIGN) : program->values[index].shape;
}

static struct weft_ir_shape result_shape(const struct weft_ir_program *program,
                                         const struct weft_ir_instruction *instruction,
                                         uint32_t result) {
    switch (instruction->op) {
    case WEFT_IR_INPUT:
        return input_shape(program, instruction);
    case WEFT_IR_LOAD: {
        const struct weft_ir_shape index = index_of(program, instruction);
        return index.kind == WEFT_IR_UNKNOWN   ? index
               : index.kind == WEFT_IR_UNIFORM ? uniform(0)
                                               : varying;
    }
    case WEFT_IR_GET: {
        const struct weft_ir_variable *variable = &program->variables[instruction->root];
        const uint32_t slot =
            variable->first + (variable->indexed ? 0 : instruction->place + result);
        return index_of(program, instruction).kind > WEFT_IR_UNIFORM ? varying
                                                                     : program->slots[slot].shape;
    }
    case WEFT_IR_ATOMIC:
        return varying;
    case WEFT_IR_LENGTH:
        return uniform(0);
    case WEFT_IR_SUBGROUP:
        return instruction->variant == SpvOpGroupNonUniformElect || instruction->place != 0
                   ? varying
                   : uniform(0);
    default:
        return arithmetic_shape(program, instruction);
    }
}

static bool set_slots(struct weft_ir_program *program,
                      const struct weft_ir_instruction *instruction, uint32_t list) {
    const struct weft_ir_variable *variable = &program->variables[instruction->root];
    const bool scattered = index_of(program, instruction).kind > WEFT_IR_UNIFORM;
    bool news = false;
    for (uint32_t i = 0; i < instruction->n; i++) {
        struct weft_ir_slot *slot =
            &program->slots[variable->first + (variable->indexed ? 0 : instruction->place + i)];
        struct weft_ir_shape shape =
            program->values[program->arguments[instruction->arguments + 1 + i]].shape;
        if (shape.kind != WEFT_IR_UNKNOWN &&
            (scattered || weft_ir_store_is_partial(program, list, slot))) {
            shape = varying;
        }
        shape = join(slot->shape, shape);
        news = news || !same(shape, slot->shape);
        slot->shape = shape;
    }
    return news;
}

/* Gives each lane its own elements of a variable of which lanes read different elements. */
static bool get_slots(struct weft_ir_program *program,
                      const struct weft_ir_instruction *instruction) {
    struct weft_ir_slot *slot = &program->slots[program->variables[instruction->root].first];
    if (index_of(program, instruction).kind <= WEFT_IR_UNIFORM || same(slot->shape, varying)) {
        return false;
    }
    slot->shape = varying;
    return true;
}

static bool visit_code(struct weft_ir_program *program, const struct weft_ir_node *node) {
    bool news = false;
    for (uint32_t i = node->first; i < node->first + node->count; i++) {
        const struct weft_ir_instruction *instruction = &program->instructions[i];
        if (instruction->op == WEFT_IR_SET) {
            news = set_slots(program, instruction, node->list) || news;
            continue;
        }
        if (instruction->op == WEFT_IR_GET) {
            news = get_slots(program, instruction) || news;
        }
        for (uint32_t k = 0; instruction->result != 0 && k < instruction->n; k++) {
            struct weft_ir_def *def = &program->values[instruction->result + k];
            const struct weft_ir_shape shape = result_shape(program, instruction, k);
            news = news || !same(shape, def->shape);
            def->shape = shape;
        }
    }
    return news;
}

/* ---- control ---- */

static bool raise(bool *flag, bool value) {
    const bool news = value && !*flag;
    *flag = *flag || value;
    return news;
}

/* A jump that part of the lanes take. */
static bool visit_jump(struct weft_ir_program *program, const struct weft_ir_node *jump) {
    bool partial = false;
    bool news = false;
    uint32_t owner = program->lists[jump->list].owner;
    while (owner != jump->target) {
        struct weft_ir_node *node = &program->nodes[owner];
        if (node->kind == WEFT_IR_LOOP && partial) {
            news = raise(&node->divergent, true) || news;
        }
        partial = partial || node->divergent;
        node->leaks = node->leaks || partial;
        owner = program->lists[node->list].owner;
    }
    struct weft_ir_node *target = &program->nodes[jump->target];
    news =
        raise(jump->to_latch ? &target->latch_diverges : &target->exit_diverges, partial) || news;
    if (target->kind == WEFT_IR_LOOP && !jump->to_latch) {
        news = raise(&target->divergent, partial) || news;
    }
    return news;
}

static bool visit(struct weft_ir_program *program) {
    bool news = false;
    for (uint32_t i = 0; i < program->node_count; i++) {
        struct weft_ir_node *node = &program->nodes[i];
        if (node->kind == WEFT_IR_CODE) {
            news = visit_code(program, node) || news;
        } else if (node->kind == WEFT_IR_IF && !node->workgroup) {
            news = raise(&node->divergent,
                         program->values[node->condition].shape.kind == WEFT_IR_VARYING) ||
                   news;
        } else if (node->kind == WEFT_IR_JUMP) {
            news = visit_jump(program, node) || news;
        }
    }
    return news;
}

bool weft_ir_store_is_partial(const struct weft_ir_program *program, uint32_t list,
                              const struct weft_ir_slot *slot) {
    /* A variable set before its loop is set by all lanes that reach the loop. */
    const uint32_t home = slot->in_loop ? program->nodes[slot->home].list : slot->home;
    for (;;) {
        const uint32_t owner = program->lists[list].owner;
        if (list == home || owner == WEFT_IR_NONE) {
            return false;
        }
        const struct weft_ir_node *node = &program->nodes[owner];
        const bool in_body = list == node->lists[0];
        if (slot->in_loop && owner == slot->home) {
            return in_body && node->latch_diverges;
        }
        if (node->divergent || (node->kind == WEFT_IR_SCOPE && node->exit_diverges) ||
            (node->kind == WEFT_IR_LOOP && in_body && node->latch_diverges)) {
            return true;
        }
        list = node->list;
    }
}

/* Rows of a workgroup that a vector has several of, whole. */
static uint32_t run_of(const struct weft_ir_program *program) {
    const uint32_t *size = program->local_size;
    const bool rows = size[0] > 1 && size[0] < program->lanes && size[1] * size[2] > 1;
    return rows && program->lanes % size[0] == 0 ? size[0] : program->lanes;
}

void weft_ir_find_shapes(struct weft_ir_program *program) {
    program->run = run_of(program);
    while (program->status == WEFT_OK && visit(program)) {
    }
    /* Values that nothing ever sets may be anything. */
    for (uint32_t i = 0; i < program->value_count; i++) {
        if (program->values[i].shape.kind == WEFT_IR_UNKNOWN) {
            program->values[i].shape = uniform(0);
        }
    }
    for (uint32_t i = 0; i < program->slot_count; i++) {
        if (program->slots[i].shape.kind == WEFT_IR_UNKNOWN) {
            program->slots[i].shape = uniform(0);
        }
    }
}
