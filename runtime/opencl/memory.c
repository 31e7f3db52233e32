/* SPDX-License-Identifier: MIT */
/* Loads, stores and atomics of buffers, shared memory and push constants. */
#include "opencl/writer.h"

/* Name of a type in memory. */
static const char *memory_name(uint32_t type) {
    return weft_cl_type_names[type == WEFT_IR_F32   ? WEFT_IR_I32
                              : type == WEFT_IR_F64 ? WEFT_IR_I64
                                                    : type];
}

static uint32_t size_of(const struct weft_ir_instruction *instruction) {
    return weft_ir_bits(instruction->type) / 8;
}

bool weft_cl_is_vector(const struct weft_cl_writer *writer,
                       const struct weft_ir_instruction *instruction) {
    const bool accesses = instruction->op == WEFT_IR_LOAD || instruction->op == WEFT_IR_STORE;
    return accesses && !writer->program->checked && instruction->space != WEFT_IR_PUSH &&
           size_of(instruction) == 4 && (instruction->n == 2 || instruction->n == 4);
}

bool weft_cl_is_push(const struct weft_cl_writer *writer,
                     const struct weft_ir_instruction *instruction) {
    return instruction->op == WEFT_IR_LOAD && instruction->space == WEFT_IR_PUSH &&
           size_of(instruction) == 4 && weft_cl_argument(writer, instruction, 0) == 0;
}

/* Scalars that a module itself puts inside need no check. */
static bool is_checked(const struct weft_cl_writer *writer,
                       const struct weft_ir_instruction *instruction) {
    const struct weft_ir_program *program = writer->program;
    const uint64_t end = instruction->place + (uint64_t)instruction->n * size_of(instruction);
    const uint32_t size = instruction->space == WEFT_IR_SHARED ? program->shared_size
                          : instruction->space == WEFT_IR_PUSH ? program->push_size
                                                               : 0;
    return program->checked && (weft_cl_argument(writer, instruction, 0) != 0 || end > size);
}

uint32_t weft_cl_count_index(const struct weft_cl_writer *writer,
                             const struct weft_ir_instruction *instruction) {
    const uint32_t accesses = weft_cl_is_vector(writer, instruction) ? 1 : instruction->n;
    return is_checked(writer, instruction) ? 2 * accesses : accesses;
}

/* ---- places ---- */

static void write_base(struct weft_cl_writer *writer,
                       const struct weft_ir_instruction *instruction) {
    if (instruction->space == WEFT_IR_BUFFER) {
        writer->bindings |= UINT32_C(1) << instruction->root;
        weft_cl_add(writer, "p%u", instruction->root);
    } else {
        weft_cl_add(writer, instruction->space == WEFT_IR_SHARED ? "m" : "a.push");
    }
}

static const char *space_of(const struct weft_ir_instruction *instruction) {
    return instruction->space == WEFT_IR_BUFFER   ? "__global"
           : instruction->space == WEFT_IR_SHARED ? "__local"
                                                  : "__private";
}

static void write_index(struct weft_cl_writer *writer,
                        const struct weft_ir_instruction *instruction) {
    const weft_ir_value index = weft_cl_argument(writer, instruction, 0);
    if (index == 0) {
        weft_cl_add(writer, "0u");
    } else {
        weft_cl_write_value(writer, index, true);
    }
}

/* A scalar in memory, as what can be read or assigned to. */
static void write_place(struct weft_cl_writer *writer,
                        const struct weft_ir_instruction *instruction, uint32_t component) {
    const uint32_t word = instruction->place / 4 + component;
    if (weft_cl_is_push(writer, instruction) && !is_checked(writer, instruction) &&
        word < WEFT_CL_PUSH_NAMES) {
        writer->push |= UINT64_C(1) << word;
        weft_cl_add(writer, "c%u", word);
        return;
    }
    if (size_of(instruction) == 4) {
        write_base(writer, instruction);
        weft_cl_add(writer, "[");
        weft_cl_write_words(writer, instruction, component);
        weft_cl_add(writer, "]");
        return;
    }
    weft_cl_add(writer, "*(%s %s *)((%s uchar *)", space_of(instruction),
                memory_name(instruction->type), space_of(instruction));
    write_base(writer, instruction);
    weft_cl_add(writer, " + ");
    write_index(writer, instruction);
    weft_cl_add(writer, " + %uu)", instruction->place + component * size_of(instruction));
}

/* Writes the condition that a scalar lies within its memory. */
static void write_check(struct weft_cl_writer *writer,
                        const struct weft_ir_instruction *instruction, uint32_t component) {
    const struct weft_ir_program *program = writer->program;
    const uint64_t need = instruction->place + (uint64_t)(component + 1) * size_of(instruction);
    writer->checks = true;
    if (need > UINT32_MAX) {
        weft_cl_add(writer, "false");
        return;
    }
    weft_cl_add(writer, "weft_has(");
    if (instruction->space == WEFT_IR_BUFFER) {
        weft_cl_add(writer, "a.size[%u]", instruction->root);
    } else {
        weft_cl_add(writer, "%uu",
                    instruction->space == WEFT_IR_SHARED ? program->shared_size
                                                         : program->push_size);
    }
    weft_cl_add(writer, ", %uu, ", (uint32_t)need);
    write_index(writer, instruction);
    weft_cl_add(writer, ")");
}

/* ---- loads ---- */

void weft_cl_write_load(struct weft_cl_writer *writer,
                        const struct weft_ir_instruction *instruction, uint32_t component) {
    const bool checked = is_checked(writer, instruction);
    if (weft_ir_is_float(instruction->type)) {
        weft_cl_add(writer, "as_%s", weft_cl_type_names[instruction->type]);
    }
    if (checked || weft_ir_is_float(instruction->type) || size_of(instruction) != 4) {
        weft_cl_add(writer, "(");
    }
    if (checked) {
        write_check(writer, instruction, component);
        weft_cl_add(writer, " ? ");
    }
    write_place(writer, instruction, component);
    if (checked) {
        weft_cl_add(writer, " : (%s)0", memory_name(instruction->type));
    }
    if (checked || weft_ir_is_float(instruction->type) || size_of(instruction) != 4) {
        weft_cl_add(writer, ")");
    }
}

/* True if a vector lies where its type may: the memory of bindings and shared memory begins at such places. */
static bool is_whole(const struct weft_cl_writer *writer,
                     const struct weft_ir_instruction *instruction) {
    return weft_cl_is_aligned(writer, instruction, instruction->n == 4 ? 4 : 3);
}

static void write_vector_place(struct weft_cl_writer *writer,
                               const struct weft_ir_instruction *instruction) {
    write_base(writer, instruction);
    weft_cl_add(writer, " + ");
    weft_cl_write_words(writer, instruction, 0);
    weft_cl_add(writer, ")");
}

void weft_cl_write_vector_load(struct weft_cl_writer *writer,
                               const struct weft_ir_instruction *instruction) {
    const uint32_t n = instruction->n;
    weft_cl_add(writer, "uint%u w%u = ", n, instruction->result);
    if (is_whole(writer, instruction)) {
        weft_cl_add(writer, "*(%s uint%u *)(", space_of(instruction), n);
    } else {
        weft_cl_add(writer, "vload%u(0, ", n);
    }
    write_vector_place(writer, instruction);
    weft_cl_add(writer, ";\n");
}

/* ---- stores ---- */

static void write_vector_store(struct weft_cl_writer *writer,
                               const struct weft_ir_instruction *instruction) {
    const uint32_t n = instruction->n;
    const bool whole = is_whole(writer, instruction);
    if (whole) {
        weft_cl_add(writer, "*(%s uint%u *)(", space_of(instruction), n);
        write_vector_place(writer, instruction);
        weft_cl_add(writer, " = ");
    } else {
        weft_cl_add(writer, "vstore%u(", n);
    }
    weft_cl_add(writer, "(uint%u)(", n);
    for (uint32_t i = 0; i < n; i++) {
        weft_cl_add(writer, i > 0 ? ", " : "");
        weft_cl_write_bits(writer, weft_cl_argument(writer, instruction, 1 + i), false);
    }
    weft_cl_add(writer, ")");
    if (!whole) {
        weft_cl_add(writer, ", 0, ");
        write_vector_place(writer, instruction);
    }
    weft_cl_add(writer, ";\n");
}

void weft_cl_write_store(struct weft_cl_writer *writer,
                         const struct weft_ir_instruction *instruction) {
    if (weft_cl_is_vector(writer, instruction)) {
        write_vector_store(writer, instruction);
        return;
    }
    for (uint32_t i = 0; i < instruction->n; i++) {
        if (is_checked(writer, instruction)) {
            weft_cl_add(writer, "if (");
            write_check(writer, instruction, i);
            weft_cl_add(writer, ") ");
        }
        write_place(writer, instruction, i);
        weft_cl_add(writer, " = ");
        weft_cl_write_bits(writer, weft_cl_argument(writer, instruction, 1 + i), false);
        weft_cl_add(writer, ";\n");
    }
}

/* ---- atomics: of 32 bits ---- */

struct atomic {
    uint16_t opcode;
    bool is_signed;
    const char *name;
    const char *operand; /* in place of the instruction's, or null */
};

static const struct atomic *find_atomic(uint32_t opcode) {
    static const struct atomic atomics[] = {
        {SpvOpAtomicLoad, false, "or", "0u"},
        {SpvOpAtomicStore, false, "xchg", NULL},
        {SpvOpAtomicExchange, false, "xchg", NULL},
        {SpvOpAtomicCompareExchange, false, "cmpxchg", NULL},
        {SpvOpAtomicIIncrement, false, "add", "1u"},
        {SpvOpAtomicIDecrement, false, "sub", "1u"},
        {SpvOpAtomicIAdd, false, "add", NULL},
        {SpvOpAtomicISub, false, "sub", NULL},
        {SpvOpAtomicSMin, true, "min", NULL},
        {SpvOpAtomicUMin, false, "min", NULL},
        {SpvOpAtomicSMax, true, "max", NULL},
        {SpvOpAtomicUMax, false, "max", NULL},
        {SpvOpAtomicAnd, false, "and", NULL},
        {SpvOpAtomicOr, false, "or", NULL},
        {SpvOpAtomicXor, false, "xor", NULL},
    };
    for (size_t i = 0; i < sizeof atomics / sizeof atomics[0]; i++) {
        if (atomics[i].opcode == opcode) {
            return &atomics[i];
        }
    }
    return NULL;
}

static void write_call(struct weft_cl_writer *writer, const struct weft_ir_instruction *instruction,
                       const struct atomic *atomic) {
    const char *type = weft_cl_type_names[WEFT_IR_I32];
    type = atomic->is_signed ? weft_cl_signed_names[WEFT_IR_I32] : type;
    weft_cl_add(writer, "(uint)atomic_%s((volatile %s %s *)&", atomic->name, space_of(instruction),
                type);
    write_place(writer, instruction, 0);
    if (atomic->operand) {
        weft_cl_add(writer, ", %s", atomic->operand);
    }
    /* A value to compare with comes before what takes its place. */
    for (uint32_t i = instruction->argument_count; !atomic->operand && i > 1; i--) {
        weft_cl_add(writer, ", (%s)", type);
        weft_cl_write_value(writer, weft_cl_argument(writer, instruction, i - 1), true);
    }
    weft_cl_add(writer, ");\n");
}

void weft_cl_write_atomic(struct weft_cl_writer *writer,
                          const struct weft_ir_instruction *instruction) {
    const struct atomic *atomic = find_atomic(instruction->variant);
    const weft_ir_value result = instruction->result;
    if (!atomic) {
        weft_cl_refuse(writer->program, instruction->variant);
        return;
    }
    if (instruction->type != WEFT_IR_I32) {
        weft_ir_error(writer->program, WEFT_UNSUPPORTED,
                      "an atomic operation on another type than integers of 32 bits");
        return;
    }
    if (is_checked(writer, instruction)) {
        if (result != 0) {
            weft_cl_add(writer, "uint v%u = 0u;\n", result);
        }
        weft_cl_add(writer, "if (");
        write_check(writer, instruction, 0);
        weft_cl_add(writer, result != 0 ? ") v%u = " : ") (void)", result);
    } else {
        weft_cl_add(writer, result != 0 ? "uint v%u = " : "(void)", result);
    }
    write_call(writer, instruction, atomic);
}
