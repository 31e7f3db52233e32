/* SPDX-License-Identifier: MIT */
/* weft-test: one device */
/* Timing the implementations of nodes: what is made up for inputs is what they take, be it lengths or indices. */
#include <weft/movement.h>

#include "plan/measure.h"
#include "support_sheet.h"

/* How many implementations of all nodes were timed. */
static uint32_t measure_all(weft_device *device, const weft_graph *graph) {
    uint32_t measured = 0;
    for (uint32_t i = 0; i < graph->node_count; i++) {
        const struct weft_node *node = &graph->nodes[i];
        const struct weft_implementation *row = node->op->implementations;
        for (; !node->op->view && row->name; row++) {
            double ms = -1.0;
            if (weft_needs_missing(&row->needs, device, false) ||
                (row->supports && !row->supports(graph, node, &device->info))) {
                continue;
            }
            assert_ok(weft_measure_node(&ms, device, graph, node, row->name));
            assert_true(ms >= 0.0);
            measured++;
        }
    }
    return measured;
}

static void measure_use(struct weft_test_graph *f, const weft_sheet *sheet, const weft_use *use) {
    static const int32_t lengths[2] = {3, 9};
    struct weft_test_mix mix = weft_test_mix_of(sheet, use);
    struct weft_test_run run;
    mix.sizes.batch = 2;
    mix.sizes.n = 9;
    mix.sizes.heads = 2;
    mix.sizes.width = 4;
    mix.sizes.values = 0;
    mix.lengths = lengths;
    weft_test_mix_fill(&mix, 1);
    (void)weft_test_mix_begin(&run, f->device, &mix);
    assert_true(measure_all(f->device, run.graph) > 0);
    weft_graph_destroy(&run.graph);
    weft_test_mix_free(&mix);
}

WEFT_TEST_ON_GRAPH(test_mixers_with_lengths, f) {
    uint32_t measured = 0;
    for (uint32_t s = 0; weft_sheet_at(s); s++) {
        const weft_sheet *sheet = weft_sheet_at(s);
        if (sheet->lengths != 0 && sheet->use_count > 0) {
            measure_use(f, sheet, &sheet->uses[0]);
            measured++;
        }
    }
    assert_true(measured > 0);
}

WEFT_TEST_ON_GRAPH(test_tokens_and_indices, f) {
    weft_tensor table = weft_test_input(f->graph, "table", weft_shape_of(7, 4));
    weft_tensor tokens = weft_test_input_i32(f->graph, "tokens", weft_shape_of(2, 5));
    weft_tensor indices = weft_test_input_i32(f->graph, "indices", weft_shape_of(3));
    weft_tensor y;
    assert_ok(weft_graph_embedding(&y, f->graph,
                                   weft_embedding_params(.tokens = tokens, .table = table)));
    assert_ok(weft_graph_take(&y, f->graph, y, indices, 1));
    assert_true(measure_all(f->device, f->graph) >= 2);
}
