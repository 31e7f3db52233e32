/* SPDX-License-Identifier: MIT */
/* Whether data and a model fit together. */
#include <math.h>

#include "eval/data.h"

static bool refuse(const weft_cli_session *session, const char *path, const char *expected,
                   const char *found) {
    weft_fail(&session->host, WEFT_BAD_FILE, "%s: the model %s takes %s, found %s", path,
              session->folder, expected, found);
    return false;
}

/* ---- inputs ---- */

static bool check_features(const weft_cli_data *data, const weft_cli_session *session) {
    uint32_t width = session->info.input_size;
    if (!data->features) {
        return refuse(session, data->path, "vectors: expected the member inputs", "tokens");
    }
    if (data->feature_size != width) {
        weft_fail(
            &session->host, WEFT_BAD_FILE,
            "%s: member inputs: expected vectors of %u values, which the model %s takes, found "
            "%u",
            data->path, width, session->folder, data->feature_size);
        return false;
    }
    return true;
}

static bool check_positions(const weft_cli_data *data, const weft_cli_session *session) {
    uint32_t size = session->info.position_size;
    if (!data->positions) {
        return refuse(session, data->path, "positions: expected the member positions",
                      "no member of that name");
    }
    if (data->position_size != size) {
        weft_fail(
            &session->host, WEFT_BAD_FILE,
            "%s: member positions: expected %u coordinates, which the model %s takes, found %u",
            data->path, size, session->folder, data->position_size);
        return false;
    }
    return true;
}

static bool check_kind(const weft_cli_data *data, const weft_cli_session *session) {
    const weft_model_info *info = &session->info;
    if (info->position_size > 0 && !check_positions(data, session)) {
        return false;
    }
    if (info->input_size > 0) {
        return check_features(data, session);
    }
    return data->tokens ||
           refuse(session, data->path, "tokens: expected the member tokens", "inputs");
}

/* Numbers of one sequence: `width` for each token. */
static bool check_finite(const float *values, uint32_t width, uint32_t sequence, const char *member,
                         const weft_cli_data *data, const weft_host *host) {
    const weft_cli_sequence *row = &data->sequences[sequence];
    const float *first = &values[row->begin * width];
    for (size_t index = 0; index < (size_t)row->length * width; index++) {
        if (!isfinite(first[index])) {
            weft_fail(host, WEFT_BAD_FILE,
                      "%s: member %s, sequence %u, position %zu: expected a finite value, found %g",
                      data->path, member, sequence, index / width, (double)first[index]);
            return false;
        }
    }
    return true;
}

/* The tokens of one sequence. */
static bool check_tokens(const weft_cli_data *data, uint32_t sequence,
                         const weft_cli_session *session) {
    const weft_cli_sequence *row = &data->sequences[sequence];
    const int32_t *tokens = &data->tokens[row->begin];
    uint32_t vocabulary = session->info.vocabulary;
    for (uint32_t position = 0; position < row->length; position++) {
        if (tokens[position] < 0 || (uint32_t)tokens[position] >= vocabulary) {
            weft_fail(&session->host, WEFT_BAD_FILE,
                      "%s: member tokens, sequence %u, position %u: expected a token from 0 to %u, "
                      "the vocabulary of the model %s, found %d",
                      data->path, sequence, position, vocabulary - 1, session->folder,
                      (int)tokens[position]);
            return false;
        }
    }
    return true;
}

static bool check_length(const weft_cli_data *data, uint32_t sequence,
                         const weft_cli_session *session) {
    const weft_model_info *info = &session->info;
    uint32_t length = data->sequences[sequence].length;
    const char *member = data->tokens ? "tokens" : "inputs";
    if (info->exact_length != 0 ? length != info->exact_length : length > info->max_length) {
        weft_fail(
            &session->host, WEFT_BAD_FILE,
            "%s: member %s, sequence %u: expected %s %u tokens, which the model %s takes, found "
            "%u",
            data->path, member, sequence, info->exact_length != 0 ? "exactly" : "at most",
            info->exact_length != 0 ? info->exact_length : info->max_length, session->folder,
            length);
        return false;
    }
    if (info->task == WEFT_TASK_CAUSAL_LM && length < 2) {
        weft_fail(&session->host, WEFT_BAD_FILE,
                  "%s: member %s, sequence %u: expected at least 2 tokens, since the second is "
                  "predicted, found 1",
                  data->path, member, sequence);
        return false;
    }
    return true;
}

static bool check_sequences(const weft_cli_data *data, const weft_cli_session *session) {
    const weft_host *host = &session->host;
    bool positions = session->info.position_size > 0;
    bool fine = true;
    for (uint32_t index = 0; index < data->sequence_count && fine; index++) {
        fine = check_length(data, index, session);
        fine = fine &&
               (session->info.input_size == 0 ? check_tokens(data, index, session)
                                              : check_finite(data->features, data->feature_size,
                                                             index, "inputs", data, host));
        fine = fine && (!positions || check_finite(data->positions, data->position_size, index,
                                                   "positions", data, host));
    }
    return fine;
}

static bool check_pairs(const weft_cli_data *data, const weft_host *host) {
    for (uint32_t pair = 0; pair < data->example_count; pair++) {
        uint32_t first = data->sequences[2 * (size_t)pair].length;
        uint32_t second = data->sequences[2 * (size_t)pair + 1].length;
        if (first != second) {
            weft_fail(host, WEFT_BAD_FILE,
                      "%s: member lengths, pair %u: expected sequences of one length, found %u and "
                      "%u",
                      data->path, pair, first, second);
            return false;
        }
    }
    return true;
}

/* ---- answers ---- */

static bool check_labels(const weft_cli_data *data, const weft_cli_session *session) {
    uint32_t count = session->info.label_count;
    for (uint32_t index = 0; index < data->example_count; index++) {
        if (data->labels[index] < 0 || (uint32_t)data->labels[index] >= count) {
            weft_fail(
                &session->host, WEFT_BAD_FILE,
                "%s: member labels, example %u: expected 0 to %u, the labels of the model %s, "
                "found %d",
                data->path, index, count - 1, session->folder, (int)data->labels[index]);
            return false;
        }
    }
    return true;
}

static bool check_masked(const weft_cli_data *data, const weft_cli_session *session) {
    uint32_t vocabulary = session->info.vocabulary;
    uint64_t scored = 0;
    for (uint32_t index = 0; index < data->sequence_count; index++) {
        const int32_t *labels = &data->labels[data->sequences[index].begin];
        for (uint32_t position = 0; position < data->sequences[index].length; position++) {
            if (labels[position] < -1 ||
                (labels[position] >= 0 && (uint32_t)labels[position] >= vocabulary)) {
                weft_fail(
                    &session->host, WEFT_BAD_FILE,
                    "%s: member labels, sequence %u, position %u: expected -1, or a token from "
                    "0 to %u, found %d",
                    data->path, index, position, vocabulary - 1, (int)labels[position]);
                return false;
            }
            scored += labels[position] >= 0;
        }
    }
    if (scored == 0) {
        weft_fail(&session->host, WEFT_BAD_FILE,
                  "%s: member labels: expected tokens to predict, found only -1", data->path);
    }
    return scored > 0;
}

static bool check_targets(const weft_cli_data *data, const weft_cli_session *session) {
    uint32_t width = session->info.label_count;
    if (data->target_size != width) {
        weft_fail(
            &session->host, WEFT_BAD_FILE,
            "%s: member targets: expected %u values for each example, the outputs of the model "
            "%s, found %u",
            data->path, width, session->folder, data->target_size);
        return false;
    }
    for (size_t index = 0; index < (size_t)data->example_count * width; index++) {
        if (!isfinite(data->targets[index])) {
            weft_fail(
                &session->host, WEFT_BAD_FILE,
                "%s: member targets, example %zu, value %zu: expected a finite value, found %g",
                data->path, index / width, index % width, (double)data->targets[index]);
            return false;
        }
    }
    return true;
}

static bool check_answers(const weft_cli_data *data, const weft_cli_session *session) {
    switch (session->info.task) {
    case WEFT_TASK_CAUSAL_LM:
        return true;
    case WEFT_TASK_MASKED_LM:
        return check_masked(data, session);
    case WEFT_TASK_REGRESS:
        return check_targets(data, session);
    case WEFT_TASK_RETRIEVE:
        return check_pairs(data, &session->host) && check_labels(data, session);
    default:
        return check_labels(data, session);
    }
}

static bool check_task(const weft_cli_data *data, const weft_cli_session *session) {
    if (session->info.task == data->task) {
        return true;
    }
    weft_fail(&session->host, WEFT_BAD_FILE,
              "%s: expected the task %s, as the first model has it, to compare them; found %s",
              session->folder, weft_task_name(data->task), weft_task_name(session->info.task));
    return false;
}

int weft_cli_data_check(const weft_cli_data *data, const weft_cli_session *session) {
    bool fits = check_task(data, session) && check_kind(data, session) &&
                check_sequences(data, session) && check_answers(data, session);
    return fits ? WEFT_CLI_FINE : WEFT_CLI_BAD_FILE;
}
