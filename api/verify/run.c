/* SPDX-License-Identifier: MIT */
/* Running a case on a device and comparing what comes out. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "verify/conformance.h"

#define GUARD_BYTES 256  /* behind each port's bytes: not bound, and so not to be touched */
#define POISON      0xff /* four of them are a NaN, and no index */

/* ---- failing ---- */

static void fail(weft_case_result *result, const char *format, ...) WEFT_PRINTF(2, 3);

/* Keeps the first reason. */
static void fail(weft_case_result *result, const char *format, ...) {
    if (result->reason[0] != '\0') {
        return;
    }
    result->passed = false;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(result->reason, sizeof result->reason, format, arguments);
    va_end(arguments);
}

static bool succeeded(weft_case_result *result, const char *call, weft_status status) {
    if (status != WEFT_OK) {
        fail(result, "%s: %s", call, weft_status_name(status));
    }
    return status == WEFT_OK;
}

/* ---- elements ---- */

static uint32_t word_at(const uint8_t *bits, uint64_t index) {
    uint32_t word;
    memcpy(&word, bits + 4 * index, sizeof word);
    return word;
}

static double number_of(uint32_t word, weft_dtype dtype) {
    if (dtype == WEFT_I32) {
        return (double)(int32_t)word;
    }
    float value;
    memcpy(&value, &word, sizeof value);
    return value;
}

static uint32_t word_of(double number, weft_dtype dtype) {
    if (dtype == WEFT_I32) {
        return (uint32_t)(int32_t)number;
    }
    float value = (float)number;
    uint32_t word;
    memcpy(&word, &value, sizeof word);
    return word;
}

/* Writes "y[1, 0, 4]". */
static void name_element(char *text, size_t size, const weft_case_port *port, uint64_t index) {
    uint64_t rest = port->count;
    size_t length = (size_t)snprintf(text, size, "%s[", port->name);
    for (uint32_t axis = 0; axis < port->shape.rank && length < size; axis++) {
        rest /= port->shape.dim[axis];
        length += (size_t)snprintf(text + length, size - length, "%s%llu", axis == 0 ? "" : ", ",
                                   (unsigned long long)(index / rest));
        index %= rest;
    }
    if (length < size) {
        snprintf(text + length, size - length, "]");
    }
}

bool weft_case_find_difference(weft_case_difference *difference, const weft_case *c,
                               const uint8_t *a, const uint8_t *b) {
    for (uint32_t output = 0; output < c->output_count; output++) {
        const weft_case_port *port = &c->outputs[output];
        for (uint64_t index = 0; index < port->count; index++) {
            uint32_t left = word_at(a, index);
            uint32_t right = word_at(b, index);
            if (left != right) {
                name_element(difference->element, sizeof difference->element, port, index);
                difference->word[0] = left;
                difference->word[1] = right;
                difference->number[0] = number_of(left, port->dtype);
                difference->number[1] = number_of(right, port->dtype);
                return true;
            }
        }
        a += 4 * port->count;
        b += 4 * port->count;
    }
    return false;
}

bool weft_case_same_bits(char text[WEFT_REASON_SIZE], const weft_case *c, const weft_case_result *a,
                         const weft_case_result *b) {
    if (!a->bits || !b->bits) {
        snprintf(text, WEFT_REASON_SIZE, "one of them has no output");
        return a->bits == b->bits;
    }
    weft_case_difference difference;
    if (!weft_case_find_difference(&difference, c, a->bits, b->bits)) {
        return true;
    }
    snprintf(text, WEFT_REASON_SIZE, "%s is %.9g (0x%08x) and %.9g (0x%08x)", difference.element,
             difference.number[0], difference.word[0], difference.number[1], difference.word[1]);
    return false;
}

/* ---- comparing with the reference ---- */

static bool is_expected(const weft_case_port *port, uint64_t index) {
    return !port->allowed || !isinf(port->allowed[index]);
}

/* True if a NaN or an infinity is there where it has to be. */
static bool is_right_special(double expected, double found) {
    return isnan(expected) ? isnan(found) : isinf(expected) && found == expected;
}

typedef struct comparison {
    double error_squares;
    double expected_squares;
    uint64_t expected_count;
} comparison;

/* Sums up; an unexpected NaN, and a number where a NaN is expected, makes the error a NaN. */
static comparison compare_port(const weft_case_port *port, const uint8_t *bits) {
    comparison sums = {0};
    for (uint64_t index = 0; index < port->count; index++) {
        double expected = port->value[index];
        double found = number_of(word_at(bits, index), port->dtype);
        if (!is_expected(port, index) || is_right_special(expected, found)) {
            continue;
        }
        sums.error_squares += (found - expected) * (found - expected);
        sums.expected_squares += expected * expected;
        sums.expected_count++;
    }
    return sums;
}

/* `allowed` is for elements whose errors have no bounds of their own. */
static bool is_wrong(const weft_case_port *port, uint64_t index, uint32_t word, double allowed) {
    double expected = port->value[index];
    double found = number_of(word, port->dtype);
    if (port->words) {
        return word != port->words[index];
    }
    if (!is_expected(port, index) || is_right_special(expected, found)) {
        return false;
    }
    allowed = port->allowed ? port->allowed[index] : allowed;
    return allowed > 0.0 ? !(fabs(found - expected) <= allowed)
                         : word != word_of(expected, port->dtype);
}

/* The first element that is off by more than `allowed`, or by a bit; count when none is. */
static uint64_t first_wrong(const weft_case_port *port, const uint8_t *bits, double allowed) {
    uint64_t index = 0;
    while (index < port->count && !is_wrong(port, index, word_at(bits, index), allowed)) {
        index++;
    }
    return index;
}

static void fail_element(weft_case_result *result, const weft_case_port *port, const uint8_t *bits,
                         uint64_t index, double error) {
    char name[WEFT_ELEMENT_NAME_SIZE];
    name_element(name, sizeof name, port, index);
    uint32_t word = word_at(bits, index);
    fail(result, "%s is %.9g (0x%08x), expected %.9g; relative L2 %.3g, allowed %.3g", name,
         number_of(word, port->dtype), word, port->value[index], error, result->tolerance);
}

/* True if elements have to be looked at one by one, however small the error of all is. */
static bool is_exacting(const weft_case_result *result, const weft_case_port *port) {
    return result->tolerance <= 0.0 || port->allowed || port->words;
}

static void check_port(weft_case_result *result, const weft_case_port *port, const uint8_t *bits) {
    comparison sums = compare_port(port, bits);
    double scale = sums.expected_squares > 0.0 ? sums.expected_squares : 1.0;
    double error = sqrt(sums.error_squares / scale);
    if (isnan(error) || !result->has_error || error > result->rel_l2) {
        result->rel_l2 = isnan(result->rel_l2) ? result->rel_l2 : error;
    }
    result->has_error = true;
    bool is_near = error <= result->tolerance;
    if (is_near && !is_exacting(result, port)) {
        return;
    }
    double allowed = 0.0;
    if (result->tolerance > 0.0 && sums.expected_count > 0) {
        allowed = result->tolerance * sqrt(scale / (double)sums.expected_count);
    }
    uint64_t wrong = first_wrong(port, bits, allowed);
    if (wrong < port->count) {
        fail_element(result, port, bits, wrong, error);
    } else if (!is_near) {
        fail(result, "%s: relative L2 %.3g, allowed %.3g", port->name, error, result->tolerance);
    }
}

static void check_reference(weft_case_result *result, const weft_case *c, const uint8_t *bits) {
    for (uint32_t output = 0; output < c->output_count; output++) {
        check_port(result, &c->outputs[output], bits);
        bits += 4 * c->outputs[output].count;
    }
}

/* ---- canonical outputs ---- */

static bool is_canonical(uint32_t word) {
    uint32_t magnitude = word & UINT32_C(0x7fffffff);
    bool is_subnormal = magnitude != 0 && magnitude < UINT32_C(0x00800000);
    return !is_subnormal && (magnitude <= UINT32_C(0x7f800000) || word == UINT32_C(0x7fc00000));
}

/* Reproducible math: the outputs of arithmetic have no subnormals, and one NaN. */
static void check_canonical(weft_case_result *result, const weft_case *c, const uint8_t *bits) {
    for (uint32_t output = 0; output < c->output_count; output++) {
        const weft_case_port *port = &c->outputs[output];
        bool is_copy = port->words || port->dtype != WEFT_F32;
        for (uint64_t index = 0; !is_copy && index < port->count; index++) {
            uint32_t word = word_at(bits, index);
            if (!is_canonical(word)) {
                char name[WEFT_ELEMENT_NAME_SIZE];
                name_element(name, sizeof name, port, index);
                fail(result, "%s is %.9g (0x%08x), which is not canonical", name,
                     number_of(word, port->dtype), word);
            }
        }
        bits += 4 * port->count;
    }
}

/* ---- one plan ---- */

typedef struct session {
    const weft_case *c;
    weft_device *device;
    weft_case_result *result;
    weft_plan *plan;
    weft_bindings *bindings;
    weft_buffer *inputs[WEFT_CASE_PORTS];
    weft_buffer *outputs[WEFT_CASE_PORTS];
    uint8_t *staging; /* the largest port with its guard */
    size_t staging_size;
} session;

/* A port's bytes as they are uploaded: the data, or poison for outputs, and a poisoned guard. */
static bool write_port(session *s, const weft_case_port *port, weft_buffer *buffer) {
    size_t bytes = (size_t)port->count * 4;
    memset(s->staging, POISON, bytes + GUARD_BYTES);
    if (port->data) {
        memcpy(s->staging, port->data, bytes);
    }
    return succeeded(s->result, "weft_buffer_write",
                     weft_buffer_write(buffer, 0, s->staging, bytes + GUARD_BYTES));
}

static bool bind_ports(session *s, const weft_case_port *ports, uint32_t count,
                       weft_buffer **buffers) {
    for (uint32_t index = 0; index < count; index++) {
        const weft_case_port *port = &ports[index];
        weft_status status =
            weft_buffer_create(&buffers[index], s->device, port->count * 4 + GUARD_BYTES);
        if (!succeeded(s->result, "weft_buffer_create", status) ||
            !write_port(s, port, buffers[index]) ||
            !succeeded(s->result, "weft_bindings_set",
                       weft_bindings_set(s->bindings, port->name, buffers[index]))) {
            return false;
        }
    }
    return true;
}

static bool guard_is_whole(const session *s, const weft_case_port *port) {
    for (size_t index = 0; index < GUARD_BYTES; index++) {
        if (s->staging[port->count * 4 + index] != POISON) {
            fail(s->result, "a byte %zu behind %s changed", index, port->name);
            return false;
        }
    }
    return true;
}

static bool read_port(session *s, const weft_case_port *port, weft_buffer *buffer) {
    return succeeded(s->result, "weft_buffer_read",
                     weft_buffer_read(buffer, 0, s->staging, port->count * 4 + GUARD_BYTES)) &&
           guard_is_whole(s, port);
}

static bool inputs_are_unchanged(session *s) {
    for (uint32_t index = 0; index < s->c->input_count; index++) {
        const weft_case_port *port = &s->c->inputs[index];
        if (!read_port(s, port, s->inputs[index])) {
            return false;
        }
        if (!port->is_state && memcmp(s->staging, port->data, (size_t)port->count * 4) != 0) {
            fail(s->result, "the input %s was overwritten", port->name);
            return false;
        }
    }
    return true;
}

/* Runs once on poisoned outputs and collects them in bits. */
static bool run_once(session *s, uint8_t *bits) {
    for (uint32_t index = 0; index < s->c->output_count; index++) {
        if (!write_port(s, &s->c->outputs[index], s->outputs[index])) {
            return false;
        }
    }
    if (!succeeded(s->result, "weft_plan_run", weft_plan_run(s->plan, s->bindings))) {
        return false;
    }
    for (uint32_t index = 0; index < s->c->output_count; index++) {
        const weft_case_port *port = &s->c->outputs[index];
        if (!read_port(s, port, s->outputs[index])) {
            return false;
        }
        memcpy(bits, s->staging, (size_t)port->count * 4);
        bits += port->count * 4;
    }
    return inputs_are_unchanged(s);
}

static size_t largest_port(const weft_case *c) {
    uint64_t largest = 0;
    for (uint32_t index = 0; index < c->input_count; index++) {
        largest = c->inputs[index].count > largest ? c->inputs[index].count : largest;
    }
    for (uint32_t index = 0; index < c->output_count; index++) {
        largest = c->outputs[index].count > largest ? c->outputs[index].count : largest;
    }
    return (size_t)largest * 4 + GUARD_BYTES;
}

static bool prepare(session *s, bool no_fusion) {
    const weft_case *c = s->c;
    s->staging_size = largest_port(c);
    s->staging = weft_alloc(&c->ref.host, s->staging_size);
    if (!s->staging) {
        return succeeded(s->result, "weft_alloc", WEFT_OUT_OF_HOST_MEMORY);
    }
    const weft_plan_params *params =
        weft_plan_params(.no_fusion = no_fusion, .implementation = c->implementation);
    return succeeded(s->result, "weft_plan_compile",
                     weft_plan_compile(&s->plan, s->device, c->graph, params)) &&
           succeeded(s->result, "weft_bindings_create",
                     weft_bindings_create(&s->bindings, s->plan)) &&
           bind_ports(s, c->inputs, c->input_count, s->inputs) &&
           bind_ports(s, c->outputs, c->output_count, s->outputs);
}

static void finish(session *s) {
    weft_bindings_destroy(&s->bindings);
    for (uint32_t index = 0; index < WEFT_CASE_PORTS; index++) {
        weft_buffer_destroy(&s->inputs[index]);
        weft_buffer_destroy(&s->outputs[index]);
    }
    weft_plan_destroy(&s->plan);
    weft_free(&s->c->ref.host, s->staging);
}

/* The tolerance of a plan depends on how the device keeps its weights. */
static bool set_tolerance(session *s) {
    weft_plan_info info;
    if (!succeeded(s->result, "weft_plan_get_info", weft_plan_get_info(s->plan, &info))) {
        return false;
    }
    if (info.int8_weight_bytes > 0 && !s->c->has_bytes) {
        s->result->tolerance = fmax(s->result->tolerance, WEFT_TOLERANCE_BYTES);
        s->result->skipped = s->c->only_reproducible;
        if (s->result->skipped) {
            fail(s->result, "bytes of weights promise nothing for subnormals, infinities, NaN and "
                            "overflow");
            return false;
        }
    }
    /* Fast math may round to another byte. */
    const bool rounds_bytes =
        info.int8_weight_bytes > 0 && weft_device_get_math(s->device) == WEFT_MATH_FAST;
    if (info.f16_weight_bytes > 0 || rounds_bytes) {
        s->result->tolerance = fmax(s->result->tolerance, WEFT_TOLERANCE_HALF);
    }
    return true;
}

/* Compiles and runs twice; the second run, into `again`, must repeat the first. */
static bool run_plan(weft_case_result *result, const weft_case *c, weft_device *device,
                     bool no_fusion, uint8_t *bits, uint8_t *again) {
    session s = {.c = c, .device = device, .result = result};
    bool fine =
        prepare(&s, no_fusion) && set_tolerance(&s) && run_once(&s, bits) && run_once(&s, again);
    finish(&s);
    if (fine && memcmp(bits, again, result->size) != 0) {
        weft_case_result first = {.bits = bits, .size = result->size};
        weft_case_result second = {.bits = again, .size = result->size};
        char text[WEFT_REASON_SIZE];
        weft_case_same_bits(text, c, &first, &second);
        fail(result, "two runs differ: %.*s", WEFT_REASON_SIZE - 32, text);
    }
    return fine;
}

/* ---- a case ---- */

/* Checks the graph without fusion: the same bits in reproducible mode, else as close as the fused one. */
static void check_fusion(weft_case_result *result, const weft_case *c, weft_device *device,
                         uint8_t *unfused, uint8_t *again) {
    if (!run_plan(result, c, device, true, unfused, again)) {
        return;
    }
    if (weft_device_get_math(device) == WEFT_MATH_FAST) {
        check_reference(result, c, unfused);
        return;
    }
    weft_case_result other = {.bits = unfused, .size = result->size};
    char text[WEFT_REASON_SIZE];
    if (!weft_case_same_bits(text, c, result, &other)) {
        fail(result, "with and without fusion %.*s", WEFT_REASON_SIZE - 32, text);
    }
}

static void digest_bits(weft_case_result *result) {
    weft_digest digest = weft_digest_of(result->bits, result->size);
    weft_digest_text(&digest, result->digest);
}

/* True if the case is not for this device; says why. */
static bool is_skipped(weft_case_result *result, const weft_case *c, weft_device *device) {
    weft_device_info info;
    if (c->only_reproducible && weft_device_get_math(device) == WEFT_MATH_FAST) {
        fail(result, "fast math promises nothing for subnormals, infinities, NaN and overflow");
        result->skipped = true;
    } else if (!succeeded(result, "the device tells nothing",
                          weft_device_get_info(device, &info))) {
        return false;
    } else if (c->invocations > info.max_workgroup_invocations) {
        fail(result, "wants workgroups of %u invocations; the device has %u", c->invocations,
             info.max_workgroup_invocations);
        result->skipped = true;
    }
    return result->skipped;
}

void weft_case_run(weft_case_result *result, const weft_case *c, weft_device *device) {
    *result = (weft_case_result){.passed = true, .tolerance = c->tolerance, .host = c->ref.host};
    if (!succeeded(result, "the case cannot be built", c->ref.status) ||
        is_skipped(result, c, device) || !result->passed) {
        return;
    }
    for (uint32_t output = 0; output < c->output_count; output++) {
        result->size += (size_t)c->outputs[output].count * 4;
    }
    result->bits = weft_alloc(&c->ref.host, result->size);
    uint8_t *again = weft_alloc(&c->ref.host, result->size);
    uint8_t *unfused = weft_alloc(&c->ref.host, result->size);
    if (!result->bits || !again || !unfused) {
        succeeded(result, "weft_alloc", WEFT_OUT_OF_HOST_MEMORY);
    } else if (run_plan(result, c, device, false, result->bits, again)) {
        digest_bits(result);
        check_reference(result, c, result->bits);
        if (weft_device_get_math(device) != WEFT_MATH_FAST) {
            check_canonical(result, c, result->bits);
        }
        if (c->check_fusion) {
            check_fusion(result, c, device, unfused, again);
        }
    }
    if (result->digest[0] == '\0') {
        weft_case_result_free(result);
    }
    weft_free(&c->ref.host, again);
    weft_free(&c->ref.host, unfused);
    weft_device_trim(device);
}

void weft_case_result_free(weft_case_result *result) {
    weft_free(&result->host, result->bits);
    result->bits = NULL;
    result->size = 0;
}
