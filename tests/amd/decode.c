/* SPDX-License-Identifier: MIT */
/* From code to instructions, by LLVM's disassembler. */
#include <llvm-c/Disassembler.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "code_object.h"

#define TRIPLE "amdgcn-amd-amdhsa"

/* llvm-c/Target.h declares these only of the targets that LLVM was built for, by macros. */
void LLVMInitializeAMDGPUTargetInfo(void);
void LLVMInitializeAMDGPUTarget(void);
void LLVMInitializeAMDGPUTargetMC(void);
void LLVMInitializeAMDGPUDisassembler(void);

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void begin(void) {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTarget();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUDisassembler();
}

static bool add(struct amd_program *program, const struct amd_instruction *instruction,
                char error[AMD_TEXT]) {
    if ((program->count & (program->count - 1)) == 0) { /* full at each power of 2 */
        const size_t room = program->count == 0 ? 1 : 2 * (size_t)program->count;
        struct amd_instruction *more = realloc(program->instructions, room * sizeof *more);
        if (!more) {
            (void)snprintf(error, AMD_TEXT, "out of memory for instructions");
            return false;
        }
        program->instructions = more;
    }
    program->instructions[program->count++] = *instruction;
    return true;
}

static bool add_line(struct amd_program *program, const char *line, size_t at, size_t size,
                     bool is_pair, char error[AMD_TEXT]) {
    struct amd_instruction instruction;
    if (!amd_parse(&instruction, line, error)) {
        const size_t length = strlen(error);
        (void)snprintf(error + length, AMD_TEXT - length, " (%s)", line + strspn(line, " \t"));
        return false;
    }
    instruction.place = (uint32_t)(at / 4);
    instruction.words = (uint32_t)(size / 4);
    instruction.is_pair = is_pair;
    return add(program, &instruction, error);
}

/* RDNA 3's two operations of one instruction have " :: " between them. */
static bool add_text(struct amd_program *program, char *text, size_t at, size_t size,
                     char error[AMD_TEXT]) {
    char *second = strstr(text, " :: ");
    program->of_word[at / 4] = program->count;
    if (!second) {
        return add_line(program, text, at, size, false, error);
    }
    *second = '\0';
    return add_line(program, text, at, size, true, error) &&
           add_line(program, second + strlen(" :: "), at, size, false, error);
}

/* Branches count words from the instruction behind them, in 16 bits with a sign. */
static bool is_branch(const struct amd_instruction *instruction) {
    return strncmp(instruction->operation->name, "s_branch", 8) == 0 ||
           strncmp(instruction->operation->name, "s_cbranch", 9) == 0;
}

static int64_t target_of(const struct amd_instruction *instruction) {
    return (int64_t)instruction->place + instruction->words +
           (int16_t)instruction->operands[0].integer;
}

/* RDNA runs waves of 64, too, whose masks are pairs of registers. */
static LLVMDisasmContextRef open_reader(const struct amd_program *program, char error[AMD_TEXT]) {
    (void)pthread_once(&once, begin);
    const struct amd_gpu *own = amd_gpu_find(program->gpu->name);
    const bool is_wider = own && own->wave_size < program->gpu->wave_size;
    LLVMDisasmContextRef reader =
        is_wider
            ? LLVMCreateDisasmCPUFeatures(TRIPLE, program->gpu->name,
                                          "-wavefrontsize32,+wavefrontsize64", NULL, 0, NULL, NULL)
            : LLVMCreateDisasmCPU(TRIPLE, program->gpu->name, NULL, 0, NULL, NULL);
    if (!reader) {
        (void)snprintf(error, AMD_TEXT, "LLVM has no disassembler for %s", program->gpu->name);
    }
    return reader;
}

/* Where nobody says where the code ends: behind an s_endpgm that no branch goes past. */
static bool is_end(const struct amd_program *program, size_t first) {
    const struct amd_instruction *last = &program->instructions[program->count - 1];
    int64_t farthest = 0;
    if (strcmp(last->operation->name, "s_endpgm") != 0) {
        return false;
    }
    for (size_t i = first; i < program->count; i++) {
        const struct amd_instruction *instruction = &program->instructions[i];
        const int64_t target = is_branch(instruction) ? target_of(instruction) : 0;
        farthest = target > farthest ? target : farthest;
    }
    return farthest <= (int64_t)last->place + last->words - 1;
}

static bool decode(struct amd_program *program, size_t from, size_t to, size_t *end,
                   char error[AMD_TEXT]) {
    const size_t first = program->count;
    char text[512];
    LLVMDisasmContextRef reader = open_reader(program, error);
    bool decodes = reader != NULL, ends = false;
    while (decodes && !ends && from < to) {
        const size_t size = LLVMDisasmInstruction(reader, program->bytes + from, to - from, from,
                                                  text, sizeof text);
        if (size < 4 || size % 4 != 0) {
            (void)snprintf(error, AMD_TEXT, "no instruction at byte %zu of the code", from);
            decodes = false;
        } else {
            decodes = add_text(program, text, from, size, error);
            from += size;
            ends = decodes && end && is_end(program, first);
        }
    }
    if (end) {
        *end = from;
    }
    if (reader) {
        LLVMDisasmDispose(reader);
    }
    return decodes;
}

bool amd_decode(struct amd_program *program, size_t from, size_t to, char error[AMD_TEXT]) {
    return decode(program, from, to, NULL, error);
}

bool amd_decode_open(struct amd_program *program, size_t most, size_t *end, char error[AMD_TEXT]) {
    return decode(program, 0, most, end, error);
}

bool amd_decode_end(struct amd_program *program, char error[AMD_TEXT]) {
    const int64_t words = (int64_t)(program->code_size / 4);
    for (uint32_t i = 0; i < program->count; i++) {
        struct amd_instruction *instruction = &program->instructions[i];
        if (!is_branch(instruction)) {
            continue;
        }
        const int64_t word = target_of(instruction);
        if (instruction->operands[0].kind != AMD_CONSTANT || word < 0 || word >= words ||
            program->of_word[word] == UINT32_MAX) {
            (void)snprintf(error, AMD_TEXT, "%s leads to no instruction",
                           instruction->operation->name);
            return false;
        }
        instruction->target = program->of_word[word];
    }
    return true;
}
