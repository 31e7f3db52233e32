/* SPDX-License-Identifier: MIT */
/*
 * libFuzzer entry: any bytes as a config.json.
 * Build: clang -fsanitize=fuzzer,address,undefined with runtime/core, runtime/model/config.c and
 * runtime/core/json.c.
 */
#include <stdlib.h>

#include "model/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    weft_fnet_config config;
    if (weft_fnet_config_parse(&config, data, size, "fuzz.json", NULL) == WEFT_OK) {
        if (!is_sound(&config)) {
            abort();
        }
        weft_fnet_config_clear(&config, NULL);
    }
    return 0;
}
