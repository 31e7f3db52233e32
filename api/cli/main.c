/* SPDX-License-Identifier: MIT */
/* The weft command: picks the subcommand. Only the files of this folder print. */
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "commands.h"
#include "console.h"
#include "help.h"
#include "stop.h"

typedef struct subcommand {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *help;
} subcommand;

static const subcommand subcommands[] = {
    {"devices", weft_cli_devices, "list the Vulkan devices, and which one is taken by default"},
    {"run", weft_cli_run, "run a model on a text or on arrays"},
    {"embed", weft_cli_embed, "make vectors of texts, and a hash of all to compare machines by"},
    {"rerank", weft_cli_rerank, "sort texts by how well they answer a query"},
    {"search", weft_cli_search, "find the vectors of a file that are most like those of queries"},
    {"eval", weft_cli_eval, "measure models on data: accuracy, bits per byte, speed, memory"},
    {"generate", weft_cli_generate, "continue a text, or answer it, with a language model"},
    {"transcribe", weft_cli_transcribe, "write down what is said in sound files"},
    {"tokenize", weft_cli_tokenize, "show the tokens of texts"},
    {"quantize", weft_cli_quantize, "write a model with weights as int8, q8_0, q4_0 or q4_k"},
    {"verify", weft_cli_verify, "check every op and mixer against float64"},
    {"bench", weft_cli_bench, "measure speed"},
    {"certify", weft_cli_certify,
     "try a device's bits and speed in ten minutes, as a file to send"},
    {"inspect", weft_cli_inspect, "show a model, its plan and the results of passes"},
};

#define SUBCOMMAND_COUNT (sizeof subcommands / sizeof subcommands[0])

static void print_help(FILE *stream) {
    weft_cli_print_lines(stream, "usage: weft COMMAND [ARGUMENTS]\n\n");
    weft_cli_print(stream, "%s.\n\n", weft_cli_description);
    for (size_t index = 0; index < SUBCOMMAND_COUNT; index++) {
        weft_cli_print(stream, "  %-10s  %s\n", subcommands[index].name, subcommands[index].help);
    }
    weft_cli_print_lines(
        stream,
        "  help        print this; weft COMMAND --help describes a command, and weft help --man "
        "is\n"
        "              the manual; weft help --bash, --zsh or --fish completes command lines "
        "there\n"
        "  --version   print the version, the commit and what is compiled in\n\n"
        "Exit codes: 0 success, 1 a check failed, 2 wrong usage, 3 no usable device, 4 bad file,\n"
        "130 or 143 stopped by Ctrl-C or SIGTERM: what is done is kept.\n");
}

static const subcommand *find(const char *name) {
    for (size_t index = 0; index < SUBCOMMAND_COUNT; index++) {
        if (strcmp(subcommands[index].name, name) == 0) {
            return &subcommands[index];
        }
    }
    return NULL;
}

static int unknown(const char *name) {
    if (strcmp(name, "serve") == 0) { /* which the Python package's command takes before this */
        weft_cli_print(stderr,
                       "weft: serve is in the Python package: python -m weft.serve MODEL\n");
        return WEFT_CLI_USAGE;
    }
    weft_cli_print(stderr, "weft: unknown command '%s'\n\n", name);
    print_help(stderr);
    return WEFT_CLI_USAGE;
}

/* weft COMMAND OPTION */
static int run_with(const subcommand *chosen, const char *option) {
    char command[32];
    char copy[32];
    snprintf(command, sizeof command, "%s", chosen->name);
    snprintf(copy, sizeof copy, "%s", option);
    char *arguments[] = {command, copy, NULL};
    return chosen->run(2, arguments);
}

static void describe_all(const char *option) {
    for (size_t index = 0; index < SUBCOMMAND_COUNT; index++) {
        run_with(&subcommands[index], option);
    }
}

static void print_manual(void) {
    weft_cli_manual_begin();
    describe_all("--help=man");
    weft_cli_manual_shared();
    run_with(find("run"), "--help=shared");
    weft_cli_manual_end();
}

/* What shells complete by: see weft_cli_print_row. */
static void print_rows(void) {
    for (size_t index = 0; index < SUBCOMMAND_COUNT; index++) {
        weft_cli_print_row(subcommands[index].name,
                           &(weft_cli_option){.help = subcommands[index].help});
    }
    weft_cli_print_row("help", &(weft_cli_option){.help = "print the help"});
    weft_cli_print_row("", &(weft_cli_option){.name = "version", .help = "print the version"});
    weft_cli_print_row("", &(weft_cli_option){.name = "help", .help = "print the help"});
    describe_all("--help=options");
}

/* weft help [COMMAND] */
static int help(int argc, char **argv) {
    const char *what = argc < 2 ? "" : argv[1];
    const subcommand *chosen = find(what);
    const char *completion = strncmp(what, "--", 2) == 0 ? weft_cli_completion(what + 2) : NULL;
    if (chosen) {
        return run_with(chosen, "--help");
    }
    if (argc < 2) {
        print_help(stdout);
    } else if (completion) {
        weft_cli_print_lines(stdout, completion);
    } else if (strcmp(what, "--man") == 0) {
        print_manual();
    } else if (strcmp(what, "--options") == 0) {
        print_rows();
    } else {
        return unknown(what);
    }
    return WEFT_CLI_FINE;
}

static int dispatch(int argc, char **argv) {
    if (argc < 2) {
        print_help(stderr);
        return WEFT_CLI_USAGE;
    }
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "version") == 0) {
        weft_cli_print(stdout, "weft %s (%s)\n", weft_version(), weft_build());
        return WEFT_CLI_FINE;
    }
    if (strcmp(argv[1], "help") == 0 || strcmp(argv[1], "--help") == 0 ||
        strcmp(argv[1], "-h") == 0) {
        return help(argc - 1, argv + 1);
    }
    const subcommand *chosen = find(argv[1]);
    return !chosen ? unknown(argv[1]) : chosen->run(argc - 1, argv + 1);
}

/* Whoever asked for JSON is told by JSON, too, when a signal came before there was anything to report. */
static void report_stop(int argc, char **argv) {
    bool wanted = false;
    for (int i = 2; i < argc; i++) {
        wanted = wanted || strcmp(argv[i], "--json") == 0;
    }
    if (wanted && weft_cli_stopped() && !weft_cli_has_printed_json()) {
        weft_cli_print_json(json_pack("{s:b}", "stopped", 1));
    }
}

/* All output must have been written, unless the reader has closed the pipe. */
static int close_output(int exit_code) {
    bool failed = ferror(stdout) != 0;
    failed |= fflush(stdout) != 0;
    if (!failed || weft_cli_reader_is_gone()) {
        return exit_code;
    }
    weft_cli_print(stderr, "weft: error: standard output could not be written\n");
    return exit_code == WEFT_CLI_FINE ? WEFT_CLI_BAD_FILE : exit_code;
}

/* As shells tell of programs that a signal ended. */
#define STOPPED 128

int main(int argc, char **argv) {
    char **arguments = weft_cli_console_begin(argc, argv);
    if (!arguments) {
        weft_cli_print(stderr, "weft: error: out of memory for the arguments\n");
        return WEFT_CLI_FAILED;
    }
    weft_cli_stop_begin();
    const int result = dispatch(argc, arguments);
    report_stop(argc, arguments);
    const int exit_code = close_output(result);
    const int signal_number = weft_cli_stop_end();
    if (signal_number != 0) {
        weft_cli_print(stderr, "weft: stopped by a signal\n");
    }
    weft_cli_console_end();
    return signal_number != 0 ? STOPPED + signal_number : exit_code;
}
