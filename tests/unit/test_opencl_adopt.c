/* SPDX-License-Identifier: MIT */
/* weft-test: opencl */
/* A program's own cl_context, queue and cl_mem (weft/opencl.h): plans in place between its commands, and what is refused. */
#include <weft/external.h>
#include <weft/opencl.h>
#include <weft/vulkan.h>

#include "opencl/devices.h"
#include "support_graph.h"
#include "support_opencl_device.h"

/* Input and output lie in one cl_mem, with bytes around them that nobody may touch. */
enum {
    N = 32,
    COUNT = N * N,
    BYTES = COUNT * 4,
    GUARD = 48,
    X_AT = GUARD,
    Y_AT = BYTES + 2 * GUARD
};
enum { ALL = Y_AT + BYTES + GUARD };

static const char source[] =
    "__kernel void fill(__global float *x, uint at, float step)\n"
    "{ size_t i = get_global_id(0); x[at + i] = step * (float)i - 1.0f; }\n";

struct program {
    struct weft_test_host host;
    const struct weft_cl_functions *cl; /* null: there is no device */
    cl_platform_id platform;
    cl_device_id id;
    cl_context context;
    cl_command_queue queue;
    cl_mem memory;
    cl_program built;
    cl_kernel fill;
};

static cl_context make_context(const struct program *p) {
    const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM,
                                                (cl_context_properties)p->platform, 0};
    cl_int error = CL_SUCCESS;
    cl_context made = p->cl->CreateContext(properties, 1, &p->id, NULL, NULL, &error);
    assert_int_equal(error, CL_SUCCESS);
    return made;
}

static cl_command_queue make_queue(const struct program *p, cl_context context) {
    cl_int error = CL_SUCCESS;
    cl_command_queue made = p->cl->CreateCommandQueue(context, p->id, 0, &error);
    assert_int_equal(error, CL_SUCCESS);
    return made;
}

static void make_kernel(struct program *p) {
    const char *text = source;
    cl_int error = CL_SUCCESS;
    p->built = p->cl->CreateProgramWithSource(p->context, 1, &text, NULL, &error);
    assert_int_equal(error, CL_SUCCESS);
    assert_int_equal(p->cl->BuildProgram(p->built, 1, &p->id, "", NULL, NULL), CL_SUCCESS);
    p->fill = p->cl->CreateKernel(p->built, "fill", &error);
    assert_int_equal(error, CL_SUCCESS);
}

static int set_up(void **state) {
    struct program *p = calloc(1, sizeof *p);
    cl_int error = CL_SUCCESS;
    assert_non_null(p);
    *state = p;
    if (weft_cl_device_count(NULL) == 0) {
        return 0;
    }
    const struct weft_cl_device *found = weft_cl_device_at(0);
    weft_test_host_begin(&p->host);
    p->cl = found->cl;
    p->platform = found->platform;
    p->id = found->id;
    p->context = make_context(p);
    p->queue = make_queue(p, p->context);
    p->memory = p->cl->CreateBuffer(p->context, CL_MEM_READ_WRITE, ALL, NULL, &error);
    assert_int_equal(error, CL_SUCCESS);
    make_kernel(p);
    return 0;
}

static void release_queue(struct program *p) {
    (void)p->cl->ReleaseCommandQueue(p->queue);
    (void)p->cl->ReleaseContext(p->context);
    p->queue = NULL;
    p->context = NULL;
}

static int tear_down(void **state) {
    struct program *p = *state;
    if (p->cl) {
        (void)p->cl->ReleaseKernel(p->fill);
        (void)p->cl->ReleaseProgram(p->built);
        (void)p->cl->ReleaseMemObject(p->memory);
        if (p->queue) {
            release_queue(p);
        }
        weft_test_host_end(&p->host);
    }
    free(p);
    return 0;
}

#define TEST(name) WEFT_TEST_WITH(name, struct program *p, set_up, tear_down)

static weft_status adopt(weft_device **device, const struct program *p, cl_context context,
                         cl_command_queue queue) {
    if (!p->cl) {
        (void)weft_test_need_opencl();
    }
    return weft_device_adopt_opencl(
        device,
        weft_device_adopt_opencl_params(.host = p->host.host, .context = context, .queue = queue));
}

/* ---- a plan between the program's commands ---- */

struct network {
    weft_device *device;
    weft_plan *plan;
    weft_buffer *x, *y;
    weft_bindings *bindings;
};

/* y = softmax(x) */
static weft_plan *compile(weft_device *device) {
    weft_graph *graph = NULL;
    weft_plan *plan = NULL;
    weft_tensor y = {0};
    assert_ok(weft_graph_create(&graph, NULL));
    assert_ok(weft_graph_softmax(&y, graph, weft_test_input(graph, "x", weft_shape_of(N, N))));
    assert_ok(weft_graph_output(graph, "y", y));
    assert_ok(weft_plan_compile(&plan, device, graph, NULL));
    weft_graph_destroy(&graph);
    return plan;
}

static void begin(struct network *n, const struct program *p) {
    *n = (struct network){0};
    assert_ok(adopt(&n->device, p, p->context, p->queue));
    n->plan = compile(n->device);
    assert_ok(weft_buffer_wrap_opencl(&n->x, n->device, p->memory, X_AT, BYTES));
    assert_ok(weft_buffer_wrap_opencl(&n->y, n->device, p->memory, Y_AT, BYTES));
    assert_ok(weft_bindings_create(&n->bindings, n->plan));
    assert_ok(weft_bindings_set(n->bindings, "x", n->x));
    assert_ok(weft_bindings_set(n->bindings, "y", n->y));
}

static void end(struct network *n) {
    weft_bindings_destroy(&n->bindings);
    weft_buffer_destroy(&n->x);
    weft_buffer_destroy(&n->y);
    weft_plan_destroy(&n->plan);
    weft_device_destroy(&n->device);
}

/* Enqueued, and not waited for. */
static void enqueue_input(const struct program *p, cl_command_queue queue, float step) {
    static const uint8_t untouched = 0x77;
    const cl_uint at = X_AT / 4;
    const size_t global = COUNT;
    assert_int_equal(
        p->cl->EnqueueFillBuffer(queue, p->memory, &untouched, 1, 0, ALL, 0, NULL, NULL),
        CL_SUCCESS);
    assert_int_equal(p->cl->SetKernelArg(p->fill, 0, sizeof p->memory, &p->memory), CL_SUCCESS);
    assert_int_equal(p->cl->SetKernelArg(p->fill, 1, sizeof at, &at), CL_SUCCESS);
    assert_int_equal(p->cl->SetKernelArg(p->fill, 2, sizeof step, &step), CL_SUCCESS);
    assert_int_equal(
        p->cl->EnqueueNDRangeKernel(queue, p->fill, 1, NULL, &global, NULL, 0, NULL, NULL),
        CL_SUCCESS);
}

static void expect_guards(const uint8_t *all) {
    for (uint32_t i = 0; i < ALL; i++) {
        const bool is_tensor = (i >= X_AT && i < X_AT + BYTES) || (i >= Y_AT && i < Y_AT + BYTES);
        assert_true(is_tensor || all[i] == 0x77);
    }
}

/* By the program's queue, whose next command this is. */
static void expect_output(const struct program *p, const struct network *n,
                          cl_command_queue queue) {
    uint8_t *all = malloc(ALL);
    float *y = malloc(BYTES);
    assert_true(all && y);
    assert_int_equal(
        p->cl->EnqueueReadBuffer(queue, p->memory, CL_TRUE, 0, ALL, all, 0, NULL, NULL),
        CL_SUCCESS);
    expect_guards(all);
    assert_ok(weft_plan_execute(
        n->plan, (weft_host_tensor[]){{"x", (float *)(void *)(all + X_AT), BYTES}, {"y", y, BYTES}},
        2));
    assert_memory_equal(all + Y_AT, y, BYTES);
    assert_true(y[0] > 0.0F && y[0] < 1.0F);
    free(all);
    free(y);
}

TEST(plans_run_in_place_behind_the_programs_commands) {
    struct network n;
    begin(&n, p);
    for (int round = 1; round <= 5; round++) {
        uint64_t ticket = 0;
        enqueue_input(p, p->queue, 0.001F * (float)round);
        assert_ok(weft_plan_submit(n.plan, n.bindings, &ticket));
        assert_ok(weft_plan_wait(n.plan, ticket, UINT64_MAX, NULL));
        expect_output(p, &n, p->queue);
    }
    end(&n);
}

/* Weft keeps context and queue, and the program its memory. */
TEST(the_program_may_let_go_first) {
    struct network n;
    begin(&n, p);
    cl_command_queue queue = p->queue;
    release_queue(p);
    enqueue_input(p, queue, 0.5F);
    assert_ok(weft_plan_run(n.plan, n.bindings));
    weft_buffer_destroy(&n.x);
    expect_output(p, &n, queue);
    end(&n);
}

TEST(a_wrapped_buffer_is_read_and_written) {
    struct network n;
    uint8_t sent[100], received[100] = {0};
    begin(&n, p);
    memset(sent, 0x3c, sizeof sent);
    enqueue_input(p, p->queue, 0.5F);
    assert_ok(weft_buffer_write(n.y, 20, sent, sizeof sent));
    assert_int_equal(p->cl->EnqueueReadBuffer(p->queue, p->memory, CL_TRUE, Y_AT + 20,
                                              sizeof received, received, 0, NULL, NULL),
                     CL_SUCCESS);
    assert_memory_equal(received, sent, sizeof sent);
    assert_ok(weft_buffer_read(n.y, 20, received, sizeof received));
    assert_memory_equal(received, sent, sizeof sent);
    assert_int_equal(weft_buffer_size(n.y), BYTES);
    end(&n);
}

TEST(it_is_a_device_like_others) {
    struct network n;
    weft_device_info info;
    weft_external_info external;
    weft_buffer *buffer = NULL;
    begin(&n, p);
    assert_ok(weft_device_get_info(n.device, &info));
    assert_string_equal(info.driver, WEFT_OPENCL_DRIVER_NAME);
    assert_true(info.usable);
    assert_ok(weft_device_get_external(n.device, WEFT_EXTERNAL_OPAQUE, &external));
    assert_false(external.exports || external.imports);
    WEFT_EXPECT_REFUSED(&p->host, WEFT_UNSUPPORTED,
                        weft_buffer_create_exportable(&buffer, n.device, 64, WEFT_EXTERNAL_OPAQUE),
                        info.name);
    assert_null(buffer);
    /* Nothing looks into the command buffer before. */
    WEFT_EXPECT_REFUSED(&p->host, WEFT_UNSUPPORTED,
                        weft_plan_record(n.plan, (VkCommandBuffer)(uintptr_t)&n, n.bindings),
                        "wrap a cl_mem");
    end(&n);
}

/* ---- refusals ---- */

TEST(handles_that_do_not_fit_are_refused) {
    weft_device *device = NULL;
    struct weft_test_host *host = &p->host;
    assert_status(weft_device_adopt_opencl(&device, NULL), WEFT_INVALID_ARGUMENT);
    if (!p->cl) {
        (void)weft_test_need_opencl();
    }
    WEFT_EXPECT_REFUSED(host, WEFT_INVALID_ARGUMENT, adopt(NULL, p, p->context, p->queue),
                        "device is null");
    WEFT_EXPECT_REFUSED(host, WEFT_INVALID_ARGUMENT, adopt(&device, p, NULL, p->queue),
                        "context is null");
    WEFT_EXPECT_REFUSED(host, WEFT_INVALID_ARGUMENT, adopt(&device, p, p->context, NULL),
                        "queue is null");
    cl_context other = make_context(p);
    WEFT_EXPECT_REFUSED(host, WEFT_INVALID_ARGUMENT, adopt(&device, p, other, p->queue),
                        "queue is not of context");
    (void)p->cl->ReleaseContext(other);
    weft_test_set_variable("WEFT_OPENCL", "0");
    WEFT_EXPECT_REFUSED(host, WEFT_NO_DEVICE, adopt(&device, p, p->context, p->queue),
                        "turned off");
    weft_test_set_variable("WEFT_OPENCL", "1");
    assert_null(device);
}

TEST(a_queue_that_is_not_in_order_is_refused) {
    weft_device *device = NULL;
    cl_int error = CL_SUCCESS;
    if (!p->cl) {
        (void)weft_test_need_opencl();
    }
    cl_command_queue queue = p->cl->CreateCommandQueue(
        p->context, p->id, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &error);
    if (error != CL_SUCCESS) {
        print_message("the driver has no such queues\n");
        skip();
    }
    WEFT_EXPECT_REFUSED(&p->host, WEFT_INVALID_ARGUMENT, adopt(&device, p, p->context, queue),
                        "out of order");
    (void)p->cl->ReleaseCommandQueue(queue);
}

#define EXPECT_NOT_WRAPPED(status, device, memory, offset, size, text) \
    WEFT_EXPECT_REFUSED(&p->host, status,                              \
                        weft_buffer_wrap_opencl(&buffer, device, memory, offset, size), text)

TEST(memory_that_does_not_fit_is_refused) {
    struct network n;
    weft_buffer *buffer = NULL;
    cl_int error = CL_SUCCESS;
    begin(&n, p);
    assert_status(weft_buffer_wrap_opencl(&buffer, NULL, p->memory, 0, 4), WEFT_INVALID_ARGUMENT);
    WEFT_EXPECT_REFUSED(&p->host, WEFT_INVALID_ARGUMENT,
                        weft_buffer_wrap_opencl(NULL, n.device, p->memory, 0, 4), "buffer is null");
    EXPECT_NOT_WRAPPED(WEFT_INVALID_ARGUMENT, n.device, NULL, 0, 4, "memory is null");
    EXPECT_NOT_WRAPPED(WEFT_INVALID_ARGUMENT, n.device, p->memory, 0, 0, "size is 0");
    EXPECT_NOT_WRAPPED(WEFT_INVALID_ARGUMENT, n.device, p->memory, 8, 4, "offset 8");
    EXPECT_NOT_WRAPPED(WEFT_INVALID_ARGUMENT, n.device, p->memory, 0, ALL + 1, "do not fit");
    EXPECT_NOT_WRAPPED(WEFT_INVALID_ARGUMENT, n.device, p->memory, 16, ALL - 15, "do not fit");
    EXPECT_NOT_WRAPPED(WEFT_INVALID_ARGUMENT, n.device, p->memory, 16, UINT64_MAX, "do not fit");
    EXPECT_NOT_WRAPPED(WEFT_INVALID_ARGUMENT, n.device, p->memory, UINT64_MAX - 15, 16,
                       "do not fit");
    cl_context other = make_context(p);
    cl_mem foreign = p->cl->CreateBuffer(other, CL_MEM_READ_WRITE, 64, NULL, &error);
    assert_int_equal(error, CL_SUCCESS);
    EXPECT_NOT_WRAPPED(WEFT_INVALID_ARGUMENT, n.device, foreign, 0, 16, "context");
    (void)p->cl->ReleaseMemObject(foreign);
    (void)p->cl->ReleaseContext(other);
    assert_null(buffer);
    end(&n);
}

TEST(a_device_that_is_not_opencls_wraps_none) {
    weft_device *device = NULL;
    weft_buffer *buffer = NULL;
    if (!p->cl) {
        (void)weft_test_need_opencl();
    }
    weft_test_set_variable("WEFT_PROCESSOR", "1");
    assert_ok(weft_device_open(
        &device, weft_device_params(.host = p->host.host, .select = "processor", .threads = 1)));
    weft_test_set_variable("WEFT_PROCESSOR", "0");
    EXPECT_NOT_WRAPPED(WEFT_UNSUPPORTED, device, p->memory, 0, 16, "no OpenCL device");
    weft_device_destroy(&device);
}
