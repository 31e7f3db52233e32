/* SPDX-License-Identifier: MIT */
/*
 * Modules that weft_spirv_check lets pass, through the front end of the processor's compiler: to the intermediate form and through its
 * analyses, without LLVM, through the interpreter, and into OpenCL C. A broken module is an error, within bounds of time and memory. How long it is says how long vectors are.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "interpret/interpret.h"
#include "native/llvm/analysis.h"
#include "opencl/emit.h"
#include "spirv/check.h"

/* One workgroup of what may be anything, over little memory. */
static void interpret(const struct weft_ir_source *source) {
    static uint64_t memory[64];
    char text[WEFT_IR_TEXT];
    struct weft_interpreted *kernel = NULL;
    if (weft_interpret(&kernel, source, false, text, NULL) != WEFT_OK) {
        return;
    }
    struct weft_interpret_group *group = calloc(1, sizeof *group);
    fuzz_expect(group != NULL);
    group->kernel = kernel;
    group->memory = malloc(weft_interpreted_memory(kernel));
    group->step_limit = 1u << 16;
    group->robust = source->lanes == 4;
    for (uint32_t i = 0; i < WEFT_INTERPRET_RANGES; i++) {
        group->range[i] = (struct weft_interpreted_range){
            .data = (uint8_t *)memory, .size = sizeof memory - 4 * i % 64, .writable = true};
    }
    if (group->memory) {
        weft_interpret_begin(group);
        weft_interpret_group(group);
    }
    free(group->memory);
    free(group);
    weft_interpreted_free(&kernel);
}

static void write_text(const struct weft_ir_source *source) {
    struct weft_cl_text text;
    char error[WEFT_IR_TEXT];
    const weft_status status = weft_cl_emit(&text, source, error, NULL);
    fuzz_expect((status == WEFT_OK) == (text.text != NULL));
    weft_free(NULL, text.text);
}

static void compile(const uint32_t *words, size_t size, uint32_t lanes) {
    static const uint32_t given = 3;
    const struct weft_ir_specialization constants[] = {{.id = 1, .size = 4, .value = &given}};
    const struct weft_ir_source source = {.words = words,
                                          .size = size,
                                          .entry_point = "main",
                                          .constants = constants,
                                          .constant_count = 1,
                                          .lanes = lanes,
                                          .checked = true};
    struct weft_ir_program program = {.lanes = lanes, .checked = true};
    weft_status status = weft_ir_decode(&program, &source);
    fuzz_expect(status == program.status);
    if (status == WEFT_OK) {
        status = weft_ir_analyze(&program);
        fuzz_expect(status == program.status);
    }
    weft_ir_free(&program);
    interpret(&source);
    write_text(&source);
    struct weft_ir_source unchecked = source;
    unchecked.checked = false;
    write_text(&unchecked);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    uint32_t *words = malloc(size + 1); /* aligned */
    fuzz_expect(words != NULL);
    memcpy(words, data, size);
    if (weft_spirv_check(words, size, NULL) == WEFT_OK) {
        compile(words, size, 4u << size / 4 % 3);
    }
    free(words);
    return 0;
}

#ifdef WEFT_LIBFUZZER
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t limit);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t limit, unsigned seed);

/* Mostly ids for other ids, small numbers, and instructions for others of the same length: what the check lets pass. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t limit, unsigned seed) {
    const size_t words = size / 4;
    if (seed % 8 == 0 || words <= WEFT_SPIRV_HEADER_WORDS) {
        return LLVMFuzzerMutate(data, size, limit);
    }
    uint64_t state = seed;
    for (unsigned i = 0; i <= seed / 8 % 3; i++) {
        size_t at[2];
        for (size_t k = 0; k < 2; k++) {
            state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            at[k] =
                WEFT_SPIRV_HEADER_WORDS + (size_t)(state >> 33) % (words - WEFT_SPIRV_HEADER_WORDS);
        }
        memcpy(data + 4 * at[0], data + 4 * at[1], 4);
    }
    return size;
}
#endif
