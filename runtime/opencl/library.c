/* SPDX-License-Identifier: MIT */
#include "opencl/library.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/system/fork_gate.h"
#include "core/system/library.h"
#include "core/system/system.h"

/* By name first; vendors of Android devices have it in places where the linker does not look. */
static const char *const places[] = {
#if defined(_WIN32)
    "OpenCL.dll",
#elif defined(__APPLE__)
    "/System/Library/Frameworks/OpenCL.framework/OpenCL",
#else
    "libOpenCL.so.1",
    "libOpenCL.so",
#if defined(__ANDROID__)
    "libOpenCL-pixel.so",
    "/vendor/lib64/libOpenCL.so",
    "/system/vendor/lib64/libOpenCL.so",
    "/system/lib64/libOpenCL.so",
    "/vendor/lib64/egl/libGLES_mali.so",
    "/vendor/lib/libOpenCL.so",
    "/vendor/lib/egl/libGLES_mali.so",
#endif
#endif
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static weft_fork_gate gate;
static struct weft_cl_functions functions;
static bool tried, found;
static unsigned long opened_by; /* process */
static char missing[WEFT_CL_REASON_SIZE];

static void *open_any(void) {
    void *library = NULL;
    char unused[WEFT_CL_REASON_SIZE];
    for (size_t i = 0; !library && i < sizeof places / sizeof places[0]; i++) {
        library = weft_library_open(places[i], unused, sizeof unused);
    }
    return library;
}

/* An object pointer becomes a function pointer by its bytes: C has no conversion. */
static bool load(void *function, void *library, const char *name) {
    void *address = weft_library_function(library, name);
    memcpy(function, &address, sizeof address);
    if (!address && missing[0] == '\0') {
        (void)snprintf(missing, sizeof missing,
                       "the system's OpenCL library has no %s: Weft needs OpenCL 1.2", name);
    }
    return address != NULL;
}

static bool load_all(void) {
    void *library = open_any();
    bool all = library != NULL;
    if (weft_library_refusal()) {
        (void)snprintf(missing, sizeof missing, "%s", weft_library_refusal());
    }
#define LOAD(name) all = all && load(&functions.name, library, "cl" #name);
    WEFT_CL_FUNCTIONS(LOAD)
#undef LOAD
    return all;
}

static bool is_turned_off(void) {
    const char *text = getenv("WEFT_OPENCL");
    return text && strcmp(text, "0") == 0;
}

static const struct weft_cl_functions *open_once(char *reason) {
    const unsigned long here = weft_system_process();
    if (!tried) {
        tried = true;
        opened_by = here;
        found = load_all();
    }
    (void)snprintf(reason, WEFT_CL_REASON_SIZE, "%s",
                   found && opened_by != here
                       ? "this process was forked after OpenCL had been opened"
                       : missing);
    return found && opened_by == here ? &functions : NULL;
}

const struct weft_cl_functions *weft_cl_open(char *reason) {
    reason[0] = '\0';
    if (is_turned_off()) {
        return NULL;
    }
    if (weft_fork_gate_enter(&gate, "opening OpenCL", NULL) != WEFT_OK) {
        (void)snprintf(reason, WEFT_CL_REASON_SIZE,
                       "this process was forked while another thread was opening OpenCL");
        return NULL;
    }
    pthread_mutex_lock(&lock);
    const struct weft_cl_functions *opened = open_once(reason);
    pthread_mutex_unlock(&lock);
    weft_fork_gate_leave(&gate);
    return opened;
}

const char *weft_cl_error_name(cl_int error, char text[24]) {
    static const struct {
        cl_int error;
        const char *name;
    } names[] = {
#define NAME(error) {error, #error}
        NAME(CL_DEVICE_NOT_AVAILABLE),
        NAME(CL_COMPILER_NOT_AVAILABLE),
        NAME(CL_MEM_OBJECT_ALLOCATION_FAILURE),
        NAME(CL_OUT_OF_RESOURCES),
        NAME(CL_OUT_OF_HOST_MEMORY),
        NAME(CL_BUILD_PROGRAM_FAILURE),
        NAME(CL_INVALID_VALUE),
        NAME(CL_INVALID_BINARY),
        NAME(CL_INVALID_BUILD_OPTIONS),
        NAME(CL_INVALID_KERNEL_ARGS),
        NAME(CL_INVALID_WORK_GROUP_SIZE),
        NAME(CL_INVALID_BUFFER_SIZE),
#undef NAME
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (names[i].error == error) {
            return names[i].name;
        }
    }
    (void)snprintf(text, 24, "error %d", (int)error);
    return text;
}
