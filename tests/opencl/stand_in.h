/* SPDX-License-Identifier: MIT */
/* What OpenCL libraries of tests have alike: answers, one platform and one device, contexts and queues that hold nothing, and commands that are done at once. */
#ifndef WEFT_TESTS_OPENCL_STAND_IN_H
#define WEFT_TESTS_OPENCL_STAND_IN_H

#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>

#define STAND_IN_PUBLIC __attribute__((visibility("default")))

/** A handle that is never looked into. */
extern char stand_in_object;
#define STAND_IN_HANDLE(type) ((type)(void *)&stand_in_object)

/** Gives an answer of clGet…Info. */
cl_int stand_in_give(const void *value, size_t size, size_t room, void *out, size_t *needed);
cl_int stand_in_give_text(const char *text, size_t room, void *out, size_t *needed);
cl_int stand_in_give_number(cl_ulong value, size_t size, size_t room, void *out, size_t *needed);

/** An event of a command that is done. */
cl_int stand_in_done(cl_event *event);

/** A function that does nothing with a handle. */
#define STAND_IN_SUCCEEDS(name, type)          \
    STAND_IN_PUBLIC cl_int name(type handle) { \
        (void)handle;                          \
        return CL_SUCCESS;                     \
    }

#endif
