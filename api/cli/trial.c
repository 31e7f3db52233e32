/* SPDX-License-Identifier: MIT */
#include "trial.h"

#include <stdio.h>

#include "cli.h"

static weft_status warn_of(const char *kind, const char *which, int signal) {
    char by[24] = "";
    if (signal != 0) {
        snprintf(by, sizeof by, " (signal %d)", signal);
    }
    weft_cli_print(stderr, "weft: warning: %s ended the process that asked it for devices%s%s%s\n",
                   kind, by, which[0] != '\0' ? ": " : "", which);
    return WEFT_DRIVER_ERROR;
}

weft_status weft_cli_list_tried(weft_device_info **infos, uint32_t *count, const weft_host *host) {
    weft_status status = WEFT_OK;
    int signal = 0;
    enum weft_cli_trial trial = weft_cli_try_devices(infos, count, &status, &signal, host);
    if (trial == WEFT_CLI_TRIAL_DIED) {
        char broken[1024];
        int again = 0;
        weft_cli_find_broken_opencl(broken, sizeof broken);
        weft_cli_leave_out_opencl();
        trial = weft_cli_try_devices(infos, count, &status, &again, host);
        if (trial == WEFT_CLI_TRIAL_DIED) {
            return warn_of("a Vulkan driver", "", again);
        }
        (void)warn_of("an OpenCL driver", broken, signal);
        weft_cli_print(stderr, "weft: warning: devices of OpenCL are left out\n");
    }
    return trial == WEFT_CLI_TRIAL_NO_CHILD ? weft_cli_list_devices(infos, count, host) : status;
}
