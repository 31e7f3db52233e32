/* SPDX-License-Identifier: MIT */
#include "support_faults.h"

#include "device/loader.h"
#include "processor/processor.h"
#include "softvk/softvk.h"

struct weft_faults weft_faults;

#define UNDEFINED 0x5a /* bytes of a handle that the specification leaves undefined */

#define MEMORY      VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_OUT_OF_DEVICE_MEMORY
#define MEMORY_LOST MEMORY, VK_ERROR_DEVICE_LOST

/* name, errors */
#define FAILING_FUNCTIONS(X)                                                                     \
    X(CreateInstance, MEMORY, VK_ERROR_INITIALIZATION_FAILED, VK_ERROR_LAYER_NOT_PRESENT,        \
      VK_ERROR_EXTENSION_NOT_PRESENT, VK_ERROR_INCOMPATIBLE_DRIVER)                              \
    X(EnumerateInstanceVersion, VK_ERROR_OUT_OF_HOST_MEMORY)                                     \
    X(EnumerateInstanceExtensionProperties, MEMORY, VK_ERROR_LAYER_NOT_PRESENT)                  \
    X(EnumeratePhysicalDevices, MEMORY, VK_ERROR_INITIALIZATION_FAILED, VK_INCOMPLETE)           \
    X(EnumerateDeviceExtensionProperties, MEMORY, VK_ERROR_LAYER_NOT_PRESENT, VK_INCOMPLETE)     \
    X(CreateDevice, MEMORY_LOST, VK_ERROR_INITIALIZATION_FAILED, VK_ERROR_EXTENSION_NOT_PRESENT, \
      VK_ERROR_FEATURE_NOT_PRESENT)                                                              \
    X(DeviceWaitIdle, MEMORY_LOST)                                                               \
    X(QueueSubmit, MEMORY_LOST)                                                                  \
    X(CreateCommandPool, MEMORY)                                                                 \
    X(AllocateCommandBuffers, MEMORY)                                                            \
    X(BeginCommandBuffer, MEMORY)                                                                \
    X(EndCommandBuffer, MEMORY)                                                                  \
    X(ResetCommandBuffer, MEMORY)                                                                \
    X(CreateQueryPool, MEMORY)                                                                   \
    X(GetQueryPoolResults, MEMORY_LOST) /* VK_NOT_READY is an answer: a run goes on */           \
    X(CreateBuffer, MEMORY)                                                                      \
    X(BindBufferMemory, MEMORY)                                                                  \
    X(AllocateMemory, MEMORY, VK_ERROR_TOO_MANY_OBJECTS, VK_ERROR_INVALID_EXTERNAL_HANDLE)       \
    X(MapMemory, MEMORY, VK_ERROR_MEMORY_MAP_FAILED)                                             \
    X(CreateSemaphore, MEMORY)                                                                   \
    X(CreateFence, MEMORY)                                                                       \
    X(GetFenceStatus, MEMORY_LOST)                                                               \
    X(WaitForFences, MEMORY_LOST, VK_TIMEOUT)                                                    \
    X(ResetFences, VK_ERROR_OUT_OF_DEVICE_MEMORY)                                                \
    X(WaitSemaphores, MEMORY_LOST, VK_TIMEOUT)                                                   \
    X(GetSemaphoreCounterValue, MEMORY_LOST)                                                     \
    X(CreateShaderModule, MEMORY)                                                                \
    X(CreateDescriptorSetLayout, MEMORY)                                                         \
    X(CreateDescriptorPool, MEMORY, VK_ERROR_FRAGMENTATION)                                      \
    X(AllocateDescriptorSets, MEMORY, VK_ERROR_FRAGMENTED_POOL, VK_ERROR_OUT_OF_POOL_MEMORY)     \
    X(CreatePipelineLayout, MEMORY)                                                              \
    X(CreateComputePipelines, MEMORY)                                                            \
    X(CreatePipelineCache, MEMORY)                                                               \
    X(GetPipelineCacheData, MEMORY, VK_INCOMPLETE)                                               \
    X(MergePipelineCaches, MEMORY)                                                               \
    X(GetMemoryFdKHR, VK_ERROR_TOO_MANY_OBJECTS, VK_ERROR_OUT_OF_HOST_MEMORY)                    \
    X(GetMemoryHostPointerPropertiesEXT, VK_ERROR_OUT_OF_HOST_MEMORY,                            \
      VK_ERROR_INVALID_EXTERNAL_HANDLE)

#define FIELD(name, ...) AT_##name,
enum { FAILING_FUNCTIONS(FIELD) AT_COUNT };
#undef FIELD
#define FIELD(name, ...) {"vk" #name, {__VA_ARGS__}},
const struct weft_fault_function weft_fault_functions[] = {FAILING_FUNCTIONS(FIELD)};
#undef FIELD
const uint32_t weft_fault_function_count = AT_COUNT;

/* ---- accounts ---- */

#define KINDS(X)    \
    X(Instance)     \
    X(Device)       \
    X(CommandPool)  \
    X(QueryPool)    \
    X(Buffer)       \
    X(Memory)       \
    X(Semaphore)    \
    X(Fence)        \
    X(ShaderModule) \
    X(DescriptorSetLayout) X(DescriptorPool) X(PipelineLayout) X(Pipeline) X(PipelineCache)
#define FIELD(kind) OF_##kind,
enum { KINDS(FIELD) OF_COUNT };
#undef FIELD
#define FIELD(kind) #kind,
static const char *const kinds[] = {KINDS(FIELD)};
#undef FIELD

static long calls[AT_COUNT];
static long live[OF_COUNT];

void weft_faults_reset(void) {
    const enum weft_faults_driver driver = weft_faults.driver;
    memset(calls, 0, sizeof calls);
    weft_faults = (struct weft_faults){.driver = driver};
}

long weft_faults_calls(uint32_t function) {
    return calls[function];
}

long weft_faults_live(char *text, size_t size) {
    long sum = 0;
    size_t length = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < OF_COUNT; i++) {
        sum += live[i];
        if (live[i] != 0 && length < size) {
            length += (size_t)snprintf(text + length, size - length, " %ld %s", live[i], kinds[i]);
        }
    }
    return sum;
}

/* ---- functions in front of the driver's ---- */

#define MEMBER(name) PFN_vk##name name;
static struct {
    MEMBER(CreateInstance)
    MEMBER(EnumerateInstanceVersion)
    MEMBER(EnumerateInstanceExtensionProperties)
    MEMBER(GetMemoryFdKHR)
    MEMBER(GetMemoryHostPointerPropertiesEXT)
    WEFT_VK_INSTANCE_FUNCTIONS(MEMBER)
    WEFT_VK_DEVICE_FUNCTIONS(MEMBER)
    WEFT_VK_TIMELINE_FUNCTIONS(MEMBER)
} real;
#undef MEMBER

static bool may_lose(uint32_t function) {
    const VkResult *errors = weft_fault_functions[function].errors;
    bool found = false;
    for (uint32_t i = 0; i < WEFT_FAULT_MAX_ERRORS; i++) {
        found = found || errors[i] == VK_ERROR_DEVICE_LOST;
    }
    return found && function != AT_CreateDevice;
}

/* True if this call fails. What a lost device was doing has ended: so the driver's, which is not lost, waits for it. */
static bool fails(uint32_t function, VkDevice device, VkResult *result) {
    if (weft_faults.paused) {
        return false;
    }
    calls[function]++;
    if (weft_faults.lost && may_lose(function)) {
        *result = VK_ERROR_DEVICE_LOST;
        return true;
    }
    if (weft_faults.injected || calls[function] != weft_faults.at ||
        function != weft_faults.function) {
        return false;
    }
    weft_faults.injected = true;
    *result = weft_faults.error;
    if (weft_faults.error == VK_ERROR_DEVICE_LOST && device) {
        (void)real.DeviceWaitIdle(device);
        weft_faults.lost = true;
    }
    return true;
}

#define FAILS(name, device, parameters, arguments)          \
    static VKAPI_ATTR VkResult VKAPI_CALL name parameters { \
        VkResult result = VK_SUCCESS;                       \
        if (fails(AT_##name, device, &result)) {            \
            return result;                                  \
        }                                                   \
        return real.name arguments;                         \
    }
/* Without an array to fill such a call tells a number, and never that it is incomplete; with one, more has come in between. */
#define FILLS(name, parameters, arguments, items)              \
    static VKAPI_ATTR VkResult VKAPI_CALL name parameters {    \
        VkResult result = VK_SUCCESS;                          \
        if (!fails(AT_##name, VK_NULL_HANDLE, &result)) {      \
            return real.name arguments;                        \
        }                                                      \
        if (result != VK_INCOMPLETE) {                         \
            return result;                                     \
        }                                                      \
        weft_faults.injected = (items) != NULL;                \
        if (!(items)) {                                        \
            weft_faults.at++; /* the next call has an array */ \
            return real.name arguments;                        \
        }                                                      \
        result = real.name arguments;                          \
        return result == VK_SUCCESS ? VK_INCOMPLETE : result;  \
    }
#define MAKES(name, kind, parameters, arguments, device, count, out, after) \
    static VKAPI_ATTR VkResult VKAPI_CALL name parameters {                 \
        VkResult result = VK_SUCCESS;                                       \
        if (fails(AT_##name, device, &result)) {                            \
            memset(out, after, (size_t)(count) * sizeof *(out));            \
            return result;                                                  \
        }                                                                   \
        result = real.name arguments;                                       \
        live[OF_##kind] += result == VK_SUCCESS ? (long)(count) : 0;        \
        return result;                                                      \
    }
#define DESTROYS(name, kind, parameters, arguments, object) \
    static VKAPI_ATTR void VKAPI_CALL name parameters {     \
        live[OF_##kind] -= (object) != VK_NULL_HANDLE;      \
        real.name arguments;                                \
    }
#define PAIR(thing, kind, info, type)                                                             \
    MAKES(Create##thing, kind,                                                                    \
          (VkDevice d, const info *i, const VkAllocationCallbacks *a, type *out), (d, i, a, out), \
          d, 1, out, UNDEFINED)                                                                   \
    DESTROYS(Destroy##thing, kind, (VkDevice d, type o, const VkAllocationCallbacks *a),          \
             (d, o, a), o)

/* In the place of a loader there is the processor device, which nobody has to name. */
static VKAPI_ATTR VkResult VKAPI_CALL CreateInstance(const VkInstanceCreateInfo *i,
                                                     const VkAllocationCallbacks *a,
                                                     VkInstance *out) {
    const struct weft_soft_instance_info which = {
        .sType = WEFT_SOFT_INSTANCE_INFO, .pNext = i->pNext, .backend = &weft_processor_backend};
    VkInstanceCreateInfo chained = *i;
    VkResult result = VK_SUCCESS;
    if (fails(AT_CreateInstance, VK_NULL_HANDLE, &result)) {
        memset(out, UNDEFINED, sizeof *out);
        return result;
    }
    chained.pNext = weft_faults.driver == WEFT_FAULTS_LOADER ? &which : i->pNext;
    result = real.CreateInstance(&chained, a, out);
    live[OF_Instance] += result == VK_SUCCESS;
    return result;
}
DESTROYS(DestroyInstance, Instance, (VkInstance o, const VkAllocationCallbacks *a), (o, a), o)
FAILS(EnumerateInstanceVersion, VK_NULL_HANDLE, (uint32_t * version), (version))
FILLS(EnumerateInstanceExtensionProperties,
      (const char *layer, uint32_t *count, VkExtensionProperties *items), (layer, count, items),
      items)
FILLS(EnumeratePhysicalDevices, (VkInstance i, uint32_t *count, VkPhysicalDevice *items),
      (i, count, items), items)
FILLS(EnumerateDeviceExtensionProperties,
      (VkPhysicalDevice p, const char *layer, uint32_t *count, VkExtensionProperties *items),
      (p, layer, count, items), items)
MAKES(CreateDevice, Device,
      (VkPhysicalDevice p, const VkDeviceCreateInfo *i, const VkAllocationCallbacks *a,
       VkDevice *out),
      (p, i, a, out), VK_NULL_HANDLE, 1, out, UNDEFINED)
DESTROYS(DestroyDevice, Device, (VkDevice o, const VkAllocationCallbacks *a), (o, a), o)
FAILS(DeviceWaitIdle, d, (VkDevice d), (d))

static VkDevice device_of_queue;
static VKAPI_ATTR void VKAPI_CALL GetDeviceQueue(VkDevice d, uint32_t family, uint32_t index,
                                                 VkQueue *queue) {
    device_of_queue = d;
    real.GetDeviceQueue(d, family, index, queue);
}
FAILS(QueueSubmit, device_of_queue, (VkQueue q, uint32_t n, const VkSubmitInfo *i, VkFence f),
      (q, n, i, f))

PAIR(CommandPool, CommandPool, VkCommandPoolCreateInfo, VkCommandPool)
PAIR(QueryPool, QueryPool, VkQueryPoolCreateInfo, VkQueryPool)
PAIR(Buffer, Buffer, VkBufferCreateInfo, VkBuffer)
PAIR(Semaphore, Semaphore, VkSemaphoreCreateInfo, VkSemaphore)
PAIR(Fence, Fence, VkFenceCreateInfo, VkFence)
FAILS(GetFenceStatus, d, (VkDevice d, VkFence f), (d, f))
FAILS(ResetFences, d, (VkDevice d, uint32_t n, const VkFence *f), (d, n, f))
PAIR(ShaderModule, ShaderModule, VkShaderModuleCreateInfo, VkShaderModule)
PAIR(DescriptorSetLayout, DescriptorSetLayout, VkDescriptorSetLayoutCreateInfo,
     VkDescriptorSetLayout)
PAIR(DescriptorPool, DescriptorPool, VkDescriptorPoolCreateInfo, VkDescriptorPool)
PAIR(PipelineLayout, PipelineLayout, VkPipelineLayoutCreateInfo, VkPipelineLayout)
PAIR(PipelineCache, PipelineCache, VkPipelineCacheCreateInfo, VkPipelineCache)

MAKES(AllocateMemory, Memory,
      (VkDevice d, const VkMemoryAllocateInfo *i, const VkAllocationCallbacks *a,
       VkDeviceMemory *out),
      (d, i, a, out), d, 1, out, UNDEFINED)
DESTROYS(FreeMemory, Memory, (VkDevice d, VkDeviceMemory o, const VkAllocationCallbacks *a),
         (d, o, a), o)
/* A failing call may still make some of several pipelines: those that are not null. */
static VKAPI_ATTR VkResult VKAPI_CALL CreateComputePipelines(VkDevice d, VkPipelineCache c,
                                                             uint32_t n,
                                                             const VkComputePipelineCreateInfo *i,
                                                             const VkAllocationCallbacks *a,
                                                             VkPipeline *out) {
    VkResult result = VK_SUCCESS;
    if (fails(AT_CreateComputePipelines, d, &result)) {
        memset(out, 0, n * sizeof *out);
        return result;
    }
    result = real.CreateComputePipelines(d, c, n, i, a, out);
    for (uint32_t k = 0; k < n; k++) {
        live[OF_Pipeline] += out[k] != VK_NULL_HANDLE;
    }
    return result;
}
DESTROYS(DestroyPipeline, Pipeline, (VkDevice d, VkPipeline o, const VkAllocationCallbacks *a),
         (d, o, a), o)

FAILS(AllocateCommandBuffers, d,
      (VkDevice d, const VkCommandBufferAllocateInfo *i, VkCommandBuffer *out), (d, i, out))
FAILS(BeginCommandBuffer, VK_NULL_HANDLE, (VkCommandBuffer c, const VkCommandBufferBeginInfo *i),
      (c, i))
/* One that fails leaves no commands that are still recorded: so the driver's ends them. */
static VKAPI_ATTR VkResult VKAPI_CALL EndCommandBuffer(VkCommandBuffer c) {
    VkResult result = VK_SUCCESS;
    const bool failed = fails(AT_EndCommandBuffer, VK_NULL_HANDLE, &result);
    const VkResult ended = real.EndCommandBuffer(c);
    return failed ? result : ended;
}
FAILS(ResetCommandBuffer, VK_NULL_HANDLE, (VkCommandBuffer c, VkCommandBufferResetFlags f), (c, f))
FAILS(GetQueryPoolResults, d,
      (VkDevice d, VkQueryPool p, uint32_t first, uint32_t n, size_t size, void *data,
       VkDeviceSize stride, VkQueryResultFlags f),
      (d, p, first, n, size, data, stride, f))
FAILS(BindBufferMemory, d, (VkDevice d, VkBuffer b, VkDeviceMemory m, VkDeviceSize o), (d, b, m, o))
FAILS(MapMemory, d,
      (VkDevice d, VkDeviceMemory m, VkDeviceSize o, VkDeviceSize n, VkMemoryMapFlags f, void **to),
      (d, m, o, n, f, to))
FAILS(GetSemaphoreCounterValue, d, (VkDevice d, VkSemaphore s, uint64_t *value), (d, s, value))
FAILS(AllocateDescriptorSets, d,
      (VkDevice d, const VkDescriptorSetAllocateInfo *i, VkDescriptorSet *out), (d, i, out))
FAILS(GetMemoryFdKHR, d, (VkDevice d, const VkMemoryGetFdInfoKHR *i, int *file), (d, i, file))
FAILS(GetMemoryHostPointerPropertiesEXT, d,
      (VkDevice d, VkExternalMemoryHandleTypeFlagBits t, const void *p,
       VkMemoryHostPointerPropertiesEXT *to),
      (d, t, p, to))
FAILS(MergePipelineCaches, d,
      (VkDevice d, VkPipelineCache to, uint32_t n, const VkPipelineCache *from), (d, to, n, from))
FILLS(GetPipelineCacheData, (VkDevice d, VkPipelineCache c, size_t *size, void *data),
      (d, c, size, data), data)

/* Who waits for ever is never told that time is up. */
static VKAPI_ATTR VkResult VKAPI_CALL WaitSemaphores(VkDevice d, const VkSemaphoreWaitInfo *i,
                                                     uint64_t timeout) {
    VkResult result = VK_SUCCESS;
    if (!fails(AT_WaitSemaphores, d, &result)) {
        return real.WaitSemaphores(d, i, timeout);
    }
    if (result == VK_TIMEOUT && timeout == UINT64_MAX) {
        weft_faults.injected = false;
        return real.WaitSemaphores(d, i, timeout);
    }
    return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL WaitForFences(VkDevice d, uint32_t n, const VkFence *f,
                                                    VkBool32 all, uint64_t timeout) {
    VkResult result = VK_SUCCESS;
    if (!fails(AT_WaitForFences, d, &result)) {
        return real.WaitForFences(d, n, f, all, timeout);
    }
    if (result == VK_TIMEOUT && timeout == UINT64_MAX) {
        weft_faults.injected = false;
        return real.WaitForFences(d, n, f, all, timeout);
    }
    return result;
}

static VKAPI_ATTR void VKAPI_CALL GetPhysicalDeviceFeatures2(VkPhysicalDevice device,
                                                             VkPhysicalDeviceFeatures2 *features) {
    real.GetPhysicalDeviceFeatures2(device, features);
    for (VkBaseOutStructure *link = features->pNext; link; link = link->pNext) {
        if (weft_faults.driver == WEFT_FAULTS_FENCES &&
            link->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES) {
            ((VkPhysicalDeviceTimelineSemaphoreFeatures *)(void *)link)->timelineSemaphore =
                VK_FALSE;
        }
    }
}

/* ---- finding them ---- */

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL GetDeviceProcAddr(VkDevice device,
                                                                  const char *name);

/* The function of that name in front of `found`, which it will call; or `found`. */
static PFN_vkVoidFunction in_front(PFN_vkVoidFunction found, const char *name) {
#define HOOK(function)                                       \
    if (strcmp(name, "vk" #function) == 0) {                 \
        real.function = (PFN_vk##function)found;             \
        return !found ? NULL : (PFN_vkVoidFunction)function; \
    }
#define FIELD(function, ...) HOOK(function)
    FAILING_FUNCTIONS(FIELD)
#undef FIELD
    HOOK(DestroyInstance)
    HOOK(DestroyDevice)
    HOOK(DestroyCommandPool)
    HOOK(DestroyQueryPool)
    HOOK(DestroyBuffer)
    HOOK(DestroySemaphore)
    HOOK(DestroyFence)
    HOOK(GetPhysicalDeviceFeatures2)
    HOOK(DestroyShaderModule)
    HOOK(DestroyDescriptorSetLayout)
    HOOK(DestroyDescriptorPool)
    HOOK(DestroyPipelineLayout)
    HOOK(DestroyPipelineCache)
    HOOK(DestroyPipeline)
    HOOK(FreeMemory)
    HOOK(GetDeviceQueue)
    HOOK(GetDeviceProcAddr)
#undef HOOK
    return found;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL GetDeviceProcAddr(VkDevice device,
                                                                  const char *name) {
    return in_front(real.GetDeviceProcAddr(device, name), name);
}

/* By the linker (--wrap): what the library calls by the names without __wrap_, and what these are. */
PFN_vkVoidFunction VKAPI_CALL __real_weft_soft_get_instance_proc_addr(VkInstance instance,
                                                                      const char *name);
PFN_vkVoidFunction VKAPI_CALL __wrap_weft_soft_get_instance_proc_addr(VkInstance instance,
                                                                      const char *name);
PFN_vkGetInstanceProcAddr __real_weft_loader_open(void);
PFN_vkGetInstanceProcAddr __wrap_weft_loader_open(void);

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL weft_faults_get_instance_proc_addr(VkInstance instance,
                                                                            const char *name) {
    const PFN_vkGetInstanceProcAddr of_system =
        weft_faults.driver == WEFT_FAULTS_SYSTEM ? __real_weft_loader_open() : NULL;
    return in_front(of_system ? of_system(instance, name)
                              : __real_weft_soft_get_instance_proc_addr(instance, name),
                    name);
}

PFN_vkVoidFunction VKAPI_CALL __wrap_weft_soft_get_instance_proc_addr(VkInstance instance,
                                                                      const char *name) {
    return weft_faults_get_instance_proc_addr(instance, name);
}

PFN_vkGetInstanceProcAddr __wrap_weft_loader_open(void) {
    return weft_faults.driver == WEFT_FAULTS_PROCESSOR || weft_faults.driver == WEFT_FAULTS_FENCES
               ? NULL
               : weft_faults_get_instance_proc_addr;
}
