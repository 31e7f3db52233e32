/* SPDX-License-Identifier: MIT */
#include "shader/probe_fma.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/math/fused.h"
#include "core/try.h"
#include "core/vendor.h"
#include "shader/embedded.h"
#include "shader/probe_ask.h"
#include "shader/probe_cases.h"

#define SHADER     "probe/fma"
#define VARIABLE   "WEFT_FMA"
#define LOCAL_SIZE 64u

/* ---- asking ---- */

struct questions {
    uint32_t inputs[WEFT_PROBE_FMA_CASES * WEFT_PROBE_FMA_INPUTS];
    uint32_t results[WEFT_PROBE_FMA_CASES * WEFT_PROBE_FMA_RESULTS];
};

static weft_status ask(uint32_t *verdict, char *text, size_t size, struct questions *questions,
                       weft_device *device) {
    const struct weft_probe_question question = {
        .shader = SHADER,
        .inputs = questions->inputs,
        .input_count = sizeof questions->inputs / sizeof questions->inputs[0],
        .results = questions->results,
        .result_count = sizeof questions->results / sizeof questions->results[0],
        .push = {WEFT_PROBE_FMA_CASES},
        .push_count = 1,
        .groups = WEFT_PROBE_FMA_CASES / LOCAL_SIZE};
    WEFT_TRY(weft_probe_ask(&question, device));
    *verdict = weft_probe_fma_judge(text, size, questions->inputs, questions->results);
    return WEFT_OK;
}

/* A device whose own Fma is wrong about subnormals alone is asked again, with modules that flush them. One that cannot compile it lacks it. */
static weft_status try_kind(uint32_t *verdict, uint32_t *needs, char *text, size_t size,
                            struct questions *questions, weft_device *device,
                            void (*apply)(weft_device *device, uint32_t needs)) {
    const bool own = device->info.fma <= WEFT_FMA_EXTENSION;
    uint32_t found = *needs;
    apply(device, found);
    const weft_status status = ask(verdict, text, size, questions, device);
    if (own && status == WEFT_DRIVER_ERROR) { /* as rusticl of Mesa 26.2 with LLVM 22's libclc */
        *verdict = WEFT_PROBE_WRONG;
        (void)snprintf(text, size, "its compiler does not know an fma");
        return WEFT_OK;
    }
    WEFT_TRY(status);
    while (own && *verdict == WEFT_PROBE_KEEPS_SUBNORMALS &&
           weft_probe_needs(found, *verdict) != found) {
        found = weft_probe_needs(found, *verdict);
        apply(device, found);
        WEFT_TRY(ask(verdict, text, size, questions, device));
    }
    if (*verdict == WEFT_PROBE_RIGHT) {
        *needs = found;
    }
    return WEFT_OK;
}

/* ---- choosing ---- */

static bool has_kind(const weft_device *device, weft_fma fma) {
    return fma == WEFT_FMA_EXTENSION ? device->fma_extension
           : fma == WEFT_FMA_FLOAT64 ? device->float64
                                     : true;
}

/* Name that the environment requests, or "". */
static const char *wanted(void) {
    const char *name = getenv(VARIABLE);
    return name ? name : "";
}

/* True if that leaves a way open. */
static bool is_wanted(weft_fma fma) {
    const char *name = wanted();
    return name[0] == '\0' || strcmp(name, weft_fma_name(fma)) == 0;
}

static const weft_fma order[] = {WEFT_FMA_EXTENSION, WEFT_FMA_INSTRUCTION, WEFT_FMA_FLOAT64,
                                 WEFT_FMA_INTEGERS};

enum { KINDS = sizeof order / sizeof order[0] };

weft_status weft_probe_fma(uint32_t *verdict, uint32_t *needs, char *text, size_t size,
                           weft_device *device,
                           void (*apply)(weft_device *device, uint32_t needs)) {
    struct questions *questions = weft_alloc_zero(&device->host, 1, sizeof *questions);
    if (!questions) {
        return weft_fail_memory(&device->host, "the probe");
    }
    weft_probe_fma_make(questions->inputs);
    *verdict = WEFT_PROBE_WRONG;
    (void)snprintf(text, size, "it has no fma by %s, which " VARIABLE " asks for", wanted());
    weft_status status = WEFT_OK;
    for (uint32_t i = 0; i < KINDS && status == WEFT_OK && *verdict != WEFT_PROBE_RIGHT; i++) {
        if (has_kind(device, order[i]) && is_wanted(order[i])) {
            device->info.fma = order[i];
            status = try_kind(verdict, needs, text, size, questions, device, apply);
        }
    }
    apply(device, *needs);
    weft_free(&device->host, questions);
    return status;
}

void weft_probe_fma_guess(weft_device *device) {
    /* Broadcom's GPUs have no such instruction, and Qualcomm's compiler takes one that rounds twice. */
    const bool lacks = device->info.vendor_id == WEFT_VENDOR_BROADCOM ||
                       device->info.vendor_id == WEFT_VENDOR_QUALCOMM;
    device->info.fma = WEFT_FMA_INTEGERS;
    for (uint32_t i = KINDS; i-- > 0;) {
        if (has_kind(device, order[i]) && is_wanted(order[i]) &&
            (order[i] != WEFT_FMA_INSTRUCTION || !lacks || wanted()[0] != '\0')) {
            device->info.fma = order[i];
        }
    }
}

void weft_probe_fma_identify(weft_sha256 *hash, const weft_device *device) {
    const struct weft_shader *shader = weft_shader_find(SHADER);
    weft_sha256_add(hash, shader->reproducible.words, shader->reproducible.size);
    weft_sha256_add(hash, wanted(), strlen(wanted()) + 1);
    for (uint32_t i = 0; i < KINDS; i++) {
        const uint8_t there = has_kind(device, order[i]);
        weft_sha256_add(hash, &there, sizeof there);
    }
}
