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
    weft_free(host, data->features);
    weft_free(host, data->positions);
    weft_free(host, data->labels);
    weft_free(host, data->targets);
    *data = (weft_cli_data){0};
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
