/* SPDX-License-Identifier: MIT */
#include "model/texts/cross_decoder.h"

#include <stdio.h>
#include <string.h>

#include "core/host.h"
#include "core/try.h"
#include "model/network/architecture.h"
#include "model/network/network_decoder.h"

#define LEAST_ROOM 64U /* tokens in the cache; it doubles from there */

/* Buffers of ports, in that order; the encoder's outputs follow. */
enum buffer { SOURCE, TOKENS, KINDS, POSITION, FILLED, CACHE, LENGTHS, OUTPUT, ROWS, MEMORY };

struct weft_cross_decoder {
    weft_host host;
    weft_model *model;
    struct weft_network *network;
    weft_device *device;
    weft_plan_params params;
    weft_model_info info;
    bool has_kinds, has_positions; /* the writer's inputs */
    uint32_t batch, count;         /* sequences; keys and values of all layers */
    uint64_t row_floats;           /* of the cache, for a token of each sequence */
    uint32_t source; /* tokens that the reader's texts have at most; 0: there is none */
    uint32_t room;   /* tokens in the cache; 0: there is none */
    weft_plan *reader, *writer;
    weft_bindings *bindings; /* of the writer */
    weft_buffer **buffers;   /* [MEMORY + count] */
    int32_t *kinds;          /* [room + 1] */
    int32_t *filled;         /* [batch]; and then p, as often */
    float *row;              /* [row_floats] */
};

struct port {
    char text[32];
};

static struct port memory_port(uint32_t number) {
    struct port port;
    snprintf(port.text, sizeof port.text, "memory.%u", number);
    return port;
}

/* ---- graphs ---- */

/* None where all that is read is as long. */
static weft_status add_lengths(weft_tensor *lengths, weft_graph *graph,
                               const struct weft_cross_decoder *decoder) {
    return decoder->info.takes_lengths ? weft_graph_input(lengths, graph, "lengths", WEFT_I32,
                                                          weft_shape_of(decoder->batch))
                                       : WEFT_OK;
}

static weft_status build_reader(const struct weft_cross_decoder *decoder, weft_graph *graph,
                                weft_tensor *memory) {
    weft_model_inputs inputs = {0};
    WEFT_TRY(
        weft_model_add_inputs(&inputs, graph, decoder->batch, decoder->source, &decoder->info));
    WEFT_TRY(add_lengths(&inputs.lengths, graph, decoder));
    WEFT_TRY(weft_network_build_memory(memory, decoder->network, graph, &inputs));
    for (uint32_t i = 0; i < decoder->count; i++) {
        WEFT_TRY(weft_graph_output(graph, memory_port(i).text, memory[i]));
    }
    return WEFT_OK;
}

static weft_status build_writer(const struct weft_cross_decoder *decoder, weft_graph *graph,
                                weft_tensor *memory) {
    const uint32_t batch = decoder->batch, width = weft_network_memory_width(decoder->network);
    struct weft_cross_inputs inputs = {.memory = memory};
    weft_tensor out = {0}, rows = {0};
    WEFT_TRY(weft_graph_input(&inputs.tokens, graph, "tokens", WEFT_I32, weft_shape_of(batch, 1)));
    WEFT_TRY(decoder->has_kinds ? weft_graph_input(&inputs.kinds, graph, "kinds", WEFT_I32,
                                                   weft_shape_of(decoder->room + 1))
                                : WEFT_OK);
    WEFT_TRY(decoder->has_positions ? weft_graph_input(&inputs.position, graph, "position",
                                                       WEFT_I32, weft_shape_of(batch, 1))
                                    : WEFT_OK);
    WEFT_TRY(weft_graph_input(&inputs.filled, graph, "filled", WEFT_I32, weft_shape_of(batch)));
    WEFT_TRY(weft_graph_input(&inputs.cache, graph, "cache", WEFT_F32,
                              weft_shape_of(decoder->room, decoder->count, batch, width)));
    WEFT_TRY(add_lengths(&inputs.lengths, graph, decoder));
    for (uint32_t i = 0; i < decoder->count; i++) {
        WEFT_TRY(weft_graph_input(&memory[i], graph, memory_port(i).text, WEFT_F32,
                                  weft_shape_of(batch, decoder->source, width)));
    }
    WEFT_TRY(weft_network_build_cross_step(&out, &rows, decoder->network, graph, &inputs));
    WEFT_TRY(weft_graph_output(graph, "output", out));
    return weft_graph_output(graph, "rows", rows);
}

static weft_status compile(weft_plan **plan, const struct weft_cross_decoder *decoder,
                           weft_status (*build)(const struct weft_cross_decoder *, weft_graph *,
                                                weft_tensor *)) {
    weft_graph *graph = NULL;
    weft_tensor *memory = weft_alloc_zero(&decoder->host, decoder->count, sizeof *memory);
    if (!memory) {
        return weft_fail_memory(&decoder->host, "a decoder's graph");
    }
    weft_status status = weft_graph_create(&graph, &decoder->host);
    if (status == WEFT_OK) {
        status = build(decoder, graph, memory);
    }
    if (status == WEFT_OK) {
        status = weft_plan_compile(plan, decoder->device, graph, &decoder->params);
    }
    weft_graph_destroy(&graph);
    weft_free(&decoder->host, memory);
    return status;
}

static weft_status make_buffer(struct weft_cross_decoder *decoder, uint32_t number,
                               uint64_t elements) {
    weft_buffer_destroy(&decoder->buffers[number]);
    return weft_buffer_create(&decoder->buffers[number], decoder->device, elements * sizeof(float));
}

static weft_status bind(weft_bindings *bindings, const struct weft_cross_decoder *decoder,
                        const char *name, uint32_t number) {
    return weft_bindings_set(bindings, name, decoder->buffers[number]);
}

static weft_status bind_memory(weft_bindings *bindings, const struct weft_cross_decoder *decoder) {
    for (uint32_t i = 0; i < decoder->count; i++) {
        WEFT_TRY(bind(bindings, decoder, memory_port(i).text, MEMORY + i));
    }
    return decoder->info.takes_lengths ? bind(bindings, decoder, "lengths", LENGTHS) : WEFT_OK;
}

/* ---- reading ---- */

static void drop_writer(struct weft_cross_decoder *decoder) {
    weft_bindings_destroy(&decoder->bindings);
    weft_plan_destroy(&decoder->writer);
    decoder->room = 0;
}

static void drop_reader(struct weft_cross_decoder *decoder) {
    drop_writer(decoder); /* it reads what the reader has made */
    weft_plan_destroy(&decoder->reader);
    decoder->source = 0;
}

/* In the encoder's input. */
static uint32_t values_of_token(const struct weft_cross_decoder *decoder) {
    return decoder->info.input_size > 0 ? decoder->info.input_size : 1;
}

static weft_status make_reader(struct weft_cross_decoder *decoder) {
    const uint64_t texts = (uint64_t)decoder->batch * decoder->source;
    WEFT_TRY(compile(&decoder->reader, decoder, build_reader));
    WEFT_TRY(make_buffer(decoder, SOURCE, texts * values_of_token(decoder)));
    WEFT_TRY(make_buffer(decoder, LENGTHS, decoder->batch));
    for (uint32_t i = 0; i < decoder->count; i++) {
        WEFT_TRY(
            make_buffer(decoder, MEMORY + i, texts * weft_network_memory_width(decoder->network)));
    }
    return WEFT_OK;
}

static weft_status prepare_reader(struct weft_cross_decoder *decoder, uint32_t count) {
    if (decoder->source == count) {
        return WEFT_OK;
    }
    drop_reader(decoder);
    decoder->source = count;
    const weft_status status = make_reader(decoder);
    if (status != WEFT_OK) {
        drop_reader(decoder);
    }
    return status;
}

static weft_status run_reader(const struct weft_cross_decoder *decoder, weft_bindings *bindings,
                              const struct weft_cross_source *source) {
    const uint64_t row = decoder->batch * (uint64_t)sizeof(int32_t);
    const bool features = decoder->info.input_size > 0;
    WEFT_TRY(weft_buffer_write(decoder->buffers[SOURCE], 0, source->data,
                               row * decoder->source * values_of_token(decoder)));
    WEFT_TRY(decoder->info.takes_lengths
                 ? weft_buffer_write(decoder->buffers[LENGTHS], 0, source->lengths, row)
                 : WEFT_OK);
    WEFT_TRY(bind(bindings, decoder, features ? "features" : "tokens", SOURCE));
    WEFT_TRY(bind_memory(bindings, decoder));
    return weft_plan_run(decoder->reader, bindings);
}

weft_status weft_cross_decoder_read(struct weft_cross_decoder *decoder,
                                    const struct weft_cross_source *source) {
    weft_bindings *bindings = NULL;
    WEFT_TRY(prepare_reader(decoder, source->count));
    WEFT_TRY(weft_bindings_create(&bindings, decoder->reader));
    const weft_status status = run_reader(decoder, bindings, source);
    weft_bindings_destroy(&bindings);
    return status;
}

/* ---- writing ---- */

/* A cache with more room, of the same rows; those that are new are zeros. */
static weft_status grow_cache(struct weft_cross_decoder *decoder, uint32_t rows, uint32_t room) {
    const uint64_t bytes = decoder->row_floats * sizeof(float);
    weft_buffer *cache = NULL;
    WEFT_TRY(weft_buffer_create(&cache, decoder->device, bytes * room));
    weft_status status = WEFT_OK;
    for (uint32_t i = 0; i < room && status == WEFT_OK; i++) {
        memset(decoder->row, 0, (size_t)bytes);
        status = i < rows
                     ? weft_buffer_read(decoder->buffers[CACHE], i * bytes, decoder->row, bytes)
                     : WEFT_OK;
        status =
            status == WEFT_OK ? weft_buffer_write(cache, i * bytes, decoder->row, bytes) : status;
    }
    if (status != WEFT_OK) {
        weft_buffer_destroy(&cache);
        return status;
    }
    weft_buffer_destroy(&decoder->buffers[CACHE]);
    decoder->buffers[CACHE] = cache;
    return WEFT_OK;
}

static weft_status make_writer(struct weft_cross_decoder *decoder, uint32_t rows, uint32_t room) {
    weft_free(&decoder->host, decoder->kinds);
    decoder->kinds = weft_alloc_zero(&decoder->host, (size_t)room + 1, sizeof *decoder->kinds);
    if (!decoder->kinds) {
        return weft_fail_memory(&decoder->host, "a decoder's distances");
    }
    WEFT_TRY(grow_cache(decoder, rows, room));
    decoder->room = room;
    WEFT_TRY(compile(&decoder->writer, decoder, build_writer));
    WEFT_TRY(make_buffer(decoder, TOKENS, decoder->batch));
    WEFT_TRY(make_buffer(decoder, KINDS, (uint64_t)room + 1));
    WEFT_TRY(make_buffer(decoder, POSITION, decoder->batch));
    WEFT_TRY(make_buffer(decoder, FILLED, decoder->batch));
    WEFT_TRY(make_buffer(decoder, OUTPUT, decoder->batch * (uint64_t)decoder->info.vocabulary));
    WEFT_TRY(make_buffer(decoder, ROWS, decoder->row_floats));
    WEFT_TRY(weft_bindings_create(&decoder->bindings, decoder->writer));
    WEFT_TRY(bind(decoder->bindings, decoder, "tokens", TOKENS));
    WEFT_TRY(decoder->has_kinds ? bind(decoder->bindings, decoder, "kinds", KINDS) : WEFT_OK);
    WEFT_TRY(decoder->has_positions ? bind(decoder->bindings, decoder, "position", POSITION)
                                    : WEFT_OK);
    WEFT_TRY(bind(decoder->bindings, decoder, "filled", FILLED));
    WEFT_TRY(bind(decoder->bindings, decoder, "cache", CACHE));
    WEFT_TRY(bind(decoder->bindings, decoder, "output", OUTPUT));
    WEFT_TRY(bind(decoder->bindings, decoder, "rows", ROWS));
    return bind_memory(decoder->bindings, decoder);
}

static weft_status prepare_writer(struct weft_cross_decoder *decoder, uint32_t position) {
    uint32_t room = LEAST_ROOM;
    while (room <= position) {
        room *= 2;
    }
    if (decoder->writer && decoder->room >= room) {
        return WEFT_OK;
    }
    drop_writer(decoder);
    const weft_status status = make_writer(decoder, position, room);
    if (status != WEFT_OK) {
        drop_writer(decoder);
    }
    return status;
}

/* What the writer is told of a token's number. */
static weft_status write_position(const struct weft_cross_decoder *decoder, uint32_t position) {
    const uint64_t numbers = decoder->batch * (uint64_t)sizeof(int32_t);
    for (uint32_t b = 0; b < decoder->batch; b++) {
        decoder->filled[b] = (int32_t)position + 1;
        decoder->filled[decoder->batch + b] = (int32_t)position;
    }
    WEFT_TRY(weft_buffer_write(decoder->buffers[FILLED], 0, decoder->filled, numbers));
    if (decoder->has_positions) {
        WEFT_TRY(weft_buffer_write(decoder->buffers[POSITION], 0, decoder->filled + decoder->batch,
                                   numbers));
    }
    if (!decoder->has_kinds) {
        return WEFT_OK;
    }
    for (uint32_t j = 0; j <= decoder->room; j++) { /* the token itself, then tokens 0, 1 … */
        const uint32_t distance = j == 0 || j > position ? 0 : position - (j - 1);
        decoder->kinds[j] = weft_network_distance_kind(decoder->network, distance);
    }
    return weft_buffer_write(decoder->buffers[KINDS], 0, decoder->kinds,
                             ((uint64_t)decoder->room + 1) * sizeof *decoder->kinds);
}

weft_status weft_cross_decoder_step(struct weft_cross_decoder *decoder, const int32_t *tokens,
                                    uint32_t position, float *logits) {
    const uint64_t bytes = decoder->row_floats * sizeof(float);
    WEFT_TRY(prepare_writer(decoder, position));
    WEFT_TRY(write_position(decoder, position));
    WEFT_TRY(weft_buffer_write(decoder->buffers[TOKENS], 0, tokens,
                               decoder->batch * (uint64_t)sizeof *tokens));
    WEFT_TRY(weft_plan_run(decoder->writer, decoder->bindings));
    WEFT_TRY(weft_buffer_read(decoder->buffers[ROWS], 0, decoder->row, bytes));
    WEFT_TRY(weft_buffer_write(decoder->buffers[CACHE], position * bytes, decoder->row, bytes));
    return logits ? weft_buffer_read(decoder->buffers[OUTPUT], 0, logits,
                                     decoder->batch * (uint64_t)decoder->info.vocabulary *
                                         sizeof *logits)
                  : WEFT_OK;
}

/* ---- making and releasing ---- */

weft_status weft_cross_decoder_create(struct weft_cross_decoder **out, weft_model *model,
                                      weft_device *device, uint32_t batch,
                                      const weft_plan_params *params) {
    const weft_host *host = weft_model_host(model);
    weft_model_info info;
    WEFT_TRY(weft_model_get_info(model, &info));
    struct weft_cross_decoder *decoder = weft_alloc_zero(host, 1, sizeof *decoder);
    if (!decoder) {
        return weft_fail_memory(host, "a decoder");
    }
    decoder->host = *host;
    decoder->model = model;
    decoder->network = weft_model_network(model);
    decoder->device = device;
    decoder->params = *params;
    decoder->info = info;
    decoder->batch = batch;
    decoder->count = weft_network_memory_count(decoder->network);
    decoder->row_floats =
        (uint64_t)decoder->count * batch * weft_network_memory_width(decoder->network);
    decoder->has_kinds = weft_network_has_distances(decoder->network);
    decoder->has_positions = weft_network_decoder_positions(decoder->network) > 0;
    decoder->buffers =
        weft_alloc_zero(host, (size_t)MEMORY + decoder->count, sizeof(weft_buffer *));
    decoder->filled = weft_alloc_zero(host, (size_t)2 * batch, sizeof *decoder->filled);
    decoder->row = weft_alloc_zero(host, (size_t)decoder->row_floats, sizeof *decoder->row);
    if (!decoder->buffers || !decoder->filled || !decoder->row) {
        weft_cross_decoder_destroy(&decoder);
        return weft_fail_memory(host, "a decoder's rows");
    }
    *out = decoder;
    return WEFT_OK;
}

void weft_cross_decoder_destroy(struct weft_cross_decoder **address) {
    struct weft_cross_decoder *decoder = *address;
    if (!decoder) {
        return;
    }
    *address = NULL;
    const weft_host host = decoder->host;
    drop_reader(decoder);
    for (uint32_t i = 0; decoder->buffers && i < MEMORY + decoder->count; i++) {
        weft_buffer_destroy(&decoder->buffers[i]);
    }
    weft_free(&host, decoder->buffers);
    weft_free(&host, decoder->kinds);
    weft_free(&host, decoder->filled);
    weft_free(&host, decoder->row);
    weft_free(&host, decoder);
}

int32_t weft_cross_decoder_start(const struct weft_cross_decoder *decoder) {
    return weft_network_start_token(decoder->network);
}

uint64_t weft_cross_decoder_state_bytes(const struct weft_cross_decoder *decoder) {
    const uint64_t width = weft_network_memory_width(decoder->network);
    const uint64_t memory = (uint64_t)decoder->count * decoder->batch * decoder->source * width;
    return (decoder->room * decoder->row_floats + memory) * sizeof(float);
}

const weft_plan *weft_cross_decoder_plan(const struct weft_cross_decoder *decoder) {
    return decoder->writer;
}
