/* SPDX-License-Identifier: MIT */
/*
 * Runs a small network on the processor device, and makes tables on the host. Prints whether this thread flushes
 * subnormal numbers, as it does in a program that was linked with -ffast-math, and a hash of all bits.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <weft/features.h>
#include <weft/mixers.h>

enum { LENGTH = 24, WIDTH = 32, COUNT = LENGTH * WIDTH };

static float numbers[COUNT], weights[WIDTH * WIDTH], ones[WIDTH], result[COUNT],
    table[WIDTH * WIDTH];

/* Exact in any float arithmetic, but for a few that -ffast-math takes for granted not to be: by their bits. */
static void fill(float *data, uint32_t count, uint32_t step) {
    for (uint32_t i = 0; i < count; i++) {
        data[i] = (float)((int)(i * step % 1024U) - 512) * 0x1p-9F;
    }
}

static void put_bits(float *at, uint32_t bits) {
    memcpy(at, &bits, sizeof bits);
}

static uint64_t add_hash(uint64_t hash, const void *data, size_t size) {
    for (size_t i = 0; i < size; i++) {
        hash = (hash ^ ((const unsigned char *)data)[i]) * UINT64_C(1099511628211);
    }
    return hash;
}

static weft_status add_weight(weft_tensor *out, weft_graph *graph, weft_shape shape,
                              const float *data) {
    weft_weight *weight = NULL;
    weft_status status =
        weft_weight_create(&weight, weft_weight_params(.shape = shape, .data = data), NULL);
    status = status ? status : weft_graph_weight(out, graph, weight);
    weft_weight_destroy(&weight);
    return status;
}

static weft_status build(weft_graph *graph) {
    weft_tensor x = {0}, matrix = {0}, gamma = {0}, beta = {0};
    weft_status status =
        weft_graph_input(&x, graph, "x", WEFT_F32, weft_shape_of(1, LENGTH, WIDTH));
    status = status ? status : add_weight(&matrix, graph, weft_shape_of(WIDTH, WIDTH), weights);
    status = status ? status : add_weight(&gamma, graph, weft_shape_of(WIDTH), ones);
    status = status ? status : add_weight(&beta, graph, weft_shape_of(WIDTH), weights);
    status = status ? status : weft_graph_linear(&x, graph, x, matrix, beta);
    status = status ? status : weft_graph_activate(&x, graph, x, WEFT_ACTIVATION_GELU_TANH);
    status = status ? status : weft_graph_layer_norm(&x, graph, x, gamma, beta, 1e-12F);
    status = status ? status : weft_graph_fourier(&x, graph, x);
    return status ? status : weft_graph_output(graph, "y", x);
}

static weft_status run(weft_device *device, weft_graph *graph) {
    weft_plan *plan = NULL;
    const weft_host_tensor tensors[] = {{"x", numbers, sizeof numbers},
                                        {"y", result, sizeof result}};
    weft_status status = weft_plan_compile(&plan, device, graph, NULL);
    status = status ? status : weft_plan_execute(plan, tensors, 2);
    weft_plan_destroy(&plan);
    return status;
}

int main(void) {
    weft_device *device = NULL;
    weft_graph *graph = NULL;
    volatile float small = 0x1p-126F;
    small *= 0.5F;
    uint32_t half = 0;
    memcpy(&half, (const float[]){small}, sizeof half);
    fill(numbers, COUNT, 40503);
    fill(weights, WIDTH * WIDTH, 2654);
    for (int i = 0; i < WIDTH; i++) {
        ones[i] = 1.0F;
    }
    put_bits(&numbers[5], 0x00000123); /* subnormal */
    put_bits(&weights[7], 0x80000001);
    weft_status status =
        weft_device_open(&device, weft_device_params(.select = "processor", .cache_dir = ""));
    status = status ? status : weft_graph_create(&graph, NULL);
    status = status ? status : build(graph);
    status = status ? status : run(device, graph);
    uint64_t hash = add_hash(UINT64_C(1469598103934665603), result, sizeof result);
    put_bits(&numbers[3 * WIDTH], 0x7fc00000); /* NaN in one row, infinity in another */
    put_bits(&numbers[9 * WIDTH], 0x7f800000);
    status = status ? status : run(device, graph);
    hash = add_hash(hash, result, sizeof result);
    status = status ? status
                    : weft_features_fill(
                          table, NULL,
                          weft_features_params(.rows = WIDTH, .columns = WIDTH, .seed = 3), NULL);
    hash = add_hash(hash, table, sizeof table);
    weft_graph_destroy(&graph);
    weft_device_destroy(&device);
    printf("%s flushes=%d %016llx\n", weft_status_name(status), half == 0,
           (unsigned long long)hash);
    return (int)status;
}
