/* SPDX-License-Identifier: MIT */
#include "device/cooperative.h"

#include "core/host.h"
#include "core/try.h"
#include "device/result.h"

/* Names of the extension, number 507 (registry/vk.xml), that older headers lack. */
enum {
    STRUCTURE_FEATURES = 1000506000,
    STRUCTURE_PROPERTIES = 1000506001,
    COMPONENT_F16 = 0,
    COMPONENT_F32 = 1,
    COMPONENT_SINT8 = 3,
    COMPONENT_SINT32 = 5,
    SCOPE_SUBGROUP = 3
};

/* VkCooperativeMatrixPropertiesKHR */
struct properties {
    VkStructureType sType;
    void *pNext;
    uint32_t m, n, k;
    uint32_t a, b, c, result; /* component types */
    VkBool32 saturating;
    uint32_t scope;
};

typedef VkResult(VKAPI_PTR *get_properties)(VkPhysicalDevice handle, uint32_t *count,
                                            struct properties *list);

void weft_subgroup_sizes_read(weft_device_info *info, VkPhysicalDevice handle,
                              const struct weft_vk_instance *instance) {
    VkPhysicalDeviceSubgroupSizeControlFeatures feature = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES};
    VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                          .pNext = &feature};
    VkPhysicalDeviceSubgroupSizeControlProperties sizes = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES};
    VkPhysicalDeviceProperties2 properties = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &sizes};
    instance->GetPhysicalDeviceFeatures2(handle, &features);
    if (feature.subgroupSizeControl != VK_TRUE || feature.computeFullSubgroups != VK_TRUE) {
        return;
    }
    instance->GetPhysicalDeviceProperties2(handle, &properties);
    if ((sizes.requiredSubgroupSizeStages & VK_SHADER_STAGE_COMPUTE_BIT) != 0) {
        info->least_subgroup = sizes.minSubgroupSize;
        info->most_subgroup = sizes.maxSubgroupSize;
    } else if (sizes.minSubgroupSize == sizes.maxSubgroupSize) { /* nothing to be asked for */
        info->least_subgroup = info->most_subgroup = info->subgroup_size;
    }
}

static bool has_features(VkPhysicalDevice handle, const struct weft_vk_instance *instance) {
    struct weft_cooperative_features matrices = {.sType = (VkStructureType)STRUCTURE_FEATURES};
    VkPhysicalDeviceVulkanMemoryModelFeatures model = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_MEMORY_MODEL_FEATURES,
        .pNext = &matrices};
    VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                          .pNext = &model};
    instance->GetPhysicalDeviceFeatures2(handle, &features);
    return matrices.cooperative_matrix == VK_TRUE && model.vulkanMemoryModel == VK_TRUE;
}

/* In the first free place of the list, if the matrices have these components; sums that stop at a limit are others. */
static void note_shape(weft_matrix_shape list[WEFT_MAX_MATRIX_SHAPES], uint32_t factors,
                       uint32_t sums, const struct properties *properties) {
    const bool wanted = properties->a == factors && properties->b == factors &&
                        properties->c == sums && properties->result == sums &&
                        properties->saturating != VK_TRUE && properties->scope == SCOPE_SUBGROUP;
    for (uint32_t i = 0; wanted && i < WEFT_MAX_MATRIX_SHAPES; i++) {
        if (list[i].m == 0) {
            list[i] = (weft_matrix_shape){properties->m, properties->n, properties->k};
            return;
        }
    }
}

weft_status weft_cooperative_read(weft_device_info *info, bool bytes, VkPhysicalDevice handle,
                                  const struct weft_vk_instance *instance, const weft_host *host) {
    static const char name[] = "vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR";
    const get_properties get =
        (get_properties)instance->GetInstanceProcAddr(instance->handle, name);
    uint32_t count = 0;
    if (!get || !has_features(handle, instance)) {
        return WEFT_OK;
    }
    VkResult result = get(handle, &count, NULL);
    if (result != VK_SUCCESS || count == 0) {
        return weft_vk_check(host, result, name);
    }
    struct properties *list = weft_alloc_zero(host, count, sizeof *list);
    if (!list) {
        return weft_fail_memory(host, "shapes of cooperative matrices");
    }
    for (uint32_t i = 0; i < count; i++) {
        list[i].sType = (VkStructureType)STRUCTURE_PROPERTIES;
    }
    result = get(handle, &count, list);
    for (uint32_t i = 0; i < count && (result == VK_SUCCESS || result == VK_INCOMPLETE); i++) {
        note_shape(info->matrix_shapes, COMPONENT_F16, COMPONENT_F32, &list[i]);
        if (bytes) {
            note_shape(info->integer_matrix_shapes, COMPONENT_SINT8, COMPONENT_SINT32, &list[i]);
        }
    }
    weft_free(host, list);
    return weft_vk_check(host, result == VK_INCOMPLETE ? VK_SUCCESS : result, name);
}

void *weft_cooperative_enable(struct weft_cooperative_links *links, bool sizes, bool matrices,
                              void *next) {
    if (sizes) {
        links->sizes = (VkPhysicalDeviceSubgroupSizeControlFeatures){
            .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES,
            .pNext = next,
            .subgroupSizeControl = VK_TRUE,
            .computeFullSubgroups = VK_TRUE};
        next = &links->sizes;
    }
    if (matrices) {
        links->memory_model = (VkPhysicalDeviceVulkanMemoryModelFeatures){
            .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_MEMORY_MODEL_FEATURES,
            .pNext = next,
            .vulkanMemoryModel = VK_TRUE};
        links->matrices =
            (struct weft_cooperative_features){.sType = (VkStructureType)STRUCTURE_FEATURES,
                                               .pNext = &links->memory_model,
                                               .cooperative_matrix = VK_TRUE};
        next = &links->matrices;
    }
    return next;
}

void weft_subgroup_size_require(VkPipelineShaderStageCreateInfo *stage,
                                struct weft_subgroup_request *request, uint32_t size,
                                const weft_device_info *info) {
    stage->flags |= VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT;
    if (info->least_subgroup == info->most_subgroup) {
        return;
    }
    request->size = (VkPipelineShaderStageRequiredSubgroupSizeCreateInfo){
        .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO,
        .pNext = (void *)(uintptr_t)stage->pNext,
        .requiredSubgroupSize = size};
    stage->pNext = &request->size;
}
