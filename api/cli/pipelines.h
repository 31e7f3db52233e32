/* SPDX-License-Identifier: MIT */
/* The pipelines of a plan as people and tools see them: their names, and what a driver's compiler made of them. */
#ifndef WEFT_CLI_PIPELINES_H
#define WEFT_CLI_PIPELINES_H

#include <weft/inspect.h>

#include "cli.h"

#define WEFT_CLI_PIPELINE_NAME_SIZE 160

/**
 * "matmul-tiled.0123456789ab": a dispatch's kernel, and the first digits of a SHA-256 over its module in that form and its
 * constants. Two dispatches of one device with the same name have the same pipeline.
 */
weft_status weft_cli_pipeline_name(char name[WEFT_CLI_PIPELINE_NAME_SIZE], const weft_plan *plan,
                                   uint32_t dispatch, weft_module_form form, const weft_host *host);

/** {"subgroup_size": 64, "statistics": {NAME: number, …}}, or null when memory is out. */
json_t *weft_cli_executable_json(const weft_executable *executable);

/** Writes each listing to FOLDER/NAME.LISTING.txt, where all of LISTING that is no letter or digit is an underscore. */
weft_status weft_cli_write_listings(const weft_executable *executable, const char *folder,
                                    const char *name, const weft_host *host);

#endif
