/* SPDX-License-Identifier: MIT */
/* Programs on the command line: named files, and values of symbols. Functions return exit codes. */
#ifndef WEFT_CLI_PROGRAM_H
#define WEFT_CLI_PROGRAM_H

#include "session.h"

#define WEFT_CLI_MOST_SYMBOLS 16 /* of a program */

/** Symbols by NAME=N; one for each symbol of the program, in their order, without a name where none is given. */
typedef struct weft_cli_symbols {
    weft_symbol at[WEFT_CLI_MOST_SYMBOLS];
    uint32_t count;
} weft_cli_symbols;

/** Reads --symbol. With `examples` the symbols that are not given have their examples. */
int weft_cli_symbols_read(weft_cli_symbols *symbols, const weft_cli_list *given, bool examples,
                          const weft_cli_session *session, const weft_cli_syntax *syntax);

/** "batch 2, length 16"; the text holds `size` bytes. */
const char *weft_cli_symbols_text(char *text, size_t size, const weft_cli_symbols *symbols);

/** Their values by name. */
json_t *weft_cli_symbols_json(const weft_cli_symbols *symbols);

/** What `weft run` takes for a program. */
typedef struct weft_cli_program_params {
    const weft_cli_common *common;
    const weft_cli_list *inputs;  /* FILE or NAME=FILE */
    const weft_cli_list *outputs; /* likewise */
    const weft_cli_list *symbols; /* NAME=N */
    const char *trace;            /* or null */
    uint32_t repeats;
} weft_cli_program_params;

/** Runs a loaded program once, writes its outputs and reports. */
int weft_cli_run_program(weft_cli_session *session, const weft_cli_program_params *params,
                         const weft_cli_syntax *syntax);

/** Prints its inputs, outputs and symbols, for `weft inspect`. */
void weft_cli_print_program(const weft_cli_session *session);

#endif
