/* SPDX-License-Identifier: MIT */
#include "shader/pipeline.h"

#include <stdio.h>
#include <string.h>

#include "core/rules.h"
#include "core/try.h"
#include "core/vendor.h"
#include "device/cooperative.h"
#include "device/debug_label.h"
#include "device/robustness.h"
#include "shader/capabilities.h"
#include "shader/embedded.h"

#define CALL_TEXT_SIZE 256

static const char *name_of(const struct weft_pipeline_desc *desc) {
    return desc->name ? desc->name : "(unnamed)";
}

static weft_status check_desc(const struct weft_pipeline_desc *desc, const weft_host *host) {
    if (desc->binding_count > WEFT_MAX_BINDINGS || desc->push_size > WEFT_MAX_PUSH_BYTES ||
        desc->push_size % 4 != 0 || desc->specialization_count > WEFT_MAX_SPECIALIZATION) {
        return weft_fail(host, WEFT_INVALID_ARGUMENT,
                         "pipeline %s: %u bindings, %u bytes of push constants and %u "
                         "specialization constants, expected at most %d, %d (a multiple of 4) and "
                         "%d",
                         name_of(desc), desc->binding_count, desc->push_size,
                         desc->specialization_count, WEFT_MAX_BINDINGS, WEFT_MAX_PUSH_BYTES,
                         WEFT_MAX_SPECIALIZATION);
    }
    return WEFT_OK;
}

/* A module before its passes. */
struct source {
    struct weft_spirv spirv;
    bool as_is; /* in fast mode the driver gets it so */
    bool fused; /* multiply-adds are one operation, however the driver has it in fast mode */
};

/*
 * A fast kernel that is not there, or that the device cannot run, is replaced by the reproducible one, which needs its passes also in fast
 * mode: its functions are made of sums that are exact.
 */
static weft_status find_source(struct source *source, const weft_device *device,
                               const struct weft_pipeline_desc *desc) {
    const bool fast = device->math == WEFT_MATH_FAST;
    *source = (struct source){.spirv = desc->spirv, .as_is = fast};
    source->fused = device->math == WEFT_MATH_FUSED;
    if (desc->spirv.words) {
        return WEFT_OK;
    }
    const struct weft_shader *shader = desc->name ? weft_shader_find(desc->name) : NULL;
    if (!shader) {
        return weft_fail(&device->host, WEFT_NOT_FOUND, "no embedded shader is called %s",
                         name_of(desc));
    }
    source->as_is = fast && !shader->one_module &&
                    weft_spirv_runs_on(shader->fast.words, shader->fast.size, &device->info, false);
    source->fused = source->fused || (fast && shader->one_module);
    source->spirv = source->as_is ? shader->fast : shader->reproducible;
    return WEFT_OK;
}

/* Everything but the module that tells one pipeline from another. */
static void hash_shape(weft_sha256 *hash, const struct weft_pipeline_desc *desc) {
    const uint32_t numbers[] = {desc->binding_count, desc->push_size, desc->specialization_count,
                                desc->checked, desc->subgroup};
    weft_sha256_add(hash, numbers, sizeof numbers);
    weft_sha256_add(hash, desc->specialization,
                    desc->specialization_count * sizeof desc->specialization[0]);
}

/*
 * Identifies a description within one device. An embedded shader is known by its name, so that
 * asking for a pipeline again costs neither the pass nor a hash over the module.
 */
static weft_digest description_key(const weft_device *device,
                                   const struct weft_pipeline_desc *desc) {
    weft_sha256 hash;
    weft_sha256_begin(&hash);
    const uint8_t needs[] = {device->keeps_subnormals,
                             device->keeps_small_products,
                             device->loses_small_products,
                             device->folds_zeros,
                             device->careful,
                             (uint8_t)device->info.fma};
    weft_sha256_add(&hash, needs, sizeof needs);
    const uint8_t given = desc->spirv.words != NULL;
    weft_sha256_add(&hash, &given, 1);
    if (given) {
        weft_digest module = weft_digest_of(desc->spirv.words, desc->spirv.size);
        weft_sha256_add(&hash, module.bytes, sizeof module.bytes);
    } else if (desc->name) {
        weft_sha256_add(&hash, desc->name, strlen(desc->name) + 1);
    }
    hash_shape(&hash, desc);
    return weft_sha256_end(&hash);
}

/* Identifies a pipeline between runs: by the words that the driver gets. */
static weft_digest manifest_key(const struct weft_spirv_module *module,
                                const struct weft_pipeline_desc *desc) {
    weft_sha256 hash;
    weft_sha256_begin(&hash);
    weft_digest words = weft_digest_of(module->words, module->count * sizeof *module->words);
    weft_sha256_add(&hash, words.bytes, sizeof words.bytes);
    hash_shape(&hash, desc);
    return weft_sha256_end(&hash);
}

void weft_pipeline_suit_compiler(struct weft_spirv_needs *needs, const weft_device_info *info) {
    needs->short_blocks =
        !weft_vendor_has_over_64_registers(info->vendor_id) || !weft_rule_holds("whole-blocks");
    needs->unequal_branches =
        info->vendor_id == WEFT_VENDOR_BROADCOM || !weft_rule_holds("equal-branches");
}

/* An Fma is one operation. The rule "fused" split would be that of reproducible math, in which it is two. */
static void add_fused(struct weft_spirv_needs *needs, const weft_device *device) {
    const weft_fma fma = device->info.fma;
    needs->fused = weft_rule_holds("fused");
    if (needs->fused && device->math == WEFT_MATH_FUSED && weft_rule_holds("exact-fma")) {
        needs->fma_by_extension = fma == WEFT_FMA_EXTENSION;
        needs->fma_by_float64 = fma == WEFT_FMA_FLOAT64;
        needs->fma_by_integers = fma == WEFT_FMA_INTEGERS;
    }
}

/*
 * Passes that reproducible math and this device need, and the lint that leaves the driver no choice; for a module that
 * the driver gets as it is, passes that suit the compiler.
 */
static struct weft_spirv_needs needs_of(const weft_device *device, const struct source *source,
                                        bool given) {
    struct weft_spirv_needs needs = {0};
    if (!source->as_is) {
        needs = (struct weft_spirv_needs){
            .one_nan = given,
            .no_contraction = weft_rule_holds("no-contraction"),
            .hidden_zeros = device->folds_zeros,
            .flushes = device->keeps_subnormals || device->keeps_small_products,
            .only_products = !device->keeps_subnormals,
            .loses_small_products = device->loses_small_products,
            .float_modes = weft_rule_holds("float-modes") ? device->float_modes : 0,
            .lint = weft_rule_holds("lint")};
    }
    if (source->fused) {
        add_fused(&needs, device);
    }
    needs.plain_dots = !device->integer_dots;
    weft_pipeline_suit_compiler(&needs, &device->info);
    return needs;
}

weft_status weft_pipeline_module(struct weft_spirv_edit *made, const weft_device *device,
                                 const struct weft_pipeline_desc *desc, bool portable) {
    const weft_host *host = &device->host;
    struct source source;
    WEFT_TRY(find_source(&source, device, desc));
    const bool given = desc->spirv.words != NULL; /* not one of Weft's kernels */
    const struct weft_spirv_needs needs =
        portable ? (struct weft_spirv_needs){.one_nan = given,
                                             .no_contraction = 1,
                                             .fused = device->math == WEFT_MATH_FUSED}
                 : needs_of(device, &source, given);
    weft_status status =
        weft_spirv_rewrite(made, source.spirv.words, source.spirv.size, &needs, host);
    if (status != WEFT_OK) {
        return weft_fail(host, status, "pipeline %s: its module cannot be used", name_of(desc));
    }
    if (weft_spirv_find_compute(&made->module, "main") == 0) {
        status = weft_fail(host, WEFT_COMPILE_ERROR,
                           "pipeline %s: its module has no compute entry point called main",
                           name_of(desc));
        weft_spirv_edit_free(made);
    }
    return status;
}

static weft_status check_local_size(const weft_device *device,
                                    const struct weft_pipeline_desc *desc,
                                    const struct weft_spirv_module *module) {
    uint32_t size[3];
    weft_spirv_local_size(size, module, desc->specialization, desc->specialization_count);
    const uint32_t *most = device->limits.maxComputeWorkGroupSize;
    uint32_t invocations = device->limits.maxComputeWorkGroupInvocations;
    bool fits = size[0] <= most[0] && size[1] <= most[1] && size[2] <= most[2];
    /* Each factor fits a device's limit by now, which are far below 2^21. */
    fits = fits && (uint64_t)size[0] * size[1] <= invocations &&
           (uint64_t)size[0] * size[1] * size[2] <= invocations;
    if (fits) {
        return WEFT_OK;
    }
    return weft_fail(&device->host, WEFT_UNSUPPORTED,
                     "pipeline %s: local size %u x %u x %u; the device has at most %u x %u x %u "
                     "and %u invocations",
                     name_of(desc), size[0], size[1], size[2], most[0], most[1], most[2],
                     invocations);
}

static weft_status check_limits(const weft_device *device, const struct weft_pipeline_desc *desc,
                                const struct weft_spirv_module *module) {
    const VkPhysicalDeviceLimits *limits = &device->limits;
    uint32_t bindings = limits->maxPerStageDescriptorStorageBuffers;
    if (bindings > limits->maxDescriptorSetStorageBuffers) {
        bindings = limits->maxDescriptorSetStorageBuffers;
    }
    if (bindings > limits->maxPerStageResources) {
        bindings = limits->maxPerStageResources;
    }
    if (desc->binding_count > bindings) {
        return weft_fail(&device->host, WEFT_UNSUPPORTED,
                         "pipeline %s: %u storage buffers; the device binds at most %u",
                         name_of(desc), desc->binding_count, bindings);
    }
    if (desc->spirv.words &&
        !weft_spirv_runs_on(module->words, 4 * module->count, &device->info, true)) {
        return weft_fail(&device->host, WEFT_UNSUPPORTED,
                         "pipeline %s: the device lacks what its module declares: f16, arithmetic "
                         "over subgroups or cooperative matrices",
                         name_of(desc));
    }
    return check_local_size(device, desc, module);
}

static weft_status create_module(VkShaderModule *module, weft_device *device, const char *name,
                                 const struct weft_spirv_module *spirv) {
    const VkShaderModuleCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                           .codeSize = spirv->count * sizeof *spirv->words,
                                           .pCode = spirv->words};
    char call[CALL_TEXT_SIZE];
    snprintf(call, sizeof call, "vkCreateShaderModule of %s", name);
    return weft_device_made(device,
                            device->vk.CreateShaderModule(device->vk.handle, &info, NULL, module),
                            call, module, sizeof *module);
}

/* Logs the driver's feedback on a pipeline's creation; flags are 0 if there is none. */
static void log_feedback(const weft_device *device, const char *name,
                         const VkPipelineCreationFeedbackEXT *feedback, bool in_manifest) {
    if ((feedback->flags & VK_PIPELINE_CREATION_FEEDBACK_VALID_BIT_EXT) == 0) {
        return;
    }
    bool hit = (feedback->flags &
                VK_PIPELINE_CREATION_FEEDBACK_APPLICATION_PIPELINE_CACHE_HIT_BIT_EXT) != 0;
    if (hit != in_manifest) {
        weft_log(&device->host, WEFT_LOG_DEBUG,
                 "pipeline %s: the cache on disk %s it, but the driver %s it in %.2f ms", name,
                 in_manifest ? "lists" : "does not list", hit ? "found" : "compiled",
                 (double)feedback->duration * 1e-6);
    }
}

/* A pipeline while it is made, with what the driver is told of it. */
struct build {
    const struct weft_pipeline_desc *desc;
    weft_digest key;             /* of the description */
    struct weft_pipeline *made;  /* in the store's memory, without a handle yet */
    struct weft_spirv_edit code; /* what the driver gets */
    VkShaderModule shader;
    VkSpecializationMapEntry entries[WEFT_MAX_SPECIALIZATION];
    VkSpecializationInfo specialization;
    VkPipelineCreationFeedbackEXT feedback, stage_feedback;
    VkPipelineCreationFeedbackCreateInfoEXT ask;
    struct weft_subgroup_request subgroup;
};

/* Flags that make the driver keep data for weft_plan_get_executable. */
static VkPipelineCreateFlags kept_flags(const weft_device *device) {
    return device->executables ? VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR |
                                     VK_PIPELINE_CREATE_CAPTURE_INTERNAL_REPRESENTATIONS_BIT_KHR
                               : 0;
}

static VkComputePipelineCreateInfo describe(struct build *build, const weft_device *device) {
    const struct weft_pipeline_desc *desc = build->desc;
    const void *checks = desc->checked && device->robustness ? weft_robustness_request() : NULL;
    for (uint32_t i = 0; i < desc->specialization_count; i++) {
        build->entries[i] = (VkSpecializationMapEntry){
            .constantID = i, .offset = 4 * i, .size = sizeof desc->specialization[i]};
    }
    build->specialization =
        (VkSpecializationInfo){.mapEntryCount = desc->specialization_count,
                               .pMapEntries = build->entries,
                               .dataSize = (size_t)4 * desc->specialization_count,
                               .pData = desc->specialization};
    build->ask = (VkPipelineCreationFeedbackCreateInfoEXT){
        .sType = VK_STRUCTURE_TYPE_PIPELINE_CREATION_FEEDBACK_CREATE_INFO_EXT,
        .pNext = checks,
        .pPipelineCreationFeedback = &build->feedback,
        .pipelineStageCreationFeedbackCount = 1,
        .pPipelineStageCreationFeedbacks = &build->stage_feedback};
    VkPipelineShaderStageCreateInfo stage = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
        .stage = VK_SHADER_STAGE_COMPUTE_BIT,
        .module = build->shader,
        .pName = "main",
        .pSpecializationInfo = &build->specialization};
    if (desc->subgroup != 0) {
        weft_subgroup_size_require(&stage, &build->subgroup, desc->subgroup, &device->info);
    }
    return (VkComputePipelineCreateInfo){
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .pNext = device->info.has_pipeline_feedback ? &build->ask : checks,
        .flags = VK_PIPELINE_CREATE_DISPATCH_BASE_BIT | kept_flags(device),
        .stage = stage,
        .layout = build->made->layout,
        .basePipelineIndex = -1};
}

/* Counts a pipeline that was just made, and notes that the cache holds it now. */
static void note_created(weft_device *device, const struct build *build) {
    struct weft_pipeline_store *store = device->pipelines;
    const weft_digest key = manifest_key(&build->code.module, build->desc);
    bool in_manifest = weft_digest_map_find(&store->manifest, &key) != NULL;
    log_feedback(device, name_of(build->desc), &build->feedback, in_manifest);
    device->stats.pipelines_created++;
    if (!in_manifest) {
        device->stats.pipelines_compiled++;
        weft_digest_map_put(&store->manifest, &key, NULL);
        store->dirty = true;
    }
}

/* ---- making them ---- */

static weft_status begin(struct build *build, weft_device *device) {
    const struct weft_pipeline_desc *desc = build->desc;
    WEFT_TRY(weft_pipeline_module(&build->code, device, desc, false));
    build->made = weft_alloc_zero(&device->host, 1, sizeof *build->made);
    if (!build->made) {
        return weft_fail_memory(&device->host, "pipeline");
    }
    build->made->binding_count = desc->binding_count;
    build->made->push_size = desc->push_size;
    WEFT_TRY(check_limits(device, desc, &build->code.module));
    WEFT_TRY(weft_pipeline_layout_get(&build->made->layout, &build->made->set_layout, device,
                                      desc->binding_count, desc->push_size));
    return create_module(&build->shader, device, name_of(desc), &build->code.module);
}

/* A build whose pipeline is not in the store by now is gone. */
static void end(struct build *build, weft_device *device) {
    if (build->shader != VK_NULL_HANDLE) {
        device->vk.DestroyShaderModule(device->vk.handle, build->shader, NULL);
    }
    weft_spirv_edit_free(&build->code);
    weft_free(&device->host, build->made);
}

/* Room first: a pipeline that exists must not get lost for want of a slot. */
static weft_status reserve(weft_device *device, uint32_t count) {
    struct weft_pipeline_store *store = device->pipelines;
    pthread_mutex_lock(&device->locks.pipelines);
    const uint32_t promised = store->promised + count;
    const bool room = weft_digest_map_reserve(&store->pipelines, promised, &device->host) &&
                      weft_digest_map_reserve(&store->manifest, promised, &device->host);
    store->promised += room ? count : 0;
    pthread_mutex_unlock(&device->locks.pipelines);
    return room ? WEFT_OK : weft_fail_memory(&device->host, "pipeline store");
}

static void unreserve(weft_device *device, uint32_t count) {
    pthread_mutex_lock(&device->locks.pipelines);
    device->pipelines->promised -= count;
    pthread_mutex_unlock(&device->locks.pipelines);
}

/* Into the store, unless another thread has made the same meanwhile: then this one goes. */
static void keep(struct build *build, weft_device *device, VkPipeline handle) {
    struct weft_pipeline_store *store = device->pipelines;
    pthread_mutex_lock(&device->locks.pipelines);
    const bool late = weft_digest_map_find(&store->pipelines, &build->key) != NULL;
    if (!late) {
        build->made->handle = handle;
        weft_digest_map_put(&store->pipelines, &build->key, build->made);
        build->made = NULL;
        note_created(device, build);
    }
    pthread_mutex_unlock(&device->locks.pipelines);
    if (late) {
        device->vk.DestroyPipeline(device->vk.handle, handle, NULL);
    }
}

/* Stores the pipelines that the driver made, even if others failed. */
static weft_status create_handles(struct build *builds, uint32_t count, weft_device *device,
                                  VkPipeline *handles, VkComputePipelineCreateInfo *infos) {
    for (uint32_t i = 0; i < count; i++) {
        infos[i] = describe(&builds[i], device);
    }
    const VkResult result = device->vk.CreateComputePipelines(
        device->vk.handle, device->pipelines->cache, count, infos, NULL, handles);
    const char *failed = NULL;
    for (uint32_t i = 0; i < count; i++) {
        if (handles[i] == VK_NULL_HANDLE) {
            failed = failed ? failed : name_of(builds[i].desc);
            continue;
        }
        /* Named before other threads can find it. */
        weft_debug_name(device, VK_OBJECT_TYPE_PIPELINE, (uint64_t)handles[i],
                        name_of(builds[i].desc));
        keep(&builds[i], device, handles[i]);
    }
    char call[CALL_TEXT_SIZE];
    snprintf(call, sizeof call, "vkCreateComputePipelines of %s", failed ? failed : "(none)");
    return weft_device_check(device, result, call);
}

static weft_status create(struct build *builds, uint32_t count, weft_device *device) {
    const weft_host *host = &device->host;
    VkPipeline *handles = weft_alloc_zero(host, count, sizeof *handles);
    VkComputePipelineCreateInfo *infos = weft_alloc_zero(host, count, sizeof *infos);
    weft_status status =
        handles && infos ? reserve(device, count) : weft_fail_memory(host, "pipelines");
    const bool reserved = status == WEFT_OK;
    for (uint32_t i = 0; i < count && status == WEFT_OK; i++) {
        status = begin(&builds[i], device);
    }
    if (status == WEFT_OK) {
        status = create_handles(builds, count, device, handles, infos);
    }
    for (uint32_t i = 0; i < count; i++) {
        end(&builds[i], device);
    }
    if (reserved) {
        unreserve(device, count);
    }
    weft_free(host, infos);
    weft_free(host, handles);
    return status;
}

static bool find(struct weft_pipeline_request *request, weft_device *device,
                 const weft_digest *key) {
    pthread_mutex_lock(&device->locks.pipelines);
    const struct weft_digest_slot *slot = weft_digest_map_find(&device->pipelines->pipelines, key);
    request->pipeline = slot ? slot->value : NULL;
    pthread_mutex_unlock(&device->locks.pipelines);
    return request->pipeline != NULL;
}

/*
 * Collects up to `most` requests from *next on that are not in the store, each once; moves *next past those that it
 * read.
 */
static uint32_t collect(struct build *builds, uint32_t most, uint32_t *next,
                        struct weft_pipeline_request *requests, uint32_t count,
                        weft_device *device) {
    uint32_t found = 0;
    for (; *next < count && found < most; (*next)++) {
        struct weft_pipeline_request *request = &requests[*next];
        const weft_digest key = description_key(device, request->desc);
        bool known = find(request, device, &key);
        for (uint32_t k = 0; k < found && !known; k++) {
            known = memcmp(&builds[k].key, &key, sizeof key) == 0;
        }
        if (!known) {
            builds[found++] = (struct build){.desc = request->desc, .key = key};
        }
    }
    return found;
}

/*
 * Number of pipelines for one call: if the host may cancel in between, at most twice as many as are compiled in
 * parallel.
 */
static uint32_t at_once(const weft_device *device) {
    enum { MOST = 64 };
    const uint32_t threads = device->info.threads > 1 ? device->info.threads : 1;
    return device->host.interrupted && 2 * threads < MOST ? 2 * threads : MOST;
}

static weft_status create_missing(struct weft_pipeline_request *requests, uint32_t count,
                                  weft_device *device) {
    const uint32_t limit = at_once(device);
    const uint32_t most = count < limit ? count : limit;
    struct build *builds = weft_alloc_zero(&device->host, most, sizeof *builds);
    if (!builds) {
        return weft_fail_memory(&device->host, "pipelines");
    }
    weft_status status = WEFT_OK;
    for (uint32_t next = 0; next < count && status == WEFT_OK;) {
        const uint32_t missing = collect(builds, most, &next, requests, count, device);
        status = weft_interrupted(&device->host);
        if (status == WEFT_OK && missing > 0) {
            status = create(builds, missing, device);
        }
    }
    weft_free(&device->host, builds);
    return status;
}

static void find_all(struct weft_pipeline_request *requests, uint32_t count, weft_device *device) {
    for (uint32_t i = 0; i < count; i++) {
        if (!requests[i].pipeline) {
            const weft_digest key = description_key(device, requests[i].desc);
            (void)find(&requests[i], device, &key);
        }
    }
}

weft_status weft_pipeline_get_all(struct weft_pipeline_request *requests, uint32_t count,
                                  weft_device *device) {
    WEFT_TRY(weft_device_alive(device));
    for (uint32_t i = 0; i < count; i++) {
        WEFT_TRY(check_desc(requests[i].desc, &device->host));
    }
    if (count > 0) {
        WEFT_TRY(create_missing(requests, count, device));
        find_all(requests, count, device);
    }
    return WEFT_OK;
}

weft_status weft_pipeline_get(const struct weft_pipeline **pipeline, weft_device *device,
                              const struct weft_pipeline_desc *desc) {
    struct weft_pipeline_request request = {.desc = desc};
    WEFT_TRY(weft_pipeline_get_all(&request, 1, device));
    *pipeline = request.pipeline;
    return WEFT_OK;
}
