/* SPDX-License-Identifier: MIT */
#include "behind.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

static struct weft_behind behind;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void open_driver(void) {
    const char *path = getenv(weft_behind_variable);
    void *library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    if (library) {
        *(void **)&behind.negotiate = dlsym(library, "vk_icdNegotiateLoaderICDInterfaceVersion");
        *(void **)&behind.get_instance = dlsym(library, "vk_icdGetInstanceProcAddr");
        *(void **)&behind.get_physical = dlsym(library, "vk_icdGetPhysicalDeviceProcAddr");
    }
}

const struct weft_behind *weft_behind(void) {
    (void)pthread_once(&once, open_driver);
    return behind.negotiate && behind.get_instance && behind.get_physical ? &behind : NULL;
}
