/* SPDX-License-Identifier: MIT */
/* Which weights of a graph may become bytes: for devices that keep them so, and for those who write folders of them. */
#ifndef WEFT_PLAN_MATRICES_H
#define WEFT_PLAN_MATRICES_H

#include "graph/graph.h"

/** Runs the passes that plans run on a graph before matrices become bytes. */
weft_status weft_plan_prepare_matrices(weft_graph *graph);

/** Calls `take` for each weight that only products and embeddings read, in such a way that it may be one of bytes, with scales for its columns or rows. */
weft_status weft_plan_each_matrix(const weft_graph *graph,
                                  weft_status (*take)(void *user, uint32_t value, bool columns),
                                  void *user);

#endif
