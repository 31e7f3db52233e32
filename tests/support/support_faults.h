/* SPDX-License-Identifier: MIT */
/*
 * A driver whose calls fail when a test says so: the processor device's functions, directly or as if a loader had found them, or those of
 * the system's loader, with one in front of each that counts, keeps account of what is made and destroyed, and gives an error instead of the
 * n-th call. A program that uses this is linked so that the library finds its loader and its processor here
 * (tests/cmake/programs.cmake).
 */
#ifndef WEFT_TESTS_SUPPORT_FAULTS_H
#define WEFT_TESTS_SUPPORT_FAULTS_H

#include "device/vk.h"
#include "support.h"

/** The errors that the specification lets a function return, up to VK_SUCCESS. */
#define WEFT_FAULT_MAX_ERRORS 7
struct weft_fault_function {
    const char *name; /* "vkCreateBuffer" */
    VkResult errors[WEFT_FAULT_MAX_ERRORS];
};
extern const struct weft_fault_function weft_fault_functions[];
extern const uint32_t weft_fault_function_count;

/** Ways in which the library finds the failing functions. */
enum weft_faults_driver {
    WEFT_FAULTS_PROCESSOR, /* at its own processor device; there is no loader */
    WEFT_FAULTS_FENCES,    /* there, too, and it has no timeline semaphores */
    WEFT_FAULTS_LOADER, /* at a loader, which finds the processor device; it has none of its own */
    WEFT_FAULTS_SYSTEM, /* at the system's loader */
};

/* One thread at a time, as a device is used. */
struct weft_faults {
    /* Set by the test. */
    uint32_t function; /* of weft_fault_functions */
    long at; /* the call that fails, counted from weft_faults_reset: 1 is the first; 0: none */
    VkResult error;
    enum weft_faults_driver driver;
    bool paused; /* the test's own calls: neither counted nor failed */

    /* Read by the test. */
    bool injected; /* the call came */
    bool
        lost; /* with VK_ERROR_DEVICE_LOST: until the device is destroyed all that can say so does */
};
extern struct weft_faults weft_faults;

/** Counts from 0 again, and nothing fails. */
void weft_faults_reset(void);
/** Calls of a function since then. */
long weft_faults_calls(uint32_t function);
/** Vulkan objects that were made and not destroyed, of all kinds; `text` gets their kinds and numbers. */
long weft_faults_live(char *text, size_t size);
/** Entry point for a caller's device, to the hooked functions. */
VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL weft_faults_get_instance_proc_addr(VkInstance instance,
                                                                            const char *name);

#endif
