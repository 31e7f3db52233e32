/* SPDX-License-Identifier: MIT */
/* The devices of all OpenCL platforms. */
#ifndef WEFT_OPENCL_DEVICES_H
#define WEFT_OPENCL_DEVICES_H

#include "opencl/library.h"
#include "softvk/backend.h"

/** A device of a platform. */
struct weft_cl_device {
    const struct weft_cl_functions *cl;
    cl_platform_id platform;
    cl_device_id id;
    cl_context context;     /* null, or the program's, with … */
    cl_command_queue queue; /* … this queue */
};

/**
 * How many devices there are, and each of them. They are looked for once in a process: drivers start threads by that. A platform that
 * fails has none; the log says so. Thread safe.
 */
uint32_t weft_cl_device_count(const weft_host *host);
struct weft_cl_device *weft_cl_device_at(uint32_t index); /* for the rest of the process */

/** Why there is none, in `reason` of WEFT_CL_REASON_SIZE bytes: what follows "no OpenCL device: ". Thread safe. */
void weft_cl_absence(char *reason);

/** weft_soft_backend::describe; `user` is a struct weft_cl_device. */
void weft_cl_describe(struct weft_soft_properties *properties, void *user);

/**
 * True if the device is used only where it is asked for by name: the processor's OpenCL, which is slower than the processor device, and
 * platforms that stand on a Vulkan driver, which is used itself; and a GPU that is emulated, whose name says that it is for tests only.
 */
bool weft_cl_is_second_choice(const struct weft_cl_device *device);
/** True if the driver crashes when two threads build programs at the same time, which OpenCL allows: Oclgrind, whose LLVM has global state. */
bool weft_cl_builds_alone(const struct weft_cl_device *device);

#endif
