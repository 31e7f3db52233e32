/* SPDX-License-Identifier: MIT */
/* From a module to a text. */
#include "opencl/emit.h"

#include "core/rules.h"

#include <stdio.h>
#include <string.h>

#include "opencl/writer.h"

/* ---- around the body ---- */

/* Contraction may be left to the compiler where each instruction allows it. */
static bool may_contract(const struct weft_ir_program *program) {
    uint32_t fusible = 0, others = 0;
    for (uint32_t i = 0; i < program->instruction_count; i++) {
        const struct weft_ir_instruction *instruction = &program->instructions[i];
        if (instruction->op >= SpvOpFAdd && instruction->op <= SpvOpFMod &&
            weft_ir_is_float(instruction->type)) {
            fusible += instruction->fusible ? 1 : 0;
            others += instruction->fusible ? 0 : 1;
        }
    }
    return fusible > 0 && others == 0;
}

static bool has_doubles(const struct weft_ir_program *program) {
    bool has = false;
    for (uint32_t i = 0; i < program->value_count; i++) {
        has = has || program->values[i].type == WEFT_IR_F64;
    }
    return has;
}

static bool has_barriers(const struct weft_ir_program *program) {
    bool has = false;
    for (uint32_t i = 0; i < program->node_count; i++) {
        has = has || program->nodes[i].kind == WEFT_IR_BARRIER;
    }
    return has;
}

static void write_arguments(struct weft_text *text, const struct weft_ir_program *program,
                            uint32_t push_words) {
    weft_text_add(text, "typedef struct {\nuint base[3];\nuint groups[3];\nuint sign;\n");
    if (program->binding_count > 0) {
        weft_text_add(text, "uint offset[%u];\nuint size[%u];\n", program->binding_count,
                      program->binding_count);
    }
    if (push_words > 0) {
        weft_text_add(text, "uint push[%u];\n", push_words);
    }
    weft_text_add(text, "} weft_arguments;\n");
}

static void write_names(struct weft_text *text, const struct weft_cl_writer *writer) {
    const struct weft_ir_program *program = writer->program;
    if (program->shared_size > 0) {
        weft_text_add(text, "__local uint m[%u] __attribute__((aligned(16)));\n",
                      (program->shared_size + 3) / 4);
    }
    for (uint32_t i = 0; i < program->binding_count; i++) {
        if ((writer->bindings >> i & 1) != 0) {
            weft_text_add(text,
                          "__global uint *p%u = (__global uint *)(b%u + (size_t)a.offset[%u] * "
                          "%uu);\n",
                          i, i, i, WEFT_CL_OFFSET_UNIT);
        }
    }
    for (uint32_t i = 0; i < WEFT_CL_PUSH_NAMES; i++) {
        if ((writer->push >> i & 1) != 0) {
            weft_text_add(text, "uint c%u = a.push[%u];\n", i, i);
        }
    }
    weft_cl_write_inputs(text, writer);
    weft_text_add(text, writer->hides_sign ? "uint sign = a.sign;\n" : "");
    weft_text_add(text, writer->jumps ? "uint jump = 0u;\n" : "");
}

static void write_kernel(struct weft_text *text, const struct weft_cl_writer *writer,
                         uint32_t push_words) {
    const struct weft_ir_program *program = writer->program;
    weft_text_add(text, "#pragma OPENCL FP_CONTRACT %s\n%s",
                  may_contract(program) || !weft_rule_holds("opencl-contraction") ? "ON" : "OFF",
                  has_doubles(program) ? "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n" : "");
    write_arguments(text, program, push_words);
    weft_cl_write_helpers(text, writer);
    if (writer->checks) {
        weft_text_add(text, "bool weft_has(uint size, uint need, uint at) {\n"
                            "    return size >= need && at <= size - need;\n}\n");
    }
    weft_text_add(text,
                  "__kernel __attribute__((reqd_work_group_size(%u, %u, %u)))\n"
                  "void " WEFT_CL_KERNEL "(weft_arguments a",
                  program->local_size[0], program->local_size[1], program->local_size[2]);
    for (uint32_t i = 0; i < program->binding_count; i++) {
        weft_text_add(text, ", __global uchar *b%u", i);
    }
    weft_text_add(text, ") {\n");
    write_names(text, writer);
    if (writer->text.data) { /* or memory is out, and the length is what it was to be */
        weft_text_put(text, writer->text.data, writer->text.length);
    }
    weft_text_add(text, "}\n");
}

/* ---- memory ---- */

static void *array(struct weft_ir_program *program, size_t count, size_t size) {
    void *made = weft_alloc_zero(program->host, count + 1, size);
    if (!made) {
        weft_ir_error(program, WEFT_OUT_OF_HOST_MEMORY, "out of memory for a kernel's text");
    }
    return made;
}

static void begin(struct weft_cl_writer *writer) {
    struct weft_ir_program *program = writer->program;
    writer->uses = array(program, program->value_count, sizeof *writer->uses);
    writer->steps = array(program, program->instruction_count, sizeof *writer->steps);
    writer->slots = array(program, program->slot_count, sizeof *writer->slots);
    writer->lists = array(program, program->list_count, sizeof *writer->lists);
    writer->nodes = array(program, program->node_count, sizeof *writer->nodes);
    writer->helpers = array(program, weft_cl_helper_count(), sizeof *writer->helpers);
}

static void end(const struct weft_cl_writer *writer) {
    void *const arrays[] = {writer->uses,  writer->steps,   writer->slots,    writer->lists,
                            writer->nodes, writer->helpers, writer->text.data};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
        weft_free(writer->program->host, arrays[i]);
    }
}

/* ---- all of it ---- */

static void write(struct weft_cl_text *made, struct weft_ir_program *program) {
    const weft_host host = program->host ? *program->host : (weft_host){0};
    struct weft_cl_writer writer = {.program = program,
                                    .text = {.host = host},
                                    .hides_sign =
                                        has_barriers(program) && weft_rule_holds("hidden-signs")};
    struct weft_text text = {.host = host};
    const uint32_t push_words = (program->push_size + 3) / 4;
    begin(&writer);
    if (program->status == WEFT_OK) {
        weft_cl_make_plans(&writer);
    }
    if (program->status == WEFT_OK) {
        weft_cl_write_body(&writer);
        write_kernel(&text, &writer, push_words);
    }
    if (program->status == WEFT_OK && (writer.text.failed || text.failed)) {
        weft_ir_error(program, WEFT_OUT_OF_HOST_MEMORY, "out of memory for a kernel's text");
    }
    end(&writer);
    if (program->status != WEFT_OK) {
        weft_free(program->host, text.data);
        return;
    }
    *made = (struct weft_cl_text){.text = text.data,
                                  .size = text.length,
                                  .binding_count = program->binding_count,
                                  .push_size = 4 * push_words,
                                  .shared_size = program->shared_size};
    memcpy(made->bindings, program->bindings, sizeof made->bindings);
    memcpy(made->local_size, program->local_size, sizeof made->local_size);
}

weft_status weft_cl_emit(struct weft_cl_text *made, const struct weft_ir_source *source,
                         char error[WEFT_IR_TEXT], const weft_host *host) {
    struct weft_ir_program program = {.host = host, .lanes = 1, .checked = source->checked};
    *made = (struct weft_cl_text){0};
    if (weft_ir_decode(&program, source) == WEFT_OK) {
        weft_ir_drop_dead_stores(&program);
    }
    if (program.status == WEFT_OK) {
        weft_ir_find_homes(&program);
    }
    if (program.status == WEFT_OK) {
        write(made, &program);
    }
    if (program.status != WEFT_OK) {
        memcpy(error, program.text, WEFT_IR_TEXT);
    }
    weft_ir_free(&program);
    return program.status;
}
