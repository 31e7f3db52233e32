/* SPDX-License-Identifier: MIT */
#include "device/instance.h"

#include <stdio.h>
#include <string.h>

#include "core/system/fork_gate.h"
#include "core/system/library.h"
#include "core/try.h"
#include "device/loader.h"
#include "device/result.h"
#include "device/software.h"
#include "device/validation.h"

/* The functions that exist before an instance does. */
struct global_functions {
    PFN_vkCreateInstance CreateInstance;
    PFN_vkEnumerateInstanceVersion EnumerateInstanceVersion; /* null in a Vulkan 1.0 loader */
    PFN_vkEnumerateInstanceExtensionProperties EnumerateInstanceExtensionProperties;
    PFN_vkEnumerateInstanceLayerProperties EnumerateInstanceLayerProperties;
};

#define MAX_EXTENSIONS 4

/* Declarations of VK_EXT_layer_settings, which came with Vulkan's headers 1.3.272. */
#ifndef VK_EXT_layer_settings
#define VK_EXT_LAYER_SETTINGS_EXTENSION_NAME             "VK_EXT_layer_settings"
#define VK_STRUCTURE_TYPE_LAYER_SETTINGS_CREATE_INFO_EXT ((VkStructureType)1000496000)
#define VK_LAYER_SETTING_TYPE_BOOL32_EXT                 0

typedef struct VkLayerSettingEXT {
    const char *pLayerName;
    const char *pSettingName;
    int32_t type;
    uint32_t valueCount;
    const void *pValues;
} VkLayerSettingEXT;

typedef struct VkLayerSettingsCreateInfoEXT {
    VkStructureType sType;
    const void *pNext;
    uint32_t settingCount;
    const VkLayerSettingEXT *pSettings;
} VkLayerSettingsCreateInfoEXT;
#endif

/*
 * The layer looked at what shaders access, then no more by default: they may not access what they can. All of Weft's do. With the
 * first of these it has a setting for that.
 */
#define FIRST_WITH_ACCESSES VK_MAKE_API_VERSION(0, 1, 4, 304)

/*
 * Before, the validation layer forgot a destroyed command buffer's labels without the lock of their list (its function
 * EraseCmdDebugUtilsLabel): two threads that record and destroy broke its heap, in one run of twenty.
 */
#define FIRST_WITH_SAFE_LABELS VK_MAKE_API_VERSION(0, 1, 3, 242)

/* Vulkan's version that VK_KHR_cooperative_matrix came with. */
#define FIRST_WITH_COOPERATIVE_MATRICES VK_MAKE_API_VERSION(0, 1, 3, 255)

/* Parameters with which an instance will be created. */
struct instance_plan {
    uint32_t version; /* of Vulkan */
    bool validation;
    bool labels;          /* the layer keeps threads' labels apart */
    bool synchronization; /* the layer can check hazards too */
    bool accesses;        /* … and has to be told to look at what shaders access */
    bool old_layer;       /* the layer is older than cooperative matrices */
    bool portability;
    const char *extensions[MAX_EXTENSIONS];
    uint32_t extension_count;
};

static void load_globals(struct global_functions *global, PFN_vkGetInstanceProcAddr get) {
    global->CreateInstance = (PFN_vkCreateInstance)get(NULL, "vkCreateInstance");
    global->EnumerateInstanceVersion =
        (PFN_vkEnumerateInstanceVersion)get(NULL, "vkEnumerateInstanceVersion");
    global->EnumerateInstanceExtensionProperties = (PFN_vkEnumerateInstanceExtensionProperties)get(
        NULL, "vkEnumerateInstanceExtensionProperties");
    global->EnumerateInstanceLayerProperties =
        (PFN_vkEnumerateInstanceLayerProperties)get(NULL, "vkEnumerateInstanceLayerProperties");
}

weft_status weft_vk_load_instance(struct weft_vk_instance *instance, const weft_host *host) {
    PFN_vkGetInstanceProcAddr get = instance->GetInstanceProcAddr;
#define LOAD(name)                                                                       \
    instance->name = (PFN_vk##name)get(instance->handle, "vk" #name);                    \
    if (!instance->name) {                                                               \
        return weft_fail(host, WEFT_UNSUPPORTED, "the Vulkan instance has no vk" #name); \
    }
    WEFT_VK_INSTANCE_FUNCTIONS(LOAD)
#undef LOAD
    instance->GetPhysicalDeviceMemoryProperties2 = (PFN_vkGetPhysicalDeviceMemoryProperties2)get(
        instance->handle, "vkGetPhysicalDeviceMemoryProperties2");
    return WEFT_OK;
}

#define LOAD_AS(name, text)                                                            \
    device->name = (PFN_vk##name)instance->GetDeviceProcAddr(device->handle, text);    \
    if (!device->name) {                                                               \
        return weft_fail(host, WEFT_UNSUPPORTED, "the Vulkan device has no %s", text); \
    }

weft_status weft_vk_load_device(struct weft_vk_device *device,
                                const struct weft_vk_instance *instance, const weft_host *host) {
#define LOAD(name) LOAD_AS(name, "vk" #name)
    WEFT_VK_DEVICE_FUNCTIONS(LOAD)
#undef LOAD
    device->CmdCopyImageToBuffer = (PFN_vkCmdCopyImageToBuffer)instance->GetDeviceProcAddr(
        device->handle, "vkCmdCopyImageToBuffer");
    device->CmdCopyBufferToImage = (PFN_vkCmdCopyBufferToImage)instance->GetDeviceProcAddr(
        device->handle, "vkCmdCopyBufferToImage");
    return WEFT_OK;
}

weft_status weft_vk_load_timeline(struct weft_vk_device *device, uint32_t version,
                                  const struct weft_vk_instance *instance, const weft_host *host) {
    const bool has_1_2 = version >= VK_API_VERSION_1_2;
#define LOAD(name) LOAD_AS(name, has_1_2 ? "vk" #name : "vk" #name "KHR")
    WEFT_VK_TIMELINE_FUNCTIONS(LOAD)
#undef LOAD
    return WEFT_OK;
}

#undef LOAD_AS

/* Sets *found if the loader and drivers (layer null) or a layer offer an extension. */
static weft_status has_extension(bool *found, const struct global_functions *global,
                                 const char *layer, const char *name, const weft_host *host) {
    *found = false;
    uint32_t count = 0;
    VkResult result = global->EnumerateInstanceExtensionProperties(layer, &count, NULL);
    if (result != VK_SUCCESS || count == 0) {
        return weft_vk_check(host, result, "vkEnumerateInstanceExtensionProperties");
    }
    VkExtensionProperties *list = weft_alloc_zero(host, count, sizeof *list);
    if (!list) {
        return weft_fail_memory(host, "instance extensions");
    }
    result = global->EnumerateInstanceExtensionProperties(layer, &count, list);
    if (result == VK_INCOMPLETE) {
        result = VK_SUCCESS; /* more came in between the two calls: what was written is valid */
    }
    for (uint32_t i = 0; result == VK_SUCCESS && i < count; i++) {
        *found = *found || strcmp(list[i].extensionName, name) == 0;
    }
    weft_free(host, list);
    return weft_vk_check(host, result, "vkEnumerateInstanceExtensionProperties");
}

/* The version of Vulkan that a layer was written for, 0 where it is not installed. */
static weft_status find_layer(uint32_t *version, const struct global_functions *global,
                              const char *name, const weft_host *host) {
    *version = 0;
    uint32_t count = 0;
    VkResult result = global->EnumerateInstanceLayerProperties(&count, NULL);
    if (result != VK_SUCCESS || count == 0) {
        return weft_vk_check(host, result, "vkEnumerateInstanceLayerProperties");
    }
    VkLayerProperties *list = weft_alloc_zero(host, count, sizeof *list);
    if (!list) {
        return weft_fail_memory(host, "instance layers");
    }
    result = global->EnumerateInstanceLayerProperties(&count, list);
    if (result == VK_INCOMPLETE) {
        result = VK_SUCCESS;
    }
    for (uint32_t i = 0; result == VK_SUCCESS && i < count; i++) {
        if (strcmp(list[i].layerName, name) == 0) {
            *version = list[i].specVersion;
        }
    }
    weft_free(host, list);
    return weft_vk_check(host, result, "vkEnumerateInstanceLayerProperties");
}

static weft_status plan_validation(struct instance_plan *plan,
                                   const struct global_functions *global, const weft_host *host) {
    uint32_t version = 0;
    WEFT_TRY(find_layer(&version, global, WEFT_VALIDATION_LAYER, host));
    plan->validation = version != 0;
    plan->labels = version >= FIRST_WITH_SAFE_LABELS;
    plan->old_layer = version < FIRST_WITH_COOPERATIVE_MATRICES;
    if (!plan->validation) {
        weft_log(host, WEFT_LOG_WARNING, "validation was asked for, but %s is not installed",
                 WEFT_VALIDATION_LAYER);
        return WEFT_OK;
    }
    /* The layer brings both extensions itself, so that neither depends on the loader or a driver.
     */
    bool messages = false;
    WEFT_TRY(has_extension(&messages, global, WEFT_VALIDATION_LAYER,
                           VK_EXT_DEBUG_UTILS_EXTENSION_NAME, host));
    WEFT_TRY(has_extension(&plan->synchronization, global, WEFT_VALIDATION_LAYER,
                           VK_EXT_VALIDATION_FEATURES_EXTENSION_NAME, host));
    if (version >= FIRST_WITH_ACCESSES) {
        WEFT_TRY(has_extension(&plan->accesses, global, WEFT_VALIDATION_LAYER,
                               VK_EXT_LAYER_SETTINGS_EXTENSION_NAME, host));
    }
    if (!messages) {
        plan->validation = false;
        weft_log(host, WEFT_LOG_WARNING, "validation was asked for, but %s has no %s",
                 WEFT_VALIDATION_LAYER, VK_EXT_DEBUG_UTILS_EXTENSION_NAME);
        return WEFT_OK;
    }
    plan->extensions[plan->extension_count++] = VK_EXT_DEBUG_UTILS_EXTENSION_NAME;
    if (plan->synchronization) {
        plan->extensions[plan->extension_count++] = VK_EXT_VALIDATION_FEATURES_EXTENSION_NAME;
    } else {
        weft_log(host, WEFT_LOG_WARNING, "%s of this version cannot check hazards",
                 WEFT_VALIDATION_LAYER);
    }
    if (plan->accesses) {
        plan->extensions[plan->extension_count++] = VK_EXT_LAYER_SETTINGS_EXTENSION_NAME;
    }
    return WEFT_OK;
}

static weft_status plan_instance(struct instance_plan *plan, const struct global_functions *global,
                                 bool validation, const weft_host *host) {
    WEFT_TRY(has_extension(&plan->portability, global, NULL,
                           VK_KHR_PORTABILITY_ENUMERATION_EXTENSION_NAME, host));
    if (plan->portability) {
        plan->extensions[plan->extension_count++] = VK_KHR_PORTABILITY_ENUMERATION_EXTENSION_NAME;
    }
    return validation ? plan_validation(plan, global, host) : WEFT_OK;
}

static VkResult call_create_instance(VkInstance *handle, const struct global_functions *global,
                                     const struct instance_plan *plan, weft_device *validated) {
    static const char *const layers[] = {WEFT_VALIDATION_LAYER};
    static const VkValidationFeatureEnableEXT enabled[] = {
        VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT};
    VkDebugUtilsMessengerCreateInfoEXT messenger = weft_validation_messenger_info(validated);
    VkValidationFeaturesEXT features = {
        .sType = VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT,
        .pNext = &messenger,
        .enabledValidationFeatureCount = 1,
        .pEnabledValidationFeatures = enabled,
    };
    const VkBool32 on = VK_TRUE;
    const VkLayerSettingEXT setting = {
        .pLayerName = WEFT_VALIDATION_LAYER,
        .pSettingName = "syncval_shader_accesses_heuristic",
        .type = VK_LAYER_SETTING_TYPE_BOOL32_EXT,
        .valueCount = 1,
        .pValues = &on,
    };
    const VkLayerSettingsCreateInfoEXT settings = {
        .sType = VK_STRUCTURE_TYPE_LAYER_SETTINGS_CREATE_INFO_EXT,
        .pNext = plan->synchronization ? (const void *)&features : (const void *)&messenger,
        .settingCount = plan->accesses ? 1 : 0,
        .pSettings = &setting,
    };
    VkApplicationInfo application = {
        .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
        .pEngineName = "weft",
        .engineVersion =
            VK_MAKE_API_VERSION(0, WEFT_VERSION_MAJOR, WEFT_VERSION_MINOR, WEFT_VERSION_PATCH),
        .apiVersion = plan->version,
    };
    VkInstanceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
        .pApplicationInfo = &application,
        .enabledExtensionCount = plan->extension_count,
        .ppEnabledExtensionNames = plan->extensions,
    };
    if (plan->portability) {
        info.flags = VK_INSTANCE_CREATE_ENUMERATE_PORTABILITY_BIT_KHR;
    }
    if (plan->validation) {
        info.enabledLayerCount = 1;
        info.ppEnabledLayerNames = layers;
        info.pNext = plan->accesses ? &settings : settings.pNext;
    }
    return global->CreateInstance(&info, NULL, handle);
}

/* Version to request from the loader: at least 1.1, and at most 1.2, since nothing newer is used. */
static weft_status choose_version(uint32_t *version, const struct global_functions *global,
                                  const weft_host *host, char *reason) {
    uint32_t found = VK_API_VERSION_1_0;
    if (global->EnumerateInstanceVersion) {
        WEFT_TRY(weft_vk_check(host, global->EnumerateInstanceVersion(&found),
                               "vkEnumerateInstanceVersion"));
    }
    *version = found >= VK_API_VERSION_1_2 ? VK_API_VERSION_1_2 : VK_API_VERSION_1_1;
    if (found >= VK_API_VERSION_1_1) {
        return WEFT_OK;
    }
    (void)snprintf(reason, WEFT_REASON_SIZE,
                   "the system's Vulkan loader is for version %u.%u, Weft needs 1.1",
                   VK_API_VERSION_MAJOR(found), VK_API_VERSION_MINOR(found));
    return WEFT_NO_DEVICE;
}

static weft_status create_handle(struct weft_vk_instance *instance, const weft_host *host,
                                 weft_device *validated, char *reason) {
    struct global_functions global;
    load_globals(&global, instance->GetInstanceProcAddr);
    if (!global.CreateInstance || !global.EnumerateInstanceExtensionProperties ||
        !global.EnumerateInstanceLayerProperties) {
        (void)snprintf(reason, WEFT_REASON_SIZE, "the system's Vulkan loader is incomplete");
        return WEFT_NO_DEVICE;
    }
    struct instance_plan plan = {0};
    WEFT_TRY(choose_version(&plan.version, &global, host, reason));
    WEFT_TRY(plan_instance(&plan, &global, validated != NULL, host));
    VkInstance handle = VK_NULL_HANDLE;
    VkResult result = call_create_instance(&handle, &global, &plan, validated);
    if (result == VK_ERROR_INCOMPATIBLE_DRIVER) {
        (void)snprintf(reason, WEFT_REASON_SIZE, "no Vulkan driver is installed");
        return WEFT_NO_DEVICE;
    }
    if (result != VK_SUCCESS) {
        return weft_vk_check(host, result, "vkCreateInstance");
    }
    instance->handle = handle;
    instance->version = plan.version;
    /* Loaded first: it is what destroys the handle should another function be missing. */
    instance->DestroyInstance =
        (PFN_vkDestroyInstance)instance->GetInstanceProcAddr(handle, "vkDestroyInstance");
    WEFT_TRY(weft_vk_load_instance(instance, host));
    instance->accesses = plan.validation && plan.accesses;
    instance->labels = plan.validation && plan.labels;
    instance->old_layer = plan.validation && plan.old_layer;
    if (plan.validation) {
        WEFT_TRY(weft_validation_start(instance, validated));
    }
    return WEFT_OK;
}

weft_status weft_instance_create(struct weft_vk_instance *instance, const weft_host *host,
                                 weft_device *validated, char *reason) {
    *instance = (struct weft_vk_instance){0};
    instance->GetInstanceProcAddr = weft_loader_open();
    if (!instance->GetInstanceProcAddr) {
        const char *refusal = weft_library_refusal();
        (void)snprintf(reason, WEFT_REASON_SIZE, "%s",
                       refusal ? refusal : "no Vulkan loader is installed");
        return WEFT_NO_DEVICE;
    }
    static weft_fork_gate gate; /* the loader and its drivers have locks of their own */
    if (weft_fork_gate_enter(&gate, "looking for Vulkan devices", NULL) != WEFT_OK) {
        (void)snprintf(
            reason, WEFT_REASON_SIZE,
            "this process was forked while another thread was looking for Vulkan devices");
        return WEFT_NO_DEVICE;
    }
    weft_status status = create_handle(instance, host, validated, reason);
    weft_fork_gate_leave(&gate);
    if (status != WEFT_OK) {
        weft_instance_destroy(instance, !validated ? VK_NULL_HANDLE : validated->messenger);
    }
    return status;
}

weft_status weft_instance_create_software(struct weft_vk_instance *instance,
                                          const struct weft_software *software, void *user,
                                          const weft_host *host) {
    const struct weft_soft_instance_info which = {
        .sType = WEFT_SOFT_INSTANCE_INFO, .backend = software->backend, .host = host, .user = user};
    const VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                       .pNext = &which};
    *instance = (struct weft_vk_instance){.version = VK_API_VERSION_1_2,
                                          .software = software,
                                          .GetInstanceProcAddr = weft_soft_get_instance_proc_addr};
    struct global_functions global;
    load_globals(&global, instance->GetInstanceProcAddr);
    VkInstance handle = VK_NULL_HANDLE; /* undefined after a failure */
    WEFT_TRY(weft_vk_check(host, global.CreateInstance(&info, NULL, &handle),
                           "vkCreateInstance without a loader"));
    instance->handle = handle;
    const weft_status status = weft_vk_load_instance(instance, host);
    if (status != WEFT_OK) {
        weft_instance_destroy(instance, VK_NULL_HANDLE);
    }
    return status;
}

void weft_instance_destroy(struct weft_vk_instance *instance, VkDebugUtilsMessengerEXT messenger) {
    if (instance->handle != VK_NULL_HANDLE && messenger != VK_NULL_HANDLE) {
        instance->DestroyDebugUtilsMessengerEXT(instance->handle, messenger, NULL);
    }
    if (instance->handle != VK_NULL_HANDLE && instance->DestroyInstance) {
        instance->DestroyInstance(instance->handle, NULL);
    }
    *instance = (struct weft_vk_instance){0};
}
