/* SPDX-License-Identifier: MIT */
#include "run_inputs.h"

#include <stdio.h>
#include <string.h>

/* ---- tokens ---- */

/* Whether a token has no text, as special ones. */
static bool is_silent(weft_model *model, int32_t token) {
    char *text = NULL;
    size_t size = 1;
    const bool known = weft_model_detokenize(model, &token, 1, &text, &size) == WEFT_OK;
    weft_text_free(model, &text);
    return known && size == 0;
}

/* The one special token that a text is, or -1. */
static int32_t special_token(weft_model *model, const char *text) {
    weft_encoding encoding = {0};
    if (weft_model_encode(&encoding, model,
                          weft_encode_params(.text = text, .size = strlen(text),
                                             .no_special = true)) != WEFT_OK) {
        return -1;
    }
    const int32_t token = encoding.count == 1 ? encoding.tokens[0] : -1;
    weft_encoding_free(model, &encoding);
    return token >= 0 && is_silent(model, token) ? token : -1;
}

/* The id of [MASK], or of <mask> as RoBERTa has it, where the tokenizer makes one special token of it, else -1. */
static int32_t find_mask(const weft_cli_session *session) {
    const weft_model_info *info = &session->info;
    if (info->task != WEFT_TASK_MASKED_LM || strcmp(info->tokenizer, "none") == 0 ||
        strcmp(info->tokenizer, "bytes") == 0) {
        return -1;
    }
    const int32_t mask = special_token(session->model, "[MASK]");
    return mask >= 0 ? mask : special_token(session->model, "<mask>");
}

static void tell_cut(const weft_cli_text_note *note, const char *path,
                     const weft_model_info *info) {
    if (note->cut) {
        weft_cli_print(
            stderr,
            "weft: note: %s: the text is longer than the model's %u positions; the rest is "
            "left out\n",
            path, info->max_length);
    } else if (note->full && strcmp(info->tokenizer, "bytes") != 0) {
        weft_cli_print(stderr,
                       "weft: note: %s: the text fills the model's %u positions; any further "
                       "tokens are left out\n",
                       path, info->max_length);
    }
}

static int read_types(weft_cli_inputs *inputs, const char *path, const weft_host *host) {
    WEFT_CLI_TRY(weft_cli_read_tokens(&inputs->types, path, host));
    const weft_cli_tokens *tokens = &inputs->tokens;
    if (inputs->types.batch != tokens->batch || inputs->types.length != tokens->length) {
        return weft_cli_bad_file(host, "%s: expected the tokens' shape [%u, %u], found [%u, %u]",
                                 path, tokens->batch, tokens->length, inputs->types.batch,
                                 inputs->types.length);
    }
    return WEFT_CLI_FINE;
}

static bool is_text(const weft_cli_input_paths *paths) {
    return paths->source.text || paths->source.file;
}

/* What messages call the input. */
static const char *name_of(const weft_cli_input_paths *paths) {
    return is_text(paths)  ? weft_cli_source_name(&paths->source)
           : paths->tokens ? paths->tokens
                           : paths->input;
}

static int read_tokens(weft_cli_inputs *inputs, const weft_cli_input_paths *paths,
                       const weft_cli_session *session) {
    const weft_host *host = &session->host;
    const char *path = name_of(paths);
    WEFT_CLI_TRY(is_text(paths) ? weft_cli_read_text(&inputs->tokens, &inputs->text, session->model,
                                                     &paths->source, host)
                                : weft_cli_read_tokens(&inputs->tokens, path, host));
    tell_cut(&inputs->text, path, &session->info);
    WEFT_CLI_TRY(weft_cli_check_tokens(&inputs->tokens, &session->info, path, host));
    if (paths->types) {
        WEFT_CLI_TRY(read_types(inputs, paths->types, host));
    }
    inputs->batch = inputs->tokens.batch;
    inputs->length = inputs->tokens.length;
    inputs->mask = find_mask(session);
    return WEFT_CLI_FINE;
}

/* ---- vectors ---- */

static int read_features(weft_cli_inputs *inputs, const char *path,
                         const weft_cli_session *session) {
    const weft_host *host = &session->host;
    weft_cli_vectors *features = &inputs->features;
    WEFT_CLI_TRY(weft_cli_read_vectors(features, path, host));
    if (features->width != session->info.input_size) {
        return weft_cli_bad_file(
            host, "%s: expected vectors of %u values, which the model %s takes, found %u", path,
            session->info.input_size, session->folder, features->width);
    }
    inputs->batch = features->batch;
    inputs->length = features->length;
    bool fits = weft_cli_check_length(features->length, &session->info, path, host);
    return fits ? WEFT_CLI_FINE : WEFT_CLI_BAD_FILE;
}

static int read_images(weft_cli_inputs *inputs, const char *path, const weft_cli_session *session) {
    WEFT_CLI_TRY(weft_cli_read_images(&inputs->pixels, path, &session->info, &session->host));
    inputs->batch = inputs->pixels.batch;
    inputs->length = session->info.exact_length;
    return WEFT_CLI_FINE;
}

static int read_positions(weft_cli_inputs *inputs, const char *path,
                          const weft_cli_session *session) {
    const weft_host *host = &session->host;
    const weft_cli_vectors *found = &inputs->positions;
    uint32_t size = session->info.position_size;
    WEFT_CLI_TRY(weft_cli_read_vectors(&inputs->positions, path, host));
    if (found->batch != inputs->batch || found->length != inputs->length || found->width != size) {
        return weft_cli_bad_file(
            host,
            "%s: expected positions [%u, %u, %u], of %u coordinates for each token, found "
            "[%u, %u, %u]",
            path, inputs->batch, inputs->length, size, size, found->batch, found->length,
            found->width);
    }
    return WEFT_CLI_FINE;
}

/* ---- all of them ---- */

/* The option that gives texts or tokens. */
static const char *option_of(const weft_cli_input_paths *paths) {
    return paths->tokens ? "--tokens" : paths->source.text ? "--text" : "--file";
}

/* Whether the options are those that the model takes. */
static int check_options(const weft_cli_input_paths *paths, const weft_cli_session *session,
                         const weft_cli_syntax *syntax) {
    const weft_model_info *info = &session->info;
    if (info->image_size > 0) {
        return paths->input && !paths->positions
                   ? WEFT_CLI_FINE
                   : weft_cli_usage_error(syntax, "%s: the model %s takes images: use --input",
                                          paths->positions ? "--positions" : option_of(paths),
                                          session->folder);
    }
    if (info->input_size == 0 && paths->input) {
        return weft_cli_usage_error(
            syntax,
            "--input %s: the model %s takes tokens, not vectors: use --tokens, --text or --file",
            paths->input, session->folder);
    }
    if (info->input_size > 0 && !paths->input) {
        return weft_cli_usage_error(syntax,
                                    "%s: the model %s takes vectors of %u values: use --input",
                                    option_of(paths), session->folder, info->input_size);
    }
    if (info->position_size > 0 && !paths->positions) {
        return weft_cli_usage_error(
            syntax, "the model %s takes positions of %u coordinates: expected --positions",
            session->folder, info->position_size);
    }
    if (info->position_size == 0 && paths->positions) {
        return weft_cli_usage_error(syntax, "--positions %s: the model %s takes none",
                                    paths->positions, session->folder);
    }
    return WEFT_CLI_FINE;
}

static int check_pairs(const weft_cli_inputs *inputs, const char *path,
                       const weft_cli_session *session) {
    if (session->info.task != WEFT_TASK_RETRIEVE || inputs->batch % 2 == 0) {
        return WEFT_CLI_FINE;
    }
    return weft_cli_bad_file(
        &session->host,
        "%s: expected pairs of sequences, as the model %s takes them, found %u sequences", path,
        session->folder, inputs->batch);
}

int weft_cli_inputs_read(weft_cli_inputs *inputs, const weft_cli_input_paths *paths,
                         const weft_cli_session *session, const weft_cli_syntax *syntax) {
    *inputs = (weft_cli_inputs){.mask = -1};
    WEFT_CLI_TRY(check_options(paths, session, syntax));
    WEFT_CLI_TRY(session->info.image_size > 0 ? read_images(inputs, paths->input, session)
                 : paths->input               ? read_features(inputs, paths->input, session)
                                              : read_tokens(inputs, paths, session));
    if (paths->positions) {
        WEFT_CLI_TRY(read_positions(inputs, paths->positions, session));
    }
    return check_pairs(inputs, name_of(paths), session);
}

weft_status weft_cli_inputs_note(const weft_cli_inputs *inputs, const weft_cli_session *session) {
    const weft_cli_text_note *text = &inputs->text;
    if (text->bytes == 0) {
        return WEFT_OK;
    }
    return weft_cli_receipt_note(&session->recording, WEFT_RECORD_DATA, "text 1", &text->digest,
                                 sizeof text->digest, "%zu bytes, %u tokens%s", text->bytes,
                                 inputs->length, text->cut ? ", the rest cut off" : "");
}

uint32_t weft_cli_inputs_tensors(weft_host_tensor tensors[WEFT_CLI_INPUT_TENSORS],
                                 const weft_cli_inputs *inputs) {
    uint64_t tokens = (uint64_t)inputs->batch * inputs->length;
    const weft_cli_vectors *features = &inputs->features;
    const weft_cli_vectors *positions = &inputs->positions;
    uint32_t count = 0;
    const weft_cli_vectors *pixels = &inputs->pixels;
    if (pixels->values) {
        tensors[count++] = (weft_host_tensor){"pixels", pixels->values,
                                              (uint64_t)pixels->batch * pixels->length *
                                                  pixels->width * sizeof(float)};
    } else if (features->values) {
        tensors[count++] = (weft_host_tensor){"features", features->values,
                                              tokens * features->width * sizeof(float)};
    } else {
        tensors[count++] =
            (weft_host_tensor){"tokens", inputs->tokens.values, tokens * sizeof(int32_t)};
    }
    if (inputs->types.values) {
        tensors[count++] =
            (weft_host_tensor){"token_types", inputs->types.values, tokens * sizeof(int32_t)};
    }
    if (positions->values) {
        tensors[count++] = (weft_host_tensor){"positions", positions->values,
                                              tokens * positions->width * sizeof(float)};
    }
    return count;
}

void weft_cli_inputs_clear(weft_cli_inputs *inputs, const weft_host *host) {
    weft_free(host, inputs->tokens.values);
    weft_free(host, inputs->types.values);
    weft_free(host, inputs->features.values);
    weft_free(host, inputs->pixels.values);
    weft_free(host, inputs->positions.values);
    *inputs = (weft_cli_inputs){.mask = -1};
}
