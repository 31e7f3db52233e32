/* SPDX-License-Identifier: MIT */
/* weft quantize: a model folder as one whose matrices are smaller. */
#include <weft/model.h>

#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "commands.h"
#include "stop.h"

typedef struct quantize_options {
    weft_cli_common common;
    const char *folders[2];
    const char *to;
} quantize_options;

static const char *const kinds[] = {[WEFT_QUANTIZE_I8] = "int8",
                                    [WEFT_QUANTIZE_I8_ONLY] = "int8-only",
                                    [WEFT_QUANTIZE_Q8_0] = "q8_0",
                                    [WEFT_QUANTIZE_Q4_0] = "q4_0",
                                    [WEFT_QUANTIZE_Q4_K] = "q4_k"};

static weft_quantization kind_of(const char *name) {
    int kind = WEFT_QUANTIZE_I8;
    while (strcmp(kinds[kind], name) != 0) {
        kind++; /* the option takes no other word */
    }
    return (weft_quantization)kind;
}

static int print(const quantize_options *options, const weft_quantize_info *info) {
    char before[WEFT_CLI_BYTES_SIZE], after[WEFT_CLI_BYTES_SIZE], others[64] = "";
    if (options->common.json) {
        return weft_cli_print_json(
            json_pack("{s:s, s:s, s:I, s:I, s:I, s:I}", "folder", options->folders[1], "weights",
                      options->to, "matrices", (json_int_t)info->matrices, "as_q8_0",
                      (json_int_t)info->as_q8_0, "bytes_before", (json_int_t)info->bytes_before,
                      "bytes_after", (json_int_t)info->bytes_after));
    }
    if (info->as_q8_0 > 0) {
        snprintf(others, sizeof others, ", %u of them as q8_0 for their rows' lengths",
                 info->as_q8_0);
    }
    weft_cli_print(stdout, "%s: %u matrices as %s%s; weights were %s and are %s\n",
                   options->folders[1], info->matrices, options->to, others,
                   weft_cli_bytes(info->bytes_before, before),
                   weft_cli_bytes(info->bytes_after, after));
    return WEFT_CLI_FINE;
}

int weft_cli_quantize(int argc, char **argv) {
    quantize_options options = {.to = "int8"};
    const weft_cli_option list[] = {{"to", WEFT_CLI_TEXT, &options.to,
                                     "int8|int8-only|q8_0|q4_0|q4_k",
                                     "int8 (default): bytes, with a scale for each output or row, "
                                     "and the bits that MODEL gives "
                                     "with --weights int8; int8-only: with those of --weights "
                                     "int8-only; q8_0, q4_0, q4_k: blocks "
                                     "of 8 or 4 bits, as GGUF files have them"},
                                    WEFT_CLI_OUTPUT_OPTIONS(&options.common),
                                    {.name = NULL}};
    const weft_cli_syntax syntax = {
        .command = "quantize",
        .positionals = "MODEL OUT",
        .positional_count = 2,
        .summary =
            "Writes the model folder OUT, in which matrices that only products and embeddings read "
            "are smaller. It loads wherever MODEL does. Configs and tokenizers are copied. Where "
            "MODEL is a GGUF file, OUT is one, of q8_0, q4_0 or q4_k.",
        .options = list,
    };
    int exit_code = WEFT_CLI_FINE;
    if (!weft_cli_parse(&syntax, argc, argv, options.folders, &exit_code)) {
        return exit_code;
    }
    weft_host host = weft_cli_host(&options.common);
    weft_quantize_info info;
    WEFT_CLI_TRY(weft_cli_exit_code(weft_model_quantize(
        &info, options.folders[0], options.folders[1], kind_of(options.to), &host)));
    weft_cli_stop_settle(true);
    return print(&options, &info);
}
