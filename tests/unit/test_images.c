/* SPDX-License-Identifier: MIT */
/* weft-test: device */
/* Images as inputs and outputs: what goes in comes out, texel by texel, however the run is recorded. */
#include <weft/vulkan.h>

#include "core/math/philox.h"
#include "device/commands.h"
#include "support_graph.h"
#include "support_images.h"

/* ---- round trips ---- */

static const struct kind {
    VkFormat format;
    weft_dtype dtype;
    uint32_t channels;
} kinds[] = {
    {VK_FORMAT_R8_UNORM, WEFT_U8, 1},
    {VK_FORMAT_R8G8_UNORM, WEFT_U8, 2},
    {VK_FORMAT_R8G8B8A8_UNORM, WEFT_U8, 4},
    {VK_FORMAT_R8G8B8A8_SRGB, WEFT_U8, 4},
    {VK_FORMAT_B8G8R8A8_UNORM, WEFT_U8, 4},
    {VK_FORMAT_A8B8G8R8_UNORM_PACK32, WEFT_U8, 4},
    {VK_FORMAT_R16_SFLOAT, WEFT_F16, 1},
    {VK_FORMAT_R16G16_SFLOAT, WEFT_F16, 2},
    {VK_FORMAT_R16G16B16A16_SFLOAT, WEFT_F16, 4},
    {VK_FORMAT_R32_SFLOAT, WEFT_F32, 1},
    {VK_FORMAT_R32G32B32A32_SFLOAT, WEFT_F32, 4},
    {VK_FORMAT_R32_SINT, WEFT_I32, 1},
    {VK_FORMAT_R32G32_UINT, WEFT_I32, 2},
};

/* What is in memory of numbers: any bits, but of f16 that goes through f32 no NaN. */
static uint8_t *make_texels(const struct kind *kind, uint64_t bytes, uint64_t seed) {
    uint8_t *texels = malloc(bytes);
    for (uint64_t i = 0; i < bytes; i++) {
        texels[i] = (uint8_t)weft_philox_u32(seed, 0, i);
    }
    for (uint64_t i = 1; kind->dtype == WEFT_F16 && i < bytes; i += 2) {
        texels[i] &= (texels[i] & 0x7c) == 0x7c ? 0xbf : 0xff;
    }
    return texels;
}

/* y = x, by way of f32 where there is a conversion, and two more dispatches. */
static weft_plan *make_plan(weft_device *device, const struct kind *kind, weft_shape shape) {
    struct weft_test_run r = weft_test_begin(device);
    weft_tensor x;
    assert_ok(weft_graph_input(&x, r.graph, "x", kind->dtype, shape));
    if (kind->dtype == WEFT_F16 || kind->dtype == WEFT_U8) {
        assert_ok(weft_graph_convert(&x, r.graph, x, WEFT_F32));
        assert_ok(weft_graph_affine(&x, r.graph, x, 2.0F, -0.0F));
        assert_ok(weft_graph_affine(&x, r.graph, x, 0.5F, -0.0F));
        assert_ok(weft_graph_convert(&x, r.graph, x, kind->dtype));
    }
    return weft_test_plan_to(&r, "y", x, NULL);
}

enum way { SUBMIT, RECORD, PARTS, WAYS };

static void record_parts(weft_device *device, weft_plan *plan, weft_bindings *bindings,
                         bool at_once) {
    weft_plan_info info;
    struct weft_commands *commands = NULL;
    assert_ok(weft_plan_get_info(plan, &info));
    assert_ok(weft_commands_take(&commands, device));
    for (uint32_t part = 0; part < (at_once ? 1 : info.parts); part++) {
        assert_ok(weft_commands_begin(commands, device));
        assert_ok(at_once ? weft_plan_record(plan, commands->handle, bindings)
                          : weft_plan_record_range(plan, commands->handle, bindings, part, 1));
        assert_ok(weft_commands_run(commands, device));
    }
    weft_commands_give(device, commands);
}

static void run(weft_device *device, weft_plan *plan, weft_bindings *bindings, enum way way) {
    if (way == SUBMIT) {
        assert_ok(weft_plan_run(plan, bindings));
    } else {
        record_parts(device, plan, bindings, way == RECORD);
    }
}

static void round_trip(weft_device *device, const struct kind *kind, const uint32_t size[3],
                       uint32_t mip, enum way way) {
    const uint32_t texel = kind->channels * weft_dtype_size(kind->dtype);
    const VkImageLayout in =
        way == PARTS ? VK_IMAGE_LAYOUT_GENERAL : VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL;
    struct weft_test_image source = weft_test_image_create(device, kind->format, texel, size, mip);
    struct weft_test_image target = weft_test_image_create(device, kind->format, texel, size, 0);
    uint8_t *texels = make_texels(kind, source.bytes, 5 + mip), *found = malloc(source.bytes);
    weft_test_image_upload(device, &source, texels, in);
    const weft_shape shape = size[2] > 1 ? weft_shape_of(size[2], size[1], size[0], kind->channels)
                             : kind->channels > 1 ? weft_shape_of(size[1], size[0], kind->channels)
                                                  : weft_shape_of(size[1], size[0]);
    weft_plan *plan = make_plan(device, kind, shape);
    weft_bindings *bindings = NULL;
    assert_ok(weft_bindings_create(&bindings, plan));
    const weft_image_params x = weft_test_image_params(&source, in, VK_IMAGE_LAYOUT_GENERAL);
    const weft_image_params y = weft_test_image_params(&target, VK_IMAGE_LAYOUT_UNDEFINED,
                                                       VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL);
    assert_ok(weft_bindings_set_image(bindings, "x", &x));
    assert_ok(weft_bindings_set_image(bindings, "y", &y));
    run(device, plan, bindings, way);
    weft_test_image_download(device, &target, found, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL);
    assert_memory_equal(found, texels, source.bytes);
    weft_test_image_download(device, &source, found,
                             VK_IMAGE_LAYOUT_GENERAL); /* as it was, but for its layout */
    assert_memory_equal(found, texels, source.bytes);
    weft_bindings_destroy(&bindings);
    weft_plan_destroy(&plan);
    weft_test_image_destroy(device, &source);
    weft_test_image_destroy(device, &target);
    free(texels);
    free(found);
}

WEFT_TEST_ON_GRAPH(what_goes_in_comes_out, f) {
    const uint32_t sizes[][3] = {{1, 1, 1}, {5, 3, 1}, {37, 29, 1}, {19, 7, 3}};
    if (!weft_test_has_images(f->device)) {
        skip();
    }
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        for (uint32_t s = 0; s < 4; s++) {
            round_trip(f->device, &kinds[k], sizes[s], s % 2, (enum way)((k + s) % WAYS));
        }
    }
}

/* Every half and every byte, each way. */
WEFT_TEST_ON_GRAPH(every_way_has_the_same_bits, f) {
    const uint32_t size[3] = {256, 256, 1};
    if (!weft_test_has_images(f->device)) {
        skip();
    }
    for (uint32_t way = 0; way < WAYS; way++) {
        round_trip(f->device, &kinds[6], size, 0, (enum way)way);
        round_trip(f->device, &kinds[2], size, 1, (enum way)way);
    }
}

/* ---- one after the other ---- */

/* Runs in flight share the buffers that images are copied to and from: the later ones see what the earlier ones wrote. */
WEFT_TEST_ON_GRAPH(runs_follow_each_other, f) {
    enum { RUNS = 5 };
    const uint32_t size[3] = {33, 17, 1};
    weft_device *device = f->device;
    weft_tensor x;
    weft_plan *plan = NULL;
    weft_bindings *bindings = NULL;
    struct weft_commands *commands = NULL;
    if (!weft_test_has_images(device)) {
        skip();
    }
    assert_ok(weft_graph_input(&x, f->graph, "x", WEFT_U8, weft_shape_of(17, 33, 4)));
    assert_ok(weft_graph_convert(&x, f->graph, x, WEFT_F32));
    assert_ok(weft_graph_affine(&x, f->graph, x, 1.0F, 7.0F));
    assert_ok(weft_graph_convert(&x, f->graph, x, WEFT_U8));
    assert_ok(weft_graph_output(f->graph, "y", x));
    assert_ok(weft_plan_compile(&plan, device, f->graph, NULL));
    struct weft_test_image p = weft_test_image_create(device, VK_FORMAT_R8G8B8A8_UNORM, 4, size, 0);
    uint8_t *texels = malloc(p.bytes), *found = malloc(p.bytes);
    for (uint64_t i = 0; i < p.bytes; i++) {
        texels[i] = (uint8_t)(i % 101);
    }
    weft_test_image_upload(device, &p, texels, VK_IMAGE_LAYOUT_GENERAL);
    assert_ok(weft_bindings_create(&bindings, plan));
    const weft_image_params image =
        weft_test_image_params(&p, VK_IMAGE_LAYOUT_GENERAL, VK_IMAGE_LAYOUT_GENERAL);
    assert_ok(weft_bindings_set_image(bindings, "x", &image));
    assert_ok(weft_bindings_set_image(bindings, "y", &image));
    uint64_t ticket = 0;
    for (uint32_t i = 0; i < RUNS; i++) {
        assert_ok(weft_plan_submit(plan, bindings, &ticket));
    }
    assert_ok(weft_commands_take(&commands, device));
    assert_ok(weft_commands_begin(commands, device));
    for (uint32_t i = 0; i < RUNS; i++) {
        assert_ok(weft_plan_record(plan, commands->handle, bindings));
    }
    assert_ok(weft_commands_run(commands, device));
    weft_commands_give(device, commands);
    weft_test_image_download(device, &p, found, VK_IMAGE_LAYOUT_GENERAL);
    for (uint64_t i = 0; i < p.bytes; i++) {
        assert_int_equal(found[i], texels[i] + 2 * RUNS * 7);
    }
    weft_bindings_destroy(&bindings);
    weft_plan_destroy(&plan);
    weft_test_image_destroy(device, &p);
    free(texels);
    free(found);
}

WEFT_TEST_ON_GRAPH(buffers_and_images_take_turns, f) {
    enum { COUNT = 6 * 5 };
    const uint32_t size[3] = {6, 5, 1};
    const struct kind *kind = &kinds[9];
    weft_device *device = f->device;
    float first[COUNT], second[COUNT], found[COUNT];
    weft_buffer *x = NULL, *y = NULL;
    weft_bindings *bindings = NULL;
    if (!weft_test_has_images(device)) {
        skip();
    }
    weft_philox_uniform(first, COUNT, 1, 0);
    weft_philox_uniform(second, COUNT, 2, 0);
    struct weft_test_image p = weft_test_image_create(device, kind->format, 4, size, 1);
    weft_test_image_upload(device, &p, first, VK_IMAGE_LAYOUT_GENERAL);
    weft_plan *plan = make_plan(device, kind, weft_shape_of(5, 6));
    const weft_image_params image =
        weft_test_image_params(&p, VK_IMAGE_LAYOUT_GENERAL, VK_IMAGE_LAYOUT_GENERAL);
    assert_ok(weft_buffer_create(&x, device, sizeof second));
    assert_ok(weft_buffer_create(&y, device, sizeof second));
    assert_ok(weft_buffer_write(x, 0, second, sizeof second));
    assert_ok(weft_bindings_create_concurrent(&bindings, plan));
    assert_ok(weft_bindings_set(bindings, "y", y));
    for (uint32_t turn = 0; turn < 4; turn++) {
        const float *expected = turn % 2 ? second : first;
        assert_ok(turn % 2 ? weft_bindings_set(bindings, "x", x)
                           : weft_bindings_set_image(bindings, "x", &image));
        assert_ok(weft_plan_run(plan, bindings));
        assert_ok(weft_buffer_read(y, 0, found, sizeof found));
        assert_memory_equal(found, expected, sizeof found);
    }
    weft_bindings_destroy(&bindings);
    weft_plan_destroy(&plan);
    weft_buffer_destroy(&x);
    weft_buffer_destroy(&y);
    weft_test_image_destroy(device, &p);
}

/* ---- refusals ---- */

#define REFUSED(f, status, ...)                                                             \
    WEFT_EXPECT_REFUSED(&(f)->host, status, weft_bindings_set_image(bindings, "x", &image), \
                        __VA_ARGS__)

WEFT_TEST_ON_GRAPH(what_is_no_tensor_is_refused, f) {
    weft_plan *plan = make_plan(f->device, &kinds[2], weft_shape_of(3, 5, 4));
    weft_bindings *bindings = NULL;
    const weft_image_params good = {.image = (VkImage)(uintptr_t)16,
                                    .format = VK_FORMAT_R8G8B8A8_UNORM,
                                    .width = 5,
                                    .height = 3,
                                    .layout = VK_IMAGE_LAYOUT_GENERAL,
                                    .final_layout = VK_IMAGE_LAYOUT_GENERAL};
    weft_image_params image = good;
    assert_ok(weft_bindings_create(&bindings, plan));
    if (!weft_test_has_images(f->device)) {
        REFUSED(f, WEFT_UNSUPPORTED, "has no images");
        weft_bindings_destroy(&bindings);
        weft_plan_destroy(&plan);
        return;
    }
    image.image = VK_NULL_HANDLE;
    REFUSED(f, WEFT_INVALID_ARGUMENT, "the VkImage is null");
    image = good;
    image.format = VK_FORMAT_D32_SFLOAT;
    REFUSED(f, WEFT_UNSUPPORTED, "VkFormat 126");
    image.format = VK_FORMAT_R8_UNORM;
    REFUSED(f, WEFT_SHAPE_MISMATCH, "'x' is u8 [3, 5, 4]", "R8_UNORM, that is u8 [3, 5, 1]");
    image.format = VK_FORMAT_R16G16B16A16_SFLOAT;
    REFUSED(f, WEFT_SHAPE_MISMATCH, "that is f16 [3, 5, 4]");
    image = good;
    image.width = 6;
    REFUSED(f, WEFT_SHAPE_MISMATCH, "[3, 6, 4]");
    image = good;
    image.layout = VK_IMAGE_LAYOUT_UNDEFINED;
    REFUSED(f, WEFT_INVALID_ARGUMENT, "is an input");
    image = good;
    image.final_layout = VK_IMAGE_LAYOUT_UNDEFINED;
    REFUSED(f, WEFT_INVALID_ARGUMENT, "final_layout 0");
    WEFT_EXPECT_REFUSED(&f->host, WEFT_NOT_FOUND, weft_bindings_set_image(bindings, "z", &good),
                        "no input or output 'z'");
    WEFT_EXPECT_REFUSED(&f->host, WEFT_INVALID_ARGUMENT, weft_plan_run(plan, bindings),
                        "input 'x' is not set");
    weft_bindings_destroy(&bindings);
    weft_plan_destroy(&plan);
}
