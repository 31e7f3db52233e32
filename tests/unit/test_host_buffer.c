/* SPDX-License-Identifier: MIT */
/* weft-test: device */
/* weft-test: posix */
/* Buffers of the host's own memory: what a device that can work on them does, and what it refuses. */
#include <stdlib.h>

#include "device/device.h"
#include "support_graph.h"

enum { ROWS = 37, COLUMNS = 129, COUNT = ROWS * COLUMNS };

static float *aligned_floats(const weft_device *device) {
    const size_t alignment = (size_t)device->info.host_memory_alignment;
    const size_t bytes = (COUNT * sizeof(float) + alignment - 1) / alignment * alignment;
    float *memory = aligned_alloc(alignment < sizeof(void *) ? sizeof(void *) : alignment, bytes);
    assert_non_null(memory);
    return memory;
}

static weft_plan *softmax_plan(struct weft_test_graph *f) {
    weft_tensor y;
    weft_plan *plan = NULL;
    const weft_tensor x = weft_test_input(f->graph, "x", weft_shape_of(ROWS, COLUMNS));
    assert_ok(weft_graph_softmax(&y, f->graph, x));
    assert_ok(weft_graph_output(f->graph, "y", y));
    assert_ok(weft_plan_compile(&plan, f->device, f->graph, NULL));
    return plan;
}

WEFT_TEST_ON_GRAPH(plans_run_in_place, f) {
    if (f->device->info.host_memory_alignment == 0) {
        skip();
    }
    float *x = aligned_floats(f->device), *y = aligned_floats(f->device);
    float *expected = malloc(COUNT * sizeof *expected);
    weft_plan *plan = softmax_plan(f);
    weft_bindings *bindings = NULL;
    weft_buffer *in = NULL, *out = NULL;
    assert_ok(weft_buffer_wrap_host(&in, f->device, x, COUNT * sizeof *x));
    assert_ok(weft_buffer_wrap_host(&out, f->device, y, COUNT * sizeof *y));
    assert_int_equal(weft_buffer_size(in), COUNT * sizeof *x);
    assert_ok(weft_bindings_create(&bindings, plan));
    assert_ok(weft_bindings_set(bindings, "x", in));
    assert_ok(weft_bindings_set(bindings, "y", out));
    for (uint64_t round = 0; round < 3; round++) {
        float *numbers = weft_test_uniform(COUNT, 7, round);
        memcpy(x, numbers, COUNT * sizeof *x); /* nobody is told */
        memset(y, 0xFF, COUNT * sizeof *y);
        assert_ok(weft_plan_run(plan, bindings));
        assert_ok(weft_plan_execute(plan,
                                    (weft_host_tensor[]){{"x", numbers, COUNT * sizeof *numbers},
                                                         {"y", expected, COUNT * sizeof *expected}},
                                    2));
        assert_memory_equal(y, expected, COUNT * sizeof *y);
        free(numbers);
    }
    /* Like any buffer. */
    assert_ok(weft_buffer_read(out, 4 * 10, expected, 400));
    assert_memory_equal(expected, y + 10, 400);
    expected[0] = 42.0F;
    assert_ok(weft_buffer_write(in, 8, expected, 4));
    assert_true(x[2] == 42.0F);
    weft_bindings_destroy(&bindings);
    weft_buffer_destroy(&in);
    weft_buffer_destroy(&out);
    weft_plan_destroy(&plan);
    free(expected);
    free(x);
    free(y);
}

WEFT_TEST_ON_GRAPH(what_cannot_be_wrapped_is_refused, f) {
    static float memory[4];
    weft_buffer *buffer = NULL;
    const uint64_t alignment = f->device->info.host_memory_alignment;
    assert_int_equal(weft_buffer_wrap_host(&buffer, NULL, memory, 4), WEFT_INVALID_ARGUMENT);
    WEFT_EXPECT_REFUSED(&f->host, WEFT_INVALID_ARGUMENT,
                        weft_buffer_wrap_host(NULL, f->device, memory, 4), "buffer is null");
    WEFT_EXPECT_REFUSED(&f->host, WEFT_INVALID_ARGUMENT,
                        weft_buffer_wrap_host(&buffer, f->device, NULL, 4), "memory is null");
    WEFT_EXPECT_REFUSED(&f->host, WEFT_INVALID_ARGUMENT,
                        weft_buffer_wrap_host(&buffer, f->device, memory, 0), "size is 0");
    if (alignment == 0) {
        WEFT_EXPECT_REFUSED(&f->host, WEFT_UNSUPPORTED,
                            weft_buffer_wrap_host(&buffer, f->device, memory, 4), "in place");
        return;
    }
    float *aligned = aligned_floats(f->device);
    if (alignment > 4) {
        WEFT_EXPECT_REFUSED(&f->host, WEFT_INVALID_ARGUMENT,
                            weft_buffer_wrap_host(&buffer, f->device, aligned + 1, 4),
                            "but 4 behind one");
    }
    WEFT_EXPECT_REFUSED(&f->host, WEFT_INVALID_ARGUMENT,
                        weft_buffer_wrap_host(&buffer, f->device, aligned, UINT64_MAX / 2),
                        "the device can have");
    weft_status status = WEFT_OUT_OF_HOST_MEMORY;
    while (weft_test_next_failure(&f->host, status)) {
        status = weft_buffer_wrap_host(&buffer, f->device, aligned, COUNT * sizeof *aligned);
        assert_int_equal(!buffer, status != WEFT_OK);
    }
    weft_buffer_destroy(&buffer);
    /* A device that is its owner's may not have the extension turned on. */
    f->device->info.host_memory_alignment = 0;
    WEFT_EXPECT_REFUSED(&f->host, WEFT_UNSUPPORTED,
                        weft_buffer_wrap_host(&buffer, f->device, aligned, 4), "in place");
    free(aligned);
}
