/* SPDX-License-Identifier: MIT */
#include "support_graph.h"

#include "device/device.h"
#include "null/null_device.h"

/* Without a folder of its own the device has the one that tests share, so that each kernel is compiled once for all of them. */
static int set_up(void **state, char *folder, weft_device_params params) {
    struct weft_test_graph *f = calloc(1, sizeof *f);
    assert_non_null(f);
    weft_test_host_begin(&f->host);
    f->folder = folder;
    params.host = f->host.host;
    if (folder) {
        params.cache_dir = folder;
    }
    if (weft_device_open(&f->device, &params) != WEFT_OK) {
        fail_msg("no device: %s", weft_test_log(&f->host));
    }
    assert_ok(weft_graph_create(&f->graph, &f->host.host));
    *state = f;
    return 0;
}

int weft_test_graph_set_up(void **state) {
    return set_up(state, NULL, (weft_device_params){0});
}

int weft_test_graph_set_up_cached(void **state) {
    return set_up(state, weft_test_folder(), (weft_device_params){0});
}

int weft_test_graph_set_up_null(void **state, weft_device_params params) {
    params.select = weft_null_backend.driver;
    params.cache_dir = "";
    weft_test_set_variable("WEFT_NULL_DEVICE", "1");
    const int result = set_up(state, NULL, params);
    weft_test_set_variable("WEFT_NULL_DEVICE", NULL);
    return result;
}

int weft_test_graph_tear_down(void **state) {
    struct weft_test_graph *f = *state;
    weft_graph_destroy(&f->graph);
    weft_test_device_close(&f->device);
    weft_test_host_end(&f->host);
    free(f);
    return 0;
}

/* ---- parts of graphs ---- */

static weft_tensor add_input(weft_graph *graph, const char *name, weft_dtype dtype,
                             weft_shape shape) {
    weft_tensor tensor;
    assert_ok(weft_graph_input(&tensor, graph, name, dtype, shape));
    return tensor;
}

static weft_tensor add_weight(weft_graph *graph, weft_dtype dtype, weft_shape shape,
                              const void *data) {
    weft_weight *weight = NULL;
    weft_tensor tensor;
    assert_ok(weft_weight_create(
        &weight, weft_weight_params(.dtype = dtype, .shape = shape, .data = data), &graph->host));
    assert_ok(weft_graph_weight(&tensor, graph, weight));
    weft_weight_destroy(&weight);
    return tensor;
}

weft_tensor weft_test_input_i32(weft_graph *graph, const char *name, weft_shape shape) {
    return add_input(graph, name, WEFT_I32, shape);
}

weft_tensor weft_test_constant(weft_graph *graph, weft_shape shape, const float *data) {
    return add_weight(graph, WEFT_F32, shape, data);
}

weft_tensor weft_test_constant_i32(weft_graph *graph, weft_shape shape, const int32_t *data) {
    return add_weight(graph, WEFT_I32, shape, data);
}

weft_tensor weft_test_input(weft_graph *graph, const char *name, weft_shape shape) {
    return add_input(graph, name, WEFT_F32, shape);
}

void weft_test_expect_shape(weft_graph *graph, weft_tensor tensor, weft_shape shape) {
    weft_shape found;
    assert_ok(weft_graph_get_tensor(graph, tensor, &found, NULL));
    char texts[2][WEFT_SHAPE_TEXT_SIZE];
    weft_shape_text(found, texts[0]);
    weft_shape_text(shape, texts[1]);
    assert_string_equal(texts[0], texts[1]);
}

/* ---- a graph that is run once ---- */

struct weft_test_run weft_test_begin(weft_device *device) {
    struct weft_test_run run = {.device = device};
    assert_ok(weft_graph_create(&run.graph, &device->host));
    return run;
}

static void bind(struct weft_test_run *run, const char *name, weft_shape shape, void *data) {
    assert_true(run->count < sizeof run->tensors / sizeof run->tensors[0]);
    run->tensors[run->count++] =
        (weft_host_tensor){name, data, weft_shape_elements(shape) * sizeof(float)};
}

weft_tensor weft_test_feed(struct weft_test_run *run, const char *name, weft_shape shape,
                           const float *data) {
    bind(run, name, shape, (void *)(uintptr_t)data);
    return weft_test_input(run->graph, name, shape);
}

weft_tensor weft_test_feed_i32(struct weft_test_run *run, const char *name, weft_shape shape,
                               const int32_t *data) {
    bind(run, name, shape, (void *)(uintptr_t)data);
    return weft_test_input_i32(run->graph, name, shape);
}

void weft_test_feed_state(struct weft_test_run *run, const char *name, weft_shape shape,
                          float *data) {
    bind(run, name, shape, data);
}

void weft_test_take(struct weft_test_run *run, const char *name, weft_tensor tensor, float *out) {
    weft_shape shape;
    assert_ok(weft_graph_get_tensor(run->graph, tensor, &shape, NULL));
    assert_ok(weft_graph_output(run->graph, name, tensor));
    bind(run, name, shape, out);
    run->taken[run->count - 1] = true;
    memset(out, 0xff, weft_shape_elements(shape) * sizeof(float));
}

weft_plan *weft_test_plan(struct weft_test_run *run, const char *implementation) {
    weft_plan *plan = NULL;
    assert_ok(weft_plan_compile(&plan, run->device, run->graph,
                                weft_plan_params(.implementation = implementation)));
    weft_graph_destroy(&run->graph);
    return plan;
}

void weft_test_run_plan(struct weft_test_run *run, weft_plan *plan) {
    weft_buffer *buffers[sizeof run->tensors / sizeof run->tensors[0]] = {NULL};
    weft_bindings *bindings = NULL;
    assert_ok(weft_bindings_create(&bindings, plan));
    for (uint32_t i = 0; i < run->count; i++) {
        const weft_host_tensor *tensor = &run->tensors[i];
        assert_ok(weft_buffer_create(&buffers[i], run->device, tensor->bytes));
        assert_ok(weft_buffer_write(buffers[i], 0, tensor->data, tensor->bytes));
        assert_ok(weft_bindings_set(bindings, tensor->name, buffers[i]));
    }
    assert_ok(weft_plan_run(plan, bindings));
    for (uint32_t i = 0; i < run->count; i++) {
        if (run->taken[i]) {
            assert_ok(weft_buffer_read(buffers[i], 0, run->tensors[i].data, run->tensors[i].bytes));
        }
    }
    weft_bindings_destroy(&bindings);
    for (uint32_t i = 0; i < run->count; i++) {
        weft_buffer_destroy(&buffers[i]);
    }
}

void weft_test_execute(struct weft_test_run *run, const char *implementation) {
    weft_plan *plan = weft_test_plan(run, implementation);
    weft_test_run_plan(run, plan);
    weft_plan_destroy(&plan);
}

void weft_test_execute_in_parts(struct weft_test_run *run, uint32_t bytes) {
    weft_plan_info info;
    run->device->limits.maxStorageBufferRange = bytes;
    weft_plan *plan = weft_test_plan(run, NULL);
    assert_ok(weft_plan_get_info(plan, &info));
    assert_true(info.dispatches > 1);
    weft_test_run_plan(run, plan);
    weft_plan_destroy(&plan);
}

void weft_test_execute_chosen(struct weft_test_run *run, const char *implementation,
                              const char *chosen) {
    weft_plan *plan = weft_test_plan(run, implementation);
    const char *choices = NULL;
    assert_ok(weft_plan_describe(plan, "choices", &choices));
    if (!strstr(choices, weft_test_text("* %s", chosen))) {
        fail_msg("%s is not chosen:\n%s", chosen, choices);
    }
    weft_test_run_plan(run, plan);
    weft_plan_destroy(&plan);
}

void weft_test_execute_row(struct weft_test_run *run, const char *row) {
    weft_test_execute_chosen(run, row, weft_test_text("%s ", row));
}

void weft_test_execute_to(struct weft_test_run *run, weft_tensor tensor, float *out) {
    weft_test_take(run, "y", tensor, out);
    weft_test_execute(run, NULL);
}

weft_plan *weft_test_plan_to(struct weft_test_run *run, const char *name, weft_tensor tensor,
                             const char *implementation) {
    assert_ok(weft_graph_output(run->graph, name, tensor));
    return weft_test_plan(run, implementation);
}

weft_plan_info weft_test_info_of(struct weft_test_run *run, weft_tensor tensor,
                                 const char *implementation) {
    weft_plan_info info;
    weft_plan *plan = weft_test_plan_to(run, "y", tensor, implementation);
    assert_ok(weft_plan_get_info(plan, &info));
    weft_plan_destroy(&plan);
    return info;
}
