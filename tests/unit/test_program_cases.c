/* SPDX-License-Identifier: MIT */
/* weft-test: long */
/* Programs: the graphs of `weft verify`, saved and loaded, are what they were; every op of the list is among them. */
#include <stdio.h>
#include <string.h>

#include <weft/model.h>

#include "graph/op.h"
#include "support.h"
#include "verify/conformance.h"

#define CASES_OF_A_FAMILY 12 /* spread over all */

#define OP_ROW(name) &weft_op_##name,
static const struct weft_op *const ops[] = {WEFT_OPS(OP_ROW)};
#define OP_COUNT (sizeof ops / sizeof *ops)

struct seen {
    bool op[OP_COUNT];
    uint32_t refused, equal;
};

static void see(struct seen *seen, const struct weft_op *op) {
    for (size_t i = 0; i < OP_COUNT; i++) {
        seen->op[i] |= ops[i] == op;
    }
}

static void expect_same_weight(const weft_weight *a, const weft_weight *b) {
    struct weft_weight_view left;
    struct weft_weight_view right;
    assert_int_equal(a->dtype, b->dtype);
    assert_int_equal(a->stored, b->stored);
    assert_true(weft_shape_equal(a->shape, b->shape));
    assert_ok(weft_weight_view_open(&left, a));
    assert_ok(weft_weight_view_open(&right, b));
    assert_memory_equal(left.data, right.data, (size_t)weft_shape_elements(a->shape) * 4);
    weft_weight_view_close(&left, a);
    weft_weight_view_close(&right, b);
}

/** Values are in another order: they are the same where they come from the same. */
static void expect_same_value(const weft_graph *a, uint32_t left, const weft_graph *b,
                              uint32_t right, const uint32_t *node_of) {
    const struct weft_value *x = &a->values[left];
    const struct weft_value *y = &b->values[right];
    if (left == 0 || right == 0) {
        assert_int_equal(left, right);
        return;
    }
    assert_int_equal(x->source, y->source);
    assert_int_equal(x->dtype, y->dtype);
    assert_true(weft_shape_equal(x->shape, y->shape));
    if (x->source == WEFT_VALUE_INPUT) {
        assert_string_equal(x->name, y->name);
    } else if (x->source == WEFT_VALUE_WEIGHT) {
        expect_same_weight(x->weight, y->weight);
    } else {
        assert_int_equal(x->producer, node_of[y->producer]);
    }
}

static void expect_same_graph(const weft_graph *a, const weft_graph *b) {
    uint32_t *node_of = calloc(a->node_count + 1, sizeof *node_of);
    assert_int_equal(a->node_count, b->node_count);
    assert_int_equal(a->result_count, b->result_count);
    for (uint32_t i = 0; i < a->node_count; i++) {
        const struct weft_node *x = &a->nodes[i];
        const struct weft_node *y = &b->nodes[i];
        node_of[i] = i;
        assert_ptr_equal(x->op, y->op);
        assert_int_equal(x->input_count, y->input_count);
        assert_memory_equal(x->params.bytes, y->params.bytes, x->op->params_size);
        for (uint32_t k = 0; k < x->input_count; k++) {
            expect_same_value(a, x->input[k], b, y->input[k], node_of);
        }
    }
    for (uint32_t i = 0; i < a->result_count; i++) {
        assert_string_equal(a->results[i].name, b->results[i].name);
        expect_same_value(a, a->results[i].value, b, b->results[i].value, node_of);
    }
    free(node_of);
}

static bool has_steps_or_texts(const weft_graph *graph) {
    for (uint32_t i = 0; i < graph->value_count; i++) {
        const weft_weight *weight = graph->values[i].weight;
        if (graph->values[i].is_state ||
            (weight && weight->name && strcmp(weight->name, "feature map") == 0)) {
            return true;
        }
    }
    return false;
}

static void try_case(struct seen *seen, struct weft_test_place *place, const weft_case *c) {
    const weft_host *host = &place->host.host;
    weft_test_host_reset(&place->host);
    const weft_status status = weft_graph_save(c->graph, place->folder);
    if (has_steps_or_texts(c->graph)) {
        assert_int_equal(status, WEFT_UNSUPPORTED);
        weft_test_expect_log(&place->host, "weft_graph_save", "programs");
        seen->refused++;
        return;
    }
    assert_int_equal(status, WEFT_OK);
    weft_model *model = NULL;
    weft_graph *graph = NULL;
    assert_ok(weft_model_load(&model, place->folder, host));
    assert_ok(weft_model_program_graph(&graph, model, NULL, 0));
    expect_same_graph(c->graph, graph);
    for (uint32_t i = 0; i < graph->node_count; i++) {
        see(seen, graph->nodes[i].op);
    }
    weft_graph_destroy(&graph);
    weft_model_destroy(&model);
    seen->equal++;
}

WEFT_TEST_IN_PLACE(saved_graphs_of_all_ops_are_what_they_were, place) {
    struct seen seen = {.equal = 0};
    for (uint32_t i = 0; weft_case_family_at(i); i++) {
        const weft_case_family *family = weft_case_family_at(i);
        const uint32_t step = family->count / CASES_OF_A_FAMILY + 1;
        for (uint32_t index = 0; index < family->count; index += step) {
            char name[WEFT_CASE_NAME_SIZE];
            weft_case c;
            print_message("%s\n", weft_case_name(name, family, index));
            assert_ok(weft_case_create(&c, family, index, &place->host.host));
            try_case(&seen, place, &c);
            weft_case_destroy(&c);
        }
    }
    assert_true(seen.refused > 0);
    for (size_t i = 0; i < OP_COUNT; i++) {
        if (weft_op_is_for_programs(ops[i]) && !seen.op[i]) {
            fail_msg("no case has the op %s", ops[i]->name);
        }
    }
    print_message("%u graphs are equal, %u are refused\n", seen.equal, seen.refused);
}
