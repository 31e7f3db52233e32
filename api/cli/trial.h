/* SPDX-License-Identifier: MIT */
/* Asking drivers in a child process first: some end the process that loads them. */
#ifndef WEFT_CLI_TRIAL_H
#define WEFT_CLI_TRIAL_H

#include <weft/device.h>

enum weft_cli_trial {
    WEFT_CLI_TRIAL_DONE,    /* the list is what the child found */
    WEFT_CLI_TRIAL_DIED,    /* it ended before it had the list */
    WEFT_CLI_TRIAL_NO_CHILD /* this system has none, or no more: ask in this process */
};

/**
 * Lists the devices in a child process. *infos, in the host's memory, is the caller's where the result is DONE and *status WEFT_OK; *signal is what
 * ended a child that died, or 0. Errors are in *status, and the child has logged them.
 */
enum weft_cli_trial weft_cli_try_devices(weft_device_info **infos, uint32_t *count,
                                         weft_status *status, int *signal, const weft_host *host);

/** weft_cli_list_devices, in a child first: a driver that ends the process that loads it is left out by kind, and named. */
weft_status weft_cli_list_tried(weft_device_info **infos, uint32_t *count, const weft_host *host);

/** The files of OpenCL drivers that end a child that loads them alone, as "a, b"; empty where none does so alone. */
void weft_cli_find_broken_opencl(char *text, size_t size);

/** No process of this one's children, nor this one, asks OpenCL from now on. */
void weft_cli_leave_out_opencl(void);

#endif
