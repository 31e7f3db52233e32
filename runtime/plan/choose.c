/* SPDX-License-Identifier: MIT */
/* The choose pass: which implementation runs each node. */
#include <stdio.h>
#include <string.h>

#include "core/try.h"
#include "lower/choose.h"
#include "plan/measure.h"
#include "plan/passes.h"

/** A node whose implementations are timed. */
struct job {
    const weft_graph *graph;
    const struct weft_node *node;
    weft_device *device;
};

static weft_status measure(double *ms, void *user, uint32_t candidate) {
    const struct job *job = user;
    return weft_measure_node(ms, job->device, job->graph, job->node,
                             job->node->op->implementations[candidate].name);
}

/** Adds the properties of a node that make one implementation faster than another. */
static void identify(weft_sha256 *identity, const void *user) {
    const struct job *job = user;
    const struct weft_node *node = job->node;
    weft_sha256_add(identity, node->op->name, strlen(node->op->name) + 1);
    weft_sha256_add(identity, node->params.bytes, sizeof node->params.bytes);
    for (uint32_t i = 0; i < node->input_count; i++) {
        char shape[WEFT_SHAPE_TEXT_SIZE];
        weft_shape_text(*weft_node_shape(job->graph, node, i), shape);
        weft_sha256_add(identity, shape, strlen(shape) + 1);
    }
}

static struct weft_candidate candidate_of(const struct weft_implementation *row,
                                          const weft_graph *graph, const struct weft_node *node,
                                          const struct weft_chooser *chooser) {
    const bool named = chooser->forced && strcmp(chooser->forced, row->name) == 0;
    const char *missing = weft_needs_missing(&row->needs, chooser->device, named);
    if (!missing && row->supports && !row->supports(graph, node, &chooser->device->info)) {
        missing = row->limits ? row->limits : "not for such a node";
    }
    return (struct weft_candidate){.name = row->name,
                                   .bits = row->bits,
                                   .cost = weft_cost_on(&row->cost, chooser->device),
                                   .left_out = missing};
}

static void fill_candidates(struct weft_choice *choice, const weft_graph *graph,
                            const struct weft_node *node, const struct weft_chooser *chooser) {
    const struct weft_op *op = node->op;
    const char *usual = op->choose ? op->choose(graph, node) : NULL;
    const struct weft_implementation *row = op->implementations;
    for (; row->name && choice->count < WEFT_MAX_VARIANTS; row++) {
        if (usual && strcmp(row->name, usual) == 0) {
            choice->group = row->bits;
        }
        choice->candidates[choice->count++] = candidate_of(row, graph, node, chooser);
    }
}

static weft_status fail(const weft_graph *graph, const struct weft_node *node,
                        const struct weft_choice *choice, const struct weft_chooser *chooser) {
    const char *forced = NULL;
    const char *limits = NULL;
    for (uint32_t i = 0; i < choice->count; i++) {
        const struct weft_candidate *candidate = &choice->candidates[i];
        if (chooser->forced && strcmp(candidate->name, chooser->forced) == 0) {
            forced = candidate->name;
            limits = node->op->implementations[i].limits;
        }
    }
    char shape[WEFT_SHAPE_TEXT_SIZE];
    return weft_fail(&chooser->device->host, WEFT_UNSUPPORTED,
                     "%s%s%s on %s has no implementation on %s%s%s", node->op->name,
                     forced ? " by " : "", forced ? forced : "",
                     weft_shape_text(*weft_node_shape(graph, node, 0), shape),
                     chooser->device->info.name, limits ? ": it takes " : "", limits ? limits : "");
}

static weft_status choose_node(weft_graph *graph, uint32_t index, struct weft_chooser *chooser) {
    struct weft_node *node = &graph->nodes[index];
    struct job job = {.graph = graph, .node = node, .device = chooser->device};
    char work[64];
    struct weft_choice choice = {
        .work = work, .identify = identify, .measure = measure, .user = &job};
    snprintf(work, sizeof work, "%s %%%u", node->op->name, node->output);
    fill_candidates(&choice, graph, node, chooser);
    uint32_t chosen = 0;
    WEFT_TRY(weft_choose(&chosen, &choice, chooser));
    if (chosen == choice.count) {
        return fail(graph, node, &choice, chooser);
    }
    node->implementation = &node->op->implementations[chosen];
    return WEFT_OK;
}

weft_status weft_pass_choose(weft_graph *graph, struct weft_chooser *chooser) {
    for (uint32_t i = 0; i < graph->node_count; i++) {
        if (graph->nodes[i].op && !graph->nodes[i].op->view) {
            WEFT_TRY(choose_node(graph, i, chooser));
        }
    }
    return WEFT_OK;
}
