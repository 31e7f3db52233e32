/* SPDX-License-Identifier: MIT */
/* A module into a program. */
#include "spirv/ir/decode.h"

#define MAX_WORK (UINT32_C(1) << 22)

/*
 * Value 0 is none; list 0 holds everything. Number 0 of each kind is what errors give, too, so that there has to be one:
 * false where there is not.
 */
static bool begin(struct weft_ir_program *program) {
    weft_ir_add_values(program, WEFT_IR_I32, 1);
    if (program->status == WEFT_OK) {
        const uint32_t list = weft_ir_add_list(program, WEFT_IR_NONE);
        if (program->status == WEFT_OK) {
            weft_ir_add_node(program, list, WEFT_IR_CODE);
            weft_ir_add_variable(program, list, 1);
        }
    }
    return program->status == WEFT_OK;
}

bool weft_ir_work(struct weft_ir_decoder *decoder, uint32_t amount) {
    if (amount > MAX_WORK - decoder->work) {
        weft_ir_unsupported(decoder, "more instructions, with calls inlined, than", MAX_WORK);
    } else {
        decoder->work += amount;
    }
    return decoder->program->status == WEFT_OK;
}

weft_status weft_ir_decode(struct weft_ir_program *program, const struct weft_ir_source *source) {
    struct weft_ir_decoder decoder = {.program = program, .source = source, .block = 1};
    const weft_host *host = program->host;
    const weft_status status = weft_spirv_read(&decoder.module, source->words, source->size, host);
    decoder.ids = weft_alloc_zero(host, decoder.module.bound, sizeof *decoder.ids);
    decoder.types = weft_alloc_zero(host, decoder.module.bound, sizeof *decoder.types);
    if (status != WEFT_OK) {
        weft_ir_error(program, status, "the module could not be indexed");
    } else if (!decoder.ids || !decoder.types) {
        weft_ir_error(program, WEFT_OUT_OF_HOST_MEMORY, "out of memory");
    } else if (begin(program)) {
        weft_ir_survey(&decoder);
        weft_ir_decode_main(&decoder);
    }
    while (decoder.chunks) {
        struct weft_ir_chunk *chunk = decoder.chunks;
        decoder.chunks = chunk->next;
        weft_free(host, chunk);
    }
    weft_free(host, decoder.members);
    weft_free(host, decoder.types);
    weft_free(host, decoder.ids);
    weft_spirv_module_free(&decoder.module);
    return program->status;
}
