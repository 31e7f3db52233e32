/* SPDX-License-Identifier: MIT */
/*
 * weft-compile PIPELINES OUT [--check] [--apart] [--taken] [--jobs N] [--seconds N]: hands the pipelines that weft-pipelines wrote to the compiler of the first
 * Vulkan device, which needs no hardware (RADV without a GPU, drivers on a shim): nothing is submitted. Each is compiled in a process of its
 * own, N at once, which is given up after so many seconds of processor time. For each, what VK_KHR_pipeline_executable_properties
 * tells: numbers, and whether the device would take the kernel (taken.h), as a line of OUT/pipelines.jsonl, whose first line names the
 * device, and machine code, as OUT/NAME.REPRESENTATION.txt. Modules of reproducible math first get what Weft adds for the device (shader/pipeline.c). --check
 * fails where machine code breaks reproducible or fused math (rules.h). --apart fails where an Fma of fused math is none in machine code
 * (multiply_adds.h), and is of no use for anything else: the code is another then. --taken leaves out what the device would not take.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "apart.h"
#include "cli/pipelines.h"
#include "core/formats/json.h"
#include "core/math/float_modes.h"
#include "core/system/file.h"
#include "core/try.h"
#include "device/cooperative.h"
#include "device/executable.h"
#include "device/instance.h"
#include "device/physical.h"
#include "device/result.h"
#include "device/shader_fma.h"
#include "modes.h"
#include "multiply_adds.h"
#include "plan/executable.h"
#include "rules.h"
#include "shader/pipeline.h"
#include "shader/probe_fma.h"
#include "source.h"
#include "spirv/passes/passes.h"
#include "taken.h"

struct compiler {
    const char *from, *to;
    struct weft_vk_instance instance;
    struct weft_vk_device vk;
    struct weft_physical physical;
    const struct weft_isa *isa; /* null: nothing is checked */
    weft_fma fma;               /* as a device that can only compile is taken to have it */
    bool taken;                 /* only what the device would take */
    bool apart;                 /* products from sums, to see which Fma is none */
    uint32_t jobs, seconds;
    struct dirent **files; /* of interfaces */
    FILE *out;
    uint32_t broken, in_other_modes, of_untold_modes, late, failed;
    uint64_t fused, split; /* multiply-adds, in all code */
};

static void print_log(void *user, weft_log_level level, const char *message) {
    (void)user;
    if (level <= WEFT_LOG_WARNING) {
        fprintf(stderr, "weft-compile: %s\n", message);
    }
}

static const weft_host host = {.log = print_log};

/* ---- the device ---- */

static weft_status create_device(struct compiler *c) {
    const weft_device_info *device = &c->physical.info;
    const bool matrices =
        device->matrix_shapes[0].m != 0 || device->integer_matrix_shapes[0].m != 0;
    const char *extensions[5] = {VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME};
    uint32_t extension_count = 1;
    if (device->most_subgroup != 0) {
        extensions[extension_count++] = VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME;
    }
    if (matrices) {
        extensions[extension_count++] = WEFT_COOPERATIVE_EXTENSION;
    }
    if (c->physical.integer_dots) {
        extensions[extension_count++] = VK_KHR_SHADER_INTEGER_DOT_PRODUCT_EXTENSION_NAME;
    }
    const float priority = 1.0F;
    const VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                           .queueFamilyIndex = c->physical.queue_family,
                                           .queueCount = 1,
                                           .pQueuePriorities = &priority};
    VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR executables = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR,
        .pipelineExecutableInfo = VK_TRUE};
    VkPhysicalDeviceShaderIntegerDotProductFeatures dots = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_FEATURES,
        .pNext = &executables,
        .shaderIntegerDotProduct = VK_TRUE};
    VkPhysicalDeviceShaderFloat16Int8Features features = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES,
        .pNext = c->physical.integer_dots ? (void *)&dots : &executables,
        .shaderFloat16 = device->has_f16_arithmetic,
        .shaderInt8 = device->integer_matrix_shapes[0].m != 0};
    struct weft_shader_fma_features fma;
    void *next = &features;
    if (c->physical.fma) {
        extensions[extension_count++] = WEFT_SHADER_FMA_EXTENSION;
        next = weft_shader_fma_enable(&fma, next);
    }
    const VkPhysicalDeviceFeatures basic = {.shaderFloat64 = c->physical.float64,
                                            .shaderInt64 = c->physical.float64};
    struct weft_cooperative_links cooperative;
    const VkDeviceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
        .pNext = weft_cooperative_enable(&cooperative, device->most_subgroup != 0, matrices, next),
        .queueCreateInfoCount = 1,
        .pQueueCreateInfos = &queue,
        .enabledExtensionCount = extension_count,
        .ppEnabledExtensionNames = extensions,
        .pEnabledFeatures = &basic};
    WEFT_TRY(weft_vk_check(&host,
                           c->instance.CreateDevice(c->physical.handle, &info, NULL, &c->vk.handle),
                           "vkCreateDevice"));
    return weft_vk_load_device(&c->vk, &c->instance, &host);
}

static weft_status open_compiler(struct compiler *c) {
    char reason[WEFT_REASON_SIZE] = "";
    struct weft_physical *list = NULL;
    uint32_t count = 0;
    weft_status status = weft_instance_create(&c->instance, &host, NULL, reason);
    if (status != WEFT_OK) {
        return weft_fail(&host, status, "%s", reason);
    }
    status = weft_physical_list(&list, &count, &c->instance, &host);
    if (status == WEFT_OK && count == 0) {
        status = weft_fail(&host, WEFT_NO_DEVICE, "no driver offers a device");
    }
    if (status == WEFT_OK) {
        c->physical = list[0];
    }
    weft_free(&host, list);
    WEFT_TRY(status);
    weft_device device = {
        .info = c->physical.info, .fma_extension = c->physical.fma, .float64 = c->physical.float64};
    weft_probe_fma_guess(&device);
    c->fma = device.info.fma;
    WEFT_TRY(create_device(c));
    return weft_executable_load(&c->vk, &c->instance, &host);
}

/* ---- what a driver tells ---- */

/* What its code makes of Fma, as "fused" and, with --apart, "split" of the line. */
static void count_multiply_adds(const struct compiler *c, json_t *line, const char *code) {
    const struct weft_multiply_adds found = weft_multiply_adds_of(c->physical.info.driver, code);
    json_object_set_new(line, "fused", json_integer(found.kept));
    if (c->apart) {
        json_object_set_new(line, "split", json_integer(found.apart));
    }
}

/* What breaks the line's math, in words, as "breaks" and "modes" of the line. */
static void check_texts(const struct compiler *c, json_t *line, const weft_executable *executable) {
    const bool flushes = (c->physical.float_modes & WEFT_FLOAT_FLUSH) != 0;
    char why[256];
    bool has_modes = false;
    for (uint32_t i = 0; i < executable->listing_count; i++) {
        const weft_listing *listing = &executable->listings[i];
        const bool is_code = weft_isa_is(c->isa, listing->name);
        if (is_code &&
            weft_isa_breaks(c->isa, why, sizeof why, weft_source_math(line), listing->text)) {
            json_object_set_new(line, "breaks", json_string(why));
        }
        if (is_code && weft_source_math(line) == WEFT_MATH_FUSED) {
            count_multiply_adds(c, line, listing->text);
        }
        if (is_code && weft_isa_lacks_modes(c->isa, listing->text)) {
            json_object_set_new(line, "modes", json_string("the code sets no float modes"));
        }
        if (weft_float_modes_are_told(listing->text)) {
            has_modes = true;
            if (weft_float_modes_break(why, sizeof why, listing->text, flushes)) {
                json_object_set_new(line, "modes", json_string(why));
            }
        }
    }
    json_object_set_new(line, "tells_modes", json_boolean(has_modes));
}

static weft_status describe(struct compiler *c, json_t *line, const char *name,
                            VkPipeline pipeline) {
    weft_executable *executable = NULL;
    WEFT_TRY(weft_executable_read(&executable, &c->vk, pipeline, &host));
    json_t *told = weft_cli_executable_json(executable);
    weft_status status = told && json_object_update(line, told) == 0
                             ? WEFT_OK
                             : weft_fail_memory(&host, "a pipeline's line");
    json_decref(told);
    status = status ? status : weft_cli_write_listings(executable, c->to, name, &host);
    if (c->isa) {
        check_texts(c, line, executable);
    }
    weft_executable_destroy(&executable);
    return status;
}

/* ---- one pipeline ---- */

/* What Weft adds for a device, in shader/pipeline.c: in reproducible math its float modes, or instructions in their place. */
static weft_status make_ready(const struct compiler *c, struct weft_source *source,
                              weft_math math) {
    const uint32_t modes = c->physical.float_modes;
    struct weft_spirv_needs needs = {.fused = math == WEFT_MATH_FUSED};
    if (math == WEFT_MATH_FUSED) {
        needs.fma_by_extension = c->fma == WEFT_FMA_EXTENSION;
        needs.fma_by_float64 = c->fma == WEFT_FMA_FLOAT64;
        needs.fma_by_integers = c->fma == WEFT_FMA_INTEGERS;
    }
    if (math != WEFT_MATH_FAST) {
        needs.flushes = (modes & WEFT_FLOAT_FLUSH) == 0;
        needs.float_modes = modes;
    }
    needs.plain_dots = !c->physical.integer_dots;
    weft_pipeline_suit_compiler(&needs, &c->physical.info);
    struct weft_spirv_edit made;
    WEFT_TRY(weft_spirv_rewrite(&made, source->words, source->size, &needs, &host));
    if (c->apart) {
        WEFT_TRY(weft_spirv_part_products(&made));
    }
    weft_free(&host, source->words);
    source->words = made.words;
    source->size = made.module.count * sizeof *made.words;
    made.words = NULL;
    weft_spirv_edit_free(&made);
    return WEFT_OK;
}

struct made {
    VkDescriptorSetLayout set;
    VkPipelineLayout layout;
    VkShaderModule module;
    VkPipeline pipeline;
};

static VkResult make_layout(const struct compiler *c, struct made *made,
                            const struct weft_source *source) {
    VkDescriptorSetLayoutBinding bindings[WEFT_SOURCE_BINDINGS];
    for (uint32_t i = 0; i < source->bindings; i++) {
        bindings[i] =
            (VkDescriptorSetLayoutBinding){.binding = i,
                                           .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                           .descriptorCount = 1,
                                           .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT};
    }
    const VkDescriptorSetLayoutCreateInfo set = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .bindingCount = source->bindings,
        .pBindings = bindings};
    VkResult result = c->vk.CreateDescriptorSetLayout(c->vk.handle, &set, NULL, &made->set);
    const VkPushConstantRange push = {.stageFlags = VK_SHADER_STAGE_COMPUTE_BIT,
                                      .size = source->push_bytes};
    const VkPipelineLayoutCreateInfo layout = {.sType =
                                                   VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                               .setLayoutCount = 1,
                                               .pSetLayouts = &made->set,
                                               .pushConstantRangeCount = source->push_bytes > 0,
                                               .pPushConstantRanges = &push};
    return result ? result : c->vk.CreatePipelineLayout(c->vk.handle, &layout, NULL, &made->layout);
}

static VkResult make_pipeline(const struct compiler *c, struct made *made,
                              const struct weft_source *source) {
    const VkShaderModuleCreateInfo module = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                             .codeSize = source->size,
                                             .pCode = source->words};
    VkSpecializationMapEntry entries[WEFT_SOURCE_CONSTANTS];
    for (uint32_t i = 0; i < source->constant_count; i++) {
        entries[i] = (VkSpecializationMapEntry){.constantID = i, .offset = 4 * i, .size = 4};
    }
    const VkSpecializationInfo constants = {.mapEntryCount = source->constant_count,
                                            .pMapEntries = entries,
                                            .dataSize = 4 * (size_t)source->constant_count,
                                            .pData = source->constants};
    VkResult result = c->vk.CreateShaderModule(c->vk.handle, &module, NULL, &made->module);
    struct weft_subgroup_request request;
    VkPipelineShaderStageCreateInfo stage = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
        .stage = VK_SHADER_STAGE_COMPUTE_BIT,
        .module = made->module,
        .pName = "main",
        .pSpecializationInfo = &constants};
    if (source->subgroup != 0) {
        weft_subgroup_size_require(&stage, &request, source->subgroup, &c->physical.info);
    }
    const VkComputePipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .flags = VK_PIPELINE_CREATE_DISPATCH_BASE_BIT |
                 VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR |
                 VK_PIPELINE_CREATE_CAPTURE_INTERNAL_REPRESENTATIONS_BIT_KHR,
        .stage = stage,
        .layout = made->layout};
    return result ? result
                  : c->vk.CreateComputePipelines(c->vk.handle, VK_NULL_HANDLE, 1, &info, NULL,
                                                 &made->pipeline);
}

static void unmake(const struct compiler *c, const struct made *made) {
    c->vk.DestroyPipeline(c->vk.handle, made->pipeline, NULL);
    c->vk.DestroyShaderModule(c->vk.handle, made->module, NULL);
    c->vk.DestroyPipelineLayout(c->vk.handle, made->layout, NULL);
    c->vk.DestroyDescriptorSetLayout(c->vk.handle, made->set, NULL);
}

/* Of fast mode, which has modules with sums over a subgroup and others for devices without them. */
static bool is_for_others(const struct compiler *c, const struct weft_source *source) {
    enum { FIRST_INSTRUCTION = 5, OP_CAPABILITY = 17, GROUP_NON_UNIFORM_ARITHMETIC = 63 };
    bool needs_sums = false;
    for (size_t i = FIRST_INSTRUCTION;
         i + 1 < source->size / 4 && source->words[i] == (2U << 16 | OP_CAPABILITY); i += 2) {
        needs_sums = needs_sums || source->words[i + 1] == GROUP_NON_UNIFORM_ARITHMETIC;
    }
    return needs_sums && !c->physical.info.has_subgroup_arithmetic;
}

/* Of this process: what else the machine does is no matter of a compiler's. */
static double processor_ms(void) {
    return 1e3 * (double)clock() / CLOCKS_PER_SEC;
}

static weft_status compile(struct compiler *c, const char *name, json_t *line) {
    struct weft_source source = {0};
    struct made made = {0};
    weft_status status = weft_source_read(&source, c->from, name, line, &host);
    status = status ? status : make_ready(c, &source, weft_source_math(line));
    if (status == WEFT_OK && is_for_others(c, &source)) {
        json_object_set_new(line, "taken", json_false());
        json_object_set_new(line, "failed", json_string("is for devices that sum over a subgroup"));
        weft_free(&host, source.words);
        return WEFT_OK;
    }
    const double start = processor_ms();
    if (status == WEFT_OK) {
        VkResult result = make_layout(c, &made, &source);
        result = result ? result : make_pipeline(c, &made, &source);
        status = weft_vk_check(&host, result, name);
    }
    json_object_set_new(line, "ms", json_real(processor_ms() - start));
    if (status == WEFT_OK) {
        status = describe(c, line, name, made.pipeline);
    }
    unmake(c, &made);
    weft_free(&host, source.words);
    return status;
}

/* ---- all of them ---- */

/* The interface that weft-pipelines wrote, with the pipeline's name, and whether the device would take it. */
static weft_status read_interface(json_t **line, char **name, const struct compiler *c,
                                  uint32_t index) {
    const char *file = c->files[index]->d_name;
    uint32_t constants[WEFT_SOURCE_CONSTANTS];
    char *path = weft_format(&host, "%s/%s", c->from, file);
    *name = weft_format(&host, "%.*s", (int)(strlen(file) - strlen(".json")), file);
    const weft_status status =
        path && *name ? weft_json_read(line, path, &host) : weft_fail_memory(&host, "a path");
    weft_free(&host, path);
    WEFT_TRY(status);
    const char *kernel = json_string_value(json_object_get(*line, "kernel"));
    const uint32_t count = weft_source_constants(constants, *line);
    const bool is_taken = weft_kernel_is_taken(&c->physical.info, weft_source_math(*line),
                                               kernel ? kernel : "", constants, count);
    json_object_set_new(*line, "name", json_string(*name));
    json_object_set_new(*line, "taken", json_boolean(is_taken));
    return WEFT_OK;
}

static char *line_path(const struct compiler *c, const char *name) {
    return weft_format(&host, "%s/%s.line", c->to, name);
}

/* In a process of its own: a file with the pipeline's line. */
static bool compile_one(void *user, uint32_t index) {
    struct compiler *c = user;
    json_t *line = NULL;
    char *name = NULL;
    weft_status status = read_interface(&line, &name, c, index);
    status = status ? status : compile(c, name, line);
    char *path = name ? line_path(c, name) : NULL;
    const bool is_written = status == WEFT_OK && path && json_dump_file(line, path, 0) == 0;
    weft_free(&host, path);
    weft_free(&host, name);
    json_decref(line);
    return is_written;
}

/* Prints what is wrong with a pipeline, and counts it. */
static void judge(struct compiler *c, json_t *line, const char *name, enum weft_ending ending) {
    const char *breaks = json_string_value(json_object_get(line, "breaks"));
    const char *modes = json_string_value(json_object_get(line, "modes"));
    char failed[64] = "";
    if (ending == WEFT_ENDED_LATE) {
        snprintf(failed, sizeof failed, "did not compile in %u s", c->seconds);
        c->late++;
    } else if (ending != WEFT_ENDED_WELL) {
        snprintf(failed, sizeof failed, "%s",
                 ending == WEFT_ENDED_CRASHED ? "its compiler crashed" : "was not compiled");
        c->failed +=
            json_is_true(json_object_get(line, "taken")); /* others may need what is not there */
    }
    if (failed[0] != '\0') {
        json_object_set_new(line, "failed", json_string(failed));
        printf("%s: %s\n", name, failed);
    }
    const json_int_t split = json_integer_value(json_object_get(line, "split"));
    c->fused += (uint64_t)json_integer_value(json_object_get(line, "fused"));
    c->split += (uint64_t)split;
    if (split > 0) {
        printf("%s: %u Fma are products and sums\n", name, (unsigned)split);
    }
    if (breaks) {
        printf("%s: %s\n", name, breaks);
        c->broken++;
    }
    c->of_untold_modes += json_is_false(json_object_get(line, "tells_modes"));
    if (modes) {
        c->in_other_modes++;
        printf("%s: %s\n", name, modes);
    }
}

/* Its line, of the file that its process wrote, goes to all the others'. */
static weft_status collect(struct compiler *c, uint32_t index, enum weft_ending ending) {
    json_t *line = NULL;
    char *name = NULL;
    weft_status status = read_interface(&line, &name, c, index);
    char *path = status == WEFT_OK ? line_path(c, name) : NULL;
    if (path && ending == WEFT_ENDED_WELL) {
        json_decref(line);
        status = weft_json_read(&line, path, &host);
        unlink(path);
    }
    if (status == WEFT_OK) {
        judge(c, line, name, ending);
        json_dumpf(line, c->out, JSON_COMPACT);
        fputc('\n', c->out);
    }
    weft_free(&host, path);
    weft_free(&host, name);
    json_decref(line);
    return status;
}

/* The first line: of whom all the others are. */
static weft_status write_device(const struct compiler *c) {
    const weft_device_info *info = &c->physical.info;
    json_t *line = json_pack("{s:s, s:s, s:s}", "device", info->name, "driver", info->driver,
                             "version", info->driver_version);
    if (!line) {
        return weft_fail_memory(&host, "the device's line");
    }
    json_dumpf(line, c->out, JSON_COMPACT);
    fputc('\n', c->out);
    json_decref(line);
    return WEFT_OK;
}

static void print_counts(const struct compiler *c, uint32_t count) {
    printf("%s, %s %s: %u pipelines", c->physical.info.name, c->physical.info.driver,
           c->physical.info.driver_version, count);
    if (c->failed > 0) {
        printf(", %u could not be compiled", c->failed);
    }
    if (c->late > 0) {
        printf(", %u not in %u s", c->late, c->seconds);
    }
    if (c->isa) {
        printf(", %u of them against the rules of reproducible math, %u in other float modes",
               c->broken, c->in_other_modes);
    }
    if (c->fused + c->split > 0) {
        printf(", %llu multiply-adds fused (%s)", (unsigned long long)c->fused,
               weft_fma_name(c->fma));
    }
    if (c->apart) {
        printf(", %llu split", (unsigned long long)c->split);
    }
    if (c->of_untold_modes >
        0) { /* Mesa 22 does not print them, nor newer ones where none are asked for */
        printf(", %u of modes that the driver does not tell", c->of_untold_modes);
    }
    putchar('\n');
}

static weft_status compile_files(struct compiler *c, uint32_t count) {
    enum weft_ending *endings = calloc(count, sizeof *endings);
    weft_status status = endings ? write_device(c) : weft_fail_memory(&host, "how compiling ended");
    if (status == WEFT_OK && !weft_run_apart(endings, count, c->jobs, c->seconds, compile_one, c)) {
        status = weft_fail(&host, WEFT_IO_ERROR, "no process can be started");
    }
    for (uint32_t i = 0; status == WEFT_OK && i < count; i++) {
        status = collect(c, i, endings[i]);
    }
    free(endings);
    return status;
}

/* Leaves of the first *count files those of pipelines that the device would take. */
static weft_status keep_taken(struct compiler *c, int *count) {
    int kept = 0;
    for (int i = 0; i < *count; i++) {
        json_t *line = NULL;
        char *name = NULL;
        const weft_status status = read_interface(&line, &name, c, (uint32_t)i);
        if (json_is_true(json_object_get(line, "taken"))) {
            struct dirent *file = c->files[kept];
            c->files[kept++] = c->files[i];
            c->files[i] = file;
        }
        weft_free(&host, name);
        json_decref(line);
        WEFT_TRY(status);
    }
    *count = kept;
    return WEFT_OK;
}

static weft_status compile_all(struct compiler *c) {
    const int count = weft_source_list(&c->files, c->from);
    int taken = count;
    if (count <= 0) {
        return weft_fail(&host, WEFT_NOT_FOUND, "%s has no pipelines", c->from);
    }
    weft_status status = c->taken ? keep_taken(c, &taken) : WEFT_OK;
    status = status ? status : compile_files(c, (uint32_t)taken);
    for (int i = 0; i < count; i++) {
        free(c->files[i]);
    }
    free(c->files);
    print_counts(c, (uint32_t)taken);
    return status;
}

static weft_status choose_rules(struct compiler *c) {
    c->isa = weft_isa_of(c->physical.info.driver);
    return c->isa ? WEFT_OK
                  : weft_fail(&host, WEFT_UNSUPPORTED, "no rules for the machine code of %s",
                              c->physical.info.driver);
}

/* Of "--name 12"; 0 where it is another option or no number. */
static uint32_t number_option(char **at, const char *name) {
    return strcmp(at[0], name) == 0 && at[1] ? (uint32_t)strtoul(at[1], NULL, 10) : 0;
}

static bool read_options(struct compiler *c, bool *checks, int argc, char **argv) {
    *c = (struct compiler){.jobs = 1, .seconds = 10};
    if (argc < 3) {
        return false;
    }
    c->from = argv[1];
    c->to = argv[2];
    for (char **at = argv + 3; *at; at++) {
        const uint32_t jobs = number_option(at, "--jobs"), seconds = number_option(at, "--seconds");
        const bool checked = strcmp(*at, "--check") == 0, taken = strcmp(*at, "--taken") == 0;
        const bool apart = strcmp(*at, "--apart") == 0;
        if (jobs == 0 && seconds == 0 && !checked && !taken && !apart) {
            return false;
        }
        c->apart = c->apart || apart;
        *checks = *checks || checked;
        c->taken = c->taken || taken;
        c->jobs = jobs ? jobs : c->jobs;
        c->seconds = seconds ? seconds : c->seconds;
        at += jobs || seconds;
    }
    return true;
}

int main(int argc, char **argv) {
    struct compiler c;
    bool checks = false;
    if (!read_options(&c, &checks, argc, argv)) {
        fprintf(stderr, "usage: weft-compile PIPELINES OUT [--check] [--apart] [--taken] "
                        "[--jobs N] [--seconds N]\n");
        return 2;
    }
    weft_status status = weft_make_folders(c.to, &host);
    char *path = weft_format(&host, "%s/pipelines.jsonl", c.to);
    c.out = status == WEFT_OK && path ? fopen(path, "w") : NULL;
    if (!c.out) {
        status =
            status ? status : weft_fail(&host, WEFT_IO_ERROR, "cannot write %s", path ? path : "");
    }
    status = status ? status : open_compiler(&c);
    if (checks && status == WEFT_OK) {
        status = choose_rules(&c);
    }
    status = status ? status : compile_all(&c);
    if (c.out && fclose(c.out) != 0 && status == WEFT_OK) {
        status = weft_fail(&host, WEFT_IO_ERROR, "cannot write %s", path);
    }
    weft_free(&host, path);
    fflush(NULL);
    /* The device is not closed: V3D's driver on a shim crashes in that, now and then, and nobody needs it. */
    _exit(status == WEFT_OK && c.broken + c.in_other_modes + c.failed + c.split == 0 ? 0 : 1);
}
