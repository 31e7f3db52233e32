/* SPDX-License-Identifier: MIT */
/* Any bytes as a config.json of a program, over a file with some tensors: as far as its graphs, for all its smallest and largest symbols. */
#include <stdlib.h>
#include <string.h>

#include <weft/model.h>

#include "fuzz.h"

#define MEMORY ((size_t)4 << 20)

static const char header[] =
    "{\"w\":{\"dtype\":\"F32\",\"shape\":[8,8],\"data_offsets\":[0,256]},"
    "\"v\":{\"dtype\":\"F32\",\"shape\":[8],\"data_offsets\":[256,288]},"
    "\"t\":{\"dtype\":\"F16\",\"shape\":[7,8],\"data_offsets\":[288,400]},"
    "\"i\":{\"dtype\":\"I64\",\"shape\":[2],\"data_offsets\":[400,416]}}   ";

static uint8_t weights[8 + sizeof header - 1 + 416];

static void build(weft_model *model, bool largest) {
    weft_symbol symbols[16];
    weft_symbol_info info;
    uint32_t count = 0;
    while (weft_model_get_symbol(model, count, &info) == WEFT_OK) {
        symbols[count++] = (weft_symbol){info.name, largest ? info.maximum : info.minimum};
    }
    weft_graph *graph = NULL;
    const weft_status status = weft_model_program_graph(&graph, model, symbols, count);
    fuzz_expect((status == WEFT_OK) == (graph != NULL));
    weft_graph_destroy(&graph);
}

/* What was loaded once has ports of sound shapes. */
static void look(const weft_model *model) {
    weft_model_port_info port;
    uint32_t outputs = 0;
    for (uint32_t i = 0; weft_model_get_port(model, i, &port) == WEFT_OK; i++) {
        fuzz_expect(port.name[0] != '\0' && port.example.rank <= WEFT_MAX_RANK);
        for (uint32_t axis = 0; axis < port.example.rank; axis++) {
            fuzz_expect(port.example.dim[axis] > 0 && (port.is_output || port.axes[axis]));
        }
        outputs += port.is_output;
    }
    fuzz_expect(outputs > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = malloc(size + 1);
    if (!text) {
        return 0;
    }
    memcpy(text, data, size);
    text[size] = '\0';
    weights[0] = (uint8_t)((sizeof header - 1) & 0xff);
    weights[1] = (uint8_t)((sizeof header - 1) >> 8);
    memcpy(weights + 8, header, sizeof header - 1);
    size_t left = 0;
    const weft_host host = fuzz_small_host(&left, MEMORY);
    const weft_model_memory memory = {
        .config_json = text, .weights = weights, .weights_size = sizeof weights};
    weft_model *model = NULL;
    const weft_status status = weft_model_load_memory(&model, &memory, &host);
    fuzz_expect((status == WEFT_OK) == (model != NULL));
    weft_model_info info;
    if (model && weft_model_get_info(model, &info) == WEFT_OK && info.task == WEFT_TASK_PROGRAM) {
        look(model);
        build(model, false);
        build(model, true);
    }
    weft_model_destroy(&model);
    fuzz_expect(left == MEMORY); /* nothing was lost on the way */
    free(text);
    return 0;
}
