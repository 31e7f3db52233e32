/* SPDX-License-Identifier: MIT */
/*
 * Lists of cases: a text with a case's name on each line, and comments behind #. The one in tests/data makes a driver
 * execute every kernel without running every case.
 */
#ifndef WEFT_CLI_VERIFY_LIST_H
#define WEFT_CLI_VERIFY_LIST_H

#include "verify_record.h"

/** Marks the cases that a list names as `listed`, before others are left out. Returns an exit code. */
int weft_verify_read_list(weft_verify_record *record, const char *path);

/** Leaves out the cases that are not listed, and marks none. */
void weft_verify_keep_listed(weft_verify_record *record);

/** Has a run note the kernels of its cases. Only memory can fail. */
weft_status weft_verify_note_kernels(const weft_verify_record *record, weft_verify_run *run);

/** Fails the first case of each kernel that no listed case executes on the run's device. Only memory can fail. */
weft_status weft_verify_check_list(const weft_verify_record *record, weft_verify_run *run,
                                   const char *path);

/**
 * Writes a list of cases that together execute every kernel of the first device that ran, with little work for a software
 * driver, and marks them. Returns an exit code.
 */
int weft_verify_write_list(weft_verify_record *record, const char *path);

#endif
