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
#include "receipt_open.h"
#include "receipt_report.h"
#include "stop.h"
#include "verification.h"
#include "verify_receipt.h"

static const struct weft_cli_maker makers[] = {
    {"run", weft_cli_run},   {"embed", weft_cli_embed},       {"rerank", weft_cli_rerank},
    {"eval", weft_cli_eval}, {"generate", weft_cli_generate},
};

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
        found |= strcmp(argv[i], "--receipt") == 0 || strncmp(argv[i], "--receipt=", 10) == 0 ||
                 strcmp(argv[i], "--proof") == 0 || strncmp(argv[i], "--proof=", 8) == 0;
        help |= strcmp(argv[i], "--help") == 0;
    }
    return found && !help;
}

static int usage(const char *message) {
    weft_cli_print(stderr, "weft verify: %s\n", message);
    weft_cli_print(stderr, "Try: weft verify --help\n");
    return WEFT_CLI_USAGE;
}

static int check_arguments(const verification *v) {
    const int kinds = (v->open != NULL) + (v->referee != NULL) + (v->prove != NULL) +
                      (v->statement || v->envelope) + (v->proof != NULL) + (v->against != NULL);
    if (!v->path && !v->proof) {
        return usage("--receipt needs a value");
    }
    if (v->path && v->proof) {
        return usage("expected --receipt or --proof");
    }
    if (kinds > 1) {
        return usage("expected one of --open, --referee, --prove, --statement and --against");
    }
    if (!v->proof != !v->root) {
        return usage("--proof and --root go together");
    }
    if ((v->give && !v->open) || (v->values && !v->open && !v->referee) || (v->give && v->values)) {
        return usage("expected --values with --open or --referee, or --give with --open");
    }
    return WEFT_CLI_FINE;
}

static int read_arguments(verification *v, int argc, char **argv) {
    const struct {
        const char *name, **value;
    } options[] = {
        {"receipt", &v->path},    {"against", &v->against},     {"device", &v->common.device},
        {"open", &v->open},       {"values", &v->values},       {"give", &v->give},
        {"referee", &v->referee}, {"prove", &v->prove},         {"proof", &v->proof},
        {"root", &v->root},       {"statement", &v->statement}, {"envelope", &v->envelope}};
    for (int i = 1; i < argc; i++) {
        bool taken = false;
        for (size_t k = 0; k < sizeof options / sizeof *options && !taken; k++) {
            taken = takes_value(options[k].value, options[k].name, argc, argv, &i);
        }
        if (taken) {
            continue;
        }
        if (strcmp(argv[i], "--json") == 0) {
            v->common.json = true;
        } else if (v->rest_count < WEFT_CLI_MOST_ARGUMENTS - 4) {
            v->rest[v->rest_count++] = argv[i];
        } else {
            return usage("too many arguments");
        }
    }
    return check_arguments(v);
}

/* ---- the receipt ---- */

int weft_cli_read_receipt(weft_receipt **receipt, char sha256[WEFT_DIGEST_TEXT_SIZE],
                          const char *path, const weft_host *host) {
    uint8_t *bytes = NULL;
    size_t size = 0;
    WEFT_CLI_TRY(weft_cli_exit_code_of_file(
        weft_file_read_regular(&bytes, &size, WEFT_JSON_MAX_BYTES, path, host)));
    const weft_status status = weft_receipt_read(receipt, (const char *)bytes, size, host);
    const weft_digest digest = weft_digest_of(bytes, size);
    weft_digest_text(&digest, sha256);
    weft_free(host, bytes);
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

int weft_cli_run_again(const verification *v, const char *device, weft_cli_watch *watch) {
    char *arguments[WEFT_CLI_MOST_ARGUMENTS] = {NULL};
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
    if (watch->receipt || (watch->opening && watch->opening->finished) ||
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
    const int exit_code = weft_cli_run_again(v, device, watch);
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
        exit_code = weft_cli_run_again(v, devices[i], &watches[i]);
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
    WEFT_CLI_TRY(weft_cli_run_again(v, v->common.device, &watch));
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
    if (v->proof) {
        return weft_cli_verify_proof(v);
    }
    WEFT_CLI_TRY(weft_cli_read_receipt(&v->receipt, v->sha256, v->path, &v->host));
    if (v->prove) {
        return weft_cli_print_proof(v);
    }
    if (v->statement || v->envelope) {
        return weft_cli_write_statement(v);
    }
    WEFT_CLI_TRY(find_maker(v));
    WEFT_CLI_TRY(find_checkpoints(v));
    return v->open ? weft_cli_verify_open(v) : v->referee ? weft_cli_verify_referee(v) : verify(v);
}

int weft_cli_verify_receipt(int argc, char **argv) {
    verification v = {.path = NULL};
    const int exit_code = run(&v, argc, argv);
    weft_receipt_destroy(&v.receipt);
    weft_receipt_destroy(&v.again);
    weft_receipt_destroy(&v.other);
    return exit_code;
}
