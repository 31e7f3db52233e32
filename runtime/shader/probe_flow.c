/* SPDX-License-Identifier: MIT */
#include "shader/probe_flow.h"

#include <stdio.h>
#include <string.h>

#include "core/try.h"
#include "shader/embedded.h"
#include "shader/probe_ask.h"
#include "shader/probe_cases.h"

#define NOTHING UINT32_C(0xffffffff) /* what a kernel has not written */
#define LANES   64u

static const char barriers[] = "probe/barriers";
static const char loops[] = "probe/loops";
static const char turns[] = "probe/turns";

/* One group more than has anything to do, and words behind the last. */
enum {
    ROWS = 13,
    COLUMNS = 11,
    GROUPS = 4,
    MATRIX = ROWS * COLUMNS,
    LINES = GROUPS * LANES,
    BARRIER_WORDS = MATRIX + 2 * LINES + LANES,
    COUNT = 300,
    ROUNDS = 5,
    LOOP_GROUPS = 5, /* of the 300 */
    LOOP_WORDS = COUNT + LOOP_GROUPS + 15,
};

struct flow {
    uint32_t inputs[BARRIER_WORDS > LOOP_WORDS ? BARRIER_WORDS : LOOP_WORDS];
    uint32_t results[BARRIER_WORDS > LOOP_WORDS ? BARRIER_WORDS : LOOP_WORDS];
    uint32_t expected[BARRIER_WORDS > LOOP_WORDS ? BARRIER_WORDS : LOOP_WORDS];
};

/* ---- what is right ---- */

/* Floats of exponents about 1, so that nothing is subnormal or no number. */
static uint32_t float_word(uint32_t i) {
    return ((i * UINT32_C(2654435761)) & UINT32_C(0x807fffff)) | (100 + i % 50) << 23;
}

/* As shaders/probe/barriers.comp says. */
static void expect_barriers(struct flow *flow) {
    uint32_t *exchanged = flow->expected + MATRIX, *negated = exchanged + LINES;
    for (uint32_t i = 0; i < BARRIER_WORDS; i++) {
        flow->inputs[i] = float_word(i);
        flow->expected[i] = NOTHING;
    }
    for (uint32_t i = 0; i < MATRIX; i++) {
        flow->expected[i % COLUMNS * ROWS + i / COLUMNS] = flow->inputs[i];
    }
    for (uint32_t i = 0; i < LINES; i++) {
        const uint32_t first = MATRIX + i / LANES * LANES;
        const uint32_t *line = &flow->inputs[first];
        const uint32_t partner = i % LANES ^ 1;
        exchanged[i] = line[LANES - 1 - partner] + partner;
        negated[i] = line[i % LANES] ^ UINT32_C(0x80000000);
    }
}

static uint32_t turned(uint32_t word) {
    uint32_t value = word;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        bool done = false;
        for (uint32_t bit = 0; !done && bit <= word >> 27; bit++) {
            if ((word >> bit & 1) != 0) {
                value = value * UINT32_C(1664525) + bit;
                done = value % 11 == 0;
            }
        }
        value ^= value >> 15;
    }
    return value;
}

/* As shaders/probe/loops.comp says. */
static void expect_loops(struct flow *flow) {
    for (uint32_t i = 0; i < LOOP_WORDS; i++) {
        flow->inputs[i] = (i + 1) * UINT32_C(2654435761) ^ i << 27;
        flow->expected[i] = i < COUNT || i >= COUNT + LOOP_GROUPS ? NOTHING : 0;
    }
    for (uint32_t i = 0; i < COUNT; i++) {
        flow->expected[i] = turned(flow->inputs[i]);
        flow->expected[COUNT + i / LANES] += flow->expected[i];
    }
}

/* ---- asking ---- */

static weft_status ask(uint32_t *verdict, char *text, size_t size, weft_device *device,
                       const struct weft_probe_question *question, const uint32_t *expected) {
    WEFT_TRY(weft_probe_ask(question, device));
    for (size_t i = 0; i < question->result_count && *verdict == WEFT_PROBE_RIGHT; i++) {
        if (question->results[i] != expected[i]) {
            *verdict = WEFT_PROBE_WRONG;
            (void)snprintf(text, size, "%s: word %zu is 0x%08x, expected 0x%08x", question->shader,
                           i, question->results[i], expected[i]);
        }
    }
    return WEFT_OK;
}

static weft_status ask_both(uint32_t *verdict, char *text, size_t size, weft_device *device,
                            struct flow *flow) {
    struct weft_probe_question question = {.shader = barriers,
                                           .inputs = flow->inputs,
                                           .input_count = BARRIER_WORDS,
                                           .results = flow->results,
                                           .result_count = BARRIER_WORDS,
                                           .push = {ROWS, COLUMNS, GROUPS},
                                           .push_count = 3,
                                           .groups = GROUPS + 1};
    expect_barriers(flow);
    WEFT_TRY(ask(verdict, text, size, device, &question, flow->expected));
    question.shader = loops;
    question.input_count = question.result_count = LOOP_WORDS;
    question.push[0] = COUNT;
    question.push[1] = ROUNDS;
    question.push_count = 2;
    question.groups = LOOP_GROUPS;
    expect_loops(flow);
    return ask(verdict, text, size, device, &question, flow->expected);
}

weft_status weft_probe_flow(uint32_t *verdict, char *text, size_t size, weft_device *device) {
    struct flow *flow = weft_alloc_zero(&device->host, 1, sizeof *flow);
    if (!flow) {
        return weft_fail_memory(&device->host, "the probe");
    }
    *verdict = WEFT_PROBE_RIGHT;
    const weft_status status = ask_both(verdict, text, size, device, flow);
    weft_free(&device->host, flow);
    return status;
}

/* ---- long loops ---- */

/* Two loops of an invocation, and the second again: more turns than 2^16 only together. */
enum { TURNS = 30000, TURN_ROUNDS = 2, ALL_TURNS = TURNS * (1 + TURN_ROUNDS) };

/* As shaders/probe/turns.comp says. */
static void expect_turns(uint32_t results[2], uint32_t word) {
    uint32_t value = word;
    for (uint32_t k = 0; k < TURNS; k++) {
        value = value * UINT32_C(1664525) + k;
        value ^= value >> 15;
    }
    for (uint32_t round = 0; round < TURN_ROUNDS; round++) {
        for (uint32_t k = 0; k < TURNS; k++) {
            value = value * UINT32_C(22695477) + k;
            value ^= value >> 13;
        }
    }
    results[0] = value;
    results[1] = ALL_TURNS;
}

weft_status weft_probe_turns(uint32_t *verdict, char *text, size_t size, weft_device *device) {
    const uint32_t word = UINT32_C(2654435761);
    uint32_t results[2] = {0}, expected[2];
    const struct weft_probe_question question = {.shader = turns,
                                                 .inputs = &word,
                                                 .input_count = 1,
                                                 .results = results,
                                                 .result_count = 2,
                                                 .push = {TURNS, TURN_ROUNDS},
                                                 .push_count = 2,
                                                 .groups = 1};
    WEFT_TRY(weft_probe_ask(&question, device));
    expect_turns(expected, word);
    if (results[0] == expected[0] && results[1] == expected[1]) {
        *verdict = WEFT_PROBE_RIGHT;
        return WEFT_OK;
    }
    if (results[1] >= WEFT_PROBE_SURE_TURNS && results[1] < ALL_TURNS) {
        *verdict = WEFT_PROBE_ENDS_LOOPS;
        return WEFT_OK;
    }
    *verdict = WEFT_PROBE_WRONG;
    (void)snprintf(text, size, "%s: loops made %u turns of %u, with 0x%08x, expected 0x%08x", turns,
                   results[1], (uint32_t)ALL_TURNS, results[0], expected[0]);
    return WEFT_OK;
}

void weft_probe_flow_identify(weft_sha256 *hash) {
    static const char *const names[] = {barriers, loops, turns};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const struct weft_shader *shader = weft_shader_find(names[i]);
        weft_sha256_add(hash, shader->reproducible.words, shader->reproducible.size);
    }
}
