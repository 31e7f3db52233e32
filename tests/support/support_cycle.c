/* SPDX-License-Identifier: MIT */
#include "support_cycle.h"

#include <stdio.h>

#include <weft/external.h>
#include <weft/mixers.h>
#include <weft/op.h>

#include "core/try.h"
#include "device/commands.h"
#include "support_faults.h"
#include "support_system.h"

enum { N = 8, BYTES = N * N * (int)sizeof(float) };

/* ---- an op with a kernel of its own ---- */

static const char scale_text[] =
    "#version 450\n"
    "#extension GL_GOOGLE_include_directive : require\n"
    "#include \"index.glsl\"\n"
    "#include \"math.glsl\"\n"
    "layout(local_size_x = WEFT_ITEMS_PER_GROUP) in;\n"
    "layout(std430, binding = 0) readonly buffer Source { float source[]; };\n"
    "layout(std430, binding = 1) writeonly buffer Result { float result[]; };\n"
    "layout(push_constant) uniform Push { uint count; uint groups_x; } push;\n"
    "void main()\n"
    "{\n"
    "    uint i = weft_item_index(push.groups_x);\n"
    "    if (i < push.count) { result[i] = weft_flush(3.0 * source[i]); }\n"
    "}\n";

static weft_status infer_scale(const weft_graph *graph, weft_node *node, weft_dtype *dtype,
                               weft_shape *shape) {
    *dtype = WEFT_F32;
    *shape = *weft_node_shape(graph, node, 0);
    return weft_expect_f32(graph, node, 0, "x");
}

static weft_status lower_scale(weft_lowering *lowering, const weft_node *node) {
    const weft_arg args[] = {weft_arg_buffer("source", weft_lower_input(lowering, node, 0)),
                             weft_arg_buffer("result", weft_lower_output(lowering, node)),
                             weft_arg_uint("count", N * N)};
    return weft_lower_launch(lowering,
                             &(weft_launch){.kernel = {.name = "test/triple", .glsl = scale_text},
                                            .items = N * N,
                                            .args = args,
                                            .arg_count = 3,
                                            .flops = N * N,
                                            .bytes = 8.0 * N * N});
}

static weft_status add_scale(weft_tensor *out, weft_graph *graph, weft_tensor x,
                             const weft_host *host) {
    static const weft_implementation row = {.name = "kernel", .lower = lower_scale};
    const weft_op_params params = {.name = "triple",
                                   .min_inputs = 1,
                                   .max_inputs = 1,
                                   .infer = infer_scale,
                                   .implementations = &row,
                                   .implementation_count = 1};
    weft_op *op = NULL;
    WEFT_TRY(weft_op_create(&op, &params, host));
    const weft_status status = weft_graph_add(out, graph, op, &x, 1, NULL, 0);
    weft_op_destroy(&op);
    return status;
}

/* ---- data ---- */

static void fill(float x[N * N]) {
    for (int i = 0; i < N * N; i++) {
        x[i] = (float)(i % 13) * 0.25F - 1.0F;
    }
}

/* Bits that nothing gives, so that what is left as it was can be told. */
static void forget(float *values, size_t count) {
    memset(values, 0xa5, count * sizeof *values);
}

/* ---- steps ---- */

static weft_status list(struct weft_cycle *c) {
    weft_device_info infos[4];
    uint32_t count = 4;
    const weft_status status = weft_device_list(infos, &count, &c->host);
    assert_true(status == WEFT_OK || count == 4);
    return status;
}

static weft_status open(struct weft_cycle *c) {
    return weft_device_open(&c->device,
                            weft_device_params(.host = c->host, .select = c->select,
                                               .cache_dir = c->cache_dir, .threads = 1));
}

static weft_status create_x(struct weft_cycle *c) {
    return weft_buffer_create(&c->x, c->device, BYTES);
}

static weft_status create_y(struct weft_cycle *c) {
    return weft_buffer_create(&c->y, c->device, BYTES);
}

static weft_status write(struct weft_cycle *c) {
    float x[N * N];
    fill(x);
    return weft_buffer_write(c->x, 0, x, BYTES);
}

static weft_status wrap(struct weft_cycle *c) {
    uint64_t offset = 0;
    const VkBuffer handle = weft_buffer_vulkan(c->x, &offset);
    return weft_buffer_wrap(&c->wrapped, c->device, handle, offset, BYTES);
}

static weft_status wrap_host(struct weft_cycle *c) {
    return weft_buffer_wrap_host(&c->of_host, c->device, c->memory, BYTES);
}

static weft_status load(struct weft_cycle *c) {
    return weft_model_load(&c->model, c->model_folder, &c->host);
}

static weft_status add_network(struct weft_cycle *c, weft_graph *graph) {
    float w[N * N];
    weft_tensor x, weight, y;
    weft_weight *made = NULL;
    fill(w);
    WEFT_TRY(weft_weight_create(
        &made, weft_weight_params(.dtype = WEFT_F32, .shape = weft_shape_of(N, N), .data = w),
        &c->host));
    weft_status status = weft_graph_weight(&weight, graph, made);
    weft_weight_destroy(&made);
    WEFT_TRY(status);
    WEFT_TRY(weft_graph_input(&x, graph, "x", WEFT_F32, weft_shape_of(1, N, N)));
    WEFT_TRY(weft_graph_linear(&y, graph, x, weight, (weft_tensor){0}));
    WEFT_TRY(weft_graph_fourier(&y, graph, y));
    WEFT_TRY(add_scale(&y, graph, y, &c->host));
    WEFT_TRY(weft_graph_softmax(&y, graph, y));
    return weft_graph_output(graph, "y", y);
}

static weft_status build(struct weft_cycle *c) {
    weft_graph *graph = NULL;
    WEFT_TRY(weft_graph_create(&graph, &c->host));
    const weft_status status = add_network(c, graph);
    if (status != WEFT_OK) {
        weft_graph_destroy(&graph);
        return status;
    }
    c->graph = graph;
    return WEFT_OK;
}

static weft_status compile(struct weft_cycle *c) {
    return weft_plan_compile(&c->plan, c->device, c->graph, weft_plan_params(.timestamps = true));
}

static weft_status bind(struct weft_cycle *c) {
    return weft_bindings_create(&c->bindings, c->plan);
}

static weft_status run(struct weft_cycle *c) {
    WEFT_TRY(weft_bindings_set(c->bindings, "x", c->x));
    WEFT_TRY(weft_bindings_set(c->bindings, "y", c->y));
    return weft_plan_run(c->plan, c->bindings);
}

static weft_status read_y(struct weft_cycle *c, float *result) {
    forget(result, N * N);
    const weft_status status = weft_buffer_read(c->y, 0, result, BYTES);
    if (status == WEFT_OK) { /* so that the next result is not this one */
        float nothing[N * N];
        forget(nothing, N * N);
        return weft_buffer_write(c->y, 0, nothing, BYTES);
    }
    return status;
}

static weft_status run_and_read(struct weft_cycle *c) {
    WEFT_TRY(run(c));
    return read_y(c, c->results[0]);
}

static weft_status run_on_host_memory(struct weft_cycle *c) {
    float x[N * N];
    fill(x);
    memcpy(c->memory, x, BYTES);
    WEFT_TRY(weft_bindings_set(c->bindings, "x", c->of_host));
    WEFT_TRY(weft_bindings_set(c->bindings, "y", c->y));
    WEFT_TRY(weft_plan_run(c->plan, c->bindings));
    return read_y(c, c->results[1]);
}

static weft_status submit(struct weft_cycle *c) {
    WEFT_TRY(weft_bindings_set(c->bindings, "x", c->wrapped));
    const uint64_t before = c->ticket;
    const weft_status status = weft_plan_submit(c->plan, c->bindings, &c->ticket);
    assert_true(status == WEFT_OK || c->ticket == before);
    return status;
}

static weft_status wait(struct weft_cycle *c) {
    bool done = false;
    while (!done) {
        WEFT_TRY(weft_plan_wait(c->plan, c->ticket, UINT64_C(1000000), &done));
    }
    return weft_buffer_read(c->y, 0, c->results[2], BYTES); /* and no more: nothing runs it again */
}

static weft_status execute(struct weft_cycle *c) {
    float x[N * N];
    fill(x);
    return weft_plan_execute(c->plan,
                             (weft_host_tensor[]){{"x", x, BYTES}, {"y", c->results[3], BYTES}}, 2);
}

static weft_status timings(struct weft_cycle *c) {
    weft_timing timings[64];
    uint32_t count = 64;
    const weft_status status = weft_plan_get_timings(c->plan, timings, &count);
    assert_true(status == WEFT_OK || count == 64);
    return status;
}

/* A call of the test's own: it neither counts nor fails, unless the host's allocator does. */
#define OWN(c, function, ...)                                                            \
    do {                                                                                 \
        weft_faults.paused = true;                                                       \
        const VkResult own_result = (c)->device->vk.function(__VA_ARGS__);               \
        weft_faults.paused = false;                                                      \
        WEFT_TRY(weft_device_check((c)->device, own_result, "the test's vk" #function)); \
    } while (0)

static weft_status start_commands(struct weft_cycle *c) {
    const VkCommandBufferAllocateInfo info = {.sType =
                                                  VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                              .commandPool = c->device->commands->pool,
                                              .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                              .commandBufferCount = 1};
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    WEFT_TRY(weft_device_alive(c->device));
    if (!c->commands) {
        OWN(c, AllocateCommandBuffers, c->device->vk.handle, &info, &c->commands);
    }
    OWN(c, ResetCommandBuffer, c->commands, 0); /* what failed may have left it recording */
    OWN(c, BeginCommandBuffer, c->commands, &begin);
    return WEFT_OK;
}

static weft_status run_commands(struct weft_cycle *c) {
    const VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                               .commandBufferCount = 1,
                               .pCommandBuffers = &c->commands};
    OWN(c, EndCommandBuffer, c->commands);
    OWN(c, QueueSubmit, c->device->queue, 1, &info, VK_NULL_HANDLE);
    OWN(c, DeviceWaitIdle, c->device->vk.handle);
    return WEFT_OK;
}

static weft_status finish_commands(struct weft_cycle *c, float *result) {
    WEFT_TRY(run_commands(c));
    return read_y(c, result);
}

static weft_status record(struct weft_cycle *c) {
    float nothing[N * N];
    forget(nothing, N * N);
    WEFT_TRY(weft_buffer_write(c->y, 0, nothing, BYTES));
    WEFT_TRY(weft_bindings_set(c->bindings, "x", c->x));
    WEFT_TRY(start_commands(c));
    WEFT_TRY(weft_plan_record(c->plan, c->commands, c->bindings));
    return finish_commands(c, c->results[4]);
}

static weft_status record_frame(struct weft_cycle *c) {
    weft_frame_cursor cursor = {0};
    WEFT_TRY(start_commands(c));
    while (!cursor.done) {
        WEFT_TRY(weft_plan_record_frame(c->plan, c->commands, c->bindings, 1e-9, &cursor));
    }
    return finish_commands(c, c->results[5]);
}

static weft_status bind_concurrent(struct weft_cycle *c) {
    return weft_bindings_create_concurrent(&c->concurrent, c->plan);
}

/* The parts of two runs in turn, but for the last one of the other. */
static weft_status run_concurrent(struct weft_cycle *c) {
    WEFT_TRY(weft_bindings_set(c->concurrent, "x", c->x));
    WEFT_TRY(weft_bindings_set(c->concurrent, "y", c->y));
    weft_plan_info info;
    WEFT_TRY(weft_plan_get_info(c->plan, &info));
    WEFT_TRY(start_commands(c));
    for (uint32_t part = 0; part < info.parts; part++) {
        WEFT_TRY(weft_plan_record_range(c->plan, c->commands, c->concurrent, part, 1));
        if (part + 1 < info.parts) {
            WEFT_TRY(weft_plan_record_range(c->plan, c->commands, c->bindings, part, 1));
        }
    }
    return finish_commands(c, c->results[8]);
}

static weft_status make_semaphore(struct weft_cycle *c) {
    const VkSemaphoreTypeCreateInfo type = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
        .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE,
    };
    const VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
                                        .pNext = &type};
    WEFT_TRY(weft_device_alive(c->device));
    if (!c->device->has_timeline) {
        return WEFT_OK;
    }
    OWN(c, CreateSemaphore, c->device->vk.handle, &info, NULL, &c->semaphore);
    return WEFT_OK;
}

/* Each run waits for the one before it, and signals; a submission that fails signals nothing. */
static weft_status submit_with(struct weft_cycle *c) {
    const weft_semaphore_point wait = {c->semaphore, c->signalled};
    const weft_semaphore_point signal = {c->semaphore, c->signalled + 1};
    const uint32_t has = c->semaphore ? 1 : 0;
    uint64_t ticket = 0;
    WEFT_TRY(weft_bindings_set(c->bindings, "y", c->y));
    const weft_status status =
        weft_plan_submit_with(c->plan, c->bindings,
                              weft_submit_params(.waits = &wait, .wait_count = has,
                                                 .signal_points = &signal, .signal_count = has),
                              &ticket);
    assert_true((status == WEFT_OK) == (ticket > 0));
    c->signalled += status == WEFT_OK;
    WEFT_TRY(status);
    WEFT_TRY(weft_plan_wait(c->plan, ticket, UINT64_MAX, NULL));
    return read_y(c, c->results[9]);
}

/* Both kinds of bindings go on behind it. */
static weft_status split_measured(struct weft_cycle *c) {
    WEFT_TRY(weft_plan_split_measured(c->plan, 1e-12));
    WEFT_TRY(weft_plan_run(c->plan, c->bindings));
    return read_y(c, c->results[10]);
}

static weft_status create_exportable(struct weft_cycle *c) {
    return weft_buffer_create_exportable(&c->exported, c->device, BYTES, WEFT_EXTERNAL_OPAQUE);
}

/* By another device, if it were one: what a handle leads to is not looked for in the same process. */
static weft_status import(struct weft_cycle *c) {
    weft_external_handle handle = -1;
    WEFT_TRY(weft_buffer_export_memory(c->exported, &handle));
    const weft_status status =
        weft_buffer_import_memory(&c->imported, c->device, WEFT_EXTERNAL_OPAQUE, handle, BYTES);
    weft_test_close_handle(handle);
    return status;
}

static weft_status run_shared(struct weft_cycle *c) {
    WEFT_TRY(weft_bindings_set(c->bindings, "y", c->imported));
    WEFT_TRY(weft_plan_run(c->plan, c->bindings));
    WEFT_TRY(weft_bindings_set(c->bindings, "y", c->y));
    return weft_buffer_read(c->exported, 0, c->results[12], BYTES);
}

static weft_status create_queue(struct weft_cycle *c) {
    return weft_frame_queue_create(&c->queue, c->device);
}

static weft_status record_queue(struct weft_cycle *c) {
    uint64_t job = 0;
    weft_frame_info info = {.jobs_left = 1};
    WEFT_TRY(start_commands(c));
    WEFT_TRY(weft_frame_queue_add(c->queue, c->plan, c->concurrent, 0, &job));
    while (info.jobs_left > 0) {
        WEFT_TRY(weft_frame_queue_record(c->queue, c->commands, 1e-9, &info));
    }
    return finish_commands(c, c->results[11]);
}

static weft_status get_stats(struct weft_cycle *c) {
    weft_plan_stats stats;
    return weft_plan_get_stats(c->plan, &stats);
}

/* ---- images, of devices that have them ---- */

enum { PICTURE = 8, CHANNELS = 4, PICTURE_TEXELS = PICTURE * PICTURE * CHANNELS };

/* The test's own calls, many of them. */
static void own_calls(struct weft_cycle *c, bool begin) {
    struct weft_test_host *host = c->host.allocator_user;
    host->paused = begin;
    weft_faults.paused = begin;
}

static weft_status make_pictures(struct weft_cycle *c) {
    const uint32_t size[3] = {PICTURE, PICTURE, 1};
    uint8_t texels[PICTURE_TEXELS];
    if (!weft_test_has_images(c->device)) {
        return WEFT_OK;
    }
    WEFT_TRY(weft_device_alive(c->device));
    for (uint32_t i = 0; i < PICTURE_TEXELS; i++) {
        texels[i] = (uint8_t)(37 * i);
    }
    own_calls(c, true);
    c->picture = weft_test_image_create(c->device, VK_FORMAT_R8G8B8A8_UNORM, CHANNELS, size, 0);
    c->drawn = weft_test_image_create(c->device, VK_FORMAT_R32G32B32A32_SFLOAT,
                                      CHANNELS * sizeof(float), size, 1);
    weft_test_image_upload(c->device, &c->picture, texels, VK_IMAGE_LAYOUT_GENERAL);
    own_calls(c, false);
    return WEFT_OK;
}

static weft_status add_drawing(weft_graph *graph) {
    weft_tensor x;
    WEFT_TRY(weft_graph_input(&x, graph, "x", WEFT_U8, weft_shape_of(PICTURE, PICTURE, CHANNELS)));
    WEFT_TRY(weft_graph_convert(&x, graph, x, WEFT_F32));
    WEFT_TRY(weft_graph_softmax(&x, graph, x));
    return weft_graph_output(graph, "y", x);
}

static weft_status compile_drawing(struct weft_cycle *c) {
    weft_graph *graph = NULL;
    WEFT_TRY(weft_graph_create(&graph, &c->host));
    weft_status status = add_drawing(graph);
    if (status == WEFT_OK) {
        status = weft_plan_compile(&c->drawing, c->device, graph, NULL);
    }
    weft_graph_destroy(&graph);
    return status;
}

static weft_status bind_pictures(struct weft_cycle *c) {
    if (!c->picture.image) {
        return WEFT_OK;
    }
    const weft_image_params x =
        weft_test_image_params(&c->picture, VK_IMAGE_LAYOUT_GENERAL, VK_IMAGE_LAYOUT_GENERAL);
    const weft_image_params y =
        weft_test_image_params(&c->drawn, VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_GENERAL);
    if (!c->pictures) {
        WEFT_TRY(weft_bindings_create(&c->pictures, c->drawing));
    }
    WEFT_TRY(weft_bindings_set_image(c->pictures, "x", &x));
    return weft_bindings_set_image(c->pictures, "y", &y);
}

static void read_drawn(struct weft_cycle *c, float *result) {
    own_calls(c, true);
    weft_test_image_download(c->device, &c->drawn, result, VK_IMAGE_LAYOUT_GENERAL);
    own_calls(c, false);
}

static weft_status draw(struct weft_cycle *c) {
    if (!c->picture.image) {
        return WEFT_OK;
    }
    WEFT_TRY(weft_plan_run(c->drawing, c->pictures));
    read_drawn(c, c->results[13]);
    return WEFT_OK;
}

static weft_status record_drawing(struct weft_cycle *c) {
    if (!c->picture.image) {
        return WEFT_OK;
    }
    WEFT_TRY(start_commands(c));
    WEFT_TRY(weft_plan_record(c->drawing, c->commands, c->pictures));
    WEFT_TRY(run_commands(c));
    read_drawn(c, c->results[14]);
    return WEFT_OK;
}

static void destroy_pictures(struct weft_cycle *c) {
    weft_bindings_destroy(&c->pictures);
    weft_plan_destroy(&c->drawing);
    if (c->picture.image) {
        own_calls(c, true);
        c->device->vk.DeviceWaitIdle(c->device->vk.handle);
        weft_test_image_destroy(c->device, &c->picture);
        weft_test_image_destroy(c->device, &c->drawn);
        own_calls(c, false);
    }
}

static weft_status create_decoder(struct weft_cycle *c) {
    return weft_decoder_create(&c->decoder, c->model, c->device, NULL);
}

/* Between two tokens it is what it was. */
static weft_status save_and_load(const struct weft_cycle *c) {
    char path[1024];
    snprintf(path, sizeof path, "%s/state.safetensors", c->model_folder);
    WEFT_TRY(weft_decoder_save(c->decoder, 0, path));
    return weft_decoder_load(c->decoder, 0, path);
}

static weft_status decode(struct weft_cycle *c) {
    const int32_t tokens[] = {72, 101, 108, 108, 111};
    weft_decoder_reset(c->decoder);
    WEFT_TRY(weft_decoder_prompt(c->decoder, tokens, 3, NULL));
    WEFT_TRY(weft_decoder_step(c->decoder, tokens + 3, NULL));
    WEFT_TRY(save_and_load(c));
    return weft_decoder_step(c->decoder, tokens + 4, c->results[6]);
}

static weft_status save(struct weft_cycle *c) {
    return weft_device_save_cache(c->device);
}

static weft_status trim(struct weft_cycle *c) {
    weft_device_trim(c->device);
    return WEFT_OK;
}

static weft_status adopt(struct weft_cycle *c) {
    const weft_device_adopt_params params = {.host = c->host,
                                             .instance = c->device->instance.handle,
                                             .physical_device = c->device->physical,
                                             .device = c->device->vk.handle,
                                             .queue = c->device->queue,
                                             .queue_family = c->device->queue_family,
                                             .timeline_semaphore = c->device->has_timeline,
                                             .get_instance_proc_addr =
                                                 weft_faults_get_instance_proc_addr,
                                             .cache_dir = c->cache_dir};
    return weft_device_adopt(&c->adopted, &params);
}

static weft_status run_adopted(struct weft_cycle *c) {
    float x[N * N];
    fill(x);
    if (!c->other) {
        WEFT_TRY(weft_plan_compile(&c->other, c->adopted, c->graph, NULL));
    }
    return weft_plan_execute(c->other,
                             (weft_host_tensor[]){{"x", x, BYTES}, {"y", c->results[7], BYTES}}, 2);
}

#define STEP(name) \
    { #name, name, false, false }
#define HOST(name) \
    { #name, name, true, false }
#define IMAGES(name) \
    { #name, name, false, true }
const struct weft_cycle_step weft_cycle_steps[] = {{"list", list, true, true},
                                                   IMAGES(open),
                                                   STEP(create_x),
                                                   STEP(create_y),
                                                   STEP(write),
                                                   STEP(wrap),
                                                   STEP(wrap_host),
                                                   HOST(load),
                                                   HOST(build),
                                                   STEP(compile),
                                                   STEP(bind),
                                                   STEP(run_and_read),
                                                   STEP(run_on_host_memory),
                                                   STEP(submit),
                                                   STEP(wait),
                                                   STEP(execute),
                                                   STEP(timings),
                                                   STEP(record),
                                                   STEP(record_frame),
                                                   STEP(bind_concurrent),
                                                   STEP(run_concurrent),
                                                   STEP(make_semaphore),
                                                   STEP(submit_with),
                                                   STEP(split_measured),
                                                   STEP(create_exportable),
                                                   STEP(import),
                                                   STEP(run_shared),
                                                   STEP(create_queue),
                                                   STEP(record_queue),
                                                   STEP(get_stats),
                                                   IMAGES(make_pictures),
                                                   IMAGES(compile_drawing),
                                                   IMAGES(bind_pictures),
                                                   IMAGES(draw),
                                                   IMAGES(record_drawing),
                                                   STEP(create_decoder),
                                                   STEP(decode),
                                                   IMAGES(save),
                                                   HOST(trim),
                                                   STEP(adopt),
                                                   STEP(run_adopted)};
const uint32_t weft_cycle_step_count = sizeof weft_cycle_steps / sizeof weft_cycle_steps[0];

bool weft_cycle_has(const struct weft_cycle *cycle, uint32_t step) {
    return weft_cycle_steps[step].of_images || !cycle->of_images;
}

weft_status weft_cycle_run(struct weft_cycle *cycle, uint32_t step) {
    return weft_cycle_has(cycle, step) ? weft_cycle_steps[step].run(cycle) : WEFT_OK;
}

void weft_cycle_begin(struct weft_cycle *cycle, const weft_host *host, const char *select,
                      const char *model_folder, const char *cache_dir) {
    *cycle = (struct weft_cycle){
        .host = *host, .select = select, .model_folder = model_folder, .cache_dir = cache_dir};
    static _Alignas(4096) unsigned char memory[4096]; /* of pages, as devices may ask */
    cycle->memory = memory;
}

void weft_cycle_end(struct weft_cycle *cycle) {
    weft_plan_destroy(&cycle->other);
    weft_device_destroy(&cycle->adopted);
    weft_decoder_destroy(&cycle->decoder);
    weft_frame_queue_destroy(&cycle->queue);
    weft_bindings_destroy(&cycle->bindings);
    weft_bindings_destroy(&cycle->concurrent);
    if (cycle->semaphore) {
        const struct weft_vk_device *vk = &cycle->device->vk;
        weft_faults.paused = true;
        vk->DeviceWaitIdle(vk->handle);
        vk->DestroySemaphore(vk->handle, cycle->semaphore, NULL);
        weft_faults.paused = false;
        cycle->semaphore = VK_NULL_HANDLE;
    }
    destroy_pictures(cycle);
    weft_plan_destroy(&cycle->plan);
    weft_graph_destroy(&cycle->graph);
    weft_model_destroy(&cycle->model);
    weft_buffer_destroy(&cycle->imported);
    weft_buffer_destroy(&cycle->exported);
    weft_buffer_destroy(&cycle->of_host);
    weft_buffer_destroy(&cycle->wrapped);
    weft_buffer_destroy(&cycle->y);
    weft_buffer_destroy(&cycle->x);
    weft_device_destroy(&cycle->device);
}
