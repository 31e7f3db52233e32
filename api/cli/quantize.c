/* SPDX-License-Identifier: MIT */
/* weft quantize: a model folder as one of bytes. */
#include <weft/model.h>

#include "cli.h"
#include "commands.h"
#include "stop.h"

typedef struct quantize_options {
    weft_cli_common common;
    const char *folders[2];
    bool weights_only;
} quantize_options;

static int print(const quantize_options *options, const weft_quantize_info *info) {
    char before[WEFT_CLI_BYTES_SIZE], after[WEFT_CLI_BYTES_SIZE];
    if (options->common.json) {
        return weft_cli_print_json(
            json_pack("{s:s, s:s, s:I, s:I, s:I}", "folder", options->folders[1], "weights",
                      options->weights_only ? "int8-only" : "int8", "matrices",
                      (json_int_t)info->matrices, "bytes_before", (json_int_t)info->bytes_before,
                      "bytes_after", (json_int_t)info->bytes_after));
    }
    weft_cli_print(
        stdout, "%s: %u matrices as int8%s; weights were %s and are %s\n", options->folders[1],
        info->matrices, options->weights_only ? ", multiplied with f32" : "",
        weft_cli_bytes(info->bytes_before, before), weft_cli_bytes(info->bytes_after, after));
    return WEFT_CLI_FINE;
}

int weft_cli_quantize(int argc, char **argv) {
    quantize_options options = {0};
    const weft_cli_option list[] = {
        {"weights-only", WEFT_CLI_FLAG, &options.weights_only, NULL,
         "leave f32 what they are multiplied with, as --weights int8-only does"},
        WEFT_CLI_OUTPUT_OPTIONS(&options.common),
        {.name = NULL}};
    const weft_cli_syntax syntax = {
        .command = "quantize",
        .positionals = "MODEL OUT",
        .positional_count = 2,
        .summary =
            "Writes the model folder OUT, in which matrices that only products and embeddings read "
            "are int8, with a scale for each output or row. It loads wherever MODEL does, with the "
            "bits that MODEL gives with --weights int8. Configs and tokenizers are copied.",
        .options = list,
    };
    int exit_code = WEFT_CLI_FINE;
    if (!weft_cli_parse(&syntax, argc, argv, options.folders, &exit_code)) {
        return exit_code;
    }
    weft_host host = weft_cli_host(&options.common);
    weft_quantize_info info;
    const weft_stored stored = options.weights_only ? WEFT_STORED_I8_ONLY : WEFT_STORED_I8;
    WEFT_CLI_TRY(weft_cli_exit_code(
        weft_model_quantize(&info, options.folders[0], options.folders[1], stored, &host)));
    weft_cli_stop_settle(true);
    return print(&options, &info);
}
