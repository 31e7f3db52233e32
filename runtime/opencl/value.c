/* SPDX-License-Identifier: MIT */
/* Values and statements. */
#include "opencl/emit.h"
#include "opencl/writer.h"

#define MINUS_ONE UINT32_C(0xbf800000) /* as a float's word */

const char *const weft_cl_type_names[WEFT_IR_TYPES] = {"bool",  "uchar", "ushort", "uint",
                                                       "ulong", "float", "double"};
const char *const weft_cl_signed_names[WEFT_IR_TYPES] = {"bool", "char",  "short", "int",
                                                         "long", "float", "double"};

void weft_cl_add(struct weft_cl_writer *writer, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    weft_text_add_list(&writer->text, format, arguments);
    va_end(arguments);
}

weft_ir_value weft_cl_argument(const struct weft_cl_writer *writer,
                               const struct weft_ir_instruction *instruction, uint32_t index) {
    return writer->program->arguments[instruction->arguments + index];
}

const struct weft_ir_instruction *weft_cl_maker(const struct weft_cl_writer *writer,
                                                weft_ir_value value) {
    const struct weft_ir_def *def = &writer->program->values[value];
    return def->constant || def->instruction == WEFT_IR_NONE
               ? NULL
               : &writer->program->instructions[def->instruction];
}

/*
 * Intel's compiler (2026.22; intel/llvm issue 23220) takes a negated float for one value of all the workgroup, and keeps it as such across a barrier.
 * It makes negations of x * -1, -0 - x and x ^ 0x80000000, too. So where there are barriers the sign comes from an argument.
 */
static bool write_sign(struct weft_cl_writer *writer, uint32_t type, uint32_t word) {
    const char *text = type == WEFT_IR_I32 && word == WEFT_CL_SIGN   ? "sign"
                       : type == WEFT_IR_F32 && word == WEFT_CL_SIGN ? "as_float(sign)"
                       : type == WEFT_IR_F32 && word == MINUS_ONE ? "as_float(0x3f800000u ^ sign)"
                                                                  : NULL;
    if (!writer->hides_sign || !text) {
        return false;
    }
    weft_cl_add(writer, "%s", text);
    return true;
}

void weft_cl_write_constant(struct weft_cl_writer *writer, uint32_t type, uint64_t bits) {
    const uint32_t word = (uint32_t)bits;
    if (write_sign(writer, type, word)) {
        return;
    }
    switch (type) {
    case WEFT_IR_BOOL:
        weft_cl_add(writer, "%s", bits != 0 ? "true" : "false");
        break;
    case WEFT_IR_F32:
        weft_cl_add(writer, "as_float(0x%08xu)", word);
        break;
    case WEFT_IR_F64:
        weft_cl_add(writer, "as_double(0x%016llxul)", (unsigned long long)bits);
        break;
    case WEFT_IR_I64:
        weft_cl_add(writer, "%lluul", (unsigned long long)bits);
        break;
    case WEFT_IR_I32:
        weft_cl_add(writer, "%uu", word);
        break;
    default:
        weft_cl_add(writer, "(%s)%uu", weft_cl_type_names[type], word);
        break;
    }
}

/* Writes the expression of result `component` of an instruction. */
static void write_result(struct weft_cl_writer *writer,
                         const struct weft_ir_instruction *instruction, uint32_t component,
                         bool beside) {
    switch (instruction->op) {
    case WEFT_IR_LOAD:
        weft_cl_write_load(writer, instruction, component);
        break;
    case WEFT_IR_GET:
        weft_cl_write_get(writer, instruction, component, beside);
        break;
    case WEFT_IR_INPUT:
        weft_cl_write_input(writer, instruction);
        break;
    case WEFT_IR_LENGTH:
        weft_cl_add(writer, "(a.size[%u] > %uu ? (a.size[%u] - %uu) / %uu : 0u)", instruction->root,
                    instruction->place, instruction->root, instruction->place, instruction->stride);
        break;
    case WEFT_IR_SUBGROUP:
        weft_cl_write_subgroup(writer, instruction, beside);
        break;
    default:
        weft_cl_write_operation(
            writer, instruction,
            writer->steps[instruction - writer->program->instructions].operation, beside);
        break;
    }
}

void weft_cl_write_value(struct weft_cl_writer *writer, weft_ir_value value, bool beside) {
    const struct weft_ir_instruction *maker = weft_cl_maker(writer, value);
    if (!maker) {
        weft_cl_write_constant(writer, writer->program->values[value].type,
                               writer->program->values[value].bits);
        return;
    }
    const uint32_t component = value - maker->result;
    if (writer->steps[maker - writer->program->instructions].plan != WEFT_CL_STATEMENT) {
        write_result(writer, maker, component, beside);
    } else if (maker->op == WEFT_IR_LOAD && weft_cl_is_vector(writer, maker)) {
        weft_cl_add(writer, maker->type == WEFT_IR_F32 ? "as_float(w%u.%c)" : "w%u.%c",
                    maker->result, "xyzw"[component]);
    } else {
        weft_cl_add(writer, "v%u", value);
    }
}

void weft_cl_write_bits(struct weft_cl_writer *writer, weft_ir_value value, bool beside) {
    const struct weft_ir_def *def = &writer->program->values[value];
    const uint32_t type = def->type == WEFT_IR_F64 ? WEFT_IR_I64 : WEFT_IR_I32;
    if (def->constant && weft_ir_is_float(def->type)) {
        weft_cl_write_constant(writer, type, def->bits);
    } else if (weft_ir_is_float(def->type)) {
        weft_cl_add(writer, "as_%s(", weft_cl_type_names[type]);
        weft_cl_write_value(writer, value, false);
        weft_cl_add(writer, ")");
    } else {
        weft_cl_write_value(writer, value, beside);
    }
}

void weft_cl_write_statement(struct weft_cl_writer *writer, uint32_t index) {
    const struct weft_ir_instruction *instruction = &writer->program->instructions[index];
    if (writer->steps[index].plan != WEFT_CL_STATEMENT) {
        return;
    }
    switch (instruction->op) {
    case WEFT_IR_STORE:
        weft_cl_write_store(writer, instruction);
        return;
    case WEFT_IR_ATOMIC:
        weft_cl_write_atomic(writer, instruction);
        return;
    case WEFT_IR_SET:
        weft_cl_write_set(writer, index);
        return;
    default:
        break;
    }
    if (instruction->op == WEFT_IR_LOAD && weft_cl_is_vector(writer, instruction)) {
        weft_cl_write_vector_load(writer, instruction);
        return;
    }
    for (uint32_t i = 0; i < instruction->n; i++) {
        weft_cl_add(writer, "%s v%u = ", weft_cl_type_names[instruction->type],
                    instruction->result + i);
        write_result(writer, instruction, i, false);
        weft_cl_add(writer, ";\n");
    }
}
