/* SPDX-License-Identifier: MIT */
#include "bench/devices.h"

#include <stdio.h>

static void open_reproducible(weft_device **device, weft_cli_common *common, const char *select) {
    char error[WEFT_CLI_ERROR_SIZE] = "";
    const weft_cli_common asked =
        *common; /* the device keeps the pointer, so no copy of it will do */
    common->math = WEFT_MATH_REPRODUCIBLE;
    common->weights = WEFT_WEIGHTS_F32;
    common->error = error;
    const weft_status status = weft_cli_open_selected(device, common, select);
    *common = asked;
    if (status != WEFT_OK) {
        weft_cli_print(stderr, "weft: warning: what has no float64 reference is not verified: %s\n",
                       error);
    }
}

weft_status weft_bench_devices_open(weft_bench_devices *devices, weft_cli_common *common,
                                    const char *select, bool verifies) {
    *devices = (weft_bench_devices){.timed = NULL};
    const weft_status status = weft_cli_open_selected(&devices->timed, common, select);
    if (status == WEFT_OK && verifies && common->math != WEFT_MATH_REPRODUCIBLE) {
        open_reproducible(&devices->reproducible, common, select);
    }
    return status;
}

bool weft_bench_devices_close(weft_bench_devices *devices) {
    bool failed = devices->reproducible && weft_cli_validation_failed(devices->reproducible);
    failed = (devices->timed && weft_cli_validation_failed(devices->timed)) || failed;
    weft_device_destroy(&devices->reproducible);
    weft_device_destroy(&devices->timed);
    return failed;
}
