/* SPDX-License-Identifier: MIT */
/* What a driver tells of a pipeline, of a driver made up for the purpose. */
#include "plan/executable.h"

#include "support.h"

#define PIPELINE ((VkPipeline)(uintptr_t)0x5a)

static struct {
    VkResult properties, statistics, sizes, texts; /* what the functions answer */
    uint32_t executables;
} fake;

static int reset(void **state) {
    memset(&fake, 0, sizeof fake);
    fake.executables = 1;
    return weft_test_host_set_up(state);
}

#define TEST(name, f) \
    WEFT_TEST_WITH(name, struct weft_test_host *f, reset, weft_test_host_tear_down)

static VKAPI_ATTR VkResult VKAPI_CALL get_properties(VkDevice device, const VkPipelineInfoKHR *info,
                                                     uint32_t *count,
                                                     VkPipelineExecutablePropertiesKHR *list) {
    (void)device;
    assert_true(info->pipeline == PIPELINE && *count == 1);
    assert_int_equal(list->sType, VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_PROPERTIES_KHR);
    *count = fake.executables;
    list->subgroupSize = 64;
    memset(list->name, 'n', sizeof list->name); /* without an end */
    return fake.properties;
}

static VKAPI_ATTR VkResult VKAPI_CALL get_statistics(VkDevice device,
                                                     const VkPipelineExecutableInfoKHR *which,
                                                     uint32_t *count,
                                                     VkPipelineExecutableStatisticKHR *list) {
    (void)device;
    assert_true(which->pipeline == PIPELINE && which->executableIndex == 0);
    if (!list) {
        *count = 4;
        return VK_SUCCESS;
    }
    static const char *const names[] = {"truth", "below zero", "large", "real"};
    for (uint32_t i = 0; i < *count; i++) {
        assert_int_equal(list[i].sType, VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_STATISTIC_KHR);
        (void)snprintf(list[i].name, sizeof list[i].name, "%s", names[i]);
        list[i].format = (VkPipelineExecutableStatisticFormatKHR)i;
    }
    list[0].value.b32 = VK_TRUE;
    list[1].value.i64 = -5;
    list[2].value.u64 = UINT64_C(1) << 40;
    list[3].value.f64 = 0.125;
    return fake.statistics;
}

static const struct {
    const char *name, *data;
    VkBool32 is_text;
} forms[] = {
    {"NIR", "some text", VK_TRUE}, {"Binary", "\x01\x00\x02", VK_FALSE}, {"Assembly", "", VK_TRUE}};

static VKAPI_ATTR VkResult VKAPI_CALL
get_forms(VkDevice device, const VkPipelineExecutableInfoKHR *which, uint32_t *count,
          VkPipelineExecutableInternalRepresentationKHR *list) {
    (void)device;
    (void)which;
    if (!list) {
        *count = 3;
        return VK_SUCCESS;
    }
    VkResult result = VK_SUCCESS;
    for (uint32_t i = 0; i < *count; i++) {
        (void)snprintf(list[i].name, sizeof list[i].name, "%s", forms[i].name);
        list[i].isText = forms[i].is_text;
        if (list[i].pData) {
            memcpy(list[i].pData, forms[i].data, list[i].dataSize);
            result = fake.texts;
        } else {
            list[i].dataSize = strlen(forms[i].data); /* some drivers leave the zero out */
            result = fake.sizes;
        }
    }
    return result;
}

static const struct weft_vk_device vk = {.GetPipelineExecutableProperties = get_properties,
                                         .GetPipelineExecutableStatistics = get_statistics,
                                         .GetPipelineExecutableInternalRepresentations = get_forms};

TEST(test_all_that_is_told, f) {
    weft_executable *told = NULL;
    fake.properties = VK_INCOMPLETE; /* the first of several */
    assert_ok(weft_executable_read(&told, &vk, PIPELINE, &f->host));
    assert_int_equal(told->subgroup_size, 64);
    assert_int_equal(strlen(told->name), WEFT_EXECUTABLE_NAME_SIZE - 1);
    assert_int_equal(told->statistic_count, 4);
    assert_string_equal(told->statistics[1].name, "below zero");
    assert_true(told->statistics[0].value == 1.0 && told->statistics[1].value == -5.0);
    assert_true(told->statistics[2].value == 1099511627776.0);
    assert_true(told->statistics[3].value == 0.125);
    assert_int_equal(told->listing_count, 2);
    assert_string_equal(told->listings[0].name, "NIR");
    assert_string_equal(told->listings[0].text, "some text");
    assert_string_equal(told->listings[1].name, "Assembly");
    assert_string_equal(told->listings[1].text, "");
    weft_executable_destroy(&told);
    assert_null(told);
    weft_executable_destroy(&told);
    weft_executable_destroy(NULL);
}

static void expect_failure(struct weft_test_host *f, VkResult *answer, const char *call) {
    weft_executable *told = NULL;
    *answer = VK_ERROR_OUT_OF_DEVICE_MEMORY;
    WEFT_EXPECT_REFUSED(f, WEFT_OUT_OF_DEVICE_MEMORY,
                        weft_executable_read(&told, &vk, PIPELINE, &f->host), call);
    assert_null(told);
    *answer = VK_SUCCESS;
}

TEST(test_drivers_that_fail, f) {
    weft_executable *told = NULL;
    expect_failure(f, &fake.properties, "vkGetPipelineExecutableProperties");
    expect_failure(f, &fake.statistics, "vkGetPipelineExecutableStatistics");
    expect_failure(f, &fake.sizes, "vkGetPipelineExecutableInternalRepresentations");
    expect_failure(f, &fake.texts, "vkGetPipelineExecutableInternalRepresentations");
    fake.executables = 0;
    WEFT_EXPECT_REFUSED(f, WEFT_DRIVER_ERROR, weft_executable_read(&told, &vk, PIPELINE, &f->host),
                        "no code");
}

TEST(test_memory_that_runs_out, f) {
    weft_executable *told = NULL;
    weft_status status = WEFT_OUT_OF_HOST_MEMORY;
    while (weft_test_next_failure(f, status)) {
        status = weft_executable_read(&told, &vk, PIPELINE, &f->host);
    }
    assert_true(f->failures > 5);
    weft_executable_destroy(&told);
}
