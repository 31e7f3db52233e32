/* SPDX-License-Identifier: MIT */
/*
 * volk, for finding the system's Vulkan loader. Nothing else of it is used: its function pointers are one set for the
 * whole process, while Weft has a table per instance and device (device/vk.h). The generated volk_names.h puts a
 * prefix on all of volk's globals, so that they clash with nothing in the host program.
 */
#include <volk_names.h>

#define VOLK_IMPLEMENTATION
#include <volk.h>

#include <pthread.h>
#include <stdbool.h>

#include "core/system/fork_gate.h"
#include "core/system/library.h"
#include "device/loader.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool found;
static weft_fork_gate gate;

/*
 * On Windows volk opens it by its name alone, which would find one in the current folder, too. One of that name that is open
 * already is taken instead of searching.
 */
static bool open_from_system(void) {
#ifdef _WIN32
    char reason[256];
    return weft_library_open("vulkan-1.dll", reason, sizeof reason) != NULL;
#else
    return true;
#endif
}

PFN_vkGetInstanceProcAddr weft_loader_open(void) {
    if (weft_fork_gate_enter(&gate, "looking for Vulkan's loader", NULL) != WEFT_OK) {
        return NULL;
    }
    pthread_mutex_lock(&lock);
    if (!found) {
        found = open_from_system() && volkInitialize() == VK_SUCCESS;
    }
    PFN_vkGetInstanceProcAddr entry = found ? vkGetInstanceProcAddr : NULL;
    pthread_mutex_unlock(&lock);
    weft_fork_gate_leave(&gate);
    return entry;
}
