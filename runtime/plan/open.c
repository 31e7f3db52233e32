/* SPDX-License-Identifier: MIT */
#include "plan/open.h"

#include "core/try.h"
#include "plan/isolate.h"
#include "plan/plan.h"

static weft_status check(const weft_plan *plan) {
    const weft_host *host = &plan->device->host;
    if (plan->opening == WEFT_OPENING_NONE) {
        return weft_fail(host, WEFT_INVALID_ARGUMENT,
                         "the plan was not compiled for its parts (weft_plan_params.opening)");
    }
    for (uint32_t i = 0; i < plan->port_count; i++) {
        if (plan->ports[i].is_state) {
            return weft_fail(host, WEFT_UNSUPPORTED,
                             "a part of a plan with states, such as '%s': a run changes them",
                             plan->ports[i].name);
        }
    }
    return WEFT_OK;
}

/* Ports are inputs, then results. */
static const struct weft_result *find_result(const weft_plan *plan, const char *name) {
    const uint32_t inputs = plan->port_count - plan->opens->result_count;
    const uint32_t port = weft_plan_port_of(plan, name);
    return port != WEFT_INDEX_NONE && port >= inputs ? &plan->opens->results[port - inputs] : NULL;
}

/* A view is not given, but what it is a view of may be; and only words can be an input that any op reads. */
static void give(struct weft_isolation *isolation, const weft_plan *plan, const char *name) {
    const struct weft_result *result = find_result(plan, name);
    const struct weft_value *value = result ? &plan->opens->values[result->value] : NULL;
    if (value && value->source == WEFT_VALUE_NODE && value->root == result->value &&
        weft_dtype_size(value->dtype) == 4) {
        isolation->given[result->value] = result->name;
    }
}

static weft_status isolate(weft_graph *alone, const weft_plan *plan, const char *name,
                           const char *const *known, uint32_t count) {
    const struct weft_result *wanted = find_result(plan, name);
    struct weft_isolation isolation;
    if (!wanted) {
        return weft_fail(&plan->device->host, WEFT_NOT_FOUND,
                         "the plan has no output or checkpoint '%s'", name);
    }
    weft_status status = weft_isolation_begin(&isolation, plan->opens)
                             ? WEFT_OK
                             : weft_fail_memory(&plan->device->host, "a part of a plan");
    if (status == WEFT_OK) {
        for (uint32_t i = 0; i < count; i++) {
            give(&isolation, plan, known[i]);
        }
        status = weft_isolate(alone, &isolation, wanted->value, wanted->name);
    }
    weft_isolation_end(&isolation);
    return status;
}

weft_status weft_plan_open(weft_plan **part, const weft_plan *plan, const char *value,
                           const char *const *known, uint32_t count) {
    weft_graph *alone = NULL;
    WEFT_TRY(check(plan));
    WEFT_TRY(weft_graph_create(&alone, &plan->device->host));
    weft_status status = isolate(alone, plan, value, known, count);
    if (status == WEFT_OK) {
        status = weft_plan_compile(part, plan->device, alone, NULL);
    }
    weft_graph_destroy(&alone);
    return status;
}
