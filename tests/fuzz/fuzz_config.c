/* SPDX-License-Identifier: MIT */
/* Any bytes as a config.json: of an fnet, and of whatever model it says it is, as far as a graph with random weights. */
#include <stdlib.h>
#include <string.h>

#include <weft/model.h>

#include "fuzz.h"
#include "model/network/config.h"

#define MEMORY ((size_t)4 << 20)

/* What the rest of the library relies on. */
static bool is_sound(const weft_fnet_config *config) {
    bool sizes = config->vocab_size >= 1 && config->hidden_size >= 1 && config->layers >= 1 &&
                 config->hidden_size <= 65536 && config->layers <= 1024 &&
                 config->vocab_size <= 1u << 24 && config->intermediate_size <= 1u << 20;
    bool heads = config->attention_heads == 0 || config->hidden_size % config->attention_heads == 0;
    bool attention = weft_fnet_layer_mixing(config, config->layers - 1) != WEFT_FNET_ATTENTION ||
                     config->attention_heads > 0;
    return sizes && heads && attention && config->attention_layers <= config->layers &&
           config->layer_norm_eps > 0 && config->layer_norm_eps <= 1;
}

static void make_model(const uint8_t *data, size_t size) {
    char *text = malloc(size + 1);
    if (!text) {
        return;
    }
    memcpy(text, data, size);
    text[size] = '\0';
    size_t left = 0;
    const weft_host host = fuzz_small_host(&left, MEMORY);
    weft_model *model = NULL;
    weft_status status = weft_model_create_random(&model, text, 1, &host);
    fuzz_expect((status == WEFT_OK) == (model != NULL));
    weft_model_destroy(&model);
    fuzz_expect(left == MEMORY); /* nothing was lost on the way */
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    weft_fnet_config config;
    if (weft_fnet_config_parse(&config, data, size, "fuzz.json", NULL) == WEFT_OK) {
        fuzz_expect(is_sound(&config));
        weft_fnet_config_clear(&config, NULL);
    }
    make_model(data, size);
    return 0;
}
