/* SPDX-License-Identifier: MIT */
/* weft-test: one device */
/* What the device makes of the mixer in api/examples/mixer is, bit for bit, what its shaders mean: evaluated in plain C. */
#include <weft/graph.h>

#include "core/math/philox.h"
#include "moving_average.h"
#include "support.h"
#include "verify/evaluator/evaluator.h"

struct shape {
    uint32_t batch, n, d;
    bool reverse;
};

/* One chunk of 64 tokens and several, whole and not, and more than one group of 128. */
static const struct shape shapes[] = {{1, 1, 1, false},   {2, 63, 5, false}, {2, 64, 5, false},
                                      {2, 65, 5, false},  {2, 65, 5, true},  {3, 128, 43, false},
                                      {1, 257, 131, true}};

static weft_status compile(weft_plan **plan, weft_device *device, const struct shape *shape) {
    weft_graph *graph = NULL;
    weft_tensor x = {0}, alpha = {0}, y = {0};
    assert_ok(weft_graph_create(&graph, NULL));
    assert_ok(weft_graph_input(&x, graph, "x", WEFT_F32,
                               weft_shape_of(shape->batch, shape->n, shape->d)));
    assert_ok(weft_graph_input(&alpha, graph, "alpha", WEFT_F32, weft_shape_of(shape->d)));
    assert_ok(weft_graph_activate(&alpha, graph, alpha, WEFT_ACTIVATION_SIGMOID));
    assert_ok(graph_moving_average(&y, graph, x, alpha,
                                   moving_average_params(.reverse = shape->reverse)));
    assert_ok(weft_graph_output(graph, "y", y));
    const weft_status status = weft_plan_compile(plan, device, graph, NULL);
    weft_graph_destroy(&graph);
    return status;
}

static float *numbers(size_t count, uint64_t stream) {
    float *data = weft_test_keep(count * sizeof *data);
    weft_philox_uniform(data, count, 61, stream);
    return data;
}

WEFT_TEST_ON_DEVICE(device_does_what_the_shaders_mean, test) {
    weft_evaluator *evaluator = weft_evaluator_create(NULL);
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        const struct shape *shape = &shapes[i];
        const size_t count = (size_t)shape->batch * shape->n * shape->d;
        const uint64_t bytes = count * sizeof(float), few = shape->d * sizeof(float);
        float *x = numbers(count, 0), *alpha = numbers(shape->d, 1);
        float *y = numbers(count, 2), *evaluated = numbers(count, 3);
        char text[WEFT_EVALUATOR_TEXT] = "";
        weft_plan *plan = NULL;
        assert_ok(compile(&plan, test->device, shape));
        const weft_host_tensor tensors[] = {
            {"x", x, bytes}, {"alpha", alpha, few}, {"y", y, bytes}};
        assert_ok(weft_plan_execute(plan, tensors, 3));
        const struct weft_evaluated_port ports[] = {
            {"x", x, bytes}, {"alpha", alpha, few}, {"y", evaluated, bytes}};
        assert_ok(weft_evaluate_plan(text, evaluator, plan, ports, 3));
        assert_memory_equal(evaluated, y, bytes);
        weft_plan_destroy(&plan);
    }
    weft_evaluator_destroy(&evaluator);
}
