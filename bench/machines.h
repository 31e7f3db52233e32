/* SPDX-License-Identifier: MIT */
/*
 * Whose times stand beside each other: the machines of reports, told apart so that two equal ones of two people never become one.
 *
 * Nothing in a report says which single machine it is of, neither a host's name nor a serial number. A machine is therefore what
 * lies in one folder with one label, of one processor with so many cores and so much memory. Without a label a file is of
 * another machine than those before it in the folder, too, if it times again what one of them has timed.
 */
#ifndef WEFT_BENCH_MACHINES_H
#define WEFT_BENCH_MACHINES_H

#include <jansson.h>

#include "core/host.h"

/** A file that is read. */
typedef struct weft_bench_place {
    const char *folder; /* machines of two folders are never one */
    const char *file;   /* as it is shown */
    const char *name;   /* of a machine without a label */
} weft_bench_place;

/**
 * The place in `machines` of the one that a file is of, a new one where there is none. `facts`: what weft_bench_environment_json
 * gave, perhaps of an older version. `timed`: an object whose keys are what the file timed. Machines are as weft_bench_index_read
 * says, with marks that weft_bench_machines_name takes off.
 */
size_t weft_bench_machine_find(json_t *machines, const json_t *facts, const weft_bench_place *place,
                               json_t *timed);

/** Gives each its name: its label, else that of its place; the file is in it where two would be called the same. */
void weft_bench_machines_name(json_t *machines);

#endif
