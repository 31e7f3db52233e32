/* SPDX-License-Identifier: MIT */
/* Operations over subgroups: those of its invocations that run, in their order. */
#include <math.h>

#include "interpret/group.h"
#include "interpret/number.h"

/* ---- two values into one ---- */

static uint32_t as_float(uint32_t op, uint32_t a, uint32_t b) {
    switch (op) {
    case SpvOpGroupNonUniformFAdd:
        return word(number(a) + number(b));
    case SpvOpGroupNonUniformFMul:
        return word(number(a) * number(b));
    case SpvOpGroupNonUniformFMin:
        return number(a) < number(b) ? a : b;
    default:
        return number(a) > number(b) ? a : b;
    }
}

static uint32_t combine(uint32_t op, uint32_t a, uint32_t b) {
    switch (op) {
    case SpvOpGroupNonUniformIAdd:
        return a + b;
    case SpvOpGroupNonUniformIMul:
        return a * b;
    case SpvOpGroupNonUniformSMin:
        return (int32_t)a < (int32_t)b ? a : b;
    case SpvOpGroupNonUniformUMin:
        return a < b ? a : b;
    case SpvOpGroupNonUniformSMax:
        return (int32_t)a > (int32_t)b ? a : b;
    case SpvOpGroupNonUniformUMax:
        return a > b ? a : b;
    case SpvOpGroupNonUniformBitwiseAnd:
    case SpvOpGroupNonUniformLogicalAnd:
        return a & b;
    case SpvOpGroupNonUniformBitwiseOr:
    case SpvOpGroupNonUniformLogicalOr:
        return a | b;
    case SpvOpGroupNonUniformBitwiseXor:
    case SpvOpGroupNonUniformLogicalXor:
        return a ^ b;
    default:
        return as_float(op, a, b);
    }
}

/* ---- one subgroup ---- */

/* Its invocations that run. */
struct subgroup {
    uint32_t lanes[WEFT_IR_MAX_INVOCATIONS];
    uint32_t count;
};

static void scan(const struct subgroup *subgroup, const struct weft_ir_instruction *instruction,
                 uint32_t *d, const uint32_t *a) {
    enum { REDUCE, INCLUSIVE };
    const uint32_t op = instruction->variant;
    const uint32_t operation = instruction->place;
    uint32_t total = (uint32_t)weft_ir_identity(op, instruction->type);
    for (uint32_t i = 0; i < subgroup->count; i++) {
        const uint32_t lane = subgroup->lanes[i];
        const uint32_t before = total;
        total = i == 0 ? a[lane] : combine(op, total, a[lane]);
        d[lane] = operation == INCLUSIVE ? total : before;
    }
    for (uint32_t i = 0; operation == REDUCE && i < subgroup->count; i++) {
        d[subgroup->lanes[i]] = total;
    }
}

static bool votes(const struct subgroup *subgroup, uint32_t op, const uint32_t *a, bool is_float) {
    const uint32_t first = a[subgroup->lanes[0]];
    bool any = false, all = true, alike = true;
    for (uint32_t i = 0; i < subgroup->count; i++) {
        const uint32_t value = a[subgroup->lanes[i]];
        any = any || value != 0;
        all = all && value != 0;
        alike = alike && (is_float ? number(value) == number(first) : value == first);
    }
    return op == SpvOpGroupNonUniformAny ? any : op == SpvOpGroupNonUniformAll ? all : alike;
}

static void run_one(const struct weft_interpret_group *group,
                    const struct weft_ir_instruction *instruction,
                    const struct subgroup *subgroup) {
    const uint32_t op = instruction->variant;
    const uint32_t first = subgroup->lanes[0];
    const uint32_t size = group->kernel->program.lanes;
    uint32_t *d = weft_interpret_value(group, instruction->result);
    const uint32_t *a =
        op != SpvOpGroupNonUniformElect ? weft_interpret_operand(group, instruction, 0) : NULL;
    if (op >= SpvOpGroupNonUniformIAdd) {
        scan(subgroup, instruction, d, a);
        return;
    }
    uint32_t made = 0;
    if (op == SpvOpGroupNonUniformBroadcast) {
        const uint32_t lane = weft_interpret_operand(group, instruction, 1)[first] % size;
        made = a[first / size * size + lane];
    } else if (op == SpvOpGroupNonUniformBroadcastFirst) {
        made = a[first];
    } else if (op != SpvOpGroupNonUniformElect) {
        const weft_ir_value value = weft_interpret_argument(group, instruction, 0);
        made = votes(subgroup, op, a, weft_ir_is_float(group->kernel->program.values[value].type));
    }
    for (uint32_t i = 0; i < subgroup->count; i++) {
        d[subgroup->lanes[i]] = op == SpvOpGroupNonUniformElect ? i == 0 : made;
    }
}

void weft_interpret_subgroups(struct weft_interpret_group *group,
                              const struct weft_ir_instruction *instruction) {
    const uint32_t size = group->kernel->program.lanes;
    struct subgroup subgroup;
    uint32_t item = 0;
    while (item < group->active.count) {
        const uint32_t number = weft_interpret_lane(&group->active, item) / size;
        subgroup.count = 0;
        while (item < group->active.count &&
               weft_interpret_lane(&group->active, item) / size == number) {
            subgroup.lanes[subgroup.count++] = weft_interpret_lane(&group->active, item++);
        }
        run_one(group, instruction, &subgroup);
    }
}
