/* SPDX-License-Identifier: MIT */
#include "support_opencl.h"

#ifdef WEFT_TEST_OPENCL

#include <CL/cl.h>
#include <stdlib.h>

enum { MOST = 8, GAP = 64, WORDS = WEFT_CL_FIXED_WORDS + 2 * WEFT_IR_MAX_BINDINGS + 256 };

struct device {
    cl_device_id id;
    char name[256]; /* and its driver's version */
    cl_context context;
    cl_command_queue queue;
};

static struct device devices[MOST];
static uint32_t device_count;

static void check(const struct device *device, cl_int status, const char *what) {
    if (status != CL_SUCCESS) {
        fail_msg("%s: %s: error %d", device->name, what, status);
    }
}

static void open_device(cl_device_id id) {
    struct device *device = &devices[device_count++];
    cl_int status = CL_SUCCESS;
    device->id = id;
    char name[128] = "", version[64] = "";
    check(device, clGetDeviceInfo(id, CL_DEVICE_NAME, sizeof name - 1, name, NULL), "name");
    check(device, clGetDeviceInfo(id, CL_DRIVER_VERSION, sizeof version - 1, version, NULL),
          "version");
    (void)snprintf(device->name, sizeof device->name, "%s, %s", name, version);
    device->context = clCreateContext(NULL, 1, &id, NULL, NULL, &status);
    check(device, status, "context");
    device->queue = clCreateCommandQueue(device->context, id, 0, &status);
    check(device, status, "queue");
    print_message("OpenCL device: %s\n", device->name);
}

uint32_t weft_test_opencl_count(void) {
    cl_platform_id platforms[MOST];
    cl_uint platform_count = 0;
    if (device_count > 0) {
        return device_count;
    }
    if (clGetPlatformIDs(MOST, platforms, &platform_count) != CL_SUCCESS) {
        platform_count = 0;
    }
    for (cl_uint i = 0; i < platform_count && i < MOST; i++) {
        cl_device_id id = NULL;
        if (device_count < MOST &&
            clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 1, &id, NULL) == CL_SUCCESS) {
            open_device(id);
        }
    }
    if (device_count == 0) {
        print_message("no OpenCL device: what kernels compute there is not checked\n");
    }
    return device_count;
}

const char *weft_test_opencl_name(uint32_t device) {
    return devices[device].name;
}

static cl_kernel build(const struct device *device, const struct weft_cl_text *text,
                       const char *what) {
    static char log[16384];
    const char *source = text->text;
    cl_int status = CL_SUCCESS;
    cl_program program =
        clCreateProgramWithSource(device->context, 1, &source, &text->size, &status);
    check(device, status, "program");
    const char *options = getenv("WEFT_TEST_OPENCL_OPTIONS");
    if (clBuildProgram(program, 1, &device->id, options ? options : "-cl-std=CL1.2", NULL, NULL) !=
        CL_SUCCESS) {
        clGetProgramBuildInfo(program, device->id, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log, NULL);
        fail_msg("%s: %s: %s\n%s", device->name, what, log, source);
    }
    cl_kernel kernel = clCreateKernel(program, "weft_main", &status);
    check(device, status, "kernel");
    clReleaseProgram(program);
    return kernel;
}

/* weft_arguments. */
static size_t make_arguments(cl_uint *words, const struct weft_test_opencl_run *run,
                             const size_t *offsets, uint32_t base) {
    const uint32_t count = run->text->binding_count;
    const cl_uint first[WEFT_CL_FIXED_WORDS] = {base, 0, 0, run->groups, 1, 1, WEFT_CL_SIGN};
    memcpy(words, first, sizeof first);
    for (uint32_t i = 0; i < count; i++) {
        words[WEFT_CL_FIXED_WORDS + i] = (cl_uint)(offsets[i] / WEFT_CL_OFFSET_UNIT);
        words[WEFT_CL_FIXED_WORDS + count + i] = run->ranges[i].size;
    }
    if (run->text->push_size > 0) {
        memcpy(words + WEFT_CL_FIXED_WORDS + (size_t)2 * count, run->push, run->text->push_size);
    }
    return sizeof *words * (WEFT_CL_FIXED_WORDS + (size_t)2 * count) + run->text->push_size;
}

static void dispatch(const struct device *device, cl_kernel kernel, cl_mem memory,
                     const struct weft_test_opencl_run *run, const size_t *offsets, uint32_t base,
                     uint32_t groups) {
    cl_uint words[WORDS];
    size_t local[3], global[3];
    check(device, clSetKernelArg(kernel, 0, make_arguments(words, run, offsets, base), words),
          "arguments");
    for (uint32_t i = 0; i < run->text->binding_count; i++) {
        check(device, clSetKernelArg(kernel, 1 + i, sizeof memory, &memory), "a binding");
    }
    for (uint32_t axis = 0; axis < 3; axis++) {
        local[axis] = run->text->local_size[axis];
        global[axis] = local[axis] * (axis == 0 ? groups : 1);
    }
    check(device,
          clEnqueueNDRangeKernel(device->queue, kernel, 3, NULL, global, local, 0, NULL, NULL),
          "a dispatch");
}

static void run_in(const struct device *device, const char *what, uint8_t *bytes, size_t size,
                   const struct weft_test_opencl_run *run, const size_t *offsets) {
    cl_int status = CL_SUCCESS;
    cl_kernel kernel = build(device, run->text, what);
    cl_mem memory = clCreateBuffer(device->context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, size,
                                   bytes, &status);
    check(device, status, "a buffer");
    dispatch(device, kernel, memory, run, offsets, 0, 1);
    if (run->groups > 1) {
        dispatch(device, kernel, memory, run, offsets, 1, run->groups - 1);
    }
    check(device,
          clEnqueueReadBuffer(device->queue, memory, CL_TRUE, 0, size, bytes, 0, NULL, NULL),
          "reading");
    clReleaseMemObject(memory);
    clReleaseKernel(kernel);
}

void weft_test_opencl_run(uint32_t index, const char *what,
                          const struct weft_test_opencl_run *run) {
    size_t offsets[WEFT_IR_MAX_BINDINGS];
    size_t size = GAP;
    for (uint32_t i = 0; i < run->text->binding_count; i++) {
        offsets[i] = size;
        size += (run->ranges[i].size + WEFT_CL_OFFSET_UNIT - 1) / WEFT_CL_OFFSET_UNIT *
                    WEFT_CL_OFFSET_UNIT +
                GAP;
    }
    uint8_t *bytes = malloc(size);
    assert_non_null(bytes);
    memset(bytes, 0xCD, size);
    for (uint32_t i = 0; i < run->text->binding_count; i++) {
        memcpy(bytes + offsets[i], run->ranges[i].data, run->ranges[i].size);
    }
    run_in(&devices[index], what, bytes, size, run, offsets);
    for (uint32_t i = 0; i < run->text->binding_count; i++) {
        memcpy(run->ranges[i].data, bytes + offsets[i], run->ranges[i].size);
        memset(bytes + offsets[i], 0xCD, run->ranges[i].size);
    }
    for (size_t i = 0; i < size; i++) {
        if (bytes[i] != 0xCD) {
            fail_msg("%s: %s: byte %zu, outside of all bindings, has changed", devices[index].name,
                     what, i);
        }
    }
    free(bytes);
}

#else

uint32_t weft_test_opencl_count(void) {
    print_message("built without OpenCL's headers: what kernels compute there is not checked\n");
    return 0;
}

const char *weft_test_opencl_name(uint32_t device) {
    (void)device;
    return "";
}

void weft_test_opencl_run(uint32_t device, const char *what,
                          const struct weft_test_opencl_run *run) {
    (void)run;
    fail_msg("%s on OpenCL device %u of none", what, device);
}

#endif
