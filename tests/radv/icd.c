/* SPDX-License-Identifier: MIT */
/* What Vulkan's loader asks of a driver goes to RADV, but that a rule can be broken on purpose: modules may lose what forbids contraction. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan.h>

#include "kmd.h"

VKAPI_ATTR VkResult VKAPI_CALL vk_icdNegotiateLoaderICDInterfaceVersion(uint32_t *version);
VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL vk_icdGetInstanceProcAddr(VkInstance instance,
                                                                   const char *name);
VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL vk_icdGetPhysicalDeviceProcAddr(VkInstance instance,
                                                                         const char *name);

#define EXPORTED __attribute__((visibility("default")))

typedef VkResult(VKAPI_PTR *negotiate_function)(uint32_t *version);

static struct {
    negotiate_function negotiate;
    PFN_vkGetInstanceProcAddr get_instance, get_physical;
    PFN_vkGetDeviceProcAddr get_device;
    PFN_vkCreateShaderModule create_module;
} real;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static PFN_vkVoidFunction find(void *library, const char *name) {
    PFN_vkVoidFunction found = NULL;
    *(void **)&found = dlsym(library, name);
    return found;
}

static void open_driver(void) {
    const char *path = getenv("WEFT_AMD_RADV");
    void *library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    if (library) {
        real.get_instance = (PFN_vkGetInstanceProcAddr)find(library, "vk_icdGetInstanceProcAddr");
        real.get_physical =
            (PFN_vkGetInstanceProcAddr)find(library, "vk_icdGetPhysicalDeviceProcAddr");
        real.negotiate =
            (negotiate_function)find(library, "vk_icdNegotiateLoaderICDInterfaceVersion");
    }
}

static bool is_open(void) {
    (void)pthread_once(&once, open_driver);
    return real.negotiate && real.get_instance && real.get_physical;
}

/* OpDecorate (71) of an id with NoContraction (42) becomes three times OpNop. */
static void allow_contraction(uint32_t *words, size_t count) {
    enum { FIRST = 5, DECORATE = 71, NO_CONTRACTION = 42, NOP = 1 << 16 };
    for (size_t at = FIRST; at < count && words[at] >> 16 != 0;) {
        const uint32_t length = words[at] >> 16, opcode = words[at] & 0xffffu;
        if (opcode == DECORATE && length == 3 && at + 2 < count &&
            words[at + 2] == NO_CONTRACTION) {
            words[at] = words[at + 1] = words[at + 2] = NOP;
        }
        at += length;
    }
}

static VKAPI_ATTR VkResult VKAPI_CALL create_module(VkDevice device,
                                                    const VkShaderModuleCreateInfo *info,
                                                    const VkAllocationCallbacks *allocator,
                                                    VkShaderModule *module) {
    VkShaderModuleCreateInfo other = *info;
    uint32_t *words = malloc(info->codeSize);
    if (!words) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    memcpy(words, info->pCode, info->codeSize);
    allow_contraction(words, info->codeSize / sizeof *words);
    other.pCode = words;
    const VkResult result = real.create_module(device, &other, allocator, module);
    free(words);
    return result;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_device(VkDevice device, const char *name);

static PFN_vkVoidFunction changed(PFN_vkVoidFunction found, const char *name) {
    if (found && strcmp(name, "vkGetDeviceProcAddr") == 0) {
        real.get_device = (PFN_vkGetDeviceProcAddr)found;
        return (PFN_vkVoidFunction)get_device;
    }
    if (found && strcmp(name, "vkCreateShaderModule") == 0 &&
        kmd_is_set("WEFT_AMD_BREAK", "contraction")) {
        real.create_module = (PFN_vkCreateShaderModule)found;
        return (PFN_vkVoidFunction)create_module;
    }
    return found;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_device(VkDevice device, const char *name) {
    return changed(real.get_device(device, name), name);
}

EXPORTED VKAPI_ATTR VkResult VKAPI_CALL
vk_icdNegotiateLoaderICDInterfaceVersion(uint32_t *version) {
    return is_open() ? real.negotiate(version) : VK_ERROR_INITIALIZATION_FAILED;
}

EXPORTED VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL vk_icdGetInstanceProcAddr(VkInstance instance,
                                                                            const char *name) {
    return is_open() ? changed(real.get_instance(instance, name), name) : NULL;
}

EXPORTED VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL
vk_icdGetPhysicalDeviceProcAddr(VkInstance instance, const char *name) {
    return is_open() ? real.get_physical(instance, name) : NULL;
}
