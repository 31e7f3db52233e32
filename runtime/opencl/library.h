/* SPDX-License-Identifier: MIT */
/*
 * The system's OpenCL, opened at run time: libweft links no OpenCL library. Khronos's headers say what its functions are
 * (https://registry.khronos.org/OpenCL/specs/3.0-unified/html/OpenCL_API.html); what is used is all in OpenCL 1.2.
 */
#ifndef WEFT_OPENCL_LIBRARY_H
#define WEFT_OPENCL_LIBRARY_H

#ifndef CL_TARGET_OPENCL_VERSION /* weft/opencl.h may come first */
#define CL_TARGET_OPENCL_VERSION 120
#endif
#include <CL/cl.h>

#include "core/host.h"

#define WEFT_CL_FUNCTIONS(X)     \
    X(GetPlatformIDs)            \
    X(GetPlatformInfo)           \
    X(GetDeviceIDs)              \
    X(GetDeviceInfo)             \
    X(CreateContext)             \
    X(RetainContext)             \
    X(ReleaseContext)            \
    X(CreateCommandQueue)        \
    X(RetainCommandQueue)        \
    X(ReleaseCommandQueue)       \
    X(GetCommandQueueInfo)       \
    X(CreateBuffer)              \
    X(ReleaseMemObject)          \
    X(GetMemObjectInfo)          \
    X(CreateProgramWithSource)   \
    X(CreateProgramWithBinary)   \
    X(BuildProgram)              \
    X(GetProgramInfo)            \
    X(GetProgramBuildInfo)       \
    X(ReleaseProgram)            \
    X(CreateKernel)              \
    X(SetKernelArg)              \
    X(GetKernelWorkGroupInfo)    \
    X(ReleaseKernel)             \
    X(EnqueueNDRangeKernel)      \
    X(EnqueueReadBuffer)         \
    X(EnqueueWriteBuffer)        \
    X(EnqueueCopyBuffer)         \
    X(EnqueueFillBuffer)         \
    X(EnqueueMarkerWithWaitList) \
    X(Flush)                     \
    X(Finish)                    \
    X(WaitForEvents)             \
    X(GetEventProfilingInfo)     \
    X(ReleaseEvent)

struct weft_cl_functions {
/* NOLINTNEXTLINE(bugprone-macro-parentheses): a name that is declared */
#define MEMBER(name) __typeof__(cl##name) *name;
    WEFT_CL_FUNCTIONS(MEMBER)
#undef MEMBER
};

#define WEFT_CL_REASON_SIZE 256

/**
 * The functions, or null with what is missing in `reason` (WEFT_CL_REASON_SIZE bytes; empty where there is simply no OpenCL, or
 * WEFT_OPENCL=0 turns it off). The library stays open for the rest of the process. A child that was forked after its parent has
 * opened it has none: drivers have threads and locks, which are not there. Thread safe.
 */
const struct weft_cl_functions *weft_cl_open(char *reason);

/** "CL_BUILD_PROGRAM_FAILURE", or "error -11" for one that has no name here. In static memory or in `text`. */
const char *weft_cl_error_name(cl_int error, char text[24]);

#endif
