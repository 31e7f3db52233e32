/* SPDX-License-Identifier: MIT */
/* What the extension module weft._native is compiled with, in front of what cffi writes. */
#include <weft/decode.h>
#include <weft/external.h>
#include <weft/features.h>
#include <weft/flt.h>
#include <weft/inspect.h>
#include <weft/mixers.h>
#include <weft/model.h>
#include <weft/op.h>

/** The weft command: api/cli/main.c, whose main has this name here. */
int weft_command(int argc, char **argv);
