/* SPDX-License-Identifier: MIT */
/* Time stamps of a plan as a Chrome trace. */
#ifndef WEFT_CLI_TRACE_H
#define WEFT_CLI_TRACE_H

#include "session.h"

/**
 * Writes the times of the plan's newest run to `path`, beside and renamed, in the JSON object
 * format of Google's "Trace Event Format" document: one complete event ("ph": "X") per dispatch,
 * times in microseconds. The plan was compiled with time stamps. Returns an exit code.
 */
int weft_cli_write_trace(const char *path, weft_plan *plan, const weft_cli_session *session);

/** WEFT_CLI_NO_DEVICE, after a message, where the device of --trace has no time stamps; path may be null. */
int weft_cli_check_trace(const char *path, const weft_cli_session *session);

#endif
