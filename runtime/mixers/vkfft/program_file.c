/* SPDX-License-Identifier: MIT */
#include "mixers/vkfft/program_file.h"

#include <string.h>

/*
 * Integers are little-endian: input, output and temporary bytes (8 each); counts of modules, tables
 * and dispatches (4 each); then each module (size 4, words), each table (size 8, bytes), each
 * dispatch (module, groups × 3, binding count, 4 each; bindings: buffer 4, table 4, offset 8,
 * range 8).
 */
#define SPIRV_MAGIC        0x07230203u
#define SPIRV_HEADER_BYTES 20u
#define MAX_GROUPS         65535u

/*
 * Temporary memory for each byte that goes in or comes out. Bluestein's algorithm pads n numbers to less than 4n complex ones, twice at most:
 * 64 bytes for the 8 of a real number and its half of a complex one. And room for alignment.
 */
#define MAX_TEMP_FACTOR 16u
#define MAX_TEMP_MORE   65536u

/* Fewest bytes that each of these takes: bounds the counts before anything is allocated. */
#define MODULE_BYTES   4u
#define TABLE_BYTES    8u
#define DISPATCH_BYTES 20u
#define BINDING_BYTES  24u

/* ---- writing: once to count, once to fill ---- */

struct writer {
    uint8_t *data; /* null while counting */
    size_t size;
};

static void put_bytes(struct writer *writer, const void *bytes, size_t size) {
    if (writer->data && size != 0) {
        memcpy(writer->data + writer->size, bytes, size);
    }
    writer->size += size;
}

static void put(struct writer *writer, uint64_t value, size_t bytes) {
    uint8_t text[8];
    for (size_t i = 0; i < bytes; i++) {
        text[i] = (uint8_t)(value >> (8 * i));
    }
    put_bytes(writer, text, bytes);
}

static void put_dispatch(struct writer *writer, const struct weft_fft_dispatch *dispatch) {
    put(writer, dispatch->module, 4);
    for (int i = 0; i < 3; i++) {
        put(writer, dispatch->groups[i], 4);
    }
    put(writer, dispatch->binding_count, 4);
    for (uint32_t i = 0; i < dispatch->binding_count; i++) {
        const struct weft_fft_binding *binding = &dispatch->binding[i];
        put(writer, (uint64_t)binding->buffer, 4);
        put(writer, binding->table, 4);
        put(writer, binding->offset, 8);
        put(writer, binding->range, 8);
    }
}

static void put_program(struct writer *writer, const struct weft_fft_program *program) {
    put(writer, program->input_bytes, 8);
    put(writer, program->output_bytes, 8);
    put(writer, program->temp_bytes, 8);
    put(writer, program->module_count, 4);
    put(writer, program->table_count, 4);
    put(writer, program->dispatch_count, 4);
    for (uint32_t i = 0; i < program->module_count; i++) {
        put(writer, program->modules[i].size, 4);
        for (size_t w = 0; w < program->modules[i].size / 4; w++) {
            put(writer, program->modules[i].words[w], 4);
        }
    }
    for (uint32_t i = 0; i < program->table_count; i++) {
        put(writer, program->tables[i].size, 8);
        put_bytes(writer, program->tables[i].data, program->tables[i].size);
    }
    for (uint32_t i = 0; i < program->dispatch_count; i++) {
        put_dispatch(writer, &program->dispatches[i]);
    }
}

weft_status weft_fft_program_write(uint8_t **data, size_t *size,
                                   const struct weft_fft_program *program, const weft_host *host) {
    struct writer writer = {NULL, 0};
    put_program(&writer, program);
    writer.data = weft_alloc(host, writer.size);
    if (!writer.data) {
        return weft_fail_memory(host, "a cached FFT program");
    }
    writer.size = 0;
    put_program(&writer, program);
    *data = writer.data;
    *size = writer.size;
    return WEFT_OK;
}

/* ---- reading ---- */

struct reader {
    const uint8_t *data;
    size_t left;
    bool bad;
    bool out_of_memory;
    const weft_host *host;
};

static bool failed(const struct reader *reader) {
    return reader->bad || reader->out_of_memory;
}

static uint64_t get(struct reader *reader, size_t bytes) {
    if (failed(reader) || reader->left < bytes) {
        reader->bad = true;
        return 0;
    }
    uint64_t value = 0;
    for (size_t i = 0; i < bytes; i++) {
        value |= (uint64_t)reader->data[i] << (8 * i);
    }
    reader->data += bytes;
    reader->left -= bytes;
    return value;
}

static void get_bytes(struct reader *reader, void *bytes, size_t size) {
    if (failed(reader) || reader->left < size) {
        reader->bad = true;
        return;
    }
    if (size != 0) {
        memcpy(bytes, reader->data, size);
    }
    reader->data += size;
    reader->left -= size;
}

static void *get_array(struct reader *reader, uint32_t count, size_t element_size,
                       size_t least_bytes) {
    if (count == 0 || count > reader->left / least_bytes) {
        reader->bad = true;
    }
    if (failed(reader)) {
        return NULL;
    }
    void *array = weft_alloc_zero(reader->host, count, element_size);
    reader->out_of_memory = !array;
    return array;
}

static void get_module(struct reader *reader, struct weft_fft_module *module) {
    uint64_t size = get(reader, 4);
    if (size < SPIRV_HEADER_BYTES || size % 4 != 0 || size > reader->left) {
        reader->bad = true;
    }
    if (failed(reader)) {
        return;
    }
    module->words = weft_alloc(reader->host, (size_t)size);
    if (!module->words) {
        reader->out_of_memory = true;
        return;
    }
    module->size = (size_t)size;
    for (size_t w = 0; w < module->size / 4; w++) {
        module->words[w] = (uint32_t)get(reader, 4);
    }
    if (module->words[0] != SPIRV_MAGIC) {
        reader->bad = true;
    }
}

static void get_table(struct reader *reader, struct weft_fft_table *table) {
    uint64_t size = get(reader, 8);
    if (size == 0 || size > reader->left) {
        reader->bad = true;
    }
    if (failed(reader)) {
        return;
    }
    table->data = weft_alloc(reader->host, (size_t)size);
    if (!table->data) {
        reader->out_of_memory = true;
        return;
    }
    table->size = (size_t)size;
    get_bytes(reader, table->data, table->size);
}

static uint64_t bytes_behind(const struct weft_fft_program *program,
                             const struct weft_fft_binding *binding) {
    switch (binding->buffer) {
    case WEFT_FFT_INPUT:
        return program->input_bytes;
    case WEFT_FFT_OUTPUT:
        return program->output_bytes;
    case WEFT_FFT_TEMP:
        return program->temp_bytes;
    case WEFT_FFT_TABLE:
    default:
        return binding->table < program->table_count ? program->tables[binding->table].size : 0;
    }
}

static void get_binding(struct reader *reader, struct weft_fft_binding *binding, uint32_t place,
                        const struct weft_fft_program *program) {
    uint64_t buffer = get(reader, 4);
    if (buffer > WEFT_FFT_TABLE) {
        reader->bad = true;
        return;
    }
    binding->buffer = (enum weft_fft_buffer)buffer;
    binding->table = (uint32_t)get(reader, 4);
    binding->offset = get(reader, 8);
    binding->range = get(reader, 8);
    uint64_t size = bytes_behind(program, binding);
    /* A kernel reads its first binding and writes its second; tables come behind. */
    if (binding->range == 0 || binding->offset > size || binding->range > size - binding->offset ||
        (binding->buffer == WEFT_FFT_INPUT && place != 0) ||
        (binding->buffer == WEFT_FFT_TABLE) != (place > 1) ||
        (binding->buffer != WEFT_FFT_TABLE && binding->table != 0)) {
        reader->bad = true;
    }
}

static void get_dispatch(struct reader *reader, struct weft_fft_dispatch *dispatch,
                         const struct weft_fft_program *program) {
    dispatch->module = (uint32_t)get(reader, 4);
    for (int i = 0; i < 3; i++) {
        dispatch->groups[i] = (uint32_t)get(reader, 4);
        if (dispatch->groups[i] == 0 || dispatch->groups[i] > MAX_GROUPS) {
            reader->bad = true;
        }
    }
    dispatch->binding_count = (uint32_t)get(reader, 4);
    if (dispatch->module >= program->module_count || dispatch->binding_count < 2 ||
        dispatch->binding_count > WEFT_FFT_MAX_BINDINGS) {
        reader->bad = true;
    }
    if (failed(reader)) {
        return;
    }
    for (uint32_t i = 0; i < dispatch->binding_count && !failed(reader); i++) {
        get_binding(reader, &dispatch->binding[i], i, program);
    }
}

static void get_program(struct reader *reader, struct weft_fft_program *program) {
    uint64_t input_bytes = get(reader, 8);
    uint64_t output_bytes = get(reader, 8);
    if (input_bytes != program->input_bytes || output_bytes != program->output_bytes) {
        reader->bad = true;
    }
    program->temp_bytes = get(reader, 8);
    if (program->temp_bytes / MAX_TEMP_FACTOR > input_bytes + output_bytes + MAX_TEMP_MORE) {
        reader->bad = true;
    }
    uint32_t modules = (uint32_t)get(reader, 4);
    uint32_t tables = (uint32_t)get(reader, 4);
    uint32_t dispatches = (uint32_t)get(reader, 4);
    program->modules = get_array(reader, modules, sizeof *program->modules, MODULE_BYTES);
    while (!failed(reader) && program->module_count < modules) {
        get_module(reader, &program->modules[program->module_count++]);
    }
    program->tables = get_array(reader, tables, sizeof *program->tables, TABLE_BYTES);
    while (!failed(reader) && program->table_count < tables) {
        get_table(reader, &program->tables[program->table_count++]);
    }
    program->dispatches = get_array(reader, dispatches, sizeof *program->dispatches,
                                    DISPATCH_BYTES + 2 * BINDING_BYTES);
    while (!failed(reader) && program->dispatch_count < dispatches) {
        get_dispatch(reader, &program->dispatches[program->dispatch_count++], program);
    }
    if (reader->left != 0) {
        reader->bad = true;
    }
}

static void clear(struct weft_fft_program *program, const weft_host *host) {
    for (uint32_t i = 0; i < program->module_count; i++) {
        weft_free(host, program->modules[i].words);
    }
    for (uint32_t i = 0; i < program->table_count; i++) {
        weft_free(host, program->tables[i].data);
    }
    weft_free(host, program->modules);
    weft_free(host, program->tables);
    weft_free(host, program->dispatches);
    *program = (struct weft_fft_program){.input_bytes = program->input_bytes,
                                         .output_bytes = program->output_bytes};
}

weft_status weft_fft_program_read(struct weft_fft_program *program, const uint8_t *data,
                                  size_t size, const weft_host *host) {
    struct reader reader = {.data = data, .left = size, .host = host};
    get_program(&reader, program);
    if (!failed(&reader)) {
        return WEFT_OK;
    }
    clear(program, host);
    return reader.out_of_memory ? weft_fail_memory(host, "a cached FFT program") : WEFT_BAD_FILE;
}
