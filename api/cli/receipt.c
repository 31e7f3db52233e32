/* SPDX-License-Identifier: MIT */
#include "receipt.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/system/file.h"
#include "core/try.h"
#include "receipt_open.h"
#include "stop.h"

#define MOST_TENSORS 130 /* that a command gives to a plan */

static weft_cli_watch *watching;

void weft_cli_receipt_watch(weft_cli_watch *watch) {
    watching = watch;
}

bool weft_cli_checkpoints_named(weft_checkpoints *checkpoints, const char *name) {
    static const char *const names[] = {"none", "layers", "nodes"};
    for (int i = 0; i < 3; i++) {
        if (strcmp(names[i], name) == 0) {
            *checkpoints = (weft_checkpoints)i;
            return true;
        }
    }
    return false;
}

int weft_cli_receipt_begin(weft_cli_recording *recording, weft_model *model, weft_device *device,
                           const weft_cli_common *common) {
    if (!watching && !common->receipt) {
        return WEFT_CLI_FINE;
    }
    if (weft_device_get_math(device) == WEFT_MATH_FAST) {
        weft_cli_print(stderr,
                       "weft %s: --receipt needs --math reproducible: the bits of fast mode differ "
                       "between devices\n",
                       common->command);
        return WEFT_CLI_USAGE;
    }
    recording->checkpoints = watching ? watching->checkpoints : WEFT_CHECKPOINTS_LAYERS;
    if (!watching && common->checkpoints) {
        weft_cli_checkpoints_named(&recording->checkpoints, common->checkpoints);
    }
    recording->opening = !watching || !watching->opening ? WEFT_OPENING_NONE
                         : watching->opening->give       ? WEFT_OPENING_ALSO
                                                         : WEFT_OPENING_ONLY;
    weft_receipt_params params = {.model = model, .command = common->command};
    if (watching && watching->opening) {
        watching->opening->model = model;
        /* A tensor that is in dispute is hashed like those before it. */
        params.for_opening = watching->opening->wanted == UINT32_MAX;
    }
    return weft_cli_exit_code_of_file(weft_receipt_create(&recording->receipt, device, &params));
}

/* ---- beside the runs ---- */

weft_status weft_cli_receipt_note(const weft_cli_recording *recording, weft_record_kind kind,
                                  const char *name, const void *bytes, size_t size,
                                  const char *type, ...) {
    char text[256];
    va_list arguments;
    if (!recording->receipt) {
        return WEFT_OK;
    }
    va_start(arguments, type);
    vsnprintf(text, sizeof text, type, arguments);
    va_end(arguments);
    return weft_receipt_note(recording->receipt, kind, name, text, bytes, size);
}

weft_digest weft_cli_receipt_text_digest(const void *bytes, size_t size, uint32_t tokens,
                                         uint32_t cut) {
    char head[64];
    weft_sha256 hash;
    const int length = snprintf(head, sizeof head, "%zu %u %u\n", size, tokens, cut);
    weft_sha256_begin(&hash);
    weft_sha256_add(&hash, head, (size_t)length);
    if (size > 0) {
        weft_sha256_add(&hash, bytes, size);
    }
    return weft_sha256_end(&hash);
}

/* ---- keeping a value ---- */

static bool find_port(weft_port_info *port, const weft_plan *plan, const char *name) {
    for (uint32_t i = 0; weft_plan_get_port(plan, i, port) == WEFT_OK; i++) {
        if (strcmp(port->name, name) == 0) {
            return true;
        }
    }
    return false;
}

static weft_status keep(const weft_cli_recording *recording, weft_plan *plan,
                        const weft_host_tensor *tensors, uint32_t count) {
    const weft_host host = {0}; /* the C library's memory, as the command's */
    weft_cli_watch *watch = watching;
    weft_host_tensor more[MOST_TENSORS];
    if (count >= MOST_TENSORS || !find_port(&watch->port, plan, watch->wanted)) {
        return weft_receipt_execute(recording->receipt, plan, tensors, count);
    }
    watch->data = weft_alloc_zero(&host, (size_t)watch->port.bytes, 1);
    if (!watch->data) {
        return weft_fail_memory(&host, watch->wanted);
    }
    const void *given = NULL;
    for (uint32_t i = 0; i < count; i++) {
        more[i] = tensors[i];
        given = strcmp(tensors[i].name, watch->wanted) == 0 ? tensors[i].data : given;
    }
    more[count] = (weft_host_tensor){watch->wanted, watch->data, watch->port.bytes};
    WEFT_TRY(weft_receipt_execute(recording->receipt, plan, more, count + (given ? 0 : 1)));
    if (given) {
        memcpy(watch->data, given, (size_t)watch->port.bytes);
    }
    return WEFT_OK;
}

weft_status weft_cli_receipt_execute(const weft_cli_recording *recording, weft_plan *plan,
                                     const weft_host_tensor *tensors, uint32_t count) {
    if (watching && watching->opening) {
        return weft_cli_opening_execute(watching->opening, recording->receipt, plan, tensors,
                                        count);
    }
    if (watching && watching->wanted && watching->runs++ == watching->run) {
        return keep(recording, plan, tensors, count);
    }
    return weft_receipt_execute(recording->receipt, plan, tensors, count);
}

/* ---- the end ---- */

int weft_cli_receipt_end(weft_cli_recording *recording, const weft_cli_common *common) {
    if (!recording->receipt || weft_cli_stopped()) {
        return WEFT_CLI_FINE;
    }
    if (watching) {
        watching->receipt = recording->receipt;
        recording->receipt = NULL;
        return WEFT_CLI_FINE;
    }
    const weft_host host = weft_cli_host(common);
    const char *json = weft_receipt_json(recording->receipt);
    return weft_cli_exit_code(json ? weft_file_write(common->receipt, json, strlen(json), &host)
                                   : weft_fail_memory(&host, "the receipt"));
}
