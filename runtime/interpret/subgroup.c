/* SPDX-License-Identifier: MIT */
/* Operations over subgroups: those of its invocations that run, in their order. */
#include <math.h>

#include "interpret/group.h"
#include "interpret/number.h"

/* ---- two values into one ---- */

static uint32_t as_float(uint32_t op, uint32_t a, uint32_t b) {
    switch (op) {
    case WEFT_OP_GROUP_NON_UNIFORM_F_ADD:
        return word(number(a) + number(b));
    case WEFT_OP_GROUP_NON_UNIFORM_F_MUL:
        return word(number(a) * number(b));
    case WEFT_OP_GROUP_NON_UNIFORM_F_MIN:
        return number(a) < number(b) ? a : b;
    default:
        return number(a) > number(b) ? a : b;
    }
}

static uint32_t combine(uint32_t op, uint32_t a, uint32_t b) {
    switch (op) {
    case WEFT_OP_GROUP_NON_UNIFORM_I_ADD:
        return a + b;
    case WEFT_OP_GROUP_NON_UNIFORM_I_MUL:
        return a * b;
    case WEFT_OP_GROUP_NON_UNIFORM_S_MIN:
        return (int32_t)a < (int32_t)b ? a : b;
    case WEFT_OP_GROUP_NON_UNIFORM_U_MIN:
        return a < b ? a : b;
    case WEFT_OP_GROUP_NON_UNIFORM_S_MAX:
        return (int32_t)a > (int32_t)b ? a : b;
    case WEFT_OP_GROUP_NON_UNIFORM_U_MAX:
        return a > b ? a : b;
    case WEFT_OP_GROUP_NON_UNIFORM_BITWISE_AND:
    case WEFT_OP_GROUP_NON_UNIFORM_LOGICAL_AND:
        return a & b;
    case WEFT_OP_GROUP_NON_UNIFORM_BITWISE_OR:
    case WEFT_OP_GROUP_NON_UNIFORM_LOGICAL_OR:
        return a | b;
    case WEFT_OP_GROUP_NON_UNIFORM_BITWISE_XOR:
    case WEFT_OP_GROUP_NON_UNIFORM_LOGICAL_XOR:
        return a ^ b;
    default:
        return as_float(op, a, b);
    }
}

/* What leaves the other operand as it is. */
static uint32_t identity(uint32_t op) {
    switch (op) {
    case WEFT_OP_GROUP_NON_UNIFORM_I_MUL:
        return 1;
    case WEFT_OP_GROUP_NON_UNIFORM_F_ADD:
        return SIGN_BIT; /* -0 */
    case WEFT_OP_GROUP_NON_UNIFORM_F_MUL:
        return word(1.0F);
    case WEFT_OP_GROUP_NON_UNIFORM_F_MIN:
        return word(INFINITY);
    case WEFT_OP_GROUP_NON_UNIFORM_F_MAX:
        return word(-INFINITY);
    case WEFT_OP_GROUP_NON_UNIFORM_U_MIN:
    case WEFT_OP_GROUP_NON_UNIFORM_BITWISE_AND:
        return UINT32_MAX;
    case WEFT_OP_GROUP_NON_UNIFORM_LOGICAL_AND:
        return 1;
    case WEFT_OP_GROUP_NON_UNIFORM_S_MIN:
        return INT32_MAX;
    case WEFT_OP_GROUP_NON_UNIFORM_S_MAX:
        return SIGN_BIT;
    default:
        return 0;
    }
}

/* ---- one subgroup ---- */

/* Its invocations that run. */
struct subgroup {
    uint32_t lanes[WEFT_IR_MAX_INVOCATIONS];
    uint32_t count;
};

static void scan(const struct subgroup *subgroup, uint32_t op, uint32_t operation, uint32_t *d,
                 const uint32_t *a) {
    enum { REDUCE, INCLUSIVE };
    uint32_t total = identity(op);
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
    return op == WEFT_OP_GROUP_NON_UNIFORM_ANY   ? any
           : op == WEFT_OP_GROUP_NON_UNIFORM_ALL ? all
                                                 : alike;
}

static void run_one(const struct weft_interpret_group *group,
                    const struct weft_ir_instruction *instruction,
                    const struct subgroup *subgroup) {
    const uint32_t op = instruction->variant;
    const uint32_t first = subgroup->lanes[0];
    const uint32_t size = group->kernel->program.lanes;
    uint32_t *d = weft_interpret_value(group, instruction->result);
    const uint32_t *a =
        instruction->argument_count > 0 ? weft_interpret_operand(group, instruction, 0) : NULL;
    if (op >= WEFT_OP_GROUP_NON_UNIFORM_I_ADD) {
        scan(subgroup, op, instruction->place, d, a);
        return;
    }
    uint32_t made = 0;
    if (op == WEFT_OP_GROUP_NON_UNIFORM_BROADCAST) {
        const uint32_t lane = weft_interpret_operand(group, instruction, 1)[first] % size;
        made = a[first / size * size + lane];
    } else if (op == WEFT_OP_GROUP_NON_UNIFORM_BROADCAST_FIRST) {
        made = a[first];
    } else if (op != WEFT_OP_GROUP_NON_UNIFORM_ELECT) {
        const weft_ir_value value = weft_interpret_argument(group, instruction, 0);
        made = votes(subgroup, op, a, weft_ir_is_float(group->kernel->program.values[value].type));
    }
    for (uint32_t i = 0; i < subgroup->count; i++) {
        d[subgroup->lanes[i]] = op == WEFT_OP_GROUP_NON_UNIFORM_ELECT ? i == 0 : made;
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
