/* SPDX-License-Identifier: MIT */
/*
 * An OpenCL library with one device, which computes nothing and lacks what $WEFT_FAKE_OPENCL names:
 *
 *     no-platform   the loader's answer where no driver is installed
 *     no-devices    a platform whose devices cannot be asked for
 *     opencl-1.1    a device of that version
 *     64-items      of workgroups of so many invocations
 *     8-KiB         of so much local memory
 *     no-compiler   without one
 *     build-error   whose compiler refuses every program, in several lines
 *     no-binary     whose programs have none
 *     abort         the end of the process that asks for platforms
 *
 * Without the variable nothing is missing but numbers. Built with WEFT_FAKE_OPENCL_1_1 it has the functions of OpenCL 1.1 alone.
 */
#include <stdlib.h>
#include <string.h>

#include "opencl/stand_in.h"

static int is(const char *what) {
    const char *fake = getenv("WEFT_FAKE_OPENCL");
    return fake && strcmp(fake, what) == 0;
}

/* ---- what there is ---- */

STAND_IN_PUBLIC cl_int clGetPlatformIDs(cl_uint room, cl_platform_id *platforms, cl_uint *count) {
    if (is("abort")) {
        abort();
    }
    if (is("no-platform")) {
        return -1001; /* CL_PLATFORM_NOT_FOUND_KHR */
    }
    if (platforms && room > 0) {
        platforms[0] = STAND_IN_HANDLE(cl_platform_id);
    }
    if (count) {
        *count = 1;
    }
    return CL_SUCCESS;
}

STAND_IN_PUBLIC cl_int clGetPlatformInfo(cl_platform_id platform, cl_platform_info what,
                                         size_t room, void *out, size_t *needed) {
    (void)platform;
    return stand_in_give_text(what == CL_PLATFORM_NAME ? "Fake platform" : "OpenCL 1.2 fake", room,
                              out, needed);
}

STAND_IN_PUBLIC cl_int clGetDeviceIDs(cl_platform_id platform, cl_device_type type, cl_uint room,
                                      cl_device_id *devices, cl_uint *count) {
    (void)platform;
    (void)type;
    if (is("no-devices")) {
        return CL_OUT_OF_HOST_MEMORY;
    }
    if (devices && room > 0) {
        devices[0] = STAND_IN_HANDLE(cl_device_id);
    }
    if (count) {
        *count = 1;
    }
    return CL_SUCCESS;
}

static cl_int give_sizes(size_t room, void *out, size_t *needed) {
    const size_t most = is("64-items") ? 64 : 256, sizes[3] = {most, most, most};
    return stand_in_give(sizes, sizeof sizes, room, out, needed);
}

STAND_IN_PUBLIC cl_int clGetDeviceInfo(cl_device_id device, cl_device_info what, size_t room,
                                       void *out, size_t *needed) {
    (void)device;
    switch (what) {
    case CL_DEVICE_NAME:
        return stand_in_give_text("Fake device", room, out, needed);
    case CL_DEVICE_VENDOR:
        return stand_in_give_text("Nobody", room, out, needed);
    case CL_DEVICE_VERSION:
        return stand_in_give_text(is("opencl-1.1") ? "OpenCL 1.1 fake" : "OpenCL 1.2 fake", room,
                                  out, needed);
    case CL_DRIVER_VERSION:
        return stand_in_give_text("1", room, out, needed);
    case CL_DEVICE_TYPE:
        return stand_in_give_number(CL_DEVICE_TYPE_GPU, sizeof(cl_device_type), room, out, needed);
    case CL_DEVICE_MAX_WORK_ITEM_SIZES:
        return give_sizes(room, out, needed);
    case CL_DEVICE_MAX_WORK_GROUP_SIZE:
        return stand_in_give_number(is("64-items") ? 64 : 256, sizeof(size_t), room, out, needed);
    case CL_DEVICE_LOCAL_MEM_SIZE:
        return stand_in_give_number(is("8-KiB") ? 8192 : 32768, sizeof(cl_ulong), room, out,
                                    needed);
    case CL_DEVICE_MAX_MEM_ALLOC_SIZE:
    case CL_DEVICE_GLOBAL_MEM_SIZE:
        return stand_in_give_number(1u << 30, sizeof(cl_ulong), room, out, needed);
    case CL_DEVICE_COMPILER_AVAILABLE:
        return stand_in_give_number(!is("no-compiler"), sizeof(cl_bool), room, out, needed);
    case CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS:
        return stand_in_give_number(3, sizeof(cl_uint), room, out, needed);
    case CL_DEVICE_LOCAL_MEM_TYPE:
        return stand_in_give_number(CL_LOCAL, sizeof(cl_uint), room, out, needed);
    case CL_DEVICE_AVAILABLE:
    case CL_DEVICE_ENDIAN_LITTLE:
        return stand_in_give_number(CL_TRUE, sizeof(cl_bool), room, out, needed);
    default:
        return stand_in_give_number(0, sizeof(cl_uint), room, out, needed);
    }
}

/* ---- memory ---- */

STAND_IN_PUBLIC cl_mem clCreateBuffer(cl_context context, cl_mem_flags flags, size_t size,
                                      void *host, cl_int *error) {
    (void)context;
    (void)flags;
    (void)size;
    (void)host;
    *error = CL_SUCCESS;
    return STAND_IN_HANDLE(cl_mem);
}

STAND_IN_PUBLIC cl_int clGetMemObjectInfo(cl_mem memory, cl_mem_info what, size_t room, void *out,
                                          size_t *needed) {
    (void)memory;
    (void)what;
    (void)room;
    (void)out;
    (void)needed;
    return CL_INVALID_VALUE;
}

STAND_IN_SUCCEEDS(clReleaseMemObject, cl_mem)
STAND_IN_SUCCEEDS(clReleaseProgram, cl_program)
STAND_IN_SUCCEEDS(clReleaseKernel, cl_kernel)

/* ---- programs ---- */

STAND_IN_PUBLIC cl_program clCreateProgramWithSource(cl_context context, cl_uint count,
                                                     const char **texts, const size_t *sizes,
                                                     cl_int *error) {
    (void)context;
    (void)count;
    (void)texts;
    (void)sizes;
    *error = CL_SUCCESS;
    return STAND_IN_HANDLE(cl_program);
}

STAND_IN_PUBLIC cl_program clCreateProgramWithBinary(cl_context context, cl_uint count,
                                                     const cl_device_id *devices,
                                                     const size_t *sizes,
                                                     const unsigned char **binaries, cl_int *told,
                                                     cl_int *error) {
    (void)context;
    (void)count;
    (void)devices;
    (void)sizes;
    (void)binaries;
    *told = *error = CL_SUCCESS;
    return STAND_IN_HANDLE(cl_program);
}

STAND_IN_PUBLIC cl_int clBuildProgram(cl_program program, cl_uint count,
                                      const cl_device_id *devices, const char *options,
                                      void(CL_CALLBACK *notify)(cl_program, void *), void *user) {
    (void)program;
    (void)count;
    (void)devices;
    (void)options;
    (void)notify;
    (void)user;
    return is("build-error") ? CL_BUILD_PROGRAM_FAILURE : CL_SUCCESS;
}

STAND_IN_PUBLIC cl_int clGetProgramBuildInfo(cl_program program, cl_device_id device,
                                             cl_program_build_info what, size_t room, void *out,
                                             size_t *needed) {
    (void)program;
    (void)device;
    (void)what;
    return stand_in_give_text("1 warning about nothing\n"
                              "<source>:7:9: error: registers are out of stock\n"
                              "    float x = 1.0f;\n",
                              room, out, needed);
}

STAND_IN_PUBLIC cl_int clGetProgramInfo(cl_program program, cl_program_info what, size_t room,
                                        void *out, size_t *needed) {
    unsigned char *binary = NULL;
    (void)program;
    if (what == CL_PROGRAM_BINARY_SIZES) {
        return stand_in_give_number(is("no-binary") ? 0 : 4, sizeof(size_t), room, out, needed);
    }
    if (what != CL_PROGRAM_BINARIES || !out) {
        return CL_INVALID_VALUE;
    }
    memcpy(&binary, out, sizeof binary);
    memcpy(binary, "fake", 4);
    return CL_SUCCESS;
}

STAND_IN_PUBLIC cl_kernel clCreateKernel(cl_program program, const char *name, cl_int *error) {
    (void)program;
    (void)name;
    *error = CL_SUCCESS;
    return STAND_IN_HANDLE(cl_kernel);
}

STAND_IN_PUBLIC cl_int clSetKernelArg(cl_kernel kernel, cl_uint index, size_t size,
                                      const void *value) {
    (void)kernel;
    (void)index;
    (void)size;
    (void)value;
    return CL_SUCCESS;
}

STAND_IN_PUBLIC cl_int clGetKernelWorkGroupInfo(cl_kernel kernel, cl_device_id device,
                                                cl_kernel_work_group_info what, size_t room,
                                                void *out, size_t *needed) {
    (void)kernel;
    (void)device;
    (void)what;
    return stand_in_give_number(256, sizeof(size_t), room, out, needed);
}

/* ---- commands ---- */

STAND_IN_PUBLIC cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel,
                                              cl_uint dimensions, const size_t *from,
                                              const size_t *global, const size_t *local,
                                              cl_uint count, const cl_event *waits,
                                              cl_event *event) {
    (void)queue;
    (void)kernel;
    (void)dimensions;
    (void)from;
    (void)global;
    (void)local;
    (void)count;
    (void)waits;
    return stand_in_done(event);
}

STAND_IN_PUBLIC cl_int clEnqueueReadBuffer(cl_command_queue queue, cl_mem memory, cl_bool blocks,
                                           size_t offset, size_t size, void *out, cl_uint count,
                                           const cl_event *waits, cl_event *event) {
    (void)queue;
    (void)memory;
    (void)blocks;
    (void)offset;
    (void)count;
    (void)waits;
    memset(out, 0, size);
    return stand_in_done(event);
}

STAND_IN_PUBLIC cl_int clEnqueueWriteBuffer(cl_command_queue queue, cl_mem memory, cl_bool blocks,
                                            size_t offset, size_t size, const void *data,
                                            cl_uint count, const cl_event *waits, cl_event *event) {
    (void)queue;
    (void)memory;
    (void)blocks;
    (void)offset;
    (void)size;
    (void)data;
    (void)count;
    (void)waits;
    return stand_in_done(event);
}

STAND_IN_PUBLIC cl_int clEnqueueCopyBuffer(cl_command_queue queue, cl_mem from, cl_mem to,
                                           size_t from_at, size_t to_at, size_t size, cl_uint count,
                                           const cl_event *waits, cl_event *event) {
    (void)queue;
    (void)from;
    (void)to;
    (void)from_at;
    (void)to_at;
    (void)size;
    (void)count;
    (void)waits;
    return stand_in_done(event);
}

STAND_IN_PUBLIC cl_int clGetEventProfilingInfo(cl_event event, cl_profiling_info what, size_t room,
                                               void *out, size_t *needed) {
    (void)event;
    (void)what;
    return stand_in_give_number(0, sizeof(cl_ulong), room, out, needed);
}

#ifndef WEFT_FAKE_OPENCL_1_1
STAND_IN_PUBLIC cl_int clEnqueueFillBuffer(cl_command_queue queue, cl_mem memory,
                                           const void *pattern, size_t pattern_size, size_t offset,
                                           size_t size, cl_uint count, const cl_event *waits,
                                           cl_event *event) {
    (void)queue;
    (void)memory;
    (void)pattern;
    (void)pattern_size;
    (void)offset;
    (void)size;
    (void)count;
    (void)waits;
    return stand_in_done(event);
}
#endif
