/* SPDX-License-Identifier: MIT */
/* weft-test: long device */
/* What a capture shows of a plan: pipelines and buffers by name, and each dispatch under its node, whole or in parts. */
#include <weft/mixers.h>
#include <weft/vulkan.h>

#include "device/device.h"
#include "support_graph.h"

enum { N = 37, D = 24, COUNT = N * D, BYTES = COUNT * (int)sizeof(float), MOST = 64 };

/* What the functions below were called with, and the device's own, if it has any, which are called too. */
static struct seen {
    struct weft_vk_device own;
    char labels[MOST][48];
    uint32_t begun, ended, open, most_open;
    uint32_t pipelines, buffers;
    bool kernel, arena, port, constant;
} seen;

static VKAPI_ATTR VkResult VKAPI_CALL see_name(VkDevice device,
                                               const VkDebugUtilsObjectNameInfoEXT *info) {
    const char *name = info->pObjectName;
    assert_true(info->objectHandle != 0);
    if (info->objectType == VK_OBJECT_TYPE_PIPELINE) {
        seen.pipelines++;
        seen.kernel = seen.kernel || strncmp(name, "matmul", 6) == 0;
    } else {
        assert_int_equal(info->objectType, VK_OBJECT_TYPE_BUFFER);
        seen.buffers++;
        seen.arena = seen.arena || strcmp(name, "weft arena") == 0;
        seen.port = seen.port || strcmp(name, "weft buffer") == 0;
        seen.constant = seen.constant || strncmp(name, "weft", 4) != 0;
    }
    return seen.own.SetDebugUtilsObjectNameEXT ? seen.own.SetDebugUtilsObjectNameEXT(device, info)
                                               : VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL see_begin(VkCommandBuffer commands,
                                            const VkDebugUtilsLabelEXT *label) {
    assert_true(seen.begun < MOST);
    (void)snprintf(seen.labels[seen.begun++], sizeof seen.labels[0], "%s", label->pLabelName);
    seen.open++;
    seen.most_open = seen.open > seen.most_open ? seen.open : seen.most_open;
    if (seen.own.CmdBeginDebugUtilsLabelEXT) {
        seen.own.CmdBeginDebugUtilsLabelEXT(commands, label);
    }
}

static VKAPI_ATTR void VKAPI_CALL see_end(VkCommandBuffer commands) {
    assert_true(seen.open > 0);
    seen.open--;
    seen.ended++;
    if (seen.own.CmdEndDebugUtilsLabelEXT) {
        seen.own.CmdEndDebugUtilsLabelEXT(commands);
    }
}

static void watch(weft_device *device) {
    seen = (struct seen){.own = device->vk};
    device->vk.SetDebugUtilsObjectNameEXT = see_name;
    device->vk.CmdBeginDebugUtilsLabelEXT = see_begin;
    device->vk.CmdEndDebugUtilsLabelEXT = see_end;
}

static weft_plan *make_plan(struct weft_test_graph *f) {
    float *numbers = weft_test_uniform(D * D, 3, 0);
    weft_plan *plan = NULL;
    const weft_tensor w = weft_test_constant(f->graph, weft_shape_of(D, D), numbers);
    const weft_tensor gamma = weft_test_constant(f->graph, weft_shape_of(D), numbers);
    weft_tensor y = weft_test_input(f->graph, "x", weft_shape_of(1, N, D));
    assert_ok(weft_graph_linear(&y, f->graph, y, w, gamma));
    assert_ok(weft_graph_fourier(&y, f->graph, y));
    assert_ok(weft_graph_layer_norm(&y, f->graph, y, gamma, gamma, 1e-5F));
    assert_ok(weft_graph_output(f->graph, "y", y));
    assert_ok(weft_plan_compile(&plan, f->device, f->graph, NULL));
    free(numbers);
    return plan;
}

/* Runs the plan once, on zeros. */
static void run(weft_plan *plan) {
    static float x[COUNT];
    static float y[COUNT];
    weft_host_tensor tensors[] = {{.name = "x", .data = x, .bytes = BYTES},
                                  {.name = "y", .data = y, .bytes = BYTES}};
    assert_ok(weft_plan_execute(plan, tensors, 2));
}

WEFT_TEST_ON_GRAPH(test_dispatches_have_their_nodes, f) {
    weft_plan *plan = make_plan(f);
    weft_plan_info info;
    assert_ok(weft_plan_get_info(plan, &info));
    assert_true(info.dispatches >= 3);
    watch(f->device);
    run(plan);
    assert_int_equal(seen.begun, info.parts);
    assert_int_equal(seen.ended, info.parts);
    assert_int_equal(seen.most_open, 1);
    for (uint32_t i = 0; i < info.parts; i++) {
        weft_part_info part;
        weft_dispatch_info dispatch;
        assert_ok(weft_plan_get_part(plan, i, &part));
        assert_ok(weft_plan_get_dispatch(plan, part.dispatch, &dispatch));
        assert_string_equal(seen.labels[i], dispatch.node);
    }
    assert_non_null(strstr(seen.labels[0], "matmul %"));
    weft_plan_destroy(&plan);
}

WEFT_TEST_ON_GRAPH(test_objects_have_names, f) {
    watch(f->device);
    weft_plan *plan = make_plan(f);
    assert_true(seen.kernel);
    assert_true(seen.arena);
    assert_true(seen.constant);
    assert_false(seen.port);
    run(plan);
    assert_true(seen.port);
    assert_true(seen.pipelines >= 2);
    weft_plan_destroy(&plan);
}
