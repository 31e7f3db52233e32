/* SPDX-License-Identifier: MIT */
/*
 * Weft inside a program that uses OpenCL: the program's own kernel fills a cl_mem, a network computes in place on it, and the
 * program's queue reads the result. No data passes through the host between them.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <weft/graph.h>
#include <weft/opencl.h>

#define ROWS    64
#define COLUMNS 32
#define COUNT   ((size_t)ROWS * COLUMNS)
#define BYTES   (COUNT * sizeof(float))

/* ---- the program's own OpenCL ---- */

typedef struct engine {
    cl_platform_id platform;
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
    cl_program program;
    cl_kernel wave;
    cl_mem memory; /* the network's input, and behind it its output */
} engine;

static const char source[] = "__kernel void wave(__global float *x, float step)\n"
                             "{\n"
                             "    int i = get_global_id(0);\n"
                             "    x[i] = step * (float)(i % 61 - 30);\n"
                             "}\n";

static bool check(cl_int error, const char *function) {
    if (error != CL_SUCCESS) {
        fprintf(stderr, "%s: error %d\n", function, (int)error);
    }
    return error == CL_SUCCESS;
}

static bool make_queue(engine *e) {
    cl_int error = clGetPlatformIDs(1, &e->platform, NULL);
    if (!check(error, "clGetPlatformIDs") ||
        !check(clGetDeviceIDs(e->platform, CL_DEVICE_TYPE_ALL, 1, &e->device, NULL),
               "clGetDeviceIDs")) {
        return false;
    }
    const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM,
                                                (cl_context_properties)e->platform, 0};
    e->context = clCreateContext(properties, 1, &e->device, NULL, NULL, &error);
    if (!check(error, "clCreateContext")) {
        return false;
    }
    e->queue = clCreateCommandQueue(e->context, e->device, 0, &error);
    return check(error, "clCreateCommandQueue");
}

static bool make_kernel(engine *e) {
    const char *text = source;
    cl_int error = CL_SUCCESS;
    e->memory = clCreateBuffer(e->context, CL_MEM_READ_WRITE, 2 * BYTES, NULL, &error);
    if (!check(error, "clCreateBuffer")) {
        return false;
    }
    e->program = clCreateProgramWithSource(e->context, 1, &text, NULL, &error);
    if (!check(error, "clCreateProgramWithSource") ||
        !check(clBuildProgram(e->program, 1, &e->device, "", NULL, NULL), "clBuildProgram")) {
        return false;
    }
    e->wave = clCreateKernel(e->program, "wave", &error);
    return check(error, "clCreateKernel");
}

static void destroy_engine(const engine *e) {
    if (e->wave) {
        clReleaseKernel(e->wave);
    }
    if (e->program) {
        clReleaseProgram(e->program);
    }
    if (e->memory) {
        clReleaseMemObject(e->memory);
    }
    if (e->queue) {
        clReleaseCommandQueue(e->queue);
    }
    if (e->context) {
        clReleaseContext(e->context);
    }
}

/* ---- Weft on it ---- */

typedef struct network {
    weft_device *device;
    weft_plan *plan;
    weft_buffer *input, *output;
    weft_bindings *bindings;
} network;

static void print_log(void *user, weft_log_level level, const char *message) {
    (void)user;
    if (level <= WEFT_LOG_WARNING) {
        fprintf(stderr, "weft: %s\n", message);
    }
}

/* Returns the first error, where nothing has to be cleaned up. */
#define TRY(call)                          \
    do {                                   \
        const weft_status status = (call); \
        if (status != WEFT_OK) {           \
            return status;                 \
        }                                  \
    } while (0)

/* y = softmax(SiLU(x)), each row by itself */
static weft_status build(weft_graph *graph) {
    weft_tensor x = {0};
    TRY(weft_graph_input(&x, graph, "x", WEFT_F32, weft_shape_of(ROWS, COLUMNS)));
    TRY(weft_graph_activate(&x, graph, x, WEFT_ACTIVATION_SILU));
    TRY(weft_graph_softmax(&x, graph, x));
    return weft_graph_output(graph, "y", x);
}

static weft_status compile(network *n) {
    weft_graph *graph = NULL;
    weft_host host = {.log = print_log};
    TRY(weft_graph_create(&graph, &host));
    weft_status status = build(graph);
    if (status == WEFT_OK) {
        status = weft_plan_compile(&n->plan, n->device, graph, NULL);
    }
    weft_graph_destroy(&graph);
    return status;
}

static weft_status make_network(network *n, const engine *e) {
    const weft_device_adopt_opencl_params params = {
        .host = {.log = print_log}, .context = e->context, .queue = e->queue};
    TRY(weft_device_adopt_opencl(&n->device, &params));
    TRY(compile(n));
    TRY(weft_buffer_wrap_opencl(&n->input, n->device, e->memory, 0, BYTES));
    TRY(weft_buffer_wrap_opencl(&n->output, n->device, e->memory, BYTES, BYTES));
    TRY(weft_bindings_create(&n->bindings, n->plan));
    TRY(weft_bindings_set(n->bindings, "x", n->input));
    return weft_bindings_set(n->bindings, "y", n->output);
}

/* Before the program's cl_mem goes. */
static void destroy_network(network *n) {
    weft_bindings_destroy(&n->bindings);
    weft_buffer_destroy(&n->input);
    weft_buffer_destroy(&n->output);
    weft_plan_destroy(&n->plan);
    weft_device_destroy(&n->device);
}

/* ---- one round ---- */

/* Enqueued, and not waited for: Weft's commands come behind it in the same queue. */
static bool fill_input(const engine *e, float step) {
    const size_t count = COUNT;
    return check(clSetKernelArg(e->wave, 0, sizeof e->memory, &e->memory), "clSetKernelArg") &&
           check(clSetKernelArg(e->wave, 1, sizeof step, &step), "clSetKernelArg") &&
           check(clEnqueueNDRangeKernel(e->queue, e->wave, 1, NULL, &count, NULL, 0, NULL, NULL),
                 "clEnqueueNDRangeKernel");
}

/* Each row of a softmax adds up to 1. */
static bool rows_add_up(const float *y) {
    for (int row = 0; row < ROWS; row++) {
        float sum = 0.0f;
        for (int column = 0; column < COLUMNS; column++) {
            sum += y[row * COLUMNS + column];
        }
        if (!(fabsf(sum - 1.0f) < 1e-4f)) {
            fprintf(stderr, "row %d adds up to %g\n", row, (double)sum);
            return false;
        }
    }
    return true;
}

static bool run_round(const engine *e, const network *n, float step) {
    static float y[COUNT];
    if (!fill_input(e, step) || weft_plan_run(n->plan, n->bindings) != WEFT_OK ||
        !check(clEnqueueReadBuffer(e->queue, e->memory, CL_TRUE, BYTES, BYTES, y, 0, NULL, NULL),
               "clEnqueueReadBuffer")) {
        return false;
    }
    printf("y[0] = %g %g %g %g ...\n", (double)y[0], (double)y[1], (double)y[2], (double)y[3]);
    return rows_add_up(y);
}

int main(void) {
    engine e = {0};
    network n = {0};
    bool fine = make_queue(&e) && make_kernel(&e) && make_network(&n, &e) == WEFT_OK;
    for (int round = 1; round <= 3 && fine; round++) {
        fine = run_round(&e, &n, 0.02f * (float)round);
    }
    destroy_network(&n);
    destroy_engine(&e);
    return fine ? 0 : 1;
}
