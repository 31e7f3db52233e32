/* SPDX-License-Identifier: MIT */
#include "opencl/stand_in.h"

#include <string.h>

char stand_in_object;

cl_int stand_in_give(const void *value, size_t size, size_t room, void *out, size_t *needed) {
    if (needed) {
        *needed = size;
    }
    if (out && room < size) {
        return CL_INVALID_VALUE;
    }
    if (out) {
        memcpy(out, value, size);
    }
    return CL_SUCCESS;
}

cl_int stand_in_give_text(const char *text, size_t room, void *out, size_t *needed) {
    return stand_in_give(text, strlen(text) + 1, room, out, needed);
}

cl_int stand_in_give_number(cl_ulong value, size_t size, size_t room, void *out, size_t *needed) {
    return stand_in_give(&value, size, room, out,
                         needed); /* little-endian, as devices of Weft's are */
}

cl_int stand_in_done(cl_event *event) {
    if (event) {
        *event = STAND_IN_HANDLE(cl_event);
    }
    return CL_SUCCESS;
}

STAND_IN_PUBLIC cl_context clCreateContext(const cl_context_properties *properties, cl_uint count,
                                           const cl_device_id *devices,
                                           void(CL_CALLBACK *notify)(const char *, const void *,
                                                                     size_t, void *),
                                           void *user, cl_int *error) {
    (void)properties;
    (void)count;
    (void)devices;
    (void)notify;
    (void)user;
    *error = CL_SUCCESS;
    return STAND_IN_HANDLE(cl_context);
}

STAND_IN_PUBLIC cl_command_queue clCreateCommandQueue(cl_context context, cl_device_id device,
                                                      cl_command_queue_properties properties,
                                                      cl_int *error) {
    (void)context;
    (void)device;
    (void)properties;
    *error = CL_SUCCESS;
    return STAND_IN_HANDLE(cl_command_queue);
}

STAND_IN_PUBLIC cl_int clGetCommandQueueInfo(cl_command_queue queue, cl_command_queue_info what,
                                             size_t room, void *out, size_t *needed) {
    (void)queue;
    (void)what;
    (void)room;
    (void)out;
    (void)needed;
    return CL_INVALID_VALUE;
}

STAND_IN_SUCCEEDS(clRetainContext, cl_context)
STAND_IN_SUCCEEDS(clReleaseContext, cl_context)
STAND_IN_SUCCEEDS(clRetainCommandQueue, cl_command_queue)
STAND_IN_SUCCEEDS(clReleaseCommandQueue, cl_command_queue)
STAND_IN_SUCCEEDS(clReleaseEvent, cl_event)
STAND_IN_SUCCEEDS(clFlush, cl_command_queue)
STAND_IN_SUCCEEDS(clFinish, cl_command_queue)

STAND_IN_PUBLIC cl_int clWaitForEvents(cl_uint count, const cl_event *events) {
    (void)count;
    (void)events;
    return CL_SUCCESS;
}

#ifndef WEFT_FAKE_OPENCL_1_1
STAND_IN_PUBLIC cl_int clEnqueueMarkerWithWaitList(cl_command_queue queue, cl_uint count,
                                                   const cl_event *waits, cl_event *event) {
    (void)queue;
    (void)count;
    (void)waits;
    return stand_in_done(event);
}
#endif
