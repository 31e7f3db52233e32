/* SPDX-License-Identifier: MIT */
#include "trace.h"

#include <string.h>

#include "core/formats/json.h"
#include "core/system/file.h"

static json_t *event(const weft_dispatch_info *dispatch, const weft_timing *timing) {
    return json_pack("{s:o, s:s, s:s, s:i, s:i, s:o, s:o, s:{s:s, s:[I, I, I], s:o, s:o, s:b}}",
                     "name", weft_cli_json_text(dispatch->node), "cat", "dispatch", "ph", "X",
                     "pid", 0, "tid", 0, "ts", weft_cli_json_real(timing->start_ms * 1e3), "dur",
                     weft_cli_json_real(timing->duration_ms * 1e3), "args", "kernel",
                     dispatch->kernel, "groups", (json_int_t)dispatch->groups[0],
                     (json_int_t)dispatch->groups[1], (json_int_t)dispatch->groups[2], "flops",
                     weft_cli_json_real(dispatch->flops), "bytes",
                     weft_cli_json_real(dispatch->bytes), "barrier", (int)dispatch->barrier);
}

/* The name that viewers show above the events. */
static json_t *process_name(const weft_cli_session *session) {
    return json_pack("{s:s, s:s, s:i, s:{s:o}}", "name", "process_name", "ph", "M", "pid", 0,
                     "args", "name", weft_cli_json_text(session->device_info.name));
}

/* Null when memory is out or the plan does not tell. */
static json_t *make_events(const weft_plan *plan, const weft_timing *timings, uint32_t count,
                           const weft_cli_session *session) {
    json_t *events = json_array();
    bool fine = json_array_append_new(events, process_name(session)) == 0;
    for (uint32_t index = 0; fine && index < count; index++) {
        weft_dispatch_info dispatch;
        fine = weft_plan_get_dispatch(plan, index, &dispatch) == WEFT_OK &&
               json_array_append_new(events, event(&dispatch, &timings[index])) == 0;
    }
    if (!fine) {
        json_decref(events);
        return NULL;
    }
    return events;
}

static weft_status write_events(const char *path, json_t *events, const weft_host *host) {
    json_t *trace = json_pack("{s:o, s:s}", "traceEvents", events, "displayTimeUnit", "ms");
    char *text = weft_json_text(trace, JSON_INDENT(1) | JSON_REAL_PRECISION(12), host);
    json_decref(trace);
    if (!text) {
        return weft_fail_memory(host, path);
    }
    weft_status status = weft_file_write(path, text, strlen(text), host);
    weft_free(host, text);
    return status;
}

int weft_cli_write_trace(const char *path, weft_plan *plan, const weft_cli_session *session) {
    const weft_host *host = &session->host;
    weft_plan_info info;
    WEFT_CLI_TRY(weft_cli_exit_code(weft_plan_get_info(plan, &info)));
    uint32_t count = info.dispatches;
    weft_timing *timings = weft_alloc_zero(host, (size_t)count + 1, sizeof *timings);
    if (!timings) {
        return weft_cli_exit_code(weft_fail_memory(host, path));
    }
    weft_status status = weft_plan_get_timings(plan, timings, &count);
    if (status == WEFT_OK) {
        json_t *events = make_events(plan, timings, count, session);
        status = !events ? weft_fail_memory(host, path) : write_events(path, events, host);
    }
    weft_free(host, timings);
    return weft_cli_exit_code(status);
}

int weft_cli_check_trace(const char *path, const weft_cli_session *session) {
    if (path && session->device_info.timestamp_period_ns == 0.0) {
        weft_fail(&session->host, WEFT_UNSUPPORTED, "--trace: the device %s has no time stamps",
                  session->device_info.name);
        return WEFT_CLI_NO_DEVICE;
    }
    return WEFT_CLI_FINE;
}
