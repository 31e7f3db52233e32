/* SPDX-License-Identifier: MIT */
/* Plans on the device that counts: what one run asks of a device, for graphs small enough to count by hand. */
#include "null/null_device.h"

#include <stdlib.h>

#include "device/device.h"
#include "support_graph.h"

#define ROWS    4u
#define COLUMNS 64u
#define BYTES   (UINT64_C(4) * ROWS * COLUMNS)

/* With tear_down of support_graph.h, which closes the device. */
static int set_up(void **state) {
    return weft_test_graph_set_up_null(state, (weft_device_params){.math = WEFT_MATH_FAST});
}

#define TEST(name, f) \
    WEFT_TEST_WITH(name, struct weft_test_graph *f, set_up, weft_test_graph_tear_down)

static weft_tensor binary(struct weft_test_graph *f, weft_binary op, weft_tensor a, weft_tensor b) {
    weft_tensor out = {0};
    assert_ok(weft_graph_binary(&out, f->graph, op, a, b));
    return out;
}

/* What one run of the graph asks for; its plan is expected to have said so. */
static struct weft_null_counts count(struct weft_test_graph *f, uint32_t dispatches,
                                     uint32_t barriers) {
    weft_plan *plan = NULL;
    weft_plan_info info;
    weft_bindings *bindings = NULL;
    weft_buffer *buffers[4] = {NULL};
    assert_ok(weft_plan_compile(&plan, f->device, f->graph, NULL));
    assert_ok(weft_plan_get_info(plan, &info));
    assert_int_equal(info.dispatches, dispatches);
    assert_int_equal(info.barriers, barriers);
    assert_ok(weft_bindings_create(&bindings, plan));
    weft_port_info port;
    for (uint32_t i = 0; i < 4 && weft_plan_get_port(plan, i, &port) == WEFT_OK; i++) {
        assert_ok(weft_buffer_create(&buffers[i], f->device, port.bytes));
        assert_ok(weft_bindings_set(bindings, port.name, buffers[i]));
    }
    weft_null_reset(f->device->vk.handle);
    assert_ok(weft_plan_run(plan, bindings));
    const struct weft_null_counts counts = weft_null_counts(f->device->vk.handle);
    weft_bindings_destroy(&bindings);
    for (uint32_t i = 0; i < 4; i++) {
        weft_buffer_destroy(&buffers[i]);
    }
    weft_plan_destroy(&plan);
    weft_test_host_reset(&f->host); /* that there is no port behind the last is logged */
    return counts;
}

/* Two sums that know nothing of each other need no barrier but that in front of each submission. */
TEST(test_independent_ops, f) {
    const weft_tensor x = weft_test_input(f->graph, "x", weft_shape_of(ROWS, COLUMNS));
    const weft_tensor y = weft_test_input(f->graph, "y", weft_shape_of(ROWS, COLUMNS));
    assert_ok(weft_graph_output(f->graph, "sum", binary(f, WEFT_BINARY_ADD, x, y)));
    assert_ok(weft_graph_output(f->graph, "product", binary(f, WEFT_BINARY_MULTIPLY, x, y)));
    const struct weft_null_counts counts = count(f, 2, 0);
    assert_int_equal(counts.streams, 1);
    assert_int_equal(counts.dispatches, 2);
    assert_int_equal(counts.barriers, 1);
    assert_int_equal(counts.bound_bytes, 2 * 3 * BYTES);
    assert_int_equal(counts.copies + counts.fills, 0);
}

/* Each of three divisions reads what the one before has written. */
TEST(test_a_chain, f) {
    weft_tensor x = weft_test_input(f->graph, "x", weft_shape_of(ROWS, COLUMNS));
    const weft_tensor y = weft_test_input(f->graph, "y", weft_shape_of(ROWS, COLUMNS));
    for (int i = 0; i < 3; i++) {
        x = binary(f, WEFT_BINARY_DIVIDE, x, y);
    }
    assert_ok(weft_graph_output(f->graph, "quotient", x));
    const struct weft_null_counts counts = count(f, 3, 2);
    assert_int_equal(counts.streams, 1);
    assert_int_equal(counts.dispatches, 3);
    assert_int_equal(counts.barriers, 3);
    assert_int_equal(counts.bound_bytes, 3 * 3 * BYTES);
}

/* Uploads and downloads are copies through staging memory, and their bytes arrive. */
TEST(test_transfers, f) {
    uint8_t sent[1000], received[1000] = {0};
    weft_buffer *buffer = NULL;
    for (uint32_t i = 0; i < sizeof sent; i++) {
        sent[i] = (uint8_t)(i * 7);
    }
    assert_ok(weft_buffer_create(&buffer, f->device, sizeof sent));
    weft_null_reset(f->device->vk.handle);
    assert_ok(weft_buffer_write(buffer, 0, sent, sizeof sent));
    assert_ok(weft_buffer_read(buffer, 0, received, sizeof received));
    assert_memory_equal(received, sent, sizeof sent);
    const struct weft_null_counts counts = weft_null_counts(f->device->vk.handle);
    assert_int_equal(counts.copies, 2);
    assert_int_equal(counts.copied_bytes, 2 * sizeof sent);
    assert_int_equal(counts.dispatches, 0);
    weft_buffer_destroy(&buffer);
}

WEFT_TEST(test_it_is_listed_only_where_it_is_asked_for) {
    weft_device_info infos[8];
    for (int asked = 0; asked < 2; asked++) {
        uint32_t found = 8, null_devices = 0;
        weft_test_set_variable("WEFT_NULL_DEVICE", asked ? "1" : "0");
        assert_ok(weft_device_list(infos, &found, NULL));
        assert_in_range(found, asked, 8);
        for (uint32_t i = 0; i < found; i++) {
            null_devices += strcmp(infos[i].driver, weft_null_backend.driver) == 0;
        }
        assert_int_equal(null_devices, asked);
    }
    assert_int_equal(infos[0].usable, true);
    weft_test_set_variable("WEFT_NULL_DEVICE", NULL);
}

/* It computes nothing, and does not pass for a device that does. */
WEFT_TEST_ON_HOST(test_it_does_not_compute, host) {
    weft_device *device = NULL;
    weft_test_set_variable("WEFT_NULL_DEVICE", "1");
    assert_int_equal(
        weft_device_open(&device, &(weft_device_params){.host = host->host,
                                                        .select = weft_null_backend.driver,
                                                        .cache_dir = ""}),
        WEFT_UNSUPPORTED);
    weft_test_set_variable("WEFT_NULL_DEVICE", NULL);
    weft_test_expect_log(host, "cannot be used with reproducible math");
}
