/* SPDX-License-Identifier: MIT */
/* What `weft run` runs a model on. */
#ifndef WEFT_CLI_RUN_INPUTS_H
#define WEFT_CLI_RUN_INPUTS_H

#include "input.h"
#include "session.h"

/** A text and files, as the options name them; null for those that are not given. */
typedef struct weft_cli_input_paths {
    weft_cli_source source; /* of exactly one of the first three there is one, or lines */
    const char *tokens;
    const char *input;
    const char *types; /* with tokens only */
    const char *positions;
    const char *lines; /* texts, for run_lines.h: the inputs know nothing of them */
} weft_cli_input_paths;

typedef struct weft_cli_inputs {
    weft_cli_tokens tokens; /* of a text or of ids; values are null for features and images */
    weft_cli_tokens types;  /* values are null: none given, as in the next two */
    weft_cli_vectors features;
    weft_cli_vectors pixels; /* of images */
    weft_cli_vectors positions;
    weft_cli_text_note text; /* of a text; zeros for files of numbers */
    uint32_t batch;          /* of whichever there is */
    uint32_t length;
    int32_t mask; /* id of the [MASK] token to fill in, or -1 */
} weft_cli_inputs;

/**
 * Reads the files and checks them against the model. Returns an exit code: WEFT_CLI_USAGE, after a
 * message with the syntax's help, when the model takes other options.
 */
int weft_cli_inputs_read(weft_cli_inputs *inputs, const weft_cli_input_paths *paths,
                         const weft_cli_session *session, const weft_cli_syntax *syntax);

/** Notes the text, if it is one, in the session's receipt, if there is one. The session is open. */
weft_status weft_cli_inputs_note(const weft_cli_inputs *inputs, const weft_cli_session *session);

#define WEFT_CLI_INPUT_TENSORS 3

/** The inputs as a plan takes them; returns how many. */
uint32_t weft_cli_inputs_tensors(weft_host_tensor tensors[WEFT_CLI_INPUT_TENSORS],
                                 const weft_cli_inputs *inputs);

/** Frees what the inputs hold; zeroed ones are fine. */
void weft_cli_inputs_clear(weft_cli_inputs *inputs, const weft_host *host);

#endif
