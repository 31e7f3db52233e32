/* SPDX-License-Identifier: MIT */
/* What a driver's compiler made of a plan's pipelines, as a table, JSON or files. */
#ifndef WEFT_CLI_INSPECT_PIPELINES_H
#define WEFT_CLI_INSPECT_PIPELINES_H

#include <jansson.h>

#include <weft/graph.h>

#include "core/host.h"

typedef struct weft_cli_pipelines weft_cli_pipelines;

/** Reads each pipeline once. `plan`, whose device keeps executables, and `host` must outlive it. */
weft_status weft_cli_pipelines_read(weft_cli_pipelines **out, const weft_plan *plan,
                                    const weft_host *host);
/** Writes the listings of all into a folder, which is made where it is missing. */
weft_status weft_cli_pipelines_write(const weft_cli_pipelines *pipelines, const char *folder);
/** A table on stdout; returns an exit code. */
int weft_cli_pipelines_print(const weft_cli_pipelines *pipelines);
/** An array, or null when memory is out. */
json_t *weft_cli_pipelines_json(const weft_cli_pipelines *pipelines);
void weft_cli_pipelines_free(weft_cli_pipelines **pipelines);

#endif
