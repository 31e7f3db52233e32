/* SPDX-License-Identifier: MIT */
/* What Vulkan's loader asks of a driver goes to RADV, but that a rule can be broken on purpose: modules may lose what forbids contraction. */
#include <stdlib.h>
#include <string.h>

#include "driver/behind.h"
#include "kmd.h"

const char weft_behind_variable[] = "WEFT_AMD_RADV";

static struct {
    PFN_vkGetDeviceProcAddr get_device;
    PFN_vkCreateShaderModule create_module;
} real;

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
    const struct weft_behind *behind = weft_behind();
    return behind ? behind->negotiate(version) : VK_ERROR_INITIALIZATION_FAILED;
}

EXPORTED VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL vk_icdGetInstanceProcAddr(VkInstance instance,
                                                                            const char *name) {
    const struct weft_behind *behind = weft_behind();
    return behind ? changed(behind->get_instance(instance, name), name) : NULL;
}

EXPORTED VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL
vk_icdGetPhysicalDeviceProcAddr(VkInstance instance, const char *name) {
    const struct weft_behind *behind = weft_behind();
    return behind ? behind->get_physical(instance, name) : NULL;
}
