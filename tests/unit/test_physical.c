/* SPDX-License-Identifier: MIT */
/* Judging and choosing physical devices, on devices made up for the purpose. */
#include "core/math/float_modes.h"
#include "device/cooperative.h"
#include "device/physical.h"
#include "support.h"

/* ---- a made-up driver ---- */

static struct {
    VkPhysicalDeviceProperties properties;
    const char *extensions[4]; /* null after the last */
    VkBool32 subgroup_sizes, matrices, memory_model;
    VkShaderStageFlags size_stages; /* in which sizes of subgroups can be asked for */
    VkBool32 timeline;
    VkBool32 float16, int8;
    VkBool32 dots, fast_dots;
    VkSubgroupFeatureFlags subgroup_operations;
    VkShaderStageFlags subgroup_stages;
    VkQueueFamilyProperties families[3];
    uint32_t family_count;
    const char *driver_info;
    VkDeviceSize memory; /* of the largest heap */
    VkBool32 has_luid;
} fake;

static const uint8_t fake_uuid[VK_UUID_SIZE] = {0xDE, 0xAD, 0xBE, 0xEF, 5,  6,  7,  8,
                                                9,    10,   11,   12,   13, 14, 15, 16};

static VKAPI_ATTR void VKAPI_CALL get_properties(VkPhysicalDevice handle,
                                                 VkPhysicalDeviceProperties *properties) {
    (void)handle;
    *properties = fake.properties;
}

static bool has_extension(const char *name) {
    bool found = false;
    for (size_t i = 0; fake.extensions[i]; i++) {
        found = found || strcmp(fake.extensions[i], name) == 0;
    }
    return found;
}

/* VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_KHR, which older headers do not have */
enum { MATRIX_FEATURES = 1000506000 };

/* A structure must not be shown to a device that has neither its version nor its extension. */
static void assert_known(VkStructureType type) {
    static const struct {
        VkStructureType type;
        const char *extension;
    } since_1_2[] = {
        {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES, "VK_KHR_driver_properties"},
        {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FLOAT_CONTROLS_PROPERTIES,
         "VK_KHR_shader_float_controls"},
        {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES,
         "VK_KHR_timeline_semaphore"},
        {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES,
         "VK_KHR_shader_float16_int8"},
        {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_MEMORY_MODEL_FEATURES,
         "VK_KHR_vulkan_memory_model"},
    };
    assert_true(fake.properties.apiVersion >= VK_API_VERSION_1_1);
    for (size_t i = 0; i < sizeof since_1_2 / sizeof since_1_2[0]; i++) {
        if (since_1_2[i].type == type) {
            assert_true(fake.properties.apiVersion >= VK_API_VERSION_1_2 ||
                        has_extension(since_1_2[i].extension));
            return;
        }
    }
    const char *extension = NULL;
    switch ((int)type) {
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES:
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES:
        extension = VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME;
        break;
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_FEATURES:
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_PROPERTIES:
        extension = VK_KHR_SHADER_INTEGER_DOT_PRODUCT_EXTENSION_NAME;
        break;
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PCI_BUS_INFO_PROPERTIES_EXT:
        extension = VK_EXT_PCI_BUS_INFO_EXTENSION_NAME;
        break;
    case MATRIX_FEATURES:
        extension = WEFT_COOPERATIVE_EXTENSION;
        break;
    default:
        assert_true(type == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES ||
                    type == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES);
    }
    assert_true(!extension || has_extension(extension));
}

static VKAPI_ATTR void VKAPI_CALL get_properties2(VkPhysicalDevice handle,
                                                  VkPhysicalDeviceProperties2 *properties) {
    (void)handle;
    for (VkBaseOutStructure *link = properties->pNext; link; link = link->pNext) {
        assert_known(link->sType);
        if (link->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES) {
            VkPhysicalDeviceDriverProperties *driver = (void *)link;
            (void)snprintf(driver->driverName, sizeof driver->driverName, "made up");
            (void)snprintf(driver->driverInfo, sizeof driver->driverInfo, "%s", fake.driver_info);
        } else if (link->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FLOAT_CONTROLS_PROPERTIES) {
            VkPhysicalDeviceFloatControlsProperties *controls = (void *)link;
            controls->shaderDenormFlushToZeroFloat32 = VK_TRUE;
        } else if (link->sType ==
                   VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES) {
            VkPhysicalDeviceSubgroupSizeControlProperties *sizes = (void *)link;
            sizes->minSubgroupSize = 8;
            sizes->maxSubgroupSize = 32;
            sizes->requiredSubgroupSizeStages = fake.size_stages;
        } else if (link->sType ==
                   VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_PROPERTIES) {
            VkPhysicalDeviceShaderIntegerDotProductProperties *dots = (void *)link;
            dots->integerDotProduct4x8BitPackedSignedAccelerated = fake.fast_dots;
        } else if (link->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES) {
            VkPhysicalDeviceIDProperties *id = (void *)link;
            memcpy(id->deviceUUID, fake_uuid, sizeof fake_uuid);
            id->deviceLUIDValid = fake.has_luid;
            memcpy(id->deviceLUID, "\x01\x02\x03\x04\x05\x06\x07\xFF", VK_LUID_SIZE);
        } else if (link->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PCI_BUS_INFO_PROPERTIES_EXT) {
            VkPhysicalDevicePCIBusInfoPropertiesEXT *pci = (void *)link;
            pci->pciDomain = 0x10;
            pci->pciBus = 0xA1;
            pci->pciDevice = 2;
            pci->pciFunction = 3;
        } else {
            VkPhysicalDeviceSubgroupProperties *subgroup = (void *)link;
            subgroup->subgroupSize = 16;
            subgroup->supportedOperations = fake.subgroup_operations;
            subgroup->supportedStages = fake.subgroup_stages;
        }
    }
}

static VKAPI_ATTR void VKAPI_CALL get_features2(VkPhysicalDevice handle,
                                                VkPhysicalDeviceFeatures2 *features) {
    (void)handle;
    for (VkBaseOutStructure *link = features->pNext; link; link = link->pNext) {
        assert_known(link->sType);
        if (link->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES) {
            ((VkPhysicalDeviceTimelineSemaphoreFeatures *)(void *)link)->timelineSemaphore =
                fake.timeline;
        } else if (link->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES) {
            VkPhysicalDeviceShaderFloat16Int8Features *small = (void *)link;
            small->shaderFloat16 = fake.float16;
            small->shaderInt8 = fake.int8;
        } else if (link->sType ==
                   VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES) {
            VkPhysicalDeviceSubgroupSizeControlFeatures *sizes = (void *)link;
            sizes->subgroupSizeControl = sizes->computeFullSubgroups = fake.subgroup_sizes;
        } else if (link->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_MEMORY_MODEL_FEATURES) {
            ((VkPhysicalDeviceVulkanMemoryModelFeatures *)(void *)link)->vulkanMemoryModel =
                fake.memory_model;
        } else if (link->sType ==
                   VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_FEATURES) {
            ((VkPhysicalDeviceShaderIntegerDotProductFeatures *)(void *)link)
                ->shaderIntegerDotProduct = fake.dots;
        } else {
            ((struct weft_cooperative_features *)(void *)link)->cooperative_matrix = fake.matrices;
        }
    }
}

static VKAPI_ATTR void VKAPI_CALL get_families(VkPhysicalDevice handle, uint32_t *count,
                                               VkQueueFamilyProperties *families) {
    (void)handle;
    if (families) {
        memcpy(families, fake.families, *count * sizeof *families);
    }
    *count = fake.family_count;
}

static VKAPI_ATTR void VKAPI_CALL get_memory(VkPhysicalDevice handle,
                                             VkPhysicalDeviceMemoryProperties *memory) {
    (void)handle;
    *memory = (VkPhysicalDeviceMemoryProperties){
        .memoryHeapCount = 3,
        .memoryHeaps = {{.size = 900},
                        {.size = fake.memory / 2, .flags = VK_MEMORY_HEAP_DEVICE_LOCAL_BIT},
                        {.size = fake.memory, .flags = VK_MEMORY_HEAP_DEVICE_LOCAL_BIT}},
    };
}

static VKAPI_ATTR VkResult VKAPI_CALL get_extensions(VkPhysicalDevice handle, const char *layer,
                                                     uint32_t *count, VkExtensionProperties *list) {
    (void)handle;
    assert_null(layer);
    uint32_t found = 0;
    for (; fake.extensions[found]; found++) {
        if (list) {
            (void)snprintf(list[found].extensionName, sizeof list[found].extensionName, "%s",
                           fake.extensions[found]);
        }
    }
    *count = found;
    return VK_SUCCESS;
}

/* VkCooperativeMatrixPropertiesKHR: m, n, k; types of a, b, c and the result (0: f16, 1: f32, 3: s8, 5: s32, 7: u8); saturating; scope (3: subgroup) */
struct matrix_row {
    VkStructureType type;
    void *next;
    uint32_t values[9];
};

static VKAPI_ATTR VkResult VKAPI_CALL get_matrices(VkPhysicalDevice handle, uint32_t *count,
                                                   struct matrix_row *list) {
    static const uint32_t rows[][9] = {
        {16, 16, 16, 0, 0, 0, 0, 0, 3}, {16, 8, 8, 0, 0, 1, 1, 0, 3},
        {16, 16, 32, 3, 3, 5, 5, 0, 3}, {32, 32, 16, 0, 0, 1, 1, 0, 2},
        {8, 8, 32, 3, 3, 5, 5, 1, 3},   {8, 16, 32, 3, 7, 5, 5, 0, 3},
        {8, 16, 16, 0, 0, 1, 1, 0, 3}};
    (void)handle;
    for (uint32_t i = 0; list && i < *count; i++) {
        assert_int_equal(list[i].type, MATRIX_FEATURES + 1);
        memcpy(list[i].values, rows[i], sizeof rows[i]);
    }
    *count = sizeof rows / sizeof rows[0];
    return VK_SUCCESS;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_function(VkInstance handle, const char *name) {
    (void)handle;
    assert_string_equal(name, "vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR");
    return (PFN_vkVoidFunction)get_matrices;
}

static struct weft_vk_instance instance = {
    .GetInstanceProcAddr = get_function,
    .version = VK_API_VERSION_1_2,
    .GetPhysicalDeviceProperties = get_properties,
    .GetPhysicalDeviceProperties2 = get_properties2,
    .GetPhysicalDeviceFeatures2 = get_features2,
    .GetPhysicalDeviceQueueFamilyProperties = get_families,
    .GetPhysicalDeviceMemoryProperties = get_memory,
    .EnumerateDeviceExtensionProperties = get_extensions,
};

/* The least that Weft takes. */
static int reset(void **state) {
    (void)state;
    memset(&fake, 0, sizeof fake);
    fake.driver_info = "12.3 (beta)";
    fake.extensions[0] = VK_EXT_PIPELINE_CREATION_FEEDBACK_EXTENSION_NAME;
    fake.timeline = VK_TRUE;
    fake.memory = 700;
    fake.family_count = 1;
    fake.families[0].queueFlags = VK_QUEUE_COMPUTE_BIT;
    fake.properties.apiVersion = VK_MAKE_API_VERSION(0, 1, 2, 3);
    fake.properties.driverVersion = VK_MAKE_API_VERSION(0, 4, 5, 6);
    fake.properties.deviceType = VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU;
    (void)snprintf(fake.properties.deviceName, sizeof fake.properties.deviceName, "Made Up 9000");
    VkPhysicalDeviceLimits *limits = &fake.properties.limits;
    limits->maxComputeWorkGroupInvocations = 128;
    limits->maxComputeWorkGroupSize[0] = 128;
    limits->maxComputeSharedMemorySize = 16384;
    limits->maxPerStageDescriptorStorageBuffers = 12;
    limits->maxDescriptorSetStorageBuffers = 12;
    limits->maxPerStageResources = 12;
    limits->maxStorageBufferRange = 1u << 27;
    limits->timestampPeriod = 2.5f;
    return 0;
}

#define TEST(name) WEFT_TEST_WITH(name, void *state, reset, NULL)

static struct weft_physical look(void) {
    struct weft_physical physical;
    assert_ok(weft_physical_read(&physical, &instance, VK_NULL_HANDLE, 3, WEFT_NO_FAMILY, NULL));
    return physical;
}

/* ---- judging ---- */

TEST(test_least) {
    const struct weft_physical physical = look();
    const weft_device_info *info = &physical.info;
    assert_true(info->usable);
    assert_string_equal(info->reason, "");
    assert_string_equal(info->name, "Made Up 9000");
    assert_string_equal(info->driver, "made up");
    assert_string_equal(info->driver_version, "12.3 (beta)");
    assert_int_equal(info->type, WEFT_DEVICE_INTEGRATED);
    assert_int_equal(info->index, 3);
    assert_int_equal(info->api_version[1], 2);
    assert_int_equal(info->api_version[2], 3);
    assert_int_equal(info->subgroup_size, 16);
    assert_false(info->has_subgroup_arithmetic);
    assert_false(info->has_f16_arithmetic);
    assert_int_equal(info->device_memory, 700);
    assert_true(info->has_pipeline_feedback);
    assert_true(info->timestamp_period_ns == 0.0);
    assert_int_equal(physical.queue_family, 0);
    assert_false(physical.portability_subset);
}

/* What others' drivers do on the processor is no code of this library's compiler, whatever the device is called. */
TEST(test_drivers_on_the_processor) {
    struct weft_physical physical = look();
    assert_false(physical.on_processor);
    assert_false(physical.queries_wait);
    fake.properties.deviceType = VK_PHYSICAL_DEVICE_TYPE_CPU;
    physical = look();
    assert_int_equal(physical.info.type, WEFT_DEVICE_SOFTWARE);
    assert_true(physical.on_processor);
    assert_true(physical.queries_wait);
    assert_false(physical.native);
    assert_false(physical.interprets);
    assert_int_equal(physical.info.threads, 0);
}

/* Sums need the operation, and need it in compute shaders. */
TEST(test_subgroup_arithmetic) {
    fake.subgroup_operations = VK_SUBGROUP_FEATURE_BASIC_BIT | VK_SUBGROUP_FEATURE_ARITHMETIC_BIT;
    fake.subgroup_stages = VK_SHADER_STAGE_FRAGMENT_BIT;
    assert_false(look().info.has_subgroup_arithmetic);
    fake.subgroup_stages = VK_SHADER_STAGE_FRAGMENT_BIT | VK_SHADER_STAGE_COMPUTE_BIT;
    assert_true(look().info.has_subgroup_arithmetic);
    fake.subgroup_operations = VK_SUBGROUP_FEATURE_BASIC_BIT | VK_SUBGROUP_FEATURE_BALLOT_BIT;
    assert_false(look().info.has_subgroup_arithmetic);
}

TEST(test_f16_arithmetic) {
    fake.float16 = VK_TRUE;
    assert_true(look().info.has_f16_arithmetic);
}

static void offer_matrices(void) {
    fake.extensions[1] = VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME;
    fake.extensions[2] = WEFT_COOPERATIVE_EXTENSION;
    fake.subgroup_sizes = fake.matrices = fake.memory_model = VK_TRUE;
    fake.size_stages = VK_SHADER_STAGE_COMPUTE_BIT;
}

static bool has_matrices(void) {
    return look().info.matrix_shapes[0].m != 0;
}

/* Of f16, added up in f32, by a subgroup: in the driver's order. */
TEST(test_cooperative_matrices) {
    offer_matrices();
    const struct weft_physical physical = look();
    const weft_matrix_shape *shapes = physical.info.matrix_shapes;
    assert_int_equal(physical.info.least_subgroup, 8);
    assert_int_equal(physical.info.most_subgroup, 32);
    assert_true(shapes[0].m == 16 && shapes[0].n == 8 && shapes[0].k == 8);
    assert_true(shapes[1].m == 8 && shapes[1].n == 16 && shapes[1].k == 16);
    assert_int_equal(shapes[2].m, 0);
    assert_int_equal(physical.info.integer_matrix_shapes[0].m, 0); /* there are no bytes */
}

/* Of bytes with a sign, whose sums do not stop at a limit; and with the type for them. */
TEST(test_cooperative_matrices_of_bytes) {
    offer_matrices();
    fake.int8 = VK_TRUE;
    const struct weft_physical physical = look();
    const weft_matrix_shape *shapes = physical.info.integer_matrix_shapes;
    assert_true(shapes[0].m == 16 && shapes[0].n == 16 && shapes[0].k == 32);
    assert_int_equal(shapes[1].m, 0);
}

/* Each of what they take. */
TEST(test_no_cooperative_matrices) {
    offer_matrices();
    fake.matrices = VK_FALSE;
    assert_false(has_matrices());
    fake.matrices = VK_TRUE;
    fake.memory_model = VK_FALSE;
    assert_false(has_matrices());
    fake.memory_model = VK_TRUE;
    fake.properties.apiVersion = VK_API_VERSION_1_1;
    assert_false(has_matrices());
    fake.properties.apiVersion = VK_API_VERSION_1_2;
    instance.old_layer = true; /* a validation layer that knows nothing of them */
    assert_false(has_matrices());
    instance.old_layer = false;
    assert_true(has_matrices());
    fake.extensions[1] = WEFT_COOPERATIVE_EXTENSION;
    fake.extensions[2] = NULL;
    assert_false(has_matrices());
}

TEST(test_dots_of_bytes) {
    fake.dots = fake.fast_dots = VK_TRUE;
    assert_false(look().integer_dots); /* without the extension nobody asks */
    fake.extensions[1] = VK_KHR_SHADER_INTEGER_DOT_PRODUCT_EXTENSION_NAME;
    assert_true(look().integer_dots);
    assert_true(look().info.has_integer_dot_product);
    fake.fast_dots = VK_FALSE;
    assert_true(look().integer_dots);
    assert_false(look().info.has_integer_dot_product);
    fake.fast_dots = VK_TRUE;
    fake.dots = VK_FALSE;
    assert_false(look().integer_dots);
    assert_false(look().info.has_integer_dot_product);
}

TEST(test_subgroup_sizes) {
    assert_int_equal(look().info.most_subgroup, 0);
    offer_matrices();
    fake.extensions[2] = NULL;
    assert_int_equal(look().info.most_subgroup, 32);
    fake.size_stages = VK_SHADER_STAGE_FRAGMENT_BIT;
    assert_int_equal(look().info.most_subgroup, 0);
    fake.size_stages = VK_SHADER_STAGE_COMPUTE_BIT;
    fake.subgroup_sizes = VK_FALSE;
    assert_int_equal(look().info.most_subgroup, 0);
}

TEST(test_driver_version_number) {
    fake.driver_info = "";
    assert_string_equal(look().info.driver_version, "4.5.6");
}

/* Without memory it compiles, and no more. */
TEST(test_hardware_that_is_not_there) {
    assert_true(look().info.compiles);
    fake.memory = 0;
    const struct weft_physical physical = look();
    assert_true(physical.info.compiles && !physical.info.usable);
    assert_string_equal(physical.info.reason, "has no memory: it can be opened for compiling only");
}

static void assert_refused(const char *reason) {
    const struct weft_physical physical = look();
    assert_false(physical.info.usable || physical.info.compiles);
    assert_string_equal(physical.info.reason, reason);
    reset(NULL);
}

TEST(test_reasons) {
    VkPhysicalDeviceLimits *limits = &fake.properties.limits;
    fake.properties.apiVersion = VK_API_VERSION_1_0;
    assert_refused("supports Vulkan 1.0, Weft needs 1.1");
    fake.families[0].queueFlags = VK_QUEUE_TRANSFER_BIT;
    assert_refused("has no compute queue");
    fake.family_count = 0;
    assert_refused("has no compute queue");
    limits->maxComputeWorkGroupInvocations = 64;
    assert_refused("allows 64 invocations in a workgroup, Weft needs 128");
    limits->maxComputeWorkGroupSize[0] = 127;
    assert_refused("allows 127 invocations in a workgroup, Weft needs 128");
    limits->maxComputeSharedMemorySize = 16383;
    assert_refused("has 16383 bytes of shared memory, Weft needs 16384");
    limits->maxPerStageDescriptorStorageBuffers = 4;
    assert_refused("allows 4 storage buffers in a shader, Weft needs 8");
    limits->maxPerStageResources = 7;
    assert_refused("allows 7 storage buffers in a shader, Weft needs 8");
}

/* What 1.2 has is an extension each. */
TEST(test_vulkan_1_1) {
    fake.properties.apiVersion = VK_API_VERSION_1_1;
    fake.float16 = VK_TRUE;
    fake.extensions[0] = "VK_KHR_driver_properties";
    struct weft_physical physical = look();
    assert_true(physical.info.usable && !physical.timeline);
    assert_int_equal(physical.version, VK_API_VERSION_1_1);
    assert_string_equal(physical.info.driver, "made up");
    fake.extensions[0] = "VK_KHR_timeline_semaphore";
    physical = look();
    assert_true(physical.info.usable && physical.timeline);
    assert_string_equal(physical.info.driver, "");
    assert_string_equal(physical.info.driver_version, "4.5.6");
    assert_int_equal(physical.info.subgroup_size, 16);
    assert_int_equal(physical.float_modes, 0);
    assert_false(physical.info.has_f16_arithmetic);
    fake.extensions[1] = "VK_KHR_shader_float_controls";
    fake.extensions[2] = "VK_KHR_shader_float16_int8";
    physical = look();
    assert_int_equal(physical.float_modes, WEFT_FLOAT_FLUSH);
    assert_true(physical.info.has_f16_arithmetic);
}

/* A newer device of an instance that was made for less: as one of that version. */
TEST(test_older_instance) {
    assert_true(look().timeline);
    instance.version = VK_API_VERSION_1_1;
    assert_false(look().timeline);
    fake.extensions[0] = "VK_KHR_timeline_semaphore";
    const struct weft_physical physical = look();
    instance.version = VK_API_VERSION_1_2;
    assert_true(physical.info.usable && physical.timeline);
    assert_int_equal(physical.version, VK_API_VERSION_1_1);
    assert_int_equal(physical.info.api_version[1], 2);
}

TEST(test_queue_family) {
    fake.family_count = 3;
    fake.families[0].queueFlags = VK_QUEUE_TRANSFER_BIT;
    fake.families[1].queueFlags = VK_QUEUE_COMPUTE_BIT;
    fake.families[2].queueFlags = VK_QUEUE_COMPUTE_BIT | VK_QUEUE_GRAPHICS_BIT;
    fake.families[2].timestampValidBits = 36;
    struct weft_physical physical = look();
    assert_int_equal(physical.queue_family, 2);
    assert_true(physical.info.timestamp_period_ns == 2.5);
    assert_int_equal(physical.timestamp_bits, 36);
    fake.family_count = 2;
    assert_int_equal(look().queue_family, 1);
    /* A caller's own family: taken as it is, and judged. */
    assert_ok(weft_physical_read(&physical, &instance, VK_NULL_HANDLE, 0, 0, NULL));
    assert_false(physical.info.usable);
    assert_string_equal(physical.info.reason, "queue family 0 does not compute");
    assert_ok(weft_physical_read(&physical, &instance, VK_NULL_HANDLE, 0, 7, NULL));
    assert_int_equal(physical.queue_family, WEFT_NO_FAMILY);
}

/* ---- choosing ---- */

static char line[1024];

static void on_log(void *user, weft_log_level level, const char *message) {
    (void)user;
    (void)level;
    (void)snprintf(line, sizeof line, "%s", message);
}

static struct weft_physical made(uint32_t index, const char *name, const char *driver,
                                 weft_device_type type, bool usable) {
    struct weft_physical physical = {
        .info = {.index = index, .type = type, .usable = usable, .compiles = usable}};
    (void)snprintf(physical.info.name, sizeof physical.info.name, "%s", name);
    (void)snprintf(physical.info.driver, sizeof physical.info.driver, "%s", driver);
    (void)snprintf(physical.info.reason, sizeof physical.info.reason, "%s",
                   usable ? "" : "has no compute queue");
    return physical;
}

/* The index chosen, or minus the status. */
static int chosen_for(const struct weft_physical *list, uint32_t count, const char *select,
                      bool compile_only) {
    const weft_host host = {.log = on_log};
    const struct weft_physical *found = NULL;
    const weft_status status =
        weft_physical_select(&found, list, count, select, compile_only, &host);
    assert_true((status == WEFT_OK) == (found != NULL));
    return found ? (int)found->info.index : -(int)status;
}

static int chosen(const struct weft_physical *list, uint32_t count, const char *select) {
    return chosen_for(list, count, select, false);
}

WEFT_TEST(test_preference) {
    const struct weft_physical list[] = {
        made(0, "llvmpipe", "llvmpipe", WEFT_DEVICE_SOFTWARE, true),
        made(1, "Something", "other", WEFT_DEVICE_OTHER, true),
        made(2, "Virtio", "venus", WEFT_DEVICE_VIRTUAL, true),
        made(3, "Iris", "anv", WEFT_DEVICE_INTEGRATED, true),
        made(4, "Old Radeon", "radv", WEFT_DEVICE_DISCRETE, false),
        made(5, "New Radeon", "radv", WEFT_DEVICE_DISCRETE, true),
        made(6, "Newer Radeon", "radv", WEFT_DEVICE_DISCRETE, true),
    };
    assert_int_equal(chosen(list, 7, NULL), 5);
    assert_int_equal(chosen(list, 7, ""), 5);
    assert_int_equal(chosen(list, 5, NULL), 3);
    assert_int_equal(chosen(list, 3, NULL), 2);
    assert_int_equal(chosen(list, 2, NULL), 0);
    assert_int_equal(chosen(list, 7, "0"), 0);
    assert_int_equal(chosen(list, 7, "06"), 6);
    assert_int_equal(chosen(list, 7, "rAdEoN"), 5);
    assert_int_equal(chosen(list, 7, "newer"), 6);
    assert_int_equal(chosen(list, 7, "RADV"), 5);
    assert_int_equal(chosen(list, 7, "anv"), 3);
}

/* Below any hardware, above drivers that run on it; by the name of its driver, whatever its own is. */
WEFT_TEST(test_preference_of_the_processor) {
    const struct weft_physical list[] = {
        made(0, "llvmpipe", "llvmpipe", WEFT_DEVICE_SOFTWARE, true),
        made(1, "AMD EPYC", "Weft processor", WEFT_DEVICE_PROCESSOR, true),
        made(2, "Virtio", "venus", WEFT_DEVICE_VIRTUAL, true),
    };
    assert_int_equal(chosen(list, 2, NULL), 1);
    assert_int_equal(chosen(list, 3, NULL), 2);
    assert_int_equal(chosen(list, 3, "processor"), 1);
}

/* For compiling, hardware that is not there is as good as any. */
WEFT_TEST(test_preference_for_compiling) {
    struct weft_physical list[] = {
        made(0, "llvmpipe", "llvmpipe", WEFT_DEVICE_SOFTWARE, true),
        made(1, "Null hardware", "radv", WEFT_DEVICE_DISCRETE, false),
        made(2, "Ancient", "other", WEFT_DEVICE_DISCRETE, false),
    };
    list[1].info.compiles = true;
    assert_int_equal(chosen_for(list, 3, NULL, true), 1);
    assert_int_equal(chosen_for(list, 3, NULL, false), 0);
    assert_int_equal(chosen_for(list, 3, "null", true), 1);
    assert_int_equal(chosen_for(list, 3, "null", false), -WEFT_UNSUPPORTED);
    assert_int_equal(chosen_for(list, 3, "ancient", true), -WEFT_UNSUPPORTED);
    assert_int_equal(chosen_for(list + 2, 1, NULL, true), -WEFT_NO_DEVICE);
}

WEFT_TEST(test_refusals) {
    const struct weft_physical list[] = {
        made(0, "llvmpipe", "llvmpipe", WEFT_DEVICE_SOFTWARE, true),
        made(1, "Old Radeon", "radv", WEFT_DEVICE_DISCRETE, false),
    };
    assert_int_equal(chosen(list, 2, "7"), -WEFT_NOT_FOUND);
    assert_string_equal(line, "no device matches \"7\"; there is 0: llvmpipe (llvmpipe), "
                              "1: Old Radeon (radv) which has no compute queue");
    assert_int_equal(chosen(list, 2, "nvidia"), -WEFT_NOT_FOUND);
    assert_int_equal(chosen(list, 2, "4294967297"), -WEFT_NOT_FOUND);
    assert_int_equal(chosen(list, 2, "radeon"), -WEFT_UNSUPPORTED);
    assert_string_equal(line, "device 1, Old Radeon, cannot be used: it has no compute queue");
    assert_int_equal(chosen(list, 2, "1"), -WEFT_UNSUPPORTED);
    assert_int_equal(chosen(list + 1, 1, NULL), -WEFT_NO_DEVICE);
    assert_non_null(strstr(line, "Old Radeon (radv) which has no compute queue"));
    assert_int_equal(chosen(list, 0, NULL), -WEFT_NO_DEVICE);
    assert_int_equal(chosen(list, 0, "radeon"), -WEFT_NO_DEVICE);
}

/* ---- by what it is ---- */

static weft_status choose(const struct weft_physical *list, uint32_t count, const char *select,
                          const struct weft_physical **chosen) {
    *chosen = NULL;
    return weft_physical_select(chosen, list, count, select, false, NULL);
}

TEST(test_identity) {
    fake.extensions[0] = VK_EXT_PCI_BUS_INFO_EXTENSION_NAME;
    fake.has_luid = VK_TRUE;
    struct weft_physical list[2] = {look(), look()};
    const struct weft_physical *chosen = NULL;
    assert_true(list[1].info.has_pci && list[1].info.has_luid);
    assert_memory_equal(list[1].info.device_uuid, fake_uuid, sizeof fake_uuid);
    memset(list[0].info.device_uuid, 1, sizeof fake_uuid); /* another one, at another place */
    list[0].info.luid[7] = 0;
    list[0].info.pci_place[3] = 0;
    static const char *const second[] = {
        "uuid:deadbeef-0506-0708-090a-0b0c0d0e0f10", "UUID:DEADBEEF05060708090A0B0C0D0E0F10",
        "luid:01020304050607ff", "pci:0010:a1:02.3", "PCI:10:A1:2.3"};
    for (size_t i = 0; i < sizeof second / sizeof second[0]; i++) {
        assert_ok(choose(list, 2, second[i], &chosen));
        assert_ptr_equal(chosen, &list[1]);
        assert_false(weft_physical_needs_more(list, 2, second[i]));
    }
    assert_ok(choose(list, 2, "pci:0010:a1:02.0", &chosen));
    assert_ptr_equal(chosen, &list[0]);
    assert_status(choose(list, 2, "pci:a1:02.3", &chosen), WEFT_NOT_FOUND); /* domain 0 */
    assert_ok(choose(list, 2, "luid:0102030405060700", &chosen));
    assert_ptr_equal(chosen, &list[0]);
    static const char *const malformed[] = {"uuid:",
                                            "uuid:deadbeef",
                                            "uuid:deadbeef-0506-0708-090a-0b0c0d0e0f1",
                                            "uuid:deadbeef-0506-0708-090a-0b0c0d0e0f1000",
                                            "uuid:xeadbeef-0506-0708-090a-0b0c0d0e0f10",
                                            "luid:0102",
                                            "pci:",
                                            "pci:1",
                                            "pci:1:2",
                                            "pci:1:2:3:4.0",
                                            "pci:1:2.3.4",
                                            "pci:0000:01:00.0x",
                                            "pci:0000:01:00.12"};
    for (size_t i = 0; i < sizeof malformed / sizeof malformed[0]; i++) {
        assert_status(choose(list, 2, malformed[i], &chosen), WEFT_INVALID_ARGUMENT);
        assert_null(chosen);
    }
    /* Without what tells it: zeros name no place. */
    fake.extensions[0] = NULL;
    fake.has_luid = VK_FALSE;
    list[0] = look();
    assert_false(list[0].info.has_pci || list[0].info.has_luid);
    assert_status(choose(list, 1, "pci:0000:00:00.0", &chosen), WEFT_NOT_FOUND);
    assert_status(choose(list, 1, "luid:0000000000000000", &chosen), WEFT_NOT_FOUND);
}
