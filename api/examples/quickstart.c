/* SPDX-License-Identifier: MIT */
/* Opens a device, builds LayerNorm(fourier(GELU(x Wᵀ + b))), and runs it on numbers of the host. */
#include <math.h>
#include <stdio.h>
#include <weft/mixers.h>

enum { LENGTH = 16, WIDTH = 8 };

static void print_log(void *user, weft_log_level level, const char *message) {
    (void)user;
    if (level <= WEFT_LOG_WARNING) {
        fprintf(stderr, "%s\n", message);
    }
}

static weft_status weight(weft_tensor *out, weft_graph *graph, weft_shape shape,
                          const float *data) {
    weft_weight *weight = NULL;
    weft_status status =
        weft_weight_create(&weight, weft_weight_params(.shape = shape, .data = data), NULL);
    status = status ? status : weft_graph_weight(out, graph, weight);
    weft_weight_destroy(&weight); /* the graph keeps what it needs */
    return status;
}

static weft_status build(weft_graph *graph) {
    float matrix[WIDTH * WIDTH], ones[WIDTH], zeros[WIDTH] = {0};
    for (int i = 0; i < WIDTH * WIDTH; i++) {
        matrix[i] = sinf((float)i);
        ones[i % WIDTH] = 1.0f;
    }
    weft_tensor x = {0}, w = {0}, one = {0}, zero = {0};
    weft_status status =
        weft_graph_input(&x, graph, "x", WEFT_F32, weft_shape_of(1, LENGTH, WIDTH));
    status = status ? status : weight(&w, graph, weft_shape_of(WIDTH, WIDTH), matrix);
    status = status ? status : weight(&one, graph, weft_shape_of(WIDTH), ones);
    status = status ? status : weight(&zero, graph, weft_shape_of(WIDTH), zeros);
    status = status ? status : weft_graph_linear(&x, graph, x, w, zero);
    status = status ? status : weft_graph_activate(&x, graph, x, WEFT_ACTIVATION_GELU_TANH);
    status = status ? status : weft_graph_fourier(&x, graph, x);
    status = status ? status : weft_graph_layer_norm(&x, graph, x, one, zero, 1e-12f);
    return status ? status : weft_graph_output(graph, "y", x);
}

int main(void) {
    float x[LENGTH * WIDTH], y[LENGTH * WIDTH];
    for (int i = 0; i < LENGTH * WIDTH; i++) {
        x[i] = cosf((float)i);
    }
    const weft_host_tensor tensors[] = {{"x", x, sizeof x}, {"y", y, sizeof y}};
    weft_device *device = NULL;
    weft_graph *graph = NULL;
    weft_plan *plan = NULL;
    weft_host host = {.log = print_log};
    weft_status status = weft_device_open(&device, weft_device_params(.host = host));
    status = status ? status : weft_graph_create(&graph, &host);
    status = status ? status : build(graph);
    status = status ? status : weft_plan_compile(&plan, device, graph, NULL);
    status = status ? status : weft_plan_execute(plan, tensors, 2);
    if (status == WEFT_OK) {
        printf("y[0] = %g %g %g ...\n", (double)y[0], (double)y[1], (double)y[2]);
    }
    weft_plan_destroy(&plan); /* before its device */
    weft_graph_destroy(&graph);
    weft_device_destroy(&device);
    return status == WEFT_OK ? 0 : 1;
}
