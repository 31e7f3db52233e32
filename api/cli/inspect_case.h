/* SPDX-License-Identifier: MIT */
/* A case of `weft verify`, found by its name, as something to inspect. */
#ifndef WEFT_CLI_INSPECT_CASE_H
#define WEFT_CLI_INSPECT_CASE_H

#include <weft/graph.h>

#include "core/host.h"

typedef struct weft_cli_case weft_cli_case;

/** WEFT_INVALID_ARGUMENT when no case has that name; WEFT_OUT_OF_HOST_MEMORY. `host` must outlive it. */
weft_status weft_cli_case_make(weft_cli_case **out, const char *name, const weft_host *host);
/** The plan that the case checks. Destroy it before the case. Errors are those of weft_plan_compile. */
weft_status weft_cli_case_compile(weft_plan **plan, const weft_cli_case *of, weft_device *device);
void weft_cli_case_free(weft_cli_case **of);

#endif
