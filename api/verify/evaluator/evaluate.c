/* SPDX-License-Identifier: MIT */
/* Evaluating a dispatch: finding its program, then every workgroup in turn. */
#include <stdio.h>
#include <string.h>

#include "core/hash.h"
#include "core/try.h"
#include "verify/evaluator/execute.h"

#define KEPT_PROGRAMS 16u

struct kept_program {
    bool used;
    weft_digest key;
    struct weft_eval_program program;
};

struct weft_evaluator {
    weft_host host;
    struct kept_program kept[KEPT_PROGRAMS];
    uint32_t next; /* which of them is replaced next: the oldest */
    uint64_t steps;
    uint64_t step_limit; /* 0: none */
    bool stopped;
    struct weft_eval_group group;
};

weft_evaluator *weft_evaluator_create(const weft_host *host) {
    weft_evaluator *evaluator = weft_alloc_zero(host, 1, sizeof *evaluator);
    if (evaluator && host) {
        evaluator->host = *host;
    }
    return evaluator;
}

void weft_evaluator_destroy(weft_evaluator **evaluator) {
    if (!evaluator || !*evaluator) {
        return;
    }
    const weft_host host = (*evaluator)->host;
    for (uint32_t i = 0; i < KEPT_PROGRAMS; i++) {
        weft_eval_program_free(&(*evaluator)->kept[i].program, &host);
    }
    weft_free(&host, *evaluator);
    *evaluator = NULL;
}

uint64_t weft_evaluator_steps(const weft_evaluator *evaluator) {
    return evaluator->steps;
}

void weft_evaluator_set_limit(weft_evaluator *evaluator, uint64_t steps) {
    evaluator->step_limit = steps != 0 ? evaluator->steps + steps : 0;
    evaluator->stopped = false;
}

bool weft_evaluator_was_stopped(const weft_evaluator *evaluator) {
    return evaluator->stopped;
}

/* ---- programs ---- */

static weft_digest program_key(const struct weft_evaluated_dispatch *dispatch) {
    weft_sha256 hash;
    weft_sha256_begin(&hash);
    weft_sha256_add(&hash, &dispatch->specialization_count, sizeof dispatch->specialization_count);
    if (dispatch->specialization_count > 0) {
        weft_sha256_add(&hash, dispatch->specialization,
                        dispatch->specialization_count * sizeof *dispatch->specialization);
    }
    weft_sha256_add(&hash, dispatch->words, dispatch->size);
    return weft_sha256_end(&hash);
}

static weft_status find_program(const struct weft_eval_program **program, char *text,
                                weft_evaluator *evaluator,
                                const struct weft_evaluated_dispatch *dispatch) {
    weft_digest key = program_key(dispatch);
    for (uint32_t i = 0; i < KEPT_PROGRAMS; i++) {
        struct kept_program *kept = &evaluator->kept[i];
        if (kept->used && memcmp(&kept->key, &key, sizeof key) == 0) {
            *program = &kept->program;
            return WEFT_OK;
        }
    }
    struct kept_program *oldest = &evaluator->kept[evaluator->next];
    evaluator->next = (evaluator->next + 1) % KEPT_PROGRAMS;
    weft_eval_program_free(&oldest->program, &evaluator->host);
    weft_status status = weft_eval_decode(&oldest->program, dispatch, &evaluator->host, text);
    oldest->key = key;
    oldest->used = status == WEFT_OK;
    *program = &oldest->program;
    return status;
}

/* ---- messages ---- */

static void describe_access(char *text, size_t size, const struct weft_eval_group *group,
                            const char *what) {
    const struct weft_eval_fault *fault = &group->fault;
    const char *unit = fault->kind == WEFT_EVAL_FAULT_BUFFER ? "bytes" : "words";
    if (fault->offset >= WEFT_EVAL_OUTSIDE) {
        snprintf(text, size, "an index outside of its array in %s", what);
    } else {
        snprintf(text, size, "%llu %s at offset %llu are outside of %s",
                 (unsigned long long)fault->size, unit, (unsigned long long)fault->offset, what);
    }
}

static void describe_fault(char *text, size_t size, const struct weft_eval_group *group) {
    const struct weft_eval_fault *fault = &group->fault;
    char what[96];
    switch (fault->kind) {
    case WEFT_EVAL_FAULT_BUFFER:
        if (fault->binding == WEFT_EVAL_PUSH) {
            snprintf(what, sizeof what, "the push constants");
        } else {
            snprintf(what, sizeof what, "binding %u", fault->binding);
        }
        snprintf(what + strlen(what), sizeof what - strlen(what), ", of %llu bytes",
                 (unsigned long long)group->range[fault->binding].size);
        describe_access(text, size, group, what);
        break;
    case WEFT_EVAL_FAULT_READ_ONLY:
        snprintf(text, size, "a store to binding %u, offset %llu, which is only to be read",
                 fault->binding, (unsigned long long)fault->offset);
        break;
    case WEFT_EVAL_FAULT_SHARED:
        describe_access(text, size, group, "a shared variable");
        break;
    case WEFT_EVAL_FAULT_LOCAL:
        describe_access(text, size, group, "a local variable or a vector");
        break;
    case WEFT_EVAL_FAULT_BARRIER:
        snprintf(text, size, "part of the workgroup is at a barrier that this one does not reach");
        break;
    case WEFT_EVAL_FAULT_UNREACHABLE:
        snprintf(text, size, "OpUnreachable was reached");
        break;
    case WEFT_EVAL_FAULT_GROUP_LIMIT:
        snprintf(text, size, "the workgroup takes more than %llu steps: an endless loop?",
                 (unsigned long long)group->step_limit);
        break;
    case WEFT_EVAL_NO_FAULT:
        break;
    }
}

static weft_status report_fault(char *text, const struct weft_eval_group *group,
                                const struct weft_eval_program *program,
                                const struct weft_evaluated_dispatch *dispatch,
                                const uint32_t id[3]) {
    const uint32_t *size = program->local_size;
    uint32_t lane = group->fault.lane;
    char fault[160];
    describe_fault(fault, sizeof fault, group);
    snprintf(text, WEFT_EVALUATOR_TEXT, "%s, workgroup (%u, %u, %u), invocation (%u, %u, %u): %s",
             dispatch->label ? dispatch->label : "dispatch", id[0], id[1], id[2], lane % size[0],
             lane / size[0] % size[1], lane / size[0] / size[1], fault);
    return WEFT_INVALID_ARGUMENT;
}

/* ---- rows ---- */

static void fill_row(const struct weft_eval_group *group, uint32_t slot, uint32_t value) {
    uint32_t *row = weft_eval_row(group, slot);
    for (uint32_t lane = 0; lane < group->lane_count; lane++) {
        row[lane] = value;
    }
}

/* What stays the same in all workgroups. */
static void set_constants(const struct weft_eval_group *group,
                          const struct weft_eval_program *program,
                          const struct weft_evaluated_dispatch *dispatch) {
    for (uint32_t slot = 0; slot < program->constant_count; slot++) {
        fill_row(group, slot, program->constants[slot]);
    }
    const uint32_t *built_in = program->built_in;
    for (uint32_t axis = 0; axis < 3 && built_in[WEFT_EVAL_GROUP_COUNT] != 0; axis++) {
        fill_row(group, built_in[WEFT_EVAL_GROUP_COUNT] + axis, dispatch->groups[axis]);
    }
    for (uint32_t lane = 0; lane < group->lane_count; lane++) {
        const uint32_t *size = program->local_size;
        const uint32_t id[3] = {lane % size[0], lane / size[0] % size[1], lane / size[0] / size[1]};
        for (uint32_t axis = 0; axis < 3 && built_in[WEFT_EVAL_LOCAL_ID] != 0; axis++) {
            weft_eval_row(group, built_in[WEFT_EVAL_LOCAL_ID] + axis)[lane] = id[axis];
        }
        if (built_in[WEFT_EVAL_LOCAL_INDEX] != 0) {
            weft_eval_row(group, built_in[WEFT_EVAL_LOCAL_INDEX])[lane] = lane;
        }
    }
}

static void set_group(const struct weft_eval_group *group, const struct weft_eval_program *program,
                      const uint32_t id[3]) {
    const uint32_t *built_in = program->built_in;
    for (uint32_t axis = 0; axis < 3 && built_in[WEFT_EVAL_GROUP_ID] != 0; axis++) {
        fill_row(group, built_in[WEFT_EVAL_GROUP_ID] + axis, id[axis]);
    }
    const uint32_t *size = program->local_size;
    for (uint32_t lane = 0; lane < group->lane_count && built_in[WEFT_EVAL_GLOBAL_ID] != 0;
         lane++) {
        uint32_t *rows = weft_eval_row(group, built_in[WEFT_EVAL_GLOBAL_ID]) + lane;
        rows[0] = id[0] * size[0] + lane % size[0];
        rows[group->lane_count] = id[1] * size[1] + lane / size[0] % size[1];
        rows[2 * (size_t)group->lane_count] = id[2] * size[2] + lane / size[0] / size[1];
    }
    for (uint32_t word = 0; word < program->shared_words; word++) {
        group->shared[word] = WEFT_EVALUATOR_POISON;
    }
}

/* ---- dispatches ---- */

static weft_status run_group(char *text, weft_evaluator *evaluator,
                             const struct weft_eval_program *program,
                             const struct weft_evaluated_dispatch *dispatch, const uint32_t id[3]) {
    struct weft_eval_group *group = &evaluator->group;
    group->steps = 0;
    set_group(group, program, id);
    weft_eval_run_group(group, program);
    evaluator->steps += group->steps;
    evaluator->stopped = evaluator->step_limit != 0 && evaluator->steps >= evaluator->step_limit;
    return group->fault.kind == WEFT_EVAL_NO_FAULT
               ? WEFT_OK
               : report_fault(text, group, program, dispatch, id);
}

static weft_status run_groups(char *text, weft_evaluator *evaluator,
                              const struct weft_eval_program *program,
                              const struct weft_evaluated_dispatch *dispatch) {
    const uint32_t *groups = dispatch->groups;
    uint64_t count = (uint64_t)groups[0] * groups[1] * groups[2];
    for (uint64_t i = 0; i < count && !evaluator->stopped; i++) {
        const uint32_t id[3] = {(uint32_t)(i % groups[0]), (uint32_t)(i / groups[0] % groups[1]),
                                (uint32_t)(i / groups[0] / groups[1])};
        WEFT_TRY(run_group(text, evaluator, program, dispatch, id));
    }
    return WEFT_OK;
}

static void bind(struct weft_eval_group *group, const struct weft_evaluated_dispatch *dispatch,
                 uint8_t push[WEFT_MAX_PUSH_BYTES]) {
    memcpy(group->range, dispatch->range, sizeof dispatch->range);
    if (dispatch->push_size > 0) {
        memcpy(push, dispatch->push, dispatch->push_size);
    }
    group->range[WEFT_EVAL_PUSH] =
        (struct weft_evaluated_range){.data = push, .size = dispatch->push_size};
}

/* Checks what a caller may get wrong. */
static weft_status check(char *text, const struct weft_evaluated_dispatch *dispatch) {
    bool fits = dispatch->push_size <= WEFT_MAX_PUSH_BYTES &&
                (dispatch->push || dispatch->push_size == 0) &&
                (dispatch->specialization || dispatch->specialization_count == 0);
    for (uint32_t i = 0; i < WEFT_MAX_BINDINGS; i++) {
        fits = fits && (dispatch->range[i].data || dispatch->range[i].size == 0);
    }
    if (!fits) {
        snprintf(text, WEFT_EVALUATOR_TEXT,
                 "%u bytes of push constants, %u specialization constants, or a range without "
                 "data",
                 dispatch->push_size, dispatch->specialization_count);
    }
    return fits ? WEFT_OK : WEFT_INVALID_ARGUMENT;
}

weft_status weft_evaluate_dispatch(char text[WEFT_EVALUATOR_TEXT], weft_evaluator *evaluator,
                                   const struct weft_evaluated_dispatch *dispatch) {
    const struct weft_eval_program *program = NULL;
    weft_status status = check(text, dispatch);
    if (status == WEFT_OK) {
        status = find_program(&program, text, evaluator, dispatch);
    }
    if (status != WEFT_OK) {
        return status;
    }
    const weft_host *host = &evaluator->host;
    struct weft_eval_group *group = &evaluator->group;
    uint8_t push[WEFT_MAX_PUSH_BYTES];
    *group = (struct weft_eval_group){
        .lane_count = program->lanes,
        .rows = weft_alloc_zero(host, (size_t)program->slot_count * program->lanes, 4),
        .shared = weft_alloc_zero(host, (size_t)program->shared_words + 1, 4),
        .step_limit =
            dispatch->group_limit != 0 ? dispatch->group_limit : WEFT_EVALUATOR_GROUP_LIMIT};
    if (!group->rows || !group->shared) {
        snprintf(text, WEFT_EVALUATOR_TEXT, "out of memory for the slots of a workgroup");
        status = WEFT_OUT_OF_HOST_MEMORY;
    } else {
        bind(group, dispatch, push);
        set_constants(group, program, dispatch);
        status = run_groups(text, evaluator, program, dispatch);
    }
    weft_free(host, group->rows);
    weft_free(host, group->shared);
    return status;
}
