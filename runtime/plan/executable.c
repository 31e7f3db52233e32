/* SPDX-License-Identifier: MIT */
#include "plan/executable.h"

#include <string.h>

#include "core/try.h"
#include "device/result.h"

/* An executable with what it consists of. */
struct made {
    weft_executable told;
    weft_host host;
    weft_statistic *statistics;
    weft_listing *listings;
    char **texts; /* of all forms, of which some are no listings */
    uint32_t form_count;
};

_Static_assert(WEFT_EXECUTABLE_NAME_SIZE == VK_MAX_DESCRIPTION_SIZE, "names are copied whole");

static void copy_name(char to[WEFT_EXECUTABLE_NAME_SIZE], const char *from) {
    memcpy(to, from, WEFT_EXECUTABLE_NAME_SIZE);
    to[WEFT_EXECUTABLE_NAME_SIZE - 1] = '\0';
}

/* ---- statistics ---- */

static double value_of(const VkPipelineExecutableStatisticKHR *statistic) {
    switch (statistic->format) {
    case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_BOOL32_KHR:
        return statistic->value.b32 ? 1.0 : 0.0;
    case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_INT64_KHR:
        return (double)statistic->value.i64;
    case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_UINT64_KHR:
        return (double)statistic->value.u64;
    default:
        return statistic->value.f64;
    }
}

static weft_status keep_statistics(struct made *made,
                                   const VkPipelineExecutableStatisticKHR *statistics,
                                   uint32_t count) {
    made->statistics = weft_alloc_zero(&made->host, (size_t)count + 1, sizeof *made->statistics);
    if (!made->statistics) {
        return weft_fail_memory(&made->host, "a kernel's statistics");
    }
    for (uint32_t i = 0; i < count; i++) {
        copy_name(made->statistics[i].name, statistics[i].name);
        copy_name(made->statistics[i].description, statistics[i].description);
        made->statistics[i].value = value_of(&statistics[i]);
    }
    made->told.statistics = made->statistics;
    made->told.statistic_count = count;
    return WEFT_OK;
}

static weft_status read_statistics(struct made *made, const struct weft_vk_device *vk,
                                   const VkPipelineExecutableInfoKHR *which) {
    static const char call[] = "vkGetPipelineExecutableStatisticsKHR";
    uint32_t count = 0;
    WEFT_TRY(weft_vk_check(
        &made->host, vk->GetPipelineExecutableStatistics(vk->handle, which, &count, NULL), call));
    VkPipelineExecutableStatisticKHR *statistics =
        weft_alloc_zero(&made->host, (size_t)count + 1, sizeof *statistics);
    if (!statistics) {
        return weft_fail_memory(&made->host, "a kernel's statistics");
    }
    for (uint32_t i = 0; i < count; i++) {
        statistics[i].sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_STATISTIC_KHR;
    }
    weft_status status = weft_vk_check(
        &made->host, vk->GetPipelineExecutableStatistics(vk->handle, which, &count, statistics),
        call);
    status = status ? status : keep_statistics(made, statistics, count);
    weft_free(&made->host, statistics);
    return status;
}

/* ---- listings ---- */

/* Texts of the sizes that the driver told, with a zero behind each. */
static weft_status make_room(struct made *made,
                             VkPipelineExecutableInternalRepresentationKHR *forms, uint32_t count) {
    made->listings = weft_alloc_zero(&made->host, (size_t)count + 1, sizeof *made->listings);
    made->texts = weft_alloc_zero(&made->host, (size_t)count + 1, sizeof *made->texts);
    bool there = made->listings && made->texts;
    made->form_count = made->texts ? count : 0;
    for (uint32_t i = 0; i < count && there; i++) {
        made->texts[i] = weft_alloc_zero(&made->host, forms[i].dataSize + 1, 1);
        forms[i].pData = made->texts[i];
        there = made->texts[i] != NULL;
    }
    return there ? WEFT_OK : weft_fail_memory(&made->host, "a kernel's machine code");
}

static void keep_listings(struct made *made,
                          const VkPipelineExecutableInternalRepresentationKHR *forms,
                          uint32_t count) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (forms[i].isText) {
            copy_name(made->listings[kept].name, forms[i].name);
            copy_name(made->listings[kept].description, forms[i].description);
            made->listings[kept++].text = made->texts[i];
        }
    }
    made->told.listings = made->listings;
    made->told.listing_count = kept;
}

static weft_status read_listings(struct made *made, const struct weft_vk_device *vk,
                                 const VkPipelineExecutableInfoKHR *which) {
    static const char call[] = "vkGetPipelineExecutableInternalRepresentationsKHR";
    const weft_host *host = &made->host;
    uint32_t count = 0;
    WEFT_TRY(weft_vk_check(
        host, vk->GetPipelineExecutableInternalRepresentations(vk->handle, which, &count, NULL),
        call));
    VkPipelineExecutableInternalRepresentationKHR *forms =
        weft_alloc_zero(host, (size_t)count + 1, sizeof *forms);
    if (!forms) {
        return weft_fail_memory(host, "a kernel's machine code");
    }
    for (uint32_t i = 0; i < count; i++) {
        forms[i].sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INTERNAL_REPRESENTATION_KHR;
    }
    /* Then once for the sizes and once for the texts. */
    weft_status status = weft_vk_check(
        host, vk->GetPipelineExecutableInternalRepresentations(vk->handle, which, &count, forms),
        call);
    status = status ? status : make_room(made, forms, count);
    if (status == WEFT_OK) {
        status = weft_vk_check(
            host,
            vk->GetPipelineExecutableInternalRepresentations(vk->handle, which, &count, forms),
            call);
    }
    if (status == WEFT_OK) {
        keep_listings(made, forms, count);
    }
    weft_free(host, forms);
    return status;
}

/* ---- an executable ---- */

static weft_status read_properties(struct made *made, const struct weft_vk_device *vk,
                                   VkPipeline pipeline) {
    const VkPipelineInfoKHR info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_INFO_KHR,
                                    .pipeline = pipeline};
    VkPipelineExecutablePropertiesKHR properties = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_PROPERTIES_KHR};
    uint32_t count = 1;
    VkResult result = vk->GetPipelineExecutableProperties(vk->handle, &info, &count, &properties);
    result = result == VK_INCOMPLETE ? VK_SUCCESS : result; /* the first is enough */
    WEFT_TRY(weft_vk_check(&made->host, result, "vkGetPipelineExecutablePropertiesKHR"));
    if (count == 0) {
        return weft_fail(&made->host, WEFT_DRIVER_ERROR, "the driver has no code of a pipeline");
    }
    copy_name(made->told.name, properties.name);
    made->told.subgroup_size = properties.subgroupSize;
    return WEFT_OK;
}

static weft_status read_all(struct made *made, const struct weft_vk_device *vk,
                            VkPipeline pipeline) {
    const VkPipelineExecutableInfoKHR first = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INFO_KHR, .pipeline = pipeline};
    WEFT_TRY(read_properties(made, vk, pipeline));
    WEFT_TRY(read_statistics(made, vk, &first));
    return read_listings(made, vk, &first);
}

weft_status weft_executable_read(weft_executable **executable, const struct weft_vk_device *vk,
                                 VkPipeline pipeline, const weft_host *host) {
    struct made *made = weft_alloc_zero(host, 1, sizeof *made);
    if (!made) {
        return weft_fail_memory(host, "what a driver tells of a kernel");
    }
    made->host = *host;
    weft_executable *told = &made->told;
    const weft_status status = read_all(made, vk, pipeline);
    if (status != WEFT_OK) {
        weft_executable_destroy(&told);
        return status;
    }
    *executable = told;
    return WEFT_OK;
}

void weft_executable_destroy(weft_executable **executable) {
    WEFT_ENTER;
    if (!executable || !*executable) {
        return;
    }
    struct made *made = (struct made *)*executable; /* its first member */
    const weft_host host = made->host;
    for (uint32_t i = 0; i < made->form_count; i++) {
        weft_free(&host, made->texts[i]);
    }
    weft_free(&host, made->texts);
    weft_free(&host, made->listings);
    weft_free(&host, made->statistics);
    weft_free(&host, made);
    *executable = NULL;
}
