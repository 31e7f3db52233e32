/* SPDX-License-Identifier: MIT */
#include "eval/data.h"

#include <string.h>

#include "core/system/system.h"
#include "core/try.h"

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

uint64_t weft_cli_data_number(const weft_cli_data *data, uint32_t example) {
    return data->numbers ? data->numbers[example]
                         : (uint64_t)weft_cli_data_place(data, example) + 1;
}

/* Labels of each token lie where its sequence does, and of what is not there nobody asks. */
static weft_status note_token_labels(const weft_cli_data *data, const weft_cli_session *session) {
    size_t count = 0;
    for (uint32_t i = 0; i < data->sequence_count; i++) {
        count += data->sequences[i].length;
    }
    int32_t *labels = weft_alloc(&session->host, (count + 1) * sizeof *labels);
    if (!labels) {
        return weft_fail_memory(&session->host, "the labels of a receipt");
    }
    size_t at = 0;
    for (uint32_t i = 0; i < data->sequence_count; i++) {
        const weft_cli_sequence *sequence = &data->sequences[i];
        memcpy(labels + at, data->labels + sequence->begin, sequence->length * sizeof *labels);
        at += sequence->length;
    }
    const weft_status status =
        weft_cli_receipt_note(&session->recording, WEFT_RECORD_DATA, "labels", labels,
                              count * sizeof *labels, "i32 of %zu tokens", count);
    weft_free(&session->host, labels);
    return status;
}

weft_status weft_cli_data_note(const weft_cli_data *data, const weft_cli_session *session) {
    const weft_cli_recording *recording = &session->recording;
    if (!recording->receipt) {
        return WEFT_OK;
    }
    WEFT_TRY(weft_cli_receipt_note(recording, WEFT_RECORD_SETTING, "examples", NULL, 0, "%u of %u",
                                   data->example_count, data->whole_count));
    if (data->targets) {
        WEFT_TRY(weft_cli_receipt_note(recording, WEFT_RECORD_DATA, "targets", data->targets,
                                       (size_t)data->example_count * data->target_size *
                                           sizeof *data->targets,
                                       "f32 [%u, %u]", data->example_count, data->target_size));
    }
    if (data->labels && data->task == WEFT_TASK_MASKED_LM) {
        return note_token_labels(data, session);
    }
    return data->labels ? weft_cli_receipt_note(recording, WEFT_RECORD_DATA, "labels", data->labels,
                                                data->example_count * sizeof *data->labels,
                                                "i32 [%u]", data->example_count)
                        : WEFT_OK;
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
