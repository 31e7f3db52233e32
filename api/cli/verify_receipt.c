/* SPDX-License-Identifier: MIT */
/*
 * The receipt says which command made it. That command runs again inside this one, silently, with the model and inputs that the arguments
 * name; its receipt is compared with the other. Where a value differs it runs again, to keep that value, and with --against on two devices
 * with every node as a checkpoint, to find the first node in which they differ.
 */
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "core/formats/json.h"
#include "core/system/clock.h"
#include "core/system/file.h"
#include "receipt.h"
#include "receipt_report.h"
#include "stop.h"
#include "verify_receipt.h"

#define MOST_ARGUMENTS 256

static const struct maker {
    const char *name;
    int (*run)(int argc, char **argv);
} makers[] = {
    {"run", weft_cli_run},   {"embed", weft_cli_embed},       {"rerank", weft_cli_rerank},
    {"eval", weft_cli_eval}, {"generate", weft_cli_generate},
};

typedef struct verification {
    weft_cli_common common;
    weft_host host;
    const char *path;           /* of the receipt */
    const char *against;        /* the second device, or null */
    char *rest[MOST_ARGUMENTS]; /* what the command gets */
    int rest_count;
    const struct maker *maker;
    weft_receipt *receipt;
    weft_receipt *again; /* what was made here */
    weft_checkpoints checkpoints;
} verification;

/* ---- the arguments ---- */

/* Whether argv[*at], which moves on to the last of them, is `--name VALUE` or `--name=VALUE`. */
static bool takes_value(const char **value, const char *name, int argc, char **argv, int *at) {
    const size_t length = strlen(name);
    const char *text = argv[*at];
    if (strncmp(text, "--", 2) != 0 || strncmp(text + 2, name, length) != 0) {
        return false;
    }
    if (text[2 + length] == '=') {
        *value = text + 2 + length + 1;
        return true;
    }
    if (text[2 + length] != '\0' || *at + 1 >= argc) {
        return false;
    }
    *value = argv[++*at];
    return true;
}

bool weft_cli_verifies_receipt(int argc, char **argv) {
    bool found = false;
    bool help = false;
    for (int i = 1; i < argc; i++) {
        found |= strcmp(argv[i], "--receipt") == 0 || strncmp(argv[i], "--receipt=", 10) == 0;
        help |= strcmp(argv[i], "--help") == 0;
    }
    return found && !help;
}

static int usage(const char *message) {
    weft_cli_print(stderr, "weft verify: %s\n", message);
    weft_cli_print(stderr, "Try: weft verify --help\n");
    return WEFT_CLI_USAGE;
}

static int read_arguments(verification *v, int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        if (takes_value(&v->path, "receipt", argc, argv, &i) ||
            takes_value(&v->against, "against", argc, argv, &i) ||
            takes_value(&v->common.device, "device", argc, argv, &i)) {
            continue;
        }
        if (strcmp(argv[i], "--json") == 0) {
            v->common.json = true;
        } else if (v->rest_count < MOST_ARGUMENTS - 4) {
            v->rest[v->rest_count++] = argv[i];
        } else {
            return usage("too many arguments");
        }
    }
    return v->path ? WEFT_CLI_FINE : usage("--receipt needs a value");
}

/* ---- the receipt ---- */

static int read_receipt(verification *v) {
    uint8_t *bytes = NULL;
    size_t size = 0;
    WEFT_CLI_TRY(weft_cli_exit_code_of_file(
        weft_file_read_regular(&bytes, &size, WEFT_JSON_MAX_BYTES, v->path, &v->host)));
    const weft_status status = weft_receipt_read(&v->receipt, (const char *)bytes, size, &v->host);
    weft_free(&v->host, bytes);
    return weft_cli_exit_code_of_file(status);
}

static int find_maker(verification *v) {
    const char *command = weft_receipt_command(v->receipt);
    for (size_t i = 0; command && i < sizeof makers / sizeof *makers; i++) {
        if (strcmp(makers[i].name, command) == 0) {
            v->maker = &makers[i];
            return WEFT_CLI_FINE;
        }
    }
    return weft_cli_bad_file(&v->host,
                             "%s: record 0: expected the setting command, run, embed, rerank, eval "
                             "or generate, found %s",
                             v->path, command ? command : "another record");
}

/* The first run says which checkpoints all have: the comparison, that others have them, too. A receipt of no run needs none. */
static int find_checkpoints(verification *v) {
    weft_record_info record;
    for (uint32_t i = 0; weft_receipt_get_record(v->receipt, i, &record) == WEFT_OK; i++) {
        if (record.kind == WEFT_RECORD_RUN) {
            return weft_cli_checkpoints_named(&v->checkpoints, record.type)
                       ? WEFT_CLI_FINE
                       : weft_cli_bad_file(&v->host,
                                           "%s: run 0: expected the checkpoints none, layers or "
                                           "nodes, found %s",
                                           v->path, record.type);
        }
    }
    return WEFT_CLI_FINE;
}

/* ---- running the command ---- */

static int run_again(const verification *v, const char *device, weft_cli_watch *watch) {
    char *arguments[MOST_ARGUMENTS] = {NULL};
    int count = 0;
    /* Casts: getopt changes the order of the pointers, and no text. */
    arguments[count++] = (char *)(uintptr_t)v->maker->name;
    for (int i = 0; i < v->rest_count; i++) {
        arguments[count++] = v->rest[i];
    }
    char option[] = "--device";
    if (device) {
        arguments[count++] = option;
        arguments[count++] = (char *)(uintptr_t)device;
    }
    weft_cli_receipt_watch(watch);
    weft_cli_be_quiet(true);
    const int exit_code = v->maker->run(count, arguments);
    weft_cli_stop_go_on();
    weft_cli_be_quiet(false);
    weft_cli_receipt_watch(NULL);
    if (watch->receipt ||
        weft_cli_stopped()) { /* whatever else it says, such as a wrong accuracy */
        return weft_cli_stopped() ? WEFT_CLI_FAILED : WEFT_CLI_FINE;
    }
    return exit_code != WEFT_CLI_FINE
               ? exit_code
               : usage("the arguments run no model: expected those of the command that made the "
                       "receipt");
}

/* The elements of a value on a device. */
static int keep_value(const verification *v, const char *device, weft_checkpoints checkpoints,
                      const weft_record_info *record, weft_cli_watch *watch) {
    *watch =
        (weft_cli_watch){.checkpoints = checkpoints, .wanted = record->name, .run = record->run};
    const int exit_code = run_again(v, device, watch);
    weft_receipt_destroy(&watch->receipt);
    return exit_code;
}

/* ---- two devices ---- */

/* The first node in which two devices of this machine differ, and its elements on both. */
static int compare_devices(weft_cli_receipt_verdict *verdict, const verification *v) {
    weft_cli_watch watches[2] = {{.checkpoints = WEFT_CHECKPOINTS_NODES},
                                 {.checkpoints = WEFT_CHECKPOINTS_NODES}};
    const char *const devices[2] = {v->common.device, v->against};
    int exit_code = WEFT_CLI_FINE;
    for (size_t i = 0; i < 2 && exit_code == WEFT_CLI_FINE; i++) {
        exit_code = run_again(v, devices[i], &watches[i]);
        verdict->nodes[i] = watches[i].receipt;
    }
    if (exit_code != WEFT_CLI_FINE) {
        return exit_code;
    }
    uint32_t first = UINT32_MAX;
    weft_receipt_compare(&first, verdict->nodes[0], verdict->nodes[1]);
    verdict->against = v->against;
    verdict->node = first;
    weft_record_info record;
    if (first == UINT32_MAX ||
        weft_receipt_get_record(verdict->nodes[0], first, &record) != WEFT_OK ||
        record.kind < WEFT_RECORD_INPUT || record.kind > WEFT_RECORD_OUTPUT) {
        return WEFT_CLI_FINE;
    }
    for (size_t i = 0; i < 2 && exit_code == WEFT_CLI_FINE; i++) {
        exit_code = keep_value(v, devices[i], WEFT_CHECKPOINTS_NODES, &record, &verdict->kept[i]);
    }
    return exit_code;
}

/* ---- the command ---- */

static int look_closer(weft_cli_receipt_verdict *verdict, const verification *v) {
    weft_record_info record;
    const bool found = weft_receipt_get_record(v->again, verdict->first, &record) == WEFT_OK;
    if (!found || (record.kind != WEFT_RECORD_VALUE && record.kind != WEFT_RECORD_OUTPUT)) {
        return WEFT_CLI_FINE; /* another model, or other inputs */
    }
    if (v->against) {
        return compare_devices(verdict, v);
    }
    return keep_value(v, v->common.device, v->checkpoints, &record, &verdict->kept[0]);
}

static int verify(verification *v) {
    const double begin = weft_clock_ms();
    weft_cli_watch watch = {.checkpoints = v->checkpoints};
    WEFT_CLI_TRY(run_again(v, v->common.device, &watch));
    v->again = watch.receipt;
    weft_cli_receipt_verdict verdict = {.path = v->path,
                                        .receipt = v->receipt,
                                        .again = v->again,
                                        .seconds = (weft_clock_ms() - begin) / 1e3};
    int exit_code = weft_cli_exit_code(weft_receipt_compare(&verdict.first, v->receipt, v->again));
    if (exit_code == WEFT_CLI_FINE && verdict.first != UINT32_MAX) {
        exit_code = look_closer(&verdict, v);
    }
    if (exit_code == WEFT_CLI_FINE) {
        weft_cli_stop_settle(true);
        exit_code = v->common.json ? weft_cli_receipt_report_json(&verdict)
                                   : weft_cli_receipt_report_text(&verdict);
    }
    for (size_t i = 0; i < 2; i++) {
        weft_receipt_destroy(&verdict.nodes[i]);
        weft_free(&v->host, verdict.kept[i].data);
    }
    return exit_code != WEFT_CLI_FINE    ? exit_code
           : verdict.first == UINT32_MAX ? WEFT_CLI_FINE
                                         : WEFT_CLI_FAILED;
}

static int run(verification *v, int argc, char **argv) {
    WEFT_CLI_TRY(read_arguments(v, argc, argv));
    v->host = weft_cli_host(&v->common);
    WEFT_CLI_TRY(read_receipt(v));
    WEFT_CLI_TRY(find_maker(v));
    WEFT_CLI_TRY(find_checkpoints(v));
    return verify(v);
}

int weft_cli_verify_receipt(int argc, char **argv) {
    verification v = {.path = NULL};
    const int exit_code = run(&v, argc, argv);
    weft_receipt_destroy(&v.receipt);
    weft_receipt_destroy(&v.again);
    return exit_code;
}
