/* SPDX-License-Identifier: MIT */
/* Comparing what a device made of a case with what the shaders of its plan mean. */
#include <stdio.h>
#include <string.h>

#include "verify/conformance.h"
#include "verify/evaluator/evaluator.h"

#define POISON 0xff

static void fail(weft_case_result *result, const char *format, const char *detail) {
    result->passed = false;
    if (result->reason[0] == '\0') {
        snprintf(result->reason, sizeof result->reason, format, detail);
    }
}

/* Gives the ports of a case their memory: the inputs' own, and `outputs` for the outputs. */
static uint32_t give_ports(struct weft_evaluated_port ports[2 * WEFT_CASE_PORTS],
                           const weft_case *c,
                           uint8_t *outputs) { /* NOLINT(*-non-const-parameter): written by ports */
    uint32_t count = 0;
    for (uint32_t i = 0; i < c->input_count; i++) {
        const weft_case_port *port = &c->inputs[i];
        ports[count++] = (struct weft_evaluated_port){
            .name = port->name, .data = port->data, .size = 4 * port->count};
    }
    for (uint32_t i = 0; i < c->output_count; i++) {
        const weft_case_port *port = &c->outputs[i];
        ports[count++] = (struct weft_evaluated_port){
            .name = port->name, .data = outputs, .size = 4 * port->count};
        outputs += 4 * port->count;
    }
    return count;
}

static void compare(weft_case_result *result, const weft_case *c, const uint8_t *outputs) {
    weft_case_difference found;
    if (weft_case_find_difference(&found, c, result->bits, outputs)) {
        char detail[WEFT_REASON_SIZE - 64];
        snprintf(detail, sizeof detail, "output %s: device 0x%08x (%.9g), evaluation 0x%08x (%.9g)",
                 found.element, found.word[0], found.number[0], found.word[1], found.number[1]);
        fail(result, "the driver departs from the shader's definition: %s", detail);
    }
}

static void evaluate(weft_case_result *result, const weft_case *c, weft_evaluator *evaluator,
                     const weft_plan *plan, uint8_t *outputs) {
    struct weft_evaluated_port ports[2 * WEFT_CASE_PORTS];
    uint32_t count = give_ports(ports, c, outputs);
    memset(outputs, POISON, result->size);
    char text[WEFT_EVALUATOR_TEXT] = "";
    uint64_t before = weft_evaluator_steps(evaluator);
    weft_status status = weft_evaluate_plan(text, evaluator, plan, ports, count);
    result->evaluation_steps = weft_evaluator_steps(evaluator) - before;
    result->evaluation =
        weft_evaluator_was_stopped(evaluator) ? WEFT_EVALUATION_SKIPPED : WEFT_EVALUATED;
    if (status != WEFT_OK) {
        fail(result, "evaluation: %.256s", text);
    } else if (result->evaluation == WEFT_EVALUATED) {
        compare(result, c, outputs);
    }
}

void weft_case_evaluate(weft_case_result *result, const weft_case *c, weft_device *device,
                        weft_evaluator *evaluator, uint64_t step_limit) {
    if (!result->bits) {
        return; /* the case did not run, and has failed */
    }
    weft_plan *plan = NULL;
    uint8_t *outputs = weft_alloc(&c->ref.host, result->size);
    weft_status status = WEFT_OUT_OF_HOST_MEMORY;
    if (outputs) {
        status = weft_plan_compile(&plan, device, c->graph,
                                   weft_plan_params(.implementation = c->implementation));
    }
    if (status == WEFT_OK) {
        weft_evaluator_set_limit(evaluator, step_limit);
        evaluate(result, c, evaluator, plan, outputs);
    } else {
        fail(result, "evaluation: %s", weft_status_name(status));
    }
    weft_plan_destroy(&plan);
    weft_free(&c->ref.host, outputs);
    weft_device_trim(device);
}
