/* SPDX-License-Identifier: MIT */
/*
 * What the subcommands share: options, log, devices, and output. Besides the public headers the
 * command uses the library's own core/host.h for memory and text, and links the library's objects.
 * One thread only.
 */
#ifndef WEFT_CLI_CLI_H
#define WEFT_CLI_CLI_H

#include <stdarg.h>
#include <stdio.h>

#include <jansson.h>

#include <weft/device.h>

#include "core/host.h"

/* ---- exit codes ---- */

enum weft_cli_exit {
    WEFT_CLI_FINE = 0,
    WEFT_CLI_FAILED = 1,    /* a check failed, or the machine is out of memory */
    WEFT_CLI_USAGE = 2,     /* the command line is wrong */
    WEFT_CLI_NO_DEVICE = 3, /* no usable device, or the device failed or cannot do it */
    WEFT_CLI_BAD_FILE = 4   /* a file cannot be read, written or used */
};

/** WEFT_TRY for exit codes: returns from the function with that of `call` unless it is WEFT_CLI_FINE. */
#define WEFT_CLI_TRY(call)                        \
    do {                                          \
        const int weft_cli_try_code = (call);     \
        if (weft_cli_try_code != WEFT_CLI_FINE) { \
            return weft_cli_try_code;             \
        }                                         \
    } while (0)

/** The exit code for a status of a call whose arguments came from the command line. */
int weft_cli_exit_code(weft_status status);

/** The same for a call whose arguments came from a file: what does not fit is the file's fault. */
int weft_cli_exit_code_of_file(weft_status status);

/** Logs what is wrong with a file, with printf's format, and gives WEFT_CLI_BAD_FILE. */
#define weft_cli_bad_file(host, ...) \
    weft_cli_exit_code_of_file(weft_fail((host), WEFT_BAD_FILE, __VA_ARGS__))

/* ---- options ---- */

#define WEFT_CLI_ERROR_SIZE 256

/** Options that most subcommands have, and the log. Zero is every option's default. */
typedef struct weft_cli_common {
    const char *device;          /* --device: index, part of a name, or null */
    weft_math math;              /* --math */
    weft_weight_storage weights; /* --weights */
    weft_dtype state;            /* --state: weft_model_set_state */
    bool validation;             /* --validation */
    bool no_cache;               /* --no-cache */
    bool verbose;                /* --verbose: the log's information lines too */
    bool json;                   /* --json */
    bool compile_only;           /* --compile-only, which only inspect has */
    bool executables;            /* no option: as weft_device_params */
    const char *receipt;         /* --receipt, or null */
    const char *checkpoints;     /* --checkpoints, or null */
    const char *command;         /* no option: what a receipt is to say that it is of */
    /* No option: receives the newest error (WEFT_CLI_ERROR_SIZE bytes) instead of stderr; or null. */
    char *error;
} weft_cli_common;

typedef enum weft_cli_kind {
    WEFT_CLI_FLAG,    /* value is a bool */
    WEFT_CLI_TEXT,    /* value is a const char * */
    WEFT_CLI_LIST,    /* value is a weft_cli_list: the option may be there several times */
    WEFT_CLI_COUNT,   /* value is a uint32_t of at least 1 */
    WEFT_CLI_SECONDS, /* value is a double from 0.001 to 1e6, given as 2 or 0.25 */
    WEFT_CLI_MATH,    /* value is a weft_math */
    WEFT_CLI_WEIGHTS, /* value is a weft_weight_storage */
    WEFT_CLI_STATE    /* value is a weft_dtype */
} weft_cli_kind;

/** The values of an option in their order. */
typedef struct weft_cli_list {
    const char *at[64];
    uint32_t count;
} weft_cli_list;

typedef struct weft_cli_option {
    const char *name; /* without dashes; null ends a list */
    weft_cli_kind kind;
    void *value;
    /* What it is called in the help; null for flags. Shells complete "FILE" and "DIR"; words with | between them, such
     * as "full|short", are the only values, but with "..." behind them some of more. */
    const char *argument;
    const char *help; /* sentences without newlines, of which shells show the first */
} weft_cli_option;

/** Rows for the options of a weft_cli_common; the second macro leaves out which device and how. */
#define WEFT_CLI_DEVICE_OPTIONS(common)                                                           \
    {"device", WEFT_CLI_TEXT, &(common)->device, "SEL",                                           \
     "which device: an index or part of a name (see weft devices); opencl:TEXT is an OpenCL "     \
     "device whose name or platform contains TEXT; uuid:, luid: and pci: stand before what weft " \
     "devices --json says of it; processor loads no driver"},                                     \
        {"math", WEFT_CLI_MATH, &(common)->math, "reproducible|fused|fast",                       \
         "reproducible (default: the same bits on every device), fused (the same, with bits of "  \
         "its own: each multiply-add is rounded once) or fast"},                                  \
        {"weights", WEFT_CLI_WEIGHTS, &(common)->weights, "auto|f32|f16|int8|int8-only",          \
         "how weights are kept: f32, f16, int8, int8-only (multiplied with f32), or auto "        \
         "(default: f16 with --math fast)"},                                                      \
        {"validation", WEFT_CLI_FLAG, &(common)->validation, NULL,                                \
         "turn on the Vulkan validation layer; any message from it fails the command"},           \
    {                                                                                             \
        "no-cache", WEFT_CLI_FLAG, &(common)->no_cache, NULL,                                     \
            "keep no compiled shaders on disk, and use none"                                      \
    }
/** Of subcommands that run decoders, or their texts at once. */
#define WEFT_CLI_STATE_OPTION(common)                                                            \
    {                                                                                            \
        "state", WEFT_CLI_STATE, &(common)->state, "f32|f16",                                    \
            "how keys and values of softmax attention are kept: f32 (default), or f16, in half " \
            "of "                                                                                \
            "the memory and with bits of its own, the same on every device"                      \
    }

#define WEFT_CLI_OUTPUT_OPTIONS(common)                                                \
    {"json", WEFT_CLI_FLAG, &(common)->json, NULL, "print one JSON object instead"}, { \
        "verbose", WEFT_CLI_FLAG, &(common)->verbose, NULL,                            \
            "report choices and progress on stderr"                                    \
    }

#define WEFT_CLI_RECEIPT_OPTIONS(common)                                                       \
    {"receipt", WEFT_CLI_TEXT, &(common)->receipt, "FILE",                                     \
     "write hashes of the model, the inputs, values on the way and the outputs as JSON: weft " \
     "verify --receipt FILE makes them again, on any device"},                                 \
    {                                                                                          \
        "checkpoints", WEFT_CLI_TEXT, &(common)->checkpoints, "none|layers|nodes",             \
            "with --receipt: which values on the way, none, layers (default) or nodes: all, "  \
            "which takes longer"                                                               \
    }

typedef struct weft_cli_syntax {
    const char *command;     /* such as "run" */
    const char *positionals; /* for the help, such as "MODEL"; null for none */
    int positional_count;    /* exactly so many are required, */
    int *positional_found;   /* or where this is not null, at least so many; it receives how many */
    const char *summary;     /* paragraphs; a line that begins with a space stays one */
    const weft_cli_option *options;
} weft_cli_syntax;

/**
 * Reads a subcommand's arguments: options in any place, `--name VALUE` or `--name=VALUE`, then
 * positionals into `positionals`, which has room for argc when their number is open (null when there
 * are none). False when the command is over:
 * *exit_code is then WEFT_CLI_FINE after --help and WEFT_CLI_USAGE after a message about what is wrong.
 */
bool weft_cli_parse(const weft_cli_syntax *syntax, int argc, char **argv, const char **positionals,
                    int *exit_code);

/**
 * The whole number that *text begins with, in digits alone; moves *text behind it. False without one, or for one that 64 bits do
 * not hold.
 */
bool weft_cli_take_number(uint64_t *number, const char **text);

/** Prints "weft COMMAND: …" and where the help is on stderr; returns WEFT_CLI_USAGE. */
int weft_cli_usage_error(const weft_cli_syntax *syntax, const char *format, ...) WEFT_PRINTF(2, 3);

/* ---- log and devices ---- */

/**
 * A host that prints errors and warnings (and information when common->verbose) on stderr, each
 * line as "weft: error: …". Memory is the C library's. `common` must outlive it.
 */
weft_host weft_cli_host(const weft_cli_common *common);

/** From that time of weft_clock_ms on, long calls with such a host end with WEFT_CANCELLED; 0: never. */
void weft_cli_cancel_at(double clock_ms);

/** Opens the device that the options ask for; after an error, `weft_cli_open_exit_code` has its code. */
weft_status weft_cli_open(weft_device **device, const weft_cli_common *common);
/** weft_cli_open with another choice of device, such as an index as text. */
weft_status weft_cli_open_selected(weft_device **device, const weft_cli_common *common,
                                   const char *select);
/** WEFT_CLI_NO_DEVICE for everything that means "not this device". */
int weft_cli_open_exit_code(weft_status status);

/** All devices in fresh memory: free it with weft_free. *infos is null when there are none. */
weft_status weft_cli_list_devices(weft_device_info **infos, uint32_t *count, const weft_host *host);
/** Those that can be used; WEFT_NO_DEVICE when there are none. */
weft_status weft_cli_list_usable(weft_device_info **infos, uint32_t *count, const weft_host *host);

/** Whether the validation layer had anything to say so far; if so, prints how much on stderr. */
bool weft_cli_validation_failed(const weft_device *device);
/** The same as an exit code. */
int weft_cli_validation_code(const weft_device *device);

/** A device as JSON: index, name, type, driver, driver_version, vulkan "1.3.0", limits, uuid … */
json_t *weft_cli_device_json(const weft_device_info *info);

/* ---- output ---- */

/*
 * Everything that the command prints goes through these. What a value brings along is harmless then (core/harmless.h):
 * it cannot steer a terminal, nor look like a line of the command's own.
 */

/** Whether all that would go to stdout from now on is left out: a command runs inside another. */
void weft_cli_be_quiet(bool quiet);

/** printf to a stream. Newlines are at the ends of the format alone; others are values', and escaped. */
void weft_cli_print(FILE *stream, const char *format, ...) WEFT_PRINTF(2, 3);
void weft_cli_print_list(FILE *stream, const char *format, va_list arguments);
/** A text of several lines, which keeps its newlines. */
void weft_cli_print_lines(FILE *stream, const char *text);
/** A text for a cell of a table with tabs between them, on standard output (core/cell.h). */
void weft_cli_print_cell(const char *bytes, size_t size);
/** What a model writes, which keeps newlines and tabs. Whether all was written. */
bool weft_cli_print_text(FILE *stream, const char *text, size_t size);

/**
 * Prints an object on stdout with a newline, and drops the reference. A null object means that
 * memory ran out while it was built. Returns WEFT_CLI_FINE or WEFT_CLI_FAILED after a message.
 */
int weft_cli_print_json(json_t *object);
/** The same on one line. */
int weft_cli_print_json_line(json_t *object);

/** Whether one of them has printed anything. */
bool weft_cli_has_printed_json(void);

/** A real, or null where JSON has none (NaN and infinities). */
json_t *weft_cli_json_real(double value);

/** A string; bytes that are no UTF-8 become `\xff` and the like. */
json_t *weft_cli_json_text(const char *text);

/* What builds a report drops what it is given, and gives null as soon as memory is out. */
/** The list with an item more. */
json_t *weft_cli_json_append(json_t *list, json_t *item);
/** The object with a field more. */
json_t *weft_cli_json_field(json_t *object, const char *name, json_t *value);
/** The object with all fields of another. */
json_t *weft_cli_json_merge(json_t *object, json_t *more);

/** A progress bar on stderr, only where that is a terminal and some time passes. */
typedef struct weft_cli_progress {
    const char *label;
    uint64_t total;
    double begin_ms;
    double drawn_ms;
    bool terminal;
    bool drawn;
} weft_cli_progress;

void weft_cli_progress_begin(weft_cli_progress *progress, const char *label, uint64_t total);
void weft_cli_progress_set(weft_cli_progress *progress, uint64_t done);
/** Takes the bar off the screen. Call before printing anything else, too. */
void weft_cli_progress_end(weft_cli_progress *progress);

/** A table of text, columns padded to their widest cell. */
typedef struct weft_cli_table weft_cli_table;

/**
 * `columns` are the headings, each with '>' in front for a column aligned right, ended by null; they
 * must outlive the table. Null when memory is out: the calls below take that, and the last one says it.
 */
weft_cli_table *weft_cli_table_begin(const char *const *columns);
/** Adds a cell: rows fill from left to right. */
void weft_cli_table_cell(weft_cli_table *table, const char *format, ...) WEFT_PRINTF(2, 3);
/** Prints on stdout and frees. WEFT_CLI_FINE, or WEFT_CLI_FAILED after a message. */
int weft_cli_table_print(weft_cli_table **table);

/** A number with commas between thousands, in `text`; returns text. */
#define WEFT_CLI_GROUPED_SIZE 32
const char *weft_cli_grouped(uint64_t number, char text[WEFT_CLI_GROUPED_SIZE]);

/** Bytes with a unit, such as "1.5 MiB", in `text`; returns text. */
#define WEFT_CLI_BYTES_SIZE 32
const char *weft_cli_bytes(uint64_t bytes, char text[WEFT_CLI_BYTES_SIZE]);

#endif
