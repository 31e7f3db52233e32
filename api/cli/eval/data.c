/* SPDX-License-Identifier: MIT */
#include "eval/data.h"

#include <string.h>

#include "core/system.h"

bool weft_cli_is_folder(const char *path) {
    weft_file_facts facts;
    return weft_system_facts(&facts, path) == 0 && facts.kind == WEFT_FILE_FOLDER;
}

void weft_cli_data_clear(weft_cli_data *data, const weft_host *host) {
    weft_free(host, data->sequences);
    weft_free(host, data->tokens);
    weft_free(host, data->types);
    weft_free(host, data->features);
    weft_free(host, data->positions);
    weft_free(host, data->labels);
    weft_free(host, data->targets);
    *data = (weft_cli_data){0};
}

static bool grow_to(int32_t **values, size_t capacity, const weft_host *host) {
    int32_t *grown = weft_realloc(host, *values, capacity * sizeof *grown);
    *values = grown ? grown : *values;
    return grown != NULL;
}

/* Makes room for `count` more tokens. */
static bool grow_tokens(weft_cli_adder *adder, uint32_t count) {
    if (count <= adder->token_capacity - adder->token_count) {
        return true;
    }
    const size_t capacity = (adder->token_count + count) * 2;
    if (!grow_to(&adder->data->tokens, capacity, adder->host) ||
        (adder->with_types && !grow_to(&adder->data->types, capacity, adder->host))) {
        return false;
    }
    adder->token_capacity = capacity;
    return true;
}

bool weft_cli_data_add(weft_cli_adder *adder, const int32_t *tokens, const int32_t *types,
                       uint32_t count) {
    weft_cli_data *data = adder->data;
    if (!weft_grow(adder->host, &data->sequences, data->sequence_count, &adder->sequence_capacity,
                   sizeof *data->sequences) ||
        !grow_tokens(adder, count)) {
        return false;
    }
    memcpy(&data->tokens[adder->token_count], tokens, count * sizeof *tokens);
    if (adder->with_types) {
        memcpy(&data->types[adder->token_count], types, count * sizeof *types);
    }
    data->sequences[data->sequence_count++] =
        (weft_cli_sequence){.begin = adder->token_count, .length = count};
    data->example_count = data->sequence_count;
    adder->token_count += count;
    return true;
}

uint32_t weft_cli_data_place(const weft_cli_data *data, uint32_t example) {
    return (uint32_t)((uint64_t)example * data->whole_count / data->example_count);
}

/* Places only grow, so what is still needed is never overwritten. */
void weft_cli_data_thin(weft_cli_data *data, uint32_t examples) {
    if (examples >= data->example_count) {
        return;
    }
    size_t per_example = data->sequence_count / data->example_count;
    bool label_each = data->labels && data->task != WEFT_TASK_MASKED_LM;
    data->example_count = examples;
    data->sequence_count = (uint32_t)(examples * per_example);
    for (uint32_t example = 0; example < examples; example++) {
        size_t place = weft_cli_data_place(data, example);
        memmove(&data->sequences[example * per_example], &data->sequences[place * per_example],
                per_example * sizeof *data->sequences);
        if (label_each) {
            data->labels[example] = data->labels[place];
        }
        if (data->targets) {
            size_t width = data->target_size;
            memmove(&data->targets[example * width], &data->targets[place * width],
                    width * sizeof *data->targets);
        }
    }
}
