/* SPDX-License-Identifier: MIT */
/* Evaluating a dispatch: finding its program, then every workgroup in turn. */
#include <stdio.h>
#include <string.h>

#include "core/hash.h"
#include "core/try.h"
#include "spirv/check.h"
#include "verify/evaluator/evaluator.h"

#define KEPT_PROGRAMS 16u

struct kept_program {
    weft_digest key;
    struct weft_interpreted *kernel; /* or null */
};

struct weft_evaluator {
    weft_host host;
    struct kept_program kept[KEPT_PROGRAMS];
    uint32_t next; /* which of them is replaced next: the oldest */
    uint64_t steps;
    uint64_t step_limit; /* 0: none */
    bool stopped;
    struct weft_interpret_group group;
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
        weft_interpreted_free(&(*evaluator)->kept[i].kernel);
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

static bool fits(const struct weft_ir_program *program, char *text) {
    for (uint32_t i = 0; i < program->binding_count; i++) {
        const struct weft_ir_binding *binding = &program->bindings[i];
        if (binding->set != 0 || binding->binding >= WEFT_MAX_BINDINGS) {
            snprintf(text, WEFT_EVALUATOR_TEXT,
                     "binding %u of descriptor set %u, expected set 0 and less than %d",
                     binding->binding, binding->set, WEFT_MAX_BINDINGS);
            return false;
        }
    }
    return true;
}

static weft_status decode(struct weft_interpreted **kernel, char *text,
                          const struct weft_evaluated_dispatch *dispatch, const weft_host *host) {
    const uint32_t count = dispatch->specialization_count;
    struct weft_ir_specialization *constants = weft_alloc_zero(host, count + 1, sizeof *constants);
    weft_status status = weft_spirv_check(dispatch->words, dispatch->size, NULL);
    if (!constants || status != WEFT_OK) {
        snprintf(text, WEFT_EVALUATOR_TEXT, "%s",
                 constants ? "the module is not well formed" : "out of memory for a module");
        weft_free(host, constants);
        return constants ? status : WEFT_OUT_OF_HOST_MEMORY;
    }
    for (uint32_t i = 0; i < count; i++) {
        constants[i] = (struct weft_ir_specialization){
            .id = i, .size = 4, .value = &dispatch->specialization[i]};
    }
    const struct weft_ir_source source = {.words = dispatch->words,
                                          .size = dispatch->size,
                                          .entry_point = "main",
                                          .constants = constants,
                                          .constant_count = count};
    status = weft_interpret(kernel, &source, true, text, host);
    weft_free(host, constants);
    if (status == WEFT_OK && !fits(weft_interpreted_program(*kernel), text)) {
        weft_interpreted_free(kernel);
        status = WEFT_UNSUPPORTED;
    }
    return status;
}

static weft_status find_kernel(const struct weft_interpreted **kernel, char *text,
                               weft_evaluator *evaluator,
                               const struct weft_evaluated_dispatch *dispatch) {
    const weft_digest key = program_key(dispatch);
    for (uint32_t i = 0; i < KEPT_PROGRAMS; i++) {
        const struct kept_program *kept = &evaluator->kept[i];
        if (kept->kernel && memcmp(&kept->key, &key, sizeof key) == 0) {
            *kernel = kept->kernel;
            return WEFT_OK;
        }
    }
    struct kept_program *oldest = &evaluator->kept[evaluator->next];
    evaluator->next = (evaluator->next + 1) % KEPT_PROGRAMS;
    weft_interpreted_free(&oldest->kernel);
    const weft_status status = decode(&oldest->kernel, text, dispatch, &evaluator->host);
    oldest->key = key;
    *kernel = oldest->kernel;
    return status;
}

/* ---- messages ---- */

static uint32_t binding_of(const struct weft_interpret_group *group) {
    return weft_interpreted_program(group->kernel)->bindings[group->fault.root].binding;
}

static void describe_access(char *text, size_t size, const struct weft_interpret_group *group,
                            const char *what) {
    const struct weft_interpret_fault *fault = &group->fault;
    const char *unit = fault->kind == WEFT_INTERPRET_FAULT_BUFFER ? "bytes" : "words";
    if (fault->offset >= WEFT_IR_OUTSIDE) {
        snprintf(text, size, "an index outside of its array in %s", what);
    } else {
        snprintf(text, size, "%llu %s at offset %llu are outside of %s",
                 (unsigned long long)fault->size, unit, (unsigned long long)fault->offset, what);
    }
}

static void describe_fault(char *text, size_t size, const struct weft_interpret_group *group) {
    const struct weft_interpret_fault *fault = &group->fault;
    char what[96];
    switch (fault->kind) {
    case WEFT_INTERPRET_FAULT_BUFFER:
        if (fault->root == WEFT_INTERPRET_PUSH) {
            snprintf(what, sizeof what, "the push constants");
        } else {
            snprintf(what, sizeof what, "binding %u", binding_of(group));
        }
        snprintf(what + strlen(what), sizeof what - strlen(what), ", of %llu bytes",
                 (unsigned long long)group->range[fault->root].size);
        describe_access(text, size, group, what);
        break;
    case WEFT_INTERPRET_FAULT_READ_ONLY:
        snprintf(text, size, "a store to binding %u, offset %llu, which is only to be read",
                 binding_of(group), (unsigned long long)fault->offset);
        break;
    case WEFT_INTERPRET_FAULT_SHARED:
        describe_access(text, size, group, "a shared variable");
        break;
    case WEFT_INTERPRET_FAULT_LOCAL:
        describe_access(text, size, group, "a local variable or a vector");
        break;
    case WEFT_INTERPRET_FAULT_BARRIER:
        snprintf(text, size, "part of the workgroup is at a barrier that this one does not reach");
        break;
    case WEFT_INTERPRET_FAULT_UNREACHABLE:
        snprintf(text, size, "OpUnreachable was reached");
        break;
    case WEFT_INTERPRET_FAULT_GROUP_LIMIT:
        snprintf(text, size, "the workgroup takes more than %llu steps: an endless loop?",
                 (unsigned long long)group->step_limit);
        break;
    case WEFT_INTERPRET_NO_FAULT:
    case WEFT_INTERPRET_HALTED:
        break;
    }
}

static weft_status report_fault(char *text, const struct weft_interpret_group *group,
                                const struct weft_evaluated_dispatch *dispatch) {
    const uint32_t *size = weft_interpreted_program(group->kernel)->local_size;
    const uint32_t *id = group->id;
    const uint32_t lane = group->fault.lane;
    char fault[160];
    describe_fault(fault, sizeof fault, group);
    snprintf(text, WEFT_EVALUATOR_TEXT, "%s, workgroup (%u, %u, %u), invocation (%u, %u, %u): %s",
             dispatch->label ? dispatch->label : "dispatch", id[0], id[1], id[2], lane % size[0],
             lane / size[0] % size[1], lane / size[0] / size[1], fault);
    return WEFT_INVALID_ARGUMENT;
}

/* ---- dispatches ---- */

static weft_status run_group(char *text, weft_evaluator *evaluator,
                             const struct weft_evaluated_dispatch *dispatch, uint64_t number) {
    struct weft_interpret_group *group = &evaluator->group;
    const uint32_t *groups = dispatch->groups;
    group->id[0] = (uint32_t)(number % groups[0]);
    group->id[1] = (uint32_t)(number / groups[0] % groups[1]);
    group->id[2] = (uint32_t)(number / groups[0] / groups[1]);
    group->steps = 0;
    weft_interpret_group(group);
    evaluator->steps += group->steps;
    evaluator->stopped = evaluator->step_limit != 0 && evaluator->steps >= evaluator->step_limit;
    return group->fault.kind == WEFT_INTERPRET_NO_FAULT ? WEFT_OK
                                                        : report_fault(text, group, dispatch);
}

static void bind(struct weft_interpret_group *group, const struct weft_evaluated_dispatch *dispatch,
                 uint8_t push[WEFT_MAX_PUSH_BYTES]) {
    const struct weft_ir_program *program = weft_interpreted_program(group->kernel);
    for (uint32_t i = 0; i < program->binding_count; i++) {
        group->range[i] = dispatch->range[program->bindings[i].binding];
    }
    if (dispatch->push_size > 0) {
        memcpy(push, dispatch->push, dispatch->push_size);
    }
    group->range[WEFT_INTERPRET_PUSH] =
        (struct weft_interpreted_range){.data = push, .size = dispatch->push_size};
    memcpy(group->groups, dispatch->groups, sizeof group->groups);
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
    const struct weft_interpreted *kernel = NULL;
    WEFT_TRY(check(text, dispatch));
    WEFT_TRY(find_kernel(&kernel, text, evaluator, dispatch));
    const uint32_t *groups = dispatch->groups;
    const uint64_t count = (uint64_t)groups[0] * groups[1] * groups[2];
    struct weft_interpret_group *group = &evaluator->group;
    uint8_t push[WEFT_MAX_PUSH_BYTES];
    *group = (struct weft_interpret_group){
        .kernel = kernel,
        .memory = weft_alloc(&evaluator->host, weft_interpreted_memory(kernel)),
        .step_limit =
            dispatch->group_limit != 0 ? dispatch->group_limit : WEFT_EVALUATOR_GROUP_LIMIT};
    if (!group->memory) {
        snprintf(text, WEFT_EVALUATOR_TEXT, "out of memory for the rows of a workgroup");
        return WEFT_OUT_OF_HOST_MEMORY;
    }
    bind(group, dispatch, push);
    weft_interpret_begin(group);
    weft_status status = WEFT_OK;
    for (uint64_t i = 0; i < count && status == WEFT_OK && !evaluator->stopped; i++) {
        status = run_group(text, evaluator, dispatch, i);
    }
    weft_free(&evaluator->host, group->memory);
    return status;
}
