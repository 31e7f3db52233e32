/* SPDX-License-Identifier: MIT */
/* Built-in variables, and subgroups, which are of one invocation. */
#include "opencl/writer.h"

/* ---- inputs: names that are declared at the kernel's begin ---- */

enum { GROUP = 0, LOCAL, GLOBAL, INDEX, AXES = 3 };

static const char *const names[] = {"group_", "local_", "global_", "index"};

static void write_name(struct weft_cl_writer *writer, uint32_t kind, uint32_t axis) {
    writer->inputs |= UINT32_C(1) << (AXES * kind + axis);
    if (kind == INDEX) {
        weft_cl_add(writer, "%s", names[kind]);
    } else {
        weft_cl_add(writer, "%s%c", names[kind], "xyz"[axis]);
    }
}

void weft_cl_write_input(struct weft_cl_writer *writer,
                         const struct weft_ir_instruction *instruction) {
    const uint32_t *size = writer->program->local_size;
    const uint32_t axis = instruction->place < AXES ? instruction->place : 0;
    switch (instruction->root) {
    case SpvBuiltInNumWorkgroups:
        weft_cl_add(writer, "a.groups[%u]", axis);
        break;
    case SpvBuiltInWorkgroupId:
        write_name(writer, GROUP, axis);
        break;
    case SpvBuiltInLocalInvocationId:
        write_name(writer, LOCAL, axis);
        break;
    case SpvBuiltInGlobalInvocationId:
        write_name(writer, GLOBAL, axis);
        break;
    case SpvBuiltInLocalInvocationIndex:
    case SpvBuiltInSubgroupId:
        write_name(writer, INDEX, 0);
        break;
    case SpvBuiltInSubgroupSize:
        weft_cl_add(writer, "1u");
        break;
    case SpvBuiltInNumSubgroups:
        weft_cl_add(writer, "%uu", size[0] * size[1] * size[2]);
        break;
    case SpvBuiltInSubgroupLocalInvocationId:
        weft_cl_add(writer, "0u");
        break;
    default:
        weft_ir_error(writer->program, WEFT_UNSUPPORTED,
                      "built-in variable %u is not written in OpenCL C", instruction->root);
        break;
    }
}

static void write_axis(struct weft_text *text, const struct weft_cl_writer *writer, uint32_t kind,
                       uint32_t axis) {
    weft_text_add(text, "uint %s%c = ", names[kind], "xyz"[axis]);
    if (kind == LOCAL) {
        weft_text_add(text, "(uint)get_local_id(%u);\n", axis);
    } else if (kind == GROUP) {
        weft_text_add(text, "(uint)get_group_id(%u) + a.base[%u];\n", axis, axis);
    } else {
        weft_text_add(text,
                      "((uint)get_group_id(%u) + a.base[%u]) * %uu + (uint)get_local_id(%u);\n",
                      axis, axis, writer->program->local_size[axis], axis);
    }
}

void weft_cl_write_inputs(struct weft_text *text, const struct weft_cl_writer *writer) {
    const uint32_t *size = writer->program->local_size;
    for (uint32_t i = 0; i < AXES * INDEX; i++) {
        if ((writer->inputs >> i & 1) != 0) {
            write_axis(text, writer, i / AXES, i % AXES);
        }
    }
    if ((writer->inputs >> (AXES * INDEX) & 1) != 0) {
        weft_text_add(text,
                      "uint index = ((uint)get_local_id(2) * %uu + (uint)get_local_id(1)) * %uu + "
                      "(uint)get_local_id(0);\n",
                      size[1], size[0]);
    }
}

/* ---- subgroups ---- */

void weft_cl_write_subgroup(struct weft_cl_writer *writer,
                            const struct weft_ir_instruction *instruction, bool beside) {
    enum { EXCLUSIVE_SCAN = 2 };
    const uint32_t opcode = instruction->variant;
    const bool scans = opcode >= SpvOpGroupNonUniformIAdd;
    const weft_ir_value value =
        opcode == SpvOpGroupNonUniformElect ? 0 : weft_cl_argument(writer, instruction, 0);
    if (opcode == SpvOpGroupNonUniformAllEqual &&
        weft_ir_is_float(writer->program->values[value].type)) {
        weft_cl_add(writer, "(!isnan(");
        weft_cl_write_value(writer, value, false);
        weft_cl_add(writer, "))");
    } else if (opcode == SpvOpGroupNonUniformElect || opcode == SpvOpGroupNonUniformAllEqual) {
        weft_cl_add(writer, "true");
    } else if (scans && instruction->place == EXCLUSIVE_SCAN) {
        weft_cl_write_constant(writer, instruction->type,
                               weft_ir_identity(opcode, instruction->type));
    } else if (value != 0 && (scans || opcode <= SpvOpGroupNonUniformBroadcastFirst)) {
        weft_cl_write_value(writer, value, beside);
    } else {
        weft_cl_refuse(writer->program, opcode);
    }
}
