/* SPDX-License-Identifier: MIT */
/*
 * The subcommands, one file each. argv[0] is the subcommand's name; the result is the exit code:
 * see enum weft_cli_exit in cli.h.
 */
#ifndef WEFT_CLI_COMMANDS_H
#define WEFT_CLI_COMMANDS_H

int weft_cli_devices(int argc, char **argv);
int weft_cli_run(int argc, char **argv);
int weft_cli_embed(int argc, char **argv);
int weft_cli_rerank(int argc, char **argv);
int weft_cli_search(int argc, char **argv);
int weft_cli_eval(int argc, char **argv);
int weft_cli_generate(int argc, char **argv);
int weft_cli_transcribe(int argc, char **argv);
int weft_cli_tokenize(int argc, char **argv);
int weft_cli_quantize(int argc, char **argv);
int weft_cli_verify(int argc, char **argv);
int weft_cli_bench(int argc, char **argv);
int weft_cli_certify(int argc, char **argv);
int weft_cli_inspect(int argc, char **argv);

#endif
