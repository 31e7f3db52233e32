/* SPDX-License-Identifier: MIT */
/* The device that `weft bench` times, and what it asks whether fast mode is right. */
#ifndef WEFT_BENCH_DEVICES_H
#define WEFT_BENCH_DEVICES_H

#include "cli.h"

typedef struct weft_bench_devices {
    weft_device *timed;
    /* In fast mode the same one in reproducible mode, which tells whether an output without a float64 reference is right
       (verify.h); or null. */
    weft_device *reproducible;
} weft_bench_devices;

/**
 * Opens the device that `select` names as `common` asks, and, where that is in fast mode and `verifies`, in reproducible
 * mode, too. A device that does not open in that mode only gets a warning on stderr: rows which need it are
 * not verified then. `common` must outlive the devices, which log to it. Errors: those of weft_device_open.
 */
weft_status weft_bench_devices_open(weft_bench_devices *devices, weft_cli_common *common,
                                    const char *select, bool verifies);

/** Closes both; true where the validation layer had something to say. */
bool weft_bench_devices_close(weft_bench_devices *devices);

#endif
