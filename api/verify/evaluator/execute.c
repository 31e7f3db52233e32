/* SPDX-License-Identifier: MIT */
/*
 * Running a workgroup. The invocations that are at the block with the lowest number go first, all
 * together, so that those which went apart meet again where the module's branches join (blocks come
 * after what dominates them). Any order would give the same results.
 */
#include "verify/evaluator/execute.h"

/* What weft_eval_group.next holds besides blocks. */
#define WAITING  (UINT32_MAX - 1) /* at a barrier */
#define RETURNED UINT32_MAX

static weft_eval_function *const functions[] = {
#define FUNCTION(enumerator, function) [WEFT_EVAL_##enumerator] = weft_eval_op_##function,
    WEFT_EVAL_OPS(FUNCTION)
#undef FUNCTION
};

void weft_eval_fail(struct weft_eval_group *group, const struct weft_eval_fault *fault) {
    if (group->fault.kind == WEFT_EVAL_NO_FAULT) {
        group->fault = *fault;
    }
}

void weft_eval_run(struct weft_eval_group *group, const struct weft_eval_instruction *instructions,
                   uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        functions[instructions[i].op](group, &instructions[i]);
    }
}

static uint32_t lane_at(const struct weft_eval_lanes *lanes, uint32_t item) {
    return lanes->dense ? lanes->first + item : lanes->list[item];
}

static void fail_at(struct weft_eval_group *group, enum weft_eval_fault_kind kind, uint32_t lane) {
    const struct weft_eval_fault fault = {.kind = kind, .lane = lane};
    weft_eval_fail(group, &fault);
}

/* Sends all active invocations to one place. */
static void send(struct weft_eval_group *group, uint32_t place) {
    for (uint32_t item = 0; item < group->active.count; item++) {
        group->next[lane_at(&group->active, item)] = place;
    }
}

/* ---- the ends of blocks: each returns the block of all active invocations, or RETURNED ---- */

/* … also when they went apart, with their places in `next`. */
static uint32_t end_branch(struct weft_eval_group *group, const struct weft_eval_block *block) {
    const struct weft_eval_lanes *lanes = &group->active;
    const uint32_t *condition = weft_eval_row(group, block->slot);
    uint32_t taken = 0;
    for (uint32_t item = 0; item < lanes->count; item++) {
        taken += condition[lane_at(lanes, item)] != 0;
    }
    if (taken == 0 || taken == lanes->count) {
        return block->target[taken == 0];
    }
    for (uint32_t item = 0; item < lanes->count; item++) {
        uint32_t lane = lane_at(lanes, item);
        group->next[lane] = block->target[condition[lane] == 0];
    }
    return RETURNED;
}

static uint32_t end_switch(struct weft_eval_group *group, const struct weft_eval_program *program,
                           const struct weft_eval_block *block) {
    const struct weft_eval_lanes *lanes = &group->active;
    const uint32_t *selector = weft_eval_row(group, block->slot);
    const struct weft_eval_case *cases = program->cases + block->first_case;
    bool together = true;
    for (uint32_t item = 0; item < lanes->count; item++) {
        uint32_t lane = lane_at(lanes, item);
        uint32_t which = 0;
        while (which < block->case_count && cases[which].value != selector[lane]) {
            which++;
        }
        group->next[lane] = which < block->case_count ? cases[which].target : block->target[0];
        together = together && group->next[lane] == group->next[lane_at(lanes, 0)];
    }
    return together ? group->next[lane_at(lanes, 0)] : RETURNED;
}

static uint32_t end_barrier(struct weft_eval_group *group, const struct weft_eval_block *block) {
    for (uint32_t item = 0; item < group->active.count; item++) {
        group->after_barrier[lane_at(&group->active, item)] = block->target[0];
    }
    send(group, WAITING);
    group->running -= group->active.count;
    group->waiting += group->active.count;
    return RETURNED;
}

static uint32_t end_block(struct weft_eval_group *group, const struct weft_eval_program *program,
                          const struct weft_eval_block *block) {
    switch ((enum weft_eval_end)block->end) {
    case WEFT_EVAL_JUMP:
        return block->target[0];
    case WEFT_EVAL_BRANCH:
        return end_branch(group, block);
    case WEFT_EVAL_SWITCH:
        return end_switch(group, program, block);
    case WEFT_EVAL_BARRIER:
        return end_barrier(group, block);
    case WEFT_EVAL_RETURN:
        send(group, RETURNED);
        group->running -= group->active.count;
        return RETURNED;
    case WEFT_EVAL_UNREACHABLE:
    case WEFT_EVAL_OPEN:
        break;
    }
    fail_at(group, WEFT_EVAL_FAULT_UNREACHABLE, lane_at(&group->active, 0));
    return RETURNED;
}

/* ---- who runs ---- */

static void add_active(struct weft_eval_lanes *lanes, uint32_t lane) {
    if (lanes->count == 0) {
        lanes->first = lane;
        lanes->dense = true;
    }
    lanes->dense = lanes->dense && lane == lanes->first + lanes->count;
    lanes->list[lanes->count++] = (uint16_t)lane;
}

/* Makes those at the lowest block active, and returns it. Some must be running. */
static uint32_t choose(struct weft_eval_group *group) {
    uint32_t lowest = RETURNED;
    for (uint32_t lane = 0; lane < group->lane_count; lane++) {
        lowest = group->next[lane] < lowest ? group->next[lane] : lowest;
    }
    group->active.count = 0;
    for (uint32_t lane = 0; lane < group->lane_count; lane++) {
        if (group->next[lane] == lowest) {
            add_active(&group->active, lane);
        }
    }
    return lowest;
}

/* Lets all go on behind the barrier, when they all wait at the same one. */
static void release_barrier(struct weft_eval_group *group) {
    uint32_t place = UINT32_MAX;
    for (uint32_t lane = 0; lane < group->lane_count; lane++) {
        bool waits = group->next[lane] == WAITING;
        place = waits && place == UINT32_MAX ? group->after_barrier[lane] : place;
        if (!waits || group->after_barrier[lane] != place) {
            fail_at(group, WEFT_EVAL_FAULT_BARRIER, lane);
            return;
        }
    }
    for (uint32_t lane = 0; lane < group->lane_count; lane++) {
        group->next[lane] = place;
    }
    group->running = group->lane_count;
    group->waiting = 0;
}

/* Runs the active invocations from a block on, until they are no longer all that can go on. */
static void run_active(struct weft_eval_group *group, const struct weft_eval_program *program,
                       uint32_t place) {
    while (place != RETURNED && group->fault.kind == WEFT_EVAL_NO_FAULT) {
        const struct weft_eval_block *block = &program->blocks[place];
        weft_eval_run(group, program->instructions + block->first, block->count);
        group->steps += (uint64_t)(block->count + 1) * group->active.count;
        if (group->steps > group->step_limit) {
            fail_at(group, WEFT_EVAL_FAULT_GROUP_LIMIT, lane_at(&group->active, 0));
            return;
        }
        place = end_block(group, program, block);
        if (place != RETURNED && group->active.count < group->running) {
            send(group, place);
            place = RETURNED;
        }
    }
}

void weft_eval_run_group(struct weft_eval_group *group, const struct weft_eval_program *program) {
    group->running = group->lane_count;
    group->waiting = 0;
    for (uint32_t lane = 0; lane < group->lane_count; lane++) {
        group->next[lane] = 0;
    }
    while (group->running > 0 && group->fault.kind == WEFT_EVAL_NO_FAULT) {
        run_active(group, program, choose(group));
        if (group->running == 0 && group->waiting > 0 && group->fault.kind == WEFT_EVAL_NO_FAULT) {
            release_barrier(group);
        }
    }
}
