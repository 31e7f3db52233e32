/* SPDX-License-Identifier: MIT */
/* Shader modules, and compute pipelines: from words to a kernel, or from a cache. */
#include "softvk/pipeline.h"

#include <string.h>

#include "jobs/machine.h"
#include "softvk/cache.h"
#include "softvk/descriptor.h"
#include "softvk/device.h"
#include "spirv/check.h"

/* ---- modules ---- */

static VKAPI_ATTR VkResult VKAPI_CALL create_module(VkDevice handle,
                                                    const VkShaderModuleCreateInfo *info,
                                                    const VkAllocationCallbacks *allocator,
                                                    VkShaderModule *module) {
    (void)allocator;
    struct weft_soft_shader_module *made =
        info->codeSize > SIZE_MAX - sizeof *made
            ? NULL
            : weft_soft_new(weft_soft_device_of(handle), sizeof *made + info->codeSize);
    if (!made) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    made->size = info->codeSize;
    memcpy(made->words, info->pCode, info->codeSize);
    *module = WEFT_SOFT_HANDLE(VkShaderModule, made);
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL destroy_module(VkDevice handle, VkShaderModule module,
                                                 const VkAllocationCallbacks *allocator) {
    (void)allocator;
    weft_soft_delete(weft_soft_device_of(handle), weft_soft_shader_module_of(module));
}

/* ---- pipelines around kernels ---- */

static bool find_place(struct weft_soft_place *place,
                       const struct weft_soft_pipeline_layout *layout,
                       const struct weft_soft_binding *wanted) {
    if (wanted->set >= layout->set_count) {
        return false;
    }
    const struct weft_soft_layout_binding *binding =
        weft_soft_find_binding(layout->sets[wanted->set], wanted->binding);
    if (!binding || binding->count == 0) {
        return false;
    }
    *place = (struct weft_soft_place){
        .set = wanted->set, .slot = binding->first, .offset = binding->first_offset};
    return binding->first_offset == WEFT_SOFT_NOT_DYNAMIC ||
           binding->first_offset < WEFT_SOFT_MAX_BINDINGS;
}

/* Uses of a kernel unless its back end finds fewer: all bindings and push constants of the layout. */
static void list_all(struct weft_soft_kernel *kernel,
                     const struct weft_soft_pipeline_layout *layout) {
    *kernel = (struct weft_soft_kernel){.push_size = layout->push_size};
    for (uint32_t set = 0; set < layout->set_count; set++) {
        const struct weft_soft_set_layout *bindings = layout->sets[set];
        for (uint32_t i = 0; i < bindings->binding_count; i++) {
            if (bindings->bindings[i].count > 0 && kernel->binding_count < WEFT_SOFT_MAX_BINDINGS) {
                kernel->bindings[kernel->binding_count++] =
                    (struct weft_soft_binding){.set = set, .binding = bindings->bindings[i].number};
            }
        }
    }
}

VkResult weft_soft_pipeline_wrap(VkPipeline *pipeline, VkDevice handle, VkPipelineLayout layout,
                                 const struct weft_soft_kernel *kernel) {
    const struct weft_soft_device *device = weft_soft_device_of(handle);
    struct weft_soft_pipeline made = {.kernel = *kernel};
    bool fits =
        kernel->push_size <= WEFT_SOFT_MAX_PUSH && kernel->binding_count <= WEFT_SOFT_MAX_BINDINGS;
    for (uint32_t i = 0; fits && i < kernel->binding_count; i++) {
        fits =
            find_place(&made.places[i], weft_soft_pipeline_layout_of(layout), &kernel->bindings[i]);
    }
    if (!fits) {
        weft_log(&device->host, WEFT_LOG_ERROR,
                 "the pipeline's layout lacks a binding of its module, or the module has more than "
                 "%u bytes of push constants",
                 WEFT_SOFT_MAX_PUSH);
        return VK_ERROR_INVALID_SHADER_NV;
    }
    struct weft_soft_pipeline *kept = weft_soft_new(device, sizeof *kept);
    if (!kept) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    *kept = made;
    *pipeline = WEFT_SOFT_HANDLE(VkPipeline, kept);
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL destroy_pipeline(VkDevice handle, VkPipeline pipeline,
                                                   const VkAllocationCallbacks *allocator) {
    (void)allocator;
    const struct weft_soft_device *device = weft_soft_device_of(handle);
    struct weft_soft_pipeline *old = weft_soft_pipeline_of(pipeline);
    if (old) {
        device->backend->unload(&old->kernel, device->state);
    }
    weft_soft_delete(device, old);
}

/* ---- compiling ---- */

static VkResult result_of(weft_status status) {
    switch (status) {
    case WEFT_OK:
        return VK_SUCCESS;
    case WEFT_OUT_OF_HOST_MEMORY:
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    case WEFT_UNSUPPORTED:
        /* Not among those that Vulkan lists for this call, but it says what is the matter. */
        return VK_ERROR_FEATURE_NOT_PRESENT;
    case WEFT_COMPILE_ERROR:
        return VK_ERROR_INVALID_SHADER_NV;
    default:
        return VK_ERROR_UNKNOWN;
    }
}

/* A structure in the stage's chain goes before one in the pipeline's. */
static bool wants_checks(const struct weft_soft_device *device,
                         const VkComputePipelineCreateInfo *info) {
#ifdef VK_EXT_pipeline_robustness
    const VkStructureType type = VK_STRUCTURE_TYPE_PIPELINE_ROBUSTNESS_CREATE_INFO_EXT;
    const VkPipelineRobustnessCreateInfoEXT *wish =
        weft_soft_find_structure(info->stage.pNext, type);
    wish = wish ? wish : weft_soft_find_structure(info->pNext, type);
    if (wish && wish->storageBuffers != VK_PIPELINE_ROBUSTNESS_BUFFER_BEHAVIOR_DEVICE_DEFAULT_EXT) {
        return wish->storageBuffers != VK_PIPELINE_ROBUSTNESS_BUFFER_BEHAVIOR_DISABLED_EXT;
    }
#else
    (void)info;
#endif
    return device->checked;
}

/* A pipeline while it is made. */
struct build {
    const VkComputePipelineCreateInfo *info;
    struct weft_soft_source source;
    weft_digest key;
    struct weft_soft_kernel kernel;
    bool found;                     /* in the cache */
    bool loaded;                    /* `kernel` is there */
    struct weft_soft_object object; /* compiled ahead, in memory of the C library; or empty */
    uint64_t ns;                    /* that it took */
};

static void begin(struct build *build, const struct weft_soft_device *device,
                  struct weft_soft_cache *cache, const VkComputePipelineCreateInfo *info) {
    const struct weft_soft_shader_module *module = weft_soft_shader_module_of(info->stage.module);
    const uint64_t start = weft_clock_ns();
    build->info = info;
    build->source = (struct weft_soft_source){.words = module->words,
                                              .size = module->size,
                                              .entry_point = info->stage.pName,
                                              .constants = info->stage.pSpecializationInfo,
                                              .checked = wants_checks(device, info)};
    list_all(&build->kernel, weft_soft_pipeline_layout_of(info->layout));
    if (cache) {
        build->key = weft_soft_cache_key(device, &build->source);
        build->found = weft_soft_cache_load(&build->kernel, cache, &build->key, device);
    }
    build->loaded = build->found;
    build->ns = weft_clock_ns() - start;
}

static weft_status compile(struct weft_soft_object *object, const struct weft_soft_device *device,
                           const struct weft_soft_source *source, const weft_host *host) {
    /* Weft has looked already, but a program that comes through a loader may not. */
    const weft_status status = weft_spirv_check(source->words, source->size, host);
    return status == WEFT_OK ? device->backend->compile(object, source, device->state, host)
                             : status;
}

/* Compiles, or takes what was compiled ahead, and keeps the object in the cache, if there is one. */
static weft_status make_kernel(struct build *build, struct weft_soft_cache *cache,
                               const struct weft_soft_device *device) {
    const weft_host *host = &device->host;
    struct weft_soft_object object = {.size = build->object.size};
    weft_status status = WEFT_OK;
    if (build->object.bytes) {
        object.bytes = weft_alloc(host, object.size);
        if (!object.bytes) {
            return weft_fail_memory(host, "a kernel's object");
        }
        memcpy(object.bytes, build->object.bytes, object.size);
    } else {
        status = compile(&object, device, &build->source, host);
    }
    if (status == WEFT_OK) {
        list_all(&build->kernel, weft_soft_pipeline_layout_of(build->info->layout));
        status =
            device->backend->load(&build->kernel, object.bytes, object.size, device->state, host);
        build->loaded = status == WEFT_OK;
    }
    if (status == WEFT_OK && cache) {
        weft_soft_cache_put(cache, &build->key, &object, host);
    }
    weft_free(host, object.bytes);
    return status;
}

static void drop_kernel(struct build *build, const struct weft_soft_device *device) {
    if (build->loaded) {
        device->backend->unload(&build->kernel, device->state);
        build->loaded = false;
    }
}

static VkResult finish(VkPipeline *pipeline, struct build *build, struct weft_soft_device *device,
                       struct weft_soft_cache *cache) {
    const uint64_t start = weft_clock_ns();
    VkResult result = VK_SUCCESS;
    if (!build->loaded) {
        result = result_of(make_kernel(build, cache, device));
    }
    if (result == VK_SUCCESS) {
        result = weft_soft_pipeline_wrap(pipeline, WEFT_SOFT_HANDLE(VkDevice, device),
                                         build->info->layout, &build->kernel);
    }
    if (result == VK_SUCCESS) {
        weft_soft_pipeline_of(*pipeline)->given = build->source.checked;
    } else {
        drop_kernel(build, device);
    }
    build->ns += weft_clock_ns() - start;
    return result;
}

static void tell(const VkComputePipelineCreateInfo *info, bool found, uint64_t nanoseconds) {
    const VkPipelineCreationFeedbackCreateInfoEXT *asked = weft_soft_find_structure(
        info->pNext, VK_STRUCTURE_TYPE_PIPELINE_CREATION_FEEDBACK_CREATE_INFO_EXT);
    if (!asked) {
        return;
    }
    const VkPipelineCreationFeedbackFlagsEXT hit =
        found ? VK_PIPELINE_CREATION_FEEDBACK_APPLICATION_PIPELINE_CACHE_HIT_BIT_EXT : 0;
    const VkPipelineCreationFeedbackEXT feedback = {
        .flags = VK_PIPELINE_CREATION_FEEDBACK_VALID_BIT_EXT | hit, .duration = nanoseconds};
    *asked->pPipelineCreationFeedback = feedback;
    for (uint32_t i = 0; i < asked->pipelineStageCreationFeedbackCount; i++) {
        asked->pPipelineStageCreationFeedbacks[i] = feedback;
    }
}

static VkResult create_one(VkPipeline *pipeline, struct weft_soft_device *device,
                           struct weft_soft_cache *cache, const VkComputePipelineCreateInfo *info) {
    struct build build = {0};
    begin(&build, device, cache, info);
    const VkResult result = finish(pipeline, &build, device, cache);
    tell(info, build.found, build.ns);
    return result;
}

/* ---- several at once ---- */

struct batch {
    const struct weft_soft_device *device;
    struct build *builds;
    uint32_t count;
    atomic_uint next; /* that nobody has taken */
};

/*
 * The calling thread compiles failed kernels once more: it has the host, whose log and allocator are only for threads
 * that make calls.
 */
static void compile_some(void *job, uint32_t slot) {
    WEFT_ENTER; /* on whatever thread of the program's */
    struct batch *batch = job;
    (void)slot;
    for (uint32_t i = atomic_fetch_add(&batch->next, 1); i < batch->count;
         i = atomic_fetch_add(&batch->next, 1)) {
        struct build *build = &batch->builds[i];
        const uint64_t start = weft_clock_ns();
        if (!build->loaded) {
            (void)compile(&build->object, batch->device, &build->source, NULL);
        }
        build->ns += weft_clock_ns() - start;
    }
}

static void compile_ahead(struct build *builds, uint32_t count, struct weft_soft_device *device) {
    uint32_t missing = 0;
    for (uint32_t i = 0; i < count; i++) {
        missing += !builds[i].loaded;
    }
    struct batch batch = {.device = device, .builds = builds, .count = count};
    const uint32_t slots = missing < device->jobs.concurrency ? missing : device->jobs.concurrency;
    if (slots > 1 && weft_soft_take_jobs(device)) {
        device->jobs.run(device->jobs.user, compile_some, &batch, slots);
        weft_soft_give_jobs(device);
    }
}

static VkResult create_several(VkPipeline *pipelines, struct weft_soft_device *device,
                               struct weft_soft_cache *cache, uint32_t count,
                               const VkComputePipelineCreateInfo *infos) {
    struct build *builds = weft_alloc_zero(&device->host, count, sizeof *builds);
    if (!builds) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    VkResult first = VK_SUCCESS;
    for (uint32_t i = 0; i < count; i++) {
        begin(&builds[i], device, cache, &infos[i]);
    }
    compile_ahead(builds, count, device);
    for (uint32_t i = 0; i < count && first != VK_ERROR_OUT_OF_HOST_MEMORY; i++) {
        const VkResult result = finish(&pipelines[i], &builds[i], device, cache);
        tell(&infos[i], builds[i].found, builds[i].ns);
        first = first == VK_SUCCESS ? result : first;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!pipelines[i]) {
            drop_kernel(&builds[i], device);
        }
        weft_free(NULL, builds[i].object.bytes);
    }
    weft_soft_delete(device, builds);
    return first;
}

static VKAPI_ATTR VkResult VKAPI_CALL create_pipelines(VkDevice handle,
                                                       VkPipelineCache cache_handle, uint32_t count,
                                                       const VkComputePipelineCreateInfo *infos,
                                                       const VkAllocationCallbacks *allocator,
                                                       VkPipeline *pipelines) {
    (void)allocator;
    struct weft_soft_device *device = weft_soft_device_of(handle);
    struct weft_soft_cache *cache = weft_soft_cache_of(cache_handle);
    memset(pipelines, 0, count * sizeof *pipelines);
    atomic_fetch_add(&device->busy, 1);
    const VkResult result = count == 1 ? create_one(pipelines, device, cache, infos)
                                       : create_several(pipelines, device, cache, count, infos);
    atomic_fetch_sub(&device->busy, 1);
    return result;
}

const struct weft_soft_function weft_soft_pipeline_functions[] = {
    WEFT_SOFT_FUNCTION(CreateShaderModule, create_module),
    WEFT_SOFT_FUNCTION(DestroyShaderModule, destroy_module),
    WEFT_SOFT_FUNCTION(CreateComputePipelines, create_pipelines),
    WEFT_SOFT_FUNCTION(DestroyPipeline, destroy_pipeline),
    {NULL, NULL},
};
