/* SPDX-License-Identifier: MIT */
/* weft-test: long device */
/* Plans: placement, splitting, sharing of weights, time stamps, and everything that can go wrong when they run. */
#include <weft/inspect.h>
#include <weft/mixers.h>

#include "core/math/philox.h"
#include "device/device.h"
#include "plan/plan.h"
#include "support.h"

enum {
    BATCH = 2,
    LENGTH = 33,
    CHANNELS = 72,
    WIDE = 160,
    COUNT = BATCH * LENGTH * CHANNELS,
    BYTES = COUNT * (int)sizeof(float)
};

struct fixture {
    struct weft_test_host host;
    weft_device *device;
    weft_weight *weights[8];
    uint32_t weight_count;
};

static void open_device(struct fixture *fixture, uint64_t memory_limit,
                        uint32_t submission_limit_ms) {
    assert_ok(weft_device_open(&fixture->device,
                               weft_device_params(.host = fixture->host.host,
                                                  .memory_limit = memory_limit,
                                                  .submission_limit_ms = submission_limit_ms)));
}

static void close_device(struct fixture *fixture) {
    weft_device_stats stats;
    if (weft_device_get_stats(fixture->device, &stats) == WEFT_OK) {
        assert_int_equal(stats.validation_messages, 0);
    }
    weft_device_destroy(&fixture->device);
}

static void add_weight(struct fixture *fixture, weft_shape shape) {
    size_t count = (size_t)weft_shape_elements(shape);
    float *data = malloc(count * sizeof *data);
    weft_philox_uniform(data, count, 3, fixture->weight_count);
    assert_ok(weft_weight_create(&fixture->weights[fixture->weight_count++],
                                 weft_weight_params(.shape = shape, .data = data),
                                 &fixture->host.host));
    free(data);
}

static int set_up(void **state) {
    struct fixture *fixture = calloc(1, sizeof *fixture);
    weft_test_host_begin(&fixture->host);
    open_device(fixture, 0, 0);
    add_weight(fixture, weft_shape_of(CHANNELS));
    add_weight(fixture, weft_shape_of(WIDE, CHANNELS));
    add_weight(fixture, weft_shape_of(WIDE));
    add_weight(fixture, weft_shape_of(CHANNELS, WIDE));
    *state = fixture;
    return 0;
}

static int tear_down(void **state) {
    struct fixture *fixture = *state;
    close_device(fixture);
    for (uint32_t i = 0; i < fixture->weight_count; i++) {
        weft_weight_destroy(&fixture->weights[i]);
    }
    weft_test_host_end(&fixture->host);
    free(fixture);
    return 0;
}

#define TEST(name, f) WEFT_TEST_WITH(name, struct fixture *f, set_up, tear_down)

/** `layers` FNet layers. */
static weft_graph *make_graph(struct fixture *fixture, uint32_t length, uint32_t layers) {
    weft_graph *graph = NULL;
    weft_tensor w[4];
    weft_tensor x;
    weft_tensor y;
    assert_ok(weft_graph_create(&graph, &fixture->host.host));
    for (uint32_t i = 0; i < 4; i++) {
        assert_ok(weft_graph_weight(&w[i], graph, fixture->weights[i]));
    }
    assert_ok(weft_graph_input(&x, graph, "x", WEFT_F32, weft_shape_of(BATCH, length, CHANNELS)));
    for (uint32_t i = 0; i < layers; i++) {
        assert_ok(weft_graph_fourier(&y, graph, x));
        assert_ok(weft_graph_binary(&y, graph, WEFT_BINARY_ADD, x, y));
        assert_ok(weft_graph_layer_norm(&x, graph, y, w[0], w[0], 1e-5F));
        assert_ok(weft_graph_linear(&y, graph, x, w[1], w[2]));
        assert_ok(weft_graph_activate(&y, graph, y, WEFT_ACTIVATION_GELU_ERF));
        assert_ok(weft_graph_linear(&y, graph, y, w[3], w[0]));
        assert_ok(weft_graph_binary(&y, graph, WEFT_BINARY_ADD, x, y));
        assert_ok(weft_graph_layer_norm(&x, graph, y, w[0], w[0], 1e-5F));
    }
    assert_ok(weft_graph_output(graph, "y", x));
    return graph;
}

static weft_plan *compile(struct fixture *fixture, uint32_t length, uint32_t layers,
                          const weft_plan_params *params) {
    weft_plan *plan = NULL;
    weft_graph *graph = make_graph(fixture, length, layers);
    assert_ok(weft_plan_compile(&plan, fixture->device, graph, params));
    weft_graph_destroy(&graph);
    return plan;
}

static weft_status execute(weft_plan *plan, float *output) {
    float *input = malloc(BYTES);
    weft_philox_uniform(input, COUNT, 11, 0);
    memset(output, 0xff, BYTES);
    weft_host_tensor tensors[] = {{.name = "x", .data = input, .bytes = BYTES},
                                  {.name = "y", .data = output, .bytes = BYTES}};
    weft_status status = weft_plan_execute(plan, tensors, 2);
    free(input);
    return status;
}

TEST(test_fusion_changes_no_bit, f) {
    float *fused = malloc(BYTES);
    float *plain = malloc(BYTES);
    weft_plan *with = compile(f, LENGTH, 2, NULL);
    weft_plan *without = compile(f, LENGTH, 2, weft_plan_params(.no_fusion = true));
    weft_plan_info with_info;
    weft_plan_info without_info;
    assert_ok(weft_plan_get_info(with, &with_info));
    assert_ok(weft_plan_get_info(without, &without_info));
    assert_true(with_info.dispatches < without_info.dispatches);
    assert_ok(execute(with, fused));
    assert_ok(execute(without, plain));
    assert_memory_equal(fused, plain, BYTES);
    weft_plan_destroy(&with);
    weft_plan_destroy(&without);
    free(fused);
    free(plain);
}

struct product {
    weft_shape a, b;
    weft_matmul_params params;
};

static float *multiply(struct fixture *fixture, const struct product *product, const char *kernel,
                       size_t *bytes) {
    weft_graph *graph = NULL;
    weft_plan *plan = NULL;
    weft_tensor a;
    weft_tensor b;
    weft_tensor y;
    weft_shape shape;
    assert_ok(weft_graph_create(&graph, &fixture->host.host));
    assert_ok(weft_graph_input(&a, graph, "a", WEFT_F32, product->a));
    assert_ok(weft_graph_input(&b, graph, "b", WEFT_F32, product->b));
    assert_ok(weft_graph_matmul(&y, graph, a, b, &product->params));
    assert_ok(weft_graph_get_tensor(graph, y, &shape, NULL));
    assert_ok(weft_graph_activate(&y, graph, y, WEFT_ACTIVATION_GELU_TANH));
    assert_ok(weft_graph_output(graph, "y", y));
    assert_ok(weft_plan_compile(&plan, fixture->device, graph,
                                weft_plan_params(.implementation = kernel)));
    size_t a_count = (size_t)weft_shape_elements(product->a);
    size_t b_count = (size_t)weft_shape_elements(product->b);
    float *a_data = malloc(a_count * sizeof *a_data);
    float *b_data = malloc(b_count * sizeof *b_data);
    *bytes = (size_t)weft_shape_elements(shape) * sizeof(float);
    float *y_data = malloc(*bytes);
    weft_philox_uniform(a_data, a_count, 21, 0);
    weft_philox_uniform(b_data, b_count, 21, 1);
    memset(y_data, 0xff, *bytes);
    weft_host_tensor tensors[] = {{"a", a_data, a_count * sizeof *a_data},
                                  {"b", b_data, b_count * sizeof *b_data},
                                  {"y", y_data, *bytes}};
    assert_ok(weft_plan_execute(plan, tensors, 3));
    free(a_data);
    free(b_data);
    weft_plan_destroy(&plan);
    weft_graph_destroy(&graph);
    return y_data;
}

/** All kernels add in the same order, so a device may take any. */
TEST(test_product_kernels_agree, f) {
    const struct product products[] = {
        {weft_shape_of(1, 1), weft_shape_of(1, 1), {0}},
        {weft_shape_of(65, 129), weft_shape_of(129, 131), {0}},
        {weft_shape_of(3, 64, 768), weft_shape_of(768, 132), {0}},
        {weft_shape_of(2, 70, 33),
         weft_shape_of(2, 67, 70),
         {.transpose_a = true, .transpose_b = true}},
        {weft_shape_of(129, 200), weft_shape_of(36, 200), {.transpose_b = true, .alpha = 0.25F}},
    };
    const char *const kernels[] = {NULL, "tiled", "tiled-128", "tiled-32"};
    for (size_t i = 0; i < sizeof products / sizeof products[0]; i++) {
        size_t bytes = 0;
        float *direct = multiply(f, &products[i], "direct", &bytes);
        for (size_t k = 0; k < sizeof kernels / sizeof kernels[0]; k++) {
            float *other = multiply(f, &products[i], kernels[k], &bytes);
            assert_memory_equal(direct, other, bytes);
            free(other);
        }
        free(direct);
    }
}

/** Tensors that are alive at the same dispatch never share memory, whatever the placement. */
TEST(test_placement_is_sound_and_tight, f) {
    weft_plan *plan = compile(f, LENGTH, 3, NULL);
    const struct weft_lowering *lowering = &plan->lowering;
    for (uint32_t i = 0; i < lowering->storage_count; i++) {
        for (uint32_t k = 0; k < i; k++) {
            const struct weft_storage *a = &lowering->storages[i];
            const struct weft_storage *b = &lowering->storages[k];
            bool both = a->kind == WEFT_STORAGE_ARENA && b->kind == WEFT_STORAGE_ARENA;
            if (both && a->first <= b->last && b->first <= a->last) {
                assert_true(a->offset + a->bytes <= b->offset || b->offset + b->bytes <= a->offset);
            }
        }
    }
    assert_true((double)plan->info.arena_bytes <= 1.1 * (double)plan->info.arena_lower_bound);
    weft_plan_destroy(&plan);
}

/** Splitting into many submissions, and single dispatches into parts, changes no bit. */
TEST(test_split_submissions, fixture) {
    float *whole = malloc(BYTES);
    float *split = malloc(BYTES);
    weft_plan *plan = compile(fixture, LENGTH, 2, NULL);
    weft_plan_info info;
    assert_ok(weft_plan_get_info(plan, &info));
    assert_int_equal(info.submissions, 1);
    assert_ok(execute(plan, whole));
    weft_plan_destroy(&plan);
    close_device(fixture);

    open_device(fixture, 0, 1);
    fixture->device->flops_per_ms = 1e5; /* as if it were very slow */
    plan = compile(fixture, LENGTH, 2, NULL);
    assert_ok(weft_plan_get_info(plan, &info));
    assert_true(info.submissions > info.dispatches);
    assert_ok(execute(plan, split));
    assert_memory_equal(whole, split, BYTES);
    weft_plan_destroy(&plan);
    free(whole);
    free(split);
}

TEST(test_plans_share_weights_and_pipelines, fixture) {
    weft_plan *first = compile(fixture, LENGTH, 1, NULL);
    weft_device_stats before;
    weft_device_stats after;
    weft_plan_info info;
    assert_ok(weft_device_get_stats(fixture->device, &before));
    weft_plan *second = compile(fixture, LENGTH, 2, NULL);
    assert_ok(weft_device_get_stats(fixture->device, &after));
    assert_ok(weft_plan_get_info(second, &info));
    assert_int_equal(before.pipelines_created, after.pipelines_created);
    assert_int_equal(after.bytes_in_use - before.bytes_in_use, info.arena_bytes);
    weft_plan_destroy(&first);
    weft_plan_destroy(&second);
    weft_device_trim(fixture->device);
    assert_ok(weft_device_get_stats(fixture->device, &after));
    assert_true(after.bytes_in_use < before.bytes_in_use);
}

/** Fast mode measures the Fourier mixer's implementations once and finds the answer on disk after. */
TEST(test_measured_choice_is_remembered, fixture) {
    weft_device_stats before;
    weft_device_stats after;
    const char *first = NULL;
    const char *second = NULL;
    char *folder = weft_test_folder();
    close_device(fixture);
    assert_ok(weft_device_open(&fixture->device,
                               weft_device_params(.host = fixture->host.host,
                                                  .math = WEFT_MATH_FAST, .cache_dir = folder)));
    weft_plan *measured = compile(fixture, 6, 1, NULL);
    assert_ok(weft_plan_describe(measured, "choose", &first));
    assert_true(strstr(first, "[fft") || strstr(first, "[matrix]"));
    assert_ok(weft_device_get_stats(fixture->device, &before));
    weft_plan *remembered = compile(fixture, 6, 1, NULL);
    assert_ok(weft_device_get_stats(fixture->device, &after));
    assert_ok(weft_plan_describe(remembered, "choose", &second));
    assert_string_equal(first, second);
    assert_int_equal(after.submissions, before.submissions); /* nothing was run to find out */
    weft_plan_destroy(&measured);
    weft_plan_destroy(&remembered);
    close_device(fixture);
    open_device(fixture, 0, 0);
}

TEST(test_too_little_memory, fixture) {
    weft_device_stats stats;
    weft_plan *plan = compile(fixture, LENGTH, 1, NULL);
    assert_ok(weft_device_get_stats(fixture->device, &stats));
    uint64_t needed = stats.bytes_in_use;
    weft_plan_destroy(&plan);
    close_device(fixture);

    open_device(fixture, needed - 1, 0);
    weft_graph *graph = make_graph(fixture, LENGTH, 1);
    WEFT_EXPECT_REFUSED(&fixture->host, WEFT_OUT_OF_DEVICE_MEMORY,
                        weft_plan_compile(&plan, fixture->device, graph, NULL), "bytes", "limit");
    assert_null(plan);
    weft_graph_destroy(&graph);

    /* A smaller plan still works: what the failure left behind is not in the way. */
    plan = compile(fixture, 2, 1, NULL);
    weft_plan_destroy(&plan);
}

static VKAPI_ATTR VkResult VKAPI_CALL submit_to_a_lost_device(VkQueue queue, uint32_t count,
                                                              const VkSubmitInfo *submits,
                                                              VkFence fence) {
    (void)queue;
    (void)count;
    (void)submits;
    (void)fence;
    return VK_ERROR_DEVICE_LOST;
}

TEST(test_lost_device, fixture) {
    float *output = malloc(BYTES);
    weft_plan *plan = compile(fixture, LENGTH, 1, NULL);
    weft_graph *graph = make_graph(fixture, LENGTH, 1);
    weft_plan *another = NULL;
    assert_ok(execute(plan, output));
    fixture->device->vk.QueueSubmit = submit_to_a_lost_device;
    assert_int_equal(execute(plan, output), WEFT_DEVICE_LOST);
    assert_int_equal(execute(plan, output), WEFT_DEVICE_LOST);
    assert_int_equal(weft_plan_compile(&another, fixture->device, graph, NULL), WEFT_DEVICE_LOST);
    assert_null(another);
    weft_graph_destroy(&graph);
    weft_plan_destroy(&plan); /* and everything can still be destroyed */
    free(output);
}

TEST(test_execute_checks_its_tensors, fixture) {
    float *data = malloc(BYTES);
    weft_plan *plan = compile(fixture, LENGTH, 1, NULL);
    weft_host_tensor tensors[] = {{.name = "y", .data = data, .bytes = BYTES},
                                  {.name = "x", .data = data, .bytes = 8}};
    WEFT_EXPECT_REFUSED(&fixture->host, WEFT_INVALID_ARGUMENT, weft_plan_execute(plan, tensors, 1),
                        "input 'x' is not given");
    WEFT_EXPECT_REFUSED(&fixture->host, WEFT_SHAPE_MISMATCH, weft_plan_execute(plan, tensors, 2),
                        "[2, 33, 72]", "8 given");
    tensors[1].bytes = BYTES;
    tensors[0].name = "z";
    WEFT_EXPECT_REFUSED(&fixture->host, WEFT_NOT_FOUND, weft_plan_execute(plan, tensors, 2), "'z'");
    weft_plan_destroy(&plan);
    free(data);
}

TEST(test_timings, fixture) {
    float *output = malloc(BYTES);
    weft_timing timings[64];
    uint32_t count = 64;
    weft_plan *plan = compile(fixture, LENGTH, 1, NULL);
    assert_int_equal(weft_plan_get_timings(plan, timings, &count), WEFT_UNSUPPORTED);
    weft_plan_destroy(&plan);
    plan = compile(fixture, LENGTH, 1, weft_plan_params(.timestamps = true));
    assert_int_equal(weft_plan_get_timings(plan, timings, &count), WEFT_INVALID_ARGUMENT);
    assert_ok(execute(plan, output));
    assert_ok(weft_plan_get_timings(plan, timings, &count));
    assert_int_equal(count, plan->info.dispatches);
    for (uint32_t i = 0; i < count; i++) {
        assert_true(timings[i].duration_ms >= 0.0);
        assert_true(i == 0 || timings[i].start_ms >= timings[i - 1].start_ms);
    }
    weft_plan_destroy(&plan);
    free(output);
}

TEST(test_submissions_may_overlap, fixture) {
    float *expected = malloc(BYTES);
    float *found = malloc(BYTES);
    weft_buffer *input = NULL;
    weft_buffer *output = NULL;
    weft_bindings *bindings = NULL;
    uint64_t tickets[3];
    bool done = false;
    weft_plan *plan = compile(fixture, LENGTH, 1, NULL);
    assert_ok(execute(plan, expected));
    weft_philox_uniform(found, COUNT, 11, 0);
    assert_ok(weft_buffer_create(&input, fixture->device, BYTES));
    assert_ok(weft_buffer_create(&output, fixture->device, BYTES));
    assert_ok(weft_buffer_write(input, 0, found, BYTES));
    assert_ok(weft_bindings_create(&bindings, plan));
    assert_ok(weft_bindings_set(bindings, "x", input));
    assert_ok(weft_bindings_set(bindings, "y", output));
    for (int i = 0; i < 3; i++) {
        assert_ok(weft_plan_submit(plan, bindings, &tickets[i]));
    }
    assert_ok(weft_plan_wait(plan, tickets[2], UINT64_MAX, &done));
    assert_true(done);
    assert_ok(weft_buffer_read(output, 0, found, BYTES));
    assert_memory_equal(found, expected, BYTES);
    weft_bindings_destroy(&bindings);
    weft_buffer_destroy(&input);
    weft_buffer_destroy(&output);
    weft_plan_destroy(&plan);
    free(expected);
    free(found);
}

TEST(test_out_of_host_memory, fixture) {
    weft_graph *graph = make_graph(fixture, 5, 1);
    weft_plan *plan = NULL;
    assert_ok(weft_plan_compile(&plan, fixture->device, graph, NULL));
    weft_plan_destroy(&plan);
    weft_status status = WEFT_OUT_OF_HOST_MEMORY;
    while (weft_test_next_failure(&fixture->host, status)) {
        status = weft_plan_compile(&plan, fixture->device, graph, NULL);
    }
    weft_plan_destroy(&plan);
    weft_graph_destroy(&graph);
}

TEST(test_describe, fixture) {
    const char *text = NULL;
    weft_plan *plan = compile(fixture, LENGTH, 1, NULL);
    for (uint32_t i = 0; i < WEFT_PLAN_PASS_COUNT; i++) {
        assert_ok(weft_plan_describe(plan, weft_plan_passes[i], &text));
        assert_true(strlen(text) > 20);
    }
    WEFT_EXPECT_REFUSED(&fixture->host, WEFT_NOT_FOUND, weft_plan_describe(plan, "tile", &text),
                        "'tile'");
    weft_plan_destroy(&plan);
    weft_graph *empty = NULL;
    assert_ok(weft_graph_create(&empty, &fixture->host.host));
    WEFT_EXPECT_REFUSED(&fixture->host, WEFT_INVALID_ARGUMENT,
                        weft_plan_compile(&plan, fixture->device, empty, NULL), "no output");
    weft_graph_destroy(&empty);
}

/* weft/inspect.h gives what a program needs to run the plan itself. */
static void check_kernel(const weft_plan *plan, uint32_t dispatch) {
    weft_kernel_info kernel;
    weft_operand_info operand;
    weft_storage_info storage;
    assert_ok(weft_plan_get_kernel(plan, dispatch, &kernel));
    assert_true(kernel.operand_count > 0);
    for (uint32_t i = 0; i < kernel.operand_count; i++) {
        assert_ok(weft_plan_get_operand(plan, dispatch, i, &operand));
        assert_ok(weft_plan_get_storage(plan, operand.storage, &storage));
        assert_in_range(operand.offset + operand.bytes, 1, storage.bytes);
        assert_false(operand.written && storage.kind == WEFT_STORAGE_CONSTANT);
    }
    assert_int_equal(weft_plan_get_operand(plan, dispatch, kernel.operand_count, &operand),
                     WEFT_NOT_FOUND);
}

static void check_module(const weft_plan *plan, uint32_t dispatch, weft_module_form form) {
    const uint32_t magic = 0x07230203;
    size_t size = 0;
    assert_ok(weft_plan_get_module(plan, dispatch, form, NULL, &size));
    size_t room = size - 4;
    uint32_t *words = malloc(size);
    assert_int_equal(weft_plan_get_module(plan, dispatch, form, words, &room),
                     WEFT_INVALID_ARGUMENT);
    assert_ok(weft_plan_get_module(plan, dispatch, form, words, &size));
    assert_int_equal(words[0], magic);
    free(words);
}

TEST(test_inspect, fixture) {
    weft_plan *plan = compile(fixture, LENGTH, 1, NULL);
    weft_plan_info info;
    weft_storage_info storage;
    uint32_t constants = 0;
    assert_ok(weft_plan_get_info(plan, &info));
    for (uint32_t i = 0; i < info.dispatches; i++) {
        check_kernel(plan, i);
        check_module(plan, i, WEFT_MODULE_OF_DEVICE);
        check_module(plan, i, WEFT_MODULE_PORTABLE);
    }
    for (uint32_t i = 0; weft_plan_get_storage(plan, i, &storage) == WEFT_OK; i++) {
        uint8_t *bytes = malloc((size_t)storage.bytes);
        const weft_status expected =
            storage.kind == WEFT_STORAGE_CONSTANT ? WEFT_OK : WEFT_INVALID_ARGUMENT;
        assert_int_equal(weft_plan_read_constant(plan, i, bytes), expected);
        constants += storage.kind == WEFT_STORAGE_CONSTANT;
        free(bytes);
    }
    assert_in_range(constants, fixture->weight_count, UINT32_MAX);
    size_t size = 0;
    weft_kernel_info kernel;
    assert_int_equal(weft_plan_get_kernel(plan, info.dispatches, &kernel), WEFT_NOT_FOUND);
    assert_int_equal(
        weft_plan_get_module(plan, info.dispatches, WEFT_MODULE_OF_DEVICE, NULL, &size),
        WEFT_NOT_FOUND);
    weft_plan_destroy(&plan);
}
