/* SPDX-License-Identifier: MIT */
#include "support_graph.h"

int weft_test_graph_set_up(void **state) {
    struct weft_test_graph *f = calloc(1, sizeof *f);
    assert_non_null(f);
    weft_test_host_begin(&f->host);
    assert_int_equal(
        weft_device_open(&f->device, weft_device_params(.host = f->host.host, .cache_dir = "")),
        WEFT_OK);
    assert_int_equal(weft_graph_create(&f->graph, &f->host.host), WEFT_OK);
    *state = f;
    return 0;
}

int weft_test_graph_tear_down(void **state) {
    struct weft_test_graph *f = *state;
    weft_graph_destroy(&f->graph);
    weft_test_device_close(&f->device);
    weft_test_host_end(&f->host);
    free(f);
    return 0;
}

weft_tensor weft_test_input(weft_graph *graph, const char *name, weft_shape shape) {
    weft_tensor tensor;
    assert_int_equal(weft_graph_input(&tensor, graph, name, WEFT_F32, shape), WEFT_OK);
    return tensor;
}
